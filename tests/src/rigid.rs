//! Dynamic bodies and their joints for tests: scenes of bodies alone, and conversion to the twins.

#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

use crate::Simulation;
use frazil_reference::joints::{Joint, JointState, Spring};
use frazil_reference::rigid::{Point, RigidBody, Row};
use frazil_shaders::bodies::contact::{MAX_CONTACTS_OF_POINT, NO_PARTNER};
use frazil_shaders::bodies::joint::NO_ROW;
use frazil_shaders::types::{
    BodyContact, BodyJoint, JointRow, JointState as RawState, RigidShape, RigidState, TouchingPoint,
};
use frazil_solvers::{DynamicBodies, Solver};
use frazil_vk::Buffer;
use glam::{DMat3, DQuat, DVec3};

/// Returns the overrides of `dam_break` that make it a dry box of 4 m × 3 m × 2 m about x = z = 0, but for a
/// puddle in a corner, whose density is not solved.
pub const DRY: [&str; 8] = [
    "pbd.iterations=1",
    "pbd.max_iterations=1",
    "fluid.particle_spacing_m=0.05",
    "domain.min_m=[-2,0,-1]",
    "domain.max_m=[2,3,1]",
    "domain.friction={}",
    "particles=[{shape={box={min_m=[1.8,0,0.8],max_m=[2,0.1,1]}}}]",
    "time.dt_s=0.001",
];

/// Makes a simulation in the box of [`DRY`].
pub fn dry(overrides: &[&str]) -> Simulation {
    Simulation::new("dam_break", &DRY.iter().chain(overrides).copied().collect::<Vec<_>>())
}

/// Converts a vector to double precision.
pub fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}

/// Converts a quaternion to double precision.
pub fn quaternion(q: [f32; 4]) -> DQuat {
    DQuat::from_array(q.map(f64::from)).normalize()
}

/// Downloads a column of the state.
///
/// # Panics
/// If there is none of this name.
pub fn column(simulation: &Simulation, name: &str) -> Vec<u32> {
    let columns = simulation.fluid.state_columns();
    let column = columns.iter().find(|column| column.name == name).expect("no such column");
    simulation.device.download(&column.words, column.words.len()).expect("lost device")
}

/// Returns the motions of the dynamic bodies.
pub fn states(simulation: &Simulation) -> Vec<RigidState> {
    bytemuck::cast_slice(&column(simulation, "dynamic bodies")).to_vec()
}

/// Returns the contacts with the index of their point.
pub fn contacts(simulation: &Simulation) -> Vec<(usize, BodyContact)> {
    let all: Vec<BodyContact> =
        bytemuck::cast_slice(&column(simulation, "contacts of dynamic bodies")).to_vec();
    let most = MAX_CONTACTS_OF_POINT as usize;
    let found = column(simulation, "contacts of points");
    let of = |(p, &n): (usize, &u32)| {
        let of_point = all[most * p..most * p + n as usize].to_vec();
        of_point.into_iter().map(move |contact| (p, contact))
    };
    found.iter().enumerate().flat_map(of).collect()
}

fn dynamic(simulation: &Simulation) -> &DynamicBodies {
    simulation.fluid.body_loads().and_then(|loads| loads.dynamic()).expect("no dynamic bodies")
}

fn download<T: bytemuck::Pod>(simulation: &Simulation, buffer: &Buffer<T>) -> Vec<T> {
    simulation.device.download(buffer, buffer.len()).expect("lost device")
}

/// Returns the twins of the dynamic bodies of a simulation.
pub fn twins(simulation: &Simulation) -> Vec<RigidBody> {
    let shapes: Vec<RigidShape> = download(simulation, dynamic(simulation).shapes());
    let bodies = &simulation.fluid.parameters().surroundings;
    let twin = |(shape, state): (&RigidShape, RigidState)| {
        let at = bodies.bodies[shape.body as usize].first_motion as usize;
        let [d, r] = [shape.inverse_inertia_diagonal, shape.inverse_inertia_rest].map(wide);
        let inverse =
            DMat3::from_cols(DVec3::new(d.x, r.z, r.y), DVec3::new(r.z, d.y, r.x), DVec3::new(r.y, r.x, d.z));
        RigidBody {
            mass_kg: shape.mass_kg.into(),
            inertia_kg_m2: inverse.inverse(),
            repeated: [shape.repeated.into(), shape.repeated_angular.into()],
            friction: shape.friction.into(),
            restitution: shape.restitution.into(),
            centre_m: DVec3::from_array([0, 1, 2].map(|i| bodies.body_data[at + i].into())),
            offset_m: wide(state.offset_m) - wide(state.offset_rest_m),
            rotation: quaternion(state.rotation),
            velocity_m_s: wide(state.velocity_m_s),
            angular_momentum_kg_m2_s: wide(state.angular_momentum_kg_m2_s),
            gained: [wide(state.gained_n_s), wide(state.gained_n_m_s)],
            gained_in_s: state.gained_in_s.into(),
        }
    };
    shapes.iter().zip(states(simulation)).map(twin).collect()
}

