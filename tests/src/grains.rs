//! Grains on the device and on their f64 twin.

use crate::mpm_stages::device_body;
use frazil_reference::dem as twin;
use frazil_reference::uniform_bodies::UniformBody;
use frazil_scene::Dem as Section;
use frazil_shaders::types::{BodyLoad, DemLists};
use frazil_solvers::Surroundings;
use frazil_solvers::dem::{Dem, DemFault, DemMetrics, DemParameters, Grains, Pieces};
use frazil_solvers::{Solver as _, StateColumn, StepDivision, Tuning};
use frazil_testkit::twins::dem::{state_of, twin_parameters};
use frazil_testkit::twins::slabs::{slabs_of, twin_slabs};
use frazil_testkit::{device, saved_state};
use frazil_vk::{Device, Replay};
use glam::DVec3;

/// Steps per submission.
const STEPS_AT_ONCE: u64 = 64;

/// Returns the time step that the section requires.
pub fn dt_s(section: &Section) -> f64 {
    section.contact_time_s() / section.steps_per_contact
}

/// Creates a grain at rest.
pub fn grain(id: u32, radius: f64, position: DVec3) -> twin::Grain {
    twin::Grain { id, position, velocity: DVec3::ZERO, spin: DVec3::ZERO, radius }
}

/// Grains among walls and bodies, on the device and in the twin's form.
pub struct Grainpack {
    /// Solver on the device.
    pub dem: Dem,
    /// Parameters of the twin.
    pub p: twin::Parameters,
    /// Bodies.
    pub bodies: Vec<UniformBody>,
    /// Initial pieces of slabs.
    pub slabs: twin::Slabs,
    beginning: Grains,
    device: Device,
    replay: Replay,
}

impl Grainpack {
    /// Uploads grains with ids 0, 1, 2 … to a device with validation.
    ///
    /// # Panics
    /// On a device error.
    pub fn new(
        section: &Section,
        dt_s: f64,
        gravity: DVec3,
        domain: [DVec3; 2],
        bodies: Vec<UniformBody>,
        grains: &[twin::Grain],
    ) -> Self {
        Self::on(device(), section, dt_s, gravity, domain, bodies, grains)
    }

    /// Uploads grains to a device that is already open.
    ///
    /// # Panics
    /// On a device error.
    pub fn on(
        device: Device,
        section: &Section,
        dt_s: f64,
        gravity: DVec3,
        domain: [DVec3; 2],
        bodies: Vec<UniformBody>,
        grains: &[twin::Grain],
    ) -> Self {
        let (parameters, p) = parameters(section, dt_s, gravity, domain, &bodies, grains.len() as u32);
        Self::with_parameters(device, parameters, p, bodies, grains)
    }

    /// Uploads grains among surroundings whose bodies the twin does not know.
    ///
    /// # Panics
    /// On a device error.
    pub fn among(
        device: Device,
        section: &Section,
        surroundings: Surroundings,
        grains: &[twin::Grain],
    ) -> Self {
        let parameters = DemParameters::new(
            section,
            StepDivision::whole(dt_s(section)),
            surroundings,
            grains.len() as u32,
        );
        let p = twin_parameters(section, &parameters);
        Self::with_parameters(device, parameters, p, Vec::new(), grains)
    }

    /// Creates grains and pieces of slabs among bodies, of which the last `n_named` have names.
    ///
    /// # Panics
    /// On a device error.
    #[expect(clippy::too_many_arguments, reason = "all that a scene says")]
    pub fn with_pieces(
        device: Device,
        section: &Section,
        dt_s: f64,
        gravity: DVec3,
        domain: [DVec3; 2],
        bodies: Vec<UniformBody>,
        n_named: usize,
        grains: &[twin::Grain],
        pieces: Pieces,
    ) -> Self {
        let (mut parameters, p) = parameters(section, dt_s, gravity, domain, &bodies, grains.len() as u32);
        parameters.surroundings.names = (0..n_named).map(|k| format!("body {k}")).collect();
        parameters.terms.first_named = parameters.surroundings.first_named();
        let widest_m = grains.iter().map(|g| g.radius).fold(section.max_radius_m(), f64::max);
        Self::with_parameters(device, parameters.with_pieces(pieces, widest_m), p, bodies, grains)
    }

