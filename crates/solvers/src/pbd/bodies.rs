//! Bodies in a position-based step: boundary density, projection of particles out of bodies, drag and
//! friction, and the loads of all of these on the bodies.

use super::neighbour_rows::{NO_FLAG, NeighbourRows};
use super::parameters::Parameters;
use super::smoothing::Smoothing;
use crate::bodies::{Shared, impulse_sums, quanta_per_n_s};
use crate::clock::Clock;
use crate::{BodyLoads, Surroundings};
use frazil_particles::{ParticleTable, PhaseArray};
use frazil_shaders::bodies::reduce_body_loads;
use frazil_shaders::pbd::{
    apply_body_drag, collide_with_bodies, compute_boundary_density, project_out_of_bodies,
};
use frazil_shaders::snow::apply_body_friction;
use frazil_shaders::types::{Body, BodyTerms, StepClock};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result, Threads};

/// Bodies of a scene, and the kernels in which position-based particles interact with them.
pub(super) struct Bodies {
    /// Loads on the bodies that the scene names.
    loads: BodyLoads,
    /// Impulse and angular impulse of this step on each of them, in quanta.
    sums: Buffer<u32>,
    bodies: Buffer<Body>,
    /// Heights, meshes and motions of the bodies.
    body_data: Buffer<f32>,
    /// Clock of the simulation.
    clock: Buffer<StepClock>,
    terms: Buffer<BodyTerms>,
    reduction: reduce_body_loads::Params,
    reduce: Kernel<reduce_body_loads::Interface>,
    inverse_h: f32,
    /// Stand in for those of rows of neighbours.
    no_listed: Buffer<[f32; 3]>,
    no_rows: Buffer<u32>,
    no_contact: Buffer<[f32; 2]>,
    compute_boundary_density: Kernel<compute_boundary_density::Interface>,
    projection: Option<ProjectionKernels>,
    project_water: Kernel<project_out_of_bodies::Interface>,
    project_snow: Kernel<project_out_of_bodies::Interface>,
    apply_drag: Kernel<apply_body_drag::Interface>,
    apply_friction: Kernel<apply_body_friction::Interface>,
}

/// Buffers of the bodies of a scene, for kernels of other solvers.
pub(crate) struct BodyBuffers<'a> {
    pub terms: &'a Buffer<BodyTerms>,
    pub clock: &'a Buffer<StepClock>,
    pub bodies: &'a Buffer<Body>,
    pub body_data: &'a Buffer<f32>,
    /// Impulses of this step on each body that the scene names, in quanta.
    pub sums: &'a Buffer<u32>,
}

/// Snow as bodies meet it.
#[derive(Clone, Copy)]
pub(super) struct SnowAtBodies {
    /// Coefficients of static and of kinetic friction, for bodies without their own.
    pub friction: [f32; 2],
    /// Spacing over that of water.
    pub spacing: f32,
}

impl SnowAtBodies {
    /// For scenes without snow.
    pub const NONE: Self = Self { friction: [0.0; 2], spacing: 1.0 };
}

/// Kernels of a projection, which work at the start of the step.
struct ProjectionKernels {
    compute_boundary_density: Kernel<compute_boundary_density::Interface>,
    collide: Kernel<collide_with_bodies::Interface>,
}

/// Minimum distance of particles from bodies at the end of a step, in clearances, where a projection has kept
/// the clearance to the first order in the step.
const DISTANCE_AFTER_PROJECTION: f32 = 0.5;

/// Interaction of the particles of one phase with bodies within a step. Empty without bodies.
#[derive(Clone)]
pub(super) struct BodyInteraction {
    /// h times the gradient, and the value, of the boundary density of all bodies.
    pub boundary_density: Buffer<[f32; 4]>,
    /// h times the gradient times the velocity of bodies, in m/s. Of a projection only.
    pub boundary_rate: Buffer<f32>,
    /// Normal of the nearest body within h, and the least velocity along it in m/s. Of a projection only.
    pub contact: Buffer<[f32; 4]>,
    /// Displacement by bodies in m, and the number of the last one plus one. Of snow only.
    pub push: Buffer<[f32; 4]>,
}

