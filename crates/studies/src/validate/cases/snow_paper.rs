//! Outcomes of the experiments of Chen2021, chapter 8: at the paper's sizes and over its steps with `--full`.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;
use frazil_report::{Mark, Series};
use std::time::Instant;

/// Number of samples of a run.
const SAMPLES: u64 = 50;

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "paper.snow_drops".to_owned(),
            about: "a dropped cube of snow with constant, dynamic and no links",
            reference: "Chen2021 figures 8.1 to 8.3: links keep the shape",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(drops),
        },
        Case {
            name: "paper.melting".to_owned(),
            about: "particles of each phase as a cube of snow falls into hot water",
            reference: "Chen2021 figures 8.5 and 8.7: the snow shrinks",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(melting),
        },
        Case {
            name: "paper.freezing".to_owned(),
            about: "particles of each phase as a very cold cube falls into cold water",
            reference: "Chen2021 figure 8.11: the snow grows",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(freezing),
        },
        Case {
            name: "paper.water_drop".to_owned(),
            about: "particles that have melted and frozen as hot water falls on snow",
            reference: "Chen2021 figure 8.15: freezing overtakes melting, from frame 3700 on",
            cost: Cost::Long,
            known: Some(
                "at the paper's size 157 more particles melt than freeze in the last quarter, of 11 800 so \
                 far: the water is still at 22 °C; at a quarter of the size freezing overtakes from step \
                 2060 on",
            ),
            run: Box::new(water_drop),
        },
    ]
}

/// Returns the override of the scene's size: the paper's in a full validation.
fn scale(lab: &Lab, reduced: &str) -> String {
    format!("scale={}", if lab.is_full { "1.0" } else { reduced })
}

/// Returns the root mean square of the horizontal distance of particles from their mean position, in m.
fn spread_m(run: &Experiment) -> Result<f64, Failure> {
    let frame = run.frame()?;
    let n = frame.len() as f64;
    let mean = |axis: usize| frame.positions().iter().map(|x| f64::from(x[axis])).sum::<f64>() / n;
    let (x0, z0) = (mean(0), mean(2));
    let squares =
        frame.positions().iter().map(|x| (f64::from(x[0]) - x0).powi(2) + (f64::from(x[2]) - z0).powi(2));
    Ok((squares.sum::<f64>() / n).sqrt())
}

fn drops(lab: &Lab) -> Result<Outcome, Failure> {
    let size = scale(lab, "0.45");
    let steps = if lab.is_full { 1200 } else { 900 };
    let widening = |name: &str| -> Result<f64, Failure> {
        let mut run = Experiment::builtin(lab, name, &[&size])?;
        let start = spread_m(&run)?;
        run.advance_to(steps)?;
        Ok(spread_m(&run)? / start)
    };
    let [linked, dynamic, free] =
        [widening("snow_drop_linked")?, widening("snow_drop_dynamic")?, widening("snow_drop_free")?];
    Ok(Outcome::of(vec![
        Check {
            quantity: format!("spread at step {steps} over the initial one, constant links"),
            unit: "1",
            found: linked,
            bound: Bound::AtMost(1.2),
            reason: "the cube of figure 8.2 stays one",
        },
        Check {
            quantity: "the same, dynamic links, over that of constant ones".to_owned(),
            unit: "1",
            found: dynamic / linked,
            bound: Bound::AtLeast(1.02),
            reason: "figure 8.3 is softer",
        },
        Check {
            quantity: "the same, no links, over that of dynamic ones".to_owned(),
            unit: "1",
            found: free / dynamic,
            bound: Bound::AtLeast(1.2),
            reason: "the snow of figure 8.1 spreads",
        },
    ]))
}

/// Numbers of particles at a step.
struct Counts {
    step: f64,
    solid: f64,
    melted: f64,
    frozen: f64,
    /// Volume of the snow's bounding box in m³.
    box_m3: f64,
    /// Mean temperatures of snow and water in °C.
    snow_c: f64,
    water_c: f64,
    /// Mean time of a step since the last counts, in ms.
    step_ms: f64,
}

/// Runs a scene, with the counts of some of its steps.
fn counts(run: &mut Experiment, steps: u64, n: u64) -> Result<Vec<Counts>, Failure> {
    let mut all = Vec::new();
    for part in 0..=n {
        let step = steps * part / n;
        let (begin, first) = (Instant::now(), run.simulation.step());
        let m = run.advance_to(step)?;
        let step_ms = begin.elapsed().as_secs_f64() * 1e3 / (step - first) as f64;
        let side = |axis: &str| m.get(&format!("solid_upper_{axis}")) - m.get(&format!("solid_lower_{axis}"));
        all.push(Counts {
            step: step as f64,
            solid: m.get("n_solid"),
            melted: m.get("n_melted"),
            frozen: m.get("n_frozen"),
            box_m3: side("x") * side("y") * side("z"),
            snow_c: m.get("solid_temperature"),
            water_c: m.get("fluid_temperature"),
            step_ms,
        });
    }
    Ok(all)
}

