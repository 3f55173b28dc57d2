//! The `[mpm]` section: snow as an elasto-plastic continuum on a grid, by the material point method.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::solver::section::Section;
use crate::surface::Surface;

/// Snow by the material point method (Cai2020 and Breekveldt2017), in a plane or in space.
///
/// In a plane everything is per metre of depth: masses are kg/m, volumes m², and the third component of every vector is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mpm {
    /// 2 (the x–y plane, plane strain) or 3.
    #[schemars(range(min = 2, max = 3))]
    pub dimensions: u32,
    /// Side h of a grid cell in m.
    pub cell_size_m: f64,
    /// Particles a cell is filled with, where a block does not give a count; by default 4 in a plane and 8 in space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particles_per_cell: Option<f64>,
    /// The elasto-plastic material.
    #[serde(default)]
    pub material: Material,
    /// How velocities go from particles to the grid and back.
    #[serde(default)]
    pub transfer: Transfer,
    /// Share α of FLIP in `pic_flip` (Breekveldt2017 eq 3.31): 0 is PIC, 1 is FLIP.
    #[serde(default = "Mpm::default_flip_ratio")]
    #[schemars(range(min = 0, max = 1))]
    pub flip_ratio: f64,
    /// The B-spline that spreads a particle over nodes.
    #[serde(default)]
    pub spline: Spline,
    /// Where a particle's volume comes from.
    #[serde(default)]
    pub initial_volume: InitialVolume,
    /// How particles are added up on the grid.
    #[serde(default)]
    pub rasterization: Rasterization,
    /// True if changes of the deformation gradient that are smaller than the rounding of 1 count as nothing. Off, a lone particle
    /// strains itself by rounding alone (Breekveldt2017 sec 4.1).
    #[serde(default = "yes")]
    pub strain_floor: bool,
    /// How the cubic spline is evaluated.
    #[serde(default)]
    pub weights: Weights,
    /// Courant number C of `dt_s = "auto"`: Δt = C h / (c + v), c being the speed of elastic waves in hardened snow.
    #[serde(default = "Mpm::default_courant_number")]
    pub courant_number: f64,
    /// The six (in a plane four) walls of the domain.
    #[serde(default)]
    pub walls: Surface,
    /// Semi-implicit integration (Breekveldt2017 eq 3.25); without it the step is explicit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implicit: Option<Implicit>,
}

impl Section for Mpm {
    const NAME: &'static str = "mpm";
    const DESCRIPTION: &'static str = "Snow as a continuum on a grid: what scenes of `solver.kind = \"mpm\"` have, \
        in place of `[fluid]` and `[snow]`.";
}

impl Mpm {
    /// The section with its defaults, but for volumes, which are as sampled.
    pub fn sampled(dimensions: u32, cell_size_m: f64) -> Self {
        Self {
            dimensions,
            cell_size_m,
            particles_per_cell: None,
            material: Material::default(),
            transfer: Transfer::default(),
            flip_ratio: Self::default_flip_ratio(),
            spline: Spline::default(),
            initial_volume: InitialVolume::Sampled,
            rasterization: Rasterization::default(),
            strain_floor: yes(),
            weights: Weights::default(),
            courant_number: Self::default_courant_number(),
            walls: Surface::default(),
            implicit: None,
        }
    }

    fn default_flip_ratio() -> f64 {
        0.95
    }
    fn default_courant_number() -> f64 {
        0.5
    }

    /// Particles a cell is filled with.
    pub fn particles_per_cell(&self) -> f64 {
        self.particles_per_cell.unwrap_or(if self.dimensions == 2 { 4.0 } else { 8.0 })
    }

    /// Distance between particles in m, as on a lattice: h / ppc^(1/D).
    pub fn particle_spacing_m(&self) -> f64 {
        let n = self.particles_per_cell();
        self.cell_size_m / if self.dimensions == 2 { n.sqrt() } else { n.cbrt() }
    }

    /// How far from a particle nodes get a share of it, in m.
    pub fn support_radius_m(&self) -> f64 {
        self.cell_size_m
            * match self.spline {
                Spline::Cubic => 2.0,
                Spline::Quadratic => 1.5,
            }
    }
}

fn yes() -> bool {
    true
}

