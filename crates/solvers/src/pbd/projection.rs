//! Projection of velocities to those that keep the density, at fixed positions: pressure as the solution of a
//! linear complementarity problem, by an accelerated projected gradient.

use super::density_solve::DensitySolve;
use super::neighbour_rows::NeighbourRows;
use super::parameters::Parameters;
use super::particles::Particles;
use frazil_shaders::pbd::{accelerate_by_pressure, begin_projection, update_pressure};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result};

/// Buffers and kernels of the projection.
pub struct Projection {
    /// Predicted density constraint of each particle, and the reciprocal of what its own multiplier changes.
    source: Buffer<[f32; 2]>,
    /// Change of velocities by the pressure of an iteration, in h/Δt.
    acceleration: Buffer<[f32; 3]>,
}

/// Kernels of the projection, for the parameters of a scene.
pub(super) struct ProjectionKernels {
    begin: Kernel<begin_projection::Interface>,
    accelerate: Kernel<accelerate_by_pressure::Interface>,
    apply: Kernel<accelerate_by_pressure::Interface>,
    update: Kernel<update_pressure::Interface>,
}

impl ProjectionKernels {
    pub fn new(device: &Device, workgroup_size: u32, p: &Parameters, row_words: u32) -> Result<Self> {
        let (has_bodies, has_images) = (p.has_bodies().into(), u32::from(p.has_images));
        let (periodic, smoothing_kernel) = (p.periodic, p.kernel);
        let has_emitters = p.sources.has_emitters().into();
        let accelerate = |is_last: bool| {
            let constants = accelerate_by_pressure::Specialization {
                workgroup_size,
                has_bodies,
                has_images,
                periodic,
                smoothing_kernel,
                is_last: is_last.into(),
                has_emitters,
                row_words,
            };
            Kernel::specialized(device, &constants)
        };
        let begin = begin_projection::Specialization {
            workgroup_size,
            has_bodies,
            has_images,
            periodic,
            smoothing_kernel,
            has_emitters,
            row_words,
        };
        let update = update_pressure::Specialization {
            workgroup_size,
            has_bodies,
            has_images,
            periodic,
            smoothing_kernel,
            row_words,
        };
        Ok(Self {
            begin: Kernel::specialized(device, &begin)?,
            accelerate: accelerate(false)?,
            apply: accelerate(true)?,
            update: Kernel::specialized(device, &update)?,
        })
    }
}

/// Inputs of the passes of the projection, besides its own buffers.
#[derive(Clone, Copy)]
pub(super) struct ProjectionStep<'a> {
    pub kernels: &'a ProjectionKernels,
    pub particles: &'a Particles,
    pub solve: &'a DensitySolve,
    pub rows: &'a NeighbourRows,
    pub parameters: &'a Parameters,
    /// 1 for particles that nothing accelerates; read only in scenes with emitters.
    pub held: &'a Buffer<u32>,
}

impl Projection {
    pub(super) fn new(device: &Device, capacity: u32) -> Result<Self> {
        let n = capacity as usize;
        Ok(Self { source: device.buffer("source", n)?, acceleration: device.buffer("acceleration", n)? })
    }

    /// Returns the predicted density constraint of each particle, and the reciprocal of what its own
    /// multiplier changes; scratch between steps.
    pub fn source(&self) -> &Buffer<[f32; 2]> {
        &self.source
    }

    /// Returns the change of velocities by the pressure, in h/Δt; scratch between steps.
    pub fn acceleration(&self) -> &Buffer<[f32; 3]> {
        &self.acceleration
    }

    /// Records the prediction of the density constraint, and the start from the pressure of the last step.
    pub(super) fn record_begin(&self, recorder: &mut Recorder, step: ProjectionStep<'_>) {
        let ProjectionStep { kernels, particles, solve, rows, parameters: p, held } = step;
        let bindings = begin_projection::Bindings {
            count: &particles.phase.count,
            key: particles.key(),
            cell_start: particles.grid().cell_start(),
            position: particles.position(),
            velocity: particles.velocity(),
            boundary_density: &particles.interaction.boundary_density,
            boundary_rate_m_s: &particles.interaction.boundary_rate,
            multiplier: solve.multiplier(),
            constraint: &particles.constraint,
            source: &self.source,
            density: &particles.density,
            rows: rows.buffer(0),
            motion: &solve.excess,
            held,
        };
        let params = begin_projection::Params {
            grid: particles.grid().grid(),
            walls: p.walls,
            support_m: p.support_m,
            volume_h3: p.volume_h3,
            rest_density_kg_m3: p.rest_density_kg_m3,
            relaxation: p.relaxation,
            dt_s: p.dt_s,
            excess_share: p.excess_share,
            deficit_share: p.deficit_share,
        };
        recorder.dispatch_counted(&kernels.begin, bindings, params);
    }

    /// Records the change of velocities by the extrapolated pressure, or that of velocities themselves by the
    /// last one.
    pub(super) fn record_acceleration(
        &self,
        recorder: &mut Recorder,
        step: ProjectionStep<'_>,
        count: &DeviceCount,
        is_last: bool,
    ) {
        let ProjectionStep { kernels, particles, solve, rows, parameters: p, held } = step;
        let bindings = accelerate_by_pressure::Bindings {
            count,
            key: particles.key(),
            cell_start: particles.grid().cell_start(),
            constraint: &particles.constraint,
            multiplier: solve.multiplier(),
            boundary_density: &particles.interaction.boundary_density,
            acceleration: &self.acceleration,
            velocity: particles.velocity(),
            rows: rows.buffer(0),
            contact: &particles.interaction.contact,
            held,
        };
        let params = accelerate_by_pressure::Params {
            grid: particles.grid().grid(),
            walls: p.walls,
            support_m: p.support_m,
            volume_h3: p.volume_h3,
            dt_s: p.dt_s,
        };
        let kernel = if is_last { &kernels.apply } else { &kernels.accelerate };
        recorder.dispatch_counted(kernel, bindings, params);
    }

    /// Records an update of the pressure.
    pub(super) fn record_update(&self, recorder: &mut Recorder, step: ProjectionStep<'_>) {
        let ProjectionStep { kernels, particles, solve, rows, parameters: p, .. } = step;
        let bindings = update_pressure::Bindings {
            count: &solve.active,
            key: particles.key(),
            cell_start: particles.grid().cell_start(),
            position: particles.position(),
            acceleration: &self.acceleration,
            boundary_density: &particles.interaction.boundary_density,
            source: &self.source,
            momentum: solve.momentum(),
            multiplier: solve.multiplier(),
            constraint: &particles.constraint,
            excess: &solve.excess,
            rows: rows.buffer(0),
        };
        let params = update_pressure::Params {
            grid: particles.grid().grid(),
            walls: p.walls,
            support_m: p.support_m,
            volume_h3: p.volume_h3,
            over_relaxation: p.over_relaxation,
        };
        recorder.dispatch_counted(&kernels.update, bindings, params);
    }
}
