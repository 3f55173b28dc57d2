//! Drawing of pictures of a scene from its columns, with colours and legend.

use super::body_lines;
use super::coloring::{self, Heights, PHASE, Property};
use super::fluid::Fluids;
use super::grid_lines;
use super::landscape::Landscape;
use super::legends::{LegendOverride, Legends};
use super::powder::PowderStyle;
use super::shown::Shown;
use super::space::{up_axis, vec3};
use super::surface::Surfaces;
use crate::failure::Failure;
use frazil_particles::{ColumnKind, Material, ParticleSet, SetInfo};
use frazil_render::{
    Ball, Clip, ColorMap, Coloring, Frame, Ground, Legend, Mesh, OrbitCamera, Particles, Radius, Renderer,
    Shading, Shadows, Swatch, WireBox,
};
use frazil_scene::{GridLines, Projection, RenderScheme, Scene};
use frazil_vk::{Buffer, Device, Image, Recorder};

/// Draws pictures of a scene.
pub struct Painter {
    device: Device,
    renderer: Renderer,
    /// Descriptions of the sets of particles, by the solver.
    infos: Vec<SetInfo>,
    legends: Legends,
    scenery: Scenery,
    landscape: Landscape,
    scheme: RenderScheme,
    surfaces: Surfaces,
    powder: PowderStyle,
    fluids: Fluids,
    clip: Option<Clip>,
}

/// A set of particles to be drawn as spheres.
struct Sprites<'a> {
    set: &'a ParticleSet<'a>,
    position: Buffer<[f32; 3]>,
    radius_m: f32,
    /// Individual radii, if the particles have them, and the factor on these.
    radii: Option<(Buffer<f32>, f32)>,
    /// Property by which they are coloured; if none, they are coloured by material.
    property: Option<Property>,
    shading: Shading,
}

/// Parts of a picture other than particles.
struct Scenery {
    heights: Heights,
    background: [f32; 3],
    /// True if density is shown as intensity.
    by_intensity: bool,
    radius_m: f32,
    /// Radius of particles of snow.
    snow_radius_m: f32,
    /// Factor on individual radii.
    radius_scale: f32,
    /// Radius of water particles in scenes with snow.
    water_radius_m: f32,
    /// Shading of water in scenes with snow.
    water: Shading,
    domain: WireBox,
    /// Scene, whose bodies may move.
    scene: Scene,
    ground: Ground,
}

/// Display-encoded colour of solid spheres.
const BALL_COLOUR: [f32; 3] = [0.45, 0.44, 0.42];
/// Column that [`frazil_scene::Shading::Density`] shows.
const DENSITY: &str = "density";
/// Radius of soft discs in radii of particles. They fade out over the outer half, and hide gaps of three
/// radii between particles that are placed at random.
const SOFT_RADII: f32 = 3.0;
/// Ambient occlusion of snow relative to that of other materials, since snow scatters light.
const SNOW_OCCLUSION: f32 = 0.4;

impl Painter {
    /// Creates a painter for pictures of the scene's size. Set-up: it waits for the device.
    pub fn new(device: &Device, scene: &Scene, n_particles: usize) -> Result<Self, Failure> {
        let infos = frazil_solvers::set_infos(scene, n_particles);
        let mut renderer =
            Renderer::new(device, scene.render.width_px, scene.render.height_px).map_err(Failure::device)?;
        let is_fluid = scene.render.scheme == RenderScheme::Fluid;
        if infos.len() > 1 || scene.ground().is_some() || is_fluid {
            // On white, such as snow with water and ground, edges and the noise of the shading would be
            // visible; so would the spheres at the silhouette of a fluid.
            renderer.set_supersampling(2).map_err(Failure::device)?;
        }
        Ok(Self {
            device: device.clone(),
            renderer,
            infos,
            legends: Legends::new(device),
            scenery: Scenery::of(scene),
            landscape: Landscape::new(device, scene)?,
            scheme: scene.render.scheme,
            surfaces: Surfaces::new(device, scene),
            powder: PowderStyle::of(scene),
            fluids: Fluids::new(device, scene)?,
            clip: None,
        })
    }

