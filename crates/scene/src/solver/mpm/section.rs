//! The `[mpm]` section: snow as an elasto-plastic continuum on a grid, by the material point method.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::section::Section;
use crate::surface::Surface;

/// Snow by the material point method (Cai2020 and Breekveldt2017), in two or three dimensions.
///
/// In two dimensions all quantities are per metre of depth: masses are kg/m, volumes m², and the third
/// component of every vector is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mpm {
    /// Number of dimensions; in two, the x–y plane and plane strain.
    #[schemars(range(min = 2, max = 3), extend("hint" = "2 is the x–y plane"))]
    pub dimensions: u32,
    /// Edge h of a grid cell in m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cell_size_m: f64,
    /// Number of particles in a cell, where a block does not give a count; by default 4 in two dimensions and
    /// 8 in three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 1000))]
    pub particles_per_cell: Option<f64>,
    /// The elasto-plastic material.
    #[serde(default)]
    pub material: Material,
    /// Transfer of velocities between particles and grid.
    #[serde(default)]
    pub transfer: Transfer,
    /// Share α of FLIP in each step (Breekveldt2017 eq 3.31): 0 is PIC, with an affine transfer APIC, 1 is
    /// FLIP. The damping then depends on the time step; in place of `pic_rate_per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub flip_ratio: Option<f64>,
    /// Rate in 1/s at which velocities of particles are replaced by those of the grid: the share of PIC in a
    /// step is 1 − exp(−rate Δt), whatever the step. With `pic_flip` by default 256.5, which is that of a
    /// FLIP ratio of 0.95 at the steps of 0.2 ms of Cai2020. With `apic` and `mls` (AFLIP, Fei2021) by
    /// default ¼ c/h with the wave speed c of fresh snow, at which the loss of energy is least; in
    /// semi-implicit steps all of it in each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e9))]
    pub pic_rate_per_s: Option<f64>,
    /// Objects on which surfaces that are not sticky act; by default `particles` if the transfer is affine
    /// and the step explicit, else `nodes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<Contact>,
    /// B-spline weights of a particle on the nodes.
    #[serde(default)]
    pub spline: Spline,
    /// Source of a particle's volume.
    #[serde(default)]
    pub initial_volume: InitialVolume,
    /// Summation of particles on the grid.
    #[serde(default)]
    pub rasterization: Rasterization,
    /// True if changes of the deformation gradient that are smaller than the rounding of 1 are ignored. If
    /// false, a lone particle strains itself by rounding alone (Breekveldt2017 sec 4.1).
    #[serde(default = "yes")]
    pub strain_floor: bool,
    /// Evaluation of the cubic spline.
    #[serde(default)]
    pub weights: Weights,
    /// Share of the mass of a full cell, ρ h^D, up to which a node takes no stress. Above 0 momentum is not
    /// conserved; `frazil analyze noise` measures this remedy against feedback (Breekveldt2017 sec 4.1).
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub node_mass_cutoff: f64,
    /// Courant number C of `dt_s = "auto"`: Δt = C h / (c + v), c being the speed of elastic waves in
    /// hardened snow.
    #[serde(default = "Mpm::default_courant_number")]
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub courant_number: f64,
    /// Boundary conditions at the six walls of the domain (four in two dimensions).
    #[serde(default)]
    pub walls: Surface,
    /// Semi-implicit integration (Breekveldt2017 eq 3.25); without it the step is explicit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implicit: Option<Implicit>,
}

impl Section for Mpm {
    const NAME: &'static str = "mpm";
    const DESCRIPTION: &'static str = "Snow as a continuum on a grid: what scenes of `solver.kind = \"mpm\"` \
        have, in place of `[fluid]` and `[snow]`.";
}

impl Mpm {
    /// Returns the section with its defaults.
    pub fn sampled(dimensions: u32, cell_size_m: f64) -> Self {
        Self {
            dimensions,
            cell_size_m,
            particles_per_cell: None,
            material: Material::default(),
            transfer: Transfer::default(),
            flip_ratio: None,
            pic_rate_per_s: None,
            contact: None,
            spline: Spline::default(),
            initial_volume: InitialVolume::default(),
            rasterization: Rasterization::default(),
            strain_floor: yes(),
            weights: Weights::default(),
            node_mass_cutoff: 0.0,
            courant_number: Self::default_courant_number(),
            walls: Surface::default(),
            implicit: None,
        }
    }

    fn default_courant_number() -> f64 {
        0.5
    }

    /// Returns what is in contact with surfaces that are not sticky.
    pub fn contact(&self) -> Contact {
        let has_forces = self.is_affine() && self.implicit.is_none();
        let default = if has_forces { Contact::Particles } else { Contact::Nodes };
        self.contact.unwrap_or(default)
    }

