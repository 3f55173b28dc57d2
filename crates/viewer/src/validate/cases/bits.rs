//! The same bits in every run.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome};
use crate::validate::experiment::Experiment;

/// Scenes of all solvers at a reduced size, and their steps: enough for a race to show.
const SCENES: [(&str, &[&str], u64); 6] = [
    ("drop", &[], 20),
    ("melting", &["scale=0.4"], 20),
    ("viscoelastic_cube", &[], 20),
    ("snowball_collision", &[], 40),
    ("snowballs_3d", &["scale=0.5"], 10),
    ("column_collapse", &["scale=0.5"], 40),
];

const RUNS: usize = 3;

pub fn cases() -> Vec<Case> {
    let case = |(scene, overrides, steps): (&'static str, &'static [&'static str], u64)| Case {
        name: format!("bits.{scene}"),
        about: "final states of equal runs",
        reference: "bitwise reproducibility",
        cost: Cost::Quick,
        known: None,
        run: Box::new(move |lab: &Lab| {
            let mut hashes = Vec::new();
            for _ in 0..RUNS {
                let mut run = Experiment::builtin(lab, scene, overrides)?;
                run.advance_to(steps)?;
                hashes.push(run.hash()?);
            }
            hashes.sort();
            hashes.dedup();
            Ok(Outcome::of(vec![Check {
                quantity: format!("different states of {RUNS} runs, step {steps}"),
                unit: "1",
                found: hashes.len() as f64,
                bound: Bound::Within(1.0, 0.0),
                reason: "no order of threads may show",
            }]))
        }),
    };
    SCENES.map(case).into()
}
