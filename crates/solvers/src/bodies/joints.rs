//! Joints of dynamic bodies with each other, bodies at rest and places.

use super::convert::narrow;
use super::dynamic_body::{Shared, taken_back};
use super::surroundings::Surroundings;
use frazil_particles::{ColumnKind, ParticleTable};
use frazil_scene::{Joint, JointKind};
use frazil_shaders::bodies::contact::NO_PARTNER;
use frazil_shaders::bodies::joint::NO_ROW;
use frazil_shaders::bodies::prepare_joints;
use frazil_shaders::types::{BodyJoint, JointRow, JointState, RigidShape, RigidState};
use frazil_vk::{Buffer, Device, DoubleBuffer, Kernel, Pending, ReadbackRing, Recorder, Result, Threads};
use glam::DVec3;

/// Columns of a saved state that hold the joints and the impulses of their rows.
const STATES_COLUMN: &str = "joints";
const ROWS_COLUMN: &str = "rows of joints";

/// Rows of a joint along and about its axis.
const ALONG: u32 = 0;
const ABOUT: u32 = 3;

/// Joints of a scene, on the device.
pub struct Joints {
    joints: Buffer<BodyJoint>,
    states: Buffer<JointState>,
    rows: Buffer<JointRow>,
    n_rows: u32,
    /// Joints with a name: their index, and how they move.
    named: Vec<Named>,
    of_step: prepare_joints::Params,
    prepare: Kernel<prepare_joints::Interface>,
}

/// A joint that is measured.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    idx: usize,
    rows: std::ops::Range<usize>,
    motion: Option<(&'static str, &'static str)>,
}

impl Joints {
    /// Uploads the joints of a scene. Without any, buffers have one element that no kernel reads.
    pub(super) fn new(device: &Device, surroundings: &Surroundings) -> Result<Self> {
        let (mut joints, mut states, mut named) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_rows = 0;
        for (idx, joint) in surroundings.joints.iter().enumerate() {
            let converted = convert(surroundings, joint, n_rows);
            n_rows += converted.directions.count_ones();
            states.push(JointState { displacement_m: converted.extension_m, ..bytemuck::Zeroable::zeroed() });
            let rows = converted.first_row as usize..n_rows as usize;
            let motion = match joint.kind {
                JointKind::Hinge { .. } => Some(("angle", "rad")),
                JointKind::Slider { .. } => Some(("displacement", "m")),
                JointKind::Spring { .. } => Some(("extension", "m")),
                _ => None,
            };
            named.extend(joint.name.clone().map(|name| Named { name, idx, rows, motion }));
            joints.push(converted);
        }
        let rows = vec![bytemuck::Zeroable::zeroed(); n_rows as usize];
        Ok(Self {
            joints: device.buffer_from("joints", &or_one(joints))?,
            states: device.buffer_from("states of joints", &or_one(states))?,
            rows: device.buffer_from("rows of joints", &or_one(rows))?,
            n_rows,
            named,
            of_step: of_step(surroundings),
            prepare: Kernel::new(device)?,
        })
    }

    /// Registers the joints for checkpoints: which are broken, and the impulses that those of a step begin
    /// with.
    pub(super) fn register(&self, table: &mut ParticleTable) {
        if self.n_rows == 0 {
            return;
        }
        let words = |size: usize| ColumnKind::Matrix((size / 4) as u32);
        let states = DoubleBuffer::single(self.states.cast());
        table.array(STATES_COLUMN, "1", words(size_of::<JointState>()), states);
        let rows = DoubleBuffer::single(self.rows.cast());
        table.array(ROWS_COLUMN, "1", words(size_of::<JointRow>()), rows);
    }

    /// Takes over the time step of a changed scene.
    pub(super) fn set_surroundings(&mut self, surroundings: &Surroundings) {
        self.of_step = of_step(surroundings);
    }

