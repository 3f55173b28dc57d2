//! Conformation or strain of each particle, and the passes that update and apply stress.

use super::body_walls::BodyWalls;
use super::parameters::Parameters;
use super::shown::STRESS_NAMES;
use crate::pbd::Fluid;
use crate::{SolverError, Tunable, Tuning};
use frazil_particles::{Column, ColumnKind, Uses};
use frazil_shaders::types::ViscoelasticTerms;
use frazil_shaders::viscoelastic::terms::{NO_ELASTICITY, SPRINGS};
use frazil_shaders::viscoelastic::{
    apply_operator, apply_stress, compute_residual, differentiate, shift_particles, update_stress,
};
use frazil_vk::{Buffer, Device, DeviceCount, Kernel, Recorder, Result};

/// Words of a particle's stress, two vectors.
const STRESS_WORDS: u32 = 6;

/// Columns, scratch buffers and kernels of the stress.
pub struct Stress {
    /// xx, yy, zz of A − I, or of S.
    pub diagonal: Column<[f32; 3]>,
    /// xy, xz, yz of A − I, or of S.
    pub off_diagonal: Column<[f32; 3]>,
    /// xx, yy, zz, and xy, xz, yz of σ in Pa.
    pub(super) stress: Buffer<[f32; 3]>,
    /// Displacement in m of particle shifting.
    shift: Buffer<[f32; 3]>,
    shift_particles: Kernel<shift_particles::Interface>,
    pub(super) terms: Buffer<ViscoelasticTerms>,
    /// Lowest index of a particle with each kind of fault, of the position-based fluid.
    faulty: Buffer<u32>,
    shape: Buffer<[f32; 4]>,
    coupling: Buffer<[f32; 4]>,
    update: Kernel<update_stress::Interface>,
    /// The update before an implicit solve, of viscosity alone.
    update_viscosity: Option<Kernel<update_stress::Interface>>,
    differentiate: Kernel<differentiate::Interface>,
    apply: Kernel<apply_stress::Interface>,
    compute_residual: Kernel<compute_residual::Interface>,
    apply_operator: Kernel<apply_operator::Interface>,
    /// Additions of bodies to the neighbourhoods of an implicit solve.
    pub(super) body_walls: BodyWalls,
    max_travel_m: f32,
}

/// Part of the stress that [`Stress::update`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// That of viscosity, before an implicit solve.
    Viscosity,
    /// All.
    All,
}

/// Velocities of walls around a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WallVelocities {
    /// Their own, of which sheared faces have this speed along x.
    OwnWithFaces {
        /// In m/s.
        speed_m_s: f32,
    },
    /// Zero, around a direction of the solve.
    Zero,
}

/// Results of [`Stress::compute_residual`].
pub(super) struct Residual<'a> {
    /// Residual u − v + Δt a.
    pub residual: &'a Buffer<[f32; 3]>,
    /// First direction of conjugate gradients.
    pub direction: &'a Buffer<[f32; 3]>,
    /// Squares of the residual and of v − u.
    pub products: &'a [Buffer<f32>; 2],
}

/// Positions, and the neighbours of each.
pub(super) struct Place<'a> {
    key: &'a Buffer<u32>,
    cell_start: &'a Buffer<u32>,
    position: &'a Buffer<[f32; 3]>,
    rows: &'a Buffer<u32>,
}

impl<'a> Place<'a> {
    /// Returns the positions of the particles at the start of the step.
    pub fn at_start(fluid: &'a Fluid) -> Self {
        Self::of(fluid, fluid.phase.position.front())
    }

    /// Returns the predicted positions, as far as the step has moved them.
    pub fn predicted(fluid: &'a Fluid) -> Self {
        Self::of(fluid, fluid.predicted())
    }

    fn of(fluid: &'a Fluid, position: &'a Buffer<[f32; 3]>) -> Self {
        Self {
            key: fluid.key(),
            cell_start: fluid.grid().cell_start(),
            position,
            rows: fluid.rows().buffer(0),
        }
    }

