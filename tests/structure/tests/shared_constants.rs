//! Constants that GLSL defines are not repeated in Rust: `frazil_shaders` provides them by area, file and
//! name.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{files_below, repository};
use std::collections::BTreeMap;

/// Returns name and value of a definition that begins with `keyword` and has a literal value.
fn literal<'a>(line: &'a str, keyword: &str, types: &[&str]) -> Option<(&'a str, &'a str)> {
    let (_, definition) = line.split_once(keyword)?;
    let (name, value) = definition.split_once('=')?;
    let (name, kind) =
        name.split_once(':').map_or((name.trim(), ""), |(name, kind)| (name.trim(), kind.trim()));
    let value = value.split(';').next()?.trim();
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let is_literal = value.starts_with(|c: char| c.is_ascii_digit()) && !value.contains(['.', ' ']);
    (is_name && is_literal && types.contains(&kind)).then_some((name, value))
}

fn number(literal: &str) -> Option<u64> {
    let digits = literal.trim_end_matches("u32").trim_end_matches('u').replace('_', "");
    match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[test]
fn no_constant_of_glsl_is_copied_into_rust() {
    let root = repository();
    let mut in_glsl: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for extension in ["glsl", "comp", "vert", "frag"] {
        for path in files_below(&root.join("glsl"), extension) {
            let text = std::fs::read_to_string(&path).unwrap();
            for line in text.lines().filter(|line| line.starts_with("const uint ")) {
                if let Some((name, value)) = literal(line, "const uint ", &[""]) {
                    let place = path.strip_prefix(&root).unwrap().display().to_string();
                    in_glsl.insert(name.to_owned(), (number(value).unwrap(), place));
                }
            }
        }
    }
    assert!(in_glsl.len() > 30, "constants are found: {}", in_glsl.len());
    let mut copies = Vec::new();
    // Twins are independent of the code they check, and the program's own lists do not depend on shaders.
    for crate_name in ["bench", "kernels", "particles", "render", "solvers", "viewer"] {
        for path in files_below(&root.join("crates").join(crate_name).join("src"), "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for (number_of_line, line) in text.lines().enumerate() {
                let Some((name, value)) = literal(line, "const ", &["u32", "usize", "u64"]) else { continue };
                if let Some((shared, place)) = in_glsl.get(name)
                    && number(value) == Some(*shared)
                {
                    let path = path.strip_prefix(&root).unwrap().display();
                    copies
                        .push(format!("{path}:{}: {name} = {value} is that of {place}", number_of_line + 1));
                }
            }
        }
    }
    assert!(copies.is_empty(), "take these from frazil_shaders:\n{}", copies.join("\n"));
}
