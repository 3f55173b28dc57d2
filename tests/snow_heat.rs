//! Heat in snow and water compared with Fourier's law, and its balance. Tolerances are stated where they are
//! used.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::{Conduction, ConductionLaw, Heat, LatentHeat, Phase};
use frazil_solvers::pbd::Snow;
use frazil_solvers::pbd::snow::Stage;
use frazil_testkit::{Random, assert_no_validation_messages, device, is_full_run};
use frazil_tests::bar::{Bar, NEAREST, PAPER, SPACING_M, properties};
use frazil_tests::{Particle, SnowSimulation};

/// Diffusivities over that of Fourier's law: the expected one, and one that must be told apart from it.
const FOURIER: [f64; 2] = [1.0, 2.0];

/// Runs two half-spaces in contact until heat has travelled each of `reaches_spacings` = √(4αt) in the slower
/// half, and compares particles at least `margin` particles from the walls with the exact solution for each
/// of `rates` times the diffusivity. Returns the maximum error for the first of these relative to the
/// temperature jump, and the minimum error for the second.
fn contact_errors(bar: &Bar, margin: u32, reaches_spacings: &[f64], rates: [f64; 2]) -> (f64, f64) {
    let scene = bar.scene(0.9);
    let dt = scene.dt_s();
    let mut run = SnowSimulation::of(&device(), scene);
    let slower = bar.phases.map(|phase| bar.diffusivity(phase)).into_iter().fold(f64::MAX, f64::min);
    let jump = (bar.temperatures_c[1] - bar.temperatures_c[0]).abs();
    let (mut worst, mut least_other) = (0.0_f64, f64::MAX);
    for reach in reaches_spacings {
        let t = (reach * SPACING_M).powi(2) / (4.0 * rates[0] * slower);
        let metrics = run.advance((t / dt).round() as u64 - run.step);
        assert_eq!((metrics.n_melted, metrics.n_frozen), (0, 0), "nothing changes phase");
        let t = run.step as f64 * dt;
        let particles = run.particles();
        let error = |faster| {
            let inside = particles.iter().filter(|p| bar.is_inside(p, margin));
            inside
                .map(|p| (f64::from(p.temperature_c) - bar.exact_c(bar.x_m(p), t, faster)).abs() / jump)
                .fold(0.0, f64::max)
        };
        let [expected, other] = rates.map(error);
        println!(
            "√(4αt) = {reach} spacings after {} steps: off by {:.2} % of the jump from {} times the \
             diffusivity; by {:.2} % from {} times",
            run.step,
            100.0 * expected,
            rates[0],
            100.0 * other,
            rates[1]
        );
        (worst, least_other) = (worst.max(expected), least_other.min(other));
    }
    assert_no_validation_messages(&run.device);
    (worst, least_other)
}

/// Maximum error of heat conduction relative to the jump; also the minimum error relative to the solution for
/// the other law: the printed conductivity 4k_ik_j/(k_i + k_j) alone differs by up to 8.3 % of the jump.
const MAX_ERROR: f64 = 0.03;
const MIN_PRINTED_ERROR: f64 = 0.06;

#[test]
fn two_half_spaces_of_snow_in_contact_follow_the_error_function() {
    for latent_heat in [LatentHeat::Blending, LatentHeat::Enthalpy] {
        let heat = Heat { latent_heat, ..Heat::default() };
        let (phases, temperatures_c) = ([Phase::Snow; 2], [-40.0, -10.0]);
        let bar =
            Bar { n_along: [25, 25], n_across: 3, support_spacings: NEAREST, phases, temperatures_c, heat };
        let (worst, worst_twice) = contact_errors(&bar, 0, &[3.0, 5.0, 8.0], FOURIER);
        assert!(worst < MAX_ERROR, "off by {:.2} % of the jump", 100.0 * worst);
        assert!(
            worst_twice > MIN_PRINTED_ERROR,
            "twice the diffusivity is off by {:.2} % only",
            100.0 * worst_twice
        );
    }
}

/// At the paper's support radius the kernel's sum is 1.1075 times the exact Laplacian (45/π (d/h)³ over
/// 6/Σ(1 − q)q²), so that the printed law conducts 2.215 times as fast as Fourier's.
#[test]
fn the_papers_support_radius_conducts_as_fast_as_each_law() {
    // Walls cut off neighbours, so that the layer along them conducts less; six layers inside, the effect is
    // negligible. With the default, `defaults_heat` counts all particles.
    let (phases, temperatures_c) = ([Phase::Snow; 2], [-40.0, -10.0]);
    for (law, rates) in [(ConductionLaw::Fourier, FOURIER), (ConductionLaw::Printed, [2.215, 1.0])] {
        let heat = Heat { law, conduction: Conduction::Uncorrected, ..Heat::default() };
        let bar =
            Bar { n_along: [18, 18], n_across: 15, support_spacings: PAPER, phases, temperatures_c, heat };
        let (worst, least_other) = contact_errors(&bar, 6, &[3.0, 5.0], rates);
        assert!(worst < MAX_ERROR, "{law:?}: off by {:.2} % of the jump", 100.0 * worst);
        assert!(
            least_other > MIN_PRINTED_ERROR,
            "{law:?}: {} times the diffusivity is off by {:.2} % only",
            rates[1],
            100.0 * least_other
        );
    }
}

