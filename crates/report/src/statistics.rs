//! Order statistics of samples.

use serde::{Deserialize, Serialize};

/// Returns the median: the mean of the two middle samples of an even number. NaN for none.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    match samples.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => samples[n / 2],
        n => 0.5 * (samples[n / 2 - 1] + samples[n / 2]),
    }
}

/// Returns the smallest value that at least `percent` of all values do not exceed (nearest rank); `sorted`
/// holds at least one.
pub(crate) fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

/// Returns the median (nearest rank) of times; `None` for none.
pub(crate) fn median_of_times(samples: &[u64]) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    (!sorted.is_empty()).then(|| percentile(&sorted, 50))
}

/// Mean, maximum, total and outliers of times, beside their median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The longest time.
    pub max: f64,
    /// The sum.
    pub total: f64,
    /// Number of times above Tukey's upper fence: more than 1.5 interquartile ranges above the third
    /// quartile.
    pub outliers: usize,
}

impl Spread {
    /// Summarizes times; all values are 0 for none.
    pub fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let Some(&max) = sorted.last() else { return Self::default() };
        let (low, high) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let fence = high + 1.5 * (high - low);
        let total: f64 = sorted.iter().sum();
        let outliers = sorted.iter().filter(|sample| **sample > fence).count();
        Self { mean: total / sorted.len() as f64, max, total, outliers }
    }
}

/// Returns the figure by which a process's samples are compared with those of another process: the fastest
/// one. Other load on the machine only adds time, so that the fastest sample changes least between processes.
/// NaN for none.
pub fn figure(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::NAN, f64::min)
}

/// Returns a quantile of ascending samples, interpolated linearly between the two around it; NaN for none.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * sorted.len().saturating_sub(1) as f64;
    match (sorted.get(at.floor() as usize), sorted.get(at.ceil() as usize)) {
        (Some(low), Some(high)) => low + at.fract() * (high - low),
        _ => f64::NAN,
    }
}

/// Returns the two samples between which the true median lies with at least 95 % confidence; `None` for fewer
/// than six.
///
/// The interval is nonparametric: the number of samples below the true median is binomial with probability ½,
/// so the interval from the k-th smallest to the k-th largest misses it with probability 2 P(Bin(n, ½) < k).
/// `sorted` ascends.
pub fn median_interval(sorted: &[f64]) -> Option<[f64; 2]> {
    let n = sorted.len();
    // P(Bin = 0) by logarithms: 2⁻ⁿ underflows from 1075 samples on, where it no longer matters to the sum.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let (mut below, mut k) = (0.0, 0);
    loop {
        below += log_term.exp();
        if 2.0 * below > 0.05 || 2 * k >= n {
            break;
        }
        log_term += ((n - k) as f64 / (k + 1) as f64).ln();
        k += 1;
    }
    (k > 0).then(|| [sorted[k - 1], sorted[n - k]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_beyond_tukeys_upper_fence() {
        // Quartiles 3 and 7: the fence is at 13.
        let with = |last: f64| Spread::of(&[8.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0, last]);
        assert_eq!((with(13.0).outliers, with(14.5).outliers), (0, 1));
        assert_eq!((with(13.0).max, with(14.0).total, with(18.0).mean), (13.0, 50.0, 6.0));
        assert_eq!((Spread::of(&[]).outliers, Spread::of(&[3.0; 9]).outliers), (0, 0));
    }

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!((quantile(&sorted, 0.25), quantile(&sorted, 0.75)), (2.0, 4.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(quantile(&[7.0], 0.75), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_median_of_times_is_one_of_them() {
        assert_eq!((median_of_times(&[5, 1, 9]), median_of_times(&[])), (Some(5), None));
        assert_eq!((median_of_times(&[4, 1]), median(&mut [4.0, 1.0])), (Some(1), 2.5));
    }

    #[test]
    fn the_interval_of_the_median_has_its_textbook_ranks() {
        // Ranks from tables of the sign test at 95 %: Conover, Practical nonparametric statistics, 3rd ed.,
        // table A3.
        for (n, rank) in [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (25, 8), (40, 14), (100, 40)] {
            let sorted: Vec<f64> = (1..=n).map(f64::from).collect();
            let expected = [f64::from(rank), f64::from(n + 1 - rank)];
            assert_eq!(median_interval(&sorted), Some(expected), "{n}");
        }
        for n in 0..6 {
            assert_eq!(median_interval(&vec![1.0; n]), None, "{n}");
        }
        assert!(median_interval(&vec![1.0; 5000]).is_some());
    }
}
