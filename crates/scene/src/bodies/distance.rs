//! Distances from the surfaces of shapes, and rotations.

use crate::{Axis, Vec3};

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

/// Returns the depth of a point inside an upright cylinder that stands at the height `ground_m` and has no
/// lower end, in m; negative outside.
pub(crate) fn upright_cylinder_depth_m(
    point_m: Vec3,
    (foot_m, ground_m): ([f64; 2], f64),
    (radius_m, height_m): (f64, f64),
    up_axis: Axis,
) -> f64 {
    let across = up_axis.horizontal();
    let radial_m = (0..2).map(|k| (point_m[across[k]] - foot_m[k]).powi(2)).sum::<f64>().sqrt();
    -signed_distance([radial_m - radius_m, point_m[up_axis.index()] - (ground_m + height_m)])
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
