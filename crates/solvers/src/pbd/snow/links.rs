//! Links between solid particles, as the step uses them.

use super::matter::Matter;
use super::terms::{Linking, SnowParameters};
use crate::SolverError;
use frazil_kernels::{Builder, Interlinks, LINK_FAULTS, LinkedParticles};
use frazil_vk::{Buffer, Device, Pending, ReadbackRing, Recorder, Result};

/// Rounds that link all of a block that is there from the start.
const FIRST_ROUNDS: u32 = 64;

pub(super) struct Links {
    records: Interlinks,
    linking: Option<Linking>,
    /// XPBD's multiplier of each slot, in N s².
    multiplier: Buffer<f32>,
}

/// Faults that a check has counted, on their way to the host; none, or the engine is wrong.
#[derive(Debug)]
pub struct LinkCheck {
    faults: Pending<u32>,
}

impl LinkCheck {
    /// Whether the counts are here.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        self.faults.is_ready()
    }

    /// Waits for the counts: what each fault is, and how many there are.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    pub fn wait(self) -> Result<Vec<(&'static str, u32)>> {
        Ok(LINK_FAULTS.into_iter().zip(self.faults.wait()?).collect())
    }
}

impl Links {
    pub fn new(
        device: &Device,
        parameters: &SnowParameters,
        workgroup_size: u32,
        capacity: u32,
    ) -> Result<Self, SolverError> {
        let linking = parameters.linking();
        let n_max = linking.map_or(1, |linking| linking.n_max);
        let slots = match parameters.snow.links.compliance_m_n {
            Some(_) => capacity as usize * n_max as usize,
            None => 0,
        };
        Ok(Self {
            records: Interlinks::with_workgroup_size(device, capacity, n_max, workgroup_size)?,
            linking,
            multiplier: device.buffer("link multiplier", slots)?,
        })
    }

    pub fn records(&self) -> &Interlinks {
        &self.records
    }

    pub fn multiplier(&self) -> &Buffer<f32> {
        &self.multiplier
    }

    pub fn are_made(&self) -> bool {
        self.linking.is_some()
    }

    /// Records follow their particles.
    pub fn remap(&mut self, recorder: &mut Recorder, solid: &Matter) -> Result<(), SolverError> {
        if self.linking.is_none() {
            return Ok(());
        }
        Ok(self.records.record_remap(recorder, &solid.phase.count, &solid.source)?)
    }

    /// Links that are too long, too warm or too many go.
    pub fn break_some(&mut self, recorder: &mut Recorder, solid: &Matter) -> Result<(), SolverError> {
        let Some(linking) = self.linking else { return Ok(()) };
        Ok(self.records.record_break(recorder, particles(solid), &linking.rule)?)
    }

    /// Cold neighbours with room are linked.
    pub fn build(&self, recorder: &mut Recorder, solid: &Matter) -> Result<(), SolverError> {
        let Some(linking) = self.linking else { return Ok(()) };
        self.build_by(recorder, solid, linking, linking.builder)
    }

    /// Links all of a block that is there from the start.
    pub fn build_first(&self, recorder: &mut Recorder, solid: &Matter) -> Result<(), SolverError> {
        let Some(linking) = self.linking else { return Ok(()) };
        let builder = match linking.builder {
            Builder::Reproducible { .. } => Builder::Reproducible { rounds: FIRST_ROUNDS },
            Builder::CompareAndSwap { .. } => Builder::CompareAndSwap { passes: FIRST_ROUNDS },
        };
        self.build_by(recorder, solid, linking, builder)
    }

    fn build_by(
        &self,
        recorder: &mut Recorder,
        solid: &Matter,
        linking: Linking,
        builder: Builder,
    ) -> Result<(), SolverError> {
        let (grid, key) = (&solid.grid, &solid.key);
        Ok(self.records.record_build(recorder, grid, key, particles(solid), builder, &linking.rule)?)
    }

    /// Counts what must not be.
    pub fn check(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        solid: &Matter,
    ) -> Result<Option<LinkCheck>, SolverError> {
        let Some(linking) = self.linking else { return Ok(None) };
        self.records.record_check(recorder, particles(solid), &linking.rule)?;
        Ok(Some(LinkCheck { faults: ring.read(recorder, self.records.faults(), LINK_FAULTS.len())? }))
    }
}

/// The solid particles at their predicted positions.
fn particles(solid: &Matter) -> LinkedParticles<'_> {
    LinkedParticles {
        count: &solid.phase.count,
        position: &solid.predicted,
        temperature_c: solid.temperature.front(),
        id: solid.phase.id.front(),
    }
}
