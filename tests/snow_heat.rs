//! Heat in snow and water against Fourier's law, Stefan's and Neumann's fronts, and its own balance. Tolerances are stated where they
//! are used.
//!
//! The truths are one-dimensional: bars along x, filled wall to wall, in which nothing moves. Where the support radius reaches only
//! the six nearest neighbours, a bar conducts the same at its walls as inside and may be thin.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::{Heat, LatentHeat, Phase, Scene};
use frazil_solvers::pbd::Snow;
use frazil_solvers::pbd::snow::Stage;
use frazil_tests::{Particle, SnowSimulation, assert_no_validation_messages, device};
use std::f64::consts::PI;

/// Distance between particles, in m.
const SPACING_M: f64 = 0.01;
/// Support radius that reaches the six nearest neighbours only, in spacings.
const NEAREST: f64 = 1.2;
/// The paper's support radius in spacings, which reaches 18 neighbours.
const PAPER: f64 = 1.683889521824544;

/// The error function to 1e-15: its power series near 0, a continued fraction of its complement beyond.
fn erf(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 2.5 {
        let mut term = a;
        let mut sum = a;
        for n in 1..80 {
            let n = f64::from(n);
            term *= -a * a / n;
            sum += term / (2.0 * n + 1.0);
        }
        2.0 / PI.sqrt() * sum
    } else {
        let fraction = (1..80).rev().fold(a, |below, n| a + 0.5 * f64::from(n) / below);
        1.0 - (-a * a).exp() / PI.sqrt() / fraction
    };
    value.copysign(x)
}

/// What a bar is made of: snow from its left end, water from there on.
struct Bar {
    /// Particles of snow and of water along x.
    n_along: [u32; 2],
    /// Particles across, along y and z.
    n_across: u32,
    support_spacings: f64,
    phases: [Phase; 2],
    temperatures_c: [f64; 2],
    heat: Heat,
}

