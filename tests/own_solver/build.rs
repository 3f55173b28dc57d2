//! Compiles the kernels under `glsl/`.

fn main() {
    frazil_shader_build::compile();
}
