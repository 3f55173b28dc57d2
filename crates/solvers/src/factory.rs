//! Factories of solvers, which the registry lists by kind.

use crate::tuning::{Tunable, Tuning, WORKGROUP_SIZE};
use crate::{PlotSpec, Solver, SolverError};
use frazil_particles::{SetInfo, StateColumn};
use frazil_scene::{Sampled, Scene};
use frazil_vk::Device;

/// Factory of solvers of one kind, registered with [`crate::register`].
pub trait SolverFactory: Sync {
    /// Returns the name: the `solver.kind` of its scenes.
    fn kind(&self) -> &'static str;

    /// Makes the solver of a scene in a state to start in. Set-up only: waits for the device.
    ///
    /// # Errors
    /// The scene asks for something unknown to the solver; a saved column is missing or has another length;
    /// out of memory, or a buffer larger than the device can bind; tuning that exceeds the device's limits.
    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        start: SolverStart<'_>,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError>;

    /// Lists the scene's particle sets and their display, as far as the scene alone determines them. By
    /// default nothing; a picture then takes colour ranges from its first values.
    fn set_infos(&self, _scene: &Scene, _n_particles: usize) -> Vec<SetInfo> {
        Vec::new()
    }

    /// Lists the tunables that steps depend on.
    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE]
    }

    /// Lists the plots of a run's metrics. A plot whose metrics a run does not have is left out.
    fn plots(&self) -> Vec<PlotSpec> {
        Vec::new()
    }

    /// Returns the particles' material, if they form a flow down a terrain.
    fn flow_material(&self, _scene: &Scene) -> Option<FlowMaterial> {
        None
    }

    /// Returns the distance in m within which two particles belong to one fragment.
    fn linking_length_m(&self, scene: &Scene) -> f64 {
        1.5 * scene.particle_spacing_m()
    }
}

/// State that a solver starts in.
#[derive(Clone, Copy, Debug)]
pub enum SolverStart<'a> {
    /// The scene's initial state, from its sampled particles.
    Sampled(&'a Sampled),
    /// A saved state, which is restored bit for bit.
    Saved {
        /// Columns that [`crate::Solver::state_columns`] listed, as words.
        columns: &'a [StateColumn],
        /// Number of steps before it.
        step: u64,
    },
}

/// Material of a flow: spheres that form a deposit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowMaterial {
    /// Density of a particle in kg/m³.
    pub particle_density_kg_m3: f64,
    /// Bulk density of a deposit in kg/m³.
    pub bulk_density_kg_m3: f64,
}
