//! Arguments of `frazil play`.

use crate::common_args::{DeviceArgs, SceneChanges};
use crate::recordings::Moment;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct PlayArgs {
    /// Recording of a run (*.frazil-rec), which may still be in progress, or the run's output folder.
    pub recording: PathBuf,
    /// Recorded frames per picture: 2 shows every second frame, 0.5 each frame twice, -1 plays backwards.
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = speed, allow_hyphen_values = true)]
    pub speed: f64,
    /// Steps of the simulation per picture, whatever the interval of recorded frames; negative backwards.
    #[arg(
        long, value_name = "N", value_parser = steps_per_frame, conflicts_with = "speed",
        allow_hyphen_values = true,
    )]
    pub steps_per_frame: Option<i64>,
    /// Frames per second.
    #[arg(
        long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=240),
    )]
    pub fps: u32,
    /// Write a video (.mp4 or .gif by ffmpeg, .y4m without) or, into a folder, pictures; no window is opened.
    #[arg(long, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
    /// Replace the video, or the pictures in the folder, which are refused without it.
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    /// Begin at this step (120) or simulated time (0.5s) [default: the first frame].
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub from: Option<Moment>,
    /// End at this step or time [default: the last frame].
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub to: Option<Moment>,
    #[command(flatten)]
    pub changes: SceneChanges,
    #[command(flatten)]
    pub device: DeviceArgs,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value != 0.0 => Ok(value),
        _ => Err(format!(
            "found \"{text}\", expected recorded frames per picture, such as 1, 0.5 or -2, but not 0"
        )),
    }
}

fn steps_per_frame(text: &str) -> Result<i64, String> {
    match text.parse::<i64>() {
        Ok(steps) if steps != 0 => Ok(steps),
        _ => Err(format!("found \"{text}\", expected a number of steps, such as 100 or -100, but not 0")),
    }
}
