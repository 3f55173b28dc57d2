//! Bodies among position-based particles: surfaces, motion, boundary density and loads. Twin of
//! `common/surfaces.glsl`, `common/motion.glsl`, `pbd/boundary_density.glsl` and `bodies/reduce_body_loads`,
//! in f64.

use std::f64::consts::TAU;

use glam::{DMat3, DQuat, DVec3};

use crate::sph::cubic_spline;
use crate::uniform_bodies::{Heights, Mesh, Shape as UniformShape};

/// Shape of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The half-space behind a plane: a point of the plane, and the unit normal out of the body.
    Plane(DVec3, DVec3),
    /// A sphere: centre and radius in m.
    Sphere(DVec3, f64),
    /// A box: centre, half sizes in m, and rotation from its own axes.
    Box(DVec3, DVec3, DMat3),
    /// A closed cylinder: centre, half of its axis, and radius, in m.
    Cylinder(DVec3, DVec3, f64),
    /// A capsule: centre, half of its axis without the caps, and radius, in m.
    Capsule(DVec3, DVec3, f64),
    /// The interior of a closed surface, and the map of its boundary density.
    Mesh(Mesh, Option<BoundaryMap>),
    /// The region below a terrain, and its up axis: x and z of the heights are the other two in the order of
    /// the alphabet.
    Heightfield(Heights, usize),
}

/// Difference between the boundary density of a mesh and that of its tangent plane, at the nodes of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryMap {
    /// Position of the first node in m.
    pub lower: DVec3,
    /// Distance between nodes in m.
    pub cell_m: f64,
    /// Numbers of nodes along the axes.
    pub n: [usize; 3],
    /// Values, x fastest.
    pub values: Vec<f64>,
}

impl BoundaryMap {
    /// Returns the value at x, trilinear between nodes, and its gradient per m.
    fn at(&self, x: DVec3) -> (f64, DVec3) {
        let at = ((x - self.lower) / self.cell_m).to_array();
        if (0..3).any(|axis| at[axis] < 0.0 || at[axis] >= (self.n[axis] - 1) as f64) {
            return (0.0, DVec3::ZERO);
        }
        let (mut value, mut gradient) = (0.0, DVec3::ZERO);
        for corner in 0..8_usize {
            let side: [usize; 3] = std::array::from_fn(|axis| corner >> axis & 1);
            let node: [usize; 3] = std::array::from_fn(|axis| at[axis] as usize + side[axis]);
            let weight =
                |axis: usize| if side[axis] == 1 { at[axis].fract() } else { 1.0 - at[axis].fract() };
            let slope = |axis: usize| if side[axis] == 1 { 1.0 } else { -1.0 };
            let own = self.values[node[0] + self.n[0] * (node[1] + self.n[1] * node[2])];
            value += own * weight(0) * weight(1) * weight(2);
            gradient += own
                * DVec3::new(
                    slope(0) * weight(1) * weight(2),
                    slope(1) * weight(0) * weight(2),
                    slope(2) * weight(0) * weight(1),
                );
        }
        (value, gradient / self.cell_m)
    }
}

/// Motion of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Velocity in m/s, start and end in s.
    Uniform(DVec3, [f64; 2]),
    /// Amplitude in m, frequency in Hz, phase in turns.
    Oscillating(DVec3, f64, f64),
    /// A point of the axis in m, angular velocity in rad/s, start and end in s.
    Spinning(DVec3, DVec3, [f64; 2]),
    /// The pivot in m, and keys: time in s, offset in m, rotation.
    Keyframed(DVec3, Vec<(f64, DVec3, DQuat)>),
    /// Of a dynamic body in a step: pose at its start, start and length of the step in s.
    Dynamic(Pose, [f64; 2]),
}

