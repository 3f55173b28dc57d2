//! Tests of the twins against the standard library and calculus: a wrong twin would hide a wrong kernel.

use frazil_reference::primitives::{
    Grid, ReduceShape, cell_keys, cell_starts, exclusive_scan_u32, gather, neighbours_brute_force,
    radix_sort_pairs, reduce_max_u32, reduce_min_u32, reduce_sum_f32, reduce_sum_u32, stream_compaction,
};
use frazil_reference::sph;
use proptest::prelude::*;

proptest! {
    #[test]
    fn sort_is_the_standard_librarys_stable_sort(
        keys in prop::collection::vec(any::<u32>(), 0..300),
        a in 0u32..=32,
        b in 0u32..=32,
    ) {
        let bits = a.min(b)..a.max(b);
        let (mut sorted, mut order) = (keys.clone(), (0..keys.len() as u32).collect::<Vec<_>>());
        radix_sort_pairs(&mut sorted, &mut order, bits.clone());
        let part = |key: u32| (u64::from(key) >> bits.start) & ((1u64 << (bits.end - bits.start)) - 1);
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|i| part(keys[*i as usize]));
        prop_assert_eq!(&order, &expected);
        prop_assert!(sorted.iter().zip(&order).all(|(key, i)| *key == keys[*i as usize]));
    }

    #[test]
    fn scan_and_compaction_are_what_their_names_say(values in prop::collection::vec(0u32..3, 0..300)) {
        let (scanned, total) = exclusive_scan_u32(&values);
        for i in 0..values.len() {
            prop_assert_eq!(scanned[i], values[..i].iter().sum::<u32>());
        }
        prop_assert_eq!(total, values.iter().sum::<u32>());
        let kept: Vec<u32> = (0..values.len() as u32).filter(|i| values[*i as usize] != 0).collect();
        prop_assert_eq!(stream_compaction(&values), kept);
    }

    #[test]
    fn reductions_are_folds(values in prop::collection::vec(any::<u32>(), 0..5000)) {
        prop_assert_eq!(reduce_sum_u32(&values), values.iter().fold(0, |a, b| b.wrapping_add(a)));
        prop_assert_eq!(reduce_min_u32(&values), values.iter().copied().min().unwrap_or(u32::MAX));
        prop_assert_eq!(reduce_max_u32(&values), values.iter().copied().max().unwrap_or(0));
    }

    #[test]
    fn sums_of_floats_are_within_the_documented_bound(
        values in prop::collection::vec(-1.0f32..1.0, 0..5000),
        threads in 0u32..9,
        items in 2usize..9,
    ) {
        let shape = ReduceShape { workgroup_size: 1 << threads, items_per_thread: items };
        let exact: f64 = values.iter().map(|x| f64::from(*x)).sum();
        let levels = (values.len().max(2) as f64).log(shape.tile() as f64).ceil() + 1.0;
        let bound = (items as f64 + f64::from(threads)) * levels * 2f64.powi(-24)
            * values.iter().map(|x| f64::from(x.abs())).sum::<f64>();
        prop_assert!((f64::from(reduce_sum_f32(&values, shape)) - exact).abs() <= bound);
    }

    #[test]
    fn cells_are_where_the_sorted_keys_say(keys in prop::collection::vec(0u32..40, 0..200)) {
        let mut keys = keys;
        keys.sort_unstable();
        let starts = cell_starts(&keys, 40);
        for cell in 0..=40u32 {
            prop_assert_eq!(starts[cell as usize] as usize, keys.partition_point(|key| *key < cell));
        }
    }

    #[test]
    fn the_grids_runs_hold_every_neighbour(
        points in prop::collection::vec(prop::array::uniform3(0.0f32..1.0), 0..200),
    ) {
        let grid = Grid::covering([0.0; 3], [1.0; 3], 0.2);
        let mut keys = cell_keys(&grid, &points);
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        radix_sort_pairs(&mut keys, &mut order, 0..32);
        let sorted: Vec<[f32; 3]> = order.iter().map(|i| points[*i as usize]).collect();
        let starts = cell_starts(&keys, grid.n_cells());
        for (i, expected) in neighbours_brute_force(&sorted, 0.2).into_iter().enumerate() {
            let runs = grid.neighbour_runs(grid.cell_from_index(keys[i]), &starts);
            prop_assert!(expected.iter().all(|j| runs.iter().any(|run| run.contains(&(*j as usize)))));
        }
    }
}

