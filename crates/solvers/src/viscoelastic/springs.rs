//! Springs between particles with plastic rest lengths (Clavet2005 §4.2; Huang2016 algorithm 3).
//!
//! Springs are forces at the end of a step, not constraints on its positions: an impulse along the line
//! between both ends at x* conserves momentum and angular momentum to rounding, whereas a displacement ΔX of
//! constraints changes angular momentum by ΔX × v, and the iterations of compliant constraints dissipate like
//! implicit Euler and soften the springs that they do not converge for. As a leapfrog step the explicit
//! impulse keeps the energy of elastic waves. Where the springs of a particle are too stiff for the step,
//! both ends of a pair take the same smaller share of their stiffness (`apply_springs.comp`), so that the
//! step is stable for any k and Δt.

use super::parameters::SpringParameters;
use super::stress::Stress;
use crate::SolverError;
use crate::pbd::Fluid;
use frazil_kernels::{
    BOND_FAULTS, BondCapacity, BondColumn, BondSearch, BondedParticles, Builder, PairBonds,
};
use frazil_shaders::bond_rules::{mark_flowed_springs, update_plastic_springs};
use frazil_shaders::types::SpringTerms;
use frazil_shaders::viscoelastic::{apply_springs, bound_springs};
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result};

/// Rounds of building between the first positions, sufficient for any block of particles.
const FIRST_ROUNDS: u32 = 16;

/// Rounds of building in a step. One makes all springs of particles that have slots for all their neighbours.
const ROUNDS: u32 = 2;

/// Springs of a fluid, stored as bonds.
pub struct Springs {
    parameters: SpringParameters,
    bonds: PairBonds,
    /// Maximum number of springs of each particle.
    limit: Buffer<u32>,
    /// Bound of the stiffness at each particle in N/m.
    bound: Buffer<f32>,
    update: Kernel<update_plastic_springs::Interface>,
    mark: Kernel<mark_flowed_springs::Interface>,
    bound_springs: Kernel<bound_springs::Interface>,
    apply: Kernel<apply_springs::Interface>,
    ring: ReadbackRing,
}

/// Violations counted by a check, being read back; any is a bug in the engine.
#[derive(Debug)]
pub struct SpringCheck {
    faults: Pending<u32>,
}

impl SpringCheck {
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

/// Columns of rows: partners, rest lengths in m, and the number of springs of each particle.
pub(super) type SpringRows<'a> = (&'a Buffer<u32>, &'a Buffer<f32>, &'a Buffer<u32>);

/// Columns that stand for [`SpringRows`] in a fluid without springs.
pub(super) struct SpringColumns {
    word: Buffer<u32>,
    rest_length_m: Buffer<f32>,
}

impl SpringColumns {
    pub fn none(device: &Device) -> Result<Self> {
        let (word, rest_length_m) = (device.buffer("no springs", 0)?, device.buffer("no rest lengths", 0)?);
        Ok(Self { word, rest_length_m })
    }

    pub fn rows(&self) -> SpringRows<'_> {
        (&self.word, &self.rest_length_m, &self.word)
    }
}

