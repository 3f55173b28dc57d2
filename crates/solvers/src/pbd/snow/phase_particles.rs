//! Particles of one phase: their columns, their cells, and scratch buffers of a step.

use super::terms::SnowParameters;
use crate::pbd::particles::Particles;
use crate::{SolverError, Tuning};
use frazil_kernels::{Scan, ScanOptions};
use frazil_particles::{Column, Material, ParticleSet, Uses};
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

/// Words of a (x*, λ), and the index of λ.
const CONSTRAINT_WORDS: u32 = 4;
const LAMBDA_WORD: u32 = 3;

impl PhaseParticles {
    pub(super) fn new(
        device: &Device,
        parameters: &SnowParameters,
        tuning: Tuning,
        initial: &InitialState,
        capacity: u32,
    ) -> Result<Self, SolverError> {
        let n = capacity as usize;
        let (has_enthalpy, has_shape) = (parameters.has_enthalpy(), parameters.has_shape());
        let workgroup_size = tuning.workgroup_size();
        let scan = ScanOptions::for_device(device, workgroup_size);
        let phase: (&[_], &[_], &[_]) = (&initial.position, &initial.velocity, &initial.id);
        let mut particles = Particles::new(device, &parameters.fluid, phase, (capacity, true), tuning)?;
        // Without latent heat or shape matching these two keep their values, also for particles that change
        // phase later.
        let (mut enthalpy, mut rest_position) =
            (initial.enthalpy_j_kg.clone(), initial.rest_position.clone());
        enthalpy.resize(n, 0.0);
        rest_position.resize(n, [0.0; 3]);
        let (recorded, state) = (Uses::RECORDED, Uses::STATE);
        let table = &mut particles.table;
        let mut phase_particles = Self {
            temperature: table.column("temperature", "°C", recorded.permuted(), &initial.temperature_c)?,
            // A migration resets α, so that a pass of its own moves it.
            blend: table.column("blend", "1", recorded, &initial.blend)?,
            enthalpy: table.column("enthalpy", "J/kg", state.permuted_if(has_enthalpy), &enthalpy)?,
            rest_position: table.column(
                "rest position",
                "m",
                state.permuted_if(has_shape),
                &rest_position,
            )?,
            origin: device.buffer("origin", n)?,
            source: device.buffer("source", n)?,
            leaves: device.buffer("leaves", n)?,
            rank: device.buffer("rank of leavers", n)?,
            n_leavers: device.buffer_from("leavers", &[0])?,
            transition_counts: device.buffer_from("left so far", &[0; TRANSITION_WORDS])?,
            contact: device.buffer("contact", n)?,
            correction: device
                .buffer("heat correction", if parameters.has_corrected_conduction() { n } else { 0 })?,
            scan: Scan::with_options(device, capacity, scan)?,
            particles,
        };
        let constraint = phase_particles.constraint.cast();
        let table = &mut phase_particles.particles.table;
        table.component("lambda", "1", CONSTRAINT_WORDS, LAMBDA_WORD, constraint);
        Ok(phase_particles)
    }

    /// Returns the set of particles for pictures.
    pub(super) fn particle_set(&self, name: &'static str, material: Material) -> ParticleSet<'_> {
        ParticleSet { name, material, count: &self.phase.count, columns: self.table.shown_columns() }
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