/// Returns the largest growth of a series from one value to the next, over its first value.
fn largest_growth(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let first = values.clone().next().unwrap_or(f64::NAN);
    let steps = values.clone().zip(values.skip(1)).map(|(then, now)| (now - then) / first);
    steps.fold(f64::NEG_INFINITY, larger)
}

fn series(label: &str, counts: &[Counts], of: impl Fn(&Counts) -> f64) -> Series {
    Series::new(label, Mark::Line, counts.iter().map(|c| (c.step, of(c))).collect())
}

/// Returns the checks with the paper's curves: particles, mean temperatures and the time per step.
fn with_curves(checks: Vec<Check>, counts: &[Counts]) -> Outcome {
    let numbers = vec![
        series("snow", counts, |c| c.solid),
        series("melted", counts, |c| c.melted),
        series("frozen", counts, |c| c.frozen),
    ];
    let temperatures = vec![series("snow", counts, |c| c.snow_c), series("water", counts, |c| c.water_c)];
    let time = vec![series("time per step", &counts[1..], |c| c.step_ms)];
    Outcome::of(checks)
        .with_curve("step", "particles", numbers)
        .with_curve("step", "mean temperature [°C]", temperatures)
        .with_curve("step", "time per step [ms]", time)
}

fn melting(lab: &Lab) -> Result<Outcome, Failure> {
    let steps = if lab.is_full { 5000 } else { 800 };
    let mut run = Experiment::builtin(lab, "melting", &[&scale(lab, "0.3")])?;
    let counts = counts(&mut run, steps, SAMPLES)?;
    let (first, last) = (&counts[0], &counts[counts.len() - 1]);
    // It flattens as it falls into the water, and shrinks from then on.
    let sunk = counts.iter().skip(counts.len() / 4);
    let checks = vec![
        Check {
            quantity: "largest growth of the snow between samples".to_owned(),
            unit: "1",
            found: largest_growth(counts.iter().map(|c| c.solid)),
            bound: Bound::AtMost(0.0),
            reason: "in hot water its number of particles only falls",
        },
        Check {
            quantity: "largest growth of its bounding box, once under water".to_owned(),
            unit: "1",
            found: largest_growth(sunk.map(|c| c.box_m3)),
            bound: Bound::AtMost(0.02),
            reason: "single particles at corners move by a spacing",
        },
        Check {
            quantity: format!("snow left at step {steps}, of the initial one"),
            unit: "1",
            found: last.solid / first.solid,
            bound: Bound::AtMost(0.5),
            reason: "figure 8.7: most of it melts",
        },
        Check {
            quantity: "frozen over melted particles".to_owned(),
            unit: "1",
            found: last.frozen / last.melted,
            bound: Bound::AtMost(0.05),
            reason: "the water is hot throughout",
        },
    ];
    Ok(with_curves(checks, &counts))
}

fn freezing(lab: &Lab) -> Result<Outcome, Failure> {
    let steps = if lab.is_full { 5000 } else { 1000 };
    let mut run = Experiment::builtin(lab, "freezing", &[&scale(lab, "0.3")])?;
    let counts = counts(&mut run, steps, SAMPLES)?;
    let (first, last) = (&counts[0], &counts[counts.len() - 1]);
    let loss = largest_growth(counts.iter().rev().map(|c| c.solid)) * last.solid / first.solid;
    let checks = vec![
        Check {
            quantity: "largest loss of snow between samples".to_owned(),
            unit: "1",
            found: loss,
            bound: Bound::AtMost(0.0),
            reason: "nothing is warm enough to melt it",
        },
        Check {
            quantity: format!("snow at step {steps}, of the initial one"),
            unit: "1",
            found: last.solid / first.solid,
            bound: Bound::AtLeast(1.2),
            reason: "figure 8.11: water freezes to the cube",
        },
    ];
    Ok(with_curves(checks, &counts))
}

fn water_drop(lab: &Lab) -> Result<Outcome, Failure> {
    let steps = if lab.is_full { 5000 } else { 6000 };
    let mut run = Experiment::builtin(lab, "water_drop", &[&scale(lab, "0.25")])?;
    let counts = counts(&mut run, steps, SAMPLES)?;
    let net = |from: usize, to: usize| {
        let (a, b) = (&counts[from], &counts[to]);
        (b.frozen - a.frozen) - (b.melted - a.melted)
    };
    let n = counts.len() - 1;
    let checks = vec![
        Check {
            quantity: "frozen less melted in the first half of the steps".to_owned(),
            unit: "1",
            found: net(0, n / 2),
            bound: Bound::AtMost(-1.0),
            reason: "melting dominates at first",
        },
        Check {
            quantity: "the same in the last quarter".to_owned(),
            unit: "1",
            found: net(n - n / 4, n),
            bound: Bound::AtLeast(1.0),
            reason: "freezing overtakes it",
        },
    ];
    Ok(with_curves(checks, &counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_the_largest_between_neighbours() {
        assert_eq!(largest_growth([4.0, 3.0, 5.0, 1.0].into_iter()), 0.5);
        assert_eq!(largest_growth([4.0, 3.0, 1.0].into_iter()), -0.25);
        assert!(largest_growth([4.0, f64::NAN, 1.0].into_iter()).is_nan());
    }
}