    #[allow(clippy::expect_used)]
    fn with_parameters(
        device: Device,
        parameters: DemParameters,
        p: twin::Parameters,
        bodies: Vec<UniformBody>,
        grains: &[twin::Grain],
    ) -> Self {
        let narrow = |v: DVec3| v.as_vec3().to_array();
        let slabs = twin_slabs(&parameters.pieces);
        let beginning = Grains {
            positions_m: grains.iter().map(|g| narrow(g.position)).collect(),
            velocities_m_s: grains.iter().map(|g| narrow(g.velocity)).collect(),
            spins_1_s: grains.iter().map(|g| narrow(g.spin)).collect(),
            radii_m: grains.iter().map(|g| g.radius as f32).collect(),
            residuals_m: Vec::new(),
        };
        let dem = Dem::new(&device, parameters, &beginning, Tuning::default()).expect("grains that fit");
        Self { dem, p, bodies, slabs, beginning, device, replay: Replay::default() }
    }

    /// Starts again from the initial state, with a tuning.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn restart(&mut self, tuning: Tuning) {
        let parameters = self.dem.parameters().clone();
        self.dem = Dem::new(&self.device, parameters, &self.beginning, tuning).expect("grains that fit");
    }

    /// Returns the state of the contact lists as a whole.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn lists(&self) -> DemLists {
        self.device.download(self.dem.lists(), 1).expect("the state of the lists")[0]
    }

    /// Runs steps.
    ///
    /// # Panics
    /// On a device error or a fault.
    #[allow(clippy::expect_used)]
    pub fn advance(&mut self, steps: u64) -> DemMetrics {
        assert_eq!(self.try_advance(steps), None);
        let mut recorder = self.device.recorder().expect("a recorder");
        let metrics = self.dem.record_metrics(&mut recorder).expect("a measurement");
        self.device.submit(recorder).expect("a submission");
        metrics.wait().expect("a measurement")
    }

    /// Runs steps; returns the first fault, if any.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn try_advance(&mut self, steps: u64) -> Option<DemFault> {
        let mut left = steps;
        loop {
            let n = left.min(STEPS_AT_ONCE);
            left -= n;
            let mut recorder = self.device.recorder().expect("a recorder");
            for _ in 0..n {
                recorder.replayed(&self.replay, |recorder| self.dem.record_step(recorder));
            }
            if left > 0 {
                self.device.submit(recorder).expect("a submission");
                continue;
            }
            let check = self.dem.record_fault_check(&mut recorder).expect("a check");
            self.device.submit(recorder).expect("a submission");
            return check.wait().expect("a check");
        }
    }

    /// Updates and downloads all state columns.
    ///
    /// # Panics
    /// On a device error.
    #[allow(clippy::expect_used)]
    pub fn columns(&self) -> Vec<StateColumn> {
        saved_state(&self.device, &self.dem).expect("columns")
    }

    /// Returns the device's state, ordered by id.
    pub fn state(&self) -> twin::State {
        let columns = self.columns();
        let state = state_of(&columns, self.dem.step());
        let n_named = self.dem.parameters().surroundings.names.len();
        let mut loads = vec![twin::Wrench::default(); self.bodies.len().saturating_sub(n_named)];
        loads.extend(loads_on_bodies(&columns));
        twin::State { slabs: slabs_of(&columns, &self.slabs), loads, ..state }
    }

    /// Returns the state after a step of the twin from the device's state.
    pub fn twin_step(&self) -> twin::State {
        let mut state = self.state();
        state.advance(&self.p, &self.bodies);
        state
    }
}

/// Returns the parameters of the device, and of the twin in the same single precision.
pub fn parameters(
    section: &Section,
    dt_s: f64,
    gravity: DVec3,
    domain: [DVec3; 2],
    bodies: &[UniformBody],
    n: u32,
) -> (DemParameters, twin::Parameters) {
    let narrow = |v: DVec3| v.as_vec3().to_array();
    let mut surroundings = Surroundings {
        domain_min_m: narrow(domain[0]),
        domain_max_m: narrow(domain[1]),
        gravity_m_s2: narrow(gravity),
        up_axis: 1,
        ..Default::default()
    };
    for body in bodies {
        let body = device_body(body, &mut surroundings.body_data);
        let damping_ratio = twin::damping_ratio(section.wall_restitution()) as f32;
        surroundings.bodies.push(frazil_shaders::types::Body { damping_ratio, ..body });
    }
    let parameters = DemParameters::new(section, StepDivision::whole(dt_s), surroundings, n);
    let p = twin_parameters(section, &parameters);
    (parameters, p)
}

/// Returns the force and torque of the last step on each named body.
fn loads_on_bodies(columns: &[StateColumn]) -> impl Iterator<Item = twin::Wrench> {
    let words = columns.iter().find(|c| c.name == "body loads").map_or(&[][..], |c| c.words.as_slice());
    let wide = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
    bytemuck::cast_slice::<u32, BodyLoad>(words)
        .iter()
        .map(move |load| twin::Wrench { force: wide(load.force_n), torque: wide(load.torque_n_m) })
}
