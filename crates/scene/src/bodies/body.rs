//! Bodies of a scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::motion::BodyMotion;
use super::shape::BodyShape;
use crate::{Axis, TriangleMesh, Vec3};

/// Side of a closed surface on which the particles are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The body is solid.
    #[default]
    Outside,
    /// The body is a container.
    Inside,
}

/// A solid that particles do not enter, or a container that they do not leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Name in tables, unique among bodies: the loads on bodies with a name are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Shape, before any motion.
    pub shape: BodyShape,
    /// Side of the surface on which the particles are: `outside` of a solid, `inside` of a container. Planes,
    /// upright cylinders and heightfields are solids.
    #[serde(default)]
    pub side: Side,
    /// Motion; by default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<BodyMotion>,
    /// Coefficient of friction. Of snow and grains that of Coulomb friction, by default that of walls, or 0.1
    /// in scenes of the material point method; of water a factor on the drag, by default
    /// `fluid.wall_friction`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub friction: Option<f64>,
    /// Coefficient of restitution; by default that of walls. Scenes of grains only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub restitution: Option<f64>,
    /// True if particles in contact move with the body. Not in scenes of grains.
    #[serde(default)]
    pub sticky: bool,
}

impl Body {
    /// Returns the surface of a mesh in the file's own units; `None` for other shapes, and if the file was
    /// not loaded.
    pub fn mesh(&self) -> Option<&TriangleMesh> {
        match &self.shape {
            BodyShape::Mesh { mesh, .. } => mesh.get(),
            _ => None,
        }
    }

    /// Returns the centre of the body in the scene file, in m: of a mesh that of its box; none for planes,
    /// upright cylinders and heightfields. Torques on bodies that do not rotate are about it.
    pub fn centre_m(&self) -> Option<Vec3> {
        match &self.shape {
            BodyShape::Plane { .. } | BodyShape::UprightCylinder { .. } | BodyShape::Heightfield { .. } => {
                None
            }
            BodyShape::Sphere { centre_m, .. } | BodyShape::Box { centre_m, .. } => Some(*centre_m),
            BodyShape::Cylinder { from_m, to_m, .. } | BodyShape::Capsule { from_m, to_m, .. } => {
                Some(std::array::from_fn(|i| 0.5 * (from_m[i] + to_m[i])))
            }
            BodyShape::Mesh { scale, offset_m, .. } => {
                let middle = self.mesh()?.middle();
                Some(std::array::from_fn(|i| offset_m[i] + scale * middle[i]))
            }
        }
    }

    /// Returns the depth of `point_m` inside the solid part at time 0, in m; negative where particles may be.
    /// For a mesh only the sign is known, and the depth is infinite; nothing is inside a mesh that was not
    /// loaded. `ground_m` is the height of the ground at the foot of an upright cylinder.
    pub(crate) fn depth_m(&self, point_m: Vec3, up_axis: Axis, ground_m: f64) -> f64 {
        if matches!(self.shape, BodyShape::Mesh { .. }) && self.mesh().is_none() {
            return f64::NEG_INFINITY;
        }
        let depth_m = self.shape.depth_m(self.before_motion(point_m), up_axis, ground_m);
        match self.side {
            Side::Outside => depth_m,
            Side::Inside => -depth_m,
        }
    }

    /// Returns true if a point lies inside the solid part at time 0, or no farther away than `distance_m`.
    /// False for a mesh whose file was not loaded.
    pub(crate) fn is_within(&self, distance_m: f64, point_m: Vec3, up_axis: Axis, ground_m: f64) -> bool {
        let BodyShape::Mesh { scale, offset_m, mesh, .. } = &self.shape else {
            return self.depth_m(point_m, up_axis, ground_m) > -distance_m;
        };
        let place_m = self.before_motion(point_m);
        let at = std::array::from_fn(|i| (place_m[i] - offset_m[i]) / scale);
        let is_near = || mesh.get().is_some_and(|mesh| mesh.is_near(at, distance_m / scale));
        self.depth_m(point_m, up_axis, ground_m) > 0.0 || (distance_m > 0.0 && is_near())
    }

    /// Returns the description and the remedy of particles (`noun`) in the solid part at time 0, for error
    /// messages. `key` is the body's.
    pub(crate) fn misplaced(&self, key: &str, noun: &str) -> (String, String) {
        let body = self.name.as_ref().map_or(key.to_owned(), |name| format!("{key}, {name:?}"));
        match self.side {
            Side::Outside => (format!("inside {body}"), format!("{noun} outside the body at the start")),
            Side::Inside => {
                (format!("outside the container {body}"), format!("{noun} inside the container at the start"))
            }
        }
    }

    /// Returns the position in the scene file of the point of the body that is at `point_m` at time 0.
    fn before_motion(&self, point_m: Vec3) -> Vec3 {
        self.motion.as_ref().map_or(point_m, |motion| motion.before(point_m))
    }
}
