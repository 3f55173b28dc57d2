//! The `[fluid]` section: the fluid of position-based scenes and its discretization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::xsph::Xsph;
use crate::section::Section;
use crate::solver::constraint_gradient::ConstraintGradient;

/// The material and its discretization into particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    /// Distance d between neighbours on the lattice, in m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub particle_spacing_m: f64,
    /// Rest density ρ₀ in kg/m³.
    #[serde(default = "Fluid::default_rest_density_kg_m3")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rest_density_kg_m3: f64,
    /// Support radius of the smoothing kernels in spacings, h/d.
    #[serde(default = "Fluid::default_support_radius_spacings")]
    #[schemars(range(min = 1.1, max = 5))]
    pub support_radius_spacings: f64,
    /// Dynamic viscosity η in Pa s; by default that of water at 20 °C. Flows whose own numerical viscosity is
    /// larger are not affected (docs/water.md).
    #[serde(default = "Fluid::default_dynamic_viscosity_pa_s")]
    #[schemars(range(min = 0, max = 1e9))]
    pub dynamic_viscosity_pa_s: f64,
    /// Rate in 1/s at which XSPH (Chen2021 eq 5.20, along the lines between particles) blends in the
    /// smoothed velocity difference: a share of 1 − exp(−rate Δt) in each step; by default 0.5 √(g/d), 16/s
    /// at a spacing of 1 cm, and 3.75 √(g/d) in scenes with `[snow]`. It damps motion of single particles,
    /// and acts on large scales like a kinematic viscosity of rate · h²/44.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e6))]
    pub xsph_rate_per_s: Option<f64>,
    /// XSPH coefficient per step, as in Chen2021 eq 5.20, in place of the rate: the share of the smoothed
    /// velocity difference that is blended in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub xsph_viscosity: Option<f64>,
    /// Friction of walls on water: 0 for slip, 1 for no slip. The drag is that of the viscosity and
    /// of XSPH, with neighbours at rest behind the wall.
    #[serde(default = "Fluid::default_wall_friction")]
    #[schemars(range(min = 0, max = 1))]
    pub wall_friction: f64,
    /// Contribution of the faces of the domain to the density of particles near them; by default `images`, in
    /// scenes with `[snow]` `integral`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_density: Option<WallDensity>,
    /// Method by which particles get into the cells of the neighbour grid (Huang2016 §4): it changes the time
    /// of a step and no bit of the result. By default the faster one in a trial on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour_grid: Option<NeighbourGrid>,
    /// Smoothing kernels of density, its gradient and XSPH; by default `cubic_spline`. Scenes with bodies
    /// or `[snow]` have no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<FluidKernel>,
    /// Positions of the gradient along which the density constraint corrects positions; by default `start`
    /// with `solver.kind = "viscoelastic"`, else `prediction`, the only one in scenes with `[snow]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint_gradient: Option<ConstraintGradient>,
    /// Bound of the random displacement of particles along each axis at the start, in spacings, after which
    /// they move to rest density before the first step; 0 keeps them where they were sampled. By default 0.2:
    /// a lattice of particles resists being deformed, and damps the first motion of a fluid. By default 0
    /// with particles of a file, and only 0 in scenes with `[snow]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 0.5))]
    pub initial_disorder_spacings: Option<f64>,
    /// Mass of a particle in kg; by default ρ₀d³.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub particle_mass_kg: Option<f64>,
}

/// Contribution of the faces of the domain to the density of particles near them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WallDensity {
    /// Images of the particles behind the faces, as if the fluid continued as its own mirror image; particles
    /// may come as near to a face as a tenth of a spacing.
    Images,
    /// Fraction of the kernel's integral behind the faces; particles stay half a spacing away from them.
    Integral,
}

/// Smoothing kernels of the position-based fluid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FluidKernel {
    /// The cubic B-spline and its own gradient.
    #[default]
    CubicSpline,
    /// The pair of Huang2016 (eq 2.31 and 2.35): poly6 for density, artificial pressure and XSPH, and the
    /// gradient of the spiky kernel for that of the density constraint. Corrections then do not follow the
    /// gradient of density; for comparison.
    Poly6Spiky,
}

/// Method by which particles get into the cells of the neighbour grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeighbourGrid {
    /// Atomic counting of the particles of each cell.
    Counting,
    /// A radix sort of the cells of the particles.
    Sorting,
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

    /// Returns the smoothing kernels.
    pub fn kernel(&self) -> FluidKernel {
        self.kernel.unwrap_or_default()
    }

    /// Returns the mass of a particle in kg: ρ₀d³ unless the section says otherwise.
    pub fn particle_mass_kg(&self) -> f64 {
        let d = self.particle_spacing_m;
        self.particle_mass_kg.unwrap_or(self.rest_density_kg_m3 * d * d * d)
    }

    /// Returns XSPH as the section states it.
    pub fn xsph(&self) -> Xsph {
        Xsph { rate_per_s: self.xsph_rate_per_s, per_step: self.xsph_viscosity }
    }

    fn default_rest_density_kg_m3() -> f64 {
        1000.0
    }
    fn default_support_radius_spacings() -> f64 {
        2.0
    }
    pub(crate) fn default_dynamic_viscosity_pa_s() -> f64 {
        1.0e-3
    }
    fn default_wall_friction() -> f64 {
        1.0
    }
}