    /// Returns the section with the transfer of the papers: PIC/FLIP with a FLIP ratio of 0.95 in each step.
    pub fn as_published(dimensions: u32, cell_size_m: f64) -> Self {
        Self { transfer: Transfer::PicFlip, flip_ratio: Some(0.95), ..Self::sampled(dimensions, cell_size_m) }
    }

    /// Returns the mass in kg up to which a node takes no stress.
    pub fn node_mass_cutoff_kg(&self) -> f64 {
        let cell = self.cell_size_m.powi(self.dimensions as i32);
        self.node_mass_cutoff * self.material.density_kg_m3 * cell
    }

    /// Returns true if particles have an affine velocity.
    fn is_affine(&self) -> bool {
        self.transfer != Transfer::PicFlip
    }

    /// Returns true if velocities of particles keep a share of FLIP.
    pub fn has_flip(&self) -> bool {
        match self.flip_ratio {
            Some(ratio) => !self.is_affine() || ratio > 0.0,
            None => self.default_pic_rate_per_s().is_some() || self.pic_rate_per_s.is_some(),
        }
    }

    /// Returns the rate of PIC that a scene has that states none; none for PIC in each step.
    fn default_pic_rate_per_s(&self) -> Option<f64> {
        match (self.is_affine(), self.implicit) {
            (false, _) => Some(PIC_FLIP_RATE_PER_S),
            (true, None) => Some(0.25 * self.material.wave_speed_m_s(1.0) / self.cell_size_m),
            (true, Some(_)) => None,
        }
    }

    /// Returns the share α of FLIP in a step.
    pub fn flip_share(&self, dt_s: f64) -> f64 {
        let rate = self.pic_rate_per_s.or_else(|| self.default_pic_rate_per_s());
        self.flip_ratio.unwrap_or_else(|| rate.map_or(0.0, |rate| (-rate * dt_s).exp()))
    }

    /// Returns the number of particles that a cell is filled with.
    pub fn particles_per_cell(&self) -> f64 {
        self.particles_per_cell.unwrap_or(if self.dimensions == 2 { 4.0 } else { 8.0 })
    }

    /// Returns the distance between particles in m, as on a lattice: h / ppc^(1/D).
    pub fn particle_spacing_m(&self) -> f64 {
        let n = self.particles_per_cell();
        self.cell_size_m / if self.dimensions == 2 { n.sqrt() } else { n.cbrt() }
    }

    /// Returns the distance from a particle, in m, within which nodes have a weight.
    pub fn support_radius_m(&self) -> f64 {
        self.cell_size_m
            * match self.spline {
                Spline::Cubic => 2.0,
                Spline::Quadratic => 1.5,
            }
    }
}

/// Rate of PIC per second of a FLIP ratio of 0.95 at 0.2 ms, the step of Cai2020: −ln 0.95 / 0.2 ms.
const PIC_FLIP_RATE_PER_S: f64 = 256.466_471_938_3;

fn yes() -> bool {
    true
}

/// The elasto-plastic material: fixed-corotated energy (Breekveldt2017 eq 3.8) with hardening (eq 3.9) and
/// bounded singular values (eq 3.30).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Material {
    /// Density ρ₀ in kg/m³.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density_kg_m3: f64,
    /// Young's modulus E₀ in Pa.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub youngs_modulus_pa: f64,
    /// Poisson's ratio ν. At ½ the material would be incompressible, and λ infinite.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 0.5))]
    pub poissons_ratio: f64,
    /// Hardening coefficient ξ: the Lamé parameters are multiplied by exp(ξ (1 − J_P)).
    #[schemars(range(min = 0, max = 100))]
    pub hardening: f64,
    /// Critical compression θ_c: no singular value of F_E stays below 1 − θ_c.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub critical_compression: f64,
    /// Critical stretch θ_s: no singular value of F_E stays above 1 + θ_s.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub critical_stretch: f64,
    /// Minimum of J_P in hardening, so that stiffness is bounded: exp(10 · 0.4) = 55 times by default.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub min_plastic_volume: f64,
    /// Relaxation time τ in s of viscous yield (Duvaut & Lions 1972): strain beyond θ_c and θ_s becomes
    /// plastic at a rate of 1/τ. Bands in which softening snow fails are then about c τ wide, c being the
    /// wave speed in fresh snow, independently of cells and steps, if c τ is at least a cell. 0, the papers'
    /// material, yields at once, and its bands are as narrow as the cells.
    #[schemars(range(min = 0, max = 1))]
    pub relaxation_time_s: f64,
    /// True if the material yields; if false, it is elastic at any strain, and θ_c, θ_s and ξ have no effect.
    pub plastic: bool,
}

