//! Fits of closed forms to measured series: oscillations, and profiles across a gap.

use glam::{DMat2, DMat3, DVec2, DVec3};

/// Returns the coefficients of cos ωt and sin ωt in a signal of samples (t in s, value), fitted by least
/// squares together with a transient e^(−t/λ). A transient that is over before the first sample has no part
/// in the fit.
pub fn oscillation(samples: &[(f64, f64)], angular_frequency_per_s: f64, transient_s: f64) -> [f64; 2] {
    let (mut matrix, mut right) = (DMat3::ZERO, DVec3::ZERO);
    for (t, value) in samples {
        let phase = angular_frequency_per_s * t;
        let basis = DVec3::new(phase.cos(), phase.sin(), (-t / transient_s).exp());
        matrix += DMat3::from_cols(basis * basis.x, basis * basis.y, basis * basis.z);
        right += basis * *value;
    }
    if matrix.determinant().abs() > 1e-12 * matrix.x_axis.x.powi(3).abs() {
        (matrix.inverse() * right).truncate().to_array()
    } else {
        let without_transient = DMat2::from_cols(matrix.x_axis.truncate(), matrix.y_axis.truncate());
        (without_transient.inverse() * right.truncate()).to_array()
    }
}

/// Returns the period in s of the damped oscillation e^(−γt) (a cos ωt + b sin ωt) that fits samples
/// (t in s, value) best by least squares, of periods within 15 % of a guess, in steps of 0.1 % of it.
pub fn damped_period(samples: &[(f64, f64)], guess_s: f64) -> f64 {
    let mut best = (f64::INFINITY, guess_s);
    for (w, g) in (0..=300).flat_map(|w| (0..=40).map(move |g| (w, g))) {
        let period = guess_s * (0.85 + 0.001 * f64::from(w));
        let (omega, damping) = (std::f64::consts::TAU / period, 0.1 * f64::from(g));
        let (mut matrix, mut right, mut square) = (DMat2::ZERO, DVec2::ZERO, 0.0);
        for (t, x) in samples {
            let basis = (-damping * t).exp() * DVec2::new((omega * t).cos(), (omega * t).sin());
            matrix += DMat2::from_cols(basis * basis.x, basis * basis.y);
            right += basis * *x;
            square += x * x;
        }
        let residual = square - (matrix.inverse() * right).dot(right);
        if residual < best.0 {
            best = (residual, period);
        }
    }
    best.1
}

/// Returns the mean place and value of points in each of `n` layers of [0, height): a profile across a gap.
/// Layers without points are left out.
pub fn layer_means(points: impl Iterator<Item = (f64, f64)>, height: f64, n: usize) -> Vec<(f64, f64)> {
    let mut layers = vec![(0.0, 0.0, 0.0); n];
    for (y, value) in points {
        let layer = &mut layers[((y / height * n as f64) as usize).min(n - 1)];
        *layer = (layer.0 + y, layer.1 + value, layer.2 + 1.0);
    }
    layers.into_iter().filter(|layer| layer.2 > 0.0).map(|(y, value, n)| (y / n, value / n)).collect()
}

/// Returns the largest difference between a profile and an exact one over the largest exact value; NaN if a
/// difference is.
pub fn profile_deviation(profile: &[(f64, f64)], exact: impl Fn(f64) -> f64) -> f64 {
    let largest = profile.iter().map(|(y, _)| exact(*y).abs()).fold(0.0, f64::max);
    let worst = |worst: f64, (y, value): &(f64, f64)| {
        let difference = (value - exact(*y)).abs();
        if difference.is_nan() || difference > worst { difference } else { worst }
    };
    profile.iter().fold(0.0, worst) / largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscillation_is_separated_from_its_transient() {
        let signal = |t: f64| 2.0 * (3.0 * t).cos() - 0.5 * (3.0 * t).sin() + 4.0 * (-t / 0.2).exp();
        let samples: Vec<_> = (0..40).map(|i| 0.05 * f64::from(i)).map(|t| (t, signal(t))).collect();
        let [cosine, sine] = oscillation(&samples, 3.0, 0.2);
        assert!((cosine - 2.0).abs() < 1e-9 && (sine + 0.5).abs() < 1e-9, "{cosine} {sine}");
        // A transient that is over.
        let late: Vec<_> = samples.iter().map(|(t, _)| (t + 1000.0, signal(t + 1000.0))).collect();
        let [cosine, sine] = oscillation(&late, 3.0, 0.2);
        assert!((cosine - 2.0).abs() < 1e-9 && (sine + 0.5).abs() < 1e-9, "{cosine} {sine}");
    }

    #[test]
    fn the_period_of_a_damped_oscillation_is_found() {
        let samples: Vec<_> = (0..100)
            .map(|i| 0.01 * f64::from(i))
            .map(|t| (t, (-1.3 * t).exp() * (std::f64::consts::TAU * t / 0.93).cos()))
            .collect();
        assert!((damped_period(&samples, 1.0) - 0.93).abs() < 1e-3);
    }

    #[test]
    fn a_profile_is_the_mean_of_each_layer() {
        let points = [(0.1, 1.0), (0.3, 3.0), (0.6, 5.0), (1.0, 7.0)];
        let profile = layer_means(points.into_iter(), 1.0, 2);
        assert_eq!(profile, [(0.2, 2.0), (0.8, 6.0)]);
        assert_eq!(layer_means([(0.9, 1.0)].into_iter(), 1.0, 4), [(0.9, 1.0)]);
        assert!((profile_deviation(&profile, |y| 8.0 * y) - 0.4 / 6.4).abs() < 1e-12);
        assert!(profile_deviation(&[(0.0, f64::NAN), (1.0, 1.0)], |_| 1.0).is_nan());
    }
}