impl Bar {
    /// The bar as a scene whose steps take `share` of the longest that conduction allows.
    fn scene(&self, share: f64) -> Scene {
        let end = |n: u32| f64::from(n) * SPACING_M;
        let (middle, length, width) =
            (end(self.n_along[0]), end(self.n_along[0] + self.n_along[1]), end(self.n_across));
        let name = |phase| if phase == Phase::Snow { "snow" } else { "water" };
        let text = format!(
            "version = 1\nname = \"bar\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
             time = {{ dt_s = 1e-9, duration_s = 1.0 }}\n\
             fluid = {{ particle_spacing_m = {SPACING_M}, support_radius_spacings = {} }}\n\
             solver = {{ iterations = 1, steps_per_submission = 50 }}\n\
             domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [{length}, {width}, {width}] }}\n\
             snow = {{ links = {{ limit = \"none\" }} }}\n\
             [[particles]]\nphase = \"{}\"\ntemperature_c = {}\n\
             shape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{middle}, {width}, {width}] }}\n\
             [[particles]]\nphase = \"{}\"\ntemperature_c = {}\n\
             shape.box = {{ min_m = [{middle}, 0.0, 0.0], max_m = [{length}, {width}, {width}] }}\n",
            self.support_spacings,
            name(self.phases[0]),
            self.temperatures_c[0],
            name(self.phases[1]),
            self.temperatures_c[1],
        );
        let mut scene = Scene::parse(&text, "bar.toml", &[]).unwrap();
        scene.snow.as_mut().unwrap().heat = self.heat.clone();
        // Validation takes half of what would equal a particle to its neighbours in one step.
        scene.time.dt_s = share * 0.5 / scene.conduction_rate_per_s().unwrap();
        scene
    }

    /// How far a particle is from the plane between the two halves, in m.
    fn x_m(&self, particle: &Particle) -> f64 {
        f64::from(particle.position[0]) - f64::from(self.n_along[0]) * SPACING_M
    }

    /// Whether a particle is at least `margin` particles from the walls along the bar.
    fn is_inside(&self, particle: &Particle, margin: u32) -> bool {
        let place = |axis: usize| (f64::from(particle.position[axis]) / SPACING_M).floor() as u32;
        [1, 2].into_iter().all(|axis| (margin..self.n_across - margin).contains(&place(axis)))
    }

    /// α = k/(ρc) in m²/s of a phase.
    fn diffusivity(&self, phase: Phase) -> f64 {
        let (k, c) = properties(&self.heat, phase);
        k / (1000.0 * c)
    }

    /// The temperature of two half-spaces in contact at x in m, t in s: the contact keeps the mean of the two temperatures, weighted
    /// with the effusivities √(kρc), and each side nears it as an error function. With `faster`, diffusivities are that many times
    /// what they are.
    fn exact_c(&self, x_m: f64, t_s: f64, faster: f64) -> f64 {
        let effusivity = self.phases.map(|phase| {
            let (k, c) = properties(&self.heat, phase);
            (k * 1000.0 * c).sqrt()
        });
        let [a, b] = self.temperatures_c;
        let contact = (effusivity[0] * a + effusivity[1] * b) / (effusivity[0] + effusivity[1]);
        let side = usize::from(x_m > 0.0);
        let reach = (4.0 * faster * self.diffusivity(self.phases[side]) * t_s).sqrt();
        contact + (self.temperatures_c[side] - contact) * erf(x_m.abs() / reach)
    }
}

/// Conductivity in W/(m K) and capacity in J/(kg K).
fn properties(heat: &Heat, phase: Phase) -> (f64, f64) {
    match phase {
        Phase::Snow => (heat.snow_conductivity_w_m_k, heat.snow_capacity_j_kg_k),
        Phase::Water => (heat.water_conductivity_w_m_k, heat.water_capacity_j_kg_k),
    }
}

/// Runs two half-spaces in contact until heat has gone `reaches_spacings` = √(4αt) in the slower side, one after the other, and
/// compares those `margin` particles from the walls with the exact solution. Returns the greatest error in parts of the jump, and the
/// least that one meets who expects twice the diffusivity.
fn contact_errors(bar: &Bar, margin: u32, reaches_spacings: &[f64]) -> (f64, f64) {
    let scene = bar.scene(0.9);
    let dt = scene.time.dt_s;
    let mut run = SnowSimulation::of(&device(), scene);
    let slower = bar.phases.map(|phase| bar.diffusivity(phase)).into_iter().fold(f64::MAX, f64::min);
    let jump = (bar.temperatures_c[1] - bar.temperatures_c[0]).abs();
    let (mut worst, mut worst_twice) = (0.0_f64, f64::MAX);
    for reach in reaches_spacings {
        let t = (reach * SPACING_M).powi(2) / (4.0 * slower);
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
        let (once, twice) = (error(1.0), error(2.0));
        println!(
            "√(4αt) = {reach} spacings after {} steps: off by {:.2} % of the jump; by {:.2} % from twice the diffusivity",
            run.step,
            100.0 * once,
            100.0 * twice
        );
        (worst, worst_twice) = (worst.max(once), worst_twice.min(twice));
    }
    assert_no_validation_messages(&run.device);
    (worst, worst_twice)
}

/// What heat conduction may be off by, in parts of the jump; and what it must be off by from the solution that belongs to the paper's
/// printed conductivity 4k_ik_j/(k_i + k_j), which differs from the true one by 8.3 % of the jump where it differs most.
const MOST: f64 = 0.03;
const TWICE: f64 = 0.06;

#[test]
fn two_half_spaces_of_snow_in_contact_follow_the_error_function() {
    for latent_heat in [LatentHeat::Blending, LatentHeat::Enthalpy] {
        let heat = Heat { latent_heat, ..Heat::default() };
        let (phases, temperatures_c) = ([Phase::Snow; 2], [-40.0, -10.0]);
        let bar =
            Bar { n_along: [25, 25], n_across: 3, support_spacings: NEAREST, phases, temperatures_c, heat };
        let (worst, worst_twice) = contact_errors(&bar, 0, &[3.0, 5.0, 8.0]);
        assert!(worst < MOST, "off by {:.2} % of the jump", 100.0 * worst);
        assert!(worst_twice > TWICE, "twice the diffusivity is off by {:.2} % only", 100.0 * worst_twice);
    }
}

#[test]
fn the_papers_support_radius_conducts_as_fast_as_fouriers_law() {
    // Walls cut off neighbours, so that the layer along them conducts less; six layers inside, it does not show yet.
    let (phases, temperatures_c) = ([Phase::Snow; 2], [-40.0, -10.0]);
    let heat = Heat::default();
    let bar = Bar { n_along: [18, 18], n_across: 15, support_spacings: PAPER, phases, temperatures_c, heat };
    let (worst, worst_twice) = contact_errors(&bar, 6, &[3.0, 5.0]);
    assert!(worst < MOST, "off by {:.2} % of the jump", 100.0 * worst);
    assert!(worst_twice > TWICE, "twice the diffusivity is off by {:.2} % only", 100.0 * worst_twice);
}

#[test]
fn snow_and_water_in_contact_follow_the_error_function_on_either_side() {
    for latent_heat in [LatentHeat::Blending, LatentHeat::Enthalpy] {
        let heat = Heat { latent_heat, ..Heat::default() };
        // So hot that the contact stays at freezing, and nothing changes phase.
        let effusivity = |phase| {
            let (k, c) = properties(&heat, phase);
            (k * c).sqrt()
        };
        let phases = [Phase::Snow, Phase::Water];
        let temperatures_c = [-20.0, 20.0 * effusivity(Phase::Snow) / effusivity(Phase::Water)];
        let bar =
            Bar { n_along: [40, 16], n_across: 2, support_spacings: NEAREST, phases, temperatures_c, heat };
        let (worst, worst_twice) = contact_errors(&bar, 0, &[3.0, 4.0]);
        assert!(worst < MOST, "off by {:.2} % of the jump", 100.0 * worst);
        assert!(worst_twice > TWICE, "twice the diffusivity is off by {:.2} % only", 100.0 * worst_twice);
    }
}

/// A box of 6³ particles of random phase, whose temperatures in °C are uniform over `range_c` of snow and of water.
fn mixture(heat: Heat, gravity: bool, ranges_c: [[f32; 2]; 2]) -> SnowSimulation {
    let bar = Bar {
        n_along: [3, 3],
        n_across: 6,
        support_spacings: PAPER,
        phases: [Phase::Snow, Phase::Water],
        temperatures_c: [-1.0, 1.0],
        heat,
    };
    let mut scene = bar.scene(0.9);
    if gravity {
        // Room above, in which the mixture is stirred as it falls.
        scene.gravity_m_s2 = None;
        scene.domain.max_m[0] += 4.0 * SPACING_M;
        scene.solver.iterations = 3;
        scene.time.dt_s = scene.time.dt_s.min(0.001);
    }
    let mut sampled = scene.sample().unwrap();
    // A linear congruential generator (Knuth's MMIX): the same numbers everywhere.
    let mut state = 1_u64;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 24) as f32
    };
    for (phase, temperature_c) in sampled.phases.iter_mut().zip(&mut sampled.temperatures_c) {
        let side = usize::from(unit() < 0.5);
        *phase = [Phase::Snow, Phase::Water][side];
        let [low, high] = ranges_c[side];
        *temperature_c = low + (high - low) * unit();
    }
    let device = device();
    let snow = Snow::new(&device, &scene, &sampled).unwrap();
    SnowSimulation { device, scene, snow, step: 0 }
}

