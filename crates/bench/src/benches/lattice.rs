//! Points for the benches of the grid: uniform in a cube of unit cells, eight per cell, sorted by cell.

use crate::error::Result;
use frazil_kernels::{CellOrder, Counts, GridOptions, UniformGrid};
use frazil_reference::primitives::{Grid, cell_keys, gather, radix_sort_pairs};
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, Device, DeviceCount};

/// Particles per cell, as in a fluid whose support radius is twice its particle spacing.
const PER_CELL: f64 = 8.0;

pub struct Points {
    pub side_m: f32,
    pub twin: Grid,
    /// Positions in m, in the order of the keys.
    pub positions_m: Vec<[f32; 3]>,
    pub sorted_keys: Vec<u32>,
}

/// Points on the device, with the ranges of their cells.
pub struct Cells {
    pub grid: UniformGrid,
    pub count: DeviceCount,
    pub sorted_keys: Buffer<u32>,
}

impl Points {
    pub fn new(n: usize) -> Self {
        let side_m = (n as f64 / PER_CELL).cbrt().ceil().max(1.0) as f32;
        let points: Vec<[f32; 3]> =
            (0..n).map(|i| std::array::from_fn(|axis| side_m * unit_noise(3 * i + axis))).collect();
        let twin = Grid::covering([0.0; 3], [side_m; 3], 1.0);
        let (mut sorted_keys, mut order) = (cell_keys(&twin, &points), (0..n as u32).collect::<Vec<_>>());
        radix_sort_pairs(&mut sorted_keys, &mut order, 0..32);
        Self { side_m, twin, positions_m: gather(&points, &order), sorted_keys }
    }

    pub fn grid(&self, device: &Device) -> Result<UniformGrid> {
        self.grid_in(device, CellOrder::Linear)
    }

    pub fn grid_in(&self, device: &Device, order: CellOrder) -> Result<UniformGrid> {
        let options = GridOptions { order, ..Default::default() };
        Ok(UniformGrid::with_options(device, [0.0; 3], [self.side_m; 3], 1.0, options)?)
    }

    /// Uploads the keys and finds the ranges of the cells. For set-up: it waits for the device.
    pub fn cells(&self, device: &Device) -> Result<Cells> {
        let (grid, n) = (self.grid(device)?, self.sorted_keys.len() as u32);
        let count = Counts::new(device)?.upload(device, "count", n, n)?;
        let sorted_keys = device.buffer_from("sorted keys", &self.sorted_keys)?;
        let mut recorder = device.recorder()?;
        grid.record_cell_ranges(&mut recorder, &count, &sorted_keys);
        device.submit(recorder)?.wait()?;
        Ok(Cells { grid, count, sorted_keys })
    }
}
