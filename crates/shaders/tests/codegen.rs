//! Tests of the build step on planted shaders: errors in GLSL are reported with file and line, and valid GLSL
//! becomes the expected Rust text.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "the build script uses the parts that this test does not")]
#[path = "../build/codegen/mod.rs"]
mod codegen;

use std::path::Path;

const PREAMBLE: &str = "#version 460\n// A planted kernel.\n#extension GL_GOOGLE_include_directive : \
                        require\n#include \"common/kernel.glsl\"\n";

/// Generates code from a folder that holds the project's own `common/` and one planted kernel,
/// `glsl/area/planted.comp`.
fn generate(kernel: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let glsl = folder.path().join("glsl");
    for part in ["area", "common"] {
        std::fs::create_dir_all(glsl.join(part)).unwrap();
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../glsl/common/kernel.glsl");
    std::fs::copy(project, glsl.join("common/kernel.glsl")).unwrap();
    std::fs::write(glsl.join("area/planted.comp"), kernel).unwrap();
    codegen::generate(&glsl, folder.path()).map_err(|errors| errors.join("\n"))
}

fn with_body(declarations: &str, body: &str) -> Result<String, String> {
    generate(&format!("{PREAMBLE}{declarations}\nvoid main() {{ {body} }}\n"))
}

#[test]
fn a_syntax_error_names_file_and_line() {
    let error =
        with_body("layout(scalar, binding = 0) buffer A { uint a[]; };", "a[0] = undeclared;").unwrap_err();
    assert!(error.starts_with("glsl/area/planted.comp:6: error:") && error.contains("undeclared"), "{error}");
}

#[test]
fn a_file_without_version_such_as_an_empty_one_is_refused() {
    for text in ["", "// A planted kernel.\nvoid main() {}\n"] {
        let error = generate(text).unwrap_err();
        assert_eq!(error, "glsl/area/planted.comp:1: error: found no #version, expected #version 460");
    }
}

#[test]
fn an_include_that_is_not_there_is_named() {
    let error = generate(
        "#version 460\n// x\n#extension GL_GOOGLE_include_directive : require\n#include \
         \"nowhere.glsl\"\nvoid main() {}\n",
    );
    let error = error.unwrap_err();
    assert!(error.contains("glsl/area/planted.comp") && error.contains("nowhere.glsl"), "{error}");
}

#[test]
fn element_types_access_and_parameters_become_rust() {
    let source = with_body(
        "struct Pair { vec3 a; uint b; };\n\
         layout(constant_id = 1) const float FACTOR = 2.5;\n\
         layout(scalar, binding = 0) readonly buffer X { vec3 x[]; };\n\
         layout(scalar, binding = 1) writeonly buffer Y { Pair y[]; };\n\
         layout(scalar, push_constant) uniform Params { vec3 g; float dt; uvec3 dims; };",
        "uint i = thread_idx(); y[i] = Pair(FACTOR * (x[i] + dt * g), dims.x);",
    )
    .unwrap();
    for expected in [
        "pub mod planted {",
        "/// A planted kernel.",
        "pub x: &'a frazil_vk::Buffer<[f32; 3]>",
        "pub y: &'a frazil_vk::Buffer<super::super::types::Pair>",
        "name: \"x\", element_bytes: 12, reads: true, writes: false",
        "name: \"y\", element_bytes: 16, reads: false, writes: true",
        "assert!(size_of::<Params>() == 28)",
        "assert!(core::mem::offset_of!(Params, dims) == 16)",
        "pub factor: f32",
        "pub workgroup_size: u32",
    ] {
        assert!(source.contains(expected), "no «{expected}» in\n{source}");
    }
}

/// A buffer that is declared without `readonly` counts as written only if an instruction writes it, so that
/// no barrier follows from functions of an include that are not called.
#[test]
fn writes_are_those_of_instructions() {
    let writes = |body: &str| {
        let functions = "layout(scalar, binding = 0) buffer A { uvec2 a[]; };\n\
                         void add(uint i) { atomicAdd(a[i].y, 1u); }\n\
                         void put(uint i) { a[i].x = 3u; }\n\
                         layout(scalar, binding = 1) writeonly buffer B { uint b[]; };";
        let source = with_body(functions, body).unwrap();
        let begin = source.find("name: \"a\"").unwrap();
        source[begin..].split("writes: ").nth(1).unwrap().starts_with("true")
    };
    assert!(!writes("b[0] = a[1].x;"));
    assert!(!writes("b[0] = a.length();"));
    assert!(writes("b[0] = a[1].x; add(2);"));
    assert!(writes("b[0] = a[1].x; if (b.length() > 7) put(2);"));
    assert!(writes("b[0] = atomicMax(a[0].x, 2u);"));
    assert!(writes("b[0] = atomicExchange(a[0].x, 2u);"));
}

#[test]
fn constants_become_rust_ones_with_their_comments() {
    let source = with_body(
        "const uint FIRST = 0x10u; // where it begins\n// What it is.\nconst uint ONE = 1u;\nconst uint TWO \
         = FIRST + 2u * ONE;\n\
         const uint HIDDEN_ = 7u;\nlayout(constant_id = 1) const uint WORDS = 3;\nconst uint DERIVED = 2u * \
         WORDS;\n\
         layout(scalar, binding = 0) buffer A { uint a[]; };",
        "a[0] = FIRST + TWO + HIDDEN_ + DERIVED;",
    )
    .unwrap();
    for expected in [
        "/// where it begins\npub const FIRST: u32 = 16;",
        "/// What it is.\npub const ONE: u32 = 1;",
        "pub const TWO: u32 = 18;",
    ] {
        assert!(source.contains(expected), "no «{expected}» in\n{source}");
    }
    assert!(!source.contains("const HIDDEN_") && !source.contains("const DERIVED"), "{source}");
    assert!(
        source.contains("pub mod kernel {") && source.contains("pub const INVALID_INDEX: u32 = 4294967295;")
    );
}

fn with_elements(line: &str) -> Result<String, String> {
    let declarations = "layout(constant_id = 1) const uint WORDS = 3;\nconst uint BOTH = 2u * WORDS;\n\
                        layout(scalar, binding = 0) readonly buffer Count { uint count[]; };\n\
                        layout(scalar, binding = 1) buffer A { uint a[]; };\n\
                        layout(scalar, push_constant) uniform Params { vec3 g; uint capacity; };";
    let body = "if (thread_idx() < count[0]) a[thread_idx()] = BOTH + capacity;";
    generate(&format!(
        "{}{declarations}\nvoid main() {{ {body} }}\n",
        PREAMBLE.replace("// A planted kernel.\n", &format!("// A planted kernel.\n// Elements: {line}.\n"))
    ))
}

#[test]
fn elements_of_a_binding_follow_from_names_that_the_shader_has() {
    for (line, expected) in [
        (
            "a = threads * WORDS",
            "elements: Some(|reach| (reach.threads).saturating_mul(u64::from(reach.specialization[1])))",
        ),
        ("a = count << 1", "elements: Some(|reach| (reach.counts[0]).unbounded_shl((1_u64) as u32))"),
        ("a = capacity", "elements: Some(|reach| reach.parameter(12))"),
        ("a = BOTH, count = 0", "(2_u64).saturating_mul(u64::from(reach.specialization[1]))"),
        ("a = all", "elements: Some(|_| u64::MAX)"),
    ] {
        let source = with_elements(line).unwrap();
        assert!(source.contains(expected), "{line}: no «{expected}» in\n{source}");
    }
    for (line, problem) in [
        ("b = threads", "no buffer is named b"),
        ("a = fewer", "fewer is no constant, parameter or buffer"),
        ("a = threads %% 2", "expected + - * / << of names and numbers"),
        ("a = 1, a = 2", "a has its elements given already"),
    ] {
        let error = with_elements(line).unwrap_err();
        assert!(error.starts_with("glsl/area/planted:1: Elements:") && error.contains(problem), "{error}");
    }
}

#[test]
fn work_of_items_follows_from_the_header() {
    let with_work = |line: &str| {
        let preamble = PREAMBLE.replace("planted kernel.\n", &format!("planted kernel.\n// Work: {line}.\n"));
        generate(&format!(
            "{preamble}layout(scalar, binding = 0) buffer A {{ uint a[]; }};\nvoid main() {{ a[0] = 1; }}\n"
        ))
    };
    let source = with_work("11 flop per pair, 3 flop per particle").unwrap();
    for expected in ["flop: |_| 11_u64, item: \"pair\"", "flop: |_| 3_u64, item: \"particle\""] {
        assert!(source.contains(expected), "{source}");
    }
    let source = with_work("2 * WORKGROUP_SIZE flop per pair").unwrap();
    let expected = "flop: |reach| (2_u64).saturating_mul(u64::from(reach.specialization[0]))";
    assert!(source.contains(expected), "{source}");
    for (line, problem) in [
        ("11 flop", "expected N flop per item"),
        ("few flop per pair", "few is no constant"),
        ("threads flop per pair", "threads is no constant"),
        ("1 flop per pair of two", "expected one word after \"per\""),
        ("1 flop per pair, 2 flop per pair", "the item has its flop given already"),
    ] {
        let error = with_work(line).unwrap_err();
        assert!(error.starts_with("glsl/area/planted:1: Work:") && error.contains(problem), "{error}");
    }
}

#[test]
fn a_padded_layout_is_refused() {
    // std430 puts vec3 elements 16 bytes apart; [f32; 3] takes 12.
    let error =
        with_body("layout(std430, binding = 0) buffer A { vec3 a[]; };", "a[0] = vec3(1);").unwrap_err();
    assert!(
        error.starts_with("glsl/area/planted.comp:") && error.contains("16 bytes apart but take 12"),
        "{error}"
    );
    let error = with_body(
        "layout(scalar, binding = 0) buffer A { float a[]; };\nlayout(std430, push_constant) uniform Params \
         { float s; vec3 v; };",
        "a[0] = s * v.x;",
    )
    .unwrap_err();
    assert!(
        error.contains("\"push constants.v\" lies at byte 16") && error.contains("layout(scalar)"),
        "{error}"
    );
}

#[test]
fn gaps_and_unused_buffers_are_refused() {
    let error = with_body(
        "layout(scalar, binding = 0) buffer A { uint a[]; };\nlayout(scalar, binding = 2) buffer B { uint \
         b[]; };",
        "a[0] = b[0];",
    );
    assert!(error.unwrap_err().contains("binding 2 is \"b\", expected binding 1"));
}

#[test]
fn more_buffers_than_every_device_binds_are_refused() {
    let kernel = |n: usize| {
        let buffers: String = (0..n)
            .map(|k| format!("layout(scalar, binding = {k}) buffer B{k} {{ uint b{k}[]; }};\n"))
            .collect();
        let uses: String = (0..n).map(|k| format!("b{k}[0] = 1u; ")).collect();
        with_body(&buffers, &uses)
    };
    kernel(16).unwrap();
    let error = kernel(17).unwrap_err();
    assert!(error.contains("glsl/area/planted") && error.contains("binds 17 buffers, at most 16"), "{error}");
}

#[test]
fn no_kernel_of_the_project_binds_more_buffers_than_every_device_does() {
    let source = include_str!(concat!(env!("OUT_DIR"), "/kernels.rs"));
    let bound = source.split("bindings: &[").skip(1).map(|rest| {
        let list = rest.split("], params_bytes").next().unwrap();
        list.matches("frazil_vk::BindingSource {").count()
    });
    let bound: Vec<usize> = bound.collect();
    assert!(bound.len() > 100, "{} shaders", bound.len());
    assert!(bound.iter().all(|n| *n <= 16), "{bound:?}");
}

#[test]
fn the_generated_source_has_no_path_of_its_folder() {
    // With one, builds in two folders would differ.
    let source = include_str!(concat!(env!("OUT_DIR"), "/kernels.rs"));
    assert!(!source.contains(env!("CARGO_MANIFEST_DIR")) && !source.contains(env!("OUT_DIR")));
}

/// Returns the opcode and the words of each instruction of a module.
fn instructions(words: &[u32]) -> Vec<(u32, &[u32])> {
    let mut rest = &words[5..];
    let mut result = Vec::new();
    while let Some(first) = rest.first() {
        let (instruction, after) = rest.split_at((first >> 16) as usize);
        result.push((first & 0xffff, instruction));
        rest = after;
    }
    result
}

#[test]
fn constants_are_loaded_once_and_before_loops() {
    const LOAD: u32 = 61;
    const ACCESS_CHAIN: u32 = 65;
    const COPY_OBJECT: u32 = 83;
    const LOOP_MERGE: u32 = 246;
    const FUNCTION_END: u32 = 56;
    let kernel = format!(
        "{PREAMBLE}struct Terms {{ float a; vec3 b; }};\n\
         layout(scalar, binding = 0) buffer A {{ float a[]; }};\n\
         layout(scalar, binding = 1) readonly buffer T {{ Terms terms[]; }};\n\
         layout(scalar, binding = 2) readonly buffer C {{ float scalars[]; }};\n\
         layout(scalar, binding = 3) buffer W {{ Terms written[]; }};\n\
         layout(scalar, push_constant) uniform Params {{ vec3 x; uint n; float v[4]; }};\n\
         void main() {{\n\
             uint i = thread_idx();\n\
             if (i >= n) return;\n\
             for (uint k = 0u; k < n; ++k) {{\n\
                 a[i + k * n] += x.y * v[2] * v[k % 4u] + x.y + terms[0].b.x + terms[k].a + scalars[0];\n\
                 written[0].a += 1.0;\n\
             }}\n\
         }}\n"
    );
    let file = tempfile::tempdir().unwrap();
    let glsl = file.path().join("glsl");
    std::fs::create_dir_all(glsl.join("common")).unwrap();
    std::fs::create_dir_all(glsl.join("area")).unwrap();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../glsl/common/kernel.glsl");
    std::fs::copy(project, glsl.join("common/kernel.glsl")).unwrap();
    std::fs::write(glsl.join("area/planted.comp"), kernel).unwrap();
    let planted =
        codegen::compile::shader_files(&glsl).unwrap().into_iter().find(|f| f.name == "planted").unwrap();
    let (_, words) = codegen::compile::Compiler::new(&glsl).unwrap().compile(&planted).unwrap();
    let hoisted = frazil_vk::hoist_constants(&words);

    let (before, after) = (instructions(&words), instructions(&hoisted));
    // Loads of push constants (storage class 9) and of buffers (12).
    let loads = |instructions: &[(u32, &[u32])], class: u32| -> usize {
        let is_variable = |(op, i): &&(u32, &[u32])| *op == 59 && i[3] == class;
        let variables: Vec<u32> = before.iter().filter(is_variable).map(|(_, i)| i[2]).collect();
        let pointers: Vec<u32> = after
            .iter()
            .filter(|(op, i)| *op == ACCESS_CHAIN && variables.contains(&i[3]))
            .map(|(_, i)| i[2])
            .collect();
        instructions.iter().filter(|(op, i)| *op == LOAD && pointers.contains(&i[3])).count()
    };
    let old_loop = before.iter().position(|(op, _)| *op == LOOP_MERGE).unwrap();
    let new_loop = after.iter().position(|(op, _)| *op == LOOP_MERGE).unwrap();
    assert!(loads(&before[old_loop..], 9) > 1);
    // n, x.y and v[2] before the loop; v[k % 4] in it.
    assert_eq!((loads(&after[..new_loop], 9), loads(&after[new_loop..], 9)), (3, 1));
    // terms[0].b.x before it; terms[k], the scalar and what is written in it.
    assert_eq!((loads(&before[..old_loop], 12), loads(&after[..new_loop], 12)), (0, 1));
    assert_eq!(loads(&after[new_loop..], 12), loads(&before[old_loop..], 12) - 1);
    let copies = after.iter().filter(|(op, _)| *op == COPY_OBJECT).count();
    assert_eq!(copies, loads(&before, 9) - 1 + 1);
    // All that stood there stands there still, and every id is below the bound.
    assert_eq!(after.len(), before.len() + 2 * 4);
    assert!(after.iter().filter(|(op, _)| *op == LOAD).all(|(_, i)| i[2] < hoisted[3]));
    assert_eq!(after.last().unwrap().0, FUNCTION_END);
}

#[test]
fn push_constants_beyond_the_portable_size_are_refused() {
    let error = with_body(
        "layout(scalar, binding = 0) buffer A { float a[]; };\nlayout(scalar, push_constant) uniform Params \
         { float v[33]; };",
        "a[0] = v[thread_idx()];",
    );
    assert!(error.unwrap_err().contains("132 bytes, at most 128"));
}

#[test]
fn a_kernel_without_the_preamble_or_a_header_is_refused() {
    let bare = "#version 460\n// A kernel with a fixed group size.\nlayout(local_size_x = 64) in;\n\
                layout(binding = 0) buffer A { uint a[]; };\nvoid main() { a[gl_GlobalInvocationID.x] = 1u; \
                }\n";
    assert!(generate(bare).unwrap_err().contains("no group size: include \"common/kernel.glsl\""));
    let silent = PREAMBLE.replace("// A planted kernel.\n", "")
        + "layout(scalar, binding = 0) buffer A { uint a[]; };\nvoid main() { a[thread_idx()] = 1u; }\n";
    assert!(generate(&silent).unwrap_err().contains("expected a header comment"));
}
