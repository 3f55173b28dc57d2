//! Reduction of segments of various lengths.

use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{Counts, Operation, SegmentedReductionU32};
use frazil_testkit::noise;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct SegmentedReduction;

const LENGTHS: &[&str] = &["one", "about_fifty", "all"];

struct Workload {
    n: usize,
    segments: DeviceCount,
    reduction: SegmentedReductionU32,
    start: Buffer<u32>,
    values: Buffer<u32>,
    reduced: Buffer<u32>,
    expected: Vec<u32>,
}

impl Bench for SegmentedReduction {
    fn id(&self) -> &'static str {
        "primitives.segmented_reduction"
    }

    fn about(&self) -> &'static str {
        "sums of segments of an array of u32, of one element, of up to a hundred, or of all"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count(), Axis::names("length", LENGTHS, LENGTHS, &["about_fifty"]), Axis::workgroup_size()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let length = point.name("length")?;
        let values: Vec<u32> = (0..n).map(noise).collect();
        let mut starts = vec![0u32];
        while (starts[starts.len() - 1] as usize) < n {
            let from = starts[starts.len() - 1] as usize;
            let len = match length {
                "one" => 1,
                "about_fifty" => 1 + noise(from) as usize % 100,
                _ => n,
            };
            starts.push((from + len).min(n) as u32);
        }
        let sum =
            |w: &[u32]| values[w[0] as usize..w[1] as usize].iter().fold(0u32, |a, b| a.wrapping_add(*b));
        let expected: Vec<u32> = starts.windows(2).map(sum).collect();
        let segments = expected.len() as u32;
        Ok(Prepared::Device(Box::new(Workload {
            n,
            segments: Counts::new(device)?.upload(device, "segments", segments, segments)?,
            reduction: SegmentedReductionU32::with_workgroup_size(
                device,
                Operation::Sum,
                n as u32,
                segments,
                point.workgroup_size()?,
            )?,
            start: device.buffer_from("segment start", &starts)?,
            values: device.buffer_from("values", &values)?,
            reduced: device.buffer("sums", segments as usize)?,
            expected,
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        // Values and starts read, sums written.
        Work { elements: self.n as u64, bytes_minimum: 4 * self.n as u64 + 8 * self.expected.len() as u64 }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.reduced, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.reduction.record(recorder, &self.segments, &self.start, &self.values, &self.reduced)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.reduced, self.expected.len())?;
        Ok(first_difference("sums", &found, &self.expected))
    }
}
