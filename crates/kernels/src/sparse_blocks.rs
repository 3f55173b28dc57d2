//! Sparse lattice of nodes: the blocks that particles reach, found from their sorted keys.

use crate::error::check_capacity;
use crate::kernel_set::kernel_set;
use crate::settle::Settle;
use crate::{KernelError, Scan, ScanOptions};
pub use frazil_shaders::sparse::blocks::BLOCK_SIDE;
use frazil_shaders::sparse::{block_keys, find_cells, link_blocks, list_blocks, mark_blocks, propose_blocks};
use frazil_shaders::types::{BlockLattice, Length};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder, Threads};
use std::ops::Range;

/// Lattice of nodes in a plane (D = 2) or in space (D = 3), in blocks of 4^D, with particles that each reach
/// at most `4` nodes per axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLayout {
    dimensions: u32,
    lattice: BlockLattice,
}

impl BlockLayout {
    /// Returns the maximum number of blocks of a lattice: keys have 32 bits, of which 2 D are the node in its
    /// block.
    pub fn max_blocks(dimensions: u32) -> u64 {
        1 << (u32::BITS - 2 * dimensions)
    }

    /// Makes the lattice of cells of side `cell_m` around a domain, including the nodes that particles on its
    /// walls reach.
    ///
    /// `shift_cells` is the distance from the first node that a particle reaches up to the particle: 1 for a
    /// cubic spline, ½ for a quadratic one.
    ///
    /// # Errors
    /// It would have more blocks than keys can number.
    pub fn new(
        dimensions: u32,
        domain_min_m: [f32; 3],
        domain_max_m: [f32; 3],
        cell_m: f32,
        shift_cells: f32,
    ) -> Result<Self, KernelError> {
        let margin_m = BLOCK_SIDE as f32 * cell_m;
        let is_used = |axis: usize| axis < dimensions as usize;
        let blocks: [f64; 3] = std::array::from_fn(|axis| {
            let extent = f64::from(domain_max_m[axis]) - f64::from(domain_min_m[axis]);
            let nodes = (extent / f64::from(cell_m)).ceil() + 2.0 * f64::from(BLOCK_SIDE) + 1.0;
            if is_used(axis) { (nodes / f64::from(BLOCK_SIDE)).ceil() } else { 1.0 }
        });
        let total: f64 = blocks.iter().product();
        if total.is_nan() || total > Self::max_blocks(dimensions) as f64 {
            let max = Self::max_blocks(dimensions);
            let problem = format!("{total:.0} blocks of 4^{dimensions} nodes, at most {max} can be numbered");
            return Err(KernelError::Grid { problem });
        }
        let lattice =
            BlockLattice {
                origin_m: std::array::from_fn(|axis| {
                    if is_used(axis) { domain_min_m[axis] - margin_m } else { 0.0 }
                }),
                cells_per_m: 1.0 / cell_m,
                blocks: blocks.map(|n| n as u32),
                shift_cells,
            };
        Ok(Self { dimensions, lattice })
    }

    /// Returns D.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Returns the lattice, as kernels take it.
    pub fn lattice(&self) -> BlockLattice {
        self.lattice
    }

    /// Returns the number of nodes of a block, 4^D.
    pub fn block_nodes(&self) -> u32 {
        1 << (2 * self.dimensions)
    }

    /// Returns the number of blocks that the particles based in one block can reach, 2^D.
    pub fn reach(&self) -> u32 {
        1 << self.dimensions
    }

    /// Returns the number of blocks of the whole lattice, stored or not.
    pub fn n_blocks(&self) -> u64 {
        self.lattice.blocks.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the bits of keys that distinguish particles.
    pub fn key_bits(&self) -> Range<u32> {
        0..64 - (self.n_blocks() * u64::from(self.block_nodes()) - 1).max(1).leading_zeros()
    }
}

/// Capacity of the lists of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCapacity {
    /// Blocks that hold a particle's base.
    pub occupied: u32,
    /// Blocks that some particle may reach.
    pub active: u32,
}

