//! Uniform grid: particles sorted by cell, and the start of each cell.

use crate::KernelError;
use frazil_shaders::grid::{cell_keys, cell_ranges, count_neighbours};
use frazil_shaders::types::Grid;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Numbering of cells, and so the memory order of particles sorted by cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CellOrder {
    /// x fastest, then y, then z: the 27 cells around a particle are 9 contiguous runs.
    #[default]
    Linear,
    /// Morton order: cells that are near in space are near in memory, but the 27 cells are 27 runs, and sides
    /// that are not powers of two leave gaps of empty cells.
    ZOrder,
}

/// Options of a grid.
#[derive(Clone, Copy, Debug)]
pub struct GridOptions {
    /// Numbering of cells.
    pub order: CellOrder,
    /// Threads per workgroup, a power of two.
    pub workgroup_size: u32,
}

impl Default for GridOptions {
    fn default() -> Self {
        let workgroup_size = cell_ranges::Specialization::default().workgroup_size;
        Self { order: CellOrder::Linear, workgroup_size }
    }
}

/// Uniform grid of cubic cells over a box. Its layout is documented in `glsl/grid/grid.glsl`.
pub struct UniformGrid {
    grid: Grid,
    cells: u32,
    cell_start: Buffer<u32>,
    cell_keys: Kernel<cell_keys::Interface>,
    cell_ranges: Kernel<cell_ranges::Interface>,
    count_neighbours: Kernel<count_neighbours::Interface>,
}

impl UniformGrid {
    /// Makes a grid that covers the box from `min_m` to `max_m` with cells of side `cell_size_m`.
    ///
    /// # Errors
    /// The box or the cell size is not finite and positive; more cells than the device can bind.
    pub fn new(
        device: &Device,
        min_m: [f32; 3],
        max_m: [f32; 3],
        cell_size_m: f32,
    ) -> Result<Self, KernelError> {
        Self::with_options(device, min_m, max_m, cell_size_m, GridOptions::default())
    }

    /// Makes a grid with options.
    ///
    /// # Errors
    /// Like [`Self::new`]; the device's limits do not allow the group size.
    pub fn with_options(
        device: &Device,
        min_m: [f32; 3],
        max_m: [f32; 3],
        cell_size_m: f32,
        options: GridOptions,
    ) -> Result<Self, KernelError> {
        let workgroup_size = options.workgroup_size;
        let problem = |problem: String| KernelError::Grid { problem };
        if !(cell_size_m.is_finite() && cell_size_m > 0.0) {
            return Err(problem(format!("cell size {cell_size_m} m, expected a positive number")));
        }
        let mut dims = [0u32; 3];
        for axis in 0..3 {
            let extent = f64::from(max_m[axis]) - f64::from(min_m[axis]);
            if !(extent.is_finite() && extent > 0.0) {
                return Err(problem(format!(
                    "from {min_m:?} m to {max_m:?} m, expected a box with a volume"
                )));
            }
            // The cast saturates, and the check below rejects saturated values.
            dims[axis] = (extent / f64::from(cell_size_m)).ceil().max(1.0) as u32;
        }
        let side = |d: u32| match options.order {
            CellOrder::Linear => u64::from(d),
            CellOrder::ZOrder => u64::from(d).next_power_of_two(),
        };
        let cells = dims.iter().try_fold(1u64, |cells, d| cells.checked_mul(side(*d))).unwrap_or(u64::MAX);
        let limit = (device.capabilities().max_storage_range / 4).min(u64::from(u32::MAX)) - 1;
        if cells > limit {
            return Err(problem(format!(
                "{} × {} × {} cells of {cell_size_m} m are {cells} numbers, this device can bind {limit}; \
                 use larger cells or a smaller domain",
                dims[0], dims[1], dims[2]
            )));
        }
        let (axis_bits, last_cell) = match options.order {
            CellOrder::Linear => ([0; 3], 0),
            CellOrder::ZOrder => interleave(dims),
        };
        Ok(Self {
            grid: Grid { origin_m: min_m, cell_size_m, dims, axis_bits, last_cell },
            cells: cells as u32,
            cell_start: device.buffer("cell start", cells as usize + 1)?,
            cell_keys: Kernel::specialized(device, &cell_keys::Specialization { workgroup_size })?,
            cell_ranges: Kernel::specialized(device, &cell_ranges::Specialization { workgroup_size })?,
            count_neighbours: Kernel::specialized(
                device,
                &count_neighbours::Specialization { workgroup_size },
            )?,
        })
    }

