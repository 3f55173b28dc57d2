//! What it is to be a solver, for those who run, show and store one without knowing which.

use crate::fault::{InvariantFault, SolverFault};
use crate::metrics::{Measurement, MetricInfo};
use crate::saved::StateColumn;
use crate::tuning::{Tunable, Tuning, WORKGROUP_SIZE};
use crate::{PlotSpec, SolverError};
use frazil_particles::{ColumnView, ParticleSet, SetInfo};
use frazil_scene::{Sampled, Scene};
use frazil_vk::{Buffer, Device, Recorder};
use std::fmt::Display;

/// The state of a simulation on the device, and the step that moves it on.
///
/// Invariant: recording never waits for the device. What is asked of the state comes as a [`PendingResult`].
pub trait Solver {
    /// Names of the stages of one step, in order; a stage that a step has several times is there as often.
    fn stages(&self) -> Vec<String>;

    /// Records one stage: the switch that lets tests run the stages before it, or after it, somewhere else.
    ///
    /// # Errors
    /// There is no stage of this name; a primitive refuses; no memory.
    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError>;

    /// Records one step. What goes wrong is kept by the recorder for the submission to report.
    fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in self.stages() {
            if let Err(error) = self.record_stage(recorder, &stage) {
                recorder.fail(error.during(stage));
            }
        }
    }

    /// Returns the sets of particles, one a phase where phases are told apart, with what pictures may show of
    /// them.
    fn particle_sets(&self) -> Vec<ParticleSet<'_>>;

    /// Returns what is recorded and exported, one element a particle, all sets merged. `position` and `id`
    /// are among them, and their lengths never change.
    fn columns(&self) -> Vec<ColumnView>;

    /// Returns [`Self::columns`], and behind them what else the next step depends on.
    fn state_columns(&self) -> Vec<ColumnView> {
        self.columns()
    }

    /// Records what brings [`Self::columns`], [`Self::state_columns`] and [`Self::body_columns`] to the state
    /// at this point of the recorder. Nothing where they are the state itself.
    fn record_output(&self, _recorder: &mut Recorder) {}

    /// Returns the rigid bodies that pictures show, as of the last [`Self::record_bodies`].
    fn rigid_bodies(&self) -> Option<RigidBodies> {
        None
    }

    /// Records what brings [`Self::rigid_bodies`] to the state at this point of the recorder.
    fn record_bodies(&self, _recorder: &mut Recorder) {}

    /// Returns what is recorded of rigid bodies, one element a body, as of the last [`Self::record_output`].
    fn body_columns(&self) -> Vec<ColumnView> {
        Vec::new()
    }

    /// Returns names and units of what [`Self::record_metrics`] measures.
    fn metrics(&self) -> Vec<MetricInfo>;

    /// Records a measurement of the state. Densities that are shown are those of the positions afterwards.
    ///
    /// # Errors
    /// No memory for another read-back.
    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError>;

    /// Lists the numbers of a measurement that are worth watching, with their labels: by default those that
    /// most solvers have.
    fn highlights(&self, measured: &Measurement) -> Vec<(String, String)> {
        motion_highlights(&self.metrics(), measured)
    }

    /// Records a check of the solver's own data, where there is something to check: after a step, nothing is
    /// found.
    ///
    /// # Errors
    /// No memory for another read-back.
    fn record_invariant_check(
        &self,
        _recorder: &mut Recorder,
    ) -> Result<Option<PendingInvariants>, SolverError> {
        Ok(None)
    }

    /// Records the way to the host of what went wrong in the steps before, where steps find out by
    /// themselves.
    ///
    /// # Errors
    /// No memory for another read-back.
    fn record_fault_check(&self, _recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        Ok(None)
    }
}

/// Makes solvers of one kind. There is one factory a kind, known by [`crate::register`].
pub trait SolverFactory: Sync {
    /// Its name: the `solver.kind` of the scenes that it is for.
    fn kind(&self) -> &'static str;

