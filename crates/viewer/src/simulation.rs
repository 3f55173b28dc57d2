//! A simulated scene on a device, with its step and time.

use crate::failure::Failure;
use crate::state;
use frazil_io::Checkpoint;
use frazil_scene::{Sampled, Scene};
use frazil_solvers::{Solver, SolverError, SolverFactory, Tuning, factory_of};
use frazil_vk::{Device, Recorder};

/// A scene that is being simulated.
pub struct Simulation {
    pub device: Device,
    pub scene: Scene,
    pub solver: Box<dyn Solver>,
    /// Factory of the solver.
    pub factory: &'static dyn SolverFactory,
    /// Number of particles, which is constant.
    pub n_particles: usize,
    step: u64,
}

impl Simulation {
    /// Creates a simulation in the initial state of the scene.
    pub fn new(device: &Device, scene: Scene) -> Result<Self, Failure> {
        let sampled = scene.sample()?;
        Ok(Self::with_tuning(device, scene, &sampled, Tuning::default())?)
    }

    /// Creates a simulation in the sampled initial state of the scene, with other tunables.
    pub fn with_tuning(
        device: &Device,
        scene: Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let factory = factory_of(&scene)?;
        let solver = factory.create(device, &scene, sampled, tuning)?;
        Ok(Self { device: device.clone(), scene, solver, factory, n_particles: sampled.len(), step: 0 })
    }

    /// Creates a simulation in the state of a checkpoint.
    pub fn restore(device: &Device, scene: Scene, checkpoint: &Checkpoint) -> Result<Self, Failure> {
        let columns = state::state_columns(&checkpoint.sections)?;
        let factory = factory_of(&scene)?;
        let solver = factory.restore(device, &scene, &columns, checkpoint.step)?;
        let n_particles = columns.iter().find(|column| column.name == "id").map_or(0, |ids| ids.words.len());
        Ok(Self { device: device.clone(), scene, solver, factory, n_particles, step: checkpoint.step })
    }

    /// Records `n` steps; returns the number of passes in the recorder at the end of each.
    pub fn record_steps(&mut self, recorder: &mut Recorder, n: u64) -> Vec<u32> {
        self.step += n;
        let step = |_| {
            self.solver.record_step(recorder);
            recorder.pass_count()
        };
        (0..n).map(step).collect()
    }

    /// Returns the number of steps recorded so far.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Returns the simulated time in s after the steps recorded so far.
    pub fn time_s(&self) -> f64 {
        self.step as f64 * self.scene.dt_s()
    }
}
