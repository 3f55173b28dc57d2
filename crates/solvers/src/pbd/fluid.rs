//! Position-based fluid on the device.

mod interface;

use super::bodies::{Bodies, BodyBuffers, Displacement, SnowAtBodies};
use super::density_solve::DensitySolve;
use super::fault::FaultReport;
use super::metrics::{MeasurePass, PendingMetrics};
use super::motion::{FaultDetection, Motion};
use super::neighbour_rows::NeighbourRows;
use super::parameters::Parameters;
use super::particles::Particles;
use super::projection::{Projection, ProjectionKernels, ProjectionStep};
use super::smoothing::Smoothing;
use super::sources::FluidSources;
use crate::bodies::quanta_per_n_s;
use crate::clock::Clock;
use crate::fault::{Regrown, grown_capacity};
use crate::grab::GrabPass;
use crate::sources::{self, Sources};
use crate::{BodyLoads, PendingFault, Saved, SolverError, StateColumn, Surroundings, Tuning};
use frazil_particles::ParticleTable;
use frazil_scene::{Sampled, Scene};
use frazil_shaders::pbd::{solve_density, solve_positions};
use frazil_shaders::types::Emission;
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder};
use std::ops::Deref;

/// A stage of a step; [`Fluid::stages`] lists them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Adds the particles of emitters that appear before the step.
    Emit,
    /// Applies gravity, and computes the cells of predicted positions.
    Integrate,
    /// Sorts the particles by cell, and finds the first of each cell.
    SortByCell,
    /// Permutes the columns, once per step, and removes the particles in drains.
    Reorder,
    /// Predicts positions.
    Predict,
    /// Lists the neighbours of predicted positions.
    ListNeighbours,
    /// Makes all particles active, and each take a share of its last multiplier.
    BeginDensitySolve,
    /// Computes densities and multipliers at the predicted positions.
    SolveDensity,
    /// Makes no particle active if the density is within the tolerance.
    CheckDensity {
        /// Corrections of this step so far.
        iteration: u32,
    },
    /// Corrects the predicted positions once.
    SolvePositions,
    /// Computes velocities after the constraints.
    UpdateVelocity,
    /// Predicts the density constraint at the positions of the start of the step.
    BeginProjection,
    /// Computes the change of velocities by the pressure of an iteration.
    AccelerateByPressure,
    /// Updates the pressure once.
    UpdatePressure,
    /// Changes velocities by the pressure, and by collisions with bodies.
    ApplyPressure,
    /// Moves particles by their velocities, within the domain and out of bodies.
    Move,
    /// Smooths velocities by XSPH, and updates positions; in a projection at the start of the step, and only
    /// velocities.
    SmoothVelocity,
    /// Ends the step, and the simulation after a fault.
    EndStep,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CheckDensity { iteration } => write!(f, "CheckDensity {iteration}"),
            other => std::fmt::Debug::fmt(other, f),
        }
    }
}

/// Corrections of the density that take a disordered start to rest density: listings of neighbours, and
/// iterations after each. They leave the densest particle 2e-5 above rest density where blocks leave gaps at
/// a body, whose first load is then within 3 % of that after twice as many; a third of them 1e-3, and three
/// times the load.
const RELAXATION_STEPS: usize = 20;
const RELAXATION_ITERATIONS: usize = 15;

/// A position-based fluid. It dereferences to its particles.
pub struct Fluid {
    parameters: Parameters,
    particles: Particles,
    bodies: Option<Bodies>,
    kernels: Kernels,
    density_solve: DensitySolve,
    projection: Option<Projection>,
    sources: Option<FluidSources>,
    rows: NeighbourRows,
    metrics_pass: MeasurePass,
    grab: GrabPass,
    clock: Clock,
    /// Factor of the multipliers before the next step, if that has another length.
    multiplier_factor: Option<f32>,
    fault: FaultReport,
    tuning: Tuning,
}

struct Kernels {
    motion: Motion,
    solve_density: Kernel<solve_density::Interface>,
    solve_positions: Kernel<solve_positions::Interface>,
    projection: Option<ProjectionKernels>,
}

