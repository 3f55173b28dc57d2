//! Histogram of the values that particles are coloured by.

use frazil_engine::picture::robust_range;

/// Number of bins.
pub const N_BINS: usize = 64;

/// Counts of values between their minimum and maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub range: [f32; 2],
    pub bins: [u32; N_BINS],
    /// Range of the values without outliers, as that of a legend.
    pub fitted: [f32; 2],
    pub n_values: usize,
}

impl Histogram {
    /// Counts finite values; `None` without any.
    pub fn of(mut values: Vec<f32>) -> Option<Self> {
        values.retain(|value| value.is_finite());
        values.sort_by(f32::total_cmp);
        let (&lo, &hi) = (values.first()?, values.last()?);
        let mut bins = [0; N_BINS];
        for value in &values {
            // In f64, so that the extent of extreme values is finite.
            let part =
                (f64::from(*value) - f64::from(lo)) / (f64::from(hi) - f64::from(lo)).max(f64::MIN_POSITIVE);
            bins[((part * N_BINS as f64) as usize).min(N_BINS - 1)] += 1;
        }
        let n_values = values.len();
        Some(Self { range: [lo, hi], bins, fitted: robust_range(values)?, n_values })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_finite_value_is_counted_once_within_the_range(
            mut values in prop::collection::vec(prop::num::f32::ANY, 0..300),
        ) {
            let finite: Vec<f32> = values.iter().copied().filter(|value| value.is_finite()).collect();
            values.reverse();
            let Some(histogram) = Histogram::of(values) else {
                prop_assert!(finite.is_empty());
                return Ok(());
            };
            prop_assert_eq!(histogram.bins.iter().sum::<u32>() as usize, finite.len());
            prop_assert_eq!(histogram.n_values, finite.len());
            let [lo, hi] = histogram.range;
            prop_assert!(finite.iter().all(|value| (lo..=hi).contains(value)));
            prop_assert!(lo <= histogram.fitted[0] && histogram.fitted[0] <= histogram.fitted[1]);
            prop_assert!(histogram.fitted[1] <= hi);
        }
    }

    #[test]
    fn outliers_do_not_stretch_the_fitted_range() {
        let mut values: Vec<f32> = (0..1000).map(|i| i as f32 / 1000.0).collect();
        values[17] = 1e6;
        let histogram = Histogram::of(values).unwrap();
        assert_eq!(histogram.range, [0.0, 1e6]);
        assert!(histogram.fitted[1] < 1.0 && histogram.fitted[0] < 0.02, "{histogram:?}");
        // Equal values are one bin.
        assert_eq!(Histogram::of(vec![2.0; 5]).unwrap().bins[0], 5);
    }
}
