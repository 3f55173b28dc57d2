//! The position-based fluid on the device.

use super::bodies::{self, AtBodies, Bodies, Push};
use super::metrics::{Gauge, PendingMetrics};
use super::motion::{Motion, Place};
use super::parameters::Parameters;
use super::tuning::Tuning;
use crate::SolverError;
use frazil_kernels::{CellSort, CellSortMethod, Counts, GridOptions, UniformGrid};
use frazil_particles::{AnyColumn, ColumnKind, ColumnView, Permutation, PhaseArray};
use frazil_scene::{Sampled, Scene};
use frazil_shaders::pbd::{solve_density, solve_positions};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Threads};

/// A stage of a step. The list of a step is [`Fluid::stages`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Gravity, and the cells of predicted positions.
    Integrate,
    /// The order of particles by cell, and where each cell begins in it.
    SortByCell,
    /// The step's one permutation.
    Reorder,
    /// Predicted positions.
    Predict,
    /// Densities and multipliers at the predicted positions.
    SolveDensity,
    /// One correction of the predicted positions.
    SolvePositions,
    /// Velocities after the constraints.
    UpdateVelocity,
    /// XSPH, and the new positions.
    SmoothVelocity,
}

/// A named column of saved state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateColumn {
    /// Its name.
    pub name: String,
    /// Its elements as 32-bit words.
    pub words: Vec<u32>,
}

/// A position-based fluid.
pub struct Fluid {
    parameters: Parameters,
    phase: PhaseArray,
    /// x*, in the order of the phase.
    predicted: Buffer<[f32; 3]>,
    /// Cell of each particle, in the order of the phase once it is reordered.
    key: Buffer<u32>,
    /// The permutation of this step.
    order: Buffer<u32>,
    /// (x*, λ) of each particle: what a neighbour reads in one go.
    constraint: Buffer<[f32; 4]>,
    /// ρ in kg/m³ of each particle.
    density: Buffer<f32>,
    near: AtBodies,
    bodies: Option<Bodies>,
    grid: UniformGrid,
    sort: CellSort,
    permutation: Permutation,
    kernels: Kernels,
    gauge: Gauge,
}

struct Kernels {
    motion: Motion,
    solve_density: Kernel<solve_density::Interface>,
    solve_positions: Kernel<solve_positions::Interface>,
}

impl Kernels {
    fn new(device: &Device, workgroup_size: u32, has_bodies: bool) -> frazil_vk::Result<Self> {
        let has_bodies = has_bodies.into();
        let solve_density = solve_density::Specialization { workgroup_size, has_bodies };
        let solve_positions = solve_positions::Specialization { workgroup_size, has_bodies };
        Ok(Self {
            motion: Motion::new(device, workgroup_size)?,
            solve_density: Kernel::specialized(device, &solve_density)?,
            solve_positions: Kernel::specialized(device, &solve_positions)?,
        })
    }
}

impl Fluid {
    /// Makes the fluid of a scene from its sampled particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// The device lacks memory or cannot bind buffers of this size.
    pub fn new(device: &Device, scene: &Scene, sampled: &Sampled) -> Result<Self, SolverError> {
        Self::with_tuning(device, scene, sampled, Tuning::default())
    }

    /// As [`Self::new`], with other tunables: they change how fast a step is, and no bit of the state.
    ///
    /// # Errors
    /// As [`Self::new`]; the device's limits do not allow the tunables.
    pub fn with_tuning(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let counts = Counts::new(device)?;
        let capacity = sampled.positions_m.len() as u32;
        let phase =
            PhaseArray::upload(device, &counts, &sampled.positions_m, &sampled.velocities_m_s, capacity)?;
        let mut fluid = Self::with_phase(device, Parameters::from_scene(scene)?, phase, tuning)?;
        let mut recorder = device.recorder()?;
        fluid.record_first_density(&mut recorder);
        device.submit(recorder)?.wait()?;
        Ok(fluid)
    }

    fn with_phase(
        device: &Device,
        parameters: Parameters,
        phase: PhaseArray,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let n = phase.count.capacity as usize;
        let walls = &parameters.walls;
        let grid = UniformGrid::with_options(
            device,
            walls.domain_min_m,
            walls.domain_max_m,
            parameters.support_m,
            GridOptions { workgroup_size, ..Default::default() },
        )?;
        let method = tuning.cell_sort.map_or_else(|| CellSortMethod::fastest(device), Ok)?;
        let sort = CellSort::with_options(device, phase.count.capacity, &grid, method, workgroup_size)?;
        Ok(Self {
            predicted: device.buffer("predicted", n)?,
            key: device.buffer("key", n)?,
            order: device.buffer("order", n)?,
            constraint: device.buffer("constraint", n)?,
            density: device.buffer("density", n)?,
            near: AtBodies::new(device, &parameters, n)?,
            bodies: Bodies::new(device, workgroup_size, &parameters, [0.0; 2])?,
            grid,
            sort,
            permutation: Permutation::with_workgroup_size(device, workgroup_size)?,
            kernels: Kernels::new(device, workgroup_size, parameters.has_bodies())?,
            gauge: Gauge::new(device, phase.count.capacity)?,
            phase,
            parameters,
        })
    }

