//! Arguments of `frazil view`.

use crate::common_args::{DeviceArgs, SceneChanges};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// A scene file, the name of a built-in scene, a recording (*.frazil-rec), or the output folder of a run
    /// with a recording.
    #[arg(value_name = "SCENE|RECORDING")]
    pub source: String,
    #[command(flatten)]
    pub changes: SceneChanges,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Pause at step N.
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Show the picture without the panel.
    #[arg(long)]
    pub hide_overlay: bool,
    /// Show the parameters of a simulation from the beginning; P shows and hides them.
    #[arg(long)]
    pub parameters: bool,
    /// Show the list of keys from the beginning; H shows and hides it.
    #[arg(long)]
    pub keys: bool,
    /// Use the shaders of this folder, such as glsl of a checkout, and replace them whenever a file changes.
    #[arg(long, value_name = "DIR")]
    pub shaders: Option<PathBuf>,
    /// Write the picture (PNG, without the overlay) once it is shown at the step of --steps.
    #[arg(long, value_name = "FILE", requires = "steps")]
    pub screenshot: Option<PathBuf>,
    /// Close the window at that step.
    #[arg(long, requires = "steps")]
    pub exit: bool,
}
