//! Pulling particles by hand.

use frazil_kernels::INVALID_INDEX;
use frazil_particles::PhaseArray;
use frazil_shaders::bodies::pull_particles;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result};

/// A pull on the particles near a line, during one step: they follow the line, and approach it like a
/// critically damped spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grab {
    /// A point of the line in m.
    pub centre_m: [f32; 3],
    /// Unit vector along the line.
    pub direction: [f32; 3],
    /// Velocity of the line in m/s.
    pub velocity_m_s: [f32; 3],
    /// Distance from the line in m within which particles are pulled, above 0.
    pub radius_m: f32,
    /// Rate 1/τ in 1/s at which they approach the line.
    pub rate_1_s: f32,
}

impl Grab {
    /// Returns the parameters of the kernel for a step of `dt_s`.
    pub(crate) fn params(&self, dt_s: f32) -> pull_particles::Params {
        pull_particles::Params {
            centre_m: self.centre_m,
            direction: self.direction,
            velocity_m_s: self.velocity_m_s,
            inverse_radius2_m2: 1.0 / (self.radius_m * self.radius_m),
            rate_1_s: self.rate_1_s,
            share: -(-dt_s * self.rate_1_s).exp_m1(),
        }
    }
}

/// Pass that applies a [`Grab`] to the velocities of a phase.
pub struct GrabPass {
    pull: Kernel<pull_particles::Interface>,
    /// Holds nothing.
    no_hold: Buffer<u32>,
}

impl GrabPass {
    /// Makes the pass.
    ///
    /// # Errors
    /// A workgroup size beyond the device's limits.
    pub fn new(device: &Device, workgroup_size: u32) -> Result<Self> {
        Ok(Self {
            pull: Kernel::specialized(device, &pull_particles::Specialization { workgroup_size })?,
            no_hold: device.buffer_from("no hold", &[INVALID_INDEX])?,
        })
    }

    /// Records the pull on the particles of a phase in a step of `dt_s`.
    pub fn record(&self, recorder: &mut Recorder, phase: &PhaseArray, grab: &Grab, dt_s: f32) {
        let columns = [phase.position.front(), phase.velocity.front()];
        self.record_on(recorder, &phase.count, columns, (grab, dt_s), None);
    }

    /// Records the pull on particles with these positions and velocities in a step of `dt_s`. Velocities stay
    /// as they are if the first word of `hold` is given and not [`INVALID_INDEX`]: the record of a fault,
    /// whose state waits to be taken up again.
    pub fn record_on(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        [position, velocity]: [&Buffer<[f32; 3]>; 2],
        (grab, dt_s): (&Grab, f32),
        hold: Option<&Buffer<u32>>,
    ) {
        let hold = hold.unwrap_or(&self.no_hold);
        let bindings = pull_particles::Bindings { count, position, velocity, hold };
        recorder.dispatch_counted(&self.pull, bindings, grab.params(dt_s));
    }
}
