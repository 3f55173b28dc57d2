//! Summary statistics of raw times.

use serde::{Deserialize, Serialize};

use crate::statistics::percentile;

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
    /// 95th percentile of the calls (nearest rank), in nanoseconds.
    pub p95_ns: u64,
    /// Share of the device time of all rows, 0 to 1.
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

/// Summarizes the measurements, the most expensive kernel first; a kernel without a call has no row.
///
/// `copy_gb_per_s` is the device's copy bandwidth in GB/s.
pub fn profile_rows(samples: &[KernelSamples], copy_gb_per_s: Option<f64>) -> Vec<ProfileRow> {
    let mut rows = rows_in_order(samples, copy_gb_per_s);
    rows.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.kernel.cmp(&b.kernel)));
    rows
}

/// Summarizes like [`profile_rows`], in the order given.
fn rows_in_order(samples: &[KernelSamples], copy_gb_per_s: Option<f64>) -> Vec<ProfileRow> {
    let device_ns: u64 = samples.iter().flat_map(|kernel| &kernel.durations_ns).sum();
    samples
        .iter()
        .filter(|kernel| !kernel.durations_ns.is_empty())
        .map(|kernel| {
            let mut sorted = kernel.durations_ns.clone();
            sorted.sort_unstable();
            let total_ns: u64 = sorted.iter().sum();
            let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
            // Bytes per nanosecond are gigabytes per second.
            let gb_per_s = kernel.bytes.and_then(|bytes| ratio(bytes as f64, total_ns as f64));
            ProfileRow {
                kernel: kernel.kernel.clone(),
                calls: sorted.len() as u64,
                total_ns,
                min_ns: sorted[0],
                median_ns: percentile(&sorted, 50),
                p95_ns: percentile(&sorted, 95),
                share: ratio(total_ns as f64, device_ns as f64).unwrap_or(0.0),
                bytes: kernel.bytes,
                gb_per_s,
                share_of_copy: gb_per_s.zip(copy_gb_per_s).and_then(|(own, copy)| ratio(own, copy)),
            }
        })
        .collect()
}

/// Summarizes the passes of a step, given in its order, each with the kernel's name.
pub fn pass_rows(samples: &[KernelSamples], copy_gb_per_s: Option<f64>) -> Vec<PassRow> {
    let rows = rows_in_order(samples, copy_gb_per_s);
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
        profile_rows(&samples, Some(20.0))
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
        assert_eq!((lambda.median_ns, lambda.p95_ns, lambda.share), (300_000, 390_000, 0.79));
        assert_eq!((lambda.gb_per_s, lambda.share_of_copy), (Some(10.0), Some(0.5)));
        assert_eq!((sort.median_ns, sort.p95_ns, sort.gb_per_s), (10_000, 19_000, None));
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
