//! Compiles every shader under `glsl/` and writes one typed Rust module for each; see `codegen`.

mod codegen;

use std::path::PathBuf;

fn main() {
    let manifest =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let glsl = manifest.join("../../glsl");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed={}", glsl.display());
    match codegen::generate(&glsl, &out) {
        Ok(source) => {
            std::fs::write(out.join("kernels.rs"), source).expect("OUT_DIR is writable");
        }
        Err(errors) => {
            for line in errors.iter().flat_map(|error| error.lines()) {
                println!("cargo::error={line}");
            }
            std::process::exit(1);
        }
    }
}
