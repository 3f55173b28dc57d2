//! What can go wrong with a file, said once for the whole crate.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::frame::FrameError;

/// The result of every fallible call in this crate that touches a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file could not be written or read.
///
/// Messages are complete on their own (the operating system's cause is part of the text), so a caller prints
/// `{error}` and loses nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused: missing directory, no permission, full disk.
    #[error("cannot {operation} {}: {cause}", path.display())]
    Io {
        /// What was attempted, as a verb: "write", "rename", "open".
        operation: &'static str,
        /// The file or directory it was attempted on.
        path: PathBuf,
        /// The operating system's answer.
        cause: io::Error,
    },
    /// The file is of another kind.
    #[error("{} is not a frazil {kind}: expected it to begin with {expected:?}, found {found:?}", path.display())]
    NotA {
        /// What was expected: "recording", "checkpoint".
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The expected first bytes, as text.
        expected: String,
        /// The first bytes found, as text, invalid bytes replaced.
        found: String,
    },
    /// The file was written by another version of the format.
    #[error("{}: {kind} format version {found}; this build reads version {}", path.display(), span(*oldest, *expected))]
    Version {
        /// What the file is: "recording", "checkpoint", "run.json".
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The oldest version this build reads.
        oldest: u32,
        /// The newest version this build reads.
        expected: u32,
        /// The version the file names.
        found: u32,
    },
    /// Bytes are missing or do not match their checksum.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where, what was found and what was expected.
        damage: Damage,
    },
    /// A frame number past the end of a recording.
    #[error("{}: no frame {index}: the recording holds {len} frame(s), numbered from 0", path.display())]
    NoSuchFrame {
        /// The recording.
        path: PathBuf,
        /// The frame asked for.
        index: usize,
        /// How many frames there are.
        len: usize,
    },
    /// A checkpoint lacks a section that its reader needs.
    #[error("the checkpoint of step {step} has no section {name:?}; it has {available}")]
    NoSuchSection {
        /// The checkpoint's step.
        step: u64,
        /// The section asked for.
        name: String,
        /// The sections there are, comma separated.
        available: String,
    },
    /// A frame is malformed or lacks a column.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The frame holds something that the chosen format cannot say.
    #[error("cannot export {} as {format}: {problem}", path.display())]
    Unrepresentable {
        /// The file that was not written.
        path: PathBuf,
        /// The format's name.
        format: &'static str,
        /// The value, and the format's limit.
        problem: String,
    },
    /// A line of a metrics file is wrong.
    #[error("{}:{line}: {problem}", path.display())]
    Metrics {
        /// The metrics file.
        path: PathBuf,
        /// The line, counted from 1 (the header).
        line: usize,
        /// What was found and what was expected.
        problem: String,
    },
    /// The metrics or row handed to a writer do not fit its table.
    #[error("{}: {problem}", path.display())]
    MetricsInput {
        /// The metrics file.
        path: PathBuf,
        /// What was given and what was expected.
        problem: String,
    },
    /// JSON that does not say what it should.
    #[error("{}: {cause}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's message, with line and column.
        cause: serde_json::Error,
    },
    /// A plot could not be drawn.
    #[error("cannot plot {}: {problem}", path.display())]
    Plot {
        /// The picture that was not written.
        path: PathBuf,
        /// What was found and what was expected.
        problem: String,
    },
}

/// "1", or "1 to 2".
fn span(oldest: u32, newest: u32) -> String {
    if oldest == newest { newest.to_string() } else { format!("{oldest} to {newest}") }
}

impl Error {
    /// Attaches the operation and the path to an operating system error; made for `map_err`.
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { operation, path: path.to_owned(), cause }
    }
}

/// One place in a checksummed file that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The part of the file in words, such as `frame 12, column "velocity"`.
    pub place: String,
    /// Where that part begins, in bytes from the start of the file.
    pub offset_bytes: u64,
    /// What is wrong with it.
    pub problem: Problem,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.place, self.offset_bytes, self.problem)
    }
}

/// What is wrong with a damaged part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file ends inside the part.
    Truncated {
        /// Bytes the part needs.
        expected_bytes: u64,
        /// Bytes left in the file.
        found_bytes: u64,
    },
    /// The bytes do not give the checksum stored with them.
    Checksum {
        /// The stored xxh3-64.
        expected: u64,
        /// The xxh3-64 of the bytes found.
        found: u64,
    },
    /// The bytes are intact but say something no writer of this version says.
    Invalid(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { expected_bytes, found_bytes } => {
                write!(f, "truncated: expected {expected_bytes} byte(s), found {found_bytes}")
            }
            Self::Checksum { expected, found } => {
                write!(f, "checksum mismatch: expected xxh3 {expected:016x}, found {found:016x}")
            }
            Self::Invalid(problem) => f.write_str(problem),
        }
    }
}