/// Σ m c T in J, and Σ m c |T|, which says what rounding it is a sum of.
fn sensible_heat_j(run: &SnowSimulation) -> (f64, f64) {
    let (heat, mass_kg) = (&run.scene.snow.as_ref().unwrap().heat, run.scene.particle_mass_kg());
    let each = run.particles().into_iter().map(|p| {
        let phase = if p.is_solid { Phase::Snow } else { Phase::Water };
        mass_kg * properties(heat, phase).1 * f64::from(p.temperature_c)
    });
    each.fold((0.0, 0.0), |(sum, magnitude), heat| (sum + heat, magnitude + heat.abs()))
}

/// Σ m H in J, and Σ m |H|.
fn enthalpy_j(run: &SnowSimulation) -> (f64, f64) {
    let mass_kg = run.scene.particle_mass_kg();
    let each = run.particles().into_iter().map(|p| mass_kg * f64::from(p.enthalpy_j_kg));
    each.fold((0.0, 0.0), |(sum, magnitude), heat| (sum + heat, magnitude + heat.abs()))
}

/// The paper's conductivities, a thousand times those of ice and water: a run of seconds sees every change of phase.
fn paper_heat() -> Heat {
    Heat { snow_conductivity_w_m_k: 2500.0, water_conductivity_w_m_k: 600.0, ..Heat::default() }
}

/// What a sum over particles may drift by through rounding, in parts of the sum of magnitudes: thousands of roundings of up to
/// 2⁻²⁴ = 6e-8 a particle, of either sign, that mostly cancel. (3e-8 to 7e-8 are found.)
const ROUNDING: f64 = 1e-6;

