//! Columns of the snow particles, and the one permutation per step.

use super::parameters::MpmParameters;
use crate::SolverError;
use crate::saved::check_lengths;
use frazil_kernels::Counts;
use frazil_particles::{AnyColumn, Column, ColumnView, Permutation, PhaseArray};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

/// Initial state of snow without strain: columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialState {
    /// Positions in m.
    pub positions_m: Vec<[f32; 3]>,
    /// Velocities in m/s.
    pub velocities_m_s: Vec<[f32; 3]>,
    /// Masses in kg, in a plane kg/m.
    pub masses_kg: Vec<f32>,
    /// Volumes in m³, in a plane m²; unused if they are estimated from the grid.
    pub volumes_m3: Vec<f32>,
    /// Angular velocities in rad/s of the material around the particles, for affine transfers; none if empty.
    pub spins_rad_s: Vec<[f32; 3]>,
    /// Contact radii in m; half a spacing V⁰^(1/D) if empty.
    pub contact_radii_m: Vec<f32>,
}

/// Particles on the device.
pub struct Particles {
    /// Position, velocity, id and count.
    pub phase: PhaseArray,
    /// Mass in kg (kg/m).
    pub mass: Column<f32>,
    /// Rest volume V⁰ in m³ (m²).
    pub volume: Column<f32>,
    /// Plastic volume ratio J_P.
    pub plastic_volume: Column<f32>,
    /// Elastic deformation gradient F_E, column by column.
    pub elastic: Column<f32>,
    /// Stress V⁰ τ in J, symmetric.
    pub stress: Column<f32>,
    /// Affine velocity C in 1/s; with PIC and FLIP one unused matrix.
    pub affine: Column<f32>,
    /// Slip since contact with a surface began, and contact radius, in m; one unused element if nodes are in
    /// contact.
    pub contact: Column<f32>,
    has_affine: bool,
    has_contact: bool,
    permutation: Permutation,
}

impl Particles {
    /// Makes columns and uploads the initial state; the other columns are those of snow without strain.
    /// Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory; columns of different lengths.
    pub fn upload(
        device: &Device,
        parameters: &MpmParameters,
        initial_state: &InitialState,
        ids: Option<&[u32]>,
        workgroup_size: u32,
    ) -> Result<Self, SolverError> {
        let n = initial_state.positions_m.len();
        let lengths = [
            ("velocity", initial_state.velocities_m_s.len()),
            ("mass", initial_state.masses_kg.len()),
            ("volume", initial_state.volumes_m3.len()),
            ("id", ids.map_or(n, <[u32]>::len)),
            ("spin", or_default(initial_state.spins_rad_s.len(), n)),
            ("contact radius", or_default(initial_state.contact_radii_m.len(), n)),
        ];
        check_lengths(n, lengths)?;
        let counts = Counts::new(device)?;
        let (positions, velocities) = (&initial_state.positions_m, &initial_state.velocities_m_s);
        let own: Vec<u32> = (0..n as u32).collect();
        let phase =
            PhaseArray::restore(device, &counts, positions, velocities, ids.unwrap_or(&own), n as u32)?;
        let matrix = |name, unit, entries, n| Column::of_matrices(device, name, unit, entries, n);
        let (matrix_words, symmetric_words) = (parameters.matrix_words(), parameters.symmetric_words());
        let has_affine = parameters.has_affine();
        let has_contact = parameters.has_contact_forces();
        let particles = Self {
            mass: Column::new(device, "mass", "kg", n)?,
            volume: Column::new(device, "volume", "m^3", n)?,
            plastic_volume: Column::new(device, "plastic_volume", "1", n)?,
            elastic: matrix("elastic", "1", matrix_words, n)?,
            stress: matrix("stress", "J", symmetric_words, n)?,
            affine: matrix("affine", "1/s", matrix_words, if has_affine { n } else { 1 })?,
            contact: matrix("contact", "m", 4, if has_contact { n } else { 1 })?,
            has_affine,
            has_contact,
            permutation: Permutation::with_workgroup_size(device, workgroup_size)?,
            phase,
        };
        device.upload(particles.mass.front(), &initial_state.masses_kg)?;
        device.upload(particles.volume.front(), &initial_state.volumes_m3)?;
        device.upload(particles.plastic_volume.front(), &vec![1.0; n])?;
        let d = parameters.dimensions as usize;
        let identity: Vec<f32> =
            (0..d * d).map(|entry| if entry % (d + 1) == 0 { 1.0 } else { 0.0 }).collect();
        device.upload(particles.elastic.front(), &identity.repeat(n))?;
        device.upload(particles.stress.front(), &vec![0.0; symmetric_words as usize * n])?;
        let n_affine = particles.affine.front().len();
        let mut affine = vec![0.0; n_affine];
        if has_affine {
            for (c, w) in affine.chunks_mut(d * d).zip(&initial_state.spins_rad_s) {
                let columns = spin_columns(*w);
                (0..d * d).for_each(|entry| c[entry] = columns[entry / d][entry % d]);
            }
        }
        device.upload(particles.affine.front(), &affine)?;
        let mut contact = vec![0.0; particles.contact.front().len()];
        if has_contact {
            for (i, (own, volume)) in contact.chunks_mut(4).zip(&initial_state.volumes_m3).enumerate() {
                let half = 0.5 * volume.max(0.0).powf(1.0 / d as f32);
                own[3] = initial_state.contact_radii_m.get(i).copied().unwrap_or(half);
            }
        }
        device.upload(particles.contact.front(), &contact)?;
        Ok(particles)
    }

