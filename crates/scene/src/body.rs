//! The `[[bodies]]`: what particles meet, whatever the solver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::collider::{box_axes, box_depth_m, heightfield_depth_m, signed_distance};
use crate::loaded::Loaded;
use crate::{Axis, Motion, Side, TriangleMesh, Vec3};

/// A body that particles do not enter, or a container that they do not leave. Every solver meets it, and measures force, torque and impulse on
/// it under its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// What it is called in tables; no two have the same name.
    pub name: String,
    /// Its shape, before it moves.
    pub shape: BodyShape,
    /// Where the particles are: `outside` a solid, `inside` a container. Planes and heightfields are solids.
    #[serde(default)]
    pub side: Side,
    /// How it moves, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<BodyMotion>,
    /// Coefficient of Coulomb friction of snow and grains on it, by default as on the domain's walls; of water the share of the drag of
    /// `fluid.wall_friction`, by default that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub friction: Option<f64>,
    /// Coefficient of restitution of grains on it, by default that of walls. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    /// Whether what touches it moves with it. Not in scenes of grains.
    #[serde(default)]
    pub sticky: bool,
}

/// The shape of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum BodyShape {
    /// A half-space.
    Plane {
        /// Any point of the plane, in m.
        point_m: Vec3,
        /// Points to where the particles are; of any length but zero.
        normal: Vec3,
    },
    /// A ball.
    Sphere {
        /// Centre in m.
        centre_m: Vec3,
        /// Radius in m.
        radius_m: f64,
    },
    /// A box, rotated about its centre.
    Box {
        /// Centre in m.
        centre_m: Vec3,
        /// Lengths of its edges in m.
        size_m: Vec3,
        /// Rotations about x, then y, then z, counter-clockwise, in degrees.
        #[serde(default)]
        rotation_deg: Vec3,
    },
    /// A cylinder along any axis, closed at both ends. In space only.
    Cylinder {
        /// Middle of one end in m.
        from_m: Vec3,
        /// Middle of the other end in m.
        to_m: Vec3,
        /// Radius in m.
        radius_m: f64,
    },
    /// All points within a radius of a line. In space only.
    Capsule {
        /// One end of the line in m.
        from_m: Vec3,
        /// The other end of the line in m.
        to_m: Vec3,
        /// Radius in m.
        radius_m: f64,
    },
    /// What a closed surface of triangles encloses, of which no part lies in another. In space only.
    Mesh {
        /// Path of an OBJ, STL or PLY file, from the scene's.
        path: String,
        /// Metres that one unit of the file is.
        #[serde(default = "one")]
        scale: f64,
        /// Where the file's origin is, in m.
        #[serde(default)]
        offset_m: Vec3,
        /// The surface.
        #[serde(skip)]
        mesh: Loaded<TriangleMesh>,
    },
    /// What lies below a height that is given on a regular grid and bilinear between; beyond the grid the height at its edge goes on.
    Heightfield {
        /// Where the first height is, along the two horizontal axes in the order of the alphabet, in m.
        origin_m: [f64; 2],
        /// Distance of heights from one another in m.
        spacing_m: f64,
        /// Heights along the up axis in m: rows along the first horizontal axis, one after another along the second. In a plane one row.
        #[serde(default)]
        heights_m: Vec<Vec<f64>>,
        /// Path of an ESRI ASCII grid to take the heights of, from the scene's: they stand in `heights_m` once it is loaded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

fn one() -> f64 {
    1.0
}

/// How a body moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum BodyMotion {
    /// At an even velocity for a while.
    Uniform(Motion),
    /// To and fro: it is displaced by amplitude · sin(2π · frequency · time + phase).
    Oscillating {
        /// In m.
        amplitude_m: Vec3,
        /// In Hz.
        frequency_hz: f64,
        /// In degrees.
        #[serde(default)]
        phase_deg: f64,
    },
    /// About an axis.
    Spinning {
        /// A point of the axis in m.
        point_m: Vec3,
        /// Along the axis, as fast as it is long: counter-clockwise, seen against it.
        angular_velocity_rad_s: Vec3,
        /// When it starts, in s.
        #[serde(default)]
        from_s: f64,
        /// When it stops, in s; by default never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_s: Option<f64>,
    },
    /// From key to key: offsets change evenly between two, rotations evenly by the shortest way. It stands still before the first and after the last.
    Keyframed {
        /// The point that rotations leave in place, in m.
        pivot_m: Vec3,
        /// Where it is when.
        keys: Vec<Keyframe>,
    },
}

/// Where a body is at a time, against its place in the scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// In s, later than the key before.
    pub time_s: f64,
    /// Displacement in m.
    #[serde(default)]
    pub offset_m: Vec3,
    /// Rotations about x, then y, then z, counter-clockwise, in degrees.
    #[serde(default)]
    pub rotation_deg: Vec3,
}

