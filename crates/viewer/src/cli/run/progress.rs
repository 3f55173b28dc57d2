//! The progress of a run: a bar on a terminal, else a line now and then.

use crate::say;
use frazil_engine::outputs::Progress;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::cell::RefCell;
use std::fmt::{Display, Write};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Interval of the lines of a run whose stderr is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Progress of a run: finished and total steps, the rates in steps and in particle steps per second, and the
/// remaining time.
pub struct ProgressDisplay {
    bar: ProgressBar,
    /// Position of step 0 on the bar.
    before: u64,
    is_shared: bool,
    is_quiet: bool,
    lines: Option<RefCell<Lines>>,
}

impl ProgressDisplay {
    pub fn new(first_step: u64, last_step: u64, n_particles: usize, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            let lines = (!quiet).then(|| RefCell::new(Lines::new(first_step, last_step, Instant::now())));
            return Self { bar: ProgressBar::hidden(), before: 0, is_shared: false, is_quiet: quiet, lines };
        }
        let rate = move |state: &ProgressState, out: &mut dyn Write| {
            let steps_per_s = state.per_sec();
            let particle_steps_per_s = steps_per_s * n_particles as f64;
            // A terminal error does not stop a simulation.
            let _ =
                write!(out, "{steps_per_s:.1} steps/s, {:.3} M particle·steps/s", particle_steps_per_s / 1e6);
        };
        let bar = ProgressBar::with_draw_target(Some(last_step), ProgressDrawTarget::stderr_with_hz(8));
        let style = ProgressStyle::with_template("step {pos}/{len} [{bar:30}] {rate}{left}");
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("rate", rate)
                .with_key("left", time_left)
                .progress_chars("=> "),
        );
        bar.set_position(first_step);
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, before: 0, is_shared: false, is_quiet: quiet, lines: None }
    }

    /// Returns the part of a shared bar that begins at `before`.
    pub fn shared(bar: &ProgressBar, before: u64) -> Self {
        Self { bar: bar.clone(), before, is_shared: true, is_quiet: true, lines: None }
    }
}

impl Progress for ProgressDisplay {
    fn reached(&self, step: u64) {
        self.bar.set_position(self.before + step);
        if let Some(line) =
            self.lines.as_ref().and_then(|lines| lines.borrow_mut().line(step, Instant::now()))
        {
            say::note(line);
        }
    }

    // Above the bar, unless the run is quiet.
    fn note(&self, line: &dyn Display) {
        if !self.is_quiet {
            self.bar.suspend(|| say::note(line));
        }
    }

    fn clear(&self) {
        if !self.is_shared {
            self.bar.finish_and_clear();
        }
    }
}

/// Writes the remaining time, once it can be estimated.
pub fn time_left(state: &ProgressState, out: &mut dyn Write) {
    let left = state.eta();
    if !left.is_zero() {
        let _ = write!(out, ", {:#} left", HumanDuration(left));
    }
}

/// Lines of progress, at most one in [`LINE_INTERVAL`].
struct Lines {
    last_step: u64,
    /// Step and time of the last line, or of the start.
    before: (u64, Instant),
}

impl Lines {
    fn new(first_step: u64, last_step: u64, now: Instant) -> Self {
        Self { last_step, before: (first_step, now) }
    }

    /// Returns the line that is due at a step, if any; none at the end, which has a message of its own.
    fn line(&mut self, step: u64, now: Instant) -> Option<String> {
        let (step_before, time_before) = self.before;
        let elapsed = now.duration_since(time_before);
        if elapsed < LINE_INTERVAL || step >= self.last_step {
            return None;
        }
        self.before = (step, now);
        let share = 100.0 * step as f64 / self.last_step as f64;
        let mut line = format!("step {step} of {} ({share:.0} %)", self.last_step);
        let steps_per_s = step.saturating_sub(step_before) as f64 / elapsed.as_secs_f64();
        if steps_per_s > 0.0 {
            let left_s = (self.last_step - step) as f64 / steps_per_s;
            let left = Duration::try_from_secs_f64(left_s).unwrap_or(Duration::MAX);
            line += &format!(", {steps_per_s:.1} steps/s, {:#} left", HumanDuration(left));
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_every_ten_seconds_and_not_at_the_end() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut lines = Lines::new(100, 1000, start);
        assert_eq!(lines.line(100, start), None);
        assert_eq!(lines.line(150, at(9)), None);
        assert_eq!(
            lines.line(200, at(10)).as_deref(),
            Some("step 200 of 1000 (20 %), 10.0 steps/s, 80s left")
        );
        assert_eq!(lines.line(210, at(19)), None);
        assert_eq!(lines.line(200, at(25)).as_deref(), Some("step 200 of 1000 (20 %)"));
        assert_eq!(lines.line(1000, at(60)), None);
    }
}
