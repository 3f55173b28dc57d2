//! What is allowed but rarely meant.

use std::fmt;

use crate::format::source::Location;
use crate::scene::Scene;

/// A warning about a scene that can run but may disappoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Where the value stands.
    pub at: Location,
    /// Path of the key.
    pub key: String,
    /// What may go wrong and what would help.
    pub message: String,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.key, self.message)
    }
}

impl Scene {
    /// Warnings, cheap to compute: none of them stops a run.
    pub fn advice(&self) -> Vec<Advice> {
        let mut advice = Vec::new();
        let mut warn = |key: &str, message: String| {
            advice.push(Advice { at: self.source.locate(key), key: key.to_owned(), message });
        };
        if let Some(solver) = self.solver_scene() {
            solver.advise(self, &mut warn);
        }
        if self.gravity_m_s2()[self.up_axis.index()] > 0.0 {
            warn("gravity_m_s2", "points up".to_owned());
        }
        advice
    }
}
