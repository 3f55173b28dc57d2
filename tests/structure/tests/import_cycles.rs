//! Absence of import cycles: the files of every crate can be read in an order in which each uses only those
//! before it, and so can its modules, each a file or a folder with all that is below it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_structure::{
    cycles::cycles,
    modules::{Edge, Modules},
    repository,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Describes every cycle of the crate with the root file `root`: its files, and each use among them.
fn report(root: &Path) -> String {
    let modules = Modules::read(root).unwrap_or_else(|error| panic!("{error}"));
    let base = root.parent().unwrap();
    let name = |file: usize| modules.files[file].strip_prefix(base).unwrap().display().to_string();
    let pairs: Vec<(usize, usize)> = modules.edges.iter().map(|e| (e.from, e.to)).collect();
    let mut out = String::new();
    let describe =
        |edge: &Edge| format!("    {}:{} → {} by {}\n", name(edge.from), edge.line, name(edge.to), edge.path);
    for component in cycles(modules.files.len(), &pairs) {
        let files: Vec<String> = component.iter().map(|&file| name(file)).collect();
        let _ = writeln!(out, "  {} files use one another: {}", files.len(), files.join(", "));
        let among = |edge: &&Edge| component.contains(&edge.from) && component.contains(&edge.to);
        out.extend(modules.edges.iter().filter(among).map(describe));
    }
    let places: Vec<Vec<String>> = modules.files.iter().map(|file| place(base, file)).collect();
    for (parent, siblings) in &siblings(&places, &modules.edges) {
        for component in cycles(siblings.names.len(), &siblings.pairs()) {
            let of_component = |edge: &&&Edge| {
                let [from, to] = siblings.ends(&places, parent.len(), edge);
                from != to && component.contains(&from) && component.contains(&to)
            };
            let among: String =
                siblings.edges.iter().filter(of_component).map(|edge| describe(edge)).collect();
            // Cycles of files are told above.
            let names: Vec<&str> = component.iter().map(|&k| siblings.names[k].as_str()).collect();
            let _ = write!(
                out,
                "  {} modules of /{} use one another: {}\n{among}",
                names.len(),
                parent.join("/"),
                names.join(", ")
            );
        }
    }
    out
}

/// Returns the module of a file as the names of the folders and the file on the way to it. The file of a
/// module that has others below it is one of them, by its own name.
fn place(base: &Path, file: &Path) -> Vec<String> {
    let stem = file.with_extension("");
    let path = if stem.is_dir() { stem.join(file.file_name().unwrap()) } else { file.to_owned() };
    path.strip_prefix(base).unwrap().iter().map(|part| part.to_str().unwrap().to_owned()).collect()
}

/// Modules below one parent, and the uses by which one of them depends on another.
#[derive(Default)]
struct Siblings<'a> {
    names: Vec<String>,
    edges: Vec<&'a Edge>,
    uses: BTreeSet<(usize, usize)>,
}

impl Siblings<'_> {
    fn index(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        self.uses.iter().copied().collect()
    }

    /// Returns the siblings that contain the two ends of a use.
    fn ends(&self, places: &[Vec<String>], level: usize, edge: &Edge) -> [usize; 2] {
        [edge.from, edge.to]
            .map(|file| self.names.iter().position(|name| *name == places[file][level]).unwrap())
    }
}

/// Assigns each use to the modules below the nearest common parent of its two files.
fn siblings<'a>(places: &'a [Vec<String>], edges: &'a [Edge]) -> BTreeMap<&'a [String], Siblings<'a>> {
    let mut found: BTreeMap<&[String], Siblings> = BTreeMap::new();
    for edge in edges {
        let [from, to] = [edge.from, edge.to].map(|file| &places[file]);
        let level = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let siblings = found.entry(&from[..level]).or_default();
        let uses = (siblings.index(&from[level]), siblings.index(&to[level]));
        siblings.edges.push(edge);
        siblings.uses.insert(uses);
    }
    found
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
fn folders_whose_files_use_one_another_are_a_cycle() {
    let found = planted(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a/mod.rs", "mod one;\nmod two;\npub use one::A;"),
        ("a/one.rs", "pub struct A;"),
        ("a/two.rs", "use crate::b::B;"),
        ("b/mod.rs", "mod three;\nmod four;\npub use three::B;"),
        ("b/three.rs", "pub struct B;"),
        ("b/four.rs", "use crate::a::A;"),
    ]);
    assert!(!found.contains("files use one another"), "{found}");
    assert!(found.contains("2 modules of / use one another: a, b"), "{found}");
    assert!(found.contains("a/two.rs:1 → b/three.rs") && found.contains("b/four.rs:1 → a/one.rs"), "{found}");
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
