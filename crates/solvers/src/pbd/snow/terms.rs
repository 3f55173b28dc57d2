//! Conversion of a scene's quantities to the kernel parameters of the two-phase step.

use super::link_rule::{LinkLimit, LinkRule};
use crate::SolverError;
use crate::pbd::bodies::SnowAtBodies;
use crate::pbd::parameters::Parameters;
use frazil_kernels::Builder;
use frazil_scene::{
    Averaging, Conduction, LatentHeat, LinkBuilder, LinkLimit as SceneLimit, Scene, Snow, Springs,
};
use frazil_shaders::types::{Grid, SnowTerms};

/// Parameters of a two-phase step. Symbols as in [`Parameters`]; T in °C.
#[derive(Clone, Debug, PartialEq)]
pub struct SnowParameters {
    /// Parameters common to water alone and to snow and water.
    pub fluid: Parameters,
    /// The scene's `[snow]` section.
    pub snow: Snow,
    /// Contact distance of particles of snow in m.
    pub contact_m: f32,
    /// Contact distance in m of a particle of snow and one of water.
    pub mixed_contact_m: f32,
    /// Volume of a particle of snow over that of one of water, ρ₀/ρ_s.
    pub snow_volume: f32,
    /// Spacing of snow over that of water.
    pub snow_spacing: f32,
    /// Scale of the Laplacian of the viscosity kernel: 45/π · V/h³ as printed, by Fourier's law calibrated on
    /// the cubic lattice of the spacing.
    pub laplacian_scale: f32,
    /// Half of the calibrated scale, which makes second moments 1 on that lattice.
    pub moment_scale: f32,
    /// Maximum correction of a pair in heat conduction: that of a lone neighbour at one spacing.
    pub max_correction: f32,
    /// Maximum distance in m at which a link is made in a step.
    pub link_reach_m: f32,
    /// The same in the initial state.
    pub initial_link_reach_m: f32,
    /// Share of the smoothed velocity difference between snow particles that a step blends in.
    pub xsph_share: f32,
    /// Springs of contacts and links.
    pub springs: Springs,
}

/// Parameters of link building; without them there are no links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linking {
    /// Rules for making and breaking links.
    pub rule: LinkRule,
    /// Maximum distance in m at which particles of the initial state are linked.
    pub initial_reach_m: f32,
    /// Algorithm of link building.
    pub builder: Builder,
    /// Maximum number of links of a particle.
    pub n_max: u32,
}

impl SnowParameters {
    /// Reads the parameters of a scene.
    ///
    /// # Errors
    /// The scene has no `[snow]`, or a body of a kind that this solver does not know.
    pub fn of(scene: &Scene) -> Result<Self, SolverError> {
        let Some(snow) = scene.snow() else {
            return Err(SolverError::Scene { key: "snow".into(), found: "no such section".into() });
        };
        Ok(Self::new(scene, snow, Parameters::from_scene(scene)?))
    }

    fn new(scene: &Scene, snow: &Snow, fluid: Parameters) -> Self {
        let radii_m = [scene.snow_spacing_m(), scene.particle_spacing_m()]
            .map(|spacing_m| snow.contact_radius_spacings * spacing_m);
        let laplacian_scale = scene.conduction_scale() as f32;
        let reach_m = |spacings: f64| ((spacings * scene.snow_spacing_m()) as f32).min(fluid.support_m);
        let [moment_scale, max_correction] = scene.conduction_moments().map(|number| number as f32);
        Self {
            snow: snow.clone(),
            contact_m: (2.0 * radii_m[0]) as f32,
            mixed_contact_m: (radii_m[0] + radii_m[1]) as f32,
            snow_volume: scene.snow_volume_ratio() as f32,
            snow_spacing: (scene.snow_spacing_m() / scene.particle_spacing_m()) as f32,
            laplacian_scale,
            moment_scale,
            max_correction,
            link_reach_m: reach_m(snow.links.reach_spacings),
            initial_link_reach_m: reach_m(snow.links.initial_reach_spacings),
            // Smoothing sums over volumes of water.
            xsph_share: (scene.snow_volume_ratio() * scene.xsph_share(snow.xsph())) as f32,
            springs: scene.snow_springs(snow),
            fluid,
        }
    }

    /// Returns the volumes of particles of a phase and of the other, over that of water.
    pub(super) fn volumes(&self, is_solid: bool) -> [f32; 2] {
        if is_solid { [self.snow_volume, 1.0] } else { [1.0, self.snow_volume] }
    }

