//! Snow for the tests of the physics and of the twins of the material point method.

use frazil_reference::mpm as twin;
use frazil_scene::Mpm as Section;
use frazil_solvers::mpm::{Fault, InitialState, Mpm, MpmMetrics, MpmParameters, Surroundings};
use frazil_solvers::{Solver as _, StateColumn, Tuning};
use frazil_testkit::twins::mpm::particles_of_state;
use frazil_testkit::{Random, device, saved_state};
use frazil_vk::{Device, Replay};

/// Creates a domain without gravity or bodies.
pub fn empty_space(min_m: [f32; 3], max_m: [f32; 3]) -> Surroundings {
    Surroundings { domain_min_m: min_m, domain_max_m: max_m, up_axis: 1, ..Default::default() }
}

/// Snow on the device.
pub struct Snowpack {
    /// Device.
    pub device: Device,
    /// Solver.
    pub mpm: Mpm,
    /// Steps that are submitted again, as in a run.
    pub replay: Replay,
}

impl Snowpack {
    /// Makes the fixture of a solver.
    pub fn of(device: Device, mpm: Mpm) -> Self {
        Self { device, mpm, replay: Replay::default() }
    }

    /// Creates snow.
    ///
    /// # Panics
    /// On a device error.
    pub fn new(section: &Section, dt_s: f64, surroundings: Surroundings, beginning: &InitialState) -> Self {
        Self::on(device(), section, dt_s, surroundings, beginning)
    }

    /// Creates snow on a device.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn on(
        device: Device,
        section: &Section,
        dt_s: f64,
        surroundings: Surroundings,
        beginning: &InitialState,
    ) -> Self {
        let parameters = MpmParameters::new(section, dt_s, surroundings).expect("sound parameters");
        let mpm =
            Mpm::new(&device, parameters, beginning, Tuning::default()).expect("snow that fits the device");
        Self::of(device, mpm)
    }

    /// Runs steps, with as many per submission as in a run, and returns metrics.
    ///
    /// # Panics
    /// On a device error or a fault of the snow.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> MpmMetrics {
        let (metrics, fault) = self.try_advance(steps);
        assert!(fault.is_none(), "{}", fault.expect("a fault"));
        metrics
    }

    /// Runs steps like [`Self::advance`], and returns the fault that ended them, if any.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn try_advance(&mut self, steps: u64) -> (MpmMetrics, Option<Fault>) {
        let mut left = steps;
        loop {
            let mut recorder = self.device.recorder().expect("a recorder");
            let now = left.min(16);
            for _ in 0..now {
                recorder.replayed(&self.replay, |recorder| self.mpm.record_step(recorder));
            }
            left -= now;
            if left > 0 {
                self.device.submit(recorder).expect("a submission");
                continue;
            }
            let metrics = self.mpm.record_metrics(&mut recorder).expect("a read-back");
            let fault = self.mpm.record_fault_check(&mut recorder).expect("a read-back");
            self.device.submit(recorder).expect("a submission");
            return (metrics.wait().expect("metrics"), fault.wait().expect("a record"));
        }
    }

    /// Returns the state columns of a checkpoint.
    pub fn state(&self) -> Vec<StateColumn> {
        state_of(&self.device, &self.mpm)
    }

    /// Returns a scalar column of the state.
    ///
    /// # Panics
    /// If there is no such column.
    #[allow(clippy::expect_used)]
    pub fn column(&self, name: &str) -> Vec<f32> {
        let state = self.state();
        let column = state.iter().find(|c| c.name == name).expect("a column of this name");
        bytemuck::pod_collect_to_vec(&column.words)
    }

    /// Returns the particles in the twin's form, in the device's order.
    pub fn particles(&self) -> Vec<twin::Particle> {
        particles_of_state(self.mpm.parameters(), &self.state())
    }
}

/// Downloads the state columns of a checkpoint.
///
/// # Panics
/// If the device is lost.
#[allow(clippy::expect_used)]
pub fn state_of(device: &Device, mpm: &Mpm) -> Vec<StateColumn> {
    saved_state(device, mpm).expect("columns")
}

/// Creates a disk of `n` particles in the x–y plane, sampled uniformly; each has its share of the disk's area
/// and mass.
pub fn disk(
    centre_m: [f64; 2],
    radius_m: f64,
    n: usize,
    density_kg_m3: f64,
    random: &mut Random,
) -> InitialState {
    let volume = std::f64::consts::PI * radius_m * radius_m / n as f64;
    let mut beginning = InitialState::default();
    while beginning.positions_m.len() < n {
        let [x, y] = [0, 1].map(|_| 2.0 * f64::from(random.unit()) - 1.0);
        if x * x + y * y <= 1.0 {
            let at = [centre_m[0] + radius_m * x, centre_m[1] + radius_m * y];
            beginning.positions_m.push([at[0] as f32, at[1] as f32, 0.0]);
            beginning.velocities_m_s.push([0.0; 3]);
            beginning.masses_kg.push((density_kg_m3 * volume) as f32);
            beginning.volumes_m3.push(volume as f32);
        }
    }
    beginning
}
