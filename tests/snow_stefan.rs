//! Fronts between ice and water with true latent heat, compared with Stefan's and Neumann's solutions.
//! Tolerances are stated where they are used.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_report::erf;
use frazil_scene::{Heat, LatentHeat, Phase};
use frazil_testkit::{assert_no_validation_messages, device};
use frazil_tests::SnowSimulation;
use frazil_tests::bar::{Bar, NEAREST, SPACING_M, neumann_lambda, neumann_temperature_c, properties};
use std::f64::consts::PI;

/// Maximum error of temperatures relative to the jump.
const MAX_ERROR: f64 = 0.03;

/// Front between ice and water at a time, compared with Neumann's.
struct Front {
    t_s: f64,
    /// Position, in spacings into the ice from the initial contact.
    at: f64,
    exactly_at: f64,
    /// Maximum error of temperatures relative to the jump.
    error: f64,
}

/// Simulates ice and water in contact, with five measurements while the front between them moves from
/// `spacings[0]` to `spacings[1]`.
fn fronts(bar: &Bar, spacings: [f64; 2]) -> Vec<Front> {
    let scene = bar.scene(0.9);
    let dt = scene.dt_s();
    let lambda = neumann_lambda(&bar.heat, bar.temperatures_c);
    let [ice_c, water_c] = bar.temperatures_c;
    let water = bar.diffusivity(Phase::Water);
    let latent_j_kg = bar.heat.latent_heat_j_kg;
    let section = f64::from(bar.n_across * bar.n_across);
    let n_water = f64::from(bar.n_along[1]) * section;
    let mut run = SnowSimulation::of(&device(), scene);
    let mut fronts = Vec::new();
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at_m = (spacings[0] + part * (spacings[1] - spacings[0])) * SPACING_M;
        let until_s = (at_m / (2.0 * lambda)).powi(2) / water;
        run.advance((until_s / dt).round() as u64 - run.step);
        let t = run.step as f64 * dt;
        let particles = run.particles();
        // Front position if all melted mass is water, in spacings into the ice.
        let molten = particles.iter().map(|p| (f64::from(p.enthalpy_j_kg) / latent_j_kg).clamp(0.0, 1.0));
        let front = (molten.sum::<f64>() - n_water) / section;
        let exact_front = 2.0 * lambda * (water * t).sqrt() / SPACING_M;
        let error_c = particles.iter().map(|p| {
            // The ice lies at negative x.
            let into_ice_m = -bar.x_m(p);
            let exact_c = neumann_temperature_c(&bar.heat, bar.temperatures_c, lambda, into_ice_m, t);
            (f64::from(p.temperature_c) - exact_c).abs()
        });
        let error = error_c.fold(0.0, f64::max) / (water_c - ice_c);
        println!(
            "step {}: front {front:.3} spacings into the ice, exactly {exact_front:.3}; T off by {:.2} % of \
             the jump",
            run.step,
            100.0 * error
        );
        fronts.push(Front { t_s: t, at: front, exactly_at: exact_front, error });
    }
    assert_no_validation_messages(&run.device);
    fronts
}

/// Returns the exponent of time in the front's motion: the slope of a line through the logarithms.
fn exponent(fronts: &[Front]) -> f64 {
    let mean = |of: &dyn Fn(&Front) -> f64| fronts.iter().map(of).sum::<f64>() / fronts.len() as f64;
    let (log_t, log_at) = (|f: &Front| f.t_s.ln(), |f: &Front| f.at.abs().ln());
    let (t, at) = (mean(&log_t), mean(&log_at));
    mean(&|f| (log_t(f) - t) * (log_at(f) - at)) / mean(&|f| (log_t(f) - t).powi(2))
}

/// Asserts the motion of a front in ice that conducts like water: from four spacings on, where half a
/// particle is 12 %, 5 % of the distance and 0.03 of the exponent are allowed. (0.4 % and 0.001 are found.)
fn assert_front_motion(fronts: &[Front]) {
    for Front { at, exactly_at, error, .. } in fronts {
        assert!((at / exactly_at - 1.0).abs() < 0.05, "front at {at}, exactly {exactly_at} spacings");
        assert!(*error < MAX_ERROR, "temperatures off by {:.2} % of the jump", 100.0 * error);
    }
    let exponent = exponent(fronts);
    println!("the front goes with the power {exponent:.4} of time");
    assert!((exponent - 0.5).abs() < 0.03, "the front goes with the power {exponent} of time");
}

/// Creates a bar, one particle thick, of ice and water with true latent heat.
fn stefan_bar(n_along: [u32; 2], temperatures_c: [f64; 2], heat: Heat) -> Bar {
    let heat = Heat { latent_heat: LatentHeat::Enthalpy, ..heat };
    let phases = [Phase::Snow, Phase::Water];
    Bar { n_along, n_across: 1, support_spacings: NEAREST, phases, temperatures_c, heat }
}

/// Returns ice that conducts and stores heat like water, and the temperature in °C at which heating it has
/// absorbed as much heat as melting.
fn like_water() -> (Heat, f64) {
    let water = Heat::default();
    let (k, c) = properties(&water, Phase::Water);
    let hot_c = water.latent_heat_j_kg / c;
    (Heat { snow_conductivity_w_m_k: k, snow_capacity_j_kg_k: c, ..water }, hot_c)
}

#[test]
fn a_melting_front_follows_the_square_root_of_time() {
    // Stefan's problem: ice at freezing, water with Stefan number 1.
    let (heat, hot_c) = like_water();
    assert_front_motion(&fronts(&stefan_bar([14, 40], [0.0, hot_c], heat), [4.0, 8.0]));
}

#[test]
fn a_freezing_front_follows_the_square_root_of_time() {
    let (heat, hot_c) = like_water();
    assert_front_motion(&fronts(&stefan_bar([40, 14], [-hot_c, 0.0], heat), [4.0, 8.0]));
}

#[test]
fn a_front_between_ice_and_water_of_unlike_conductivity_is_neumanns() {
    // With a third of the true latent heat the front moves equally far in a third of the steps. A particle
    // that freezes is at the freezing temperature over all of its volume, so the front is known to a fraction
    // of it only. (0.4 % of the distance and 1.2 % of the jump are found.)
    let heat = Heat { latent_heat_j_kg: 100_000.0, ..Heat::default() };
    for Front { at, exactly_at, error, .. } in fronts(&stefan_bar([52, 28], [-60.0, 1.0], heat), [5.0, 8.0]) {
        assert!((at / exactly_at - 1.0).abs() < 0.01, "front at {at}, exactly {exactly_at} spacings");
        assert!(error < 0.015, "temperatures off by {:.2} % of the jump", 100.0 * error);
    }
}

#[test]
fn the_front_of_a_bar_at_freezing_is_stefans() {
    // Neumann's solution reduces to λ e^(λ²) (1 + erf λ) = Ste/√π, at a Stefan number of 1.
    let (heat, hot_c) = like_water();
    let lambda = neumann_lambda(&heat, [0.0, hot_c]);
    let stefan = lambda * (lambda * lambda).exp() * (1.0 + erf(lambda)) * PI.sqrt();
    assert!((stefan - 1.0).abs() < 1e-12, "λ = {lambda} has the Stefan number {stefan}");
    // Published λ of a wall held at Ste = 0.5: λ e^(λ²) erf λ = Ste/√π.
    let published = 0.464786_f64;
    let held = published * (published * published).exp() * erf(published) * PI.sqrt();
    assert!((held - 0.5).abs() < 1e-5, "the error function is the one of the published tables: {held}");
}