    /// The stages of one step, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        use Stage::*;
        let iterations = (0..self.parameters.iterations).flat_map(|_| [SolveDensity, SolvePositions]);
        [Integrate, SortByCell, Reorder, Predict]
            .into_iter()
            .chain(iterations)
            .chain([UpdateVelocity, SmoothVelocity])
    }

    /// Records one step.
    pub fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in self.stages() {
            self.record_stage(recorder, stage);
        }
    }

    /// Records one stage: the switch that lets tests run the stages before it, or after it, somewhere else.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) {
        match stage {
            Stage::Integrate => self.integrate(recorder, self.parameters.dt_s),
            Stage::SortByCell => {
                let recorded =
                    self.sort.record(recorder, &self.phase.count, &self.grid, &self.key, &self.order);
                if let Err(e) = recorded {
                    recorder.fail(frazil_vk::Error::Misuse {
                        object: "SortByCell".into(),
                        problem: e.to_string(),
                    });
                }
            }
            Stage::Reorder => self.phase.permute(recorder, &self.permutation, &self.order),
            Stage::Predict => self.predict(recorder, self.parameters.dt_s),
            Stage::SolveDensity => self.solve_density(recorder, &self.predicted, true),
            Stage::SolvePositions => self.solve_positions(recorder),
            Stage::UpdateVelocity => self.update_velocity(recorder),
            Stage::SmoothVelocity => self.smooth_velocity(recorder),
        }
    }

    /// Sorts the particles as they lie and finds their densities, so that a frame before the first step shows them.
    fn record_first_density(&mut self, recorder: &mut Recorder) {
        self.integrate(recorder, 0.0);
        for stage in [Stage::SortByCell, Stage::Reorder] {
            self.record_stage(recorder, stage);
        }
        self.solve_density(recorder, self.phase.position.front(), false);
    }

    fn threads(&self) -> Threads<'_> {
        Threads::Counted(&self.phase.count)
    }

    fn integrate(&self, recorder: &mut Recorder, dt_s: f32) {
        let grid = self.grid.grid();
        self.kernels.motion.integrate(recorder, &self.phase, &self.key, grid, &self.parameters, dt_s);
    }

    fn predict(&self, recorder: &mut Recorder, dt_s: f32) {
        self.kernels.motion.predict(recorder, &self.phase, &self.predicted, self.parameters.walls, dt_s);
        self.push_out(recorder, Push::First);
    }

    fn push_out(&self, recorder: &mut Recorder, push: Push) {
        if let Some(bodies) = &self.bodies {
            let places = (&self.predicted, &self.constraint);
            bodies.push_out(recorder, &self.phase.count, places, &self.near, (push, false));
        }
    }

    fn solve_density(&self, recorder: &mut Recorder, at: &Buffer<[f32; 3]>, is_within_step: bool) {
        if let Some(bodies) = &self.bodies {
            bodies.weigh(recorder, &self.phase.count, at, &self.near, is_within_step);
        }
        let bindings = solve_density::Bindings {
            count: &self.phase.count.count,
            key: &self.key,
            cell_start: self.grid.cell_start(),
            predicted: at,
            cut_off: &self.near.cut_off,
            constraint: &self.constraint,
            density: &self.density,
        };
        let p = &self.parameters;
        let params = solve_density::Params {
            grid: self.grid.grid(),
            walls: p.walls,
            support_m: p.support_m,
            volume_h3: p.volume_h3,
            rest_density_kg_m3: p.rest_density_kg_m3,
            relaxation: p.relaxation,
        };
        recorder.dispatch(&self.kernels.solve_density, self.threads(), bindings, params);
    }

    fn solve_positions(&self, recorder: &mut Recorder) {
        let bindings = solve_positions::Bindings {
            count: &self.phase.count.count,
            key: &self.key,
            cell_start: self.grid.cell_start(),
            constraint: &self.constraint,
            cut_off: &self.near.cut_off,
            predicted: &self.predicted,
        };
        let p = &self.parameters;
        let params = solve_positions::Params {
            grid: self.grid.grid(),
            walls: p.walls,
            support_m: p.support_m,
            volume_h3: p.volume_h3,
            over_relaxation: p.over_relaxation,
            pressure_strength: p.pressure_strength,
            pressure_inverse_shape: p.pressure_inverse_shape,
            pressure_exponent: p.pressure_exponent,
        };
        recorder.dispatch(&self.kernels.solve_positions, self.threads(), bindings, params);
        self.push_out(recorder, Push::Corrected);
    }

    fn update_velocity(&self, recorder: &mut Recorder) {
        let dt_s = self.parameters.dt_s;
        self.kernels.motion.update_velocity(recorder, &self.phase, &self.predicted, dt_s);
    }

    fn smooth_velocity(&mut self, recorder: &mut Recorder) {
        let p = &self.parameters;
        let place = Place { key: &self.key, predicted: &self.predicted, grid: &self.grid };
        self.kernels.motion.smooth_velocity(recorder, &self.phase, place, p, (p.xsph_viscosity, true));
        if let Some(bodies) = &self.bodies {
            bodies.drag(recorder, &self.phase, &self.predicted, p.xsph_viscosity);
            bodies.total(recorder);
        }
        // x ← x*: the predicted positions are the new ones, and the old ones' buffer is free for the next prediction.
        self.predicted = self.phase.position.replace_front(self.predicted.clone());
    }

    /// The numbers the kernels use.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How many particles there are, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.phase.count
    }

    /// The grid, with the cells of the last step.
    pub fn grid(&self) -> &UniformGrid {
        &self.grid
    }

    /// Predicted positions; scratch between steps.
    pub fn predicted(&self) -> &Buffer<[f32; 3]> {
        &self.predicted
    }

    /// (x*, λ); scratch between steps.
    pub fn constraint(&self) -> &Buffer<[f32; 4]> {
        &self.constraint
    }

    /// Velocities before XSPH; scratch between steps.
    pub fn updated(&self) -> &Buffer<[f32; 3]> {
        self.phase.velocity.back()
    }

    /// Velocities in m/s.
    pub fn velocity(&self) -> &Buffer<[f32; 3]> {
        self.phase.velocity.front()
    }

    /// Ids.
    pub fn id(&self) -> &Buffer<u32> {
        self.phase.id.front()
    }

    /// Densities in kg/m³.
    pub fn density(&self) -> &Buffer<f32> {
        &self.density
    }

    /// The permutation of the last step.
    pub fn order(&self) -> &Buffer<u32> {
        &self.order
    }

    /// The cell of each particle, as of the last step's prediction.
    pub fn key(&self) -> &Buffer<u32> {
        &self.key
    }

    /// Positions in m.
    pub fn position(&self) -> &Buffer<[f32; 3]> {
        self.phase.position.front()
    }

    /// What can be shown, recorded and exported: position, velocity, id, density.
    pub fn columns(&self) -> Vec<ColumnView> {
        vec![
            self.phase.position.view(),
            self.phase.velocity.view(),
            self.phase.id.view(),
            ColumnView { name: "density", unit: "kg/m³", kind: ColumnKind::F32, words: self.density.cast() },
        ]
    }

    /// Everything that the next step depends on, and so everything that a checkpoint must hold: the columns shown, the
    /// cells that the last density was found with, and what has acted on bodies.
    pub fn state_columns(&self) -> Vec<ColumnView> {
        let key = ColumnView { name: "key", unit: "1", kind: ColumnKind::U32, words: self.key.clone() };
        let of_bodies = self.bodies.as_ref().map(Bodies::state_columns).unwrap_or_default();
        self.columns().into_iter().chain([key]).chain(of_bodies).collect()
    }

    /// Makes the fluid of a scene in a saved state, with the bits it had. Set-up: it waits for the device.
    ///
    /// # Errors
    /// As [`Self::new`]; a column is missing or has another length.
    pub fn restore(device: &Device, scene: &Scene, state: &[StateColumn]) -> Result<Self, SolverError> {
        let find = |name: &str, words: usize, n: Option<usize>| {
            let error = |problem: String| SolverError::State { column: name.to_owned(), problem };
            let column = state.iter().find(|c| c.name == name).ok_or_else(|| error("is missing".into()))?;
            let found = column.words.len() / words;
            match n {
                Some(n) if n != found || column.words.len() % words != 0 => Err(error(format!(
                    "has {} words, expected {words} for each of {n} particles",
                    column.words.len()
                ))),
                _ => Ok(column.words.as_slice()),
            }
        };
        let ids = find("id", 1, None)?;
        let n = Some(ids.len());
        let positions: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(find("position", 3, n)?);
        let velocities: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(find("velocity", 3, n)?);
        let counts = Counts::new(device)?;
        let phase = PhaseArray::restore(device, &counts, &positions, &velocities, ids, ids.len() as u32)?;
        let fluid = Self::with_phase(device, Parameters::from_scene(scene)?, phase, Tuning::default())?;
        device.upload(&fluid.density.cast(), find("density", 1, n)?)?;
        device.upload(&fluid.key, find("key", 1, n)?)?;
        let whole = |name: &str, words| find(name, words, Some(1));
        bodies::restore(device, fluid.bodies.as_ref(), whole)?;
        let mut recorder = device.recorder()?;
        fluid.grid.record_cell_ranges(&mut recorder, &fluid.phase.count, &fluid.key);
        device.submit(recorder)?.wait()?;
        Ok(fluid)
    }

    /// Records a measurement of the state; the result comes when the submission has run.
    ///
    /// Densities are found anew, at the positions the step ended with: those of its last iteration are one correction old.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingMetrics> {
        let (position, velocity) = (self.phase.position.front(), self.phase.velocity.front());
        self.solve_density(recorder, position, false);
        let pending = self.gauge.record(
            recorder,
            &self.phase.count,
            &self.parameters,
            position,
            velocity,
            &self.density,
        )?;
        Ok(pending.with_bodies(self.bodies.as_ref().map(|bodies| bodies.read(recorder)).transpose()?))
    }
}

impl std::fmt::Debug for Fluid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fluid").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}
