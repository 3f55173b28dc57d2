//! Emitters and drains: particles that enter and leave while a simulation runs.

use super::parameters::Parameters;
use super::particles::Particles;
use bytemuck::Zeroable;
use frazil_particles::{ColumnKind, ParticleTable};
use frazil_shaders::pbd::{count_emitted, emit, hold_emitted, remove_drained};
use frazil_shaders::types::{Drain, Emission, Emitter};
use frazil_vk::{Buffer, Device, DoubleBuffer, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};

/// Name of the counts in checkpoints.
pub(super) const EMISSION: &str = "emission";

/// Emitters and drains on the device.
pub(super) struct Sources {
    /// Counts of the run, one element.
    emission: Buffer<Emission>,
    emitters: Option<Emitters>,
    drains: Option<Drains>,
    ring: ReadbackRing,
    max_groups_x: u32,
}

struct Emitters {
    emitters: Buffer<Emitter>,
    points_m: Buffer<[f32; 3]>,
    n_points: usize,
    /// 1 for each particle in a pipe, during a step.
    held: Buffer<u32>,
    spacing_m: f32,
    emit: Kernel<emit::Interface>,
    count: Kernel<count_emitted::Interface>,
    hold: Kernel<hold_emitted::Interface>,
}

struct Drains {
    boxes: Buffer<Drain>,
    remove: Kernel<remove_drained::Interface>,
}

impl Sources {
    /// Makes the sources of a scene that has any, and registers their counts as part of the state. Set-up
    /// only: waits for the device.
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        (n, table): (u32, &mut ParticleTable),
    ) -> Result<Option<Self>> {
        let sources = &parameters.sources;
        if !sources.has_emitters() && !sources.has_drains() {
            return Ok(None);
        }
        let start = Emission { next_id: n, ..Emission::zeroed() };
        let emission = device.buffer_from("emission", &[start])?;
        table.array(EMISSION, "1", ColumnKind::U32, DoubleBuffer::single(emission.cast()));
        let capacity = table.count().capacity as usize;
        let emitters = || {
            Ok(Emitters {
                emitters: device.buffer_from("emitters", &sources.emitters)?,
                points_m: device.buffer_from("points of emitters", &sources.points_m)?,
                n_points: sources.points_m.len(),
                held: device.buffer("held by emitters", capacity)?,
                spacing_m: sources.spacing_m,
                emit: Kernel::specialized(device, &emit::Specialization { workgroup_size })?,
                count: Kernel::new(device)?,
                hold: Kernel::specialized(device, &hold_emitted::Specialization { workgroup_size })?,
            })
        };
        let drains = || {
            let boxes = device.buffer_from("drains", &sources.drains)?;
            Ok(Drains { boxes, remove: Kernel::new(device)? })
        };
        Ok(Some(Self {
            emission,
            emitters: sources.has_emitters().then(emitters).transpose()?,
            drains: sources.has_drains().then(drains).transpose()?,
            ring: ReadbackRing::new(device),
            max_groups_x: device.capabilities().max_groups_x,
        }))
    }

    /// Returns the marks of held particles, if particles enter.
    pub fn held(&self) -> Option<&Buffer<u32>> {
        self.emitters.as_ref().map(|emitters| &emitters.held)
    }

    /// Returns the drains, if there are any.
    pub fn drains(&self) -> Option<&Buffer<Drain>> {
        self.drains.as_ref().map(|drains| &drains.boxes)
    }

    /// Returns the counts of the run, one element.
    pub fn emission(&self) -> &Buffer<Emission> {
        &self.emission
    }

    /// Records the particles that appear before a step.
    pub fn emit(
        &self,
        recorder: &mut Recorder,
        particles: &Particles,
        multiplier: &Buffer<f32>,
        (clock, faulty): (&Buffer<frazil_shaders::types::StepClock>, &Buffer<u32>),
    ) {
        let Some(own) = &self.emitters else { return };
        let count = &particles.phase.count;
        let bindings = emit::Bindings {
            count,
            clock,
            emitters: &own.emitters,
            points_m: &own.points_m,
            emission: &self.emission,
            position: particles.position(),
            residual_m: particles.residual.front(),
            velocity: particles.velocity(),
            id: particles.id(),
            multiplier,
        };
        let (n_points, capacity) = (own.n_points as u32, count.capacity);
        let params = emit::Params { n_points, capacity };
        recorder.dispatch(&own.emit, Threads::Fixed(own.n_points), bindings, params);
        let bindings = count_emitted::Bindings {
            count,
            args: &count.args,
            clock,
            emitters: &own.emitters,
            emission: &self.emission,
            faulty,
        };
        let params = count_emitted::Params { capacity, max_groups_x: self.max_groups_x };
        recorder.dispatch(&own.count, Threads::Fixed(1), bindings, params);
    }

    /// Records the removal of the particles that the last sort has put behind all cells.
    pub fn remove_drained(&self, recorder: &mut Recorder, particles: &Particles) {
        let Some(drains) = &self.drains else { return };
        let count = &particles.phase.count;
        let (args, cell_start) = (&count.args, particles.grid().cell_start());
        let bindings = remove_drained::Bindings { count, args, cell_start, emission: &self.emission };
        let params =
            remove_drained::Params { n_cells: particles.grid().cells(), max_groups_x: self.max_groups_x };
        recorder.dispatch(&drains.remove, Threads::Fixed(1), bindings, params);
    }

    /// Records the marks of the particles in pipes, and their velocities.
    pub fn hold(&self, recorder: &mut Recorder, particles: &Particles, multiplier: &Buffer<f32>) {
        let Some(own) = &self.emitters else { return };
        let bindings = hold_emitted::Bindings {
            count: &particles.phase.count,
            emitters: &own.emitters,
            position: particles.position(),
            held: &own.held,
            velocity: particles.velocity(),
            multiplier,
        };
        recorder.dispatch_counted(&own.hold, bindings, hold_emitted::Params { spacing_m: own.spacing_m });
    }

    /// Records the read-back of the counts.
    pub fn record_counts(&self, recorder: &mut Recorder) -> Result<Pending<Emission>> {
        self.ring.read(recorder, &self.emission, 1)
    }
}
