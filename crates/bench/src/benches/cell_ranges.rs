//! Search for the start of each cell of the grid.

use super::lattice::Points;
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{Counts, UniformGrid};
use frazil_reference::primitives::cell_starts;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct CellRanges;

struct Workload {
    n: usize,
    count: DeviceCount,
    grid: UniformGrid,
    sorted_keys: Buffer<u32>,
    expected: Vec<u32>,
}

impl Bench for CellRanges {
    fn id(&self) -> &'static str {
        "grid.cell_ranges"
    }

    fn about(&self) -> &'static str {
        "first particle of each cell among sorted keys, eight particles a cell"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let points = Points::new(n);
        Ok(Prepared::Device(Box::new(Workload {
            n,
            count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
            grid: points.grid(device)?,
            sorted_keys: device.buffer_from("sorted keys", &points.sorted_keys)?,
            expected: cell_starts(&points.sorted_keys, points.twin.n_cells()),
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        // Only writes: how many keys must be read depends on the number of cells.
        Work { elements: self.n as u64, bytes_minimum: 4 * self.expected.len() as u64 }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.grid.cell_start(), 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.grid.record_cell_ranges(recorder, &self.count, &self.sorted_keys);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(self.grid.cell_start(), self.expected.len())?;
        Ok(first_difference("cell_start", &found, &self.expected))
    }
}
