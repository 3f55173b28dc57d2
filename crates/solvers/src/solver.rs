//! Interface of solvers, for code that runs, shows and stores any of them.

use crate::facets::{FlowMapping, PairInspection, RigidBodies, SparseGrid};
use crate::fault::{InvariantFault, Regrown, SolverFault};
use crate::grab::Grab;
use crate::metrics::{Measurement, MetricInfo, PendingMeasurement};
use crate::pending::PendingResult;
use crate::{DynamicBodies, SolverError, WorkCounter};
use frazil_particles::{ColumnView, ParticleSet, ParticleTable};
use frazil_scene::Scene;
use frazil_vk::{Device, DeviceCount, Recorder};
use std::fmt::Display;

/// State of a simulation on the device, and the step that advances it.
///
/// Invariant: recording never waits for the device. Measurements of the state are returned as a
/// [`PendingResult`].
///
/// A simulation may move to another thread between two calls.
pub trait Solver: Send {
    /// Returns the names of the stages of one step, in order; a repeated stage is listed as often as it runs.
    fn stages(&self) -> Vec<String>;

    /// Records one stage, so that tests can run the stages before or after it elsewhere, such as on the CPU.
    ///
    /// # Errors
    /// There is no stage of this name; a primitive returns an error; out of memory.
    fn record_stage(&mut self, recorder: &mut Recorder, stage: &str) -> Result<(), SolverError>;

