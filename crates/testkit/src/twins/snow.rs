//! Snow and water: conversion of the device's parameters to the twin's.

use super::pbd::twin_numbers;
use frazil_reference::snow::{
    self as twin, Averaging, Boundary, ConductionLaw, Heat, LatentHeat, Parameters, Springs,
};
use frazil_scene::{Averaging as SceneAveraging, ConductionLaw as SceneLaw};
use frazil_solvers::pbd::snow::{LinkLimit, LinkRule, Snow};
use frazil_vk::{Device, Result};

/// Returns the twin's parameters from the numbers that the device uses.
///
/// # Errors
/// The device was lost.
pub fn twin_parameters(device: &Device, snow: &Snow) -> Result<Parameters> {
    let p = snow.parameters();
    let (contact, heat) = (&p.snow, &p.snow.heat);
    let linking = p.linking();
    let fluid = twin_numbers(&p.fluid, snow.solid().grid().grid());
    let boundary = match snow.boundary().len() {
        0 => None,
        n => Some(Boundary::new(&fluid.grid, device.download(snow.boundary(), n)?)),
    };
    Ok(Parameters {
        fluid,
        mass_kg: p.fluid.particle_mass_kg as f32,
        contact_distance_m: p.contact_m,
        mixed_contact_distance_m: p.mixed_contact_m,
        snow_volume: p.snow_volume,
        snow_spacing: p.snow_spacing,
        bounce_stiffness: contact.non_penetration_stiffness.unwrap_or(0.0) as f32,
        averaging: match contact.averaging {
            SceneAveraging::Pairwise => Averaging::Pairwise,
            SceneAveraging::Off => Averaging::Off,
        },
        iterations: p.fluid.iterations,
        static_friction: contact.static_friction as f32,
        kinetic_friction: contact.kinetic_friction as f32,
        face_friction: p.fluid.surroundings.face_friction,
        snow_xsph_viscosity: p.xsph_share,
        links: linking.map(|linking| twin_rule(&linking.rule)),
        link_rounds: contact.links.rounds,
        stretch_stiffness: contact.links.stiffness.unwrap_or(0.0) as f32,
        springs: Springs {
            contact_n_m: p.springs.contact_n_m.unwrap_or(0.0) as f32,
            link_n_m: p.springs.link_n_m.unwrap_or(0.0) as f32,
            share: p.springs.share as f32,
            damping: p.springs.damping as f32,
            damping_stages: p.springs.damping_stages,
        },
        shape_stiffness: contact.shape_stiffness as f32,
        boundary,
        heat: Heat {
            snow_capacity_j_kg_k: heat.snow_capacity_j_kg_k as f32,
            water_capacity_j_kg_k: heat.water_capacity_j_kg_k as f32,
            snow_conductivity_w_m_k: heat.snow_conductivity_w_m_k as f32,
            water_conductivity_w_m_k: heat.water_conductivity_w_m_k as f32,
            freezing_c: heat.freezing_temperature_c as f32,
            law: match heat.law {
                SceneLaw::Fourier => ConductionLaw::Fourier,
                SceneLaw::Printed => ConductionLaw::Printed,
            },
            laplacian_scale: p.laplacian_scale,
            max_correction: p.has_corrected_conduction().then_some(p.max_correction),
            latent_heat: match p.has_enthalpy() {
                true => LatentHeat::Enthalpy { latent_j_kg: heat.latent_heat_j_kg as f32 },
                false => LatentHeat::Blending,
            },
        },
        blend_speed: contact.transition.blend_step(f64::from(p.fluid.dt_s)) as f32,
        blend_threshold: contact.transition.blend_threshold as f32,
    })
}

fn twin_rule(rule: &LinkRule) -> twin::LinkRule {
    twin::LinkRule {
        radius_m: rule.radius_m,
        link_temperature_c: rule.link_temperature_c,
        limit: match rule.limit {
            LinkLimit::Constant(most) => twin::LinkLimit::Constant(most),
            LinkLimit::Dynamic { homogeneous_c, freezing_c } => {
                twin::LinkLimit::Dynamic { homogeneous_c, freezing_c }
            }
        },
        break_ratio: rule.break_ratio,
    }
}
