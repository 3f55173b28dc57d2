//! The twins themselves against the standard library and against calculus: a wrong twin would excuse a wrong kernel.

use frazil_reference::primitives::{
    Grid, cell_keys, cell_starts, exclusive_scan_u32, neighbours_brute_force, radix_sort_pairs,
    stream_compaction,
};
use frazil_reference::sph;
use proptest::prelude::*;

proptest! {
    #[test]
    fn sort_is_the_standard_librarys_stable_sort(keys in prop::collection::vec(any::<u32>(), 0..300), a in 0u32..=32, b in 0u32..=32) {
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
    fn the_grids_runs_hold_every_neighbour(points in prop::collection::vec(prop::array::uniform3(0.0f32..1.0), 0..200)) {
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
        // Of ½x² over a sphere only a third of ½r² remains.
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
