//! Summary statistics of raw times.

use serde::{Deserialize, Serialize};

use crate::statistics::{Spread, median_of_times, percentile};

/// Measured time of one kernel over a run. One gigabyte is 10⁹ bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// The kernel's name.
    pub kernel: String,
    /// Number of calls.
    pub calls: u64,
    /// Device time of all calls, in nanoseconds.
    pub total_ns: u64,
    /// The fastest call, in nanoseconds.
    pub min_ns: u64,
    /// The median call (nearest rank), in nanoseconds.
    pub median_ns: u64,
    /// The mean call, in nanoseconds.
    #[serde(default)]
    pub mean_ns: u64,
    /// 95th percentile of the calls (nearest rank), in nanoseconds.
    pub p95_ns: u64,
    /// The slowest call, in nanoseconds.
    #[serde(default)]
    pub max_ns: u64,
    /// Number of calls more than 1.5 interquartile ranges above the third quartile of those at the same place
    /// in the step.
    #[serde(default)]
    pub outliers: u64,
    /// Share of all rows, 0 to 1, of calls times the median call at each place in the step: other load on the
    /// machine, which slows a few calls by much, hardly changes it.
    pub share: f64,
    /// Minimum of bytes that all calls together must move, if known.
    pub bytes: Option<u64>,
    /// `bytes` over `total_ns`, in GB/s.
    pub gb_per_s: Option<f64>,
    /// `gb_per_s` over the device's copy bandwidth, 0 to about 1.
    pub share_of_copy: Option<f64>,
}

/// Measured time of one pass of a step; a kernel may have several passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassRow {
    /// Index of the pass in the step, from 0.
    pub position: u32,
    /// Index among the passes of the same kernel, from 1.
    pub occurrence: u32,
    /// Number of passes of the kernel in the step.
    pub occurrences: u32,
    /// Statistics of the pass.
    #[serde(flatten)]
    pub row: ProfileRow,
}

/// The raw measurements of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSamples {
    /// The kernel's name.
    pub kernel: String,
    /// Device time of each call, in nanoseconds.
    pub durations_ns: Vec<u64>,
    /// Minimum of bytes that all calls together must move, if known.
    pub bytes: Option<u64>,
}

/// Summarizes the measurements, the most expensive kernel by its total first; a kernel without a call has no
/// row.
///
/// `passes` has the same calls by place in the step, as far as they belong to one. Typical times and outliers
/// are those of places: a kernel whose later passes find nothing to do has one median for them and another
/// for the first ones. `copy_gb_per_s` is the device's copy bandwidth in GB/s.
pub fn profile_rows(
    samples: &[KernelSamples],
    passes: &[KernelSamples],
    copy_gb_per_s: Option<f64>,
) -> Vec<ProfileRow> {
    let places = |kernel: &str| -> Vec<Typical> {
        let of_kernel = passes.iter().filter(|pass| pass.kernel == kernel);
        of_kernel.map(|pass| Typical::of(&pass.durations_ns)).collect()
    };
    let mut rows = rows_in_order(samples, copy_gb_per_s, |kernel| {
        let (whole, places) = (Typical::of(&kernel.durations_ns), places(&kernel.kernel));
        let sum = |value: fn(&Typical) -> u64| places.iter().map(value).sum::<u64>();
        // Calls between steps, of metrics for instance, have no place.
        let others = whole.calls.saturating_sub(sum(|place| place.calls));
        let typical_ns = sum(|place| place.total_ns) + others * whole.total_ns / whole.calls.max(1);
        let outliers = if places.is_empty() { whole.outliers } else { sum(|place| place.outliers) };
        (typical_ns, outliers)
    });
    rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.kernel.cmp(&b.kernel)));
    rows
}

/// Calls that take the same time but for noise.
struct Typical {
    calls: u64,
    /// Number of calls times the median.
    total_ns: u64,
    outliers: u64,
}

impl Typical {
    fn of(durations_ns: &[u64]) -> Self {
        let calls = durations_ns.len() as u64;
        let spread = Spread::of(&durations_ns.iter().map(|&ns| ns as f64).collect::<Vec<_>>());
        let median_ns = median_of_times(durations_ns).unwrap_or(0);
        Self { calls, total_ns: calls * median_ns, outliers: spread.outliers as u64 }
    }
}

