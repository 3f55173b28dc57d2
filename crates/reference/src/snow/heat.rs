//! Conduction of heat (Chen2021 eq 6.1, as printed or by Fourier's law) and temperature from enthalpy.

use super::kind::Kind;

/// Model of the latent heat of melting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatentHeat {
    /// No latent heat: blending (Chen2021 eq 6.4) takes its place.
    Blending,
    /// Latent heat in the enthalpy column, which determines temperature.
    Enthalpy {
        /// L in J/kg.
        latent_j_kg: f32,
    },
}

/// Law of conduction between two particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConductionLaw {
    /// Harmonic mean of the conductivities.
    Fourier,
    /// Twice that mean, as printed in Chen2021 eq 6.1.
    Printed,
}

/// Correction B of the heat conduction of a particle: xx, yy, zz, yz, xz, xy.
pub type Correction = [f32; 6];

/// Parameters of conduction and phase change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    /// c of snow in J/(kg K).
    pub snow_capacity_j_kg_k: f32,
    /// c of water in J/(kg K).
    pub water_capacity_j_kg_k: f32,
    /// k of snow in W/(m K).
    pub snow_conductivity_w_m_k: f32,
    /// k of water in W/(m K).
    pub water_conductivity_w_m_k: f32,
    /// T_freeze in °C.
    pub freezing_c: f32,
    /// Law of conduction.
    pub law: ConductionLaw,
    /// s = 6/Σ(1 − q)q² over the cubic lattice of the spacing, which makes the Laplacian exact there; as
    /// printed 45/π (d/h)³.
    pub laplacian_scale: f32,
    /// Maximum correction of a pair's weight, that of a lone neighbour at one spacing; none without
    /// correction.
    pub max_correction: Option<f32>,
    /// Model of the latent heat.
    pub latent_heat: LatentHeat,
}

impl Heat {
    /// Returns s for a support radius of `support_ratio` spacings.
    pub fn laplacian_scale(support_ratio: f64) -> f32 {
        let reach = support_ratio.ceil() as i32;
        let mut sum = 0.0;
        for z in -reach..=reach {
            for y in -reach..=reach {
                for x in -reach..=reach {
                    let q = f64::from(x * x + y * y + z * z).sqrt() / support_ratio;
                    sum += (1.0 - q).max(0.0) * q * q;
                }
            }
        }
        (6.0 / sum) as f32
    }

    /// Returns the maximum correction for a support radius of `support_ratio` spacings: it makes the second
    /// moment of a lone neighbour at one spacing 1.
    pub fn lone_correction(support_ratio: f64) -> f32 {
        let q = 1.0 / support_ratio;
        let moment = 0.5 * f64::from(Self::laplacian_scale(support_ratio)) * (1.0 - q) * q * q;
        (1.0 / moment) as f32
    }

    /// Returns c in J/(kg K).
    pub fn capacity_j_kg_k(&self, kind: Kind) -> f32 {
        match kind {
            Kind::Solid => self.snow_capacity_j_kg_k,
            Kind::Fluid => self.water_capacity_j_kg_k,
        }
    }

    /// Returns k in W/(m K).
    pub fn conductivity_w_m_k(&self, kind: Kind) -> f32 {
        match kind {
            Kind::Solid => self.snow_conductivity_w_m_k,
            Kind::Fluid => self.water_conductivity_w_m_k,
        }
    }

    /// Returns k_ij in W/(m K).
    pub fn pair_conductivity_w_m_k(&self, a: f32, b: f32) -> f32 {
        match self.law {
            ConductionLaw::Fourier => 2.0 * a * b / (a + b),
            ConductionLaw::Printed => 4.0 * a * b / (a + b),
        }
    }

    /// Returns H in J/kg of snow below and water above freezing.
    pub fn enthalpy_j_kg(&self, latent_j_kg: f32, kind: Kind, temperature_c: f32) -> f32 {
        let above_c = temperature_c - self.freezing_c;
        match kind {
            Kind::Solid => self.snow_capacity_j_kg_k * above_c,
            Kind::Fluid => latent_j_kg + self.water_capacity_j_kg_k * above_c,
        }
    }

    /// Returns T in °C for an enthalpy, regardless of phase.
    pub fn temperature_c(&self, latent_j_kg: f32, enthalpy_j_kg: f32) -> f32 {
        if enthalpy_j_kg < 0.0 {
            self.freezing_c + enthalpy_j_kg / self.snow_capacity_j_kg_k
        } else if enthalpy_j_kg > latent_j_kg {
            self.freezing_c + (enthalpy_j_kg - latent_j_kg) / self.water_capacity_j_kg_k
        } else {
            self.freezing_c
        }
    }
}
