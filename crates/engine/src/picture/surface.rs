//! Surfaces of a scene's particles, and their construction.

use super::coloring::WATER_COLOUR;
use super::shown::Shown;
use crate::failure::Failure;
use frazil_io::Column;
use frazil_particles::{Material, ParticleSet};
use frazil_render::{Coloring, Mesh, ParticleSurface, Particles, Radius, Shading, SurfaceOptions};
use frazil_scene::{Scene, Vec3};
use frazil_vk::{Buffer, Device, DeviceCount};

/// Surfaces of all sets of particles that a picture shows.
pub struct Surfaces {
    device: Device,
    scene: Scene,
    /// One surface per set, created on first use.
    surfaces: Vec<ParticleSurface>,
}

/// A surface on the host: an indexed mesh.
#[derive(Default)]
pub struct HostSurface {
    /// Positions of vertices in m.
    pub position: Vec<[f32; 3]>,
    /// Unit normals of vertices.
    pub normal: Vec<[f32; 3]>,
    /// Vertices of triangles, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Properties of vertices.
    pub attributes: Vec<Column>,
}

impl HostSurface {
    /// Returns the mesh in the form in which it is written.
    pub fn mesh(&self) -> frazil_io::Mesh<'_> {
        let Self { position, normal, triangles, attributes } = self;
        frazil_io::Mesh { position, normal, triangles, attributes }
    }
}

/// Returns an error for a scene whose particles have no surface, naming the `option` that requires it.
pub fn check(scene: &Scene, option: &str) -> Result<(), Failure> {
    match scene.n_dimensions() {
        3 => Ok(()),
        n => Err(Failure::input(format!(
            "{option}: \"{}\" is a scene in {n} dimensions, expected one in 3: only bodies in space have a \
             surface",
            scene.name
        ))),
    }
}

/// Display-encoded colour of flowing snow in sunlight, brighter than that on the ground.
const FLOWING_SNOW_COLOUR: [f32; 3] = [0.96, 0.97, 0.99];

impl Surfaces {
    /// Creates the surfaces of a scene; nothing is allocated before the first use.
    pub fn new(device: &Device, scene: &Scene) -> Self {
        Self { device: device.clone(), scene: scene.clone(), surfaces: Vec::new() }
    }

    /// Computes the surface of each set after all submissions so far. It waits for the device, since the
    /// size of the surface must be known before it can be allocated.
    pub fn find(&mut self, shown: &Shown<'_>) -> Result<(), Failure> {
        for (i, set) in shown.sets.iter().enumerate() {
            let capacity = set.count.capacity;
            // The number of particles of a phase changes between frames of a recording.
            if self.surfaces.get(i).is_none_or(|surface| surface.capacity() < capacity) {
                let options = options(&self.scene, set.material);
                let made = ParticleSurface::new(&self.device, capacity, options).map_err(Failure::device)?;
                self.surfaces.truncate(i);
                self.surfaces.push(made);
            }
            let Some(position) = set.column("position") else { continue };
            self.surfaces[i].find(set.count, &position.words.cast()).map_err(Failure::device)?;
        }
        Ok(())
    }

    /// Returns the number of triangles of the last computed surfaces.
    pub fn n_triangles(&self) -> u64 {
        self.surfaces.iter().map(|surface| u64::from(surface.found().triangles)).sum()
    }

    /// Downloads the last computed surfaces as one mesh. It waits for the device.
    pub fn download(&self) -> Result<HostSurface, Failure> {
        let mut all = HostSurface::default();
        for surface in &self.surfaces {
            let (found, cubes) = (surface.found(), surface.marching_cubes());
            let first = all.position.len() as u32;
            all.position.extend(self.device.download(cubes.position(), found.vertices as usize)?);
            all.normal.extend(self.device.download(cubes.normal(), found.vertices as usize)?);
            let triangles = self.device.download(cubes.triangle(), found.triangles as usize)?;
            all.triangles.extend(triangles.iter().map(|triangle| triangle.map(|vertex| first + vertex)));
        }
        Ok(all)
    }

    /// Returns the last computed surfaces, for drawing.
    pub fn meshes(&self, shown: &Shown<'_>) -> Vec<Mesh<'_>> {
        let sets = self.surfaces.iter().zip(shown.sets.iter().map(is_water));
        sets.map(|(surface, is_water)| match is_water {
            true => surface.mesh(frazil_render::Material::Water, WATER_COLOUR),
            false => surface.mesh(frazil_render::Material::Snow, FLOWING_SNOW_COLOUR),
        })
        .collect()
    }

    /// Returns the particles of each set that are not part of a surface (spray), as spheres of a radius in m;
    /// those of snow only if they `are_solid`.
    pub fn spray(&self, shown: &Shown<'_>, radius_m: f32, are_solid: bool) -> Vec<Particles<'_>> {
        let spray = |(surface, is_water)| {
            let surface: &ParticleSurface = surface;
            let (color, shading) = match is_water {
                true => (WATER_COLOUR, Shading::Lit),
                false => (FLOWING_SNOW_COLOUR, Shading::Sunlit),
            };
            Particles {
                positions: surface.spray(),
                count: surface.spray_count(),
                max_count: surface.found().spray,
                radius: Radius::Uniform(radius_m),
                coloring: Coloring::Uniform(color),
                shading,
            }
        };
        let sets = self.surfaces.iter().zip(shown.sets.iter().map(is_water));
        sets.filter(|(_, is_water)| are_solid || *is_water).map(spray).collect()
    }

    /// Returns positions in m, device count and number of the particles of snow that are not part of a
    /// surface.
    pub fn snow_spray<'a>(
        &'a self,
        shown: &Shown<'_>,
    ) -> impl Iterator<Item = (&'a Buffer<[f32; 3]>, &'a DeviceCount, u32)> {
        let sets = self.surfaces.iter().zip(shown.sets.iter().map(is_water));
        let snow = sets.filter(|(_, is_water)| !is_water);
        snow.map(|(surface, _)| (surface.spray(), surface.spray_count(), surface.found().spray))
    }
}

fn is_water(set: &ParticleSet<'_>) -> bool {
    set.material == Material::Water
}

/// Returns the surface parameters of a material in a scene.
fn options(scene: &Scene, material: Material) -> SurfaceOptions {
    let fraction = material.packing_fraction();
    let narrow = |corner: Vec3| corner.map(|x| x as f32);
    SurfaceOptions {
        min_m: narrow(scene.domain.min_m),
        max_m: narrow(scene.domain.max_m),
        cell_m: (scene.render.surface_cell_spacings * scene.particle_spacing_m()) as f32,
        particle_mass_kg: scene.particle_mass_kg() as f32,
        level_kg_m3: (scene.render.surface_level * fraction * scene.rest_density_kg_m3()) as f32,
    }
}
