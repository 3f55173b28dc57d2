//! Interface between a solver and its scenes.

use crate::SceneError;
use crate::check::{Check, Checker};
use crate::scene::sample::Sampled;
use crate::scene::{ParticleBlock, Scene};
use crate::section::SectionType;
use crate::solver::constraint_gradient::ConstraintGradient;
use crate::solver::feature::Feature;
use crate::watch::Watch;

/// Bytes of a particle in the columns that all scenes have: position, velocity, phase and temperature.
pub(crate) const SAMPLED_BYTES: f64 = 29.0;

/// The temperature of blocks, for scenes without heat.
pub(crate) fn unused_temperature(needed: &str) -> (&'static str, String) {
    ("particles.*.temperature_c", format!("the scene has no {needed}, and so no heat"))
}

/// Contact of particles with bodies and the terrain where the scene does not give it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactDefaults {
    /// Coefficient of friction; `None` if each kernel of the solver has its own.
    pub friction: Option<f64>,
    /// Coefficient of restitution; `None` if contacts have no damping.
    pub restitution: Option<f64>,
    /// Maximum distance in m between the surface of a mesh and a particle that interacts with it.
    pub mesh_reach_m: f64,
    /// Support radius in m of the kernel whose density inside of a mesh is tabulated; `None` for no table.
    pub mesh_density_support_m: Option<f64>,
}

/// Scene support of a solver: its sections, its requirements on a scene, and quantities derived from its
/// parameters.
///
/// The built-in solvers are listed in `registry.rs`; others call [`register`](crate::register) before they
/// load a scene. Methods that take a scene are called for scenes of this solver's [`kind`](Self::kind) only.
/// While a scene is loaded, required sections may still be absent and values unchecked: quantities derived
/// from them are then NaN, and no method panics.
pub trait SolverScene: Send + Sync {
    /// Returns the name of the solver in `solver.kind`.
    fn kind(&self) -> &'static str;

    /// Returns the method's name in a short sentence, for the JSON schema.
    fn title(&self) -> &'static str;

    /// Returns the sections that the solver owns, in the order in which they are written.
    ///
    /// The list must be written as a `const`: calls of `const` functions are not promoted to a static
    /// lifetime.
    fn sections(&self) -> &'static [SectionType];

