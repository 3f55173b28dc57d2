//! Surface of a particle set, and the spray around it.

use crate::{Error, Material, Mesh, Result};
use frazil_kernels::{
    BlockCapacity, BlockLayout, Compaction, Counts, KernelError, MarchingCubes, MeshCapacity, Move,
    RadixSort, RequiredMeshCapacity, SparseBlocks, SplatDensity, SplatMass,
};
use frazil_shaders::primitives::gather_u32;
use frazil_shaders::render::find_spray;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// Parameters of the surface extraction.
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

/// Extraction of the surface around particles: sorts them by cell, splats their mass onto nodes, runs
/// marching cubes, and lists particles outside as spray.
///
/// The required numbers of blocks, vertices and triangles are known only after a search. [`Self::find`] then
/// grows the capacities and searches again, so that no surface is ever truncated; it waits for the device
/// after each search. [`Self::record`] only records, for callers that know that the capacities suffice.
pub struct ParticleSurface {
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
    blocks: SparseBlocks,
    splat: SplatDensity,
    density: Buffer<f32>,
    cubes: MarchingCubes,
    /// Sizes of the last surface, as known to the host.
    found: SurfaceFound,
    capacity: u32,
}

/// Sizes of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceFound {
    /// Blocks of 4³ nodes that hold a particle's lowest node, and blocks that particles reach.
    pub blocks: [u32; 2],
    /// Blocks of cubes.
    pub cube_blocks: u32,
    /// Vertices.
    pub vertices: u32,
    /// Triangles.
    pub triangles: u32,
    /// Particles outside the surface.
    pub spray: u32,
}

const WORKGROUP_SIZE: u32 = 128;
/// Support radius of the splat in cells.
const RADIUS_CELLS: f32 = 2.0;
/// Expected particles per block, which sets the initial capacity.
const FIRST_PER_BLOCK: u32 = 32;
/// Growth factor of an exceeded capacity in eighths, so that a spreading body does not overflow in each
/// picture.
const GROWTH_EIGHTHS: u64 = 11;
/// Maximum number of searches until all capacities suffice: blocks first, then cubes, then vertices and
/// triangles.
const MAX_SEARCHES: usize = 8;

