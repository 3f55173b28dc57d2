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

/// Log of the times of passes and of the host. With one, steps are recorded with time stamps.
pub trait StepTimer {
    /// Adds an activity of the host that began at `begin` and ends now.
    fn host(&mut self, activity: Activity, begin: Instant);
    /// Adds the passes of a finished submission, the number of passes at the end of each of its steps, and
    /// the number of passes that were recorded.
    fn submission(&mut self, times: &[PassTime], step_ends: &[u32], n_passes: u32);
}
