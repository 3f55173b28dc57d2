//! Arguments of `frazil run`.

use crate::build_info::{GIT_COMMIT, command_line};
use crate::common_args::{DeviceArgs, LengthArgs, SceneArgs};
use frazil_engine::outputs::{Cadence, ChangeAt, ScheduleRequest};
use frazil_engine::run::RunOptions;
use std::path::PathBuf;

fn cadence(text: &str) -> Result<Cadence, String> {
    match text {
        "never" => Ok(Cadence::Never),
        _ => text.parse().map(Cadence::Every).map_err(|e: frazil_scene::EveryError| format!("{e}, or never")),
    }
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    #[command(flatten)]
    pub length: LengthArgs,
    /// Output folder [default: the checkpoint's with --resume, else out/<scene's name>, or if that has
    /// results out/<scene's name>-2 and so on].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results of an earlier run in the output folder; its checkpoint is renamed. Without it, a
    /// folder that holds anything is refused.
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Write a picture every N steps (10) or every simulated time (0.05s), or never [default: the scene's].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub render: Option<Cadence>,
    /// Write a frame of the recording at this interval [default: the scene's].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub record: Option<Cadence>,
    /// Columns of those frames beside position and id, such as velocity,density [default: the scene's, or
    /// all].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub record_columns: Option<Vec<String>>,
    /// Write a row of metrics at this interval [default: the scene's].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub metrics: Option<Cadence>,
    /// Check at this interval that every particle exists exactly once, is finite and is inside the domain
    /// [default: never].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub check: Option<Cadence>,
    /// Write a checkpoint at this interval, and at the end [default: never].
    #[arg(long, value_name = "EVERY", value_parser = cadence, allow_hyphen_values = true)]
    pub checkpoint: Option<Cadence>,
    /// Change a parameter after STEP steps, while the simulation runs, such as
    /// "100:fluid.dynamic_viscosity_pa_s=5.0"; may be given several times. `frazil check` lists the keys.
    #[arg(long = "at", value_name = "STEP:KEY=VALUE")]
    pub changes_at: Vec<ChangeAt>,
    /// Resume from a checkpoint, with bit-identical results.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// With --resume: begin new outputs at the checkpoint's step, and delete those in the output folder.
    /// Without it, a run whose earlier outputs are missing or damaged is not resumed.
    #[arg(long, requires = "resume")]
    pub discard_outputs: bool,
    /// Time every kernel; writes profile.json, trace.json and profile.html.
    #[arg(long)]
    pub profile: bool,
}

impl RunArgs {
    /// Returns what the run loop needs.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            schedule: ScheduleRequest {
                picture: self.render,
                record: self.record,
                metrics: self.metrics,
                check: self.check,
                checkpoint: self.checkpoint,
                ..self.length.request()
            },
            record_columns: self.record_columns.clone(),
            resume: self.resume.clone(),
            discard_outputs: self.discard_outputs,
            commit: GIT_COMMIT.map(str::to_owned),
            command_line: Some(command_line()),
        }
    }
}
