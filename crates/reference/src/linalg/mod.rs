//! Singular values and polar factors of 2×2 and 3×3 matrices: the f32 twins of `glsl/linalg`, independent f64
//! oracles, checks of the contracts, and matrices that are numerically difficult.
//!
//! A matrix is an array of its columns, as GLSL and glam lay it out.

mod contract;
mod oracle;
mod polar;
mod samples;
mod svd;

pub use contract::{Frobenius, distance, polar_violation, svd_violation};
pub use oracle::{eigen_symmetric, nearest_rotation, singular_values};
pub use polar::{polar2, polar2_svd, polar3, polar3_svd};
pub use samples::{N_KINDS, sample};
pub use svd::{svd2, svd3};

/// `N` columns of `N` rows.
pub type Matrix<T, const N: usize> = [[T; N]; N];

/// U, the singular values, V.
pub type Svd<const N: usize> = (Matrix<f32, N>, [f32; N], Matrix<f32, N>);

/// R and S.
pub type Polar<const N: usize> = (Matrix<f32, N>, Matrix<f32, N>);

/// Scalar arithmetic for matrices of f32 and f64; favours readability over speed.
pub(crate) trait Number:
    Copy
    + std::iter::Sum
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
{
}
impl Number for f32 {}
impl Number for f64 {}

pub(crate) fn dot<T: Number, const N: usize>(a: [T; N], b: [T; N]) -> T {
    (0..N).map(|i| a[i] * b[i]).sum()
}

pub(crate) fn cross<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Returns s·a + t·b.
pub(crate) fn blend<T: Number, const N: usize>(s: T, a: [T; N], t: T, b: [T; N]) -> [T; N] {
    std::array::from_fn(|i| s * a[i] + t * b[i])
}

pub(crate) fn transpose<T: Copy, const N: usize>(m: Matrix<T, N>) -> Matrix<T, N> {
    std::array::from_fn(|c| std::array::from_fn(|r| m[r][c]))
}

/// Returns m·x.
pub(crate) fn apply<T: Number, const N: usize>(m: Matrix<T, N>, x: [T; N]) -> [T; N] {
    std::array::from_fn(|r| (0..N).map(|c| m[c][r] * x[c]).sum())
}

/// Returns a·b.
pub(crate) fn product<T: Number, const N: usize>(a: Matrix<T, N>, b: Matrix<T, N>) -> Matrix<T, N> {
    b.map(|column| apply(a, column))
}

/// Returns u·diag(d).
pub(crate) fn scale_columns<T: Number, const N: usize>(u: Matrix<T, N>, d: [T; N]) -> Matrix<T, N> {
    std::array::from_fn(|c| u[c].map(|x| x * d[c]))
}

pub(crate) fn widen<const N: usize>(m: Matrix<f32, N>) -> Matrix<f64, N> {
    m.map(|column| column.map(f64::from))
}
