//! The scene file's sections, and the defaults of what they may leave out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dem::Dem;
use crate::mpm::Mpm;
use crate::snow::Snow;
use crate::source::Source;
use crate::{Axis, Body, Collider, Every, Obstacle, Release, Shape, Slab, TerrainSource, TimeStep, Vec3};

/// The only version of the scene file there is so far.
pub const SCENE_VERSION: u32 = 1;

/// Magnitude of the default gravity, m/s².
pub const GRAVITY_M_S2: f64 = 9.81;

/// A scene: everything that decides a simulation's result, and what to show of it.
///
/// Made by [`Scene::load`], [`Scene::parse`] or [`Scene::find`], which validate it. Fields may be changed afterwards;
/// [`Scene::validate`] then says whether the scene still holds together. Serializing gives the effective scene, defaults
/// included, which reads back as the same scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "A particle simulation: what is simulated, how, and what to show of it. SI units.")]
pub struct Scene {
    /// Version of the file format: 1.
    pub version: u32,
    /// Short name, as in a file name.
    pub name: String,
    /// What the scene shows, in a sentence or two.
    #[serde(default)]
    pub description: String,
    /// Which axis points up. Gravity points against it, and the camera stands upright along it.
    pub up_axis: Axis,
    /// Gravity in m/s²; by default 9.81 m/s² against the up axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity_m_s2: Option<Vec3>,
    /// Size of the scene against what the file says: lengths of the domain, of particle blocks, of colliders and of the camera's
    /// place are multiplied by this and (but for grains) rounded to whole particle spacings, so that there are about scale³ times as many particles
    /// of the same size (in a plane scale²). Colliders that move do so for times that are multiplied, too, so that they go as far
    /// in proportion. It is applied when the scene is loaded, and is 1 from then on.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 0.01, max = 100.0))]
    pub scale: f64,
    /// Seed of everything random in the scene, 0 to 2⁶³ − 1.
    #[serde(default)]
    #[schemars(range(max = 9223372036854775807_u64))]
    pub seed: u64,
    /// Time step and duration.
    pub time: Time,
    /// The fluid and its discretization: what scenes of `solver.kind = "pbd"` have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fluid: Option<Fluid>,
    /// Snow as a continuum on a grid: what scenes of `solver.kind = "mpm"` have, in place of `[fluid]` and `[snow]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpm: Option<Mpm>,
    /// Snow as grains that touch: what scenes of `solver.kind = "dem"` have, in place of `[fluid]`, `[snow]` and `[mpm]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dem: Option<Dem>,
    /// The ground of an avalanche, a map or a formula. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terrain: Option<TerrainSource>,
    /// Snow beside the water: contact, links, heat and the change from one to the other. Without it there is water only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snow: Option<Snow>,
    /// The method and its parameters.
    #[serde(default)]
    pub solver: Solver,
    /// The container: six walls that hold the particles.
    pub domain: Domain,
    /// What is filled with particles at the start; blocks may not overlap.
    #[serde(default)]
    pub particles: Vec<ParticleBlock>,
    /// Areas of the terrain whose snow is filled with grains at the start. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<Release>,
    /// Plates of ice that break into rigid pieces. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slabs: Vec<Slab>,
    /// What stands in the way, fixed, and measures the force upon it. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<Obstacle>,
    /// Fixed obstacles and containers inside the domain.
    #[serde(default)]
    pub colliders: Vec<Collider>,
    /// Bodies that particles meet, solid or containers, fixed or moving. `[[colliders]]` and `[[obstacles]]` are older ways to write some of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Body>,
    /// What pictures show.
    #[serde(default)]
    pub render: Render,
    /// How often what is written, where the command line does not say.
    #[serde(default)]
    pub output: Output,
    #[serde(skip)]
    pub(crate) source: Source,
}

fn one() -> f64 {
    1.0
}

fn is_one(scale: &f64) -> bool {
    *scale == 1.0
}

