//! The first fault of a run: detected by the update of velocities, reported at the end of the step.

use super::parameters::Parameters;
use super::particles::Particles;
use crate::clock::{Clock, FaultRecord, PendingRecord};
use crate::fault::{NOT_FINITE_AT_START, free_fall_s, length, number, suggest_dt, vector};
use crate::{PendingFault, SolverFault};
use frazil_shaders::pbd::{end_step, fault};
use frazil_shaders::types::{FaultLimits, PbdFault as Raw};
use frazil_vk::{Buffer, Device, Kernel, ReadbackRing, Recorder, Result, Threads};

const NONE: u32 = u32::MAX;

/// Courant number |v| Δt/h of the time step that is suggested for particles that are too fast: the usual
/// bound in SPH.
const SUGGESTED_COURANT: f64 = 0.4;

/// Fault record on the device, and the kernel that completes it at the end of a step.
pub struct FaultReport {
    /// Lowest index of a particle with each kind of fault, by phase, and the bits of the largest speed.
    pub(super) faulty: Buffer<u32>,
    record: FaultRecord<Raw>,
    end_step: Kernel<end_step::Interface>,
    names: &'static [&'static str],
    /// Stand for the buffers of a second phase.
    no_id: Buffer<u32>,
    no_vectors: [Buffer<[f32; 3]>; 2],
    no_density: Buffer<f32>,
    no_count: Buffer<u32>,
    no_args: Buffer<[u32; 3]>,
    ring: ReadbackRing,
}

/// A fault record that is being read back.
#[derive(Debug)]
struct FaultCheck {
    record: PendingRecord<Raw>,
    names: &'static [&'static str],
    dt_s: f64,
    /// Longest step that resolves the fall of a particle.
    max_dt_s: f64,
    support_m: f64,
    rest_density_kg_m3: f64,
    limits: FaultLimits,
    /// Maximum number of particles.
    capacity: u32,
}

/// Returns the place of a kind of fault of the first phase among the lowest indices (`fault_slot`).
pub(super) fn slot(kind: u32) -> u32 {
    fault::FAULT_PHASES * kind
}

impl FaultReport {
    /// Makes the record of phases of these names.
    pub fn new(device: &Device, names: &'static [&'static str]) -> Result<Self> {
        let end_step =
            end_step::Specialization { has_second_phase: (names.len() > 1).into(), ..Default::default() };
        // The lowest indices, then the bits of the largest speed of each phase.
        let mut faulty = vec![NONE; (fault::FAULT_KINDS * fault::FAULT_PHASES) as usize];
        faulty.extend([0; fault::FAULT_PHASES as usize]);
        let vector = |name| device.buffer(name, 1);
        Ok(Self {
            faulty: device.buffer_from("faulty particles", &faulty)?,
            record: FaultRecord::new(device, Raw { kind: NONE, id: NONE, ..bytemuck::Zeroable::zeroed() })?,
            end_step: Kernel::specialized(device, &end_step)?,
            names,
            no_id: device.buffer("no ids", 1)?,
            no_vectors: [vector("no positions")?, vector("no velocities")?],
            no_density: device.buffer("no densities", 1)?,
            no_count: device.buffer("no count", 1)?,
            no_args: device.buffer("no dispatch arguments", 16)?,
            ring: ReadbackRing::new(device),
        })
    }

    /// Records the end of a step of each phase, after its predicted positions are accepted. The velocities
    /// are those in which faults were detected, before XSPH.
    pub fn record_end(&self, recorder: &mut Recorder, clock: &Clock, phases: &[&Particles]) {
        let [first, second] = [phases.first(), phases.get(1)];
        let Some(first) = first else { return };
        let bindings = end_step::Bindings {
            faulty: &self.faulty,
            id: first.id(),
            position: first.position(),
            velocity: first.updated(),
            density: &first.density,
            count: &first.phase.count,
            args: &first.phase.count.args,
            second_id: second.map_or(&self.no_id, |second| second.id()),
            second_position: second.map_or(&self.no_vectors[0], |second| second.position()),
            second_velocity: second.map_or(&self.no_vectors[1], |second| second.updated()),
            second_density: second.map_or(&self.no_density, |second| &second.density),
            second_count: second.map_or(&self.no_count, |second| &second.phase.count.count),
            second_args: second.map_or(&self.no_args, |second| &second.phase.count.args),
            fault: self.record.buffer(),
            clock: clock.buffer(),
        };
        recorder.dispatch(&self.end_step, Threads::Fixed(1), bindings, ());
    }

    /// Records the read-back of the record.
    pub fn check(
        &self,
        recorder: &mut Recorder,
        clock: &Clock,
        parameters: &Parameters,
        capacity: u32,
    ) -> Result<PendingFault> {
        let check = FaultCheck {
            record: self.record.read(recorder, &self.ring, clock)?,
            names: self.names,
            dt_s: parameters.dt_s.into(),
            max_dt_s: free_fall_s(SUGGESTED_COURANT as f32 * parameters.support_m, parameters.gravity_m_s2),
            support_m: parameters.support_m.into(),
            rest_density_kg_m3: parameters.rest_density_kg_m3.into(),
            limits: parameters.fault_limits(0),
            capacity,
        };
        Ok(crate::pending::forwarded(check, |check| check.record.is_ready(), FaultCheck::wait))
    }
}

