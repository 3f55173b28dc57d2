//! In place of hot reload in a build without a shader compiler.

use frazil_engine::Failure;
use frazil_vk::Device;
use std::path::Path;

/// Shaders of a folder, of which there are none.
pub enum Shaders {}

impl Shaders {
    /// Refuses to compile.
    pub fn watch(_: &Device, glsl: &Path) -> Result<Self, Failure> {
        Err(Failure::input(format!(
            "--shaders {}: this build has no shader compiler, expected the feature \"shader-reload\": `cargo \
             run --release --features shader-reload -- view …`",
            glsl.display()
        )))
    }

    /// Is never called.
    pub fn collect_completed(&mut self) -> Vec<String> {
        match *self {}
    }

    /// Is never called.
    pub fn errors(&self) -> Vec<&str> {
        match *self {}
    }
}
