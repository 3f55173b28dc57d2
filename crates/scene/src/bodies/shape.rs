//! Shapes of bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distance::{box_depth_m, heightfield_depth_m, signed_distance, upright_cylinder_depth_m};
use crate::loaded::Loaded;
use crate::properties::items_above_zero;
use crate::vector::{dot, length, minus};
use crate::{Axis, TriangleMesh, Vec3};

/// Maximum number of triangles of a body's mesh: traversing its tree visits at most twice as many boxes and
/// triangles, which is within the loop limits of software devices.
pub const MAX_BODY_TRIANGLES: usize = 16_384;

/// Shape of a body. Scenes of two dimensions take its cross-section at z = 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum BodyShape {
    /// A half-space.
    Plane {
        /// Any point of the plane, in m.
        point_m: Vec3,
        /// Normal that points to the particles; of any length but zero.
        normal: Vec3,
    },
    /// A sphere.
    Sphere {
        /// Centre in m.
        centre_m: Vec3,
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
    },
    /// A box, rotated about its centre.
    Box {
        /// Centre in m.
        centre_m: Vec3,
        /// Lengths of its edges in m.
        #[schemars(transform = items_above_zero)]
        size_m: Vec3,
        /// Rotations about x, then y, then z, counter-clockwise, in degrees; in scenes of two dimensions
        /// about z only.
        #[serde(default)]
        #[schemars(inner(range(min = -360, max = 360)))]
        rotation_deg: Vec3,
    },
    /// A cylinder along any axis, closed at both ends. Not in scenes of two dimensions.
    Cylinder {
        /// Centre of one end in m.
        from_m: Vec3,
        /// Centre of the other end in m.
        to_m: Vec3,
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
    },
    /// An upright cylinder rooted in the ground, such as the trunk of a tree; it has no lower end. Not in
    /// scenes of two dimensions.
    UprightCylinder {
        /// Position along the two horizontal axes in alphabetical order, in m.
        foot_m: [f64; 2],
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
        /// Height in m above the ground at the cylinder's axis: the terrain, or else the domain's floor.
        #[schemars(extend("exclusiveMinimum" = 0))]
        height_m: f64,
    },
    /// A capsule: all points within a radius of a line segment. Not in scenes of two dimensions.
    Capsule {
        /// One end of the segment in m.
        from_m: Vec3,
        /// The other end of the segment in m.
        to_m: Vec3,
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
    },
    /// The region enclosed by a closed surface of triangles; parts within others are cavities. Not in scenes
    /// of two dimensions.
    Mesh {
        /// Path of an OBJ, STL or PLY file, relative to the scene file.
        path: String,
        /// Length of one unit of the file in m.
        #[serde(default = "one")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        scale: f64,
        /// Position of the file's origin, in m.
        #[serde(default)]
        offset_m: Vec3,
        /// The loaded surface.
        #[serde(skip)]
        mesh: Loaded<TriangleMesh>,
    },
    /// The half-space below heights on a regular grid with bilinear interpolation; beyond the grid the height
    /// at its edge continues.
    Heightfield {
        /// Position of the first height, along the two horizontal axes in alphabetical order, in m.
        origin_m: [f64; 2],
        /// Distance between heights in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        spacing_m: f64,
        /// Heights along the up axis in m: rows along the first horizontal axis, one after another along the
        /// second. One row in scenes of two dimensions.
        #[serde(default)]
        heights_m: Vec<Vec<f64>>,
        /// Path of an ESRI ASCII grid of heights, relative to the scene file; `heights_m` holds them once the
        /// scene is loaded. North is up as on a map that shows the first axis to the right, seen from above.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

fn one() -> f64 {
    1.0
}

impl BodyShape {
    /// Returns the name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plane { .. } => "plane",
            Self::Sphere { .. } => "sphere",
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::UprightCylinder { .. } => "upright_cylinder",
            Self::Capsule { .. } => "capsule",
            Self::Mesh { .. } => "mesh",
            Self::Heightfield { .. } => "heightfield",
        }
    }

    /// Returns the name with its article, for messages.
    pub(crate) fn noun(&self) -> String {
        let article = if matches!(self, Self::UprightCylinder { .. }) { "an" } else { "a" };
        format!("{article} {}", self.name().replace('_', " "))
    }

    /// Returns true if the shape has an inside that can hold particles.
    pub(crate) fn has_inside(&self) -> bool {
        !matches!(self, Self::Plane { .. } | Self::UprightCylinder { .. } | Self::Heightfield { .. })
    }

    /// Returns the depth of a point inside the shape, in m; negative outside. For a mesh the depth is
    /// infinite on both sides; all points are outside of one that was not loaded. `ground_m` is the height of
    /// the ground at the foot of an upright cylinder.
    pub(crate) fn depth_m(&self, point_m: Vec3, up_axis: Axis, ground_m: f64) -> f64 {
        match self {
            Self::Plane { point_m: origin_m, normal } => {
                -dot(minus(point_m, *origin_m), *normal) / length(*normal)
            }
            Self::Sphere { centre_m, radius_m } => radius_m - length(minus(point_m, *centre_m)),
            Self::Box { centre_m, size_m, rotation_deg } => {
                box_depth_m(point_m, *centre_m, *size_m, *rotation_deg)
            }
            Self::Cylinder { from_m, to_m, radius_m } => {
                let (axis, offset) = (minus(*to_m, *from_m), minus(point_m, *from_m));
                let length_m = length(axis);
                let along_m = dot(offset, axis) / length_m;
                let across_m = (dot(offset, offset) - along_m * along_m).max(0.0).sqrt();
                let half_m = 0.5 * length_m;
                -signed_distance([across_m - radius_m, (along_m - half_m).abs() - half_m])
            }
            Self::UprightCylinder { foot_m, radius_m, height_m } => {
                upright_cylinder_depth_m(point_m, (*foot_m, ground_m), (*radius_m, *height_m), up_axis)
            }
            Self::Capsule { from_m, to_m, radius_m } => {
                let (axis, offset) = (minus(*to_m, *from_m), minus(point_m, *from_m));
                let share = (dot(offset, axis) / dot(axis, axis)).clamp(0.0, 1.0);
                radius_m - length(minus(offset, axis.map(|a| share * a)))
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
