//! `dem`: snow as grains, by the discrete element method.

mod advice;
mod cells;
mod describe;
mod random_packing;
mod release;
mod release_sampling;
mod sampling;
mod scale;
mod section;
mod slab_placement;
mod slab_sampling;
mod slab_time;
mod time_step;
mod validate;
mod validate_release;
mod validate_slab;
mod validate_speed;

pub use section::{Bonds, Dem, TriggerArea, WeakLayer, damping_ratio};
pub use time_step::DerivedDem;

use crate::check::{Check, Checker};
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Scene};
use crate::section::SectionType;
use crate::solver::feature::Feature;
use crate::solver::solver_scene::{ContactDefaults, SAMPLED_BYTES, SolverScene};
use crate::watch::Watch;
use crate::{Fill, Release, SceneError, Section, Slab};

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
            Feature::Bodies,
            Feature::Emitters,
            Feature::BodyRestitution,
            Feature::AutoTimeStep,
            Feature::Substeps,
            Feature::AngularVelocity,
            Feature::Count,
            Feature::RandomFill,
        ]
    }

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
        if let Some(dem) = scene.dem_mut() {
            dem.scale_lengths(scale);
        }
    }

    fn scaled_keys(&self) -> &'static [&'static str] {
        &["dem.releases", "dem.slabs", "dem.weak_layer.fails_within"]
    }

    /// Returns the diameter of the largest grain.
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

    fn has_rigid_particles(&self) -> bool {
        true
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

    // Velocities are those between two steps, which are alike for that.
    fn longest_dt_s(&self, scene: &Scene, _speed_m_s: f64) -> f64 {
        self.auto_dt_s(scene)
    }

    fn derived(&self, scene: &Scene) -> Vec<(&'static str, serde_json::Value)> {
        let derived = scene.derived_dem().and_then(|derived| serde_json::to_value(derived).ok());
        derived.map(|derived| (Dem::NAME, derived)).into_iter().collect()
    }

    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        let Some(dem) = scene.dem() else { return Ok(()) };
        scene.check_dem(check, dem)?;
        scene.check_cells(check, dem)?;
        scene.check_releases(check, dem)?;
        scene.check_slabs(check, dem)
    }

    fn check_block(&self, scene: &Scene, check: &Checker<'_>, key: &str, block: &ParticleBlock) -> Check {
        scene.check_dem_block(check, key, block)
    }

    fn check_discretization(&self, scene: &Scene, check: &Checker<'_>) -> Check {
        let Some(dem) = scene.dem() else { return Ok(()) };
        scene.check_contact_time(check, dem)?;
        scene.check_slab_time(check, dem)?;
        scene.check_grain_speeds(check, dem)?;
        scene.check_packings(check)
    }

    fn random_fill_count(&self, scene: &Scene, block: &ParticleBlock) -> f64 {
        scene.dem().map_or(0.0, |dem| scene.random_count(block, dem))
    }

    fn filled_tables(&self, scene: &Scene) -> Vec<(&'static str, Vec<f64>)> {
        let Some(dem) = scene.dem() else { return Vec::new() };
        let counts = dem.releases.iter().map(|release| scene.grains_of_release(release, dem));
        vec![("dem.releases", counts.collect())]
    }

    fn sample(&self, scene: &Scene, watch: &mut Watch<'_>) -> Result<Sampled, SceneError> {
        scene.dem().map_or_else(|| Ok(Sampled::default()), |dem| scene.sample_grains(dem, watch))
    }

    /// Returns those of all columns, and of what is held to find neighbours; of random packings, those of
    /// pairs of near grains, too.
    fn sampling_bytes(&self, scene: &Scene, n_particles: f64) -> f64 {
        let random = scene.particles.iter().filter(|block| block.fill == Fill::Random);
        let n_random = random.map(|block| scene.block_count_estimate(block)).fold(0.0, f64::max);
        (SAMPLED_BYTES + 80.0) * n_particles + 120.0 * n_random
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
        let temperature = "grains have no temperature";
        let phase = "all grains are snow";
        vec![("particles.*.temperature_c", temperature.to_owned()), ("particles.*.phase", phase.to_owned())]
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

    /// Returns the release areas on the terrain: `[[dem.releases]]`, none in other scenes.
    pub fn releases(&self) -> &[Release] {
        self.dem().map_or(&[], |dem| &dem.releases)
    }

    pub(crate) fn releases_mut(&mut self) -> &mut [Release] {
        self.dem_mut().map_or(&mut [], |dem| &mut dem.releases)
    }

    /// Returns the plates of ice that break into pieces: `[[dem.slabs]]`, none in other scenes.
    pub fn slabs(&self) -> &[Slab] {
        self.dem().map_or(&[], |dem| &dem.slabs)
    }

    pub(crate) fn slabs_mut(&mut self) -> &mut [Slab] {
        self.dem_mut().map_or(&mut [], |dem| &mut dem.slabs)
    }
}
