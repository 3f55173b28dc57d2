//! Links of snow: bonds whose maximum number depends on temperature (Chen2021 §4.1.2, §6.2.4).

use super::link_rule::LinkRule;
use super::phase_particles::PhaseParticles;
use super::terms::{Linking, SnowParameters};
use crate::SolverError;
use frazil_kernels::{BOND_FAULTS, BondCapacity, BondSearch, BondedParticles, Builder, PairBonds};
use frazil_shaders::snow::compute_link_limits;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result};

/// Rounds of link building in the initial state, enough to link a whole block.
const FIRST_ROUNDS: u32 = 64;

pub(super) struct Links {
    bonds: PairBonds,
    linking: Option<Linking>,
    compute_limits: Kernel<compute_link_limits::Interface>,
    /// Maximum number of links of each particle at its temperature.
    limit: Buffer<u32>,
}

/// Violations counted by a check, being read back; any is a bug in the engine.
#[derive(Debug)]
pub struct LinkCheck {
    faults: Pending<u32>,
}

impl LinkCheck {
    /// Returns true if the counts have arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        self.faults.is_ready()
    }

    /// Waits for the counts; returns a description and a count of each kind of violation.
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
        // The capacity is the maximum that the rule allows: no build needs more slots.
        let rows = BondCapacity { particles: capacity, slots: n_max };
        Ok(Self {
            bonds: PairBonds::with_workgroup_size(device, rows, &[], workgroup_size)?,
            linking,
            compute_limits: Kernel::specialized(
                device,
                &compute_link_limits::Specialization { workgroup_size },
            )?,
            limit: device.buffer("link limit", capacity as usize)?,
        })
    }

    pub fn bonds(&self) -> &PairBonds {
        &self.bonds
    }

    pub fn are_made(&self) -> bool {
        self.linking.is_some()
    }

    /// Records the move of rows with their particles.
    pub fn remap(&mut self, recorder: &mut Recorder, solid: &PhaseParticles) -> Result<(), SolverError> {
        if self.linking.is_none() {
            return Ok(());
        }
        Ok(self.bonds.record_remap(recorder, &solid.phase.count, &solid.source)?)
    }

    /// Records the breaking of links that are too long, too warm or too many.
    pub fn break_some(&mut self, recorder: &mut Recorder, solid: &PhaseParticles) -> Result<(), SolverError> {
        let Some(Linking { rule, n_max, .. }) = self.linking else { return Ok(()) };
        self.record_limits(recorder, solid, &rule, n_max);
        let particles = particles(solid, &self.limit);
        Ok(self.bonds.record_break_stretched(recorder, particles, n_max, rule.break_ratio)?)
    }

    /// Records the linking of cold neighbours that have fewer links than their maximum.
    pub fn build(&self, recorder: &mut Recorder, solid: &PhaseParticles) -> Result<(), SolverError> {
        let Some(linking) = self.linking else { return Ok(()) };
        self.build_by(recorder, solid, linking, linking.rule.radius_m, linking.builder)
    }

    /// Records the linking of the blocks of the initial state.
    pub fn build_first(&self, recorder: &mut Recorder, solid: &PhaseParticles) -> Result<(), SolverError> {
        let Some(linking) = self.linking else { return Ok(()) };
        let builder = match linking.builder {
            Builder::Reproducible { .. } => Builder::Reproducible { rounds: FIRST_ROUNDS },
            Builder::CompareAndSwap { .. } => Builder::CompareAndSwap { passes: FIRST_ROUNDS },
        };
        self.build_by(recorder, solid, linking, linking.initial_reach_m, builder)
    }

    fn build_by(
        &self,
        recorder: &mut Recorder,
        solid: &PhaseParticles,
        Linking { rule, n_max, .. }: Linking,
        radius_m: f32,
        builder: Builder,
    ) -> Result<(), SolverError> {
        self.record_limits(recorder, solid, &rule, n_max);
        let search = BondSearch { radius_m, max_bonds: n_max };
        let limited = particles(solid, &self.limit);
        Ok(self.bonds.record_build(recorder, &solid.grid, solid.key(), limited, builder, &search)?)
    }

    /// Records the maximum number of links of each particle; every stage recomputes it, so that stages are
    /// independent.
    fn record_limits(&self, recorder: &mut Recorder, solid: &PhaseParticles, rule: &LinkRule, n_max: u32) {
        let bindings = compute_link_limits::Bindings {
            count: &solid.phase.count,
            temperature: solid.temperature.front(),
            limit: &self.limit,
        };
        recorder.dispatch_counted(&self.compute_limits, bindings, rule.limit_params(n_max));
    }

    /// Records the count of violations.
    pub fn check(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
        solid: &PhaseParticles,
    ) -> Result<Option<LinkCheck>, SolverError> {
        let Some(Linking { rule, n_max, initial_reach_m, .. }) = self.linking else { return Ok(None) };
        self.record_limits(recorder, solid, &rule, n_max);
        let (count, longest_m) = (&solid.phase.count, rule.radius_m.max(initial_reach_m));
        self.bonds.record_check(recorder, count, &self.limit, n_max, longest_m)?;
        Ok(Some(LinkCheck { faults: ring.read(recorder, self.bonds.faults(), BOND_FAULTS.len())? }))
    }
}

/// Returns the solid particles at their predicted positions.
fn particles<'a>(solid: &'a PhaseParticles, limit: &'a Buffer<u32>) -> BondedParticles<'a> {
    BondedParticles {
        count: &solid.phase.count,
        position: solid.predicted(),
        limit,
        id: solid.phase.id.front(),
    }
}
