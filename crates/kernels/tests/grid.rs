//! The uniform grid against a search of all pairs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use frazil_kernels::{KernelError, RadixSort, UniformGrid};
use proptest::prelude::*;

/// Positions in and a little outside a box of the given number of cells, some of them clustered in one corner.
fn positions() -> impl Strategy<Value = (Vec<[f32; 3]>, [u32; 3])> {
    let dims = [1u32..7, 1u32..7, 1u32..7];
    (0usize..700, dims, any::<u64>(), prop::bool::ANY).prop_map(|(n, dims, seed, clustered)| {
        let mut state = seed | 1;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 24) as f32
        };
        let extent = dims.map(|d| 0.1 * d as f32);
        let scale = if clustered { 0.3 } else { 1.1 };
        let points = (0..n).map(|_| extent.map(|e| (next() * scale - 0.03) * e)).collect();
        (points, dims)
    })
}

#[test]
fn cells_and_neighbours_agree_with_all_pairs() {
    proptest!(config(80), |((points, dims) in positions(), radius in 0.01f32..0.1)| {
        let n = points.len();
        let max = dims.map(|d| 0.1 * d as f32);
        let grid = UniformGrid::new(&DEVICE, [0.0; 3], max, 0.1).unwrap();
        let dims = grid.grid().dims;
        let cell = |p: &[f32; 3]| -> [u32; 3] {
            std::array::from_fn(|a| (p[a] / 0.1).clamp(0.0, (dims[a] - 1) as f32) as u32)
        };
        let number = |c: [u32; 3]| c[0] + dims[0] * (c[1] + dims[1] * c[2]);

        let sort = RadixSort::new(&DEVICE, n as u32).unwrap();
        let count = count(n, n);
        let position = DEVICE.buffer_from("position", &points).unwrap();
        let (key, order) = (padded(&[], n), padded(&[], n));
        run(|r| {
            grid.record_keys(r, &count, &position, &key);
            sort.record_order(r, &count, &key, &order, grid.key_bits()).unwrap();
            grid.record_cell_ranges(r, &count, &key);
        });
        let order = DEVICE.download(&order, n).unwrap();
        let sorted: Vec<[f32; 3]> = order.iter().map(|i| points[*i as usize]).collect();
        let keys: Vec<u32> = sorted.iter().map(|p| number(cell(p))).collect();
        prop_assert_eq!(&DEVICE.download(&key, n).unwrap(), &keys);
        let starts = DEVICE.download(grid.cell_start(), grid.cells() as usize + 1).unwrap();
        for c in 0..=grid.cells() {
            prop_assert_eq!(starts[c as usize] as usize, keys.iter().filter(|k| **k < c).count(), "cell {}", c);
        }

        let sorted_position = DEVICE.buffer_from("sorted position", &sorted).unwrap();
        let found = DEVICE.buffer::<[u32; 2]>("found", n).unwrap();
        run(|r| grid.record_neighbour_counts(r, &count, &key, &sorted_position, radius, &found));
        for (i, [candidates, hits]) in DEVICE.download(&found, n).unwrap().into_iter().enumerate() {
            let (xi, ci) = (sorted[i], cell(&sorted[i]));
            let adjacent = |p: &&[f32; 3]| (0..3).all(|a| cell(p)[a].abs_diff(ci[a]) <= 1);
            prop_assert_eq!(candidates as usize, sorted.iter().filter(adjacent).count());
            // All pairs, whatever their cells: a radius up to the cell's side never reaches past a neighbouring cell,
            // but for particles outside the box, which are compared in their clamped cells only.
            let inside = |p: &[f32; 3]| (0..3).all(|a| p[a] >= 0.0 && p[a] <= 0.1 * dims[a] as f32);
            let near = |(j, p): &(usize, &[f32; 3])| {
                let d: [f32; 3] = std::array::from_fn(|a| xi[a] - p[a]);
                *j != i && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < radius * radius
            };
            let all = sorted.iter().enumerate().filter(near).count();
            if sorted.iter().all(inside) {
                prop_assert_eq!(hits as usize, all);
            } else {
                prop_assert!(hits as usize <= all);
            }
        }
    });
}

#[test]
fn absurd_grids_are_refused() {
    for (min, max, cell) in [
        ([0.0; 3], [1.0; 3], 0.0),
        ([0.0; 3], [1.0; 3], f32::NAN),
        ([0.0; 3], [1.0, 0.0, 1.0], 0.1),
        ([0.0; 3], [f32::INFINITY; 3], 0.1),
        ([0.0; 3], [1.0; 3], 1e-6),
        ([-1e30; 3], [1e30; 3], 1e-9),
    ] {
        let error = UniformGrid::new(&DEVICE, min, max, cell).err();
        assert!(matches!(error, Some(KernelError::Grid { .. })), "{min:?} {max:?} {cell}: {error:?}");
    }
}
