//! What the benches share: device time by time stamps, bytes that must move, the device's own copy bandwidth, and a JSON
//! row for every measurement.
//!
//! A measurement is: verify the result once, then let criterion decide how often to run, then print and append a row with
//! the raw samples. Times are the device's, from the first pass's start to the last one's end; the host's time is measured
//! where a bench is about the host.

use criterion::{BenchmarkId, Criterion, Throughput};
use frazil_vk::{Device, DeviceOptions, PassTime, Recorder, RecorderOptions};
use serde::Serialize;
use std::cell::RefCell;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A device and what its memory can do.
pub struct Bench {
    /// The device.
    pub device: Device,
    /// Bytes read plus bytes written a second, by a large copy between two buffers, in GB/s.
    pub copy_gb_per_s: f64,
    rows: PathBuf,
}

/// One line of `out/bench.jsonl`.
#[derive(Serialize)]
struct Row<'a> {
    bench: &'a str,
    variant: &'a str,
    elements: u64,
    verified: bool,
    median_ns: f64,
    min_ns: f64,
    max_ns: f64,
    ns_per_element: f64,
    bytes_minimum: u64,
    gb_per_s: f64,
    share_of_copy: f64,
    copy_gb_per_s: f64,
    device: &'a str,
    driver: &'a str,
    subgroup_size: u32,
    commit: String,
    samples_ns: &'a [f64],
}

impl Bench {
    /// Opens the default device (or the one named by `FRAZIL_DEVICE`) and measures its copy bandwidth.
    ///
    /// # Panics
    /// If there is no device.
    #[allow(clippy::expect_used)]
    pub fn new() -> Self {
        let selector = std::env::var("FRAZIL_DEVICE").ok().map(|name| name.as_str().into());
        let device =
            Device::open(&DeviceOptions { selector, ..Default::default() }).expect("a Vulkan device");
        let copy_gb_per_s = copy_bandwidth(&device).expect("a copy");
        let rows = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../out/bench.jsonl"));
        std::fs::create_dir_all(rows.parent().unwrap_or(&rows)).expect("out/ can be made");
        let kind = device.info().kind;
        println!(
            "device: {} ({kind}), {}; copy {copy_gb_per_s:.1} GB/s",
            device.info().name,
            device.info().driver
        );
        if device.is_software() {
            println!("a software device: these figures say nothing about a GPU");
        }
        Self { device, copy_gb_per_s, rows }
    }

    /// Measures what `record` records. `verify` has already been done by the caller at this very point.
    ///
    /// # Panics
    /// If the device refuses.
    #[allow(clippy::expect_used)]
    pub fn measure(
        &self,
        criterion: &mut Criterion,
        bench: &str,
        variant: &str,
        elements: u64,
        mut record: impl FnMut(&mut Recorder),
    ) {
        let samples = RefCell::new(Vec::new());
        let bytes = RefCell::new(0);
        let mut run = |iterations: u64| {
            let mut total_ns = 0.0;
            for _ in 0..iterations {
                let options = RecorderOptions { profile: true, ..Default::default() };
                let mut recorder = self.device.recorder_with(options).expect("a recorder");
                record(&mut recorder);
                let times =
                    self.device.submit(recorder).expect("a submission").pass_times().expect("pass times");
                let spent = span_ns(&times);
                samples.borrow_mut().push(spent);
                *bytes.borrow_mut() = times.iter().map(|t| t.bytes).sum();
                total_ns += spent;
            }
            Duration::from_nanos(total_ns as u64)
        };
        let mut group = criterion.benchmark_group(bench);
        group.throughput(Throughput::Elements(elements.max(1)));
        group.bench_function(BenchmarkId::new(variant, elements), |b| b.iter_custom(&mut run));
        group.finish();
        let (samples, bytes) = (samples.into_inner(), bytes.into_inner());
        if !samples.is_empty() {
            self.report(bench, variant, elements, bytes, &samples);
        }
    }

    #[allow(clippy::expect_used)]
    fn report(&self, bench: &str, variant: &str, elements: u64, bytes: u64, samples: &[f64]) {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median_ns = sorted[sorted.len() / 2];
        let gb_per_s = bytes as f64 / median_ns;
        let info = self.device.info();
        let row = Row {
            bench,
            variant,
            elements,
            verified: true,
            median_ns,
            min_ns: sorted[0],
            max_ns: sorted[sorted.len() - 1],
            ns_per_element: median_ns / elements.max(1) as f64,
            bytes_minimum: bytes,
            gb_per_s,
            share_of_copy: gb_per_s / self.copy_gb_per_s,
            copy_gb_per_s: self.copy_gb_per_s,
            device: &info.name,
            driver: &info.driver,
            subgroup_size: self.device.capabilities().subgroup_size,
            commit: commit(),
            samples_ns: samples,
        };
        println!(
            "{bench}/{variant}/{elements}: {:.2} ns an element, {bytes} bytes at least, {gb_per_s:.2} GB/s, {:.0} % of copy",
            row.ns_per_element,
            100.0 * row.share_of_copy
        );
        let line = serde_json::to_string(&row).expect("a row");
        let mut file =
            std::fs::OpenOptions::new().create(true).append(true).open(&self.rows).expect("out/bench.jsonl");
        writeln!(file, "{line}").expect("out/bench.jsonl");
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

/// From the first pass's start to the last one's end.
pub fn span_ns(times: &[PassTime]) -> f64 {
    let start = times.iter().map(|t| t.start_ns).fold(f64::INFINITY, f64::min);
    let end = times.iter().map(|t| t.start_ns + t.duration_ns).fold(0.0, f64::max);
    (end - start).max(0.0)
}

/// The best of several copies of 64 MiB, or of as much as the device can bind.
fn copy_bandwidth(device: &Device) -> frazil_vk::Result<f64> {
    let words = (device.capabilities().max_storage_range / 8).min(64 << 18) as usize;
    let from = device.buffer_from("copy source", &vec![1u32; words])?;
    let to = device.buffer::<u32>("copy destination", words)?;
    let mut best_ns = f64::INFINITY;
    for _ in 0..10 {
        let mut recorder = device.recorder_with(RecorderOptions { profile: true, ..Default::default() })?;
        recorder.copy(&from, &to, words);
        best_ns = best_ns.min(span_ns(&device.submit(recorder)?.pass_times()?));
    }
    Ok(8.0 * words as f64 / best_ns)
}

/// The commit the benches were built from, as git tells.
fn commit() -> String {
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).output();
    output.ok().map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}
