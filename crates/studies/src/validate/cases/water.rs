//! Water: momentum, rest, and the front of a dam break.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;
use frazil_report::reference_data::{KOSHIZUKA_OKA_1996_FRONT, dam_break_time};
use frazil_report::{Mark, Series, damped_period};
use std::f64::consts::PI;

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "water.momentum".to_owned(),
            about: "momentum of a compressed ball that expands in empty space",
            reference: "conservation of momentum",
            cost: Cost::Quick,
            known: None,
            run: Box::new(momentum),
        },
        Case {
            name: "water.rest".to_owned(),
            about: "a column of water at rest",
            reference: "hydrostatics: ρ₀ throughout, level N d³/A",
            cost: Cost::Quick,
            known: None,
            run: Box::new(rest),
        },
        Case {
            name: "water.dam_break".to_owned(),
            about: "front of a collapsing column of water",
            reference: "Koshizuka1996, nine points read off photographs",
            cost: Cost::Minutes,
            known: Some("water practically slips on the floor, and the scene has no gate"),
            run: Box::new(dam_break),
        },
        Case {
            name: "water.sloshing".to_owned(),
            about: "centre of water that sloshes in a tank, two spacings high",
            reference: "linear waves: T = 2π/√(g k tanh k h)",
            cost: Cost::Minutes,
            known: None,
            run: Box::new(sloshing),
        },
    ]
}

fn momentum(lab: &Lab) -> Result<Outcome, Failure> {
    let mut ball = Experiment::builtin(
        lab,
        "drop",
        &[
            "gravity_m_s2=[0.0,0.0,0.0]",
            // The work of a ball that expands is not energy from nothing.
            "solver.max_energy_ratio=1e9",
            // The ball stays compressed until the first step.
            "fluid.initial_disorder_spacings=0.0",
            "domain.min_m=[-2.0,-2.0,-2.0]",
            "domain.max_m=[2.0,2.0,2.0]",
            "particles=[{shape={sphere={centre_m=[0,0,0],radius_m=0.06}},velocity_m_s=[0.3,0.2,-0.1]}]",
            "fluid.particle_mass_kg=0.0015",
        ],
    )?;
    let mass_kg = ball.simulation.n_particles as f64 * ball.simulation.scene.particle_mass_kg();
    let start = ball.advance_to(0)?;
    let (before, energy) = (start.vector("momentum"), start.get("kinetic_energy"));
    let end = ball.advance_to(40)?;
    let drift =
        end.vector("momentum").into_iter().zip(before).map(|(now, then)| (now - then).abs() / mass_kg);
    Ok(Outcome::of(vec![
        Check {
            quantity: "drift of the mean velocity in 40 steps".to_owned(),
            unit: "m/s",
            found: drift.fold(0.0, larger),
            bound: Bound::AtMost(1e-5),
            reason: "a rounding of positions over Δt",
        },
        Check {
            quantity: "kinetic energy over the initial one".to_owned(),
            unit: "1",
            found: end.get("kinetic_energy") / energy,
            bound: Bound::AtLeast(1.05),
            reason: "the ball expands, so that forces act",
        },
    ]))
}

fn rest(lab: &Lab) -> Result<Outcome, Failure> {
    let mut column = Experiment::builtin(lab, "hydrostatic", &[])?;
    let spacing = column.simulation.scene.particle_spacing_m();
    let top = column.advance_to_s(0.5)?.get("upper_y") + 0.5 * spacing;
    let frame = column.frame()?;
    let densities = frame.f32("density").map_err(Failure::other)?;
    let bottom: Vec<f64> = frame
        .positions()
        .iter()
        .zip(densities)
        .filter(|(x, _)| x[1] < 0.06)
        .map(|(_, density)| f64::from(*density) / 1000.0 - 1.0)
        .collect();
    let mean = bottom.iter().sum::<f64>() / bottom.len() as f64;
    Ok(Outcome::of(vec![
        Check {
            quantity: "compression of the bottom quarter".to_owned(),
            unit: "1",
            found: mean.abs(),
            bound: Bound::AtMost(3e-3),
            reason: "the solve is to 1e-4 in the mean",
        },
        Check {
            quantity: "level after 0.5 s".to_owned(),
            unit: "m",
            found: top,
            bound: Bound::Within(0.24, spacing),
            reason: "one spacing",
        },
    ]))
}

