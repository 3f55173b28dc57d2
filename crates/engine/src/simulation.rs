//! A simulated scene on a device, with its step and time.

use crate::device::is_on;
use crate::failure::{Failure, FailureKind};
use crate::state;
use crate::stored_tuning;
use frazil_io::{Checkpoint, ParameterChange};
use frazil_kernels::KernelError;
use frazil_particles::ColumnView;
use frazil_scene::{BodyMotion, Sampled, SamplingObserver, Scene};
use frazil_solvers::{
    DynamicBodies, Grab, MetricInfo, Pace, Pair, PendingFault, Regrown, RigidBodies, Solver, SolverError,
    SolverFactory, SolverFault, SolverStart, StepPlace, SubstepControl, Tuning, change_scene, factory_of,
};
use frazil_vk::{Device, Recorder, Replay};
use std::collections::BTreeMap;

/// A scene that is being simulated.
pub struct Simulation {
    /// Device that it runs on.
    pub device: Device,
    /// Scene with all changes so far.
    pub scene: Scene,
    /// State, and the step that advances it.
    pub solver: Box<dyn Solver>,
    /// Factory of the solver.
    pub factory: &'static dyn SolverFactory,
    /// Number of particles at the start, which is constant without emitters and drains.
    pub n_particles: usize,
    /// Values of the solver's tunables.
    pub tuning: Tuning,
    /// Warnings about stored tunables that are not used.
    pub warnings: Vec<String>,
    place: StepPlace,
    /// Decides the number of substeps of each step, if that follows from the speed of particles.
    substep_control: Option<SubstepControl>,
    /// Number of substeps of the steps that are recorded.
    substeps: u32,
    /// Command buffers of steps, unless `FRAZIL_REPLAY` turns them off.
    replay: Option<Replay>,
    /// Scene at the start, if it has changed since.
    initial_scene: Option<Scene>,
    changes: Vec<ParameterChange>,
    /// Pull on the particles in the next steps.
    pub grab: Option<Grab>,
}

/// Bytes of the position of a particle, a column of any solver.
const POSITION_BYTES: u64 = 12;

impl Simulation {
    /// Creates a simulation in the initial state of the scene, with the stored tunables of its solver, or the
    /// defaults if the device does not support them for this scene.
    ///
    /// # Errors
    /// The scene cannot be sampled; its solver is unknown; out of memory, or beyond what the device can bind.
    pub fn new(device: &Device, scene: Scene) -> Result<Self, Failure> {
        Self::watched(device, scene, &mut |_, _| true)
    }

