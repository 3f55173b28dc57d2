//! Surface of a particle set, and the spray around it.

use crate::spray::{SpraySplit, SurfaceOptions, WORKGROUP_SIZE, grown};
use crate::{Material, Mesh, Result};
use frazil_kernels::{KernelError, MarchingCubes, MeshCapacity, RequiredMeshCapacity};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Extraction of the surface around particles: sorts them by cell, splats their mass onto nodes, runs
/// marching cubes, and lists particles outside as spray.
///
/// The required numbers of blocks, vertices and triangles are known only after a search. [`Self::find`] then
/// grows the capacities and searches again, so that no surface is ever truncated; it waits for the device
/// after each search. [`Self::record`] only records, for callers that know that the capacities suffice.
pub struct ParticleSurface {
    device: Device,
    level_kg_m3: f32,
    split: SpraySplit,
    cubes: MarchingCubes,
    /// Sizes of the last surface, as known to the host.
    found: SurfaceFound,
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

/// Maximum number of searches until all capacities suffice: blocks first, then cubes, then vertices and
/// triangles.
const MAX_SEARCHES: usize = 8;

impl ParticleSurface {
    /// Creates a surface extraction for up to `capacity` particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// A lattice with more cells than indices, a level or a mass that is not positive; out of memory.
    pub fn new(device: &Device, capacity: u32, options: SurfaceOptions) -> Result<Self> {
        let split = SpraySplit::new(device, capacity, options, false)?;
        let n_blocks = split.blocks().capacity().occupied;
        let mesh_capacity =
            MeshCapacity { cube_blocks: 2 * n_blocks, vertices: 8 * n_blocks, triangles: 16 * n_blocks };
        let layout = *split.blocks().layout();
        Ok(Self {
            device: device.clone(),
            level_kg_m3: options.level_kg_m3,
            cubes: MarchingCubes::new(device, layout, mesh_capacity, WORKGROUP_SIZE)?,
            split,
            found: SurfaceFound::default(),
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
        self.split.record_density(recorder, count, position)?;
        let blocks = self.split.blocks();
        let (active_count, active) = (blocks.active_count(), blocks.active());
        self.cubes.record(recorder, active_count, active, self.split.density(), self.level_kg_m3)?;
        self.split.record_split(recorder, count)
    }

    /// Reads the sizes that the last, completed search found, and grows the capacities that it exceeded.
    /// Returns true if all of them sufficed; otherwise search again. It waits for the device.
    ///
    /// # Errors
    /// A device error, or out of memory for the whole surface.
    pub fn take_in(&mut self) -> Result<bool> {
        let is_split = self.split.take_in()?;
        let (blocks, spray) = (self.split.found_blocks(), self.split.found_spray());
        let device = &self.device;
        let required = device.download(&self.cubes.required().cast::<RequiredMeshCapacity>(), 1)?[0];
        let RequiredMeshCapacity { cube_blocks, vertices, triangles } = required;
        self.found = SurfaceFound { blocks, cube_blocks, vertices, triangles, spray };
        if !is_split {
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
        self.split.capacity()
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
        self.split.spray()
    }

    /// Returns the number of particles outside the surface.
    pub fn spray_count(&self) -> &DeviceCount {
        self.split.spray_count()
    }

    /// Returns the mesh extraction.
    pub fn marching_cubes(&self) -> &MarchingCubes {
        &self.cubes
    }

    /// Returns the device memory in bytes of particles, blocks and mesh.
    pub fn bytes(&self) -> u64 {
        self.split.bytes() + self.cubes.bytes()
    }
}
