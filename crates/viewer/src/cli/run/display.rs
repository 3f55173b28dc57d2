//! Progress and warnings of `frazil run`, and the results that it adds to those of the engine: profile, plots
//! and flow.

use super::progress::ProgressDisplay;
use crate::cli::profile;
use crate::cli::profile::PassLog;
use crate::say;
use frazil_engine::outputs::{Progress, StepTimer};
use frazil_engine::run::{RunObserver, RunReport, RunResults};
use frazil_engine::{Failure, Simulation};
use frazil_studies::results;

/// Messages of a run, and its log of time stamps.
pub struct RunDisplay {
    /// Log of time stamps, if requested.
    pub passes: Option<PassLog>,
}

/// Prints a warning.
pub fn warn(warning: &str) {
    say::note(format_args!("warning: {warning}"));
}

impl RunObserver for RunDisplay {
    fn warn(&mut self, warning: &str) {
        warn(warning);
    }

    fn progress(&mut self, simulation: &Simulation, last_step: u64) -> Box<dyn Progress> {
        let (step, n_particles) = (simulation.step(), simulation.n_particles);
        Box::new(ProgressDisplay::new(step, last_step, n_particles, say::is_quiet()))
    }

    fn timer(&mut self) -> Option<&mut dyn StepTimer> {
        self.passes.as_mut().map(|passes| passes as &mut dyn StepTimer)
    }

    fn evaluate(&mut self, run: &RunResults<'_>, report: &mut RunReport) -> Result<(), Failure> {
        if let Some(passes) = &self.passes {
            let device = &run.simulation.device;
            let (memory, kernels) = (profile::memory(device), profile::kernel_facts(device, &passes.rows()));
            let final_state = run.final_state.map(str::to_owned);
            let profile = profile::document(run.simulation, passes, memory, kernels, final_state)?;
            profile::write(run.folder, &profile, &passes.spans(), None)?;
            // A warning, because the run's other results are sound.
            for problem in passes.gaps().into_iter().chain(profile::overcounted(&profile)) {
                warn(&problem);
                report.warn(problem);
            }
        }
        results::write(run, report, &mut |summary| say::note(summary))
    }
}
