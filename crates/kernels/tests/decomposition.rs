//! Singular value and polar decompositions: their contract, f64 oracles, and their CPU twins.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{KernelError, Matrix2, Matrix3, Polar2, Polar3, PolarMethod, Svd2, Svd3};
use frazil_reference::linalg::{
    self, Frobenius, Matrix, N_KINDS, distance, nearest_rotation, polar_violation, sample, singular_values,
    svd_violation,
};
use frazil_testkit::primitives::*;
use frazil_vk::Buffer;
use proptest::prelude::*;

/// Fill value after the last matrix: nothing may be written there.
const SENTINEL: f32 = 12345.0;

/// Generates many matrices of all kinds, or of one kind, times a power of ten.
fn matrices<const N: usize>() -> impl Strategy<Value = Vec<Matrix<f32, N>>> {
    let lengths = prop_oneof![1 => size().prop_map(|n| n % 1100), 4 => 500usize..1500];
    // Within 1e−6 … 1e6 mostly, and where squares of entries over- and underflow.
    let exponent = prop_oneof![3 => Just(0i32), 6 => -6i32..=6, 1 => -38i32..=33];
    (lengths, 0..2 * N_KINDS, any::<u64>(), exponent).prop_map(|(n, kind, seed, exponent)| {
        let factor = 10f64.powi(exponent);
        (0..n as u64)
            .map(|i| {
                let kind = if kind < N_KINDS { kind } else { (i % u64::from(N_KINDS)) as u32 };
                sample::<N>(kind, seed.wrapping_add(i))
                    .map(|column| column.map(|x| (f64::from(x) * factor) as f32))
            })
            .collect()
    })
}

/// Makes a buffer with the given elements and a capacity for `spare` more.
fn filled<T: bytemuck::Pod>(values: &[T], spare: usize, sentinel: T) -> Buffer<T> {
    let mut all = values.to_vec();
    all.resize(values.len() + spare, sentinel);
    DEVICE.buffer_from("matrices", &all).unwrap()
}

/// Returns the first `n` elements; those after them must be untouched.
fn checked_prefix<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
    buffer: &Buffer<T>,
    n: usize,
    sentinel: T,
) -> Vec<T> {
    let mut all = DEVICE.download(buffer, buffer.len()).unwrap();
    assert!(all[n..].iter().all(|x| *x == sentinel), "nothing is written past the count");
    all.truncate(n);
    all
}

macro_rules! on_device {
    ($svd:ident, $polar:ident, $Svd:ident, $Polar:ident, $matrix:ty, $n:literal) => {
        fn $svd(matrices: &[$matrix], spare: usize, workgroup_size: u32) -> Vec<linalg::Svd<$n>> {
            let svd = $Svd::with_workgroup_size(&DEVICE, workgroup_size).unwrap();
            let n = matrices.len();
            let matrix_sentinel = [[SENTINEL; $n]; $n];
            let matrix = filled(matrices, spare, matrix_sentinel);
            let [u, v] = [(); 2].map(|()| filled(&[], n + spare, matrix_sentinel));
            let sigma = filled(&[], n + spare, [SENTINEL; $n]);
            run(|r| svd.record(r, &count(n, n + spare), &matrix, &u, &sigma, &v).unwrap());
            let (u, v) = (checked_prefix(&u, n, matrix_sentinel), checked_prefix(&v, n, matrix_sentinel));
            let sigma = checked_prefix(&sigma, n, [SENTINEL; $n]);
            u.into_iter().zip(sigma).zip(v).map(|((u, sigma), v)| (u, sigma, v)).collect()
        }

        fn $polar(
            matrices: &[$matrix],
            method: PolarMethod,
            spare: usize,
            workgroup_size: u32,
        ) -> Vec<linalg::Polar<$n>> {
            let polar = $Polar::with_workgroup_size(&DEVICE, method, workgroup_size).unwrap();
            let n = matrices.len();
            let sentinel = [[SENTINEL; $n]; $n];
            let matrix = filled(matrices, spare, sentinel);
            let [r, s] = [(); 2].map(|()| filled(&[], n + spare, sentinel));
            run(|recorder| polar.record(recorder, &count(n, n + spare), &matrix, &r, &s).unwrap());
            checked_prefix(&r, n, sentinel).into_iter().zip(checked_prefix(&s, n, sentinel)).collect()
        }
    };
}

on_device!(svd2, polar2, Svd2, Polar2, Matrix2, 2);
on_device!(svd3, polar3, Svd3, Polar3, Matrix3, 3);

