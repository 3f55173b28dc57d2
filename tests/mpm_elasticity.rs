//! Snow that does not yield is an elastic body, and snow that does is known in closed form where strain is uniform: waves, impacts, weight,
//! hardening and the semi-implicit step against what is known of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::{Implicit, Mpm as Section, Spline, Surface, Transfer};
use frazil_solvers::mpm::Surroundings;
use frazil_tests::assert_no_validation_messages;
use frazil_tests::bodies::{Trial, ball, block, both, moving};
use frazil_tests::snowpack::{empty_space, section};
use glam::DVec3;

/// Snow that does not yield, between walls that do not rub.
fn elastic(dimensions: u32, cell_size_m: f64, transfer: Transfer) -> Section {
    let mut section = Section { transfer, ..section(dimensions, cell_size_m) };
    section.material.plastic = false;
    section.walls = Surface { friction: 0.0, sticky: false };
    section
}

/// How far the front of a compression wave is from the wall that a bar runs into, in m of the bar at rest: where half of it has come to
/// rest, which is how much of it has.
fn stopped_length(trial: &Trial, length: f64, speed: f64) -> f64 {
    let cells = 50;
    let mut sums = vec![(0.0, 0.0); cells];
    for p in trial.snow.particles() {
        let at = (p.position.x / length * cells as f64) as usize;
        let sum = &mut sums[at.min(cells - 1)];
        *sum = (sum.0 + p.mass * p.velocity.x / -speed, sum.1 + p.mass);
    }
    let share = |k: usize| sums[k].0 / sums[k].1;
    let behind = (1..cells).find(|&k| share(k) > 0.5).unwrap();
    let (low, high) = (share(behind - 1), share(behind));
    let width = length / cells as f64;
    (behind as f64 - 0.5 + (0.5 - low) / (high - low)) * width
}

#[test]
fn a_wave_runs_through_an_elastic_bar_at_its_speed() {
    // A bar as wide as its domain runs into a wall: strain is uniaxial, since the walls beside it hold it, and compression runs back
    // through it at √((λ + 2μ)/ρ). The time between half-heights at two places counts. It strains by 10⁻³, so that waves are linear.
    for (dimensions, transfer, spline, poissons_ratio) in [
        (2, Transfer::PicFlip, Spline::Cubic, 0.3),
        (2, Transfer::Apic, Spline::Cubic, 0.3),
        (2, Transfer::Mls, Spline::Quadratic, 0.3),
        (2, Transfer::Apic, Spline::Quadratic, 0.0),
        (3, Transfer::Apic, Spline::Quadratic, 0.2),
    ] {
        let (h, length, across) = if dimensions == 2 { (0.01, 0.5, 0.1) } else { (0.02, 0.6, 0.08) };
        let mut section = Section { spline, ..elastic(dimensions, h, transfer) };
        section.material.poissons_ratio = poissons_ratio;
        let c = section.material.wave_speed_m_s(1.0);
        let (speed, dt) = (1e-3 * c, 0.3 * h / c);
        let depth = if dimensions == 3 { across } else { 0.0 };
        let bar = block(dimensions, [0.0; 3], [length, across, depth], 0.5 * h, 400.0);
        let bar = moving(bar, |_| DVec3::new(-speed, 0.0, 0.0));
        let space = empty_space([0.0; 3], [length + 0.1, across, depth].map(|x| x as f32));
        let mut trial = Trial::new(&section, dt, &space, &bar);
        let steps = |share: f64| (share * length / (c * dt)).round() as u64;
        let (first, last) = (steps(0.25), steps(0.8));
        trial.snow.advance(first);
        let near = stopped_length(&trial, length, speed);
        trial.snow.advance(last - first);
        let far = stopped_length(&trial, length, speed);
        let found = (far - near) / ((last - first) as f64 * dt);
        println!(
            "{dimensions}-D {transfer:?} {spline:?} ν {poissons_ratio}: {found:.3} m/s, √((λ+2μ)/ρ) = {c:.3} m/s, {:+.2} %",
            100.0 * (found / c - 1.0)
        );
        assert!((found / c - 1.0).abs() < 0.03, "{found} m/s for {c} m/s");
        assert_no_validation_messages(&trial.snow.device);
    }
}
