//! A reader, and the requirements on it.

use std::path::{Path, PathBuf};

use crate::mutate::Kind;

/// Longest error message in characters: values of users are shortened in it.
const MAX_MESSAGE: usize = 4000;

/// A reader that is given mutated files.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the target, and of its folder in `corpus`.
    pub name: &'static str,
    /// Name of the file that it reads; the ending selects the reader.
    pub file: &'static str,
    /// Kind of mutations.
    pub kind: Kind,
    /// Makes valid files, each of which is accepted.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Returns tokens that the format knows, besides those of the seeds.
    pub words: fn() -> Vec<String>,
    /// Writes what a file needs beside it into the folder of the session.
    pub prepare: fn(&Path) -> std::io::Result<()>,
    /// Repairs a mutated file, so that it passes checksums.
    pub repair: fn(&mut Vec<u8>),
    /// Reads the file and checks the requirements.
    pub check: fn(&Input) -> Verdict,
}

/// File of a case.
pub struct Input<'a> {
    /// Folder of the session, for files that a check writes.
    pub folder: &'a Path,
    /// Path of the file, which has been written.
    pub path: PathBuf,
    /// Contents of the file.
    pub bytes: &'a [u8],
}

/// Result of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The reader took the file.
    Accepted,
    /// The reader returned an error.
    Refused,
}

/// Result of a case, or the requirement that was violated.
pub type Verdict = Result<Outcome, String>;

impl Target {
    /// A target without any extras.
    pub const fn new(
        name: &'static str,
        file: &'static str,
        kind: Kind,
        seeds: fn() -> Vec<Vec<u8>>,
        check: fn(&Input) -> Verdict,
    ) -> Self {
        Self { name, file, kind, seeds, words: Vec::new, prepare: |_| Ok(()), repair: |_| (), check }
    }
}

/// Checks the message of a refusal: it names the file and is of a length that can be read.
///
/// # Errors
/// The requirement that is violated.
pub fn refused(input: &Input, message: &str) -> Verdict {
    let name = input.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    check_message(message, name)
}

/// Checks the message of a refusal: it contains `subject`.
pub(crate) fn check_message(message: &str, subject: &str) -> Verdict {
    if !message.contains(subject) {
        return Err(format!("the message does not name {subject}: {message}"));
    }
    let n = message.chars().count();
    if n > MAX_MESSAGE {
        let start: String = message.chars().take(200).collect();
        return Err(format!("a message of {n} characters, which begins {start}"));
    }
    Ok(Outcome::Refused)
}

/// Reports two values that should be equal.
///
/// # Errors
/// They are not, with `what` they are.
pub fn must_equal<T: PartialEq>(what: &str, written: &T, read: &T) -> Result<(), String> {
    if written == read { Ok(()) } else { Err(format!("{what} reads back differently than it was written")) }
}
