//! The scene: the sections of the scene file that every solver knows, and the defaults of their optional
//! keys.

mod advice;
mod derived;
pub(crate) mod estimate;
mod every;
mod faces;
mod flow_quantity;
mod ground;
mod joined;
mod output;
mod particles;
mod placement;
mod render;
pub(crate) mod sample;
mod scale;
pub(crate) mod speed;
mod steps;
mod streams;
mod substeps;
mod time_step;
mod view;

pub use advice::Advice;
pub use derived::Derived;
pub use estimate::Estimate;
pub use every::{Every, EveryError};
pub use flow_quantity::FlowQuantity;
pub use output::Output;
pub(crate) use particles::MAX_PACKING_FRACTION;
pub use particles::{Fill, ParticleBlock, Phase};
pub use render::{
    Camera, FluidFilter, GridLines, PowderLook, Projection, Render, RenderLight, RenderScheme, Shading,
    SnowLook,
};
pub use sample::{Sampled, is_reserving};
pub use substeps::{MAX_SUBSTEPS, Substeps};
pub use time_step::TimeStep;
pub use view::View;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::MAX_SEED;
use crate::format::source::Source;
use crate::section::{Section, Sections};
use crate::{Axis, Body, Drain, Emitter, Joint, TerrainSource, Vec3};

/// Current and only version of the scene file format.
pub const SCENE_VERSION: u32 = 1;

/// Magnitude of the default gravity, m/s².
pub const GRAVITY_M_S2: f64 = 9.81;

/// A scene: everything that determines a simulation's result, and its display settings.
///
/// Made by [`Scene::load`], [`Scene::parse`] or [`Scene::find`], which validate it. After changes to fields,
/// [`Scene::validate`] checks that the scene is still consistent. Serializing gives the effective scene,
/// defaults included, which reads back as the same scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "A particle simulation: what is simulated, how, and what to show of it. SI units.")]
pub struct Scene {
    /// Version of the file format: 1.
    pub version: u32,
    /// Short name, as in a file name.
    pub name: String,
    /// Description of the scene, in a sentence or two.
    #[serde(default)]
    pub description: String,
    /// Axis that points up. Gravity points against it, and the camera is upright along it.
    pub up_axis: Axis,
    /// Gravity in m/s²; by default 9.81 m/s² against the up axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity_m_s2: Option<Vec3>,
    /// Size of the scene relative to the file. Lengths of the domain, of particle blocks, of bodies and of
    /// the camera's position are multiplied by it and (except in scenes of grains) rounded to whole particle
    /// spacings: there are about scale³ times as many particles of the same size (scale² in two dimensions).
    /// The times during which bodies move are multiplied, too. A loaded scene has a scale of 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 0.01, max = 100))]
    pub scale: f64,
    /// Seed of all random numbers in the scene.
    #[serde(default)]
    #[schemars(range(max = MAX_SEED))]
    pub seed: u64,
    /// Time step and duration.
    pub time: Time,
    /// Sections that solvers own.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub(crate) sections: Sections,
    /// The ground of an avalanche, a map or a formula. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terrain: Option<TerrainSource>,
    /// The method, and settings of runs that do not depend on it.
    #[serde(default)]
    pub solver: Solver,
    /// The container: six walls that hold the particles.
    pub domain: Domain,
    /// Blocks filled with particles at the start; they may not overlap.
    #[serde(default)]
    pub particles: Vec<ParticleBlock>,
    /// Solids and containers inside the domain, at rest or moving.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bodies: Vec<Body>,
    /// Joints that hold dynamic bodies to others or to places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<Joint>,
    /// Mouths through which water enters while the scene runs. Scenes of water alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emitters: Vec<Emitter>,
    /// Regions that remove the water in them. Scenes of water alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drains: Vec<Drain>,
    /// Display settings of pictures.
    #[serde(default)]
    pub render: Render,
    /// Output intervals, where the command line gives none.
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

fn courant_number() -> f64 {
    0.4
}

fn is_courant_number(number: &f64) -> bool {
    *number == courant_number()
}

fn max_substeps() -> u32 {
    32
}

fn is_max_substeps(n: &u32) -> bool {
    *n == max_substeps()
}

/// Time step and duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// Time step in s, or `"auto"`, as long as waves, contacts and particles allow; `frazil check` prints the
    /// number.
    pub dt_s: TimeStep,
    /// Substeps that the solver divides a step into, each a time step Δt: a number, or `"auto"`, as many as
    /// the fastest particle requires by `courant_number` and stability does. Steps are counted and stored
    /// whole. Those of grains follow from contacts alone.
    #[serde(default, skip_serializing_if = "Substeps::is_one")]
    pub substeps: Substeps,
    /// Spacings that a particle may pass in a substep of `substeps = "auto"`; for mpm `mpm.courant_number`
    /// counts.
    #[serde(default = "courant_number", skip_serializing_if = "is_courant_number")]
    #[schemars(range(min = 0.01, max = 10))]
    pub courant_number: f64,
    /// Largest number of substeps of `substeps = "auto"`.
    #[serde(default = "max_substeps", skip_serializing_if = "is_max_substeps")]
    #[schemars(range(min = 1, max = 256))]
    pub max_substeps: u32,
    /// Simulated time in s.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration_s: f64,
}

