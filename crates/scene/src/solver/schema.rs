//! JSON schema of the scene file, with the sections and kinds of the registered solvers.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema as schema};
use serde_json::{Map, Value};

use crate::scene::{Scene, SolverKind};
use crate::solver::registry;

/// Returns the JSON schema of the scene file, for editors and for checking scenes that other programs write.
pub fn json_schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let sections: Map<String, Value> = registry::section_types()
        .map(|section| (section.name().to_owned(), section.schema(&mut generator).to_value()))
        .collect();
    let mut root = generator.into_root_schema_for::<Scene>().to_value();
    if let Some(properties) = root.pointer_mut("/properties").and_then(Value::as_object_mut) {
        properties.extend(sections);
    }
    root
}

impl JsonSchema for SolverKind {
    fn schema_name() -> Cow<'static, str> {
        "SolverKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds: Vec<Value> = registry::solvers()
            .into_iter()
            .map(|solver| {
                serde_json::json!({ "const": solver.kind(), "description": solver.title(), "type": "string" })
            })
            .collect();
        schema!({ "description": "The method that moves the particles.", "oneOf": kinds })
    }
}
