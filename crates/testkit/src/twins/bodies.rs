//! Conversion of the device's bodies to the twin's.

use frazil_reference::bodies::{Body, BoundaryMap, Motion, Pose, Shape};
use frazil_reference::uniform_bodies::{Heights, Mesh};
use frazil_shaders::common::body::{
    BOX, CAPSULE, CYLINDER, HEIGHTFIELD, MESH, MOTION_DYNAMIC, MOTION_OSCILLATING, MOTION_SPINNING,
    MOTION_UNIFORM, PLANE, SPHERE,
};
use frazil_shaders::common::motion::KEYFRAME_FLOATS;
use frazil_shaders::types::Body as Raw;
use frazil_solvers::Surroundings;
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::TAU;

fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}

/// Returns a quaternion of unit length despite the rounding of its parts.
fn quaternion(q: [f32; 4]) -> DQuat {
    DQuat::from_array(q.map(f64::from)).normalize()
}

/// Returns the bodies of a position-based scene, from the device's numbers.
///
/// # Panics
/// If the twin does not know the kind of one.
pub fn twin_bodies(surroundings: &Surroundings) -> Vec<Body> {
    let twin = |raw| twin_body(raw, &surroundings.body_data, surroundings.up_axis as usize);
    surroundings.bodies.iter().map(twin).collect()
}

fn twin_body(raw: &Raw, numbers: &[f32], up: usize) -> Body {
    let origin = wide(raw.origin_m);
    let [x, y, _] = raw.extent.map(f64::from);
    let rotation = quaternion(raw.rotation);
    let half_axis = rotation * (y * DVec3::Y);
    let shape = match raw.kind {
        PLANE => Shape::Plane(origin, wide(raw.extent)),
        SPHERE => Shape::Sphere(origin, x),
        BOX => Shape::Box(origin, wide(raw.extent), DMat3::from_quat(rotation)),
        HEIGHTFIELD => Shape::Heightfield(heights(raw, numbers, up), up),
        MESH => Shape::Mesh(mesh(raw, numbers), boundary_map(raw, numbers)),
        CYLINDER => Shape::Cylinder(origin, half_axis, x),
        CAPSULE => Shape::Capsule(origin, half_axis, x),
        kind => panic!("a body of kind {kind}"),
    };
    Body {
        shape,
        origin,
        is_container: raw.is_container != 0,
        motion: motion(raw, &numbers[(raw.first_motion as usize).min(numbers.len())..]),
        friction: (raw.friction >= 0.0).then_some(raw.friction.into()),
        is_sticky: raw.is_sticky != 0,
    }
}

fn heights(raw: &Raw, numbers: &[f32], up: usize) -> Heights {
    let [n_along, n_rows] = raw.n_heights.map(|n| n as usize);
    let first = raw.first_height as usize;
    let rows = numbers[first..first + n_along * n_rows].chunks(n_along);
    Heights {
        origin_m: [usize::from(up == 0), if up == 2 { 1 } else { 2 }].map(|axis| raw.origin_m[axis].into()),
        spacing_m: raw.extent[0].into(),
        heights_m: rows.map(|row| row.iter().map(|&height| height.into()).collect()).collect(),
    }
}

fn mesh(raw: &Raw, numbers: &[f32]) -> Mesh {
    let [levels, n] = raw.n_heights;
    let first = raw.first_height as usize + 1 + 6 * ((2 << levels) - 1);
    let middle = wide(raw.origin_m);
    let triangle = |k: usize| {
        std::array::from_fn(|corner| {
            let at = first + 30 * k + 3 * corner;
            middle + wide([numbers[at], numbers[at + 1], numbers[at + 2]])
        })
    };
    Mesh { triangles_m: (0..n as usize).map(triangle).collect() }
}

/// Returns the boundary map of a mesh, if it has one.
fn boundary_map(raw: &Raw, numbers: &[f32]) -> Option<BoundaryMap> {
    let map = numbers.get(raw.first_map as usize..).filter(|_| raw.first_map > 0)?;
    let n = [map[4], map[5], map[6]].map(|n| n as usize);
    let values = &map[7..7 + n.iter().product::<usize>()];
    Some(BoundaryMap {
        lower: wide(raw.origin_m) + wide([map[0], map[1], map[2]]),
        cell_m: map[3].into(),
        n,
        values: values.iter().map(|&value| value.into()).collect(),
    })
}

fn motion(raw: &Raw, numbers: &[f32]) -> Option<Motion> {
    let vector = |at: usize| wide([numbers[at], numbers[at + 1], numbers[at + 2]]);
    let number = |at: usize| f64::from(numbers[at]);
    match raw.motion {
        MOTION_UNIFORM if raw.velocity_m_s == [0.0; 3] => None,
        MOTION_UNIFORM => {
            Some(Motion::Uniform(wide(raw.velocity_m_s), [raw.from_s.into(), raw.until_s.into()]))
        }
        MOTION_OSCILLATING => Some(Motion::Oscillating(vector(0), number(3), number(4))),
        MOTION_SPINNING => {
            Some(Motion::Spinning(vector(0), TAU * number(6) * vector(3), [number(7), number(8)]))
        }
        MOTION_DYNAMIC => {
            let pose = Pose {
                pivot: vector(0),
                offset: vector(3),
                rotation: quaternion([6, 7, 8, 9].map(|at| numbers[at])),
                velocity: vector(10),
                angular_velocity: vector(13),
            };
            Some(Motion::Dynamic(pose, [number(16), number(17)]))
        }
        _ => {
            let key = |k: usize| {
                let at = 3 + KEYFRAME_FLOATS as usize * k;
                let rotation = [4, 5, 6, 7].map(|i| numbers[at + i]);
                (number(at), vector(at + 1), quaternion(rotation))
            };
            Some(Motion::Keyframed(vector(0), (0..raw.n_keys as usize).map(key).collect()))
        }
    }
}
