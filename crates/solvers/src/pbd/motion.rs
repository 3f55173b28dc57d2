//! What every position-based step does to a phase, whatever its constraints: predict, take velocities, smooth them.

use super::parameters::Parameters;
use frazil_kernels::UniformGrid;
use frazil_particles::PhaseArray;
use frazil_shaders::pbd::{integrate, predict, smooth_velocity, update_velocity};
use frazil_shaders::types::{Grid, Walls};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Result, Threads};

/// The kernels that move a phase.
pub(super) struct Motion {
    integrate: Kernel<integrate::Interface>,
    predict: Kernel<predict::Interface>,
    update_velocity: Kernel<update_velocity::Interface>,
    smooth_velocity: Kernel<smooth_velocity::Interface>,
}

/// Where the particles of a phase are within a step.
pub(super) struct Place<'a> {
    pub key: &'a Buffer<u32>,
    pub predicted: &'a Buffer<[f32; 3]>,
    pub grid: &'a UniformGrid,
}

impl Motion {
    pub fn new(device: &Device, workgroup_size: u32) -> Result<Self> {
        Ok(Self {
            integrate: Kernel::specialized(device, &integrate::Specialization { workgroup_size })?,
            predict: Kernel::specialized(device, &predict::Specialization { workgroup_size })?,
            update_velocity: Kernel::specialized(
                device,
                &update_velocity::Specialization { workgroup_size },
            )?,
            smooth_velocity: Kernel::specialized(
                device,
                &smooth_velocity::Specialization { workgroup_size },
            )?,
        })
    }

    /// Gravity, and the cells of the positions to come.
    pub fn integrate(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        key: &Buffer<u32>,
        grid: Grid,
        parameters: &Parameters,
        dt_s: f32,
    ) {
        let bindings = integrate::Bindings {
            count: &phase.count.count,
            position: phase.position.front(),
            velocity: phase.velocity.front(),
            key,
        };
        let params =
            integrate::Params { grid, walls: parameters.walls, gravity_m_s2: parameters.gravity_m_s2, dt_s };
        recorder.dispatch(&self.integrate, Threads::Counted(&phase.count), bindings, params);
    }

    /// Predicted positions.
    pub fn predict(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        predicted: &Buffer<[f32; 3]>,
        walls: Walls,
        dt_s: f32,
    ) {
        let bindings = predict::Bindings {
            count: &phase.count.count,
            position: phase.position.front(),
            velocity: phase.velocity.front(),
            predicted,
        };
        let params = predict::Params { walls, dt_s };
        recorder.dispatch(&self.predict, Threads::Counted(&phase.count), bindings, params);
    }

    /// Velocities after the constraints, into the back of the velocity column.
    pub fn update_velocity(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        predicted: &Buffer<[f32; 3]>,
        dt_s: f32,
    ) {
        let bindings = update_velocity::Bindings {
            count: &phase.count.count,
            position: phase.position.front(),
            predicted,
            velocity: phase.velocity.front(),
            updated: phase.velocity.back(),
        };
        let params = update_velocity::Params { dt_s };
        recorder.dispatch(&self.update_velocity, Threads::Counted(&phase.count), bindings, params);
    }

    /// XSPH with the viscosity `c`, and the drag of walls if they drag.
    pub fn smooth_velocity(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        place: Place<'_>,
        parameters: &Parameters,
        (xsph_viscosity, is_dragged): (f32, bool),
    ) {
        let bindings = smooth_velocity::Bindings {
            count: &phase.count.count,
            key: place.key,
            cell_start: place.grid.cell_start(),
            predicted: place.predicted,
            updated: phase.velocity.back(),
            velocity: phase.velocity.front(),
        };
        let (wall_friction, [lower_friction, upper_friction]) = if is_dragged {
            (parameters.wall_friction, parameters.face_friction)
        } else {
            (0.0, [[0.0; 3]; 2])
        };
        let params = smooth_velocity::Params {
            grid: place.grid.grid(),
            walls: parameters.walls,
            support_m: parameters.support_m,
            volume_h3: parameters.volume_h3,
            xsph_viscosity,
            wall_friction,
            lower_friction,
            upper_friction,
        };
        recorder.dispatch(&self.smooth_velocity, Threads::Counted(&phase.count), bindings, params);
    }
}
