//! A viscoelastic simulation of a scene's text, stepped like a user's run.

use frazil_scene::Scene;
use frazil_solvers::Solver as _;
use frazil_solvers::viscoelastic::{Viscoelastic, ViscoelasticMetrics};
use frazil_testkit::device;
use frazil_vk::{Device, Replay};

/// A simulation of a viscoelastic fluid.
pub struct ViscoelasticSimulation {
    /// Device.
    pub device: Device,
    /// Scene.
    pub scene: Scene,
    /// Solver.
    pub solver: Viscoelastic,
    /// Completed steps.
    pub step: u64,
    /// Command buffers of steps.
    pub replay: Replay,
}

impl ViscoelasticSimulation {
    /// Sets up a scene, with velocities by position in place of its own.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    #[allow(clippy::expect_used)]
    pub fn with_velocities(text: &str, velocity_m_s: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        let scene = Scene::parse(text, "viscoelastic.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let mut sampled = scene.sample().expect("a scene that can be sampled");
        for (x, v) in sampled.positions_m.iter().zip(&mut sampled.velocities_m_s) {
            let given = velocity_m_s(x.map(f64::from));
            *v = std::array::from_fn(|axis| v[axis] + given[axis] as f32);
        }
        let device = device();
        let solver = Viscoelastic::with_tuning(&device, &scene, &sampled, Default::default())
            .expect("a fluid that fits");
        Self { device, scene, solver, step: 0, replay: Replay::default() }
    }

    /// Sets up a scene.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    pub fn new(text: &str) -> Self {
        Self::with_velocities(text, |_| [0.0; 3])
    }

    /// Returns the simulated time in s.
    pub fn time_s(&self) -> f64 {
        self.step as f64 * self.scene.dt_s()
    }

    /// Advances by `steps` and returns metrics.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> ViscoelasticMetrics {
        let mut left = steps;
        loop {
            let mut recorder = self.device.recorder().expect("a recorder");
            let now = left.min(u64::from(self.scene.solver.steps_per_submission));
            for _ in 0..now {
                recorder.replayed(&self.replay, |recorder| self.solver.record_step(recorder));
            }
            left -= now;
            if left > 0 {
                self.device.submit(recorder).expect("a submission");
                continue;
            }
            let pending = self.solver.record_metrics(&mut recorder).expect("a read-back");
            self.device.submit(recorder).expect("a submission");
            self.step += steps;
            return pending.wait().expect("metrics");
        }
    }

    /// Downloads positions in m, in the device's order.
    ///
    /// # Panics
    /// If the device is lost.
    #[allow(clippy::expect_used)]
    pub fn positions(&self) -> Vec<[f32; 3]> {
        let fluid = self.solver.fluid();
        self.device.download(fluid.position(), fluid.count().capacity as usize).expect("positions")
    }

    /// Downloads velocities in m/s, in the device's order.
    ///
    /// # Panics
    /// If the device is lost.
    #[allow(clippy::expect_used)]
    pub fn velocities(&self) -> Vec<[f32; 3]> {
        let fluid = self.solver.fluid();
        self.device.download(fluid.velocity(), fluid.count().capacity as usize).expect("velocities")
    }
}