/// Time step and duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// Time step Δt in s, or `"auto"` (mpm and dem); [`Scene::dt_s`] is the number.
    pub dt_s: TimeStep,
    /// Simulated time in s.
    pub duration_s: f64,
}

/// The material and its discretization into particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    /// Distance d between neighbours on the lattice, in m.
    pub particle_spacing_m: f64,
    /// Rest density ρ₀ in kg/m³.
    #[serde(default = "Fluid::default_rest_density_kg_m3")]
    pub rest_density_kg_m3: f64,
    /// Support radius of the smoothing kernels in spacings, h/d.
    #[serde(default = "Fluid::default_support_radius_spacings")]
    pub support_radius_spacings: f64,
    /// XSPH coefficient (paper 000 eq 5.20): the share of the smoothed velocity difference that is blended in, 0 to 1.
    #[serde(default = "Fluid::default_xsph_viscosity")]
    pub xsph_viscosity: f64,
    /// How far walls drag water along them to rest, as a neighbour that does not move would: 0 for walls that water slips
    /// along, 1 (default) for walls it sticks to; times `xsph_viscosity` a step.
    #[serde(default = "Fluid::default_wall_friction")]
    #[schemars(range(min = 0))]
    pub wall_friction: f64,
    /// Mass of a particle in kg; by default ρ₀d³.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particle_mass_kg: Option<f64>,
}

impl Fluid {
    /// Support radius h of the smoothing kernels in m.
    pub fn support_radius_m(&self) -> f64 {
        self.support_radius_spacings * self.particle_spacing_m
    }

    fn default_rest_density_kg_m3() -> f64 {
        1000.0
    }
    fn default_support_radius_spacings() -> f64 {
        2.0
    }
    fn default_xsph_viscosity() -> f64 {
        0.05
    }
    fn default_wall_friction() -> f64 {
        1.0
    }
}

/// The method that moves the particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SolverKind {
    /// Position-based fluid.
    Pbd,
    /// Material point method.
    Mpm,
    /// Discrete element method.
    Dem,
}

impl SolverKind {
    /// The name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pbd => "pbd",
            Self::Mpm => "mpm",
            Self::Dem => "dem",
        }
    }
}

/// The method and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// The method.
    pub kind: SolverKind,
    /// Jacobi iterations a step.
    pub iterations: u32,
    /// Factor ω on the averaged position corrections (paper 000 eq 5.26–5.27), above 0 and up to 2.
    pub over_relaxation: f64,
    /// Relaxation of the density constraint made independent of size: ε = this / h², in 1/m².
    pub constraint_relaxation: f64,
    /// The repulsion that stands in for surface tension and keeps particles from clumping.
    pub artificial_pressure: ArtificialPressure,
    /// Steps handed to the device at once.
    pub steps_per_submission: u32,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            kind: SolverKind::Pbd,
            iterations: 3,
            over_relaxation: 0.5,
            constraint_relaxation: 0.1,
            artificial_pressure: ArtificialPressure::default(),
            steps_per_submission: 8,
        }
    }
}

/// Artificial pressure s_corr = −k (W(r) / W(|Δq|))ⁿ, paper 002 eq 2.21.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArtificialPressure {
    /// k, dimensionless; 0 switches it off.
    pub strength: f64,
    /// |Δq| / h, between 0 and 1.
    pub radius_fraction: f64,
    /// n, a whole number from 1.
    pub exponent: u32,
}

impl Default for ArtificialPressure {
    fn default() -> Self {
        Self { strength: 0.0, radius_fraction: 0.1, exponent: 4 }
    }
}

/// The container, an axis-aligned box whose six walls hold the particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Lower corner in m.
    pub min_m: Vec3,
    /// Upper corner in m.
    pub max_m: Vec3,
    /// What stands for walls and colliders in the density of water.
    #[serde(default)]
    pub walls: WallModel,
    /// Friction of single faces on water, in place of `fluid.wall_friction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<FaceFriction>,
}

