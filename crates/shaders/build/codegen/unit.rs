//! Unit of code generation.

use super::compile::Stage;
use super::constants::Constant;
use super::expression::Expression;
use super::reflect::{Binding, Interface, Struct};
use std::collections::BTreeMap;

/// All inputs of one generated module: a `.comp`, or a `.vert` and `.frag` of the same name.
pub struct Unit {
    pub area: String,
    pub name: String,
    pub doc: Vec<String>,
    /// Constants of the shader's own text.
    pub constants: Vec<Constant>,
    /// Definitions of the shader and its includes, by name.
    pub definitions: BTreeMap<String, Expression>,
    /// Texts of the includes, by name.
    pub includes: BTreeMap<String, String>,
    /// Stages with their SPIR-V, little-endian.
    pub stages: Vec<(Stage, Vec<u8>, Interface)>,
}

impl Unit {
    /// Returns an empty unit.
    pub fn new(area: &str, name: &str) -> Self {
        Self {
            area: area.to_owned(),
            name: name.to_owned(),
            doc: Vec::new(),
            constants: Vec::new(),
            definitions: BTreeMap::new(),
            includes: BTreeMap::new(),
            stages: Vec::new(),
        }
    }

    /// Returns true for a compute shader.
    pub fn is_compute(&self) -> bool {
        self.stages.iter().all(|(stage, ..)| *stage == Stage::Compute)
    }

    /// Returns the name of the file of a stage's SPIR-V.
    pub fn spirv_file(&self, stage: Stage) -> String {
        format!("{}.{}.{}.spv", self.area, self.name, stage.extension())
    }

    /// Returns the buffers of all stages, by slot, and the push constants.
    pub fn merged(&self) -> Result<(Vec<&Binding>, Option<&Struct>), String> {
        let mut bindings: Vec<&Binding> = Vec::new();
        let mut params: Option<&Struct> = None;
        for (_, _, interface) in &self.stages {
            merge(&mut bindings, &mut params, interface)?;
        }
        bindings.sort_by_key(|binding| binding.slot);
        Ok((bindings, params))
    }
}

/// Merges the interfaces of a vertex and a fragment shader, which share one set of buffers and one block of
/// parameters.
fn merge<'a>(
    bindings: &mut Vec<&'a Binding>,
    params: &mut Option<&'a Struct>,
    interface: &'a Interface,
) -> Result<(), String> {
    for binding in &interface.bindings {
        match bindings.iter().find(|b| b.slot == binding.slot) {
            Some(other) if **other != *binding => {
                return Err(format!("binding {} is declared differently by the two stages", binding.slot));
            }
            Some(_) => {}
            None => bindings.push(binding),
        }
    }
    match (&params, &interface.params) {
        (Some(a), Some(b)) if **a != *b => Err("the two stages declare different push constants".into()),
        (None, Some(b)) => {
            *params = Some(b);
            Ok(())
        }
        _ => Ok(()),
    }
}
