//! Finds the limit of each kernel: bytes, operations, the launch of a dispatch, or latency.

use std::fmt;

use super::Profile;
use super::intensity::over;

/// Fraction of a limit from which a kernel counts as bound by it: within a factor of two.
const BOUND: f64 = 0.5;

/// Limit of the speed of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The copy of as many bytes as it must move.
    Bytes,
    /// The device's peak of multiply-adds.
    Flops,
    /// The time of a dispatch without work.
    Launch,
    /// None of these is near: dependent loads, waits, atomics, divergence.
    Latency,
    /// Neither bytes nor the launch are near, and operations are not counted.
    LatencyOrFlops,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bytes => "bytes",
            Self::Flops => "flops",
            Self::Launch => "launch",
            Self::Latency => "latency",
            Self::LatencyOrFlops => "latency or flops",
        })
    }
}

/// Limit of a kernel, and its distance from all limits.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelBound {
    /// The kernel's name.
    pub kernel: String,
    /// The limit that bounds it.
    pub limit: Limit,
    /// Least time that its bytes take, over its time, 0 to 1; `None` if unknown.
    pub of_bytes: Option<f64>,
    /// Least time that its operations take, over its time.
    pub of_flops: Option<f64>,
    /// Time of a dispatch without work, over its time.
    pub of_launch: Option<f64>,
    /// Share of the time of all kernels that it takes beyond its nearest limit: what could be gained at most.
    pub beyond: f64,
}

impl KernelBound {
    /// Returns the fraction of the nearest limit that the kernel reaches, 0 to 1.
    pub fn reached(&self) -> f64 {
        [self.of_bytes, self.of_flops, self.of_launch].into_iter().flatten().fold(0.0, f64::max).min(1.0)
    }
}

impl Profile {
    /// Returns what bounds each kernel that had work, the most expensive kernel first.
    pub fn bounds(&self) -> Vec<KernelBound> {
        let bound = |row: &super::ProfileRow| {
            let call_ns = (row.calls > 0).then(|| row.typical_ns as f64 / row.calls as f64);
            let call_ns = call_ns.filter(|ns| *ns > 0.0)?;
            let gflop_per_s = self.flop_of(&row.kernel).map(|flop| flop / call_ns);
            let mut bound = KernelBound {
                kernel: row.kernel.clone(),
                limit: Limit::Latency,
                of_bytes: row.share_of_copy,
                of_flops: over(gflop_per_s, self.peak_gflop_per_s),
                of_launch: over(self.launch_ns, Some(call_ns)).map(|fraction| fraction.min(1.0)),
                beyond: 0.0,
            };
            let limits = [
                (Limit::Launch, bound.of_launch),
                (Limit::Bytes, bound.of_bytes),
                (Limit::Flops, bound.of_flops),
            ];
            let known = limits.into_iter().filter_map(|(limit, fraction)| Some((limit, fraction?)));
            let nearest = known.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, fraction)| *fraction >= BOUND);
            bound.limit = match nearest {
                Some((limit, _)) => limit,
                None if bound.of_flops.is_none() => Limit::LatencyOrFlops,
                None => Limit::Latency,
            };
            bound.beyond = row.share * (1.0 - bound.reached());
            Some(bound)
        };
        self.rows.iter().filter_map(bound).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TableStyle, bound_table, tests::profile};
    use super::*;

    #[test]
    fn a_kernel_is_bound_by_the_limit_that_it_reaches_half_of() {
        let mut profile = profile();
        // 450 560 operations a call, at a peak of 60 GFLOP/s: 7.5 µs; the launch takes 5 µs.
        let mut limit = |call_ns: u64, share_of_copy: f64| {
            let row = &mut profile.rows[0];
            (row.calls, row.typical_ns, row.share_of_copy) = (10, 10 * call_ns, Some(share_of_copy));
            let bound = profile.bounds().swap_remove(0);
            (bound.limit, (100.0 * bound.reached()).round())
        };
        assert_eq!(limit(100_000, 0.78), (Limit::Bytes, 78.0));
        assert_eq!(limit(10_000, 0.1), (Limit::Flops, 75.0));
        assert_eq!(limit(100_000, 0.1), (Limit::Latency, 10.0));
        // A peak is that of a measurement: a kernel may reach a little more.
        assert_eq!(limit(7_000, 0.1), (Limit::Flops, 100.0));
        profile.kernels.clear();
        let mut limit = |call_ns: u64| {
            (profile.rows[0].typical_ns, profile.rows[0].share_of_copy) = (10 * call_ns, None);
            profile.bounds().swap_remove(0).limit
        };
        assert_eq!(
            (limit(6_000), limit(4_000), limit(11_000)),
            (Limit::Launch, Limit::Launch, Limit::LatencyOrFlops)
        );
    }

    #[test]
    fn what_could_be_gained_is_the_time_beyond_the_nearest_limit() {
        let mut profile = profile();
        let row = &mut profile.rows[0];
        (row.calls, row.typical_ns, row.share, row.share_of_copy) = (10, 1_000_000, 0.5, Some(0.6));
        let bound = &profile.bounds()[0];
        assert!((bound.beyond - 0.2).abs() < 1e-12, "{bound:?}");
        let table = bound_table(&profile.bounds(), TableStyle::Plain);
        let line = table.lines().nth(1).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words, ["pbd.lambda", "bytes", "60.0", "7.5", "5.0", "20.0"], "{table}");
        // A kernel without an active call has no bound.
        profile.rows[0].calls = 0;
        assert!(profile.bounds().iter().all(|bound| bound.kernel != "pbd.lambda"));
    }
}
