//! Least-squares fits.

/// Straight line fitted to points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub slope: f64,
    /// Standard error of the slope.
    pub slope_error: f64,
    pub intercept: f64,
}

/// Fits the least-squares line; none for fewer than three points, or for points with equal abscissas.
pub fn line(points: &[(f64, f64)]) -> Option<Line> {
    let rows: Vec<_> = points.iter().map(|(x, y)| ([1.0, *x], *y)).collect();
    let ([intercept, slope], [_, slope_error]) = least_squares(&rows)?;
    Some(Line { slope, slope_error, intercept })
}

/// Fits a power law to the points above 0; the slope of the line is its exponent.
pub fn power_law(points: &[(f64, f64)]) -> Option<Line> {
    let logs: Vec<_> =
        points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    line(&logs)
}

/// Returns least-squares coefficients and their standard errors, such that Σ coefficient · entry of each row
/// approximates its value.
pub fn least_squares<const N: usize>(rows: &[([f64; N], f64)]) -> Option<([f64; N], [f64; N])> {
    if rows.len() <= N {
        return None;
    }
    // Entries of very different magnitudes are normalized.
    let scale: [f64; N] = std::array::from_fn(|k| rows.iter().fold(0.0, |max, row| row.0[k].abs().max(max)));
    if scale.contains(&0.0) {
        return None;
    }
    let mut normal = [[0.0; N]; N];
    let mut right = [0.0; N];
    for (entries, value) in rows {
        let x: [f64; N] = std::array::from_fn(|k| entries[k] / scale[k]);
        for i in 0..N {
            right[i] += x[i] * value;
            for j in 0..N {
                normal[i][j] += x[i] * x[j];
            }
        }
    }
    let inverse = inverted(normal)?;
    let scaled: [f64; N] = std::array::from_fn(|i| (0..N).map(|j| inverse[i][j] * right[j]).sum());
    let residual = |(entries, value): &([f64; N], f64)| {
        let found: f64 = (0..N).map(|k| scaled[k] * entries[k] / scale[k]).sum();
        (value - found).powi(2)
    };
    let variance = rows.iter().map(residual).sum::<f64>() / (rows.len() - N) as f64;
    let errors = std::array::from_fn(|k| (variance * inverse[k][k].max(0.0)).sqrt() / scale[k]);
    Some((std::array::from_fn(|k| scaled[k] / scale[k]), errors))
}

/// Returns the inverse by Gaussian elimination with pivoting; none if the matrix is singular to rounding.
fn inverted<const N: usize>(mut m: [[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let mut inverse = [[0.0; N]; N];
    for (k, row) in inverse.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    let largest = m.iter().flatten().fold(0.0, |max: f64, x| max.max(x.abs()));
    for k in 0..N {
        let pivot = (k..N).max_by(|a, b| m[*a][k].abs().total_cmp(&m[*b][k].abs()))?;
        m.swap(k, pivot);
        inverse.swap(k, pivot);
        let p = m[k][k];
        if p.abs() <= 1e-14 * largest {
            return None;
        }
        for j in 0..N {
            m[k][j] /= p;
            inverse[k][j] /= p;
        }
        for i in (0..N).filter(|i| *i != k) {
            let factor = m[i][k];
            for j in 0..N {
                m[i][j] -= factor * m[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_are_fitted_exactly() {
        let found = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0), (5.0, 11.0)]).unwrap();
        assert!((found.slope - 2.0).abs() < 1e-12 && (found.intercept - 1.0).abs() < 1e-12, "{found:?}");
        assert!(found.slope_error < 1e-12);
        let found = power_law(&[(1.0, 3.0), (10.0, 0.3), (100.0, 0.03), (1e3, 3e-3)]).unwrap();
        assert!((found.slope + 1.0).abs() < 1e-12 && (found.intercept - 3.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn the_error_of_a_slope_is_that_of_the_textbook() {
        // Residuals −0.1, 0.2, −0.1 about y = x: s² = 0.06, Σ (x − x̄)² = 2.
        let found = line(&[(0.0, -0.1), (1.0, 1.2), (2.0, 1.9)]).unwrap();
        assert!((found.slope_error - (0.06_f64 / 2.0).sqrt()).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn fits_separate_terms_of_different_size() {
        let rows: Vec<_> = (1..30)
            .map(|i| {
                let (p, c) = (1000.0 * f64::from(i % 7), f64::from(i % 5));
                ([1.0, p, p * c], 5e4 + 3.0 * p + 0.25 * p * c)
            })
            .collect();
        let ([a, b, d], errors) = least_squares(&rows).unwrap();
        assert!((a - 5e4).abs() < 1e-4 && (b - 3.0).abs() < 1e-9 && (d - 0.25).abs() < 1e-9);
        assert!(errors.iter().all(|error| error.is_finite()));
    }

    #[test]
    fn points_without_a_defined_slope_give_none() {
        assert_eq!(line(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
