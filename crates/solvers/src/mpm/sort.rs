//! Order of particles by key, by the faster of two algorithms; both are stable and give the same bits.

use crate::{SolverError, Tuning};
use frazil_kernels::{BlockLayout, CellSort, CellSortMethod, RadixSort, UniformGrid};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Maximum ratio of keys to particles for which counting is used: it needs a word per possible key, and the
/// limit keeps its memory proportional to the particles.
const KEYS_PER_PARTICLE: u64 = 8;

/// Maximum initial number of particles per cell for which counting is used: its time grows with the square of
/// them.
const PARTICLES_PER_CELL: u64 = 64;

/// Sorts particles by key.
pub enum KeySort {
    /// Radix sort, whose cost does not depend on the number of possible keys.
    Radix(RadixSort),
    /// Counting sort: keys are the cells of a line.
    Counting(Box<(CellSort, UniformGrid)>),
}

impl KeySort {
    /// Makes a sort for up to `n` particles on a lattice of which they occupy `n_occupied` blocks.
    ///
    /// # Errors
    /// Out of memory; a group size that exceeds the device's limits.
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
        // A line longer than 2²⁴ has no exact f32 length.
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

    /// Records the sort of `key`, in place; writes the previous index of each particle to `order`.
    ///
    /// # Errors
    /// More particles than the capacity.
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