/// Threads 0 and 1 of a tile of 2 × 2 fold (a, c) and (b, d); then the tree adds them, then the tiles'
/// partials.
#[test]
fn floats_are_added_in_the_documented_order() {
    let values = [1.0f32, 1e8, 3.0, -1e8, 0.5];
    let shape = ReduceShape { workgroup_size: 2, items_per_thread: 2 };
    assert_eq!(reduce_sum_f32(&values, shape), (1.0 + 3.0) + (1e8 - 1e8) + 0.5);
    // In sequence the small terms would be lost in 1e8.
    assert_ne!(values.iter().sum::<f32>(), 4.5);
    assert_eq!(reduce_sum_f32(&[], shape), 0.0);
}

#[test]
fn gather_applies_a_permutation() {
    assert_eq!(gather(&['a', 'b', 'c'], &[2, 0, 1]), ['c', 'a', 'b']);
    assert!(gather::<u32>(&[], &[]).is_empty());
}

/// A cell of every corner, face and inside of the grid maps to its index and back; positions beyond the grid
/// are clamped.
#[test]
fn cells_have_indices_x_fastest() {
    let grid = Grid { origin_m: [-1.0, 0.0, 2.0], cell_size_m: 0.5, dims: [3, 4, 5] };
    assert_eq!(grid.cell_index([1, 2, 3]), 1 + 3 * (2 + 4 * 3));
    assert!((0..grid.n_cells()).all(|i| grid.cell_index(grid.cell_from_index(i)) == i));
    assert_eq!(grid.cell_coords([-9.0, 1.2, 99.0]), [0, 2, 4]);
    assert_eq!(grid.cell_coords([f32::NAN; 3]), [0; 3]);
}

/// ∫ W dV over the support, and ∫ ½x² ∇²W dV, by the midpoint rule on shells.
fn shell_integral(h: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 20_000;
    let dr = h / f64::from(n);
    (0..n).map(|i| (f64::from(i) + 0.5) * dr).map(|r| 4.0 * std::f64::consts::PI * r * r * f(r) * dr).sum()
}

#[test]
fn kernels_integrate_to_one() {
    for h in [0.01, 0.0362783, 1.0] {
        for (name, kernel) in [
            ("poly6", sph::poly6::<f64> as fn(f64, f64) -> f64),
            ("spiky", sph::spiky),
            ("viscosity", sph::viscosity),
            ("cubic spline", sph::cubic_spline),
        ] {
            let integral = shell_integral(h, |r| kernel(r, h));
            assert!((integral - 1.0).abs() < 1e-6, "{name} at h = {h}: {integral}");
        }
        // Over a sphere ½x² averages to a third of ½r².
        let laplacian = shell_integral(h, |r| r * r / 6.0 * sph::viscosity_laplacian(r, h));
        assert!((laplacian - 1.0).abs() < 1e-6, "½x²∇²W at h = {h}: {laplacian}");
    }
}

#[test]
fn derivatives_are_central_differences() {
    let h = 0.0362783;
    let step = 1e-6 * h;
    for (name, kernel, derivative) in [
        (
            "poly6",
            sph::poly6::<f64> as fn(f64, f64) -> f64,
            sph::poly6_derivative::<f64> as fn(f64, f64) -> f64,
        ),
        ("spiky", sph::spiky, sph::spiky_derivative),
        ("viscosity", sph::viscosity, sph::viscosity_derivative),
        ("cubic spline", sph::cubic_spline, sph::cubic_spline_derivative),
    ] {
        for i in 1..20 {
            let r = h * f64::from(i) / 20.0;
            let difference = (kernel(r + step, h) - kernel(r - step, h)) / (2.0 * step);
            let scale = 1.0 / h.powi(4);
            assert!((difference - derivative(r, h)).abs() < 1e-6 * scale, "{name} at r = {r}");
        }
    }
}

