//! Terminal output: data to stdout, everything else to stderr.
//! `println!` is not used, because it panics when a pipe is closed.

use crate::failure::Failure;
use console::Style;
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

/// Writes a line to stderr, ignoring errors. On a terminal "error:" and "warning:" have a colour, unless
/// `NO_COLOR` is set.
pub fn note(line: impl Display) {
    let line = line.to_string();
    let _ = match line.split_once(": ").filter(|_| has_colour()) {
        Some(("error", rest)) => writeln!(std::io::stderr(), "frazil: {} {rest}", styled("error:").red()),
        Some(("warning", rest)) => {
            writeln!(std::io::stderr(), "frazil: {} {rest}", styled("warning:").yellow())
        }
        _ => writeln!(std::io::stderr(), "frazil: {line}"),
    };
}

fn styled(word: &str) -> console::StyledObject<&str> {
    Style::new().for_stderr().bold().apply_to(word)
}

/// Returns true if messages have colours: on a terminal that has them, or with `CLICOLOR_FORCE`, and never
/// with `NO_COLOR`.
fn has_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && console::colors_enabled_stderr()
}
