//! Limits on the time step of a viscoelastic fluid.

use crate::Scene;

/// Maximum share of a spacing that an elastic shear wave of an unstretched fluid may travel in a step. The
/// gradient on the lattice resolves wave numbers up to 1.07/d, so that steps are stable up to 1.9 there; at
/// free surfaces gradients are up to twice as steep, and stretched fluid is stiffer. Springs on the lattice
/// oscillate at up to 3.4 times that speed over d, which is stable up to 0.59.
pub(super) const ELASTIC_COURANT: f64 = 0.4;

impl Scene {
    /// Returns the speed √(G/ρ) of elastic shear waves in m/s, 0 without elasticity.
    pub fn shear_wave_speed_m_s(&self) -> f64 {
        (self.viscoelastic().modulus_pa() / self.rest_density_kg_m3()).sqrt()
    }

    /// Returns the longest stable time step in s, infinite without elasticity.
    pub fn longest_elastic_dt_s(&self) -> f64 {
        ELASTIC_COURANT * self.particle_spacing_m() / self.shear_wave_speed_m_s()
    }
}