impl Kernels {
    fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        row_words: u32,
    ) -> frazil_vk::Result<Self> {
        let has_bodies = parameters.has_bodies().into();
        let is_complementary = u32::from(parameters.density_tolerance > 0.0);
        let has_images = u32::from(parameters.has_images);
        let periodic = parameters.periodic;
        let smoothing_kernel = parameters.kernel;
        let solve_density = solve_density::Specialization {
            workgroup_size,
            has_bodies,
            is_complementary,
            has_images,
            periodic,
            smoothing_kernel,
            row_words,
        };
        let solve_positions = solve_positions::Specialization {
            workgroup_size,
            has_bodies,
            has_images,
            periodic,
            smoothing_kernel,
            has_pressure: (parameters.pressure_strength != 0.0).into(),
            gradient_at_start: parameters.gradient_at_start.into(),
            row_words,
        };
        Ok(Self {
            motion: Motion::new(device, workgroup_size, parameters, row_words)?,
            solve_density: Kernel::specialized(device, &solve_density)?,
            solve_positions: Kernel::specialized(device, &solve_positions)?,
            projection: parameters
                .is_projection
                .then(|| ProjectionKernels::new(device, workgroup_size, parameters, row_words))
                .transpose()?,
        })
    }
}

/// Positions in m, velocities in m/s and ids of initial particles.
type Initial<'a> = (&'a [[f32; 3]], &'a [[f32; 3]], &'a [u32]);

/// What a fluid needs of a changed scene, created before anything changes.
pub struct PreparedFluid {
    parameters: Parameters,
    kernels: Kernels,
    bodies: Option<Bodies>,
}

impl PreparedFluid {
    /// Returns the bodies of the changed scene.
    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.parameters.surroundings
    }
}

impl Fluid {
    /// Makes the fluid of a scene from its sampled particles. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory, or a buffer larger than the device can bind.
    pub fn new(device: &Device, scene: &Scene, sampled: &Sampled) -> Result<Self, SolverError> {
        Self::with_tuning(device, scene, sampled, Tuning::default())
    }

    /// Like [`Self::new`], with other tunables: they change the time of a step and no bit of the state.
    ///
    /// # Errors
    /// Like [`Self::new`]; also tunables that exceed the device's limits.
    pub fn with_tuning(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let positions_m = scene.disordered_positions_m(sampled);
        let ids: Vec<u32> = (0..positions_m.len() as u32).collect();
        let initial: Initial<'_> = (&positions_m, &sampled.velocities_m_s, &ids);
        let capacity = scene.particle_capacity(ids.len() as u64, 0) as u32;
        let parameters = Parameters::from_scene(scene)?;
        let mut fluid = Self::with_initial(device, parameters, initial, (tuning, capacity), 0)?;
        if scene.initial_disorder_spacings() > 0.0 {
            fluid.relax(device)?;
        }
        let mut recorder = device.recorder()?;
        fluid.record_first_density(&mut recorder);
        device.submit(recorder)?.wait()?;
        Ok(fluid)
    }

    /// Corrects the density from the sampled positions, with all velocities as they are, so that
    /// particles of a disordered start do not push each other away in the first step.
    fn relax(&mut self, device: &Device) -> Result<(), SolverError> {
        for _ in 0..RELAXATION_STEPS {
            let mut recorder = device.recorder()?;
            self.integrate(&mut recorder, [0.0; 2]);
            for stage in [Stage::SortByCell, Stage::Reorder] {
                self.record_stage(&mut recorder, stage);
            }
            self.predict(&mut recorder, 0.0, Displacement::Prediction);
            self.rows.record(&mut recorder, &[self.particles.in_cells()]);
            if self.parameters.density_tolerance > 0.0 {
                self.record_stage(&mut recorder, Stage::BeginDensitySolve);
            }
            for stage in [Stage::SolveDensity, Stage::SolvePositions].repeat(RELAXATION_ITERATIONS) {
                self.record_stage(&mut recorder, stage);
            }
            self.particles.accept_prediction();
            device.submit(recorder)?.wait()?;
            self.density_solve.reset(device)?;
        }
        if let Some(bodies) = &self.bodies {
            bodies.reset(device)?;
        }
        Ok(())
    }

