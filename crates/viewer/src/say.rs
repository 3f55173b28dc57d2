//! Terminal output: data to stdout, everything else to stderr.
//! `println!` is not used, because it panics when a pipe is closed.

use crate::failure::Failure;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Writes data to stdout. A closed pipe is not an error.
pub fn data(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::other(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr, ignoring errors.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "frazil: {line}");
}
