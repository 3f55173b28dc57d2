//! From a folder of GLSL to one Rust source file.
//!
//! Three steps, a file each: `compile` (shaderc, includes, errors with file and line), `reflect` (what a shader binds,
//! takes as parameters and can be specialised by) and `emit` (the Rust text). Every step returns its errors as text that
//! begins with `glsl/AREA/NAME.comp:LINE:`.

pub mod compile;
pub mod emit;
pub mod reflect;

use compile::{Compiler, Stage};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that one module is generated from: a `.comp`, or a `.vert` and `.frag` of the same name.
pub struct Unit {
    pub area: String,
    pub name: String,
    pub doc: Vec<String>,
    pub stages: Vec<(Stage, PathBuf, reflect::Interface)>,
}

/// Compiles all shaders below `glsl`, writes their SPIR-V into `out` and returns the Rust source of the modules.
pub fn generate(glsl: &Path, out: &Path) -> Result<String, Vec<String>> {
    let compiler = Compiler::new(glsl).map_err(|e| vec![e])?;
    let mut units: BTreeMap<(String, String), Unit> = BTreeMap::new();
    let mut errors = Vec::new();
    for source in compile::shader_files(glsl).map_err(|e| vec![e])? {
        match compile_one(&compiler, &source, out) {
            Ok((doc, spirv, interface)) => {
                let unit = units.entry((source.area.clone(), source.name.clone())).or_insert_with(|| Unit {
                    area: source.area.clone(),
                    name: source.name.clone(),
                    doc: Vec::new(),
                    stages: Vec::new(),
                });
                unit.doc.extend(doc);
                unit.stages.push((source.stage, spirv, interface));
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    emit::rust_source(units.values()).map_err(|e| vec![e])
}

fn compile_one(
    compiler: &Compiler,
    source: &compile::ShaderFile,
    out: &Path,
) -> Result<(Vec<String>, PathBuf, reflect::Interface), String> {
    let (text, words) = compiler.compile(source)?;
    let interface = reflect::reflect(&words).map_err(|e| format!("{}:1: {e}", source.label()))?;
    let path = out.join(format!("{}.{}.{}.spv", source.area, source.name, source.stage.extension()));
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(&path, bytes)
        .map_err(|e| format!("{}: cannot write {}: {e}", source.label(), path.display()))?;
    Ok((compile::header_comment(&text), path, interface))
}