/// Friction of the domain's faces on water, each by default `fluid.wall_friction`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaceFriction {
    /// Of the face at the lower end of x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub x_min: Option<f64>,
    /// Of the face at the upper end of x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub x_max: Option<f64>,
    /// Of the face at the lower end of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub y_min: Option<f64>,
    /// Of the face at the upper end of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub y_max: Option<f64>,
    /// Of the face at the lower end of z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub z_min: Option<f64>,
    /// Of the face at the upper end of z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub z_max: Option<f64>,
}

impl FaceFriction {
    /// Of the lower and of the upper faces, by axis.
    pub fn faces(&self) -> [[Option<f64>; 3]; 2] {
        [[self.x_min, self.y_min, self.z_min], [self.x_max, self.y_max, self.z_max]]
    }
}

/// What stands for walls and colliders in the density of water. Whichever it is, no particle passes a wall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WallModel {
    /// The share of the kernel that a wall cuts off, in closed form.
    #[default]
    Analytic,
    /// Boundary particles on the walls (Akinci et al. 2012), each weighing what is missing about it. Scenes with snow only.
    Particles,
}

/// What a particle is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Fluid: SPH particles under a density constraint.
    #[default]
    Water,
    /// Solid: DEM particles that touch, rub and are linked. Needs a `[snow]` section.
    Snow,
}

/// How a shape is filled with particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// A cubic lattice of the fluid's spacing d. In a box the first point lies d/2 from the lower corner, so that n·d holds
    /// n points and touches both walls at d/2; in other shapes the lattice is centred.
    #[default]
    Lattice,
    /// round(volume / d³) points drawn uniformly by volume. Grains would overlap: not in scenes of the discrete element method.
    Uniform,
    /// Grains packed at random, of which none overlap: as many as fill `packing_fraction` of the shape. Scenes of the discrete
    /// element method only.
    Random,
}

/// A shape filled with particles at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParticleBlock {
    /// The region, inside the domain.
    pub shape: Shape,
    /// How it is filled.
    #[serde(default)]
    pub fill: Fill,
    /// What it is filled with.
    #[serde(default)]
    pub phase: Phase,
    /// Temperature in °C at the start.
    #[serde(default = "ParticleBlock::default_temperature_c")]
    pub temperature_c: f64,
    /// Initial velocity in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
    /// Random displacement of lattice points, up to this many spacings along each axis; 0 to 0.5.
    #[serde(default)]
    pub jitter_spacings: f64,
    /// Initial rotation about the middle of the shape's bounds, in rad/s; in a plane about z. Not in scenes of the position-based
    /// fluid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity_rad_s: Option<Vec3>,
    /// Number of particles, drawn uniformly; by default what fills the shape. In scenes of the material point method, and of grains with
    /// `fill = "random"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Share of the shape that grains filled in at random take, up to 0.58; by default 0.55, a loose heap (Onoda & Liniger 1990), or
    /// less in a shape that is narrow against its grains. With `fill = "random"` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 0.58))]
    pub packing_fraction: Option<f64>,
    /// How far masses are from their mean (paper 001 sec 2): each is the mean times 1 ± up to this share, 0 to below 1. Scenes of
    /// the material point method only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_spread: Option<f64>,
}

impl ParticleBlock {
    /// Speed in m/s that none of its particles exceeds at the start.
    pub(crate) fn fastest_m_s(&self) -> f64 {
        let length = |v: &Vec3| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (min, max) = self.shape.bounds_m();
        let half_diagonal_m = 0.5 * length(&std::array::from_fn(|i| max[i] - min[i]));
        length(&self.velocity_m_s) + self.angular_velocity_rad_s.map_or(0.0, |w| length(&w) * half_diagonal_m)
    }

    fn default_temperature_c() -> f64 {
        20.0
    }
}

/// A property of a particle that pictures can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ColourBy {
    /// Magnitude of the velocity, m/s.
    Speed,
    /// Density, kg/m³.
    Density,
    /// Multiplier of the density constraint, which plays the part of a pressure.
    Lambda,
    /// Height along the up axis above the domain's floor, m.
    Height,
    /// The particle's id, which shows where particles come from.
    Id,
    /// Temperature, °C; diverging about freezing.
    Temperature,
    /// Snow as snow and water as water.
    Phase,
    /// Plastic volume ratio J_P: below 1 where snow was pressed and has hardened, above where it was torn.
    PlasticVolume,
    /// Mass, kg; in a plane kg/m.
    Mass,
}

