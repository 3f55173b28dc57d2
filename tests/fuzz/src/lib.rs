//! Mutations of every file that frazil reads, and the requirements on its readers.
//!
//! A [`Target`] is a reader: valid files made by code, and a function that reads a file and checks what must
//! hold whatever its bytes are. A file is accepted or refused; a refusal names the file; nothing panics. A
//! [`Session`] gives the file of any case from a seed alone, so that a case can be repeated.
//!
//! `tests/short.rs` runs some hundred cases of each target in `tools/test`. `tools/campaign mutations` runs
//! many more in the program `fuzz`, with bounds of memory and time: see docs/testing.md. Inputs that once
//! failed are in `corpus/TARGET`.

mod hashes;
mod mutate;
mod random;
mod session;
mod target;
pub mod targets;

pub use hashes::repair_hashes;
pub use mutate::{Kind, is_name, mutate, tokens};
pub use random::Random;
pub use session::Session;
pub use target::{Input, Outcome, Target, Verdict, must_equal, refused};