    fn with_initial(
        device: &Device,
        parameters: Parameters,
        initial: Initial<'_>,
        (tuning, capacity): (Tuning, u32),
        step: u64,
    ) -> Result<Self, SolverError> {
        let (workgroup_size, n) = (tuning.workgroup_size(), initial.2.len() as u32);
        let rows = NeighbourRows::new(device, &parameters, tuning, capacity, 1)?;
        let mut particles = Particles::new(device, &parameters, initial, (capacity, false), tuning)?;
        let clock = Clock::new(device, parameters.division, step)?;
        let density_solve =
            DensitySolve::new(device, workgroup_size, &parameters, &clock, &mut particles.table)?;
        let multiplier = density_solve.multiplier.words();
        let sources =
            FluidSources::new(device, workgroup_size, &parameters, (n, &mut particles.table), multiplier)?;
        let bodies = Bodies::new(device, workgroup_size, &parameters, &clock, SnowAtBodies::NONE)?;
        if let Some(bodies) = &bodies {
            bodies.register(&mut particles.table);
        }
        Ok(Self {
            kernels: Kernels::new(device, workgroup_size, &parameters, rows.words())?,
            rows,
            metrics_pass: MeasurePass::new(device, capacity)?,
            projection: parameters.is_projection.then(|| Projection::new(device, capacity)).transpose()?,
            density_solve,
            sources,
            particles,
            bodies,
            grab: GrabPass::new(device, workgroup_size)?,
            clock,
            multiplier_factor: None,
            fault: FaultReport::new(device, &["particle"])?,
            tuning,
            parameters,
        })
    }

