//! Matrices that are difficult for decompositions.

use super::oracle::rotation;
use super::{Matrix, product, scale_columns, transpose};

/// Number of kinds of matrix that [`sample`] generates.
pub const N_KINDS: u32 = 16;

/// Returns a matrix of one kind: random, rotations, reflections, repeated, zero and graded singular values,
/// near the identity, near singular, small integers, equal or empty columns.
pub fn sample<const N: usize>(kind: u32, seed: u64) -> Matrix<f32, N> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a09_e667_f3bc_c908;
    // splitmix64, to −1 … 1.
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut random: Matrix<f64, N> = [[0.0; N]; N];
    random.as_flattened_mut().iter_mut().for_each(|x| *x = next());
    let (u, v): (Matrix<f64, N>, Matrix<f64, N>) = (random_rotation(&mut next), random_rotation(&mut next));
    let pick = next();
    let compose = |sigma: [f64; N]| product(scale_columns(u, sigma), transpose(v));
    // (1, 1 …), with a different last value.
    let last = |x: f64| -> [f64; N] { std::array::from_fn(|i| if i == N - 1 { x } else { 1.0 }) };
    let first = |x: f64| -> [f64; N] { std::array::from_fn(|i| if i == 0 { 1.0 } else { x }) };
    let identity: Matrix<f64, N> =
        std::array::from_fn(|c| std::array::from_fn(|r| f64::from(u8::from(r == c))));
    let m = match kind % N_KINDS {
        0 => random,
        1 => u,
        2 => compose(last(-1.0)),
        3 => compose([1.0; N]),
        4 => compose(last(pick)),
        5 => compose(first(pick)),
        6 => compose(last(0.0)),
        7 => compose(first(0.0)),
        8 => std::array::from_fn(|c| std::array::from_fn(|r| identity[c][r] + 1e-4 * random[c][r])),
        // Singular values over many orders of magnitude, of either sign.
        9 => compose(std::array::from_fn(|i| {
            10f64.powf(4.0 * random[0][i] - 4.0).copysign(if i + 1 == N { pick } else { 1.0 })
        })),
        10 => random.map(|column| column.map(|x| (1.5 * x).round())),
        11 => std::array::from_fn(|c| std::array::from_fn(|r| (1.5 * random[c][r]).round() * identity[c][r])),
        // Columns of very different length, in any order.
        12 => std::array::from_fn(|c| random[c].map(|x| x * 10f64.powf(4.0 * u[c][0]))),
        13 => std::array::from_fn(|c| {
            if c > 0 && pick > 0.0 { random[0] } else { random[c].map(|x| x * pick.max(0.0)) }
        }),
        // A last column that nearly lies in the span of the others.
        14 => {
            let mut m = random;
            m[N - 1] = std::array::from_fn(|r| random[0][r] - 0.5 * random[N - 2][r] + 1e-6 * u[0][r]);
            m
        }
        _ => compose(last(10f64.powf(3.0 * pick - 3.0))),
    };
    m.map(|column| column.map(|x| x as f32))
}

fn random_rotation<const N: usize>(next: &mut impl FnMut() -> f64) -> Matrix<f64, N> {
    let mut q: [f64; 4] = std::array::from_fn(|_| next());
    if N == 2 {
        (q[1], q[2]) = (0.0, 0.0);
    }
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let whole = rotation(q.map(|x| x / length));
    std::array::from_fn(|c| std::array::from_fn(|r| whole[c][r]))
}
