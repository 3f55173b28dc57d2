//! The progress bar, on a terminal only.

use crate::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::{Display, Write};
use std::io::IsTerminal;
use std::time::Duration;

/// Progress bar with finished and total steps, the rates in steps and in particle steps per second, and the
/// remaining time.
pub struct Progress {
    bar: ProgressBar,
    /// Position of step 0 on the bar.
    before: u64,
    is_shared: bool,
    is_quiet: bool,
}

impl Progress {
    pub fn new(first_step: u64, last_step: u64, n_particles: usize, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden(), before: 0, is_shared: false, is_quiet: quiet };
        }
        let rate = move |state: &ProgressState, out: &mut dyn Write| {
            let steps_per_s = state.per_sec();
            let particle_steps_per_s = steps_per_s * n_particles as f64;
            // A terminal error does not stop a simulation.
            let _ =
                write!(out, "{steps_per_s:.1} steps/s, {:.3} M particle·steps/s", particle_steps_per_s / 1e6);
        };
        let bar = ProgressBar::with_draw_target(Some(last_step), ProgressDrawTarget::stderr_with_hz(8));
        let style = ProgressStyle::with_template("step {pos}/{len} [{bar:30}] {rate}, {eta} left");
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("rate", rate)
                .progress_chars("=> "),
        );
        bar.set_position(first_step);
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, before: 0, is_shared: false, is_quiet: quiet }
    }

    /// Returns the part of a shared bar that begins at `before`.
    pub fn shared(bar: &ProgressBar, before: u64) -> Self {
        Self { bar: bar.clone(), before, is_shared: true, is_quiet: true }
    }

    pub fn reached(&self, step: u64) {
        self.bar.set_position(self.before + step);
    }

    /// Prints a line above the bar, unless the run is quiet.
    pub fn note(&self, line: impl Display) {
        if !self.is_quiet {
            self.bar.suspend(|| say::note(line));
        }
    }

    pub fn clear(&self) {
        if !self.is_shared {
            self.bar.finish_and_clear();
        }
    }
}
