//! The first fault of a run: detected on the device within the step, reported on the host.

use super::parameters::DemParameters;
use crate::SolverFault;
use crate::clock::{Clock, FaultRecord, PendingRecord};
use crate::fault::{free_fall_s, number, suggest_dt, two_digits_up, vector};
use frazil_shaders::dem::fault::{MANY_CONTACTS, MAX_CONTACTS};
use frazil_shaders::dem::report_fault;
use frazil_shaders::types::DemFault as Raw;
use frazil_vk::{Buffer, Device, Kernel, ReadbackRing, Recorder, Result, Threads};
use std::fmt;

const NONE: u32 = u32::MAX;

/// Travel in radii per step of the time step that is suggested for grains that are too fast.
const SUGGESTED_TRAVEL: f64 = 0.1;
/// Travel above which speed, not softness, is the cause of overlaps.
const FAST_TRAVEL: f64 = 0.2;
/// Overlap for which a stiffness is suggested.
const SUGGESTED_OVERLAP: f64 = 0.05;

/// Reason why a simulation of grains cannot go on. The device keeps the state as left by the step that broke
/// it or, on overflow, by the step before.
#[derive(Clone, Debug, PartialEq)]
pub struct DemFault {
    /// The step, counted from 1.
    pub step: u64,
    /// Lowest id of the grains that are not finite.
    pub not_finite: Option<u32>,
    /// Lowest id of the grains that have moved by more than a radius.
    pub too_fast: Option<u32>,
    /// Lowest id of the grains that touch too many others.
    pub crowded: Option<u32>,
    /// Number of contact rows that the step required, and the capacity, on overflow.
    pub rows: Option<[u32; 2]>,
    /// Lowest number of the slab pieces that are not finite.
    pub piece_not_finite: Option<u32>,
    /// Grain of the fault: the first of those too fast, else of those that touch too many, else of those not
    /// finite.
    pub grain: FaultyGrain,
}

/// State of a faulty grain at the end of the step, and what tells the cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaultyGrain {
    /// Radius in m.
    pub radius_m: f32,
    /// Position in m.
    pub position_m: [f32; 3],
    /// Velocity in m/s.
    pub velocity_m_s: [f32; 3],
    /// Angular velocity in rad/s.
    pub spin_1_s: [f32; 3],
    /// Deepest overlap of the grains that touch too many others, as a share of the smaller radius; 0 if it is
    /// not deep.
    pub overlap: f32,
    /// Largest travel of those grains and of the ones that they touch before the step, or of the grain that
    /// is too fast, in radii per step.
    pub travel: f32,
    /// Time step in s.
    pub dt_s: f32,
    /// Gravity in m/s².
    pub gravity_m_s2: [f32; 3],
    /// Stiffness of contacts in N/m.
    pub stiffness_n_m: f32,
}

impl fmt::Display for FaultyGrain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { radius_m, position_m, velocity_m_s, spin_1_s, .. } = self;
        write!(
            f,
            "position {} m, velocity {} m/s, spin {} rad/s, radius {} m",
            vector(*position_m),
            vector(*velocity_m_s),
            vector(*spin_1_s),
            number(*radius_m)
        )
    }
}

impl fmt::Display for DemFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SolverFault::from(self.clone()).fmt(f)
    }
}

impl From<DemFault> for SolverFault {
    fn from(fault: DemFault) -> Self {
        let DemFault { step, not_finite, too_fast, crowded, rows, piece_not_finite, grain } = fault;
        let dt_s = f64::from(grain.dt_s);
        let (travel, overlap) = (f64::from(grain.travel), f64::from(grain.overlap));
        let max_dt_s = free_fall_s(SUGGESTED_TRAVEL as f32 * grain.radius_m, grain.gravity_m_s2);
        let slower = suggest_dt(dt_s, SUGGESTED_TRAVEL / travel, max_dt_s);
        let travel = number(travel);
        let fault = |pass, object: String, message: String| Self { step, pass, object, message };
        if let Some([found, capacity]) = rows {
            let message = format!("the step requires {found} rows of contacts, capacity {capacity}");
            return fault("FindContacts", "contacts".to_owned(), message);
        }
        if let Some(id) = too_fast {
            let message = format!(
                "grain {id} is too fast: centre or surface of the fastest grain move by {travel} radii per \
                 step, expected at most 1 ({grain}); {slower}"
            );
            return fault("Collide", format!("grain {id}"), message);
        }
        if let Some(id) = crowded {
            let message = if f64::from(grain.travel) > FAST_TRAVEL {
                format!(
                    "grain {id} touches more than {MANY_CONTACTS} others because grains are too fast: some \
                     move by {travel} radii per step ({grain}); {slower}"
                )
            } else if overlap > 0.0 {
                let stiffness_n_m = f64::from(grain.stiffness_n_m) * overlap / SUGGESTED_OVERLAP;
                format!(
                    "grain {id} touches more than {MANY_CONTACTS} others, and grains overlap by {:.0} % of a \
                     radius: contacts are too soft for their load ({grain}); try dem.normal_stiffness_n_m = \
                     {} with time.dt_s = \"auto\"",
                    100.0 * overlap,
                    two_digits_up(stiffness_n_m)
                )
            } else {
                format!(
                    "grain {id} touches more than {MAX_CONTACTS} others, which is the most that its list can \
                     hold ({grain}); a smaller dem.radius_spread or range of attraction has fewer"
                )
            };
            return fault("Collide", format!("grain {id}"), message);
        }
        let (pass, object) = match (not_finite, piece_not_finite) {
            (Some(id), _) => ("Collide", format!("grain {id}")),
            (None, Some(piece)) => ("MovePieces", format!("piece {piece} of the slabs")),
            (None, None) => return fault("Collide", "grains".to_owned(), "an unnamed fault".to_owned()),
        };
        let message = format!("{object} is not finite; {}", suggest_dt(dt_s, f64::NAN, max_dt_s));
        fault(pass, object, message)
    }
}

