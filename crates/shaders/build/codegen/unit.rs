//! Unit of code generation.

use super::compile::Stage;
use super::constants::Constant;
use super::expression::Expression;
use super::reflect::Interface;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All inputs of one generated module: a `.comp`, or a `.vert` and `.frag` of the same name.
pub struct Unit {
    pub area: String,
    pub name: String,
    pub doc: Vec<String>,
    /// Constants of the shader's own text.
    pub constants: Vec<Constant>,
    /// Definitions of the shader and its includes, by name.
    pub definitions: BTreeMap<String, Expression>,
    pub stages: Vec<(Stage, PathBuf, Interface)>,
}