    /// Records the equations of the joints for the next part of a step.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder,
        shared: Shared<'_>,
        shapes: &Buffer<RigidShape>,
        states: &Buffer<RigidState>,
        part: f32,
    ) {
        if self.n_rows == 0 {
            return;
        }
        let bindings = prepare_joints::Bindings {
            clock: shared.clock,
            shapes,
            states,
            joints: &self.joints,
            joint_states: &self.states,
            rows: &self.rows,
        };
        let params = prepare_joints::Params { dt_s: part * self.of_step.dt_s, ..self.of_step };
        recorder.dispatch(&self.prepare, Threads::Fixed(params.n_joints as usize), bindings, params);
    }

    /// Returns the joints.
    pub fn joints(&self) -> &Buffer<BodyJoint> {
        &self.joints
    }

    /// Returns their states, as of the last step.
    pub fn states(&self) -> &Buffer<JointState> {
        &self.states
    }

    /// Returns their equations, of which there are [`Self::n_rows`].
    pub fn rows(&self) -> &Buffer<JointRow> {
        &self.rows
    }

    /// Returns the number of their equations.
    pub fn n_rows(&self) -> u32 {
        self.n_rows
    }

    /// Returns the names and units of [`PendingJoints::wait`].
    pub(super) fn metrics(&self) -> Vec<(String, &'static str)> {
        let axes = ["x", "y", "z"];
        let mut names = Vec::new();
        for Named { name, motion, .. } in &self.named {
            names.extend(axes.map(|axis| (format!("force_of_{name}_{axis}"), "N")));
            names.extend(axes.map(|axis| (format!("torque_of_{name}_{axis}"), "N m")));
            names.extend(motion.map(|(motion, unit)| (format!("{motion}_of_{name}"), unit)));
            names.push((format!("{name}_is_broken"), "1"));
        }
        names
    }

    /// Records the read-back of the joints.
    pub(super) fn record_values(
        &self,
        recorder: &mut Recorder,
        ring: &ReadbackRing,
    ) -> Result<PendingJoints> {
        let read = if self.named.is_empty() {
            None
        } else {
            let states = ring.read(recorder, &self.states, self.of_step.n_joints as usize)?;
            Some((states, ring.read(recorder, &self.rows, self.n_rows as usize)?))
        };
        Ok(PendingJoints { read, named: self.named.clone(), dt_s: self.of_step.dt_s.into() })
    }
}

impl std::fmt::Debug for Joints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Joints").field("named", &self.named).finish_non_exhaustive()
    }
}

/// Joints that are being read back.
pub(super) struct PendingJoints {
    read: Option<(Pending<JointState>, Pending<JointRow>)>,
    named: Vec<Named>,
    dt_s: f64,
}

impl PendingJoints {
    /// Returns true if the result has arrived.
    pub fn is_ready(&self) -> Result<bool> {
        match &self.read {
            Some((states, rows)) => Ok(states.is_ready()? && rows.is_ready()?),
            None => Ok(true),
        }
    }

    /// Waits for force and torque on the body in the last step, the motion that is free, and 1 for a joint
    /// that is broken, of all joints with a name.
    pub fn wait(self) -> Result<Vec<f64>> {
        let Some((states, rows)) = self.read else { return Ok(Vec::new()) };
        let (states, rows) = (states.wait()?, rows.wait()?);
        let mut values = Vec::new();
        for Named { idx, rows: own, motion, .. } in self.named {
            let sum = |is_angular: u32| {
                let own =
                    rows.iter().take(own.end).skip(own.start).filter(|row| row.is_angular == is_angular);
                own.fold([0.0; 3], |sum: [f64; 3], row| {
                    let impulse = f64::from(row.impulse) / self.dt_s;
                    std::array::from_fn(|i| sum[i] + impulse * f64::from(row.direction[i]))
                })
            };
            values.extend(sum(0));
            values.extend(sum(1));
            let Some(state) = states.get(idx) else { continue };
            values.extend(motion.map(|(motion, _)| match motion {
                "angle" => f64::from(state.angle_rad),
                _ => f64::from(state.displacement_m),
            }));
            values.push(f64::from(state.is_broken));
        }
        Ok(values)
    }
}

