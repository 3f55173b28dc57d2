//! `pbd`: water and snow, by the position-based method.

mod advice;
mod conduction;
mod fluid;
mod snow;
mod springs;
mod validate_fluid;
mod validate_snow;

pub use fluid::Fluid;
pub use snow::*;
pub use springs::Springs;

use crate::SceneError;
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Phase, Scene};
use crate::solver::feature::Feature;
use crate::solver::section::SectionType;
use crate::solver::solver_scene::SolverScene;
use crate::validate::{Check, Checker};

/// The position-based fluid.
pub(crate) struct Pbd;

pub(crate) static PBD: Pbd = Pbd;

const SECTIONS: &[SectionType] = &[SectionType::required::<Fluid>(), SectionType::optional::<Snow>()];

impl SolverScene for Pbd {
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
        &[Feature::Bodies]
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

    fn support_radius_m(&self, scene: &Scene) -> f64 {
        scene.fluid().map_or(f64::NAN, Fluid::support_radius_m)
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        let Some(fluid) = scene.fluid() else { return Ok(()) };
        validate_fluid::check_fluid(check, fluid)?;
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

    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(&'static str, String)>, SceneError> {
        let particles = sampled.len();
        let mut lines = vec![("particles", format!("{particles} of {:.4e} kg", scene.particle_mass_kg()))];
        if scene.snow().is_some() {
            let n_snow = sampled.phases.iter().filter(|phase| **phase == Phase::Snow).count();
            lines.push(("snow, water", format!("{n_snow}, {}", particles - n_snow)));
        }
        lines.push(("support radius", format!("{:.4e} m", scene.support_radius_m())));
        lines.push(("steps", format!("{} of {} s", scene.n_steps(), scene.dt_s())));
        Ok(lines)
    }
}

const SPACING_KEY: &str = "fluid.particle_spacing_m";

impl Scene {
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
