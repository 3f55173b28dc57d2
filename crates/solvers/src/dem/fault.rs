//! The first fault of a run: detected on the device within the step, reported on the host.

use super::parameters::MAX_CONTACTS;
use crate::SolverFault;
use frazil_shaders::types::DemFault as Raw;
use frazil_vk::{Buffer, Device, Pending, ReadbackRing, Recorder, Result};
use std::fmt;

const NONE: u32 = u32::MAX;

/// Reason why a simulation of grains cannot go on. The device keeps the state as left by the step that broke
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemFault {
    /// The step, counted from 1.
    pub step: u64,
    /// Lowest id of the grains that are not finite.
    pub not_finite: Option<u32>,
    /// Lowest id of the grains with more neighbours than `MAX_CONTACTS`.
    pub crowded: Option<u32>,
    /// Number of contact rows that the step required, and the capacity, on overflow.
    pub rows: Option<[u32; 2]>,
    /// Lowest number of the slab pieces that are not finite.
    pub piece_not_finite: Option<u32>,
}

impl fmt::Display for DemFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SolverFault::from(self.clone()).fmt(f)
    }
}

impl From<DemFault> for SolverFault {
    fn from(DemFault { step, not_finite, crowded, rows, piece_not_finite }: DemFault) -> Self {
        let fault = |pass, object: String, message: String| Self { step, pass, object, message };
        let broken = |pass, object: String| {
            let message = format!("{object} is not finite; a smaller time.dt_s, or \"auto\", often helps");
            fault(pass, object, message)
        };
        match (crowded, rows, not_finite, piece_not_finite) {
            (Some(id), ..) => fault(
                "Collide",
                format!("grain {id}"),
                format!(
                    "grain {id} touches more than {MAX_CONTACTS} others, expected no more: dem.radius_spread is too large, \
                     or grains lie in one another"
                ),
            ),
            (None, Some([found, capacity]), ..) => fault(
                "FindContacts",
                "contacts".to_owned(),
                format!(
                    "{found} contacts, expected {capacity} at most; a larger dem.contacts_per_grain raises it"
                ),
            ),
            (None, None, Some(id), _) => broken("Collide", format!("grain {id}")),
            (None, None, None, Some(piece)) => broken("MovePieces", format!("piece {piece} of the slabs")),
            (None, None, None, None) => fault("Collide", "grains".to_owned(), "an unnamed fault".to_owned()),
        }
    }
}

/// Fault record on the device, with the number of the current step.
pub struct FaultRecord {
    record: Buffer<Raw>,
    /// Capacity in contact rows.
    capacity: u32,
}

impl FaultRecord {
    /// Makes the record without a fault, after `step` steps.
    pub fn new(device: &Device, capacity: u32, step: u64) -> Result<Self> {
        let none = Raw {
            step: NONE,
            now: step as u32,
            not_finite: NONE,
            crowded: NONE,
            n_rows: 0,
            piece_not_finite: NONE,
        };
        Ok(Self { record: device.buffer_from("fault", &[none])?, capacity })
    }

    pub fn buffer(&self) -> &Buffer<Raw> {
        &self.record
    }

    pub fn check(&self, recorder: &mut Recorder, ring: &ReadbackRing) -> Result<DemFaultCheck> {
        Ok(DemFaultCheck { record: ring.read(recorder, &self.record, 1)?, capacity: self.capacity })
    }
}

/// A fault record that is being read back.
#[derive(Debug)]
pub struct DemFaultCheck {
    record: Pending<Raw>,
    capacity: u32,
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
        let raw = self.record.wait()?[0];
        let known = |id: u32| (id != NONE).then_some(id);
        Ok((raw.step != NONE).then(|| DemFault {
            step: raw.step.into(),
            not_finite: known(raw.not_finite),
            crowded: known(raw.crowded),
            rows: (raw.n_rows > 0).then_some([raw.n_rows, self.capacity]),
            piece_not_finite: known(raw.piece_not_finite),
        }))
    }
}
