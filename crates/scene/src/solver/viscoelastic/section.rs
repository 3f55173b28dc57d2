//! The `[viscoelastic]` section: elasticity, viscosity law and walls of a non-Newtonian fluid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::feed::Feed;
use super::heat::ViscoelasticHeat;
use crate::section::Section;

/// Maximum of moduli and stresses, in Pa.
const MAX_PA: f64 = 1e12;

/// Elasticity of the fluid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Elasticity {
    /// Conformation tensor A of each particle, with stress G(A − I): an Oldroyd-B fluid with a relaxation
    /// time, a neo-Hookean solid without. With a yield stress, it flows only above that (Saramito2007).
    #[default]
    Conformation,
    /// Strain tensor S of each particle (Huang2016 eq 2.24–2.28), with stress 2μS, yield strain γ and decay
    /// α.
    StrainTensor,
    /// Springs between neighbours, with rest lengths that flow beyond the yield strain γ at the rate α
    /// (Clavet2005; Huang2016 algorithm 3).
    Springs,
    /// No elasticity: a fluid of the viscosity law alone.
    None,
}

impl Elasticity {
    /// Returns the name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conformation => "conformation",
            Self::StrainTensor => "strain_tensor",
            Self::Springs => "springs",
            Self::None => "none",
        }
    }
}

/// Dependence of viscosity on the rate of shear γ̇ = √(2 D:D).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViscosityModel {
    /// η = `fluid.dynamic_viscosity_pa_s`.
    #[default]
    Newtonian,
    /// η = η∞ + (η₀ − η∞)(1 + (tγ̇)²)^((n−1)/2) with η₀ = `fluid.dynamic_viscosity_pa_s` (Carreau1972).
    Carreau,
    /// η = K γ̇^(n−1).
    PowerLaw,
    /// η = τ_y/γ̇ + K γ̇^(n−1), a solid below the yield stress τ_y (Herschel1926); Bingham's fluid for n = 1.
    HerschelBulkley,
}

/// Viscosity law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViscosityLaw {
    /// Dependence on the rate of shear.
    #[serde(default)]
    pub model: ViscosityModel,
    /// Exponent n: below 1 shear thins, above 1 shear thickens.
    #[serde(default = "one")]
    #[schemars(range(min = 0.05, max = 5))]
    pub exponent: f64,
    /// Viscosity η∞ at high rates of shear in Pa s; of `carreau`.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1e9))]
    pub infinite_shear_pa_s: f64,
    /// Time t in s, the reciprocal of the rate at which thinning begins; of `carreau`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub time_s: Option<f64>,
    /// Consistency K in Pa sⁿ; of `power_law` and `herschel_bulkley`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub consistency_pa_s_n: Option<f64>,
    /// Yield stress τ_y in Pa; of `herschel_bulkley`.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_PA))]
    pub yield_stress_pa: f64,
    /// Bound of the viscosity in Pa s at low rates; by default a thousand times that at 1/s. Below the yield
    /// stress the fluid creeps at γ̇ = τ/η.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_pa_s: Option<f64>,
}

impl Default for ViscosityLaw {
    fn default() -> Self {
        Self {
            model: ViscosityModel::Newtonian,
            exponent: 1.0,
            infinite_shear_pa_s: 0.0,
            time_s: None,
            consistency_pa_s_n: None,
            yield_stress_pa: 0.0,
            max_pa_s: None,
        }
    }
}

/// Ratio of the bound of a viscosity law and its viscosity at 1/s.
const DEFAULT_BOUND_RATIO: f64 = 1000.0;

impl ViscosityLaw {
    /// Returns the viscosity in Pa s at a rate of shear in 1/s, for a fluid whose Newtonian viscosity is
    /// `newtonian_pa_s`.
    pub fn viscosity_pa_s(&self, newtonian_pa_s: f64, rate_per_s: f64) -> f64 {
        self.unbounded_pa_s(newtonian_pa_s, rate_per_s).min(self.bound_pa_s(newtonian_pa_s))
    }

