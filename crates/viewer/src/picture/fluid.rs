//! Fluids of a scene's pictures.

use super::shown::Shown;
use super::space::vec3;
use crate::failure::Failure;
use frazil_particles::{Material, ParticleSet};
use frazil_render::glam::Vec3;
use frazil_render::{
    Coloring, Fluid, FluidMaterial, FluidSet, Particles, Radius, Shading, Smoothing, SpraySplit,
    SurfaceOptions, Surroundings, WATER_REFRACTIVE_INDEX, read_image,
};
use frazil_scene::{FluidFilter, Scene};
use frazil_vk::{Buffer, Device};
use std::path::Path;

/// Particles that a picture shows as a fluid, and how.
pub struct Fluids {
    device: Device,
    scene: Scene,
    material: FluidMaterial,
    smoothing: Smoothing,
    surroundings: Option<Surroundings>,
    bounds: [Vec3; 2],
    radius_m: f32,
    volume_m3: f32,
    /// Separation of the spray of each set; empty without spray.
    splits: Vec<SpraySplit>,
    /// Positions of each set, if spray is not separated.
    positions: Vec<Buffer<[f32; 3]>>,
}

/// Default absorption of red, green and blue light over the length that the domain has if it is a cube.
const ABSORPTION_PER_LENGTH: [f64; 3] = [2.4, 0.75, 0.45];
/// Radius of spray in spacings; drops break up, and are smaller than the particles that stand for them.
const SPRAY_RADIUS_SPACINGS: f64 = 0.3;
/// Display-encoded colour of spray.
const SPRAY_COLOUR: [f32; 3] = [0.94, 0.96, 0.98];
impl Fluids {
    /// Prepares a scene's fluids. Set-up: it waits for the device.
    pub fn new(device: &Device, scene: &Scene) -> Result<Self, Failure> {
        let (render, spacing_m) = (&scene.render, scene.particle_spacing_m());
        let (lo, hi) = (scene.domain.min_m, scene.domain.max_m);
        let length_m = (0..3).map(|axis| hi[axis] - lo[axis]).product::<f64>().cbrt();
        let absorption_1_m = render.absorption_1_m.unwrap_or(ABSORPTION_PER_LENGTH.map(|a| a / length_m));
        let surroundings = render.environment.as_deref().map(|path| {
            let image = read_image(Path::new(path))
                .map_err(|error| Failure::input(format!("render.environment: {error}")))?;
            Surroundings::new(device, &image).map_err(Failure::device)
        });
        let in_m = |spacings: f64| (spacings * spacing_m) as f32;
        let radius_m = in_m(render.fluid_smoothing_spacings);
        Ok(Self {
            material: FluidMaterial {
                absorption_1_m: absorption_1_m.map(|a| a as f32),
                color: render.fluid_color_srgb.map(|component| component as f32),
                refractive_index: WATER_REFRACTIVE_INDEX,
            },
            smoothing: match render.fluid_filter {
                FluidFilter::Bilateral => Smoothing::bilateral(spacing_m as f32, radius_m),
                FluidFilter::NarrowRange => Smoothing::narrow_range(spacing_m as f32, radius_m),
            },
            surroundings: surroundings.transpose()?,
            bounds: [vec3(lo), vec3(hi)],
            radius_m: in_m(render.fluid_radius_spacings),
            volume_m3: (scene.particle_mass_kg() / scene.rest_density_kg_m3()) as f32,
            splits: Vec::new(),
            positions: Vec::new(),
            device: device.clone(),
            scene: scene.clone(),
        })
    }

    /// Finds the particles of the fluids of a picture after all submissions so far. With spray, it waits for
    /// the device.
    pub fn find(&mut self, shown: &Shown<'_>) -> Result<(), Failure> {
        let sets = shown.sets.iter().filter(|set| is_fluid(set));
        let found = sets.filter_map(|set| Some((set.count, set.column("position")?.words.cast())));
        let found: Vec<_> = found.collect();
        if self.scene.render.spray_level > 0.0 {
            for (i, (count, position)) in found.iter().enumerate() {
                // The number of particles of a phase changes between frames of a recording.
                if self.splits.get(i).is_none_or(|split| split.capacity() < count.capacity) {
                    let options = spray_options(&self.scene);
                    let made = SpraySplit::new(&self.device, count.capacity, options, true);
                    self.splits.truncate(i);
                    self.splits.push(made.map_err(Failure::device)?);
                }
                self.splits[i].find(count, position).map_err(Failure::device)?;
            }
        }
        self.positions = found.into_iter().map(|(_, position)| position).collect();
        Ok(())
    }

    /// Returns the particles of the fluids found last.
    pub fn sets<'a>(&'a self, shown: &'a Shown<'_>) -> Vec<FluidSet<'a>> {
        let sets = shown.sets.iter().filter(|set| is_fluid(set)).zip(&self.positions);
        sets.enumerate()
            .map(|(i, (set, all))| {
                let bulk = self.splits.get(i).and_then(SpraySplit::bulk);
                let (positions, count) = bulk.unwrap_or((all, set.count));
                let (radius_m, volume_m3) = (self.radius_m, self.volume_m3);
                FluidSet { positions, count, max_count: u32::MAX, radius_m, volume_m3 }
            })
            .collect()
    }

    /// Returns the spray found last, as white spheres.
    pub fn spray(&self) -> Vec<Particles<'_>> {
        let radius_m = (SPRAY_RADIUS_SPACINGS * self.scene.particle_spacing_m()) as f32;
        let particles = |split| {
            let split: &SpraySplit = split;
            Particles {
                positions: split.spray(),
                count: split.spray_count(),
                max_count: split.found_spray(),
                radius: Radius::Uniform(radius_m),
                coloring: Coloring::Uniform(SPRAY_COLOUR),
                shading: Shading::Sunlit,
            }
        };
        self.splits.iter().map(particles).collect()
    }

    /// Returns the fluid that particle sets make up.
    pub fn fluid<'a>(&'a self, sets: &'a [FluidSet<'a>]) -> Fluid<'a> {
        Fluid {
            sets,
            material: self.material,
            smoothing: self.smoothing,
            surroundings: self.surroundings.as_ref(),
            bounds: self.bounds,
        }
    }
}

fn is_fluid(set: &ParticleSet<'_>) -> bool {
    set.material == Material::Water
}

/// Returns the parameters by which particles in the air are recognized.
fn spray_options(scene: &Scene) -> SurfaceOptions {
    SurfaceOptions {
        min_m: scene.domain.min_m.map(|x| x as f32),
        max_m: scene.domain.max_m.map(|x| x as f32),
        cell_m: scene.particle_spacing_m() as f32,
        particle_mass_kg: scene.particle_mass_kg() as f32,
        level_kg_m3: (scene.render.spray_level * scene.rest_density_kg_m3()) as f32,
    }
}

#[cfg(test)]
mod tests {
    use frazil_scene::Render;

    #[test]
    fn defaults_of_scenes_are_those_that_the_renderer_is_tested_with() {
        let render = Render::default();
        assert_eq!(render.fluid_radius_spacings as f32, frazil_render::FLUID_RADIUS_SPACINGS);
        assert_eq!(render.fluid_smoothing_spacings as f32, frazil_render::SMOOTHING_SPACINGS);
    }
}
