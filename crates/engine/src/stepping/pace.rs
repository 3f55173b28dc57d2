//! Number of steps of a submission, from the time that earlier ones took.

use std::time::Duration;

/// Time that a submission may take: short enough for a quick end after Ctrl-C and far from the limit of two
/// seconds after which drivers reset a device, long enough that the host's work between two is hidden.
const TARGET: Duration = Duration::from_millis(50);

/// Time of a step, as measured so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    step: Option<Duration>,
}

impl Pace {
    /// Adds the time of a finished submission. The time of a step at most doubles, because a submission may
    /// include what other programs did.
    pub fn took(&mut self, time: Duration, steps: u32) {
        if steps > 0 {
            let step = time / steps;
            self.step = Some(self.step.map_or(step, |known| step.min(2 * known)));
        }
    }

    /// Returns the number of steps to submit, at most `max`: one until a step has been measured.
    pub fn steps(self, max: u64) -> u64 {
        let Some(step) = self.step else { return 1 };
        let fitting = TARGET.as_nanos() / step.as_nanos().max(1);
        u64::try_from(fitting).unwrap_or(max).clamp(1, max.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submissions_take_about_the_target_and_at_least_a_step() {
        let mut pace = Pace::default();
        assert_eq!(pace.steps(8), 1, "nothing is known of the first step");
        pace.took(Duration::from_millis(10), 1);
        assert_eq!((pace.steps(8), pace.steps(3)), (5, 3));
        pace.took(Duration::from_micros(40), 4);
        assert_eq!((pace.steps(8), pace.steps(4096)), (8, 4096));
        pace.took(Duration::ZERO, 8);
        assert_eq!(pace.steps(8), 8);
        pace.took(Duration::from_millis(5), 0);
        assert_eq!(pace.steps(8), 8, "a submission without steps says nothing");
    }

    #[test]
    fn one_slow_submission_halves_the_number_and_slow_steps_end_at_one() {
        let mut pace = Pace::default();
        pace.took(Duration::from_millis(10), 2);
        assert_eq!(pace.steps(100), 10);
        pace.took(Duration::from_secs(5), 10);
        assert_eq!(pace.steps(100), 5);
        for _ in 0..10 {
            pace.took(Duration::from_secs(5), 10);
        }
        assert_eq!(pace.steps(100), 1);
    }
}
