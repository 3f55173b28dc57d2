//! `dem`: snow as grains, by the discrete element method.

mod advice;
mod cells;
mod describe;
mod random_packing;
mod release;
mod release_sampling;
mod sampling;
mod section;
mod slab_placement;
mod slab_sampling;
mod slab_time;
mod time_step;
mod validate;

pub use section::{Bonds, Dem, TriggerArea, WeakLayer, damping_ratio};
pub use time_step::DerivedDem;

use crate::check::{Check, Checker};
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Scene};
use crate::section::SectionType;
use crate::solver::feature::Feature;
use crate::solver::solver_scene::{ContactDefaults, SolverScene, keys_of_constraint};
use crate::{Release, SceneError, Section};

/// The discrete element method.
pub(crate) struct DiscreteElements;

pub(crate) static DEM: DiscreteElements = DiscreteElements;

const SECTIONS: &[SectionType] = &[SectionType::required::<Dem>()];

impl SolverScene for DiscreteElements {
    fn kind(&self) -> &'static str {
        "dem"
    }

    fn title(&self) -> &'static str {
        "Discrete element method."
    }

    fn sections(&self) -> &'static [SectionType] {
        SECTIONS
    }

    fn features(&self) -> &'static [Feature] {
        &[
            Feature::Terrain,
            Feature::Releases,
            Feature::Slabs,
            Feature::Bodies,
            Feature::BodyRestitution,
            Feature::AutoTimeStep,
            Feature::AngularVelocity,
            Feature::Count,
            Feature::RandomFill,
        ]
    }

    /// Returns the diameter of the largest grain.
    fn capacity_keys(&self) -> &'static [&'static str] {
        &["dem.contacts_per_grain"]
    }

    fn live_keys(&self, _scene: &Scene) -> &'static [&'static str] {
        &[
            "gravity_m_s2",
            "dem.friction",
            "dem.rolling_friction",
            "dem.restitution",
            "dem.tangential_damping_ratio",
            "dem.wall_friction",
            "dem.wall_restitution",
            "dem.cohesion_n",
            "dem.terrain_adhesion_n",
            "dem.turbulent_drag_1_m",
        ]
    }

    fn scale_lengths(&self, scene: &mut Scene, scale: f64) {
        let layer = scene.dem_mut().and_then(|dem| dem.weak_layer.as_mut());
        if let Some(area) = layer.and_then(|layer| layer.fails_within.as_mut()) {
            area.centre_m = area.centre_m.map(|x| scale * x);
            area.radius_m *= scale;
        }
    }

    fn particle_spacing_m(&self, scene: &Scene) -> f64 {
        scene.dem().map_or(f64::NAN, |dem| 2.0 * dem.max_radius_m())
    }

    fn spacing_key(&self, scene: &Scene) -> (&'static str, f64) {
        ("dem.radius_m", scene.dem().map_or(f64::NAN, |dem| dem.radius_m))
    }

    fn spacing_noun(&self) -> &'static str {
        "grain"
    }

    /// Returns 0: random grains do not fill a container from wall to wall, and a terrain ends where the map
    /// ends.
    fn scaled_corner_spacing_m(&self, _: &Scene) -> f64 {
        0.0
    }

    fn rest_density_kg_m3(&self, scene: &Scene) -> f64 {
        scene.dem().map_or(f64::NAN, |dem| dem.density_kg_m3)
    }

    fn particle_mass_kg(&self, scene: &Scene) -> f64 {
        scene.dem().map_or(f64::NAN, Dem::mean_grain_mass_kg)
    }

    fn contact_defaults(&self, scene: &Scene) -> ContactDefaults {
        ContactDefaults {
            friction: scene.dem().map(Dem::wall_friction),
            restitution: scene.dem().map(Dem::wall_restitution),
            mesh_reach_m: scene
                .dem()
                .map_or(f64::NAN, |dem| dem.max_radius_m() + dem.terrain_adhesion_range_m()),
            mesh_density_support_m: None,
        }
    }

    fn support_radius_m(&self, scene: &Scene) -> f64 {
        scene.dem().map_or(f64::NAN, Dem::reach_m)
    }

    fn auto_dt_s(&self, scene: &Scene) -> f64 {
        scene.dem().map_or(f64::NAN, |dem| scene.auto_contact_dt_s(dem))
    }

    fn derived(&self, scene: &Scene) -> Vec<(&'static str, serde_json::Value)> {
        let derived = scene.derived_dem().and_then(|derived| serde_json::to_value(derived).ok());
        derived.map(|derived| (Dem::NAME, derived)).into_iter().collect()
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        let Some(dem) = scene.dem() else { return Ok(()) };
        scene.check_dem(check, dem)?;
        scene.check_cells(check, dem)
    }

    fn check_block(&self, scene: &Scene, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        scene.check_dem_block(check, key, block)
    }

    fn check_release(&self, scene: &Scene, check: &Checker<'_>, key: &str, release: &Release) -> Check {
        scene.dem().map_or(Ok(()), |dem| scene.check_release(check, key, release, dem))
    }

    fn check_discretization(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        let Some(dem) = scene.dem() else { return Ok(()) };
        scene.check_contact_time(check, dem)?;
        scene.check_slab_time(check, dem)
    }

    fn random_fill_count(&self, scene: &Scene, block: &ParticleBlock) -> f64 {
        scene.dem().map_or(0.0, |dem| scene.random_count(block, dem))
    }

    fn release_count(&self, scene: &Scene, release: &Release) -> f64 {
        scene.dem().map_or(0.0, |dem| scene.grains_of_release(release, dem))
    }

    fn sample(&self, scene: &Scene) -> Result<Sampled, SceneError> {
        scene.dem().map_or_else(|| Ok(Sampled::default()), |dem| scene.sample_grains(dem))
    }

    fn advise(&self, scene: &Scene, warn: &mut dyn FnMut(&str, String)) {
        if let Some(dem) = scene.dem() {
            scene.advise_dem(warn, dem);
        }
    }

    fn advise_sampled(&self, scene: &Scene, sampled: &Sampled, warn: &mut dyn FnMut(&str, String)) {
        if let Some(dem) = scene.dem() {
            scene.advise_overlap_at_rest(warn, dem, sampled);
        }
    }

    fn unused_keys(&self, _scene: &Scene) -> Vec<(&'static str, String)> {
        let mut keys = keys_of_constraint(self.kind());
        keys.push(("particles.*.temperature_c", "grains have no temperature".to_owned()));
        keys.push(("particles.*.phase", "all grains are snow".to_owned()));
        keys
    }

    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(&'static str, String)>, SceneError> {
        match (scene.dem(), scene.derived_dem()) {
            (Some(dem), Some(derived)) => describe::describe(scene, sampled, dem, &derived),
            _ => Ok(Vec::new()),
        }
    }
}

impl Scene {
    /// Returns the `[dem]` section, if the scene has it.
    pub fn dem(&self) -> Option<&Dem> {
        self.section()
    }

    /// Returns the `[dem]` section for modification.
    pub fn dem_mut(&mut self) -> Option<&mut Dem> {
        self.section_mut()
    }
}
