//! Tests of the twins of the decompositions against their contract, and of the oracles against known
//! decompositions.

use frazil_reference::linalg::{
    Frobenius, Matrix, N_KINDS, distance, eigen_symmetric, nearest_rotation, polar_violation, polar2,
    polar2_svd, polar3, polar3_svd, sample, singular_values, svd_violation, svd2, svd3,
};
use proptest::prelude::*;

fn widen<const N: usize>(m: Matrix<f32, N>) -> Matrix<f64, N> {
    m.map(|column| column.map(f64::from))
}

fn product<const N: usize>(a: Matrix<f64, N>, b: Matrix<f64, N>) -> Matrix<f64, N> {
    std::array::from_fn(|c| std::array::from_fn(|r| (0..N).map(|k| a[k][r] * b[c][k]).sum()))
}

fn scaled<const N: usize>(m: Matrix<f32, N>, exponent: i32) -> Matrix<f32, N> {
    m.map(|column| column.map(|x| x * 2f32.powi(exponent)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn twins_keep_the_contract(kind in 0..N_KINDS, seed in any::<u64>(), exponent in -140i32..110) {
        let m = scaled(sample::<3>(kind, seed), exponent);
        let (u, sigma, v) = svd3(m);
        prop_assert_eq!(svd_violation(m, u, sigma, v), None, "{:?}", m);
        for (r, s) in [polar3(m), polar3_svd(m)] {
            prop_assert_eq!(polar_violation(m, r, s), None, "{:?}", m);
        }
        let m = scaled(sample::<2>(kind, seed), exponent);
        let (u, sigma, v) = svd2(m);
        prop_assert_eq!(svd_violation(m, u, sigma, v), None, "{:?}", m);
        for (r, s) in [polar2(m), polar2_svd(m)] {
            prop_assert_eq!(polar_violation(m, r, s), None, "{:?}", m);
        }
    }

    #[test]
    fn oracle_finds_the_singular_values_a_matrix_was_made_of(
        seed in any::<u64>(),
        a in 0.0f64..1.0,
        b in 0.0f64..1.0,
        negative: bool,
    ) {
        // Kind 1 is a rotation.
        let (u, v) = (widen(sample::<3>(1, seed)), widen(sample::<3>(1, !seed)));
        let c = if negative { -a * b } else { a * b };
        let stretched = [u[0].map(|x| 2.0 * x), u[1].map(|x| (a.max(b)) * x), u[2].map(|x| c * x)];
        let v_transposed = std::array::from_fn(|c| std::array::from_fn(|r| v[r][c]));
        let m = product(stretched, v_transposed).map(|column| column.map(|x| x as f32));
        // f32 factors are orthonormal, and their product is rounded, to a few 6e−8.
        for (found, made) in singular_values(m).into_iter().zip([2.0, a.max(b), c]) {
            prop_assert!((found - made).abs() < 2e-6, "{} {}", found, made);
        }
    }

    #[test]
    fn oracle_rotation_is_the_nearest(seed in any::<u64>(), kind in 0..N_KINDS) {
        let m = widen(sample::<3>(kind, seed));
        let nearest = nearest_rotation(m);
        for other in 0..20 {
            let r = product(nearest, widen(sample::<3>(1, seed ^ other)));
            prop_assert!(distance(nearest, m) <= distance(r, m) + 1e-6 * (1.0 + m.norm()));
        }
        // Rotations are their own; f32 entries are off by 6e−8 each.
        let rotation = widen(sample::<3>(1, seed));
        prop_assert!(distance(nearest_rotation(rotation), rotation) < 1e-6);
    }

    #[test]
    fn oracle_eigenvectors_are_eigenvectors(seed in any::<u64>(), kind in 0..N_KINDS) {
        let m = widen(sample::<3>(kind, seed));
        let symmetric: Matrix<f64, 3> = std::array::from_fn(|c| std::array::from_fn(|r| m[c][r] + m[r][c]));
        let (values, vectors) = eigen_symmetric(symmetric);
        prop_assert!(values[0] >= values[1] && values[1] >= values[2]);
        let stretched: Matrix<f64, 3> = std::array::from_fn(|c| vectors[c].map(|x| x * values[c]));
        prop_assert!(distance(product(symmetric, vectors), stretched) <= 1e-13 * (1.0 + m.norm()));
    }
}

/// A matrix with one column negated. A function: rustc 1.95 miscompiles closures that change an argument
/// passed by pointer (rust-lang/rust#155241).
fn negated(mut x: Matrix<f32, 3>, column: usize) -> Matrix<f32, 3> {
    x[column] = x[column].map(|x| -x);
    x
}

#[test]
fn the_contract_detects_violations() {
    let m = sample::<3>(0, 1);
    let (u, sigma, v) = svd3(m);
    assert_eq!(svd_violation(m, u, sigma, v), None);
    let violation = |u, sigma, v| svd_violation(m, u, sigma, v).unwrap_or_default();
    let [a, b, c] = sigma;
    assert!(violation(negated(u, 2), [a, b, -c], v).contains("det U"));
    assert!(violation(negated(u, 1), sigma, negated(v, 1)).contains("det U"));
    assert!(violation(u, [a, b, -c], v).contains("U Σ Vᵀ"));
    assert!(violation(negated(negated(u, 1), 2), [a, -b, -c], v).contains("negative before the last"));
    let swapped = |x: Matrix<f32, 3>| [x[1].map(|x| -x), x[0], x[2]];
    assert!(violation(swapped(u), [b, a, c], swapped(v)).contains("not in descending order"));
    assert!(violation([[f32::NAN; 3]; 3], sigma, v).contains("UᵀU"));
    assert!(violation(u, [f32::NAN; 3], v).contains("U Σ Vᵀ"));

    let (r, s) = polar3(m);
    assert_eq!(polar_violation(m, r, s), None);
    let violation = |r, s| polar_violation(m, r, s).unwrap_or_default();
    assert!(violation(negated(r, 0), s).contains("det R"));
    assert!(violation(u, s).contains("R S"));
    let mut skew = s;
    skew[0][1] *= 1.001;
    assert!(violation(r, skew).contains("not symmetric"));
    // A half rotation about an axis of S: still rotation times symmetric matrix, but not the nearest
    // rotation.
    let half_turn = |x: Matrix<f32, 3>| [x[0], x[1].map(|x| -x), x[2].map(|x| -x)];
    let diagonal = [[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]];
    let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let far = polar_violation(diagonal, half_turn(identity), half_turn(diagonal)).unwrap_or_default();
    assert!(far.contains("eigenvalues"), "{far}");
}

#[test]
fn twins_know_zero_and_nan() {
    let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert_eq!(svd3([[0.0; 3]; 3]), (identity, [0.0; 3], identity));
    assert_eq!(polar3([[0.0; 3]; 3]), (identity, [[0.0; 3]; 3]));
    assert_eq!(svd2([[0.0; 2]; 2]), ([[1.0, 0.0], [0.0, 1.0]], [0.0; 2], [[1.0, 0.0], [0.0, 1.0]]));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let (u, sigma, v) = svd3([[0.0, 1.0, 0.0], [0.0, 0.0, bad], [2.0, 0.0, 0.0]]);
        assert!([u.as_flattened(), &sigma, v.as_flattened()].concat().iter().all(|x| x.is_nan()));
        let (r, s) = polar2([[0.0, 1.0], [bad, 0.0]]);
        assert!([r, s].as_flattened().as_flattened().iter().all(|x| x.is_nan()));
    }
}
