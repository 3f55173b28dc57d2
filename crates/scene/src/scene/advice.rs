//! Warnings about allowed but unusual values.

use std::fmt;

use crate::format::source::Location;
use crate::scene::Scene;

/// A warning about a valid scene that may give a poor result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Location of the value.
    pub at: Location,
    /// Path of the key.
    pub key: String,
    /// Possible problem and remedy.
    pub message: String,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.key, self.message)
    }
}

impl Scene {
    /// Returns the warnings, which are cheap to compute; none of them stops a run.
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