    /// Returns true if particles of snow are not as large as those of water.
    pub(super) fn is_expanded(&self) -> bool {
        self.snow_volume != 1.0
    }

    /// Returns what bodies need to know of snow.
    pub(super) fn at_bodies(&self) -> SnowAtBodies {
        SnowAtBodies {
            friction: [self.snow.static_friction as f32, self.snow.kinetic_friction as f32],
            spacing: self.snow_spacing,
        }
    }

    /// Returns true if temperature follows from an enthalpy column.
    pub fn has_enthalpy(&self) -> bool {
        self.snow.heat.latent_heat == LatentHeat::Enthalpy
    }

    /// Returns true if the weights of heat conduction are corrected.
    pub fn has_corrected_conduction(&self) -> bool {
        self.snow.heat.conduction == Conduction::Corrected
    }

    /// Returns true if shape matching is enabled for linked neighbourhoods.
    pub fn has_shape(&self) -> bool {
        self.snow.shape_stiffness > 0.0
    }

    /// Returns the parameters of link building, if links are enabled.
    pub fn linking(&self) -> Option<Linking> {
        let (links, heat) = (&self.snow.links, &self.snow.heat);
        let limit = match links.limit {
            SceneLimit::None => return None,
            SceneLimit::Constant => LinkLimit::Constant(links.most),
            SceneLimit::Dynamic => LinkLimit::Dynamic {
                homogeneous_c: heat.homogeneous_freezing_temperature_c as f32,
                freezing_c: heat.freezing_temperature_c as f32,
            },
        };
        let rule = LinkRule {
            radius_m: self.link_reach_m,
            link_temperature_c: links.temperature_c as f32,
            limit,
            break_ratio: links.break_ratio as f32,
        };
        let builder = match links.builder {
            LinkBuilder::Reproducible => Builder::Reproducible { rounds: links.rounds },
            LinkBuilder::CompareAndSwap => Builder::CompareAndSwap { passes: links.rounds },
        };
        let initial_reach_m = self.initial_link_reach_m;
        Some(Linking { rule, initial_reach_m, builder, n_max: links.most })
    }

    /// Returns the specific enthalpy in J/kg of a particle of this temperature in °C: above freezing that of
    /// melted snow, at freezing according to its phase.
    pub fn enthalpy_j_kg(&self, temperature_c: f32, is_solid: bool) -> f32 {
        let heat = &self.snow.heat;
        let above = f64::from(temperature_c) - heat.freezing_temperature_c;
        let enthalpy = if above < 0.0 || (above == 0.0 && is_solid) {
            heat.snow_capacity_j_kg_k * above
        } else {
            heat.latent_heat_j_kg + heat.water_capacity_j_kg_k * above
        };
        enthalpy as f32
    }

    pub(super) fn terms(&self, grid: Grid, link_stride: u32) -> SnowTerms {
        let (p, snow) = (&self.fluid, &self.snow);
        let dt_s = f64::from(p.dt_s);
        let spring = |n_m: Option<f64>| n_m.map_or(0.0, |n_m| n_m * dt_s * dt_s / p.particle_mass_kg) as f32;
        SnowTerms {
            grid,
            walls: p.walls,
            dt_s: p.dt_s,
            support_m: p.support_m,
            volume_h3: p.volume_h3,
            rest_density_kg_m3: p.rest_density_kg_m3,
            particle_mass_kg: p.particle_mass_kg as f32,
            relaxation: p.relaxation,
            over_relaxation: p.over_relaxation,
            pressure_strength: p.pressure_strength,
            pressure_inverse_shape: p.pressure_inverse_shape,
            pressure_exponent: p.pressure_exponent,
            iterations: p.iterations,
            contact_q: self.contact_m / p.support_m,
            mixed_contact_q: self.mixed_contact_m / p.support_m,
            snow_volume: self.snow_volume,
            snow_spacing: self.snow_spacing,
            bounce: snow.non_penetration_stiffness.unwrap_or(0.0) as f32,
            is_averaged: u32::from(snow.averaging == Averaging::Pairwise),
            static_friction: snow.static_friction as f32,
            kinetic_friction: snow.kinetic_friction as f32,
            stretch: snow.links.stiffness.unwrap_or(0.0) as f32,
            contact_spring: spring(self.springs.contact_n_m),
            link_spring: spring(self.springs.link_n_m),
            spring_share: self.springs.share as f32,
            link_stride,
            link_slots: if self.linking().is_some() { snow.links.most } else { 0 },
            shape_share: (snow.shape_stiffness / f64::from(snow.links.most + 1)) as f32,
        }
    }
}
