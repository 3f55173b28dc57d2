//! Compiles GLSL to SPIR-V; includes come from `glsl/` or else from the engine's folder, and errors name file
//! and line.

use super::constants::{Constant, constants};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folder of the engine's own shaders, which shaders elsewhere may include.
pub const ENGINE_GLSL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../glsl");

/// Pipeline stage of a shader, by its file extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Compute,
    Vertex,
    Fragment,
}

impl Stage {
    fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            "comp" => Some(Self::Compute),
            "vert" => Some(Self::Vertex),
            "frag" => Some(Self::Fragment),
            _ => None,
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Self::Compute => "comp",
            Self::Vertex => "vert",
            Self::Fragment => "frag",
        }
    }

    fn kind(self) -> shaderc::ShaderKind {
        match self {
            Self::Compute => shaderc::ShaderKind::Compute,
            Self::Vertex => shaderc::ShaderKind::Vertex,
            Self::Fragment => shaderc::ShaderKind::Fragment,
        }
    }
}

/// A shader file `glsl/AREA/NAME.EXTENSION`.
pub struct ShaderFile {
    pub area: String,
    pub name: String,
    pub stage: Stage,
    pub path: PathBuf,
}

impl ShaderFile {
    /// Returns the path for messages: relative to the repository.
    pub fn label(&self) -> String {
        format!("glsl/{}/{}.{}", self.area, self.name, self.stage.extension())
    }
}

fn list(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: cannot list: {e}", dir.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    Ok(paths)
}

fn text(part: Option<&std::ffi::OsStr>) -> String {
    part.and_then(|p| p.to_str()).unwrap_or_default().to_owned()
}

/// Returns the constants of every include below `glsl` that has any, by area and name.
pub fn includes(glsl: &Path) -> Result<BTreeMap<(String, String), Vec<Constant>>, String> {
    let mut found = BTreeMap::new();
    for area in list(glsl)?.into_iter().filter(|path| path.is_dir()) {
        for path in list(&area)?.into_iter().filter(|path| text(path.extension()) == "glsl") {
            let source = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let constants = constants(&source);
            if !constants.is_empty() {
                found.insert((text(area.file_name()), text(path.file_stem())), constants);
            }
        }
    }
    Ok(found)
}

/// Returns all shaders below `glsl`, in an order that does not depend on the file system.
pub fn shader_files(glsl: &Path) -> Result<Vec<ShaderFile>, String> {
    let mut files = Vec::new();
    for area in list(glsl)?.into_iter().filter(|path| path.is_dir()) {
        for path in list(&area)? {
            if let Some(stage) = Stage::from_extension(&text(path.extension())) {
                files.push(ShaderFile {
                    area: text(area.file_name()),
                    name: text(path.file_stem()),
                    stage,
                    path,
                });
            }
        }
    }
    Ok(files)
}

/// Returns the texts of all files that a text includes, by name.
pub fn includes_of(glsl: &Path, text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    add_includes(glsl, text, &mut found);
    found
}

fn add_includes(glsl: &Path, text: &str, found: &mut BTreeMap<String, String>) {
    let names = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.split('"').next());
    for name in names {
        if !found.contains_key(name)
            && let Ok(included) = read_include(glsl, name)
        {
            found.insert(name.to_owned(), included.clone());
            add_includes(glsl, &included, found);
        }
    }
}

fn read_include(glsl: &Path, name: &str) -> std::io::Result<String> {
    let read = |folder: &Path| std::fs::read_to_string(folder.join(name));
    read(glsl).or_else(|_| read(Path::new(ENGINE_GLSL)))
}

/// Returns the leading comment lines of a shader, which become the documentation of its module.
pub fn header_comment(text: &str) -> Vec<String> {
    let is_preamble =
        |line: &&str| line.starts_with("//") || line.starts_with("#version") || line.trim().is_empty();
    text.lines()
        .take_while(is_preamble)
        .filter_map(|line| line.strip_prefix("//"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned())
        .collect()
}

/// A shaderc compiler configured for this project.
pub struct Compiler {
    compiler: shaderc::Compiler,
    glsl: PathBuf,
}

impl Compiler {
    /// Makes a compiler; `glsl` is the folder that `#include` paths are relative to, with [`ENGINE_GLSL`] as
    /// the fallback.
    pub fn new(glsl: &Path) -> Result<Self, String> {
        let compiler = shaderc::Compiler::new().map_err(|e| format!("shaderc does not start: {e}"))?;
        Ok(Self { compiler, glsl: glsl.to_owned() })
    }

    /// Returns the folder that `#include` paths are relative to.
    pub fn glsl(&self) -> &Path {
        &self.glsl
    }

    /// Returns the shader's text and its SPIR-V words, or an error that begins with
    /// `glsl/AREA/NAME.EXT:LINE:`.
    pub fn compile(&self, file: &ShaderFile) -> Result<(String, Vec<u32>), String> {
        let label = file.label();
        let text = std::fs::read_to_string(&file.path).map_err(|e| format!("{label}:1: cannot read: {e}"))?;
        // Without it, shaderc fails within itself and prints all that GLSL has built in.
        if !text.contains("#version") {
            return Err(format!("{label}:1: error: found no #version, expected #version 460"));
        }
        let mut options = shaderc::CompileOptions::new().map_err(|e| format!("{label}:1: {e}"))?;
        options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_3 as u32);
        options.set_target_spirv(shaderc::SpirvVersion::V1_5);
        options.set_optimization_level(shaderc::OptimizationLevel::Performance);
        options.set_warnings_as_errors();
        // The generated Rust and frame debuggers need the names.
        options.set_generate_debug_info();
        let glsl = self.glsl.clone();
        options.set_include_callback(move |name, _, from, _| {
            read_include(&glsl, name)
                .map(|content| shaderc::ResolvedInclude { resolved_name: format!("glsl/{name}"), content })
                .map_err(|e| format!("{from}: cannot include \"{name}\" from glsl/: {e}"))
        });
        let artifact = self
            .compiler
            .compile_into_spirv(&text, file.stage.kind(), &label, "main", Some(&options))
            .map_err(|e| match e {
                shaderc::Error::CompilationError(_, message) => message.trim_end().to_owned(),
                other => format!("{label}:1: {other}"),
            })?;
        Ok((text, artifact.as_binary().to_vec()))
    }
}
