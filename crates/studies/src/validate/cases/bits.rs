//! The same bits in every run.

use crate::validate::case::{Bound, Case, Check, Cost, FinalState, Lab, Outcome};
use crate::validate::experiment::Experiment;

/// A built-in scene, the factor of its size, and a number of steps, at whose end some bodies are in flight.
type Scene = (&'static str, f64, u64);

/// A scene of each solver, and of snow in the plane and in space.
const QUICK: [Scene; 6] = [
    ("dam_break", 1.0, 20),
    ("melting", 0.4, 20),
    ("viscoelastic_cube", 1.0, 20),
    ("snowball_collision", 1.0, 40),
    ("snowballs_3d", 0.5, 10),
    ("column_collapse", 0.5, 40),
];

/// All other built-in scenes.
const OTHERS: [Scene; 40] = [
    ("drop", 1.0, 20),
    ("hydrostatic", 1.0, 20),
    ("drum", 1.0, 20),
    ("fountain", 1.0, 20),
    ("driftwood", 0.4, 40),
    ("watermill", 1.0, 60),
    ("pour_down_terrain", 1.0, 20),
    ("snow_drop_free", 0.6, 20),
    ("snow_drop_linked", 0.6, 20),
    ("snow_drop_dynamic", 0.6, 20),
    ("freezing", 0.4, 20),
    ("melting_enthalpy", 0.4, 20),
    ("bowl", 1.0, 20),
    ("water_drop", 0.3, 20),
    ("snow_box_plough", 0.6, 120),
    ("snowballs_16", 0.3, 40),
    ("snow_castle", 0.5, 40),
    ("ramps", 1.0, 40),
    ("letters_muddy", 0.4, 40),
    ("letters_crumbly", 0.4, 40),
    ("snowplow", 0.5, 40),
    ("snowball_on_body_3d", 0.5, 10),
    ("snow_blower", 1.0, 60),
    ("viscoelastic_wall", 0.6, 20),
    ("viscoelastic_free_cube", 0.6, 20),
    ("viscoelastic_springs", 0.6, 20),
    ("dough", 0.7, 20),
    ("ketchup", 0.7, 20),
    ("honey_coiling", 0.7, 20),
    ("filament", 0.7, 20),
    ("chocolate", 0.7, 20),
    ("rod_climbing", 0.7, 20),
    ("hopper", 0.7, 40),
    ("grain_heap", 1.0, 200),
    ("slope_obstacle", 0.6, 40),
    ("avalanche", 0.4, 40),
    ("avalanche_slabs", 0.4, 40),
    ("slab_release", 1.0, 40),
    ("avalanche_128k", 0.25, 40),
    ("avalanche_1m", 0.12, 40),
];

const RUNS: usize = 3;

pub fn cases() -> Vec<Case> {
    let of = |cost| move |scene: Scene| case(scene, cost);
    QUICK.into_iter().map(of(Cost::Quick)).chain(OTHERS.into_iter().map(of(Cost::Minutes))).collect()
}

fn case((scene, scale, steps): Scene, cost: Cost) -> Case {
    Case {
        name: format!("bits.{scene}"),
        about: "final states of equal runs",
        reference: "bitwise reproducibility",
        cost,
        known: None,
        run: Box::new(move |lab: &Lab| {
            let scale = format!("scale={scale}");
            let mut hashes = Vec::new();
            for _ in 0..RUNS {
                let mut run = Experiment::builtin(lab, scene, &[&scale])?;
                run.advance_to(steps)?;
                hashes.push(run.hash()?);
            }
            let state = FinalState { scene: scene.to_owned(), change: scale, steps, hash: hashes[0].clone() };
            hashes.sort();
            hashes.dedup();
            let outcome = Outcome::of(vec![Check {
                quantity: format!("different states of {RUNS} runs, step {steps}"),
                unit: "1",
                found: hashes.len() as f64,
                bound: Bound::Within(1.0, 0.0),
                reason: "no order of threads may show",
            }]);
            Ok(Outcome { state: Some(state), ..outcome })
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_built_in_scene_has_a_case() {
        let expected: BTreeSet<String> =
            frazil_scene::builtin().iter().map(|scene| format!("bits.{}", scene.name)).collect();
        assert_eq!(cases().into_iter().map(|case| case.name).collect::<BTreeSet<_>>(), expected);
    }
}