impl ColourBy {
    /// The name used in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Density => "density",
            Self::Lambda => "lambda",
            Self::Height => "height",
            Self::Id => "id",
            Self::Temperature => "temperature",
            Self::Phase => "phase",
            Self::PlasticVolume => "plastic_volume",
            Self::Mass => "mass",
        }
    }
}

/// How pictures show particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shading {
    /// As lit spheres in the colours of a property.
    #[default]
    Lit,
    /// As flat white discs on black, the brighter the denser (paper 001 sec 2.3); full white at the rest density. Of several in one
    /// place the brightest is seen.
    Density,
}

/// What particles are drawn as (paper 003 section 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RenderScheme {
    /// Each as a sphere.
    #[default]
    Sprites,
    /// Bodies as the surface about them, by marching cubes; those that are in none as spheres. They look like what they are, and
    /// `colour_by` has no say. In space only.
    Surface,
    /// The same, and the pieces of `[[slabs]]`.
    SurfaceAndSlabs,
}

impl RenderScheme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sprites, Self::Surface, Self::SurfaceAndSlabs];

    /// The name used in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sprites => "sprites",
            Self::Surface => "surface",
            Self::SurfaceAndSlabs => "surface_and_slabs",
        }
    }

    /// Whether it shows a surface.
    pub fn has_surface(self) -> bool {
        self != Self::Sprites
    }
}

/// What pictures show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Render {
    /// Width of a picture in pixels.
    pub width_px: u32,
    /// Height of a picture in pixels.
    pub height_px: u32,
    /// Where the camera stands.
    pub camera: Camera,
    /// What particles are drawn as.
    pub scheme: RenderScheme,
    /// Side of a cell of the surface's lattice in spacings, 0.25 to 4; particles count up to two cells away.
    pub surface_cell_spacings: f64,
    /// The density at which the surface lies, as a share of that of particles side by side: 0.05 to 0.95.
    pub surface_level: f64,
    /// How particles are shown; `density` takes the place of `colour_by`.
    pub shading: Shading,
    /// The property that colours the particles.
    pub colour_by: ColourBy,
    /// Values at the two ends of the colour map, in the property's unit; by default a range that follows from the
    /// scene and is the same in every picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour_range: Option<[f64; 2]>,
    /// Radius of a drawn particle in spacings.
    pub particle_radius_spacings: f64,
    /// Radius of a drawn water particle in spacings, in scenes with snow.
    pub water_radius_spacings: f64,
    /// What the middle of one water particle takes of the light behind it, in scenes with snow that are coloured by phase; 0 to 0.99.
    pub water_opacity: f64,
    /// Background colour, sRGB components from 0 to 1.
    pub background_srgb: Vec3,
    /// Extinction coefficient of the air in 1/m: of a colour e^(−β d) is seen from the distance d, the rest is background. 0 is clear air;
    /// 0.0039 is fog with a range of sight of 1 km.
    pub fog_per_m: f64,
    /// Where the sun stands about the up axis, in degrees as the camera's azimuth; by default 60° to the left of the scene's camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sun_azimuth_deg: Option<f64>,
    /// How high the sun stands in degrees, 0 to 90.
    pub sun_elevation_deg: f64,
}

impl Default for Render {
    fn default() -> Self {
        Self {
            width_px: 1280,
            height_px: 720,
            camera: Camera::default(),
            scheme: RenderScheme::Sprites,
            surface_cell_spacings: 1.0,
            surface_level: 0.35,
            shading: Shading::Lit,
            colour_by: ColourBy::Speed,
            colour_range: None,
            particle_radius_spacings: 0.5,
            water_radius_spacings: 0.6,
            water_opacity: 0.07,
            background_srgb: [0.05, 0.06, 0.08],
            fog_per_m: 2e-4,
            sun_azimuth_deg: None,
            sun_elevation_deg: 35.0,
        }
    }
}

