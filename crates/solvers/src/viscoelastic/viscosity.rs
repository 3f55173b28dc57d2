//! Implicit viscosity: (I − Δt/ρ ∇·2ηD) v = u by conjugate gradients, without the host.

use super::parameters::Parameters;
use super::stress::{Place, Residual, Stress, WallVelocities};
use crate::SolverError;
use crate::pbd::Fluid;
use frazil_kernels::{Operation, ReductionF32};
use frazil_particles::{Column, ColumnKind, PhaseArray, Uses};
use frazil_shaders::viscoelastic::{
    advance_direction, advance_velocity, begin_viscosity, end_viscosity, settle_viscosity,
};
use frazil_vk::{
    Buffer, Device, DeviceCount, DoubleBuffer, Kernel, LARGEST_TILE_LOG2, Pending, ReadbackRing, Recorder,
    Threads,
};

pub use frazil_shaders::types::ViscositySolve;

/// Column of a saved state that holds the scalars of the solve.
const STATUS_COLUMN: &str = "viscosity solve";

/// Vectors, scalars and kernels of the solve.
pub struct Viscosity {
    /// v − u of the last step.
    pub(super) impulse: Column<[f32; 3]>,
    status: Buffer<ViscositySolve>,
    active: DeviceCount,
    residual: Buffer<[f32; 3]>,
    direction: Buffer<[f32; 3]>,
    applied: Buffer<[f32; 3]>,
    products: [Buffer<f32>; 2],
    reductions: [ReductionF32; 2],
    begin: Kernel<begin_viscosity::Interface>,
    end: Kernel<end_viscosity::Interface>,
    advance_velocity: Kernel<advance_velocity::Interface>,
    advance_direction: Kernel<advance_direction::Interface>,
    settle: Kernel<settle_viscosity::Interface>,
    ring: ReadbackRing,
    tolerance: f32,
    max_iterations: u32,
    max_groups_x: u32,
}

