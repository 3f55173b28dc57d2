//! Twins of `glsl/linalg/polar.glsl`, which documents the contract and the reasons.

use super::svd::{Parts, is_finite, magnitude_bits, parts, rotation2, scaled, unit_scale, unit2};
use super::{Matrix, Polar, cross, dot, product, scale_columns, svd2, svd3, transpose};

const NEWTON_STEPS: u32 = 8;
const NEWTON_CLOSE_SQUARED: f32 = 1e-7;
const NEWTON_DETERMINANT: f32 = 1e-4;

/// Decomposes M = R S of a 2×2 matrix through the singular values.
pub fn polar2_svd(m: Matrix<f32, 2>) -> Polar<2> {
    from_svd(svd2(m))
}

/// Decomposes M = R S of a 3×3 matrix through the singular values.
pub fn polar3_svd(m: Matrix<f32, 3>) -> Polar<3> {
    from_svd(svd3(m))
}

fn from_svd<const N: usize>((u, sigma, v): (Matrix<f32, N>, [f32; N], Matrix<f32, N>)) -> Polar<N> {
    (product(u, transpose(v)), symmetric(product(scale_columns(v, sigma), transpose(v))))
}

/// Returns (S + Sᵀ)/2.
fn symmetric<const N: usize>(s: Matrix<f32, N>) -> Matrix<f32, N> {
    std::array::from_fn(|c| std::array::from_fn(|r| 0.5 * s[c][r] + 0.5 * s[r][c]))
}

/// Decomposes M = R S of a 2×2 matrix in closed form.
pub fn polar2(m: Matrix<f32, 2>) -> Polar<2> {
    let bits = magnitude_bits(m);
    if !is_finite(bits) {
        return ([[f32::NAN; 2]; 2], [[f32::NAN; 2]; 2]);
    }
    let (scale, inverse) = unit_scale(bits);
    let Parts { e, f, g, h } = parts(scaled(m, scale));
    let ([c, s], q) = unit2(e, h);
    let stretch = c * f + s * g;
    let shear = c * g - s * f;
    (rotation2(c, s), scaled([[q + stretch, shear], [shear, q - stretch]], inverse))
}

/// Decomposes M = R S of a 3×3 matrix by Newton's iteration, or through the singular values where that is
/// inaccurate.
pub fn polar3(m: Matrix<f32, 3>) -> Polar<3> {
    let bits = magnitude_bits(m);
    let (scale, inverse) = unit_scale(bits);
    let a = scaled(m, scale);
    let mut x = a;
    let squares = |m: Matrix<f32, 3>| -> f32 { m.iter().map(|c| dot(*c, *c)).sum() };
    let size = squares(a).sqrt();
    let determinant = dot(a[0], cross(a[1], a[2]));
    if !is_finite(bits) || determinant <= NEWTON_DETERMINANT * size * size * size {
        return polar3_svd(m);
    }
    for _ in 0..NEWTON_STEPS {
        let cofactors = [cross(x[1], x[2]), cross(x[2], x[0]), cross(x[0], x[1])];
        let determinant = dot(x[0], cofactors[0]);
        let gamma = ((squares(cofactors) / squares(x)).sqrt() / determinant).sqrt();
        let other = 0.5 / (gamma * determinant);
        let next: Matrix<f32, 3> =
            std::array::from_fn(|c| super::blend(0.5 * gamma, x[c], other, cofactors[c]));
        let step: Matrix<f32, 3> = std::array::from_fn(|c| super::blend(1.0, next[c], -1.0, x[c]));
        x = next;
        if squares(step) < NEWTON_CLOSE_SQUARED {
            break;
        }
    }
    (x, scaled(symmetric(product(transpose(x), a)), inverse))
}
