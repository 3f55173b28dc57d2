//! Twins of rendering kernels: the triangles of a terrain's chunks, the classification of spray particles,
//! and the filters of a fluid's surface.

use crate::surface::Nodes;
use glam::DVec3;

/// Quads along each side of a chunk.
const CHUNK_QUADS: u32 = 32;

/// Returns the triangles of a chunk of a terrain of `n` heights, like `render.terrain` draws them: corners by
/// their position in the grid; some triangles have no area. `coarser` has a bit for each neighbour whose
/// quads are twice as large: lower x, higher x, lower y, higher y.
pub fn terrain_triangles(n: [u32; 2], first: [u32; 2], stride: u32, coarser: u32) -> Vec<[[u32; 2]; 3]> {
    let has = |side: u32| coarser >> side & 1 == 1;
    let place = |[x, y]: [u32; 2]| {
        let at_x_edge = x == 0 && has(0) || x == CHUNK_QUADS && has(1);
        let at_y_edge = y == 0 && has(2) || y == CHUNK_QUADS && has(3);
        let even = |k: u32, is_moved: bool| if is_moved { k - k % 2 } else { k };
        let moved = [even(x, at_y_edge), even(y, at_x_edge)];
        [0, 1].map(|axis| (first[axis] + stride * moved[axis]).min(n[axis] - 1))
    };
    let quads = (0..CHUNK_QUADS).flat_map(|y| (0..CHUNK_QUADS).map(move |x| [x, y]));
    let triangles = quads.flat_map(|[x, y]| {
        let [a, b, c, d] = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]].map(place);
        [[a, b, c], [a, c, d]]
    });
    triangles.collect()
}

/// Returns the density at a position in cells from node 0, interpolated between the eight nodes around it,
/// like `render.find_spray`.
pub fn interpolated_density(nodes: &Nodes, place: DVec3) -> f64 {
    let low = place.floor();
    let share = place - low;
    let corner = |corner: i64| {
        let far = [corner & 1, corner >> 1 & 1, corner >> 2 & 1];
        let weight: f64 =
            (0..3).map(|axis| if far[axis] == 1 { share[axis] } else { 1.0 - share[axis] }).product();
        weight * nodes.value(std::array::from_fn(|axis| low[axis] as i64 + far[axis]))
    };
    (0..8).map(corner).sum()
}

/// Distance of a pixel without a surface, in m.
pub const NO_SURFACE: f32 = 1e30;

/// Parameters of the filters of a fluid's surface, named like the push constants of the kernels.
#[derive(Clone, Copy, Debug)]
pub struct DepthFilterParams {
    /// Size of the image in pixels.
    pub size: [usize; 2],
    /// 0 along rows, 1 along columns.
    pub axis: usize,
    /// Pixels per m: at a distance of 1 m with perspective, else at any.
    pub px_per_m: f32,
    /// True with perspective.
    pub is_perspective: bool,
    /// Reach in m.
    pub radius: f32,
    /// Standard deviation of the weight of differences (bilateral), or narrow range, in m.
    pub range: f32,
    /// Distance in m of farther surfaces behind a pixel (narrow-range).
    pub step_back: f32,
}

const MAX_TAPS: usize = 16;
const MAX_RADIUS_PX: f32 = 96.0;

impl DepthFilterParams {
    /// Returns offset in pixels and weight of each tap of a pixel at a distance.
    fn taps(&self, z: f32) -> Vec<(i64, f32)> {
        let reach = self.radius * self.px_per_m / if self.is_perspective { z.max(1e-6) } else { 1.0 };
        let reach = reach.min(MAX_RADIUS_PX);
        let n = (reach as usize).min(MAX_TAPS);
        let tap = |tap: usize| {
            let offset = if reach <= MAX_TAPS as f32 {
                tap as i64
            } else {
                (reach * tap as f32 / n as f32 + 0.5).floor() as i64
            };
            let t = 2.0 * offset as f32 / reach;
            (offset, (-0.5 * t * t).exp())
        };
        (1..=n).map(tap).collect()
    }

    /// Returns the distance at an offset from a pixel along the axis; `None` beyond the image.
    fn at(&self, distance_m: &[f32], i: usize, offset: i64) -> Option<f32> {
        let [width, height] = self.size;
        let mut at = [(i % width) as i64, (i / width) as i64];
        at[self.axis] += offset;
        let is_inside = (0..width as i64).contains(&at[0]) && (0..height as i64).contains(&at[1]);
        is_inside.then(|| distance_m[at[1] as usize * width + at[0] as usize])
    }