fn dam_break(lab: &Lab) -> Result<Outcome, Failure> {
    let mut dam = Experiment::builtin(lab, "dam_break", &[])?;
    let (width, spacing) = (0.146, dam.simulation.scene.particle_spacing_m());
    let mut front = Vec::new();
    while front.last().is_none_or(|(_, z)| *z < 3.95) && dam.time_s() < 0.5 {
        let upper = dam.advance_to(dam.simulation.step() + u64::from(!front.is_empty()) * 4)?.get("upper_x");
        front.push((dam_break_time(dam.time_s(), width, 9.81), (upper + 0.5 * spacing) / width));
    }
    let mut worst = 0.0_f64;
    for (t, measured) in KOSHIZUKA_OKA_1996_FRONT {
        let after = front.iter().position(|(time, _)| *time >= t).unwrap_or(front.len() - 1).max(1);
        let ((t0, z0), (t1, z1)) = (front[after - 1], front[after]);
        let found = z0 + (t - t0) / (t1 - t0) * (z1 - z0);
        worst = larger(worst, (found / measured - 1.0).abs());
    }
    let check = Check {
        quantity: "largest relative error of the front".to_owned(),
        unit: "1",
        found: worst,
        bound: Bound::AtMost(0.1),
        reason: "the front is one particle of L/16, the photographs are about as accurate",
    };
    let experiment = KOSHIZUKA_OKA_1996_FRONT.to_vec();
    Ok(Outcome::of(vec![check]).with_curve(
        "t √(2g/L)",
        "front z/L",
        vec![Series::new("found", Mark::Line, front), Series::new("experiment", Mark::Points, experiment)],
    ))
}

fn sloshing(lab: &Lab) -> Result<Outcome, Failure> {
    let (length, depth, d, amplitude) = (0.5, 0.2, 0.02, 0.04);
    let columns = (0..(length / d) as usize).map(|i| {
        let (x0, x1) = (i as f64 * d, (i + 1) as f64 * d);
        let height = depth + amplitude * (PI * 0.5 * (x0 + x1) / length).cos();
        let (top, width) = ((height / d).round() * d, 4.0 * d);
        format!("[[particles]]\nshape.box = {{ min_m = [{x0}, 0.0, 0.0], max_m = [{x1}, {top}, {width}] }}\n")
    });
    let scene = format!(
        "version = 1\nname = \"slosh\"\nup_axis = \"y\"\ntime = {{ dt_s = 0.001, duration_s = 10.0 }}\n\
         [fluid]\nparticle_spacing_m = {d}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{length}, {}, {}]\n\
         friction = {{ z_min = 0, z_max = 0 }}\n{}",
        2.0 * depth,
        4.0 * d,
        columns.collect::<String>()
    );
    let mut tank = Experiment::text(lab, &scene)?;
    let k = PI / length;
    let period = 2.0 * PI / (9.81 * k * (k * depth).tanh()).sqrt();
    let mut track = Vec::new();
    while tank.time_s() < 1.2 * period {
        tank.advance_to(tank.simulation.step() + u64::from(!track.is_empty()) * 8)?;
        let frame = tank.frame()?;
        let sum: f64 = frame.positions().iter().map(|x| f64::from(x[0])).sum();
        track.push((tank.time_s(), sum / frame.len() as f64 - 0.5 * length));
    }
    let first = track[0].1;
    let linear = track.iter().map(|(t, _)| (*t, first * (2.0 * PI * t / period).cos())).collect();
    let check = Check {
        quantity: "period over that of linear waves".to_owned(),
        unit: "1",
        found: damped_period(&track, period) / period,
        bound: Bound::Within(1.0, 0.03),
        reason: "waves of a fifth of the depth; 25 spacings along the tank",
    };
    Ok(Outcome::of(vec![check]).with_curve(
        "time [s]",
        "centre of mass [m]",
        vec![
            Series::new("found", Mark::Line, track),
            Series::new("linear, without damping", Mark::Dashes, linear),
        ],
    ))
}
