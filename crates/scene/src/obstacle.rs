//! The `[[obstacles]]` sections: fixed bodies in the path of an avalanche.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::collider::{box_depth_m, signed_distance};
use crate::loaded::Loaded;
use crate::{Axis, TriangleMesh, Vec3};

/// A fixed obstacle on the slope: a house, a tree, a dam. The force on each is measured under its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Name in tables; unique among obstacles.
    pub name: String,
    /// Body of the obstacle.
    pub shape: ObstacleShape,
    /// Coefficient of friction; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Coefficient of restitution; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
}

/// Maximum number of triangles of an obstacle's mesh: traversing its tree visits at most twice as many boxes
/// and triangles, which is within the loop limits of software devices.
pub const MAX_OBSTACLE_TRIANGLES: usize = 16_384;

/// Shape of an obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum ObstacleShape {
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
    /// An upright cylinder rooted in the ground, such as the trunk of a tree.
    Cylinder {
        /// Position along the two horizontal axes in alphabetical order, in m.
        foot_m: [f64; 2],
        /// Radius in m.
        radius_m: f64,
        /// Height above the ground at the cylinder's axis, in m.
        height_m: f64,
    },
    /// The region enclosed by a closed surface of triangles, of which no part lies in another.
    Mesh {
        /// Path of an OBJ, STL or PLY file, relative to the scene file.
        path: String,
        /// Length of one unit of the file in m.
        #[serde(default = "one")]
        scale: f64,
        /// Position of the file's origin, in m.
        #[serde(default)]
        offset_m: Vec3,
        /// The loaded surface.
        #[serde(skip)]
        mesh: Loaded<TriangleMesh>,
    },
}

fn one() -> f64 {
    1.0
}

impl ObstacleShape {
    /// Returns the name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::Mesh { .. } => "mesh",
        }
    }

    /// Returns true if a point lies inside, or no farther away than `distance_m`. `ground_m` is the height of
    /// the ground at a cylinder's foot, in which it is rooted. False for a mesh whose file was not loaded.
    pub fn is_within(&self, distance_m: f64, point_m: Vec3, up_axis: Axis, ground_m: f64) -> bool {
        match self {
            Self::Box { centre_m, size_m, rotation_deg } => {
                box_depth_m(point_m, *centre_m, *size_m, *rotation_deg) > -distance_m
            }
            Self::Cylinder { foot_m, radius_m, height_m } => {
                let across = up_axis.horizontal();
                let radial_m = (0..2).map(|k| (point_m[across[k]] - foot_m[k]).powi(2)).sum::<f64>().sqrt();
                let past = [radial_m - radius_m, point_m[up_axis.index()] - (ground_m + height_m)];
                signed_distance(past) < distance_m
            }
            Self::Mesh { scale, offset_m, mesh, .. } => {
                let at = std::array::from_fn(|i| (point_m[i] - offset_m[i]) / scale);
                mesh.get().is_some_and(|mesh| mesh.contains(at) || mesh.is_near(at, distance_m / scale))
            }
        }
    }
}

impl Obstacle {
    /// Returns the surface of a mesh obstacle in the file's own units; `None` for other shapes, and if the
    /// file was not loaded.
    pub fn mesh(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            ObstacleShape::Mesh { mesh, .. } => mesh.get(),
            _ => None,
        }
    }
}
