//! Twins of `glsl/linalg/svd.glsl`, which documents the contract and the reasons.

use super::{Matrix, Svd, apply, blend, cross, dot};

const JACOBI_SWEEPS: u32 = 4;
const NEGLIGIBLE_SQUARED: f32 = 1e-14;

/// Returns the bits of the maximum magnitude: 0x7f80_0000 or more if any entry is not finite.
pub(super) fn magnitude_bits<const N: usize>(m: Matrix<f32, N>) -> u32 {
    m.as_flattened().iter().map(|x| x.to_bits() & 0x7fff_ffff).max().unwrap_or(0)
}

pub(super) fn is_finite(bits: u32) -> bool {
    bits < 0x7f80_0000
}

/// Returns the power of two that scales the maximum magnitude to about 1, and its inverse; neither is
/// denormal.
pub(super) fn unit_scale(bits: u32) -> (f32, f32) {
    let field = (254 - (bits >> 23) as i32).clamp(1, 253) as u32;
    (f32::from_bits(field << 23), f32::from_bits((254 - field) << 23))
}

pub(super) fn scaled<const N: usize>(m: Matrix<f32, N>, factor: f32) -> Matrix<f32, N> {
    m.map(|column| column.map(|x| factor * x))
}

/// Sum and difference of a 2×2 matrix: M = Q·rotation + R·reflection, with (E, H) = Q·(cos, sin) and (F, G)
/// likewise.
pub(super) struct Parts {
    pub e: f32,
    pub f: f32,
    pub g: f32,
    pub h: f32,
}

pub(super) fn parts(m: Matrix<f32, 2>) -> Parts {
    Parts {
        e: 0.5 * (m[0][0] + m[1][1]),
        f: 0.5 * (m[0][0] - m[1][1]),
        g: 0.5 * (m[0][1] + m[1][0]),
        h: 0.5 * (m[0][1] - m[1][0]),
    }
}

pub(super) fn unit2(x: f32, y: f32) -> ([f32; 2], f32) {
    let length = (x * x + y * y).sqrt();
    if length > 0.0 { ([x / length, y / length], length) } else { ([1.0, 0.0], 0.0) }
}

pub(super) fn rotation2(c: f32, s: f32) -> Matrix<f32, 2> {
    [[c, s], [-s, c]]
}

/// Decomposes M = U diag(σ) Vᵀ of a 2×2 matrix.
pub fn svd2(m: Matrix<f32, 2>) -> Svd<2> {
    let bits = magnitude_bits(m);
    if !is_finite(bits) {
        return ([[f32::NAN; 2]; 2], [f32::NAN; 2], [[f32::NAN; 2]; 2]);
    }
    let (scale, inverse) = unit_scale(bits);
    let Parts { e, f, g, h } = parts(scaled(m, scale));
    let (p, q) = unit2(e, h);
    let (w, r) = unit2(f, g);
    let (x, y) = if r > 0.0 { (p[0] * w[0] + p[1] * w[1], p[0] * w[1] - p[1] * w[0]) } else { (1.0, 0.0) };
    let larger = (0.5 + 0.5 * x.abs()).sqrt();
    let smaller = 0.5 * y.abs() / larger;
    let c = if x >= 0.0 { larger } else { smaller };
    let s = if x >= 0.0 { smaller } else { larger };
    let ([c, s], _) = unit2(c, if y < 0.0 { -s } else { s });
    let ([uc, us], _) = unit2(p[0] * c - p[1] * s, p[1] * c + p[0] * s);
    (rotation2(uc, us), [inverse * (q + r), inverse * (q - r)], rotation2(c, s))
}

/// Rotates (or exchanges and rotates) two columns of B and V so that those of B are orthogonal and the first
/// is the longer.
fn orthogonalise(b: &mut Matrix<f32, 3>, v: &mut Matrix<f32, 3>, p: usize, q: usize) {
    if dot(b[p], b[p]) < dot(b[q], b[q]) {
        for m in [&mut *b, &mut *v] {
            m.swap(p, q);
        }
    }
    let difference = dot(b[p], b[p]) - dot(b[q], b[q]);
    let twice = 2.0 * dot(b[p], b[q]);
    let denominator = difference + (difference * difference + twice * twice).sqrt();
    let t = if denominator > 0.0 { twice / denominator } else { 0.0 };
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    for m in [b, v] {
        (m[p], m[q]) = (blend(c, m[p], s, m[q]), blend(c, m[q], -s, m[p]));
    }
}

fn unit3(x: [f32; 3]) -> [f32; 3] {
    let length = dot(x, x).sqrt();
    x.map(|x| x / length)
}

fn perpendicular(u: [f32; 3]) -> [f32; 3] {
    unit3(if u[2].abs() < 0.6 { [-u[1], u[0], 0.0] } else { [0.0, -u[2], u[1]] })
}

/// Decomposes M = U diag(σ) Vᵀ of a 3×3 matrix.
pub fn svd3(m: Matrix<f32, 3>) -> Svd<3> {
    let bits = magnitude_bits(m);
    if !is_finite(bits) {
        return ([[f32::NAN; 3]; 3], [f32::NAN; 3], [[f32::NAN; 3]; 3]);
    }
    let (scale, inverse) = unit_scale(bits);
    let a = scaled(m, scale);
    let mut b = a;
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..JACOBI_SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            orthogonalise(&mut b, &mut v, p, q);
        }
    }
    v[0] = unit3(v[0]);
    v[1] = unit3(blend(1.0, v[1], -dot(v[0], v[1]), v[0]));
    v[2] = cross(v[0], v[1]);

    let [b0, b1, b2] = v.map(|column| apply(a, column));
    let s0 = dot(b0, b0).sqrt();
    let u0 = if s0 > 0.0 { b0.map(|x| x / s0) } else { [1.0, 0.0, 0.0] };
    let rest = blend(1.0, b1, -dot(u0, b1), u0);
    let u1 = if dot(rest, rest) > NEGLIGIBLE_SQUARED * s0 * s0 { unit3(rest) } else { perpendicular(u0) };
    let u2 = cross(u0, u1);
    let s1 = dot(u1, b1).clamp(0.0, s0);
    let s2 = dot(u2, b2).clamp(-s1, s1);
    ([u0, u1, u2], [s0, s1, s2].map(|s| inverse * s), v)
}
