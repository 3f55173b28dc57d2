//! Criterion wrapper of the benches of `frazil-bench`, for criterion's statistics, baselines and reports.
//!
//! `frazil-bench` defines the measurements and verifies the result at each point; times are those of the
//! device, or of the host for CPU benches.

use criterion::{BenchmarkId, Criterion, Throughput};
use frazil_bench::{Profile, Session, benches, plan, select};
use frazil_vk::{Device, DeviceOptions};
use std::time::Duration;

/// Measures the benches whose id contains one of `filters` on the default device, or the one named by
/// `FRAZIL_DEVICE`.
///
/// # Panics
/// If there is no device, the device reports an error, or a result is wrong.
#[allow(clippy::expect_used)]
pub fn run(criterion: &mut Criterion, filters: &[&str]) {
    let selector = std::env::var("FRAZIL_DEVICE").ok().map(|name| name.as_str().into());
    let device = Device::open(&DeviceOptions { selector, ..Default::default() }).expect("a Vulkan device");
    let session = Session::new(&device, None).expect("a device with time stamps");
    let (name, driver) = (&device.info().name, &device.info().driver);
    println!("device: {name} ({}), {driver}; copy {:.1} GB/s", device.info().kind, session.copy_gb_per_s());
    if device.is_software() {
        println!("a software device: these figures say nothing about a GPU");
    }
    let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
    let chosen = select(benches::all(), &filters).expect("benches");
    for planned in plan(&chosen, &[], Profile::Full).expect("points") {
        // Criterion calls back only for benches that pass its own filter; nothing is prepared for the rest.
        let mut prepared = None;
        let mut group = criterion.benchmark_group(planned.bench.id());
        group.throughput(Throughput::Elements(planned.point.integer("count").expect("a count").max(1)));
        group.bench_function(BenchmarkId::from_parameter(&planned.point), |bencher| {
            let running = prepared.get_or_insert_with(|| {
                session.prepare(planned.bench, &planned.point).expect("a right result")
            });
            bencher.iter_custom(|iterations| {
                let ns = (0..iterations).map(|_| running.sample().expect("a sample").ns).sum::<f64>();
                Duration::from_nanos(ns as u64)
            });
        });
        group.finish();
        if let Some(running) = prepared {
            running.verify("after it was timed").expect("a right result");
        }
    }
}
