//! The first fault of a run: detected by the update of the stress, reported at the end of the step.

use super::stress::Stress;
use crate::{SolverError, SolverFault};
use frazil_particles::PhaseArray;
use frazil_shaders::types::ViscoelasticFault;
use frazil_shaders::viscoelastic::end_step;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

const NONE: u32 = u32::MAX;

/// Shares of the time step that a fault suggests.
const SUGGESTED_SHARE: f32 = 0.5;

/// Fault record on the device, and the kernel that updates it at the end of a step.
pub(super) struct FaultRecord {
    record: Buffer<ViscoelasticFault>,
    steps: Buffer<u32>,
    end_step: Kernel<end_step::Interface>,
    ring: ReadbackRing,
    dt_s: f32,
    support_m: f32,
}

/// A fault record that is being read back.
#[derive(Debug)]
pub struct FaultCheck {
    record: Pending<ViscoelasticFault>,
    dt_s: f32,
    support_m: f32,
}

impl FaultRecord {
    pub fn new(
        device: &Device,
        [dt_s, support_m]: [f32; 2],
        step: u64,
    ) -> std::result::Result<Self, SolverError> {
        let nothing =
            ViscoelasticFault { step: NONE, id: NONE, position_m: [0.0; 3], velocity_m_s: [0.0; 3] };
        Ok(Self {
            record: device.buffer_from("fault", &[nothing])?,
            steps: device.buffer_from("steps", &[step as u32])?,
            end_step: Kernel::new(device)?,
            ring: ReadbackRing::new(device),
            dt_s,
            support_m,
        })
    }

    /// Records the end of a step.
    pub fn record_end(&self, recorder: &mut Recorder, phase: &PhaseArray, stress: &Stress) {
        let bindings = end_step::Bindings {
            id: phase.id.front(),
            position: phase.position.front(),
            updated: phase.velocity.back(),
            faulty_particle: &stress.faulty_particle,
            steps: &self.steps,
            fault: &self.record,
        };
        recorder.dispatch(&self.end_step, Threads::Fixed(1), bindings, ());
    }

    /// Records the read-back of the record.
    pub fn check(&self, recorder: &mut Recorder) -> Result<FaultCheck> {
        let record = self.ring.read(recorder, &self.record, 1)?;
        Ok(FaultCheck { record, dt_s: self.dt_s, support_m: self.support_m })
    }
}

impl FaultCheck {
    /// Returns true if the result has arrived.
    pub fn is_ready(&self) -> Result<bool> {
        self.record.is_ready()
    }

    /// Waits for the result; returns the first fault, if there was one.
    pub fn wait(self) -> Result<Option<SolverFault>> {
        let record = self.record.wait()?[0];
        if record.step == NONE {
            return Ok(None);
        }
        let speed = record.velocity_m_s.iter().map(|v| v * v).sum::<f32>().sqrt();
        let what = if !speed.is_finite() {
            "has a velocity that is not finite".to_owned()
        } else if speed * self.dt_s >= self.support_m {
            format!("moved {} support radii in one step", speed * self.dt_s / self.support_m)
        } else {
            "was turned inside out by its neighbours in one step".to_owned()
        };
        Ok(Some(SolverFault {
            step: record.step.into(),
            pass: "UpdateStress",
            object: format!("particle {}", record.id),
            message: format!(
                "particle {} {what} (position {:?} m, velocity {:?} m/s); try time.dt_s = {:e}",
                record.id,
                record.position_m,
                record.velocity_m_s,
                SUGGESTED_SHARE * self.dt_s
            ),
        }))
    }
}
