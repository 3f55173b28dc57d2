//! Arguments of `frazil sweep`.

use crate::build_info::{GIT_COMMIT, command_line};
use crate::common_args::{DeviceArgs, LengthArgs, SceneArgs};
use frazil_studies::sweep::{SweepOptions, VaryAxis};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct SweepArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Values to vary, such as mpm.material.hardening=5,10,20; may be given several times. The first gives
    /// the rows of the contact sheet, the second its columns.
    #[arg(long = "vary", value_name = "KEY[,KEY…]=VALUE[:VALUE…],…", required = true)]
    pub axes: Vec<VaryAxis>,
    /// Duration of each case.
    #[command(flatten)]
    pub length: LengthArgs,
    /// Output folder [default: out/<scene's name>_sweep]. A sweep that is there is resumed.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace finished cases of other parameters in the output folder, which are refused without it.
    #[arg(long)]
    pub overwrite: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}

impl SweepArgs {
    /// Returns the grid, and what all of its cases have in common.
    pub fn options(&self) -> SweepOptions {
        SweepOptions {
            scene: self.scene.scene.clone(),
            overrides: self.scene.changes.all(),
            axes: self.axes.clone(),
            schedule: self.length.request(),
            overwrite: self.overwrite,
            commit: GIT_COMMIT.map(str::to_owned),
            command_line: Some(command_line()),
        }
    }
}
