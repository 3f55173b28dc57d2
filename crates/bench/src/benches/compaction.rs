//! Stream compaction.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::distribution::noise;
use crate::error::Result;
use frazil_kernels::Counts;
use frazil_reference::primitives::stream_compaction;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct Compaction;

struct Workload {
    n: usize,
    count: DeviceCount,
    compaction: frazil_kernels::Compaction,
    flags: Buffer<u32>,
    kept: Buffer<u32>,
    kept_count: DeviceCount,
    expected: Vec<u32>,
}

impl Bench for Compaction {
    fn id(&self) -> &'static str {
        "primitives.compaction"
    }

    fn about(&self) -> &'static str {
        "indices of flagged elements, in order"
    }

    fn axes(&self) -> Vec<Axis> {
        let kept = Axis::integers("kept_percent", Domain::Integers(0, 100), &[1, 50, 100], &[50]);
        vec![Axis::count(), kept]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let (n, percent) = (point.count()?, point.integer("kept_percent")?);
        let flags: Vec<u32> = (0..n).map(|i| u32::from(u64::from(noise(i) % 100) < percent)).collect();
        let kept_count = DeviceCount::new(device, "kept count", n as u32)?;
        let expected = stream_compaction(&flags);
        kept_count.expect(expected.len() as u32);
        Ok(Prepared::Device(Box::new(Workload {
            n,
            count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
            compaction: frazil_kernels::Compaction::new(device, n as u32)?,
            flags: device.buffer_from("flags", &flags)?,
            kept: device.buffer("kept", n)?,
            kept_count,
            expected,
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.n as u64;
        Work { elements, bytes_minimum: 4 * (elements + self.expected.len() as u64) }
    }

    fn spoil(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.kept, 0xdead_beef);
        recorder.fill(&self.kept_count.count, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.compaction.record(recorder, &self.count, &self.flags, &self.kept, &self.kept_count)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let kept_count = device.download(&self.kept_count.count, 1)?;
        if let Some(wrong) = first_difference("kept count", &kept_count, &[self.expected.len() as u32]) {
            return Ok(Some(wrong));
        }
        let found = device.download(&self.kept, self.expected.len())?;
        Ok(first_difference("kept", &found, &self.expected))
    }
}
