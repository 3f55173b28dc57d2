//! What must hold of every state, whatever the scene.

use crate::failure::Failure;
use crate::solver::Metrics;

/// Refuses a measured state with lost particles, or particles that are not finite or not inside.
pub fn check_metrics(measured: &Metrics, step: u64, n_expected: usize) -> Result<(), Failure> {
    let broken = |what: String| {
        Err(Failure::invariant(format!(
            "step {step}: {what}; a smaller time.dt_s or more solver.iterations often help, and a picture of the steps \
             before shows where it began"
        )))
    };
    let metrics = measured.motion();
    if metrics.particles as usize != n_expected {
        let of_what = match measured {
            Metrics::Fluid(_) | Metrics::Mpm(_) | Metrics::Dem(_) => String::new(),
            Metrics::Snow(snow) => format!(" ({} of snow and {} of water)", snow.n_solid, snow.n_fluid),
        };
        return broken(format!("{} particles{of_what}, expected {n_expected}", metrics.particles));
    }
    if metrics.n_not_finite > 0 {
        return broken(format!("{} of {n_expected} particles are not finite", metrics.n_not_finite));
    }
    if metrics.n_outside > 0 {
        return broken(format!("{} of {n_expected} particles are outside the domain", metrics.n_outside));
    }
    Ok(())
}

/// Refuses ids that are not each number below their count exactly once.
pub fn check_ids(ids: &[u32], step: u64) -> Result<(), Failure> {
    let mut seen = vec![false; ids.len()];
    for &id in ids {
        match seen.get_mut(id as usize) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => {
                return Err(Failure::invariant(format!("step {step}: two particles have the id {id}")));
            }
            None => {
                let n = ids.len();
                return Err(Failure::invariant(format!(
                    "step {step}: found the id {id} among {n} particles"
                )));
            }
        }
    }
    Ok(())
}

/// Refuses steps that went wrong, as the solver found out itself.
pub fn check_fault(fault: Option<String>) -> Result<(), Failure> {
    fault.map_or(Ok(()), |fault| Err(Failure::invariant(fault)))
}

/// Refuses faults in the links of snow: what each is, and how many there are.
pub fn check_links(faults: &[(&'static str, u32)], step: u64) -> Result<(), Failure> {
    let found: Vec<String> =
        faults.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{n} {what}")).collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(Failure::invariant(format!("step {step}: {}", found.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;
    use frazil_solvers::pbd::{FluidMetrics, SnowMetrics};

    fn sound() -> FluidMetrics {
        FluidMetrics {
            particles: 8,
            kinetic_energy_j: 1.0,
            potential_energy_j: 1.0,
            momentum_kg_m_s: [0.0; 3],
            speed_max_m_s: 1.0,
            density_mean_kg_m3: 1000.0,
            density_max_kg_m3: 1000.0,
            lower_m: [0.0; 3],
            upper_m: [1.0; 3],
            n_not_finite: 0,
            n_outside: 0,
            bodies: Vec::new(),
        }
    }

    fn snow(all: FluidMetrics, n_solid: u32, n_fluid: u32) -> Metrics {
        Metrics::Snow(SnowMetrics {
            all,
            n_solid,
            n_fluid,
            n_melted: 0,
            n_frozen: 0,
            sensible_heat_j: 0.0,
            heat_jump_j: 0.0,
            enthalpy_j: 0.0,
            solid_mean_c: -1.0,
            fluid_mean_c: 1.0,
            coldest_c: -1.0,
            warmest_c: 1.0,
            n_links: 0,
            strain_rms: 0.0,
            solid_lower_m: [0.0; 3],
            solid_upper_m: [1.0; 3],
        })
    }

    #[test]
    fn a_sound_state_passes_and_each_fault_is_found() {
        assert!(check_metrics(&Metrics::Fluid(sound()), 3, 8).is_ok());
        assert!(check_metrics(&snow(sound(), 5, 3), 3, 8).is_ok());
        let lost = || FluidMetrics { particles: 7, ..sound() };
        for (fault, said) in [
            (Metrics::Fluid(lost()), "7 particles, expected 8"),
            (snow(lost(), 5, 2), "7 particles (5 of snow and 2 of water), expected 8"),
            (Metrics::Fluid(FluidMetrics { n_not_finite: 2, ..sound() }), "2 of 8 particles are not finite"),
            (snow(FluidMetrics { n_outside: 1, ..sound() }, 5, 3), "1 of 8 particles are outside"),
        ] {
            let failure = check_metrics(&fault, 3, 8).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Invariant);
            assert!(failure.to_string().starts_with(&format!("step 3: {said}")), "{failure}");
        }
    }

    #[test]
    fn every_kind_of_fault_in_links_is_named_with_its_number() {
        assert!(check_links(&[("knots", 0), ("loose ends", 0)], 5).is_ok());
        let failure = check_links(&[("knots", 2), ("loose ends", 0), ("tangles", 1)], 5).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invariant);
        assert_eq!(failure.to_string(), "step 5: 2 knots, 1 tangles");
    }

    #[test]
    fn each_id_must_be_there_once() {
        assert!(check_ids(&[2, 0, 1], 0).is_ok());
        assert!(check_ids(&[], 0).is_ok());
        assert!(check_ids(&[0, 1, 1], 0).unwrap_err().to_string().contains("two particles have the id 1"));
        assert!(check_ids(&[0, 3, 1], 0).unwrap_err().to_string().contains("the id 3 among 3"));
    }
}
