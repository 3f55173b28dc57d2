//! Constraints of an iteration, and friction after the last iteration.

use super::links::Links;
use super::phase_particles::PhaseParticles;
use crate::pbd::neighbour_rows::NeighbourRows;
use crate::{SolverError, Surroundings};
use frazil_scene::Springs;
use frazil_shaders::snow::{
    apply_friction, compute_fluid_lambda, compute_solid_lambda, damp_links, solve_fluid, solve_solid,
    start_push,
};
use frazil_shaders::types::SnowTerms;
use frazil_vk::{Buffer, Device, Kernel, Recorder};

/// Boundary particles, which represent walls in the density of water unless the closed form does.
pub(super) struct Boundary {
    /// (position, weight in particles), sorted by cell.
    pub particles: Buffer<[f32; 4]>,
    pub cell_start: Buffer<u32>,
}

/// Friction of a face on which snow has its own, as kernels read it.
const FRICTION_OF_SNOW: f32 = -1.0;

pub(super) struct Constraints {
    compute_fluid_lambda: Kernel<compute_fluid_lambda::Interface>,
    compute_solid_lambda: Kernel<compute_solid_lambda::Interface>,
    solve_fluid: Kernel<solve_fluid::Interface>,
    solve_solid: Kernel<solve_solid::Interface>,
    apply_friction: Kernel<apply_friction::Interface>,
    start_push: Kernel<start_push::Interface>,
    damp_links: Kernel<damp_links::Interface>,
    /// Velocities of the stages of the dampers of links that are not the first of three.
    stages: [Buffer<[f32; 3]>; 2],
    /// k τ Δt/m of the dampers.
    damping: f64,
    /// Number of stages of the dampers, a multiple of 3; 0 without.
    pub damping_stages: u32,
    /// True if contacts or links are springs.
    pub has_springs: bool,
    pub terms: Buffer<SnowTerms>,
    pub boundary: Boundary,
    /// Displacement by walls of each solid particle, summed over the iterations of this step, in m; with
    /// springs, then that by springs in this step.
    pub push_m: Buffer<[f32; 3]>,
    /// Displacement of each fluid particle by springs in this step, in m; empty without springs of contacts.
    pub elastic_m: Buffer<[f32; 3]>,
    corrected: Buffer<[f32; 3]>,
    /// μ of the lower and of the upper faces of the domain.
    face_friction: [[f32; 3]; 2],
    has_bodies: u32,
}

/// Kernels that solve the density constraint of water and move snow.
type SolveKernels = (Kernel<solve_fluid::Interface>, Kernel<solve_solid::Interface>);

/// What constraints need of a changed scene, created before anything changes.
pub struct PreparedConstraints {
    solvers: SolveKernels,
    terms: Buffer<SnowTerms>,
}

/// Returns 1 if particles of snow are not as large as those of water.
fn is_expanded(terms: &SnowTerms) -> u32 {
    u32::from(terms.snow_volume != 1.0)
}

/// Makes the kernels that correct the positions of fluid and of solid particles.
fn solvers(
    device: &Device,
    workgroup_size: u32,
    terms: &SnowTerms,
    [boundary, has_bodies]: [u32; 2],
    rows: &NeighbourRows,
) -> Result<SolveKernels, SolverError> {
    let row_words = rows.words();
    let has_contact_springs = u32::from(terms.contact_spring > 0.0);
    let fluid = solve_fluid::Specialization {
        workgroup_size,
        boundary,
        has_bodies,
        has_pressure: u32::from(terms.pressure_strength != 0.0),
        has_contact_springs,
        is_expanded: is_expanded(terms),
        row_words,
    };
    let solid = solve_solid::Specialization {
        workgroup_size,
        has_bodies,
        has_contact_springs,
        has_link_springs: u32::from(terms.link_spring > 0.0),
        is_expanded: is_expanded(terms),
        row_words,
    };
    Ok((Kernel::specialized(device, &fluid)?, Kernel::specialized(device, &solid)?))
}

/// Returns ν and γ of stage `j` of `n` (Meyer et al. 2014, first order).
fn damping_stage(j: u32, n: u32, damping: f64) -> [f32; 2] {
    let j = f64::from(j);
    let mu = (2.0 * j - 1.0) / j;
    let gain = mu * damping * 2.0 / f64::from(n * n + n);
    [((1.0 - j) / j) as f32, gain as f32]
}

