//! Generates one Rust source file from a folder of GLSL.
//!
//! The steps, one file each, return errors as text that begins with `glsl/AREA/NAME.comp:LINE:`.
//!
//! - `compile`: shaderc, includes, errors with file and line.
//! - `reflect`: bindings, parameters and specialization constants of a shader.
//! - `interface`: what host code takes from a shader.
//! - `emit`: the Rust text.
//!
//! `constants` reads from the GLSL text what SPIR-V no longer has: numbers by name.

pub mod compile;
pub mod constants;
pub mod emit;
pub mod expression;
pub mod interface;
pub mod reflect;
pub mod unit;

use compile::{Compiler, ShaderFile};
use std::collections::BTreeMap;
use std::path::Path;
use unit::Unit;

/// Compiles all shaders below `glsl`, writes their SPIR-V into `out` and returns the Rust source of the
/// modules.
pub fn generate(glsl: &Path, out: &Path) -> Result<String, Vec<String>> {
    let compiler = Compiler::new(glsl).map_err(|e| vec![e])?;
    let mut units: BTreeMap<(String, String), Unit> = BTreeMap::new();
    let mut errors = Vec::new();
    for file in compile::shader_files(glsl).map_err(|e| vec![e])? {
        let key = (file.area.clone(), file.name.clone());
        let unit = units.entry(key).or_insert_with(|| Unit::new(&file.area, &file.name));
        if let Err(error) = add_stage(unit, &compiler, &file) {
            errors.push(error);
        }
    }
    for unit in units.values() {
        for (stage, spirv, _) in &unit.stages {
            let path = out.join(unit.spirv_file(*stage));
            if let Err(error) = std::fs::write(&path, spirv) {
                errors.push(format!("{}: cannot write: {error}", path.display()));
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let includes = compile::includes(glsl).map_err(|e| vec![e])?;
    emit::rust_source(units.values(), &includes).map_err(|e| vec![e])
}

/// Compiles a shader as a stage of its unit.
pub fn add_stage(unit: &mut Unit, compiler: &Compiler, file: &ShaderFile) -> Result<(), String> {
    let (text, words) = compiler.compile(file)?;
    let interface = reflect::reflect(&words).map_err(|e| format!("{}:1: {e}", file.label()))?;
    let spirv: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    unit.doc.extend(compile::header_comment(&text));
    unit.constants.extend(constants::constants(&text));
    unit.includes.extend(compile::includes_of(compiler.glsl(), &text));
    for text in std::iter::once(&text).chain(unit.includes.values()) {
        let found = constants::definitions(text);
        unit.definitions.extend(found.into_iter().map(|(name, expression, _)| (name, expression)));
    }
    unit.stages.push((file.stage, spirv, interface));
    Ok(())
}
