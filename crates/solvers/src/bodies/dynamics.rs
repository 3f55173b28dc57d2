//! Dynamic bodies: rigid bodies that move under gravity, the loads of particles, joints and contacts.

use super::contacts::Contacts;
use super::convert::narrow;
use super::dynamic_body::Shared;
use super::joints::{Joints, PendingJoints};
use super::surroundings::Surroundings;
use crate::facets::{BodyPoses, body_columns};
use crate::metrics::MetricInfo;
use frazil_particles::{ColumnKind, ColumnView, ParticleTable};
use frazil_shaders::bodies::{move_bodies, place_bodies};
use frazil_shaders::types::{BodyLoad, RigidShape, RigidState, TouchingPoint};
use frazil_vk::{Buffer, Device, DoubleBuffer, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};
use glam::{DQuat, DVec3};

/// Column of a saved state that holds the motion of dynamic bodies, and the words of one.
const STATES_COLUMN: &str = "dynamic bodies";
const STATE_WORDS: u32 = (size_of::<RigidState>() / 4) as u32;

/// Dynamic bodies of a scene, on the device.
pub struct DynamicBodies {
    states: Buffer<RigidState>,
    shapes: Buffer<RigidShape>,
    poses: BodyPoses,
    turn: Buffer<[f32; 3]>,
    velocity_m_s: Buffer<[f32; 3]>,
    names: Vec<String>,
    centres_m: Vec<[f32; 3]>,
    of_step: move_bodies::Params,
    move_bodies: Kernel<move_bodies::Interface>,
    place_bodies: Kernel<place_bodies::Interface>,
    contacts: Contacts,
    joints: Joints,
    ring: ReadbackRing,
}

