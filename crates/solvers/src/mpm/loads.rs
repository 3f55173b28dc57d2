//! Loads of snow on the bodies that a scene names.

use super::parameters::MpmParameters;
use crate::BodyLoads;
use crate::bodies::impulse_sums;
use frazil_vk::{Buffer, Device, Result};

/// Loads on named bodies, and the sums of impulses from which the end of a step computes them.
pub struct Loads {
    /// Impulse and angular impulse of this step on each named body, in quanta.
    pub sums: Buffer<u32>,
    /// Loads so far.
    pub record: BodyLoads,
}

impl Loads {
    /// Creates the loads on named bodies; those of none if they are not measured.
    pub fn new(device: &Device, parameters: &MpmParameters) -> Result<Self> {
        let record = match parameters.measures_loads() {
            true => BodyLoads::new(device, &parameters.surroundings)?,
            false => BodyLoads::of(device, &[])?,
        };
        Ok(Self { sums: impulse_sums(device, record.names().len())?, record })
    }

    /// Returns the loads, if they are measured.
    pub fn measured(&self) -> Option<&BodyLoads> {
        (!self.record.names().is_empty()).then_some(&self.record)
    }
}
