//! Twin of `render.fit_ellipsoids`.

use crate::linalg::eigen_symmetric;

/// Ellipsoid of a particle: the points `center` + p with |G p| ≤ 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedEllipsoid {
    /// Middle in m.
    pub center: [f64; 3],
    /// Longest semi-axis in m.
    pub reach_m: f64,
    /// G in 1/m, rows of a symmetric matrix.
    pub shape_1_m: [[f64; 3]; 3],
}

/// Parameters of the fit, named like the push constants of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct EllipsoidFit {
    /// Distance of neighbours in m.
    pub reach_m: f64,
    /// Radius in m of the sphere of the same volume.
    pub radius_m: f64,
    /// Bound on the ratio of semi-axes.
    pub max_ratio: f64,
    /// Share of the way to the weighted mean by which centres move.
    pub center_share: f64,
}

/// Number of neighbours below which a particle is a sphere.
pub const MIN_NEIGHBOURS: usize = 8;

impl EllipsoidFit {
    /// Fits an ellipsoid to particle `i` and its neighbours, which are among all positions in m (Yu2013).
    pub fn fit(&self, position_m: &[[f32; 3]], i: usize) -> FittedEllipsoid {
        let x = position_m[i].map(f64::from);
        let (mut n, mut weights) = (0, 1.0);
        let (mut first, mut second) = ([0.0; 3], [[0.0; 3]; 3]);
        for (j, other) in position_m.iter().enumerate() {
            let d: [f64; 3] = std::array::from_fn(|k| (f64::from(other[k]) - x[k]) / self.reach_m);
            let q2: f64 = d.iter().map(|d| d * d).sum();
            if j == i || q2 >= 1.0 {
                continue;
            }
            let w = 1.0 - q2 * q2.sqrt();
            n += 1;
            weights += w;
            for (k, (sum, row)) in first.iter_mut().zip(&mut second).enumerate() {
                *sum += w * d[k];
                for (l, sum) in row.iter_mut().enumerate() {
                    *sum += w * d[k] * d[l];
                }
            }
        }
        let mean = first.map(|sum| sum / weights);
        let covariance: [[f64; 3]; 3] =
            std::array::from_fn(|k| std::array::from_fn(|l| second[k][l] / weights - mean[k] * mean[l]));
        let (sigma, u) = eigen_symmetric(covariance);
        if n < MIN_NEIGHBOURS || sigma[0] <= 0.0 {
            let shape_1_m = std::array::from_fn(|k| {
                std::array::from_fn(|l| if k == l { 1.0 / self.radius_m } else { 0.0 })
            });
            return FittedEllipsoid { center: x, reach_m: self.radius_m, shape_1_m };
        }
        let axes = sigma.map(|s| s.max(sigma[0] / self.max_ratio));
        let mean_axis = axes.iter().product::<f64>().cbrt();
        let semi_axes_m = axes.map(|axis| self.radius_m * axis / mean_axis);
        let entry = |k: usize, l: usize| -> f64 { (0..3).map(|m| u[m][k] * u[m][l] / semi_axes_m[m]).sum() };
        FittedEllipsoid {
            center: std::array::from_fn(|k| x[k] + self.center_share * self.reach_m * mean[k]),
            reach_m: semi_axes_m[0],
            shape_1_m: std::array::from_fn(|k| std::array::from_fn(|l| entry(k, l))),
        }
    }
}