    /// Records one step. The recorder keeps an error for the submission to report.
    fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in self.stages() {
            if let Err(error) = self.record_stage(recorder, &stage) {
                recorder.fail(error.during(stage));
            }
        }
    }

    /// Returns the sets of particles, one per phase if phases are separate, with all columns that pictures
    /// may show.
    fn particle_sets(&self) -> Vec<ParticleSet<'_>>;

    /// Returns the table of all particles, all sets merged: what is recorded and exported, and what the next
    /// step depends on. `position` and `id` are among its columns.
    fn table(&self) -> &ParticleTable;

    /// Returns the number of particles, on the device, if it changes while the simulation runs: columns then
    /// have the particles first, and elements without meaning behind them. By default it never changes.
    fn varying_count(&self) -> Option<&DeviceCount> {
        None
    }

    /// Returns the recorded and exported columns, one element per particle, all sets merged.
    fn columns(&self) -> Vec<ColumnView> {
        self.table().recorded_columns()
    }

    /// Returns [`Self::columns`], followed by the others that a checkpoint holds.
    fn state_columns(&self) -> Vec<ColumnView> {
        self.table().state_columns()
    }

    /// Adopts the parameters of a scene that differs from the present one only in keys that its solver lists
    /// as [`live_keys`](frazil_scene::SolverScene::live_keys), without touching the state: the next step has
    /// the same bits as after a restoration from a checkpoint with that scene. Steps recorded before keep the
    /// old parameters. [`change_scene`] checks the keys first. By default nothing can change.
    ///
    /// # Errors
    /// A parameter that cannot change; out of memory. The solver then goes on with the old parameters.
    fn set_scene(&mut self, _device: &Device, _scene: &Scene) -> Result<(), SolverError> {
        Err(SolverError::Fixed {
            key: "solver.kind".to_owned(),
            problem: "this solver takes no change".to_owned(),
        })
    }

    /// Records a pull on the particles before the next step, and returns true; by default does nothing and
    /// returns false.
    fn record_grab(&mut self, _recorder: &mut Recorder, _grab: &Grab) -> bool {
        false
    }

    /// Records the update of [`Self::columns`], [`Self::state_columns`] and the columns of
    /// [`Self::rigid_bodies`] to the state at this point of the recorder. Does nothing if they are the state
    /// itself.
    fn record_output(&self, _recorder: &mut Recorder) {}

    /// Returns the pairs of particles for inspection, if there can be any, such as bonds and contacts.
    fn pair_inspection(&self) -> Option<&dyn PairInspection> {
        None
    }

    /// Returns the bodies of the scene that move by their loads, if there are any, at their places as of the
    /// last [`Self::record_output`].
    fn dynamic_bodies(&self) -> Option<&DynamicBodies> {
        None
    }

    /// Returns the pieces of slabs that the solver moves, if there are any.
    fn rigid_bodies(&self) -> Option<&dyn RigidBodies> {
        None
    }

    /// Returns the sparse grid that steps use, if there is one.
    fn sparse_grid(&self) -> Option<&dyn SparseGrid> {
        None
    }

    /// Returns the map of the flow on the scene's terrain, if there is one.
    fn flow_mapping(&self) -> Option<&dyn FlowMapping> {
        None
    }

    /// Returns the names and units of the values that [`Self::record_metrics`] measures.
    fn metrics(&self) -> Vec<MetricInfo>;

    /// Records a measurement of the state. It updates the densities that are shown to the current positions.
    ///
    /// # Errors
    /// No memory for another read-back.
    fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingMeasurement, SolverError>;

    /// Lists the most informative values of a measurement with their labels: by default those that most
    /// solvers have.
    fn highlights(&self, measured: &Measurement) -> Vec<(String, String)> {
        motion_highlights(&self.metrics(), measured)
    }

    /// Returns warnings about the accuracy of the steps so far. For the end of a run only: it waits for the
    /// device.
    ///
    /// # Errors
    /// The device was lost.
    fn final_warnings(&self, _device: &Device) -> Result<Vec<String>, SolverError> {
        Ok(Vec::new())
    }

    /// Counts the items that kernels worked on in the last step; by default none. For profiles only: it
    /// waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    fn work_counters(&self, _device: &Device) -> Result<Vec<WorkCounter>, SolverError> {
        Ok(Vec::new())
    }

    /// Records a check of the solver's own data, if there is one: after a step, it must find no violation.
    ///
    /// # Errors
    /// No memory for another read-back.
    fn record_invariant_check(
        &self,
        _recorder: &mut Recorder,
    ) -> Result<Option<PendingInvariants>, SolverError> {
        Ok(None)
    }

    /// Records the read-back of the first fault of the previous steps, if the solver's steps detect faults.
    ///
    /// # Errors
    /// No memory for another read-back.
    fn record_fault_check(&self, _recorder: &mut Recorder) -> Result<Option<PendingFault>, SolverError> {
        Ok(None)
    }

    /// If the first fault of the previous steps is an overflow of a record of fixed size, enlarges the record
    /// and goes on from the state before the step of the overflow, which the device has kept: the steps that
    /// follow have the bits of a run with larger records from the start. All steps since have changed
    /// nothing and must be recorded again. Otherwise returns `None`, which is the default.
    ///
    /// All recorded steps must be submitted. It waits for the device.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind. No further step may follow.
    fn regrow(&mut self, _device: &Device) -> Result<Option<Regrown>, SolverError> {
        Ok(None)
    }
}

/// Makes a running simulation of the scene `from` go on with the parameters of `to`.
///
/// # Errors
/// The scenes differ in a key that cannot change while the simulation runs, or like [`Solver::set_scene`];
/// the solver is then unchanged.
pub fn change_scene(
    solver: &mut dyn Solver,
    device: &Device,
    from: &Scene,
    to: &Scene,
) -> Result<(), SolverError> {
    if let Some(key) = from.first_fixed_change(to) {
        let problem = format!("expected a change of {}", frazil_scene::one_of(from.live_keys()));
        return Err(SolverError::Fixed { key, problem });
    }
    solver.set_scene(device, to)
}

/// The first fault, if there was one, that is being read back.
pub type PendingFault = Box<dyn PendingResult<Option<SolverFault>>>;
/// Violated invariants that are being read back.
pub type PendingInvariants = Box<dyn PendingResult<Vec<InvariantFault>>>;

/// Finds the stage of a given name among those of a step.
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

/// Returns the most informative values that most solvers measure.
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

/// Converts an array of labels and values to a list.
pub(crate) fn rows<const N: usize>(rows: [(&str, String); N]) -> Vec<(String, String)> {
    rows.into_iter().map(|(label, text)| (label.to_owned(), text)).collect()
}
