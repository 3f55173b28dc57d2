//! The uniform grid against a search of all pairs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{CellOrder, CellSort, CellSortMethod, GridOptions, KernelError, UniformGrid};
use frazil_reference::primitives::z_order_key;
use frazil_testkit::primitives::*;
use frazil_testkit::{Random, own_device};
use frazil_vk::{Buffer, DeviceCount};
use proptest::prelude::*;

/// Positions in and a little outside a box of the given number of cells, some of them clustered in one
/// corner.
fn positions() -> impl Strategy<Value = (Vec<[f32; 3]>, [u32; 3])> {
    let dims = [1u32..7, 1u32..7, 1u32..7];
    (0usize..700, dims, any::<u64>(), prop::bool::ANY).prop_map(|(n, dims, seed, clustered)| {
        let mut random = Random::new(seed | 1);
        let extent = dims.map(|d| 0.1 * d as f32);
        let scale = if clustered { 0.3 } else { 1.1 };
        let points = (0..n).map(|_| extent.map(|e| (random.unit() * scale - 0.03) * e)).collect();
        (points, dims)
    })
}

/// Generates both orders of cells and both sort methods.
fn variants() -> impl Strategy<Value = (CellOrder, CellSortMethod, u32)> {
    let order = prop::sample::select(vec![CellOrder::Linear, CellOrder::ZOrder]);
    let method = prop::sample::select(vec![CellSortMethod::Radix, CellSortMethod::Counting]);
    (order, method, workgroup_size())
}

/// Particles sorted by cell on the device.
struct Sorted {
    grid: UniformGrid,
    count: DeviceCount,
    order: Vec<u32>,
    points: Vec<[f32; 3]>,
    key: Buffer<u32>,
    position: Buffer<[f32; 3]>,
}

fn sort(
    points: &[[f32; 3]],
    dims: [u32; 3],
    (order, method, workgroup_size): (CellOrder, CellSortMethod, u32),
) -> Sorted {
    let n = points.len();
    let options = GridOptions { order, workgroup_size };
    let grid =
        UniformGrid::with_options(&DEVICE, [0.0; 3], dims.map(|d| 0.1 * d as f32), 0.1, options).unwrap();
    let sort = CellSort::with_options(&DEVICE, n as u32, &grid, method, workgroup_size).unwrap();
    let count = count(n, n);
    let position = DEVICE.buffer_from("position", points).unwrap();
    let (key, order) = (padded(&[], n), padded(&[], n));
    run(|r| {
        grid.record_keys(r, &count, &position, &key);
        sort.record(r, &count, &grid, &key, &order).unwrap();
    });
    let order = DEVICE.download(&order, n).unwrap();
    let points: Vec<[f32; 3]> = order.iter().map(|i| points[*i as usize]).collect();
    let position = DEVICE.buffer_from("sorted position", &points).unwrap();
    Sorted { grid, count, order, points, key, position }
}

/// Returns the cell that holds a point.
fn cell(dims: [u32; 3], p: &[f32; 3]) -> [u32; 3] {
    std::array::from_fn(|a| (p[a] / 0.1).clamp(0.0, (dims[a] - 1) as f32) as u32)
}

#[test]
fn cells_and_neighbours_agree_with_all_pairs() {
    proptest!(config(1000), |((points, dims) in positions(), radius in 0.01f32..0.1, variant in variants())| {
        let n = points.len();
        let sorted = sort(&points, dims, variant);
        let dims = sorted.grid.grid().dims;
        let cell = |p: &[f32; 3]| cell(dims, p);
        let number = |c: [u32; 3]| match variant.0 {
            CellOrder::Linear => c[0] + dims[0] * (c[1] + dims[1] * c[2]),
            CellOrder::ZOrder => z_order_key(dims, c),
        };
        // A stable sort by cell, with either method.
        let mut expected: Vec<u32> = (0..n as u32).collect();
        expected.sort_by_key(|i| number(cell(&points[*i as usize])));
        prop_assert_eq!(&sorted.order, &expected);
        let keys: Vec<u32> = sorted.points.iter().map(|p| number(cell(p))).collect();
        prop_assert_eq!(&DEVICE.download(&sorted.key, n).unwrap(), &keys);
        let cells = sorted.grid.cells();
        let starts = DEVICE.download(sorted.grid.cell_start(), cells as usize + 1).unwrap();
        for c in 0..=cells {
            prop_assert_eq!(starts[c as usize] as usize, keys.partition_point(|k| *k < c), "cell {}", c);
        }

        let found = DEVICE.buffer::<[u32; 2]>("found", n).unwrap();
        run(|r| {
            let (count, key, position) = (&sorted.count, &sorted.key, &sorted.position);
            sorted.grid.record_neighbour_counts(r, count, key, position, radius, &found)
        });
        let sorted = &sorted.points;
        for (i, [candidates, hits]) in DEVICE.download(&found, n).unwrap().into_iter().enumerate() {
            let (xi, ci) = (sorted[i], cell(&sorted[i]));
            let adjacent = |p: &&[f32; 3]| (0..3).all(|a| cell(p)[a].abs_diff(ci[a]) <= 1);
            prop_assert_eq!(candidates as usize, sorted.iter().filter(adjacent).count());
            // All pairs, whatever their cells: a radius up to the cell's side never reaches past a
            // neighbouring cell, except for particles outside the box, which are compared in their clamped
            // cells only.
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
fn a_full_cell_is_sorted_by_either_method() {
    // Every particle in one cell: the slowest case for counting.
    let points = vec![[0.05f32; 3]; 5000];
    for method in [CellSortMethod::Radix, CellSortMethod::Counting] {
        let sorted = sort(&points, [3, 3, 3], (CellOrder::Linear, method, 256));
        assert!(sorted.order.iter().copied().eq(0..5000), "{method}");
    }
}

#[test]
fn the_faster_cell_sort_is_found_and_remembered() {
    let device = own_device();
    let [radix_ns, counting_ns] = CellSortMethod::time_both(&device).unwrap();
    assert!(radix_ns > 0.0 && counting_ns > 0.0);
    let found = CellSortMethod::fastest(&device).unwrap();
    assert_eq!(device.stored_finding("cell-sort"), Some(found.to_string()));
    let grid = UniformGrid::new(&device, [0.0; 3], [1.0; 3], 0.1).unwrap();
    assert_eq!(CellSort::new(&device, 10, &grid).unwrap().method(), found);
    device.check_validation().unwrap();
}

#[test]
fn misuse_is_refused_by_name() {
    let grid = UniformGrid::new(&DEVICE, [0.0; 3], [1.0; 3], 0.1).unwrap();
    let larger = UniformGrid::new(&DEVICE, [0.0; 3], [2.0; 3], 0.1).unwrap();
    let (key, order) = (padded(&[], 10), padded(&[], 10));
    let mut recorder = DEVICE.recorder().unwrap();
    for method in [CellSortMethod::Radix, CellSortMethod::Counting] {
        let sort = CellSort::with_method(&DEVICE, 10, &grid, method).unwrap();
        let mut record =
            |count, grid, order| sort.record(&mut recorder, &count, grid, &key, order).unwrap_err();
        assert!(matches!(record(count(0, 11), &grid, &order), KernelError::Capacity { found: 11, .. }));
        assert!(matches!(record(count(0, 10), &grid, &key), KernelError::Overlap { .. }));
        assert!(matches!(record(count(0, 10), &larger, &order), KernelError::Grid { .. }));
    }
}

#[test]
fn invalid_grids_are_refused() {
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
