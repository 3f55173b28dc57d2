//! Calls from a scene to its solver.

use std::collections::BTreeMap;

use crate::SceneError;
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Scene};
use crate::solver::feature::Feature;
use crate::solver::registry;
use crate::solver::solver_scene::{ContactDefaults, SolverScene};
use crate::watch::Watch;

impl Scene {
    /// Returns the solver that `solver.kind` names; a valid scene has one.
    pub fn solver_scene(&self) -> Option<&'static dyn SolverScene> {
        registry::find(self.solver.kind.name())
    }

    /// Returns true if the solver takes `[[emitters]]`.
    pub(crate) fn may_have_emitters(&self) -> bool {
        self.has_feature(Feature::Emitters)
    }

    /// Returns true if the scene's solver has that feature.
    pub fn has_feature(&self, feature: Feature) -> bool {
        self.solver_scene().is_some_and(|solver| solver.features().contains(&feature))
    }

    /// Returns the contact with bodies whose keys are absent; none without a solver, which is refused.
    pub fn contact_defaults(&self) -> Option<ContactDefaults> {
        self.solver_scene().map(|solver| solver.contact_defaults(self))
    }

    /// Returns a value of the solver, or NaN without a solver, which validation refuses.
    fn of_solver(&self, value: impl FnOnce(&dyn SolverScene) -> f64) -> f64 {
        self.solver_scene().map_or(f64::NAN, value)
    }

    /// Returns the mass of a particle in kg: ρ₀d³ unless the scene says otherwise. In scenes of the material
    /// point method it is the mean of all particles, in kg/m in two dimensions; for grains the mean over the
    /// distribution of radii.
    pub fn particle_mass_kg(&self) -> f64 {
        self.of_solver(|solver| solver.particle_mass_kg(self))
    }

    /// Returns 2 for scenes in the x–y plane, else 3.
    pub fn n_dimensions(&self) -> usize {
        self.solver_scene().map_or(3, |solver| solver.n_dimensions(self))
    }

    /// Returns the distance between particles in m, as on a lattice; for grains the diameter of the largest.
    pub fn particle_spacing_m(&self) -> f64 {
        self.of_solver(|solver| solver.particle_spacing_m(self))
    }

    /// Returns the rest density ρ₀ in kg/m³; for grains that of a single grain.
    pub fn rest_density_kg_m3(&self) -> f64 {
        self.of_solver(|solver| solver.rest_density_kg_m3(self))
    }

    /// Returns the support radius h of the smoothing kernels in m; in scenes of the material point method
    /// that of its splines; for grains the distance beyond which no two interact.
    pub fn support_radius_m(&self) -> f64 {
        self.of_solver(|solver| solver.support_radius_m(self))
    }

    /// Returns the volume in m³ at rest density of a particle of an emitter.
    pub fn emitted_volume_m3(&self) -> f64 {
        self.of_solver(|solver| solver.emitted_volume_m3(self))
    }

    pub(crate) fn auto_dt_s(&self) -> f64 {
        self.of_solver(|solver| solver.auto_dt_s(self))
    }

    pub(crate) fn longest_dt_s(&self, speed_m_s: f64) -> f64 {
        self.of_solver(|solver| solver.longest_dt_s(self, speed_m_s))
    }

    pub(crate) fn scaled_corner_spacing_m(&self) -> f64 {
        self.of_solver(|solver| solver.scaled_corner_spacing_m(self))
    }

    pub(crate) fn random_fill_count(&self, block: &ParticleBlock) -> f64 {
        self.of_solver(|solver| solver.random_fill_count(self, block))
    }

    pub(crate) fn filled_tables(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.solver_scene().map_or_else(Vec::new, |solver| solver.filled_tables(self))
    }

    pub(crate) fn complete_block(
        &self,
        block: &ParticleBlock,
        begin: usize,
        unit: &mut dyn FnMut() -> f64,
        watch: &mut Watch<'_>,
        sampled: &mut Sampled,
    ) -> Result<(), SceneError> {
        self.solver_scene()
            .map_or(Ok(()), |solver| solver.complete_block(self, block, begin, unit, watch, sampled))
    }

    pub(crate) fn derived_sections(&self) -> BTreeMap<&'static str, serde_json::Value> {
        self.solver_scene().map_or_else(Vec::new, |solver| solver.derived(self)).into_iter().collect()
    }
}
