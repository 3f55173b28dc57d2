//! Bodies at rest or in uniform motion that snow and grains collide with: distance, normal and velocity of
//! their surfaces, in f64.

mod mesh;

use glam::{DMat3, DVec3};

pub use mesh::Mesh;

/// Boundary condition of snow at a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// μ of Coulomb friction.
    pub friction: f64,
    /// True if snow that touches the surface moves with it and does not separate.
    pub sticky: bool,
}

impl Surface {
    /// Returns the velocity after contact with a moving surface with the given outward normal.
    pub fn respond(&self, velocity: DVec3, normal: DVec3, surface_velocity: DVec3) -> DVec3 {
        if self.sticky {
            return surface_velocity;
        }
        let relative = velocity - surface_velocity;
        let along = relative.dot(normal);
        if along >= 0.0 {
            return velocity;
        }
        let tangential = relative - along * normal;
        let speed = tangential.length();
        if speed <= -self.friction * along {
            return surface_velocity;
        }
        surface_velocity + tangential * (1.0 + self.friction * along / speed)
    }
}

/// Region of a body; in a plane only x and y count.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The half-space behind a plane.
    Plane {
        /// A point of the plane, in m.
        point_m: DVec3,
        /// Unit normal out of the body.
        normal: DVec3,
    },
    /// A ball.
    Ball {
        /// Centre in m.
        centre_m: DVec3,
        /// Radius in m.
        radius_m: f64,
    },
    /// The exterior of a sphere.
    Container {
        /// Centre in m.
        centre_m: DVec3,
        /// Radius in m.
        radius_m: f64,
    },
    /// A box.
    Box {
        /// In m.
        centre_m: DVec3,
        /// Size along its three axes, in m.
        size_m: DVec3,
        /// Rotation from the box's axes to those of the scene.
        rotation: DMat3,
    },
    /// An upright cylinder; y is up.
    Cylinder {
        /// Centre of its base, in m.
        foot_m: DVec3,
        /// Radius in m.
        radius_m: f64,
        /// Height in m.
        height_m: f64,
    },
    /// The region below a terrain; y is up.
    Heightfield(Heights),
    /// The interior of a closed surface, in space.
    Mesh(Mesh),
}

/// Heights on a regular grid, bilinear in between and constant beyond its edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Heights {
    /// x and z of the first height, in m.
    pub origin_m: [f64; 2],
    /// Distance between heights, in m.
    pub spacing_m: f64,
    /// Heights in m, at least two rows of constant z with at least two each; in a plane only the first row
    /// counts.
    pub heights_m: Vec<Vec<f64>>,
}

impl Heights {
    /// Returns H in m and (∂H/∂x, ∂H/∂z).
    fn at(&self, x: f64, z: f64) -> (f64, [f64; 2]) {
        let (i, s, stretch_x) = self.interval(x - self.origin_m[0], self.heights_m[0].len());
        let (k, t, stretch_z) = self.interval(z - self.origin_m[1], self.heights_m.len());
        let next = (k + 1).min(self.heights_m.len() - 1);
        let [low, high] = [k, next].map(|row| (self.heights_m[row][i], self.heights_m[row][i + 1]));
        let along = |(a, b): (f64, f64)| a + s * (b - a);
        let slope_x = (1.0 - t) * (low.1 - low.0) + t * (high.1 - high.0);
        let slope_z = along(high) - along(low);
        let height = along(low) + t * slope_z;
        (height, [stretch_x * slope_x / self.spacing_m, stretch_z * slope_z / self.spacing_m])
    }

    /// Returns the signed distance in m from the tangent plane above or below x, and its normal; y is up.
    pub fn distance_m(&self, x: DVec3) -> (f64, DVec3) {
        let (height, [slope_x, slope_z]) = self.at(x.x, x.z);
        let normal = DVec3::new(-slope_x, 1.0, -slope_z).normalize();
        ((x.y - height) * normal.y, normal)
    }

    /// Returns the interval of a coordinate by the index of the first of its `n` heights, the position in the
    /// interval from 0 to 1, and 0 beyond an edge, else 1.
    fn interval(&self, coordinate_m: f64, n: usize) -> (usize, f64, f64) {
        let free = coordinate_m / self.spacing_m;
        let s = free.clamp(0.0, (n - 1) as f64);
        let i = (s as usize).min(n.saturating_sub(2));
        (i, s - i as f64, f64::from(u8::from(free == s)))
    }
}

