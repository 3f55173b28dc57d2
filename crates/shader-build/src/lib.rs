//! Compiles shaders outside of frazil: the engine's shader build, for the build scripts of other crates.
//!
//! A crate keeps its shaders in `glsl/AREA/NAME.comp` beside its `Cargo.toml`; they may include the engine's,
//! such as `common/kernel.glsl`. The `main` of its `build.rs` is
//!
//! ```no_run
//! frazil_shader_build::compile();
//! ```
//!
//! and its library includes the typed modules, with `frazil-vk` and `bytemuck` among its dependencies:
//!
//! ```ignore
//! /// The crate's kernels: `kernels::AREA::NAME`.
//! pub mod kernels {
//!     include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! }
//! ```
//!
//! A [`Checkout`] compiles shaders while a program runs.

mod checkout;
#[path = "../../shaders/build/codegen/mod.rs"]
mod codegen;

pub use checkout::{Checkout, Code, Shader};

use std::path::PathBuf;

/// Compiles the shaders under `glsl/` of the crate whose build script calls it, and writes
/// `OUT_DIR/kernels.rs`. Errors in GLSL are errors of the build, with file and line.
///
/// # Panics
/// It is not called by a build script; `OUT_DIR` cannot be written.
pub fn compile() {
    let folder = |name: &str| {
        PathBuf::from(std::env::var_os(name).expect("Cargo passes its folders to a build script"))
    };
    let (glsl, out) = (folder("CARGO_MANIFEST_DIR").join("glsl"), folder("OUT_DIR"));
    println!("cargo::rerun-if-changed={}", glsl.display());
    println!("cargo::rerun-if-changed={}", codegen::compile::ENGINE_GLSL);
    match codegen::generate(&glsl, &out) {
        Ok(source) => std::fs::write(out.join("kernels.rs"), source).expect("OUT_DIR is writable"),
        Err(errors) => {
            for line in errors.iter().flat_map(|error| error.lines()) {
                println!("cargo::error={line}");
            }
            std::process::exit(1);
        }
    }
}