impl BodyInteraction {
    pub fn new(device: &Device, parameters: &Parameters, capacity: usize) -> Result<Self> {
        let n = if parameters.has_bodies() { capacity } else { 0 };
        let zeros = vec![[0.0; 4]; n];
        let of_projection = if parameters.is_projection { n } else { 0 };
        Ok(Self {
            boundary_density: device.buffer_from("boundary density", &zeros)?,
            boundary_rate: device.buffer("boundary rate", of_projection)?,
            contact: device.buffer("contact with bodies", of_projection)?,
            push: device.buffer_from("push of bodies", &zeros)?,
        })
    }
}

/// Cause of the displacement after which particles are projected out of bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Displacement {
    /// Prediction of positions, first in a step.
    Prediction,
    /// Motion at the end of a projection.
    Motion,
    /// Correction by the density constraint.
    DensityConstraint,
    /// Correction by the density constraint and by springs, which first takes back this share of the
    /// displacement so far.
    Springs {
        /// The share.
        undone: f32,
    },
    /// Anything else.
    Other,
}

impl Bodies {
    /// Uploads the bodies of a scene; returns none for a scene without bodies.
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        parameters: &Parameters,
        clock: &Clock,
        snow: SnowAtBodies,
    ) -> Result<Option<Self>> {
        if !parameters.has_bodies() {
            return Ok(None);
        }
        let surroundings = &parameters.surroundings;
        let mass_kg = parameters.particle_mass_kg;
        let terms = BodyTerms {
            walls: parameters.walls,
            clearance_m: parameters.body_clearance_m,
            snow_spacing: snow.spacing,
            dt_s: parameters.dt_s,
            support_m: parameters.support_m,
            over_relaxation: parameters.over_relaxation,
            particle_mass_kg: mass_kg as f32,
            quanta_per_n_s: quanta_per_n_s(mass_kg),
            wall_friction: parameters.wall_friction,
            static_friction: snow.friction[0],
            kinetic_friction: snow.friction[1],
            n_bodies: surroundings.bodies.len() as u32,
            first_named: surroundings.first_named(),
            up_axis: surroundings.up_axis,
        };
        let (bodies, body_data) = surroundings.upload(device)?;
        let body_kinds = surroundings.kinds();
        let project = |has_push: u32| {
            let is_expanded = u32::from(has_push != 0 && snow.spacing != 1.0);
            let constants =
                project_out_of_bodies::Specialization { workgroup_size, body_kinds, has_push, is_expanded };
            Kernel::specialized(device, &constants)
        };
        let boundary_density =
            compute_boundary_density::Specialization { workgroup_size, body_kinds, has_rate: 0 };
        let projection = parameters.is_projection.then(|| -> Result<_> {
            let at_start = compute_boundary_density::Specialization { has_rate: 1, ..boundary_density };
            let collide = collide_with_bodies::Specialization { workgroup_size, body_kinds };
            Ok(ProjectionKernels {
                compute_boundary_density: Kernel::specialized(device, &at_start)?,
                collide: Kernel::specialized(device, &collide)?,
            })
        });
        let drag = apply_body_drag::Specialization { workgroup_size, body_kinds };
        let friction = apply_body_friction::Specialization { workgroup_size, body_kinds };
        Ok(Some(Self {
            loads: BodyLoads::new(device, surroundings)?,
            sums: impulse_sums(device, surroundings.names.len())?,
            bodies,
            body_data,
            clock: clock.buffer().clone(),
            reduction: reduce_body_loads::Params {
                n_bodies: surroundings.names.len() as u32,
                dt_s: parameters.dt_s,
                quanta_per_n_s: terms.quanta_per_n_s,
            },
            reduce: Kernel::new(device)?,
            terms: device.buffer_from("body terms", &[terms])?,
            compute_boundary_density: Kernel::specialized(device, &boundary_density)?,
            projection: projection.transpose()?,
            inverse_h: 1.0 / parameters.support_m,
            no_listed: device.buffer("no listed positions", 0)?,
            no_rows: device.buffer("no rows", 0)?,
            no_contact: device.buffer("no contacts of snow", 0)?,
            project_water: project(0)?,
            project_snow: project(1)?,
            apply_drag: Kernel::specialized(device, &drag)?,
            apply_friction: Kernel::specialized(device, &friction)?,
        }))
    }

    /// Returns the buffers that kernels of other solvers bind.
    pub fn buffers(&self) -> BodyBuffers<'_> {
        BodyBuffers {
            terms: &self.terms,
            clock: &self.clock,
            bodies: &self.bodies,
            body_data: &self.body_data,
            sums: &self.sums,
        }
    }

    fn shared(&self) -> Shared<'_> {
        Shared { clock: &self.clock, bodies: &self.bodies, body_data: &self.body_data }
    }

    /// Records the places of dynamic bodies in a step: first in it or, for what looks at them between two,
    /// now.
    pub fn record_places(&self, recorder: &mut Recorder, is_in_step: bool) {
        self.loads.record_places(recorder, self.shared(), is_in_step);
    }

    /// Records the first joint and contact impulses of dynamic bodies, at time 0.
    pub fn record_start(&self, recorder: &mut Recorder) {
        self.loads.record_start(recorder, self.shared());
    }

    /// Adopts other parameters, and other motions, of the same bodies; loads so far, and the motion of
    /// dynamic bodies, are kept.
    pub fn adopt(&mut self, mut new: Self, surroundings: &Surroundings) {
        std::mem::swap(&mut new.loads, &mut self.loads);
        new.loads.set_surroundings(surroundings);
        std::mem::swap(&mut new.sums, &mut self.sums);
        *self = new;
    }

    /// Records the boundary density at positions, at the end of the running step or, between two, now.
    pub fn compute_boundary_density(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        at: &Buffer<[f32; 3]>,
        interaction: &BodyInteraction,
    ) {
        let kernel = &self.compute_boundary_density;
        self.dispatch_boundary_density(recorder, kernel, count, at, interaction);
    }

    /// Records the boundary density, and its rate by the motion of bodies, at the start of the running step.
    ///
    /// # Panics
    /// The scene has no projection.
    pub fn compute_boundary_density_at_start(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        interaction: &BodyInteraction,
    ) {
        let kernel = &self.of_projection().compute_boundary_density;
        self.dispatch_boundary_density(recorder, kernel, &phase.count, phase.position.front(), interaction);
    }

    fn of_projection(&self) -> &ProjectionKernels {
        self.projection.as_ref().expect("a projection has its kernels")
    }

    fn dispatch_boundary_density(
        &self,
        recorder: &mut Recorder,
        kernel: &Kernel<compute_boundary_density::Interface>,
        count: &DeviceCount,
        at: &Buffer<[f32; 3]>,
        interaction: &BodyInteraction,
    ) {
        let bindings = compute_boundary_density::Bindings {
            count,
            terms: &self.terms,
            clock: &self.clock,
            bodies: &self.bodies,
            body_data: &self.body_data,
            predicted: at,
            boundary_density: &interaction.boundary_density,
            boundary_rate_m_s: &interaction.boundary_rate,
            contact: &interaction.contact,
        };
        recorder.dispatch_counted(kernel, bindings, ());
    }

    /// Records collisions of the particles of a projection with bodies, and the impulses of both its pressure
    /// and these.
    ///
    /// # Panics
    /// The scene has no projection.
    pub fn collide(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        multiplier: &Buffer<f32>,
        interaction: &BodyInteraction,
    ) {
        let bindings = collide_with_bodies::Bindings {
            count: &phase.count,
            terms: &self.terms,
            clock: &self.clock,
            bodies: &self.bodies,
            body_data: &self.body_data,
            position: phase.position.front(),
            multiplier,
            boundary_density: &interaction.boundary_density,
            velocity: phase.velocity.front(),
            sums: &self.sums,
        };
        recorder.dispatch_counted(&self.of_projection().collide, bindings, ());
    }

    /// Records the projection of predicted positions out of bodies; keeps the pushes of snow, which comes
    /// with its (α, constraints).
    pub fn project_out(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        (predicted, constraint): (&Buffer<[f32; 3]>, &Buffer<[f32; 4]>),
        interaction: &BodyInteraction,
        (snow, displacement): (Option<&Buffer<[f32; 2]>>, Displacement),
        rows: Option<&NeighbourRows>,
    ) {
        let buffers = rows.map_or((&self.no_listed, &self.no_rows), |own| (own.listed(0), own.buffer(0)));
        let bindings = project_out_of_bodies::Bindings {
            count,
            terms: &self.terms,
            clock: &self.clock,
            bodies: &self.bodies,
            body_data: &self.body_data,
            constraint,
            boundary_density: &interaction.boundary_density,
            predicted,
            push: &interaction.push,
            sums: &self.sums,
            listed: buffers.0,
            rows: buffers.1,
            contact: snow.unwrap_or(&self.no_contact),
        };
        let params = project_out_of_bodies::Params {
            distance_share: if displacement == Displacement::Motion {
                DISTANCE_AFTER_PROJECTION
            } else {
                1.0
            },
            is_first: matches!(displacement, Displacement::Prediction | Displacement::Motion).into(),
            is_corrected: matches!(
                displacement,
                Displacement::DensityConstraint | Displacement::Springs { .. }
            )
            .into(),
            undone: match displacement {
                Displacement::Springs { undone } => undone,
                _ => 0.0,
            },
            inverse_h: self.inverse_h,
            max_moved_q2: rows.map_or(0.0, NeighbourRows::max_moved_q2),
            row_flag: rows.map_or(NO_FLAG, NeighbourRows::flag),
        };
        let kernel = if snow.is_some() { &self.project_snow } else { &self.project_water };
        recorder.dispatch_counted(kernel, bindings, params);
    }

    /// Records the drag of bodies on water, after XSPH and the drag of walls, at the end of the step or, with
    /// a projection, at its start.
    pub fn apply_drag(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        predicted: &Buffer<[f32; 3]>,
        smoothing: Smoothing,
    ) {
        let bindings = apply_body_drag::Bindings {
            count: &phase.count,
            terms: &self.terms,
            clock: &self.clock,
            bodies: &self.bodies,
            body_data: &self.body_data,
            predicted,
            updated: phase.velocity.back(),
            velocity: phase.velocity.front(),
            sums: &self.sums,
        };
        let params = apply_body_drag::Params {
            xsph_viscosity: smoothing.wall_xsph * smoothing.xsph_viscosity,
            viscosity_share: smoothing.viscosity_share,
            particles_h3: smoothing.particles_h3,
            is_at_start: self.projection.is_some().into(),
        };
        recorder.dispatch_counted(&self.apply_drag, bindings, params);
    }

    /// Records friction of snow on bodies.
    pub fn apply_friction(
        &self,
        recorder: &mut Recorder,
        phase: &PhaseArray,
        predicted: &Buffer<[f32; 3]>,
        contact: &Buffer<[f32; 2]>,
        interaction: &BodyInteraction,
    ) {
        let bindings = apply_body_friction::Bindings {
            count: &phase.count,
            terms: &self.terms,
            clock: &self.clock,
            bodies: &self.bodies,
            body_data: &self.body_data,
            position: phase.position.front(),
            contact,
            push: &interaction.push,
            predicted,
            sums: &self.sums,
        };
        recorder.dispatch_counted(&self.apply_friction, bindings, ());
    }

    /// Records the loads of a step: computes them from the sums, clears these, and moves dynamic bodies.
    /// Without named bodies there is nothing to do.
    pub fn record_reduction(&self, recorder: &mut Recorder) {
        let n_named = self.loads.names().len();
        if n_named == 0 {
            return;
        }
        let bindings = reduce_body_loads::Bindings { sums: &self.sums, loads: &self.loads.loads };
        recorder.dispatch(&self.reduce, Threads::Fixed(n_named), bindings, self.reduction);
        self.loads.record_motion(recorder, self.shared());
    }

    /// Returns the loads on bodies, if the scene names any.
    pub fn named_loads(&self) -> Option<&BodyLoads> {
        (!self.loads.names().is_empty()).then_some(&self.loads)
    }

    /// Registers the loads for checkpoints.
    pub fn register(&self, table: &mut ParticleTable) {
        self.loads.register(table);
    }

    /// Forgets the impulses so far. Set-up only: waits for the device.
    pub fn reset(&self, device: &Device) -> frazil_vk::Result<()> {
        device.upload(&self.sums, &vec![0; self.sums.len()])
    }
}