    /// Returns true if the range of a property must still be determined from its values, which must be
    /// computed before a picture is recorded.
    pub fn needs_range(&self, shown: &Shown<'_>, name: &str) -> bool {
        let is_unknown =
            |set| self.property_of(set, name).is_some_and(|property| property.display.range.is_none());
        !self.scheme.has_surface()
            && self.legends.get(name).is_none()
            && self.scenery.legend_override(name).range.is_none()
            && shown.sets.iter().filter(|set| !self.is_fluid(set)).any(is_unknown)
    }

    /// Records a picture of the columns, coloured by the property of a name, and returns the image it is
    /// drawn into. It waits for the device if it looks for surfaces, for the property's range, or for blocks
    /// of the grid.
    pub fn record(
        &mut self,
        recorder: &mut Recorder,
        shown: &Shown<'_>,
        camera: OrbitCamera,
        name: &str,
        time_s: f64,
    ) -> Result<&Image, Failure> {
        let has_surface = self.scheme.has_surface();
        let sprites = if has_surface { Vec::new() } else { self.sprites(shown, name)? };
        let is_fluid = self.scheme == RenderScheme::Fluid;
        if is_fluid {
            self.fluids.find(shown)?;
        }
        let (mut particles, surfaces) = if has_surface {
            self.surfaces.find(shown)?;
            let (radius_m, are_solid) = (self.scenery.radius_m, !self.powder.has_spray());
            (self.surfaces.spray(shown, radius_m, are_solid), self.surfaces.meshes(shown))
        } else {
            let legend = self.legends.get(name);
            (sprites.iter().map(|sprites| sprites.particles(legend)).collect(), Vec::new())
        };
        let carriers = if has_surface { self.powder.carriers(shown) } else { Vec::new() };
        let powder = match has_surface {
            true => self.powder.powder(&carriers, &self.surfaces, shown),
            false => Vec::new(),
        };
        let scenery = &self.scenery;
        let by_intensity = scenery.is_by_intensity(name);
        let is_by_phase = name == PHASE && !has_surface && !is_fluid;
        if is_fluid {
            particles.extend(self.fluids.spray());
        }
        let fluid_sets = if is_fluid { self.fluids.sets(shown) } else { Vec::new() };
        let swatch = |set: &ParticleSet<'_>| Swatch {
            label: set.name.into(),
            color: coloring::material_colour(set.material),
        };
        let swatches: Vec<Swatch> = shown.sets.iter().map(swatch).filter(|_| is_by_phase).collect();
        let caption = format!("{}   t = {time_s:.3} s", scenery.scene.name);
        let has_ground = self.landscape.has_ground();
        // On a mountain the domain's box would float in the air.
        let domain = (!has_ground).then_some(scenery.domain);
        let boxes: Vec<WireBox> = domain
            .into_iter()
            .chain(body_lines::outlines(&scenery.scene, time_s))
            .chain(grid_lines::outlines(&self.device, &scenery.scene, shown.blocks.as_ref())?)
            .collect();
        let balls = scenery.balls(time_s);
        let meshes: Vec<Mesh<'_>> = self.landscape.solids(&scenery.scene).chain(surfaces).collect();
        let has_slabs = self.scheme == RenderScheme::SurfaceAndSlabs;
        let slabs = self.landscape.slabs(shown.slabs.as_ref()).filter(|_| has_slabs);
        let pieces: Vec<_> = slabs.into_iter().chain(self.landscape.bodies(shown.bodies.as_ref())).collect();
        let frame = Frame {
            camera,
            background: if by_intensity { [0.0; 3] } else { scenery.background },
            particles: &particles,
            boxes: &boxes,
            balls: &balls,
            ground: (!by_intensity && !has_ground).then_some(scenery.ground),
            meshes: &meshes,
            pieces: &pieces,
            powder: &powder,
            fluid: is_fluid.then(|| self.fluids.fluid(&fluid_sets)),
            backdrop: is_fluid && scenery.scene.render.show_environment,
            // Flat discs have no ambient occlusion.
            occlusion: match (by_intensity, has_surface || is_fluid || is_by_phase) {
                (true, _) => 0.0,
                (false, true) => SNOW_OCCLUSION,
                (false, false) => 1.0,
            },
            // Surfaces are coloured by material.
            legend: self.legends.get(name).filter(|_| !(has_surface || is_fluid && sprites.is_empty())),
            clip: self.clip,
            swatches: &swatches,
            scale: scenery.scene.render.show_scale,
            caption: &caption,
            shadows: self.shadows(),
            ..self.landscape.frame()
        };
        self.renderer.record(recorder, &frame).map_err(Failure::device)?;
        Ok(self.renderer.image())
    }

    /// Returns the shadows of a picture: with a terrain or a fluid, whose light is that of the sun.
    fn shadows(&self) -> Option<Shadows> {
        let Scenery { scene, radius_m, .. } = &self.scenery;
        let [lo, hi] = [scene.domain.min_m, scene.domain.max_m].map(vec3);
        let is_fluid = self.scheme == RenderScheme::Fluid;
        let shadows = match self.landscape.bounds() {
            Some([low, high]) => Shadows::of_terrain([lo.min(low), hi.max(high)], *radius_m),
            None if is_fluid => Shadows::of_particles([lo, hi], self.fluids.radius_m()),
            None => return None,
        };
        scene.render.shadows.then_some(shadows)
    }

    /// Draws the bodies of a scene that differs in live parameters alone, such as motions of bodies.
    pub fn set_scene(&mut self, scene: &Scene) {
        if self.scenery.scene != *scene {
            self.scenery.scene = scene.clone();
        }
    }

    /// Draws only those spheres whose centres are in a layer of space.
    pub fn set_clip(&mut self, clip: Option<Clip>) {
        self.clip = clip;
    }

    /// Returns the legend of a property, once a picture of it has been recorded.
    pub fn legend(&self, name: &str) -> Option<&Legend> {
        self.legends.get(name)
    }

    /// Sets the colours and the range of the pictures of a property from now on.
    pub fn set_legend(&mut self, name: &str, map: ColorMap, range: [f32; 2]) {
        self.legends.set(name, map, range);
    }

    /// Determines colours and range of a property anew in the next picture, as in the first one.
    pub fn reset_legend(&mut self, name: &str) {
        self.legends.forget(name);
    }

    /// Downloads the finite values of a property that particles drawn as spheres have. It waits for the
    /// device.
    pub fn values(&self, shown: &Shown<'_>, name: &str) -> Result<Vec<f32>, Failure> {
        let mut values = Vec::new();
        for set in shown.sets.iter().filter(|set| !self.is_fluid(set)) {
            let Some(property) = self.property_of(set, name) else { continue };
            let n = self.device.download(&set.count.count, 1)?.first().map_or(0, |n| *n as usize);
            let all = property.values.download(&self.device, n)?;
            values.extend(all.into_iter().filter(|value| value.is_finite()));
        }
        Ok(values)
    }

    /// Returns true if a picture needs results on the host before it is recorded.
    pub fn waits(&self) -> bool {
        self.scheme.waits() || self.scenery.scene.render.grid != GridLines::None
    }

    /// Sets the representation of particles.
    pub fn set_scheme(&mut self, scheme: RenderScheme) {
        self.scheme = scheme;
    }

    /// Returns the representation of particles.
    pub fn scheme(&self) -> RenderScheme {
        self.scheme
    }

    /// Returns the number of triangles of the ground in a picture, and of the last surfaces found.
    pub fn triangles(&self, camera: &OrbitCamera) -> [u64; 2] {
        let (width, height) = self.renderer.size();
        let surfaces = if self.scheme.has_surface() { self.surfaces.n_triangles() } else { 0 };
        [self.landscape.n_triangles(camera, width, height), surfaces]
    }

    /// Sets the size of the pictures.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), Failure> {
        self.renderer.resize(width, height).map_err(Failure::device)
    }

    /// Returns the spheres of all sets of particles, coloured by a property.
    fn sprites<'a>(&mut self, shown: &'a Shown<'_>, name: &str) -> Result<Vec<Sprites<'a>>, Failure> {
        let is_by_phase = name == PHASE && shown.has_phases();
        let mut sprites = Vec::with_capacity(shown.sets.len());
        for set in shown.sets.iter().filter(|set| !self.is_fluid(set)) {
            let property = if is_by_phase { None } else { self.property_of(set, name) };
            let position = set.column("position").filter(|column| column.kind == ColumnKind::Vec3);
            let Some(position) = position.filter(|_| is_by_phase || property.is_some()) else {
                return Err(coloring::unknown(&self.scenery.scene, name, &shown.names()).into());
            };
            let is_beside_snow = set.material == Material::Water && shown.has_phases();
            let radii = set.column("radius").filter(|column| column.kind == ColumnKind::F32);
            sprites.push(Sprites {
                set,
                position: position.words.cast(),
                radius_m: match self.scenery.is_by_intensity(name) {
                    true => SOFT_RADII * self.scenery.radius_m,
                    false if set.material == Material::Snow => self.scenery.snow_radius_m,
                    false => self.scenery.radius_m(is_beside_snow, is_by_phase),
                },
                radii: radii.map(|radii| (radii.words.cast(), self.scenery.radius_scale)),
                property,
                shading: match set.material {
                    Material::Water if is_by_phase => self.scenery.water,
                    _ if is_by_phase => Shading::Matte,
                    _ if self.scenery.is_by_intensity(name) => Shading::Brightest,
                    _ => Shading::Lit,
                },
            });
        }
        if self.legends.get(name).is_none() && !sprites.is_empty() {
            let properties: Vec<_> = sprites
                .iter()
                .filter_map(|sprites| Some((sprites.set.count, sprites.property.as_ref()?)))
                .collect();
            self.legends.find(name, &properties, self.scenery.legend_override(name))?;
        }
        Ok(sprites)
    }

    /// Returns true if a set is drawn as a fluid.
    fn is_fluid(&self, set: &ParticleSet<'_>) -> bool {
        self.scheme == RenderScheme::Fluid && set.material == Material::Water
    }

    /// Finds the property of a name in a set.
    fn property_of(&self, set: &ParticleSet<'_>, name: &str) -> Option<Property> {
        let info = self.infos.iter().find(|info| info.name == set.name).or(self.infos.first());
        coloring::find(set, info, name, self.scenery.heights)
    }
}