/// Search for the blocks that particles occupy and reach, in an order that depends only on the particles'
/// positions.
///
/// The memory depends on the capacity, not on the extent of the lattice: [`Self::required`] reports the
/// required numbers, and [`Self::resize`] changes the capacity. Blocks past the capacity are left out; the
/// caller must check `required` for it.
pub struct SparseBlocks {
    layout: BlockLayout,
    kernels: Kernels,
    scan_particles: Scan,
    scan_blocks: Scan,
    scan_options: ScanOptions,
    is_first: Buffer<u32>,
    block_of: Buffer<u32>,
    settle: Settle,
    lists: Lists,
    n_particles: u32,
}

kernel_set! {
    struct Kernels(workgroup_size, dimensions, reach, nodes) {
        block_keys { workgroup_size, dimensions },
        mark_blocks { workgroup_size, dimensions },
        list_blocks { workgroup_size, dimensions },
        propose_blocks { workgroup_size, threads_per_item: reach, dimensions },
        link_blocks { workgroup_size, threads_per_item: reach, dimensions },
        find_cells { workgroup_size, threads_per_item: nodes, dimensions },
    }
}

/// Buffers with one entry per block of a list.
struct Lists {
    occupied_count: DeviceCount,
    occupied: Buffer<u32>,
    start: Buffer<u32>,
    cell_start: Buffer<u32>,
    is_own: Buffer<u32>,
    rank: Buffer<u32>,
    target: Buffer<u32>,
    active_count: DeviceCount,
    active: Buffer<u32>,
    source: Buffer<u32>,
}

impl Lists {
    fn new(device: &Device, layout: &BlockLayout, capacity: BlockCapacity) -> Result<Self, KernelError> {
        let [occupied, active] = [capacity.occupied, capacity.active].map(|n| n.max(1) as usize);
        let (reach, nodes) = (layout.reach() as usize, layout.block_nodes() as usize);
        Ok(Self {
            occupied_count: DeviceCount::new(device, "occupied block count", occupied as u32)?,
            occupied: device.buffer("occupied blocks", occupied)?,
            start: device.buffer("block start", occupied + 1)?,
            cell_start: device.buffer("cell start", occupied * nodes + 1)?,
            is_own: device.buffer("own blocks", occupied * reach)?,
            rank: device.buffer("block rank", occupied * reach)?,
            target: device.buffer("block targets", (occupied + 1) * reach)?,
            active_count: DeviceCount::new(device, "active block count", active as u32)?,
            active: device.buffer("active blocks", active)?,
            source: device.buffer("block sources", active * reach)?,
        })
    }
}

impl SparseBlocks {
    /// Makes the buffers for the blocks of up to `n_particles` particles.
    ///
    /// # Errors
    /// Not enough memory; the device's limits do not allow the group size.
    pub fn new(
        device: &Device,
        layout: BlockLayout,
        n_particles: u32,
        capacity: BlockCapacity,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let (dimensions, reach, nodes) = (layout.dimensions, layout.reach(), layout.block_nodes());
        let scan_options = ScanOptions::for_device(device, workgroup_size);
        let n = n_particles.max(1);
        let lists = Lists::new(device, &layout, capacity)?;
        // Before the first search there are none.
        for count in [&lists.occupied_count, &lists.active_count] {
            device.upload(&count.count, &[0])?;
        }
        Ok(Self {
            layout,
            kernels: Kernels::new(device, workgroup_size, dimensions, reach, nodes)?,
            scan_particles: Scan::with_options(device, n, scan_options)?,
            scan_blocks: Scan::with_options(device, capacity.occupied.max(1) * reach, scan_options)?,
            scan_options,
            is_first: device.buffer("first of block", n as usize)?,
            block_of: device.buffer("block of particle", n as usize)?,
            settle: Settle::new(device, "blocks", 2)?,
            lists,
            n_particles: n,
        })
    }

