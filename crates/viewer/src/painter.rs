//! From a scene and its columns to a picture: what is drawn, in which colours, and what the legend says.

use crate::body_lines;
use crate::failure::Failure;
use crate::landscape::{Landscape, SlabPoses};
use crate::outline;
use crate::solver::Solver;
use crate::surface::Surfaces;
use frazil_particles::ColumnView;
use frazil_render::glam::Vec3;
use frazil_render::{
    Ball, ColorMap, Coloring, Column, Frame, Ground, Legend, Mesh, OrbitCamera, Particles, Renderer, Shading,
    Swatch, UpAxis, WireBox,
};
use frazil_scene::{Axis, Collider, ColourBy, Phase, Projection, RenderScheme, Scene, Side};
use frazil_shaders::render::pick_component;
use frazil_solvers::mpm::Mpm;
use frazil_solvers::pbd::Fluid;
use frazil_solvers::pbd::snow::Matter;
use frazil_vk::{Buffer, Device, DeviceCount, Image, Kernel, Recorder, Threads};

/// What one instant's picture is made of.
pub struct Shown<'a> {
    /// Sets of particles: one, or in scenes with snow one a phase.
    pub sets: Vec<ShownSet<'a>>,
    /// Where slabs are; at time 0 where nothing moves them.
    pub slabs: Option<SlabPoses>,
}

/// The columns of a set of particles; what is absent cannot be shown.
pub struct ShownSet<'a> {
    /// What they are made of, where the scene tells phases apart.
    pub phase: Option<Phase>,
    pub count: &'a DeviceCount,
    pub position: Buffer<[f32; 3]>,
    pub velocity: Option<Buffer<[f32; 3]>>,
    pub density: Option<Buffer<f32>>,
    pub id: Option<Buffer<u32>>,
    /// In °C.
    pub temperature: Option<Buffer<f32>>,
    /// J_P.
    pub plastic_volume: Option<Buffer<f32>>,
    /// In kg, in a plane kg/m.
    pub mass: Option<Buffer<f32>>,
    /// (x*, λ) of each particle.
    pub constraint: Option<Buffer<[f32; 4]>>,
}

impl<'a> Shown<'a> {
    /// A solver's particles as they are now, and its slabs as they were when [`Solver::record_bodies`] was recorded last.
    pub fn of(solver: &'a Solver) -> Self {
        Self {
            sets: match solver {
                Solver::Fluid(fluid) => vec![ShownSet::of_fluid(fluid)],
                Solver::Mpm(mpm) => vec![ShownSet::of_mpm(mpm)],
                Solver::Dem(dem) => vec![ShownSet::of_columns(dem.count(), dem.position(), &dem.columns())],
                Solver::Snow(snow) => vec![
                    ShownSet::of_matter(snow.solid(), Phase::Snow),
                    ShownSet::of_matter(snow.fluid(), Phase::Water),
                ],
            },
            slabs: match solver {
                Solver::Dem(dem) => dem.pieces().map(SlabPoses::of),
                Solver::Fluid(_) | Solver::Snow(_) | Solver::Mpm(_) => None,
            },
        }
    }

    /// Whether particles can be coloured by `property`.
    pub fn has(&self, property: ColourBy) -> bool {
        self.sets.iter().all(|set| set.has(property))
    }
}

impl<'a> ShownSet<'a> {
    fn of_fluid(fluid: &'a Fluid) -> Self {
        let columns = fluid.columns();
        let set = Self::of_columns(fluid.count(), fluid.position(), &columns);
        Self { constraint: Some(fluid.constraint().clone()), ..set }
    }

    fn of_mpm(mpm: &'a Mpm) -> Self {
        Self::of_columns(mpm.count(), mpm.position(), &mpm.columns())
    }

    /// Particles of which nothing is known but where they are.
    #[cfg(test)]
    pub fn of_positions(count: &'a DeviceCount, position: &Buffer<[f32; 3]>) -> Self {
        Self::of_columns(count, position, &[])
    }

    fn of_columns(count: &'a DeviceCount, position: &Buffer<[f32; 3]>, columns: &[ColumnView]) -> Self {
        let words =
            |name: &str| columns.iter().find(|column| column.name == name).map(|column| &column.words);
        Self {
            phase: None,
            count,
            position: position.clone(),
            velocity: words("velocity").map(Buffer::cast),
            density: words("density").map(Buffer::cast),
            id: words("id").cloned(),
            temperature: None,
            plastic_volume: words("plastic_volume").map(Buffer::cast),
            mass: words("mass").map(Buffer::cast),
            constraint: None,
        }
    }

