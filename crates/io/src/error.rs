//! File errors of the whole crate.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use frazil_scene::shortened;

use crate::frame::FrameError;

/// Result of every fallible call in this crate that touches a file.
pub type Result<T> = std::result::Result<T, Error>;

/// Reason why a file could not be written or read.
///
/// Messages are complete on their own (the operating system's cause is part of the text): printing `{error}`
/// shows everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operating system error: missing directory, no permission, full disk.
    #[error("cannot {operation} {}: {cause}", path.display())]
    Io {
        /// The attempted operation, as a verb: "write", "rename", "open".
        operation: &'static str,
        /// The file or directory of the operation.
        path: PathBuf,
        /// The operating system's error.
        cause: io::Error,
    },
    /// A file of another kind.
    #[error("{} is not a frazil {kind}: expected it to begin with {expected:?}, found \
             {found:?}", path.display())]
    WrongKind {
        /// The expected kind: "recording", "checkpoint".
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The expected first bytes, as text.
        expected: String,
        /// The first bytes found, as text, invalid bytes replaced.
        found: String,
    },
    /// A file written by another version of the format.
    #[error("{}: {kind} format version {found}; this build reads version \
             {}", path.display(), span(*oldest, *expected))]
    Version {
        /// Kind of the file: "recording", "checkpoint", "run.json".
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
    /// A file with missing bytes or bytes that do not match their checksum.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Location of the damage, with found and expected values.
        damage: Damage,
    },
    /// A frame number past the end of a recording.
    #[error("{}: no frame {index}: the recording holds {len} frame(s), numbered from 0", path.display())]
    NoSuchFrame {
        /// The recording.
        path: PathBuf,
        /// The requested frame.
        index: usize,
        /// Number of frames.
        len: usize,
    },
    /// A checkpoint that lacks a required section.
    #[error("the checkpoint of step {step} has no section {name:?}; it has {available}")]
    NoSuchSection {
        /// The checkpoint's step.
        step: u64,
        /// The requested section.
        name: String,
        /// The available sections, comma separated.
        available: String,
    },
    /// A frame is malformed or lacks a column.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A frame with something that the chosen format cannot represent.
    #[error("cannot export {} as {format}: {problem}", path.display())]
    Unrepresentable {
        /// The file that was not written.
        path: PathBuf,
        /// The format's name.
        format: &'static str,
        /// The value, and the format's limit.
        problem: String,
    },
    /// An invalid line of a metrics file.
    #[error("{}:{line}: {problem}", path.display())]
    Metrics {
        /// The metrics file.
        path: PathBuf,
        /// The line, counted from 1 (the header).
        line: usize,
        /// The problem, with the found and expected values.
        problem: String,
    },
    /// Metrics or a row for a writer that do not fit its table.
    #[error("{}: {problem}", path.display())]
    MetricsInput {
        /// The metrics file.
        path: PathBuf,
        /// The given and the expected values.
        problem: String,
    },
    /// A raster with unexpected contents.
    #[error("{}: {}", path.display(), shortened(problem))]
    Raster {
        /// The raster.
        path: PathBuf,
        /// The problem, with the found and expected values.
        problem: String,
    },
    /// JSON with unexpected contents.
    #[error("{}: {}", path.display(), shortened(&cause.to_string()))]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's message, with line and column.
        cause: serde_json::Error,
    },
}

/// Returns a range of versions: "1", or "1 to 2".
fn span(oldest: u32, newest: u32) -> String {
    if oldest == newest { newest.to_string() } else { format!("{oldest} to {newest}") }
}

impl Error {
    /// Attaches the operation and the path to an operating system error; for use with `map_err`.
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { operation, path: path.to_owned(), cause }
    }
}

/// Damage in one place of a checksummed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The part of the file in words, such as `frame 12, column "velocity"`.
    pub place: String,
    /// Start of that part, in bytes from the start of the file.
    pub offset_bytes: u64,
    /// Kind of damage.
    pub problem: Problem,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.place, self.offset_bytes, self.problem)
    }
}

/// Kind of damage in a part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The file ends inside the part.
    Truncated {
        /// Number of bytes that the part requires.
        expected_bytes: u64,
        /// Number of bytes left in the file.
        found_bytes: u64,
    },
    /// The bytes do not match the checksum stored with them.
    Checksum {
        /// The stored xxh3-64.
        expected: u64,
        /// The xxh3-64 of the bytes found.
        found: u64,
    },
    /// The bytes are intact but have a value that no writer of this version produces.
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
