//! Snow and water on the device: the stages of a step, and the state between steps.

mod interface;
mod saved;

use super::boundary;
use super::constraints::Constraints;
use super::heat::Heat;
use super::links::{LinkCheck, Links};
use super::metrics::{PendingSnowMetrics, SnowMeasurePass};
use super::migration::Migration;
use super::output::Output;
use super::phase_particles::{InitialState, PhaseParticles};
use super::shape::Shape;
use super::terms::SnowParameters;
use crate::clock::Clock;
use crate::grab::GrabPass;
use crate::pair::register_bonds;
use crate::pbd::bodies::{Bodies, Displacement};
use crate::pbd::fault::FaultReport;
use crate::pbd::motion::{FaultDetection, Motion};
use crate::pbd::neighbour_rows::{NO_FLAG, NeighbourRows};
use crate::pbd::smoothing::Smoothing;
use crate::{BodyLoads, PendingFault, SolverError, Tuning};
use frazil_particles::ColumnKind;
use frazil_scene::{Phase, Sampled, Scene, WallModel};
use frazil_vk::{Buffer, Device, DeviceCount, DoubleBuffer, ReadbackRing, Recorder};

/// A stage of a step, for both phases unless it says otherwise; [`Snow::stages`] lists them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Applies gravity, and computes the cells of predicted positions.
    Integrate,
    /// Marks particles that leave their phase.
    MarkPhaseChange,
    /// Computes the ranks of particles that leave.
    ScanLeavers,
    /// Computes the destination of each particle, and the new count of each phase.
    Migrate,
    /// Sorts the particles by cell, and finds the first of each cell.
    SortByCell,
    /// Moves all columns, once per step, and remaps links.
    Reorder,
    /// Predicts positions.
    Predict,
    /// Lists the neighbours in both phases.
    ListNeighbours,
    /// Conducts heat between neighbours.
    Conduct,
    /// Solid: breaks links.
    BreakLinks,
    /// Solid: makes links.
    BuildLinks,
    /// Solid, with shape matching: gives frozen water a rest position in a shape.
    AttachToShape,
    /// Computes densities, multipliers, and the number of constraints on each particle.
    ComputeLambda,
    /// Corrects the predicted positions once.
    Solve {
        /// Number of the iteration within the step, from 0.
        iteration: u32,
    },
    /// Solid, with shape matching: moves particles towards the fit of their linked neighbourhood.
    ApplyShapeMatching,
    /// Solid: applies friction.
    ApplyFriction,
    /// Computes velocities after the constraints.
    UpdateVelocity,
    /// Solid, with dampers: damps the vibration of links.
    DampLinks,
    /// Smooths velocities by XSPH, and updates positions.
    SmoothVelocity,
    /// Ends the step, and the simulation after a fault.
    EndStep,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Solve { iteration } => write!(f, "Solve {iteration}"),
            other => std::fmt::Debug::fmt(other, f),
        }
    }
}

/// Two-phase position-based solver of snow and water on the device.
pub struct Snow {
    parameters: SnowParameters,
    solid: PhaseParticles,
    fluid: PhaseParticles,
    links: Links,
    rows: NeighbourRows,
    motion: Motion,
    migration: Migration,
    heat: Heat,
    shape: Option<Shape>,
    constraints: Constraints,
    bodies: Option<Bodies>,
    output: Output,
    metrics_pass: SnowMeasurePass,
    ring: ReadbackRing,
    grab: GrabPass,
    clock: Clock,
    fault: FaultReport,
    tuning: Tuning,
    capacity: u32,
}

