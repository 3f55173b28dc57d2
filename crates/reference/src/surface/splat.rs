//! The density of particles at a node.

use crate::sph::cubic_spline;
use glam::DVec3;

/// Σ m W(x_i − x_p) of particles, as places in m and masses in kg, with the cubic spline of support `radius_m`.
pub fn splat_density(node_m: DVec3, particles: &[(DVec3, f64)], radius_m: f64) -> f64 {
    particles
        .iter()
        .map(|(place_m, mass_kg)| mass_kg * cubic_spline(node_m.distance(*place_m), radius_m))
        .sum()
}
