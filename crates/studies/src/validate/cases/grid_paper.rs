//! Outcomes of figures of Cai2020, reduced or, with `--full`, with the scenes' own cells.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;
use frazil_io::Frame;
use frazil_report::{Mark, Series, ShapeStatistics};

/// Fill that leaves no gaps between particles at the start, which would count as cracks.
const EVEN_FILL: &str = "particles.0.fill=\"blue_noise\"";

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "paper.letters".to_owned(),
            about: "connected pieces of letters that fall, with both strengths",
            reference: "Cai2020 figure 2: large θ_c and θ_s make letters crumble, small ones melt",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(letters),
        },
        Case {
            name: "paper.ramps".to_owned(),
            about: "pieces of a snowball on two ramps without damping, with two strengths",
            reference: "Cai2020 figure 7: smaller θ_c and θ_s make powder",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(ramps),
        },
        Case {
            name: "paper.ramps_damped".to_owned(),
            about: "pieces of a weak snowball on two ramps with the paper's share of PIC",
            reference: "Cai2020 figure 7: small θ_c and θ_s make powder",
            cost: Cost::Minutes,
            known: Some(
                "a share of PIC of 0.05 in each step damps particles relative to their neighbours within 5 \
                 ms, before they leave them",
            ),
            run: Box::new(damped_ramps),
        },
        Case {
            name: "paper.snowplow".to_owned(),
            about: "snow that a plow piles up above the surface of the bed",
            reference: "Cai2020 figure 8",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(snowplow),
        },
    ]
}

/// Returns the override of the cells' size: the scene's own in a full validation.
fn cells(lab: &Lab) -> &'static str {
    if lab.is_full { "mpm.cell_size_m=0.015" } else { "mpm.cell_size_m=0.03" }
}

fn shape(run: &Experiment) -> Result<ShapeStatistics, Failure> {
    let linking_length_m = run.simulation.factory.linking_length_m(&run.simulation.scene);
    Ok(ShapeStatistics::measure(&run.frame()?, 0.0, linking_length_m))
}

fn letters(lab: &Lab) -> Result<Outcome, Failure> {
    let mut pieces = Vec::new();
    let mut ends = Vec::new();
    for scene in ["letters_muddy", "letters_crumbly"] {
        let mut run = Experiment::builtin(lab, scene, &[cells(lab), EVEN_FILL])?;
        let mut counts = Vec::new();
        for part in 0..=10 {
            run.advance_to_s(0.1 * f64::from(part))?;
            counts.push((run.time_s(), shape(&run)?.n_pieces as f64));
        }
        ends.push(shape(&run)?);
        pieces.push(Series::new(scene, Mark::Line, counts));
    }
    let (muddy, crumbly) = (&ends[0], &ends[1]);
    let starts = pieces.iter().map(|series| series.points[0].1);
    let checks = vec![
        Check {
            quantity: "pieces at the start, the mean of both".to_owned(),
            unit: "1",
            found: 0.5 * starts.sum::<f64>(),
            bound: Bound::Within(4.0, 0.0),
            reason: "S, N, O and W",
        },
        Check {
            quantity: "pieces after 1 s, θ_c = 0.1 over θ_c = 0.01".to_owned(),
            unit: "1",
            found: crumbly.n_pieces as f64 / muddy.n_pieces as f64,
            bound: Bound::AtLeast(3.0),
            reason: "figure 2 (b) crumbles; 6 to 20 by size of cells and seed",
        },
        Check {
            quantity: "pieces with 1 % of the snow, the same difference".to_owned(),
            unit: "1",
            found: crumbly.n_fragments as f64 - muddy.n_fragments as f64,
            bound: Bound::AtLeast(1.0),
            reason: "it breaks into blocks, too, and letters of (a) flow together",
        },
    ];
    Ok(Outcome::of(checks).with_curve("time [s]", "pieces", pieces))
}

