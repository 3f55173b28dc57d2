//! What can go wrong on the way to a picture.

use std::path::PathBuf;

/// A picture that could not be made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device refused something.
    #[error("cannot draw: {0}")]
    Device(#[from] frazil_vk::Error),
    /// A surface cannot be found.
    #[error("cannot find a surface: {0}")]
    Kernel(frazil_kernels::KernelError),
    /// A file could not be written; whatever stood at its place is untouched.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// What was attempted, as a verb.
        operation: &'static str,
        /// The picture's path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The pixels given are not a picture of the size given.
    #[error("{}: expected {width} × {height} pixels, found {found}", path.display())]
    Size {
        /// The picture's path.
        path: PathBuf,
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
        /// Pixels given.
        found: usize,
    },
}
