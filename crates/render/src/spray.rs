//! Separation of particles into bodies of a material and the spray around them.

use crate::{Error, Result};
use frazil_kernels::{
    BlockCapacity, BlockLayout, Compaction, Counts, KernelError, Move, RadixSort, SparseBlocks, SplatDensity,
    SplatMass,
};
use frazil_shaders::primitives::gather_u32;
use frazil_shaders::render::find_spray;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};

/// Parameters of the densities around particles, by which surface and spray are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceOptions {
    /// Lower corner in m of the box that contains the particles. Particles outside are clamped to its border.
    pub min_m: [f32; 3],
    /// Upper corner in m.
    pub max_m: [f32; 3],
    /// Side of a lattice cell in m. A particle contributes up to two cells away.
    pub cell_m: f32,
    /// Mass of a particle in kg.
    pub particle_mass_kg: f32,
    /// Density of the isosurface in kg/m³. Particles in lower densities are spray.
    pub level_kg_m3: f32,
}

/// Separation of particles by the density around them: sorts them by cell, splats their mass onto nodes, and
/// lists those in low density as spray.
///
/// The required number of blocks of nodes is known only after a search. [`Self::find`] then grows the
/// capacity and searches again, so that no particle is taken for spray for lack of capacity; it waits for the
/// device after each search.
pub struct SpraySplit {
    device: Device,
    options: SurfaceOptions,
    counts: Counts,
    sort: RadixSort,
    gather: Kernel<gather_u32::Interface>,
    find_spray: Kernel<find_spray::Interface>,
    compaction: Compaction,
    key: Buffer<u32>,
    order: Buffer<u32>,
    position: Buffer<[f32; 3]>,
    is_spray: Buffer<u32>,
    spray: Buffer<[f32; 3]>,
    spray_count: DeviceCount,
    /// Positions and number of all other particles, if they are wanted.
    bulk: Option<(Buffer<[f32; 3]>, DeviceCount)>,
    blocks: SparseBlocks,
    splat: SplatDensity,
    density: Buffer<f32>,
    found_blocks: [u32; 2],
    found_spray: u32,
    capacity: u32,
}

pub(crate) const WORKGROUP_SIZE: u32 = 128;
/// Support radius of the splat in cells.
const RADIUS_CELLS: f32 = 2.0;
/// Expected particles per block, which sets the initial capacity.
const FIRST_PER_BLOCK: u32 = 32;
/// Growth factor of an exceeded capacity in eighths, so that a spreading body does not overflow in each
/// picture.
const GROWTH_EIGHTHS: u64 = 11;
/// Maximum number of searches until the capacity suffices.
const MAX_SEARCHES: usize = 4;