fn widen<const N: usize>(m: Matrix<f32, N>) -> Matrix<f64, N> {
    m.map(|column| column.map(f64::from))
}

/// Returns U Vᵀ.
fn rotation_of<const N: usize>((u, _, v): linalg::Svd<N>) -> Matrix<f64, N> {
    let (u, v) = (widen(u), widen(v));
    std::array::from_fn(|c| std::array::from_fn(|r| (0..N).map(|k| u[k][r] * v[k][c]).sum()))
}

/// Returns the maximum difference of a matrix's rotation between two computations that are each correct to
/// `relative` |M|: the error over σ₂ + σ₃ (over σ₁ + σ₂ in 2×2); the rotation is not unique where that is 0.
/// `None` where it is too close to that, or denormal, for a bound.
fn rotation_bound<const N: usize>(m: Matrix<f32, N>, relative: f64) -> Option<f64> {
    let sigma = singular_values(m);
    let gap = sigma[N - 2] + sigma[N - 1];
    (gap > 1e-3 * m.norm() && m.norm() > 1e-30).then(|| relative * m.norm() / gap)
}

#[test]
fn svd3_keeps_its_contract() {
    proptest!(config(100), |(matrices in matrices::<3>(), spare in 0usize..300, log_group in 6u32..10)| {
        for (m, (u, sigma, v)) in matrices.iter().zip(svd3(&matrices, spare, 1 << log_group)) {
            prop_assert_eq!(svd_violation(*m, u, sigma, v), None, "{:?}", m);
        }
    });
}

#[test]
fn svd2_keeps_its_contract() {
    proptest!(config(100), |(matrices in matrices::<2>(), spare in 0usize..300, log_group in 6u32..10)| {
        for (m, (u, sigma, v)) in matrices.iter().zip(svd2(&matrices, spare, 1 << log_group)) {
            prop_assert_eq!(svd_violation(*m, u, sigma, v), None, "{:?}", m);
        }
    });
}

#[test]
fn polar3_keeps_its_contract() {
    proptest!(config(60), |(matrices in matrices::<3>(), spare in 0usize..300, log_group in 6u32..10)| {
        for method in [PolarMethod::Svd, PolarMethod::Direct] {
            for (m, (r, s)) in matrices.iter().zip(polar3(&matrices, method, spare, 1 << log_group)) {
                prop_assert_eq!(polar_violation(*m, r, s), None, "{:?} {:?}", method, m);
                // 1e−5 |M| is the maximum error of M = R S.
                if let Some(bound) = rotation_bound(*m, 1e-5) {
                    let off = distance(widen(r), nearest_rotation(widen(*m)));
                    prop_assert!(
                        off <= bound,
                        "{:?} {:?}: R is {} from the nearest rotation", method, m, off
                    );
                }
            }
        }
    });
}

#[test]
fn polar2_keeps_its_contract() {
    proptest!(config(60), |(matrices in matrices::<2>(), spare in 0usize..300, log_group in 6u32..10)| {
        for method in [PolarMethod::Svd, PolarMethod::Direct] {
            for (m, (r, s)) in matrices.iter().zip(polar2(&matrices, method, spare, 1 << log_group)) {
                prop_assert_eq!(polar_violation(*m, r, s), None, "{:?} {:?}", method, m);
                if let Some(bound) = rotation_bound(*m, 1e-5) {
                    // With the largest stretch along a third axis, the nearest rotation stays in the plane.
                    let [[a, b], [c, d]] = widen(*m);
                    let embedded = nearest_rotation([[a, b, 0.0], [c, d, 0.0], [0.0, 0.0, 2.0 * m.norm()]]);
                    let off = distance(
                        widen(r),
                        [[embedded[0][0], embedded[0][1]], [embedded[1][0], embedded[1][1]]],
                    );
                    prop_assert!(
                        off <= bound,
                        "{:?} {:?}: R is {} from the nearest rotation", method, m, off
                    );
                }
            }
        }
    });
}

