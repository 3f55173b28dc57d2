//! Links of snow: bonds whose number depends on temperature (000 §4.1.2, §6.2.4).

use super::link_rule::LinkRule;
use super::matter::Matter;
use super::terms::{Linking, SnowParameters};
use crate::SolverError;
use frazil_kernels::{BOND_FAULTS, BondCapacity, BondSearch, BondedParticles, Builder, PairBonds};
use frazil_shaders::snow::compute_link_limits;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result};

/// Rounds that link all of a block that is there from the start.
const FIRST_ROUNDS: u32 = 64;

pub(super) struct Links {
    bonds: PairBonds,
    linking: Option<Linking>,
    compute_limits: Kernel<compute_link_limits::Interface>,
    /// How many links each particle may have at its temperature.
    limit: Buffer<u32>,
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
        Ok(BOND_FAULTS.into_iter().zip(self.faults.wait()?).collect())
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
        // As many slots as the law of limits allows: no build needs more.
        let rows = BondCapacity { particles: capacity, slots: n_max };
        Ok(Self {
            bonds: PairBonds::with_workgroup_size(device, rows, &[], workgroup_size)?,
            linking,
            compute_limits: Kernel::specialized(
                device,
                &compute_link_limits::Specialization { workgroup_size },
            )?,
            limit: device.buffer("link limit", capacity as usize)?,
            multiplier: device.buffer("link multiplier", slots)?,
        })
    }

    pub fn bonds(&self) -> &PairBonds {
        &self.bonds
    }

    pub fn multiplier(&self) -> &Buffer<f32> {
        &self.multiplier
    }

    pub fn are_made(&self) -> bool {
        self.linking.is_some()
    }

    /// Moves rows with their particles.
    pub fn remap(&mut self, recorder: &mut Recorder, solid: &Matter) -> Result<(), SolverError> {
        if self.linking.is_none() {
            return Ok(());
        }
        Ok(self.bonds.record_remap(recorder, &solid.phase.count, &solid.source)?)
    }

    /// Breaks links that are too long, too warm or too many.
    pub fn break_some(&mut self, recorder: &mut Recorder, solid: &Matter) -> Result<(), SolverError> {
        let Some(Linking { rule, n_max, .. }) = self.linking else { return Ok(()) };
        self.record_limits(recorder, solid, &rule, n_max);
        let particles = particles(solid, &self.limit);
        Ok(self.bonds.record_break_stretched(recorder, particles, n_max, rule.break_ratio)?)
    }

    /// Links cold neighbours that may have more links.
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
        Linking { rule, n_max, .. }: Linking,
        builder: Builder,
    ) -> Result<(), SolverError> {
        self.record_limits(recorder, solid, &rule, n_max);
        let search = BondSearch { radius_m: rule.radius_m, max_bonds: n_max };
        let cells = (&solid.grid, &solid.key);
        Ok(self.bonds.record_build(recorder, cells, particles(solid, &self.limit), builder, &search)?)
    }

    /// Records how many links each particle may have now: each stage stands alone.
    fn record_limits(&self, recorder: &mut Recorder, solid: &Matter, rule: &LinkRule, n_max: u32) {
        let bindings = compute_link_limits::Bindings {
            count: &solid.phase.count.count,
            temperature: solid.temperature.front(),
            limit: &self.limit,
        };
        recorder.dispatch(&self.compute_limits, solid.threads(), bindings, rule.limit_params(n_max));
    }

    /// Counts faults.
    pub fn check(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        solid: &Matter,
    ) -> Result<Option<LinkCheck>, SolverError> {
        let Some(Linking { rule, n_max, .. }) = self.linking else { return Ok(None) };
        self.record_limits(recorder, solid, &rule, n_max);
        let count = &solid.phase.count;
        self.bonds.record_check(recorder, count, &self.limit, n_max, rule.radius_m)?;
        Ok(Some(LinkCheck { faults: ring.read(recorder, self.bonds.faults(), BOND_FAULTS.len())? }))
    }
}

/// The solid particles at their predicted positions.
fn particles<'a>(solid: &'a Matter, limit: &'a Buffer<u32>) -> BondedParticles<'a> {
    BondedParticles {
        count: &solid.phase.count,
        position: &solid.predicted,
        limit,
        id: solid.phase.id.front(),
    }
}