/// Method that moves the particles: the name of a solver; [`solvers`](crate::solvers) returns the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SolverKind(Cow<'static, str>);

impl SolverKind {
    /// The position-based fluid, the default.
    pub const DEFAULT: Self = Self(Cow::Borrowed("pbd"));

    /// Makes the kind of that name; [`Scene::validate`] checks that such a solver exists.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// Returns the name used in scene files.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for SolverKind {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The method, and settings of runs that do not depend on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// The method.
    pub kind: SolverKind,
    /// Kinetic and potential energy, over the mechanical energy at the start, above which a run stops with an
    /// error, in scenes in which nothing does work on the particles. Heights count from the side of
    /// the domain to which gravity points.
    #[schemars(range(min = 1, max = 1e9))]
    pub max_energy_ratio: f64,
    /// Maximum number of steps submitted to the device at once; a run submits fewer if they take more than
    /// 50 ms.
    #[schemars(range(min = 1, max = 4096))]
    pub steps_per_submission: u32,
}

impl Default for Solver {
    fn default() -> Self {
        Self { kind: SolverKind::DEFAULT, max_energy_ratio: 1.5, steps_per_submission: 8 }
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
    /// Representation of walls and bodies in the density of water.
    #[serde(default)]
    pub walls: WallModel,
    /// Friction of single faces, in place of that of all walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<FaceFriction>,
    /// Axes along which the domain repeats itself: particles that leave it enter it at the opposite face, and
    /// neither face is a wall.
    #[serde(default, skip_serializing_if = "is_bounded")]
    pub periodic: [bool; 3],
}

/// Returns true for a domain with six walls.
fn is_bounded(periodic: &[bool; 3]) -> bool {
    *periodic == [false; 3]
}

/// Friction of the domain's faces: on water as `fluid.wall_friction`; on snow by positions, snow on a grid
/// and grains μ of Coulomb friction. Faces without it have the friction of all walls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaceFriction {
    /// Friction of the face at the lower end of x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub x_min: Option<f64>,
    /// Friction of the face at the upper end of x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub x_max: Option<f64>,
    /// Friction of the face at the lower end of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub y_min: Option<f64>,
    /// Friction of the face at the upper end of y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub y_max: Option<f64>,
    /// Friction of the face at the lower end of z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub z_min: Option<f64>,
    /// Friction of the face at the upper end of z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub z_max: Option<f64>,
}

impl FaceFriction {
    /// Returns the friction of the lower and of the upper faces, each by axis; `None` where the scene gives
    /// none.
    pub fn faces(&self) -> [[Option<f64>; 3]; 2] {
        [[self.x_min, self.y_min, self.z_min], [self.x_max, self.y_max, self.z_max]]
    }
}

/// Representation of walls and bodies in the density of water. No particle passes a wall in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WallModel {
    /// The share of the kernel that a wall cuts off, in closed form.
    #[default]
    Analytic,
    /// Boundary particles on the walls (Akinci et al. 2012), each weighted by the density missing around it.
    /// Scenes with snow only.
    Particles,
}

impl Scene {
    /// Returns the section of type `T`, if the scene has it.
    pub fn section<T: Section>(&self) -> Option<&T> {
        self.sections.get()
    }

    /// Returns the section of type `T` for modification.
    pub fn section_mut<T: Section>(&mut self) -> Option<&mut T> {
        self.sections.get_mut()
    }

    /// Adds a section and replaces an existing one of the same type.
    pub fn set_section<T: Section>(&mut self, section: T) {
        self.sections.set(section);
    }

    /// Removes a section from the scene and returns it.
    pub fn remove_section<T: Section>(&mut self) -> Option<T> {
        self.sections.remove()
    }
}
