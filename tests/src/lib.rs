//! Shared code of the cross-crate tests: simulations, cases and bounds. Devices, random numbers and the
//! conversion to the twins are in `frazil-testkit`.

pub mod bar;
pub mod bodies;
pub mod clouds;
pub mod curves;
pub mod cylinders;
pub mod discs;
pub mod events;
pub mod flow;
mod fluid_twin;
pub mod grains;
pub mod meshes;
pub mod mpm_stages;
pub mod rigid;
pub mod rope;
pub mod scene_grains;
pub mod slabs;
mod snow_twin;
pub mod snowpack;
mod viscoelastic;
mod worst;

pub use fluid_twin::{
    first_wrong_fluid_stage, fluid_disagreement, fluid_state, max_difference, run_fluid_stage,
};
pub use snow_twin::{is_migrating_after, run_snow_stage, run_snow_twin, snow_disagreement, snow_state};
pub use viscoelastic::ViscoelasticSimulation;
pub use worst::Worst;

use frazil_scene::Scene;
use frazil_solvers::pbd::{Fluid, Snow, SnowMetrics};
use frazil_solvers::{BodyLoad, BodyLoads, MotionMetrics, Solver as _};
use frazil_testkit::device;
use frazil_vk::{Device, Replay};

/// Downloads the loads on bodies, none for a scene that names none.
///
/// # Panics
/// If the device is lost.
#[allow(clippy::expect_used)]
pub fn download_loads(device: &Device, loads: Option<&BodyLoads>) -> Vec<BodyLoad> {
    let Some(loads) = loads else { return Vec::new() };
    let mut recorder = device.recorder().expect("a recorder");
    let pending = loads.record(&mut recorder).expect("a read-back");
    device.submit(recorder).expect("a submission");
    pending.wait().expect("loads")
}

/// A simulation of a built-in scene, with several steps per submission and no wait between them, like a
/// user's run.
pub struct Simulation {
    /// Device.
    pub device: Device,
    /// Scene with its overrides.
    pub scene: Scene,
    /// Fluid solver.
    pub fluid: Fluid,
    /// Completed steps.
    pub step: u64,
    /// Command buffers of steps.
    pub replay: Replay,
}

impl Simulation {
    /// Sets up a built-in scene.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    pub fn new(scene: &str, overrides: &[&str]) -> Self {
        Self::on(device(), scene, overrides)
    }

    /// Sets up a built-in scene on a device.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    #[allow(clippy::expect_used)]
    pub fn on(device: Device, scene: &str, overrides: &[&str]) -> Self {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let scene = Scene::find(scene, &overrides).expect("a scene that loads");
        let sampled = scene.sample().expect("a scene that can be sampled");
        let fluid = Fluid::new(&device, &scene, &sampled).expect("a fluid that fits");
        Self { device, scene, fluid, step: 0, replay: Replay::default() }
    }

    /// Returns the number of particles.
    ///
    /// # Panics
    /// If the device is lost.
    #[allow(clippy::expect_used)]
    pub fn len(&self) -> usize {
        self.device.download(&self.fluid.count().count, 1).expect("a count")[0] as usize
    }

    /// Returns true if there are no particles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
    pub fn advance(&mut self, steps: u64) -> MotionMetrics {
        let mut left = steps;
        loop {
            let mut recorder = self.device.recorder().expect("a recorder");
            let now = left.min(u64::from(self.scene.solver.steps_per_submission));
            for _ in 0..now {
                recorder.replayed(&self.replay, |recorder| self.fluid.record_step(recorder));
            }
            left -= now;
            if left > 0 {
                self.device.submit(recorder).expect("a submission");
                continue;
            }
            let pending = self.fluid.record_metrics(&mut recorder).expect("a read-back");
            self.device.submit(recorder).expect("a submission");
            self.step += steps;
            return pending.wait().expect("metrics");
        }
    }

    /// Downloads the loads on the bodies of the scene.
    ///
    /// # Panics
    /// If the device is lost.
    pub fn body_loads(&self) -> Vec<BodyLoad> {
        download_loads(&self.device, self.fluid.body_loads())
    }

    /// Downloads velocities in m/s, in the device's order.
    ///
    /// # Panics
    /// If the device is lost.
    #[allow(clippy::expect_used)]
    pub fn velocities(&self) -> Vec<[f32; 3]> {
        self.device.download(self.fluid.velocity(), self.len()).expect("velocities")
    }

    /// Downloads positions in m, in the device's order.
    ///
    /// # Panics
    /// If the device is lost.
    #[allow(clippy::expect_used)]
    pub fn positions(&self) -> Vec<[f32; 3]> {
        self.device.download(self.fluid.position(), self.len()).expect("positions")
    }

    /// Downloads a scalar column by name, in the device's order.
    ///
    /// # Panics
    /// If there is no column of that name.
    #[allow(clippy::expect_used)]
    pub fn words(&self, name: &str) -> Vec<u32> {
        let columns = self.fluid.state_columns();
        let column = columns.iter().find(|c| c.name == name).expect("a column of that name");
        self.device.download(&column.words, self.len() * column.kind.words() as usize).expect("a column")
    }
}

