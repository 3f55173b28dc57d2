//! Observers of a run: its progress, and the times of its steps.

use frazil_vk::PassTime;
use std::fmt::Display;
use std::time::Instant;

/// Display of the progress of a run.
pub trait Progress {
    /// Shows that this step is done.
    fn reached(&self, step: u64);
    /// Shows a line, such as a change of a parameter.
    fn note(&self, line: &dyn Display);
    /// Ends the display.
    fn clear(&self);
}

/// Activity of the host in the loop that submits work to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Records passes.
    Record,
    /// Submits a recorder.
    Submit,
    /// Waits for the device.
    Wait,
    /// Collects time stamps.
    Collect,
}

/// A finished submission of steps, with the times of its passes.
#[derive(Clone, Copy, Debug)]
pub struct TimedSubmission<'a> {
    /// Number of the submission on its device.
    pub number: u64,
    /// Number of the last of its steps, as the run counts them.
    pub last_step: u64,
    /// Times of the passes, as far as they were timed.
    pub times: &'a [PassTime],
    /// Number of passes at the end of each of its steps.
    pub step_ends: &'a [u32],
    /// Number of passes that were recorded.
    pub n_passes: u32,
}

/// Log of the times of passes and of the host. With one, steps are recorded with time stamps.
pub trait StepTimer {
    /// Adds an activity of the host that began at `begin` and ends now, for the submission with this number
    /// if it is known by then.
    fn host(&mut self, activity: Activity, begin: Instant, submission: Option<u64>);
    /// Adds the passes of a finished submission.
    fn submission(&mut self, submission: &TimedSubmission<'_>);
}
