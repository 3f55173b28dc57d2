//! The surface of a body of particles, and the spray about it.

use crate::{Error, Material, Mesh, Result};
use frazil_kernels::{
    BlockCapacity, BlockLayout, Compaction, Counts, KernelError, MarchingCubes, MeshCapacity, MeshWanted,
    Move, RadixSort, SparseBlocks, SplatDensity, SplatMass,
};
use frazil_shaders::primitives::gather_u32;
use frazil_shaders::render::find_spray;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// How the surface of particles is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceOptions {
    /// Two corners of the box that particles are in, in m. What is outside counts as on its border.
    pub min_m: [f32; 3],
    /// The other one.
    pub max_m: [f32; 3],
    /// Side of a cell of the lattice, in m. A particle counts up to two cells away.
    pub cell_m: f32,
    /// What a particle weighs, in kg.
    pub particle_mass_kg: f32,
    /// The density at which the surface lies, in kg/m³. Particles with less about them are spray.
    pub level_kg_m3: f32,
}

/// Finds the surface about particles: sorts them by cell, spreads their mass over nodes, marches through the cubes between nodes, and lists
/// as spray what lies outside.
///
/// How much there is of blocks, vertices and triangles is known once it has been found. [`Self::find`] makes room for it and finds it again, so
/// that no surface is ever cut; it waits for the device, as often as there was not enough. [`Self::record`] only records, for whoever knows
/// that there is room.
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
    /// What was found last, by the host's knowledge.
    found: SurfaceFound,
    capacity: u32,
}

/// How much of a surface there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceFound {
    /// Blocks of 4³ nodes that hold a particle's lowest node, and blocks that particles reach.
    pub blocks: [u32; 2],
    /// Blocks of cubes.
    pub cube_blocks: u32,
    /// Vertices of the surface.
    pub vertices: u32,
    /// Its triangles.
    pub triangles: u32,
    /// Particles outside of it.
    pub spray: u32,
}

const WORKGROUP_SIZE: u32 = 128;
/// Support of the splat in cells.
const RADIUS_CELLS: f32 = 2.0;
/// Particles that a block may be about to hold, by which the first room is made; more is made where that is not enough.
const FIRST_PER_BLOCK: u32 = 32;
/// Room that was too small grows to this many eighths of what there was, so that a body that spreads is not met anew in each picture.
const GROWTH_EIGHTHS: u64 = 11;
/// Searches after which more room cannot be what is missing: blocks first, cubes then, vertices and triangles last.
const MOST_SEARCHES: usize = 8;

