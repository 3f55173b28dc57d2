//! What must hold of every state, whatever the scene.

use crate::failure::Failure;
use frazil_solvers::pbd::FluidMetrics;

/// Refuses a measured state with lost particles, or particles that are not finite or not inside.
pub fn check_metrics(metrics: &FluidMetrics, step: u64, n_expected: usize) -> Result<(), Failure> {
    let broken = |what: String| {
        Err(Failure::invariant(format!(
            "step {step}: {what}; a smaller time.dt_s or more solver.iterations often help, and a picture of the steps \
             before shows where it began"
        )))
    };
    if metrics.particles as usize != n_expected {
        return broken(format!("{} particles, expected {n_expected}", metrics.particles));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

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
        }
    }

    #[test]
    fn a_sound_state_passes_and_each_fault_is_found() {
        assert!(check_metrics(&sound(), 3, 8).is_ok());
        for (fault, said) in [
            (FluidMetrics { particles: 7, ..sound() }, "7 particles, expected 8"),
            (FluidMetrics { n_not_finite: 2, ..sound() }, "2 of 8 particles are not finite"),
            (FluidMetrics { n_outside: 1, ..sound() }, "1 of 8 particles are outside"),
        ] {
            let failure = check_metrics(&fault, 3, 8).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Invariant);
            assert!(failure.to_string().starts_with(&format!("step 3: {said}")), "{failure}");
        }
    }

    #[test]
    fn each_id_must_be_there_once() {
        assert!(check_ids(&[2, 0, 1], 0).is_ok());
        assert!(check_ids(&[], 0).is_ok());
        assert!(check_ids(&[0, 1, 1], 0).unwrap_err().to_string().contains("two particles have the id 1"));
        assert!(check_ids(&[0, 3, 1], 0).unwrap_err().to_string().contains("the id 3 among 3"));
    }
}
