//! Chains of multiply-adds: the arithmetic peak, beside which kernels are shown.

use crate::axis::{Axis, Domain, MAX_COUNT, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{Counts, MultiplyAdd};
use frazil_reference::primitives::multiply_add;
use frazil_shaders::primitives::multiply_add::{CHAINS, Specialization};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct Flops;

/// Starts that occur: few, since the twin takes all operations of each.
const STARTS: usize = 61;

struct Workload {
    chains: MultiplyAdd,
    count: DeviceCount,
    start: Buffer<f32>,
    total: Buffer<f32>,
    expected: Vec<f32>,
}

impl Bench for Flops {
    fn id(&self) -> &'static str {
        "device.flops"
    }

    fn about(&self) -> &'static str {
        "multiply-adds in f32; an element is 98 304 flop, so that 98 304 / (ns/element) is GFLOP/s"
    }

    fn axes(&self) -> Vec<Axis> {
        // Each element is as much work as thousands of another bench.
        let counts = Domain::Integers(0, MAX_COUNT);
        vec![Axis::integers("count", counts, &[1_000, 262_147], &[1_000, 16_411]), Axis::workgroup_size()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let rounds = Specialization::default().rounds;
        let chains = MultiplyAdd::new(device, point.workgroup_size()?, rounds)?;
        let start: Vec<f32> = (0..n).map(|i| (i % STARTS) as f32).collect();
        let few = multiply_add(&start[..n.min(STARTS)], CHAINS, chains.operations(), [1.0; 2]);
        Ok(Prepared::Device(Box::new(Workload {
            chains,
            count: Counts::new(device)?.upload(device, "elements", n as u32, n as u32)?,
            start: device.buffer_from("start", &start)?,
            total: device.buffer("total", n)?,
            expected: (0..n).map(|i| few[i % STARTS]).collect(),
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let n = self.expected.len() as u64;
        Work { elements: n, bytes_minimum: 8 * n }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.total, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.chains.record(recorder, &self.count, &self.start, &self.total, [1.0; 2])?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(&self.total, self.expected.len())?;
        Ok(first_difference("total", &found, &self.expected))
    }
}
