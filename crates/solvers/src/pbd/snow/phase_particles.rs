//! Particles of one phase: their columns, their cells, and scratch buffers of a step.

use crate::pbd::parameters::Parameters;
use crate::pbd::particles::Particles;
use crate::pbd::shown::lambda_column;
use crate::{SolverError, Tuning};
use frazil_kernels::{Counts, Scan, ScanOptions};
use frazil_particles::{AnyColumn, Column, ColumnKind, ColumnView, Material, ParticleSet, PhaseArray};
use frazil_shaders::types::Correction;
use frazil_vk::{Buffer, Device};
use std::ops::{Deref, DerefMut};

/// Initial state of the particles of one phase.
#[derive(Clone, Debug, Default)]
pub(super) struct InitialState {
    pub position: Vec<[f32; 3]>,
    pub velocity: Vec<[f32; 3]>,
    pub id: Vec<u32>,
    pub temperature_c: Vec<f32>,
    pub enthalpy_j_kg: Vec<f32>,
    pub blend: Vec<f32>,
    pub rest_position: Vec<[f32; 3]>,
}

/// Particles of one phase, with capacity for those of both.
pub struct PhaseParticles {
    /// Columns that all phases have, and their cells; this type dereferences to them.
    pub(super) particles: Particles,
    /// Temperature T in °C.
    pub temperature: Column<f32>,
    /// Specific enthalpy in J/kg, 0 for ice at freezing; maintained with true latent heat only, else 0.
    pub enthalpy: Column<f32>,
    /// Blend α of Chen2021 eq 6.2: 0 for a particle that has just changed to this phase, 1 when fully blended
    /// in.
    pub blend: Column<f32>,
    /// Rest position in the undeformed body in m; maintained with shape matching only, else 0.
    pub rest_position: Column<[f32; 3]>,
    pub(super) next_key: Buffer<u32>,
    /// Source index of each element of the next arrays, before and after the sort.
    pub(super) origin: Buffer<u32>,
    pub(super) source: Buffer<u32>,
    pub(super) leaves: Buffer<u32>,
    pub(super) rank: Buffer<u32>,
    pub(super) n_leavers: Buffer<u32>,
    /// Number of particles that have left so far, and the 64-bit sum of their temperatures in 2⁻¹⁶ °C.
    pub(super) transition_counts: Buffer<u32>,
    pub(super) contact: Buffer<[f32; 2]>,
    pub(super) correction: Buffer<Correction>,
    pub(super) scan: Scan,
}

/// Words of `transition_counts`.
pub(super) const TRANSITION_WORDS: usize = 3;

impl PhaseParticles {
    pub(super) fn new(
        device: &Device,
        counts: &Counts,
        parameters: &Parameters,
        tuning: Tuning,
        initial: &InitialState,
        capacity: u32,
        has_correction: bool,
    ) -> Result<Self, SolverError> {
        let n = capacity as usize;
        let phase =
            PhaseArray::restore(device, counts, &initial.position, &initial.velocity, &initial.id, capacity)?;
        let workgroup_size = tuning.workgroup_size();
        let scan = ScanOptions::for_device(device, workgroup_size);
        let phase_particles = Self {
            temperature: Column::new(device, "temperature", "°C", n)?,
            enthalpy: Column::new(device, "enthalpy", "J/kg", n)?,
            blend: Column::new(device, "blend", "1", n)?,
            rest_position: Column::new(device, "rest position", "m", n)?,
            next_key: device.buffer("key (next)", n)?,
            origin: device.buffer("origin", n)?,
            source: device.buffer("source", n)?,
            leaves: device.buffer("leaves", n)?,
            rank: device.buffer("rank of leavers", n)?,
            n_leavers: device.buffer_from("leavers", &[0])?,
            transition_counts: device.buffer_from("left so far", &[0; TRANSITION_WORDS])?,
            contact: device.buffer("contact", n)?,
            correction: device.buffer("heat correction", if has_correction { n } else { 0 })?,
            scan: Scan::with_options(device, capacity, scan)?,
            particles: Particles::new(device, parameters, phase, tuning)?,
        };
        device.upload(phase_particles.temperature.front(), &initial.temperature_c)?;
        device.upload(phase_particles.blend.front(), &initial.blend)?;
        // Without latent heat or shape matching the two columns keep these values, also for particles that
        // change phase later.
        let (mut enthalpy, mut rest_position) =
            (initial.enthalpy_j_kg.clone(), initial.rest_position.clone());
        enthalpy.resize(n, 0.0);
        rest_position.resize(n, [0.0; 3]);
        device.upload(phase_particles.enthalpy.front(), &enthalpy)?;
        device.upload(phase_particles.rest_position.front(), &rest_position)?;
        Ok(phase_particles)
    }

    /// Returns the set of particles for pictures.
    pub(super) fn particle_set(&self, name: &'static str, material: Material) -> ParticleSet<'_> {
        let columns = vec![
            self.phase.position.view(),
            self.phase.velocity.view(),
            self.phase.id.view(),
            ColumnView::new("density", "kg/m³", ColumnKind::F32, self.density.cast()),
            self.temperature.view(),
            self.blend.view(),
            lambda_column(&self.constraint),
        ];
        ParticleSet { name, material, count: &self.phase.count, columns }
    }

    /// Returns the index of each particle before the last reordering, plus the capacity if it was in the
    /// other phase.
    pub fn source(&self) -> &Buffer<u32> {
        &self.source
    }

    /// Returns 1 for each particle that left the phase in the last phase change, else 0, in the order before
    /// the last reordering.
    pub fn leaves(&self) -> &Buffer<u32> {
        &self.leaves
    }

    /// Returns the number of particles before each one that left in the last phase change.
    pub fn rank(&self) -> &Buffer<u32> {
        &self.rank
    }

    /// Returns the number of particles that left in the last phase change.
    pub fn n_leavers(&self) -> &Buffer<u32> {
        &self.n_leavers
    }

    /// Returns the totals of all phase changes so far: particles, and the low and high word of the sum of
    /// their temperatures in 2⁻¹⁶ °C.
    pub fn transition_counts(&self) -> &Buffer<u32> {
        &self.transition_counts
    }

    /// Returns the source index of each element of the next arrays, before the sort; scratch between steps.
    pub fn origin(&self) -> &Buffer<u32> {
        &self.origin
    }

    /// Returns the (α, constraints); scratch between steps.
    pub fn contact(&self) -> &Buffer<[f32; 2]> {
        &self.contact
    }

    /// Returns the correction of heat conduction, empty without it; scratch between steps.
    pub fn correction(&self) -> &Buffer<Correction> {
        &self.correction
    }

    /// Returns the columns that a permutation gathers; α is written separately, because a migration resets
    /// it.
    pub(super) fn moved_columns(&mut self, has_enthalpy: bool, has_shape: bool) -> Vec<&mut dyn AnyColumn> {
        let mut columns: Vec<&mut dyn AnyColumn> = vec![
            &mut self.particles.phase.position,
            &mut self.particles.phase.velocity,
            &mut self.particles.phase.id,
            &mut self.temperature,
        ];
        if has_enthalpy {
            columns.push(&mut self.enthalpy);
        }
        if has_shape {
            columns.push(&mut self.rest_position);
        }
        columns
    }
}

impl Deref for PhaseParticles {
    type Target = Particles;

    fn deref(&self) -> &Particles {
        &self.particles
    }
}

impl DerefMut for PhaseParticles {
    fn deref_mut(&mut self) -> &mut Particles {
        &mut self.particles
    }
}
