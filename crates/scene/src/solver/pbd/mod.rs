//! `pbd`: water and snow, by the position-based method.

mod advice;
mod closeness;
mod conduction;
mod fluid;
mod section;
mod snow;
mod snow_density;
mod springs;
mod validate_fluid;
mod validate_snow;
mod xsph;

pub(crate) use conduction::{MAX_CONDUCTION, conduction_sum_m2};
pub use fluid::{Fluid, FluidKernel, NeighbourGrid, WallDensity};
pub use section::{ArtificialPressure, Pbd, Pressure};
pub use snow::*;
pub use springs::Springs;
pub use xsph::Xsph;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use crate::check::{Check, Checker};
use crate::random::unit_interval;
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Phase, Scene};
use crate::section::SectionType;
use crate::solver::constraint_gradient::ConstraintGradient;
use crate::solver::feature::Feature;
use crate::solver::solver_scene::{ContactDefaults, SolverScene, unused_temperature};
use crate::{SceneError, Section};

/// The position-based fluid.
pub(crate) struct PositionBasedFluid;

pub(crate) static PBD: PositionBasedFluid = PositionBasedFluid;

const SECTIONS: &[SectionType] =
    &[SectionType::required::<Fluid>(), SectionType::optional::<Snow>(), SectionType::with_defaults::<Pbd>()];

impl SolverScene for PositionBasedFluid {
    fn kind(&self) -> &'static str {
        "pbd"
    }

    fn title(&self) -> &'static str {
        "Position-based fluid."
    }

    fn sections(&self) -> &'static [SectionType] {
        SECTIONS
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Bodies, Feature::Emitters, Feature::Drains, Feature::AutoTimeStep, Feature::Substeps]
    }

    fn live_keys(&self, scene: &Scene) -> &'static [&'static str] {
        if scene.snow().is_some() {
            &[
                "gravity_m_s2",
                "fluid.dynamic_viscosity_pa_s",
                "fluid.wall_friction",
                "snow.static_friction",
                "snow.kinetic_friction",
                "snow.xsph_rate_per_s",
                "snow.xsph_viscosity",
                "snow.heat.snow_conductivity_w_m_k",
                "snow.heat.water_conductivity_w_m_k",
            ]
        } else {
            &[
                "gravity_m_s2",
                "fluid.dynamic_viscosity_pa_s",
                "fluid.wall_friction",
                "pbd.iterations",
                "pbd.max_iterations",
                "pbd.density_tolerance",
                "pbd.over_relaxation",
                "pbd.constraint_relaxation",
                "pbd.artificial_pressure.strength",
            ]
        }
    }

    fn auto_dt_s(&self, scene: &Scene) -> f64 {
        scene.auto_fluid_dt_s()
    }

    fn stable_dt_s(&self, scene: &Scene) -> f64 {
        scene.longest_viscous_dt_s().min(scene.longest_conduction_dt_s())
    }

    fn particle_spacing_m(&self, scene: &Scene) -> f64 {
        scene.fluid().map_or(f64::NAN, |fluid| fluid.particle_spacing_m)
    }

    fn spacing_key(&self, scene: &Scene) -> (&'static str, f64) {
        (SPACING_KEY, self.particle_spacing_m(scene))
    }

    fn spacing_noun(&self) -> &'static str {
        SPACING_KEY
    }

    fn rest_density_kg_m3(&self, scene: &Scene) -> f64 {
        scene.fluid().map_or(f64::NAN, |fluid| fluid.rest_density_kg_m3)
    }

    fn particle_mass_kg(&self, scene: &Scene) -> f64 {
        scene.fluid().map_or(f64::NAN, Fluid::particle_mass_kg)
    }

    fn contact_defaults(&self, scene: &Scene) -> ContactDefaults {
        let support_m = self.support_radius_m(scene);
        ContactDefaults {
            friction: None,
            restitution: None,
            mesh_reach_m: support_m,
            mesh_density_support_m: Some(support_m),
        }
    }

    fn support_radius_m(&self, scene: &Scene) -> f64 {
        scene.fluid().map_or(f64::NAN, Fluid::support_radius_m)
    }

    fn derived(&self, scene: &Scene) -> Vec<(&'static str, serde_json::Value)> {
        let constraint_epsilon_per_m2 = scene.constraint_epsilon_per_m2();
        vec![(Pbd::NAME, serde_json::json!({ "constraint_epsilon_per_m2": constraint_epsilon_per_m2 }))]
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        let Some(fluid) = scene.fluid() else { return Ok(()) };
        fluid.xsph().check(check, Fluid::NAME)?;
        scene.check_viscosity(check, fluid)?;
        scene.check_snow(check, fluid)
    }

    fn check_block(&self, scene: &Scene, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        scene.check_pbd_block(check, key, block)
    }

    fn check_discretization(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        scene.check_pbd_discretization(check)
    }

    fn advise(&self, scene: &Scene, warn: &mut dyn FnMut(&str, String)) {
        if let Some(fluid) = scene.fluid() {
            scene.advise_fluid(warn, fluid);
        }
        scene.advise_snow(warn);
    }

    fn advise_sampled(&self, scene: &Scene, sampled: &Sampled, warn: &mut dyn FnMut(&str, String)) {
        if let Some(fluid) = scene.fluid() {
            scene.advise_closeness(warn, fluid, sampled);
        }
    }

    fn unused_keys(&self, scene: &Scene) -> Vec<(&'static str, String)> {
        if scene.snow().is_none() {
            let of_projection = (scene.pressure() == Pressure::Position).then(|| {
                let reason = "only pbd.pressure = \"projection\" takes an excess back at a rate";
                ("pbd.density_rate_per_s", reason.to_owned())
            });
            let always = [unused_temperature("[snow]")].into_iter();
            return always.chain(unused_maximum(scene)).chain(of_projection).collect();
        }
        let reason = "with [snow], pbd.iterations is the number of iterations";
        ["pbd.density_tolerance", "pbd.max_iterations", "pbd.density_rate_per_s"]
            .map(|key| (key, reason.to_owned()))
            .into()
    }

    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(&'static str, String)>, SceneError> {
        let particles = sampled.len();
        let mut lines = vec![("particles", format!("{particles} of {:.4e} kg", scene.particle_mass_kg()))];
        if scene.snow().is_some() {
            let n_snow = sampled.phases.iter().filter(|phase| **phase == Phase::Snow).count();
            lines.push(("snow, water", format!("{n_snow}, {}", particles - n_snow)));
        }
        lines.push(("support radius", format!("{:.4e} m", scene.support_radius_m())));
        lines.push(("steps", scene.described_steps()));
        Ok(lines)
    }
}

