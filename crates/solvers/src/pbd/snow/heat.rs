//! Heat conduction between neighbours of either phase (Chen2021 eq 6.1).

use super::phase_particles::PhaseParticles;
use super::terms::SnowParameters;
use crate::SolverError;
use frazil_particles::AnyColumn;
use frazil_shaders::snow::{conduct, conduct_enthalpy};
use frazil_shaders::types::Conduction;
use frazil_vk::{Device, Kernel, Recorder};

pub(super) struct Heat {
    conduct: Kernel<conduct::Interface>,
    conduct_enthalpy: Kernel<conduct_enthalpy::Interface>,
}

impl Heat {
    pub fn new(device: &Device, workgroup_size: u32) -> Result<Self, SolverError> {
        Ok(Self {
            conduct: Kernel::specialized(device, &conduct::Specialization { workgroup_size })?,
            conduct_enthalpy: Kernel::specialized(
                device,
                &conduct_enthalpy::Specialization { workgroup_size },
            )?,
        })
    }

    /// Records heat conduction for one step in both phases.
    pub fn conduct(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        solid: &mut PhaseParticles,
        fluid: &mut PhaseParticles,
    ) {
        self.conduct_in(recorder, parameters, solid, fluid, true);
        self.conduct_in(recorder, parameters, fluid, solid, false);
        for phase_particles in [solid, fluid] {
            phase_particles.temperature.swap();
            if parameters.has_enthalpy() {
                phase_particles.enthalpy.swap();
            }
        }
    }

    fn conduct_in(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        own: &PhaseParticles,
        other: &PhaseParticles,
        is_solid: bool,
    ) {
        let (p, heat) = (&parameters.fluid, &parameters.snow.heat);
        let (snow, water) = (heat.snow_conductivity_w_m_k, heat.water_conductivity_w_m_k);
        let conduction = Conduction { grid: own.grid.grid(), inverse_h: 1.0 / p.support_m };
        let h = f64::from(p.support_m);
        let per_capacity = f64::from(p.dt_s) / (f64::from(p.rest_density_kg_m3) * h * h)
            * f64::from(parameters.laplacian_scale);
        if parameters.has_enthalpy() {
            let bindings = conduct_enthalpy::Bindings {
                count: &own.phase.count.count,
                key: &own.key,
                cell_start: own.grid.cell_start(),
                predicted: &own.predicted,
                temperature: own.temperature.front(),
                enthalpy: own.enthalpy.front(),
                other_cell_start: other.grid.cell_start(),
                other_predicted: &other.predicted,
                other_temperature: other.temperature.front(),
                other_enthalpy: other.enthalpy.front(),
                conducted: own.temperature.back(),
                conducted_enthalpy: own.enthalpy.back(),
            };
            let params = conduct_enthalpy::Params {
                conduction,
                heating: per_capacity as f32,
                freezing_c: heat.freezing_temperature_c as f32,
                snow_capacity_j_kg_k: heat.snow_capacity_j_kg_k as f32,
                water_capacity_j_kg_k: heat.water_capacity_j_kg_k as f32,
                latent_heat_j_kg: heat.latent_heat_j_kg as f32,
                snow_w_m_k: snow as f32,
                water_w_m_k: water as f32,
            };
            recorder.dispatch(&self.conduct_enthalpy, own.threads(), bindings, params);
        } else {
            let bindings = conduct::Bindings {
                count: &own.phase.count.count,
                key: &own.key,
                cell_start: own.grid.cell_start(),
                predicted: &own.predicted,
                temperature: own.temperature.front(),
                other_cell_start: other.grid.cell_start(),
                other_predicted: &other.predicted,
                other_temperature: other.temperature.front(),
                conducted: own.temperature.back(),
            };
            let capacity = if is_solid { heat.snow_capacity_j_kg_k } else { heat.water_capacity_j_kg_k };
            let params = conduct::Params {
                conduction,
                heating: (per_capacity / capacity) as f32,
                own_w_m_k: if is_solid { snow } else { water } as f32,
                cross_w_m_k: (2.0 * snow * water / (snow + water)) as f32,
            };
            recorder.dispatch(&self.conduct, own.threads(), bindings, params);
        }
    }
}