    /// Like [`Self::new`], with an observer of the sampling, which it may end: called with what is done, and
    /// the share of it, every 20 ms or so; returns whether to go on.
    ///
    /// # Errors
    /// Those of [`Self::new`]; the observer has ended the sampling.
    pub fn watched<'a>(
        device: &Device,
        scene: Scene,
        observer: &'a mut SamplingObserver<'a>,
    ) -> Result<Self, Failure> {
        let largest = device.capabilities().max_storage_range;
        let reason = format!("this device can bind {largest} bytes, {POSITION_BYTES} of them a particle");
        scene
            .refuse_more_than(largest / POSITION_BYTES, &reason)
            .map_err(|error| Failure::from(error).of_kind(FailureKind::Device))?;
        let sampled = scene.sample_observed(observer)?;
        Self::with_stored_tuning(device, &scene, |tuning| {
            Self::with_tuning(device, scene.clone(), &sampled, tuning)
        })
    }

    /// Creates a simulation with the stored tunables of the scene's solver, or the defaults.
    fn with_stored_tuning(
        device: &Device,
        scene: &Scene,
        create: impl Fn(Tuning) -> Result<Self, SolverError>,
    ) -> Result<Self, Failure> {
        let (tuning, mut warnings) = stored_tuning::of_solver(device, factory_of(scene)?);
        let made = match create(tuning) {
            Err(error) if tuning != Tuning::default() && is_refusal(&error) => {
                warnings.push(format!(
                    "the stored tunables cannot be used for this scene ({error}); the defaults are used; \
                     `frazil tune --list` prints them"
                ));
                create(Tuning::default())
            }
            made => made,
        };
        Ok(Self { warnings, ..made? })
    }

    /// Creates a simulation in the sampled initial state of the scene, with other tunables.
    ///
    /// # Errors
    /// Like [`SolverFactory::create`].
    pub fn with_tuning(
        device: &Device,
        scene: Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let factory = factory_of(&scene)?;
        let substeps = scene.substeps();
        let divided = scene.with_substeps(substeps);
        let solver = factory.create(device, &divided, SolverStart::Sampled(sampled), tuning)?;
        let n_particles = sampled.len();
        Ok(Self { tuning, ..Self::of(device, scene, solver, factory, n_particles, Default::default())? })
    }

    /// Creates a simulation in the state of a checkpoint, with tunables like [`Self::new`].
    ///
    /// # Errors
    /// Like [`SolverFactory::create`]; a section of the checkpoint is no column.
    pub fn restore(device: &Device, scene: Scene, checkpoint: &Checkpoint) -> Result<Self, Failure> {
        let mut columns = state::state_columns(&checkpoint.sections)?;
        let paces = Pace::take(&mut columns);
        let n_particles = columns.iter().find(|column| column.name == "id").map_or(0, |ids| ids.words.len());
        Self::with_stored_tuning(device, &scene, |tuning| {
            let factory = factory_of(&scene)?;
            let start = SolverStart::Saved { columns: &columns, step: checkpoint.step };
            // The state is that of the last step, whose pressure depends on its length.
            let divided = scene.with_substeps(paces[0].substeps().unwrap_or_else(|| scene.substeps()));
            let solver = factory.create(device, &divided, start, tuning)?;
            let (scene, start) = (scene.clone(), (checkpoint.step, paces));
            Ok(Self { tuning, ..Self::of(device, scene, solver, factory, n_particles, start)? })
        })
    }

    fn of(
        device: &Device,
        scene: Scene,
        solver: Box<dyn Solver>,
        factory: &'static dyn SolverFactory,
        n_particles: usize,
        (step, paces): (u64, [Pace; 2]),
    ) -> Result<Self, SolverError> {
        let (initial_scene, changes, grab) = Default::default();
        let substeps = paces[0].substeps().unwrap_or_else(|| scene.substeps());
        let substep_control = match scene.has_adaptive_substeps() {
            true => Some(SubstepControl::new(device, &*solver, step, paces)?),
            false => None,
        };
        Ok(Self {
            device: device.clone(),
            scene,
            solver,
            factory,
            n_particles,
            tuning: Tuning::default(),
            warnings: Vec::new(),
            place: StepPlace::after(step),
            substep_control,
            substeps,
            replay: is_on("FRAZIL_REPLAY").unwrap_or(true).then(Replay::default),
            initial_scene,
            changes,
            grab,
        })
    }

    /// Returns the tunables that differ from their defaults, by name.
    pub fn changed_tunables(&self) -> BTreeMap<String, u32> {
        self.tuning.changed().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Goes on with other values of live parameters, as arguments `key=value`, and returns the changes. After
    /// an error everything is as it was.
    ///
    /// # Errors
    /// A key that cannot change while the simulation runs, or an invalid value.
    pub fn change(&mut self, arguments: &[String]) -> Result<Vec<ParameterChange>, Failure> {
        let changed = self.scene.with_live(arguments)?;
        self.go_on_with(changed)
    }

    /// Goes on with another motion of a body, and returns the change. After an error everything is as it was.
    ///
    /// # Errors
    /// An invalid motion, or a body that cannot move.
    pub fn move_body(&mut self, body: usize, motion: &BodyMotion) -> Result<(), Failure> {
        let changed = self.scene.with_body_motion(body, motion)?;
        self.go_on_with(changed).map(|_| ())
    }

    fn go_on_with(&mut self, changed: Scene) -> Result<Vec<ParameterChange>, Failure> {
        let [from, to] = [&self.scene, &changed].map(|scene| scene.with_substeps(self.substeps));
        change_scene(&mut *self.solver, &self.device, &from, &to)?;
        let made = differences(&self.scene, &changed, self.step());
        for change in &made {
            match self.changes.iter_mut().find(|old| old.step == change.step && old.key == change.key) {
                Some(old) => old.to = change.to.clone(),
                None => self.changes.push(change.clone()),
            }
        }
        self.changes.retain(|change| change.from != change.to);
        let before = std::mem::replace(&mut self.scene, changed);
        self.initial_scene.get_or_insert(before);
        Ok(made)
    }

    /// Returns the changes of parameters so far.
    pub fn changes(&self) -> &[ParameterChange] {
        &self.changes
    }

    /// Returns the scene at the start.
    pub fn initial_scene(&self) -> &Scene {
        self.initial_scene.as_ref().unwrap_or(&self.scene)
    }

    /// Sets the scene at the start of a run that is resumed, and the changes since.
    pub fn set_history(&mut self, scene: Scene, changes: Vec<ParameterChange>) {
        (self.initial_scene, self.changes) = (Some(scene), changes);
    }

    /// Returns the number of steps, up to `n`, that may be recorded before what was recorded is submitted:
    /// one where the number of substeps follows from an earlier step.
    pub fn steps_at_once(&self, n: u64) -> u64 {
        if self.substep_control.is_some() { n.min(1) } else { n }
    }

    /// Records `n` steps, at most [`Self::steps_at_once`]; returns the number of passes in the recorder at
    /// the end of each.
    pub fn record_steps(&mut self, recorder: &mut Recorder, n: u64) -> Vec<u32> {
        (0..n)
            .map(|_| {
                if let Err(error) = self.record_step(recorder) {
                    recorder.fail(error.during("a step"));
                }
                recorder.pass_count()
            })
            .collect()
    }

    fn record_step(&mut self, recorder: &mut Recorder) -> Result<(), SolverError> {
        let StepPlace { step, substeps: taken } = self.place;
        if let Some(control) = &mut self.substep_control {
            let n = control.substeps(&self.scene, step + 1)?;
            self.divide(n)?;
        }
        for _ in taken..self.substeps {
            if let Some(grab) = &self.grab {
                self.solver.record_grab(recorder, grab);
            }
            match &self.replay {
                Some(replay) => recorder.replayed(replay, |recorder| self.solver.record_step(recorder)),
                None => self.solver.record_step(recorder),
            }
        }
        self.place = StepPlace::after(step + 1);
        if let Some(control) = &mut self.substep_control {
            control.record(recorder, &*self.solver, step + 1, self.substeps)?;
        }
        Ok(())
    }

    /// Divides the steps that are recorded from now on into `n` substeps.
    fn divide(&mut self, n: u32) -> Result<(), SolverError> {
        if n != self.substeps {
            self.solver.set_scene(&self.device, &self.scene.with_substeps(n))?;
            self.substeps = n;
        }
        Ok(())
    }

    /// Goes on from the last sound step with larger records if `fault` is an overflow; any other fault is the
    /// failure. Everything recorded must be submitted; outputs of the step of the fault and of later ones
    /// show the last sound state, and must be discarded. It waits for the device.
    ///
    /// # Errors
    /// The fault is no overflow, or its record cannot grow.
    pub fn recover(&mut self, fault: &SolverFault) -> Result<Regrown, Failure> {
        // The step of the fault is repeated with its number of substeps.
        let n = self.substep_control.as_ref().and_then(|control| control.decided_of(fault.step));
        let regrown = n.map_or(Ok(()), |n| self.divide(n)).and_then(|()| self.solver.regrow(&self.device));
        match regrown {
            Ok(Some(regrown)) => {
                self.place = regrown.place;
                if let Some(control) = &mut self.substep_control {
                    control.roll_back(&self.device, regrown.place)?;
                }
                Ok(regrown)
            }
            Ok(None) => Err(Failure::invariant(fault)),
            Err(error) => Err(Failure::invariant(format!("{fault}; its capacity cannot be raised: {error}"))),
        }
    }

    /// Waits for a check of the steps so far, and [recovers](Self::recover) if it found a fault; returns true
    /// if steps since the last sound one must be recorded again.
    ///
    /// # Errors
    /// Like [`Self::recover`]; the device was lost.
    pub fn roll_back_if_faulty(&mut self, check: Option<PendingFault>) -> Result<bool, Failure> {
        match check.map(|fault| fault.wait()).transpose()?.flatten() {
            Some(fault) => self.recover(&fault).map(|_| true),
            None => Ok(false),
        }
    }

    /// Returns the number of particles. In scenes in which it changes, it waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn count_particles(&self) -> frazil_vk::Result<usize> {
        match self.solver.varying_count() {
            Some(count) => Ok(self.device.download(&count.count, 1)?.first().map_or(0, |n| *n as usize)),
            None => Ok(self.n_particles),
        }
    }

    /// Returns the number of particles that every state has; `None` in scenes in which it changes.
    pub fn n_expected(&self) -> Option<usize> {
        self.solver.varying_count().is_none().then_some(self.n_particles)
    }

    /// Returns the number of steps recorded so far.
    pub fn step(&self) -> u64 {
        self.place.step
    }

    /// Returns true if some substeps of a step have been taken and the others not, as after a
    /// [recovery](Self::recover). Only states between two steps are stored and shown.
    pub fn is_within_step(&self) -> bool {
        self.place.substeps > 0
    }

    /// Returns the number of substeps of the last step that was recorded, if the numbers of steps differ.
    pub fn varying_substeps(&self) -> Option<u32> {
        self.substep_control.as_ref().map(|_| self.substeps)
    }

    /// Returns the columns of a checkpoint: those of the solver, and what the number of substeps of the next
    /// step follows from.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let mut columns = self.solver.state_columns();
        columns.extend(self.substep_control.iter().flat_map(SubstepControl::columns));
        columns
    }

    /// Returns the names and units of the values of a measurement, with the number of substeps if it varies.
    pub fn metrics(&self) -> Vec<MetricInfo> {
        let mut metrics = self.solver.metrics();
        metrics.extend(self.varying_substeps().map(|_| MetricInfo::new("substeps", "1")));
        metrics
    }

    /// Returns warnings about the accuracy of the steps so far. For the end of a run only: it waits for the
    /// device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn final_warnings(&self) -> Result<Vec<String>, SolverError> {
        let mut warnings = self.solver.final_warnings(&self.device)?;
        warnings.extend(self.substep_control.as_ref().and_then(|control| control.warning(&self.scene)));
        Ok(warnings)
    }

    /// Returns the pairs that the particle with this id is part of, see
    /// [`PairInspection`](frazil_solvers::PairInspection); none if the solver has no pairs. It waits for the
    /// device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn pairs_of(&self, id: u32) -> Result<Vec<Pair>, SolverError> {
        let inspection = self.solver.pair_inspection();
        inspection.map_or(Ok(Vec::new()), |pairs| pairs.pairs_of(&self.device, id))
    }

    /// Returns the recorded columns of the solver's rigid bodies: those of pieces of slabs, then the same of
    /// dynamic bodies, which [`state::frame`] puts behind them; none without bodies.
    pub fn body_columns(&self) -> Vec<ColumnView> {
        let mut columns = self.solver.rigid_bodies().map_or_else(Vec::new, RigidBodies::body_columns);
        columns.extend(self.solver.dynamic_bodies().map_or_else(Vec::new, DynamicBodies::columns));
        columns
    }

    /// Returns the simulated time in s after the steps recorded so far.
    pub fn time_s(&self) -> f64 {
        self.step() as f64 * self.scene.step_s()
    }
}

