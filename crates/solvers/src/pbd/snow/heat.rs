//! Heat conduction between neighbours of either phase (Chen2021 eq 6.1, as printed or by Fourier's law).

use super::phase_particles::PhaseParticles;
use super::terms::SnowParameters;
use crate::SolverError;
use crate::pbd::neighbour_rows::NeighbourRows;
use frazil_shaders::snow::{conduct, conduct_enthalpy, correct_conduction};
use frazil_shaders::types::Conduction;
use frazil_vk::{Buffer, Device, Kernel, Recorder};

pub(super) struct Heat {
    /// Without correction there is none.
    correct: Option<Kernel<correct_conduction::Interface>>,
    conduct: Kernel<conduct::Interface>,
    conduct_enthalpy: Kernel<conduct_enthalpy::Interface>,
}

impl Heat {
    pub fn new(
        device: &Device,
        workgroup_size: u32,
        is_corrected: bool,
        rows: &NeighbourRows,
    ) -> Result<Self, SolverError> {
        let row_words = rows.words();
        let correction = correct_conduction::Specialization { workgroup_size, has_other: 1, row_words };
        let corrected = u32::from(is_corrected);
        let conduction = conduct::Specialization {
            workgroup_size,
            is_corrected: corrected,
            has_other: 1,
            has_fixed_faces: 0,
            row_words,
        };
        let with_enthalpy =
            conduct_enthalpy::Specialization { workgroup_size, is_corrected: corrected, row_words };
        Ok(Self {
            correct: match is_corrected {
                true => Some(Kernel::specialized(device, &correction)?),
                false => None,
            },
            conduct: Kernel::specialized(device, &conduction)?,
            conduct_enthalpy: Kernel::specialized(device, &with_enthalpy)?,
        })
    }

    /// Records heat conduction for one step in both phases.
    pub fn conduct(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        solid: &mut PhaseParticles,
        fluid: &mut PhaseParticles,
        rows: &NeighbourRows,
    ) {
        let [of_solid, of_fluid] = [rows.buffer(0), rows.buffer(1)];
        self.correct(recorder, parameters, (solid, fluid), (of_solid, rows.flag()), true);
        self.correct(recorder, parameters, (fluid, solid), (of_fluid, rows.flag()), false);
        self.conduct_in(recorder, parameters, (solid, fluid), (of_solid, rows.flag()), true);
        self.conduct_in(recorder, parameters, (fluid, solid), (of_fluid, rows.flag()), false);
        for phase_particles in [solid, fluid] {
            phase_particles.temperature.swap();
            if parameters.has_enthalpy() {
                phase_particles.enthalpy.swap();
            }
        }
    }

    fn correct(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        (own, other): (&PhaseParticles, &PhaseParticles),
        (rows, row_flag): (&Buffer<u32>, u32),
        is_solid: bool,
    ) {
        let Some(kernel) = &self.correct else { return };
        let bindings = correct_conduction::Bindings {
            count: &own.phase.count,
            key: own.key(),
            cell_start: own.grid.cell_start(),
            predicted: own.predicted(),
            other_cell_start: other.grid.cell_start(),
            other_predicted: other.predicted(),
            correction: &own.correction,
            rows,
        };
        let [own_volume, other_volume] = parameters.volumes(is_solid);
        let conduction = conduction_of(parameters, own);
        let params = correct_conduction::Params { conduction, own_volume, other_volume, row_flag };
        recorder.dispatch_counted(kernel, bindings, params);
    }

    fn conduct_in(
        &self,
        recorder: &mut Recorder,
        parameters: &SnowParameters,
        (own, other): (&PhaseParticles, &PhaseParticles),
        (rows, row_flag): (&Buffer<u32>, u32),
        is_solid: bool,
    ) {
        let (p, heat) = (&parameters.fluid, &parameters.snow.heat);
        let (snow, water) = (heat.snow_conductivity_w_m_k, heat.water_conductivity_w_m_k);
        let means = heat.law.harmonic_means();
        let conduction = conduction_of(parameters, own);
        let h = f64::from(p.support_m);
        let volumes = parameters.volumes(is_solid);
        let [own_volume, other_volume] = volumes.map(f64::from);
        let density_kg_m3 = f64::from(p.rest_density_kg_m3) / own_volume;
        let per_capacity =
            f64::from(p.dt_s) / (density_kg_m3 * h * h) * f64::from(parameters.laplacian_scale);
        if parameters.has_enthalpy() {
            let bindings = conduct_enthalpy::Bindings {
                count: &own.phase.count,
                key: own.key(),
                cell_start: own.grid.cell_start(),
                predicted: own.predicted(),
                temperature: own.temperature.front(),
                enthalpy: own.enthalpy.front(),
                correction: &own.correction,
                other_cell_start: other.grid.cell_start(),
                other_predicted: other.predicted(),
                other_temperature: other.temperature.front(),
                other_correction: &other.correction,
                conducted: own.temperature.back(),
                conducted_enthalpy: own.enthalpy.back(),
                rows,
            };
            let params = conduct_enthalpy::Params {
                conduction,
                heating: per_capacity as f32,
                own_volume: volumes[0],
                other_volume: volumes[1],
                freezing_c: heat.freezing_temperature_c as f32,
                snow_capacity_j_kg_k: heat.snow_capacity_j_kg_k as f32,
                water_capacity_j_kg_k: heat.water_capacity_j_kg_k as f32,
                latent_heat_j_kg: heat.latent_heat_j_kg as f32,
                snow_w_m_k: snow as f32,
                water_w_m_k: water as f32,
                row_flag,
            };
            recorder.dispatch_counted(&self.conduct_enthalpy, bindings, params);
        } else {
            let bindings = conduct::Bindings {
                count: &own.phase.count,
                key: own.key(),
                cell_start: own.grid.cell_start(),
                predicted: own.predicted(),
                temperature: own.temperature.front(),
                correction: &own.correction,
                other_cell_start: other.grid.cell_start(),
                other_predicted: other.predicted(),
                other_temperature: other.temperature.front(),
                other_correction: &other.correction,
                conducted: own.temperature.back(),
                rows,
            };
            let capacity = if is_solid { heat.snow_capacity_j_kg_k } else { heat.water_capacity_j_kg_k };
            let params = conduct::Params {
                conduction,
                heating: (per_capacity / capacity) as f32,
                own_w_m_k: (means * own_volume * if is_solid { snow } else { water }) as f32,
                cross_w_m_k: (means * other_volume * 2.0 * snow * water / (snow + water)) as f32,
                lower_c: [0.0; 3],
                upper_c: [0.0; 3],
                fixed_faces: 0,
                row_flag,
            };
            recorder.dispatch_counted(&self.conduct, bindings, params);
        }
    }
}

fn conduction_of(parameters: &SnowParameters, own: &PhaseParticles) -> Conduction {
    let p = &parameters.fluid;
    Conduction {
        grid: own.grid.grid(),
        inverse_h: 1.0 / p.support_m,
        domain_min_m: p.walls.domain_min_m,
        domain_max_m: p.walls.domain_max_m,
        periodic: 0,
        moment_scale: parameters.moment_scale,
        max_correction: parameters.max_correction,
    }
}
