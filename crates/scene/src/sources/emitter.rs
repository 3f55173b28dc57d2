//! Emitters and drains, as scene files have them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Vec3;
use crate::properties::items_above_zero;

/// A mouth through which particles enter: layers at one velocity, at rest density.
///
/// As many layers enter per second as carry the flow ρ A v through the area A of the mouth, whatever the
/// particle spacing. A layer appears one support radius behind the mouth, in a pipe in which it acts on other
/// particles but nothing moves it otherwise, and is free once it has passed the mouth. In scenes of the
/// material point method nodes within a support radius of the pipe move with it, too. Grains appear at points
/// and in layers 1.1 largest diameters apart, displaced at random within that, with radii like others: the
/// flow is at most 0.39 ρ A v.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emitter {
    /// Shape and place of the mouth.
    pub mouth: Mouth,
    /// Direction in which particles leave the mouth; of any length but zero.
    pub direction: Vec3,
    /// Speed v in m/s; this or `mass_flow_kg_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub speed_m_s: Option<f64>,
    /// Mass per second in kg/s, from which the speed follows; this or `speed_m_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub mass_flow_kg_s: Option<f64>,
    /// Time in s at which the first layer appears, rounded to a step.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub from_s: f64,
    /// Time in s from which on no more layers appear, rounded to a step; by default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub until_s: Option<f64>,
}

impl Emitter {
    /// Multiplies lengths and times, so that the speed stays the same.
    pub(crate) fn apply_scale(&mut self, scale: f64) {
        match &mut self.mouth {
            Mouth::Disk { centre_m, radius_m } => {
                *centre_m = centre_m.map(|x| scale * x);
                *radius_m *= scale;
            }
            Mouth::Rectangle { centre_m, size_m, .. } => {
                *centre_m = centre_m.map(|x| scale * x);
                *size_m = size_m.map(|side| scale * side);
            }
        }
        self.mass_flow_kg_s.iter_mut().for_each(|flow_kg_s| *flow_kg_s *= scale * scale);
        self.from_s *= scale;
        self.until_s.iter_mut().for_each(|until_s| *until_s *= scale);
    }

    /// Returns the speed of the flow in m/s; NaN without one.
    pub(crate) fn flow_m_s(&self, density_kg_m3: f64) -> f64 {
        let by_flow = |flow_kg_s: f64| flow_kg_s / (density_kg_m3 * self.mouth.area_m2());
        self.speed_m_s.or(self.mass_flow_kg_s.map(by_flow)).unwrap_or(f64::NAN)
    }

    /// Returns the key that the speed follows from.
    pub(crate) fn flow_key(&self) -> &'static str {
        if self.mass_flow_kg_s.is_some() { "mass_flow_kg_s" } else { "speed_m_s" }
    }
}

/// Plane mouth of an emitter, perpendicular to its direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Mouth {
    /// A disk.
    Disk {
        /// Centre in m.
        centre_m: Vec3,
        /// Radius in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        radius_m: f64,
    },
    /// A rectangle.
    Rectangle {
        /// Centre in m.
        centre_m: Vec3,
        /// Lengths of its sides in m.
        #[schemars(transform = items_above_zero)]
        size_m: [f64; 2],
        /// Direction of the first side, of which the part along the emitter's direction does not count; by
        /// default horizontal, or along the first horizontal axis if the flow is vertical.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        side: Option<Vec3>,
    },
}

impl Mouth {
    /// Returns the name of the variant in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Disk { .. } => "disk",
            Self::Rectangle { .. } => "rectangle",
        }
    }

    /// Returns the centre in m.
    pub fn centre_m(&self) -> Vec3 {
        match self {
            Self::Disk { centre_m, .. } | Self::Rectangle { centre_m, .. } => *centre_m,
        }
    }

    /// Returns the area in m².
    pub fn area_m2(&self) -> f64 {
        match self {
            Self::Disk { radius_m, .. } => std::f64::consts::PI * radius_m * radius_m,
            Self::Rectangle { size_m, .. } => size_m[0] * size_m[1],
        }
    }

    /// Returns the widest width in m.
    pub fn widest_m(&self) -> f64 {
        match self {
            Self::Disk { radius_m, .. } => 2.0 * radius_m,
            Self::Rectangle { size_m, .. } => size_m[0].max(size_m[1]),
        }
    }

    /// Returns the narrowest width in m.
    pub fn width_m(&self) -> f64 {
        match self {
            Self::Disk { radius_m, .. } => 2.0 * radius_m,
            Self::Rectangle { size_m, .. } => size_m[0].min(size_m[1]),
        }
    }
}

/// A region that removes the particles in it, such as an outlet: particles that begin a step inside are
/// removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// Region.
    pub shape: DrainShape,
}

/// Shape of a drain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum DrainShape {
    /// An axis-aligned box, which may reach beyond the domain.
    Box {
        /// Lower corner in m.
        min_m: Vec3,
        /// Upper corner in m.
        max_m: Vec3,
    },
}

impl Drain {
    /// Returns the corners of the box in m.
    pub fn bounds_m(&self) -> [Vec3; 2] {
        match self.shape {
            DrainShape::Box { min_m, max_m } => [min_m, max_m],
        }
    }

    /// Returns true if the region contains a point.
    pub fn contains(&self, point_m: Vec3) -> bool {
        let [min_m, max_m] = self.bounds_m();
        (0..3).all(|i| point_m[i] >= min_m[i] && point_m[i] <= max_m[i])
    }
}
