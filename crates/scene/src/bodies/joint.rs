//! Joints of dynamic bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Vec3;
use crate::vector::{cross, minus, unit};

/// Most joints of a scene.
pub const MAX_JOINTS: usize = 1024;

/// A joint that holds a dynamic body to another body, or to a place. The two bodies of a joint, but of a
/// spring, do not touch each other until it breaks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Name in tables, unique among joints: force, torque and motion of joints with a name are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of a dynamic body.
    pub body: String,
    /// Name of the other body, which is dynamic or without a motion; by default the place in the scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Kind: the motions that the joint leaves free.
    pub kind: JointKind,
    /// Force in N above which the joint breaks for good; by default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub breaks_at_n: Option<f64>,
    /// Torque in N m about its point above which the joint breaks for good; by default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub breaks_at_n_m: Option<f64>,
}

/// Kind of a joint, with places and directions at time 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum JointKind {
    /// Rotation about a point.
    Ball {
        /// The point in m.
        point_m: Vec3,
    },
    /// Rotation about an axis.
    Hinge {
        /// A point of the axis in m.
        point_m: Vec3,
        /// Direction of the axis, of any length.
        axis: Vec3,
        /// Motor; by default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        motor: Option<RotaryMotor>,
    },
    /// Motion along an axis without rotation.
    Slider {
        /// Point in m of which the motion is measured, and the torque of the joint.
        point_m: Vec3,
        /// Direction of the axis, of any length.
        axis: Vec3,
        /// Motor; by default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        motor: Option<LinearMotor>,
    },
    /// Motion in a plane and rotation about its normal.
    Planar {
        /// Normal of the plane, of any length.
        normal: Vec3,
    },
    /// None: the bodies move as one.
    Fixed {
        /// Point in m about which the torque of the joint is measured.
        point_m: Vec3,
    },
    /// A spring with a damper between two points.
    Spring {
        /// Point of the body in m.
        from_m: Vec3,
        /// Point of the other body, or place, in m.
        to_m: Vec3,
        /// Stiffness in N/m.
        #[schemars(range(min = 0))]
        stiffness_n_m: f64,
        /// Damping in N s/m.
        #[serde(default)]
        #[schemars(range(min = 0))]
        damping_n_s_m: f64,
        /// Length in m at which it exerts no force; by default that of time 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0))]
        length_m: Option<f64>,
    },
}

/// Motor of a hinge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotaryMotor {
    /// Angular velocity of the body relative to the other in rad/s, counter-clockwise as seen from the tip of
    /// the axis; 0 is a brake.
    pub speed_rad_s: f64,
    /// Largest torque in N m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub torque_n_m: f64,
}

/// Motor of a slider.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearMotor {
    /// Velocity of the body relative to the other along the axis in m/s; 0 is a brake.
    pub speed_m_s: f64,
    /// Largest force in N.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub force_n: f64,
}

impl JointKind {
    /// Returns the name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "ball",
            Self::Hinge { .. } => "hinge",
            Self::Slider { .. } => "slider",
            Self::Planar { .. } => "planar",
            Self::Fixed { .. } => "fixed",
            Self::Spring { .. } => "spring",
        }
    }

    /// Returns unit vectors along and across the axis; along x without one.
    pub fn axes(&self) -> [Vec3; 2] {
        let axis = match *self {
            Self::Hinge { axis, .. } | Self::Slider { axis, .. } | Self::Planar { normal: axis } => {
                unit(axis)
            }
            Self::Spring { from_m, to_m, .. } => unit(minus(from_m, to_m)),
            Self::Ball { .. } | Self::Fixed { .. } => [1.0, 0.0, 0.0],
        };
        let least = (0..3).min_by(|a, b| axis[*a].abs().total_cmp(&axis[*b].abs())).unwrap_or_default();
        [axis, unit(cross(axis, std::array::from_fn(|i| if i == least { 1.0 } else { 0.0 })))]
    }

    /// Returns the motions along the axis, along two directions across it, about it and about those two that
    /// the joint prevents.
    pub fn prevents(&self) -> [bool; 6] {
        match self {
            Self::Ball { .. } => [true, true, true, false, false, false],
            Self::Hinge { .. } => [true, true, true, false, true, true],
            Self::Slider { .. } => [false, true, true, true, true, true],
            Self::Planar { .. } => [true, false, false, false, true, true],
            Self::Fixed { .. } => [true; 6],
            Self::Spring { .. } => [false; 6],
        }
    }

    /// Multiplies its lengths by `scale`, and what depends on them as times and masses do.
    pub(crate) fn apply_scale(&mut self, scale: f64) {
        let times = |lengths: &mut Vec3| *lengths = lengths.map(|x| scale * x);
        match self {
            Self::Ball { point_m } | Self::Fixed { point_m } => times(point_m),
            Self::Hinge { point_m, motor, .. } => {
                times(point_m);
                if let Some(RotaryMotor { speed_rad_s, torque_n_m }) = motor {
                    *speed_rad_s /= scale;
                    *torque_n_m *= scale.powi(3);
                }
            }
            Self::Slider { point_m, motor, .. } => {
                times(point_m);
                motor.iter_mut().for_each(|motor| motor.force_n *= scale.powi(2));
            }
            Self::Planar { .. } => {}
            Self::Spring { from_m, to_m, stiffness_n_m, damping_n_s_m, length_m } => {
                times(from_m);
                times(to_m);
                *stiffness_n_m *= scale;
                *damping_n_s_m *= scale.powi(2);
                length_m.iter_mut().for_each(|length_m| *length_m *= scale);
            }
        }
    }
}

impl Joint {
    /// Multiplies its lengths by `scale`, and what depends on them as times and masses do.
    pub(crate) fn apply_scale(&mut self, scale: f64) {
        self.kind.apply_scale(scale);
        self.breaks_at_n.iter_mut().for_each(|force| *force *= scale.powi(2));
        self.breaks_at_n_m.iter_mut().for_each(|torque| *torque *= scale.powi(3));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{dot, length};

    #[test]
    fn axes_are_orthonormal() {
        for axis in [[0.0, 0.0, 2.0], [1.0, 1.0, 1.0], [-3.0, 0.1, 0.0]] {
            let [along, across] = JointKind::Planar { normal: axis }.axes();
            assert!((length(along) - 1.0).abs() < 1e-15 && (length(across) - 1.0).abs() < 1e-15);
            assert!(dot(along, across).abs() < 1e-15 && dot(along, axis) > 0.0);
        }
    }
}
