//! Stability of explicit diffusion of heat and momentum: its limits on spacing, support radius and time step.

use super::snow::{Conduction, ConductionLaw};
use crate::Scene;

/// Maximum relaxation of a particle's temperature towards its neighbours' in one step. At 1 a hot particle
/// among cold ones would reach their temperature after one step; the margin is for particles that are closer
/// than the lattice.
pub(crate) const MAX_CONDUCTION: f64 = 0.5;

/// Returns the largest sum in 1/m² of the corrected weights of a particle, which have Σ_j w_ij r_ij² = 6,
/// with neighbours no closer than a spacing in m.
pub(crate) fn conduction_sum_m2(spacing_m: f64) -> f64 {
    6.0 / (spacing_m * spacing_m)
}

impl Scene {
    /// Returns s in dT_i/dt = s / (ρ₀ c_i h²) Σ_j k_ij (1 − q) (T_j − T_i) with q = r/h, the form of Chen2021
    /// eq 6.1: the viscosity kernel's ∇²W is proportional to 1 − q. As printed, s is 45/π V/h³; otherwise it
    /// makes the Laplacian of a quadratic field exact on the particles' lattice.
    pub fn conduction_scale(&self) -> f64 {
        match self.snow().map(|snow| snow.heat.law) {
            Some(ConductionLaw::Printed) => {
                let spacing_h = self.particle_spacing_m() / self.support_radius_m();
                45.0 / std::f64::consts::PI * spacing_h.powi(3)
            }
            Some(ConductionLaw::Fourier) | None => self.lattice_scale(),
        }
    }

    /// Returns 6 / Σ (1 − q)q² over the particles' lattice.
    fn lattice_scale(&self) -> f64 {
        6.0 / self.lattice_sum(|q| (1.0 - q) * q * q)
    }

    /// Returns s/2 and the correction of a lone neighbour at one spacing, the largest of a pair: its second
    /// moment, (s/2)(1 − q)q² with q = d/h, is corrected to 1.
    pub fn conduction_moments(&self) -> [f64; 2] {
        let q = self.particle_spacing_m() / self.support_radius_m();
        let half = 0.5 * self.lattice_scale();
        [half, 1.0 / (half * (1.0 - q) * q * q)]
    }

    /// Returns the maximum rate in 1/s at which the temperature of a particle on the lattice approaches its
    /// neighbours': the sum of its weights, s Σ (1 − q)/h², times the diffusivity with the greater
    /// conductivity and the smaller capacity of snow and water. Corrected weights have Σ_j w_ij r_ij² = 6,
    /// and so a sum of 6/d² at most, with neighbours no closer than the spacing d. `None` without `[snow]`.
    pub fn conduction_rate_per_s(&self) -> Option<f64> {
        let heat = &self.snow()?.heat;
        let greater = heat.snow_conductivity_w_m_k.max(heat.water_conductivity_w_m_k);
        let conductivity = heat.law.harmonic_means() * greater;
        let capacity = heat.snow_capacity_j_kg_k.min(heat.water_capacity_j_kg_k);
        let h = self.support_radius_m();
        // Snow conducts over a larger spacing, but between lighter volumes.
        let lighter = self.snow_volume_ratio().max(1.0);
        let diffusivity = lighter * conductivity / (self.rest_density_kg_m3() * capacity);
        let d = self.particle_spacing_m();
        let sum_m2 = match heat.conduction {
            Conduction::Corrected => conduction_sum_m2(d),
            Conduction::Uncorrected => self.conduction_scale() * self.lattice_sum(|q| 1.0 - q) / (h * h),
        };
        Some(diffusivity * sum_m2)
    }

    /// Returns the maximum rate in 1/s at which the velocity of a particle on the lattice approaches its
    /// neighbours' by viscosity, as [`Self::conduction_rate_per_s`]: the mean square of a direction's cosine
    /// is a third. 0 in scenes with `[snow]`, which have XSPH alone.
    pub fn viscous_rate_per_s(&self) -> f64 {
        5.0 / 3.0 * self.viscous_share_per_s() * self.lattice_sum(|q| (1.0 - q) * (1.0 - 0.5 * q))
    }

    /// Returns ν a/h² in 1/s: dv_i/dt is this times 5 Σ_j w e_ij e_ij·(v_j − v_i) with w = (1 − q)(1 − q/2).
    /// a = 6/∫ w q² dn = 70 V/(π h³) makes the Laplacian of a quadratic field exact for an integral over
    /// neighbours, as sums over a fluid are that has been sheared.
    pub fn viscous_share_per_s(&self) -> f64 {
        let Some(fluid) = self.fluid().filter(|_| self.snow().is_none()) else { return 0.0 };
        let h = self.support_radius_m();
        let kinematic_m2_s = fluid.dynamic_viscosity_pa_s / fluid.rest_density_kg_m3;
        let volume_h3 = self.particle_mass_kg() / (fluid.rest_density_kg_m3 * h.powi(3));
        kinematic_m2_s / (h * h) * 70.0 / std::f64::consts::PI * volume_h3
    }

    /// Returns the sum of `weight(r/h)` over the points of a cubic lattice within the support of one of them,
    /// excluding that one.
    pub(super) fn lattice_sum(&self, weight: impl Fn(f64) -> f64) -> f64 {
        let Some(support) = self.fluid().map(|fluid| fluid.support_radius_spacings) else {
            return f64::NAN;
        };
        let reach = support.floor() as i32;
        let mut sum = 0.0;
        for k in -reach..=reach {
            for j in -reach..=reach {
                for i in -reach..=reach {
                    let q = f64::from(i * i + j * j + k * k).sqrt() / support;
                    if q > 0.0 && q < 1.0 {
                        sum += weight(q);
                    }
                }
            }
        }
        sum
    }
}
