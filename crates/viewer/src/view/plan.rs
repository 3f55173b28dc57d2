//! What a view does by itself.

use std::path::PathBuf;

/// Where a view stops by itself, and what it does then.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Pause once this step is shown.
    pub pause_at: Option<u64>,
    /// Write the picture there, once it is shown.
    pub screenshot: Option<PathBuf>,
    /// End there.
    pub exit: bool,
    pub hide_overlay: bool,
}