#[test]
fn conduction_alone_keeps_sensible_heat_over_ten_thousand_steps() {
    let mut run = mixture(Heat::default(), false, [[-40.0, 40.0]; 2]);
    let (before, magnitude) = sensible_heat_j(&run);
    let mut worst = 0.0_f64;
    for _ in 0..10 {
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
    assert!(spread < 0.01, "temperatures of 80 K about one another have become one, but for {spread} K");
    assert_no_validation_messages(&run.device);
}

#[test]
fn total_enthalpy_is_kept_through_melting_and_freezing() {
    let heat = Heat { latent_heat: LatentHeat::Enthalpy, latent_heat_j_kg: 10_000.0, ..paper_heat() };
    let mut run = mixture(heat, true, [[-120.0, 0.0], [0.0, 60.0]]);
    let (before, magnitude) = enthalpy_j(&run);
    let mut worst = 0.0_f64;
    for _ in 0..8 {
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
    for _ in 0..5 {
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

/// λ of Neumann's solution for two half-spaces in contact, water at `bar.temperatures_c[1]` and ice at `bar.temperatures_c[0]`, one
/// above and one below freezing at 0 °C or at it: the front between them is 2λ√(α_w t) away from where they met, on the ice's side
/// where λ > 0. The heat that melting takes is what comes from the water less what goes into the ice:
///   ρ L λ √α_w = k_w T_w e^(−λ²) / ((1 + erf λ) √(π α_w)) + k_i T_i e^(−λ²ν²) / ((1 − erf λν) √(π α_i)),  ν = √(α_w/α_i).
fn neumann_lambda(bar: &Bar) -> f64 {
    let [ice_c, water_c] = bar.temperatures_c;
    let [ice, water] = bar.phases.map(|phase| bar.diffusivity(phase));
    let (k_ice, k_water) = (bar.heat.snow_conductivity_w_m_k, bar.heat.water_conductivity_w_m_k);
    let ratio = (water / ice).sqrt();
    let excess = |lambda: f64| {
        let latent = 1000.0 * bar.heat.latent_heat_j_kg * lambda * water.sqrt();
        let from_water =
            k_water * water_c * (-lambda * lambda).exp() / ((1.0 + erf(lambda)) * (PI * water).sqrt());
        let mu = lambda * ratio;
        let into_ice = k_ice * ice_c * (-mu * mu).exp() / ((1.0 - erf(mu)) * (PI * ice).sqrt());
        latent - from_water - into_ice
    };
    let (mut low, mut high) = (-2.0, 2.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// The front between ice and water at a time, against Neumann's.
struct Front {
    t_s: f64,
    /// Where it is, in spacings into the ice from where the two met.
    at: f64,
    exactly_at: f64,
    /// What temperatures are off by at most, in parts of the jump.
    error: f64,
}

/// Ice and water in contact: five measurements while the front between them goes from `spacings[0]` to `spacings[1]`.
fn fronts(bar: &Bar, spacings: [f64; 2]) -> Vec<Front> {
    let scene = bar.scene(0.9);
    let dt = scene.time.dt_s;
    let lambda = neumann_lambda(bar);
    let [ice_c, water_c] = bar.temperatures_c;
    let [ice, water] = bar.phases.map(|phase| bar.diffusivity(phase));
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
        // Where the front is if all that has melted is water, in spacings into the ice.
        let molten = particles.iter().map(|p| (f64::from(p.enthalpy_j_kg) / latent_j_kg).clamp(0.0, 1.0));
        let front = (molten.sum::<f64>() - n_water) / section;
        let exact_front = 2.0 * lambda * (water * t).sqrt() / SPACING_M;
        let error_c = particles.iter().map(|p| {
            // The ice lies at negative x.
            let into_ice_m = -bar.x_m(p);
            let (of_water, of_ice) =
                (into_ice_m / (4.0 * water * t).sqrt(), into_ice_m / (4.0 * ice * t).sqrt());
            let front_of_ice = lambda * (water / ice).sqrt();
            let exact_c = if of_water < lambda {
                water_c * (erf(lambda) - erf(of_water)) / (1.0 + erf(lambda))
            } else {
                ice_c * (erf(of_ice) - erf(front_of_ice)) / (1.0 - erf(front_of_ice))
            };
            (f64::from(p.temperature_c) - exact_c).abs()
        });
        let error = error_c.fold(0.0, f64::max) / (water_c - ice_c);
        println!(
            "step {}: front {front:.3} spacings into the ice, exactly {exact_front:.3}; T off by {:.2} % of the jump",
            run.step,
            100.0 * error
        );
        fronts.push(Front { t_s: t, at: front, exactly_at: exact_front, error });
    }
    assert_no_validation_messages(&run.device);
    fronts
}

/// The power of time that a front goes with: the slope of a line through the logarithms.
fn exponent(fronts: &[Front]) -> f64 {
    let mean = |of: &dyn Fn(&Front) -> f64| fronts.iter().map(of).sum::<f64>() / fronts.len() as f64;
    let (log_t, log_way) = (|f: &Front| f.t_s.ln(), |f: &Front| f.at.abs().ln());
    let (t, way) = (mean(&log_t), mean(&log_way));
    mean(&|f| (log_t(f) - t) * (log_way(f) - way)) / mean(&|f| (log_t(f) - t).powi(2))
}

/// A front in ice that conducts as water does: 5 % of the way and 0.03 of the exponent are allowed from four spacings on, where half a
/// particle is 12 %. (0.4 % and 0.001 are found.)
fn assert_on_its_way(fronts: &[Front]) {
    for Front { at, exactly_at, error, .. } in fronts {
        assert!((at / exactly_at - 1.0).abs() < 0.05, "front at {at}, exactly {exactly_at} spacings");
        assert!(*error < MOST, "temperatures off by {:.2} % of the jump", 100.0 * error);
    }
    let exponent = exponent(fronts);
    println!("the front goes with the power {exponent:.4} of time");
    assert!((exponent - 0.5).abs() < 0.03, "the front goes with the power {exponent} of time");
}

/// A bar, one particle thick, of ice and water with true latent heat.
fn stefan_bar(n_along: [u32; 2], temperatures_c: [f64; 2], heat: Heat) -> Bar {
    let heat = Heat { latent_heat: LatentHeat::Enthalpy, ..heat };
    let phases = [Phase::Snow, Phase::Water];
    Bar { n_along, n_across: 1, support_spacings: NEAREST, phases, temperatures_c, heat }
}

/// Ice that conducts and stores heat as water does, and the temperature in °C at which heating it has taken as much heat as melting.
fn like_water() -> (Heat, f64) {
    let water = Heat::default();
    let (k, c) = properties(&water, Phase::Water);
    let hot_c = water.latent_heat_j_kg / c;
    (Heat { snow_conductivity_w_m_k: k, snow_capacity_j_kg_k: c, ..water }, hot_c)
}

#[test]
fn a_melting_front_follows_the_square_root_of_time() {
    // Stefan's problem: ice at freezing, water of Stefan number 1.
    let (heat, hot_c) = like_water();
    assert_on_its_way(&fronts(&stefan_bar([14, 40], [0.0, hot_c], heat), [4.0, 8.0]));
}

#[test]
fn a_freezing_front_follows_the_square_root_of_time() {
    let (heat, hot_c) = like_water();
    assert_on_its_way(&fronts(&stefan_bar([40, 14], [-hot_c, 0.0], heat), [4.0, 8.0]));
}

#[test]
fn a_front_between_ice_and_water_of_unlike_conductivity_is_a_particle_off_at_most() {
    // A particle conducts as what it was until all of it has changed. What freezes therefore lets less heat through than the ice that
    // part of it is, and the front lags by a share of a spacing that stays as it goes on: it falls with the spacing, not with time.
    // (0.8 spacings are found.) A third of the true latent heat gets it so far in a third of the steps.
    let heat = Heat { latent_heat_j_kg: 100_000.0, ..Heat::default() };
    // As many parts of the jump are temperatures off as the front is of how far the cold has gone.
    for Front { at, exactly_at, error, .. } in fronts(&stefan_bar([52, 28], [-60.0, 1.0], heat), [5.0, 8.0]) {
        assert!((at - exactly_at).abs() < 1.0, "front at {at}, exactly {exactly_at} spacings");
        assert!(error < 0.06, "temperatures off by {:.2} % of the jump", 100.0 * error);
    }
}

#[test]
fn the_front_of_a_bar_at_freezing_is_stefans() {
    // λ e^(λ²) (1 + erf λ) = Ste/√π, to which Neumann's solution comes down, at a Stefan number of 1.
    let (heat, hot_c) = like_water();
    let lambda = neumann_lambda(&stefan_bar([1, 1], [0.0, hot_c], heat));
    let stefan = lambda * (lambda * lambda).exp() * (1.0 + erf(lambda)) * PI.sqrt();
    assert!((stefan - 1.0).abs() < 1e-12, "λ = {lambda} has the Stefan number {stefan}");
    // The published λ of a wall held at Ste = 0.5: λ e^(λ²) erf λ = Ste/√π.
    let published = 0.464786_f64;
    let held = published * (published * published).exp() * erf(published) * PI.sqrt();
    assert!((held - 0.5).abs() < 1e-5, "the error function is the one of the published tables: {held}");
}
