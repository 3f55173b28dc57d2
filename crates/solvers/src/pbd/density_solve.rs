//! Solution of the density constraint to a tolerance, without the host: multipliers kept between steps, and
//! the decision on the device to end the iterations of a step.

use super::parameters::Parameters;
use crate::SolverError;
use crate::clock::Clock;
use frazil_kernels::{Operation, ReductionF32};
use frazil_particles::{Column, ColumnKind, ParticleTable, Uses};
use frazil_shaders::pbd::{begin_density_solve, check_density, scale_multiplier};
use frazil_shaders::types::StepClock;
use frazil_vk::{
    Buffer, Device, DeviceCount, DoubleBuffer, Kernel, LARGEST_TILE_LOG2, Pending, ReadbackRing, Recorder,
    Threads,
};

pub use frazil_shaders::types::{DensityStatus, SolveMomentum};

/// Share of the last step's multipliers with which a step begins. With all of it, a step whose error is
/// already within the tolerance repeats the pressure of the last, and the surface of a resting column
/// bounces; half is the value of the warm start in SPlisHSPlasH (Bender2015).
const WARM_START: f32 = 0.5;

/// Column of a saved state that holds the status.
const STATUS_COLUMN: &str = "density status";

/// Buffers and kernels of the adaptive density solve.
pub struct DensitySolve {
    /// λ of each particle, summed over the iterations of the last step.
    pub(super) multiplier: Column<f32>,
    /// max(ρ/ρ₀ − 1, 0) of each particle; before the iterations of a projection, its motion Δt u/h.
    pub(super) excess: Buffer<f32>,
    /// All particles during the solve, none once it has ended.
    pub(super) active: DeviceCount,
    /// Progress, one element.
    status: Buffer<DensityStatus>,
    /// Acceleration of the projection, one element.
    momentum: Buffer<SolveMomentum>,
    clock: Buffer<StepClock>,
    reduction: ReductionF32,
    begin: Kernel<begin_density_solve::Interface>,
    check: Kernel<check_density::Interface>,
    scale: Kernel<scale_multiplier::Interface>,
    ring: ReadbackRing,
    tolerance: f32,
    /// Mean error of a state that has diverged.
    max_error: f32,
    iterations: [u32; 2],
    max_groups_x: u32,
}

/// What a check of the error decides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    /// Begins a solve to the tolerance.
    First,
    /// Begins one to the tolerance of the motion, which is summed.
    FirstWithMotion,
    /// Ends it if the error is within the tolerance after this number of corrections.
    After(u32),
}