impl ParticleSurface {
    /// Makes room for up to `capacity` particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// A lattice with more cells than can be numbered, a level or a mass that is not above 0; no memory.
    pub fn new(device: &Device, capacity: u32, options: SurfaceOptions) -> Result<Self> {
        let SurfaceOptions { min_m, max_m, cell_m, particle_mass_kg, level_kg_m3 } = options;
        let numbers = [cell_m, particle_mass_kg, level_kg_m3];
        if !numbers.iter().all(|number| number.is_finite() && *number > 0.0) {
            let problem = format!("{options:?}, expected a cell, a mass and a level above 0");
            return Err(KernelError::Surface { problem }.into());
        }
        let layout = BlockLayout::new(3, min_m, max_m, cell_m, 1.0)?;
        let n = capacity.max(1);
        let room = (n / FIRST_PER_BLOCK).max(64);
        let blocks_room = BlockCapacity { occupied: room, active: 2 * room };
        let room = MeshCapacity { cube_blocks: 2 * room, vertices: 8 * room, triangles: 16 * room };
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
            blocks: SparseBlocks::new(device, layout, n, blocks_room, WORKGROUP_SIZE)?,
            splat: SplatDensity::new(device, RADIUS_CELLS, WORKGROUP_SIZE)?,
            density: device.buffer("surface density", 64 * blocks_room.active as usize)?,
            cubes: MarchingCubes::new(device, layout, room, WORKGROUP_SIZE)?,
            found: SurfaceFound::default(),
            capacity: n,
        })
    }

    /// Finds the surface of `count` particles at `position`, in m, as all submissions so far leave them. It waits for the device, and makes more
    /// room as long as there is too little.
    ///
    /// # Errors
    /// There may be more particles than there is room for; the device fails, or has no memory for all of the surface.
    pub fn find(&mut self, count: &DeviceCount, position: &Buffer<[f32; 3]>) -> Result<SurfaceFound> {
        for _ in 0..MOST_SEARCHES {
            let mut recorder = self.device.recorder()?;
            self.record(&mut recorder, count, position)?;
            self.device.submit(recorder)?.wait()?;
            if self.take_in()? {
                return Ok(self.found);
            }
        }
        let problem =
            format!("room for a surface still too small after {MOST_SEARCHES} searches: {:?}", self.found);
        Err(KernelError::Surface { problem }.into())
    }

    /// Records the search. What does not fit into the room there is, is left out: see [`Self::take_in`].
    ///
    /// # Errors
    /// There may be more particles than there is room for.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
    ) -> Result<()> {
        if count.capacity > self.capacity {
            let (found, needed) = (u64::from(self.capacity), u64::from(count.capacity));
            let (primitive, object) = ("particle surface", position.name().to_owned());
            return Err(KernelError::TooSmall { primitive, object, found, needed }.into());
        }
        // Whoever wrote the count may not have made dispatches of it.
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

    /// Takes in what the last search found, which has ended, and makes more room where there was too little: then it is to be done again. Returns
    /// whether all was there. It waits for the device.
    ///
    /// # Errors
    /// The device fails, or has no memory for all of the surface.
    pub fn take_in(&mut self) -> Result<bool> {
        let device = &self.device;
        let blocks = device.download(self.blocks.wanted(), 2)?;
        let wanted = device.download(&self.cubes.wanted().cast::<MeshWanted>(), 1)?[0];
        let spray = device.download(&self.spray_count.count, 1)?[0];
        let MeshWanted { cube_blocks, vertices, triangles } = wanted;
        self.found = SurfaceFound { blocks: [blocks[0], blocks[1]], cube_blocks, vertices, triangles, spray };
        let room = self.blocks.capacity();
        if blocks[0] > room.occupied || blocks[1] > room.active {
            let occupied = grown(blocks[0], room.occupied);
            // Where some were left out, no one knows how many those reach; no more than eight each, but mostly fewer than one more.
            let active =
                grown(blocks[1].max(if blocks[0] > room.occupied { occupied } else { 0 }), room.active);
            self.density = device.buffer("surface density", 64 * active as usize)?;
            self.blocks.resize(device, BlockCapacity { occupied, active })?;
            return Ok(false);
        }
        let room = self.cubes.capacity();
        if !wanted.fits(room) {
            let capacity = MeshCapacity {
                cube_blocks: grown(cube_blocks, room.cube_blocks),
                vertices: grown(vertices, room.vertices),
                triangles: grown(triangles, room.triangles),
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

    /// How many particles there may be.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// What was taken in last.
    pub fn found(&self) -> SurfaceFound {
        self.found
    }

    /// The surface found last, to be drawn.
    pub fn mesh(&self, material: Material, color: [f32; 3]) -> Mesh<'_> {
        Mesh {
            position: self.cubes.position(),
            normal: self.cubes.normal(),
            triangle: self.cubes.triangle(),
            count: self.cubes.triangle_count(),
            at_most: self.found.triangles,
            material,
            color,
        }
    }

    /// Positions in m of the particles outside of it, sorted by cell.
    pub fn spray(&self) -> &Buffer<[f32; 3]> {
        &self.spray
    }

    /// How many particles are outside of it.
    pub fn spray_count(&self) -> &DeviceCount {
        &self.spray_count
    }

    /// The mesh itself.
    pub fn marching_cubes(&self) -> &MarchingCubes {
        &self.cubes
    }

    /// Bytes that it holds on the device: of particles, of blocks and of the mesh.
    pub fn bytes(&self) -> u64 {
        let of_particles = [self.key.len(), self.order.len(), self.is_spray.len()].map(|n| 4 * n as u64);
        let of_positions = [self.position.len(), self.spray.len()].map(|n| 12 * n as u64);
        let of_nodes = 4 * self.density.len() as u64;
        let sums: u64 = of_particles.iter().chain(&of_positions).sum();
        sums + of_nodes + self.blocks.bytes() + self.cubes.bytes()
    }
}

/// Room for so many and some more; as much as there is, if that was enough.
fn grown(wanted: u32, room: u32) -> u32 {
    if wanted <= room {
        return room;
    }
    (u64::from(wanted) * GROWTH_EIGHTHS / 8).min(u64::from(u32::MAX)) as u32
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Device(error) => Self::Device(error),
            other => Self::Kernel(other),
        }
    }
}
