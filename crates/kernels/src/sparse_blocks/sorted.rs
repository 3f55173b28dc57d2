//! Search for blocks among particles that are sorted by key: its cost grows with the particles, not with the
//! lattice.

use super::layout::BlockLayout;
use super::lists::Lists;
use crate::kernel_set::kernel_set;
use crate::settle::Settle;
use crate::{KernelError, Scan, ScanOptions};
use frazil_shaders::sparse::{find_cells, link_blocks, list_blocks, mark_blocks, propose_blocks};
use frazil_shaders::types::Length;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder, Threads};

kernel_set! {
    struct Kernels(workgroup_size, dimensions, reach, nodes) {
        mark_blocks { workgroup_size, dimensions },
        list_blocks { workgroup_size, dimensions },
        propose_blocks { workgroup_size, threads_per_item: reach, dimensions },
        link_blocks { workgroup_size, threads_per_item: reach, dimensions },
        find_cells { workgroup_size, threads_per_item: nodes, dimensions },
    }
}

/// Kernels of the search, and its arrays for particles.
pub struct SortedSearch {
    kernels: Kernels,
    scan_particles: Scan,
    scan_blocks: Scan,
    scan_options: ScanOptions,
    is_first: Buffer<u32>,
    settle: Settle,
}

impl SortedSearch {
    /// Makes a search among up to `n` particles, for up to `occupied` blocks.
    pub fn new(
        device: &Device,
        layout: &BlockLayout,
        n: u32,
        occupied: u32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let scan_options = ScanOptions::for_device(device, workgroup_size);
        let (reach, nodes) = (layout.reach(), layout.block_nodes());
        Ok(Self {
            kernels: Kernels::new(device, workgroup_size, layout.dimensions(), reach, nodes)?,
            scan_particles: Scan::with_options(device, n, scan_options)?,
            scan_blocks: Scan::with_options(device, occupied.max(1) * reach, scan_options)?,
            scan_options,
            is_first: device.buffer("first of block", n as usize)?,
            settle: Settle::new(device, "blocks", 2)?,
        })
    }

    /// Adapts to another capacity of the list of occupied blocks.
    pub fn resize(
        &mut self,
        device: &Device,
        layout: &BlockLayout,
        occupied: u32,
    ) -> Result<(), KernelError> {
        let slots = occupied.max(1) * layout.reach();
        self.scan_blocks = Scan::with_options(device, slots, self.scan_options)?;
        Ok(())
    }

    /// Returns the required lengths of both lists.
    pub fn required(&self) -> &Buffer<u32> {
        self.settle.required()
    }

    /// Records the search among particles with these ascending keys.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        layout: &BlockLayout,
        count: &DeviceCount,
        key: &Buffer<u32>,
        block_of: &Buffer<u32>,
        lists: &Lists,
    ) -> Result<(), KernelError> {
        let (kernels, lattice) = (&self.kernels, layout.lattice());
        let particles = Threads::Counted(count);
        let bindings = mark_blocks::Bindings { count, key, is_first: &self.is_first };
        recorder.dispatch(&kernels.mark_blocks, particles, bindings, ());
        self.settle.record_scan(recorder, &self.scan_particles, count, [&self.is_first, block_of])?;
        let bindings = list_blocks::Bindings {
            count,
            key,
            is_first: &self.is_first,
            block_of,
            occupied: &lists.occupied,
            start: &lists.start,
            first_cell: &lists.first_cell,
        };
        let params = list_blocks::Params { capacity: lists.occupied_count.capacity };
        recorder.dispatch(&kernels.list_blocks, particles, bindings, params);
        self.settle.record(recorder, &lists.occupied_count, 0);

        let blocks = Threads::Counted(&lists.occupied_count);
        let bindings = propose_blocks::Bindings {
            occupied_count: &lists.occupied_count.count,
            occupied: &lists.occupied,
            is_own: &lists.is_own,
        };
        recorder.dispatch(&kernels.propose_blocks, blocks, bindings, propose_blocks::Params { lattice });
        let slots = Length { divisor: 1, multiplier: layout.reach(), shrink: 1 };
        self.scan_blocks.record_derived(
            recorder,
            &lists.occupied_count,
            slots,
            [&lists.is_own, &lists.rank],
            Some(self.settle.total()),
        );
        let bindings = link_blocks::Bindings {
            occupied_count: &lists.occupied_count.count,
            occupied: &lists.occupied,
            is_own: &lists.is_own,
            rank: &lists.rank,
            target: &lists.target,
            active_block: &lists.active,
            source: &lists.source,
        };
        let params = link_blocks::Params { lattice, capacity: lists.active_count.capacity };
        recorder.dispatch(&kernels.link_blocks, blocks, bindings, params);
        self.settle.record(recorder, &lists.active_count, 1);
        let bindings = find_cells::Bindings {
            occupied_count: &lists.occupied_count.count,
            start: &lists.start,
            key,
            cell_start: &lists.cell_start,
        };
        recorder.dispatch(&kernels.find_cells, blocks, bindings, ());
        Ok(())
    }
}