impl ParticleSurface {
    /// Creates a surface extraction for up to `capacity` particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// A lattice with more cells than indices, a level or a mass that is not positive; out of memory.
    pub fn new(device: &Device, capacity: u32, options: SurfaceOptions) -> Result<Self> {
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
        let mesh_capacity =
            MeshCapacity { cube_blocks: 2 * n_blocks, vertices: 8 * n_blocks, triangles: 16 * n_blocks };
        let len = n as usize;
        let spray_count = DeviceCount::new(device, "spray count", n)?;
        device.upload(&spray_count.count, &[0])?;
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
            spray_count,
            blocks: SparseBlocks::new(device, layout, n, block_capacity, WORKGROUP_SIZE)?,
            splat: SplatDensity::new(device, RADIUS_CELLS, WORKGROUP_SIZE)?,
            density: device.buffer("surface density", 64 * block_capacity.active as usize)?,
            cubes: MarchingCubes::new(device, layout, mesh_capacity, WORKGROUP_SIZE)?,
            found: SurfaceFound::default(),
            capacity: n,
        })
    }

    /// Finds the surface of `count` particles at `position`, in m, after all submissions so far. It waits for
    /// the device, and grows capacities until they suffice.
    ///
    /// # Errors
    /// More particles than the capacity; a device error; out of memory for the whole surface.
    pub fn find(&mut self, count: &DeviceCount, position: &Buffer<[f32; 3]>) -> Result<SurfaceFound> {
        for _ in 0..MAX_SEARCHES {
            let mut recorder = self.device.recorder()?;
            self.record(&mut recorder, count, position)?;
            self.device.submit(recorder)?.wait()?;
            if self.take_in()? {
                return Ok(self.found);
            }
        }
        let problem =
            format!("capacity for a surface still too small after {MAX_SEARCHES} searches: {:?}", self.found);
        Err(KernelError::Surface { problem }.into())
    }

    /// Records the search. Elements beyond a capacity are dropped: see [`Self::take_in`].
    ///
    /// # Errors
    /// More particles than the capacity.
    pub fn record(
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
        self.blocks.record_keys(recorder, count, position, &self.key);
        let bits = self.blocks.layout().key_bits();
        self.sort.record_order(recorder, count, &self.key, &self.order, bits)?;
        let bindings = gather_u32::Bindings {
            count: &count.count,
            order: &self.order,
            column: &position.cast(),
            moved: &self.position.cast(),
        };
        recorder.dispatch(&self.gather, Threads::Counted(count), bindings, ());
        self.blocks.record_find(recorder, count, &self.key)?;
        let mass = SplatMass::Same(self.options.particle_mass_kg);
        self.splat.record(recorder, &self.blocks, &self.position, mass, &self.density)?;
        let level = self.options.level_kg_m3;
        let (active_count, active) = (self.blocks.active_count(), self.blocks.active());
        self.cubes.record(recorder, active_count, active, &self.density, level)?;
        let bindings = find_spray::Bindings {
            count: &count.count,
            position: &self.position,
            block_of: self.blocks.block_of(),
            occupied_count: &self.blocks.occupied_count().count,
            target: self.blocks.target(),
            density: &self.density,
            is_spray: &self.is_spray,
        };
        let params = find_spray::Params { lattice: self.blocks.layout().lattice(), level };
        recorder.dispatch(&self.find_spray, Threads::Counted(count), bindings, params);
        let columns = [Move::column(&self.position, &self.spray)];
        let flags = &self.is_spray;
        self.compaction.record_columns(recorder, count, flags, &columns, &self.spray_count, None)?;
        Ok(())
    }

    /// Reads the sizes that the last, completed search found, and grows the capacities that it exceeded.
    /// Returns true if all of them sufficed; otherwise search again. It waits for the device.
    ///
    /// # Errors
    /// A device error, or out of memory for the whole surface.
    pub fn take_in(&mut self) -> Result<bool> {
        let device = &self.device;
        let blocks = device.download(self.blocks.required(), 2)?;
        let required = device.download(&self.cubes.required().cast::<RequiredMeshCapacity>(), 1)?[0];
        let spray = device.download(&self.spray_count.count, 1)?[0];
        let RequiredMeshCapacity { cube_blocks, vertices, triangles } = required;
        self.found = SurfaceFound { blocks: [blocks[0], blocks[1]], cube_blocks, vertices, triangles, spray };
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
        let capacity = self.cubes.capacity();
        if !required.fits(capacity) {
            let capacity = MeshCapacity {
                cube_blocks: grown(cube_blocks, capacity.cube_blocks),
                vertices: grown(vertices, capacity.vertices),
                triangles: grown(triangles, capacity.triangles),
            };
            self.cubes.resize(device, capacity)?;
            return Ok(false);
        }
        for (count, found) in [
            (self.blocks.occupied_count(), blocks[0]),
            (self.blocks.active_count(), blocks[1]),
            (self.cubes.cube_block_count(), cube_blocks),
            (self.cubes.vertex_count(), vertices),
            (self.cubes.triangle_count(), triangles),
        ] {
            count.expect(found);
        }
        Ok(true)
    }

    /// Returns the maximum number of particles.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns the sizes that were read last.
    pub fn found(&self) -> SurfaceFound {
        self.found
    }

    /// Returns the surface found last as a mesh to draw.
    pub fn mesh(&self, material: Material, color: [f32; 3]) -> Mesh<'_> {
        Mesh {
            position: self.cubes.position(),
            normal: self.cubes.normal(),
            triangle: self.cubes.triangle(),
            count: self.cubes.triangle_count(),
            max_count: self.found.triangles,
            material,
            color,
        }
    }

    /// Returns the positions in m of the particles outside the surface, sorted by cell.
    pub fn spray(&self) -> &Buffer<[f32; 3]> {
        &self.spray
    }

    /// Returns the number of particles outside the surface.
    pub fn spray_count(&self) -> &DeviceCount {
        &self.spray_count
    }

    /// Returns the mesh extraction.
    pub fn marching_cubes(&self) -> &MarchingCubes {
        &self.cubes
    }

    /// Returns the device memory in bytes of particles, blocks and mesh.
    pub fn bytes(&self) -> u64 {
        let of_particles = [self.key.len(), self.order.len(), self.is_spray.len()].map(|n| 4 * n as u64);
        let of_positions = [self.position.len(), self.spray.len()].map(|n| 12 * n as u64);
        let of_nodes = 4 * self.density.len() as u64;
        let sums: u64 = of_particles.iter().chain(&of_positions).sum();
        sums + of_nodes + self.blocks.bytes() + self.cubes.bytes()
    }
}

/// Returns the new capacity: with a margin if the old one was exceeded, otherwise unchanged.
fn grown(required: u32, capacity: u32) -> u32 {
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