/// Shells of radius r have the share (1 − s/r)/2 of their surface behind a plane at distance s.
#[test]
fn walls_cut_off_what_lies_behind_them() {
    let h = 0.0362783;
    for (name, kernel, fraction) in [
        (
            "poly6",
            sph::poly6::<f64> as fn(f64, f64) -> f64,
            sph::poly6_wall_fraction::<f64> as fn(f64, f64) -> f64,
        ),
        ("cubic spline", sph::cubic_spline, sph::cubic_spline_wall_fraction),
    ] {
        for s in [0.0, 0.1, 0.25, 0.5, 0.8, 0.999].map(|q| q * h) {
            let behind = shell_integral(h, |r| kernel(r, h) * (0.5 * (1.0 - s / r)).max(0.0));
            assert!((behind - fraction(s, h)).abs() < 1e-6, "{name} at s = {s}: {behind}");
        }
        assert_eq!((fraction(-h, h), fraction(2.0 * h, h)), (fraction(0.0, h), 0.0), "{name}");
    }
}

/// On the plane at distance s, dA = 2πr dr.
#[test]
fn wall_marginals_are_integrals_over_the_plane() {
    let h = 0.0362783;
    for (name, kernel, marginal) in [
        (
            "poly6",
            sph::poly6::<f64> as fn(f64, f64) -> f64,
            sph::poly6_wall_marginal::<f64> as fn(f64, f64) -> f64,
        ),
        ("spiky", sph::spiky, sph::spiky_wall_marginal),
        ("cubic spline", sph::cubic_spline, sph::cubic_spline_wall_marginal),
    ] {
        for s in [0.0, 0.1, 0.25, 0.5, 0.8, 1.1].map(|q| q * h) {
            let plane = shell_integral(h, |r| if r > s { kernel(r, h) / (2.0 * r) } else { 0.0 });
            // The step at r = s is resolved to a shell of h/20000, the integrand there is of order 10/h².
            assert!((plane - marginal(s, h)).abs() < 1e-3 / h, "{name} at s = {s}: {plane}");
        }
    }
}

#[test]
fn single_precision_agrees_with_double_for_millimetre_particles() {
    let h = 1e-3f64;
    for i in 1..20 {
        let r = h * f64::from(i) / 20.0;
        let pairs = [
            (f64::from(sph::poly6(r as f32, h as f32)), sph::poly6(r, h), h.powi(3)),
            (f64::from(sph::spiky_derivative(r as f32, h as f32)), sph::spiky_derivative(r, h), h.powi(4)),
            (
                f64::from(sph::viscosity_laplacian(r as f32, h as f32)),
                sph::viscosity_laplacian(r, h),
                h.powi(5),
            ),
            (f64::from(sph::cubic_spline(r as f32, h as f32)), sph::cubic_spline(r, h), h.powi(3)),
        ];
        for (single, double, unit) in pairs {
            assert!((single - double).abs() * unit < 2e-5, "{single} {double} at r = {r}");
        }
    }
}

#[test]
fn the_spiky_gradient_points_from_the_neighbour_and_vanishes_on_it() {
    let gradient = sph::spiky_gradient([0.01f64, 0.0, 0.0], 0.02);
    assert!((gradient[0] - sph::spiky_derivative(0.01, 0.02)).abs() < 1e-6 * gradient[0].abs());
    assert!(gradient[0] < 0.0, "density falls with distance");
    assert_eq!((gradient[1], gradient[2]), (0.0, 0.0));
    assert_eq!(sph::spiky_gradient([0.0f64; 3], 0.02), [0.0; 3]);
}

/// The B-spline of the material point method sums to one and reproduces x wherever the particle is in its
/// cell.
#[test]
fn the_grid_spline_is_a_partition_of_unity() {
    for i in 0..=20 {
        let x = f64::from(i) / 20.0;
        let nodes = -2..=3;
        let sum: f64 = nodes.clone().map(|n| sph::cubic_bspline(x - f64::from(n))).sum();
        let first: f64 = nodes.map(|n| f64::from(n) * sph::cubic_bspline(x - f64::from(n))).sum();
        assert!((sum - 1.0).abs() < 1e-12 && (first - x).abs() < 1e-12, "x = {x}: {sum} {first}");
    }
    for i in -21..=21 {
        let (x, step) = (f64::from(i) / 10.0 + 0.003, 1e-6);
        let difference = (sph::cubic_bspline(x + step) - sph::cubic_bspline(x - step)) / (2.0 * step);
        assert!((difference - sph::cubic_bspline_derivative(x)).abs() < 1e-8, "x = {x}");
    }
}
