//! The scene file's `[snow]` section: contact, links, heat and phase change (Chen2021).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::xsph::Xsph;
use crate::check::{MAX_TEMPERATURE_C, MIN_TEMPERATURE_C};
use crate::section::Section;

/// Maximum number of links of a particle, and of rounds of making them in a step: the capacity of a build of
/// bonds.
const MAX_LINKS: u32 = 32;
const MAX_LINK_ROUNDS: u32 = 256;

/// Minimum distance of contact and links, in spacings.
pub(super) const MIN_DISTANCE_SPACINGS: f64 = 0.1;

/// Snow and its interaction with water. Numbers without a unit are those of Chen2021, table 8.4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Snow {
    /// Contact radius r of a particle, in spacings of its phase (eq 5.13).
    #[schemars(range(min = MIN_DISTANCE_SPACINGS, max = 1))]
    pub contact_radius_spacings: f64,
    /// Density ρ_s in kg/m³ of snow as placed, such as 917 (ice) or 300 to 550 (packed); by default that of
    /// water, as in the paper. Particles of both have one mass, and those of snow a spacing of (ρ₀/ρ_s)^⅓ d,
    /// in which the section's lengths are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density_kg_m3: Option<f64>,
    /// Young's modulus E in Pa of snow on its cubic lattice with all 18 links of a particle. Contacts and
    /// links are springs of 2/5 E d, d being its spacing; their stiffness does not depend on the time step,
    /// and on `pbd.iterations` only if the step cannot resolve it (see `frazil check`).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub youngs_modulus_pa: f64,
    /// Compliance in m/N of a contact, the inverse of its spring constant, in place of that by
    /// `youngs_modulus_pa`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub contact_compliance_m_n: Option<f64>,
    /// Share k_bounce of an overlap that one Jacobi iteration corrects (eq 5.14), in place of a
    /// spring: the paper's contact, whose stiffness depends on the step and on the iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub non_penetration_stiffness: Option<f64>,
    /// Divisor of the corrections of a particle under several constraints (eq 5.26); springs do not need it.
    pub averaging: Averaging,
    /// Coefficient of static friction μ_s (eq 5.22).
    #[schemars(range(min = 0, max = 10))]
    pub static_friction: f64,
    /// Coefficient of kinetic friction μ_k (eq 5.22), at most the static one.
    #[schemars(range(min = 0, max = 10))]
    pub kinetic_friction: f64,
    /// Rate in 1/s of XSPH between snow particles, as `fluid.xsph_rate_per_s` between those of water; by
    /// default 3.75 √(g/d), which damps the vibration of snow that settles.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e6))]
    pub xsph_rate_per_s: Option<f64>,
    /// XSPH coefficient of snow per step (eq 5.20), in place of the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub xsph_viscosity: Option<f64>,
    /// Stiffness of shape matching: the share of the distance to the best fit of its linked neighbourhood
    /// that a particle moves in an iteration; 0 (off) as in the paper.
    #[schemars(range(min = 0, max = 1))]
    pub shape_stiffness: f64,
    /// Bonds between snow particles.
    pub links: Links,
    /// Heat conduction and freezing.
    pub heat: Heat,
    /// Transition of a particle from one phase to the other.
    pub transition: Transition,
}

impl Snow {
    /// Returns XSPH as the section states it.
    pub fn xsph(&self) -> Xsph {
        Xsph { rate_per_s: self.xsph_rate_per_s, per_step: self.xsph_viscosity }
    }
}

impl Section for Snow {
    const NAME: &'static str = "snow";
    const DESCRIPTION: &'static str = "Snow beside the water: contact, links, heat and the change from one \
        to the other. Without it there is water only.";
}

/// Averaging of corrections from several constraints (eq 5.26).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Averaging {
    /// Each pair's correction is divided by the larger of the numbers of constraints at its two ends: no
    /// particle is corrected by more than in eq 5.26, and momentum is conserved.
    #[default]
    Pairwise,
    /// Corrections are added without averaging: stiffer, and stable as long as stiffness, over-relaxation and
    /// the number of contacts are small.
    Off,
}

