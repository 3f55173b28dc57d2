//! A step of the position-based fluid: its cost a particle against the number of particles, the share of each pass, and
//! the host's part.

use criterion::Criterion;
use frazil_benches::{Bench, span_ns};
use frazil_scene::Scene;
use frazil_solvers::pbd::Fluid;
use frazil_vk::RecorderOptions;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A cubic block of about `n` particles that fills its container but for the top.
fn block(n: usize) -> Scene {
    let side = (n as f64).cbrt().round();
    let extent = 0.01 * side;
    let text = format!(
        "version = 1\nname = \"block\"\nup_axis = \"y\"\n[time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = 0.01\n[domain]\nmin_m = [0, 0, 0]\nmax_m = [{extent}, {}, {extent}]\n\
         [[particles]]\nshape.box = {{ min_m = [0, 0, 0], max_m = [{extent}, {extent}, {extent}] }}\n",
        1.5 * extent
    );
    Scene::parse(&text, "block", &[]).expect("the block is a valid scene")
}

/// Advances a little and checks that what is about to be measured is right: everybody there, finite and inside.
fn verified(bench: &Bench, scene: &Scene) -> (Fluid, usize) {
    let sampled = scene.sample().expect("particles");
    let n = sampled.positions_m.len();
    let mut fluid = Fluid::new(&bench.device, scene, &sampled).expect("a fluid");
    let mut recorder = bench.device.recorder().expect("a recorder");
    for _ in 0..2 {
        fluid.record_step(&mut recorder);
    }
    let metrics = fluid.record_metrics(&mut recorder).expect("a read-back");
    bench.device.submit(recorder).expect("a submission");
    let metrics = metrics.wait().expect("metrics");
    assert_eq!((metrics.particles as usize, metrics.n_not_finite, metrics.n_outside), (n, 0, 0));
    let density = metrics.density_mean_kg_m3;
    assert!((density / 1000.0 - 1.0).abs() < 0.05, "mean density {density} kg/m³");
    let mut ids = bench.device.download(&fluid.columns()[2].words, n).expect("ids");
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..n as u32), "each particle once");
    (fluid, n)
}

fn cost_a_particle(criterion: &mut Criterion, bench: &Bench) {
    // A software device takes seconds for a step of a million; FRAZIL_BENCH_MAX says how far to go.
    let default = if bench.device.is_software() { 100_000 } else { 1_000_000 };
    let max = std::env::var("FRAZIL_BENCH_MAX").ok().and_then(|m| m.parse().ok()).unwrap_or(default);
    for n in [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|n| *n <= max) {
        let (mut fluid, n) = verified(bench, &block(n));
        bench.measure(criterion, "pbd_step", "block", n as u64, |recorder| fluid.record_step(recorder));
    }
}

/// Prints, for a step of about 100 000 particles, each pass's share and the host's time for recording and submitting.
fn shares(bench: &Bench) {
    let (mut fluid, n) = verified(bench, &block(100_000));
    let mut host = Duration::ZERO;
    let mut device_ns = 0.0;
    let mut passes: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    let steps = 3;
    for _ in 0..steps {
        let begin = Instant::now();
        let mut recorder = bench
            .device
            .recorder_with(RecorderOptions { profile: true, ..Default::default() })
            .expect("a recorder");
        fluid.record_step(&mut recorder);
        let submission = bench.device.submit(recorder).expect("a submission");
        host += begin.elapsed();
        let times = submission.pass_times().expect("pass times");
        device_ns += span_ns(&times);
        for time in times {
            let entry = passes.entry(time.name).or_default();
            *entry = (entry.0 + time.duration_ns, entry.1 + time.bytes);
        }
    }
    println!(
        "\npbd_step, {n} particles, {steps} steps: device {:.2} ms a step",
        device_ns / 1e6 / f64::from(steps)
    );
    println!("{:34} {:>8} {:>12} {:>10} {:>10}", "pass", "share", "bytes/part.", "GB/s", "% of copy");
    let mut rows: Vec<_> = passes.into_iter().collect();
    rows.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    for (name, (ns, bytes)) in rows {
        let rate = bytes as f64 / ns;
        println!(
            "{name:34} {:>7.1}% {:>12.1} {rate:>10.2} {:>9.1}%",
            100.0 * ns / device_ns,
            bytes as f64 / n as f64 / f64::from(steps),
            100.0 * rate / bench.copy_gb_per_s
        );
    }
    let host_ns = host.as_nanos() as f64;
    println!(
        "host: {:.3} ms a step, {:.2} % of the step",
        host_ns / 1e6 / f64::from(steps),
        100.0 * host_ns / device_ns
    );
}

fn main() {
    let bench = Bench::new();
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .without_plots()
        .configure_from_args();
    cost_a_particle(&mut criterion, &bench);
    shares(&bench);
    criterion.final_summary();
}
