//! `unsafe` is in `crates/vk` only, each block with the reason why it is sound.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, lexer, repository};

/// Returns the numbers of the lines of a source text that have `unsafe` outside of comments and strings.
fn unsafe_lines(text: &str) -> Vec<usize> {
    let tokens = lexer::tokens(text);
    tokens.iter().filter(|token| token.ident() == Some("unsafe")).map(|token| token.line).collect()
}

#[test]
fn only_the_crate_of_vulkan_has_unsafe_code() {
    let root = repository();
    let vulkan = root.join("crates/vk");
    let (mut outside, mut n_inside) = (Vec::new(), 0);
    for folder in ["crates", "tests", "benches"] {
        for path in files_below(&root.join(folder), "rs") {
            let lines = unsafe_lines(&std::fs::read_to_string(&path).unwrap());
            match path.starts_with(&vulkan) {
                true => n_inside += lines.len(),
                false => outside.extend(lines.iter().map(|line| format!("{}:{line}", path.display()))),
            }
        }
    }
    assert!(outside.is_empty(), "unsafe outside of crates/vk:\n{}", outside.join("\n"));
    // `tools/audit` prints it.
    println!("unsafe in crates/vk: {n_inside}");
    assert!(n_inside > 50, "only {n_inside} in crates/vk: the sources were not read");
}

#[test]
fn comments_strings_and_lints_are_no_unsafe_code() {
    let none = "// unsafe\n/* unsafe */ #![deny(unsafe_code)]\nlet text = \"unsafe\";\n";
    assert_eq!(unsafe_lines(none), [] as [usize; 0]);
    assert_eq!(unsafe_lines("fn f() {\n    unsafe { g() }\n}\nunsafe impl A for B {}\n"), [2, 4]);
}
