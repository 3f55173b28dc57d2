//! Temperature of each particle: conduction by the kernels of the snow, and the shift of viscosity.

use super::parameters::{HeatParameters, Parameters};
use super::stress::Stress;
use crate::SolverError;
use crate::pbd::{Fluid, NO_FLAG};
use frazil_kernels::{Operation, ReductionF32};
use frazil_particles::{Column, Uses};
use frazil_shaders::snow::{conduct, correct_conduction};
use frazil_shaders::types::{Conduction, Correction};
use frazil_shaders::viscoelastic::shift_viscosity;
use frazil_vk::{Buffer, Device, Kernel, Pending, ReadbackRing, Recorder, Result};

/// Temperatures, and the kernels that change and apply them.
pub struct Heat {
    parameters: HeatParameters,
    /// In °C.
    pub temperature: Column<f32>,
    correction: Buffer<Correction>,
    correct: Kernel<correct_conduction::Interface>,
    conduct: Kernel<conduct::Interface>,
    shift: Kernel<shift_viscosity::Interface>,
    /// Sum, minimum and maximum of temperatures.
    reductions: [ReductionF32; 3],
    ring: ReadbackRing,
    n_particles: f64,
}

/// Temperatures that are being read back.
#[derive(Debug)]
pub struct PendingTemperatures {
    reduced: [Pending<f32>; 3],
    n_particles: f64,
}

impl Heat {
    pub(super) fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: HeatParameters,
        fluid: &mut Fluid,
    ) -> std::result::Result<Self, SolverError> {
        let capacity = fluid.count().capacity;
        let n = capacity as usize;
        let row_words = 0;
        let correct = correct_conduction::Specialization { workgroup_size, has_other: 0, row_words };
        let conduct = conduct::Specialization {
            workgroup_size,
            is_corrected: 1,
            has_other: 0,
            has_fixed_faces: u32::from(parameters.fixed_faces != 0),
            row_words,
        };
        let reduction = |operation| ReductionF32::new(device, operation, capacity);
        Ok(Self {
            parameters,
            temperature: fluid.table_mut().column("temperature", "°C", Uses::RECORDED.permuted(), &[])?,
            correction: device.buffer("conduction correction", n)?,
            correct: Kernel::specialized(device, &correct)?,
            conduct: Kernel::specialized(device, &conduct)?,
            shift: Kernel::specialized(device, &shift_viscosity::Specialization { workgroup_size })?,
            reductions: [
                reduction(Operation::Sum)?,
                reduction(Operation::Minimum)?,
                reduction(Operation::Maximum)?,
            ],
            ring: ReadbackRing::new(device),
            n_particles: f64::from(capacity),
        })
    }

    /// Records heat conduction over one step at predicted positions.
    pub(super) fn conduct(&mut self, recorder: &mut Recorder, fluid: &Fluid) {
        let count = &fluid.phase.count;
        let p = fluid.parameters();
        let conduction = Conduction {
            grid: fluid.grid().grid(),
            inverse_h: 1.0 / p.support_m,
            domain_min_m: p.walls.domain_min_m,
            domain_max_m: p.walls.domain_max_m,
            periodic: p.periodic,
            moment_scale: self.parameters.moment_scale,
            max_correction: self.parameters.max_correction,
        };
        // Without another phase, the buffers of this one stand in for those of the other, and the cells for
        // rows.
        let bindings = correct_conduction::Bindings {
            count,
            key: fluid.key(),
            cell_start: fluid.grid().cell_start(),
            predicted: fluid.predicted(),
            other_cell_start: fluid.grid().cell_start(),
            other_predicted: fluid.predicted(),
            correction: &self.correction,
            rows: fluid.key(),
        };
        let params =
            correct_conduction::Params { conduction, own_volume: 1.0, other_volume: 1.0, row_flag: NO_FLAG };
        recorder.dispatch_counted(&self.correct, bindings, params);
        let bindings = conduct::Bindings {
            count,
            key: fluid.key(),
            cell_start: fluid.grid().cell_start(),
            predicted: fluid.predicted(),
            temperature: self.temperature.front(),
            correction: &self.correction,
            other_cell_start: fluid.grid().cell_start(),
            other_predicted: fluid.predicted(),
            other_temperature: self.temperature.front(),
            other_correction: &self.correction,
            conducted: self.temperature.back(),
            rows: fluid.key(),
        };
        let [lower_c, upper_c] = self.parameters.face_c;
        let params = conduct::Params {
            conduction,
            heating: self.parameters.heating,
            own_w_m_k: self.parameters.conductivity_w_m_k,
            cross_w_m_k: 0.0,
            lower_c,
            upper_c,
            fixed_faces: self.parameters.fixed_faces,
            row_flag: NO_FLAG,
        };
        recorder.dispatch_counted(&self.conduct, bindings, params);
        self.temperature.swap();
    }

    /// Records the factors by which temperature multiplies viscosity, for the update of the stress.
    pub(super) fn shift(&self, recorder: &mut Recorder, fluid: &Fluid, stress: &Stress) {
        let count = &fluid.phase.count;
        let bindings = shift_viscosity::Bindings {
            count,
            temperature: self.temperature.front(),
            shape: stress.neighbourhood(),
        };
        let [min_shift, max_shift] = self.parameters.shifts;
        let params = shift_viscosity::Params {
            activation_k: self.parameters.activation_k,
            reference_c: self.parameters.reference_c,
            min_shift,
            max_shift,
        };
        recorder.dispatch_counted(&self.shift, bindings, params);
    }

    /// Adopts other parameters.
    pub(super) fn set_parameters(&mut self, parameters: &Parameters) {
        if let Some(heat) = parameters.heat {
            self.parameters = heat;
        }
    }

    /// Returns the constants that the kernels use.
    pub fn parameters(&self) -> &HeatParameters {
        &self.parameters
    }

    /// Records the sum and extremes of temperatures.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub(super) fn record_metrics(
        &self,
        recorder: &mut Recorder,
        fluid: &Fluid,
    ) -> std::result::Result<PendingTemperatures, SolverError> {
        let [sum, min, max] = &self.reductions;
        let mut reduced = |reduction: &ReductionF32| {
            let result = reduction.record(recorder, &fluid.phase.count, self.temperature.front())?;
            Ok::<_, SolverError>(self.ring.read(recorder, result, 1)?)
        };
        let reduced = [reduced(sum)?, reduced(min)?, reduced(max)?];
        Ok(PendingTemperatures { reduced, n_particles: self.n_particles })
    }
}

impl PendingTemperatures {
    /// Returns true if the result has arrived.
    pub(super) fn is_ready(&self) -> Result<bool> {
        for pending in &self.reduced {
            if !pending.is_ready()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for the mean, the lowest and the highest temperature in °C.
    pub(super) fn wait(self) -> Result<[f64; 3]> {
        let [sum, min, max] = self.reduced;
        let first = |pending: Pending<f32>| Ok::<_, frazil_vk::Error>(f64::from(pending.wait()?[0]));
        Ok([first(sum)? / self.n_particles.max(1.0), first(min)?, first(max)?])
    }
}