    /// Returns the parts of the scene file that the solver supports beside those that every solver does.
    fn features(&self) -> &'static [Feature] {
        &[]
    }

    /// Returns 2 for scenes in the x–y plane, else 3.
    fn n_dimensions(&self, _scene: &Scene) -> usize {
        3
    }

    /// Returns `pbd.iterations` of scenes without that key.
    fn default_iterations(&self) -> u32 {
        3
    }

    /// Returns `fluid.constraint_gradient` of scenes without that key.
    fn default_constraint_gradient(&self) -> ConstraintGradient {
        ConstraintGradient::Prediction
    }

    /// Returns the distance in m between particles on a lattice.
    fn particle_spacing_m(&self, scene: &Scene) -> f64;

    /// Returns the key that determines how many particles fill a shape, and its value in m.
    fn spacing_key(&self, scene: &Scene) -> (&'static str, f64);

    /// Returns the name for the distance between particles on a lattice in error messages.
    fn spacing_noun(&self) -> &'static str {
        "lattice spacing"
    }

    /// Returns the spacing in m to which corners of boxes and of the domain are rounded when a scene is
    /// scaled; 0 for none.
    fn scaled_corner_spacing_m(&self, scene: &Scene) -> f64 {
        self.particle_spacing_m(scene)
    }

    /// Multiplies the lengths of the solver's own sections when a scene is scaled, if its materials do not
    /// fix them.
    fn scale_lengths(&self, _scene: &mut Scene, _scale: f64) {}

    /// Returns the keys of those lengths. By default none.
    fn scaled_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the height in m, along the up axis, above which particles do not fall freely; by default none.
    fn fall_top_m(&self, _scene: &Scene) -> Option<f64> {
        None
    }

    /// Returns the rest density in kg/m³.
    fn rest_density_kg_m3(&self, scene: &Scene) -> f64;

    /// Returns the mean mass of a particle in kg, or in kg/m in two dimensions: by default that of its share
    /// of a lattice.
    fn particle_mass_kg(&self, scene: &Scene) -> f64 {
        let n_axes = self.n_dimensions(scene) as i32;
        self.rest_density_kg_m3(scene) * self.particle_spacing_m(scene).powi(n_axes)
    }

    /// Returns the distance in m beyond which particles do not interact.
    fn support_radius_m(&self, scene: &Scene) -> f64;

    /// Returns the volume in m³ at rest density of a particle of an emitter, with [`Feature::Emitters`] only:
    /// by default that of any particle.
    fn emitted_volume_m3(&self, scene: &Scene) -> f64 {
        self.particle_mass_kg(scene) / self.rest_density_kg_m3(scene)
    }

    /// Returns true if particles are grains, which must not overlap when they appear. By default false.
    fn has_rigid_particles(&self) -> bool {
        false
    }

    /// Returns the contact with bodies whose keys are absent: by default without friction and damping, and
    /// with meshes up to the support radius.
    fn contact_defaults(&self, scene: &Scene) -> ContactDefaults {
        ContactDefaults {
            friction: Some(0.0),
            restitution: None,
            mesh_reach_m: self.support_radius_m(scene),
            mesh_density_support_m: None,
        }
    }

    /// Returns the time step in s of `dt_s = "auto"`, with [`Feature::AutoTimeStep`] only.
    fn auto_dt_s(&self, _scene: &Scene) -> f64 {
        f64::NAN
    }

    /// Returns the longest stable step in s of particles at rest, with [`Feature::Substeps`] only: by default
    /// any is.
    fn stable_dt_s(&self, _scene: &Scene) -> f64 {
        f64::INFINITY
    }

    /// Returns the longest substep in s while the fastest particle has this speed in m/s, with
    /// [`Feature::Substeps`] only: by default that in which it passes `time.courant_number` spacings, as far
    /// as it is stable.
    fn longest_dt_s(&self, scene: &Scene, speed_m_s: f64) -> f64 {
        // A whole number of substeps may be longer than the step by a rounding.
        let stable_s = (1.0 - 1e-9) * self.stable_dt_s(scene);
        stable_s.min(scene.time.courant_number * self.particle_spacing_m(scene) / speed_m_s)
    }

    /// Returns the keys whose values a running simulation can adopt, numbers or vectors: those that change
    /// neither the size of a buffer nor the state. By default none.
    fn live_keys(&self, _scene: &Scene) -> &'static [&'static str] {
        &[]
    }

    /// Returns the keys of initial capacities, which determine no result: a run may be resumed with others.
    /// By default none.
    fn capacity_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns quantities derived from the solver's sections, each under the section's name, for the record
    /// beside the scene.
    fn derived(&self, _scene: &Scene) -> Vec<(&'static str, serde_json::Value)> {
        Vec::new()
    }

    /// Checks values of the solver's own sections against each other, and the domain and the time step
    /// against them. The required sections are present, and numbers out of the ranges at their fields are
    /// refused.
    ///
    /// `check` may collect errors and then returns `Ok` for wrong values, also for those of blocks: only
    /// values that [are valid](Checker::are_valid) make sense in what follows.
    ///
    /// # Errors
    /// Those of `check`.
    fn validate(&self, scene: &Scene, check: &Checker<'_>) -> Check;

    /// Checks the solver's requirements on a block of particles, whose `shape` has been checked. `key` is the
    /// block's.
    ///
    /// # Errors
    /// Those of `check`.
    fn check_block(&self, _scene: &Scene, _check: &Checker<'_>, _key: &str, _block: &ParticleBlock) -> Check {
        Ok(())
    }

    /// Checks spacing and time step against domain, blocks, bodies and all other values, which are valid.
    ///
    /// # Errors
    /// [`SceneError::Value`] for the first value that is wrong.
    fn check_discretization(&self, _scene: &Scene, _check: &Checker<'_>) -> Check {
        Ok(())
    }

    /// Returns the approximate number of particles of a random packing in a block, with
    /// [`Feature::RandomFill`] only.
    fn random_fill_count(&self, _scene: &Scene, _block: &ParticleBlock) -> f64 {
        0.0
    }

    /// Returns the arrays of tables beside `[[particles]]` that the solver fills with particles, each with
    /// the approximate number of particles of each of its tables. By default none.
    fn filled_tables(&self, _scene: &Scene) -> Vec<(&'static str, Vec<f64>)> {
        Vec::new()
    }

    /// Returns the particles at time 0: by default those of [`Scene::sample_blocks`]. `watch` is told of the
    /// work that is done.
    ///
    /// # Errors
    /// The errors of [`Scene::sample`], and those of `watch`.
    fn sample(&self, scene: &Scene, watch: &mut Watch<'_>) -> Result<Sampled, SceneError> {
        scene.sample_blocks(watch)
    }

    /// Returns the memory of the host in bytes that sampling `n_particles` takes, about, beside what
    /// spreading them evenly does: by default that of the columns that all scenes have.
    fn sampling_bytes(&self, _scene: &Scene, n_particles: f64) -> f64 {
        SAMPLED_BYTES * n_particles
    }

    /// Completes the columns of the particles from the index `begin` on, which [`Scene::sample_blocks`] has
    /// just sampled from a block: positions, velocities, temperatures and phases are present. `unit` draws
    /// numbers in [0, 1) from the block's stream; `watch` is told of each particle.
    ///
    /// # Errors
    /// Those of `watch`.
    fn complete_block(
        &self,
        _scene: &Scene,
        _block: &ParticleBlock,
        _begin: usize,
        _unit: &mut dyn FnMut() -> f64,
        _watch: &mut Watch<'_>,
        _sampled: &mut Sampled,
    ) -> Result<(), SceneError> {
        Ok(())
    }

    /// Warns about allowed but unusual values: calls `warn` with a key and a message.
    fn advise(&self, _scene: &Scene, _warn: &mut dyn FnMut(&str, String)) {}

    /// Warns about unusual states at time 0, like [`advise`](Self::advise), for `frazil check`.
    fn advise_sampled(&self, _scene: &Scene, _sampled: &Sampled, _warn: &mut dyn FnMut(&str, String)) {}

    /// Returns keys that no part of a simulation of this scene reads, each with the reason, whether the scene
    /// has them or not. `particles.*.NAME` stands for the key of each block.
    fn unused_keys(&self, _scene: &Scene) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns a summary of the scene, as labels and text, for `frazil check`.
    ///
    /// # Errors
    /// The errors of sampling parts of the scene.
    fn describe(&self, scene: &Scene, sampled: &Sampled) -> Result<Vec<(&'static str, String)>, SceneError> {
        Ok(vec![
            ("particles", format!("{} of {:.4e} kg", sampled.len(), scene.particle_mass_kg())),
            ("support radius", format!("{:.4e} m", scene.support_radius_m())),
            ("steps", scene.described_steps()),
        ])
    }
}