/// The elasto-plastic material: fixed-corotated energy (Breekveldt2017 eq 3.8) with hardening (eq 3.9) and bounded singular values (eq 3.30).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Material {
    /// Density ρ₀ in kg/m³.
    pub density_kg_m3: f64,
    /// Young's modulus E₀ in Pa.
    pub youngs_modulus_pa: f64,
    /// Poisson's ratio ν, 0 to below 0.5.
    pub poissons_ratio: f64,
    /// Hardening coefficient ξ: the Lamé parameters are multiplied by exp(ξ (1 − J_P)).
    pub hardening: f64,
    /// Critical compression θ_c: no singular value of F_E stays below 1 − θ_c. Below 1.
    pub critical_compression: f64,
    /// Critical stretch θ_s: no singular value of F_E stays above 1 + θ_s. Below 1.
    pub critical_stretch: f64,
    /// J_P counts as no less than this in hardening, so that stiffness has a bound: exp(10 · 0.4) = 55 times by default.
    pub least_plastic_volume: f64,
    /// True if it yields at all; off, it is elastic whatever its strain, and θ_c, θ_s and ξ do not matter.
    pub plastic: bool,
}

impl Default for Material {
    /// Table 1 of Cai2020, and ρ₀ and ν of Breekveldt2017's table 4.1.
    fn default() -> Self {
        Self {
            density_kg_m3: 400.0,
            youngs_modulus_pa: 1.4e5,
            poissons_ratio: 0.2,
            hardening: 10.0,
            critical_compression: 2.5e-2,
            critical_stretch: 7.5e-3,
            least_plastic_volume: 0.6,
            plastic: true,
        }
    }
}

impl Material {
    /// The initial Lamé parameters (μ₀, λ₀) in Pa: μ₀ = E₀/(2(1+ν)), λ₀ = E₀ν/((1+ν)(1−2ν)).
    pub fn lame_pa(&self) -> (f64, f64) {
        let (e, nu) = (self.youngs_modulus_pa, self.poissons_ratio);
        (e / (2.0 * (1.0 + nu)), e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)))
    }

    /// Speed of pressure waves in m/s, √((λ+2μ)/ρ), at a plastic volume ratio J_P (1 for fresh snow).
    pub fn wave_speed_m_s(&self, plastic_volume: f64) -> f64 {
        let (mu, lambda) = self.lame_pa();
        let hardening = if self.plastic { (self.hardening * (1.0 - plastic_volume)).exp() } else { 1.0 };
        (hardening * (lambda + 2.0 * mu) / self.density_kg_m3).sqrt()
    }
}

/// How velocities go from particles to the grid and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// A blend of PIC and FLIP (Breekveldt2017 eq 3.31), forces by gradients of the weights.
    #[default]
    PicFlip,
    /// Affine particle-in-cell (Jiang et al. 2015): angular momentum is kept; forces by gradients of the weights.
    Apic,
    /// APIC whose affine velocity is the velocity gradient, too (MLS-MPM, Hu et al. 2018): forces without gradients of weights.
    Mls,
}

/// The B-spline that spreads a particle over nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spline {
    /// Four nodes an axis (Breekveldt2017 eq 3.3).
    #[default]
    Cubic,
    /// Three nodes an axis.
    Quadratic,
}

/// Where a particle's volume comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitialVolume {
    /// Its mass over the grid's density about it at the start (Breekveldt2017 eq 3.12 to 3.14).
    #[default]
    Grid,
    /// Its share of the shape that it was sampled from.
    Sampled,
}

/// How particles are added up on the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rasterization {
    /// Nodes add up the particles about them, in their order: reproducible.
    #[default]
    Gather,
    /// Particles add to nodes by integer atomics in 64-bit fixed point: reproducible.
    FixedPoint,
    /// Particles add to nodes by floating-point atomics: the result depends on their order, and differs from run to run.
    FloatAtomics,
}

/// How the cubic spline is evaluated, and what sums over nodes are taken of. Both are the same function, apart from rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// As (2 − |x|)³/6 near its end, where it is all but 0: exact to rounding of the weight itself. Particles add up how much faster than
    /// they nodes are, so that the rounding of Σ w = 1 and Σ ∇w = 0 adds no momentum and no strain.
    #[default]
    Factored,
    /// As Breekveldt2017 eq 3.3 prints it: weights near its end are off by the rounding of 1, and may be negative. Particles add up velocities of
    /// nodes, as eq 3.26 and 3.32 print it.
    AsPrinted,
}

/// Semi-implicit integration: (I + β Δt² M⁻¹ ∂²Φ) vⁿ⁺¹ = v* (Breekveldt2017 eq 3.25), by conjugate residuals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Implicit {
    /// β: ½ trapezoidal, 1 backward Euler.
    pub beta: f64,
    /// Iterations at most.
    pub max_iterations: u32,
    /// The solve ends when the residual, in the norm of momentum, is this share of the right-hand side's.
    pub tolerance: f64,
}

impl Default for Implicit {
    fn default() -> Self {
        Self { beta: 1.0, max_iterations: 30, tolerance: 1e-5 }
    }
}
