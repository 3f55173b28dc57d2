//! Counting sort by key and search for blocks in one, in a table of all cells of a lattice: its cost grows
//! with the lattice, and so it is for lattices of few cells per particle.

use super::layout::BlockLayout;
use super::lists::Lists;
use crate::kernel_set::kernel_set;
use crate::{Counts, KernelError, Scan, ScanOptions};
use frazil_shaders::grid::place_in_cells;
use frazil_shaders::sparse::search_table::MAX_BLOCKS;
use frazil_shaders::sparse::{count_keys, rank_in_blocks, search_table};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Maximum number of blocks of a lattice that [`super::SparseBlocks::with_table`] takes.
pub const MAX_TABLE_BLOCKS: u32 = MAX_BLOCKS;

/// Threads of the workgroup that searches the table.
const SEARCH_THREADS: u32 = 512;

/// On a CPU, which runs the workgroup on one core, in turns between barriers: the least number of threads,
/// and the number of blocks for each beyond it. A thread may take 182 iterations of loops for an occupied
/// block, and lavapipe ends its loops after 65 535.
const CPU_SEARCH_THREADS: u32 = 32;
const CPU_BLOCKS_PER_THREAD: u32 = 256;

/// Maximum number of cells whose particles that workgroup scans, too: up to here it takes less time than
/// another pass.
const MAX_SCANNED_CELLS: u32 = 1 << 14;

kernel_set! {
    struct Kernels(workgroup_size, dimensions) {
        count_keys { workgroup_size, dimensions },
        place_in_cells { workgroup_size },
        rank_in_blocks { workgroup_size, dimensions },
    }
}

/// Kernels and arrays of the sort, and the starts of all cells.
pub struct TableSearch {
    kernels: Kernels,
    search: Kernel<search_table::Interface>,
    /// Present if there are too many cells for the workgroup that searches the table.
    scan: Option<Scan>,
    /// Cells of the lattice plus one.
    starts: DeviceCount,
    cell_count: Buffer<u32>,
    /// First particle of each cell, and the number of particles.
    pub cell_start: Buffer<u32>,
    arrival: Buffer<u32>,
    placed: Buffer<[u32; 2]>,
    /// Index of each block in the list of occupied ones; undefined for others.
    place_of: Buffer<u32>,
    pub required: Buffer<u32>,
    max_groups_x: u32,
}

impl TableSearch {
    /// Makes a table for up to `n` particles.
    pub fn new(
        device: &Device,
        layout: &BlockLayout,
        n: u32,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let n_blocks = layout.n_blocks();
        if n_blocks > u64::from(MAX_TABLE_BLOCKS) {
            let problem = format!("a table of {n_blocks} blocks, expected at most {MAX_TABLE_BLOCKS}");
            return Err(KernelError::Grid { problem });
        }
        let starts = n_blocks as u32 * layout.block_nodes() + 1;
        let threads = if device.is_software() {
            (n_blocks as u32).div_ceil(CPU_BLOCKS_PER_THREAD).next_power_of_two().max(CPU_SEARCH_THREADS)
        } else {
            SEARCH_THREADS
        };
        let search = search_table::Specialization {
            workgroup_size: threads.min(device.capabilities().max_workgroup_size),
            dimensions: layout.dimensions(),
            scans: (starts <= MAX_SCANNED_CELLS).into(),
        };
        let scan = || Scan::with_options(device, starts, ScanOptions::for_device(device, workgroup_size));
        let n = n as usize;
        Ok(Self {
            kernels: Kernels::new(device, workgroup_size, layout.dimensions())?,
            search: Kernel::specialized(device, &search)?,
            scan: (starts > MAX_SCANNED_CELLS).then(scan).transpose()?,
            starts: Counts::new(device)?.upload(device, "cell starts", starts, starts)?,
            // Whole vectors of four words. A search that scans leaves zeros.
            cell_count: device.buffer_from("cell count", &vec![0; (starts + 3) as usize])?,
            cell_start: device.buffer("cell start", (starts + 3) as usize)?,
            arrival: device.buffer("arrival in cell", n)?,
            placed: device.buffer("placed by cell", n)?,
            place_of: device.buffer("place of block", n_blocks as usize)?,
            required: device.buffer_from("blocks required", &[0; 2])?,
            max_groups_x: device.capabilities().max_groups_x,
        })
    }

    /// Returns the bytes of the buffers whose length depends on the lattice.
    pub fn bytes(&self) -> u64 {
        4 * (self.cell_count.len() + self.cell_start.len() + self.place_of.len()) as u64
    }

    /// Records the computation of keys, which counts the particles of each cell; [`Self::record`] must
    /// follow.
    pub fn record_keys(
        &self,
        recorder: &mut Recorder,
        layout: &BlockLayout,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
        [key, hold]: [&Buffer<u32>; 2],
    ) {
        if self.scan.is_some() {
            recorder.fill(&self.cell_count, 0);
        }
        let bindings = count_keys::Bindings {
            count,
            position,
            key,
            cell_count: &self.cell_count,
            arrival: &self.arrival,
            hold,
        };
        let params = count_keys::Params { lattice: layout.lattice() };
        recorder.dispatch_counted(&self.kernels.count_keys, bindings, params);
    }

    /// Records the sort of `key`, in place, with the previous index of each particle in `order`, and the
    /// search for blocks.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        layout: &BlockLayout,
        count: &DeviceCount,
        [key, order]: [&Buffer<u32>; 2],
        block_of: &Buffer<u32>,
        lists: &Lists,
    ) -> Result<(), KernelError> {
        if let Some(scan) = &self.scan {
            scan.record(recorder, &self.starts, &self.cell_count, &self.cell_start, None)?;
        }
        let bindings = search_table::Bindings {
            cell_count: &self.cell_count.cast(),
            cell_start: &self.cell_start.cast(),
            place_of: &self.place_of,
            occupied_count: &lists.occupied_count.count,
            occupied_args: &lists.occupied_count.args,
            occupied: &lists.occupied,
            first_cell: &lists.first_cell,
            is_own: &lists.is_own,
            rank: &lists.rank,
            target: &lists.target,
            active_count: &lists.active_count.count,
            active_args: &lists.active_count.args,
            active_block: &lists.active,
            source: &lists.source,
            required: &self.required,
        };
        let params = search_table::Params {
            lattice: layout.lattice(),
            n_blocks: layout.n_blocks() as u32,
            occupied_capacity: lists.occupied_count.capacity,
            active_capacity: lists.active_count.capacity,
            max_groups_x: self.max_groups_x,
        };
        recorder.dispatch(&self.search, Threads::Fixed(1), bindings, params);
        let threads = Threads::Counted(count);
        let bindings = place_in_cells::Bindings {
            count,
            key,
            cell_start: &self.cell_start,
            arrival: &self.arrival,
            placed: &self.placed,
        };
        recorder.dispatch(&self.kernels.place_in_cells, threads, bindings, ());
        let bindings = rank_in_blocks::Bindings {
            count,
            placed: &self.placed,
            cell_start: &self.cell_start,
            place_of: &self.place_of,
            order,
            sorted_key: key,
            block_of,
            required: &self.required,
        };
        let params = rank_in_blocks::Params { capacity: lists.capacity() };
        recorder.dispatch(&self.kernels.rank_in_blocks, threads, bindings, params);
        Ok(())
    }
}
