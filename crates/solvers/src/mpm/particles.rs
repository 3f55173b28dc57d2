//! Columns of the snow particles, and the one permutation per step.

use super::parameters::MpmParameters;
use crate::SolverError;
use crate::error::check_lengths;
use crate::sources::Filled;
use frazil_particles::{Column, ParticleTable, PhaseArray, Uses};
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
    /// All columns.
    pub table: ParticleTable,
    /// Position, velocity, id and count.
    pub phase: PhaseArray,
    /// Part of positions below their ulp, in m (pbd/motion.glsl).
    pub residual: Column<[f32; 3]>,
    /// Density in kg/m³ (kg/m²), computed for output.
    pub density: Buffer<f32>,
    /// Plastic volume ratio J_P.
    pub plastic_volume: Column<f32>,
    /// Mass in kg (kg/m).
    pub mass: Column<f32>,
    /// Rest volume V⁰ in m³ (m²).
    pub volume: Column<f32>,
    /// Elastic deformation gradient F_E, column by column.
    pub elastic: Column<f32>,
    /// Stress V⁰ τ in J, symmetric. Each step reads it in the order of the step before, and overwrites it.
    pub stress: Column<f32>,
    /// Affine velocity C in 1/s, in the same order as stress; with PIC and FLIP one unused matrix.
    pub affine: Column<f32>,
    /// Slip since contact with a surface began, and contact radius, in m; one unused element if nodes are in
    /// contact.
    pub contact: Column<f32>,
    /// Force of surfaces in N, in the same order as stress; within a step, the velocity of the grid in m/s.
    /// One unused element unless particles move by that.
    pub surface_force: Column<[f32; 3]>,
    /// t in N/m of the moment of surfaces, which acts on nodes as w t × (x_i − x_p); likewise.
    pub surface_turn: Column<[f32; 3]>,
    has_affine: bool,
    moves_with_grid: bool,
}

impl Particles {
    /// Makes columns for `capacity` particles, and uploads the initial state; the other columns are those of
    /// snow without strain. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory; columns of different lengths.
    pub fn upload(
        device: &Device,
        parameters: &MpmParameters,
        initial_state: &InitialState,
        workgroup_size: u32,
        capacity: u32,
    ) -> Result<Self, SolverError> {
        let InitialState { positions_m, velocities_m_s, masses_kg, volumes_m3, .. } = initial_state;
        let n = positions_m.len();
        let lengths = [
            ("velocity", velocities_m_s.len()),
            ("mass", masses_kg.len()),
            ("volume", volumes_m3.len()),
            ("spin", or_default(initial_state.spins_rad_s.len(), n)),
            ("contact radius", or_default(initial_state.contact_radii_m.len(), n)),
        ];
        check_lengths(n, lengths)?;
        let (matrix, symmetric) = (parameters.matrix_words(), parameters.symmetric_words());
        let (has_affine, has_contact) = (parameters.has_affine(), parameters.has_contact_forces());
        let values = Values::of(initial_state, parameters);
        let ids: Vec<u32> = (0..n as u32).collect();
        let (recorded, state) = (Uses::RECORDED, Uses::STATE);
        let mut table = ParticleTable::new(device, n as u32, capacity, workgroup_size)?;
        Ok(Self {
            phase: PhaseArray::register(&mut table, positions_m, velocities_m_s, &ids)?,
            residual: table.column("position_residual", "m", state.permuted(), &values.no_vectors)?,
            density: table.computed("density", "kg/m³", Uses::OUTPUT, &[])?.front().clone(),
            plastic_volume: table.column("plastic_volume", "1", recorded.permuted(), &vec![1.0; n])?,
            mass: table.column("mass", "kg", recorded.permuted(), masses_kg)?,
            volume: table.column("volume", "m³", state.permuted(), volumes_m3)?,
            elastic: table.matrices("elastic", "1", matrix, state.permuted(), &values.elastic)?,
            stress: table.matrices("stress", "J", symmetric, state, &values.stress)?,
            affine: match has_affine {
                true => table.matrices("affine", "1/s", matrix, state, &values.affine)?,
                false => unused(device, "affine", matrix)?,
            },
            contact: match has_contact {
                true => table.matrices("contact", "m", 4, state.permuted(), &values.contact)?,
                false => unused(device, "contact", 4)?,
            },
            surface_force: match parameters.moves_with_grid() {
                true => table.column("surface_force", "N", state, &values.no_vectors)?,
                false => Column::new(device, "surface_force", "N", 1)?,
            },
            surface_turn: match parameters.moves_with_grid() {
                true => table.column("surface_turn", "N/m", state, &values.no_vectors)?,
                false => Column::new(device, "surface_turn", "N/m", 1)?,
            },
            has_affine,
            moves_with_grid: parameters.moves_with_grid(),
            table,
        })
    }

