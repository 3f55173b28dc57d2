//! f64 oracles: eigenvalues of MᵀM for the singular values, a quaternion for the rotation.

use super::{Matrix, product, transpose, widen};

/// Returns the eigenvalues in descending order, and eigenvectors as columns, of a symmetric matrix, by cyclic
/// two-sided Jacobi.
pub fn eigen_symmetric<const N: usize>(matrix: Matrix<f64, N>) -> ([f64; N], Matrix<f64, N>) {
    let mut a = matrix;
    let mut vectors: Matrix<f64, N> =
        std::array::from_fn(|c| std::array::from_fn(|r| f64::from(u8::from(r == c))));
    // Convergence is quadratic: after 10 sweeps only rounding errors remain.
    for _ in 0..10 {
        for p in 0..N {
            for q in p + 1..N {
                if a[q][p] == 0.0 {
                    continue;
                }
                let zeta = (a[q][q] - a[p][p]) / (2.0 * a[q][p]);
                let t = 1f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let mut rotation: Matrix<f64, N> =
                    std::array::from_fn(|c| std::array::from_fn(|r| f64::from(u8::from(r == c))));
                (rotation[p][p], rotation[q][q], rotation[q][p], rotation[p][q]) = (c, c, t * c, -t * c);
                a = product(transpose(rotation), product(a, rotation));
                vectors = product(vectors, rotation);
            }
        }
    }
    let mut order: [usize; N] = std::array::from_fn(|i| i);
    order.sort_by(|i, j| a[*j][*j].total_cmp(&a[*i][*i]));
    (order.map(|i| a[i][i]), order.map(|i| vectors[i]))
}

/// Returns the singular values of a matrix in descending order, the last with the sign of the determinant;
/// those below 1e−8 of the first are lost in rounding.
pub fn singular_values<const N: usize>(m: Matrix<f32, N>) -> [f64; N] {
    let m = widen(m);
    let mut sigma = eigen_symmetric(product(transpose(m), m)).0.map(|x| x.max(0.0).sqrt());
    if determinant(m) < 0.0 {
        sigma[N - 1] = -sigma[N - 1];
    }
    sigma
}

/// Returns the determinant by expansion along the first column.
pub(super) fn determinant<const N: usize>(m: Matrix<f64, N>) -> f64 {
    fn minor(columns: &[Vec<f64>]) -> f64 {
        let Some((first, rest)) = columns.split_first() else { return 1.0 };
        let mut sum = 0.0;
        for (row, x) in first.iter().enumerate() {
            let without: Vec<Vec<f64>> = rest
                .iter()
                .map(|c| c.iter().enumerate().filter(|(r, _)| *r != row).map(|(_, x)| *x).collect())
                .collect();
            sum += if row % 2 == 0 { x * minor(&without) } else { -x * minor(&without) };
        }
        sum
    }
    minor(&m.map(|c| c.to_vec()))
}

/// Returns the rotation R with the maximum tr(RᵀM): the dominant eigenvector, as a quaternion, of Horn's
/// symmetric 4×4 matrix (Horn 1987, «Closed-form solution of absolute orientation using unit quaternions»).
///
/// It is the R of the polar decomposition, also for singular matrices and reflections, and unique where σ₂ +
/// σ₃ > 0.
pub fn nearest_rotation(m: Matrix<f64, 3>) -> Matrix<f64, 3> {
    // s(row, column)
    let s = |r: usize, c: usize| m[c][r];
    let horn = [
        [s(0, 0) + s(1, 1) + s(2, 2), s(2, 1) - s(1, 2), s(0, 2) - s(2, 0), s(1, 0) - s(0, 1)],
        [s(2, 1) - s(1, 2), s(0, 0) - s(1, 1) - s(2, 2), s(1, 0) + s(0, 1), s(0, 2) + s(2, 0)],
        [s(0, 2) - s(2, 0), s(1, 0) + s(0, 1), s(1, 1) - s(0, 0) - s(2, 2), s(2, 1) + s(1, 2)],
        [s(1, 0) - s(0, 1), s(0, 2) + s(2, 0), s(2, 1) + s(1, 2), s(2, 2) - s(0, 0) - s(1, 1)],
    ];
    rotation(eigen_symmetric(horn).1[0])
}

/// Returns the rotation of a unit quaternion (w, x, y, z).
pub(super) fn rotation([w, x, y, z]: [f64; 4]) -> Matrix<f64, 3> {
    [
        [w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
        [2.0 * (x * y - w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z + w * x)],
        [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z],
    ]
}
