//! The rules of `glsl/bond_rules`: what a user of bonds records with them.

use frazil_kernels::{BondedParticles, PairBonds};
use frazil_reference::bonds::{FreezeRule, SpringSolve};
use frazil_shaders::bond_rules::{
    mark_broken_freeze_bonds, mark_flowed_springs, mark_long_springs, solve_springs, update_freeze_bonds,
    update_plastic_springs,
};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Result};

/// Kernels of plastic springs, whose state begins with (plastic change of length, age).
pub struct SpringRules {
    solve: Kernel<solve_springs::Interface>,
    update: Kernel<update_plastic_springs::Interface>,
    mark: Kernel<mark_long_springs::Interface>,
    mark_flowed: Kernel<mark_flowed_springs::Interface>,
}

impl SpringRules {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// The device refuses.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            solve: Kernel::new(device)?,
            update: Kernel::new(device)?,
            mark: Kernel::new(device)?,
            mark_flowed: Kernel::new(device)?,
        })
    }

    /// Records the displacements by springs as compliant constraints.
    pub fn record_solve(
        &self,
        recorder: &mut Recorder,
        bonds: &PairBonds,
        particles: BondedParticles<'_>,
        solve: &SpringSolve,
        displacement: &Buffer<[f32; 3]>,
    ) {
        let bindings = solve_springs::Bindings {
            count: particles.count,
            position: particles.position,
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            state: bonds.state(),
            displacement,
        };
        let params = solve_springs::Params {
            table: bonds.table(),
            multiplier_column: solve.multiplier_column as u32,
            is_first: solve.is_first.into(),
            gain: solve.gain,
            compliance_dt2: solve.compliance_dt2,
            inverse_mass: solve.inverse_mass,
        };
        recorder.dispatch_counted(&self.solve, bindings, params);
    }

    /// Records the plastic flow of springs.
    pub fn record_flow(
        &self,
        recorder: &mut Recorder,
        bonds: &PairBonds,
        particles: BondedParticles<'_>,
        plasticity_dt: f32,
        yield_ratio: f32,
    ) {
        let bindings = update_plastic_springs::Bindings {
            count: particles.count,
            partner: bonds.partner(),
            degree: bonds.degree(),
            position: particles.position,
            rest_length_m: bonds.rest_length_m(),
            state: bonds.state(),
        };
        let params = update_plastic_springs::Params { table: bonds.table(), plasticity_dt, yield_ratio };
        recorder.dispatch_counted(&self.update, bindings, params);
    }

    /// Records the keep mask that rejects springs longer than `max_length_m`, and those beyond `max_bonds`.
    pub fn record_mark_long(
        &self,
        recorder: &mut Recorder,
        bonds: &PairBonds,
        particles: BondedParticles<'_>,
        max_bonds: u32,
        max_length_m: f32,
    ) {
        let bindings = mark_long_springs::Bindings {
            count: particles.count,
            limit: particles.limit,
            id: particles.id,
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            keep_mask: bonds.keep_mask(),
            position: particles.position,
        };
        let params = mark_long_springs::Params { table: bonds.table(), max_bonds, max_length_m };
        recorder.dispatch_counted(&self.mark, bindings, params);
    }

    /// Records the keep mask that rejects springs whose rest length exceeds `max_rest_m`, and those beyond
    /// `max_bonds`.
    pub fn record_mark_flowed(
        &self,
        recorder: &mut Recorder,
        bonds: &PairBonds,
        particles: BondedParticles<'_>,
        max_bonds: u32,
        max_rest_m: f32,
    ) {
        let bindings = mark_flowed_springs::Bindings {
            count: particles.count,
            limit: particles.limit,
            id: particles.id,
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            keep_mask: bonds.keep_mask(),
        };
        let params = mark_flowed_springs::Params { table: bonds.table(), max_bonds, max_rest_m };
        recorder.dispatch_counted(&self.mark_flowed, bindings, params);
    }
}

/// Kernels of contacts that freeze, whose state is (whether frozen, time of slow motion).
pub struct FreezeRules {
    update: Kernel<update_freeze_bonds::Interface>,
    mark: Kernel<mark_broken_freeze_bonds::Interface>,
}

impl FreezeRules {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// The device refuses.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self { update: Kernel::new(device)?, mark: Kernel::new(device)? })
    }

    /// Records the freezing of contacts that have been slow for long enough.
    pub fn record_update(
        &self,
        recorder: &mut Recorder,
        bonds: &PairBonds,
        particles: BondedParticles<'_>,
        velocity: &Buffer<[f32; 3]>,
        rule: &FreezeRule,
    ) {
        let bindings = update_freeze_bonds::Bindings {
            count: particles.count,
            partner: bonds.partner(),
            degree: bonds.degree(),
            velocity,
            state: bonds.state(),
        };
        let FreezeRule { dt_s, slow_m_s, freeze_after_s, .. } = *rule;
        let params = update_freeze_bonds::Params { table: bonds.table(), dt_s, slow_m_s, freeze_after_s };
        recorder.dispatch_counted(&self.update, bindings, params);
    }

    /// Records the keep mask that rejects contacts that have parted, and overstretched frozen bonds.
    pub fn record_mark_broken(
        &self,
        recorder: &mut Recorder,
        bonds: &PairBonds,
        particles: BondedParticles<'_>,
        max_bonds: u32,
        rule: &FreezeRule,
    ) {
        let bindings = mark_broken_freeze_bonds::Bindings {
            count: particles.count,
            limit: particles.limit,
            id: particles.id,
            partner: bonds.partner(),
            rest_length_m: bonds.rest_length_m(),
            degree: bonds.degree(),
            keep_mask: bonds.keep_mask(),
            position: particles.position,
            state: bonds.state(),
        };
        let FreezeRule { contact_m, break_ratio, .. } = *rule;
        let params =
            mark_broken_freeze_bonds::Params { table: bonds.table(), max_bonds, contact_m, break_ratio };
        recorder.dispatch_counted(&self.mark, bindings, params);
    }
}