#[test]
fn decompositions_agree_with_their_twins() {
    // Both sides round each of about a hundred dependent operations by at most 6e−8, some of them
    // differently: they may differ by a tenth of the contract's tolerance, and singular vectors of equal
    // values arbitrarily.
    const RELATIVE: f64 = 2e-6;
    fn check<const N: usize>(
        m: Matrix<f32, N>,
        device: (Matrix<f64, N>, [f32; N]),
        twin: (Matrix<f64, N>, [f32; N]),
    ) -> Result<(), TestCaseError> {
        let bound = RELATIVE * m.norm() + f64::from(f32::MIN_POSITIVE);
        for i in 0..N {
            let off = (f64::from(device.1[i]) - f64::from(twin.1[i])).abs();
            prop_assert!(off <= bound, "{:?}: {:?} on the device, {:?} on the host", m, device.1, twin.1);
        }
        if let Some(bound) = rotation_bound(m, RELATIVE) {
            let off = distance(device.0, twin.0);
            prop_assert!(off <= bound, "{:?}: the rotations are {} apart", m, off);
        }
        Ok(())
    }
    proptest!(config(40), |(matrices3 in matrices::<3>(), matrices2 in matrices::<2>())| {
        for (m, device) in matrices3.iter().zip(svd3(&matrices3, 0, 256)) {
            let twin = linalg::svd3(*m);
            check(*m, (rotation_of(device), device.1), (rotation_of(twin), twin.1))?;
        }
        for (m, device) in matrices2.iter().zip(svd2(&matrices2, 0, 256)) {
            let twin = linalg::svd2(*m);
            check(*m, (rotation_of(device), device.1), (rotation_of(twin), twin.1))?;
        }
        let diagonal3 = |s: Matrix3| [s[0][0], s[1][1], s[2][2]];
        for (m, (r, s)) in matrices3.iter().zip(polar3(&matrices3, PolarMethod::Direct, 0, 256)) {
            if rotation_bound(*m, 1.0).is_some_and(|amplified| amplified < 10.0) {
                let twin = linalg::polar3(*m);
                check(*m, (widen(r), diagonal3(s)), (widen(twin.0), diagonal3(twin.1)))?;
            }
        }
    });
}

#[test]
fn polar_methods_agree_where_the_rotation_is_unique() {
    // Each twin reconstructs M to within 1.1e−6 |M| for a million matrices; a device may round its divisions
    // less accurately.
    const RELATIVE: f64 = 4e-6;
    proptest!(config(40), |(matrices3 in matrices::<3>(), matrices2 in matrices::<2>())| {
        let svd = polar3(&matrices3, PolarMethod::Svd, 0, 256);
        let direct = polar3(&matrices3, PolarMethod::Direct, 0, 256);
        for ((m, svd), direct) in matrices3.iter().zip(svd).zip(direct) {
            if let Some(bound) = rotation_bound(*m, RELATIVE) {
                let off = distance(widen(svd.0), widen(direct.0));
                prop_assert!(off <= bound, "{:?}: the rotations are {} apart", m, off);
            }
        }
        let svd = polar2(&matrices2, PolarMethod::Svd, 0, 256);
        let direct = polar2(&matrices2, PolarMethod::Direct, 0, 256);
        for ((m, svd), direct) in matrices2.iter().zip(svd).zip(direct) {
            if let Some(bound) = rotation_bound(*m, RELATIVE) {
                let off = distance(widen(svd.0), widen(direct.0));
                prop_assert!(off <= bound, "{:?}: the rotations are {} apart", m, off);
            }
        }
    });
}

#[test]
fn exact_matrices_are_decomposed_exactly() {
    let identity3 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let identity2 = [[1.0, 0.0], [0.0, 1.0]];
    assert_eq!(
        svd3(&[[[0.0; 3]; 3], identity3], 0, 64),
        [(identity3, [0.0; 3], identity3), (identity3, [1.0; 3], identity3)]
    );
    assert_eq!(
        svd2(&[[[0.0; 2]; 2], identity2], 0, 64),
        [(identity2, [0.0; 2], identity2), (identity2, [1.0; 2], identity2)]
    );
    for method in [PolarMethod::Svd, PolarMethod::Direct] {
        let zero = (identity3, [[0.0; 3]; 3]);
        assert_eq!(
            polar3(&[[[0.0; 3]; 3], identity3], method, 0, 64),
            [zero, (identity3, identity3)],
            "{method:?}"
        );
        let zero = (identity2, [[0.0; 2]; 2]);
        assert_eq!(
            polar2(&[[[0.0; 2]; 2], identity2], method, 0, 64),
            [zero, (identity2, identity2)],
            "{method:?}"
        );
    }
    // Every power of two that is not denormal scales the result exactly.
    for exponent in -126..=126 {
        let m = [[0.0, 2f32.powi(exponent), 0.0], [0.0, 0.0, 0.5 * 2f32.powi(exponent)], [0.0; 3]];
        let (_, sigma, _) = svd3(&[m], 0, 64)[0];
        let smaller = if exponent > -126 { 0.5 * sigma[0] } else { sigma[1] };
        assert_eq!(sigma, [2f32.powi(exponent), smaller, 0.0]);
    }
}