fn of_step(surroundings: &Surroundings) -> prepare_joints::Params {
    let dt_s = surroundings.dt_s;
    prepare_joints::Params { n_joints: surroundings.joints.len() as u32, dt_s, taken_back: taken_back(dt_s) }
}

fn or_one<T: bytemuck::Zeroable>(all: Vec<T>) -> Vec<T> {
    if all.is_empty() { vec![T::zeroed()] } else { all }
}

/// Returns a joint as kernels read it; its names are valid.
fn convert(surroundings: &Surroundings, joint: &Joint, first_row: u32) -> BodyJoint {
    let rigid = |name: &str| surroundings.dynamic.iter().position(|body| body.name == name);
    let centre_m = |idx: usize| DVec3::from_array(surroundings.dynamic[idx].mass.centre_m);
    let owner = rigid(&joint.body).unwrap_or_default();
    let partner = joint.to.as_deref().and_then(rigid);
    let named = |name: &str| surroundings.names.iter().position(|other| other == name);
    let body = joint.to.as_deref().and_then(named).map(|idx| surroundings.first_named() + idx as u32);
    let mut prevents = joint.kind.prevents();
    let own_centre_m = centre_m(owner);
    let (from_m, to_m) = match joint.kind {
        JointKind::Ball { point_m }
        | JointKind::Hinge { point_m, .. }
        | JointKind::Slider { point_m, .. }
        | JointKind::Fixed { point_m } => (point_m, point_m),
        JointKind::Spring { from_m, to_m, .. } => (from_m, to_m),
        // The only kind that is left.
        _ => (own_centre_m.to_array(), own_centre_m.to_array()),
    };
    let [from_m, to_m] = [from_m, to_m].map(DVec3::from_array);
    let apart_m = from_m - to_m;
    let motor = match joint.kind {
        JointKind::Hinge { motor: Some(motor), .. } => Some((ABOUT, motor.speed_rad_s, motor.torque_n_m)),
        JointKind::Slider { motor: Some(motor), .. } => Some((ALONG, motor.speed_m_s, motor.force_n)),
        _ => None,
    };
    let (stiffness_n_m, damping_n_s_m, extension_m) = match joint.kind {
        JointKind::Spring { stiffness_n_m, damping_n_s_m, length_m, .. } => {
            (stiffness_n_m, damping_n_s_m, length_m.map_or(0.0, |length_m| apart_m.length() - length_m))
        }
        _ => (0.0, 0.0, 0.0),
    };
    let is_spring = matches!(joint.kind, JointKind::Spring { .. });
    for row in motor.map(|(row, ..)| row).into_iter().chain(is_spring.then_some(ALONG)) {
        prevents[row as usize] = true;
    }
    let directions = (0..6).filter(|d| prevents[*d]).fold(0, |all, d| all | 1 << d);
    let [axis, across] = joint.kind.axes();
    let limit = |limit: Option<f64>| limit.map_or(f32::INFINITY, |limit| limit as f32);
    BodyJoint {
        owner: owner as u32,
        partner: partner.map_or(NO_PARTNER, |idx| idx as u32),
        body: body.unwrap_or(NO_PARTNER),
        directions,
        first_row,
        is_spring: is_spring.into(),
        arm_m: narrow((from_m - own_centre_m).to_array()),
        partner_arm_m: partner.map_or([0.0; 3], |idx| narrow((to_m - centre_m(idx)).to_array())),
        apart_m: narrow(apart_m.to_array()),
        axis: narrow(axis),
        across: narrow(across),
        extension_m: extension_m as f32,
        stiffness_n_m: stiffness_n_m as f32,
        damping_n_s_m: damping_n_s_m as f32,
        motor: motor.map_or(NO_ROW, |(row, ..)| row),
        motor_speed: motor.map_or(0.0, |(_, speed, _)| speed as f32),
        motor_limit: motor.map_or(0.0, |(.., limit)| limit as f32),
        breaks_at_n: limit(joint.breaks_at_n),
        breaks_at_n_m: limit(joint.breaks_at_n_m),
    }
}
