//! The uniform grid: particles sorted by cell, and where each cell begins.

use crate::KernelError;
use frazil_shaders::grid::{cell_keys, cell_ranges, count_neighbours};
use frazil_shaders::types::Grid;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// A grid of cubic cells over a box. Its layout is documented in `glsl/grid/grid.glsl`.
pub struct UniformGrid {
    grid: Grid,
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
        let workgroup_size = cell_ranges::Specialization::default().workgroup_size;
        Self::with_workgroup_size(device, min_m, max_m, cell_size_m, workgroup_size)
    }

    /// Makes a grid whose kernels have another workgroup size, a power of two.
    ///
    /// # Errors
    /// As [`Self::new`]; the device's limits do not allow the size.
    pub fn with_workgroup_size(
        device: &Device,
        min_m: [f32; 3],
        max_m: [f32; 3],
        cell_size_m: f32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
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
            // The cast saturates, and the check below refuses what it saturates to.
            dims[axis] = (extent / f64::from(cell_size_m)).ceil().max(1.0) as u32;
        }
        let cells: u64 =
            dims.iter().map(|d| u64::from(*d)).try_fold(1u64, u64::checked_mul).unwrap_or(u64::MAX);
        let limit = (device.capabilities().max_storage_range / 4).min(u64::from(u32::MAX)) - 1;
        if cells > limit {
            return Err(problem(format!(
                "{} × {} × {} cells of {cell_size_m} m, this device can bind {limit}; use larger cells or a smaller domain",
                dims[0], dims[1], dims[2]
            )));
        }
        Ok(Self {
            grid: Grid { origin_m: min_m, cell_size_m, dims },
            cell_start: device.buffer("cell start", cells as usize + 1)?,
            cell_keys: Kernel::specialized(device, &cell_keys::Specialization { workgroup_size })?,
            cell_ranges: Kernel::specialized(device, &cell_ranges::Specialization { workgroup_size })?,
            count_neighbours: Kernel::specialized(
                device,
                &count_neighbours::Specialization { workgroup_size },
            )?,
        })
    }

    /// Origin, cell size and dimensions, as kernels take them.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Number of cells.
    pub fn cells(&self) -> u32 {
        self.grid.dims.iter().product()
    }

    /// Bits that tell all cell numbers apart: what to sort by.
    pub fn key_bits(&self) -> std::ops::Range<u32> {
        0..u32::BITS - (self.cells() - 1).leading_zeros()
    }

    /// Where each cell begins, with one entry past the last cell; valid since the last [`Self::record_cell_ranges`].
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
        let bindings = cell_keys::Bindings { count: &count.count, position, key };
        recorder.dispatch(
            &self.cell_keys,
            Threads::Counted(count),
            bindings,
            cell_keys::Params { grid: self.grid },
        );
    }

    /// Records the search for where each cell begins among `sorted_keys`.
    pub fn record_cell_ranges(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        sorted_keys: &Buffer<u32>,
    ) {
        let bindings =
            cell_ranges::Bindings { count: &count.count, sorted_keys, cell_start: &self.cell_start };
        let params = cell_ranges::Params { cells: self.cells() };
        recorder.dispatch(&self.cell_ranges, Threads::Fixed(self.cells() as usize + 1), bindings, params);
    }

    /// Records, for each particle, how many candidates its 27 cells offer and how many others lie within `radius_m`.
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
            count: &count.count,
            key: sorted_keys,
            cell_start: &self.cell_start,
            position,
            found,
        };
        let params = count_neighbours::Params { grid: self.grid, radius_m };
        recorder.dispatch(&self.count_neighbours, Threads::Counted(count), bindings, params);
    }
}