/// Rigid pose and its rate of change: x = pivot + offset + R (X − pivot).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Fixed point of the rotation, in m.
    pub pivot: DVec3,
    /// In m.
    pub offset: DVec3,
    /// Rotation from the axes of the scene file.
    pub rotation: DQuat,
    /// In m/s.
    pub velocity: DVec3,
    /// In rad/s.
    pub angular_velocity: DVec3,
}

impl Motion {
    /// Returns the pose at a time in s.
    pub fn pose(&self, time_s: f64) -> Pose {
        let rest = Pose {
            pivot: DVec3::ZERO,
            offset: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
        };
        let elapsed_s = |[from, until]: [f64; 2]| (time_s.clamp(from, until) - from).max(0.0);
        let is_moving = |[from, until]: [f64; 2]| f64::from(u8::from(from <= time_s && time_s < until));
        match self {
            Self::Uniform(velocity, span) => {
                Pose { offset: elapsed_s(*span) * velocity, velocity: is_moving(*span) * velocity, ..rest }
            }
            Self::Oscillating(amplitude, frequency, phase) => {
                let (sin, cos) = (TAU * (frequency * time_s + phase)).sin_cos();
                Pose { offset: sin * amplitude, velocity: TAU * frequency * cos * amplitude, ..rest }
            }
            Self::Dynamic(start, [start_s, dt_s]) => {
                let elapsed_s = if time_s > *start_s { *dt_s } else { 0.0 };
                let turn = DQuat::from_scaled_axis(elapsed_s * start.angular_velocity);
                let offset = start.offset + elapsed_s * start.velocity;
                Pose { offset, rotation: turn * start.rotation, ..*start }
            }
            Self::Spinning(point, spin, span) => Pose {
                pivot: *point,
                rotation: DQuat::from_scaled_axis(elapsed_s(*span) * spin),
                angular_velocity: is_moving(*span) * spin,
                ..rest
            },
            Self::Keyframed(pivot, keys) => {
                let rest = Pose { pivot: *pivot, ..rest };
                let k = keys.iter().rposition(|key| key.0 <= time_s);
                let (at, offset, rotation) = keys[k.unwrap_or(0)];
                let at_rest = Pose { offset, rotation, ..rest };
                let (Some(_), Some(next)) = (k, keys.get(k.unwrap_or(0) + 1)) else { return at_rest };
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
    /// Shape as in the scene file, before any motion.
    pub shape: Shape,
    /// Reference point of torques on a body that does not rotate, in m, before any motion.
    pub origin: DVec3,
    /// True for a container, whose particles are inside.
    pub is_container: bool,
    /// None for a body at rest.
    pub motion: Option<Motion>,
    /// μ for snow, s for water; none for that of the domain's walls.
    pub friction: Option<f64>,
    /// True if what touches the body moves with it.
    pub is_sticky: bool,
}

impl Body {
    /// Makes a solid at rest with the friction of walls.
    pub fn new(shape: Shape) -> Self {
        let origin = shape.origin();
        Self { shape, origin, is_container: false, motion: None, friction: None, is_sticky: false }
    }

    /// Makes the half-space where normal · x < offset.
    pub fn plane(normal: [f32; 3], offset_m: f32) -> Self {
        let normal = DVec3::from_array(normal.map(f64::from)).normalize();
        Self::new(Shape::Plane(f64::from(offset_m) * normal, normal))
    }

    /// Makes a solid sphere.
    pub fn sphere(centre_m: [f32; 3], radius_m: f32) -> Self {
        Self::new(Shape::Sphere(DVec3::from_array(centre_m.map(f64::from)), radius_m.into()))
    }

    /// Makes a sphere with particles inside.
    pub fn spherical_container(centre_m: [f32; 3], radius_m: f32) -> Self {
        Self { is_container: true, ..Self::sphere(centre_m, radius_m) }
    }

    /// Returns the position in the scene file of the point that is at x, and the rotation since.
    fn to_body_frame(&self, x: DVec3, time_s: f64) -> (DVec3, DQuat) {
        let Some(motion) = &self.motion else { return (x, DQuat::IDENTITY) };
        let pose = motion.pose(time_s);
        (pose.pivot + pose.rotation.inverse() * (x - pose.offset - pose.pivot), pose.rotation)
    }

    /// Returns the signed distance in m, negative in the solid, and the unit normal towards particles.
    pub fn distance_m(&self, x: DVec3, time_s: f64) -> (f64, DVec3) {
        let (at, rotation) = self.to_body_frame(x, time_s);
        let (distance, normal) = self.shape.distance_m(at);
        let side = if self.is_container { -1.0 } else { 1.0 };
        (side * distance, rotation * (side * normal))
    }

    /// Returns the velocity in m/s of the body's point at x.
    pub fn velocity_m_s(&self, x: DVec3, time_s: f64) -> DVec3 {
        self.motion.as_ref().map_or(DVec3::ZERO, |motion| {
            let pose = motion.pose(time_s);
            pose.velocity + pose.angular_velocity.cross(x - pose.offset - pose.pivot)
        })
    }

    /// Returns the reference point of torques in m.
    pub fn torque_centre(&self, time_s: f64) -> DVec3 {
        let Some(motion) = &self.motion else { return self.origin };
        let pose = motion.pose(time_s);
        match motion {
            Motion::Uniform(..) | Motion::Oscillating(..) => self.origin + pose.offset,
            Motion::Spinning(..) | Motion::Keyframed(..) | Motion::Dynamic(..) => pose.pivot + pose.offset,
        }
    }

    /// Returns the boundary density over ρ₀ at x for the support `h_m`, times `scale`, and h times its
    /// gradient.
    pub fn boundary_density(&self, x: DVec3, time_s: f64, h_m: f64, scale: f64) -> (f64, DVec3) {
        let (distance, normal) = self.distance_m(x, time_s);
        if distance >= h_m {
            return (0.0, DVec3::ZERO);
        }
        // A particle inside the solid counts as one on its surface.
        let (at, rotation) = self.to_body_frame(x - distance.min(0.0) * normal, time_s);
        let own_normal = rotation.inverse() * normal;
        let (density, gradient) =
            self.shape.boundary_density(at, distance.max(0.0), own_normal, h_m, self.is_container, scale);
        (density, rotation * gradient)
    }

    /// Returns the boundary density over ρ₀ as a sum over a lattice of some 30 000 points: exact except for
    /// the error of the sum, which is below 0.004.
    pub fn boundary_density_on_lattice(&self, x: DVec3, time_s: f64, h_m: f64) -> f64 {
        const N: i32 = 20;
        let cell = h_m / f64::from(N);
        let mut sum = [0.0; 2];
        for i in -N..N {
            for j in -N..N {
                for k in -N..N {
                    let offset = cell * (DVec3::new(i.into(), j.into(), k.into()) + 0.5);
                    let weight = cubic_spline(offset.length(), h_m);
                    if weight > 0.0 {
                        // The volume of the solid in the cell as if its surface were a plane there.
                        let (distance, _) = self.distance_m(x + offset, time_s);
                        sum[0] += weight;
                        sum[1] += weight * (0.5 - distance / cell).clamp(0.0, 1.0);
                    }
                }
            }
        }
        sum[1] / sum[0]
    }
}

impl Shape {
    /// Returns the centre, a point of a plane, the middle of the bounding box of a mesh, or the corner of a
    /// terrain.
    fn origin(&self) -> DVec3 {
        match self {
            Self::Plane(at, _)
            | Self::Sphere(at, _)
            | Self::Box(at, ..)
            | Self::Cylinder(at, ..)
            | Self::Capsule(at, ..) => *at,
            Self::Mesh(mesh, _) => {
                let corners = || mesh.triangles_m.iter().flatten().copied();
                let lower = corners().fold(DVec3::INFINITY, DVec3::min);
                0.5 * (lower + corners().fold(DVec3::NEG_INFINITY, DVec3::max))
            }
            Self::Heightfield(heights, up) => {
                let [x, z] = heights.origin_m;
                with_up_axis(DVec3::new(x, 0.0, z), *up)
            }
        }
    }

    fn distance_m(&self, x: DVec3) -> (f64, DVec3) {
        let of_shape = |shape: UniformShape| shape.distance_m(3, x);
        match self {
            Self::Plane(point_m, normal) => {
                of_shape(UniformShape::Plane { point_m: *point_m, normal: *normal })
            }
            Self::Sphere(centre_m, radius_m) => {
                of_shape(UniformShape::Ball { centre_m: *centre_m, radius_m: *radius_m })
            }
            Self::Box(centre_m, half, rotation) => {
                of_shape(UniformShape::Box { centre_m: *centre_m, size_m: 2.0 * *half, rotation: *rotation })
            }
            Self::Mesh(mesh, _) => mesh.distance_m(x),
            Self::Heightfield(heights, up) => {
                let (distance, normal) = heights.distance_m(with_y_up(x, *up));
                (distance, with_up_axis(normal, *up))
            }
            Self::Capsule(centre, half_axis, radius) => {
                let share = ((x - centre).dot(*half_axis) / half_axis.length_squared()).clamp(-1.0, 1.0);
                let offset = x - centre - share * half_axis;
                (
                    offset.length() - radius,
                    offset.try_normalize().unwrap_or(half_axis.any_orthonormal_vector()),
                )
            }
            Self::Cylinder(centre, half_axis, radius) => {
                let axis = half_axis.normalize();
                let along = (x - centre).dot(axis);
                let across = x - centre - along * axis;
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

    /// Returns the same as [`Body::boundary_density`] before any motion; `distance` and `normal` are those of
    /// the surface at x.
    fn boundary_density(
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
            let (fraction, slope) = curved_fraction(distance / h, curvature);
            (scale * fraction, -scale * slope * normal)
        };
        match self {
            Self::Plane(..) | Self::Mesh(_, None) => single(0.0),
            Self::Mesh(_, Some(map)) => {
                let (value, gradient) = map.at(x);
                with_relief(single(0.0), scale * side, (value, h * gradient))
            }
            Self::Heightfield(..) => {
                let foot = x - distance * normal;
                with_relief(single(0.0), scale, self.relief(foot, normal, distance / h, h))
            }
            Self::Sphere(_, radius) => single(side * h / radius),
            Self::Capsule(centre, half_axis, radius) => {
                let along = (x - centre).dot(half_axis.normalize()) / h;
                let within = slab_fraction(along, half_axis.length() / h).0;
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
                    return container_density(faces, scale);
                }
                let fractions: [(f64, f64); 3] =
                    std::array::from_fn(|axis| slab_fraction(local[axis], half[axis]));
                let [x, y, z] = fractions;
                let gradient = DVec3::new(x.1 * y.0 * z.0, x.0 * y.1 * z.0, x.0 * y.0 * z.1);
                (scale * x.0 * y.0 * z.0, scale * (rotation * gradient))
            }
            Self::Cylinder(centre, half_axis, radius) => {
                let axis = half_axis.normalize();
                let along = (x - centre).dot(axis);
                let across = x - centre - along * axis;
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
                    return container_density(faces, scale);
                }
                let round = signed_fraction(past, curvature);
                let (fraction, slope) = slab_fraction(along / h, half / h);
                let gradient = -round.1 * fraction * outwards + round.0 * slope * axis;
                (scale * round.0 * fraction, scale * gradient)
            }
        }
    }
}

impl Shape {
    /// Returns the difference of the boundary density from that of the tangent plane, which has the normal n
    /// at `foot` at a distance of q h from the particle, and h times its gradient.
    fn relief(&self, foot: DVec3, n: DVec3, q: f64, h: f64) -> (f64, DVec3) {
        let across = if n.x.abs() < 0.6 { DVec3::X } else { DVec3::Y };
        let first = n.cross(across).normalize();
        let second = n.cross(first);
        let kernel = |r: f64, depth: f64| {
            let q = r.hypot(depth);
            16.0 / std::f64::consts::PI * ((1.0 - q).max(0.0).powi(3) - 4.0 * (0.5 - q).max(0.0).powi(3))
        };
        let (mut value, mut gradient) = (0.0, DVec3::ZERO);
        for (ring, (r, area)) in [(0.3182_f64, 0.6362), (0.7115, 1.9085)].into_iter().enumerate() {
            for k in 0..6 {
                let (sin, cos) = (TAU * f64::from(k) / 6.0).sin_cos();
                let [x, y] = if ring == 0 { [cos, sin] } else { [sin, cos] };
                let (distance, normal) = self.distance_m(foot + h * r * (x * first + y * second));
                let cosine = normal.dot(n).max(0.3);
                let bound = (1.0 - r * r).sqrt();
                let (bottom, top) = (q.min(bound), (q + distance / (h * cosine)).clamp(-bound, bound));
                let mean = (kernel(r, bottom) + 4.0 * kernel(r, 0.5 * (bottom + top)) + kernel(r, top)) / 6.0;
                value += area / 6.0 * (bottom - top) * mean;
                gradient += area / 6.0 * (kernel(r, bottom) * n - kernel(r, top) / cosine * normal);
            }
        }
        (value, gradient)
    }
}

/// Returns the two horizontal axes in the order of the alphabet.
fn horizontal(up: usize) -> [usize; 2] {
    [usize::from(up == 0), if up == 2 { 1 } else { 2 }]
}

/// Returns (first horizontal axis, up, second horizontal axis) of a vector.
fn with_y_up(v: DVec3, up: usize) -> DVec3 {
    let [first, second] = horizontal(up);
    DVec3::new(v[first], v[up], v[second])
}

/// Inverse of [`with_y_up`].
fn with_up_axis(v: DVec3, up: usize) -> DVec3 {
    let [first, second] = horizontal(up);
    let mut own = DVec3::ZERO;
    (own[first], own[up], own[second]) = (v.x, v.y, v.z);
    own
}

/// Adds `scale` times the difference from a tangent plane to its density; a body covers at most 0.98.
fn with_relief(plane: (f64, DVec3), scale: f64, relief: (f64, DVec3)) -> (f64, DVec3) {
    let fraction = (plane.0 + scale * relief.0).min(0.98);
    if fraction > 0.0 { (fraction, plane.1 + scale * relief.1) } else { (0.0, DVec3::ZERO) }
}

/// Returns the density of a container's faces, given as (distance over h, curvature, normal).
fn container_density(faces: impl IntoIterator<Item = (f64, f64, DVec3)>, scale: f64) -> (f64, DVec3) {
    let near = faces.into_iter().filter(|(q, ..)| *q < 1.0);
    near.fold((0.0, DVec3::ZERO), |density, (q, curvature, normal)| {
        let (fraction, slope) = curved_fraction(q.max(0.0), curvature);
        combine_boundary_densities(density, (scale * fraction, -scale * slope * normal))
    })
}

/// Returns the boundary density of two bodies together.
pub fn combine_boundary_densities(a: (f64, DVec3), b: (f64, DVec3)) -> (f64, DVec3) {
    (a.0 + b.0 - a.0 * b.0, a.1 * (1.0 - b.0) + b.1 * (1.0 - a.0))
}

/// Returns the moments J_n(q) = 2π ∫_q^1 tⁿ W dt of the kernel in units of h, for n = 1, 2, 3.
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

/// Returns the fraction of the kernel in a sphere of radius h/`curvature`, hollow if negative, at a distance
/// of q h, and minus its slope.
pub fn curved_fraction(q: f64, curvature: f64) -> (f64, f64) {
    let d = (1.0 + curvature * q).max(0.1);
    let (a, b) = (q * (2.0 + curvature * q) / (2.0 * d), 0.5 * curvature / d);
    let (a_slope, b_slope) = (0.5 * (1.0 + 1.0 / (d * d)), -2.0 * b * b);
    let fraction = |[j1, j2, j3]: [f64; 3]| j2 - a * j1 - b * j3;
    let slope = |[j1, _, j3]: [f64; 3]| a_slope * j1 + b_slope * j3;
    let far = if curvature * (1.0 - q) > 2.0 { q + 2.0 / curvature } else { 1.0 };
    (fraction(moments(q)) - fraction(moments(far)), slope(moments(q)) - slope(moments(far)))
}

/// Returns the same at any signed distance; inside the solid it is the complement of the fraction outside.
fn signed_fraction(q: f64, curvature: f64) -> (f64, f64) {
    if q.abs() >= 1.0 {
        return (if q < 0.0 { 1.0 } else { 0.0 }, 0.0);
    }
    if q >= 0.0 {
        return curved_fraction(q, curvature);
    }
    let (fraction, slope) = curved_fraction(-q, -curvature);
    (1.0 - fraction, slope)
}

/// Returns the fraction between two parallel faces, and its derivative along their axis.
fn slab_fraction(at: f64, half: f64) -> (f64, f64) {
    let (low, high) = (signed_fraction(half + at, 0.0), signed_fraction(half - at, 0.0));
    (1.0 - low.0 - high.0, low.1 - high.1)
}

/// Load of particles on a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Force in N in the last step.
    pub force_n: DVec3,
    /// Maximum magnitude of the force in N over all steps.
    pub peak_n: f64,
    /// Torque in N m in the last step.
    pub torque_n_m: DVec3,
    /// Σ F Δt in N s since the start.
    pub impulse_n_s: DVec3,
    /// Σ τ Δt in N m s since the start.
    pub angular_impulse_n_m_s: DVec3,
}

/// Twin of `bodies/reduce_body_loads`: reduces the linear and angular impulse on each body in a step to its
/// load, and resets them.
pub fn reduce_body_loads(loads: &mut [Load], impulses: &mut [[DVec3; 2]], dt_s: f64) {
    for (load, impulse) in loads.iter_mut().zip(impulses) {
        let [linear, angular] = std::mem::take(impulse);
        load.force_n = linear / dt_s;
        load.peak_n = load.peak_n.max(load.force_n.length());
        load.torque_n_m = angular / dt_s;
        load.impulse_n_s += linear;
        load.angular_impulse_n_m_s += angular;
    }
}

/// A pull on the particles near a line, as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// c, a point of the line in m.
    pub centre_m: DVec3,
    /// Unit vector along the line.
    pub direction: DVec3,
    /// u, velocity of the line in m/s.
    pub velocity_m_s: DVec3,
    /// R in m.
    pub radius_m: f64,
    /// 1/τ in 1/s.
    pub rate_1_s: f64,
    /// Δt in s.
    pub dt_s: f64,
}

/// Pulls particles towards a line. Twin of `bodies/pull_particles`, in f64; positions in m, velocities in
/// m/s.
pub fn pull_particles(position: &[DVec3], velocity: &mut [DVec3], pull: &Pull) {
    let across = |v: DVec3| v - v.dot(pull.direction) * pull.direction;
    let share = 1.0 - (-pull.dt_s * pull.rate_1_s).exp();
    for (x, v) in position.iter().zip(velocity) {
        let to_line = across(pull.centre_m - *x);
        let inside = 1.0 - to_line.length_squared() / (pull.radius_m * pull.radius_m);
        if inside > 0.0 {
            *v += share * inside * inside * (across(pull.velocity_m_s - *v) + pull.rate_1_s * to_line);
        }
    }
}