/// A simulation of a scene with snow, stepped like a user's run.
pub struct SnowSimulation {
    /// Device.
    pub device: Device,
    /// Scene with its overrides.
    pub scene: Scene,
    /// Solver of snow and water.
    pub snow: Snow,
    /// Completed steps.
    pub step: u64,
    /// Command buffers of steps.
    pub replay: Replay,
}

/// State of one particle on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// Permanent id.
    pub id: u32,
    /// True if it is snow.
    pub is_solid: bool,
    /// Position in m.
    pub position: [f32; 3],
    /// Velocity in m/s.
    pub velocity: [f32; 3],
    /// Temperature in °C.
    pub temperature_c: f32,
    /// Enthalpy in J/kg.
    pub enthalpy_j_kg: f32,
    /// Blending factor α.
    pub blend: f32,
}

impl SnowSimulation {
    /// Sets up a built-in scene.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    #[allow(clippy::expect_used)]
    pub fn new(scene: &str, overrides: &[&str]) -> Self {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        Self::of(&device(), Scene::find(scene, &overrides).expect("a scene that loads"))
    }

    /// Sets up a scene from its text.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    #[allow(clippy::expect_used)]
    pub fn parse(text: &str) -> Self {
        Self::of(&device(), Scene::parse(text, "test.toml", &[]).expect("a scene that loads"))
    }

    /// Sets up a scene on a device.
    ///
    /// # Panics
    /// If the scene or the device reports an error.
    #[allow(clippy::expect_used)]
    pub fn of(device: &Device, scene: Scene) -> Self {
        let sampled = scene.sample().expect("a scene that can be sampled");
        let snow = Snow::new(device, &scene, &sampled).expect("snow that fits");
        Self { device: device.clone(), scene, snow, step: 0, replay: Replay::default() }
    }

    /// Advances by `steps` and returns metrics.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> SnowMetrics {
        let mut left = steps;
        loop {
            let n = left.min(u64::from(self.scene.solver.steps_per_submission));
            let mut recorder = self.device.recorder().expect("a recorder");
            for _ in 0..n {
                recorder.replayed(&self.replay, |recorder| self.snow.record_step(recorder));
            }
            left -= n;
            if left > 0 {
                self.device.submit(recorder).expect("a submission");
                continue;
            }
            let metrics = self.snow.record_metrics(&mut recorder).expect("a measurement");
            self.device.submit(recorder).expect("a submission");
            self.step += steps;
            return metrics.wait().expect("a measurement");
        }
    }

    /// Downloads the loads on the bodies of the scene.
    ///
    /// # Panics
    /// If the device is lost.
    pub fn body_loads(&self) -> Vec<BodyLoad> {
        download_loads(&self.device, self.snow.body_loads())
    }

    /// Downloads all particles, snow first, each phase in the device's order.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn particles(&self) -> Vec<Particle> {
        let mut all = Vec::new();
        for (is_solid, phase_particles) in [(true, self.snow.solid()), (false, self.snow.fluid())] {
            let device = &self.device;
            let n = device.download(&phase_particles.phase.count.count, 1).expect("a count")[0] as usize;
            let position = device.download(phase_particles.position(), n).expect("positions");
            let velocity = device.download(phase_particles.velocity(), n).expect("velocities");
            let id = device.download(phase_particles.id(), n).expect("ids");
            let temperature = device.download(phase_particles.temperature.front(), n).expect("temperatures");
            let enthalpy = device.download(phase_particles.enthalpy.front(), n).expect("enthalpies");
            let blend = device.download(phase_particles.blend.front(), n).expect("blends");
            all.extend((0..n).map(|i| Particle {
                id: id[i],
                is_solid,
                position: position[i],
                velocity: velocity[i],
                temperature_c: temperature[i],
                enthalpy_j_kg: enthalpy[i],
                blend: blend[i],
            }));
        }
        all
    }

    /// Counts faults in the rows of links by kind; any is an error of the engine.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn link_faults(&self) -> Vec<(&'static str, u32)> {
        let mut recorder = self.device.recorder().expect("a recorder");
        let check = self.snow.record_link_check(&mut recorder).expect("a check");
        self.device.submit(recorder).expect("a submission");
        let faults = check.map_or_else(Vec::new, |check| check.wait().expect("a check"));
        faults.into_iter().filter(|(_, n)| *n > 0).collect()
    }
}
