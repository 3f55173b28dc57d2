//! Bodies that position-based particles meet: their surfaces, how they move, and what they cut off of the kernel. Twin of `common/surfaces.glsl`,
//! `common/motion.glsl` and `pbd/cut_off.glsl`, in f64.

use std::f64::consts::TAU;

use glam::{DMat3, DQuat, DVec3};

use crate::mpm::{Heights, Mesh, Shape as OldShape};

/// The region that a body takes up.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// What is behind a plane: a point of it, and the unit normal out of the body.
    Plane(DVec3, DVec3),
    /// A ball: centre and radius in m.
    Ball(DVec3, f64),
    /// A box: centre, half its edges in m, and the rotation from its axes.
    Box(DVec3, DVec3, DMat3),
    /// A cylinder: middle, half its axis, and radius, in m.
    Rod(DVec3, DVec3, f64),
    /// All within a radius of a line: its middle, half of it, and the radius, in m.
    Capsule(DVec3, DVec3, f64),
    /// What a closed surface encloses.
    Mesh(Mesh),
    /// What is below a terrain, y being up.
    Heightfield(Heights),
}

/// How a body moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Velocity in m/s, from and until when in s.
    Uniform(DVec3, [f64; 2]),
    /// Amplitude in m, frequency in Hz, phase in turns.
    Oscillating(DVec3, f64, f64),
    /// A point of the axis in m, angular velocity in rad/s, from and until when in s.
    Spinning(DVec3, DVec3, [f64; 2]),
    /// The pivot in m, and keys: time in s, offset in m, rotation.
    Keyframed(DVec3, Vec<(f64, DVec3, DQuat)>),
}

/// A rigid pose and how it changes: x = pivot + offset + R (X − pivot).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// In m.
    pub pivot: DVec3,
    /// In m.
    pub offset: DVec3,
    /// From the axes at rest.
    pub rotation: DQuat,
    /// In m/s.
    pub velocity: DVec3,
    /// In rad/s.
    pub angular_velocity: DVec3,
}

impl Motion {
    /// The pose at a time in s.
    pub fn pose(&self, time_s: f64) -> Pose {
        let rest = Pose {
            pivot: DVec3::ZERO,
            offset: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
        };
        let lasting = |[from, until]: [f64; 2]| (time_s.clamp(from, until) - from).max(0.0);
        let goes = |[from, until]: [f64; 2]| f64::from(u8::from(from <= time_s && time_s < until));
        match self {
            Self::Uniform(velocity, span) => {
                Pose { offset: lasting(*span) * velocity, velocity: goes(*span) * velocity, ..rest }
            }
            Self::Oscillating(amplitude, frequency, phase) => {
                let (sin, cos) = (TAU * (frequency * time_s + phase)).sin_cos();
                Pose { offset: sin * amplitude, velocity: TAU * frequency * cos * amplitude, ..rest }
            }
            Self::Spinning(point, spin, span) => Pose {
                pivot: *point,
                rotation: DQuat::from_scaled_axis(lasting(*span) * spin),
                angular_velocity: goes(*span) * spin,
                ..rest
            },
            Self::Keyframed(pivot, keys) => {
                let rest = Pose { pivot: *pivot, ..rest };
                let k = keys.iter().rposition(|key| key.0 <= time_s);
                let (at, offset, rotation) = keys[k.unwrap_or(0)];
                let still = Pose { offset, rotation, ..rest };
                let (Some(_), Some(next)) = (k, keys.get(k.unwrap_or(0) + 1)) else { return still };
                let span = next.0 - at;
                let turn = next.2 * rotation.inverse();
                let turn = (if turn.w < 0.0 { -turn } else { turn }).to_scaled_axis();
                let share = (time_s - at) / span;
                Pose {
                    offset: offset + share * (next.1 - offset),
                    rotation: DQuat::from_scaled_axis(share * turn) * rotation,
                    velocity: (next.1 - offset) / span,
                    angular_velocity: turn / span,
                    ..rest
                }
            }
        }
    }
}

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// At rest.
    pub shape: Shape,
    /// Whether particles are inside it.
    pub is_container: bool,
    /// None for a body at rest.
    pub motion: Option<Motion>,
    /// μ for snow, s for water; none: as the walls of the domain.
    pub friction: Option<f64>,
    /// Whether what touches it moves with it.
    pub is_sticky: bool,
}

impl Body {
    /// At rest, solid, with the friction of walls.
    pub fn new(shape: Shape) -> Self {
        Self { shape, is_container: false, motion: None, friction: None, is_sticky: false }
    }

    /// The half-space where normal · x < offset.
    pub fn plane(normal: [f32; 3], offset_m: f32) -> Self {
        let normal = DVec3::from_array(normal.map(f64::from));
        Self::new(Shape::Plane(f64::from(offset_m) * normal, normal))
    }