impl FaultCheck {
    fn wait(self) -> Result<Option<SolverFault>> {
        let Some((step, record)) = self.record.wait()? else { return Ok(None) };
        let name = self.names.get(record.phase as usize).copied().unwrap_or("particle");
        if record.kind == fault::FAULT_FULL {
            let message = format!(
                "the emitters exceed the capacity of {} particles, for what enters within time.duration_s; \
                 expected a drain, or an emitter that ends (emitters.0.until_s)",
                self.capacity
            );
            return Ok(Some(SolverFault { step, pass: "Emit", message, object: "emitters".to_owned() }));
        }
        let object = format!("{name} {}", record.id);
        let (speed, density) = (length(record.velocity_m_s), f64::from(record.density_kg_m3));
        let travel = speed * self.dt_s / self.support_m;
        let fastest = f64::from(record.fastest_m_s) * self.dt_s / self.support_m;
        let ratio = density / self.rest_density_kg_m3;
        let (pass, what, share) = match record.kind {
            fault::FAULT_START_NOT_FINITE => (
                "Integrate",
                "had a position or velocity that is not finite when the step began".to_owned(),
                f64::NAN,
            ),
            fault::FAULT_NOT_FINITE => {
                ("UpdateVelocity", "is not finite after the constraints".to_owned(), f64::NAN)
            }
            // Compression by gravity in a step grows with g Δt².
            fault::FAULT_TOO_DENSE => (
                "UpdateVelocity",
                format!(
                    "has a density of {} kg/m³, {} times the rest density, expected less than {} kg/m³ \
                     (pbd.max_density_ratio)",
                    number(density),
                    number(ratio),
                    number(self.limits.max_density_kg_m3)
                ),
                0.5 * (f64::from(self.limits.max_density_kg_m3) / density).sqrt(),
            ),
            fault::FAULT_TOO_FAST => (
                "UpdateVelocity",
                format!(
                    "is too fast: the fastest particle moves at {} m/s, {} support radii per step, expected \
                     less than {} m/s (pbd.max_courant)",
                    number(record.fastest_m_s),
                    number(fastest),
                    number(self.limits.max_speed_m_s)
                ),
                SUGGESTED_COURANT / fastest,
            ),
            // fault::FAULT_INVERTED
            _ if !speed.is_finite() => {
                ("UpdateStress", "has a velocity that is not finite".to_owned(), f64::NAN)
            }
            _ if speed >= f64::from(self.limits.max_speed_m_s) => (
                "UpdateStress",
                format!("moved {} support radii in one step (pbd.max_courant)", number(travel)),
                SUGGESTED_COURANT / travel,
            ),
            _ => ("UpdateStress", "was turned inside out by its neighbours in one step".to_owned(), f64::NAN),
        };
        let suggestion = match record.kind {
            fault::FAULT_START_NOT_FINITE => NOT_FINITE_AT_START.to_owned(),
            _ => suggest_dt(self.dt_s, share, self.max_dt_s),
        };
        Ok(Some(SolverFault {
            step,
            pass,
            message: format!(
                "{object} {what} (position {} m, velocity {} m/s, density {} kg/m³); {suggestion}",
                vector(record.position_m),
                vector(record.velocity_m_s),
                number(record.density_kg_m3)
            ),
            object,
        }))
    }
}
