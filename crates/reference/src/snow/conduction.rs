//! Heat conduction between particles (Chen2021 eq 6.1 with the harmonic mean of conductivities).

use super::{Heat, Kind, LatentHeat, Parameters, State};
use crate::sph::Real;

impl State {
    /// Returns k of a particle in W/(m K): that of its phase, or, with an enthalpy, that of its liquid
    /// fraction.
    fn conductivity_w_m_k(&self, p: &Parameters, kind: Kind, i: usize) -> f32 {
        match p.heat.latent_heat {
            LatentHeat::Blending => p.heat.conductivity_w_m_k(kind),
            LatentHeat::Enthalpy { latent_j_kg } => {
                let liquid = (self[kind].enthalpy_j_kg[i] / latent_j_kg).clamp(0.0, 1.0);
                let (snow, water) = (p.heat.snow_conductivity_w_m_k, p.heat.water_conductivity_w_m_k);
                (1.0 - liquid) * snow + liquid * water
            }
        }
    }

    /// Conducts heat at x* between all particles of both phases closer than h.
    pub fn conduct(&mut self, p: &Parameters) {
        let temperature_c = Kind::ALL.map(|kind| self[kind].temperature_c.clone());
        let flow = Kind::ALL.map(|kind| self.heat_flow(p, kind, &temperature_c));
        let h2 = p.fluid.support_m * p.fluid.support_m;
        for (kind, flow) in Kind::ALL.into_iter().zip(flow) {
            let phase = &mut self[kind];
            match p.heat.latent_heat {
                LatentHeat::Blending => {
                    let heat_capacity = p.fluid.rest_density_kg_m3 * p.heat.capacity_j_kg_k(kind);
                    let rate = p.fluid.dt_s / (heat_capacity * h2) * p.heat.laplacian_scale;
                    for (temperature_c, flow) in phase.temperature_c.iter_mut().zip(flow) {
                        *temperature_c += rate * flow;
                    }
                }
                LatentHeat::Enthalpy { latent_j_kg } => {
                    let rate = p.fluid.dt_s / (p.fluid.rest_density_kg_m3 * h2) * p.heat.laplacian_scale;
                    for (enthalpy_j_kg, flow) in phase.enthalpy_j_kg.iter_mut().zip(flow) {
                        *enthalpy_j_kg += rate * flow;
                    }
                    let temperature = |h: &f32| p.heat.temperature_c(latent_j_kg, *h);
                    phase.temperature_c = phase.enthalpy_j_kg.iter().map(temperature).collect();
                }
            }
        }
    }

    /// Returns Σ_j k_ij (T_j − T_i)(1 − q_ij) of each particle of a phase, in W/m, for temperatures of both
    /// phases, solid first: in f32 like the device, or in f64 as the reference for the same positions.
    pub fn heat_flow<T: Real>(&self, p: &Parameters, kind: Kind, temperature_c: &[Vec<T>; 2]) -> Vec<T> {
        let temperature = |kind: Kind, i: usize| temperature_c[kind as usize][i];
        let flow = |i: usize| {
            let own = temperature(kind, i);
            let near = self.neighbours(p, kind, i, |kind, j| self[kind].predicted[j]);
            near.into_iter().fold(T::from_f64(0.0), |sum, neighbour| {
                let conductivity = Heat::pair_conductivity_w_m_k(
                    self.conductivity_w_m_k(p, kind, i),
                    self.conductivity_w_m_k(p, neighbour.kind, neighbour.j),
                );
                let weight = T::from_f64(1.0) - T::from_f64(f64::from(neighbour.q));
                let difference = temperature(neighbour.kind, neighbour.j) - own;
                sum + T::from_f64(f64::from(conductivity)) * difference * weight
            })
        };
        (0..self[kind].len()).map(flow).collect()
    }
}