/// How a camera makes a picture of space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Projection {
    /// What is farther away is smaller.
    #[default]
    Perspective,
    /// What is farther away is as large: for scenes in a plane. As high a part of space is seen as in perspective at the target.
    Orthographic,
}

/// An orbit camera.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Camera {
    /// Point looked at, in m; by default the middle of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_m: Option<Vec3>,
    /// Distance from the target in m; by default as far as needed to see the whole domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_m: Option<f64>,
    /// Angle about the up axis in degrees. At 0 the camera looks along −z where y is up, along +y where z is up; growing
    /// angles carry it counter-clockwise seen from above. By default 25, or 0 in scenes of two dimensions.
    pub azimuth_deg: f64,
    /// Angle above the horizon in degrees, −89 to 89. By default 15, or 0 in scenes of two dimensions.
    pub elevation_deg: f64,
    /// Vertical field of view in degrees, 1 to 150.
    pub vertical_fov_deg: f64,
    /// Perspective or orthographic.
    pub projection: Projection,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            target_m: None,
            distance_m: None,
            azimuth_deg: 25.0,
            elevation_deg: 15.0,
            vertical_fov_deg: 35.0,
            projection: Projection::Perspective,
        }
    }
}

/// How often what is written; what is absent is not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render_every: Option<Every>,
    /// Frames of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_every: Option<Every>,
    /// Columns that frames of the recording have beside `position` and `id`; by default all there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_columns: Option<Vec<String>>,
    /// Rows of metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_every: Option<Every>,
}

/// What follows from a scene's values, for the record beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    /// Mass of a particle in kg.
    pub particle_mass_kg: f64,
    /// Support radius of the smoothing kernels or splines in m.
    pub support_radius_m: f64,
    /// Time step Δt in s.
    pub dt_s: f64,
    /// ε of the density constraint in 1/m².
    pub constraint_epsilon_per_m2: f64,
    /// Gravity in m/s².
    pub gravity_m_s2: Vec3,
    /// Steps in the scene's duration.
    pub n_steps: u64,
    /// What follows from `[mpm]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mpm: Option<DerivedMpm>,
    /// What follows from `[dem]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dem: Option<DerivedDem>,
}

/// What follows from the values of a `[dem]` section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedDem {
    /// Stiffness along the contact in N/m.
    pub tangential_stiffness_n_m: f64,
    /// Damping ratio β of two grains.
    pub damping_ratio: f64,
    /// Damping ratio of a grain and a wall.
    pub wall_damping_ratio: f64,
    /// Time in s that two of the lightest grains touch in an impact.
    pub contact_time_s: f64,
    /// Time steps in it.
    pub steps_per_contact: f64,
    /// Speed in m/s of the hardest impact that is expected.
    pub fastest_m_s: f64,
    /// How deep it presses a grain of mean size into a wall, in its radii.
    pub deepest_overlap_radii: f64,
    /// Cells of the reach of a contact that the domain has along each axis.
    pub n_cells: [u64; 3],
}

/// What follows from the values of an `[mpm]` section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DerivedMpm {
    /// Cells that the domain has along each axis; 1 across a plane.
    pub n_cells: [u64; 3],
    /// Lamé parameters μ₀ and λ₀ in Pa.
    pub lame_pa: [f64; 2],
    /// Speed of pressure waves in fresh snow, in m/s.
    pub wave_speed_m_s: f64,
    /// That speed in snow hardened to J_P = 0.8, which `dt_s = "auto"` counts on.
    pub hardened_wave_speed_m_s: f64,
    /// Speed in m/s that no particle is expected to exceed.
    pub fastest_m_s: f64,
    /// Cells that a wave in hardened snow passes in a step.
    pub wave_courant_number: f64,
}