/// Bonds between snow particles (Chen2021 §4.1.2, §6.2.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Links {
    /// Maximum number of links of a particle.
    pub limit: LinkLimit,
    /// Limit n_max.
    #[schemars(range(min = 1, max = MAX_LINKS), extend("hint" = "limit = \"none\" makes snow without links"))]
    pub most: u32,
    /// Temperature T_link in °C: only particles no warmer than this are linked (eq 6.7). At most the freezing
    /// temperature.
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub temperature_c: f64,
    /// Maximum distance in spacings at which particles of the initial state are linked, up to the support
    /// radius. The default reaches the 6 nearest and the 12 next neighbours of the cubic lattice.
    #[schemars(range(min = MIN_DISTANCE_SPACINGS))]
    pub initial_reach_spacings: f64,
    /// Maximum distance in spacings at which a link is made later, up to the support radius. By default
    /// particles must touch, so that broken parts stay apart. Above a link's breaking length (the paper's
    /// value is the support radius) the snow yields.
    #[schemars(range(min = MIN_DISTANCE_SPACINGS))]
    pub reach_spacings: f64,
    /// Stretch at which a link breaks: its length over its length when it was made. The tensile strength of
    /// the snow is (break_ratio − 1) E.
    #[schemars(range(min = 1, max = 1e9))]
    pub break_ratio: f64,
    /// Stiffness k_stretch: share of a link's stretch that one iteration corrects (eq 5.12), in place of a
    /// spring: the paper's link, whose stiffness depends on the step and on the iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub stiffness: Option<f64>,
    /// Compliance in m/N of a link, the inverse of its spring constant, in place of that by
    /// `snow.youngs_modulus_pa`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub compliance_m_n: Option<f64>,
    /// Relaxation time τ in s of the dampers parallel to the springs of links (Kelvin–Voigt: viscosity E τ);
    /// 0: none. A mode of angular frequency ω has the damping ratio ω τ/2.
    #[schemars(range(min = 0, max = 1000))]
    pub damping_s: f64,
    /// Algorithm that makes links.
    pub builder: LinkBuilder,
    /// Number of rounds of making links in a step.
    #[schemars(range(min = 1, max = MAX_LINK_ROUNDS))]
    pub rounds: u32,
}

/// Maximum number of links of a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkLimit {
    /// No links: snow as loose as sand.
    None,
    /// Up to `most` links below T_link: cold snow is cohesive.
    #[default]
    Constant,
    /// More links at lower temperatures: none at freezing, `most` at homogeneous freezing (eq 6.8). Below
    /// about ten links a particle snow gives way.
    Dynamic,
}

/// Algorithm that makes links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkBuilder {
    /// Nearest neighbours first, ties broken by id: the same bits on every run.
    #[default]
    Reproducible,
    /// Compare-and-swap as in the paper: faster, but dependent on the order of threads.
    CompareAndSwap,
}

/// Heat conduction and freezing (Chen2021 eq 6.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Heat {
    /// Specific heat capacity of snow in J/(kg K).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub snow_capacity_j_kg_k: f64,
    /// Specific heat capacity of water in J/(kg K).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub water_capacity_j_kg_k: f64,
    /// Heat conductivity of snow in W/(m K).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub snow_conductivity_w_m_k: f64,
    /// Heat conductivity of water in W/(m K).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub water_conductivity_w_m_k: f64,
    /// T_freeze in °C, at which water freezes and snow melts.
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub freezing_temperature_c: f64,
    /// T_homo in °C, below which water freezes everywhere at once; below T_freeze.
    #[schemars(range(min = MIN_TEMPERATURE_C, max = MAX_TEMPERATURE_C))]
    pub homogeneous_freezing_temperature_c: f64,
    /// Law of conduction between two particles.
    pub law: ConductionLaw,
    /// Weights of pairs in heat conduction.
    pub conduction: Conduction,
    /// Treatment of latent heat.
    pub latent_heat: LatentHeat,
    /// Latent heat of melting in J/kg; used with `latent_heat = "enthalpy"`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub latent_heat_j_kg: f64,
}

/// Law of conduction between two particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConductionLaw {
    /// The harmonic mean 2k_ik_j/(k_i + k_j), and a sum over neighbours that is exact on the lattice.
    #[default]
    Fourier,
    /// Eq 6.1 with 4k_ik_j/(k_i + k_j), and the kernel's sum as it is, with ρ₀ for densities: at the paper's
    /// support radius 2.21 times as fast. Requires `conduction = "uncorrected"`, and no true latent heat.
    Printed,
}