    fn of_matter(matter: &'a Matter, phase: Phase) -> Self {
        Self {
            phase: Some(phase),
            count: &matter.phase.count,
            position: matter.position().clone(),
            velocity: Some(matter.velocity().clone()),
            density: Some(matter.density().clone()),
            id: Some(matter.id().clone()),
            temperature: Some(matter.temperature.front().clone()),
            plastic_volume: None,
            mass: None,
            constraint: Some(matter.constraint().clone()),
        }
    }

    fn has(&self, property: ColourBy) -> bool {
        match property {
            ColourBy::Speed => self.velocity.is_some(),
            ColourBy::Density => self.density.is_some(),
            ColourBy::Id => self.id.is_some(),
            ColourBy::Lambda => self.constraint.is_some(),
            ColourBy::Height => true,
            ColourBy::Temperature => self.temperature.is_some(),
            ColourBy::Phase => self.phase.is_some(),
            ColourBy::PlasticVolume => self.plastic_volume.is_some(),
            ColourBy::Mass => self.mass.is_some(),
            // The scene's enum may grow.
            _ => false,
        }
    }
}

/// Every property that particles can be coloured by.
pub const PROPERTIES: [ColourBy; 9] = [
    ColourBy::Phase,
    ColourBy::Temperature,
    ColourBy::Speed,
    ColourBy::Density,
    ColourBy::Height,
    ColourBy::Id,
    ColourBy::Lambda,
    ColourBy::PlasticVolume,
    ColourBy::Mass,
];

/// Draws pictures of a scene.
pub struct Painter {
    renderer: Renderer,
    pick_component: Kernel<pick_component::Interface>,
    /// Values of a property that no column holds as it is, for each set.
    picked: Vec<Buffer<f32>>,
    legends: Vec<(ColourBy, Legend)>,
    swatches: [Swatch; 2],
    scenery: Scenery,
    landscape: Landscape,
    scheme: RenderScheme,
    surfaces: Surfaces,
}

/// What a picture shows beside particles.
struct Scenery {
    name: String,
    up_axis: Axis,
    floor_m: f32,
    background: [f32; 3],
    /// Whether density is shown as intensity.
    by_intensity: bool,
    radius_m: f32,
    /// Of water beside snow.
    water_radius_m: f32,
    /// How water beside snow is shown.
    water: Shading,
    domain: WireBox,
    /// Its colliders may move.
    scene: Scene,
    ground: Ground,
}

/// Display-encoded colour of solid colliders.
const COLLIDER_COLOUR: [f32; 3] = [0.45, 0.44, 0.42];
/// Display-encoded colours of snow and of water, where pictures show them as what they are.
const SNOW_COLOUR: [f32; 3] = [0.94, 0.96, 0.99];
pub const WATER_COLOUR: [f32; 3] = [0.13, 0.42, 0.72];
/// Light gets around in snow: its hollows are darkened by this share of what others' are.
const SNOW_OCCLUSION: f32 = 0.4;
/// The density map reaches this far to both sides of the rest density, as a share of it.
const DENSITY_REACH: f32 = 0.1;
/// About the multiplier of a particle that is compressed by a tenth.
const LAMBDA_MIN: f32 = -0.03;

impl Painter {
    /// Makes a painter of pictures of the scene's size. Set-up: it waits for the device.
    pub fn new(device: &Device, scene: &Scene, n_particles: usize) -> Result<Self, Failure> {
        let legends = PROPERTIES
            .into_iter()
            .filter_map(|property| Some((property, legend(scene, property, n_particles)?)));
        let n_sets = if scene.snow.is_some() { 2 } else { 1 };
        let picked = (0..n_sets).map(|_| device.buffer("picked component", n_particles));
        let swatch = |label: &str, color| Swatch { label: label.into(), color };
        let mut renderer =
            Renderer::new(device, scene.render.width_px, scene.render.height_px).map_err(Failure::device)?;
        if scene.snow.is_some() || scene.ground().is_some() {
            // On white, edges and the grain of shade would show.
            renderer.set_supersampling(2).map_err(Failure::device)?;
        }
        Ok(Self {
            renderer,
            pick_component: Kernel::new(device)?,
            picked: picked.collect::<Result<_, _>>()?,
            legends: legends.collect(),
            swatches: [swatch("snow", SNOW_COLOUR), swatch("water", WATER_COLOUR)],
            scenery: Scenery::of(scene),
            landscape: Landscape::new(device, scene)?,
            scheme: scene.render.scheme,
            surfaces: Surfaces::new(device, scene),
        })
    }

