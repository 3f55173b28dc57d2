//! Stiffness of links, and inertia of slab pieces.

use crate::{Slab, SlabPiece, Vec3};

/// Ratio of a link's shear stiffness to its normal stiffness: G/E of ice, with a Poisson ratio of about 0.31
/// (Gammon et al. 1983, J. Glaciol. 29, 433).
const SHEAR_STIFFNESS_RATIO: f64 = 0.38;

/// Default stiffness of a link in units of the stiffness of grains' contacts: high enough that plates bend
/// little, and low enough that a step that resolves contacts resolves it, too.
const LINK_STIFFNESS: f64 = 4.0;

impl Slab {
    /// Returns the normal stiffness in N/m of each of its links, among grains of stiffness
    /// `normal_stiffness_n_m`.
    pub fn link_stiffness_n_m(&self, normal_stiffness_n_m: f64) -> f64 {
        self.link_stiffness_n_m.unwrap_or(LINK_STIFFNESS * normal_stiffness_n_m)
    }

    /// Returns the shear stiffness in N/m of each of its links.
    pub fn link_shear_stiffness_n_m(&self, normal_stiffness_n_m: f64) -> f64 {
        SHEAR_STIFFNESS_RATIO * self.link_stiffness_n_m(normal_stiffness_n_m)
    }
}

impl SlabPiece {
    /// Returns a lower bound in kg m² of the moment of inertia about any axis: the inverse of the norm of
    /// I⁻¹.
    pub fn min_inertia_kg_m2(&self) -> f64 {
        let inverse = self.inverse_inertia_1_kg_m2();
        1.0 / inverse.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// Returns the inverse of the moment of inertia, in 1/(kg m²).
    pub fn inverse_inertia_1_kg_m2(&self) -> [Vec3; 3] {
        let m = &self.inertia_kg_m2;
        let cofactor = |i: usize, j: usize| {
            let [a, b, c, d] = [(i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3];
            m[a][c] * m[b][d] - m[a][d] * m[b][c]
        };
        let determinant: f64 = (0..3).map(|j| m[0][j] * cofactor(0, j)).sum();
        // The matrix is symmetric, so that rows and columns need no exchange.
        std::array::from_fn(|i| std::array::from_fn(|j| cofactor(i, j) / determinant))
    }
}
