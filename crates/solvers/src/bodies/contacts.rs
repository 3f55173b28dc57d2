//! Contacts of dynamic bodies with each other, other bodies and the faces of the domain, and the solution of
//! contacts and joints together.

use super::dynamic_body::{Shared, taken_back};
use super::joints::Joints;
use super::surroundings::Surroundings;
use frazil_particles::{ColumnKind, ParticleTable};
use frazil_shaders::bodies::contact::MAX_CONTACTS_OF_POINT;
use frazil_shaders::bodies::dynamic_body::MAX_DYNAMIC_BODIES;
use frazil_shaders::bodies::{find_body_contacts, solve_body_constraints};
use frazil_shaders::types::{BodyContact, RigidShape, RigidState, TouchingPoint};
use frazil_vk::{Buffer, Device, DoubleBuffer, Kernel, Recorder, Result, Threads};
use glam::DVec3;

/// Columns of a saved state that hold the contacts, and the words of one.
const FOUND_COLUMN: &str = "contacts of points";
const CONTACTS_COLUMN: &str = "contacts of dynamic bodies";
const CONTACT_WORDS: u32 = (size_of::<BodyContact>() / 4) as u32;

/// Most iterations over all contacts, and the change of velocities that ends them, over that of a step of
/// free fall. A stack of ten boxes that is not solved to this sways instead of coming to rest.
const MAX_ITERATIONS: u32 = 500;
const TOLERANCE: f32 = 1e-3;

// One workgroup holds all bodies.
const _: () = assert!(frazil_scene::MAX_DYNAMIC_BODIES == MAX_DYNAMIC_BODIES as usize);

/// Contacts of dynamic bodies with each other, other bodies and the faces of the domain.
pub(super) struct Contacts {
    points: Buffer<TouchingPoint>,
    found: Buffer<u32>,
    contacts: Buffer<BodyContact>,
    solved: Buffer<u32>,
    of_step: find_body_contacts::Params,
    n_shapes: u32,
    find: Kernel<find_body_contacts::Interface>,
    solve: Kernel<solve_body_constraints::Interface>,
}

/// Returns the inputs of the search for contacts in a step.
fn contacts_of_step(surroundings: &Surroundings, n_points: u32) -> find_body_contacts::Params {
    let Surroundings { dt_s, gravity_m_s2, .. } = *surroundings;
    find_body_contacts::Params {
        n_points,
        n_bodies: surroundings.bodies.len() as u32,
        n_joints: surroundings.joints.len() as u32,
        up_axis: surroundings.up_axis,
        dt_s,
        least_rebound_m_s: 2.0 * dt_s * DVec3::from_array(gravity_m_s2.map(f64::from)).length() as f32,
        domain_min_m: surroundings.domain_min_m,
        domain_max_m: surroundings.domain_max_m,
    }
}

impl Contacts {
    /// Makes room for the contacts of points; there are none.
    pub fn new(device: &Device, surroundings: &Surroundings, points: &[TouchingPoint]) -> Result<Self> {
        let n = points.len();
        let slots = n * MAX_CONTACTS_OF_POINT as usize;
        let constants =
            find_body_contacts::Specialization { body_kinds: surroundings.kinds(), ..Default::default() };
        Ok(Self {
            points: device.buffer_from("points of dynamic bodies", points)?,
            found: device.buffer_from("contacts of points", &vec![0; n])?,
            contacts: device
                .buffer_from("contacts of dynamic bodies", &vec![bytemuck::Zeroable::zeroed(); slots])?,
            solved: device.buffer("solved contacts of dynamic bodies", 2 * slots)?,
            of_step: contacts_of_step(surroundings, n as u32),
            n_shapes: surroundings.dynamic.len() as u32,
            find: Kernel::specialized(device, &constants)?,
            solve: Kernel::new(device)?,
        })
    }

    /// Registers the contacts for checkpoints: those of a step begin with the impulses of the step before.
    pub fn register(&self, table: &mut ParticleTable) {
        table.array(FOUND_COLUMN, "1", ColumnKind::U32, DoubleBuffer::single(self.found.cast()));
        let contacts = DoubleBuffer::single(self.contacts.cast());
        table.array(CONTACTS_COLUMN, "1", ColumnKind::Matrix(CONTACT_WORDS), contacts);
    }

    /// Takes over gravity and time step of a changed scene.
    pub fn set_surroundings(&mut self, surroundings: &Surroundings) {
        self.of_step = contacts_of_step(surroundings, self.of_step.n_points);
    }

    /// Returns the points.
    pub fn points(&self) -> &Buffer<TouchingPoint> {
        &self.points
    }

    /// Records the change of velocities by contacts, and by joints, which are prepared.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        shared: Shared<'_>,
        shapes: &Buffer<RigidShape>,
        states: &Buffer<RigidState>,
        joints: &Joints,
    ) {
        let bindings = find_body_contacts::Bindings {
            clock: shared.clock,
            bodies: shared.bodies,
            body_data: shared.body_data,
            shapes,
            states,
            points_m: &self.points,
            joints: joints.joints(),
            joint_states: joints.states(),
            found: &self.found,
            contacts: &self.contacts,
        };
        let n_points = self.of_step.n_points as usize;
        recorder.dispatch(&self.find, Threads::Fixed(n_points), bindings, self.of_step);
        let bindings = solve_body_constraints::Bindings {
            clock: shared.clock,
            shapes,
            states,
            found: &self.found,
            contacts: &self.contacts,
            solved: &self.solved,
            rows: joints.rows(),
            joints: joints.joints(),
            joint_states: joints.states(),
        };
        let params = solve_body_constraints::Params {
            n_shapes: self.n_shapes,
            n_rows: joints.n_rows(),
            n_joints: self.of_step.n_joints,
            max_iterations: MAX_ITERATIONS,
            // Contacts rebound from the speed of a fall of two steps on.
            tolerance_m_s: 0.5 * TOLERANCE * self.of_step.least_rebound_m_s,
            taken_back: taken_back(self.of_step.dt_s),
        };
        recorder.dispatch(&self.solve, Threads::Fixed(1), bindings, params);
    }
}
