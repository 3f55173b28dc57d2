//! What goes to the terminal: data to stdout, everything else to stderr.
//!
//! Never by `println!`, which panics when the reader of a pipe has gone.

use crate::failure::Failure;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Writes data to stdout. A reader that closed the pipe has read enough.
pub fn data(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::other(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr, where there is one.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "frazil: {line}");
}
