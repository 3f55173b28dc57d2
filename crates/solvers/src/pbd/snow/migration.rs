//! Migration of particles that change phase: selection, destination, and the one pass over the columns that
//! moves them (Chen2021 §7.2).

use super::phase_particles::PhaseParticles;
use super::terms::SnowParameters;
use crate::SolverError;
use frazil_kernels::Counts;
use frazil_shaders::snow::{
    accumulate_heat, gather_phases, mark_phase_change, migrate, place_particles, update_phase_counts,
};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

pub(super) struct Migration {
    mark_phase_change: Kernel<mark_phase_change::Interface>,
    transition_counts: Kernel<accumulate_heat::Interface>,
    migrate: Kernel<migrate::Interface>,
    settle: Kernel<update_phase_counts::Interface>,
    place: Kernel<place_particles::Interface>,
    gather: Gather,
    counts: Counts,
}

/// Kernel that merges columns of two phases into one.
#[derive(Clone)]
pub(super) struct Gather {
    one_word: Kernel<gather_phases::Interface>,
    three_words: Kernel<gather_phases::Interface>,
}

impl Gather {
    pub fn new(device: &Device, workgroup_size: u32) -> Result<Self, SolverError> {
        let of =
            |words| Kernel::specialized(device, &gather_phases::Specialization { workgroup_size, words });
        Ok(Self { one_word: of(1)?, three_words: of(3)? })
    }

    /// Records `moved[i] = own[source[i]]`, or the other phase's element if the index is at least the
    /// capacity; elements have `words` words.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        (count, source, capacity): (&DeviceCount, &Buffer<u32>, u32),
        [own, other, moved]: [&Buffer<u32>; 3],
        words: u32,
    ) {
        let kernel = if words == 3 { &self.three_words } else { &self.one_word };
        let bindings = gather_phases::Bindings { count, source, own, other, moved };
        recorder.dispatch_counted(kernel, bindings, gather_phases::Params { capacity });
    }
}

impl Migration {
    pub fn new(device: &Device, workgroup_size: u32) -> Result<Self, SolverError> {
        Ok(Self {
            mark_phase_change: Kernel::specialized(
                device,
                &mark_phase_change::Specialization { workgroup_size },
            )?,
            transition_counts: Kernel::specialized(
                device,
                &accumulate_heat::Specialization { workgroup_size },
            )?,
            migrate: Kernel::specialized(device, &migrate::Specialization { workgroup_size })?,
            settle: Kernel::new(device)?,
            place: Kernel::specialized(device, &place_particles::Specialization { workgroup_size })?,
            gather: Gather::new(device, workgroup_size)?,
            counts: Counts::new(device)?,
        })
    }

    /// Records the marking of particles that leave their phase.
    pub fn mark_phase_change(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        phase_particles: &PhaseParticles,
        is_solid: bool,
    ) {
        let heat = &parameters.snow.heat;
        let (column, limit) = match (parameters.has_enthalpy(), is_solid) {
            (false, _) => (phase_particles.temperature.front(), heat.freezing_temperature_c),
            (true, true) => (phase_particles.enthalpy.front(), heat.latent_heat_j_kg),
            (true, false) => (phase_particles.enthalpy.front(), 0.0),
        };
        let bindings = mark_phase_change::Bindings {
            count: &phase_particles.phase.count,
            heat: column,
            blend: phase_particles.blend.front(),
            leaves: &phase_particles.leaves,
        };
        let transition = &parameters.snow.transition;
        let params = mark_phase_change::Params {
            blend_speed: transition.blend_step(f64::from(parameters.fluid.dt_s)) as f32,
            blend_threshold: transition.blend_threshold as f32,
            limit: limit as f32,
            is_solid: u32::from(is_solid),
            has_enthalpy: u32::from(parameters.has_enthalpy()),
        };
        recorder.dispatch_counted(&self.mark_phase_change, bindings, params);
        let bindings = accumulate_heat::Bindings {
            count: &phase_particles.phase.count,
            leaves: &phase_particles.leaves,
            temperature: phase_particles.temperature.front(),
            transition_counts: &phase_particles.transition_counts,
        };
        recorder.dispatch_counted(&self.transition_counts, bindings, ());
    }

    /// Records the ranks of the particles that leave, and of those that stay.
    pub fn scan(&self, recorder: &mut Recorder, phase_particles: &PhaseParticles) -> Result<(), SolverError> {
        let total = Some(&phase_particles.n_leavers);
        Ok(phase_particles.scan.record(
            recorder,
            &phase_particles.phase.count,
            &phase_particles.leaves,
            &phase_particles.rank,
            total,
        )?)
    }

    /// Records the destination of each particle, and the new count of each phase.
    pub fn migrate(&self, recorder: &mut Recorder, solid: &PhaseParticles, fluid: &PhaseParticles) {
        self.send(recorder, solid, fluid);
        self.send(recorder, fluid, solid);
        let bindings = update_phase_counts::Bindings {
            solids: &solid.phase.count.count,
            fluids: &fluid.phase.count.count,
            melting: &solid.n_leavers,
            freezing: &fluid.n_leavers,
        };
        recorder.dispatch(&self.settle, Threads::Fixed(1), bindings, ());
        for phase_particles in [solid, fluid] {
            self.counts.prepare(recorder, &phase_particles.phase.count);
            phase_particles.key.swap();
        }
    }

    fn send(&self, recorder: &mut Recorder, from: &PhaseParticles, to: &PhaseParticles) {
        let bindings = migrate::Bindings {
            count: &from.phase.count,
            leaves: &from.leaves,
            rank: &from.rank,
            key: from.key(),
            other_count: &to.phase.count.count,
            other_leavers: &to.n_leavers,
            stay_key: from.key.back(),
            stay_origin: &from.origin,
            leave_key: to.key.back(),
            leave_origin: &to.origin,
        };
        let params = migrate::Params { capacity: from.phase.count.capacity };
        recorder.dispatch_counted(&self.migrate, bindings, params);
    }

    /// Records the one pass over the columns of both phases.
    pub fn reorder(&self, recorder: &mut Recorder, solid: &PhaseParticles, fluid: &PhaseParticles) {
        self.place(recorder, solid);
        self.place(recorder, fluid);
        self.gather(recorder, solid, fluid);
        self.gather(recorder, fluid, solid);
        for phase_particles in [solid, fluid] {
            phase_particles.blend.swap();
            phase_particles.table.permuted().iter().for_each(|column| column.swap());
        }
    }

    fn place(&self, recorder: &mut Recorder, phase_particles: &PhaseParticles) {
        let bindings = place_particles::Bindings {
            count: &phase_particles.phase.count,
            order: &phase_particles.order,
            origin: &phase_particles.origin,
            blend: phase_particles.blend.front(),
            source: &phase_particles.source,
            moved_blend: phase_particles.blend.back(),
        };
        let params = place_particles::Params { capacity: phase_particles.phase.count.capacity };
        recorder.dispatch_counted(&self.place, bindings, params);
    }

    fn gather(&self, recorder: &mut Recorder, own: &PhaseParticles, other: &PhaseParticles) {
        let count = &own.phase.count;
        for (own_column, other) in own.table.permuted().iter().zip(other.table.permuted()) {
            self.gather.record(
                recorder,
                (count, &own.source, count.capacity),
                [own_column.front(), other.front(), own_column.back()],
                own_column.kind().words(),
            );
        }
    }
}