impl Springs {
    pub(super) fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: SpringParameters,
        capacity: u32,
    ) -> std::result::Result<Self, SolverError> {
        // The state that update_plastic_springs.comp declares; fixed springs have none.
        let plastic = [BondColumn::f32("plastic_change", "m", 0.0), BondColumn::u32("age", "1", 0)];
        let columns = if parameters.is_fixed { &[][..] } else { &plastic };
        // The capacity is the maximum that a build makes: none needs more slots.
        let rows = BondCapacity { particles: capacity, slots: parameters.slots };
        let limit = vec![parameters.slots; capacity as usize];
        let update = update_plastic_springs::Specialization { workgroup_size };
        let mark = mark_flowed_springs::Specialization { workgroup_size };
        let bound = bound_springs::Specialization { workgroup_size };
        let apply = apply_springs::Specialization { workgroup_size };
        Ok(Self {
            bonds: PairBonds::with_workgroup_size(device, rows, columns, workgroup_size)?,
            limit: device.buffer_from("spring limit", &limit)?,
            bound: device.buffer("spring bound", capacity as usize)?,
            update: Kernel::specialized(device, &update)?,
            mark: Kernel::specialized(device, &mark)?,
            bound_springs: Kernel::specialized(device, &bound)?,
            apply: Kernel::specialized(device, &apply)?,
            ring: ReadbackRing::new(device),
            parameters,
        })
    }

    /// Returns the parameters that the kernels use.
    pub fn parameters(&self) -> &SpringParameters {
        &self.parameters
    }

    /// Returns the table of springs.
    pub fn bonds(&self) -> &PairBonds {
        &self.bonds
    }

    /// Returns the bound of the stiffness at each particle in N/m, as of the last step.
    pub fn bound_n_m(&self) -> &Buffer<f32> {
        &self.bound
    }

    pub(super) fn set_parameters(&mut self, parameters: SpringParameters) {
        self.parameters = parameters;
    }

    pub(super) fn rows(&self) -> SpringRows<'_> {
        (self.bonds.partner(), self.bonds.rest_length_m(), self.bonds.degree())
    }

    /// Returns the constants of kernels that read springs.
    pub(super) fn terms(&self) -> SpringTerms {
        let SpringParameters { stiffness_n_m, support_m, .. } = self.parameters;
        SpringTerms { table: self.bonds.table(), stiffness_n_m, support_m }
    }

    /// Records the springs between the first positions.
    pub(super) fn build_first(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
    ) -> std::result::Result<(), SolverError> {
        self.build_at(recorder, fluid, fluid.position(), FIRST_ROUNDS)
    }

    /// Records the springs between neighbours at the predicted positions that have none.
    pub(super) fn build(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
    ) -> std::result::Result<(), SolverError> {
        self.build_at(recorder, fluid, fluid.predicted(), ROUNDS)
    }

    fn build_at(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
        position: &Buffer<[f32; 3]>,
        rounds: u32,
    ) -> std::result::Result<(), SolverError> {
        let search = BondSearch { radius_m: self.parameters.reach_m, max_bonds: self.parameters.slots };
        let particles =
            BondedParticles { count: fluid.count(), position, limit: &self.limit, id: fluid.id() };
        let builder = Builder::Reproducible { rounds };
        Ok(self.bonds.record_build(recorder, fluid.grid(), fluid.key(), particles, builder, &search)?)
    }

    /// Records the move of rows with their particles.
    pub(super) fn remap(
        &mut self,
        recorder: &mut Recorder,
        fluid: &Fluid,
    ) -> std::result::Result<(), SolverError> {
        Ok(self.bonds.record_remap(recorder, fluid.count(), fluid.order())?)
    }

    /// Records the flow of rest lengths: L ← L ± (1 − e^(−αΔt))(|r − L| − γL), which is exact for α at
    /// constant r.
    pub(super) fn update(&self, recorder: &mut Recorder, fluid: &Fluid) {
        let bindings = update_plastic_springs::Bindings {
            count: fluid.count(),
            partner: self.bonds.partner(),
            degree: self.bonds.degree(),
            position: fluid.predicted(),
            rest_length_m: self.bonds.rest_length_m(),
            state: self.bonds.state(),
        };
        let params = update_plastic_springs::Params {
            table: self.bonds.table(),
            plasticity_dt: self.parameters.flow_share,
            yield_ratio: self.parameters.yield_strain,
        };
        recorder.dispatch_counted(&self.update, bindings, params);
    }

    /// Records the end of springs whose rest length exceeds the support radius.
    pub(super) fn break_some(
        &mut self,
        recorder: &mut Recorder,
        fluid: &Fluid,
    ) -> std::result::Result<(), SolverError> {
        let bindings = mark_flowed_springs::Bindings {
            count: fluid.count(),
            limit: &self.limit,
            id: fluid.id(),
            partner: self.bonds.partner(),
            rest_length_m: self.bonds.rest_length_m(),
            degree: self.bonds.degree(),
            keep_mask: self.bonds.keep_mask(),
        };
        let params = mark_flowed_springs::Params {
            table: self.bonds.table(),
            max_bonds: self.parameters.slots,
            max_rest_m: self.parameters.support_m,
        };
        recorder.dispatch_counted(&self.mark, bindings, params);
        Ok(self.bonds.record_remove(recorder, fluid.count())?)
    }

    /// Records the impulse of springs on velocities, and adds their stress.
    pub(super) fn apply(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
        stress: &Stress,
        velocity: &Buffer<[f32; 3]>,
    ) {
        let (partner, rest_length_m, degree) = self.rows();
        let bindings = bound_springs::Bindings {
            count: fluid.count(),
            predicted: fluid.predicted(),
            partner,
            rest_length_m,
            degree,
            bound_n_m: &self.bound,
        };
        let params = bound_springs::Params { terms: self.terms() };
        recorder.dispatch_counted(&self.bound_springs, bindings, params);
        let bindings = apply_springs::Bindings {
            count: fluid.count(),
            predicted: fluid.predicted(),
            partner,
            rest_length_m,
            degree,
            bound_n_m: &self.bound,
            updated: velocity,
            stress: stress.stress_pa(),
        };
        let params = apply_springs::Params {
            terms: self.terms(),
            max_bound_n_m: self.parameters.max_bound_n_m,
            dt_per_mass: self.parameters.dt_per_mass,
            half_per_volume: self.parameters.half_per_volume,
        };
        recorder.dispatch_counted(&self.apply, bindings, params);
    }

    /// Records the count of violations of the table's invariants.
    pub(super) fn check(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
    ) -> std::result::Result<SpringCheck, SolverError> {
        let SpringParameters { slots, support_m, .. } = self.parameters;
        self.bonds.record_check(recorder, fluid.count(), &self.limit, slots, support_m)?;
        Ok(SpringCheck { faults: self.ring.read(recorder, self.bonds.faults(), BOND_FAULTS.len())? })
    }
}
