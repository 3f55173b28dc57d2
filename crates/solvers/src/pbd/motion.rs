//! Passes common to all position-based phases, independent of their constraints: predict positions, update
//! and smooth velocities.

use super::parameters::Parameters;
use super::particles::Particles;
use super::smoothing::Smoothing;
use frazil_shaders::pbd::{integrate, predict, smooth_velocity, update_velocity};
use frazil_shaders::types::{Drain, FaultLimits};
use frazil_vk::{Buffer, Device, Kernel, Recorder, Result};

/// Kernels that move a phase.
pub(super) struct Motion {
    integrate: Kernel<integrate::Interface>,
    predict: Kernel<predict::Interface>,
    update_velocity: Kernel<update_velocity::Interface>,
    smooth_velocity: Kernel<smooth_velocity::Interface>,
}

/// Detection of faults of a phase.
pub(super) struct FaultDetection<'a> {
    /// Lowest index of a particle with each kind of fault.
    pub faulty: &'a Buffer<u32>,
    pub limits: FaultLimits,
}

impl Motion {
    /// Makes the kernels, for rows of so many words, 0 without.
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        row_words: u32,
    ) -> Result<Self> {
        let periodic = parameters.periodic;
        let has_face_friction = u32::from(parameters.face_friction != [[0.0; 3]; 2]);
        let has_drains = parameters.sources.has_drains().into();
        let integrate = integrate::Specialization { workgroup_size, periodic, has_drains };
        Ok(Self {
            integrate: Kernel::specialized(device, &integrate)?,
            predict: Kernel::specialized(device, &predict::Specialization { workgroup_size, periodic })?,
            update_velocity: Kernel::specialized(
                device,
                &update_velocity::Specialization { workgroup_size },
            )?,
            smooth_velocity: Kernel::specialized(
                device,
                &smooth_velocity::Specialization {
                    workgroup_size,
                    has_face_friction,
                    has_wall_xsph: u32::from(parameters.wall_xsph != 0.0),
                    has_images: u32::from(parameters.has_images),
                    periodic,
                    smoothing_kernel: parameters.kernel,
                    row_words,
                },
            )?,
        })
    }

    /// Records gravity, and the cells of the positions predicted after a time, or of those now; none of
    /// particles in drains.
    pub fn integrate(
        &self,
        recorder: &mut Recorder,
        particles: &Particles,
        parameters: &Parameters,
        drains: Option<&Buffer<Drain>>,
        [dt_s, move_s]: [f32; 2],
    ) {
        let no_drains = particles.residual.front().cast();
        let bindings = integrate::Bindings {
            count: &particles.phase.count,
            position: particles.position(),
            velocity: particles.velocity(),
            key: particles.key(),
            residual_m: particles.residual.front(),
            drain: drains.unwrap_or(&no_drains),
        };
        let n_cells = particles.grid().cells();
        let grid = particles.grid().grid();
        let Parameters { walls, gravity_m_s2, .. } = *parameters;
        let params = integrate::Params { grid, walls, gravity_m_s2, dt_s, move_s, n_cells };
        recorder.dispatch_counted(&self.integrate, bindings, params);
    }

    /// Records the prediction of positions.
    pub fn predict(
        &self,
        recorder: &mut Recorder,
        particles: &Particles,
        parameters: &Parameters,
        dt_s: f32,
    ) {
        let bindings = predict::Bindings {
            count: &particles.phase.count,
            position: particles.position(),
            velocity: particles.velocity(),
            predicted: particles.predicted(),
            residual_m: particles.residual.front(),
            next_residual_m: particles.residual.back(),
        };
        let params = predict::Params { walls: parameters.walls, dt_s };
        recorder.dispatch_counted(&self.predict, bindings, params);
    }

    /// Records the velocities after the constraints, into the back of the velocity column, and the detection
    /// of faults.
    pub fn update_velocity(
        &self,
        recorder: &mut Recorder,
        particles: &Particles,
        faults: &FaultDetection<'_>,
        dt_s: f32,
    ) {
        let bindings = update_velocity::Bindings {
            count: &particles.phase.count,
            position: particles.position(),
            predicted: particles.predicted(),
            velocity: particles.velocity(),
            updated: particles.updated(),
            density: particles.density(),
            faulty: faults.faulty,
            residual_m: particles.residual.front(),
            next_residual_m: particles.residual.back(),
        };
        let params = update_velocity::Params { dt_s, limits: faults.limits };
        recorder.dispatch_counted(&self.update_velocity, bindings, params);
    }

    /// Records XSPH between the neighbours in rows, and the drag of the domain's walls, at predicted
    /// positions into the velocities or, at the start of the step, from these into the updated ones.
    pub fn smooth_velocity(
        &self,
        recorder: &mut Recorder,
        particles: &Particles,
        rows: &Buffer<u32>,
        parameters: &Parameters,
        smoothing: Smoothing,
        is_at_start: bool,
    ) {
        let (before, after) = (particles.updated(), particles.velocity());
        let (updated, velocity) = if is_at_start { (after, before) } else { (before, after) };
        let bindings = smooth_velocity::Bindings {
            count: &particles.phase.count,
            key: particles.key(),
            cell_start: particles.grid().cell_start(),
            predicted: if is_at_start { particles.position() } else { particles.predicted() },
            updated,
            velocity,
            rows,
        };
        let params = smooth_velocity::Params {
            grid: particles.grid().grid(),
            walls: parameters.walls,
            support_m: parameters.support_m,
            volume_h3: parameters.volume_h3,
            xsph_viscosity: smoothing.xsph_viscosity,
            wall_friction: smoothing.wall_friction,
            viscosity_share: smoothing.viscosity_share,
            particles_h3: smoothing.particles_h3,
            lower_friction: smoothing.face_friction[0],
            upper_friction: smoothing.face_friction[1],
        };
        recorder.dispatch_counted(&self.smooth_velocity, bindings, params);
    }
}
