//! What a run produces, on its way to files.

use frazil_io::{Checkpoint, Frame};

/// What leaves a run at one step, in the order in which it is written: the checkpoint last, so that a resume finds all of
/// what was due up to it.
#[derive(Default)]
pub struct Parcel {
    pub timing: Option<StepTime>,
    pub metrics: Option<Vec<f64>>,
    pub picture: Option<Picture>,
    pub frame: Option<Frame>,
    pub checkpoint: Option<Checkpoint>,
}

/// What a step took, over the steps of one submission.
#[derive(Clone, Copy, Debug)]
pub struct StepTime {
    /// The submission's last step.
    pub step: u64,
    /// Wall time in ms of one of its steps, with what left the device behind them.
    pub ms_per_step: f64,
}

/// A picture as the device made it.
pub struct Picture {
    pub index: u64,
    pub width: u32,
    pub height: u32,
    /// Packed RGBA8, row by row from the top.
    pub pixels: Vec<u32>,
}