impl Sprites<'_> {
    fn particles(&self, legend: Option<&Legend>) -> Particles<'_> {
        Particles {
            positions: &self.position,
            count: self.set.count,
            max_count: u32::MAX,
            radius: match &self.radii {
                Some((radii_m, scale)) => Radius::Each { radii_m, scale: *scale, typical_m: self.radius_m },
                None => Radius::Uniform(self.radius_m),
            },
            coloring: match (&self.property, legend) {
                (Some(property), Some(&Legend { map, range, .. })) => {
                    Coloring::Mapped { column: property.values.column(), map, range }
                }
                _ => Coloring::Uniform(coloring::material_colour(self.set.material)),
            },
            shading: self.shading,
        }
    }
}

/// Returns the property that a scene's pictures show.
pub fn property(scene: &Scene) -> &str {
    match scene.render.shading {
        frazil_scene::Shading::Density => DENSITY,
        frazil_scene::Shading::Lit => &scene.render.colour_by,
    }
}

/// Returns the schemes in which a scene's particles can be drawn.
pub fn schemes(scene: &Scene) -> Vec<RenderScheme> {
    let has = |scheme: &RenderScheme| match scheme {
        RenderScheme::Sprites => true,
        RenderScheme::Surface | RenderScheme::Fluid => scene.n_dimensions() == 3,
        RenderScheme::SurfaceAndSlabs => !scene.slabs().is_empty(),
    };
    RenderScheme::ALL.into_iter().filter(has).collect()
}

