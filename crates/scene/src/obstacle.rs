//! The `[[obstacles]]`: what stands in the way of an avalanche.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::collider::{box_depth_m, signed_distance};
use crate::loaded::Loaded;
use crate::{Axis, TriangleMesh, Vec3};

/// An obstacle on the slope, fixed: a house, a tree, a dam. The force on each is measured under its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// What it is called in tables; no two have the same name.
    pub name: String,
    /// Its body.
    pub shape: ObstacleShape,
    /// Coefficient of friction on it; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Coefficient of restitution on it; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
}

/// Triangles that the mesh of an obstacle may have: a walk through its tree sees no more than twice as many boxes and triangles, which is
/// within what software devices let an invocation loop.
pub const MAX_OBSTACLE_TRIANGLES: usize = 16_384;

/// The body of an obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum ObstacleShape {
    /// A box, turned about its centre.
    Box {
        /// Centre in m.
        centre_m: Vec3,
        /// Lengths of its edges in m.
        size_m: Vec3,
        /// Turns about x, then y, then z, counter-clockwise, in degrees.
        #[serde(default)]
        rotation_deg: Vec3,
    },
    /// An upright cylinder, as the trunk of a tree, rooted in the ground.
    Cylinder {
        /// Where it stands, along the two horizontal axes in the order of the alphabet, in m.
        foot_m: [f64; 2],
        /// Radius in m.
        radius_m: f64,
        /// How high it reaches above the ground in its middle, in m.
        height_m: f64,
    },
    /// What a closed surface of triangles encloses, of which no part lies in another.
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
}

fn one() -> f64 {
    1.0
}

impl ObstacleShape {
    /// The name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::Mesh { .. } => "mesh",
        }
    }

    /// Returns true if a point lies inside, or no farther away than this, in m. `ground_m` is how high the ground is at a cylinder's foot, into which it is
    /// rooted. Of a mesh whose file was not there, nothing is known.
    pub fn is_within(&self, distance_m: f64, point_m: Vec3, up_axis: Axis, ground_m: f64) -> bool {
        match self {
            Self::Box { centre_m, size_m, rotation_deg } => {
                box_depth_m(point_m, *centre_m, *size_m, *rotation_deg) > -distance_m
            }
            Self::Cylinder { foot_m, radius_m, height_m } => {
                let across = up_axis.horizontal();
                let arm = (0..2).map(|k| (point_m[across[k]] - foot_m[k]).powi(2)).sum::<f64>().sqrt();
                let past = [arm - radius_m, point_m[up_axis.index()] - (ground_m + height_m)];
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
    /// The surface of an obstacle that is a mesh, in the file's own units; none of another, and none where its file was not there.
    pub fn mesh(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            ObstacleShape::Mesh { mesh, .. } => mesh.get(),
            _ => None,
        }
    }
}
