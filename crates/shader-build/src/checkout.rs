//! Shaders of a folder, compiled again when their text changes.

use crate::codegen::add_stage;
use crate::codegen::compile::{self, Compiler, ShaderFile, Stage};
use crate::codegen::interface;
use crate::codegen::unit::Unit;
use std::collections::HashMap;
use std::path::Path;

/// A folder of shaders, `AREA/NAME.comp` or `AREA/NAME.vert` and `.frag`.
pub struct Checkout {
    compiler: Compiler,
    files: HashMap<String, Vec<ShaderFile>>,
    /// Shaders as they were looked at last.
    seen: HashMap<String, Seen>,
}

/// A shader as it was looked at last.
struct Seen {
    /// Its texts and those of its includes.
    texts: Vec<String>,
    /// True once this text was compiled.
    is_compiled: bool,
}

/// A compiled shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// `area.name`.
    pub name: String,
    /// SPIR-V, little-endian.
    pub code: Code,
    /// Its interface to host code, as in the generated `INTERFACES`.
    pub interface: Vec<String>,
}

/// SPIR-V of a shader's stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// A compute shader.
    Compute(Vec<u8>),
    /// A vertex and a fragment shader.
    Raster(Vec<u8>, Vec<u8>),
}

impl Checkout {
    /// Opens a folder of shaders, such as a checkout's `glsl`.
    ///
    /// # Errors
    /// It cannot be read, or holds no shader.
    pub fn open(glsl: &Path) -> Result<Self, String> {
        let mut files: HashMap<String, Vec<ShaderFile>> = HashMap::new();
        for file in compile::shader_files(glsl)? {
            files.entry(format!("{}.{}", file.area, file.name)).or_default().push(file);
        }
        if files.is_empty() {
            return Err(format!(
                "{}: no shaders, expected the folder glsl of a checkout, with AREA/NAME.comp",
                glsl.display()
            ));
        }
        Ok(Self { compiler: Compiler::new(glsl)?, files, seen: HashMap::new() })
    }

    /// Compiles a shader if it is in the folder and its text, or that of an include, has changed since it was
    /// compiled and is the same as in the call before: a file that is being written is left alone. Errors
    /// begin with `glsl/AREA/NAME.EXT:LINE:`.
    pub fn changed(&mut self, name: &str) -> Option<Result<Shader, String>> {
        let files = self.files.get(name)?;
        let texts = self.texts(files);
        match self.seen.get_mut(name) {
            Some(seen) if seen.texts == texts => {
                if std::mem::replace(&mut seen.is_compiled, true) {
                    return None;
                }
                Some(self.compile(name, files))
            }
            _ => {
                self.seen.insert(name.to_owned(), Seen { texts, is_compiled: false });
                None
            }
        }
    }

    /// Returns the texts of a shader and its includes; those that cannot be read are left out.
    fn texts(&self, files: &[ShaderFile]) -> Vec<String> {
        let texts = files.iter().filter_map(|file| std::fs::read_to_string(&file.path).ok());
        let with_includes = |text: String| {
            let includes = compile::includes_of(self.compiler.glsl(), &text);
            std::iter::once(text).chain(includes.into_values())
        };
        texts.flat_map(with_includes).collect()
    }

    fn compile(&self, name: &str, files: &[ShaderFile]) -> Result<Shader, String> {
        let (area, file) = name.split_once('.').unwrap_or((name, ""));
        let mut unit = Unit::new(area, file);
        for stage in files {
            add_stage(&mut unit, &self.compiler, stage)?;
        }
        let interface = interface::lines(&unit).map_err(|e| format!("glsl/{area}/{file}:1: {e}"))?;
        let mut spirv = |stage| {
            let place = unit.stages.iter().position(|(of, ..)| *of == stage)?;
            Some(unit.stages.swap_remove(place).1)
        };
        let code = match spirv(Stage::Compute) {
            Some(code) => Code::Compute(code),
            None => match (spirv(Stage::Vertex), spirv(Stage::Fragment)) {
                (Some(vertex), Some(fragment)) => Code::Raster(vertex, fragment),
                _ => return Err(format!("glsl/{area}/{file}: expected a .vert and a .frag")),
            },
        };
        Ok(Shader { name: name.to_owned(), code, interface })
    }
}
