//! The permutation of a phase's columns.

use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_particles::{ParticleTable, PhaseArray};
use frazil_reference::primitives::{gather, radix_sort_pairs};
use frazil_solvers::WORKGROUP_SIZE;
use frazil_testkit::{Distribution, unit_noise};
use frazil_vk::{Buffer, Device, Recorder};

pub struct Gather;

struct Workload {
    phase: PhaseArray,
    table: ParticleTable,
    order: Buffer<u32>,
    unmoved: [Buffer<u32>; 3],
    /// Expected positions, velocities and ids; the ids are the order itself.
    expected: (Vec<[f32; 3]>, Vec<[f32; 3]>, Vec<u32>),
}

impl Bench for Gather {
    fn id(&self) -> &'static str {
        "primitives.gather_columns"
    }

    fn about(&self) -> &'static str {
        "permutation of position, velocity and id to the order that keys of the distribution sort to"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count(), Axis::distribution(&[Distribution::Uniform, Distribution::Sorted])]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let mut keys = point.distribution()?.keys(point.count()?);
        let n = keys.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        radix_sort_pairs(&mut keys, &mut order, 0..32);
        let vectors = |salt: usize| -> Vec<[f32; 3]> {
            (0..n).map(|i| std::array::from_fn(|axis| unit_noise(6 * i + 3 * salt + axis))).collect()
        };
        let (positions, velocities) = (vectors(0), vectors(1));
        let ids: Vec<u32> = (0..n as u32).collect();
        let group = WORKGROUP_SIZE.default;
        let (table, phase) = PhaseArray::with_table(device, &positions, &velocities, n as u32, group)?;
        Ok(Prepared::Device(Box::new(Workload {
            phase,
            table,
            order: device.buffer_from("order", &order)?,
            unmoved: [
                device.buffer_from("positions", &positions)?.cast(),
                device.buffer_from("velocities", &velocities)?.cast(),
                device.buffer_from("ids", &ids)?,
            ],
            expected: (gather(&positions, &order), gather(&velocities, &order), order),
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected.2.len() as u64;
        // The order once, and seven words of columns read and written.
        Work { elements, bytes_minimum: (4 + 2 * 28) * elements }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.phase.position.back(), 0xdead_beef);
        recorder.fill(self.phase.velocity.back(), 0xdead_beef);
        recorder.fill(self.phase.id.back(), 0xdead_beef);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        let n = self.expected.2.len();
        recorder.copy(&self.unmoved[0], &self.phase.position.front().cast(), 3 * n);
        recorder.copy(&self.unmoved[1], &self.phase.velocity.front().cast(), 3 * n);
        recorder.copy(&self.unmoved[2], self.phase.id.front(), n);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.table.permute(recorder, &self.order);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let (positions, velocities, ids) = &self.expected;
        let n = ids.len();
        let found = device.download(self.phase.position.front(), n)?;
        if let Some(wrong) = first_difference("position", &found, positions) {
            return Ok(Some(wrong));
        }
        let found = device.download(self.phase.velocity.front(), n)?;
        if let Some(wrong) = first_difference("velocity", &found, velocities) {
            return Ok(Some(wrong));
        }
        Ok(first_difference("id", &device.download(self.phase.id.front(), n)?, ids))
    }
}