impl ConductionLaw {
    /// Returns the conductivity of a pair over the harmonic mean of its ends.
    pub fn harmonic_means(self) -> f64 {
        match self {
            Self::Fourier => 1.0,
            Self::Printed => 2.0,
        }
    }
}

/// Weights of pairs in heat conduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conduction {
    /// No heat passes the walls of the domain: neighbours have images behind them. Elsewhere the second
    /// moments of a particle's neighbours are made those of a full neighbourhood, so that free surfaces,
    /// bodies and packings that are not lattices conduct by Fourier's law, too.
    #[default]
    Corrected,
    /// The kernel's Laplacian alone, as in the paper: two thirds to nine tenths of the conductivity along
    /// walls and free surfaces.
    Uncorrected,
}

/// Treatment of latent heat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LatentHeat {
    /// No latent heat; as in the paper, a particle that has changed phase may not change back before it has
    /// blended in (eq 6.4). Σ m c T jumps by m Δc T with every change of phase; the jump is reported.
    #[default]
    Blending,
    /// Specific enthalpy as a column, from which temperature follows: total enthalpy is conserved.
    Enthalpy,
}

/// Transition of a particle from one phase to the other (Chen2021 §6.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Transition {
    /// Growth of the blending coefficient α in 1/s; by default 8, the paper's 0.01 in a step of 1.25 ms. From
    /// 1 in a step on there is no blending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1e9), extend("exclusiveMinimum" = 0))]
    pub blend_rate_per_s: Option<f64>,
    /// Growth of α per step (eq 6.2), in place of the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000), extend("exclusiveMinimum" = 0))]
    pub blend_speed: Option<f64>,
    /// α_threshold (eq 6.4): a particle may change phase again once its α is above it.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub blend_threshold: f64,
}

impl Default for Snow {
    /// Returns the friction of Chen2021 table 8.4, and a Young's modulus between the lower one and
    /// that of reference in Stomakhin et al. (2013), 4.8e4 and 1.4e5 Pa, which the default step resolves.
    fn default() -> Self {
        Self {
            contact_radius_spacings: 0.5,
            density_kg_m3: None,
            youngs_modulus_pa: 1e5,
            contact_compliance_m_n: None,
            non_penetration_stiffness: None,
            averaging: Averaging::default(),
            static_friction: 0.5,
            kinetic_friction: 0.35,
            xsph_rate_per_s: None,
            xsph_viscosity: None,
            shape_stiffness: 0.0,
            links: Links::default(),
            heat: Heat::default(),
            transition: Transition::default(),
        }
    }
}

impl Default for Links {
    fn default() -> Self {
        Self {
            limit: LinkLimit::default(),
            most: 18,
            temperature_c: 0.0,
            initial_reach_spacings: 1.7,
            reach_spacings: 1.0,
            break_ratio: 1.1,
            stiffness: None,
            compliance_m_n: None,
            damping_s: 0.02,
            builder: LinkBuilder::default(),
            rounds: 1,
        }
    }
}

impl Default for Heat {
    /// Returns the heat capacities of Chen2021 table 8.3, and conductivities of ice and water at 0 °C (CRC
    /// Handbook of Chemistry and Physics).
    fn default() -> Self {
        Self {
            snow_capacity_j_kg_k: 2090.0,
            water_capacity_j_kg_k: 4182.0,
            snow_conductivity_w_m_k: 2.2,
            water_conductivity_w_m_k: 0.56,
            freezing_temperature_c: 0.0,
            homogeneous_freezing_temperature_c: -30.0,
            law: ConductionLaw::default(),
            conduction: Conduction::default(),
            latent_heat: LatentHeat::default(),
            latent_heat_j_kg: 333_600.0,
        }
    }
}

/// Growth of α in 1/s that a scene does not state.
const BLEND_RATE_PER_S: f64 = 8.0;

impl Transition {
    /// Returns the growth of α in a step of a length in s.
    pub fn blend_step(&self, dt_s: f64) -> f64 {
        self.blend_speed.unwrap_or(self.blend_rate_per_s.unwrap_or(BLEND_RATE_PER_S) * dt_s)
    }
}

impl Default for Transition {
    fn default() -> Self {
        Self { blend_rate_per_s: None, blend_speed: None, blend_threshold: 0.5 }
    }
}