    fn unbounded_pa_s(&self, newtonian_pa_s: f64, rate: f64) -> f64 {
        let power = |rate: f64| self.consistency_pa_s_n.unwrap_or(0.0) * rate.powf(self.exponent - 1.0);
        match self.model {
            ViscosityModel::Newtonian => newtonian_pa_s,
            ViscosityModel::Carreau => {
                let base = 1.0 + (self.time_s.unwrap_or(0.0) * rate).powi(2);
                let thinning = newtonian_pa_s - self.infinite_shear_pa_s;
                self.infinite_shear_pa_s + thinning * base.powf(0.5 * (self.exponent - 1.0))
            }
            ViscosityModel::PowerLaw => power(rate),
            ViscosityModel::HerschelBulkley => self.yield_stress_pa / rate + power(rate),
        }
    }

    /// Returns the upper bound of the viscosity in Pa s.
    pub fn bound_pa_s(&self, newtonian_pa_s: f64) -> f64 {
        let at_one = || DEFAULT_BOUND_RATIO * self.unbounded_pa_s(newtonian_pa_s, 1.0);
        match self.model {
            ViscosityModel::Newtonian => newtonian_pa_s,
            ViscosityModel::Carreau => match self.exponent <= 1.0 {
                true => newtonian_pa_s.max(self.infinite_shear_pa_s),
                false => self.max_pa_s.unwrap_or_else(at_one),
            },
            _ => self.max_pa_s.unwrap_or_else(at_one),
        }
    }
}

/// Flow in which the upper and the lower y face move along x, so that the fluid between is sheared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShearDrive {
    /// Rate of shear in 1/s, or its amplitude: the faces move at ± half of it times their distance.
    #[schemars(range(min = -1e6, max = 1e6))]
    pub rate_per_s: f64,
    /// Frequency in Hz at which the rate oscillates, as a cosine; with 0 the rate is steady.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1e6))]
    pub frequency_hz: f64,
    /// Time in s at which the faces stop; by default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e9))]
    pub stop_s: Option<f64>,
    /// True if the fluid begins with the velocities of the steady flow, as if it had no inertia.
    #[serde(default = "yes")]
    pub is_developed: bool,
}

