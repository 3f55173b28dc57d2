//! Terminal output: data to stdout, everything else to stderr; with `--quiet` errors and data alone.
//! `println!` is not used, because it panics when a pipe is closed.

use console::Style;
use frazil_engine::Failure;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Sets whether notes, warnings, progress and reports are left out.
pub fn set_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Returns true if only errors and data are written.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Writes a report to stdout, unless only errors and data are to be written: a table of results that are in
/// files, too.
pub fn report(text: &str) -> Result<(), Failure> {
    if is_quiet() { Ok(()) } else { data(text) }
}

/// Writes data to stdout. A closed pipe is not an error.
pub fn data(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::other(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a note or a warning to stderr, unless only errors are to be written.
pub fn note(line: impl Display) {
    if !is_quiet() {
        error(line);
    }
}

/// Writes a line to stderr, ignoring errors. On a terminal "error:" and "warning:" have a colour, unless
/// `NO_COLOR` is set.
pub fn error(line: impl Display) {
    let line = shortened(&line.to_string());
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

/// Shortens words of more than a thousand characters: "aaaa… (3000 characters)".
fn shortened(text: &str) -> String {
    const MOST: usize = 1000;
    const KEPT: usize = 100;
    let short = |word: &str| {
        let n = word.trim_end().chars().count();
        if n <= MOST {
            return word.to_owned();
        }
        let (kept, end) = (word.chars().take(KEPT).collect::<String>(), &word[word.trim_end().len()..]);
        format!("{kept}… ({n} characters){end}")
    };
    text.split_inclusive(char::is_whitespace).map(short).collect()
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_words_are_shortened_and_all_else_is_kept() {
        let text = "error: a key,\n  and\tits 'value' \n";
        assert_eq!(shortened(text), text);
        let long = "ü".repeat(1001);
        let expected = format!("found {}… (1001 characters) here\n", "ü".repeat(100));
        assert_eq!(shortened(&format!("found {long} here\n")), expected);
    }
}
