//! Comparison of two measurements from the raw samples of both.

use crate::statistics::median;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Resamples of the bootstrap. Its 2.5 % and 97.5 % quantiles then depend on 25 values each.
const RESAMPLES: usize = 1000;
/// Minimum number of samples to estimate their spread.
const MIN_SAMPLES: usize = 5;

/// Verdict of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the tolerance, with 95 % confidence.
    Same,
    /// Faster by more than the tolerance, with 95 % confidence.
    Faster,
    /// Slower by more than the tolerance, with 95 % confidence: a regression.
    Slower,
    /// Undecided: the samples scatter too much, or are too few.
    Unclear,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Unclear => "unclear",
        })
    }
}

/// Comparison of a measurement with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Current median over earlier median: above 1 is slower.
    pub ratio: f64,
    /// Interval of the true ratio, with 95 % confidence.
    pub interval: [f64; 2],
    /// Verdict that follows from the interval.
    pub verdict: Verdict,
}

/// Compares the times `now` with the times `then`, both in the same unit.
///
/// The interval is the percentile bootstrap's for the ratio of medians. It covers the scatter within each
/// process, not differences between two processes (clocks, memory placement): these are covered by
/// `tolerance`, where 0.05 is 5 %. The verdict is `Same` if the whole interval lies within 1 ± `tolerance`,
/// `Faster` or `Slower` if it lies beyond, and `Unclear` otherwise. The resampling is seeded by the number of
/// samples, so that the same samples give the same verdict.
///
/// Samples that are not positive numbers are ignored.
pub fn compare(then: &[f64], now: &[f64], tolerance: f64) -> Comparison {
    let clean = |samples: &[f64]| -> Vec<f64> {
        samples.iter().copied().filter(|s| s.is_finite() && *s > 0.0).collect()
    };
    let (then, now) = (clean(then), clean(now));
    if then.len() < MIN_SAMPLES || now.len() < MIN_SAMPLES {
        let ratio = if then.is_empty() || now.is_empty() {
            f64::NAN
        } else {
            median(&mut now.clone()) / median(&mut then.clone())
        };
        return Comparison { ratio, interval: [0.0, f64::INFINITY], verdict: Verdict::Unclear };
    }
    let ratio = median(&mut now.clone()) / median(&mut then.clone());
    let mut random = SplitMix((then.len() * 0x1_0001 + now.len()) as u64);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut of = |samples: &[f64]| {
                let mut drawn: Vec<f64> =
                    (0..samples.len()).map(|_| samples[random.below(samples.len())]).collect();
                median(&mut drawn)
            };
            of(&now) / of(&then)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let interval = [ratios[RESAMPLES / 40], ratios[RESAMPLES - 1 - RESAMPLES / 40]];
    let (low, high) = (1.0 / (1.0 + tolerance), 1.0 + tolerance);
    let verdict = match interval {
        [from, to] if from >= low && to <= high => Verdict::Same,
        [_, to] if to < low => Verdict::Faster,
        [from, _] if from > high => Verdict::Slower,
        _ => Verdict::Unclear,
    };
    Comparison { ratio, interval, verdict }
}

/// Pseudorandom generator of Steele and others, Fast splittable pseudorandom number generators, 2014.
pub(crate) struct SplitMix(pub u64);

impl SplitMix {
    /// Returns a number below `n`, which is above 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 40 samples around `centre` that scatter by `spread` to each side.
    fn samples(centre: f64, spread: f64) -> Vec<f64> {
        (0..40).map(|i| centre * (1.0 + spread * (f64::from(i * 7 % 40) / 19.5 - 1.0))).collect()
    }

    #[test]
    fn verdicts_follow_the_ratio_of_medians() {
        let base = samples(100.0, 0.02);
        assert_eq!(compare(&base, &samples(101.0, 0.02), 0.05).verdict, Verdict::Same);
        assert_eq!(compare(&base, &samples(120.0, 0.02), 0.05).verdict, Verdict::Slower);
        assert_eq!(compare(&base, &samples(80.0, 0.02), 0.05).verdict, Verdict::Faster);
        assert_eq!(compare(&base, &samples(105.0, 0.5), 0.05).verdict, Verdict::Unclear);
        assert_eq!(compare(&base, &base[..4], 0.05).verdict, Verdict::Unclear);
        assert_eq!(compare(&[], &[f64::NAN; 9], 0.05).verdict, Verdict::Unclear);
    }

    #[test]
    fn a_swapped_comparison_has_the_opposite_verdict() {
        for (a, b) in [(100.0, 140.0), (3.0, 2.0), (5.0, 5.01)] {
            let (a, b) = (samples(a, 0.03), samples(b, 0.03));
            let mirror = |v| match v {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                v => v,
            };
            assert_eq!(compare(&a, &b, 0.05).verdict, mirror(compare(&b, &a, 0.05).verdict));
        }
    }

    #[test]
    fn the_interval_holds_the_ratio_and_repeats() {
        let (then, now) = (samples(10.0, 0.3), samples(11.0, 0.3));
        let found = compare(&then, &now, 0.05);
        assert!(found.interval[0] <= found.ratio && found.ratio <= found.interval[1], "{found:?}");
        assert_eq!(found, compare(&then, &now, 0.05));
    }
}