/// Returns the camera of a scene.
pub fn camera(scene: &Scene) -> OrbitCamera {
    let (view, camera) = (scene.view(), &scene.render.camera);
    OrbitCamera {
        target: vec3(view.target_m),
        distance_m: view.distance_m as f32,
        azimuth_deg: camera.azimuth_deg as f32,
        elevation_deg: camera.elevation_deg as f32,
        vertical_fov_deg: camera.vertical_fov_deg as f32,
        up_axis: up_axis(scene.up_axis),
        projection: match camera.projection {
            Projection::Perspective => frazil_render::Projection::Perspective,
            Projection::Orthographic => frazil_render::Projection::Orthographic,
        },
    }
}

impl Scenery {
    fn of(scene: &Scene) -> Self {
        let (lo, hi) = (vec3(scene.domain.min_m), vec3(scene.domain.max_m));
        Self {
            heights: Heights::of(scene),
            background: scene.render.background_srgb.map(|component| component as f32),
            by_intensity: scene.render.shading == frazil_scene::Shading::Density,
            radius_m: (scene.render.particle_radius_spacings * scene.particle_spacing_m()) as f32,
            snow_radius_m: (scene.render.particle_radius_spacings * scene.snow_spacing_m()) as f32,
            // A radius of half a spacing is the true size of a particle.
            radius_scale: (2.0 * scene.render.particle_radius_spacings) as f32,
            water_radius_m: (scene.render.water_radius_spacings * scene.particle_spacing_m()) as f32,
            water: Shading::Translucent { percent: (100.0 * scene.render.water_opacity).round() as u8 },
            domain: WireBox::between(lo, hi),
            scene: scene.clone(),
            ground: Ground::under(lo, hi, up_axis(scene.up_axis)),
        }
    }

