//! Limit on the mechanical energy of a scene in which nothing does work on the particles.

use crate::failure::Failure;
use frazil_scene::Scene;
use frazil_solvers::{Measurement, MetricInfo, suggest_dt};

/// Limit on kinetic and potential energy, relative to the first state measured.
///
/// The elastic energy of later states is left out, since not all solvers know theirs: it is never negative,
/// so that a state beyond the limit has too much energy in any case. A scene whose first state has none
/// beyond rounding, as at rest without gravity, has no limit.
#[derive(Debug)]
pub struct EnergyLimit {
    /// Places of kinetic and potential energy among the metrics.
    moving: Vec<usize>,
    elastic: Option<usize>,
    /// Step and energy in J of the first state.
    start: Option<(u64, f64)>,
}

impl EnergyLimit {
    /// Makes the limit of a run whose solver measures `metrics`. Without an energy among them there is none.
    pub fn new(metrics: &[MetricInfo]) -> Self {
        let place = |name: &str| metrics.iter().position(|metric| metric.name == name);
        Self {
            moving: ["total_energy", "rotational_energy"].into_iter().filter_map(place).collect(),
            elastic: place("elastic_energy"),
            start: None,
        }
    }

    /// Starts anew from the next state, after a change that may do work on the particles.
    pub fn restart(&mut self) {
        self.start = None;
    }

    /// Checks the state after `step` steps. `scene` is the present one.
    ///
    /// # Errors
    /// An energy beyond `solver.max_energy_ratio` of the first one, unless the scene is driven.
    pub fn check(&mut self, scene: &Scene, step: u64, measured: &Measurement) -> Result<(), Failure> {
        if self.moving.is_empty() || scene.is_driven() {
            return Ok(());
        }
        let value = |place: &usize| measured.values.get(*place).copied().unwrap_or(0.0);
        let energy_j: f64 = self.moving.iter().map(value).sum();
        let (first, start_j) =
            *self.start.get_or_insert((step, energy_j + self.elastic.as_ref().map_or(0.0, value)));
        let max_ratio = scene.solver.max_energy_ratio;
        let mass_kg = f64::from(measured.summary.n_particles) * scene.particle_mass_kg();
        if start_j <= rounding_j(scene, mass_kg) || energy_j <= max_ratio * start_j {
            return Ok(());
        }
        Err(Failure::invariant(format!(
            "step {step}: kinetic and potential energy of {energy_j:.4e} J, {:.2} times the energy of \
             {start_j:.4e} J at step {first}, expected at most {max_ratio} times (solver.max_energy_ratio), \
             since nothing does work on the particles; {}, or, if it grows from the first step on, wider \
             spacing at the start",
            energy_j / start_j,
            suggest_dt(scene.dt_s(), f64::NAN, scene.time.duration_s)
        )))
    }
}

/// Returns a kinetic energy in J that rounding of positions may give: that of ten units in the last place of
/// the largest coordinate in a step.
fn rounding_j(scene: &Scene, mass_kg: f64) -> f64 {
    let corners = scene.domain.min_m.into_iter().chain(scene.domain.max_m);
    let farthest_m = corners.map(f64::abs).fold(0.0, f64::max);
    0.5 * mass_kg * (10.0 * f64::from(f32::EPSILON) * farthest_m / scene.dt_s()).powi(2)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_solvers::StateSummary;

    fn measured(values: &[f64]) -> Measurement {
        let summary = StateSummary { n_particles: 1000, ..StateSummary::default() };
        Measurement { summary, values: values.to_vec() }
    }

    fn scene(overrides: &[&str]) -> Scene {
        let overrides: Vec<String> = overrides.iter().map(|set| (*set).to_owned()).collect();
        Scene::find("dam_break", &overrides).unwrap()
    }

    #[test]
    fn energy_beyond_the_limit_is_a_fault_with_both_numbers() {
        let metrics = MetricInfo::list([("elastic_energy", "J"), ("total_energy", "J")]);
        let mut limit = EnergyLimit::new(&metrics);
        let scene = scene(&[]);
        assert!(limit.check(&scene, 0, &measured(&[1.0, 3.0])).is_ok());
        // The limit is 1.5 times 4 J, and later elastic energy does not count.
        assert!(limit.check(&scene, 5, &measured(&[9.0, 6.0])).is_ok());
        let failure = limit.check(&scene, 10, &measured(&[0.0, 6.1])).unwrap_err().to_string();
        assert!(failure.starts_with("step 10: kinetic and potential energy of 6.1000e0 J, 1.5"), "{failure}");
        assert!(failure.contains("4.0000e0 J at step 0") && failure.contains("solver.max_energy_ratio"));
        limit.restart();
        assert!(limit.check(&scene, 20, &measured(&[0.0, 6.1])).is_ok());
    }

    #[test]
    fn scenes_with_work_or_without_energy_have_no_limit() {
        let metrics = MetricInfo::list([("total_energy", "J")]);
        let grows = |scene: &Scene, start_j: f64, end_j: f64| {
            let mut limit = EnergyLimit::new(&metrics);
            limit.check(scene, 0, &measured(&[start_j])).is_ok()
                && limit.check(scene, 1, &measured(&[end_j])).is_ok()
        };
        assert!(!grows(&scene(&[]), 1.0, 2.0));
        assert!(grows(&scene(&["solver.max_energy_ratio=3.0"]), 1.0, 2.0));
        assert!(grows(&scene(&[]), 0.0, 2.0) && grows(&scene(&[]), 1e-12, 2.0));
        assert!(grows(&Scene::find("drum", &[]).unwrap(), 1.0, 2.0));
        assert!(EnergyLimit::new(&[]).check(&scene(&[]), 0, &measured(&[])).is_ok());
    }
}
