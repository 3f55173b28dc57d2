//! Sparse lattice of nodes: the blocks that particles occupy and reach, found from the particles' keys.

mod layout;
mod lists;
mod sorted;
mod table;

use crate::error::{check_apart, check_capacity};
use crate::{INVALID_INDEX, KernelError};
pub use frazil_shaders::sparse::blocks::BLOCK_SIDE;
use frazil_shaders::sparse::{block_keys, keep_order};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};
pub use layout::BlockLayout;
pub use lists::BlockCapacity;
use lists::Lists;
use sorted::SortedSearch;
pub use table::MAX_TABLE_BLOCKS;
use table::TableSearch;

/// Search for the blocks that particles occupy and reach, in an order that depends only on the particles'
/// positions.
///
/// [`Self::new`] searches among sorted keys: its memory depends on the capacity, not on the extent of the
/// lattice. [`Self::with_table`] sorts, too, with a word for each cell of the lattice and fewer passes. Both
/// give the same lists: [`Self::required`] reports the required capacity, and [`Self::resize`] changes it.
/// Blocks past the capacity are left out; the caller must check `required` for it.
pub struct SparseBlocks {
    layout: BlockLayout,
    search: Search,
    block_of: Buffer<u32>,
    /// Holds no keys.
    no_hold: Buffer<u32>,
    keep_order: Kernel<keep_order::Interface>,
    lists: Lists,
    n_particles: u32,
}

enum Search {
    Sorted { search: Box<SortedSearch>, block_keys: Kernel<block_keys::Interface> },
    Table(Box<TableSearch>),
}