    pub fn position(&self) -> &'a Buffer<[f32; 3]> {
        self.position
    }
}

/// Nesting of the loops over neighbours and images in the passes over stress: 1 for a single loop, which
/// holds fewer registers on GPUs, 4 for nested ones, which are faster on software devices; by default each
/// where it is better.
pub static LOOP_NESTING: Tunable = Tunable { name: "loop_nesting", default: 2, min: 1, max: 4 };

impl Stress {
    pub(super) fn new(
        device: &Device,
        tuning: Tuning,
        parameters: &Parameters,
        fluid: &mut Fluid,
    ) -> std::result::Result<Self, SolverError> {
        let workgroup_size = tuning.workgroup_size();
        let n = fluid.count().capacity as usize;
        let row_words = fluid.rows().words();
        let flat_loops = match tuning.get(&LOOP_NESTING) {
            1 => 1,
            2 => (!device.is_software()).into(),
            _ => 0,
        };
        let terms = ViscoelasticTerms { grid: fluid.grid().grid(), ..parameters.terms };
        let is_implicit = parameters.is_implicit;
        // Springs act on velocities themselves.
        let elasticity = match parameters.elasticity {
            SPRINGS => NO_ELASTICITY,
            other => other,
        };
        let update = update_stress::Specialization {
            workgroup_size,
            elasticity,
            is_implicit: is_implicit.into(),
            shifts: parameters.heat.map_or(0, |heat| 1 + u32::from(heat.shifts_relaxation)),
            is_at_start: 0,
            has_bodies: 0,
            row_words,
            flat_loops,
        };
        // Elastic stress does not act on bodies, which hold an elastic fluid by their drag alone.
        let has_walls = is_implicit && parameters.elasticity == NO_ELASTICITY;
        let body_walls = BodyWalls::new(device, workgroup_size, has_walls, fluid)?;
        let has_bodies = u32::from(!body_walls.is_empty());
        let update_viscosity =
            update_stress::Specialization { elasticity: NO_ELASTICITY, is_at_start: 1, has_bodies, ..update };
        let differentiate =
            differentiate::Specialization { workgroup_size, has_bodies, flat_loops, row_words };
        let shift_particles =
            shift_particles::Specialization { workgroup_size, periodic: fluid.parameters().periodic };
        let as_printed = u32::from(parameters.as_printed);
        let apply = apply_stress::Specialization { workgroup_size, as_printed, flat_loops, row_words };
        let residual = compute_residual::Specialization {
            workgroup_size,
            as_printed,
            has_bodies,
            flat_loops,
            row_words,
        };
        let operator =
            apply_operator::Specialization { workgroup_size, as_printed, has_bodies, flat_loops, row_words };
        let max_travel_m = fluid.parameters().max_speed_m_s * fluid.parameters().dt_s;
        let (faulty, table) = (fluid.faulty().clone(), fluid.table_mut());
        let (strain, relaxed) = (Uses::STATE.permuted(), vec![[0.0; 3]; n]);
        let diagonal = table.column("strain diagonal", "1", strain, &relaxed)?;
        let off_diagonal = table.column("strain off-diagonal", "1", strain, &relaxed)?;
        // Metrics and pictures before the next step need the stress.
        let stress = device.buffer_from("stress", &vec![[0.0; 3]; 2 * n])?;
        table.records("stress", "Pa", ColumnKind::Matrix(STRESS_WORDS), Uses::STATE, stress.cast());
        for (name, index) in STRESS_NAMES.into_iter().zip(0..) {
            table.component(name, "Pa", STRESS_WORDS, index, stress.cast());
        }
        Ok(Self {
            diagonal,
            off_diagonal,
            stress,
            shift: device.buffer_from("particle shift", &vec![[0.0; 3]; n])?,
            shift_particles: Kernel::specialized(device, &shift_particles)?,
            terms: device.buffer_from("viscoelastic terms", &[terms])?,
            faulty,
            shape: device.buffer("neighbourhood", 2 * n)?,
            coupling: device.buffer("coupling", 3 * n)?,
            update: Kernel::specialized(device, &update)?,
            update_viscosity: match is_implicit {
                true => Some(Kernel::specialized(device, &update_viscosity)?),
                false => None,
            },
            differentiate: Kernel::specialized(device, &differentiate)?,
            apply: Kernel::specialized(device, &apply)?,
            compute_residual: Kernel::specialized(device, &residual)?,
            apply_operator: Kernel::specialized(device, &operator)?,
            body_walls,
            max_travel_m,
        })
    }

