//! Exclusive scan.

use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, HostWorkload, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{Counts, Method, Scan, ScanOptions};
use frazil_reference::primitives::exclusive_scan_u32;
use frazil_testkit::Distribution;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct ExclusiveScan;

const VARIANTS: &[&str] = &["look_back", "look_back_subgroups", "reduce_then_scan", "cpu_one_core"];

struct Workload {
    count: DeviceCount,
    scan: Scan,
    values: Buffer<u32>,
    scanned: Buffer<u32>,
    expected: Vec<u32>,
}

struct OneCore {
    values: Vec<u32>,
    scanned: Vec<u32>,
    expected: Vec<u32>,
}

impl Bench for ExclusiveScan {
    fn id(&self) -> &'static str {
        "primitives.exclusive_scan"
    }

    fn about(&self) -> &'static str {
        "exclusive prefix sums of an array of u32"
    }

    fn axes(&self) -> Vec<Axis> {
        let distribution = Axis::distribution(&[Distribution::Uniform]);
        vec![
            Axis::count(),
            distribution,
            Axis::variant(VARIANTS),
            Axis::workgroup_size(),
            Axis::items_per_thread(),
            Axis::spins(),
        ]
    }

    fn meaningless_axes(&self, point: &Point) -> &'static [&'static str] {
        match point.name("variant") {
            Ok("cpu_one_core") => &["workgroup_size", "items_per_thread", "spins"],
            Ok("reduce_then_scan") => &["spins"],
            _ => &[],
        }
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let values = point.distribution()?.keys(point.count()?);
        let (n, expected) = (values.len(), exclusive_scan_u32(&values).0);
        let variant = point.name("variant")?;
        let method = match variant {
            "look_back" | "look_back_subgroups" => Method::LookBack,
            "reduce_then_scan" => Method::ReduceThenScan,
            "cpu_one_core" => {
                return Ok(Prepared::Host(Box::new(OneCore { scanned: vec![0; n], values, expected })));
            }
            _ => return Err(point.unknown("variant", VARIANTS)),
        };
        let options = ScanOptions {
            method: Some(method),
            workgroup_size: point.workgroup_size()?,
            items_per_thread: point.integer("items_per_thread")? as u32,
            spins: point.spins()?,
            subgroup_sums: Some(variant == "look_back_subgroups"),
            ..Default::default()
        };
        Ok(Prepared::Device(Box::new(Workload {
            count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
            scan: Scan::with_options(device, n as u32, options)?,
            values: device.buffer_from("values", &values)?,
            scanned: device.buffer("scanned", n)?,
            expected,
        })))
    }
}

fn work(n: usize) -> Work {
    Work { elements: n as u64, bytes_minimum: 8 * n as u64 }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        work(self.expected.len())
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.scanned, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.scan.record(recorder, &self.count, &self.values, &self.scanned, None)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.scanned, self.expected.len())?;
        Ok(first_difference("scanned", &found, &self.expected))
    }
}

impl HostWorkload for OneCore {
    fn work(&self) -> Work {
        work(self.expected.len())
    }

    fn reset(&mut self) {}

    fn run(&mut self) {
        let mut total = 0u32;
        for (scanned, value) in self.scanned.iter_mut().zip(&self.values) {
            *scanned = total;
            total = total.wrapping_add(*value);
        }
        std::hint::black_box(self.scanned.as_slice());
    }

    fn verify(&self) -> Option<Difference> {
        first_difference("scanned", &self.scanned, &self.expected)
    }
}
