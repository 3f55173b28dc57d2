//! Benchmarks of copy, reduction, scan, compaction, radix sort, grid and the permutation of columns, for
//! counts that are not powers of two.

use criterion::Criterion;
use std::time::Duration;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
        .configure_from_args();
    frazil_benches::run(&mut criterion, &["device.", "primitives.", "grid."]);
    criterion.final_summary();
}
