//! Passes common to all position-based phases, independent of their constraints: predict positions, update
//! and smooth velocities.

use super::neighbour_rows::PhaseCells;
use super::parameters::Parameters;
use frazil_particles::{Column, PhaseArray};
use frazil_shaders::pbd::{integrate, predict, smooth_velocity, update_velocity};
use frazil_shaders::types::{FaultLimits, Walls};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Result};

/// Kernels that move a phase.
pub(super) struct Motion {
    integrate: Kernel<integrate::Interface>,
    predict: Kernel<predict::Interface>,
    update_velocity: Kernel<update_velocity::Interface>,
    smooth_velocity: Kernel<smooth_velocity::Interface>,
    /// Stands for the compensation where there is none.
    no_compensation: Buffer<[f32; 3]>,
}

/// Detection of faults of a phase.
pub(super) struct FaultDetection<'a> {
    pub density: &'a Buffer<f32>,
    /// Lowest index of a particle with each kind of fault.
    pub faulty: &'a Buffer<u32>,
    pub limits: FaultLimits,
}

/// Predicted positions within a step.
#[derive(Clone, Copy)]
pub(super) struct Corrected<'a> {
    pub predicted: &'a Buffer<[f32; 3]>,
    /// Part of the corrections below the ulp of the predicted positions, if their sum is compensated.
    pub compensation: Option<&'a Buffer<[f32; 3]>>,
    /// Residuals of positions, and of predicted ones at the back.
    pub residual: &'a Column<[f32; 3]>,
}

/// Coefficients of XSPH and of the drag of walls.
#[derive(Clone, Copy, Default)]
pub(super) struct Smoothing {
    pub xsph_viscosity: f32,
    pub wall_friction: f32,
    pub wall_xsph: f32,
    pub viscosity_share: f32,
    pub viscous_wall_scale: f32,
    /// Difference of each lower and each upper face.
    pub face_friction: [[f32; 3]; 2],
}

impl Smoothing {
    /// Returns the coefficients of water.
    pub fn of_water(parameters: &Parameters) -> Self {
        let Parameters { xsph_viscosity, wall_friction, wall_xsph, face_friction, .. } = *parameters;
        let Parameters { viscosity_share, viscous_wall_scale, .. } = *parameters;
        Self { xsph_viscosity, wall_friction, wall_xsph, viscosity_share, viscous_wall_scale, face_friction }
    }
}

impl Motion {
    /// Makes the kernels, for rows of so many words, 0 without. With `is_compensated`, corrections are added
    /// to the predicted positions by a compensated sum.
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        row_words: u32,
        is_compensated: bool,
    ) -> Result<Self> {
        let is_compensated = is_compensated.into();
        let periodic = parameters.periodic;
        let has_face_friction = u32::from(parameters.face_friction != [[0.0; 3]; 2]);
        Ok(Self {
            integrate: Kernel::specialized(device, &integrate::Specialization { workgroup_size, periodic })?,
            predict: Kernel::specialized(
                device,
                &predict::Specialization { workgroup_size, periodic, is_compensated },
            )?,
            update_velocity: Kernel::specialized(
                device,
                &update_velocity::Specialization { workgroup_size, is_compensated },
            )?,
            smooth_velocity: Kernel::specialized(
                device,
                &smooth_velocity::Specialization {
                    workgroup_size,
                    has_face_friction,
                    smoothing_kernel: parameters.kernel,
                    row_words,
                },
            )?,
            no_compensation: device.buffer("no compensation", 1)?,
        })
    }

    /// Records gravity, and the cells of predicted positions.
    pub fn integrate(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        cells: PhaseCells<'_>,
        residual: &Column<[f32; 3]>,
        parameters: &Parameters,
        dt_s: f32,
    ) {
        let bindings = integrate::Bindings {
            count: cells.count,
            position: cells.position,
            velocity: phase.velocity.front(),
            key: cells.key,
            residual_m: residual.front(),
        };
        let grid = cells.grid.grid();
        let params =
            integrate::Params { grid, walls: parameters.walls, gravity_m_s2: parameters.gravity_m_s2, dt_s };
        recorder.dispatch_counted(&self.integrate, bindings, params);
    }

    /// Records the prediction of positions.
    pub fn predict(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        corrected: Corrected<'_>,
        walls: Walls,
        dt_s: f32,
    ) {
        let bindings = predict::Bindings {
            count: &phase.count,
            position: phase.position.front(),
            velocity: phase.velocity.front(),
            predicted: corrected.predicted,
            compensation: corrected.compensation.unwrap_or(&self.no_compensation),
            residual_m: corrected.residual.front(),
            next_residual_m: corrected.residual.back(),
        };
        let params = predict::Params { walls, dt_s };
        recorder.dispatch_counted(&self.predict, bindings, params);
    }

    /// Records the velocities after the constraints, into the back of the velocity column, and the detection
    /// of faults.
    pub fn update_velocity(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        corrected: Corrected<'_>,
        faults: &FaultDetection<'_>,
        dt_s: f32,
    ) {
        let bindings = update_velocity::Bindings {
            count: &phase.count,
            position: phase.position.front(),
            predicted: corrected.predicted,
            compensation: corrected.compensation.unwrap_or(&self.no_compensation),
            velocity: phase.velocity.front(),
            updated: phase.velocity.back(),
            density: faults.density,
            faulty: faults.faulty,
            residual_m: corrected.residual.front(),
            next_residual_m: corrected.residual.back(),
        };
        let params = update_velocity::Params { dt_s, limits: faults.limits };
        recorder.dispatch_counted(&self.update_velocity, bindings, params);
    }

    /// Records XSPH between the neighbours in rows, and the drag of the domain's walls.
    pub fn smooth_velocity(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        (cells, rows): (PhaseCells<'_>, &Buffer<u32>),
        parameters: &Parameters,
        smoothing: Smoothing,
    ) {
        let bindings = smooth_velocity::Bindings {
            count: &phase.count,
            key: cells.key,
            cell_start: cells.grid.cell_start(),
            predicted: cells.predicted,
            updated: phase.velocity.back(),
            velocity: phase.velocity.front(),
            rows,
        };
        let params = smooth_velocity::Params {
            grid: cells.grid.grid(),
            walls: parameters.walls,
            support_m: parameters.support_m,
            volume_h3: parameters.volume_h3,
            xsph_viscosity: smoothing.xsph_viscosity,
            wall_friction: smoothing.wall_friction,
            wall_xsph: smoothing.wall_xsph,
            viscosity_share: smoothing.viscosity_share,
            viscous_wall_scale: smoothing.viscous_wall_scale,
            lower_friction: smoothing.face_friction[0],
            upper_friction: smoothing.face_friction[1],
        };
        recorder.dispatch_counted(&self.smooth_velocity, bindings, params);
    }
}
