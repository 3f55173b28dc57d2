//! Checks of the contract of the decompositions; a message names the violation.

use super::oracle::determinant;
use super::{Matrix, product, scale_columns, singular_values, transpose, widen};

/// Tolerance of orthonormality and reconstruction, relative to |M|.
const TOLERANCE: f64 = 1e-5;
/// Bound for denormals: a device may flush them in inputs and outputs.
const FLUSHED: f64 = 8.0 * f32::MIN_POSITIVE as f64;

/// The Frobenius norm.
pub trait Frobenius {
    /// √Σm².
    fn norm(&self) -> f64;
}

impl<const N: usize> Frobenius for Matrix<f64, N> {
    fn norm(&self) -> f64 {
        self.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}

impl<const N: usize> Frobenius for Matrix<f32, N> {
    fn norm(&self) -> f64 {
        widen(*self).norm()
    }
}

/// Returns |a − b|.
pub fn distance<const N: usize>(a: Matrix<f64, N>, b: Matrix<f64, N>) -> f64 {
    let difference: Matrix<f64, N> = std::array::from_fn(|c| std::array::from_fn(|r| a[c][r] - b[c][r]));
    difference.norm()
}

/// Returns true if x exceeds the bound; NaN exceeds every bound.
fn exceeds(x: f64, bound: f64) -> bool {
    x.is_nan() || x > bound
}

/// Returns a message if a matrix is not a rotation within the tolerance.
fn not_a_rotation<const N: usize>(name: &str, m: Matrix<f32, N>) -> Option<String> {
    let m = widen(m);
    let identity: Matrix<f64, N> =
        std::array::from_fn(|c| std::array::from_fn(|r| f64::from(u8::from(r == c))));
    let defect = distance(product(transpose(m), m), identity);
    let determinant = determinant(m);
    (exceeds(defect, TOLERANCE) || exceeds((determinant - 1.0).abs(), TOLERANCE))
        .then(|| format!("{name}: |{name}ᵀ{name} − I| = {defect:e}, det {name} = {determinant}"))
}

/// Returns the violation of the contract by U, σ, V as the singular value decomposition of `m`, if any.
pub fn svd_violation<const N: usize>(
    m: Matrix<f32, N>,
    u: Matrix<f32, N>,
    sigma: [f32; N],
    v: Matrix<f32, N>,
) -> Option<String> {
    let bound = TOLERANCE * m.norm() + FLUSHED;
    if let Some(problem) = not_a_rotation("U", u).or_else(|| not_a_rotation("V", v)) {
        return Some(problem);
    }
    let whole = product(scale_columns(widen(u), sigma.map(f64::from)), transpose(widen(v)));
    let residual = distance(whole, widen(m));
    if exceeds(residual, bound) {
        return Some(format!("|U Σ Vᵀ − M| = {residual:e}, at most {bound:e} is allowed"));
    }
    if !(1..N).all(|i| sigma[i - 1] >= sigma[i].abs()) {
        return Some(format!("σ = {sigma:?}: not in descending order, or negative before the last"));
    }
    let exact = singular_values(m);
    if !(0..N).all(|i| (f64::from(sigma[i]) - exact[i]).abs() <= bound) {
        return Some(format!("σ = {sigma:?}, exactly {exact:?}, ±{bound:e}"));
    }
    None
}

/// Returns the violation of the contract by R, S as the polar decomposition of `m`, if any: the eigenvalues
/// of S are the singular values of `m`, so R is the nearest rotation.
pub fn polar_violation<const N: usize>(
    m: Matrix<f32, N>,
    r: Matrix<f32, N>,
    s: Matrix<f32, N>,
) -> Option<String> {
    let bound = TOLERANCE * m.norm() + FLUSHED;
    if let Some(problem) = not_a_rotation("R", r) {
        return Some(problem);
    }
    if s != transpose(s) {
        return Some(format!("S = {s:?} is not symmetric"));
    }
    let residual = distance(product(widen(r), widen(s)), widen(m));
    if exceeds(residual, bound) {
        return Some(format!("|R S − M| = {residual:e}, at most {bound:e} is allowed"));
    }
    // The last singular value may be negative; it is then also the last eigenvalue.
    let (eigenvalues, _) = super::eigen_symmetric(widen(s));
    let exact = singular_values(m);
    if !(0..N).all(|i| (eigenvalues[i] - exact[i]).abs() <= bound) {
        return Some(format!("S has eigenvalues {eigenvalues:?}, exactly {exact:?}, ±{bound:e}"));
    }
    None
}