impl Default for Material {
    /// Returns the values of Cai2020's table 1, with ρ₀ and ν of Breekveldt2017's table 4.1.
    fn default() -> Self {
        Self {
            density_kg_m3: 400.0,
            youngs_modulus_pa: 1.4e5,
            poissons_ratio: 0.2,
            hardening: 10.0,
            critical_compression: 2.5e-2,
            critical_stretch: 7.5e-3,
            min_plastic_volume: 0.6,
            relaxation_time_s: 0.0,
            plastic: true,
        }
    }
}

impl Material {
    /// Returns the initial Lamé parameters (μ₀, λ₀) in Pa: μ₀ = E₀/(2(1+ν)), λ₀ = E₀ν/((1+ν)(1−2ν)).
    pub fn lame_pa(&self) -> (f64, f64) {
        let (e, nu) = (self.youngs_modulus_pa, self.poissons_ratio);
        (e / (2.0 * (1.0 + nu)), e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)))
    }

    /// Returns the speed of pressure waves in m/s, √((λ+2μ)/ρ), at a plastic volume ratio J_P (1 for fresh
    /// snow).
    pub fn wave_speed_m_s(&self, plastic_volume: f64) -> f64 {
        let (mu, lambda) = self.lame_pa();
        let hardening = if self.plastic { (self.hardening * (1.0 - plastic_volume)).exp() } else { 1.0 };
        (hardening * (lambda + 2.0 * mu) / self.density_kg_m3).sqrt()
    }
}

/// Transfer of velocities between particles and grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// PIC/FLIP blend (Breekveldt2017 eq 3.31), which damps rotation; forces by gradients of the weights.
    PicFlip,
    /// Affine particle-in-cell (Jiang et al. 2015), which conserves angular momentum; forces by gradients of
    /// the weights.
    #[default]
    Apic,
    /// MLS-MPM (Hu et al. 2018): APIC whose affine velocity is also the velocity gradient; forces without
    /// gradients of weights.
    Mls,
}

/// Objects on which surfaces that are not sticky act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contact {
    /// Particles, by elastic normal forces and Coulomb friction at the surface of the snow. Needs an affine
    /// transfer and an explicit step.
    Particles,
    /// Nodes at or behind the surface, by inelastic collisions (Breekveldt2017 sec 3.2.5). Snow is held up to
    /// 1.3 cells before the surface, and rolling is damped per step.
    Nodes,
}

/// B-spline weights of a particle on the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spline {
    /// Cubic: four nodes along each axis (Breekveldt2017 eq 3.3).
    #[default]
    Cubic,
    /// Quadratic: three nodes along each axis.
    Quadratic,
}

/// Source of a particle's volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InitialVolume {
    /// Mass over the grid's density around the particle at the start (Breekveldt2017 eq 3.12 to 3.14). It
    /// falls off within two cells of a surface: a bar five cells thick is 17 % too stiff.
    Grid,
    /// Share of the volume of the shape that the particle was sampled from, in proportion to its mass.
    #[default]
    Sampled,
}

/// Summation of particles on the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rasterization {
    /// Blocks sum their particles on tiles of nodes, and nodes sum the tiles, in a fixed order: reproducible.
    #[default]
    #[serde(alias = "gather")]
    Tiles,
    /// Particles add to nodes by integer atomics in 64-bit fixed point: reproducible.
    FixedPoint,
    /// Particles add to nodes by floating-point atomics: the result depends on their order, and differs from
    /// run to run.
    FloatAtomics,
}

/// Evaluation of the cubic spline, and the quantity that is summed over nodes. Both variants are the same
/// function, apart from rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// Evaluated as (2 − |x|)³/6 near its end, where it is close to 0: exact to rounding of the weight
    /// itself. Particles sum the differences of the nodes' velocities from their own, so that the rounding of
    /// Σ w = 1 and Σ ∇w = 0 adds no momentum and no strain.
    #[default]
    Factored,
    /// Evaluated as printed in Breekveldt2017 eq 3.3: weights near its end are off by the rounding of 1, and
    /// may be negative. Particles sum velocities of nodes, as printed in eq 3.26 and 3.32.
    AsPrinted,
}

/// Semi-implicit integration: (I + β Δt² M⁻¹ ∂²Φ) vⁿ⁺¹ = v* (Breekveldt2017 eq 3.25), by conjugate residuals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Implicit {
    /// Integration parameter β: ½ is trapezoidal, 1 is backward Euler.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub beta: f64,
    /// Maximum number of iterations.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_iterations: u32,
    /// Relative tolerance: the solve ends when the residual, in the norm of momentum, is this share of the
    /// right-hand side's.
    #[schemars(range(min = 1e-7, max = 0.1))]
    pub tolerance: f64,
}

impl Default for Implicit {
    fn default() -> Self {
        Self { beta: 1.0, max_iterations: 30, tolerance: 1e-5 }
    }
}