/// Points of a simulation's dynamic bodies.
pub fn points(simulation: &Simulation) -> Vec<Point> {
    let shapes: Vec<RigidShape> = download(simulation, dynamic(simulation).shapes());
    let point = |point: &TouchingPoint| {
        let shape = &shapes[point.owner as usize];
        Point {
            owner: point.owner as usize,
            place_m: wide(point.place_m),
            half_m: wide(point.half_m),
            radius_m: shape.point_radius_m.into(),
            gap_m: shape.gap_m.into(),
        }
    };
    download(simulation, dynamic(simulation).points()).iter().map(point).collect()
}

fn bodies_of(owner: u32, partner: u32) -> (usize, Option<usize>) {
    (owner as usize, (partner != NO_PARTNER).then_some(partner as usize))
}

/// Returns the twins of the joints of a simulation, and the indices of their rows.
pub fn twin_joints(simulation: &Simulation) -> Vec<(Joint, std::ops::Range<usize>)> {
    let twin = |joint: &BodyJoint| {
        let first = joint.first_row as usize;
        let spring = Spring {
            apart_m: wide(joint.apart_m),
            extension_m: joint.extension_m.into(),
            stiffness_n_m: joint.stiffness_n_m.into(),
            damping_n_s_m: joint.damping_n_s_m.into(),
        };
        let motor = (joint.motor as usize, joint.motor_speed.into(), joint.motor_limit.into());
        let joint = Joint {
            bodies: bodies_of(joint.owner, joint.partner),
            arms_m: [wide(joint.arm_m), wide(joint.partner_arm_m)],
            axes: [wide(joint.axis), wide(joint.across)],
            directions: std::array::from_fn(|d| joint.directions >> d & 1 == 1),
            motor: (joint.motor != NO_ROW).then_some(motor),
            spring: (joint.is_spring != 0).then_some(spring),
            breaks_at: [joint.breaks_at_n, joint.breaks_at_n_m].map(f64::from),
        };
        let n_rows = joint.directions.iter().filter(|is_given| **is_given).count();
        (joint, first..first + n_rows)
    };
    download(simulation, dynamic(simulation).joints().joints()).iter().map(twin).collect()
}

/// Returns the twins of the states and of the rows of joints.
pub fn joint_states(simulation: &Simulation) -> (Vec<JointState>, Vec<Row>) {
    let joints = dynamic(simulation).joints();
    let state = |raw: &RawState| JointState {
        displacement_m: raw.displacement_m.into(),
        angle_rad: raw.angle_rad.into(),
        is_broken: raw.is_broken != 0,
    };
    let row = |raw: &JointRow| Row {
        bodies: bodies_of(raw.owner, raw.partner),
        is_angular: raw.is_angular != 0,
        direction: wide(raw.direction),
        arms_m: [wide(raw.arm_m), wide(raw.partner_arm_m)],
        wanted: raw.wanted.into(),
        compliance: raw.compliance.into(),
        limit: raw.limit.into(),
        is_active: raw.mass != 0.0,
        impulse: raw.impulse.into(),
    };
    let states = download(simulation, joints.states());
    (states.iter().map(state).collect(), download(simulation, joints.rows()).iter().map(row).collect())
}

/// Returns a metric by its name.
///
/// # Panics
/// If there is none.
pub fn metric(simulation: &Simulation, name: &str) -> f64 {
    let mut recorder = simulation.device.recorder().expect("lost device");
    let pending = Solver::record_metrics(&simulation.fluid, &mut recorder).expect("lost device");
    simulation.device.submit(recorder).expect("lost device");
    let idx = simulation.fluid.metrics().iter().position(|metric| metric.name == name);
    pending.wait().expect("lost device").values[idx.expect("no such metric")]
}