impl Viscosity {
    pub(super) fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        fluid: &mut Fluid,
    ) -> Result<Self, SolverError> {
        let capacity = fluid.count().capacity;
        let n = capacity as usize;
        let table = fluid.table_mut();
        let impulse = Uses::STATE.permuted();
        let impulse = table.column("viscous impulse", "m/s", impulse, &vec![[0.0; 3]; n])?;
        let status = device.buffer_from("viscosity solve", &[bytemuck::Zeroable::zeroed()])?;
        table.array(STATUS_COLUMN, "1", ColumnKind::U32, DoubleBuffer::single(status.cast()));
        let begin = begin_viscosity::Specialization { workgroup_size };
        let end = end_viscosity::Specialization {
            workgroup_size,
            has_rows: (fluid.rows().slots() > 0).into(),
            periodic: fluid.parameters().periodic,
        };
        let advance_velocity = advance_velocity::Specialization { workgroup_size };
        let advance_direction = advance_direction::Specialization { workgroup_size };
        let reduction = || ReductionF32::new(device, Operation::Sum, capacity);
        Ok(Self {
            impulse,
            status,
            active: DeviceCount::new(device, "active particles of viscosity", capacity)?,
            residual: device.buffer("viscous residual", n)?,
            direction: device.buffer("viscous direction", n)?,
            applied: device.buffer("applied viscous direction", n)?,
            products: [device.buffer("products", n)?, device.buffer("reference", n)?],
            reductions: [reduction()?, reduction()?],
            begin: Kernel::specialized(device, &begin)?,
            end: Kernel::specialized(device, &end)?,
            advance_velocity: Kernel::specialized(device, &advance_velocity)?,
            advance_direction: Kernel::specialized(device, &advance_direction)?,
            settle: Kernel::specialized(device, &settle_viscosity::Specialization { workgroup_size: 32 })?,
            ring: ReadbackRing::new(device),
            tolerance: parameters.tolerance,
            max_iterations: parameters.max_iterations,
            max_groups_x: device.capabilities().max_groups_x,
        })
    }

    /// Adopts the bounds of other parameters.
    pub(super) fn set_parameters(&mut self, parameters: &Parameters) {
        self.tolerance = parameters.tolerance;
        self.max_iterations = parameters.max_iterations;
    }

    /// Records the start of a solve: velocities u + Δ, their residual and the first direction.
    pub(super) fn record_begin(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        stress: &Stress,
        place: &Place<'_>,
        wall_speed_m_s: f32,
    ) -> Result<(), SolverError> {
        let (velocity, updated) = (phase.velocity.front(), phase.velocity.back());
        self.settle(recorder, &phase.count, settle_viscosity::START);
        let bindings = begin_viscosity::Bindings {
            count: &phase.count,
            updated,
            impulse: self.impulse.front(),
            terms: &stress.terms,
            predicted: place.position(),
            velocity,
        };
        recorder.dispatch_counted(&self.begin, bindings, ());
        let walls = WallVelocities::OwnWithFaces { speed_m_s: wall_speed_m_s };
        stress.differentiate(recorder, &phase.count, place, (velocity, walls));
        let result =
            Residual { residual: &self.residual, direction: &self.direction, products: &self.products };
        let fields = (velocity, updated);
        stress.compute_residual(recorder, &phase.count, place, fields, &result, wall_speed_m_s);
        for (reduction, products) in self.reductions.iter().zip(&self.products) {
            reduction.record_if_any(recorder, &self.active, products)?;
        }
        self.settle(recorder, &phase.count, settle_viscosity::FIRST);
        Ok(())
    }

    /// Records one iteration.
    pub(super) fn record_iteration(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        stress: &Stress,
        place: &Place<'_>,
    ) -> Result<(), SolverError> {
        let active = &self.active;
        let [product, _] = &self.products;
        stress.differentiate(recorder, active, place, (&self.direction, WallVelocities::Zero));
        stress.apply_operator(recorder, active, place, &self.direction, (&self.applied, product));
        self.reductions[0].record_if_any(recorder, active, product)?;
        self.settle(recorder, &phase.count, settle_viscosity::STEP);
        let bindings = advance_velocity::Bindings {
            count: active,
            solve: &self.status,
            direction: &self.direction,
            applied: &self.applied,
            velocity: phase.velocity.front(),
            residual: &self.residual,
            product,
        };
        recorder.dispatch_counted(&self.advance_velocity, bindings, ());
        self.reductions[0].record_if_any(recorder, active, product)?;
        self.settle(recorder, &phase.count, settle_viscosity::NEXT);
        let bindings = advance_direction::Bindings {
            count: active,
            solve: &self.status,
            residual: &self.residual,
            direction: &self.direction,
        };
        recorder.dispatch_counted(&self.advance_direction, bindings, ());
        Ok(())
    }

    /// Records the end of a solve, which loads bodies and moves the predicted positions by its impulse.
    pub(super) fn record_end(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
        stress: &Stress,
        wall_speed_m_s: f32,
    ) {
        let (phase, rows) = (&fluid.phase, fluid.rows());
        if stress.has_body_walls() {
            let walls = WallVelocities::OwnWithFaces { speed_m_s: wall_speed_m_s };
            let field = (phase.velocity.front(), walls);
            stress.differentiate(recorder, &phase.count, &Place::at_start(fluid), field);
            stress.record_body_loads(recorder, fluid);
        }
        let bindings = end_viscosity::Bindings {
            count: &phase.count,
            updated: phase.velocity.back(),
            velocity: phase.velocity.front(),
            impulse: self.impulse.front(),
            predicted: fluid.predicted(),
            listed: rows.listed(0),
            rows: rows.buffer(0),
        };
        let p = fluid.parameters();
        let params = end_viscosity::Params {
            walls: p.walls,
            dt_s: p.dt_s,
            inverse_h: 1.0 / p.support_m,
            max_moved_q2: rows.max_moved_q2(),
        };
        recorder.dispatch_counted(&self.end, bindings, params);
    }

    fn settle(&self, recorder: &mut Recorder, count: &DeviceCount, what: u32) {
        let [first, second] = self.reductions.each_ref().map(ReductionF32::result);
        let bindings = settle_viscosity::Bindings {
            count,
            first,
            second,
            solve: &self.status,
            active_count: &self.active.count,
            args: &self.active.args,
        };
        let params = settle_viscosity::Params {
            what,
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
            max_groups_x: self.max_groups_x,
        };
        // Once no particle is active, there is nothing left to settle.
        let one = Threads::Tiles(&self.active, LARGEST_TILE_LOG2);
        let threads = if what == settle_viscosity::START { Threads::Fixed(1) } else { one };
        recorder.dispatch(&self.settle, threads, bindings, params);
    }

    /// Returns the scalars of the last solve, one element on the device.
    pub fn status(&self) -> &Buffer<ViscositySolve> {
        &self.status
    }

    /// Returns v − u of the last step in m/s.
    pub fn impulse(&self) -> &Buffer<[f32; 3]> {
        self.impulse.front()
    }

    /// Returns the residual in m/s.
    pub fn residual(&self) -> &Buffer<[f32; 3]> {
        &self.residual
    }

    /// Returns the direction of conjugate gradients.
    pub fn direction(&self) -> &Buffer<[f32; 3]> {
        &self.direction
    }

    /// Returns the operator applied to the last direction.
    pub fn applied(&self) -> &Buffer<[f32; 3]> {
        &self.applied
    }

    /// Records the read-back of the scalars.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub(super) fn record_status(
        &self,
        recorder: &mut Recorder,
    ) -> frazil_vk::Result<Pending<ViscositySolve>> {
        self.ring.read(recorder, &self.status, 1)
    }

    /// Returns a warning if the bound on iterations did not meet the tolerance in some steps.
    pub(super) fn warning(&self, status: &ViscositySolve) -> Option<String> {
        (status.n_unmet > 0).then(|| {
            format!(
                "{} of {} steps did not solve viscosity to viscoelastic.viscosity_tolerance = {} within \
                 viscoelastic.max_viscosity_iterations = {}; a smaller time.dt_s or more iterations help",
                status.n_unmet, status.n_steps, self.tolerance, self.max_iterations,
            )
        })
    }
}
