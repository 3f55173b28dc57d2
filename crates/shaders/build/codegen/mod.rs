//! Generates one Rust source file from a folder of GLSL.
//!
//! The four steps, one file each, return errors as text that begins with `glsl/AREA/NAME.comp:LINE:`.
//!
//! - `compile`: shaderc, includes, errors with file and line.
//! - `reflect`: bindings, parameters and specialization constants of a shader.
//! - `hoist`: loads of constants, moved out of loops.
//! - `emit`: the Rust text.
//!
//! `constants` reads from the GLSL text what SPIR-V no longer has: numbers by name.

pub mod compile;
pub mod constants;
pub mod emit;
pub mod expression;
pub mod hoist;
pub mod reflect;
pub mod unit;

use compile::Compiler;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use unit::Unit;

/// Compiles all shaders below `glsl`, writes their SPIR-V into `out` and returns the Rust source of the
/// modules.
pub fn generate(glsl: &Path, out: &Path) -> Result<String, Vec<String>> {
    let compiler = Compiler::new(glsl).map_err(|e| vec![e])?;
    let mut units: BTreeMap<(String, String), Unit> = BTreeMap::new();
    let mut errors = Vec::new();
    for source in compile::shader_files(glsl).map_err(|e| vec![e])? {
        match compile_one(&compiler, &source, out) {
            Ok((text, spirv, interface)) => {
                let unit = units.entry((source.area.clone(), source.name.clone())).or_insert_with(|| Unit {
                    area: source.area.clone(),
                    name: source.name.clone(),
                    doc: Vec::new(),
                    constants: Vec::new(),
                    definitions: BTreeMap::new(),
                    stages: Vec::new(),
                });
                unit.doc.extend(compile::header_comment(&text));
                unit.constants.extend(constants::constants(&text));
                unit.definitions.extend(constants::definitions_with_includes(glsl, &text));
                unit.stages.push((source.stage, spirv, interface));
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let includes = compile::includes(glsl).map_err(|e| vec![e])?;
    emit::rust_source(units.values(), &includes).map_err(|e| vec![e])
}

fn compile_one(
    compiler: &Compiler,
    source: &compile::ShaderFile,
    out: &Path,
) -> Result<(String, PathBuf, reflect::Interface), String> {
    let (text, words) = compiler.compile(source)?;
    let interface = reflect::reflect(&words).map_err(|e| format!("{}:1: {e}", source.label()))?;
    let path = out.join(format!("{}.{}.{}.spv", source.area, source.name, source.stage.extension()));
    let bytes: Vec<u8> = hoist::hoist_constants(&words).iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(&path, bytes)
        .map_err(|e| format!("{}: cannot write {}: {e}", source.label(), path.display()))?;
    Ok((text, path, interface))
}