impl Scene {
    /// Mass of a particle in kg: ρ₀d³ unless the scene says otherwise. In scenes of the material point method the mean of all
    /// particles, in a plane in kg/m; of grains the mean of all that there could be.
    pub fn particle_mass_kg(&self) -> f64 {
        let d = self.particle_spacing_m();
        match (&self.fluid, &self.mpm) {
            (Some(fluid), _) => fluid.particle_mass_kg.unwrap_or(fluid.rest_density_kg_m3 * d * d * d),
            (None, Some(mpm)) => {
                let volume: f64 = self.particles.iter().map(|block| block.shape.volume_m3()).sum();
                mpm.material.density_kg_m3 * volume / self.particle_count_estimate() as f64
            }
            (None, None) => self.dem.as_ref().map_or(f64::NAN, Dem::mean_grain_mass_kg),
        }
    }

    /// 2 for scenes in the x–y plane, else 3.
    pub fn n_dimensions(&self) -> usize {
        if self.mpm.as_ref().is_some_and(|mpm| mpm.dimensions == 2) { 2 } else { 3 }
    }

    /// Distance between particles in m, as on a lattice; of grains the diameter of the largest.
    pub fn particle_spacing_m(&self) -> f64 {
        // What has none of them is refused when it is validated.
        let of_dem = || self.dem.as_ref().map_or(f64::NAN, |dem| 2.0 * dem.greatest_radius_m());
        let of_mpm = || self.mpm.as_ref().map_or_else(of_dem, Mpm::particle_spacing_m);
        self.fluid.as_ref().map_or_else(of_mpm, |fluid| fluid.particle_spacing_m)
    }

    /// Rest density ρ₀ in kg/m³; of grains that of one.
    pub fn rest_density_kg_m3(&self) -> f64 {
        let of_dem = || self.dem.as_ref().map_or(f64::NAN, |dem| dem.density_kg_m3);
        let of_mpm = || self.mpm.as_ref().map_or_else(of_dem, |mpm| mpm.material.density_kg_m3);
        self.fluid.as_ref().map_or_else(of_mpm, |fluid| fluid.rest_density_kg_m3)
    }

    /// Support radius h of the smoothing kernels in m; in scenes of the material point method that of its splines; of
    /// grains the distance beyond which no two act on each other.
    pub fn support_radius_m(&self) -> f64 {
        let of_dem = || self.dem.as_ref().map_or(f64::NAN, Dem::reach_m);
        let of_mpm = || self.mpm.as_ref().map_or_else(of_dem, Mpm::support_radius_m);
        self.fluid.as_ref().map_or_else(of_mpm, Fluid::support_radius_m)
    }

    /// ε in the denominator of the density constraint's multiplier, in 1/m².
    pub fn constraint_epsilon_per_m2(&self) -> f64 {
        let h = self.support_radius_m();
        self.solver.constraint_relaxation / (h * h)
    }

    /// Gravity in m/s²: against the up axis unless the scene says otherwise.
    pub fn gravity_m_s2(&self) -> Vec3 {
        self.gravity_m_s2
            .unwrap_or_else(|| self.up_axis.unit().map(|u| if u == 0.0 { 0.0 } else { -GRAVITY_M_S2 }))
    }

    /// Steps that cover the scene's duration; the last may end a fraction of a step past it.
    pub fn n_steps(&self) -> u64 {
        // A duration meant as a whole number of steps must not gain one by the rounding of the division.
        let steps = self.time.duration_s / self.dt_s();
        (steps * (1.0 - 1e-9)).ceil() as u64
    }

    /// The values above in one record, as written to `run.json` beside the scene.
    pub fn derived(&self) -> Derived {
        Derived {
            particle_mass_kg: self.particle_mass_kg(),
            support_radius_m: self.support_radius_m(),
            dt_s: self.dt_s(),
            constraint_epsilon_per_m2: self.constraint_epsilon_per_m2(),
            gravity_m_s2: self.gravity_m_s2(),
            n_steps: self.n_steps(),
            mpm: self.mpm.as_ref().map(|mpm| self.derived_mpm(mpm)),
            dem: self.dem.as_ref().map(|dem| self.derived_dem(dem)),
        }
    }
}
