//! Observers of a sweep and of its cases.

use super::plan::Case;
use super::results::write_final;
use frazil_engine::outputs::Progress;
use frazil_engine::run::{RunObserver, RunReport, RunResults};
use frazil_engine::{Failure, Simulation};

/// Display of a sweep. Steps are counted over all cases in their order.
pub trait SweepObserver {
    /// Shows that a case, counted from 0, comes next.
    fn case(&self, idx: usize, n_cases: usize);

    /// Shows that the case begins after this number of steps: more than those of the cases before it if it is
    /// resumed.
    fn begins_at(&self, n_steps: u64);

    /// Shows that this number of steps is done.
    fn reached(&self, n_steps: u64);

    /// Returns the display of the steps of a case that begins after `before` steps.
    fn progress(&self, before: u64) -> Box<dyn Progress>;

    /// Shows a line.
    fn note(&self, line: &str);

    /// Ends the display.
    fn clear(&self);
}

/// Observer of the run of a case. Its warnings are in its `run.json` only.
pub struct CaseObserver<'a> {
    pub case: &'a Case,
    pub sweep: &'a dyn SweepObserver,
    /// Number of steps of the cases before it.
    pub before: u64,
}

impl RunObserver for CaseObserver<'_> {
    fn warn(&mut self, _: &str) {}

    fn progress(&mut self, _: &Simulation, _: u64) -> Box<dyn Progress> {
        self.sweep.progress(self.before)
    }

    fn evaluate(&mut self, run: &RunResults<'_>, report: &mut RunReport) -> Result<(), Failure> {
        crate::results::write(run, report, &mut |_| ())?;
        match run.final_state {
            Some(_) => write_final(self.case, run.simulation, run.folder),
            None => Ok(()),
        }
    }
}
