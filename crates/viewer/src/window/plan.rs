//! Scripted actions of a view.

use std::path::PathBuf;

/// Scripted end of a view, with its actions.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Step at which the view pauses once it is shown.
    pub pause_at: Option<u64>,
    /// File to which the picture of that step is written once it is shown.
    pub screenshot: Option<PathBuf>,
    /// True if the view closes at that step.
    pub exit: bool,
    pub hide_overlay: bool,
    /// True if the parameters of a simulation are shown from the beginning.
    pub show_parameters: bool,
    /// True if the help is shown from the beginning.
    pub show_help: bool,
    /// Folder whose shaders replace those of the program.
    pub shaders: Option<PathBuf>,
}
