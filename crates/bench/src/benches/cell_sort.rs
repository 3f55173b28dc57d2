//! Sorting particles by cell: radix against counting.

use super::lattice::Points;
use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{CellSortMethod, Counts, UniformGrid};
use frazil_reference::primitives::{cell_starts, radix_sort_pairs};
use frazil_testkit::noise;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct CellSort;

const VARIANTS: &[&str] = &["radix", "counting"];

struct Workload {
    count: DeviceCount,
    grid: UniformGrid,
    sort: frazil_kernels::CellSort,
    unsorted: Buffer<u32>,
    key: Buffer<u32>,
    order: Buffer<u32>,
    expected_key: Vec<u32>,
    expected_order: Vec<u32>,
    expected_start: Vec<u32>,
}

impl Bench for CellSort {
    fn id(&self) -> &'static str {
        "grid.cell_sort"
    }

    fn about(&self) -> &'static str {
        "order of particles by cell and first particle of each, eight particles a cell, one in eight \
         displaced by a row"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count(), Axis::variant(VARIANTS), Axis::workgroup_size()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let method: CellSortMethod =
            point.name("variant")?.parse().map_err(|()| point.unknown("variant", VARIANTS))?;
        let points = Points::new(n);
        let cells = points.twin.n_cells();
        // Typical input of a step: nearly sorted, with particles that have changed cells.
        let shift = points.twin.dims[0];
        let moved =
            |(i, key): (usize, &u32)| if noise(i).is_multiple_of(8) { (key + shift) % cells } else { *key };
        let mut keys: Vec<u32> = points.sorted_keys.iter().enumerate().map(moved).collect();
        let unsorted = device.buffer_from("cells", &keys)?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        radix_sort_pairs(&mut keys, &mut order, 0..32);
        let grid = points.grid(device)?;
        let sort =
            frazil_kernels::CellSort::with_options(device, n as u32, &grid, method, point.workgroup_size()?)?;
        Ok(Prepared::Device(Box::new(Workload {
            count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
            sort,
            grid,
            unsorted,
            key: device.buffer("key", n)?,
            order: device.buffer("order", n)?,
            expected_start: cell_starts(&keys, cells),
            expected_key: keys,
            expected_order: order,
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected_key.len() as u64;
        // Cells read, cells and order written; the first of each cell written.
        Work { elements, bytes_minimum: 12 * elements + 4 * self.expected_start.len() as u64 }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(&self.order, 0xdead_beef);
        recorder.fill(self.grid.cell_start(), 0xdead_beef);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        recorder.copy(&self.unsorted, &self.key, self.expected_key.len());
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        Ok(self.sort.record(recorder, &self.count, &self.grid, &self.key, &self.order)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.expected_key.len();
        let start = device.download(self.grid.cell_start(), self.expected_start.len())?;
        Ok(first_difference("key", &device.download(&self.key, n)?, &self.expected_key)
            .or(first_difference("order", &device.download(&self.order, n)?, &self.expected_order))
            .or(first_difference("cell_start", &start, &self.expected_start)))
    }
}