    /// Changes the capacity of the lists, whose contents are undefined until the next [`Self::record_find`].
    ///
    /// # Errors
    /// Not enough memory.
    pub fn resize(&mut self, device: &Device, capacity: BlockCapacity) -> Result<(), KernelError> {
        self.lists = Lists::new(device, &self.layout, capacity)?;
        self.scan_blocks =
            Scan::with_options(device, capacity.occupied.max(1) * self.layout.reach(), self.scan_options)?;
        Ok(())
    }

    /// Records the computation of each particle's key.
    pub fn record_keys(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
        key: &Buffer<u32>,
    ) {
        let bindings = block_keys::Bindings { count: &count.count, position, key };
        let params = block_keys::Params { lattice: self.layout.lattice };
        recorder.dispatch(&self.kernels.block_keys, Threads::Counted(count), bindings, params);
    }

    /// Records the search for the blocks that particles with these ascending keys occupy and reach.
    ///
    /// # Errors
    /// The count's capacity exceeds the number of particles that this was made for.
    pub fn record_find(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        key: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        check_capacity("sparse blocks", self.n_particles, count, &[key])?;
        let (kernels, lists, lattice) = (&self.kernels, &self.lists, self.layout.lattice);
        let particles = Threads::Counted(count);
        let bindings = mark_blocks::Bindings { count: &count.count, key, is_first: &self.is_first };
        recorder.dispatch(&kernels.mark_blocks, particles, bindings, ());
        self.settle.record_scan(recorder, &self.scan_particles, count, [&self.is_first, &self.block_of])?;
        let bindings = list_blocks::Bindings {
            count: &count.count,
            key,
            is_first: &self.is_first,
            block_of: &self.block_of,
            occupied: &lists.occupied,
            start: &lists.start,
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
        let slots = Length { divisor: 1, multiplier: self.layout.reach(), shrink: 1 };
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

    /// Returns the lattice.
    pub fn layout(&self) -> &BlockLayout {
        &self.layout
    }

    /// Returns the capacity of the lists.
    pub fn capacity(&self) -> BlockCapacity {
        BlockCapacity {
            occupied: self.lists.occupied_count.capacity,
            active: self.lists.active_count.capacity,
        }
    }

    /// Returns the bytes of all buffers whose length depends on the capacity.
    pub fn bytes(&self) -> u64 {
        let BlockCapacity { occupied, active } = self.capacity();
        let (reach, nodes) = (self.layout.reach(), self.layout.block_nodes());
        4 * (u64::from(occupied) * u64::from(2 + nodes + 3 * reach)
            + u64::from(active) * u64::from(1 + reach))
    }

    /// Returns the required numbers of occupied and active blocks of the last search, even beyond the
    /// capacity.
    pub fn required(&self) -> &Buffer<u32> {
        self.settle.required()
    }

    /// Returns the number of blocks that hold a particle's base.
    pub fn occupied_count(&self) -> &DeviceCount {
        &self.lists.occupied_count
    }

    /// Returns the numbers of the occupied blocks, ascending.
    pub fn occupied(&self) -> &Buffer<u32> {
        &self.lists.occupied
    }

    /// Returns the number of blocks that some particle may reach.
    pub fn active_count(&self) -> &DeviceCount {
        &self.lists.active_count
    }

    /// Returns the numbers of the active blocks, each once.
    pub fn active(&self) -> &Buffer<u32> {
        &self.lists.active
    }

    /// Returns the index of each particle's block in the occupied list; one past the last where the block
    /// exceeded the capacity.
    pub fn block_of(&self) -> &Buffer<u32> {
        &self.block_of
    }

    /// Returns the start of the particles based at each node of each occupied block, 4^D entries per block
    /// and one more.
    pub fn cell_start(&self) -> &Buffer<u32> {
        &self.lists.cell_start
    }

    /// Returns the indices in the active list of the 2^D blocks that each occupied block reaches, or
    /// [`crate::INVALID_INDEX`].
    pub fn target(&self) -> &Buffer<u32> {
        &self.lists.target
    }

    /// Returns the indices in the occupied list of the 2^D blocks that reach each active block, or
    /// [`crate::INVALID_INDEX`].
    pub fn source(&self) -> &Buffer<u32> {
        &self.lists.source
    }
}
