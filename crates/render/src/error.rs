//! Errors of drawing and writing pictures.

use std::path::PathBuf;

/// An error of drawing or writing a picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A device error while drawing.
    #[error("cannot draw: {0}")]
    Device(#[from] frazil_vk::Error),
    /// An error while extracting a surface.
    #[error("cannot find a surface: {0}")]
    Kernel(frazil_kernels::KernelError),
    /// A file could not be written; an existing file at the path is unchanged.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// Attempted operation, as a verb.
        operation: &'static str,
        /// Path of the picture.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The number of pixels does not match the size.
    #[error("{}: expected {width} × {height} pixels, found {found}", path.display())]
    Size {
        /// Path of the picture.
        path: PathBuf,
        /// Requested width.
        width: u32,
        /// Requested height.
        height: u32,
        /// Number of pixels found.
        found: usize,
    },
}
