//! Analysis of the source tree as text, for tests of its structure.
//!
//! `lexer` splits Rust source into tokens, `modules` builds the tree of modules of a crate, and `cycles`
//! finds the strongly connected components of their dependencies. Nothing here is compiled with the crates it
//! reads, so that the tests of this package run in a second after any change.

pub mod cycles;
pub mod lexer;
pub mod modules;

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all files with this extension below a folder, sorted.
///
/// # Panics
/// If a folder cannot be listed.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if path.is_dir() {
            found.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
