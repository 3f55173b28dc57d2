//! The `[fluid]` section: the fluid of position-based scenes and its discretization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::solver::section::Section;

/// The material and its discretization into particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    /// Distance d between neighbours on the lattice, in m.
    pub particle_spacing_m: f64,
    /// Rest density ρ₀ in kg/m³.
    #[serde(default = "Fluid::default_rest_density_kg_m3")]
    pub rest_density_kg_m3: f64,
    /// Support radius of the smoothing kernels in spacings, h/d.
    #[serde(default = "Fluid::default_support_radius_spacings")]
    pub support_radius_spacings: f64,
    /// XSPH coefficient (Chen2021 eq 5.20): the share of the smoothed velocity difference that is blended in,
    /// 0 to 1.
    #[serde(default = "Fluid::default_xsph_viscosity")]
    pub xsph_viscosity: f64,
    /// Friction of walls on water, which acts like a neighbour at rest: 0 for slip, 1 (default) for no slip;
    /// multiplied by `xsph_viscosity` in each step.
    #[serde(default = "Fluid::default_wall_friction")]
    #[schemars(range(min = 0))]
    pub wall_friction: f64,
    /// Mass of a particle in kg; by default ρ₀d³.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particle_mass_kg: Option<f64>,
}

impl Section for Fluid {
    const NAME: &'static str = "fluid";
    const DESCRIPTION: &'static str =
        "The fluid and its discretization: what scenes of `solver.kind = \"pbd\"` have.";
}

impl Fluid {
    /// Returns the support radius h of the smoothing kernels in m.
    pub fn support_radius_m(&self) -> f64 {
        self.support_radius_spacings * self.particle_spacing_m
    }

    /// Returns the mass of a particle in kg: ρ₀d³ unless the section says otherwise.
    pub fn particle_mass_kg(&self) -> f64 {
        let d = self.particle_spacing_m;
        self.particle_mass_kg.unwrap_or(self.rest_density_kg_m3 * d * d * d)
    }

    fn default_rest_density_kg_m3() -> f64 {
        1000.0
    }
    fn default_support_radius_spacings() -> f64 {
        2.0
    }
    fn default_xsph_viscosity() -> f64 {
        0.05
    }
    fn default_wall_friction() -> f64 {
        1.0
    }
}
