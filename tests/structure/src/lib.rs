//! Reads the source tree as text, for tests of its structure.
//!
//! `lexer` splits Rust source into tokens, `modules` builds the tree of modules of a crate, and `cycles`
//! finds the strongly connected components of their dependencies. Nothing here is compiled with the crates it
//! reads, so that the tests of this package run in a second whatever was changed.

pub mod cycles;
pub mod lexer;
pub mod modules;

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
