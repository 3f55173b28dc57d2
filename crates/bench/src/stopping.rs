//! Stopping rule of the measurement of a point.

use frazil_report::{median, median_interval};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Samples that a comparison requires: slow points get as many, however long that takes.
const MIN_SAMPLES: usize = 5;

/// Thoroughness of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// For published figures.
    Full,
    /// For checking that every bench still runs and gives correct results; all of them take less than a
    /// minute even on a software device.
    Smoke,
}

impl Profile {
    /// Returns the stopping rule.
    pub fn stopping_rule(self) -> StoppingRule {
        match self {
            Self::Full => StoppingRule {
                min_samples: 20,
                max_samples: 200,
                max_time: Duration::from_secs(3),
                precision: 0.02,
            },
            Self::Smoke => StoppingRule {
                min_samples: 6,
                max_samples: 20,
                max_time: Duration::from_millis(400),
                precision: 0.02,
            },
        }
    }

    /// Returns the number of samples with cold caches.
    pub fn cold_samples(self) -> usize {
        match self {
            Self::Full => 5,
            Self::Smoke => 2,
        }
    }
}

/// Conditions for taking no more samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    /// Samples before the median's precision is checked.
    pub min_samples: usize,
    /// Maximum number of samples, whatever their spread.
    pub max_samples: usize,
    /// Maximum time, once there are the five samples that a comparison requires.
    pub max_time: Duration,
    /// Required precision: half the width of the median's 95 % interval, over the median.
    pub precision: f64,
}

/// Reason why the measurement of a point ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The median is known to the rule's precision.
    Precise,
    /// The maximum number of samples was taken.
    MaxSamples,
    /// The maximum time was spent.
    MaxTime,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Precise => "precise",
            Self::MaxSamples => "max samples",
            Self::MaxTime => "max time",
        })
    }
}

impl StoppingRule {
    /// Returns the reason to stop after `samples`, which took `elapsed` in all, or `None` to continue.
    pub fn stop(&self, samples: &[f64], elapsed: Duration) -> Option<StopReason> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        if samples.len() >= self.min_samples && relative_half_width(&sorted) <= self.precision {
            return Some(StopReason::Precise);
        }
        if samples.len() >= self.max_samples.max(1) {
            return Some(StopReason::MaxSamples);
        }
        (samples.len() >= MIN_SAMPLES && elapsed >= self.max_time).then_some(StopReason::MaxTime)
    }
}

/// Returns half the width of the interval over the median; infinite where there is no interval or the clock
/// measured no time.
fn relative_half_width(sorted: &[f64]) -> f64 {
    let median = median(&mut sorted.to_vec());
    match median_interval(sorted) {
        Some([low, high]) if median > 0.0 => 0.5 * (high - low) / median,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_testkit::unit_noise;

    const RULE: StoppingRule =
        StoppingRule { min_samples: 10, max_samples: 50, max_time: Duration::from_secs(1), precision: 0.02 };

    /// Feeds samples, each with a duration of 1 ms, until the rule stops.
    fn feed(rule: StoppingRule, sample: impl Fn(usize) -> f64, each: Duration) -> (usize, StopReason) {
        let mut samples = Vec::new();
        loop {
            samples.push(sample(samples.len()));
            if let Some(reason) = rule.stop(&samples, each * samples.len() as u32) {
                return (samples.len(), reason);
            }
        }
    }

    #[test]
    fn each_reason_to_stop_is_reported() {
        let millisecond = Duration::from_millis(1);
        assert_eq!(feed(RULE, |_| 100.0, millisecond), (10, StopReason::Precise));
        assert_eq!(
            feed(RULE, |i| 50.0 + 100.0 * f64::from(unit_noise(i)), millisecond),
            (50, StopReason::MaxSamples)
        );
        assert_eq!(feed(RULE, |_| 100.0, Duration::from_secs(2)), (5, StopReason::MaxTime));
        // A spread of 10 % needs more samples than the minimum, and fewer than the maximum.
        let patient = StoppingRule { max_samples: 100_000, ..RULE };
        let (n, reason) = feed(patient, |i| 95.0 + 10.0 * f64::from(unit_noise(i)), millisecond / 1000);
        assert!(n > 10 && n < 200 && reason == StopReason::Precise, "{n}");
        // Nothing precise can be said with a clock too coarse to measure any time.
        assert_eq!(feed(RULE, |_| 0.0, millisecond), (50, StopReason::MaxSamples));
        assert_eq!(RULE.stop(&[], Duration::from_secs(9)), None);
    }

    #[test]
    fn the_interval_covers_the_true_median_as_often_as_it_says() {
        // 2000 draws of 15 uniform numbers, whose median is ½; coverage of the ranks for 15 is 96.5 %.
        let covered = (0..2000).filter(|draw| {
            let mut samples: Vec<f64> = (0..15).map(|i| f64::from(unit_noise(15 * draw + i))).collect();
            samples.sort_by(f64::total_cmp);
            median_interval(&samples).is_some_and(|[low, high]| low <= 0.5 && 0.5 <= high)
        });
        let share = covered.count() as f64 / 2000.0;
        assert!((0.95..0.98).contains(&share), "{share}");
    }
}