    /// Returns the stages of one step, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        use Stage::*;
        let mut stages = Vec::new();
        if self.parameters.sources.has_emitters() {
            stages.push(Emit);
        }
        stages.extend([Integrate, SortByCell, Reorder]);
        if self.projection.is_some() {
            stages.extend([ListNeighbours, SmoothVelocity, BeginProjection]);
            for iteration in 1..=self.parameters.max_iterations {
                stages.extend([AccelerateByPressure, UpdatePressure, CheckDensity { iteration }]);
            }
            stages.extend([ApplyPressure, Move, EndStep]);
        } else {
            stages.extend([Predict, ListNeighbours]);
            stages.extend(self.density_stages());
            stages.extend([UpdateVelocity, SmoothVelocity, EndStep]);
        }
        stages.into_iter()
    }

    fn density_stages(&self) -> Vec<Stage> {
        use Stage::*;
        let (min, max) = (self.parameters.iterations, self.parameters.max_iterations);
        let mut stages = Vec::new();
        if self.parameters.density_tolerance > 0.0 {
            stages.extend([BeginDensitySolve, SolvePositions]);
            for iteration in 0..max {
                stages.push(SolveDensity);
                if iteration >= min {
                    stages.push(CheckDensity { iteration });
                }
                stages.push(SolvePositions);
            }
            stages.extend([SolveDensity, CheckDensity { iteration: max }]);
        } else {
            stages.extend((0..min).flat_map(|_| [SolveDensity, SolvePositions]));
        }
        stages
    }

    /// Records one stage, so that tests can run the stages before or after it elsewhere, such as on the CPU.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) {
        match stage {
            Stage::Emit => {
                self.begin_step(recorder);
                if let Some(sources) = &self.sources {
                    sources.emit(recorder, &self.particles, self.clock.buffer(), &self.fault.faulty);
                }
            }
            Stage::Integrate => {
                if !self.parameters.sources.has_emitters() {
                    self.begin_step(recorder);
                }
                let dt_s = self.parameters.dt_s;
                self.integrate(recorder, [dt_s, if self.projection.is_some() { 0.0 } else { dt_s }]);
            }
            Stage::SortByCell => {
                if let Err(error) = self.particles.sort_by_cell(recorder) {
                    recorder.fail(error.during(stage));
                }
            }
            Stage::Reorder => {
                self.particles.table.permute(recorder, &self.particles.order);
                if let Some(sources) = &self.sources {
                    sources.remove_drained(recorder, &self.particles);
                }
            }
            Stage::Predict => self.predict(recorder, self.parameters.dt_s, Displacement::Prediction),
            Stage::ListNeighbours => {
                let is_at_start = self.projection.is_some();
                let particles = &self.particles;
                let cells = if is_at_start { particles.in_cells_at_start() } else { particles.in_cells() };
                self.rows.record(recorder, &[cells]);
            }
            Stage::BeginDensitySolve => self.begin_density_solve(recorder),
            Stage::SolveDensity => self.solve_density(recorder, self.predicted(), true),
            Stage::CheckDensity { iteration } => {
                let count = &self.particles.phase.count;
                if let Err(error) = self.density_solve.record_check(recorder, count, iteration) {
                    recorder.fail(error.during(stage));
                }
            }
            Stage::SolvePositions => self.solve_positions(recorder),
            Stage::UpdateVelocity => self.update_velocity(recorder),
            Stage::SmoothVelocity if self.projection.is_some() => self.smooth_at_start(recorder),
            Stage::SmoothVelocity => self.smooth_velocity(recorder),
            Stage::BeginProjection => self.begin_projection(recorder),
            Stage::AccelerateByPressure => {
                let (projection, step) = self.projection_step();
                projection.record_acceleration(recorder, step, &self.density_solve.active, false);
            }
            Stage::UpdatePressure => {
                let (projection, step) = self.projection_step();
                projection.record_update(recorder, step);
            }
            Stage::ApplyPressure => self.apply_pressure(recorder),
            Stage::Move => self.move_particles(recorder),
            Stage::EndStep => self.fault.record_end(recorder, &self.clock, &[&self.particles]),
        }
    }

    fn begin_step(&mut self, recorder: &mut Recorder) {
        if let Some(factor) = self.multiplier_factor.take() {
            self.density_solve.record_scale(recorder, &self.phase.count, factor);
        }
        self.clock.record_advance(recorder);
        self.record_places(recorder, true);
    }

    /// Records the places of dynamic bodies in a step: first in it or, for what looks at them between two,
    /// now.
    pub(crate) fn record_places(&self, recorder: &mut Recorder, is_in_step: bool) {
        if let Some(bodies) = &self.bodies {
            bodies.record_places(recorder, is_in_step);
        }
    }

    /// Records the sort of the initial particles and their densities, so that a frame before the first step
    /// shows them, and the first impulses of dynamic bodies.
    fn record_first_density(&mut self, recorder: &mut Recorder) {
        self.integrate(recorder, [0.0; 2]);
        for stage in [Stage::SortByCell, Stage::Reorder] {
            self.record_stage(recorder, stage);
        }
        self.rows.discard();
        self.solve_density(recorder, self.phase.position.front(), false);
        if let Some(bodies) = &self.bodies {
            bodies.record_start(recorder);
        }
    }

    fn integrate(&self, recorder: &mut Recorder, times_s: [f32; 2]) {
        let (motion, p) = (&self.kernels.motion, &self.parameters);
        let drains = self.sources.as_ref().and_then(|sources| sources.drains());
        motion.integrate(recorder, &self.particles, p, drains, times_s);
    }

    /// Returns the projection, and what its passes bind.
    fn projection_step(&self) -> (&Projection, ProjectionStep<'_>) {
        let step = ProjectionStep {
            kernels: self.kernels.projection.as_ref().expect("a projection has its kernels"),
            particles: &self.particles,
            solve: &self.density_solve,
            rows: &self.rows,
            parameters: &self.parameters,
            held: self.held().unwrap_or(self.key()),
        };
        (self.projection.as_ref().expect("stages are those of a projection"), step)
    }

    fn begin_projection(&self, recorder: &mut Recorder) {
        if let Some(bodies) = &self.bodies {
            bodies.compute_boundary_density_at_start(recorder, &self.phase, &self.interaction);
        }
        let (projection, step) = self.projection_step();
        projection.record_begin(recorder, step);
        if let Err(error) = self.density_solve.record_activation(recorder, &self.phase.count) {
            recorder.fail(error.during(Stage::BeginProjection));
        }
    }

    fn apply_pressure(&self, recorder: &mut Recorder) {
        let (projection, step) = self.projection_step();
        projection.record_acceleration(recorder, step, &self.phase.count, true);
        if let Some(bodies) = &self.bodies {
            let multiplier = self.density_solve.multiplier();
            bodies.collide(recorder, &self.phase, multiplier, &self.interaction);
        }
    }

    /// Records the motion of particles by their velocities at the end of a projection.
    fn move_particles(&mut self, recorder: &mut Recorder) {
        self.predict(recorder, self.parameters.dt_s, Displacement::Motion);
        self.update_velocity(recorder);
        if let Some(bodies) = &self.bodies {
            bodies.record_reduction(recorder);
        }
        self.phase.velocity.swap();
        self.particles.accept_prediction();
        self.rows.discard();
    }

    /// Records XSPH and drag of the velocities at the start of the step.
    fn smooth_at_start(&self, recorder: &mut Recorder) {
        let p = &self.parameters;
        let smoothing = Smoothing::of_water(p);
        let motion = &self.kernels.motion;
        motion.smooth_velocity(recorder, &self.particles, self.rows.buffer(0), p, smoothing, true);
        self.phase.velocity.swap();
        if let Some(bodies) = &self.bodies {
            bodies.apply_drag(recorder, &self.phase, self.phase.position.front(), smoothing);
        }
        if let Some(sources) = &self.sources {
            sources.hold(recorder, &self.particles, self.density_solve.multiplier());
        }
    }

    fn predict(&self, recorder: &mut Recorder, dt_s: f32, displacement: Displacement) {
        let (motion, p) = (&self.kernels.motion, &self.parameters);
        motion.predict(recorder, &self.particles, p, dt_s);
        self.project_out_of_bodies(recorder, displacement);
    }

    /// Returns the number of particles that the density solve still corrects.
    fn active(&self) -> &DeviceCount {
        let is_adaptive = self.parameters.density_tolerance > 0.0;
        if is_adaptive { &self.density_solve.active } else { &self.phase.count }
    }

    fn begin_density_solve(&self, recorder: &mut Recorder) {
        self.density_solve.record_begin(recorder, &self.phase.count, self.predicted(), &self.constraint);
        if let Some(bodies) = &self.bodies {
            let (count, interaction) = (&self.phase.count, &self.interaction);
            bodies.compute_boundary_density(recorder, count, self.predicted(), interaction);
        }
    }

    fn project_out_of_bodies(&self, recorder: &mut Recorder, displacement: Displacement) {
        if let Some(bodies) = &self.bodies {
            let is_corrected = displacement == Displacement::DensityConstraint;
            let count = if is_corrected { self.active() } else { &self.phase.count };
            let places = (self.predicted(), &self.constraint);
            // The prediction comes before the rows.
            let rows = (is_corrected && self.rows.slots() > 0).then_some(&self.rows);
            let what = (None, displacement);
            bodies.project_out(recorder, count, places, &self.interaction, what, rows);
        }
    }

    fn solve_density(&self, recorder: &mut Recorder, at: &Buffer<[f32; 3]>, is_within_step: bool) {
        let count = if is_within_step { self.active() } else { &self.phase.count };
        if let Some(bodies) = &self.bodies {
            bodies.compute_boundary_density(recorder, count, at, &self.interaction);
        }
        let bindings = solve_density::Bindings {
            count,
            key: self.key(),
            cell_start: self.grid.cell_start(),
            predicted: at,
            boundary_density: &self.interaction.boundary_density,
            constraint: &self.constraint,
            density: &self.density,
            multiplier: self.density_solve.multiplier.front(),
            excess: &self.density_solve.excess,
            rows: self.rows.buffer(0),
        };
        let p = &self.parameters;
        let params = solve_density::Params {
            grid: self.grid.grid(),
            walls: p.walls,
            support_m: p.support_m,
            volume_h3: p.volume_h3,
            rest_density_kg_m3: p.rest_density_kg_m3,
            relaxation: p.relaxation,
            row_flag: self.rows.flag(),
        };
        recorder.dispatch_counted(&self.kernels.solve_density, bindings, params);
    }

    fn solve_positions(&mut self, recorder: &mut Recorder) {
        let count = self.active();
        let bindings = solve_positions::Bindings {
            count,
            key: self.key(),
            cell_start: self.grid.cell_start(),
            constraint: &self.constraint,
            boundary_density: &self.interaction.boundary_density,
            predicted: self.predicted(),
            multiplier: self.density_solve.multiplier.front(),
            rows: self.rows.buffer(0),
            listed: self.rows.listed(0),
            position: self.phase.position.front(),
            residual_m: self.particles.residual.back(),
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
            max_moved_q2: self.rows.max_moved_q2(),
            row_flag: self.rows.flag(),
        };
        recorder.dispatch_counted(&self.kernels.solve_positions, bindings, params);
        self.rows.advance();
        self.project_out_of_bodies(recorder, Displacement::DensityConstraint);
    }

    fn update_velocity(&self, recorder: &mut Recorder) {
        let dt_s = self.parameters.dt_s;
        let limits = self.parameters.fault_limits(0);
        let faults = FaultDetection { faulty: &self.fault.faulty, limits };
        let motion = &self.kernels.motion;
        motion.update_velocity(recorder, &self.particles, &faults, dt_s);
    }

    fn smooth_velocity(&mut self, recorder: &mut Recorder) {
        let p = &self.parameters;
        let smoothing = Smoothing::of_water(p);
        let motion = &self.kernels.motion;
        motion.smooth_velocity(recorder, &self.particles, self.rows.buffer(0), p, smoothing, false);
        if let Some(bodies) = &self.bodies {
            bodies.apply_drag(recorder, &self.phase, self.predicted(), smoothing);
            bodies.record_reduction(recorder);
        }
        self.particles.accept_prediction();
    }

    /// Records XSPH alone, of the velocities after the constraints, for a solver that goes on from these.
    pub(crate) fn smooth_updated(&mut self, recorder: &mut Recorder) {
        let p = &self.parameters;
        let smoothing = Smoothing { viscosity_share: 0.0, ..Smoothing::of_water(p) };
        let motion = &self.kernels.motion;
        motion.smooth_velocity(recorder, &self.particles, self.rows.buffer(0), p, smoothing, false);
        let velocity = &self.phase.velocity;
        recorder.copy(velocity.front(), velocity.back(), velocity.front().len());
    }

    /// Returns the buffers of the bodies, if the scene has any.
    pub(crate) fn body_buffers(&self) -> Option<BodyBuffers<'_>> {
        self.bodies.as_ref().map(Bodies::buffers)
    }

    /// Returns the impulse and the angular impulse of this step so far on each body that the scene names, as
    /// 64-bit integers of 1/[`Self::quanta_per_n_s`] N s and N m s; none without bodies.
    pub fn body_impulses(&self) -> Option<&Buffer<u32>> {
        self.body_buffers().map(|bodies| bodies.sums)
    }

    /// Returns the quanta of impulses per N s.
    pub fn quanta_per_n_s(&self) -> f32 {
        quanta_per_n_s(self.parameters.particle_mass_kg)
    }

    /// Records the drag of bodies on the velocities if `has_drag`, and the end of the step, for a solver that
    /// computes velocities itself.
    pub(crate) fn end_step(&mut self, recorder: &mut Recorder, has_drag: bool) {
        if let Some(bodies) = &self.bodies {
            if has_drag {
                let velocity = &self.phase.velocity;
                recorder.copy(velocity.front(), velocity.back(), velocity.front().len());
                let smoothing = Smoothing::of_water(&self.parameters);
                bodies.apply_drag(recorder, &self.phase, self.predicted(), smoothing);
            }
            bodies.record_reduction(recorder);
        }
        self.particles.accept_prediction();
        self.fault.record_end(recorder, &self.clock, &[&self.particles]);
    }

    /// Returns the lowest index of a particle with each kind of fault, on the device.
    pub fn faulty(&self) -> &Buffer<u32> {
        &self.fault.faulty
    }

    /// Records the read-back of the first fault of the previous steps.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_fault_check(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingFault> {
        self.fault.check(recorder, &self.clock, &self.parameters, self.phase.count.capacity)
    }

    /// Records the densities at the positions of the state.
    pub(crate) fn record_density(&self, recorder: &mut Recorder) {
        self.solve_density(recorder, self.phase.position.front(), false);
    }

    /// Returns the table of columns, to which a solver that goes on from this one adds its own.
    pub(crate) fn table_mut(&mut self) -> &mut ParticleTable {
        &mut self.particles.table
    }

    /// Creates what depends on the parameters of a scene, for [`Self::adopt`].
    ///
    /// # Errors
    /// Like [`Solver::set_scene`](crate::Solver::set_scene).
    pub fn prepare_scene(&self, device: &Device, scene: &Scene) -> Result<PreparedFluid, SolverError> {
        let parameters = Parameters::from_scene(scene)?;
        if (parameters.density_tolerance > 0.0) != self.density_solve.is_adaptive() {
            return Err(SolverError::Fixed {
                key: "pbd.density_tolerance".to_owned(),
                problem: "expected 0 if it was 0, else a number above 0".to_owned(),
            });
        }
        if parameters.is_projection != self.projection.is_some() {
            return Err(SolverError::Fixed {
                key: "pbd.pressure".to_owned(),
                problem: "expected the method of the start; an artificial pressure implies \"position\""
                    .to_owned(),
            });
        }
        let workgroup_size = self.tuning.workgroup_size();
        let kernels = Kernels::new(device, workgroup_size, &parameters, self.rows.words())?;
        let bodies = Bodies::new(device, workgroup_size, &parameters, &self.clock, SnowAtBodies::NONE)?;
        Ok(PreparedFluid { parameters, kernels, bodies })
    }

    /// Adopts the parameters of a scene.
    pub fn adopt(&mut self, prepared: PreparedFluid) {
        let PreparedFluid { parameters, kernels, bodies } = prepared;
        if let (Some(old), Some(new)) = (&mut self.bodies, bodies) {
            old.adopt(new, &parameters.surroundings);
        }
        if self.density_solve.is_adaptive() && parameters.dt_s != self.parameters.dt_s {
            // The multiplier is a pressure times Δt².
            let factor = (parameters.dt_s / self.parameters.dt_s).powi(2);
            self.multiplier_factor = Some(self.multiplier_factor.unwrap_or(1.0) * factor);
        }
        self.clock.divide(parameters.division);
        self.density_solve.set_parameters(&parameters);
        self.kernels = kernels;
        self.rows.set_parameters(&parameters);
        self.parameters = parameters;
    }

    /// Returns the time in s after what has been recorded, and a number of substeps more.
    pub(crate) fn recorded_s(&self, substeps: f64) -> f64 {
        self.clock.recorded_s(substeps, self.parameters.dt_s)
    }

    /// Returns the parameters that the kernels use.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the number of particles, on the device.
    pub fn count(&self) -> &DeviceCount {
        &self.phase.count
    }

    /// Restores the fluid of a scene from the state saved after `step` steps, bit for bit. Set-up only: waits
    /// for the device.
    ///
    /// # Errors
    /// Like [`Self::new`]; also a column that is missing or has another length.
    pub fn restore(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let n = Saved::new(state)?.ids.len() as u64;
        let capacity = scene.particle_capacity(n, step) as u32;
        Self::restored(device, Parameters::from_scene(scene)?, state, (tuning, capacity), step)
    }

    fn restored(
        device: &Device,
        parameters: Parameters,
        state: &[StateColumn],
        (tuning, capacity): (Tuning, u32),
        step: u64,
    ) -> Result<Self, SolverError> {
        let saved = Saved::new(state)?;
        let initial: Initial<'_> = (&[], &[], saved.ids);
        let fluid = Self::with_initial(device, parameters, initial, (tuning, capacity), step)?;
        fluid.table.restore(&saved)?;
        let mut recorder = device.recorder()?;
        fluid.grid.record_cell_ranges(&mut recorder, &fluid.phase.count, fluid.key());
        device.submit(recorder)?.wait()?;
        Ok(fluid)
    }

    /// Goes on with more room if the first step that was held is one whose emitted particles had none. Waits
    /// for the device.
    ///
    /// # Errors
    /// Out of memory, or more than the device can bind.
    pub(crate) fn regrow(&mut self, device: &Device) -> Result<Option<Regrown>, SolverError> {
        let held = sources::held(device, self.sources())?;
        let (Some((place, n_begun)), Some([n_held, n_required])) = (self.clock.fault(device)?, held) else {
            return Ok(None);
        };
        // A substep exchanges the buffers of some columns; after two they are those of the state again.
        if n_begun % 2 == 1 {
            let mut recorder = device.recorder()?;
            for stage in self.stages() {
                self.record_stage(&mut recorder, stage);
            }
            device.submit(recorder)?.wait()?;
        }
        let state = sources::download_state(device, &self.table, n_held)?;
        let from = self.phase.count.capacity;
        let to = grown_capacity(from, n_required, u32::MAX);
        let parameters = self.parameters.clone();
        *self = Self::restored(device, parameters, &state, (self.tuning, to), place.step)?;
        Ok(Some(Regrown { place, object: "particles", from, to }))
    }

    /// Records a measurement of the state; the result arrives after the submission has completed.
    ///
    /// Densities are recomputed at the final positions: those of the last iteration precede its
    /// correction.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingMetrics> {
        let (position, velocity) = (self.phase.position.front(), self.phase.velocity.front());
        self.solve_density(recorder, position, false);
        self.metrics_pass.record(
            recorder,
            &self.phase.count,
            &self.parameters,
            position,
            velocity,
            &self.density,
        )
    }

    /// Lists from now on the neighbours at the start of the step, too, for passes over these. Set-up only.
    ///
    /// # Errors
    /// The device does not accept the kernel.
    pub fn list_neighbours_at_start(&mut self, device: &Device) -> Result<(), SolverError> {
        Ok(self.rows.include_start(device)?)
    }

    /// Returns the rows of neighbours of the last step.
    pub fn rows(&self) -> &NeighbourRows {
        &self.rows
    }

    /// Returns the projection, if the scene has one.
    pub fn projection(&self) -> Option<&Projection> {
        self.projection.as_ref()
    }

    /// Returns the progress of the density solve.
    pub fn density_solve(&self) -> &DensitySolve {
        &self.density_solve
    }

    /// Returns the numbers of particles emitted and drained so far, on the device, if the scene has emitters
    /// or drains.
    pub fn emission(&self) -> Option<&Buffer<Emission>> {
        self.sources.as_ref().map(|sources| sources.emission())
    }

    /// Returns 1 for each particle in the pipe of an emitter, during a step; scratch between steps.
    pub fn held(&self) -> Option<&Buffer<u32>> {
        self.sources.as_ref().and_then(FluidSources::held)
    }

    /// Returns the emitters and drains, if the scene has any.
    pub(crate) fn sources(&self) -> Option<&Sources> {
        self.sources.as_deref()
    }

    /// Returns the loads on bodies, if the scene names any.
    pub fn body_loads(&self) -> Option<&BodyLoads> {
        self.bodies.as_ref().and_then(Bodies::named_loads)
    }
}

impl Deref for Fluid {
    type Target = Particles;

    fn deref(&self) -> &Particles {
        &self.particles
    }
}

impl std::fmt::Debug for Fluid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fluid").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}