    /// Records a picture of the columns, coloured by `property`, and returns the image it is drawn into.
    pub fn record(
        &mut self,
        recorder: &mut Recorder,
        shown: &Shown<'_>,
        camera: OrbitCamera,
        property: ColourBy,
        time_s: f64,
    ) -> Result<&Image, Failure> {
        if self.scheme.has_surface() {
            self.surfaces.find(shown)?;
        }
        let legend = self.legends.iter().find(|(of, _)| *of == property).map(|(_, legend)| legend);
        // Surfaces look like what they are.
        let legend = legend.filter(|_| !self.scheme.has_surface());
        let (particles, surfaces) = if self.scheme.has_surface() {
            (self.surfaces.spray(shown, self.scenery.radius_m), self.surfaces.meshes(shown))
        } else {
            (self.sprites(recorder, shown, &self.picked, property, legend)?, Vec::new())
        };
        let scenery = &self.scenery;
        let by_intensity = scenery.by_intensity && property == ColourBy::Density;
        let is_by_phase = property == ColourBy::Phase && !self.scheme.has_surface();
        let caption = format!("{}   t = {time_s:.3} s", scenery.name);
        let has_ground = self.landscape.has_ground();
        // On a mountain the domain's box would stand in mid-air.
        let domain = (!has_ground).then_some(scenery.domain);
        let boxes: Vec<WireBox> = domain
            .into_iter()
            .chain(outline::outlines(&scenery.scene, time_s))
            .chain(body_lines::outlines(&scenery.scene, time_s))
            .collect();
        let balls = scenery.balls(time_s);
        let meshes: Vec<Mesh<'_>> = self.landscape.obstacles().chain(surfaces).collect();
        let has_slabs = self.scheme == RenderScheme::SurfaceAndSlabs;
        let pieces = self.landscape.slabs(shown.slabs.as_ref()).filter(|_| has_slabs);
        let frame = Frame {
            camera,
            background: if by_intensity { [0.0; 3] } else { scenery.background },
            particles: &particles,
            boxes: &boxes,
            balls: &balls,
            ground: (!by_intensity && !has_ground).then_some(scenery.ground),
            meshes: &meshes,
            pieces: pieces.as_slice(),
            occlusion: match property {
                // Flat discs have no hollows.
                _ if by_intensity => 0.0,
                _ if self.scheme.has_surface() => SNOW_OCCLUSION,
                ColourBy::Phase => SNOW_OCCLUSION,
                _ => 1.0,
            },
            legend,
            swatches: if is_by_phase { &self.swatches } else { &[] },
            caption: &caption,
            ..self.landscape.frame()
        };
        self.renderer.record(recorder, &frame).map_err(Failure::device)?;
        Ok(self.renderer.image())
    }

    /// What particles are drawn as from now on.
    pub fn set_scheme(&mut self, scheme: RenderScheme) {
        self.scheme = scheme;
    }

    /// What particles are drawn as.
    pub fn scheme(&self) -> RenderScheme {
        self.scheme
    }