#[test]
fn snow_and_water_in_contact_follow_the_error_function_on_either_side() {
    for latent_heat in [LatentHeat::Blending, LatentHeat::Enthalpy] {
        let heat = Heat { latent_heat, ..Heat::default() };
        // At these temperatures the contact stays at freezing, and nothing changes phase.
        let effusivity = |phase| {
            let (k, c) = properties(&heat, phase);
            (k * c).sqrt()
        };
        let phases = [Phase::Snow, Phase::Water];
        let temperatures_c = [-20.0, 20.0 * effusivity(Phase::Snow) / effusivity(Phase::Water)];
        let bar =
            Bar { n_along: [40, 16], n_across: 2, support_spacings: NEAREST, phases, temperatures_c, heat };
        let (worst, worst_twice) = contact_errors(&bar, 0, &[3.0, 4.0], FOURIER);
        assert!(worst < MAX_ERROR, "off by {:.2} % of the jump", 100.0 * worst);
        assert!(
            worst_twice > MIN_PRINTED_ERROR,
            "twice the diffusivity is off by {:.2} % only",
            100.0 * worst_twice
        );
    }
}

/// Snow of half of the density of water has particles of twice the volume, at a spacing 2^⅓ times as large,
/// and twice the diffusivity.
#[test]
fn snow_of_half_the_density_of_water_conducts_by_fouriers_law() {
    for latent_heat in [LatentHeat::Blending, LatentHeat::Enthalpy] {
        let heat = Heat { latent_heat, ..Heat::default() };
        let (phases, temperatures_c) = ([Phase::Snow; 2], [-40.0, -10.0]);
        let bar = Bar { n_along: [25, 25], n_across: 3, support_spacings: 2.0, phases, temperatures_c, heat };
        let mut scene = bar.scene(0.25);
        scene.snow_mut().unwrap().density_kg_m3 = Some(500.0);
        scene.fluid_mut().unwrap().particle_spacing_m = SPACING_M / 2.0_f64.cbrt();
        let dt = scene.dt_s();
        let mut run = SnowSimulation::of(&device(), scene);
        let t = (5.0 * SPACING_M).powi(2) / (4.0 * 2.0 * bar.diffusivity(Phase::Snow));
        run.advance((t / dt).round() as u64);
        let (t, particles) = (run.step as f64 * dt, run.particles());
        assert_eq!(particles.len(), 50 * 3 * 3);
        let jump = temperatures_c[1] - temperatures_c[0];
        let error = |particle: &Particle| {
            (f64::from(particle.temperature_c) - bar.exact_c(bar.x_m(particle), t, 2.0)).abs() / jump
        };
        let worst = particles.iter().map(error).fold(0.0, f64::max);
        println!("{latent_heat:?}: off by {:.2} % of the jump", 100.0 * worst);
        assert!(worst < MAX_ERROR, "{latent_heat:?}: off by {:.2} % of the jump", 100.0 * worst);
        assert_no_validation_messages(&run.device);
    }
}

/// Creates a box of 6³ particles of random phase, whose temperatures in °C are uniform over `ranges_c` of
/// snow, of 700 kg/m³, and of water.
fn mixture(heat: Heat, gravity: bool, ranges_c: [[f32; 2]; 2]) -> SnowSimulation {
    let bar = Bar {
        n_along: [3, 3],
        n_across: 6,
        support_spacings: PAPER,
        phases: [Phase::Snow, Phase::Water],
        temperatures_c: [-1.0, 1.0],
        heat,
    };
    let mut scene = bar.scene(0.6);
    scene.snow_mut().unwrap().density_kg_m3 = Some(700.0);
    if gravity {
        // Empty space above, in which the falling mixture is stirred.
        scene.gravity_m_s2 = None;
        scene.domain.max_m[0] += 4.0 * SPACING_M;
        scene.pbd_mut().unwrap().iterations = Some(3);
        scene.time.dt_s = scene.dt_s().min(0.001).into();
    }
    let mut sampled = scene.sample().unwrap();
    let mut random = Random::new(1);
    for (phase, temperature_c) in sampled.phases.iter_mut().zip(&mut sampled.temperatures_c) {
        let side = usize::from(random.unit() < 0.5);
        *phase = [Phase::Snow, Phase::Water][side];
        let [low, high] = ranges_c[side];
        *temperature_c = low + (high - low) * random.unit();
    }
    let device = device();
    let snow = Snow::new(&device, &scene, &sampled).unwrap();
    SnowSimulation { device, scene, snow, step: 0, replay: Default::default() }
}

/// Returns Σ m c T in J, and Σ m c |T|, to which rounding is relative.
fn sensible_heat_j(run: &SnowSimulation) -> (f64, f64) {
    let (heat, mass_kg) = (&run.scene.snow().unwrap().heat, run.scene.particle_mass_kg());
    let each = run.particles().into_iter().map(|p| {
        let phase = if p.is_solid { Phase::Snow } else { Phase::Water };
        mass_kg * properties(heat, phase).1 * f64::from(p.temperature_c)
    });
    each.fold((0.0, 0.0), |(sum, magnitude), heat| (sum + heat, magnitude + heat.abs()))
}