impl BodyMotion {
    /// The name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uniform(_) => "uniform",
            Self::Oscillating { .. } => "oscillating",
            Self::Spinning { .. } => "spinning",
            Self::Keyframed { .. } => "keyframed",
        }
    }

    /// The place in the scene file of what is at `point_m` at time 0.
    fn place_at_rest(&self, point_m: Vec3) -> Vec3 {
        let minus = |a: Vec3, b: Vec3| -> Vec3 { std::array::from_fn(|i| a[i] - b[i]) };
        match self {
            Self::Uniform(_) | Self::Spinning { .. } => point_m,
            Self::Oscillating { amplitude_m, phase_deg, .. } => {
                minus(point_m, amplitude_m.map(|amplitude| amplitude * phase_deg.to_radians().sin()))
            }
            Self::Keyframed { pivot_m, keys } => {
                let Some(key) = keys.first() else { return point_m };
                let arm = minus(minus(point_m, key.offset_m), *pivot_m);
                let axes = box_axes(key.rotation_deg);
                std::array::from_fn(|k| pivot_m[k] + (0..3).map(|i| axes[k][i] * arm[i]).sum::<f64>())
            }
        }
    }

    /// The greatest speed of a point within `reach_m` of what it turns about, in m/s.
    pub(crate) fn speed_m_s(&self, reach_m: f64) -> f64 {
        let length = |v: Vec3| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        match self {
            Self::Uniform(motion) => length(motion.velocity_m_s),
            Self::Oscillating { amplitude_m, frequency_hz, .. } => {
                std::f64::consts::TAU * frequency_hz * length(*amplitude_m)
            }
            Self::Spinning { angular_velocity_rad_s, .. } => length(*angular_velocity_rad_s) * reach_m,
            Self::Keyframed { keys, .. } => keys
                .windows(2)
                .map(|pair| {
                    let way: Vec3 = std::array::from_fn(|i| pair[1].offset_m[i] - pair[0].offset_m[i]);
                    let turn: f64 =
                        (0..3).map(|i| (pair[1].rotation_deg[i] - pair[0].rotation_deg[i]).abs()).sum();
                    (length(way) + turn.to_radians() * reach_m) / (pair[1].time_s - pair[0].time_s)
                })
                .fold(0.0, f64::max),
        }
    }
}

impl BodyShape {
    /// The name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plane { .. } => "plane",
            Self::Sphere { .. } => "sphere",
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::Capsule { .. } => "capsule",
            Self::Mesh { .. } => "mesh",
            Self::Heightfield { .. } => "heightfield",
        }
    }

    /// How deep a point lies inside, in m; negative outside. Of a mesh only whether it does, as ±∞; of one whose file was not there, outside.
    fn depth_m(&self, point_m: Vec3, up_axis: Axis) -> f64 {
        let dot = |a: Vec3, b: Vec3| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
        let minus = |a: Vec3, b: Vec3| -> Vec3 { std::array::from_fn(|i| a[i] - b[i]) };
        match self {
            Self::Plane { point_m: origin, normal } => {
                -dot(minus(point_m, *origin), *normal) / dot(*normal, *normal).sqrt()
            }
            Self::Sphere { centre_m, radius_m } => {
                let arm = minus(point_m, *centre_m);
                radius_m - dot(arm, arm).sqrt()
            }
            Self::Box { centre_m, size_m, rotation_deg } => {
                box_depth_m(point_m, *centre_m, *size_m, *rotation_deg)
            }
            Self::Cylinder { from_m, to_m, radius_m } => {
                let (axis, arm) = (minus(*to_m, *from_m), minus(point_m, *from_m));
                let length = dot(axis, axis).sqrt();
                let along = dot(arm, axis) / length;
                let across = (dot(arm, arm) - along * along).max(0.0).sqrt();
                -signed_distance([across - radius_m, (along - 0.5 * length).abs() - 0.5 * length])
            }
            Self::Capsule { from_m, to_m, radius_m } => {
                let (axis, arm) = (minus(*to_m, *from_m), minus(point_m, *from_m));
                let share = (dot(arm, axis) / dot(axis, axis)).clamp(0.0, 1.0);
                let apart = minus(arm, axis.map(|a| share * a));
                radius_m - dot(apart, apart).sqrt()
            }
            Self::Mesh { scale, offset_m, mesh, .. } => {
                let at = minus(point_m, *offset_m).map(|x| x / scale);
                let is_inside = mesh.get().is_some_and(|mesh| mesh.contains(at));
                if is_inside { f64::INFINITY } else { f64::NEG_INFINITY }
            }
            Self::Heightfield { origin_m, spacing_m, heights_m, .. } => {
                heightfield_depth_m(point_m, *origin_m, *spacing_m, heights_m, up_axis)
            }
        }
    }
}

impl Body {
    /// The surface of a body that is a mesh, in the file's own units; none of another, and none where its file was not there.
    pub fn mesh(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            BodyShape::Mesh { mesh, .. } => mesh.get(),
            _ => None,
        }
    }

    /// How deep `point_m` lies in the solid part at time 0, in m; negative where particles may be.
    pub fn depth_m(&self, point_m: Vec3, up_axis: Axis) -> f64 {
        let at = self.motion.as_ref().map_or(point_m, |motion| motion.place_at_rest(point_m));
        let depth = self.shape.depth_m(at, up_axis);
        match (self.side, &self.shape) {
            (Side::Outside, _) => depth,
            // Of a mesh that was not read nothing is known.
            (Side::Inside, BodyShape::Mesh { mesh, .. }) if mesh.get().is_none() => f64::NEG_INFINITY,
            (Side::Inside, _) => -depth,
        }
    }

    /// Whether a ball about a point reaches into the solid part at time 0.
    pub(crate) fn meets(&self, centre_m: Vec3, radius_m: f64, up_axis: Axis) -> bool {
        let BodyShape::Mesh { scale, offset_m, mesh, .. } = &self.shape else {
            return self.depth_m(centre_m, up_axis) > -radius_m;
        };
        let place = self.motion.as_ref().map_or(centre_m, |motion| motion.place_at_rest(centre_m));
        let at = std::array::from_fn(|i| (place[i] - offset_m[i]) / scale);
        self.depth_m(centre_m, up_axis) > 0.0
            || mesh.get().is_some_and(|mesh| radius_m > 0.0 && mesh.is_near(at, radius_m / scale))
    }
}