impl Constraints {
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        (terms, springs): (SnowTerms, Springs),
        surroundings: &Surroundings,
        boundary: Option<Boundary>,
        (rows, capacity): (&NeighbourRows, u32),
    ) -> Result<Self, SolverError> {
        let (row_words, n) = (rows.words(), capacity as usize);
        let has_contact_springs = terms.contact_spring > 0.0;
        let stage_len = if springs.damping_stages > 0 { n } else { 0 };
        let stage = || device.buffer("stage of dampers", stage_len);
        let has_springs = has_contact_springs || terms.link_spring > 0.0;
        let boundary_particles = u32::from(boundary.is_some());
        let boundary = match boundary {
            Some(boundary) => boundary,
            None => Boundary {
                particles: device.buffer("boundary", 0)?,
                cell_start: device.buffer("boundary cell start", 0)?,
            },
        };
        let has_bodies = u32::from(!surroundings.bodies.is_empty());
        let face_friction = surroundings.face_friction;
        let has_face_friction = u32::from(face_friction != [[None; 3]; 2]);
        let fluid_lambda = compute_fluid_lambda::Specialization {
            workgroup_size,
            boundary: boundary_particles,
            has_bodies,
            is_expanded: is_expanded(&terms),
            row_words,
        };
        let solid_lambda = compute_solid_lambda::Specialization {
            workgroup_size,
            has_bodies,
            is_expanded: is_expanded(&terms),
            row_words,
        };
        let (solve_fluid, solve_solid) =
            solvers(device, workgroup_size, &terms, [boundary_particles, has_bodies], rows)?;
        Ok(Self {
            compute_fluid_lambda: Kernel::specialized(device, &fluid_lambda)?,
            compute_solid_lambda: Kernel::specialized(device, &solid_lambda)?,
            solve_fluid,
            solve_solid,
            apply_friction: Kernel::specialized(
                device,
                &apply_friction::Specialization {
                    workgroup_size,
                    has_face_friction,
                    is_expanded: is_expanded(&terms),
                    row_words,
                },
            )?,
            start_push: Kernel::specialized(device, &start_push::Specialization { workgroup_size })?,
            damp_links: Kernel::specialized(device, &damp_links::Specialization { workgroup_size })?,
            stages: [stage()?, stage()?],
            damping: springs.damping,
            damping_stages: springs.damping_stages,
            has_springs,
            face_friction: face_friction.map(|faces| faces.map(|face| face.unwrap_or(FRICTION_OF_SNOW))),
            terms: device.buffer_from("terms", &[terms])?,
            boundary,
            push_m: device.buffer("push of walls", if has_springs { 2 * n } else { n })?,
            elastic_m: device.buffer("elastic displacement", if has_contact_springs { n } else { 0 })?,
            has_bodies,
            corrected: device.buffer("corrected", n)?,
        })
    }

    /// Creates what depends on the parameters of a scene, for [`Self::adopt`].
    pub fn prepare(
        &self,
        device: &Device,
        workgroup_size: u32,
        terms: &SnowTerms,
        rows: &NeighbourRows,
    ) -> Result<PreparedConstraints, SolverError> {
        let has = [u32::from(!self.boundary.particles.is_empty()), self.has_bodies];
        Ok(PreparedConstraints {
            solvers: solvers(device, workgroup_size, terms, has, rows)?,
            terms: device.buffer_from("terms", std::slice::from_ref(terms))?,
        })
    }

    /// Adopts the parameters of a scene.
    pub fn adopt(&mut self, prepared: PreparedConstraints) {
        (self.solve_fluid, self.solve_solid) = prepared.solvers;
        self.terms = prepared.terms;
    }

    /// Records densities, multipliers and numbers of constraints, at `fluid_at` and `solid_at`, where the
    /// rows have this flag.
    pub fn compute_lambda(
        &self,
        recorder: &mut Recorder,
        (solid, solid_at): (&PhaseParticles, &Buffer<[f32; 3]>),
        (fluid, fluid_at): (&PhaseParticles, &Buffer<[f32; 3]>),
        links: &Links,
        (rows, row_flag): (&NeighbourRows, u32),
    ) {
        let bindings = compute_fluid_lambda::Bindings {
            count: &fluid.phase.count,
            key: fluid.key(),
            blend: fluid.blend.front(),
            cell_start: fluid.grid.cell_start(),
            predicted: fluid_at,
            solid_cell_start: solid.grid.cell_start(),
            solid_predicted: solid_at,
            boundary_cell_start: &self.boundary.cell_start,
            boundary: &self.boundary.particles,
            boundary_density: &fluid.interaction.boundary_density,
            all_terms: &self.terms,
            constraint: &fluid.constraint,
            contact: &fluid.contact,
            density: &fluid.density,
            rows: rows.buffer(1),
            solid_blend: solid.blend.front(),
        };
        let params = compute_fluid_lambda::Params { row_flag };
        recorder.dispatch_counted(&self.compute_fluid_lambda, bindings, params);
        let bindings = compute_solid_lambda::Bindings {
            count: &solid.phase.count,
            key: solid.key(),
            blend: solid.blend.front(),
            cell_start: solid.grid.cell_start(),
            predicted: solid_at,
            fluid_cell_start: fluid.grid.cell_start(),
            fluid_predicted: fluid_at,
            degree: links.bonds().degree(),
            boundary_density: &solid.interaction.boundary_density,
            all_terms: &self.terms,
            constraint: &solid.constraint,
            contact: &solid.contact,
            rows: rows.buffer(0),
        };
        let params = compute_solid_lambda::Params { row_flag };
        recorder.dispatch_counted(&self.compute_solid_lambda, bindings, params);
    }

    /// Records the displacement of snow by walls in the prediction, which springs need.
    pub fn start_push(&self, recorder: &mut Recorder, solid: &PhaseParticles) {
        if !self.has_springs {
            return;
        }
        let bindings = start_push::Bindings {
            count: &solid.phase.count,
            position: solid.phase.position.front(),
            velocity: solid.phase.velocity.front(),
            all_terms: &self.terms,
            push_m: &self.push_m,
        };
        recorder.dispatch_counted(&self.start_push, bindings, ());
    }

    /// Records one correction of the predicted positions of both phases.
    pub fn solve(
        &self,
        recorder: &mut Recorder,
        solid: &PhaseParticles,
        fluid: &PhaseParticles,
        links: &Links,
        rows: &NeighbourRows,
        is_first: bool,
    ) {
        assert!(rows.is_current(), "snow is corrected after neighbours are listed");
        let (is_first, row_flag) = (u32::from(is_first), rows.flag());
        let bindings = solve_fluid::Bindings {
            count: &fluid.phase.count,
            key: fluid.key(),
            cell_start: fluid.grid.cell_start(),
            constraint: &fluid.constraint,
            contact: &fluid.contact,
            solid_cell_start: solid.grid.cell_start(),
            solid_constraint: &solid.constraint,
            solid_contact: &solid.contact,
            boundary_cell_start: &self.boundary.cell_start,
            boundary: &self.boundary.particles,
            boundary_density: &fluid.interaction.boundary_density,
            all_terms: &self.terms,
            predicted: fluid.predicted(),
            elastic_m: &self.elastic_m,
            rows: rows.buffer(1),
            residual_m: fluid.residual.back(),
        };
        let params = solve_fluid::Params { is_first, row_flag };
        recorder.dispatch_counted(&self.solve_fluid, bindings, params);
        let bindings = solve_solid::Bindings {
            count: &solid.phase.count,
            // Without rows, the cells alone.
            rows: if rows.slots() == 0 { solid.key() } else { rows.buffer(0) },
            cell_start: solid.grid.cell_start(),
            constraint: &solid.constraint,
            contact: &solid.contact,
            fluid_cell_start: fluid.grid.cell_start(),
            fluid_constraint: &fluid.constraint,
            fluid_contact: &fluid.contact,
            partner: links.bonds().partner(),
            rest_length_m: links.bonds().rest_length_m(),
            position: solid.phase.position.front(),
            residual_m: solid.residual.back(),
            boundary_density: &solid.interaction.boundary_density,
            all_terms: &self.terms,
            push_m: &self.push_m,
            predicted: solid.predicted(),
        };
        let params = solve_solid::Params { is_first, row_flag };
        recorder.dispatch_counted(&self.solve_solid, bindings, params);
    }

    /// Records the damping of the vibration of links, by which the velocities after the constraints change.
    pub fn damp_links(&self, recorder: &mut Recorder, solid: &PhaseParticles, links: &Links) {
        let [second, third] = &self.stages;
        let turns = [solid.phase.velocity.back(), second, third];
        let n = self.damping_stages;
        for j in 1..=n {
            let at = |stage: u32| turns[(stage % 3) as usize];
            let bindings = damp_links::Bindings {
                count: &solid.phase.count,
                predicted: solid.predicted(),
                contact: &solid.contact,
                partner: links.bonds().partner(),
                all_terms: &self.terms,
                before: at(j.max(2) - 2),
                now: at(j - 1),
                next: at(j),
            };
            let [nu, gain] = damping_stage(j, n, self.damping);
            let params = damp_links::Params { nu, gain };
            recorder.dispatch_counted(&self.damp_links, bindings, params);
        }
    }

    /// Records friction of the solid particles.
    pub fn apply_friction(
        &mut self,
        recorder: &mut Recorder,
        solid: &mut PhaseParticles,
        links: &Links,
        rows: &NeighbourRows,
    ) {
        let bindings = apply_friction::Bindings {
            count: &solid.phase.count,
            key: solid.key(),
            cell_start: solid.grid.cell_start(),
            position: solid.phase.position.front(),
            velocity: solid.phase.velocity.front(),
            predicted: solid.predicted(),
            contact: &solid.contact,
            push_m: &self.push_m,
            all_terms: &self.terms,
            partner: links.bonds().partner(),
            corrected: &self.corrected,
            rows: rows.buffer(0),
            residual_m: solid.residual.back(),
        };
        let [lower_friction, upper_friction] = self.face_friction;
        let params = apply_friction::Params { lower_friction, upper_friction, row_flag: rows.flag() };
        recorder.dispatch_counted(&self.apply_friction, bindings, params);
        recorder.copy(&self.corrected, solid.predicted(), self.corrected.len());
    }
}
