//! Joints of dynamic bodies: twin of `bodies/prepare_joints`.

use crate::rigid::{RigidBody, Row};
use glam::{DQuat, DVec3};

/// A joint of a dynamic body with another one or a place.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Indices of its body, and of the other dynamic one if it has one.
    pub bodies: (usize, Option<usize>),
    /// Place from the two centres of mass at time 0 in m; of a spring its ends.
    pub arms_m: [DVec3; 2],
    /// Unit vectors along and across the axis at time 0.
    pub axes: [DVec3; 2],
    /// Motions that have a row: along the axis and across it, about the axis and about those across it.
    pub directions: [bool; 6],
    /// Row, speed and largest force or torque of a motor.
    pub motor: Option<(usize, f64, f64)>,
    /// Spring, of which the only row is the first.
    pub spring: Option<Spring>,
    /// Force in N and torque in N m at which it breaks.
    pub breaks_at: [f64; 2],
}

/// A spring with a damper.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    /// From the partner's end to the owner's at time 0, in m.
    pub apart_m: DVec3,
    /// By how much it is too long then, in m.
    pub extension_m: f64,
    /// Stiffness in N/m.
    pub stiffness_n_m: f64,
    /// Damping in N s/m.
    pub damping_n_s_m: f64,
}

/// State of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointState {
    /// Displacement along the axis, or extension of a spring, in m.
    pub displacement_m: f64,
    /// Rotation about the axis in rad.
    pub angle_rad: f64,
    /// True after it has broken.
    pub is_broken: bool,
}

/// Motion of a body over a step without its joints.
struct Course {
    offset_m: DVec3,
    rotation: DQuat,
    way_m: DVec3,
    turn: DQuat,
    velocity_m_s: DVec3,
    spin: DVec3,
    mean_spin: DVec3,
}

fn course(bodies: &[RigidBody], of: Option<usize>, dt_s: f64) -> Course {
    let Some(body) = of.map(|idx| &bodies[idx]) else {
        return Course {
            offset_m: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            way_m: DVec3::ZERO,
            turn: DQuat::IDENTITY,
            velocity_m_s: DVec3::ZERO,
            spin: DVec3::ZERO,
            mean_spin: DVec3::ZERO,
        };
    };
    let mean_spin = body.place_bodies(dt_s).angular_velocity;
    Course {
        offset_m: body.offset_m,
        rotation: body.rotation,
        way_m: dt_s * body.velocity_m_s,
        turn: DQuat::from_scaled_axis(dt_s * mean_spin),
        velocity_m_s: body.velocity_m_s,
        spin: body.spin(body.rotation),
        mean_spin,
    }
}

/// Twin of `bodies/prepare_joints`: returns the rows of a joint for the next step, which begin with the
/// impulses of `before`, and its state. The share `taken_back` of errors is taken back.
pub fn prepare_joint(
    bodies: &[RigidBody],
    joint: &Joint,
    (state, before): (JointState, &[Row]),
    (dt_s, taken_back): (f64, f64),
) -> (JointState, Vec<Row>) {
    let sum = |is_angular: bool| -> f64 {
        let own = before.iter().filter(|row| row.is_angular == is_angular);
        own.map(|row| row.impulse * row.direction).sum::<DVec3>().length() / dt_s
    };
    let is_broken = state.is_broken || sum(false) > joint.breaks_at[0] || sum(true) > joint.breaks_at[1];
    let (own, other) = (course(bodies, Some(joint.bodies.0), dt_s), course(bodies, joint.bodies.1, dt_s));
    let displaced = |course: &Course, arm_m: DVec3| course.offset_m + course.rotation * arm_m - arm_m;
    let moved_m = displaced(&own, joint.arms_m[0]) - displaced(&other, joint.arms_m[1]);
    let mut arms_m = [own.rotation * joint.arms_m[0], other.rotation * joint.arms_m[1]];
    if joint.spring.is_none() {
        arms_m[1] += moved_m;
    }
    let way = |course: &Course, arm_m: DVec3| course.way_m + course.turn * arm_m - arm_m;
    let way_m = way(&own, arms_m[0]) - way(&other, arms_m[1]);
    let velocity = |course: &Course, arm_m: DVec3| course.velocity_m_s + course.spin.cross(arm_m);
    let velocity_m_s = velocity(&own, arms_m[0]) - velocity(&other, arms_m[1]);
    let now = joint.axes.map(|axis| other.rotation * axis);
    let half_turn = DQuat::from_scaled_axis(0.5 * dt_s * other.mean_spin);
    let triad = |[along, across]: [DVec3; 2]| [along, across, along.cross(across)];
    let mut linear = triad(now.map(|axis| other.turn * axis));
    let angular = triad(now.map(|axis| half_turn * axis));
    let is_axis_free = !joint.directions[3] || joint.motor.is_some_and(|(row, ..)| row == 3);
    let relative = own.rotation * other.rotation.inverse();
    let relative = if relative.w < 0.0 { -relative } else { relative };
    let turned = match is_axis_free {
        true => now[0].cross(own.rotation * joint.axes[0]),
        false => relative.to_scaled_axis(),
    };
    let extension = joint.spring.map(|spring| {
        let line_m = spring.apart_m + moved_m;
        linear[0] = line_m.normalize();
        line_m.length() - spring.apart_m.length() + spring.extension_m
    });
    let mut rows = Vec::new();
    for d in (0..6).filter(|d| joint.directions[*d]) {
        let direction = if d < 3 { linear[d] } else { angular[d - 3] };
        let (mut wanted, mut compliance, mut limit) = if d < 3 {
            (direction.dot(velocity_m_s - (way_m + taken_back * moved_m) / dt_s), 0.0, f64::INFINITY)
        } else {
            let spin = own.spin - other.spin - (own.mean_spin - other.mean_spin);
            (direction.dot(spin - taken_back / dt_s * turned), 0.0, f64::INFINITY)
        };
        if let Some((row, speed, largest)) = joint.motor
            && row == d
        {
            (wanted, limit) = (speed, largest * dt_s);
        }
        if let (Some(spring), Some(extension_m)) = (joint.spring, extension) {
            // k ((l₊ + 2 l + l₋)/4 − l₀) + c (l₊ − l₋)/(2 Δt), with l₊ = l + Δt v.
            let gained_m = extension_m - state.displacement_m;
            let a = spring.stiffness_n_m * (extension_m - 0.25 * gained_m) * dt_s
                + 0.5 * spring.damping_n_s_m * gained_m;
            let b = (0.25 * spring.stiffness_n_m * dt_s + 0.5 * spring.damping_n_s_m) * dt_s;
            (wanted, compliance) = (-a / b, 1.0 / b);
        }
        let impulse = before.get(rows.len()).map_or(0.0, |row| row.impulse);
        rows.push(Row {
            bodies: joint.bodies,
            is_angular: d >= 3,
            direction,
            arms_m,
            wanted,
            compliance,
            limit,
            is_active: !is_broken,
            impulse: if is_broken { 0.0 } else { impulse },
        });
    }
    let seen = other.rotation.inverse() * own.rotation;
    let seen = if seen.w < 0.0 { -seen } else { seen };
    let state = JointState {
        displacement_m: extension.unwrap_or(now[0].dot(moved_m)),
        angle_rad: 2.0 * seen.xyz().dot(joint.axes[0]).atan2(seen.w),
        is_broken,
    };
    (state, rows)
}
