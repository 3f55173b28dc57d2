//! Pull on the particles near a line.

use crate::axis::{Axis, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_particles::PhaseArray;
use frazil_reference::bodies::{Pull, pull_particles};
use frazil_solvers::{Grab, GrabPass};
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, Device, Recorder};
use glam::DVec3;

pub struct PullParticles;

const GRAB: Grab = Grab {
    centre_m: [0.5, 0.5, 0.5],
    direction: [0.0, 0.0, 1.0],
    velocity_m_s: [1.0, 2.0, 0.0],
    radius_m: 0.25,
    rate_1_s: 20.0,
};
const DT_S: f32 = 0.005;
/// Maximum error of a velocity in m/s: the rounding of some twenty sums of at most 10 m/s.
const MAX_ERROR_M_S: f64 = 2e-5;

struct Workload {
    phase: PhaseArray,
    pass: GrabPass,
    before: Buffer<[f32; 3]>,
    expected: Vec<DVec3>,
}

impl Bench for PullParticles {
    fn id(&self) -> &'static str {
        "bodies.pull_particles"
    }

    fn about(&self) -> &'static str {
        "pull on particles of a unit cube within a cylinder of radius 0.25"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::count(), Axis::workgroup_size()]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let vectors = |salt: usize| -> Vec<[f32; 3]> {
            (0..n).map(|i| std::array::from_fn(|axis| unit_noise(6 * i + 3 * salt + axis))).collect()
        };
        let (positions, velocities) = (vectors(0), vectors(1));
        let wide = |v: [f32; 3]| DVec3::from(v.map(f64::from));
        let mut expected: Vec<DVec3> = velocities.iter().copied().map(wide).collect();
        let at: Vec<DVec3> = positions.iter().copied().map(wide).collect();
        let pull = Pull {
            centre_m: wide(GRAB.centre_m),
            direction: wide(GRAB.direction),
            velocity_m_s: wide(GRAB.velocity_m_s),
            radius_m: GRAB.radius_m.into(),
            rate_1_s: GRAB.rate_1_s.into(),
            dt_s: DT_S.into(),
        };
        pull_particles(&at, &mut expected, &pull);
        let group = point.workgroup_size()?;
        let (_, phase) = PhaseArray::with_table(device, &positions, &velocities, n as u32, group)?;
        Ok(Prepared::Device(Box::new(Workload {
            phase,
            pass: GrabPass::new(device, group)?,
            before: device.buffer_from("velocities", &velocities)?,
            expected,
        })))
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected.len() as u64;
        // Positions and velocities read, velocities written.
        Work { elements, bytes_minimum: 36 * elements }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        recorder.fill(self.phase.velocity.front(), 0xdead_beef);
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        recorder.copy(&self.before, self.phase.velocity.front(), self.expected.len());
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.pass.record(recorder, &self.phase, &GRAB, DT_S);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let found = device.download(self.phase.velocity.front(), self.expected.len())?;
        let is_wrong = |(found, expected): (&[f32; 3], &DVec3)| {
            let error = (DVec3::from(found.map(f64::from)) - *expected).length();
            // Not a number is wrong, too.
            error.is_nan() || error > MAX_ERROR_M_S
        };
        Ok(found
            .iter()
            .zip(&self.expected)
            .position(is_wrong)
            .map(|i| Difference(format!("velocity[{i}] is {:?}, expected {:?}", found[i], self.expected[i]))))
    }
}