/// Returns Σ m H in J, and Σ m |H|.
fn enthalpy_j(run: &SnowSimulation) -> (f64, f64) {
    let mass_kg = run.scene.particle_mass_kg();
    let each = run.particles().into_iter().map(|p| mass_kg * f64::from(p.enthalpy_j_kg));
    each.fold((0.0, 0.0), |(sum, magnitude), heat| (sum + heat, magnitude + heat.abs()))
}

/// Returns the paper's conductivities, a thousand times those of ice and water: every kind of phase change
/// occurs within seconds.
fn paper_heat() -> Heat {
    Heat { snow_conductivity_w_m_k: 2500.0, water_conductivity_w_m_k: 600.0, ..Heat::default() }
}

/// Drift of a sum over particles through rounding, relative to the sum of magnitudes: thousands of roundings
/// of up to 2⁻²⁴ = 6e-8 per particle, of either sign, that mostly cancel. (3e-8 to 7e-8 are found.)
const ROUNDING: f64 = 1e-6;

#[test]
fn conduction_alone_keeps_sensible_heat_over_thousands_of_steps() {
    let mut run = mixture(Heat::default(), false, [[-40.0, 40.0]; 2]);
    let (before, magnitude) = sensible_heat_j(&run);
    let mut worst = 0.0_f64;
    let (n_parts, is_full) = if is_full_run() { (10, true) } else { (2, false) };
    for _ in 0..n_parts {
        for _ in 0..10 {
            let mut recorder = run.device.recorder().unwrap();
            (0..100).for_each(|_| run.snow.record_stage(&mut recorder, Stage::Conduct));
            run.device.submit(recorder).unwrap();
        }
        worst = worst.max((sensible_heat_j(&run).0 - before).abs() / magnitude);
    }
    let metrics = run.advance(0);
    println!("Σ m c T drifts by {worst:.1e} of Σ m c |T|");
    assert!(worst < ROUNDING, "Σ m c T drifts by {worst:e} of Σ m c |T|");
    let spread = metrics.warmest_c - metrics.coldest_c;
    let max_k = if is_full { 0.01 } else { 5.0 };
    assert!(spread < max_k, "temperatures of 80 K about one another have become one, but for {spread} K");
    assert_no_validation_messages(&run.device);
}

#[test]
fn total_enthalpy_is_kept_through_melting_and_freezing() {
    let heat = Heat { latent_heat: LatentHeat::Enthalpy, latent_heat_j_kg: 10_000.0, ..paper_heat() };
    let mut run = mixture(heat, true, [[-120.0, 0.0], [0.0, 60.0]]);
    let (before, magnitude) = enthalpy_j(&run);
    let mut worst = 0.0_f64;
    for _ in 0..if is_full_run() { 8 } else { 4 } {
        let metrics = run.advance(250);
        let (now, _) = enthalpy_j(&run);
        worst = worst.max((now - before).abs() / magnitude);
        assert!(
            (metrics.enthalpy_j - now).abs() < ROUNDING * magnitude,
            "{} J are reported, {now} J there",
            metrics.enthalpy_j
        );
    }
    let metrics = run.advance(0);
    println!(
        "{} melt, {} freeze; Σ m H drifts by {worst:.1e} of Σ m |H|",
        metrics.n_melted, metrics.n_frozen
    );
    assert!(metrics.n_melted > 10 && metrics.n_frozen > 10, "both changes of phase happen: {metrics:?}");
    assert!(worst < ROUNDING, "Σ m H drifts by {worst:e} of Σ m |H|");
    assert_no_validation_messages(&run.device);
}

#[test]
fn the_papers_variant_reports_the_heat_that_changes_of_phase_make() {
    let mut run = mixture(paper_heat(), true, [[-120.0, 0.0], [0.0, 60.0]]);
    let (before, magnitude) = sensible_heat_j(&run);
    for _ in 0..if is_full_run() { 5 } else { 3 } {
        let metrics = run.advance(200);
        let gained = sensible_heat_j(&run).0 - before;
        let difference = (gained - metrics.heat_jump_j).abs() / magnitude;
        println!(
            "{gained:.4} J made, {:.4} J reported: {difference:.1e} of Σ m c |T| apart",
            metrics.heat_jump_j
        );
        assert!(difference < ROUNDING, "{gained} J made, {} J reported", metrics.heat_jump_j);
        assert!(
            (metrics.sensible_heat_j - before - gained).abs() < ROUNDING * magnitude,
            "{} J are there, {} J reported",
            before + gained,
            metrics.sensible_heat_j
        );
    }
    let metrics = run.advance(0);
    assert!(metrics.n_melted > 10 && metrics.n_frozen > 10, "both changes of phase happen: {metrics:?}");
    assert!(metrics.heat_jump_j.abs() > 100.0 * ROUNDING * magnitude, "the jump is no rounding");
    assert_no_validation_messages(&run.device);
}
