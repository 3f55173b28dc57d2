//! Viscoelastic fluid on the device.

mod interface;

use super::feed::Feed;
use super::heat::Heat;
use super::metrics::{MeasurePass, PendingViscoelasticMetrics};
use super::parameters::Parameters;
use super::springs::{SpringCheck, Springs};
use super::stress::{Part, Place, Stress};
use super::viscosity::Viscosity;
use crate::pair::register_bonds;
use crate::pbd::{self, Fluid};
use crate::{BodyLoads, Saved, Solver, SolverError, StateColumn, Tuning};
use frazil_scene::{Sampled, Scene};
use frazil_shaders::viscoelastic::collide_walls;
use frazil_shaders::viscoelastic::terms::{CONFORMATION, STRAIN_TENSOR};
use frazil_vk::{Device, Kernel, Recorder};

/// A stage of a step; [`Viscoelastic::stages`] lists them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A stage of the position-based fluid.
    Fluid(pbd::Stage),
    /// Permutes springs.
    ReorderSprings,
    /// Makes springs between neighbours that have none.
    BuildSprings,
    /// Moves fed particles as in a pipe, within the stages of the position-based fluid.
    HoldPrediction,
    /// Moves fed particles as in a pipe, and gives them the velocity of the feed.
    HoldFeed,
    /// Conducts heat between neighbours, and through faces that have a temperature.
    ConductHeat,
    /// Computes the factors by which temperature multiplies viscosity.
    ShiftViscosity,
    /// Updates viscosity, and the neighbourhoods on which it acts, before it is solved implicitly.
    UpdateViscosity,
    /// Updates conformation and stress by the displacements of the step.
    UpdateStress,
    /// Applies restitution and friction of walls.
    CollideWalls,
    /// Smooths velocities by XSPH.
    SmoothVelocity,
    /// Updates the rest lengths of springs that have yielded.
    UpdateSprings,
    /// Removes springs whose rest lengths exceed the support radius.
    BreakSprings,
    /// Applies springs to velocities, and adds their stress.
    ApplySprings,
    /// Gives fed particles the velocity of the feed after springs have acted on them.
    HoldFedVelocity,
    /// Applies the stress explicitly, that of elasticity alone where viscosity is solved implicitly.
    ApplyStress,
    /// Starts the implicit solve of viscosity.
    BeginViscosity,
    /// Iterates the implicit solve once.
    IterateViscosity {
        /// Iterations before.
        iteration: u32,
    },
    /// Moves particles by the impulse of the implicit solve.
    EndViscosity,
    /// Shifts particles of stretched fluid to where neighbours are sparse.
    ShiftParticles,
    /// Accepts the predicted positions, and ends the step.
    EndStep,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fluid(stage) => stage.fmt(f),
            Self::IterateViscosity { iteration } => write!(f, "IterateViscosity {iteration}"),
            other => std::fmt::Debug::fmt(other, f),
        }
    }
}

/// A viscoelastic fluid.
pub struct Viscoelastic {
    parameters: Parameters,
    fluid: Fluid,
    stress: Stress,
    viscosity: Option<Viscosity>,
    springs: Option<Springs>,
    heat: Option<Heat>,
    collide_walls: Kernel<collide_walls::Interface>,
    feed: Feed,
    metrics_pass: MeasurePass,
}

