//! Bodies that particles do not enter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Axis, Surface, Vec3};

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

/// A body that particles do not enter, an older notation of some `[[bodies]]`. Scenes of two dimensions take
/// its cross-section at z = 0. Beside boundary particles (`domain.walls`) only planes and spheres at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum Collider {
    /// A half-space.
    Plane {
        /// Any point of the plane, in m.
        point_m: Vec3,
        /// Normal that points to the particles; of any length but zero.
        normal: Vec3,
        /// Friction and sticking, by default those of [`Surface::default`]; for grains and in scenes of the
        /// position-based fluid by default the walls' friction, and no sticking. Grains do not stick.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        surface: Option<Surface>,
        /// Motion; by default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        motion: Option<Motion>,
    },
    /// A ball, or a spherical container.
    Sphere {
        /// Centre in m.
        centre_m: Vec3,
        /// Radius in m.
        radius_m: f64,
        /// Side of the surface on which the particles are.
        #[serde(default)]
        side: Side,
        /// Friction and sticking, with the defaults and limits of a plane's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        surface: Option<Surface>,
        /// Motion; by default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        motion: Option<Motion>,
    },
    /// A solid box, rotated about its centre.
    Box {
        /// Centre in m.
        centre_m: Vec3,
        /// Lengths of its edges in m.
        size_m: Vec3,
        /// Rotations about x, then y, then z, counter-clockwise, in degrees; in scenes of two dimensions
        /// about z only.
        #[serde(default)]
        rotation_deg: Vec3,
        /// Friction and sticking, with the defaults and limits of a plane's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        surface: Option<Surface>,
        /// Motion; by default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        motion: Option<Motion>,
    },
    /// The half-space below heights on a regular grid with bilinear interpolation; beyond the grid the height
    /// at its edge continues. Not in scenes of grains, which have `[terrain]`.
    Heightfield {
        /// Position of the first height, along the two horizontal axes in alphabetical order, in m.
        origin_m: [f64; 2],
        /// Distance between heights in m.
        spacing_m: f64,
        /// Heights along the up axis in m: rows along the first horizontal axis, one after another along the
        /// second. One row in scenes of two dimensions.
        #[serde(default)]
        heights_m: Vec<Vec<f64>>,
        /// Path of an ESRI ASCII grid of heights, relative to the scene file; `heights_m` holds them once the
        /// scene is loaded. North is up as on a map that shows the first axis to the right, seen from above.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Friction and sticking, with the defaults and limits of a plane's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        surface: Option<Surface>,
        /// Motion; by default none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        motion: Option<Motion>,
    },
}

/// Motion of a body: uniform over an interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// Velocity in m/s.
    pub velocity_m_s: Vec3,
    /// Start of the motion in s.
    #[serde(default)]
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

impl Collider {
    /// Returns the name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plane { .. } => "plane",
            Self::Sphere { .. } => "sphere",
            Self::Box { .. } => "box",
            Self::Heightfield { .. } => "heightfield",
        }
    }

    /// Returns friction and sticking, if the scene gives them.
    pub fn given_surface(&self) -> Option<Surface> {
        match self {
            Self::Plane { surface, .. }
            | Self::Sphere { surface, .. }
            | Self::Box { surface, .. }
            | Self::Heightfield { surface, .. } => *surface,
        }
    }

    /// Returns friction and sticking.
    pub fn surface(&self) -> Surface {
        self.given_surface().unwrap_or_default()
    }

    /// Returns the motion, if any.
    pub fn motion(&self) -> Option<Motion> {
        match self {
            Self::Plane { motion, .. }
            | Self::Sphere { motion, .. }
            | Self::Box { motion, .. }
            | Self::Heightfield { motion, .. } => *motion,
        }
    }

    pub(crate) fn motion_mut(&mut self) -> Option<&mut Motion> {
        match self {
            Self::Plane { motion, .. }
            | Self::Sphere { motion, .. }
            | Self::Box { motion, .. }
            | Self::Heightfield { motion, .. } => motion.as_mut(),
        }
    }

    /// Returns the speed in m/s during the motion.
    pub(crate) fn speed_m_s(&self) -> f64 {
        self.motion().map_or(0.0, |motion| motion.velocity_m_s.iter().map(|v| v * v).sum::<f64>().sqrt())
    }

    /// Returns the depth of `point_m` inside the solid part at time 0, in m; negative outside.
    pub fn depth_m(&self, point_m: Vec3, up_axis: Axis) -> f64 {
        match self {
            Self::Plane { point_m: origin, normal, .. } => {
                let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
                -(0..3).map(|i| (point_m[i] - origin[i]) * normal[i]).sum::<f64>() / length
            }
            Self::Sphere { centre_m, radius_m, side, .. } => {
                let distance = (0..3).map(|i| (point_m[i] - centre_m[i]).powi(2)).sum::<f64>().sqrt();
                match side {
                    Side::Outside => radius_m - distance,
                    Side::Inside => distance - radius_m,
                }
            }
            Self::Box { centre_m, size_m, rotation_deg, .. } => {
                box_depth_m(point_m, *centre_m, *size_m, *rotation_deg)
            }
            Self::Heightfield { origin_m, spacing_m, heights_m, .. } => {
                heightfield_depth_m(point_m, *origin_m, *spacing_m, heights_m, up_axis)
            }
        }
    }
}

