//! Particles of a position-based phase: columns, cells, and scratch buffers of a step.

use super::bodies::BodyInteraction;
use super::neighbour_rows::PhaseCells;
use super::parameters::Parameters;
use crate::{SolverError, Tuning};
use frazil_kernels::{CellSort, CellSortMethod, GridOptions, UniformGrid};
use frazil_particles::{Column, ParticleTable, PhaseArray, Uses};
use frazil_vk::{Buffer, Device, Recorder};

/// Particles of a phase, sorted by cell.
pub struct Particles {
    /// All columns.
    pub(super) table: ParticleTable,
    /// Count, positions, velocities and ids.
    pub phase: PhaseArray,
    /// Part of each position in m below its ulp, and that of the predicted position at the back.
    pub residual: Column<[f32; 3]>,
    /// Cell of each particle, in the order of the phase once it is reordered.
    pub(super) key: Column<u32>,
    /// Permutation of this step.
    pub(super) order: Buffer<u32>,
    /// (x*, λ) of each particle, which neighbours read together.
    pub(super) constraint: Buffer<[f32; 4]>,
    /// Density ρ in kg/m³ of each particle.
    pub(super) density: Buffer<f32>,
    pub(super) interaction: BodyInteraction,
    pub(super) grid: UniformGrid,
    sort: CellSort,
}

impl Particles {
    /// Makes columns for `capacity` particles, and uploads the first ones. Where particles migrate to another
    /// phase, a pass of its own moves keys.
    pub(super) fn new(
        device: &Device,
        parameters: &Parameters,
        (positions_m, velocities_m_s, ids): (&[[f32; 3]], &[[f32; 3]], &[u32]),
        (capacity, migrates): (u32, bool),
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let n = capacity as usize;
        let walls = &parameters.walls;
        let grid = UniformGrid::with_options(
            device,
            walls.domain_min_m,
            walls.domain_max_m,
            parameters.support_m,
            GridOptions { workgroup_size, ..Default::default() },
        )?;
        let asked = tuning.cell_sort.or(parameters.cell_sort);
        let method = asked.map_or_else(|| CellSortMethod::fastest(device), Ok)?;
        let rest = vec![parameters.rest_density_kg_m3; n];
        let mut table = ParticleTable::new(device, ids.len() as u32, capacity, workgroup_size)?;
        Ok(Self {
            phase: PhaseArray::register(&mut table, positions_m, velocities_m_s, ids)?,
            residual: table.column(
                "position_residual",
                "m",
                Uses::STATE.permuted(),
                &vec![[0.0; 3]; ids.len()],
            )?,
            density: table.computed("density", "kg/m³", Uses::RECORDED, &rest)?.front().clone(),
            key: match migrates {
                true => table.column("key", "1", Uses::STATE, &[])?,
                false => table.computed("key", "1", Uses::STATE, &[])?,
            },
            order: device.buffer("order", n)?,
            constraint: device.buffer("constraint", n)?,
            interaction: BodyInteraction::new(device, parameters, n)?,
            sort: CellSort::with_options(device, capacity, &grid, method, workgroup_size)?,
            grid,
            table,
        })
    }

    /// Records the order of the particles by cell, and the first of each cell.
    pub(super) fn sort_by_cell(&self, recorder: &mut Recorder) -> Result<(), SolverError> {
        Ok(self.sort.record(recorder, &self.phase.count, &self.grid, self.key(), &self.order)?)
    }

    /// Accepts the prediction, x ← x*. The old positions' buffer takes the next one.
    pub(super) fn accept_prediction(&self) {
        self.phase.position.swap();
        self.residual.swap();
    }

    /// Returns the grid, with the cells of the last step.
    pub fn grid(&self) -> &UniformGrid {
        &self.grid
    }

    /// Returns the particles at their predicted positions, and their cells.
    pub(super) fn in_cells(&self) -> PhaseCells<'_> {
        PhaseCells {
            count: &self.phase.count,
            key: self.key(),
            grid: &self.grid,
            predicted: self.predicted(),
            position: self.position(),
        }
    }

    /// Returns the particles at the start of the step, and their cells.
    pub(super) fn in_cells_at_start(&self) -> PhaseCells<'_> {
        PhaseCells { predicted: self.position(), ..self.in_cells() }
    }

    /// Returns the predicted positions x*, between the permutation of a step and its end.
    pub fn predicted(&self) -> &Buffer<[f32; 3]> {
        self.phase.position.back()
    }

    /// Returns the (x*, λ); scratch between steps.
    pub fn constraint(&self) -> &Buffer<[f32; 4]> {
        &self.constraint
    }

    /// Returns the velocities before XSPH; scratch between steps.
    pub fn updated(&self) -> &Buffer<[f32; 3]> {
        self.phase.velocity.back()
    }

    /// Returns the positions in m.
    pub fn position(&self) -> &Buffer<[f32; 3]> {
        self.phase.position.front()
    }

    /// Returns the velocities in m/s.
    pub fn velocity(&self) -> &Buffer<[f32; 3]> {
        self.phase.velocity.front()
    }

    /// Returns the ids.
    pub fn id(&self) -> &Buffer<u32> {
        self.phase.id.front()
    }

    /// Returns the densities in kg/m³ as of the last iteration; rest density for snow.
    pub fn density(&self) -> &Buffer<f32> {
        &self.density
    }

    /// Returns the permutation of the last step.
    pub fn order(&self) -> &Buffer<u32> {
        &self.order
    }

    /// Returns the cell of each particle, as of the last step's prediction.
    pub fn key(&self) -> &Buffer<u32> {
        self.key.front()
    }
}