impl Viscoelastic {
    /// Makes the fluid of a scene from its sampled particles. Set-up only: waits for the device.
    ///
    /// # Errors
    /// Out of memory, or a buffer larger than the device can bind; tunables that exceed the device's limits.
    pub fn with_tuning(
        device: &Device,
        scene: &Scene,
        sampled: &Sampled,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let parameters = Parameters::from_scene(scene);
        let mut sampled = sampled.clone();
        if parameters.shear.as_ref().is_some_and(|shear| shear.is_developed) {
            // An implicit solve makes velocities of the last half step those of the next one.
            let steps = if parameters.is_implicit { -0.5 } else { 0.5 };
            let speed = parameters.wall_speed_m_s(steps * scene.dt_s());
            let (low, high) = (scene.domain.min_m[1] as f32, scene.domain.max_m[1] as f32);
            for (v, x) in sampled.velocities_m_s.iter_mut().zip(&sampled.positions_m) {
                v[0] += speed * (2.0 * x[1] - low - high) / (high - low);
            }
        }
        if let Some(feed) = &parameters.feed {
            let up = scene.up_axis.index();
            for (v, x) in sampled.velocities_m_s.iter_mut().zip(&sampled.positions_m) {
                if x[up] > parameters.terms.feed_mouth_m {
                    *v = feed.velocity_m_s;
                }
            }
        }
        let fluid = Fluid::with_tuning(device, scene, &sampled, tuning)?;
        let own = Self::with_fluid(device, parameters, fluid, tuning)?;
        if let Some(heat) = &own.heat {
            device.upload(heat.temperature.front(), &sampled.temperatures_c)?;
        }
        if let Some(springs) = &own.springs {
            let mut recorder = device.recorder()?;
            springs.build_first(&mut recorder, &own.fluid)?;
            device.submit(recorder)?.wait()?;
        }
        Ok(own)
    }

    fn with_fluid(
        device: &Device,
        parameters: Parameters,
        mut fluid: Fluid,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        if parameters.is_implicit {
            fluid.list_neighbours_at_start(device)?;
        }
        let workgroup_size = tuning.workgroup_size();
        let capacity = fluid.count().capacity;
        let viscosity = match parameters.is_implicit {
            true => Some(Viscosity::new(device, workgroup_size, &parameters, &mut fluid)?),
            false => None,
        };
        let springs = match parameters.springs {
            Some(own) => Some(Springs::new(device, workgroup_size, own, capacity)?),
            None => None,
        };
        if let Some(springs) = &springs {
            register_bonds(fluid.table_mut(), "spring", springs.bonds());
        }
        let heat = match parameters.heat {
            Some(own) => Some(Heat::new(device, workgroup_size, own, &mut fluid)?),
            None => None,
        };
        let walls = collide_walls::Specialization { workgroup_size };
        Ok(Self {
            stress: Stress::new(device, tuning, &parameters, &mut fluid)?,
            viscosity,
            springs,
            heat,
            collide_walls: Kernel::specialized(device, &walls)?,
            feed: Feed::new(device, workgroup_size)?,
            metrics_pass: MeasurePass::new(device, capacity, parameters.elasticity)?,
            fluid,
            parameters,
        })
    }