impl Snow {
    /// Makes the snow and water of a scene from its sampled particles. Set-up only: waits for the device.
    ///
    /// # Errors
    /// The scene has no `[snow]`; out of memory, or a buffer larger than the device can bind.
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
        let parameters = SnowParameters::of(scene)?;
        let (mut solid, mut fluid) = (InitialState::default(), InitialState::default());
        for (idx, phase) in sampled.phases.iter().enumerate() {
            let is_solid = *phase == Phase::Snow;
            let initial = if is_solid { &mut solid } else { &mut fluid };
            let temperature_c = sampled.temperatures_c[idx];
            initial.position.push(sampled.positions_m[idx]);
            initial.velocity.push(sampled.velocities_m_s[idx]);
            initial.id.push(idx as u32);
            initial.temperature_c.push(temperature_c);
            let has_enthalpy = parameters.has_enthalpy();
            let enthalpy = if has_enthalpy { parameters.enthalpy_j_kg(temperature_c, is_solid) } else { 0.0 };
            initial.enthalpy_j_kg.push(enthalpy);
            initial.blend.push(1.0);
            let rest = if parameters.has_shape() { sampled.positions_m[idx] } else { [0.0; 3] };
            initial.rest_position.push(rest);
        }
        let mut snow = Self::with_initial_state(device, scene, parameters, [&solid, &fluid], tuning, 0)?;
        let mut recorder = device.recorder()?;
        snow.record_first_order(&mut recorder)?;
        device.submit(recorder)?.wait()?;
        Ok(snow)
    }

    fn with_initial_state(
        device: &Device,
        scene: &Scene,
        parameters: SnowParameters,
        [solid, fluid]: [&InitialState; 2],
        tuning: Tuning,
        step: u64,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let capacity = (solid.id.len() + fluid.id.len()) as u32;
        let phase_particles = |initial| PhaseParticles::new(device, &parameters, tuning, initial, capacity);
        let (solid, fluid) = (phase_particles(solid)?, phase_particles(fluid)?);
        let links = Links::new(device, &parameters, workgroup_size, capacity)?;
        let terms = parameters.terms(solid.grid.grid(), capacity);
        let springs = parameters.springs;
        let rows = NeighbourRows::new(device, &parameters.fluid, tuning, capacity, 2)?;
        let surroundings = &parameters.fluid.surroundings;
        let boundary = match scene.domain.walls {
            WallModel::Analytic => None,
            WallModel::Particles => Some(boundary::sample(device, scene, &parameters.fluid)?),
        };
        let clock = Clock::new(device, parameters.fluid.division, step)?;
        let bodies = Bodies::new(device, workgroup_size, &parameters.fluid, &clock, parameters.at_bodies())?;
        let mut output = Output::new(device, workgroup_size, &solid)?;
        let arrays = output.table_mut();
        register_bonds(arrays, "link", links.bonds());
        for (name, left) in [("melted", &solid), ("frozen", &fluid)] {
            let counts = DoubleBuffer::single(left.transition_counts.clone());
            arrays.array(name, "1", ColumnKind::U32, counts);
        }
        if let Some(bodies) = &bodies {
            bodies.register(arrays);
        }
        Ok(Self {
            motion: Motion::new(device, workgroup_size, &parameters.fluid, rows.words())?,
            migration: Migration::new(device, workgroup_size)?,
            heat: Heat::new(device, workgroup_size, parameters.has_corrected_conduction(), &rows)?,
            shape: match parameters.has_shape() {
                true => Some(Shape::new(device, workgroup_size, parameters.is_expanded(), capacity)?),
                false => None,
            },
            constraints: Constraints::new(
                device,
                workgroup_size,
                (terms, springs),
                surroundings,
                boundary,
                (&rows, capacity),
            )?,
            bodies,
            output,
            metrics_pass: SnowMeasurePass::new(device, capacity)?,
            ring: ReadbackRing::new(device),
            grab: GrabPass::new(device, workgroup_size)?,
            clock,
            fault: FaultReport::new(device, &["snow particle", "water particle"])?,
            tuning,
            rows,
            solid,
            fluid,
            links,
            parameters,
            capacity,
        })
    }

    /// Records the sort of the initial particles, the links of cold ones, and densities, so that the state
    /// before the first step is complete.
    fn record_first_order(&mut self, recorder: &mut Recorder) -> Result<(), SolverError> {
        self.integrate(recorder, 0.0);
        for phase_particles in [&self.solid, &self.fluid] {
            recorder.fill(&phase_particles.leaves, 0);
        }
        for stage in [Stage::ScanLeavers, Stage::Migrate, Stage::SortByCell, Stage::Reorder] {
            self.record_stage(recorder, stage);
        }
        self.predict(recorder, 0.0);
        self.links.build_first(recorder, &self.solid)?;
        self.compute_lambda(recorder);
        self.output.record(recorder, &self.solid, &self.fluid);
        if let Some(bodies) = &self.bodies {
            bodies.record_start(recorder);
        }
        Ok(())
    }

    /// Returns the stages of one step, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        use Stage::*;
        let (links, attach, match_shapes): (&[Stage], &[Stage], &[Stage]) = (
            if self.links.are_made() { &[BreakLinks, BuildLinks] } else { &[] },
            if self.shape.is_some() { &[AttachToShape] } else { &[] },
            if self.shape.is_some() { &[ApplyShapeMatching] } else { &[] },
        );
        let damp: &[Stage] = if self.constraints.damping_stages > 0 { &[DampLinks] } else { &[] };
        let iterations = (0..self.parameters.fluid.iterations).flat_map(|iteration| {
            [ComputeLambda, Solve { iteration }].into_iter().chain(match_shapes.iter().copied())
        });
        [
            Integrate,
            MarkPhaseChange,
            ScanLeavers,
            Migrate,
            SortByCell,
            Reorder,
            Predict,
            ListNeighbours,
            Conduct,
        ]
        .into_iter()
        .chain(links.iter().copied())
        .chain(attach.iter().copied())
        .chain(iterations)
        .chain([ApplyFriction, UpdateVelocity])
        .chain(damp.iter().copied())
        .chain([SmoothVelocity, EndStep])
    }

    /// Records one stage, so that tests can run the stages before or after it elsewhere, such as on the CPU.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) {
        if let Err(error) = self.try_stage(recorder, stage) {
            recorder.fail(error.during(stage));
        }
    }

    fn try_stage(&mut self, recorder: &mut Recorder, stage: Stage) -> Result<(), SolverError> {
        let dt_s = self.parameters.fluid.dt_s;
        let (solid, fluid) = (&mut self.solid, &mut self.fluid);
        match stage {
            Stage::Integrate => {
                self.clock.record_advance(recorder);
                self.record_places(recorder, true);
                self.integrate(recorder, dt_s);
            }
            Stage::MarkPhaseChange => {
                self.migration.mark_phase_change(recorder, &self.parameters, solid, true);
                self.migration.mark_phase_change(recorder, &self.parameters, fluid, false);
            }
            Stage::ScanLeavers => {
                self.migration.scan(recorder, solid)?;
                self.migration.scan(recorder, fluid)?;
            }
            Stage::Migrate => self.migration.migrate(recorder, solid, fluid),
            Stage::SortByCell => {
                for phase_particles in [solid, fluid] {
                    phase_particles.sort_by_cell(recorder)?;
                }
            }
            Stage::Reorder => {
                self.migration.reorder(recorder, solid, fluid);
                self.links.remap(recorder, &self.solid)?;
            }
            Stage::Predict => self.predict(recorder, dt_s),
            Stage::ListNeighbours => self.rows.record(recorder, &[solid.in_cells(), fluid.in_cells()]),
            Stage::Conduct => {
                self.rows.update(recorder, &[solid.in_cells(), fluid.in_cells()]);
                self.heat.conduct(recorder, &self.parameters, solid, fluid, &self.rows);
            }
            Stage::BreakLinks => self.links.break_some(recorder, solid)?,
            Stage::BuildLinks => self.links.build(recorder, solid)?,
            Stage::AttachToShape => {
                if let Some(shape) = &self.shape {
                    shape.attach(recorder, solid, &self.links);
                }
            }
            Stage::ComputeLambda => {
                self.rows.update(recorder, &[solid.in_cells(), fluid.in_cells()]);
                self.compute_lambda(recorder);
            }
            Stage::Solve { iteration } => {
                self.constraints.solve(recorder, solid, fluid, &self.links, &self.rows, iteration == 0);
                self.rows.note_moved();
                let of_snow = match (self.constraints.has_springs, iteration) {
                    (false, _) => Displacement::DensityConstraint,
                    (true, 0) => Displacement::Springs { undone: 1.0 },
                    (true, _) => Displacement::Springs { undone: self.parameters.springs.share as f32 },
                };
                self.project_phase_out(recorder, &self.solid, true, of_snow);
                let of_water = Displacement::DensityConstraint;
                self.project_phase_out(recorder, &self.fluid, false, of_water);
            }
            Stage::ApplyShapeMatching => {
                if let Some(shape) = &self.shape {
                    shape.match_shapes(recorder, solid, &self.links);
                    shape.keep(recorder, solid, &self.links, &self.constraints);
                    self.project_snow_out_of_bodies(recorder, Displacement::Other);
                    self.rows.note_moved();
                }
            }
            Stage::ApplyFriction => {
                self.rows.update(recorder, &[solid.in_cells(), fluid.in_cells()]);
                self.constraints.apply_friction(recorder, solid, &self.links, &self.rows);
                if let Some(bodies) = &self.bodies {
                    let interaction = &solid.interaction;
                    bodies.apply_friction(
                        recorder,
                        &solid.phase,
                        solid.predicted(),
                        &solid.contact,
                        interaction,
                    );
                    self.project_snow_out_of_bodies(recorder, Displacement::Other);
                }
            }
            Stage::UpdateVelocity => {
                for (phase, phase_particles) in (0..).zip([solid, fluid]) {
                    let limits = self.parameters.fluid.fault_limits(phase);
                    let faults = FaultDetection { faulty: &self.fault.faulty, limits };
                    self.motion.update_velocity(recorder, phase_particles, &faults, dt_s);
                }
            }
            Stage::DampLinks => self.constraints.damp_links(recorder, solid, &self.links),
            Stage::SmoothVelocity => {
                self.rows.update_at_end(recorder, &[solid.in_cells(), fluid.in_cells()]);
                self.smooth_velocity(recorder);
                self.rows.discard();
            }
            Stage::EndStep => self.fault.record_end(recorder, &self.clock, &[&**solid, &**fluid]),
        }
        Ok(())
    }

    /// Records the places of dynamic bodies in a step: first in it or, for what looks at them between two,
    /// now.
    fn record_places(&self, recorder: &mut Recorder, is_in_step: bool) {
        if let Some(bodies) = &self.bodies {
            bodies.record_places(recorder, is_in_step);
        }
    }

    fn integrate(&self, recorder: &mut Recorder, dt_s: f32) {
        for phase_particles in [&self.solid, &self.fluid] {
            self.motion.integrate(recorder, phase_particles, &self.parameters.fluid, None, [dt_s; 2]);
        }
    }

    fn predict(&self, recorder: &mut Recorder, dt_s: f32) {
        for phase_particles in [&self.solid, &self.fluid] {
            self.motion.predict(recorder, phase_particles, &self.parameters.fluid, dt_s);
        }
        // Before the first step nothing has moved: there is nothing to count.
        if dt_s > 0.0 {
            self.constraints.start_push(recorder, &self.solid);
            self.project_out_of_bodies(recorder, Displacement::Prediction);
        }
    }

    /// Records boundary densities, densities, multipliers and numbers of constraints at the predicted
    /// positions.
    fn compute_lambda(&self, recorder: &mut Recorder) {
        let at = [self.solid.predicted(), self.fluid.predicted()];
        self.compute_lambda_at(recorder, at, self.rows.flag());
    }

    fn compute_lambda_at(
        &self,
        recorder: &mut Recorder,
        [solid_at, fluid_at]: [&Buffer<[f32; 3]>; 2],
        row_flag: u32,
    ) {
        let (solid, fluid) = (&self.solid, &self.fluid);
        if let Some(bodies) = &self.bodies {
            let mut compute = |phase_particles: &PhaseParticles, at| {
                let count = &phase_particles.phase.count;
                bodies.compute_boundary_density(recorder, count, at, &phase_particles.interaction);
            };
            compute(solid, solid_at);
            // Boundary particles represent the bodies in the density of water, if there are any.
            if self.constraints.boundary.particles.is_empty() {
                compute(fluid, fluid_at);
            }
        }
        let (at, rows) = (((solid, solid_at), (fluid, fluid_at)), (&self.rows, row_flag));
        self.constraints.compute_lambda(recorder, at.0, at.1, &self.links, rows);
    }

    fn project_snow_out_of_bodies(&self, recorder: &mut Recorder, displacement: Displacement) {
        self.project_phase_out(recorder, &self.solid, true, displacement);
    }

    fn project_out_of_bodies(&self, recorder: &mut Recorder, displacement: Displacement) {
        self.project_phase_out(recorder, &self.solid, true, displacement);
        self.project_phase_out(recorder, &self.fluid, false, displacement);
    }

    fn project_phase_out(
        &self,
        recorder: &mut Recorder,
        phase_particles: &PhaseParticles,
        is_solid: bool,
        displacement: Displacement,
    ) {
        if let Some(bodies) = &self.bodies {
            let (count, places) =
                (&phase_particles.phase.count, (phase_particles.predicted(), &phase_particles.constraint));
            let what = (is_solid.then_some(&phase_particles.contact), displacement);
            bodies.project_out(recorder, count, places, &phase_particles.interaction, what, None);
        }
    }

    fn smooth_velocity(&mut self, recorder: &mut Recorder) {
        let p = &self.parameters;
        let water = Smoothing::of_water(&p.fluid);
        // Snow has no wall drag here: its friction with walls is a pass of its own.
        let snow = Smoothing { xsph_viscosity: p.xsph_share, ..Default::default() };
        for (number, (phase_particles, smoothing)) in
            [(&self.solid, snow), (&self.fluid, water)].into_iter().enumerate()
        {
            let rows = self.rows.buffer(number);
            self.motion.smooth_velocity(recorder, phase_particles, rows, &p.fluid, smoothing, false);
            if let Some(bodies) = self.bodies.as_ref().filter(|_| number == 1) {
                bodies.apply_drag(recorder, &phase_particles.phase, phase_particles.predicted(), smoothing);
            }
            phase_particles.accept_prediction();
        }
        if let Some(bodies) = &self.bodies {
            bodies.record_reduction(recorder);
        }
    }

    /// Returns the parameters that the kernels use.
    pub fn parameters(&self) -> &SnowParameters {
        &self.parameters
    }

    /// Returns the number of particles of both phases, which is constant.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns the snow particles.
    pub fn solid(&self) -> &PhaseParticles {
        &self.solid
    }

    /// Returns the water particles.
    pub fn fluid(&self) -> &PhaseParticles {
        &self.fluid
    }

    /// Returns the rows of neighbours of the last step.
    pub fn rows(&self) -> &NeighbourRows {
        &self.rows
    }

    /// Returns the links of snow.
    pub fn links(&self) -> &frazil_kernels::PairBonds {
        self.links.bonds()
    }

    /// Returns the displacement of each water particle by springs in the last step, in m; empty without
    /// springs of contacts, scratch between steps.
    pub fn elastic_m(&self) -> &Buffer<[f32; 3]> {
        &self.constraints.elastic_m
    }

    /// Returns the displacement by walls of each snow particle, summed over the iterations of a step, in m,
    /// and then, if there are springs, that by springs in the last step; scratch between steps.
    pub fn push_m(&self) -> &Buffer<[f32; 3]> {
        &self.constraints.push_m
    }

    /// Returns the displacement of each snow particle by bodies, summed over a step, in m, and the number of
    /// the last of these bodies plus one; empty without bodies, scratch between steps.
    pub fn body_push_m(&self) -> &Buffer<[f32; 4]> {
        &self.solid.interaction.push
    }

    /// Returns the boundary particles, (position, weight in particles), sorted by cell, which represent walls
    /// in the density of water; empty if the closed form does.
    pub fn boundary(&self) -> &Buffer<[f32; 4]> {
        &self.constraints.boundary.particles
    }

    /// Returns the velocities of snow and water after the constraints and before XSPH, in m/s; scratch
    /// between steps.
    pub fn updated(&self) -> [&Buffer<[f32; 3]>; 2] {
        [&self.solid, &self.fluid].map(|phase_particles| phase_particles.phase.velocity.back())
    }

    /// Returns the number of particles of both phases, on the device: the count of
    /// [`Solver::columns`](crate::Solver::columns).
    pub fn count(&self) -> &DeviceCount {
        self.output.count()
    }

    /// Records a measurement of the state; the result arrives after the submission has completed.
    ///
    /// Densities are recomputed at the final positions.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingSnowMetrics, SolverError> {
        let (solid, fluid) = (&self.solid, &self.fluid);
        self.compute_lambda_at(recorder, [solid.position(), fluid.position()], NO_FLAG);
        self.metrics_pass.record(recorder, &self.parameters, solid, fluid, &self.links)
    }

    /// Returns the lowest index of a particle of snow and of water with each kind of fault.
    pub fn faulty(&self) -> &Buffer<u32> {
        &self.fault.faulty
    }

    /// Records the read-back of the first fault of the previous steps.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_fault_check(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingFault> {
        self.fault.check(recorder, &self.clock, &self.parameters.fluid, u32::MAX)
    }

    /// Returns the loads on bodies, if the scene names any.
    pub fn body_loads(&self) -> Option<&BodyLoads> {
        self.bodies.as_ref().and_then(Bodies::named_loads)
    }

    /// Records a check of the links' invariants, if there are links: after a step, all counts are 0.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_link_check(&self, recorder: &mut Recorder) -> Result<Option<LinkCheck>, SolverError> {
        self.links.check(recorder, &self.ring, &self.solid)
    }
}

impl std::fmt::Debug for Snow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snow").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}
