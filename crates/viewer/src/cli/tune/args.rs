//! Arguments of `frazil tune`.

use crate::common_args::{DeviceArgs, SceneChanges};

#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// Scene to measure: path of a scene file, or name of a built-in scene. With --list and --reset, only its
    /// solver.
    #[arg(required_unless_present_any = ["list", "reset"])]
    pub scene: Option<String>,
    #[command(flatten)]
    pub changes: SceneChanges,
    /// Tune only this one, such as workgroup_size; may be given several times [default: all of the solver].
    #[arg(long = "tunable", value_name = "NAME")]
    pub tunables: Vec<String>,
    /// Number of steps to measure with each value, in 8 rounds.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Number of warm-up steps, so that caches and clocks settle.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub warm_up: u64,
    /// Print the values stored for the device instead.
    #[arg(long, conflicts_with = "reset")]
    pub list: bool,
    /// Remove the values stored for the device instead.
    #[arg(long)]
    pub reset: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}