/// Grains as the report of a fault reads them.
pub struct ReportedGrains<'a> {
    /// Index of each id.
    pub place: &'a Buffer<u32>,
    pub sphere: &'a Buffer<[f32; 4]>,
    pub motion: &'a Buffer<frazil_shaders::types::GrainMotion>,
}

/// Fault record on the device, and the kernel that completes it.
pub struct FaultReport {
    record: FaultRecord<Raw>,
    report: Kernel<report_fault::Interface>,
}

impl FaultReport {
    /// Makes the record without a fault.
    pub fn new(device: &Device) -> Result<Self> {
        let none = Raw {
            not_finite: NONE,
            too_fast: NONE,
            crowded: NONE,
            piece_not_finite: NONE,
            ..bytemuck::Zeroable::zeroed()
        };
        Ok(Self {
            record: FaultRecord::new(device, none)?,
            report: Kernel::specialized(device, &report_fault::Specialization::default())?,
        })
    }

    /// Forgets any fault. It waits for the device.
    pub fn clear(&self, device: &Device) -> Result<()> {
        self.record.clear(device)
    }

    /// Returns the required number of rows, if the first fault is an overflow of contacts. It waits for the
    /// device.
    pub fn overflow(&self, device: &Device) -> Result<Option<u32>> {
        let n_rows = self.record.download(device)?.n_rows;
        Ok((n_rows > 0).then_some(n_rows))
    }

    /// Returns the record, as the passes that detect faults write it.
    pub fn buffer(&self) -> &Buffer<Raw> {
        self.record.buffer()
    }

    /// Records the description of the first fault, if there was one, and its read-back; `capacity` is that of
    /// rows.
    pub fn check(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        clock: &Clock,
        grains: &ReportedGrains<'_>,
        parameters: &DemParameters,
        capacity: u32,
    ) -> Result<DemFaultCheck> {
        let &ReportedGrains { place, sphere, motion } = grains;
        let fault = self.buffer();
        let bindings = report_fault::Bindings { place, sphere, motion, fault, clock: clock.buffer() };
        recorder.dispatch(&self.report, Threads::Fixed(1), bindings, ());
        let terms = &parameters.terms;
        let [dt_s, stiffness_n_m] = [terms.dt_s, terms.normal_stiffness_n_m];
        let gravity_m_s2 = terms.gravity_m_s2;
        let record = self.record.read(recorder, ring, clock)?;
        Ok(DemFaultCheck { record, capacity, dt_s, gravity_m_s2, stiffness_n_m })
    }
}

/// A fault record that is being read back.
#[derive(Debug)]
pub struct DemFaultCheck {
    record: PendingRecord<Raw>,
    capacity: u32,
    dt_s: f32,
    gravity_m_s2: [f32; 3],
    stiffness_n_m: f32,
}

impl DemFaultCheck {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        self.record.is_ready()
    }

    /// Waits for the result; returns the first fault, if there was one.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<Option<DemFault>> {
        let Some((step, raw)) = self.record.wait()? else { return Ok(None) };
        let known = |id: u32| (id != NONE).then_some(id);
        Ok(Some(DemFault {
            step,
            not_finite: known(raw.not_finite),
            too_fast: known(raw.too_fast),
            crowded: known(raw.crowded),
            rows: (raw.n_rows > 0).then_some([raw.n_rows, self.capacity]),
            piece_not_finite: known(raw.piece_not_finite),
            grain: FaultyGrain {
                radius_m: raw.radius_m,
                position_m: raw.position_m,
                velocity_m_s: raw.velocity_m_s,
                spin_1_s: raw.spin_1_s,
                overlap: f32::from_bits(raw.overlap),
                travel: f32::from_bits(raw.travel),
                dt_s: self.dt_s,
                gravity_m_s2: self.gravity_m_s2,
                stiffness_n_m: self.stiffness_n_m,
            },
        }))
    }
}
