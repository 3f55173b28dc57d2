//! Unit of code generation.

use super::compile::Stage;
use super::constants::Constant;
use super::expression::Expression;
use super::reflect::Interface;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

    /// Returns the file of a stage's SPIR-V in the folder `out`.
    pub fn spirv_file(&self, out: &Path, stage: Stage) -> PathBuf {
        out.join(format!("{}.{}.{}.spv", self.area, self.name, stage.extension()))
    }
}