impl SpraySplit {
    /// Creates a separation of up to `capacity` particles; `has_bulk` if the particles that are no spray are
    /// wanted, too. Set-up: it waits for the device.
    ///
    /// # Errors
    /// A lattice with more cells than indices, a level or a mass that is not positive; out of memory.
    pub fn new(device: &Device, capacity: u32, options: SurfaceOptions, has_bulk: bool) -> Result<Self> {
        let SurfaceOptions { min_m, max_m, cell_m, particle_mass_kg, level_kg_m3 } = options;
        let numbers = [cell_m, particle_mass_kg, level_kg_m3];
        if !numbers.iter().all(|number| number.is_finite() && *number > 0.0) {
            let problem = format!("{options:?}, expected a cell, a mass and a level above 0");
            return Err(KernelError::Surface { problem }.into());
        }
        let layout = BlockLayout::new(3, min_m, max_m, cell_m, 1.0)?;
        let n = capacity.max(1);
        let n_blocks = (n / FIRST_PER_BLOCK).max(64);
        let block_capacity = BlockCapacity { occupied: n_blocks, active: 2 * n_blocks };
        let len = n as usize;
        let empty = |name: &str| -> Result<DeviceCount> {
            let count = DeviceCount::new(device, name, n)?;
            device.upload(&count.count, &[0])?;
            Ok(count)
        };
        let bulk = match has_bulk {
            true => Some((device.buffer("bulk position", len)?, empty("bulk count")?)),
            false => None,
        };
        let gather = gather_u32::Specialization { words: 3, ..Default::default() };
        Ok(Self {
            device: device.clone(),
            options,
            counts: Counts::new(device)?,
            sort: RadixSort::new(device, n)?,
            gather: Kernel::specialized(device, &gather)?,
            find_spray: Kernel::new(device)?,
            compaction: Compaction::new(device, n)?,
            key: device.buffer("surface key", len)?,
            order: device.buffer("surface order", len)?,
            position: device.buffer("surface position", len)?,
            is_spray: device.buffer("surface spray flag", len)?,
            spray: device.buffer("spray position", len)?,
            spray_count: empty("spray count")?,
            bulk,
            blocks: SparseBlocks::new(device, layout, n, block_capacity, WORKGROUP_SIZE)?,
            splat: SplatDensity::new(device, RADIUS_CELLS, WORKGROUP_SIZE)?,
            density: device.buffer("surface density", 64 * block_capacity.active as usize)?,
            found_blocks: [0; 2],
            found_spray: 0,
            capacity: n,
        })
    }

    /// Separates `count` particles at `position`, in m, after all submissions so far. It waits for the
    /// device, and grows the capacity until it suffices.
    ///
    /// # Errors
    /// More particles than the capacity; a device error; out of memory for the nodes.
    pub fn find(&mut self, count: &DeviceCount, position: &Buffer<[f32; 3]>) -> Result<()> {
        for _ in 0..MAX_SEARCHES {
            let mut recorder = self.device.recorder()?;
            self.record_density(&mut recorder, count, position)?;
            self.record_split(&mut recorder, count)?;
            self.device.submit(recorder)?.wait()?;
            if self.take_in()? {
                return Ok(());
            }
        }
        let (found, capacity) = (self.found_blocks, self.blocks.capacity());
        let problem = format!(
            "capacity for the density around particles still too small after {MAX_SEARCHES} searches: \
             {found:?} blocks of {capacity:?}"
        );
        Err(KernelError::Surface { problem }.into())
    }

    /// Records the sort and the density of the nodes.
    ///
    /// # Errors
    /// More particles than the capacity.
    pub(crate) fn record_density(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
    ) -> Result<()> {
        if count.capacity > self.capacity {
            let (found, required) = (u64::from(self.capacity), u64::from(count.capacity));
            let (primitive, object) = ("particle surface", position.name().to_owned());
            return Err(KernelError::TooSmall { primitive, object, found, required }.into());
        }
        // The count's writer may not have derived dispatch sizes from it.
        self.counts.prepare(recorder, count);
        self.blocks.record_keys(recorder, count, position, &self.key, None);
        let bits = self.blocks.layout().key_bits();
        self.sort.record_order(recorder, count, &self.key, &self.order, bits)?;
        let bindings = gather_u32::Bindings {
            count,
            order: &self.order,
            column: &position.cast(),
            moved: &self.position.cast(),
        };
        recorder.dispatch_counted(&self.gather, bindings, ());
        self.blocks.record_find(recorder, count, &self.key)?;
        let mass = SplatMass::Same(self.options.particle_mass_kg);
        self.splat.record(recorder, &self.blocks, &self.position, mass, &self.density)?;
        Ok(())
    }