impl Shape {
    /// Returns the origin in m, as `origin_m` in `common/body.glsl`.
    pub fn origin_m(&self) -> DVec3 {
        match self {
            Self::Plane { point_m, .. } => *point_m,
            Self::Ball { centre_m, .. } | Self::Container { centre_m, .. } | Self::Box { centre_m, .. } => {
                *centre_m
            }
            Self::Cylinder { foot_m, .. } => *foot_m,
            Self::Heightfield(heights) => DVec3::new(heights.origin_m[0], 0.0, heights.origin_m[1]),
            Self::Mesh(mesh) => mesh.middle_m(),
        }
    }

    /// Returns the signed distance in m, negative inside, and the outward normal.
    pub fn distance_m(&self, dimensions: usize, x: DVec3) -> (f64, DVec3) {
        let flat = |v: DVec3| if dimensions == 2 { v.with_z(0.0) } else { v };
        match self {
            Self::Plane { point_m, normal } => (flat(x - point_m).dot(*normal), *normal),
            Self::Ball { centre_m, radius_m } => {
                let (r, outward) = radial(flat(x - centre_m));
                (r - radius_m, outward)
            }
            Self::Container { centre_m, radius_m } => {
                let (r, outward) = radial(flat(x - centre_m));
                (radius_m - r, -outward)
            }
            Self::Box { centre_m, size_m, rotation } => {
                let local = rotation.transpose() * flat(x - centre_m);
                let (distance, normal) = from_box(dimensions, local, 0.5 * size_m);
                (distance, rotation * normal)
            }
            Self::Cylinder { foot_m, radius_m, height_m } => {
                let local = flat(x - foot_m);
                let (arm, side) = radial(local.with_y(0.0));
                let past = [arm - radius_m, local.y - height_m];
                match past.map(|d| d.max(0.0)) {
                    [0.0, 0.0] if past[0] > past[1] => (past[0], side),
                    [0.0, 0.0] => (past[1], DVec3::Y),
                    [out, up] => {
                        let distance = out.hypot(up);
                        (distance, (out * side + up * DVec3::Y) / distance)
                    }
                }
            }
            Self::Heightfield(heights) => {
                let (distance, normal) = heights.distance_m(match dimensions {
                    2 => x.with_z(heights.origin_m[1]),
                    _ => x,
                });
                if dimensions == 2 {
                    let flat = normal.with_z(0.0).normalize();
                    return (distance / normal.y * flat.y, flat);
                }
                (distance, normal)
            }
            Self::Mesh(mesh) => mesh.distance_m(x),
        }
    }
}

/// Returns the length of a vector and its direction, or up for a zero vector.
fn radial(v: DVec3) -> (f64, DVec3) {
    (v.length(), v.try_normalize().unwrap_or(DVec3::Y))
}

/// Returns the distance and normal of a box around 0: from the nearest point outside, from the nearest face
/// inside.
fn from_box(dimensions: usize, x: DVec3, half: DVec3) -> (f64, DVec3) {
    let mut beyond = x.abs() - half;
    if dimensions == 2 {
        beyond.z = f64::NEG_INFINITY;
    }
    let side = DVec3::ONE.copysign(x);
    let outside = beyond.max(DVec3::ZERO);
    let distance = outside.length();
    if distance > 0.0 {
        return (distance, side * outside / distance);
    }
    let nearest = beyond.max_element();
    let axis = (0..3).find(|axis| beyond[*axis] == nearest).unwrap_or(0);
    (nearest, DVec3::AXES[axis] * side)
}

/// Motion of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Velocity in m/s.
    pub velocity_m_s: DVec3,
    /// Start time in s.
    pub from_s: f64,
    /// End time in s.
    pub until_s: f64,
}

/// A body at rest or in uniform motion that snow and grains touch.
#[derive(Clone, Debug, PartialEq)]
pub struct UniformBody {
    /// Shape at time 0, before any motion.
    pub shape: Shape,
    /// Its surface.
    pub surface: Surface,
    /// None for a body at rest.
    pub motion: Option<Motion>,
}

impl UniformBody {
    /// Returns its displacement in m and its velocity in m/s at a time in s.
    pub fn motion_at(&self, time_s: f64) -> (DVec3, DVec3) {
        let Some(Motion { velocity_m_s, from_s, until_s }) = self.motion else {
            return (DVec3::ZERO, DVec3::ZERO);
        };
        let moves = (from_s..until_s).contains(&time_s);
        let offset = velocity_m_s * (time_s.min(until_s) - from_s).max(0.0);
        (offset, if moves { velocity_m_s } else { DVec3::ZERO })
    }
}