impl SparseBlocks {
    /// Makes a search among the sorted keys of up to `n_particles` particles.
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
        let (n, dimensions) = (n_particles.max(1), layout.dimensions());
        let search = SortedSearch::new(device, &layout, n, capacity.occupied, workgroup_size)?;
        let keys = block_keys::Specialization { workgroup_size, dimensions };
        let block_keys = Kernel::specialized(device, &keys)?;
        let lists = Lists::new(device, &layout, capacity, true)?;
        let search = Search::Sorted { search: Box::new(search), block_keys };
        Self::with_search(device, layout, n, search, lists, workgroup_size)
    }

    /// Makes a sort and search in a table of all cells, for up to `n_particles` particles.
    ///
    /// # Errors
    /// Like [`Self::new`]; also a lattice of more than [`MAX_TABLE_BLOCKS`] blocks.
    pub fn with_table(
        device: &Device,
        layout: BlockLayout,
        n_particles: u32,
        capacity: BlockCapacity,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        let n = n_particles.max(1);
        let search = TableSearch::new(device, &layout, n, workgroup_size)?;
        let lists = Lists::new(device, &layout, capacity, false)?;
        Self::with_search(device, layout, n, Search::Table(Box::new(search)), lists, workgroup_size)
    }

    fn with_search(
        device: &Device,
        layout: BlockLayout,
        n_particles: u32,
        search: Search,
        lists: Lists,
        workgroup_size: u32,
    ) -> Result<Self, KernelError> {
        // Before the first search there are none.
        for count in [&lists.occupied_count, &lists.active_count] {
            device.upload(&count.count, &[0])?;
        }
        Ok(Self {
            block_of: device.buffer("block of particle", n_particles as usize)?,
            no_hold: device.buffer_from("no hold", &[INVALID_INDEX])?,
            keep_order: Kernel::specialized(device, &keep_order::Specialization { workgroup_size })?,
            layout,
            search,
            lists,
            n_particles,
        })
    }

    /// Changes the capacity of the lists, whose contents are undefined until the next search.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn resize(&mut self, device: &Device, capacity: BlockCapacity) -> Result<(), KernelError> {
        let is_sorted = match &mut self.search {
            Search::Sorted { search, .. } => {
                search.resize(device, &self.layout, capacity.occupied)?;
                true
            }
            Search::Table(_) => false,
        };
        self.lists = Lists::new(device, &self.layout, capacity, is_sorted)?;
        Ok(())
    }

    /// Returns true if [`Self::record_sort_and_find`] replaces a sort and [`Self::record_find`].
    pub fn has_table(&self) -> bool {
        matches!(self.search, Search::Table(_))
    }

    /// Records the computation of each particle's key; with a table, [`Self::record_sort_and_find`] must
    /// follow before the next one. Keys stay as they are if the first word of `hold` is given and not
    /// [`INVALID_INDEX`].
    pub fn record_keys(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
        key: &Buffer<u32>,
        hold: Option<&Buffer<u32>>,
    ) {
        let hold = hold.unwrap_or(&self.no_hold);
        match &self.search {
            Search::Sorted { block_keys, .. } => {
                let bindings = block_keys::Bindings { count, position, key, hold };
                let params = block_keys::Params { lattice: self.layout.lattice() };
                recorder.dispatch_counted(block_keys, bindings, params);
            }
            Search::Table(table) => table.record_keys(recorder, &self.layout, count, position, [key, hold]),
        }
    }

    /// Records the search for the blocks that particles with these ascending keys occupy and reach.
    ///
    /// # Errors
    /// The count's capacity exceeds the number of particles that this was made for; there is a table.
    pub fn record_find(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        key: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        check_capacity("sparse blocks", self.n_particles, count, &[key])?;
        match &self.search {
            Search::Sorted { search, .. } => {
                search.record(recorder, &self.layout, count, key, &self.block_of, &self.lists)
            }
            Search::Table(_) => {
                let problem = "a search among sorted keys, expected a sort in the table".to_owned();
                Err(KernelError::Grid { problem })
            }
        }
    }

    /// Records a change of `order` to the identity, if the last search has found more blocks than the
    /// capacity.
    pub fn record_keep_order(&self, recorder: &mut Recorder, count: &DeviceCount, order: &Buffer<u32>) {
        let bindings = keep_order::Bindings { count, required: self.required(), order };
        let params = keep_order::Params { capacity: self.lists.capacity() };
        recorder.dispatch_counted(&self.keep_order, bindings, params);
    }

    /// Records the stable sort, in the table, of the keys that the last [`Self::record_keys`] has computed,
    /// and the search for blocks; writes the previous index of each particle to `order`. If there are more
    /// blocks than the capacity, `order` is the identity.
    ///
    /// # Errors
    /// The count's capacity exceeds the number of particles that this was made for; a buffer is smaller than
    /// that, or given twice; there is no table.
    pub fn record_sort_and_find(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        key: &Buffer<u32>,
        order: &Buffer<u32>,
    ) -> Result<(), KernelError> {
        check_capacity("sparse blocks", self.n_particles, count, &[key, order])?;
        check_apart("sparse blocks", &[&count.count], &[key, order])?;
        match &self.search {
            Search::Table(table) => {
                table.record(recorder, &self.layout, count, [key, order], &self.block_of, &self.lists)
            }
            Search::Sorted { .. } => {
                let problem = "a sort in a table, expected a search made with one".to_owned();
                Err(KernelError::Grid { problem })
            }
        }
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

    /// Returns the bytes of all buffers whose length depends on the number of blocks, for so many blocks, and
    /// of the table, if there is one.
    pub fn bytes(&self, BlockCapacity { occupied, active }: BlockCapacity) -> u64 {
        let reach = self.layout.reach();
        let (sorted, table) = match &self.search {
            Search::Sorted { .. } => (1 + self.layout.block_nodes(), 0),
            Search::Table(table) => (0, table.bytes()),
        };
        table
            + 4 * (u64::from(occupied) * u64::from(2 + sorted + 3 * reach)
                + u64::from(active) * u64::from(1 + reach))
    }

    /// Returns the required numbers of occupied and active blocks of the last search, even beyond the
    /// capacity.
    pub fn required(&self) -> &Buffer<u32> {
        match &self.search {
            Search::Sorted { search, .. } => search.required(),
            Search::Table(table) => &table.required,
        }
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

    /// Returns the start of the particles based at each node, 4^D consecutive entries per block, whose first
    /// [`Self::first_cell`] gives. The entry after each is the end of its particles.
    pub fn cell_start(&self) -> &Buffer<u32> {
        match &self.search {
            Search::Sorted { .. } => &self.lists.cell_start,
            Search::Table(table) => &table.cell_start,
        }
    }

    /// Returns the index of the first entry of each occupied block in [`Self::cell_start`].
    pub fn first_cell(&self) -> &Buffer<u32> {
        &self.lists.first_cell
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