    /// Creates the constants of other parameters. Set-up only: waits for the device.
    pub(super) fn prepare_terms(
        &self,
        device: &Device,
        parameters: &Parameters,
        fluid: &Fluid,
    ) -> Result<Buffer<ViscoelasticTerms>> {
        let terms = ViscoelasticTerms { grid: fluid.grid().grid(), ..parameters.terms };
        device.buffer_from("viscoelastic terms", &[terms])
    }

    /// Records the update of conformation and stress by the displacements of the step, or before an implicit
    /// solve that of the viscosity and its stress at the start of the step.
    pub(super) fn update(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        (part, place): (Part, &Place<'_>),
        updated: &Buffer<[f32; 3]>,
        wall_speed_m_s: f32,
    ) {
        let kernel = match (part, &self.update_viscosity) {
            (Part::Viscosity, Some(kernel)) => kernel,
            _ => &self.update,
        };
        let bindings = update_stress::Bindings {
            count,
            key: place.key,
            cell_start: place.cell_start,
            predicted: place.position,
            updated,
            rows: place.rows,
            terms: &self.terms,
            diagonal: self.diagonal.front(),
            off_diagonal: self.off_diagonal.front(),
            shape: &self.shape,
            coupling: &self.coupling,
            stress: &self.stress,
            faulty: &self.faulty,
            shift: &self.shift,
            body_walls: self.body_walls.sums(),
        };
        let params = update_stress::Params { wall_speed_m_s, max_travel_m: self.max_travel_m };
        recorder.dispatch_counted(kernel, bindings, params);
    }

    /// Returns true if bodies complete the neighbourhoods of an implicit solve.
    pub fn has_body_walls(&self) -> bool {
        !self.body_walls.is_empty()
    }

    /// Records what bodies add to the neighbourhoods at the start of the step.
    pub(super) fn record_body_walls(&self, recorder: &mut Recorder, fluid: &Fluid) {
        self.body_walls.record(recorder, fluid, &self.terms);
    }

    /// Records the loads on bodies of the velocities after the implicit solve, whose couplings are the last.
    pub(super) fn record_body_loads(&self, recorder: &mut Recorder, fluid: &Fluid) {
        self.body_walls.record_loads(recorder, fluid, &self.terms, [&self.shape, &self.coupling]);
    }

    /// Records the displacement of particles by particle shifting.
    pub(super) fn shift_particles(&self, recorder: &mut Recorder, fluid: &Fluid) {
        let phase = &fluid.phase;
        let bindings = shift_particles::Bindings {
            count: &phase.count,
            terms: &self.terms,
            position: phase.position.front(),
            shift: &self.shift,
            predicted: fluid.predicted(),
        };
        let params = shift_particles::Params { walls: fluid.parameters().walls };
        recorder.dispatch_counted(&self.shift_particles, bindings, params);
    }

    /// Returns the displacement in m of particle shifting.
    pub fn shift_m(&self) -> &Buffer<[f32; 3]> {
        &self.shift
    }

    /// Records the coupling of the viscous stress of a velocity field.
    pub(super) fn differentiate(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        place: &Place<'_>,
        (field, walls): (&Buffer<[f32; 3]>, WallVelocities),
    ) {
        let bindings = differentiate::Bindings {
            count,
            key: place.key,
            cell_start: place.cell_start,
            predicted: place.position,
            field,
            rows: place.rows,
            terms: &self.terms,
            shape: &self.shape,
            coupling: &self.coupling,
            body_walls: self.body_walls.sums(),
        };
        let params = match walls {
            WallVelocities::OwnWithFaces { speed_m_s } => {
                differentiate::Params { wall_speed_m_s: speed_m_s, has_moving_bodies: 1 }
            }
            WallVelocities::Zero => differentiate::Params { wall_speed_m_s: 0.0, has_moving_bodies: 0 },
        };
        recorder.dispatch_counted(&self.differentiate, bindings, params);
    }

    /// Records `velocity` = `field` + Δt a, with the last couplings.
    pub(super) fn apply(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        place: &Place<'_>,
        (field, velocity): (&Buffer<[f32; 3]>, &Buffer<[f32; 3]>),
        wall_speed_m_s: f32,
    ) {
        let bindings = apply_stress::Bindings {
            count,
            key: place.key,
            cell_start: place.cell_start,
            predicted: place.position,
            field,
            rows: place.rows,
            terms: &self.terms,
            coupling: &self.coupling,
            velocity,
        };
        let params = apply_stress::Params { wall_speed_m_s };
        recorder.dispatch_counted(&self.apply, bindings, params);
    }

    /// Records the residual of implicit viscosity for a velocity field, with the couplings of the field.
    pub(super) fn compute_residual(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        place: &Place<'_>,
        (field, updated): (&Buffer<[f32; 3]>, &Buffer<[f32; 3]>),
        result: &Residual<'_>,
        wall_speed_m_s: f32,
    ) {
        let [product, reference] = result.products;
        let bindings = compute_residual::Bindings {
            count,
            key: place.key,
            cell_start: place.cell_start,
            predicted: place.position,
            field,
            rows: place.rows,
            terms: &self.terms,
            coupling: &self.coupling,
            updated,
            residual: result.residual,
            direction: result.direction,
            product,
            reference,
            shape: &self.shape,
            body_walls: self.body_walls.sums(),
        };
        let params = compute_residual::Params { wall_speed_m_s };
        recorder.dispatch_counted(&self.compute_residual, bindings, params);
    }

    /// Records `applied` = p − Δt a for a direction p between walls at rest, with its couplings, and
    /// p·applied.
    pub(super) fn apply_operator(
        &self,
        recorder: &mut Recorder,
        count: &DeviceCount,
        place: &Place<'_>,
        field: &Buffer<[f32; 3]>,
        (applied, product): (&Buffer<[f32; 3]>, &Buffer<f32>),
    ) {
        let bindings = apply_operator::Bindings {
            count,
            key: place.key,
            cell_start: place.cell_start,
            predicted: place.position,
            field,
            rows: place.rows,
            terms: &self.terms,
            coupling: &self.coupling,
            applied,
            product,
            shape: &self.shape,
            body_walls: self.body_walls.sums(),
        };
        let params = apply_operator::Params { wall_speed_m_s: 0.0 };
        recorder.dispatch_counted(&self.apply_operator, bindings, params);
    }

    /// Returns xx, yy, zz, xy, xz, yz of σ in Pa of each particle, as two vectors.
    pub fn stress_pa(&self) -> &Buffer<[f32; 3]> {
        &self.stress
    }

    /// Returns the neighbourhood of each particle as two vectors: xx, yy, zz, xy, then xz, yz of the inverse
    /// moment matrix, the share of its gradient that counts, and the viscosity in Pa s.
    pub fn neighbourhood(&self) -> &Buffer<[f32; 4]> {
        &self.shape
    }

    /// Returns the columns of the coupling of the force in Pa of each particle, three vectors, and in their
    /// last component the viscosity in Pa s that acts on the part of the motion that gradients do not
    /// explain.
    pub fn coupling(&self) -> &Buffer<[f32; 4]> {
        &self.coupling
    }
}
