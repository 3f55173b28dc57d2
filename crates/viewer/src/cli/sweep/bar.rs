//! Progress of a sweep on a terminal, and its messages.

use crate::cli::run::{ProgressDisplay, time_left};
use crate::say;
use frazil_engine::outputs::Progress;
use frazil_studies::sweep::SweepObserver;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Progress bar over the steps of all cases, on a terminal only.
pub struct SweepBar {
    bar: ProgressBar,
}

impl SweepBar {
    pub fn new(n_steps: u64) -> Self {
        Self { bar: bar(n_steps) }
    }
}

impl SweepObserver for SweepBar {
    fn case(&self, idx: usize, n_cases: usize) {
        self.bar.set_message(format!("{} of {n_cases}", idx + 1));
    }

    fn begins_at(&self, n_steps: u64) {
        self.bar.set_position(n_steps);
        self.bar.reset_eta();
    }

    fn reached(&self, n_steps: u64) {
        self.bar.set_position(n_steps);
    }

    fn progress(&self, before: u64) -> Box<dyn Progress> {
        Box::new(ProgressDisplay::shared(&self.bar, before))
    }

    fn note(&self, line: &str) {
        self.bar.suspend(|| say::note(line));
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn bar(n_steps: u64) -> ProgressBar {
    if say::is_quiet() || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(n_steps), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("case {msg} [{bar:30}] {percent} %{left}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.with_key("left", time_left).progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
