//! Snow and water on the device: the list of a step, and the state from step to step.

mod saved;

use super::boundary;
use super::constraints::Constraints;
use super::heat::Heat;
use super::links::{LinkCheck, Links};
use super::matter::{Beginning, Matter};
use super::metrics::{PendingSnowMetrics, SnowGauge};
use super::migration::Migration;
use super::output::Output;
use super::shape::Shape;
use super::terms::SnowParameters;
use crate::SolverError;
use crate::pbd::bodies::{Bodies, Push};
use crate::pbd::motion::{Motion, Place};
use crate::pbd::tuning::Tuning;
use frazil_kernels::Counts;
use frazil_particles::ColumnView;
use frazil_scene::{Phase, Sampled, Scene, WallModel};
use frazil_vk::{Buffer, Device, DeviceCount, ReadbackRing, Recorder};

/// A stage of a step. The list of a step is [`Snow::stages`]; each is for both phases unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Gravity, and the cells of predicted positions.
    Integrate,
    /// Who leaves its phase.
    JudgePhase,
    /// The ranks of those who leave.
    ScanLeavers,
    /// Where everyone goes, and how many each phase then has.
    Migrate,
    /// The order of particles by cell, and where each cell begins in it.
    SortByCell,
    /// The step's one pass over the columns; links follow.
    Reorder,
    /// Predicted positions.
    Predict,
    /// Heat between neighbours.
    Conduct,
    /// Solid: links go.
    BreakLinks,
    /// Solid: links are made.
    BuildLinks,
    /// Solid, with shape matching: frozen water takes its place in a shape.
    AdoptShape,
    /// Densities, multipliers, and constraints a particle is under.
    Weigh,
    /// One correction of the predicted positions, of this number in the step.
    Solve {
        /// 0, 1, 2 …
        iteration: u32,
    },
    /// Solid, with shape matching: towards the fit of linked neighbourhoods.
    KeepShape,
    /// Solid: friction.
    Rub,
    /// Velocities after the constraints.
    UpdateVelocity,
    /// XSPH, and the new positions.
    SmoothVelocity,
}

/// Snow and water.
pub struct Snow {
    parameters: SnowParameters,
    solid: Matter,
    fluid: Matter,
    links: Links,
    motion: Motion,
    migration: Migration,
    heat: Heat,
    shape: Option<Shape>,
    constraints: Constraints,
    bodies: Option<Bodies>,
    output: Output,
    gauge: SnowGauge,
    ring: ReadbackRing,
    capacity: u32,
}

