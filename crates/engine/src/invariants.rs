//! Invariants that hold in every state of every scene.

use crate::failure::Failure;
use frazil_solvers::{InvariantFault, SolverFault, StateSummary};

/// Returns an error for a measured state with lost particles, or particles that are not finite or not inside
/// the domain.
///
/// # Errors
/// The violated invariant, with the step.
pub fn check_state(state: &StateSummary, step: u64, n_expected: Option<usize>) -> Result<(), Failure> {
    let broken = |what: String| {
        Err(Failure::invariant(format!(
            "step {step}: {what}; a smaller time.dt_s or more pbd.iterations often help, and a picture of \
             the steps before shows where it began"
        )))
    };
    let n = state.n_particles;
    if let Some(n_expected) = n_expected.filter(|n_expected| n as usize != *n_expected) {
        let sets: Vec<String> = state.sets.iter().map(|(name, n)| format!("{n} of {name}")).collect();
        let of_what = if sets.is_empty() { String::new() } else { format!(" ({})", sets.join(" and ")) };
        return broken(format!("{n} particles{of_what}, expected {n_expected}"));
    }
    if state.n_not_finite > 0 {
        return broken(format!("{} of {n} particles are not finite", state.n_not_finite));
    }
    if state.n_outside > 0 {
        return broken(format!("{} of {n} particles are outside the domain", state.n_outside));
    }
    Ok(())
}

/// Returns an error unless the ids differ and, if `is_complete`, are each number below their count.
///
/// # Errors
/// An id that occurs twice or not at all.
pub fn check_ids(ids: &[u32], step: u64, is_complete: bool) -> Result<(), Failure> {
    if !is_complete {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        return match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some([id, _]) => Err(Failure::invariant(format!("step {step}: two particles have the id {id}"))),
            _ => Ok(()),
        };
    }
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

/// Returns an error for steps in which the solver detected a fault.
///
/// # Errors
/// The fault, if there is one.
pub fn check_fault(fault: Option<SolverFault>) -> Result<(), Failure> {
    fault.map_or(Ok(()), |fault| Err(Failure::invariant(fault)))
}

/// Returns an error if the invariants of a solver's own data do not hold.
pub fn check_invariants(faults: &[InvariantFault], step: u64) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    let found: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Err(Failure::invariant(format!("step {step}: {}", found.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;

    #[test]
    fn a_sound_state_passes_and_each_fault_is_found() {
        let sound = || StateSummary { n_particles: 8, ..StateSummary::default() };
        let sets = |n_snow, n_water| vec![("snow", n_snow), ("water", n_water)];
        assert!(check_state(&sound(), 3, Some(8)).is_ok());
        assert!(check_state(&StateSummary { sets: sets(5, 3), ..sound() }, 3, Some(8)).is_ok());
        let lost = || StateSummary { n_particles: 7, ..sound() };
        for (fault, said) in [
            (lost(), "7 particles, expected 8"),
            (
                StateSummary { sets: sets(5, 2), ..lost() },
                "7 particles (5 of snow and 2 of water), expected 8",
            ),
            (StateSummary { n_not_finite: 2, ..sound() }, "2 of 8 particles are not finite"),
            (StateSummary { n_outside: 1, sets: sets(5, 3), ..sound() }, "1 of 8 particles are outside"),
        ] {
            let failure = check_state(&fault, 3, Some(8)).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Invariant);
            assert!(failure.to_string().starts_with(&format!("step 3: {said}")), "{failure}");
        }
    }

    #[test]
    fn every_invariant_that_does_not_hold_is_named_with_its_number() {
        assert!(check_invariants(&[], 5).is_ok());
        let fault = |what, count| InvariantFault { what, count };
        let failure = check_invariants(&[fault("knots", 2), fault("tangles", 1)], 5).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invariant);
        assert_eq!(failure.to_string(), "step 5: 2 knots, 1 tangles");
    }

    #[test]
    fn each_id_must_be_there_once() {
        assert!(check_ids(&[2, 0, 1], 0, true).is_ok());
        assert!(check_ids(&[], 0, true).is_ok());
        assert!(check_ids(&[7, 0, 3], 0, false).is_ok());
        assert!(check_ids(&[7, 3, 7], 0, false).unwrap_err().to_string().contains("the id 7"));
        assert!(
            check_ids(&[0, 1, 1], 0, true).unwrap_err().to_string().contains("two particles have the id 1")
        );
        assert!(check_ids(&[0, 3, 1], 0, true).unwrap_err().to_string().contains("the id 3 among 3"));
    }
}