/// Returns true if the device does not support the requested tunables or lacks memory for them, as opposed to
/// any other error.
pub fn is_refusal(error: &SolverError) -> bool {
    use frazil_vk::Error::{BeyondLimit, Misuse, OutOfMemory};
    match error {
        SolverError::Device(e) | SolverError::Kernel(KernelError::Device(e)) => {
            matches!(e, BeyondLimit { .. } | Misuse { .. } | OutOfMemory { .. })
        }
        _ => false,
    }
}

/// Returns the changes from one scene to another after `step` steps, one for each key.
pub fn differences(from: &Scene, to: &Scene, step: u64) -> Vec<ParameterChange> {
    let value = |scene: &Scene, key: &str| {
        let all = serde_json::to_value(scene).unwrap_or_default();
        all.pointer(&format!("/{}", key.replace('.', "/"))).cloned().unwrap_or_default()
    };
    let time_s = step as f64 * from.step_s();
    let of_key = |key: String| {
        let [from, to] = [from, to].map(|scene| value(scene, &key));
        ParameterChange { step, time_s, key, from, to }
    };
    let mut keys: Vec<String> =
        from.changed_keys(to).into_iter().map(|key| from.live_key_of(&key).unwrap_or(key)).collect();
    keys.dedup();
    keys.into_iter().map(of_key).collect()
}