impl Snow {
    /// Makes the snow and water of a scene from its sampled particles. Set-up: it waits for the device.
    ///
    /// # Errors
    /// The scene has no `[snow]`; the device lacks memory or cannot bind buffers of this size.
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
        let parameters = SnowParameters::of(scene)?;
        let (mut solid, mut fluid) = (Beginning::default(), Beginning::default());
        for (idx, phase) in sampled.phases.iter().enumerate() {
            let is_solid = *phase == Phase::Snow;
            let begin = if is_solid { &mut solid } else { &mut fluid };
            let temperature_c = sampled.temperatures_c[idx];
            begin.position.push(sampled.positions_m[idx]);
            begin.velocity.push(sampled.velocities_m_s[idx]);
            begin.id.push(idx as u32);
            begin.temperature_c.push(temperature_c);
            let has_enthalpy = parameters.has_enthalpy();
            let enthalpy = if has_enthalpy { parameters.enthalpy_j_kg(temperature_c, is_solid) } else { 0.0 };
            begin.enthalpy_j_kg.push(enthalpy);
            begin.blend.push(1.0);
            let rest = if parameters.has_shape() { sampled.positions_m[idx] } else { [0.0; 3] };
            begin.rest_position.push(rest);
        }
        let mut snow = Self::with_beginning(device, scene, parameters, &solid, &fluid, tuning)?;
        let mut recorder = device.recorder()?;
        snow.record_first_order(&mut recorder)?;
        device.submit(recorder)?.wait()?;
        Ok(snow)
    }

    fn with_beginning(
        device: &Device,
        scene: &Scene,
        parameters: SnowParameters,
        solid: &Beginning,
        fluid: &Beginning,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let capacity = (solid.id.len() + fluid.id.len()) as u32;
        let counts = Counts::new(device)?;
        let matter = |begin| Matter::new(device, &counts, &parameters.fluid, tuning, begin, capacity);
        let (solid, fluid) = (matter(solid)?, matter(fluid)?);
        let links = Links::new(device, &parameters, workgroup_size, capacity)?;
        let terms = parameters.terms(solid.grid.grid(), capacity);
        let has_bodies = parameters.fluid.has_bodies();
        let friction = [terms.static_friction, terms.kinetic_friction];
        let boundary = match scene.domain.walls {
            WallModel::Analytic => None,
            WallModel::Particles => Some(boundary::sample(device, scene, &parameters.fluid)?),
        };
        Ok(Self {
            motion: Motion::new(device, workgroup_size)?,
            migration: Migration::new(device, workgroup_size)?,
            heat: Heat::new(device, workgroup_size)?,
            shape: match parameters.has_shape() {
                true => Some(Shape::new(device, workgroup_size, capacity)?),
                false => None,
            },
            constraints: Constraints::new(device, workgroup_size, terms, has_bodies, boundary, capacity)?,
            bodies: Bodies::new(device, workgroup_size, &parameters.fluid, friction)?,
            output: Output::new(device, workgroup_size, capacity)?,
            gauge: SnowGauge::new(device, capacity)?,
            ring: ReadbackRing::new(device),
            solid,
            fluid,
            links,
            parameters,
            capacity,
        })
    }

    /// Sorts the particles as they lie, links what is cold, and finds densities, so that the state before the first step is whole.
    fn record_first_order(&mut self, recorder: &mut Recorder) -> Result<(), SolverError> {
        self.integrate(recorder, 0.0);
        for matter in [&self.solid, &self.fluid] {
            recorder.fill(&matter.leaves, 0);
        }
        for stage in [Stage::ScanLeavers, Stage::Migrate, Stage::SortByCell, Stage::Reorder] {
            self.record_stage(recorder, stage);
        }
        self.predict(recorder, 0.0);
        self.links.build_first(recorder, &self.solid)?;
        self.weigh(recorder, false);
        self.output.record(recorder, &self.solid, &self.fluid);
        Ok(())
    }

    /// The stages of one step, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        use Stage::*;
        let (links, adopt, keep): (&[Stage], &[Stage], &[Stage]) = (
            if self.links.are_made() { &[BreakLinks, BuildLinks] } else { &[] },
            if self.shape.is_some() { &[AdoptShape] } else { &[] },
            if self.shape.is_some() { &[KeepShape] } else { &[] },
        );
        let iterations = (0..self.parameters.fluid.iterations)
            .flat_map(|iteration| [Weigh, Solve { iteration }].into_iter().chain(keep.iter().copied()));
        [Integrate, JudgePhase, ScanLeavers, Migrate, SortByCell, Reorder, Predict, Conduct]
            .into_iter()
            .chain(links.iter().copied())
            .chain(adopt.iter().copied())
            .chain(iterations)
            .chain([Rub, UpdateVelocity, SmoothVelocity])
    }

    /// Records one step.
    pub fn record_step(&mut self, recorder: &mut Recorder) {
        for stage in self.stages() {
            self.record_stage(recorder, stage);
        }
    }

    /// Records one stage: the switch that lets tests run the stages before it, or after it, somewhere else.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) {
        if let Err(error) = self.try_stage(recorder, stage) {
            recorder
                .fail(frazil_vk::Error::Misuse { object: format!("{stage:?}"), problem: error.to_string() });
        }
    }

    fn try_stage(&mut self, recorder: &mut Recorder, stage: Stage) -> Result<(), SolverError> {
        let dt_s = self.parameters.fluid.dt_s;
        let (solid, fluid) = (&mut self.solid, &mut self.fluid);
        match stage {
            Stage::Integrate => self.integrate(recorder, dt_s),
            Stage::JudgePhase => {
                self.migration.judge(recorder, &self.parameters, solid, true);
                self.migration.judge(recorder, &self.parameters, fluid, false);
            }
            Stage::ScanLeavers => {
                self.migration.scan(recorder, solid)?;
                self.migration.scan(recorder, fluid)?;
            }
            Stage::Migrate => self.migration.migrate(recorder, solid, fluid),
            Stage::SortByCell => {
                for matter in [solid, fluid] {
                    let count = &matter.phase.count;
                    matter.sort.record(recorder, count, &matter.grid, &matter.key, &matter.order)?;
                }
            }
            Stage::Reorder => {
                self.migration.reorder(recorder, &self.parameters, solid, fluid);
                self.links.remap(recorder, &self.solid)?;
            }
            Stage::Predict => self.predict(recorder, dt_s),
            Stage::Conduct => self.heat.conduct(recorder, &self.parameters, solid, fluid),
            Stage::BreakLinks => self.links.break_some(recorder, solid)?,
            Stage::BuildLinks => self.links.build(recorder, solid)?,
            Stage::AdoptShape => {
                if let Some(shape) = &self.shape {
                    shape.adopt(recorder, solid, &self.links);
                }
            }
            Stage::Weigh => self.weigh(recorder, true),
            Stage::Solve { iteration } => {
                self.constraints.solve(recorder, solid, fluid, &self.links, iteration == 0);
                self.push_out(recorder, Push::Corrected);
            }
            Stage::KeepShape => {
                if let Some(shape) = &self.shape {
                    shape.match_shapes(recorder, solid, &self.links);
                    shape.keep(recorder, solid, &self.links, &self.constraints);
                    self.push_snow_out(recorder, Push::Moved);
                }
            }
            Stage::Rub => {
                self.constraints.rub(recorder, solid);
                if let Some(bodies) = &self.bodies {
                    bodies.rub(recorder, &solid.phase, &solid.predicted, &solid.contact, &solid.near);
                    self.push_snow_out(recorder, Push::Moved);
                }
            }
            Stage::UpdateVelocity => {
                for matter in [solid, fluid] {
                    self.motion.update_velocity(recorder, &matter.phase, &matter.predicted, dt_s);
                }
            }
            Stage::SmoothVelocity => self.smooth_velocity(recorder),
        }
        Ok(())
    }

    fn integrate(&self, recorder: &mut Recorder, dt_s: f32) {
        for matter in [&self.solid, &self.fluid] {
            let (grid, p) = (matter.grid.grid(), &self.parameters.fluid);
            self.motion.integrate(recorder, &matter.phase, &matter.key, grid, p, dt_s);
        }
    }

    fn predict(&self, recorder: &mut Recorder, dt_s: f32) {
        for matter in [&self.solid, &self.fluid] {
            let walls = self.parameters.fluid.walls;
            self.motion.predict(recorder, &matter.phase, &matter.predicted, walls, dt_s);
        }
        // Before the first step nothing has moved: there is nothing to count.
        if dt_s > 0.0 {
            self.push_out(recorder, Push::First);
        }
    }

    /// What bodies cut off, densities, multipliers and numbers of constraints at the predicted positions.
    fn weigh(&self, recorder: &mut Recorder, is_within_step: bool) {
        let (solid, fluid) = (&self.solid, &self.fluid);
        let at = [&solid.predicted, &fluid.predicted];
        self.weigh_at(recorder, at, is_within_step);
    }

    fn weigh_at(
        &self,
        recorder: &mut Recorder,
        [solid_at, fluid_at]: [&Buffer<[f32; 3]>; 2],
        is_within_step: bool,
    ) {
        let (solid, fluid) = (&self.solid, &self.fluid);
        if let Some(bodies) = &self.bodies {
            bodies.weigh(recorder, &solid.phase.count, solid_at, &solid.near, is_within_step);
            // Where boundary particles stand for solids, closed forms do not.
            if self.constraints.boundary.particles.is_empty() {
                bodies.weigh(recorder, &fluid.phase.count, fluid_at, &fluid.near, is_within_step);
            }
        }
        self.constraints.weigh(recorder, (solid, solid_at), (fluid, fluid_at), &self.links);
    }

    fn push_snow_out(&self, recorder: &mut Recorder, push: Push) {
        if let Some(bodies) = &self.bodies {
            let (matter, count) = (&self.solid, &self.solid.phase.count);
            bodies.push_out(
                recorder,
                count,
                (&matter.predicted, &matter.constraint),
                &matter.near,
                (push, true),
            );
        }
    }

    fn push_out(&self, recorder: &mut Recorder, push: Push) {
        self.push_snow_out(recorder, push);
        if let Some(bodies) = &self.bodies {
            let (matter, count) = (&self.fluid, &self.fluid.phase.count);
            bodies.push_out(
                recorder,
                count,
                (&matter.predicted, &matter.constraint),
                &matter.near,
                (push, false),
            );
        }
    }

    fn smooth_velocity(&mut self, recorder: &mut Recorder) {
        let p = &self.parameters;
        let water = (p.fluid.xsph_viscosity, true);
        // What rubs snow against walls is friction.
        let snow = (p.snow.xsph_viscosity as f32, false);
        for (matter, coefficients) in [(&mut self.solid, snow), (&mut self.fluid, water)] {
            let place = Place { key: &matter.key, predicted: &matter.predicted, grid: &matter.grid };
            self.motion.smooth_velocity(recorder, &matter.phase, place, &p.fluid, coefficients);
            if let Some(bodies) = self.bodies.as_ref().filter(|_| coefficients.1) {
                bodies.drag(recorder, &matter.phase, &matter.predicted, coefficients.0);
            }
            // x ← x*: the predicted positions are the new ones.
            matter.predicted = matter.phase.position.replace_front(matter.predicted.clone());
        }
        if let Some(bodies) = &self.bodies {
            bodies.total(recorder);
        }
    }

    /// The numbers the kernels use.
    pub fn parameters(&self) -> &SnowParameters {
        &self.parameters
    }

    /// Particles of both phases, which neither appear nor vanish.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Snow.
    pub fn solid(&self) -> &Matter {
        &self.solid
    }

    /// Water.
    pub fn fluid(&self) -> &Matter {
        &self.fluid
    }

    /// The links of snow.
    pub fn links(&self) -> &frazil_kernels::Interlinks {
        self.links.records()
    }

    /// XPBD's multiplier of each slot of the links in N s², empty without compliance; scratch between steps.
    pub fn link_multiplier(&self) -> &Buffer<f32> {
        self.links.multiplier()
    }

    /// How far walls have pushed each snow particle in the iterations of a step, in m; scratch between steps.
    pub fn push_m(&self) -> &Buffer<[f32; 3]> {
        &self.constraints.push_m
    }

    /// How far bodies have pushed each snow particle in a step, in m, and the number of the last of them plus one; empty without bodies, scratch
    /// between steps.
    pub fn body_push(&self) -> &Buffer<[f32; 4]> {
        &self.solid.near.push
    }

    /// Boundary particles, (position, weight in particles), sorted by cell: what stands for walls in the density of water. Empty where
    /// their closed form does.
    pub fn boundary(&self) -> &Buffer<[f32; 4]> {
        &self.constraints.boundary.particles
    }

    /// Velocities of snow and water after the constraints and before XSPH, in m/s; scratch between steps.
    pub fn updated(&self) -> [&Buffer<[f32; 3]>; 2] {
        [&self.solid, &self.fluid].map(|matter| matter.phase.velocity.back())
    }

    /// How many particles there are in all, on the device: the count of [`Self::columns`].
    pub fn count(&self) -> &DeviceCount {
        self.output.count()
    }

    /// Records the merge of both phases into [`Self::columns`], which hold the state as of the last such record.
    pub fn record_output(&self, recorder: &mut Recorder) {
        self.output.record(recorder, &self.solid, &self.fluid);
    }

    /// What can be shown, recorded and exported, snow before water: position, velocity, id, density, temperature, blend, phase
    /// (1 snow, 0 water).
    pub fn columns(&self) -> Vec<ColumnView> {
        self.output.columns()
    }

    /// Records a measurement of the state; the result comes when the submission has run.
    ///
    /// Densities are found anew, at the positions the step ended with.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> Result<PendingSnowMetrics, SolverError> {
        let (solid, fluid) = (&self.solid, &self.fluid);
        self.weigh_at(recorder, [solid.position(), fluid.position()], false);
        let pending = self.gauge.record(recorder, &self.parameters, solid, fluid, &self.links)?;
        Ok(pending.with_bodies(self.bodies.as_ref().map(|bodies| bodies.read(recorder)).transpose()?))
    }

    /// Records a check of the links' invariants, where there are links: after a step, all counts are 0.
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
