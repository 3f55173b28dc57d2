//! Results of a run, queued for writing.

use crate::picture::Picture;
use frazil_io::{Checkpoint, Frame};

/// Results of one step, in the order in which they are written: the checkpoint last, so that a resumed run
/// finds all earlier results.
#[derive(Default)]
pub struct OutputBatch {
    /// Time of the steps of a submission.
    pub timing: Option<StepTime>,
    /// Row of metrics.
    pub metrics: Option<Vec<f64>>,
    /// True if that row is only due because the run ends here.
    pub is_last_row: bool,
    /// Picture.
    pub picture: Option<Picture>,
    /// Frame of the recording.
    pub frame: Option<Frame>,
    /// Checkpoint.
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