    /// All particles, coloured by a property.
    fn sprites<'s>(
        &self,
        recorder: &mut Recorder,
        shown: &'s Shown<'_>,
        picked: &'s [Buffer<f32>],
        property: ColourBy,
        legend: Option<&Legend>,
    ) -> Result<Vec<Particles<'s>>, Failure> {
        let mut particles = Vec::new();
        for (set, picked) in shown.sets.iter().zip(picked) {
            let coloring = self.coloring(recorder, set, property, legend, picked);
            let Some((coloring, shading)) = coloring else {
                return Err(Failure::input(format!(
                    "cannot colour by {}: there is no such column",
                    property.name()
                )));
            };
            particles.push(Particles {
                positions: &set.position,
                count: set.count,
                at_most: u32::MAX,
                radius_m: self.scenery.radius_m(set.phase, property),
                coloring,
                shading,
            });
        }
        Ok(particles)
    }

    /// Makes pictures of another size from now on.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), Failure> {
        self.renderer.resize(width, height).map_err(Failure::device)
    }

    /// How a set shows a property, if it has it. What no column holds as it is goes to `picked`.
    fn coloring<'s>(
        &self,
        recorder: &mut Recorder,
        set: &'s ShownSet<'_>,
        property: ColourBy,
        legend: Option<&Legend>,
        picked: &'s Buffer<f32>,
    ) -> Option<(Coloring<'s>, Shading)> {
        let column = match property {
            ColourBy::Speed => Column::Vector(set.velocity.as_ref()?),
            ColourBy::Density => Column::Scalar(set.density.as_ref()?),
            ColourBy::Id => Column::Index(set.id.as_ref()?),
            ColourBy::Temperature => Column::Scalar(set.temperature.as_ref()?),
            ColourBy::Lambda => {
                let params = pick_component::Params { stride: 4, component: 3, origin: 0.0 };
                self.pick(recorder, set.count, &set.constraint.as_ref()?.cast(), picked, params);
                Column::Scalar(picked)
            }
            ColourBy::Height => {
                let component = self.scenery.up_axis.index() as u32;
                let params = pick_component::Params { stride: 3, component, origin: self.scenery.floor_m };
                self.pick(recorder, set.count, &set.position.cast(), picked, params);
                Column::Scalar(picked)
            }
            ColourBy::PlasticVolume => Column::Scalar(set.plastic_volume.as_ref()?),
            ColourBy::Mass => Column::Scalar(set.mass.as_ref()?),
            ColourBy::Phase => {
                return set.phase.map(|phase| match phase {
                    Phase::Snow => (Coloring::Uniform(SNOW_COLOUR), Shading::Matte),
                    Phase::Water => (Coloring::Uniform(WATER_COLOUR), self.scenery.water),
                });
            }
            _ => return None,
        };
        let legend = legend?;
        let by_intensity = self.scenery.by_intensity && property == ColourBy::Density;
        let shading = if by_intensity { Shading::Brightest } else { Shading::Lit };
        Some((Coloring::Mapped { column, map: legend.map, range: legend.range }, shading))
    }

    fn pick(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        source: &Buffer<f32>,
        picked: &Buffer<f32>,
        params: pick_component::Params,
    ) {
        let bindings = pick_component::Bindings { count: &count.count, source, picked };
        recorder.dispatch(&self.pick_component, Threads::Counted(count), bindings, params);
    }
}

/// The property that a scene's pictures show.
pub fn property(scene: &Scene) -> ColourBy {
    match scene.render.shading {
        frazil_scene::Shading::Density => ColourBy::Density,
        frazil_scene::Shading::Lit => scene.render.colour_by,
    }
}

/// The schemes that a scene's particles can be drawn in.
pub fn schemes(scene: &Scene) -> Vec<RenderScheme> {
    let has = |scheme: &RenderScheme| match scheme {
        RenderScheme::Sprites => true,
        RenderScheme::Surface => scene.n_dimensions() == 3,
        RenderScheme::SurfaceAndSlabs => !scene.slabs.is_empty(),
    };
    RenderScheme::ALL.into_iter().filter(has).collect()
}

/// The camera that a scene asks for.
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
            name: scene.name.clone(),
            up_axis: scene.up_axis,
            floor_m: scene.domain.min_m[scene.up_axis.index()] as f32,
            background: scene.render.background_srgb.map(|component| component as f32),
            by_intensity: scene.render.shading == frazil_scene::Shading::Density,
            radius_m: (scene.render.particle_radius_spacings * scene.particle_spacing_m()) as f32,
            water_radius_m: (scene.render.water_radius_spacings * scene.particle_spacing_m()) as f32,
            water: Shading::Translucent { percent: (100.0 * scene.render.water_opacity).round() as u8 },
            domain: WireBox::between(lo, hi),
            scene: scene.clone(),
            ground: Ground::under(lo, hi, up_axis(scene.up_axis)),
        }
    }

    /// Solid spheres at a time in s; drawn, a vessel would hide what it holds.
    fn balls(&self, time_s: f64) -> Vec<Ball> {
        let ball = |collider: &Collider| match collider {
            Collider::Sphere { centre_m, radius_m, side: Side::Outside, .. } => Some(Ball {
                center: vec3(*centre_m) + outline::offset(collider, time_s),
                radius_m: *radius_m as f32,
                color: COLLIDER_COLOUR,
            }),
            _ => None,
        };
        let of_body = |(center, radius_m)| Ball { center, radius_m, color: COLLIDER_COLOUR };
        let bodies = body_lines::balls(&self.scene, time_s).map(of_body);
        self.scene.colliders.iter().filter_map(ball).chain(bodies).collect()
    }

    fn radius_m(&self, phase: Option<Phase>, property: ColourBy) -> f32 {
        match (phase, property) {
            (Some(Phase::Water), ColourBy::Phase) => self.water_radius_m,
            // Solid, it would hide what it holds.
            (Some(Phase::Water), _) => self.water_radius_m / 3.0,
            _ => self.radius_m,
        }
    }
}

