//! Validates the `[pbd]` section.

use crate::Scene;
use crate::check::{Check, Checker};

impl Scene {
    pub(crate) fn check_pbd(&self, check: &Checker<'_>) -> Check {
        let pbd = self.pbd();
        check.count("pbd.iterations", self.iterations(), 1000)?;
        check.range("pbd.density_tolerance", pbd.density_tolerance, 0.0, 1.0)?;
        check.count("pbd.max_iterations", pbd.max_iterations, 1000)?;
        check.positive("pbd.over_relaxation", pbd.over_relaxation, "no unit")?;
        check.range("pbd.over_relaxation", pbd.over_relaxation, 0.0, 2.0)?;
        check.range("pbd.constraint_relaxation", pbd.constraint_relaxation, 0.0, 1e9)?;
        let pressure = pbd.artificial_pressure;
        check.range("pbd.artificial_pressure.strength", pressure.strength, 0.0, 1e9)?;
        check.range("pbd.artificial_pressure.radius_fraction", pressure.radius_fraction, 0.0, 0.9)?;
        check.count("pbd.artificial_pressure.exponent", pressure.exponent, 32)?;
        check.range("pbd.max_density_ratio", pbd.max_density_ratio, 1.0, 1e6)?;
        check.positive("pbd.max_courant", pbd.max_courant, "no unit")
    }
}