    /// Makes the scene's initial state from its sampled particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// The scene asks for what the solver does not know; the device lacks memory or cannot bind buffers of
    /// this size; its limits do not allow the tuning.
    fn create(
        &self,
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Box<dyn Solver>, SolverError>;

    /// Makes the scene in the state that was saved after `step` steps, with the bits it had. Set-up: it waits
    /// for the device.
    ///
    /// # Errors
    /// As [`Self::create`]; a column is missing or has another length.
    fn restore(
        &self,
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
    ) -> Result<Box<dyn Solver>, SolverError>;

    /// Lists the sets of a scene's particles, and how pictures show them, as far as the scene alone tells:
    /// nothing by default, and then a picture's first values give the ranges of its colours.
    fn set_infos(&self, _scene: &Scene, _n_particles: usize) -> Vec<SetInfo> {
        Vec::new()
    }

    /// Lists the tunables that steps depend on.
    fn tunables(&self) -> Vec<&'static Tunable> {
        vec![&WORKGROUP_SIZE]
    }

    /// Lists the plots that a run gets of its metrics. One whose metrics a run does not have is left out.
    fn plots(&self) -> Vec<PlotSpec> {
        Vec::new()
    }

    /// Returns the particles' material, where they are what a flow down a terrain is made of.
    fn flow_material(&self, _scene: &Scene) -> Option<FlowMaterial> {
        None
    }

    /// Returns the distance in m within which two particles belong to one heap.
    fn linking_length_m(&self, scene: &Scene) -> f64 {
        1.5 * scene.particle_spacing_m()
    }
}

/// Poses of rigid bodies on the device.
#[derive(Clone, Debug)]
pub struct RigidBodies {
    /// Centres of mass in m.
    pub centre_m: Buffer<[f32; 3]>,
    /// Rotations since the beginning, unit quaternions (x, y, z, w).
    pub rotation: Buffer<[f32; 4]>,
}

/// What a flow is made of: spheres that lie in a deposit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowMaterial {
    /// Density in kg/m³ of a particle by itself.
    pub particle_density_kg_m3: f64,
    /// Density in kg/m³ of a deposit of them.
    pub bulk_density_kg_m3: f64,
}

/// A result that the device has yet to bring to the host.
pub trait PendingResult<T> {
    /// Returns true if it is here.
    ///
    /// # Errors
    /// The device was lost.
    fn is_ready(&self) -> frazil_vk::Result<bool>;

    /// Waits for it.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    fn wait(self: Box<Self>) -> frazil_vk::Result<T>;
}

/// A measurement on its way to the host.
pub type PendingMeasurement = Box<dyn PendingResult<Measurement>>;
/// The first fault, if there was one, on its way to the host.
pub type PendingFault = Box<dyn PendingResult<Option<SolverFault>>>;
/// The invariants that do not hold, on their way to the host.
pub type PendingInvariants = Box<dyn PendingResult<Vec<InvariantFault>>>;

/// Finds the stage of a name among those of a step.
pub(crate) fn stage_named<S: Display>(
    stages: impl IntoIterator<Item = S>,
    name: &str,
) -> Result<S, SolverError> {
    let mut names: Vec<String> = Vec::new();
    for stage in stages {
        let own = stage.to_string();
        if own == name {
            return Ok(stage);
        }
        if !names.contains(&own) {
            names.push(own);
        }
    }
    Err(SolverError::Stage { found: name.to_owned(), expected: names.join(", ") })
}

/// The numbers worth watching that most solvers measure.
pub(crate) fn motion_highlights(metrics: &[MetricInfo], measured: &Measurement) -> Vec<(String, String)> {
    let value = |name: &str| {
        let place = metrics.iter().position(|metric| metric.name == name)?;
        measured.values.get(place)
    };
    let rows = [
        ("kinetic energy", value("kinetic_energy").map(|value| format!("{value:.4} J"))),
        ("mean density", value("density_mean").map(|value| format!("{value:.1} kg/m³"))),
        ("fastest", value("speed_max").map(|value| format!("{value:.2} m/s"))),
    ];
    rows.into_iter().filter_map(|(label, text)| Some((label.to_owned(), text?))).collect()
}

/// Labels and what belongs to them.
pub(crate) fn rows<const N: usize>(rows: [(&str, String); N]) -> Vec<(String, String)> {
    rows.into_iter().map(|(label, text)| (label.to_owned(), text)).collect()
}
