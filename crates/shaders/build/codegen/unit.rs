//! A unit of generation.

use super::compile::Stage;
use super::constants::Constant;
use super::expression::Expression;
use super::reflect::Interface;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything that one module is generated from: a `.comp`, or a `.vert` and `.frag` of the same name.
pub struct Unit {
    pub area: String,
    pub name: String,
    pub doc: Vec<String>,
    /// Those of the shader's own text.
    pub constants: Vec<Constant>,
    /// Those of the includes, too, by name.
    pub definitions: BTreeMap<String, Expression>,
    pub stages: Vec<(Stage, PathBuf, Interface)>,
}
