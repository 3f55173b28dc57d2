//! Fluids of a scene's pictures.

use super::shown::Shown;
use crate::failure::Failure;
use frazil_particles::{Material, ParticleSet};
use frazil_render::{
    Coloring, EllipsoidOptions, Ellipsoids, Fluid, FluidMaterial, FluidSet, Particles, Radius, Shading,
    Smoothing, SpraySplit, SurfaceOptions, Surroundings, WATER_REFRACTIVE_INDEX, read_image,
};
use frazil_scene::{FluidFilter, Scene};
use frazil_vk::{Buffer, Device, DeviceCount};
use std::path::Path;

/// Particles that a picture shows as a fluid, and how.
pub struct Fluids {
    device: Device,
    scene: Scene,
    material: FluidMaterial,
    smoothing: Smoothing,
    surroundings: Option<Surroundings>,
    radius_m: f32,
    volume_m3: f32,
    /// Separation of the spray of each set; empty without spray.
    splits: Vec<SpraySplit>,
    /// Ellipsoids of each set; empty for spheres.
    ellipsoids: Vec<Ellipsoids>,
    /// Positions of each set, if spray is not separated.
    positions: Vec<Buffer<[f32; 3]>>,
}

/// Default absorption of red, green and blue light over the length that the domain has if it is a cube.
const ABSORPTION_PER_LENGTH: [f64; 3] = [2.4, 0.75, 0.45];
/// Radius of spray in spacings; drops break up, and are smaller than the particles that stand for them.
const SPRAY_RADIUS_SPACINGS: f64 = 0.3;
/// Distance in spacings of the neighbours to which ellipsoids are fitted.
const ELLIPSOID_REACH_SPACINGS: f64 = 2.0;
/// Share of the way to the mean of its neighbours by which the centre of an ellipsoid moves.
const CENTER_SHARE: f32 = 0.5;
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
            radius_m: in_m(render.fluid_radius_spacings),
            volume_m3: (scene.particle_mass_kg() / scene.rest_density_kg_m3()) as f32,
            splits: Vec::new(),
            ellipsoids: Vec::new(),
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
        if self.scene.render.fluid_anisotropy > 1.0 {
            for (i, (count, position)) in found.iter().enumerate() {
                self.fit_ellipsoids(i, count, position)?;
            }
        }
        self.positions = found.into_iter().map(|(_, position)| position).collect();
        Ok(())
    }

    /// Fits ellipsoids to the particles of a set without its spray.
    fn fit_ellipsoids(
        &mut self,
        i: usize,
        count: &DeviceCount,
        position: &Buffer<[f32; 3]>,
    ) -> Result<(), Failure> {
        let bulk = self.splits.get(i).and_then(SpraySplit::bulk);
        let (position, count) = bulk.unwrap_or((position, count));
        if self.ellipsoids.get(i).is_none_or(|fit| fit.capacity() < count.capacity) {
            let made = Ellipsoids::new(&self.device, count.capacity, self.ellipsoid_options());
            self.ellipsoids.truncate(i);
            self.ellipsoids.push(made.map_err(Failure::device)?);
        }
        let mut recorder = self.device.recorder().map_err(Failure::device)?;
        self.ellipsoids[i].record(&mut recorder, count, position).map_err(Failure::device)?;
        self.device.submit(recorder).map_err(Failure::device)?;
        Ok(())
    }

    fn ellipsoid_options(&self) -> EllipsoidOptions {
        EllipsoidOptions {
            min_m: self.scene.domain.min_m.map(|x| x as f32),
            max_m: self.scene.domain.max_m.map(|x| x as f32),
            reach_m: (ELLIPSOID_REACH_SPACINGS * self.scene.particle_spacing_m()) as f32,
            radius_m: self.radius_m,
            max_ratio: self.scene.render.fluid_anisotropy as f32,
            center_share: CENTER_SHARE,
        }
    }

    /// Returns the particles of the fluids found last.
    pub fn sets<'a>(&'a self, shown: &'a Shown<'_>) -> Vec<FluidSet<'a>> {
        let sets = shown.sets.iter().filter(|set| is_fluid(set)).zip(&self.positions);
        sets.enumerate()
            .map(|(i, (set, all))| {
                let bulk = self.splits.get(i).and_then(SpraySplit::bulk);
                let (positions, count) = bulk.unwrap_or((all, set.count));
                let (radius_m, volume_m3) = (self.radius_m, self.volume_m3);
                let ellipsoids = self.ellipsoids.get(i).map(Ellipsoids::ellipsoids);
                FluidSet { positions, count, max_count: u32::MAX, radius_m, ellipsoids, volume_m3 }
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

    /// Returns the radius in m of the spheres that make up a surface.
    pub fn radius_m(&self) -> f32 {
        self.radius_m
    }

    /// Returns the fluid that particle sets make up.
    pub fn fluid<'a>(&'a self, sets: &'a [FluidSet<'a>]) -> Fluid<'a> {
        Fluid {
            sets,
            material: self.material,
            smoothing: self.smoothing,
            surroundings: self.surroundings.as_ref(),
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
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use crate::picture::{Painter, camera};
    use frazil_kernels::Counts;
    use frazil_particles::{ColumnKind, ColumnView};
    use frazil_render::glam::Vec3;
    use frazil_scene::{Render, RenderScheme};
    use frazil_testkit::own_device;
    use frazil_vk::ReadbackRing;

    #[test]
    fn defaults_of_scenes_are_those_that_the_renderer_is_tested_with() {
        let render = Render::default();
        assert_eq!(render.fluid_radius_spacings as f32, frazil_render::FLUID_RADIUS_SPACINGS);
        assert_eq!(render.fluid_smoothing_spacings as f32, frazil_render::SMOOTHING_SPACINGS);
    }

    fn block(lo: Vec3, hi: Vec3, spacing_m: f32) -> Vec<[f32; 3]> {
        let n = ((hi - lo) / spacing_m).round().as_uvec3();
        let cells = (0..n.z).flat_map(|z| (0..n.y).flat_map(move |y| (0..n.x).map(move |x| [x, y, z])));
        cells.map(|cell| (lo + spacing_m * (Vec3::from(cell.map(|i| i as f32)) + 0.5)).to_array()).collect()
    }

    /// A scene with water, of which one drop is in the air, and snow beside it: the water is transparent and
    /// the snow is not, and both the drop and the snow are drawn as spheres, white.
    #[test]
    fn water_is_a_fluid_and_spray_and_snow_are_spheres() {
        draw_water_snow_and_a_drop("render.fluid_anisotropy=1");
    }

    /// The same with ellipsoids in place of the spheres of the water.
    #[test]
    fn water_of_ellipsoids_is_a_fluid_and_spray_and_snow_are_spheres() {
        draw_water_snow_and_a_drop("render.fluid_anisotropy=4");
    }

    fn draw_water_snow_and_a_drop(anisotropy: &str) {
        let device = own_device();
        let overrides = [
            anisotropy,
            "render.scheme=\"fluid\"",
            "render.width_px=320",
            "render.height_px=180",
            "render.background_srgb=[0.3,0.5,0.7]",
            "render.camera={azimuth_deg=0,elevation_deg=5,target_m=[0,0.5,0],distance_m=3}",
        ];
        let scene = Scene::find("melting", &overrides.map(str::to_owned)).unwrap();
        let spacing_m = scene.particle_spacing_m() as f32;
        let drop = Vec3::new(0.0, 0.9, 0.0);
        let mut water = block(Vec3::new(-0.4, 0.0, -0.2), Vec3::new(0.0, 0.5, 0.2), spacing_m);
        water.push(drop.to_array());
        let snow = block(Vec3::new(0.1, 0.0, -0.2), Vec3::new(0.4, 0.5, 0.2), spacing_m);
        let counts = Counts::new(&device).unwrap();
        let upload = |places: &[[f32; 3]]| -> (DeviceCount, Buffer<[f32; 3]>) {
            let n = places.len() as u32;
            let count = counts.upload(&device, "count", n, n).unwrap();
            (count, device.buffer_from("position", places).unwrap())
        };
        let (n_water, n_all) = (water.len(), water.len() + snow.len());
        let [(water_count, water), (snow_count, snow)] = [upload(&water), upload(&snow)];
        let set = |name, material, count, position: &Buffer<[f32; 3]>| {
            let columns = vec![ColumnView::new("position", "m", ColumnKind::Vec3, position.cast())];
            ParticleSet { name, material, count, columns }
        };
        let sets = vec![
            set("snow", Material::Snow, &snow_count, &snow),
            set("water", Material::Water, &water_count, &water),
        ];
        let shown = Shown { sets, slabs: None, bodies: None, blocks: None };
        let mut fluids = Fluids::new(&device, &scene).unwrap();
        fluids.find(&shown).unwrap();
        assert_eq!(fluids.spray()[0].max_count, 1, "of {n_water} particles the drop is spray");
        let mut painter = Painter::new(&device, &scene, n_all).unwrap();
        assert_eq!(painter.scheme(), RenderScheme::Fluid);
        let camera = camera(&scene);
        let mut recorder = device.recorder().unwrap();
        let image = painter.record(&mut recorder, &shown, camera, "phase", 0.0).unwrap();
        let (width, height) = image.size();
        let pending = ReadbackRing::new(&device).read_image(&mut recorder, image).unwrap();
        device.submit(recorder).unwrap();
        let pixels = pending.wait().unwrap();
        let at = |place: Vec3| {
            let (pixel, _) = camera.project(place, width, height).unwrap();
            pixels[(pixel.y as u32 * width + pixel.x as u32) as usize].to_le_bytes()
        };
        let [drop, snow, water, air] =
            [drop, Vec3::new(0.25, 0.3, 0.2), Vec3::new(-0.2, 0.3, 0.2), Vec3::new(0.3, 0.9, 0.0)].map(at);
        let is_white = |[r, g, b, _]: [u8; 4]| r > 130 && r.abs_diff(g) < 30 && g.abs_diff(b) < 30;
        assert!(is_white(snow) && !is_white(water), "snow {snow:?}, water {water:?}");
        assert!(water != air && water[2] > water[0], "water {water:?}, air {air:?}");
        // The drop is smaller than a pixel.
        assert!(drop[0] > air[0] + 30 && drop[1] > air[1] + 15, "drop {drop:?}, air {air:?}");
        device.check_validation().unwrap();
    }
}
