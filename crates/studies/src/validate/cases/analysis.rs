//! Limits of the material point method: feedback of strain in a lone particle, and snow at rest.

use crate::analyze::feedback::{self, measured};
use crate::analyze::resting::{MAX_CREEP, resting};
use crate::analyze::tipping::{expected_density, tipping};
use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use frazil_engine::Failure;
use frazil_report::{Mark, Series};
use frazil_scene::{Mpm as Section, Transfer};

/// Side of a cell in m, and offsets of lone particles from a node in cells.
const CELL_M: f64 = 0.01;
const OFFSETS: [f64; 2] = [5e-3, 0.5];
/// Courant numbers below, at either side of and beyond 0.667, the limit of PIC and FLIP; APIC's is 0.94.
const COURANTS: [f64; 4] = [0.3, 0.6, 0.79, 0.9];

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "analysis.feedback".to_owned(),
            about: "factor by which a step multiplies the strain of a lone particle",
            reference: "docs/analyze.md: 1 − κ C² Σ h² (∂w/∂x)²/w (Breekveldt2017 sec 4.1)",
            cost: Cost::Quick,
            known: None,
            run: Box::new(growth),
        },
        Case {
            name: "analysis.tipping".to_owned(),
            about: "density at which a lone layer tips, and plastic blocks on either side of it",
            reference: "1895.83 V/h = 5/6 m g; ρ₀ g D = q e^(ξ(1 − J_P))/J_P (Breekveldt2017 app. A)",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(rest),
        },
    ]
}

fn growth(lab: &Lab) -> Result<Outcome, Failure> {
    let mut checks = Vec::new();
    let mut series = vec![Series::new("growth above", Mark::Dashes, vec![(0.0, 1.0), (1.0, 1.0)])];
    let sections = [("PIC/FLIP", Section::as_published(3, CELL_M)), ("APIC", Section::sampled(3, CELL_M))];
    for (name, section) in sections {
        let kappa = feedback::stress_ratio(&section.material, section.dimensions);
        let theory = |courant: f64, offset: f64| {
            let a = feedback::stiffness(&section, offset);
            feedback::factor(section.transfer, kappa * courant * courant, a)
        };
        let curve = (0..=100).map(|k| 0.01 * f64::from(k)).map(|c| (c, theory(c, OFFSETS[0]))).collect();
        series.push(Series::new(format!("{name}, theory"), Mark::Line, curve));
        let (mut worst, mut points) = (0.0_f64, Vec::new());
        for courant in COURANTS {
            let found = measured(&lab.device, &section, courant, &OFFSETS, 24)?;
            for (offset, found) in OFFSETS.into_iter().zip(found) {
                let found = found.unwrap_or(f64::NAN);
                worst = larger(worst, (found - theory(courant, offset)).abs());
                points.push((courant, found));
            }
        }
        if section.transfer == Transfer::PicFlip {
            let near = |courant: f64| points.iter().find(|(c, _)| *c == courant).map_or(f64::NAN, |p| p.1);
            for (courant, bound) in [(0.6, Bound::AtMost(1.0)), (0.79, Bound::AtLeast(1.0))] {
                checks.push(Check {
                    quantity: format!("{name}: factor at C = {courant}"),
                    unit: "1",
                    found: near(courant),
                    bound,
                    reason: "strain grows from C = 0.667 on",
                });
            }
        }
        checks.push(Check {
            quantity: format!("{name}: largest error of the factor"),
            unit: "1",
            found: worst,
            bound: Bound::AtMost(0.01),
            reason: "strains of up to 1e-3 are nonlinear by a few of their size",
        });
        series.push(Series::new(format!("{name}, found"), Mark::Points, points));
    }
    Ok(Outcome::of(checks).with_curve("Courant number [1]", "factor per step [1]", series))
}

fn rest(lab: &Lab) -> Result<Outcome, Failure> {
    let mut checks = Vec::new();
    for h in [1.0, 0.01] {
        checks.push(Check {
            quantity: format!("tipping density times h, h = {h} m"),
            unit: "kg/m²",
            found: h * tipping(&lab.device, h)?.density_kg_m3,
            bound: Bound::Within(expected_density(1.0), 0.05),
            reason: "stress and positions in f32",
        });
    }
    let mut series = Vec::new();
    for share in [0.5, 2.0] {
        let found = resting(&lab.device, 1.0, 4, share * expected_density(1.0))?;
        let name = format!("{:.0} kg/m³", found.density_kg_m3);
        checks.push(Check {
            quantity: format!("{name}: motion in a period, over the height"),
            unit: "1",
            found: found.creep,
            bound: Bound::AtMost(MAX_CREEP),
            reason: "free fall moves it by 0.1 and more",
        });
        checks.push(Check {
            quantity: format!("{name}: height over that without gravity"),
            unit: "1",
            found: found.height[0],
            bound: Bound::Within(found.height[1], 0.02),
            reason: "four cells of two layers: a tenth of a layer more at the floor",
        });
        series.push(Series::new(name, Mark::Points, found.profile));
    }
    Ok(Outcome::of(checks).with_curve("depth without gravity [m]", "plastic volume ratio [1]", series))
}