impl DensitySolve {
    pub(super) fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        clock: &Clock,
        table: &mut ParticleTable,
    ) -> std::result::Result<Self, SolverError> {
        let capacity = table.count().capacity;
        let n = capacity as usize;
        let status = device.buffer_from("density status", &[bytemuck::Zeroable::zeroed()])?;
        table.array(STATUS_COLUMN, "1", ColumnKind::U32, DoubleBuffer::single(status.cast()));
        let begin = begin_density_solve::Specialization { workgroup_size };
        let has_momentum = parameters.is_projection.into();
        let check = check_density::Specialization { workgroup_size: 32, has_momentum };
        Ok(Self {
            multiplier: table.column("lambda", "1", Uses::STATE.permuted().shown(), &vec![0.0; n])?,
            excess: device.buffer_from("excess density", &vec![0.0; n])?,
            active: DeviceCount::new(device, "active particles", capacity)?,
            status,
            reduction: ReductionF32::new(device, Operation::Sum, capacity)?,
            begin: Kernel::specialized(device, &begin)?,
            check: Kernel::specialized(device, &check)?,
            scale: Kernel::specialized(device, &scale_multiplier::Specialization { workgroup_size })?,
            momentum: device.buffer_from("momentum", &[bytemuck::Zeroable::zeroed()])?,
            clock: clock.buffer().clone(),
            ring: ReadbackRing::new(device),
            tolerance: parameters.density_tolerance,
            max_error: parameters.max_density_error(),
            iterations: [parameters.iterations, parameters.max_iterations],
            max_groups_x: device.capabilities().max_groups_x,
        })
    }

    /// Adopts the tolerance and the bounds on iterations.
    pub(super) fn set_parameters(&mut self, parameters: &Parameters) {
        self.tolerance = parameters.density_tolerance;
        self.max_error = parameters.max_density_error();
        self.iterations = [parameters.iterations, parameters.max_iterations];
    }

    /// Records the scaling of the multipliers from which the next step begins.
    pub(super) fn record_scale(&self, recorder: &mut Recorder, count: &DeviceCount, factor: f32) {
        let bindings = scale_multiplier::Bindings { count, multiplier: self.multiplier.front() };
        recorder.dispatch_counted(&self.scale, bindings, scale_multiplier::Params { factor });
    }

    /// Records the beginning of the iterations of a projection, from the motion of each particle in the place
    /// of its excess: all particles are active.
    pub(super) fn record_activation(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
    ) -> std::result::Result<(), SolverError> {
        self.reduction.record_if_any(recorder, count, &self.excess)?;
        self.dispatch_check(recorder, count, Check::FirstWithMotion);
        Ok(())
    }

    /// Records the beginning of a step's solve.
    pub(super) fn record_begin(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        predicted: &Buffer<[f32; 3]>,
        constraint: &Buffer<[f32; 4]>,
    ) {
        self.dispatch_check(recorder, count, Check::First);
        let bindings = begin_density_solve::Bindings {
            count,
            predicted,
            multiplier: self.multiplier.front(),
            constraint,
        };
        let params = begin_density_solve::Params { share: WARM_START };
        recorder.dispatch_counted(&self.begin, bindings, params);
    }

    /// Records the decision to end the solve after this number of corrections.
    pub(super) fn record_check(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        iteration: u32,
    ) -> std::result::Result<(), SolverError> {
        self.reduction.record_if_any(recorder, &self.active, &self.excess)?;
        self.dispatch_check(recorder, count, Check::After(iteration));
        Ok(())
    }

    fn dispatch_check(&self, recorder: &mut Recorder, count: &DeviceCount, check: Check) {
        let is_first = !matches!(check, Check::After(_));
        let iteration = if let Check::After(n) = check { n } else { 0 };
        let bindings = check_density::Bindings {
            count,
            total: self.reduction.result(),
            status: &self.status,
            active_count: &self.active.count,
            args: &self.active.args,
            momentum: &self.momentum,
            clock: &self.clock,
        };
        let [min_iterations, max_iterations] = self.iterations;
        let params = check_density::Params {
            is_first: is_first.into(),
            has_motion: (check == Check::FirstWithMotion).into(),
            iteration,
            min_iterations,
            max_iterations,
            tolerance: self.tolerance,
            max_error: self.max_error,
            max_groups_x: self.max_groups_x,
        };
        // Once no particle is active, there is nothing left to decide.
        let one = Threads::Tiles(&self.active, LARGEST_TILE_LOG2);
        recorder.dispatch(&self.check, if is_first { Threads::Fixed(1) } else { one }, bindings, params);
    }

    /// Returns the progress of the solve, one element on the device.
    pub fn status(&self) -> &Buffer<DensityStatus> {
        &self.status
    }

    /// Returns the acceleration of the projection, one element on the device; scratch between steps.
    pub fn momentum(&self) -> &Buffer<SolveMomentum> {
        &self.momentum
    }

    /// Returns true if the density is solved to a tolerance.
    pub fn is_adaptive(&self) -> bool {
        self.tolerance > 0.0
    }

    /// Records the read-back of the progress.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub(super) fn record_status(&self, recorder: &mut Recorder) -> frazil_vk::Result<Pending<DensityStatus>> {
        self.ring.read(recorder, &self.status, 1)
    }

    /// Returns a warning if the bound on iterations did not meet the tolerance in some steps.
    pub(super) fn warning(&self, status: &DensityStatus) -> Option<String> {
        (status.n_unmet > 0).then(|| {
            format!(
                "{} of {} steps left a larger density error than pbd.density_tolerance = {} after \
                 pbd.max_iterations = {}: at most {:.2e}, in step {}; a smaller time.dt_s or more \
                 iterations help",
                status.n_unmet,
                status.n_steps,
                self.tolerance,
                self.iterations[1],
                status.worst_error,
                status.worst_step
            )
        })
    }

    /// Returns λ of each particle.
    pub fn multiplier(&self) -> &Buffer<f32> {
        self.multiplier.front()
    }

    /// Returns the error max(ρ/ρ₀ − 1, 0) of each particle; scratch between steps.
    pub fn excess(&self) -> &Buffer<f32> {
        &self.excess
    }

    /// Forgets all steps so far. Set-up only: waits for the device.
    pub(super) fn reset(&self, device: &Device) -> frazil_vk::Result<()> {
        let n = self.multiplier.front().len();
        device.upload(self.multiplier.front(), &vec![0.0; n])?;
        device.upload(&self.status, &[bytemuck::Zeroable::zeroed()])
    }
}
