//! The scene: the parts of the scene file that every solver knows, and the defaults of what they may leave out.

mod advice;
mod derived;
mod every;
mod output;
mod particles;
mod render;
pub(crate) mod sample;
mod scale;
mod speed;
mod time_step;
mod view;

pub use advice::Advice;
pub use derived::Derived;
pub use every::{Every, EveryError};
pub use output::Output;
pub use particles::{Fill, ParticleBlock, Phase};
pub use render::{Camera, Projection, Render, RenderScheme, Shading};
pub use sample::Sampled;
pub use time_step::TimeStep;
pub use view::View;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::source::Source;
use crate::solver::section::{Section, Sections};
use crate::{Axis, Collider, Obstacle, Release, Slab, TerrainSource, Vec3};

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
    /// What solvers own.
    #[serde(flatten, skip_deserializing)]
    #[schemars(skip)]
    pub(crate) sections: Sections,
    /// The ground of an avalanche, a map or a formula. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terrain: Option<TerrainSource>,
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

/// The method that moves the particles: the name of a solver, of which [`solvers`](crate::solvers) has the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SolverKind(Cow<'static, str>);

impl SolverKind {
    /// The position-based fluid, where a scene does not say.
    pub const DEFAULT: Self = Self(Cow::Borrowed("pbd"));

    /// The solver of that name; whether there is one, [`Scene::validate`] says.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self(name.into())
    }

    /// The name used in scene files.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for SolverKind {
    fn default() -> Self {
        Self::DEFAULT
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
    /// Factor ω on the averaged position corrections (Chen2021 eq 5.26–5.27), above 0 and up to 2.
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
            kind: SolverKind::DEFAULT,
            iterations: 3,
            over_relaxation: 0.5,
            constraint_relaxation: 0.1,
            artificial_pressure: ArtificialPressure::default(),
            steps_per_submission: 8,
        }
    }
}

/// Artificial pressure s_corr = −k (W(r) / W(|Δq|))ⁿ, Huang2016 eq 2.21.
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

impl Scene {
    /// The section of type `T`, if the scene has it.
    pub fn section<T: Section>(&self) -> Option<&T> {
        self.sections.get()
    }

    /// The section of type `T`, to be changed.
    pub fn section_mut<T: Section>(&mut self) -> Option<&mut T> {
        self.sections.get_mut()
    }

    /// Adds a section, in place of one of its type.
    pub fn set_section<T: Section>(&mut self, section: T) {
        self.sections.set(section);
    }

    /// Takes a section out of the scene.
    pub fn remove_section<T: Section>(&mut self) -> Option<T> {
        self.sections.remove()
    }
}