/// Name, unit, colours and range of a property. Ranges follow from the scene and not from a picture's values, so that a
/// colour means the same in all pictures. None where colours are no scale, or the scene has no such property.
fn legend(scene: &Scene, property: ColourBy, n_particles: usize) -> Option<Legend> {
    let up = scene.up_axis.index();
    let height_m = scene.domain.max_m[up] - scene.domain.min_m[up];
    let rest = scene.rest_density_kg_m3() as f32;
    let (title, unit, map, range) = match property {
        ColourBy::Density if scene.render.shading == frazil_scene::Shading::Density => {
            ("density", "kg/m³", ColorMap::Grey, [0.0, rest])
        }
        ColourBy::Density => {
            let range = [(1.0 - DENSITY_REACH) * rest, (1.0 + DENSITY_REACH) * rest];
            ("density", "kg/m³", ColorMap::Vik, range)
        }
        // Both ways of 1: pressed and hardened, or torn.
        ColourBy::PlasticVolume => ("J_P", "", ColorMap::Vik, [0.8, 1.2]),
        ColourBy::Mass => {
            let mean = scene.particle_mass_kg() as f32;
            let unit = if scene.n_dimensions() == 2 { "kg/m" } else { "kg" };
            ("mass", unit, ColorMap::Viridis, [0.5 * mean, 1.5 * mean])
        }
        ColourBy::Lambda => ("λ", "", ColorMap::Viridis, [LAMBDA_MIN, 0.0]),
        ColourBy::Height => ("height", "m", ColorMap::Viridis, [0.0, height_m as f32]),
        ColourBy::Id => ("id", "", ColorMap::Viridis, [0.0, n_particles.saturating_sub(1) as f32]),
        ColourBy::Speed => ("speed", "m/s", ColorMap::Viridis, [0.0, fastest_m_s(scene, height_m)]),
        ColourBy::Temperature => {
            let freezing = scene.snow.as_ref()?.heat.freezing_temperature_c as f32;
            let (coldest, hottest) = start_temperatures_c(scene, freezing);
            ("temperature", "°C", ColorMap::Vik, ColorMap::centered(freezing, coldest, hottest))
        }
        _ => return None,
    };
    let asked = scene.render.colour_range.filter(|_| property == self::property(scene));
    let range = asked.map_or(range, |range| range.map(|end| end as f32));
    Some(Legend { title: title.into(), unit: unit.into(), map, range })
}

/// The coldest and the hottest temperature that particles start with: conduction leaves none outside. At least half a degree to
/// both sides of freezing, so that a scene all at freezing has a scale, too.
fn start_temperatures_c(scene: &Scene, freezing: f32) -> (f32, f32) {
    let starts = scene.particles.iter().map(|block| block.temperature_c as f32);
    starts.fold((freezing - 0.5, freezing + 0.5), |(lo, hi), t| (lo.min(t), hi.max(t)))
}

/// Speed in m/s after falling through the whole domain, or of the fastest block if it is faster.
fn fastest_m_s(scene: &Scene, height_m: f64) -> f32 {
    let length = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let fall = (2.0 * length(&scene.gravity_m_s2()) * height_m).sqrt();
    scene.particles.iter().map(|block| length(&block.velocity_m_s)).fold(fall, f64::max) as f32
}

pub fn vec3(v: [f64; 3]) -> Vec3 {
    Vec3::from_array(v.map(|x| x as f32))
}

pub fn up_axis(axis: Axis) -> UpAxis {
    match axis {
        Axis::X => UpAxis::X,
        Axis::Y => UpAxis::Y,
        Axis::Z => UpAxis::Z,
    }
}
