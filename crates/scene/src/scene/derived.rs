//! What follows from a scene's values.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Vec3;
use crate::scene::{GRAVITY_M_S2, Scene};

/// What follows from a scene's values, for the record beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    /// Mass of a particle in kg.
    pub particle_mass_kg: f64,
    /// Support radius of the smoothing kernels or splines in m.
    pub support_radius_m: f64,
    /// Time step Δt in s.
    pub dt_s: f64,
    /// ε of the density constraint in 1/m².
    pub constraint_epsilon_per_m2: f64,
    /// Gravity in m/s².
    pub gravity_m_s2: Vec3,
    /// Steps in the scene's duration.
    pub n_steps: u64,
    /// What follows from the sections of the solver, by the section's name.
    #[serde(flatten)]
    pub sections: BTreeMap<&'static str, serde_json::Value>,
}

impl Scene {
    /// ε in the denominator of the density constraint's multiplier, in 1/m².
    pub fn constraint_epsilon_per_m2(&self) -> f64 {
        let h = self.support_radius_m();
        self.solver.constraint_relaxation / (h * h)
    }

    /// Gravity in m/s²: against the up axis unless the scene says otherwise.
    pub fn gravity_m_s2(&self) -> Vec3 {
        self.gravity_m_s2
            .unwrap_or_else(|| self.up_axis.unit().map(|u| if u == 0.0 { 0.0 } else { -GRAVITY_M_S2 }))
    }

    /// Steps that cover the scene's duration; the last may end a fraction of a step past it.
    pub fn n_steps(&self) -> u64 {
        // A duration meant as a whole number of steps must not gain one by the rounding of the division.
        let steps = self.time.duration_s / self.dt_s();
        (steps * (1.0 - 1e-9)).ceil() as u64
    }

    /// The values above in one record, as written to `run.json` beside the scene.
    pub fn derived(&self) -> Derived {
        Derived {
            particle_mass_kg: self.particle_mass_kg(),
            support_radius_m: self.support_radius_m(),
            dt_s: self.dt_s(),
            constraint_epsilon_per_m2: self.constraint_epsilon_per_m2(),
            gravity_m_s2: self.gravity_m_s2(),
            n_steps: self.n_steps(),
            sections: self.derived_sections(),
        }
    }
}
