//! JSON schema of the scene file, with the sections and kinds of the registered solvers.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

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

/// The schema of [`shared_schema`], and the number of solvers that it is for.
static SHARED: RwLock<Option<(usize, Arc<Value>)>> = RwLock::new(None);

/// Returns the same schema as [`json_schema`], generated once for the solvers registered so far.
pub(crate) fn shared_schema() -> Arc<Value> {
    let n_solvers = registry::solvers().len();
    let shared = SHARED.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some((_, schema)) = shared.filter(|(n, _)| *n == n_solvers) {
        return schema;
    }
    let schema = Arc::new(json_schema());
    *SHARED.write().unwrap_or_else(PoisonError::into_inner) = Some((n_solvers, schema.clone()));
    schema
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
