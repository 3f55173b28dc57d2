//! Summary statistics of raw times.

use serde::{Deserialize, Serialize};

use crate::statistics::{Spread, median_of_times, percentile};

/// Measured time of one kernel over a run. One gigabyte is 10⁹ bytes. A call is active if its dispatch has
/// elements on the device; statistics are those of active calls, and 0 if there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// The kernel's name.
    pub kernel: String,
    /// Number of active calls.
    pub calls: u64,
    /// Calls without elements: a solve that has ended skips its remaining iterations.
    #[serde(default)]
    pub empty: EmptyCalls,
    /// Device time of all active calls, in nanoseconds.
    pub total_ns: u64,
    /// Number of active calls times the median call, summed over the places in the step: the total without
    /// noise, in nanoseconds.
    pub typical_ns: u64,
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
    /// Share of all rows, 0 to 1, of the typical time of active and empty calls: other load on the machine,
    /// which slows a few calls by much, hardly changes it.
    pub share: f64,
    /// Minimum of bytes that all active calls together must move, by the device's counts, if known.
    pub bytes: Option<u64>,
    /// `bytes` over `typical_ns`, in GB/s.
    pub gb_per_s: Option<f64>,
    /// `gb_per_s` over the rate of the fastest copy of as many bytes or more, 0 to 1: see [`SizedCopy`].
    pub share_of_copy: Option<f64>,
}

/// Calls of a kernel without elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyCalls {
    /// Number of calls.
    pub calls: u64,
    /// Device time of all of them, in nanoseconds.
    pub total_ns: u64,
    /// The fastest one, in nanoseconds.
    pub min_ns: u64,
    /// The median one (nearest rank), in nanoseconds.
    pub median_ns: u64,
}

impl EmptyCalls {
    fn of(durations_ns: &[u64]) -> Self {
        Self {
            calls: durations_ns.len() as u64,
            total_ns: durations_ns.iter().sum(),
            min_ns: durations_ns.iter().copied().min().unwrap_or(0),
            median_ns: median_of_times(durations_ns).unwrap_or(0),
        }
    }

    /// Returns the number of calls times the median, in nanoseconds.
    pub(super) fn typical_ns(&self) -> u64 {
        self.calls.saturating_mul(self.median_ns)
    }
}

impl ProfileRow {
    /// Returns the number of active and empty calls.
    pub fn all_calls(&self) -> u64 {
        self.calls.saturating_add(self.empty.calls)
    }

    /// Returns the minimum of bytes of a mean active call.
    pub(super) fn bytes_per_call(&self) -> Option<f64> {
        (self.calls > 0).then(|| Some(self.bytes? as f64 / self.calls as f64))?
    }
}

/// Rate of a copy of some size between two buffers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SizedCopy {
    /// Bytes read plus bytes written.
    pub bytes: u64,
    /// Rate in GB/s.
    pub gb_per_s: f64,
}

/// Returns the rate in GB/s that a kernel which moves `bytes` cannot exceed: that of the fastest copy of its
/// size and above, from `copies` in the order of their sizes. Caches make a copy of few bytes faster than a
/// large one, and the time of a launch makes it slower. The next smaller size counts, too: measured ones are
/// far apart, and a kernel that updates in place has half the working set of a copy.
pub(super) fn fastest_copy(copies: &[SizedCopy], bytes: f64) -> Option<f64> {
    let first = copies.iter().rposition(|copy| 2.0 * copy.bytes as f64 <= bytes).unwrap_or(0);
    copies.get(first..)?.iter().map(|copy| copy.gb_per_s).reduce(f64::max)
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
    /// Device time of each active call, in nanoseconds.
    pub durations_ns: Vec<u64>,
    /// Device time of each call without elements, in nanoseconds.
    pub empty_ns: Vec<u64>,
    /// Minimum of bytes that all calls together must move, if known.
    pub bytes: Option<u64>,
}

