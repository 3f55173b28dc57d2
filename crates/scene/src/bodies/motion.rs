//! Motions of bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distance::box_axes;
use crate::Vec3;
use crate::vector::{dot, length, minus};

/// Motion of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum BodyMotion {
    /// Constant velocity over an interval of time.
    Uniform(Motion),
    /// Oscillation: a displacement of amplitude · sin(2π · frequency · time + phase).
    Oscillating {
        /// Amplitude in m.
        amplitude_m: Vec3,
        /// Frequency in Hz.
        #[schemars(extend("exclusiveMinimum" = 0))]
        frequency_hz: f64,
        /// Phase in degrees.
        #[serde(default)]
        #[schemars(range(min = -360, max = 360))]
        phase_deg: f64,
    },
    /// Rotation about a fixed axis over an interval of time.
    Spinning {
        /// Any point of the axis, in m.
        point_m: Vec3,
        /// Angular velocity in rad/s, along the axis; counter-clockwise as seen from its tip.
        angular_velocity_rad_s: Vec3,
        /// Start of the rotation in s.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1e9))]
        from_s: f64,
        /// End of the rotation in s; by default never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_s: Option<f64>,
    },
    /// Interpolation between keyframes: linear for displacements, at constant angular velocity along the
    /// shortest way for rotations. The body is at rest before the first and after the last keyframe.
    Keyframed {
        /// Centre of the rotations, in m; it moves with the displacement.
        pivot_m: Vec3,
        /// Keyframes, in the order of time.
        keys: Vec<Keyframe>,
    },
    /// Motion under gravity, the loads of the particles, and contacts with other bodies and the faces of the
    /// domain. The body needs a name and a volume: it is a solid sphere, box, cylinder, capsule or mesh.
    Dynamic(Dynamics),
}

/// Mass of a dynamic body, by exactly one of two keys, and its motion at time 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dynamics {
    /// Density in kg/m³, the same everywhere in the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density_kg_m3: Option<f64>,
    /// Mass in kg.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub mass_kg: Option<f64>,
    /// Velocity of the centre of mass at time 0 in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
    /// Angular velocity at time 0 in rad/s, along the axis; counter-clockwise as seen from its tip.
    #[serde(default)]
    pub angular_velocity_rad_s: Vec3,
    /// Coefficient of Coulomb friction in contacts with other bodies and the faces of the domain; of two
    /// dynamic bodies the geometric mean.
    #[serde(default = "Dynamics::default_friction")]
    #[schemars(range(min = 0, max = 100))]
    pub friction: f64,
    /// Coefficient of restitution in these contacts; of two dynamic bodies the greater.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: f64,
    /// Distance in m of surfaces in these contacts; by default that of particles, but 0 in scenes of grains:
    /// a fluid that does not get between two surfaces does not press them apart, and nothing would float up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub contact_gap_m: Option<f64>,
}

impl Dynamics {
    fn default_friction() -> f64 {
        0.5
    }
}

/// Uniform motion over an interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// Velocity in m/s.
    pub velocity_m_s: Vec3,
    /// Start of the motion in s.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1e9))]
    pub from_s: f64,
    /// End of the motion in s; by default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
}

impl Motion {
    /// Returns the velocity in m/s at `time_s`.
    pub fn velocity_m_s(&self, time_s: f64) -> Vec3 {
        let moves = self.from_s <= time_s && self.until_s.is_none_or(|until_s| time_s < until_s);
        if moves { self.velocity_m_s } else { [0.0; 3] }
    }

    /// Returns the displacement at `time_s`, in m.
    pub fn offset_m(&self, time_s: f64) -> Vec3 {
        let end_s = self.until_s.map_or(time_s, |until_s| until_s.min(time_s));
        self.velocity_m_s.map(|v| v * (end_s - self.from_s).max(0.0))
    }
}

/// Pose of a body at a time, relative to its pose in the scene file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Time in s, later than that of the previous keyframe.
    #[schemars(range(min = 0, max = 1e9))]
    pub time_s: f64,
    /// Displacement in m.
    #[serde(default)]
    pub offset_m: Vec3,
    /// Rotations about x, then y, then z, counter-clockwise, in degrees.
    #[serde(default)]
    #[schemars(inner(range(min = -360, max = 360)))]
    pub rotation_deg: Vec3,
}

impl BodyMotion {
    /// Returns the name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uniform(_) => "uniform",
            Self::Oscillating { .. } => "oscillating",
            Self::Spinning { .. } => "spinning",
            Self::Keyframed { .. } => "keyframed",
            Self::Dynamic(_) => "dynamic",
        }
    }

    /// Returns the position in the scene file of the point that is at `point_m` at time 0.
    pub(crate) fn before(&self, point_m: Vec3) -> Vec3 {
        match self {
            Self::Uniform(_) | Self::Spinning { .. } | Self::Dynamic(_) => point_m,
            Self::Oscillating { amplitude_m, phase_deg, .. } => {
                let share = phase_deg.to_radians().sin();
                minus(point_m, amplitude_m.map(|amplitude| share * amplitude))
            }
            Self::Keyframed { pivot_m, keys } => {
                let Some(first) = keys.first() else { return point_m };
                let local = minus(minus(point_m, first.offset_m), *pivot_m);
                let axes = box_axes(first.rotation_deg);
                std::array::from_fn(|axis| pivot_m[axis] + dot(axes[axis], local))
            }
        }
    }

    /// Returns an upper bound of the speed in m/s of the body's points inside the box from `low_m` to
    /// `high_m`.
    pub(crate) fn fastest_m_s(&self, low_m: Vec3, high_m: Vec3) -> f64 {
        let reach_m = |pivot_m: &Vec3| {
            length(std::array::from_fn(|i| (pivot_m[i] - low_m[i]).abs().max((high_m[i] - pivot_m[i]).abs())))
        };
        match self {
            Self::Uniform(motion) => length(motion.velocity_m_s),
            Self::Oscillating { amplitude_m, frequency_hz, .. } => {
                std::f64::consts::TAU * frequency_hz * length(*amplitude_m)
            }
            Self::Spinning { point_m, angular_velocity_rad_s, .. } => {
                length(*angular_velocity_rad_s) * reach_m(point_m)
            }
            Self::Dynamic(motion) => {
                let middle_m = std::array::from_fn(|i| 0.5 * (low_m[i] + high_m[i]));
                length(motion.velocity_m_s) + length(motion.angular_velocity_rad_s) * reach_m(&middle_m)
            }
            Self::Keyframed { pivot_m, keys } => {
                let speed = |pair: &[Keyframe]| {
                    let [from, to] = [pair[0], pair[1]];
                    let farthest_m = length(from.offset_m).max(length(to.offset_m));
                    // The shortest rotation is no longer than those about the three axes.
                    let turn =
                        minus(to.rotation_deg, from.rotation_deg).map(|angle| angle.to_radians().abs());
                    let turn_m = turn.iter().sum::<f64>() * (reach_m(pivot_m) + farthest_m);
                    (length(minus(to.offset_m, from.offset_m)) + turn_m) / (to.time_s - from.time_s)
                };
                keys.windows(2).map(speed).fold(0.0, f64::max)
            }
        }
    }
}
