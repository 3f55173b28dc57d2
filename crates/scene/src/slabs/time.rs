//! Oscillation periods of slab pieces, which a time step must resolve.

use std::f64::consts::PI;

use crate::vector::dot;
use crate::{Scene, Slab, SlabPiece, Vec3};

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

impl Scene {
    /// Returns half the period in s of the fastest oscillation of any piece of a slab; `None` without slabs.
    /// It follows from an upper bound of the frequency: all links and the points of the largest face pull at
    /// the piece's edge, ω² ≤ 2 Σ k (1/m + r²/I). `normal_n_m` is the stiffness of contacts.
    pub(crate) fn slab_contact_time_s(&self, normal_n_m: f64) -> Option<f64> {
        let slabs = self.flat_slabs();
        let mut sums: Vec<f64> = slabs.pieces.iter().map(|piece| touching(piece, normal_n_m)).collect();
        for link in &slabs.links {
            for idx in link.pieces {
                let piece = &slabs.pieces[idx];
                let stiffness = self.slabs[piece.slab].link_stiffness_n_m(normal_n_m);
                let arm: Vec3 = std::array::from_fn(|i| link.point_m[i] - piece.centre_m[i]);
                let turning = (dot(arm, arm) + link.area_m2 / 12.0) / piece.min_inertia_kg_m2();
                sums[idx] += stiffness * (1.0 / piece.mass_kg + turning);
            }
        }
        let max = sums.into_iter().fold(0.0, f64::max);
        (max > 0.0).then(|| PI / (2.0 * max).sqrt())
    }
}

/// Returns Σ k (1/m + r²/I) of the points of a piece's largest face.
fn touching(piece: &SlabPiece, stiffness_n_m: f64) -> f64 {
    let points = piece.contact_points_m();
    let size = piece.volume_m3.cbrt();
    piece
        .planes()
        .into_iter()
        .map(|(normal, offset_m)| {
            let on_face = points.iter().filter(|p| (dot(normal, **p) - offset_m).abs() < 1e-6 * size);
            let each = on_face.map(|p| {
                let across2 = dot(*p, *p) - offset_m * offset_m;
                stiffness_n_m * (1.0 / piece.mass_kg + across2.max(0.0) / piece.min_inertia_kg_m2())
            });
            each.sum::<f64>()
        })
        .fold(0.0, f64::max)
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
