//! Emitters and drains of water: pipes in which particles are held, and removal by the sort.

use super::parameters::Parameters;
use super::particles::Particles;
use crate::sources::{Sources, WhenFull};
use frazil_particles::{Column, ParticleTable};
use frazil_shaders::pbd::fault::FAULT_FULL;
use frazil_shaders::pbd::{hold_emitted, remove_drained};
use frazil_shaders::types::StepClock;
use frazil_vk::{Buffer, Device, Kernel, Recorder, Result, Threads};
use std::ops::Deref;

/// Emitters and drains of water; it dereferences to those of any solver.
pub(super) struct FluidSources {
    sources: Sources,
    pipes: Option<Pipes>,
    remove: Kernel<remove_drained::Interface>,
    max_groups_x: u32,
}

struct Pipes {
    /// 1 for each particle in a pipe, during a step.
    held: Buffer<u32>,
    spacing_m: f32,
    hold: Kernel<hold_emitted::Interface>,
}

impl FluidSources {
    /// Makes the sources of a scene that has any, and registers their counts as part of the state; the
    /// multiplier of new particles is 0. Set-up only: waits for the device.
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        (n, table): (u32, &mut ParticleTable),
        multiplier: Column<u32>,
    ) -> Result<Option<Self>> {
        let own = &parameters.sources;
        let filled = [(multiplier, vec![0; own.emitters.len()])];
        let capacity = table.count().capacity as usize;
        let Some(sources) = Sources::new(device, workgroup_size, own, (n, table), &filled, true)? else {
            return Ok(None);
        };
        let pipes = || {
            Ok(Pipes {
                held: device.buffer("held by emitters", capacity)?,
                spacing_m: own.spacing_m,
                hold: Kernel::specialized(device, &hold_emitted::Specialization { workgroup_size })?,
            })
        };
        Ok(Some(Self {
            sources,
            pipes: own.has_emitters().then(pipes).transpose()?,
            remove: Kernel::new(device)?,
            max_groups_x: device.capabilities().max_groups_x,
        }))
    }

    /// Returns the marks of held particles, if particles enter.
    pub fn held(&self) -> Option<&Buffer<u32>> {
        self.pipes.as_ref().map(|pipes| &pipes.held)
    }

    /// Records the particles that appear before a step.
    pub fn emit(
        &self,
        recorder: &mut Recorder,
        particles: &Particles,
        clock: &Buffer<StepClock>,
        faulty: &Buffer<u32>,
    ) {
        // Particles without a phase have phase 0.
        let when_full = WhenFull::Empty(faulty, super::fault::slot(FAULT_FULL));
        self.record_emit(recorder, &particles.phase, &particles.residual, clock, when_full);
    }

    /// Records the removal of the particles that the last sort has put behind all cells.
    pub fn remove_drained(&self, recorder: &mut Recorder, particles: &Particles) {
        if self.drains().is_none() {
            return;
        }
        let count = &particles.phase.count;
        let (args, cell_start) = (&count.args, particles.grid().cell_start());
        let bindings = remove_drained::Bindings { count, args, cell_start, emission: self.emission() };
        let params =
            remove_drained::Params { n_cells: particles.grid().cells(), max_groups_x: self.max_groups_x };
        recorder.dispatch(&self.remove, Threads::Fixed(1), bindings, params);
    }

    /// Records the marks of the particles in pipes, and their velocities.
    pub fn hold(&self, recorder: &mut Recorder, particles: &Particles, multiplier: &Buffer<f32>) {
        let (Some(pipes), Some(emitters)) = (&self.pipes, self.emitters()) else { return };
        let bindings = hold_emitted::Bindings {
            count: &particles.phase.count,
            emitters,
            position: particles.position(),
            held: &pipes.held,
            velocity: particles.velocity(),
            multiplier,
        };
        recorder.dispatch_counted(&pipes.hold, bindings, hold_emitted::Params { spacing_m: pipes.spacing_m });
    }
}

impl Deref for FluidSources {
    type Target = Sources;

    fn deref(&self) -> &Sources {
        &self.sources
    }
}