    /// Returns the solid spheres at a time in s. Containers are not drawn, because they would hide their
    /// contents.
    fn balls(&self, time_s: f64) -> Vec<Ball> {
        let ball = |(center, radius_m)| Ball { center, radius_m, color: BALL_COLOUR };
        body_lines::solid_spheres(&self.scene, time_s).map(ball).collect()
    }

    fn radius_m(&self, is_beside_snow: bool, is_by_phase: bool) -> f32 {
        match (is_beside_snow, is_by_phase) {
            (true, true) => self.water_radius_m,
            // A solid container would hide its contents.
            (true, false) => self.water_radius_m / 3.0,
            (false, _) => self.radius_m,
        }
    }

    /// Returns true if a property is shown by the brightness of particles.
    fn is_by_intensity(&self, name: &str) -> bool {
        self.by_intensity && name == DENSITY
    }

    /// Returns the colours and the range of a property, if the scene gives them.
    fn legend_override(&self, name: &str) -> LegendOverride {
        let range = self.scene.render.colour_range.filter(|_| name == property(&self.scene));
        let range = range.map(|range| range.map(|end| end as f32));
        if self.is_by_intensity(name) {
            let range = range.unwrap_or([0.0, self.scene.rest_density_kg_m3() as f32]);
            return LegendOverride { map: Some(ColorMap::Grey), range: Some(range) };
        }
        LegendOverride { map: None, range }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_kernels::Counts;
    use frazil_particles::ColumnView;
    use frazil_scene::BodyMotion;
    use frazil_testkit::own_device;
    use frazil_vk::ReadbackRing;

    #[test]
    fn bodies_are_drawn_where_a_changed_motion_moves_them() {
        let device = own_device();
        let overrides = ["render.width_px=160", "render.height_px=90"].map(str::to_owned);
        let scene = Scene::find("drum", &overrides).unwrap();
        let motion = BodyMotion::Spinning {
            point_m: [0.0; 3],
            angular_velocity_rad_s: [0.0, 0.0, -4.0],
            from_s: 0.0,
            until_s: None,
        };
        let changed = scene.with_body_motion(1, &motion).unwrap();
        let count = Counts::new(&device).unwrap().upload(&device, "count", 1, 1).unwrap();
        let position = device.buffer_from("position", &[[0.0_f32; 3]]).unwrap();
        let columns = vec![ColumnView::new("position", "m", ColumnKind::Vec3, position.cast())];
        let set = ParticleSet { name: "water", material: Material::Water, count: &count, columns };
        let shown = Shown { sets: vec![set], slabs: None, bodies: None, blocks: None };
        let ring = ReadbackRing::new(&device);
        let draw = |painter: &mut Painter| {
            let mut recorder = device.recorder().unwrap();
            let image = painter.record(&mut recorder, &shown, camera(&scene), "height", 0.2).unwrap();
            let pending = ring.read_image(&mut recorder, image).unwrap();
            device.submit(recorder).unwrap();
            pending.wait().unwrap()
        };
        let mut painter = Painter::new(&device, &scene, 1).unwrap();
        let before = draw(&mut painter);
        painter.set_scene(&changed);
        let after = draw(&mut painter);
        assert!(before != after && after == draw(&mut Painter::new(&device, &changed, 1).unwrap()));
        device.check_validation().unwrap();
    }
}
