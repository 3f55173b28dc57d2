//! Quantities derived from a scene's values.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Vec3;
use crate::scene::{GRAVITY_M_S2, Scene};

/// Quantities derived from a scene's values, recorded beside the scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    /// Mass of a particle in kg.
    pub particle_mass_kg: f64,
    /// Support radius of the smoothing kernels or splines in m.
    pub support_radius_m: f64,
    /// Time step Δt of the solver in s; of `substeps = "auto"` the longest.
    pub dt_s: f64,
    /// Gravity in m/s².
    pub gravity_m_s2: Vec3,
    /// Steps in the scene's duration.
    pub n_steps: u64,
    /// Quantities derived from the solver's sections, by the section's name.
    #[serde(flatten)]
    pub sections: BTreeMap<&'static str, serde_json::Value>,
}

impl Scene {
    /// Returns gravity in m/s²: against the up axis unless the scene says otherwise.
    pub fn gravity_m_s2(&self) -> Vec3 {
        self.gravity_m_s2
            .unwrap_or_else(|| self.up_axis.unit().map(|u| if u == 0.0 { 0.0 } else { -GRAVITY_M_S2 }))
    }

    /// Returns true if something does work on the particles, or may have energy that is not theirs: bodies
    /// that move, emitters, slabs, a nozzle, gravity along a period of the domain.
    pub fn is_driven(&self) -> bool {
        let moves = self.bodies.iter().any(|body| body.motion.is_some());
        let fed = self.solver_scene().is_some_and(|solver| solver.fall_top_m(self).is_some());
        let gravity = self.gravity_m_s2();
        let turns = (0..3).any(|axis| self.domain.periodic[axis] && gravity[axis] != 0.0);
        moves || fed || turns || !self.slabs().is_empty() || !self.emitters.is_empty()
    }

    /// Returns the number of steps that cover the scene's duration; the last may end a fraction of a step
    /// past it.
    pub fn n_steps(&self) -> u64 {
        // Rounding of the division must not add a step to a duration that is a whole number of steps.
        let steps = self.time.duration_s / self.step_s();
        (steps * (1.0 - 1e-9)).ceil() as u64
    }

    /// Returns the derived quantities in one record, as written to `run.json` beside the scene.
    pub fn derived(&self) -> Derived {
        Derived {
            particle_mass_kg: self.particle_mass_kg(),
            support_radius_m: self.support_radius_m(),
            dt_s: self.dt_s(),
            gravity_m_s2: self.gravity_m_s2(),
            n_steps: self.n_steps(),
            sections: self.derived_sections(),
        }
    }
}