/// A non-Newtonian fluid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Viscoelastic {
    /// Elasticity model.
    pub elasticity: Elasticity,
    /// Shear modulus in Pa: G of `conformation`, μ of `strain_tensor`, and that of the lattice of `springs`,
    /// averaged over all directions.
    #[schemars(range(min = 0, max = MAX_PA))]
    pub modulus_pa: f64,
    /// Relaxation time λ in s of `conformation`; without it stress does not relax.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        extend("exclusiveMinimum" = 0),
        extend("hint" = "for a fluid without memory elasticity = \"none\", for one that never relaxes leave \
                         it out")
    )]
    pub relaxation_time_s: Option<f64>,
    /// Yield stress in Pa of `conformation`, by the norm √(τ:τ/2) of the stress deviator: below it stress
    /// does not relax. Without a relaxation time, stress above it flows away at once. By default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_PA))]
    pub yield_stress_pa: Option<f64>,
    /// Yield strain γ of `strain_tensor` (Huang2016 eq 2.26), by the Frobenius norm; strain beyond it decays.
    /// Of `springs` the share of its rest length by which a spring may be longer or shorter before it flows.
    #[schemars(range(min = 0, max = 1))]
    pub yield_strain: f64,
    /// Decay rate α in 1/s of strain beyond the yield strain, of `strain_tensor` (Huang2016 eq 2.26) and of
    /// `springs` (Clavet2005).
    #[schemars(range(min = 0, max = 1e9))]
    pub decay_per_s: f64,
    /// True for `springs` that are made once, between the first positions, and never change; else neighbours
    /// get new springs and springs that have flowed beyond the support radius end.
    pub springs_fixed: bool,
    /// True for the elastic force of Huang2016 eq 2.24 with the stress of one end of a pair, which does not
    /// conserve momentum; of `strain_tensor`, for comparison.
    pub as_printed: bool,
    /// Viscosity law of the solvent.
    pub viscosity: ViscosityLaw,
    /// Ratio of residual and viscous impulse to which implicit viscosity is solved.
    #[schemars(range(min = 1e-7, max = 0.5))]
    pub viscosity_tolerance: f64,
    /// Maximum of iterations of implicit viscosity in a step.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_viscosity_iterations: u32,
    /// Viscosity of motion that the gradient of velocity does not resolve, over ρ c d with the speed c of
    /// elastic shear waves: elastic forces do not act on such motion, and nothing else would end it. Explicit
    /// steps reduce it to their stability limit.
    #[schemars(range(min = 0, max = 10))]
    pub unresolved_damping: f64,
    /// Restitution of walls without stick: share of its approach velocity with which a particle leaves.
    #[schemars(range(min = 0, max = 1))]
    pub wall_restitution: f64,
    /// Coulomb friction μ of walls without stick.
    #[schemars(range(min = 0, max = 10))]
    pub wall_friction: f64,
    /// True if the fluid sticks to the faces of the domain: no slip, and no gap opens. By default true
    /// without elasticity and false with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stick: Option<bool>,
    /// Shear between the y faces, to which the fluid then sticks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear: Option<ShearDrive>,
    /// Bulk viscosity ζ over the viscosity η. The density constraint only pushes: it is bulk viscosity that
    /// makes a stretched jet thin instead of opening, by (1 + η/ζ)⁻¹ of what an incompressible one does.
    #[schemars(range(min = 0, max = 100))]
    pub bulk_viscosity_ratio: f64,
    /// Particle shifting: in stretched fluid, particles move from where neighbours are dense to where they
    /// are sparse, at this many times the rate of stretch. With 12, threads follow theory until half of their
    /// cross-section is left; without, their layers part in pairs, and they crumble at 0.7 of it. Angular
    /// momentum is not conserved, and heaps spread too fast. None with springs, which it would stretch.
    #[schemars(range(min = 0, max = 100))]
    pub particle_shifting: f64,
    /// Nozzle that feeds particles into the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feed: Option<Feed>,
    /// Conduction of heat, and viscosity that follows temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<ViscoelasticHeat>,
}

impl Default for Viscoelastic {
    fn default() -> Self {
        Self {
            elasticity: Elasticity::default(),
            modulus_pa: 1000.0,
            relaxation_time_s: None,
            yield_stress_pa: None,
            yield_strain: 0.0,
            decay_per_s: 0.0,
            springs_fixed: false,
            as_printed: false,
            viscosity: ViscosityLaw::default(),
            viscosity_tolerance: 1e-3,
            max_viscosity_iterations: 60,
            unresolved_damping: 0.3,
            wall_restitution: 0.0,
            wall_friction: 0.5,
            stick: None,
            shear: None,
            bulk_viscosity_ratio: 0.0,
            particle_shifting: 0.0,
            feed: None,
            heat: None,
        }
    }
}

impl Section for Viscoelastic {
    const NAME: &'static str = "viscoelastic";
    const DESCRIPTION: &'static str =
        "Elasticity and viscosity of a non-Newtonian fluid, in scenes of `solver.kind = \"viscoelastic\"`.";
}

impl Viscoelastic {
    /// Returns true if the fluid sticks to the faces of the domain.
    pub fn sticks(&self) -> bool {
        self.stick.unwrap_or(self.elasticity == Elasticity::None)
    }

    /// Returns the shear modulus in Pa, 0 without elasticity.
    pub fn modulus_pa(&self) -> f64 {
        if self.elasticity == Elasticity::None { 0.0 } else { self.modulus_pa }
    }
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}