#[test]
fn non_finite_matrices_give_nan_in_every_element() {
    let finite = sample::<3>(0, 1);
    let finite2 = sample::<2>(0, 1);
    for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in 0..9 {
            // Between two finite matrices, which it must not touch.
            let mut m = [finite; 3];
            m[1].as_flattened_mut()[at] = bad;
            let found = svd3(&m, 0, 64);
            let (u, sigma, v) = found[1];
            assert!(
                [u.as_flattened(), &sigma, v.as_flattened()].concat().iter().all(|x| x.is_nan()),
                "{bad} {at}"
            );
            for i in [0, 2] {
                assert_eq!(svd_violation(finite, found[i].0, found[i].1, found[i].2), None);
            }
            for method in [PolarMethod::Svd, PolarMethod::Direct] {
                let (r, s) = polar3(&m, method, 0, 64)[1];
                assert!(
                    [r, s].as_flattened().as_flattened().iter().all(|x| x.is_nan()),
                    "{method:?} {bad} {at}"
                );
            }
            let mut m = [finite2; 3];
            m[1].as_flattened_mut()[at % 4] = bad;
            let (u, sigma, v) = svd2(&m, 0, 64)[1];
            assert!(
                [u.as_flattened(), &sigma, v.as_flattened()].concat().iter().all(|x| x.is_nan()),
                "{bad} {at}"
            );
            for method in [PolarMethod::Svd, PolarMethod::Direct] {
                let (r, s) = polar2(&m, method, 0, 64)[1];
                assert!(
                    [r, s].as_flattened().as_flattened().iter().all(|x| x.is_nan()),
                    "{method:?} {bad} {at}"
                );
            }
        }
    }
}

#[test]
fn same_matrices_give_the_same_bits_in_any_number_and_group() {
    let matrices: Vec<Matrix3> = (0..3000).map(|i| sample::<3>(i % N_KINDS, u64::from(i))).collect();
    let bits = |found: &[linalg::Svd<3>]| -> Vec<u32> {
        found
            .iter()
            .flat_map(|(u, sigma, v)| [u.as_flattened(), sigma, v.as_flattened()].concat())
            .map(f32::to_bits)
            .collect()
    };
    let first = bits(&svd3(&matrices, 0, 64));
    for log_group in 6..10 {
        let group = 1 << log_group;
        assert!(bits(&svd3(&matrices, 7, group)) == first, "groups of {group}");
        for n in [0, 1, group - 1, group, group + 1, 2 * group + 1] {
            let some = bits(&svd3(&matrices[..n as usize], 3, group));
            assert!(some == first[..some.len()] && some.len() == 21 * n as usize, "{n} in groups of {group}");
        }
    }
}

#[test]
fn small_buffers_are_refused() {
    let (svd, polar) = (Svd3::new(&DEVICE).unwrap(), Polar2::new(&DEVICE, PolarMethod::Direct).unwrap());
    let matrix = |n: usize| DEVICE.buffer::<Matrix3>("matrix", n).unwrap();
    let (enough, one_short) = ([matrix(100), matrix(100), matrix(100)], matrix(99));
    let (values, values_short) = (DEVICE.buffer("sigma", 100).unwrap(), DEVICE.buffer("sigma", 99).unwrap());
    let count = count(3, 100);
    let mut recorder = DEVICE.recorder().unwrap();
    let [m, u, v] = &enough;
    let refused = |found: Result<(), KernelError>| {
        let error = found.unwrap_err();
        assert!(matches!(error, KernelError::TooSmall { found: 99, required: 100, .. }), "{error}");
    };
    refused(svd.record(&mut recorder, &count, &one_short, u, &values, v));
    refused(svd.record(&mut recorder, &count, m, &one_short, &values, v));
    refused(svd.record(&mut recorder, &count, m, u, &values_short, v));
    refused(svd.record(&mut recorder, &count, m, u, &values, &one_short));
    svd.record(&mut recorder, &count, m, u, &values, v).unwrap();

    let matrix = |n: usize| DEVICE.buffer::<Matrix2>("matrix", n).unwrap();
    let (m, r, s, one_short) = (matrix(100), matrix(100), matrix(100), matrix(99));
    refused(polar.record(&mut recorder, &count, &one_short, &r, &s));
    refused(polar.record(&mut recorder, &count, &m, &one_short, &s));
    refused(polar.record(&mut recorder, &count, &m, &r, &one_short));
    polar.record(&mut recorder, &count, &m, &r, &s).unwrap();
}
