//! Grains of a scene on a device, stepped like a user's run.

use frazil_io::{FlowHistory, FlowRasters};
use frazil_reference::dem::Grain;
use frazil_scene::Scene;
use frazil_solvers::dem::{Dem, DemMetrics, Factory};
use frazil_solvers::{FlowCells, Solver as _, SolverFactory, StateColumn, Tuning};
use frazil_testkit::saved_state;
use frazil_testkit::twins::dem::grains_of;
use frazil_vk::{Device, Replay};

/// Steps per submission.
const STEPS_AT_ONCE: u64 = 64;

/// Grains of a scene.
pub struct SceneGrains {
    /// Scene.
    pub scene: Scene,
    /// Solver on the device.
    pub dem: Dem,
    /// Command buffers of steps.
    pub replay: Replay,
}

impl SceneGrains {
    /// Samples a scene and uploads its grains.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    #[allow(clippy::expect_used)]
    pub fn new(device: &Device, scene: Scene) -> Self {
        let sampled = scene.sample().expect("a sound scene");
        let dem = Dem::of_scene(device, &scene, &sampled, Tuning::default()).expect("grains that fit");
        Self { scene, dem, replay: Replay::default() }
    }

    /// Returns the number of steps in a time in s.
    pub fn steps(&self, time_s: f64) -> u64 {
        (time_s / self.scene.step_s()).round() as u64
    }

    /// Runs steps and returns metrics.
    ///
    /// # Panics
    /// On a device error or a fault.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> DemMetrics {
        let device = self.dem.device().clone();
        let mut left = steps;
        while left > 0 {
            let n = left.min(STEPS_AT_ONCE);
            left -= n;
            let mut recorder = device.recorder().expect("a recorder");
            for _ in 0..n {
                recorder.replayed(&self.replay, |recorder| self.dem.record_step(recorder));
            }
            device.submit(recorder).expect("a submission");
        }
        let mut recorder = device.recorder().expect("a recorder");
        let check = self.dem.record_fault_check(&mut recorder).expect("a check");
        let metrics = self.dem.record_metrics(&mut recorder).expect("a measurement");
        device.submit(recorder).expect("a submission");
        assert_eq!(check.wait().expect("a check"), None);
        metrics.wait().expect("a measurement")
    }

    /// Updates and downloads all state columns.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn columns(&self) -> Vec<StateColumn> {
        saved_state(self.dem.device(), &self.dem).expect("columns")
    }

    /// Returns the grains ordered by id.
    pub fn grains(&self) -> Vec<Grain> {
        grains_of(&self.columns())
    }

    /// Returns the rasters of the flow so far, on the scene's ground.
    ///
    /// # Panics
    /// On a device error, or if the scene has no ground.
    #[allow(clippy::expect_used)]
    pub fn flow_rasters(&self) -> FlowRasters {
        let mut recorder = self.dem.device().recorder().expect("a recorder");
        let pending = self.dem.record_flow_cells(&mut recorder).expect("a read-back").expect("a map");
        self.dem.device().submit(recorder).expect("a submission");
        let FlowCells { volume_m3, peak_volume_m3, peak_speed_m_s, first_step } =
            pending.wait().expect("a map");
        let arrival_s = |step: &u32| match *step {
            FlowCells::NEVER => f32::NAN,
            step => (f64::from(step) * self.scene.step_s()) as f32,
        };
        let arrival_s = first_step.iter().map(arrival_s).collect();
        let history = FlowHistory { volume_m3, peak_volume_m3, peak_speed_m_s, arrival_s };
        let ground = self.scene.ground().expect("a ground");
        let material = Factory.flow_material(&self.scene).expect("a scene of grains");
        FlowRasters::new(ground, &history, material.particle_density_kg_m3, material.bulk_density_kg_m3)
    }

    /// Counts grains whose centre is not above the scene's ground, and returns the minimum height of all
    /// above it, in m along the vertical.
    ///
    /// # Panics
    /// If the scene has no ground, or a grain is outside its map.
    #[allow(clippy::expect_used)]
    pub fn below_ground(&self, grains: &[Grain]) -> (usize, f64) {
        let ground = self.scene.ground().expect("a ground");
        let [across, along] = self.scene.up_axis.horizontal();
        let above = |g: &Grain| {
            let at = [g.position[across], g.position[along]];
            g.position[self.scene.up_axis.index()] - ground.height_m(at).expect("a place on the map")
        };
        let heights: Vec<f64> = grains.iter().map(above).collect();
        (heights.iter().filter(|h| **h <= 0.0).count(), heights.iter().copied().fold(f64::INFINITY, f64::min))
    }
}
