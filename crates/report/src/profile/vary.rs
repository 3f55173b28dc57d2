//! Measurements of the same steps with other tunables.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, compare};
use crate::statistics::median_of_times;

/// Effect of one tunable on the cost of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vary {
    /// The tunable.
    pub key: String,
    /// Its values, in the order requested.
    pub candidates: Vec<Candidate>,
}

/// A value of a tunable, and its measurement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The value.
    pub value: u32,
    /// Reason why the device does not support it, if so.
    pub refused: Option<String>,
    /// The median call of each kernel, in nanoseconds.
    pub kernels_ns: BTreeMap<String, u64>,
    /// Device time of each step, in nanoseconds.
    pub step_samples_ns: Vec<u64>,
    /// The hash of the final state.
    pub state_hash: Option<String>,
}

impl Candidate {
    /// Returns the median step in nanoseconds.
    pub fn step_ns(&self) -> Option<u64> {
        median_of_times(&self.step_samples_ns)
    }
}

impl Vary {
    /// Returns all kernels that ran with any value, those with the longest calls first.
    pub fn kernels(&self) -> Vec<&str> {
        let mut longest: BTreeMap<&str, u64> = BTreeMap::new();
        for (kernel, ns) in self.candidates.iter().flat_map(|c| &c.kernels_ns) {
            let known = longest.entry(kernel).or_default();
            *known = (*known).max(*ns);
        }
        let mut kernels: Vec<_> = longest.into_iter().collect();
        kernels.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        kernels.into_iter().map(|(kernel, _)| kernel).collect()
    }

    /// Returns the value with the shortest median step; the first of equals.
    pub fn best(&self) -> Option<u32> {
        self.best_by(Candidate::step_ns)
    }

    /// Returns the value with the shortest median call of a kernel; the first of equals.
    pub fn best_for(&self, kernel: &str) -> Option<u32> {
        self.best_by(|c| c.kernels_ns.get(kernel).copied())
    }

    fn best_by(&self, cost: impl Fn(&Candidate) -> Option<u64>) -> Option<u32> {
        let known = self.candidates.iter().filter_map(|c| Some((cost(c)?, c.value)));
        known.min_by_key(|(cost, _)| *cost).map(|(_, value)| value)
    }

    /// Compares a value's steps with the best one's, with a tolerance of 1 %.
    pub fn against_best(&self, candidate: &Candidate) -> Option<Comparison> {
        let best = self.candidates.iter().find(|c| Some(c.value) == self.best() && c.refused.is_none())?;
        let [then, now] = [best, candidate].map(|c| as_f64(&c.step_samples_ns));
        (!now.is_empty()).then(|| compare(&then, &now, 0.01))
    }

    /// Returns true if every value gave the same final state, bit for bit.
    pub fn states_agree(&self) -> bool {
        let hashes: BTreeSet<_> =
            self.candidates.iter().filter(|c| c.refused.is_none()).map(|c| &c.state_hash).collect();
        hashes.len() <= 1
    }
}

fn as_f64(samples: &[u64]) -> Vec<f64> {
    samples.iter().map(|&ns| ns as f64).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn vary() -> Vary {
        let candidate = |value: u32, kernel: u64, step: u64| Candidate {
            value,
            refused: None,
            kernels_ns: BTreeMap::from([("pbd.lambda".to_owned(), kernel)]),
            step_samples_ns: (0..20).map(|i| step + i * 7 % 20).collect(),
            state_hash: Some("same".to_owned()),
        };
        let refused = Candidate { value: 4096, refused: Some("too large".to_owned()), ..Default::default() };
        Vary {
            key: "workgroup_size".to_owned(),
            candidates: vec![candidate(64, 90_000, 200_000), candidate(256, 100_000, 150_000), refused],
        }
    }

    #[test]
    fn the_best_is_the_shortest_of_those_that_ran() {
        let mut vary = vary();
        assert_eq!(
            (vary.best(), vary.best_for("pbd.lambda"), vary.best_for("nosuch")),
            (Some(256), Some(64), None)
        );
        let slower = vary.against_best(&vary.candidates[0]).unwrap();
        assert_eq!(slower.verdict, crate::Verdict::Slower);
        assert!(vary.against_best(&vary.candidates[2]).is_none());
        assert!(vary.states_agree(), "a refused value has no state to differ");
        vary.candidates[1].state_hash = Some("another".to_owned());
        assert!(!vary.states_agree());
    }
}