/// Runs the snowball to the floor, and returns the pieces over time and the shape at the end.
fn snowball(lab: &Lab, theta: [&str; 2], flip_ratio: &str) -> Result<(Series, ShapeStatistics), Failure> {
    let [compression, stretch] = theta;
    let sets = [
        format!("mpm.material.critical_compression={compression}"),
        format!("mpm.material.critical_stretch={stretch}"),
        format!("mpm.flip_ratio={flip_ratio}"),
    ];
    let mut overrides = vec![cells(lab), EVEN_FILL];
    overrides.extend(sets.iter().map(String::as_str));
    let mut run = Experiment::builtin(lab, "ramps", &overrides)?;
    let mut pieces = Vec::new();
    for part in 0..=8 {
        run.advance_to_s(0.2 * f64::from(part))?;
        pieces.push((run.time_s(), shape(&run)?.n_pieces as f64));
    }
    let label = format!("θ_c = {compression}, FLIP {flip_ratio}");
    Ok((Series::new(label, Mark::Line, pieces), shape(&run)?))
}

const PAPER: [&str; 2] = ["2.5e-2", "7.5e-3"];
const WEAK: [&str; 2] = ["6.25e-3", "1.9e-3"];

fn ramps(lab: &Lab) -> Result<Outcome, Failure> {
    let (weak_curve, weak) = snowball(lab, WEAK, "1.0")?;
    let (paper_curve, paper) = snowball(lab, PAPER, "1.0")?;
    let checks = vec![
        Check {
            quantity: "pieces after 1.6 s, a quarter of θ over the paper's".to_owned(),
            unit: "1",
            found: weak.n_pieces as f64 / paper.n_pieces as f64,
            bound: Bound::AtLeast(1.5),
            reason: "2.5 for two seeds",
        },
        Check {
            quantity: "share of the mass in pieces below 1 %, the same ratio".to_owned(),
            unit: "1",
            found: weak.powder_share / paper.powder_share,
            bound: Bound::AtLeast(1.5),
            reason: "2 for two seeds",
        },
    ];
    Ok(Outcome::of(checks).with_curve("time [s]", "pieces", vec![weak_curve, paper_curve]))
}

fn damped_ramps(lab: &Lab) -> Result<Outcome, Failure> {
    let (curve, weak) = snowball(lab, WEAK, "0.95")?;
    let check = Check {
        quantity: "share of the mass in pieces below 1 % after 1.6 s".to_owned(),
        unit: "1",
        found: weak.powder_share,
        bound: Bound::AtLeast(0.05),
        reason: "powder, as in the figure",
    };
    Ok(Outcome::of(vec![check]).with_curve("time [s]", "pieces", vec![curve]))
}

/// Returns the share of the mass that is above a height in m.
fn share_above(frame: &Frame, height_m: f64) -> Result<f64, Failure> {
    let masses = frame.f32("mass").map_err(Failure::other)?;
    let (mut above, mut all) = (0.0, 0.0);
    for (position, mass) in frame.positions().iter().zip(masses) {
        all += f64::from(*mass);
        above += if f64::from(position[1]) > height_m { f64::from(*mass) } else { 0.0 };
    }
    Ok(above / all)
}

fn snowplow(lab: &Lab) -> Result<Outcome, Failure> {
    let cells = if lab.is_full { "mpm.cell_size_m=0.015" } else { "mpm.cell_size_m=0.05" };
    let mut run = Experiment::builtin(lab, "snowplow", &[cells])?;
    let mut piled = Vec::new();
    for part in 0..=6 {
        run.advance_to_s(0.2 * f64::from(part))?;
        // The bed is 22.5 cm deep.
        piled.push((run.time_s(), share_above(&run.frame()?, 0.24)?));
    }
    let (start, end) = (piled[0].1, piled[piled.len() - 1].1);
    let losses = piled.windows(2).map(|pair| pair[0].1 - pair[1].1);
    let checks = vec![
        Check {
            quantity: "share of the snow above the bed at the start".to_owned(),
            unit: "1",
            found: start,
            bound: Bound::AtMost(0.0),
            reason: "the bed is even",
        },
        Check {
            quantity: "the same after 1.2 s of plowing".to_owned(),
            unit: "1",
            found: end,
            bound: Bound::AtLeast(0.15),
            reason: "the plow has swept half of the bed",
        },
        Check {
            quantity: "largest decrease of it between samples".to_owned(),
            unit: "1",
            found: losses.fold(f64::NEG_INFINITY, larger),
            bound: Bound::AtMost(0.01),
            reason: "the pile grows; its first blow falls back",
        },
    ];
    let curve = Series::new("above the bed", Mark::Line, piled);
    Ok(Outcome::of(checks).with_curve("time [s]", "share of the snow", vec![curve]))
}
