//! Oscillation of slab pieces, which a time step resolves.

use std::f64::consts::PI;

use crate::vector::dot;
use crate::{Scene, SlabPiece, Vec3};

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
                let stiffness = self.slabs()[piece.slab].link_stiffness_n_m(normal_n_m);
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
