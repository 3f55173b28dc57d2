//! Lists of the occupied and the active blocks, and what links them.

use super::layout::BlockLayout;
use crate::KernelError;
use frazil_vk::{Buffer, Device, DeviceCount};

/// Capacity of the lists of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCapacity {
    /// Blocks that hold a particle's base.
    pub occupied: u32,
    /// Blocks that some particle may reach.
    pub active: u32,
}

/// Buffers with one entry per block of a list.
pub struct Lists {
    pub occupied_count: DeviceCount,
    pub occupied: Buffer<u32>,
    pub start: Buffer<u32>,
    pub first_cell: Buffer<u32>,
    /// Of the occupied blocks alone; one unused element with a table, which has all cells.
    pub cell_start: Buffer<u32>,
    pub is_own: Buffer<u32>,
    pub rank: Buffer<u32>,
    pub target: Buffer<u32>,
    pub active_count: DeviceCount,
    pub active: Buffer<u32>,
    pub source: Buffer<u32>,
}

impl Lists {
    /// Returns the capacity of the lists of occupied and of active blocks.
    pub fn capacity(&self) -> [u32; 2] {
        [self.occupied_count.capacity, self.active_count.capacity]
    }

    /// Makes lists, with the starts of cells where they are those of occupied blocks alone.
    pub fn new(
        device: &Device,
        layout: &BlockLayout,
        capacity: BlockCapacity,
        has_cells: bool,
    ) -> Result<Self, KernelError> {
        let cells = |n: usize| if has_cells { n } else { 1 };
        let [occupied, active] = [capacity.occupied, capacity.active].map(|n| n.max(1) as usize);
        let (reach, nodes) = (layout.reach() as usize, layout.block_nodes() as usize);
        Ok(Self {
            occupied_count: DeviceCount::new(device, "occupied block count", occupied as u32)?,
            occupied: device.buffer("occupied blocks", occupied)?,
            start: device.buffer("block start", cells(occupied + 1))?,
            first_cell: device.buffer("first cell of block", occupied)?,
            cell_start: device.buffer("cell start of block", cells(occupied * nodes + 1))?,
            is_own: device.buffer("own blocks", occupied * reach)?,
            rank: device.buffer("block rank", occupied * reach)?,
            target: device.buffer("block targets", (occupied + 1) * reach)?,
            active_count: DeviceCount::new(device, "active block count", active as u32)?,
            active: device.buffer("active blocks", active)?,
            source: device.buffer("block sources", active * reach)?,
        })
    }
}