    /// A solid ball.
    pub fn ball(centre_m: [f32; 3], radius_m: f32) -> Self {
        Self::new(Shape::Ball(DVec3::from_array(centre_m.map(f64::from)), radius_m.into()))
    }

    /// A ball with particles inside.
    pub fn vessel(centre_m: [f32; 3], radius_m: f32) -> Self {
        Self { is_container: true, ..Self::ball(centre_m, radius_m) }
    }

    fn place_at_rest(&self, x: DVec3, time_s: f64) -> (DVec3, DQuat) {
        let Some(motion) = &self.motion else { return (x, DQuat::IDENTITY) };
        let pose = motion.pose(time_s);
        (pose.pivot + pose.rotation.inverse() * (x - pose.offset - pose.pivot), pose.rotation)
    }

    /// Signed distance in m, negative in the solid, and the unit normal towards particles.
    pub fn distance_m(&self, x: DVec3, time_s: f64) -> (f64, DVec3) {
        let (at, rotation) = self.place_at_rest(x, time_s);
        let (distance, normal) = self.shape.distance_m(at);
        let side = if self.is_container { -1.0 } else { 1.0 };
        (side * distance, rotation * (side * normal))
    }

    /// Velocity in m/s of the body's point at x.
    pub fn velocity_m_s(&self, x: DVec3, time_s: f64) -> DVec3 {
        self.motion.as_ref().map_or(DVec3::ZERO, |motion| {
            let pose = motion.pose(time_s);
            pose.velocity + pose.angular_velocity.cross(x - pose.offset - pose.pivot)
        })
    }

    /// The share of the kernel of support `h_m` about x that the body cuts off, times `scale`, and h times its gradient.
    pub fn cut_off(&self, x: DVec3, time_s: f64, h_m: f64, scale: f64) -> (f64, DVec3) {
        let (distance, normal) = self.distance_m(x, time_s);
        if distance >= h_m {
            return (0.0, DVec3::ZERO);
        }
        // A particle that is pressed into the solid counts as lying on its surface.
        let (at, rotation) = self.place_at_rest(x - distance.min(0.0) * normal, time_s);
        let own_normal = rotation.inverse() * normal;
        let (share, gradient) =
            self.shape.cut_off(at, distance.max(0.0), own_normal, h_m, self.is_container, scale);
        (share, rotation * gradient)
    }
}

impl Shape {
    fn distance_m(&self, x: DVec3) -> (f64, DVec3) {
        let old = |shape: OldShape| shape.distance_m(3, x);
        match self {
            Self::Plane(point_m, normal) => old(OldShape::Plane { point_m: *point_m, normal: *normal }),
            Self::Ball(centre_m, radius_m) => {
                old(OldShape::Ball { centre_m: *centre_m, radius_m: *radius_m })
            }
            Self::Box(centre_m, half, rotation) => {
                old(OldShape::Box { centre_m: *centre_m, size_m: 2.0 * *half, rotation: *rotation })
            }
            Self::Mesh(mesh) => mesh.distance_m(x),
            Self::Heightfield(heights) => OldShape::Heightfield(heights.clone()).distance_m(3, x),
            Self::Capsule(middle, half_axis, radius) => {
                let share = ((x - middle).dot(*half_axis) / half_axis.length_squared()).clamp(-1.0, 1.0);
                let arm = x - middle - share * half_axis;
                (arm.length() - radius, arm.try_normalize().unwrap_or(half_axis.any_orthonormal_vector()))
            }
            Self::Rod(middle, half_axis, radius) => {
                let axis = half_axis.normalize();
                let along = (x - middle).dot(axis);
                let across = x - middle - along * axis;
                let side = across.try_normalize().unwrap_or(axis.any_orthonormal_vector());
                let end = axis * 1.0_f64.copysign(along);
                let past = [across.length() - radius, along.abs() - half_axis.length()];
                let out = past.map(|p| p.max(0.0));
                let distance = out[0].hypot(out[1]);
                if distance > 0.0 {
                    (distance, (out[0] * side + out[1] * end) / distance)
                } else if past[0] > past[1] {
                    (past[0], side)
                } else {
                    (past[1], end)
                }
            }
        }
    }

