//! Algorithmic work of kernels over the time it took, beside the bandwidth and the arithmetic peak of the
//! device.

use super::Profile;
use super::work_item::WorkItem;

/// The item whose number is that of particles.
const PARTICLE: &str = "particle";

/// Algorithmic work of a kernel over its typical active call.
#[derive(Debug, Clone, PartialEq)]
pub struct Throughput {
    /// The kernel's name.
    pub kernel: String,
    /// Its active calls.
    pub calls: u64,
    /// Typical time of one of them, in nanoseconds.
    pub call_ns: f64,
    /// [`ProfileRow::gb_per_s`](super::ProfileRow::gb_per_s).
    pub gb_per_s: Option<f64>,
    /// [`ProfileRow::share_of_copy`](super::ProfileRow::share_of_copy).
    pub share_of_copy: Option<f64>,
    /// Names of items, and how many of them a second, in 10⁶/s.
    pub items: Vec<(String, f64)>,
    /// Declared floating-point operations over the typical time, in GFLOP/s.
    pub gflop_per_s: Option<f64>,
    /// `gflop_per_s` over the device's peak of multiply-adds.
    pub share_of_peak: Option<f64>,
    /// Declared floating-point operations per byte that must move.
    pub flop_per_byte: Option<f64>,
}

impl Profile {
    /// Returns the throughput of each kernel with counted items, the most expensive kernel first.
    pub fn throughputs(&self) -> Vec<Throughput> {
        self.rows.iter().filter_map(|row| self.throughput(&row.kernel)).collect()
    }

    fn throughput(&self, kernel: &str) -> Option<Throughput> {
        let row = self.rows.iter().find(|row| row.kernel == kernel)?;
        let items: Vec<&WorkItem> =
            self.work.iter().filter(|work| work.kernels.iter().any(|name| name == kernel)).collect();
        if items.is_empty() {
            return None;
        }
        let call_ns = (row.calls > 0).then(|| row.typical_ns as f64 / row.calls as f64)?;
        let rate = |amount: f64| amount / call_ns;
        let flop = self.flop_of(kernel);
        let gflop_per_s = flop.map(rate);
        Some(Throughput {
            kernel: kernel.to_owned(),
            calls: row.calls,
            call_ns,
            gb_per_s: row.gb_per_s,
            share_of_copy: row.share_of_copy,
            items: items.iter().map(|work| (work.item.clone(), 1e3 * rate(work.count as f64))).collect(),
            gflop_per_s,
            share_of_peak: over(gflop_per_s, self.peak_gflop_per_s),
            flop_per_byte: over(flop, row.bytes_per_call()),
        })
    }

    /// Returns the floating-point operations of a call, if the shader declares them and all items are
    /// counted.
    pub(crate) fn flop_of(&self, kernel: &str) -> Option<f64> {
        let declared = &self.kernels.iter().find(|fact| fact.kernel == kernel)?.work;
        let count = |item: &String| match item.as_str() {
            PARTICLE => Some(self.n_particles),
            _ => Some(self.work.iter().find(|work| work.item == *item)?.count),
        };
        let flop = declared.iter().map(|(item, flop)| Some(*flop as f64 * count(item)? as f64));
        (!declared.is_empty()).then(|| flop.sum())?
    }
}

/// Returns the ratio of two known numbers, if it is one.
pub(super) fn over(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?).filter(|ratio| ratio.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::{TableStyle, tests::profile, throughput_table};

    #[test]
    fn rates_are_those_of_active_calls_and_flop_need_all_of_their_items() {
        let mut profile = profile();
        let row = &mut profile.rows[0];
        (row.calls, row.typical_ns, row.bytes, row.gb_per_s) = (10, 1_000_000, Some(3_950_000), Some(3.95));
        let found = profile.throughputs();
        assert_eq!((found.len(), found[0].calls, found[0].call_ns), (1, 10, 100_000.0));
        // 8 192 pairs of 50 flop and 4 096 particles of 10, in 3.95 MB over 10 calls.
        let flop = 8192.0 * 50.0 + 4096.0 * 10.0;
        assert_eq!(found[0].gflop_per_s, Some(flop / 100_000.0));
        assert_eq!(found[0].share_of_peak, Some(flop / 100_000.0 / 60.0));
        assert_eq!(found[0].flop_per_byte, Some(flop / 395_000.0));
        // The rate of bytes is the one of the table of kernels.
        assert_eq!((found[0].items[0].1, found[0].gb_per_s), (81.92, profile.rows[0].gb_per_s));
        let table = throughput_table(&found, true, TableStyle::Plain);
        assert!(table.contains("pair") && table.contains("81.9") && table.contains("7.5"), "{table}");

        profile.kernels[0].work.insert("contact".to_owned(), 3);
        assert_eq!(profile.throughputs()[0].gflop_per_s, None, "contacts were not counted");
        profile.work.clear();
        assert!(profile.throughputs().is_empty());
    }
}
