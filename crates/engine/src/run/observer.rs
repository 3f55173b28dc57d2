//! Observer of a run: what the user sees, time stamps, and results beyond those of the engine.

use super::report::RunReport;
use crate::failure::Failure;
use crate::outputs::{Folder, Progress, Schedule, StepTimer};
use crate::simulation::Simulation;

/// Observer of a run.
pub trait RunObserver {
    /// Shows a warning, which `run.json` will have, too.
    fn warn(&mut self, warning: &str);

    /// Returns the display of the progress of a simulation that is about to take its steps up to `last_step`.
    fn progress(&mut self, simulation: &Simulation, last_step: u64) -> Box<dyn Progress>;

    /// Returns the log of time stamps, if they are requested.
    fn timer(&mut self) -> Option<&mut dyn StepTimer> {
        None
    }

    /// Evaluates the results of a run that has ended, in whatever way, before `run.json` is written.
    ///
    /// # Errors
    /// A file cannot be read or written; the device was lost.
    fn evaluate(&mut self, results: &RunResults<'_>, report: &mut RunReport) -> Result<(), Failure>;
}

/// Results of a run whose files are written but for `run.json`.
pub struct RunResults<'a> {
    /// State after the last step.
    pub simulation: &'a Simulation,
    /// Folder of the files.
    pub folder: &'a Folder,
    /// Intervals at which they were written.
    pub schedule: &'a Schedule,
    /// Hash of the final state, if all steps were taken.
    pub final_state: Option<&'a str>,
}