/// Summarizes like [`profile_rows`], in the order given; `typical` returns the time of all calls of a kernel
/// without noise, in nanoseconds, and the number of outliers.
fn rows_in_order(
    samples: &[KernelSamples],
    copy_gb_per_s: Option<f64>,
    typical: impl Fn(&KernelSamples) -> (u64, u64),
) -> Vec<ProfileRow> {
    let measured = samples.iter().filter(|kernel| !kernel.durations_ns.is_empty());
    let measured: Vec<(&KernelSamples, (u64, u64))> =
        measured.map(|kernel| (kernel, typical(kernel))).collect();
    let all_ns: u64 = measured.iter().map(|(_, (typical_ns, _))| typical_ns).sum();
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    let row = |(kernel, (typical_ns, outliers)): &(&KernelSamples, (u64, u64))| {
        let mut sorted = kernel.durations_ns.clone();
        sorted.sort_unstable();
        let (calls, total_ns) = (sorted.len() as u64, sorted.iter().sum::<u64>());
        // Bytes per nanosecond are gigabytes per second.
        let gb_per_s = kernel.bytes.and_then(|bytes| ratio(bytes as f64, total_ns as f64));
        ProfileRow {
            kernel: kernel.kernel.clone(),
            calls,
            total_ns,
            min_ns: sorted[0],
            median_ns: percentile(&sorted, 50),
            mean_ns: total_ns / calls,
            p95_ns: percentile(&sorted, 95),
            max_ns: sorted[sorted.len() - 1],
            outliers: *outliers,
            share: ratio(*typical_ns as f64, all_ns as f64).unwrap_or(0.0),
            bytes: kernel.bytes,
            gb_per_s,
            share_of_copy: gb_per_s.zip(copy_gb_per_s).and_then(|(own, copy)| ratio(own, copy)),
        }
    };
    measured.iter().map(row).collect()
}

/// Summarizes the passes of a step, given in its order, each with the kernel's name.
pub fn pass_rows(samples: &[KernelSamples], copy_gb_per_s: Option<f64>) -> Vec<PassRow> {
    let rows = rows_in_order(samples, copy_gb_per_s, |pass| {
        let typical = Typical::of(&pass.durations_ns);
        (typical.total_ns, typical.outliers)
    });
    let count = |rows: &[ProfileRow], kernel: &str| rows.iter().filter(|r| r.kernel == kernel).count() as u32;
    let pass = |position: usize| PassRow {
        position: position as u32,
        occurrence: count(&rows[..=position], &rows[position].kernel),
        occurrences: count(&rows, &rows[position].kernel),
        row: rows[position].clone(),
    };
    (0..rows.len()).map(pass).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn rows() -> Vec<ProfileRow> {
        let samples = [
            kernel("grid.sort", (1..=20).map(|i| i * 1000).rev().collect(), None),
            kernel("pbd.lambda", vec![300_000, 100_000, 390_000], Some(7_900_000)),
            kernel("never.called", vec![], Some(1)),
        ];
        profile_rows(&samples, &[], Some(20.0))
    }

    fn kernel(name: &str, durations_ns: Vec<u64>, bytes: Option<u64>) -> KernelSamples {
        KernelSamples { kernel: name.to_owned(), durations_ns, bytes }
    }

    #[test]
    fn rows_are_sorted_by_cost_and_hold_shares_ranks_and_rates() {
        let rows = rows();
        assert_eq!(
            rows.iter().map(|row| row.kernel.as_str()).collect::<Vec<_>>(),
            ["pbd.lambda", "grid.sort"]
        );
        let (lambda, sort) = (&rows[0], &rows[1]);
        assert_eq!((lambda.calls, lambda.total_ns, lambda.min_ns), (3, 790_000, 100_000));
        // Three calls of 300 µs beside twenty of 10 µs.
        assert_eq!((lambda.median_ns, lambda.p95_ns, lambda.share), (300_000, 390_000, 900.0 / 1100.0));
        assert_eq!(
            (lambda.mean_ns, lambda.max_ns, sort.mean_ns, sort.max_ns),
            (263_333, 390_000, 10_500, 20_000)
        );
        assert_eq!((lambda.outliers, sort.outliers), (0, 0));
        assert_eq!((lambda.gb_per_s, lambda.share_of_copy), (Some(10.0), Some(0.5)));
        assert_eq!((sort.median_ns, sort.p95_ns, sort.gb_per_s), (10_000, 19_000, None));
    }

    #[test]
    fn shares_and_outliers_are_those_of_the_places_in_a_step() {
        // The second pass of the solver finds nothing to do; one of its first passes is slowed by other load.
        let solver =
            [kernel("solve", vec![100, 101, 99, 100, 9000], None), kernel("solve", vec![1; 5], None)];
        let sort = kernel("sort", vec![100; 5], None);
        let all = kernel("solve", [&solver[0].durations_ns[..], &solver[1].durations_ns].concat(), None);
        let passes = [solver[0].clone(), sort.clone(), solver[1].clone()];
        let rows = profile_rows(&[all, sort], &passes, None);
        let found: Vec<_> = rows.iter().map(|row| (row.kernel.as_str(), row.share, row.outliers)).collect();
        assert_eq!(found, [("solve", 505.0 / 1005.0, 1), ("sort", 500.0 / 1005.0, 0)]);
    }

    #[test]
    fn passes_keep_their_order_and_count_their_kernels_places() {
        let samples = [
            kernel("b", vec![10, 30], Some(4)),
            kernel("a", vec![500], None),
            kernel("b", vec![20], Some(4)),
        ];
        let passes = pass_rows(&samples, None);
        let places: Vec<_> = passes
            .iter()
            .map(|p| (p.position, p.row.kernel.as_str(), p.occurrence, p.occurrences, p.row.calls))
            .collect();
        assert_eq!(places, [(0, "b", 1, 2, 2), (1, "a", 1, 1, 1), (2, "b", 2, 2, 1)]);
    }
}