/// The maximum of iterations, if their number is fixed.
pub(crate) fn unused_maximum(scene: &Scene) -> Option<(&'static str, String)> {
    let reason = "with pbd.density_tolerance = 0, pbd.iterations is the number of iterations";
    (scene.density_tolerance() == 0.0).then(|| ("pbd.max_iterations", reason.to_owned()))
}

/// Disorder of a fluid that does not state any. A lattice resists deformation with a shear modulus in
/// proportion to the pressure, until it yields: without disorder the first half period of water that sloshes
/// is 9 % too short and loses a third of its amplitude.
const DEFAULT_INITIAL_DISORDER_SPACINGS: f64 = 0.2;

/// Stream of the random numbers of [`Scene::disordered_positions_m`], apart from that of sampling.
const DISORDER_STREAM: u64 = 1;

const SPACING_KEY: &str = "fluid.particle_spacing_m";

impl Scene {
    /// Returns how faces of the domain act on the density of a `[fluid]`.
    pub fn wall_density(&self) -> Option<WallDensity> {
        let by_default = if self.snow().is_some() { WallDensity::Integral } else { WallDensity::Images };
        self.fluid().map(|fluid| fluid.wall_density.unwrap_or(by_default))
    }

    /// Returns the positions of the gradient along which the density constraint of a `[fluid]` corrects
    /// positions.
    pub fn constraint_gradient(&self) -> ConstraintGradient {
        let default = || {
            let solver = self.solver_scene();
            solver.map_or(ConstraintGradient::Prediction, |solver| solver.default_constraint_gradient())
        };
        self.fluid().and_then(|fluid| fluid.constraint_gradient).unwrap_or_else(default)
    }

    /// Returns the bound of the random displacement of particles of a `[fluid]` at the start, in spacings.
    pub fn initial_disorder_spacings(&self) -> f64 {
        let is_from_file = self.particles.iter().any(|block| block.shape.n_points().is_some());
        let is_ordered = self.snow().is_some() || is_from_file;
        let by_default = if is_ordered { 0.0 } else { DEFAULT_INITIAL_DISORDER_SPACINGS };
        self.fluid().map_or(0.0, |fluid| fluid.initial_disorder_spacings.unwrap_or(by_default))
    }

    /// Returns sampled positions of a `[fluid]` in m, each displaced by up to
    /// [`Self::initial_disorder_spacings`] along each axis within the domain. Drawn from the seed: the same
    /// bits on every platform.
    pub fn disordered_positions_m(&self, sampled: &Sampled) -> Vec<[f32; 3]> {
        let bound_m = self.initial_disorder_spacings() * self.particle_spacing_m();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(DISORDER_STREAM);
        let (low, high) = (self.domain.min_m, self.domain.max_m);
        let mut moved = |axis: usize, x: f32| {
            let along = f64::from(x) + (2.0 * unit_interval(&mut rng) - 1.0) * bound_m;
            along.clamp(low[axis], high[axis]) as f32
        };
        let positions = sampled.positions_m.iter();
        positions.map(|x| std::array::from_fn(|axis| moved(axis, x[axis]))).collect()
    }

    /// Returns the `[fluid]` section, if the scene has it.
    pub fn fluid(&self) -> Option<&Fluid> {
        self.section()
    }

    /// Returns the `[fluid]` section for modification.
    pub fn fluid_mut(&mut self) -> Option<&mut Fluid> {
        self.section_mut()
    }

    /// Returns the `[snow]` section, if the scene has it.
    pub fn snow(&self) -> Option<&Snow> {
        self.section()
    }

    /// Returns the `[snow]` section for modification.
    pub fn snow_mut(&mut self) -> Option<&mut Snow> {
        self.section_mut()
    }
}