    /// Records the separation by the density recorded before.
    pub(crate) fn record_split(&self, recorder: &mut Recorder, count: &DeviceCount) -> Result<()> {
        let bindings = find_spray::Bindings {
            count,
            position: &self.position,
            block_of: self.blocks.block_of(),
            occupied_count: &self.blocks.occupied_count().count,
            target: self.blocks.target(),
            density: &self.density,
            is_spray: &self.is_spray,
        };
        let level = self.options.level_kg_m3;
        let params = find_spray::Params { lattice: self.blocks.layout().lattice(), level };
        recorder.dispatch_counted(&self.find_spray, bindings, params);
        let column = Move::column(&self.position, &self.spray);
        let (column, bulk_count) = match &self.bulk {
            Some((bulk, bulk_count)) => (column.dropping_to(bulk), Some(bulk_count)),
            None => (column, None),
        };
        let flags = &self.is_spray;
        self.compaction.record_columns(recorder, count, flags, &[column], &self.spray_count, bulk_count)?;
        Ok(())
    }

    /// Reads the sizes that the last, completed search found, and grows the capacity if it was exceeded.
    /// Returns true if it sufficed. It waits for the device.
    pub(crate) fn take_in(&mut self) -> Result<bool> {
        let device = &self.device;
        let blocks = device.download(self.blocks.required(), 2)?;
        self.found_blocks = [blocks[0], blocks[1]];
        self.found_spray = device.download(&self.spray_count.count, 1)?[0];
        let capacity = self.blocks.capacity();
        if blocks[0] > capacity.occupied || blocks[1] > capacity.active {
            let occupied = grown(blocks[0], capacity.occupied);
            // Blocks reached by dropped particles are unknown: at most eight each, but mostly fewer than one
            // more.
            let active = grown(
                blocks[1].max(if blocks[0] > capacity.occupied { occupied } else { 0 }),
                capacity.active,
            );
            self.density = device.buffer("surface density", 64 * active as usize)?;
            self.blocks.resize(device, BlockCapacity { occupied, active })?;
            return Ok(false);
        }
        self.blocks.occupied_count().expect(blocks[0]);
        self.blocks.active_count().expect(blocks[1]);
        Ok(true)
    }

    /// Returns the maximum number of particles.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns the positions in m of the spray, sorted by cell.
    pub fn spray(&self) -> &Buffer<[f32; 3]> {
        &self.spray
    }

    /// Returns the number of spray particles.
    pub fn spray_count(&self) -> &DeviceCount {
        &self.spray_count
    }

    /// Returns the number of spray particles that was read last.
    pub fn found_spray(&self) -> u32 {
        self.found_spray
    }

    /// Returns positions in m, sorted by cell, and number of all particles that are no spray, if they were
    /// requested.
    pub fn bulk(&self) -> Option<(&Buffer<[f32; 3]>, &DeviceCount)> {
        self.bulk.as_ref().map(|(position, count)| (position, count))
    }

    /// Returns the numbers of blocks that were read last: those that hold particles, and those they reach.
    pub(crate) fn found_blocks(&self) -> [u32; 2] {
        self.found_blocks
    }

    pub(crate) fn blocks(&self) -> &SparseBlocks {
        &self.blocks
    }

    /// Returns the densities of the nodes of active blocks in kg/m³.
    pub(crate) fn density(&self) -> &Buffer<f32> {
        &self.density
    }

    /// Returns the device memory in bytes.
    pub fn bytes(&self) -> u64 {
        let of_particles = [self.key.len(), self.order.len(), self.is_spray.len()].map(|n| 4 * n as u64);
        let bulk = self.bulk.as_ref().map_or(0, |(position, _)| position.len());
        let of_positions = [self.position.len(), self.spray.len(), bulk].map(|n| 12 * n as u64);
        let of_nodes = 4 * self.density.len() as u64;
        let sums: u64 = of_particles.iter().chain(&of_positions).sum();
        sums + of_nodes + self.blocks.bytes(self.blocks.capacity())
    }
}

/// Returns the new capacity: with a margin if the old one was exceeded, otherwise unchanged.
pub(crate) fn grown(required: u32, capacity: u32) -> u32 {
    if required <= capacity {
        return capacity;
    }
    (u64::from(required) * GROWTH_EIGHTHS / 8).min(u64::from(u32::MAX)) as u32
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Device(error) => Self::Device(error),
            other => Self::Kernel(other),
        }
    }
}
