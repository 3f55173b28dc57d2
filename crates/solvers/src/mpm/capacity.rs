//! Capacity in blocks of nodes: the blocks that snow was seen to require, and a margin for those not seen
//! yet.

use frazil_kernels::{BLOCK_SIDE, BlockCapacity, BlockLayout, SparseBlocks};
use frazil_vk::{Pending, ReadbackRing, Recorder, Result};
use std::collections::HashSet;

/// Factor from the blocks found to the capacity.
const MARGIN: u32 = 2;
/// Additional blocks, so that a few particles may scatter.
const LEAST: u32 = 64;
/// Steps between read-backs of the number of blocks.
const STEPS_PER_LOOK: u32 = 4;

/// Reads the number of blocks back, a few steps late, and decides when to reallocate.
#[derive(Debug, Default)]
pub struct CapacityControl {
    seen: Option<Pending<u32>>,
    steps: u32,
}

impl CapacityControl {
    /// Returns the capacity for the number of blocks found.
    fn required(found: [u32; 2]) -> BlockCapacity {
        let [occupied, active] = found.map(|n| n.saturating_mul(MARGIN).saturating_add(LEAST));
        BlockCapacity { occupied, active }
    }

    /// Returns the capacity after a step that exceeded `capacity` and found so many blocks: never less than
    /// before. If there was no room for all occupied blocks, those that they reach were not all found, and a
    /// further step may exceed it again.
    pub fn beyond(capacity: BlockCapacity, found: [u32; 2]) -> BlockCapacity {
        let BlockCapacity { occupied, active } = Self::required(found);
        BlockCapacity { occupied: occupied.max(capacity.occupied), active: active.max(capacity.active) }
    }

    /// Returns the capacity for particles at these positions.
    pub fn for_particles(layout: &BlockLayout, positions_m: &[[f32; 3]]) -> BlockCapacity {
        let lattice = layout.lattice();
        let place = |x: &[f32; 3]| -> [u32; 3] {
            std::array::from_fn(|axis| {
                let cells = (x[axis] - lattice.origin_m[axis]) * lattice.cells_per_m - lattice.shift_cells;
                if axis < layout.dimensions() as usize { cells.floor() as u32 / BLOCK_SIDE } else { 0 }
            })
        };
        let occupied: HashSet<[u32; 3]> = positions_m.iter().map(place).collect();
        let reach = 0..layout.reach();
        let active: HashSet<[u32; 3]> = occupied
            .iter()
            .flat_map(|block| {
                reach.clone().map(|s| std::array::from_fn(|axis| block[axis] + ((s >> axis) & 1)))
            })
            .collect();
        Self::required([occupied.len() as u32, active.len() as u32])
    }

    /// Returns the new capacity to allocate before the next step, if the last read-back asks for one; updates
    /// byte estimates.
    pub fn next_capacity(&mut self, blocks: &SparseBlocks) -> Result<Option<BlockCapacity>> {
        let is_here = match &self.seen {
            Some(seen) => seen.is_ready()?,
            None => false,
        };
        let Some(seen) = self.seen.take_if(|_| is_here) else { return Ok(None) };
        let (seen, capacity) = (seen.wait()?, blocks.capacity());
        blocks.occupied_count().expect(seen[0].min(capacity.occupied));
        blocks.active_count().expect(seen[1].min(capacity.active));
        let required = Self::required([seen[0], seen[1]]);
        let is_tight = |found: u32, capacity: u32| u64::from(found) * 4 > u64::from(capacity) * 3;
        let is_wide = |required: u32, capacity: u32| u64::from(required) * 4 < u64::from(capacity);
        let tight = is_tight(seen[0], capacity.occupied) || is_tight(seen[1], capacity.active);
        let wide = is_wide(required.occupied, capacity.occupied) && is_wide(required.active, capacity.active);
        Ok((tight || wide).then_some(required))
    }

    /// Records a read-back every `STEPS_PER_LOOK` steps.
    pub fn record(
        &mut self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        blocks: &SparseBlocks,
    ) -> Result<()> {
        self.steps += 1;
        if self.seen.is_none() && self.steps >= STEPS_PER_LOOK {
            self.seen = Some(ring.read(recorder, blocks.required(), 2)?);
            self.steps = 0;
        }
        Ok(())
    }
}
