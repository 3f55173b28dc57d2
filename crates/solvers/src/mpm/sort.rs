//! The order of particles by key, in whichever of two ways is faster; both are stable, and give the same bits.

use crate::{SolverError, Tuning};
use frazil_kernels::{BlockLayout, CellSort, CellSortMethod, RadixSort, UniformGrid};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Counting needs a word for every key there might be. It is used where those are at most so many for each particle, so that memory
/// follows the particles.
const KEYS_PER_PARTICLE: u64 = 4;

/// Counting takes time with the square of the particles of a cell. It is used where blocks begin with no more than this for each of
/// their cells.
const PARTICLES_PER_CELL: u64 = 64;

/// Sorts particles by key.
pub enum KeySort {
    /// By the digits of keys, whose cost does not depend on how many keys there might be.
    Radix(RadixSort),
    /// By counting how many have each key: keys are the cells of a line.
    Counting(Box<(CellSort, UniformGrid)>),
}

impl KeySort {
    /// Makes a sort of up to `n` particles on a lattice, of which they occupy `n_occupied` blocks.
    ///
    /// # Errors
    /// No memory; the device's limits do not allow the group size.
    pub fn new(
        device: &Device,
        layout: &BlockLayout,
        n: u32,
        n_occupied: u32,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let keys = layout.n_blocks() * u64::from(layout.block_nodes());
        let cells = u64::from(n_occupied) * u64::from(layout.block_nodes());
        // Beyond 2²⁴ the line's length is no exact f32.
        let is_dense = keys <= (KEYS_PER_PARTICLE * u64::from(n)).min(1 << 24)
            && u64::from(n) <= PARTICLES_PER_CELL * cells;
        let method = match tuning.cell_sort {
            _ if !is_dense => CellSortMethod::Radix,
            Some(method) => method,
            None => CellSortMethod::fastest(device)?,
        };
        if method == CellSortMethod::Radix {
            return Ok(Self::Radix(RadixSort::with_workgroup_size(device, n, workgroup_size)?));
        }
        let line = UniformGrid::new(device, [0.0; 3], [keys as f32, 1.0, 1.0], 1.0)?;
        let sort = CellSort::with_options(device, n, &line, method, workgroup_size)?;
        Ok(Self::Counting(Box::new((sort, line))))
    }

    /// Records the sort of `key`, in place; writes to `order` where each came from.
    ///
    /// # Errors
    /// More particles than it was made for.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        layout: &BlockLayout,
        key: &Buffer<u32>,
        order: &Buffer<u32>,
    ) -> Result<(), SolverError> {
        match self {
            Self::Radix(sort) => sort.record_order(recorder, count, key, order, layout.key_bits())?,
            Self::Counting(counting) => counting.0.record(recorder, count, &counting.1, key, order)?,
        }
        Ok(())
    }
}
