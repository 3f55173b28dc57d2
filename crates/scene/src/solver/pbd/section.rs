//! The `[pbd]` section: the density constraint of position-based fluids, and the limits of their steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::section::Section;

/// Parameters of the position-based method, for water, snow and viscoelastic fluids.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pbd {
    /// Jacobi iterations in a step: the number of them in scenes with `[snow]` and with a `density_tolerance`
    /// of 0, the minimum otherwise. By default 3, and 1 with `solver.kind = "viscoelastic"`, whose stress
    /// keeps particles in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub iterations: Option<u32>,
    /// Error to which the density constraint of water is solved: the mean over all particles of
    /// max(ρ/ρ₀ − 1, 0), dimensionless. 0 for a fixed number of iterations; not in scenes with `[snow]`.
    #[schemars(range(min = 0, max = 1))]
    pub density_tolerance: f64,
    /// Maximum of Jacobi iterations in a step with a `density_tolerance`.
    #[schemars(range(min = 1, max = 1000))]
    pub max_iterations: u32,
    /// Factor ω on the averaged position corrections (Chen2021 eq 5.26–5.27).
    #[schemars(range(max = 2), extend("exclusiveMinimum" = 0))]
    pub over_relaxation: f64,
    /// Dimensionless relaxation of the density constraint: ε = this / h², in 1/m².
    #[schemars(range(min = 0, max = 1e9))]
    pub constraint_relaxation: f64,
    /// Artificial pressure, which stands in for surface tension and keeps particles from clumping.
    pub artificial_pressure: ArtificialPressure,
    /// Density of a particle, over the rest density, from which a step is a fault that ends the run.
    #[schemars(range(min = 1, max = 1e6))]
    pub max_density_ratio: f64,
    /// Courant number |v| Δt/h of a particle, with the support radius h, from which a step is a fault that
    /// ends the run.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_courant: f64,
}

impl Default for Pbd {
    fn default() -> Self {
        Self {
            iterations: None,
            density_tolerance: 1e-3,
            max_iterations: 30,
            over_relaxation: 0.5,
            constraint_relaxation: 0.1,
            artificial_pressure: ArtificialPressure::default(),
            max_density_ratio: 4.0,
            max_courant: 1.0,
        }
    }
}

impl Section for Pbd {
    const NAME: &'static str = "pbd";
    const DESCRIPTION: &'static str = "The density constraint of position-based fluids and the limits of \
        their steps, in scenes of `solver.kind = \"pbd\"` and `\"viscoelastic\"`.";
}

/// Artificial pressure s_corr = −k (W(r) / W(|Δq|))ⁿ, Huang2016 eq 2.21.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArtificialPressure {
    /// k, dimensionless; 0 switches it off.
    #[schemars(range(min = 0, max = 1e9))]
    pub strength: f64,
    /// |Δq| / h.
    #[schemars(range(min = 0, max = 0.9))]
    pub radius_fraction: f64,
    /// n.
    #[schemars(range(min = 1, max = 32))]
    pub exponent: u32,
}

impl Default for ArtificialPressure {
    fn default() -> Self {
        Self { strength: 0.0, radius_fraction: 0.1, exponent: 4 }
    }
}

impl Scene {
    /// Returns the `[pbd]` section, or its defaults.
    pub fn pbd(&self) -> Pbd {
        self.section().copied().unwrap_or_default()
    }

    /// Returns the `[pbd]` section for modification, if the scene has it.
    pub fn pbd_mut(&mut self) -> Option<&mut Pbd> {
        self.section_mut()
    }

    /// Returns the number of iterations in a step, or their minimum with a `pbd.density_tolerance`.
    pub fn iterations(&self) -> u32 {
        let default = || self.solver_scene().map_or(1, |solver| solver.default_iterations());
        self.pbd().iterations.unwrap_or_else(default)
    }

    /// Returns ε in the denominator of the density constraint's multiplier, in 1/m².
    pub fn constraint_epsilon_per_m2(&self) -> f64 {
        let h = self.support_radius_m();
        self.pbd().constraint_relaxation / (h * h)
    }
}
