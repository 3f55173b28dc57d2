//! `viscoelastic`: non-Newtonian fluids by the position-based method.

mod feed;
mod heat;
mod section;
mod time_step;
mod validate;

pub use feed::Feed;
pub use heat::{FaceTemperatures, ViscoelasticHeat};
pub use section::*;

use crate::SceneError;
use crate::check::{Check, Checker};
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Scene};
use crate::section::SectionType;
use crate::solver::constraint_gradient::ConstraintGradient;
use crate::solver::feature::Feature;
use crate::solver::pbd::{Fluid, PBD, Pbd, unused_maximum};
use crate::solver::solver_scene::{ContactDefaults, SolverScene, unused_temperature};

/// The viscoelastic fluid.
pub(crate) struct ViscoelasticFluid;

pub(crate) static VISCOELASTIC: ViscoelasticFluid = ViscoelasticFluid;

const SECTIONS: &[SectionType] = &[
    SectionType::required::<Fluid>(),
    SectionType::with_defaults::<Viscoelastic>(),
    SectionType::with_defaults::<Pbd>(),
];

/// Keys that can change while a simulation runs, by what the elasticity model has of them.
const LIVE_FLUID: &[&str] = &[
    "gravity_m_s2",
    "fluid.dynamic_viscosity_pa_s",
    "viscoelastic.wall_friction",
    "viscoelastic.wall_restitution",
];
const LIVE_FIXED_SPRINGS: &[&str] = &[
    "gravity_m_s2",
    "fluid.dynamic_viscosity_pa_s",
    "viscoelastic.modulus_pa",
    "viscoelastic.unresolved_damping",
    "viscoelastic.wall_friction",
    "viscoelastic.wall_restitution",
];
const LIVE_STRAIN: &[&str] = &[
    "gravity_m_s2",
    "fluid.dynamic_viscosity_pa_s",
    "viscoelastic.modulus_pa",
    "viscoelastic.yield_strain",
    "viscoelastic.decay_per_s",
    "viscoelastic.unresolved_damping",
    "viscoelastic.wall_friction",
    "viscoelastic.wall_restitution",
];
const LIVE_CONFORMATION: &[&str] = &[
    "gravity_m_s2",
    "fluid.dynamic_viscosity_pa_s",
    "viscoelastic.modulus_pa",
    "viscoelastic.relaxation_time_s",
    "viscoelastic.yield_stress_pa",
    "viscoelastic.unresolved_damping",
    "viscoelastic.wall_friction",
    "viscoelastic.wall_restitution",
];

impl SolverScene for ViscoelasticFluid {
    fn kind(&self) -> &'static str {
        "viscoelastic"
    }

    fn title(&self) -> &'static str {
        "Position-based viscoelastic fluid."
    }

    fn sections(&self) -> &'static [SectionType] {
        SECTIONS
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Bodies, Feature::PeriodicDomain, Feature::AutoTimeStep, Feature::Substeps]
    }

    fn live_keys(&self, scene: &Scene) -> &'static [&'static str] {
        let material = scene.viscoelastic();
        match material.elasticity {
            Elasticity::Conformation => LIVE_CONFORMATION,
            Elasticity::StrainTensor => LIVE_STRAIN,
            Elasticity::Springs if material.springs_fixed => LIVE_FIXED_SPRINGS,
            Elasticity::Springs => LIVE_STRAIN,
            Elasticity::None => LIVE_FLUID,
        }
    }

    fn default_iterations(&self) -> u32 {
        1
    }

    fn default_constraint_gradient(&self) -> ConstraintGradient {
        ConstraintGradient::Start
    }

    fn auto_dt_s(&self, scene: &Scene) -> f64 {
        scene.auto_fluid_dt_s()
    }

    fn stable_dt_s(&self, scene: &Scene) -> f64 {
        scene.longest_elastic_dt_s().min(scene.longest_viscoelastic_conduction_s())
    }

    fn particle_spacing_m(&self, scene: &Scene) -> f64 {
        PBD.particle_spacing_m(scene)
    }

    fn spacing_key(&self, scene: &Scene) -> (&'static str, f64) {
        PBD.spacing_key(scene)
    }

    fn spacing_noun(&self) -> &'static str {
        PBD.spacing_noun()
    }

    fn scale_lengths(&self, scene: &mut Scene, scale: f64) {
        if let Some(feed) = scene.viscoelastic_mut().and_then(|material| material.feed.as_mut()) {
            feed.mouth_m *= scale;
        }
    }

    fn scaled_keys(&self) -> &'static [&'static str] {
        &["viscoelastic.feed.mouth_m"]
    }

    fn fall_top_m(&self, scene: &Scene) -> Option<f64> {
        scene.viscoelastic().feed.map(|feed| feed.mouth_m)
    }

    fn rest_density_kg_m3(&self, scene: &Scene) -> f64 {
        PBD.rest_density_kg_m3(scene)
    }

    fn particle_mass_kg(&self, scene: &Scene) -> f64 {
        PBD.particle_mass_kg(scene)
    }

    fn contact_defaults(&self, scene: &Scene) -> ContactDefaults {
        PBD.contact_defaults(scene)
    }

    fn support_radius_m(&self, scene: &Scene) -> f64 {
        PBD.support_radius_m(scene)
    }

    fn derived(&self, scene: &Scene) -> Vec<(&'static str, serde_json::Value)> {
        PBD.derived(scene)
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        scene.check_viscoelastic(check)
    }

    fn check_block(&self, scene: &Scene, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        PBD.check_block(scene, check, key, block)
    }

    fn check_discretization(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        PBD.check_discretization(scene, check)?;
        scene.check_viscoelastic_discretization(check)
    }

    fn advise(&self, scene: &Scene, warn: &mut dyn FnMut(&str, String)) {
        PBD.advise(scene, warn);
    }

    fn advise_sampled(&self, scene: &Scene, sampled: &Sampled, warn: &mut dyn FnMut(&str, String)) {
        PBD.advise_sampled(scene, sampled, warn);
    }

    fn unused_keys(&self, scene: &Scene) -> Vec<(&'static str, String)> {
        let temperature = scene.viscoelastic().heat.is_none();
        let temperature = temperature.then(|| unused_temperature("[viscoelastic.heat]"));
        temperature.into_iter().chain(unused_maximum(scene)).collect()
    }

    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(&'static str, String)>, SceneError> {
        let mut lines = PBD.describe(scene, sampled)?;
        let material = scene.viscoelastic();
        let elasticity = match material.elasticity {
            Elasticity::None => "none".to_owned(),
            _ => format!("{}, modulus {} Pa", material.elasticity.name(), material.modulus_pa),
        };
        lines.push(("elasticity", elasticity));
        if let Some(heat) = &material.heat {
            let diffusivity_m2_s = heat.diffusivity_m2_s(scene.rest_density_kg_m3());
            let [min, max] = scene.viscosity_shifts();
            lines.push((
                "heat",
                format!("diffusivity {diffusivity_m2_s:.3e} m²/s, viscosity times {min:.3} to {max:.3}"),
            ));
        }
        lines.push(("longest step", format!("{:.3e} s", scene.longest_elastic_dt_s())));
        Ok(lines)
    }
}

impl Scene {
    /// Returns the `[viscoelastic]` section, or its defaults.
    pub fn viscoelastic(&self) -> Viscoelastic {
        self.section::<Viscoelastic>().cloned().unwrap_or_default()
    }

    /// Returns the `[viscoelastic]` section for modification, if the scene has it.
    pub fn viscoelastic_mut(&mut self) -> Option<&mut Viscoelastic> {
        self.section_mut()
    }
}
