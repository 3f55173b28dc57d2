//! Benchmarks of a step of each solver: its cost per particle against the number of particles. For the cost
//! of each pass use `frazil profile`.

use criterion::Criterion;
use std::time::Duration;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .without_plots()
        .configure_from_args();
    frazil_benches::run(&mut criterion, &[".step"]);
    criterion.final_summary();
}
