//! Absence of import cycles: the files of every crate can be read in an order in which each uses only those
//! before it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{cycles::cycles, modules::Modules, repository};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Describes every cycle of the crate with the root file `root`: its files, and each use among them.
fn report(root: &Path) -> String {
    let modules = Modules::read(root).unwrap_or_else(|error| panic!("{error}"));
    let base = root.parent().unwrap();
    let name = |file: usize| modules.files[file].strip_prefix(base).unwrap().display().to_string();
    let pairs: Vec<(usize, usize)> = modules.edges.iter().map(|e| (e.from, e.to)).collect();
    let mut out = String::new();
    for component in cycles(modules.files.len(), &pairs) {
        let files: Vec<String> = component.iter().map(|&file| name(file)).collect();
        let _ = writeln!(out, "  {} files use one another: {}", files.len(), files.join(", "));
        for edge in &modules.edges {
            if component.contains(&edge.from) && component.contains(&edge.to) {
                let _ = writeln!(
                    out,
                    "    {}:{} → {} by {}",
                    name(edge.from),
                    edge.line,
                    name(edge.to),
                    edge.path
                );
            }
        }
    }
    out
}

/// Returns the root files of every package by the package's folder.
fn roots() -> BTreeMap<String, Vec<PathBuf>> {
    let repository = repository();
    let crates = std::fs::read_dir(repository.join("crates")).unwrap();
    let mut packages: Vec<String> =
        crates.map(|entry| format!("crates/{}", entry.unwrap().file_name().to_str().unwrap())).collect();
    packages.extend(["tests", "tests/structure", "benches"].map(str::to_owned));
    packages
        .into_iter()
        .map(|package| {
            let candidates = ["src/lib.rs", "src/main.rs", "build/main.rs"];
            let roots = candidates.map(|root| repository.join(&package).join(root));
            (package, roots.into_iter().filter(|root| root.exists()).collect())
        })
        .collect()
}

#[test]
fn no_crate_has_an_import_cycle() {
    let mut failures = String::new();
    for (package, roots) in roots() {
        let found: String = roots.iter().map(|root| report(root)).collect();
        if !found.is_empty() {
            let _ = writeln!(
                failures,
                "{package}:
{found}"
            );
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Writes a crate of these files and reports its cycles.
fn planted(files: &[(&str, &str)]) -> String {
    let folder = std::env::temp_dir().join(format!(
        "frazil-structure-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = report(&folder.join("lib.rs"));
    std::fs::remove_dir_all(folder).unwrap();
    found
}

#[test]
fn a_planted_cycle_is_found_with_file_line_and_path() {
    let found = planted(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "\nuse crate::b::{B, C as D};\npub struct A;"),
        ("b.rs", "pub struct B;\nfn f() { let _ = super::a::A; }"),
    ]);
    assert!(found.contains("2 files use one another: a.rs, b.rs"), "{found}");
    assert!(found.contains("a.rs:2 → b.rs by crate::b::B"), "{found}");
    assert!(found.contains("b.rs:2 → a.rs by super::a::A"), "{found}");
}

#[test]
fn names_are_followed_through_re_exports_and_aliases_of_modules() {
    let found = planted(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::*;"),
        ("a.rs", "use crate::B;\npub struct A;"),
        ("b.rs", "use crate as root;\npub struct B;\nfn f(_: root::A) {}"),
    ]);
    assert!(
        found.contains("a.rs:1 → b.rs by crate::B") && found.contains("b.rs:3 → a.rs by root::A"),
        "{found}"
    );
}

#[test]
fn a_parent_that_uses_a_child_which_uses_the_parent_is_a_cycle() {
    let files = [
        ("lib.rs", "mod area;"),
        ("area/mod.rs", "mod child;\npub use child::f;\npub struct P;\nfn g() { f(P) }"),
        ("area/child.rs", "pub fn f(_: super::P) {}"),
    ];
    let found = planted(&files);
    assert!(
        found.contains("area/mod.rs:2 → area/child.rs") && found.contains("area/child.rs:1 → area/mod.rs"),
        "{found}"
    );
}

#[test]
fn declarations_downward_re_exports_and_tests_are_not_uses() {
    let found = planted(&[
        (
            "lib.rs",
            "//! Uses `crate::a::A`.\nmod a;\npub mod b;\npub use a::A;\npub use self::b::inner::B;\n\
             pub fn root() {}",
        ),
        (
            "a.rs",
            "/* crate::b::B */ pub struct A;\nconst TEXT: &str = \"crate::b::f\";\n\
             pub(in crate::b) fn f() { crate::root() }\n\
                  #[cfg(test)]\nmod tests {\n    use crate::b::inner::B;\n}",
        ),
        ("b/mod.rs", "pub mod inner {\n    use crate::a::A;\n    pub struct B(A);\n}"),
    ]);
    assert_eq!(found, "");
}