/// Summarizes the measurements, the most expensive kernel by its total first; a kernel without a call has no
/// row.
///
/// `passes` has the same calls by place in the step, as far as they belong to one. Typical times and outliers
/// are those of places: passes of one kernel may have other numbers of elements. `copies` are the rates of
/// copies on the device, the largest last.
pub fn profile_rows(
    samples: &[KernelSamples],
    passes: &[KernelSamples],
    copies: &[SizedCopy],
) -> Vec<ProfileRow> {
    let places = |kernel: &str| -> Vec<Typical> {
        let of_kernel = passes.iter().filter(|pass| pass.kernel == kernel);
        of_kernel.map(|pass| Typical::of(&pass.durations_ns)).collect()
    };
    let mut rows = rows_in_order(samples, copies, |kernel| {
        let (whole, places) = (Typical::of(&kernel.durations_ns), places(&kernel.kernel));
        let sum = |value: fn(&Typical) -> u64| places.iter().map(value).sum::<u64>();
        // Calls between steps, of metrics for instance, have no place.
        let others = whole.calls.saturating_sub(sum(|place| place.calls));
        let typical_ns = sum(|place| place.total_ns) + others * whole.total_ns / whole.calls.max(1);
        let outliers = if places.is_empty() { whole.outliers } else { sum(|place| place.outliers) };
        (typical_ns, outliers)
    });
    let cost = |row: &ProfileRow| row.total_ns + row.empty.total_ns;
    rows.sort_by(|a, b| cost(b).cmp(&cost(a)).then_with(|| a.kernel.cmp(&b.kernel)));
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

/// Summarizes like [`profile_rows`], in the order given; `typical` returns the time of all active calls of a
/// kernel without noise, in nanoseconds, and the number of outliers.
fn rows_in_order(
    samples: &[KernelSamples],
    copies: &[SizedCopy],
    typical: impl Fn(&KernelSamples) -> (u64, u64),
) -> Vec<ProfileRow> {
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    let row = |kernel: &KernelSamples| {
        let (typical_ns, outliers) = typical(kernel);
        let mut sorted = kernel.durations_ns.clone();
        sorted.sort_unstable();
        let (calls, total_ns) = (sorted.len() as u64, sorted.iter().sum::<u64>());
        let percentile = |percent| if sorted.is_empty() { 0 } else { percentile(&sorted, percent) };
        // Bytes per nanosecond are gigabytes per second.
        let gb_per_s = kernel.bytes.and_then(|bytes| ratio(bytes as f64, typical_ns as f64));
        let mut row = ProfileRow {
            kernel: kernel.kernel.clone(),
            calls,
            empty: EmptyCalls::of(&kernel.empty_ns),
            total_ns,
            typical_ns,
            min_ns: sorted.first().copied().unwrap_or(0),
            median_ns: percentile(50),
            mean_ns: total_ns / calls.max(1),
            p95_ns: percentile(95),
            max_ns: sorted.last().copied().unwrap_or(0),
            outliers,
            share: 0.0,
            bytes: kernel.bytes,
            gb_per_s,
            share_of_copy: None,
        };
        let fastest = row.bytes_per_call().and_then(|bytes| fastest_copy(copies, bytes));
        row.share_of_copy = gb_per_s.zip(fastest).and_then(|(own, copy)| ratio(own, copy));
        row
    };
    let is_measured = |kernel: &&KernelSamples| kernel.durations_ns.len() + kernel.empty_ns.len() > 0;
    let mut rows: Vec<ProfileRow> = samples.iter().filter(is_measured).map(row).collect();
    let cost = |row: &ProfileRow| row.typical_ns as f64 + row.empty.typical_ns() as f64;
    let all_ns: f64 = rows.iter().map(cost).sum();
    rows.iter_mut().for_each(|row| row.share = ratio(cost(row), all_ns).unwrap_or(0.0));
    rows
}

/// Summarizes the passes of a step, given in its order, each with the kernel's name.
pub fn pass_rows(samples: &[KernelSamples], copies: &[SizedCopy]) -> Vec<PassRow> {
    let rows = rows_in_order(samples, copies, |pass| {
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
        profile_rows(&samples, &[], &[SizedCopy { bytes: 1 << 30, gb_per_s: 20.0 }])
    }

    fn kernel(name: &str, durations_ns: Vec<u64>, bytes: Option<u64>) -> KernelSamples {
        KernelSamples { kernel: name.to_owned(), durations_ns, empty_ns: Vec::new(), bytes }
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
        // 7.9 MB in three calls of 300 µs.
        assert_eq!((lambda.gb_per_s, lambda.share_of_copy), (Some(7.9 / 0.9), Some(7.9 / 0.9 / 20.0)));
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
        let rows = profile_rows(&[all, sort], &passes, &[]);
        let found: Vec<_> = rows.iter().map(|row| (row.kernel.as_str(), row.share, row.outliers)).collect();
        assert_eq!(found, [("solve", 505.0 / 1005.0, 1), ("sort", 500.0 / 1005.0, 0)]);
    }

    #[test]
    fn empty_calls_are_in_no_statistics_but_those_of_their_own() {
        let mut solve = kernel("solve", vec![1000, 1200, 1100], Some(3_000));
        solve.empty_ns = vec![5, 7, 6, 100];
        let idle = KernelSamples { empty_ns: vec![4; 10], ..kernel("idle", vec![], Some(0)) };
        let rows = profile_rows(&[solve, idle], &[], &[SizedCopy { bytes: 1 << 30, gb_per_s: 10.0 }]);
        let [solve, idle] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((solve.calls, solve.all_calls(), solve.median_ns, solve.min_ns), (3, 7, 1100, 1000));
        assert_eq!(solve.empty, EmptyCalls { calls: 4, total_ns: 118, min_ns: 5, median_ns: 6 });
        // 3 kB in three calls of 1.1 µs; empty calls have neither bytes nor time here.
        assert_eq!((solve.gb_per_s, solve.share_of_copy), (Some(3000.0 / 3300.0), Some(300.0 / 3300.0)));
        assert_eq!(solve.share, 3324.0 / 3364.0);
        assert_eq!((idle.calls, idle.median_ns, idle.gb_per_s, idle.share_of_copy), (0, 0, None, None));
        assert_eq!((idle.empty.calls, idle.share), (10, 40.0 / 3364.0));
    }

    #[test]
    fn a_kernel_is_compared_with_copies_of_its_size_and_above() {
        let copy = |bytes: u64, gb_per_s: f64| SizedCopy { bytes, gb_per_s };
        // A launch takes most of the first copy; the second one is in a cache.
        let copies = [copy(8, 0.01), copy(1 << 16, 40.0), copy(1 << 20, 30.0), copy(1 << 30, 10.0)];
        for (log2, expected) in [(3, 40.0), (17, 40.0), (20, 40.0), (21, 30.0), (30, 30.0), (31, 10.0)] {
            assert_eq!(fastest_copy(&copies, 2_f64.powi(log2)), Some(expected), "2^{log2} bytes");
        }
        assert_eq!(fastest_copy(&[], 1.0), None);
    }

    #[test]
    fn passes_keep_their_order_and_count_their_kernels_places() {
        let samples = [
            kernel("b", vec![10, 30], Some(4)),
            kernel("a", vec![500], None),
            kernel("b", vec![20], Some(4)),
        ];
        let passes = pass_rows(&samples, &[]);
        let places: Vec<_> = passes
            .iter()
            .map(|p| (p.position, p.row.kernel.as_str(), p.occurrence, p.occurrences, p.row.calls))
            .collect();
        assert_eq!(places, [(0, "b", 1, 2, 2), (1, "a", 1, 1, 1), (2, "b", 2, 2, 1)]);
    }
}
