//! The `[pbd]` section: the density constraint of position-based fluids, and the limits of their steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SolverKind;
use crate::check::number;
use crate::scene::{GRAVITY_M_S2, Scene};
use crate::section::Section;
use crate::solver::constraint_gradient::ConstraintGradient;
use crate::vector::length;

/// Parameters of the position-based method, for water, snow and viscoelastic fluids.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pbd {
    /// What keeps the density: by default `projection` for water, and `position` with what only that has: an
    /// artificial pressure, a `density_tolerance` of 0, `fluid.constraint_gradient = "prediction"`, `[snow]`
    /// or `solver.kind = "viscoelastic"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// Iterations in a step: the number of them in scenes with `[snow]` and with a `density_tolerance`
    /// of 0, the minimum otherwise. By default 3, and 1 with `solver.kind = "viscoelastic"`, whose stress
    /// keeps particles in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub iterations: Option<u32>,
    /// Error to which the density constraint of water is solved: the mean over all particles of |ρ/ρ₀ − 1|
    /// where there is pressure (`projection`) or of max(ρ/ρ₀ − 1, 0) (`position`), dimensionless. By default
    /// 1e-4 in a projection, where slow motion tightens it to a tenth, and 1e-3 for positions, with 0 for a
    /// fixed number of iterations. Not in scenes with `[snow]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub density_tolerance: Option<f64>,
    /// Rate in 1/s at which a projection takes back an excess of density, 1 − exp(−rate Δt) of it in each
    /// step; by default 2 √(g/d), 63/s at a spacing of 1 cm, with standard gravity in scenes without. An
    /// excess below 2.5 % is taken back as fast as one of 2.5 %, and any at a tenth of the speed at which
    /// neighbours approach or leave each other. A motion to rest density within a step would add the energy
    /// of its speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1e6))]
    pub density_rate_per_s: Option<f64>,
    /// Maximum of iterations in a step with a `density_tolerance`.
    #[schemars(range(min = 1, max = 1000))]
    pub max_iterations: u32,
    /// Factor ω on the averaged position corrections (Chen2021 eq 5.26–5.27), and on those of the pressure in
    /// a projection, which does not converge with much more than 0.5.
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

/// Method by which water keeps its density.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pressure {
    /// Corrections of predicted positions by Jacobi iterations (Macklin & Müller 2013), as in Chen2021 and
    /// Huang2016. Motion of single particles is damped; angular momentum is conserved to the first order in
    /// the step.
    Position,
    /// Projection of velocities at fixed positions, to those that keep the density at the end of the step to
    /// the first order (Ihmsen2014): linear and angular momentum are conserved to rounding, and the pressure
    /// of the last step is the first guess. Motion of single particles is damped by XSPH only.
    Projection,
}

impl Default for Pbd {
    fn default() -> Self {
        Self {
            pressure: None,
            iterations: None,
            density_tolerance: None,
            density_rate_per_s: None,
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

    /// Returns the method by which the density is kept.
    pub fn pressure(&self) -> Pressure {
        let by_default = match self.obstacle_to_projection() {
            None => Pressure::Projection,
            Some(_) => Pressure::Position,
        };
        self.pbd().pressure.unwrap_or(by_default)
    }

    /// Returns the key of what a projection does not have, as found, and what it expects instead.
    pub(crate) fn obstacle_to_projection(&self) -> Option<[String; 3]> {
        let pbd = self.pbd();
        let gradient = self.fluid().and_then(|fluid| fluid.constraint_gradient);
        let strength = pbd.artificial_pressure.strength;
        let [key, found, expected] = if self.snow().is_some() {
            ["pbd.pressure", "\"projection\" in a scene with [snow]", "\"position\", the default"]
        } else if self.solver.kind != SolverKind::DEFAULT {
            let kind = self.solver.kind.name();
            let found = format!("\"projection\" in a scene of solver.kind = \"{kind}\"");
            return Some(["pbd.pressure".into(), found, "\"position\", the default".into()]);
        } else if pbd.density_tolerance == Some(0.0) {
            ["pbd.density_tolerance", "0 in a projection", "a number above 0, such as 1e-4, the default"]
        } else if strength != 0.0 {
            let found = format!("{} in a projection", number(strength));
            return Some(["pbd.artificial_pressure.strength".into(), found, "0, the default".into()]);
        } else if gradient == Some(ConstraintGradient::Prediction) {
            let found = "\"prediction\" in a projection, which takes those at the start";
            ["fluid.constraint_gradient", found, "no such line"]
        } else {
            return None;
        };
        Some([key, found, expected].map(str::to_owned))
    }

    /// Returns the error to which the density of water is solved, 0 for a fixed number of iterations.
    pub fn density_tolerance(&self) -> f64 {
        let by_default = match self.pressure() {
            Pressure::Position => 1e-3,
            Pressure::Projection => 1e-4,
        };
        self.pbd().density_tolerance.unwrap_or(by_default)
    }

    /// Returns the share of an excess of density that a step of a projection takes back.
    pub fn density_excess_share(&self) -> f64 {
        let rate_per_s = self.pbd().density_rate_per_s.unwrap_or_else(|| self.default_density_rate_per_s());
        -(-rate_per_s * self.dt_s()).exp_m1()
    }

    /// Returns the share of a deficit of density within water that a step of a projection takes back.
    pub fn density_deficit_share(&self) -> f64 {
        -(-self.default_density_rate_per_s() * self.dt_s()).exp_m1()
    }

    /// Returns 2 √(g/d) in 1/s, with standard gravity in scenes without.
    fn default_density_rate_per_s(&self) -> f64 {
        let gravity_m_s2 = Some(length(self.gravity_m_s2())).filter(|g| *g > 0.0).unwrap_or(GRAVITY_M_S2);
        2.0 * (gravity_m_s2 / self.particle_spacing_m()).sqrt()
    }

    /// Returns ε in the denominator of the density constraint's multiplier, in 1/m².
    pub fn constraint_epsilon_per_m2(&self) -> f64 {
        let h = self.support_radius_m();
        self.pbd().constraint_relaxation / (h * h)
    }
}