    /// Returns the columns in which the particles of emitters have values of their own, with these: mass and
    /// volume of the emitters, no strain.
    pub fn filled(&self, parameters: &MpmParameters) -> Vec<Filled> {
        let n = parameters.sources.emitters.len();
        let [mass_kg, volume_m3] = parameters.emitted;
        let one_each = InitialState {
            positions_m: vec![[0.0; 3]; n],
            masses_kg: vec![mass_kg; n],
            volumes_m3: vec![volume_m3; n],
            ..InitialState::default()
        };
        let values = Values::of(&one_each, parameters);
        let words = |values: &[f32]| bytemuck::cast_slice(values).to_vec();
        let mut filled = vec![
            (self.plastic_volume.words(), words(&vec![1.0; n])),
            (self.mass.words(), words(&one_each.masses_kg)),
            (self.volume.words(), words(&one_each.volumes_m3)),
            (self.elastic.words(), words(&values.elastic)),
            (self.stress.words(), words(&values.stress)),
        ];
        if self.has_affine {
            filled.push((self.affine.words(), words(&values.affine)));
        }
        if parameters.has_contact_forces() {
            filled.push((self.contact.words(), words(&values.contact)));
        }
        if self.moves_with_grid {
            let none = words(values.no_vectors.as_flattened());
            filled.extend(
                [&self.surface_force, &self.surface_turn].map(|column| (column.words(), none.clone())),
            );
        }
        filled
    }

    /// Returns the number of particles, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.phase.count
    }

    /// Returns the number of elements of a deformation gradient.
    pub fn elastic_words(&self) -> u32 {
        self.elastic.kind().words()
    }

    /// Returns the bytes per particle that rasterization reads: position, velocity, mass, stress, affine
    /// velocity and force of surfaces.
    pub fn rasterized_bytes(&self) -> u64 {
        let affine = if self.has_affine { self.affine.kind().words() } else { 0 };
        let force = if self.moves_with_grid { 6 } else { 0 };
        4 * u64::from(7 + self.stress.kind().words() + affine + force)
    }

    /// Records the permutation of columns to the given order, except for stress, affine velocity and force of
    /// surfaces: each step overwrites them, and reads them through `order` before.
    pub fn permute(&self, recorder: &mut Recorder, order: &Buffer<u32>) {
        self.table.permute(recorder, order);
    }

    /// Records the permutation of the columns that [`Self::permute`] leaves.
    pub fn permute_overwritten(&self, recorder: &mut Recorder, order: &Buffer<u32>) {
        let affine = self.has_affine.then(|| self.affine.words());
        let force = self.moves_with_grid.then(|| [self.surface_force.words(), self.surface_turn.words()]);
        let columns: Vec<Column<u32>> =
            [self.stress.words()].into_iter().chain(affine).chain(force.into_iter().flatten()).collect();
        self.table.permute_columns(recorder, order, &columns);
    }
}

/// Values of columns of particles without strain.
struct Values {
    elastic: Vec<f32>,
    stress: Vec<f32>,
    affine: Vec<f32>,
    contact: Vec<f32>,
    no_vectors: Vec<[f32; 3]>,
}

impl Values {
    fn of(initial_state: &InitialState, parameters: &MpmParameters) -> Self {
        let (n, d) = (initial_state.positions_m.len(), parameters.dimensions as usize);
        let identity: Vec<f32> =
            (0..d * d).map(|entry| if entry % (d + 1) == 0 { 1.0 } else { 0.0 }).collect();
        Self {
            elastic: identity.repeat(n),
            stress: vec![0.0; parameters.symmetric_words() as usize * n],
            affine: initial_state.affine(d),
            contact: initial_state.contact(d),
            no_vectors: vec![[0.0; 3]; n],
        }
    }
}

impl InitialState {
    /// Returns the affine velocities of the particles' spins, matrices of D columns.
    fn affine(&self, d: usize) -> Vec<f32> {
        let mut affine = vec![0.0; d * d * self.positions_m.len()];
        for (c, w) in affine.chunks_mut(d * d).zip(&self.spins_rad_s) {
            let columns = spin_columns(*w);
            (0..d * d).for_each(|entry| c[entry] = columns[entry / d][entry % d]);
        }
        affine
    }

    /// Returns the state of contact with surfaces: no slip, and the contact radii.
    fn contact(&self, d: usize) -> Vec<f32> {
        let radius = |(i, volume): (usize, &f32)| {
            let half = 0.5 * volume.max(0.0).powf(1.0 / d as f32);
            [0.0, 0.0, 0.0, self.contact_radii_m.get(i).copied().unwrap_or(half)]
        };
        self.volumes_m3.iter().enumerate().flat_map(radius).collect()
    }
}

/// Makes a column that no pass reads, of one matrix.
fn unused(device: &Device, name: &'static str, entries: u32) -> Result<Column<f32>, SolverError> {
    let column = Column::of_matrices(device, name, "1", entries, 1)?;
    device.upload(column.front(), &vec![0.0; entries as usize])?;
    Ok(column)
}

/// Returns the length of a column that may be left empty.
fn or_default(len: usize, n: usize) -> usize {
    if len == 0 { n } else { len }
}

/// Returns the columns of the matrix W of an angular velocity, W r = ω × r.
fn spin_columns([x, y, z]: [f32; 3]) -> [[f32; 3]; 3] {
    [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
}