/// Returns the depth of a point below heights, along the normal of the surface there, in m; negative above.
pub(crate) fn heightfield_depth_m(
    point_m: Vec3,
    origin_m: [f64; 2],
    spacing_m: f64,
    heights_m: &[Vec<f64>],
    up_axis: Axis,
) -> f64 {
    let across = up_axis.horizontal();
    let along = |k: usize, n: usize| {
        ((point_m[across[k]] - origin_m[k]) / spacing_m).clamp(0.0, n.saturating_sub(1) as f64)
    };
    let (n_rows, n_along) = (heights_m.len(), heights_m.first().map_or(0, Vec::len));
    let (u, v) = (along(0, n_along), along(1, n_rows));
    let (i, j) = (u.floor() as usize, v.floor() as usize);
    let at = |i: usize, j: usize| {
        let row = heights_m.get(j).or(heights_m.last());
        row.and_then(|row| row.get(i).or(row.last())).copied().unwrap_or(0.0)
    };
    let (fu, fv) = (u - i as f64, v - j as f64);
    let mix = |a: f64, b: f64, f: f64| a + f * (b - a);
    let (near, far) = (mix(at(i, j), at(i + 1, j), fu), mix(at(i, j + 1), at(i + 1, j + 1), fu));
    let slope = [mix(at(i + 1, j) - at(i, j), at(i + 1, j + 1) - at(i, j + 1), fv), far - near]
        .map(|rise| rise / spacing_m);
    let steepness = (1.0 + slope[0] * slope[0] + slope[1] * slope[1]).sqrt();
    (mix(near, far, fv) - point_m[up_axis.index()]) / steepness
}

/// Returns the depth of a point inside a box rotated about its centre, in m; negative outside.
pub(crate) fn box_depth_m(point_m: Vec3, centre_m: Vec3, size_m: Vec3, rotation_deg: Vec3) -> f64 {
    let offset: Vec3 = std::array::from_fn(|i| point_m[i] - centre_m[i]);
    let axes = box_axes(rotation_deg);
    -signed_distance::<3>(std::array::from_fn(|k| {
        let along: f64 = (0..3).map(|i| axes[k][i] * offset[i]).sum();
        along.abs() - 0.5 * size_m[k]
    }))
}

/// Returns the signed distance from a body with perpendicular bounds, negative inside, given the distance of
/// a point past each bound.
pub(crate) fn signed_distance<const N: usize>(past: [f64; N]) -> f64 {
    let outside = past.iter().map(|p| p.max(0.0).powi(2)).sum::<f64>().sqrt();
    outside + past.iter().copied().fold(f64::NEG_INFINITY, f64::max).min(0.0)
}

/// Returns the directions of the edges of a box rotated about x, then y, then z.
pub fn box_axes(rotation_deg: Vec3) -> [Vec3; 3] {
    let [(sx, cx), (sy, cy), (sz, cz)] = rotation_deg.map(|angle| angle.to_radians().sin_cos());
    [
        [cz * cy, sz * cy, -sy],
        [cz * sy * sx - sz * cx, sz * sy * sx + cz * cx, cy * sx],
        [cz * sy * cx + sz * sx, sz * sy * cx - cz * sx, cy * cx],
    ]
}
