//! Grains: rebound, and motion down a slope; snow on a grid: momentum through a collision.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;

const RADIUS_M: f64 = 0.05;

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "grains.rebound".to_owned(),
            about: "speed of a grain after it hits the floor, over that before",
            reference: "e = exp(−πβ/√(1 − β²))",
            cost: Cost::Quick,
            known: None,
            run: Box::new(rebound),
        },
        Case {
            name: "grains.slope".to_owned(),
            about: "acceleration of a sphere on a slope",
            reference: "rolling 5/7 g sin θ for tan θ < 7/2 μ, sliding g (sin θ − μ cos θ) beyond",
            cost: Cost::Quick,
            known: None,
            run: Box::new(slope),
        },
        Case {
            name: "grid.momentum".to_owned(),
            about: "momentum of two snowballs that collide in empty space",
            reference: "conservation of momentum",
            cost: Cost::Quick,
            known: None,
            run: Box::new(momentum_on_a_grid),
        },
    ]
}

/// Returns the scene of one grain at a height of its centre above the floor.
fn one_grain(dem: &str, gravity: [f64; 3], height_m: f64, velocity: [f64; 3]) -> String {
    let r = RADIUS_M;
    let (low, high) = (height_m - r, height_m + r);
    format!(
        "version = 1\nname = \"grain\"\nup_axis = \"y\"\ngravity_m_s2 = {gravity:?}\n\
         solver = {{ kind = \"dem\" }}\n\
         dem = {{ radius_m = {r:?}, density_kg_m3 = 900.0, normal_stiffness_n_m = 1e5, {dem} }}\n\
         [time]\ndt_s = \"auto\"\nduration_s = 10.0\n\
         [domain]\nmin_m = [-4.0, 0.0, -4.0]\nmax_m = [4.0, 4.0, 4.0]\n\
         [[particles]]\nvelocity_m_s = {velocity:?}\n\
         shape.box = {{ min_m = [{:?}, {low:?}, {:?}], max_m = [{r:?}, {high:?}, {r:?}] }}\n",
        -r, -r
    )
}

fn rebound(lab: &Lab) -> Result<Outcome, Failure> {
    let mut checks = Vec::new();
    for restitution in [0.1, 0.5, 0.9] {
        let dem = format!("restitution = {restitution:?}");
        let scene = one_grain(&dem, [0.0; 3], RADIUS_M + 1e-3, [0.0, -1.0, 0.0]);
        let mut grain = Experiment::text(lab, &scene)?;
        // 1 ms until it touches, and several times as long as a contact takes.
        let up = grain.advance_to_s(0.05)?.vector("momentum")[1];
        let mass = grain.simulation.scene.dem().map_or(f64::NAN, |dem| dem.grain_mass_kg(RADIUS_M));
        checks.push(Check {
            quantity: format!("rebound at a restitution of {restitution}"),
            unit: "1",
            found: up / mass,
            bound: Bound::Within(restitution, 0.01),
            reason: "the last step of a contact and rounding, 0.5 % at the default step",
        });
    }
    Ok(Outcome::of(checks))
}

fn slope(lab: &Lab) -> Result<Outcome, Failure> {
    let g = 9.81;
    let mut checks = Vec::new();
    for (degrees, friction) in [(20.0_f64, 0.5_f64), (45.0, 0.2)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let dem = format!("friction = {friction:?}, rolling_friction = 0.0");
        let gravity = [g * sin, -g * cos, 0.0];
        let mut grain = Experiment::text(lab, &one_grain(&dem, gravity, RADIUS_M, [0.0; 3]))?;
        let mass = grain.simulation.scene.dem().map_or(f64::NAN, |dem| dem.grain_mass_kg(RADIUS_M));
        let along = grain.advance_to_s(0.4)?.vector("momentum")[0] / mass / grain.time_s();
        let (rolls, slides) = (5.0 / 7.0 * g * sin, g * (sin - friction * cos));
        checks.push(Check {
            quantity: format!("acceleration at {degrees}°, μ = {friction}"),
            unit: "m/s²",
            found: along,
            bound: Bound::Within(rolls.max(slides), 0.01 * g * sin),
            reason: "springs stretch under the load and oscillate",
        });
    }
    Ok(Outcome::of(checks))
}

fn momentum_on_a_grid(lab: &Lab) -> Result<Outcome, Failure> {
    let mut balls = Experiment::builtin(lab, "snowball_collision", &["gravity_m_s2=[0.0,0.0,0.0]"])?;
    let start = balls.advance_to(0)?;
    let (before, mass, energy) = (start.vector("momentum"), start.get("mass"), start.get("kinetic_energy"));
    // Σ m |v| of equal speeds.
    let scale = (2.0 * energy * mass).sqrt();
    let end = balls.advance_to(500)?;
    let drift = end.vector("momentum").into_iter().zip(before).map(|(now, then)| (now - then).abs() / scale);
    Ok(Outcome::of(vec![
        Check {
            quantity: "drift of momentum in 500 steps, of Σ m|v|".to_owned(),
            unit: "1",
            found: drift.fold(0.0, larger),
            bound: Bound::AtMost(1e-5),
            reason: "rounding of node sums, 6e-8 in a step",
        },
        Check {
            quantity: "kinetic energy over the initial one".to_owned(),
            unit: "1",
            found: end.get("kinetic_energy") / energy,
            bound: Bound::AtMost(0.9),
            reason: "the balls have collided",
        },
        Check {
            quantity: "relative change of mass".to_owned(),
            unit: "1",
            found: (end.get("mass") / mass - 1.0).abs(),
            bound: Bound::AtMost(1e-12),
            reason: "the particles' masses are constants",
        },
    ]))
}
