//! Results of a run, queued for writing.

use frazil_io::{Checkpoint, Frame};

/// Results of one step, in the order in which they are written: the checkpoint last, so that a resumed run
/// finds all earlier results.
#[derive(Default)]
pub struct OutputBatch {
    pub timing: Option<StepTime>,
    pub metrics: Option<Vec<f64>>,
    /// True if that row is only due because the run ends here.
    pub is_last_row: bool,
    pub picture: Option<Picture>,
    pub frame: Option<Frame>,
    pub checkpoint: Option<Checkpoint>,
}

/// Time of a step, averaged over the steps of one submission.
#[derive(Clone, Copy, Debug)]
pub struct StepTime {
    /// Last step of the submission.
    pub step: u64,
    /// Wall time in ms per step, including the read-back after the steps.
    pub ms_per_step: f64,
}

/// A picture as drawn by the device.
pub struct Picture {
    pub index: u64,
    pub width: u32,
    pub height: u32,
    /// Pixels as packed RGBA8, row by row from the top.
    pub pixels: Vec<u32>,
}