    fn filter(&self, distance_m: &[f32], pixel: impl Fn(usize, f32) -> f32) -> Vec<f32> {
        let smoothed = |(i, &z): (usize, &f32)| if z > 0.5 * NO_SURFACE { z } else { pixel(i, z) };
        distance_m.iter().enumerate().map(smoothed).collect()
    }
}

/// Smooths distances in m along one axis like `render.smooth_depth_bilateral`.
pub fn smooth_depth_bilateral(distance_m: &[f32], params: DepthFilterParams) -> Vec<f32> {
    params.filter(distance_m, |i, z| {
        let (mut sum, mut weights) = (0.0, 1.0);
        for (offset, near) in params.taps(z) {
            for other in [-offset, offset].into_iter().filter_map(|by| params.at(distance_m, i, by)) {
                let u = (other - z) / params.range;
                let weight = near * (-0.5 * u * u).exp();
                if weight > 0.0 {
                    sum += weight * (other - z);
                    weights += weight;
                }
            }
        }
        z + sum / weights
    })
}

/// Smooths distances in m along one axis like `render.smooth_depth_narrow_range`.
pub fn smooth_depth_narrow_range(distance_m: &[f32], params: DepthFilterParams) -> Vec<f32> {
    params.filter(distance_m, |i, z| {
        let (mut sum, mut weights) = (0.0, 1.0);
        let (mut nearest, mut farthest) = (z - params.range, z + params.range);
        for (offset, weight) in params.taps(z) {
            let pair = [-offset, offset].map(|by| params.at(distance_m, i, by));
            let [Some(a), Some(b)] = pair else { continue };
            if a < nearest || b < nearest {
                continue;
            }
            let limit = farthest;
            for other in [a, b] {
                if other <= limit {
                    sum += weight * (other - z);
                    nearest = nearest.min(other - params.range);
                    farthest = farthest.max(other + params.range);
                } else {
                    sum += weight * params.step_back;
                }
            }
            weights += 2.0 * weight;
        }
        z + sum / weights
    })
}

/// Smooths a thickness in m along one axis like `render.smooth_thickness`, where distances in m show a
/// surface.
pub fn smooth_thickness(distance_m: &[f32], thickness_m: &[f32], params: DepthFilterParams) -> Vec<f32> {
    let smoothed = |i: usize| {
        let (z, thickness) = (distance_m[i], thickness_m[i]);
        if z > 0.5 * NO_SURFACE || thickness <= 0.0 {
            return thickness;
        }
        let (mut sum, mut weights) = (thickness, 1.0);
        for (offset, weight) in params.taps(z) {
            for other in [-offset, offset].into_iter().filter_map(|by| params.at(thickness_m, i, by)) {
                if other > 0.0 {
                    sum += weight * other;
                    weights += weight;
                }
            }
        }
        sum / weights
    };
    (0..distance_m.len()).map(smoothed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_chunk_covers_its_quads() {
        let area = |triangles: &[[[u32; 2]; 3]]| -> f64 {
            let twice = |[a, b, c]: &[[u32; 2]; 3]| {
                let [u, v] = [b, c].map(|p| [0, 1].map(|axis| f64::from(p[axis]) - f64::from(a[axis])));
                u[0] * v[1] - u[1] * v[0]
            };
            assert!(triangles.iter().all(|triangle| twice(triangle) >= 0.0), "none is turned over");
            0.5 * triangles.iter().map(twice).sum::<f64>()
        };
        for coarser in 0..16 {
            let found = terrain_triangles([100, 70], [32, 0], 1, coarser);
            assert_eq!(area(&found), 32.0 * 32.0, "{coarser}");
            assert_eq!(area(&terrain_triangles([100, 70], [64, 64], 2, coarser)), 35.0 * 5.0, "{coarser}");
        }
    }

    #[test]
    fn linear_densities_are_reproduced() {
        let mut nodes = Nodes::default();
        nodes.insert(
            [0; 3],
            std::array::from_fn(|i| 1.0 + (i % 4) as f64 + 2.0 * (i / 4 % 4) as f64 + 0.5 * (i / 16) as f64),
        );
        let found = interpolated_density(&nodes, DVec3::new(0.25, 1.5, 2.0));
        assert!((found - (1.0 + 0.25 + 3.0 + 1.0)).abs() < 1e-12, "{found}");
    }
}
