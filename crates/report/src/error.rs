//! Errors of the whole crate.

use std::path::PathBuf;

/// Result of every fallible call in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Reason why a report could not be written or read.
///
/// Messages are complete on their own: printing `{error}` shows everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that could not be written or read, or has unexpected contents.
    #[error(transparent)]
    File(#[from] frazil_io::Error),
    /// A plot that could not be drawn.
    #[error("cannot plot {}: {problem}", path.display())]
    Plot {
        /// The image that was not written.
        path: PathBuf,
        /// The problem, with the found and expected values.
        problem: String,
    },
}