    /// Returns origin, cell size and dimensions, as kernels take them.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Returns the number of cell numbers; in Z-order including those of the gaps.
    pub fn cells(&self) -> u32 {
        self.cells
    }

    /// Returns the numbering of cells.
    pub fn order(&self) -> CellOrder {
        // A grid of a single cell has the same numbering in either order.
        if self.grid.axis_bits == [0; 3] { CellOrder::Linear } else { CellOrder::ZOrder }
    }

    /// Returns the bits of cell numbers that a sort must consider.
    pub fn key_bits(&self) -> std::ops::Range<u32> {
        // A key behind all cells is that of no cell.
        0..u32::BITS - self.cells.leading_zeros()
    }

    /// Returns the start of each cell, with one entry past the last cell; valid since the last
    /// [`Self::record_cell_ranges`].
    pub fn cell_start(&self) -> &Buffer<u32> {
        &self.cell_start
    }

    /// Records `key[i]` = cell of `position[i]`.
    pub fn record_keys(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
        key: &Buffer<u32>,
    ) {
        let bindings = cell_keys::Bindings { count, position, key };
        recorder.dispatch_counted(&self.cell_keys, bindings, cell_keys::Params { grid: self.grid });
    }

    /// Records the search for the start of each cell among `sorted_keys`.
    pub fn record_cell_ranges(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        sorted_keys: &Buffer<u32>,
    ) {
        let threads = Threads::Fixed(self.cells() as usize + 1);
        self.record_cell_ranges_on(recorder, count, threads, sorted_keys);
    }

    /// Records that search with a thread for each cell and one more, or with none.
    pub(crate) fn record_cell_ranges_on(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        threads: Threads<'_>,
        sorted_keys: &Buffer<u32>,
    ) {
        let bindings = cell_ranges::Bindings { count, sorted_keys, cell_start: &self.cell_start };
        let params = cell_ranges::Params { cells: self.cells() };
        recorder.dispatch(&self.cell_ranges, threads, bindings, params);
    }

    /// Records the count, for each particle, of the candidates in its 27 cells and of the other particles
    /// within `radius_m`.
    pub fn record_neighbour_counts(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        sorted_keys: &Buffer<u32>,
        position: &Buffer<[f32; 3]>,
        radius_m: f32,
        found: &Buffer<[u32; 2]>,
    ) {
        let bindings = count_neighbours::Bindings {
            count,
            key: sorted_keys,
            cell_start: &self.cell_start,
            position,
            found,
        };
        let params = count_neighbours::Params { grid: self.grid, radius_m };
        recorder.dispatch_counted(&self.count_neighbours, bindings, params);
    }
}

/// Returns the bits of a Z-order cell number that belong to each axis, and the last cell's number.
fn interleave(dims: [u32; 3]) -> ([u32; 3], u32) {
    let (mut axis_bits, mut last_cell, mut next) = ([0u32; 3], 0, 0);
    for level in 0..u32::BITS {
        for axis in 0..3 {
            if (dims[axis] - 1) >> level != 0 {
                axis_bits[axis] |= 1 << next;
                last_cell |= ((dims[axis] - 1) >> level & 1) << next;
                next += 1;
            }
        }
    }
    (axis_bits, last_cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_interleaved_while_an_axis_has_any() {
        // x takes 3 bits (0 to 4), y none, z one.
        let (axis_bits, last_cell) = interleave([5, 1, 2]);
        assert_eq!(axis_bits, [0b1101, 0, 0b0010]);
        assert_eq!(last_cell, 0b1010, "x = 4, z = 1");
        assert_eq!(interleave([1, 1, 1]), ([0; 3], 0));
    }
}
