//! Order of particles by key and the blocks of nodes that they reach, by the fastest of three algorithms; all
//! are stable and give the same bits.

use crate::{SolverError, Tuning};
use frazil_kernels::{
    BlockCapacity, BlockLayout, CellSort, CellSortMethod, MAX_TABLE_BLOCKS, RadixSort, SparseBlocks,
    UniformGrid,
};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Maximum ratio of keys to particles for which counting is used: it needs a word per possible key, and the
/// limit keeps its memory proportional to the particles.
const KEYS_PER_PARTICLE: u64 = 8;

/// Maximum initial number of particles per cell for which counting is used: its time grows with the square of
/// them.
const PARTICLES_PER_CELL: u64 = 64;

/// Sorts particles by key, and finds the blocks that they occupy and reach.
pub enum KeySort {
    /// Radix sort, whose cost does not depend on the number of possible keys.
    Radix(RadixSort),
    /// Counting sort: keys are the cells of a line.
    Counting(Box<(CellSort, UniformGrid)>),
    /// Counting sort in a table of all cells, where the search for blocks reads it, too.
    Table,
}

impl KeySort {
    /// Makes a sort and a search for up to `n` particles on a lattice, with the given capacity of the lists
    /// of blocks.
    ///
    /// # Errors
    /// Out of memory; a group size that exceeds the device's limits.
    pub fn new(
        device: &Device,
        layout: BlockLayout,
        n: u32,
        capacity: BlockCapacity,
        tuning: Tuning,
    ) -> Result<(Self, SparseBlocks), SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let keys = layout.n_blocks() * u64::from(layout.block_nodes());
        let cells = u64::from(capacity.occupied) * u64::from(layout.block_nodes());
        // A line longer than 2²⁴ has no exact f32 length.
        let is_dense = keys <= (KEYS_PER_PARTICLE * u64::from(n)).min(1 << 24)
            && u64::from(n) <= PARTICLES_PER_CELL * cells;
        let method = match tuning.cell_sort {
            _ if !is_dense => CellSortMethod::Radix,
            Some(method) => method,
            None => CellSortMethod::fastest(device)?,
        };
        let is_counted = method == CellSortMethod::Counting;
        if is_counted && layout.n_blocks() <= u64::from(MAX_TABLE_BLOCKS) {
            let blocks = SparseBlocks::with_table(device, layout, n, capacity, workgroup_size)?;
            return Ok((Self::Table, blocks));
        }
        let sort = if is_counted {
            let line = UniformGrid::new(device, [0.0; 3], [keys as f32, 1.0, 1.0], 1.0)?;
            let sort = CellSort::with_options(device, n, &line, method, workgroup_size)?;
            Self::Counting(Box::new((sort, line)))
        } else {
            Self::Radix(RadixSort::with_workgroup_size(device, n, workgroup_size)?)
        };
        Ok((sort, SparseBlocks::new(device, layout, n, capacity, workgroup_size)?))
    }

    /// Records the sort of `key`, in place, and the search for blocks; writes the previous index of each
    /// particle to `order`: its own if there are more blocks than the capacity, so that the step is
    /// discarded.
    ///
    /// # Errors
    /// More particles than the capacity.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        blocks: &SparseBlocks,
        key: &Buffer<u32>,
        order: &Buffer<u32>,
    ) -> Result<(), SolverError> {
        match self {
            Self::Table => return Ok(blocks.record_sort_and_find(recorder, count, key, order)?),
            Self::Radix(sort) => {
                sort.record_order(recorder, count, key, order, blocks.layout().key_bits())?;
            }
            Self::Counting(counting) => counting.0.record(recorder, count, &counting.1, key, order)?,
        }
        blocks.record_find(recorder, count, key)?;
        blocks.record_keep_order(recorder, count, order);
        Ok(())
    }
}
