//! Twins of rendering kernels: the triangles of a terrain's chunks, and the classification of spray
//! particles.

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