    /// Returns the stages of one step, in order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<> {
        let is_own = |stage: &pbd::Stage| !matches!(stage, pbd::Stage::SmoothVelocity | pbd::Stage::EndStep);
        let of_fluid = self.fluid.stages().filter(is_own);
        let has_feed = self.parameters.feed.is_some();
        let mut stages = Vec::new();
        for stage in of_fluid {
            stages.push(Stage::Fluid(stage));
            if has_feed && matches!(stage, pbd::Stage::Predict | pbd::Stage::SolvePositions) {
                stages.push(Stage::HoldPrediction);
            }
            if stage == pbd::Stage::Reorder {
                stages.extend(self.springs.is_some().then_some(Stage::ReorderSprings));
            }
            if stage == pbd::Stage::Predict {
                stages.extend(self.has_plastic_springs().then_some(Stage::BuildSprings));
            }
        }
        let hold_feed = has_feed.then_some(Stage::HoldFeed);
        stages.extend(hold_feed);
        let shift = self.heat.is_some().then_some(Stage::ShiftViscosity);
        stages.extend(shift.map(|_| Stage::ConductHeat));
        stages.extend(shift);
        let is_implicit = self.viscosity.is_some();
        stages.push(if is_implicit { Stage::UpdateViscosity } else { Stage::UpdateStress });
        stages.push(Stage::CollideWalls);
        stages.extend(self.parameters.has_xsph.then_some(Stage::SmoothVelocity));
        if is_implicit {
            // Walls and smoothing changed the velocities of fed particles.
            stages.extend(hold_feed);
            stages.push(Stage::BeginViscosity);
            let n = self.parameters.max_iterations;
            stages.extend((0..n).map(|iteration| Stage::IterateViscosity { iteration }));
            stages.push(Stage::EndViscosity);
            if matches!(self.parameters.elasticity, CONFORMATION | STRAIN_TENSOR) {
                stages.extend(shift);
                stages.extend([Stage::UpdateStress, Stage::ApplyStress]);
            }
        }
        if self.has_plastic_springs() {
            stages.extend([Stage::UpdateSprings, Stage::BreakSprings]);
        }
        stages.extend(self.springs.is_some().then_some(Stage::ApplySprings));
        if is_implicit {
            let has_both = has_feed && self.springs.is_some();
            stages.extend(has_both.then_some(Stage::HoldFedVelocity));
        } else {
            stages.extend(hold_feed);
            stages.push(Stage::ApplyStress);
        }
        stages.extend((self.parameters.terms.shifting > 0.0).then_some(Stage::ShiftParticles));
        stages.push(Stage::EndStep);
        stages.into_iter()
    }

    fn has_plastic_springs(&self) -> bool {
        self.springs.as_ref().is_some_and(|springs| !springs.parameters().is_fixed)
    }

    /// Records one stage, so that tests can run the stages before or after it elsewhere, such as on the CPU.
    pub fn record_stage(&mut self, recorder: &mut Recorder, stage: Stage) {
        if let Err(error) = self.try_record_stage(recorder, stage) {
            recorder.fail(error.during(stage));
        }
    }

    fn try_record_stage(&mut self, recorder: &mut Recorder, stage: Stage) -> Result<(), SolverError> {
        // Velocities are those of half a step later than positions.
        let wall_speed = || self.parameters.wall_speed_m_s(self.fluid.recorded_s(-0.5));
        let phase = &self.fluid.phase;
        let (at_start, predicted) = (Place::at_start(&self.fluid), Place::predicted(&self.fluid));
        let (velocity, updated) = (phase.velocity.front(), phase.velocity.back());
        match stage {
            Stage::Fluid(stage) => self.fluid.record_stage(recorder, stage),
            Stage::ReorderSprings => {
                if let Some(springs) = &mut self.springs {
                    springs.remap(recorder, &self.fluid)?;
                }
            }
            Stage::BuildSprings => {
                if let Some(springs) = &self.springs {
                    springs.build(recorder, &self.fluid)?;
                }
            }
            Stage::UpdateSprings => {
                if let Some(springs) = &self.springs {
                    springs.update(recorder, &self.fluid);
                }
            }
            Stage::BreakSprings => {
                if let Some(springs) = &mut self.springs {
                    springs.break_some(recorder, &self.fluid)?;
                }
            }
            Stage::ApplySprings => {
                if let Some(springs) = &self.springs {
                    let of = if self.viscosity.is_some() { velocity } else { updated };
                    springs.apply(recorder, &self.fluid, &self.stress, of);
                }
            }
            Stage::HoldPrediction | Stage::HoldFeed | Stage::HoldFedVelocity => {
                if let Some(feed) = &self.parameters.feed {
                    let of = if stage == Stage::HoldFedVelocity { velocity } else { updated };
                    self.feed.hold(recorder, &self.fluid, &self.stress, (feed, of));
                }
            }
            Stage::ConductHeat => {
                if let Some(heat) = &mut self.heat {
                    heat.conduct(recorder, &self.fluid);
                }
            }
            Stage::ShiftViscosity => {
                if let Some(heat) = &self.heat {
                    heat.shift(recorder, &self.fluid, &self.stress);
                }
            }
            Stage::UpdateViscosity => {
                self.stress.record_body_walls(recorder, &self.fluid);
                let of = (Part::Viscosity, &at_start);
                self.stress.update(recorder, &phase.count, of, updated, wall_speed());
            }
            Stage::UpdateStress => {
                let moved_by = if self.viscosity.is_some() { velocity } else { updated };
                let of = (Part::All, &predicted);
                self.stress.update(recorder, &phase.count, of, moved_by, wall_speed());
            }
            Stage::CollideWalls => self.collide_walls(recorder, wall_speed()),
            Stage::SmoothVelocity => self.fluid.smooth_updated(recorder),
            Stage::ApplyStress if self.viscosity.is_some() => {
                let fields = (velocity, updated);
                self.stress.apply(recorder, &phase.count, &predicted, fields, wall_speed());
                recorder.copy(updated, velocity, velocity.len());
            }
            Stage::ApplyStress => {
                let fields = (updated, velocity);
                self.stress.apply(recorder, &phase.count, &predicted, fields, wall_speed());
            }
            Stage::BeginViscosity => {
                if let Some(viscosity) = &self.viscosity {
                    viscosity.record_begin(recorder, phase, &self.stress, &at_start, wall_speed())?;
                }
            }
            Stage::IterateViscosity { .. } => {
                if let Some(viscosity) = &self.viscosity {
                    viscosity.record_iteration(recorder, phase, &self.stress, &at_start)?;
                }
            }
            Stage::EndViscosity => {
                if let Some(viscosity) = &self.viscosity {
                    viscosity.record_end(recorder, &self.fluid, &self.stress, wall_speed());
                }
            }
            Stage::ShiftParticles => self.stress.shift_particles(recorder, &self.fluid),
            Stage::EndStep => {
                self.fluid.end_step(recorder, !self.stress.has_body_walls());
            }
        }
        Ok(())
    }

    fn collide_walls(&self, recorder: &mut Recorder, wall_speed_m_s: f32) {
        let phase = &self.fluid.phase;
        let bindings = collide_walls::Bindings {
            count: &phase.count,
            terms: &self.stress.terms,
            predicted: self.fluid.predicted(),
            velocity: phase.velocity.front(),
            multiplier: self.fluid.density_solve().multiplier(),
            shape: self.stress.neighbourhood(),
            updated: phase.velocity.back(),
        };
        let p = &self.parameters;
        let params = collide_walls::Params {
            restitution: p.wall_restitution,
            friction: p.wall_friction,
            spacing_m: p.spacing_m,
            resting_speed_m_s: p.resting_speed_m_s,
            wall_speed_m_s,
        };
        recorder.dispatch_counted(&self.collide_walls, bindings, params);
    }

    /// Returns the parameters that the kernels use.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the position-based fluid: particles, density solve and neighbours.
    pub fn fluid(&self) -> &Fluid {
        &self.fluid
    }

    /// Returns conformation and stress.
    pub fn stress(&self) -> &Stress {
        &self.stress
    }

    /// Returns the implicit solve, where viscosity needs it.
    pub fn viscosity(&self) -> Option<&Viscosity> {
        self.viscosity.as_ref()
    }

    /// Returns the springs, if they are the elasticity.
    pub fn springs(&self) -> Option<&Springs> {
        self.springs.as_ref()
    }

    /// Returns temperatures, if the scene has heat.
    pub fn heat(&self) -> Option<&Heat> {
        self.heat.as_ref()
    }

    /// Restores the fluid of a scene from a state saved after `step` steps, bit for bit. Set-up only: waits
    /// for the device.
    ///
    /// # Errors
    /// Like [`Self::with_tuning`]; also a column that is missing or has another length.
    pub fn restore(
        device: &Device,
        scene: &Scene,
        state: &[StateColumn],
        step: u64,
        tuning: Tuning,
    ) -> Result<Self, SolverError> {
        let fluid = Fluid::restore(device, scene, state, step, tuning)?;
        let restored = Self::with_fluid(device, Parameters::from_scene(scene), fluid, tuning)?;
        restored.fluid.table().restore(&Saved::new(state)?)?;
        Ok(restored)
    }

    /// Records a measurement of the state; the result arrives after the submission has completed.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_metrics(&self, recorder: &mut Recorder) -> frazil_vk::Result<PendingViscoelasticMetrics> {
        self.fluid.record_density(recorder);
        let p = self.fluid.parameters();
        let (phase, density) = (&self.fluid.phase, self.fluid.density());
        let elastic = (&self.stress, self.springs.as_ref());
        self.metrics_pass.record(recorder, phase, density, elastic, p.gravity_m_s2, p.particle_mass_kg)
    }

    /// Records a check of the invariants of springs, if there are any: after a step, all counts are 0.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub fn record_spring_check(&self, recorder: &mut Recorder) -> Result<Option<SpringCheck>, SolverError> {
        self.springs.as_ref().map(|springs| springs.check(recorder, &self.fluid)).transpose()
    }

    /// Returns the loads on bodies, if the scene names any.
    pub fn body_loads(&self) -> Option<&BodyLoads> {
        self.fluid.body_loads()
    }
}

impl std::fmt::Debug for Viscoelastic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Viscoelastic").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}