    /// As [`Body::cut_off`], at rest; `distance` and `normal` are those of the surface at x.
    fn cut_off(
        &self,
        x: DVec3,
        distance: f64,
        normal: DVec3,
        h: f64,
        is_container: bool,
        scale: f64,
    ) -> (f64, DVec3) {
        let side = if is_container { -1.0 } else { 1.0 };
        let single = |curvature: f64| {
            let (share, slope) = curved_share(distance / h, curvature);
            (scale * share, -scale * slope * normal)
        };
        match self {
            Self::Plane(..) | Self::Mesh(_) | Self::Heightfield(_) => single(0.0),
            Self::Ball(_, radius) => single(side * h / radius),
            Self::Capsule(middle, half_axis, radius) => {
                let along = (x - middle).dot(half_axis.normalize()) / h;
                let within = share_between(along, half_axis.length() / h).0;
                single(side * h / radius * (1.0 - 0.5 * within))
            }
            Self::Box(centre, half, rotation) => {
                let local = rotation.transpose() * (x - centre) / h;
                let half = *half / h;
                if is_container {
                    let faces = (0..3).flat_map(|axis| {
                        let normal = rotation * DVec3::AXES[axis];
                        [(half[axis] + local[axis], 0.0, normal), (half[axis] - local[axis], 0.0, -normal)]
                    });
                    return close_faces(faces, scale);
                }
                let shares: [(f64, f64); 3] =
                    std::array::from_fn(|axis| share_between(local[axis], half[axis]));
                let [x, y, z] = shares;
                let gradient = DVec3::new(x.1 * y.0 * z.0, x.0 * y.1 * z.0, x.0 * y.0 * z.1);
                (scale * x.0 * y.0 * z.0, scale * (rotation * gradient))
            }
            Self::Rod(middle, half_axis, radius) => {
                let axis = half_axis.normalize();
                let along = (x - middle).dot(axis);
                let across = x - middle - along * axis;
                let outwards = across.try_normalize().unwrap_or(axis.any_orthonormal_vector());
                let past = (across.length() - radius) / h;
                let curvature = 0.5 * h / radius;
                let half = half_axis.length();
                if is_container {
                    let faces = [
                        (-past, -curvature, -outwards),
                        ((half + along) / h, 0.0, axis),
                        ((half - along) / h, 0.0, -axis),
                    ];
                    return close_faces(faces, scale);
                }
                let about = share_behind(past, curvature);
                let (share, slope) = share_between(along / h, half / h);
                (scale * about.0 * share, scale * (-about.1 * share * outwards + about.0 * slope * axis))
            }
        }
    }
}

fn close_faces(faces: impl IntoIterator<Item = (f64, f64, DVec3)>, scale: f64) -> (f64, DVec3) {
    faces.into_iter().filter(|(q, ..)| *q < 1.0).fold((0.0, DVec3::ZERO), |cut, (q, curvature, normal)| {
        let (share, slope) = curved_share(q.max(0.0), curvature);
        both(cut, (scale * share, -scale * slope * normal))
    })
}

/// What two bodies cut off together.
pub fn both(a: (f64, DVec3), b: (f64, DVec3)) -> (f64, DVec3) {
    (a.0 + b.0 - a.0 * b.0, a.1 * (1.0 - b.0) + b.1 * (1.0 - a.0))
}

/// The moments J_n(q) = 2π ∫_q^1 tⁿ W dt of the kernel in units of h, for n = 1, 2, 3.
pub fn moments(q: f64) -> [f64; 3] {
    let q = q.clamp(0.0, 1.0);
    let (u, v) = (1.0 - q, (0.5 - q).max(0.0));
    // ∫ tⁿ (a − t)³ dt from q to a with x = a − q, of the two parts of the spline.
    let part = |a: f64, x: f64| {
        let power = |k: i32| x.powi(k) / f64::from(k);
        [
            a * power(4) - power(5),
            a * a * power(4) - 2.0 * a * power(5) + power(6),
            a.powi(3) * power(4) - 3.0 * a * a * power(5) + 3.0 * a * power(6) - power(7),
        ]
    };
    let (outer, inner) = (part(1.0, u), part(0.5, v));
    std::array::from_fn(|n| 32.0 * (outer[n] - 4.0 * inner[n]))
}

/// What a ball of radius h/`curvature`, hollow where that is negative, cuts off at a distance of q h, and minus its slope.
pub fn curved_share(q: f64, curvature: f64) -> (f64, f64) {
    let d = (1.0 + curvature * q).max(0.1);
    let (a, b) = (q * (2.0 + curvature * q) / (2.0 * d), 0.5 * curvature / d);
    let (a_slope, b_slope) = (0.5 * (1.0 + 1.0 / (d * d)), -2.0 * b * b);
    let share = |[j1, j2, j3]: [f64; 3]| j2 - a * j1 - b * j3;
    let slope = |[j1, _, j3]: [f64; 3]| a_slope * j1 + b_slope * j3;
    let far = if curvature * (1.0 - q) > 2.0 { q + 2.0 / curvature } else { 1.0 };
    (share(moments(q)) - share(moments(far)), slope(moments(q)) - slope(moments(far)))
}

fn share_behind(q: f64, curvature: f64) -> (f64, f64) {
    if q.abs() >= 1.0 {
        return (if q < 0.0 { 1.0 } else { 0.0 }, 0.0);
    }
    if q >= 0.0 {
        return curved_share(q, curvature);
    }
    let (share, slope) = curved_share(-q, -curvature);
    (1.0 - share, slope)
}

/// The share between two faces, and its derivative.
fn share_between(at: f64, half: f64) -> (f64, f64) {
    let (low, high) = (share_behind(half + at, 0.0), share_behind(half - at, 0.0));
    (1.0 - low.0 - high.0, low.1 - high.1)
}