impl DynamicBodies {
    /// Uploads the dynamic bodies of a scene at time 0; `None` for a scene without any.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn new(device: &Device, surroundings: &Surroundings) -> Result<Option<Self>> {
        let all = &surroundings.dynamic;
        if all.is_empty() {
            return Ok(None);
        }
        let Surroundings { gravity_m_s2, dt_s, medium_kg_m3, gap_m, .. } = *surroundings;
        let mut states: Vec<RigidState> =
            all.iter().map(|body| body.state(wide(gravity_m_s2), dt_s.into())).collect();
        for (state, group) in states.iter_mut().zip(&surroundings.groups) {
            state.group = *group;
        }
        let mut points: Vec<TouchingPoint> = Vec::new();
        let mut shapes: Vec<RigidShape> = Vec::new();
        for (body, owner) in all.iter().zip(0..) {
            shapes.push(body.shape((medium_kg_m3, gap_m), points.len() as u32));
            let point = |at: &[DVec3; 2]| {
                let [place_m, half_m] = at.map(|v| narrow(v.to_array()));
                TouchingPoint { place_m, half_m, owner }
            };
            points.extend(body.touching_m.iter().map(point));
        }
        let centres_m: Vec<[f32; 3]> = all.iter().map(|body| narrow(body.mass.centre_m)).collect();
        Ok(Some(Self {
            states: device.buffer_from("dynamic bodies", &states)?,
            shapes: device.buffer_from("shapes of dynamic bodies", &shapes)?,
            poses: BodyPoses {
                centre_m: device.buffer_from("centres of dynamic bodies", &centres_m)?,
                rotation: device
                    .buffer_from("rotations of dynamic bodies", &vec![[0.0, 0.0, 0.0, 1.0]; all.len()])?,
            },
            turn: device.buffer("rotation vectors of dynamic bodies", all.len())?,
            velocity_m_s: device.buffer("velocities of dynamic bodies", all.len())?,
            names: all.iter().map(|body| body.name.clone()).collect(),
            centres_m,
            of_step: move_bodies::Params { n_bodies: all.len() as u32, dt_s, gravity_m_s2 },
            move_bodies: Kernel::new(device)?,
            place_bodies: Kernel::new(device)?,
            contacts: Contacts::new(device, surroundings, &points)?,
            joints: Joints::new(device, surroundings)?,
            ring: ReadbackRing::new(device),
        }))
    }

    /// Registers the motion for checkpoints.
    pub(crate) fn register(&self, table: &mut ParticleTable) {
        let states = DoubleBuffer::single(self.states.cast());
        table.array(STATES_COLUMN, "1", ColumnKind::Matrix(STATE_WORDS), states);
        self.contacts.register(table);
        self.joints.register(table);
    }

    /// Takes over gravity and time step of a changed scene.
    pub(crate) fn set_surroundings(&mut self, surroundings: &Surroundings) {
        self.of_step.dt_s = surroundings.dt_s;
        self.of_step.gravity_m_s2 = surroundings.gravity_m_s2;
        self.contacts.set_surroundings(surroundings);
        self.joints.set_surroundings(surroundings);
    }

    /// Records the places of the bodies in a step: first in it or, for what looks at them between two, now.
    pub(crate) fn record_places(&self, recorder: &mut Recorder, shared: Shared<'_>, is_in_step: bool) {
        let bindings = place_bodies::Bindings {
            body_data: shared.body_data,
            clock: shared.clock,
            bodies: shared.bodies,
            shapes: &self.shapes,
            states: &self.states,
            centre_m: &self.poses.centre_m,
            rotation: &self.poses.rotation,
            turn: &self.turn,
            velocity_m_s: &self.velocity_m_s,
        };
        let move_bodies::Params { n_bodies, dt_s, .. } = self.of_step;
        let params = place_bodies::Params { n_bodies, dt_s, is_in_step: is_in_step.into() };
        recorder.dispatch(&self.place_bodies, Threads::Fixed(self.names.len()), bindings, params);
    }

    /// Records the impulses of joints and contacts in half a step at time 0: without them, bodies would fall
    /// half a step, and the first impulses would be those of one and a half.
    pub(crate) fn record_start(&self, recorder: &mut Recorder, shared: Shared<'_>) {
        self.joints.record(recorder, shared, &self.shapes, &self.states, 0.5);
        self.contacts.record(recorder, shared, &self.shapes, &self.states, &self.joints);
    }

    /// Records the end of a step: the bodies move, and their velocities change by the loads of the step.
    pub(crate) fn record_motion(
        &self,
        recorder: &mut Recorder,
        shared: Shared<'_>,
        loads: &Buffer<BodyLoad>,
    ) {
        let bindings =
            move_bodies::Bindings { clock: shared.clock, loads, shapes: &self.shapes, states: &self.states };
        recorder.dispatch(&self.move_bodies, Threads::Fixed(self.names.len()), bindings, self.of_step);
        self.joints.record(recorder, shared, &self.shapes, &self.states, 1.0);
        self.contacts.record(recorder, shared, &self.shapes, &self.states, &self.joints);
    }

    /// Returns the poses, as of the last `record_places`.
    pub fn poses(&self) -> &BodyPoses {
        &self.poses
    }

    /// Returns the recorded columns, one element per body in the order of the scene, as of the last
    /// [`Solver::record_output`](crate::Solver::record_output).
    pub fn columns(&self) -> Vec<ColumnView> {
        body_columns(&self.poses.centre_m, &self.turn, &self.velocity_m_s)
    }

    /// Returns the masses, inertias and contact laws of the bodies, in their order.
    pub fn shapes(&self) -> &Buffer<RigidShape> {
        &self.shapes
    }

    /// Returns the points of their surfaces that may touch something.
    pub fn points(&self) -> &Buffer<TouchingPoint> {
        self.contacts.points()
    }

    /// Returns the joints of the bodies.
    pub fn joints(&self) -> &Joints {
        &self.joints
    }

    /// Returns the names and units of [`PendingMotions::wait`].
    pub(crate) fn metrics(&self) -> Vec<MetricInfo> {
        let axes = ["x", "y", "z"];
        let mut names = Vec::new();
        for name in &self.names {
            for (quantity, unit) in
                [("position", "m"), ("rotation", "rad"), ("velocity", "m/s"), ("angular_velocity", "rad/s")]
            {
                names.extend(axes.map(|axis| (format!("{quantity}_of_{name}_{axis}"), unit)));
            }
        }
        names.extend(self.joints.metrics());
        MetricInfo::list(names)
    }

    /// Records the read-back of the motion.
    ///
    /// # Errors
    /// No memory for another read-back.
    pub(crate) fn record_values(&self, recorder: &mut Recorder) -> Result<PendingMotions> {
        let states = self.ring.read(recorder, &self.states, self.names.len())?;
        let joints = self.joints.record_values(recorder, &self.ring)?;
        Ok(PendingMotions { states, centres_m: self.centres_m.clone(), joints })
    }
}

impl std::fmt::Debug for DynamicBodies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DynamicBodies").field("names", &self.names).finish_non_exhaustive()
    }
}

/// Motions that are being read back.
pub(crate) struct PendingMotions {
    states: Pending<RigidState>,
    centres_m: Vec<[f32; 3]>,
    joints: PendingJoints,
}

impl PendingMotions {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.states.is_ready()? && self.joints.is_ready()?)
    }

    /// Waits for centre of mass, rotation vector, velocity and angular velocity of all bodies, then for the
    /// values of joints.
    ///
    /// # Errors
    /// The device was lost.
    pub fn wait(self) -> Result<Vec<f64>> {
        let mut values = Vec::new();
        for (state, centre_m) in self.states.wait()?.iter().zip(self.centres_m) {
            values.extend((wide(centre_m) + wide(state.offset_m)).to_array());
            let rotation = DQuat::from_array(state.rotation.map(f64::from)).normalize();
            let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
            values.extend(rotation.to_scaled_axis().to_array());
            values.extend(state.velocity_m_s.map(f64::from));
            values.extend(state.angular_velocity_rad_s.map(f64::from));
        }
        values.extend(self.joints.wait()?);
        Ok(values)
    }
}

fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}
