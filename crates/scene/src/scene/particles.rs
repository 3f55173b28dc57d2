//! The `[[particles]]`: what is filled with particles at the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Shape, Vec3};

/// What a particle is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Fluid: SPH particles under a density constraint.
    #[default]
    Water,
    /// Solid: DEM particles that touch, rub and are linked. Needs a `[snow]` section.
    Snow,
}

/// How a shape is filled with particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// A cubic lattice of the fluid's spacing d. In a box the first point lies d/2 from the lower corner, so that n·d holds
    /// n points and touches both walls at d/2; in other shapes the lattice is centred.
    #[default]
    Lattice,
    /// round(volume / d³) points drawn uniformly by volume. Grains would overlap: not in scenes of the discrete element method.
    Uniform,
    /// Grains packed at random, of which none overlap: as many as fill `packing_fraction` of the shape. Scenes of the discrete
    /// element method only.
    Random,
}

/// A shape filled with particles at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParticleBlock {
    /// The region, inside the domain.
    pub shape: Shape,
    /// How it is filled.
    #[serde(default)]
    pub fill: Fill,
    /// What it is filled with.
    #[serde(default)]
    pub phase: Phase,
    /// Temperature in °C at the start.
    #[serde(default = "ParticleBlock::default_temperature_c")]
    pub temperature_c: f64,
    /// Initial velocity in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
    /// Random displacement of lattice points, up to this many spacings along each axis; 0 to 0.5.
    #[serde(default)]
    pub jitter_spacings: f64,
    /// Initial rotation about the middle of the shape's bounds, in rad/s; in a plane about z. Not in scenes of the position-based
    /// fluid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity_rad_s: Option<Vec3>,
    /// Number of particles, drawn uniformly; by default what fills the shape. In scenes of the material point method, and of grains with
    /// `fill = "random"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Share of the shape that grains filled in at random take, up to 0.58; by default 0.55, a loose heap (Onoda & Liniger 1990), or
    /// less in a shape that is narrow against its grains. With `fill = "random"` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 0.58))]
    pub packing_fraction: Option<f64>,
    /// How far masses are from their mean (Cai2020 sec 2): each is the mean times 1 ± up to this share, 0 to below 1. Scenes of
    /// the material point method only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_spread: Option<f64>,
}

impl ParticleBlock {
    /// Speed in m/s that none of its particles exceeds at the start.
    pub(crate) fn fastest_m_s(&self) -> f64 {
        let length = |v: &Vec3| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (min, max) = self.shape.bounds_m();
        let half_diagonal_m = 0.5 * length(&std::array::from_fn(|i| max[i] - min[i]));
        length(&self.velocity_m_s) + self.angular_velocity_rad_s.map_or(0.0, |w| length(&w) * half_diagonal_m)
    }

    fn default_temperature_c() -> f64 {
        20.0
    }
}