    /// Returns the number of particles, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.phase.count
    }

    /// Returns the number of elements of a deformation gradient.
    pub fn elastic_words(&self) -> u32 {
        self.elastic.view().kind.words()
    }

    /// Returns the bytes per particle that rasterization reads: position, velocity, mass, stress and affine
    /// velocity.
    pub fn rasterized_bytes(&self) -> u64 {
        let affine = if self.has_affine { self.affine.view().kind.words() } else { 0 };
        4 * u64::from(7 + self.stress.view().kind.words() + affine)
    }

    /// Records the permutation of columns to the given order, except for stress and affine velocity: each
    /// step overwrites them, and reads them through `order` before.
    pub fn permute(&mut self, recorder: &mut Recorder, order: &Buffer<u32>) {
        let mut columns: Vec<&mut dyn AnyColumn> = vec![
            &mut self.phase.position,
            &mut self.phase.velocity,
            &mut self.phase.id,
            &mut self.mass,
            &mut self.volume,
            &mut self.plastic_volume,
            &mut self.elastic,
        ];
        if self.has_contact {
            columns.push(&mut self.contact);
        }
        self.permutation.record(recorder, &self.phase.count, order, &mut columns);
    }

    /// Records the permutation of the columns that [`Self::permute`] leaves.
    pub fn permute_overwritten(&mut self, recorder: &mut Recorder, order: &Buffer<u32>) {
        let mut columns: Vec<&mut dyn AnyColumn> = vec![&mut self.stress];
        if self.has_affine {
            columns.push(&mut self.affine);
        }
        self.permutation.record(recorder, &self.phase.count, order, &mut columns);
    }

    /// Returns all columns that the next step depends on.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let mut columns = vec![
            self.phase.position.view(),
            self.phase.velocity.view(),
            self.phase.id.view(),
            self.mass.view(),
            self.volume.view(),
            self.plastic_volume.view(),
            self.elastic.view(),
            self.stress.view(),
        ];
        if self.has_affine {
            columns.push(self.affine.view());
        }
        if self.has_contact {
            columns.push(self.contact.view());
        }
        columns
    }
}

/// Returns the length of a column that may be left empty.
fn or_default(len: usize, n: usize) -> usize {
    if len == 0 { n } else { len }
}

/// Returns the columns of the matrix W of an angular velocity, W r = ω × r.
fn spin_columns([x, y, z]: [f32; 3]) -> [[f32; 3]; 3] {
    [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
}
