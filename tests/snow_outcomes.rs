//! Expected outcomes of the experiments of Chen2021 chapter 8 with water, at reduced size: extent and counts
//! of snow, temperatures inside it, and the time between two changes of phase of a particle. (The drops of
//! snow are in `snow_dynamics`.)

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::{Phase, Scene};
use frazil_solvers::pbd::SnowMetrics;
use frazil_testkit::assert_no_validation_messages;
use frazil_tests::bar::properties;
use frazil_tests::{Particle, SnowSimulation};
use std::collections::HashMap;
use std::f64::consts::PI;

/// Number of steps between two samples of a run. A particle that has changed phase does not change back
/// within as many: its α grows by 0.01 in a step, and has to exceed 0.5 (tables 8.3 and 8.4, eq 6.2, 6.4).
const WINDOW: u64 = 50;

/// State of a run after a number of steps.
struct Sample {
    step: u64,
    metrics: SnowMetrics,
    particles: Vec<Particle>,
}

/// Runs a built-in scene for `n` windows, and returns a sample at the start and after each window. Between
/// samples, every change of phase is compared with the rules of Chen2021.
fn run(scene: &str, overrides: &[&str], n: u64) -> Vec<Sample> {
    let mut simulation = SnowSimulation::new(scene, overrides);
    let mut held_back = 0;
    let mut samples: Vec<Sample> = Vec::new();
    for _ in 0..=n {
        let metrics = simulation.advance(if samples.is_empty() { 0 } else { WINDOW });
        let now = Sample { step: simulation.step, metrics, particles: simulation.particles() };
        if let Some(then) = samples.last() {
            held_back += check_changes(&simulation, then, &now);
        }
        samples.push(now);
    }
    assert_eq!(simulation.link_faults(), []);
    assert_no_validation_messages(&simulation.device);
    println!("{scene}: α alone kept {held_back} particles in their phase at the times of samples");
    samples
}

/// Compares the changes of phase of one window with the rules, and returns the number of particles that only
/// their α keeps in a phase.
fn check_changes(simulation: &SnowSimulation, then: &Sample, now: &Sample) -> usize {
    let snow = simulation.scene.snow().unwrap();
    let speed = snow.transition.blend_step(simulation.scene.dt_s());
    let threshold = snow.transition.blend_threshold;
    let grown = speed * WINDOW as f64;
    let freezing_c = snow.heat.freezing_temperature_c;
    let before: HashMap<u32, &Particle> = then.particles.iter().map(|p| (p.id, p)).collect();
    let (mut melted, mut frozen, mut held_back) = (0, 0, 0);
    for p in &now.particles {
        let step = now.step;
        let was = before[&p.id];
        let alpha = f64::from(p.blend);
        match (was.is_solid, p.is_solid) {
            (true, false) => melted += 1,
            (false, true) => frozen += 1,
            _ => {}
        }
        // Sums of 50 roundings of α.
        let expected = (f64::from(was.blend) + grown).min(1.0);
        let is_as_expected =
            if was.is_solid == p.is_solid { (alpha - expected).abs() < 1e-4 } else { alpha < grown };
        assert!(is_as_expected, "step {step}: α from {was:?} to {p:?}");
        let beyond_k = if p.is_solid { 1.0 } else { -1.0 } * (f64::from(p.temperature_c) - freezing_c);
        held_back += usize::from(beyond_k > 0.0 && alpha < threshold);
        // A particle is beyond freezing for a step before it leaves, which heats it by less than a kelvin.
        assert!(
            beyond_k < 1.0 || alpha < threshold + 2.0 * speed,
            "step {step}: α no longer keeps a particle in its phase: {p:?}"
        );
    }
    // A particle that changes twice in a window is counted twice by the solver, and is not seen here.
    let counted = |of: fn(&SnowMetrics) -> u32| of(&now.metrics) - of(&then.metrics);
    assert_eq!(
        [melted, frozen],
        [counted(|m| m.n_melted), counted(|m| m.n_frozen)],
        "steps {} to {}: melted and frozen, of which some changed back within {WINDOW} steps",
        then.step,
        now.step
    );
    held_back
}

/// Returns the volume in m³ of the bounding box of snow.
fn box_m3(metrics: &SnowMetrics) -> f64 {
    (0..3).map(|axis| metrics.solid_upper_m[axis] - metrics.solid_lower_m[axis]).product()
}

/// Returns the mean temperatures in °C of all particles in shells of two spacings about the middle of the
/// snow, from within.
fn shells_c(sample: &Sample, spacing_m: f64) -> Vec<f64> {
    let solid = || sample.particles.iter().filter(|p| p.is_solid);
    let n = solid().count() as f64;
    let middle: [f64; 3] =
        std::array::from_fn(|axis| solid().map(|p| f64::from(p.position[axis])).sum::<f64>() / n);
    let mut shells: Vec<(f64, f64)> = Vec::new();
    for p in &sample.particles {
        let r2: f64 = (0..3).map(|axis| (f64::from(p.position[axis]) - middle[axis]).powi(2)).sum();
        let shell = (r2.sqrt() / (2.0 * spacing_m)) as usize;
        shells.resize(shells.len().max(shell + 1), (0.0, 0.0));
        shells[shell].0 += f64::from(p.temperature_c);
        shells[shell].1 += 1.0;
    }
    shells.into_iter().map(|(sum, n)| sum / n).collect()
}

/// Returns the temperature in the middle of a body of `sides_m` t seconds after its surface came to freezing,
/// 0 °C, as a share of the initial one: the product of those of three plates.
fn middle_of_a_block(sides_m: [f64; 3], diffusivity_m2_s: f64, t_s: f64) -> f64 {
    let plate = |side_m: f64| {
        let term = |k: i32| {
            let odd = f64::from(2 * k + 1);
            let rate = diffusivity_m2_s * (odd * PI / side_m).powi(2);
            4.0 / (PI * odd) * f64::from(1 - 2 * (k % 2)) * (-rate * t_s.max(0.0)).exp()
        };
        (0..200).map(term).sum::<f64>()
    };
    sides_m.into_iter().map(plate).product()
}

/// Asserts that particles are the colder the nearer to the middle of the snow, in all samples, and that
/// the means of both phases approach one another steadily.
fn assert_thermograph(samples: &[Sample], spacing_m: f64) {
    for s in samples {
        let shells = shells_c(s, spacing_m);
        println!("step {}: {:?}, from the middle of the snow outwards, in °C", s.step, shells);
        // Far away all have one temperature, but for rounding.
        assert!(shells.windows(2).all(|pair| pair[1] > pair[0] - 1e-3), "step {}: {shells:?}", s.step);
        assert!(shells[shells.len() - 1] - shells[0] > 10.0, "step {}: {shells:?}", s.step);
    }
    for pair in samples.windows(2) {
        let [then, now] = [&pair[0].metrics, &pair[1].metrics];
        let step = pair[1].step;
        assert!(then.solid_mean_c <= now.solid_mean_c, "step {step}: snow cools to {} °C", now.solid_mean_c);
        assert!(now.warmest_c <= then.warmest_c + 1e-3, "step {step}: water heats to {} °C", now.warmest_c);
        assert!(then.coldest_c - 1e-3 <= now.coldest_c, "step {step}: snow cools to {} °C", now.coldest_c);
    }
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn snow_shrinks_in_hot_water_and_its_middle_warms_by_fouriers_law() {
    let samples = run("melting", &["scale=0.3"], 16);
    let scene = Scene::find("melting", &["scale=0.3".to_owned()]).unwrap();
    let (d, snow) = (scene.particle_spacing_m(), scene.snow().unwrap());
    for pair in samples.windows(2) {
        let [then, now] = [&pair[0].metrics, &pair[1].metrics];
        let step = pair[1].step;
        assert!(now.n_solid <= then.n_solid, "step {step}: {} particles of snow grow", then.n_solid);
        assert!(now.fluid_mean_c <= then.fluid_mean_c, "step {step}: the water warms");
        // It flattens as it falls into the water. Single particles at corners move.
        let growth = box_m3(now) / box_m3(then) - 1.0;
        assert!(step <= 200 || growth < 0.02, "step {step}: the box around the snow grows by {growth}");
    }
    let (first, last) = (&samples[0].metrics, &samples[samples.len() - 1].metrics);
    assert!(2 * last.n_solid < first.n_solid, "{} of {} left", last.n_solid, first.n_solid);
    assert!(
        20 * last.n_frozen < last.n_melted,
        "{} freeze, though the water is hot throughout",
        last.n_frozen
    );
    assert!(box_m3(last) < 0.5 * box_m3(first), "{} of {} m³ left", box_m3(last), box_m3(first));
    assert_thermograph(&samples, d);

    // The middle of a cube of constant size whose surface comes to freezing as it meets the water, until half
    // of the snow has melted. It is loosened by its impact, and shrinks: a tenth of the difference is
    // allowed, 0.05 is found. Conduction at twice the rate is off by four tenths.
    let sides_m = [0, 1, 2].map(|i| first.solid_upper_m[i] - first.solid_lower_m[i] + d);
    let is_water = |p: &&Particle| !p.is_solid;
    let surface_m = samples[0].particles.iter().filter(is_water).map(|p| f64::from(p.position[1]));
    let gap_m = first.solid_lower_m[1] - surface_m.fold(f64::MIN, f64::max) - d;
    let fall_s = (2.0 * gap_m / 9.81).sqrt();
    let (k, c) = properties(&snow.heat, Phase::Snow);
    let mut discerned = 0.0_f64;
    for s in samples.iter().take_while(|s| 2 * s.metrics.n_solid > first.n_solid) {
        let t_s = s.step as f64 * scene.dt_s() - fall_s;
        let share = |faster: f64| middle_of_a_block(sides_m, faster * k / (1000.0 * c), t_s);
        let found = s.metrics.coldest_c / first.coldest_c;
        println!("step {}: {found:.3} of the cold is left in the middle, exactly {:.3}", s.step, share(1.0));
        assert!((found - share(1.0)).abs() < 0.1, "step {}: {found}, exactly {}", s.step, share(1.0));
        discerned = discerned.max(share(1.0) - share(2.0));
    }
    assert!(discerned > 0.3, "twice the rate is off by {discerned} only");
}

#[test]
#[ignore = "long: a whole scene; snow_stefan has freezing fronts, snow_migration this scene"]
fn a_very_cold_cube_grows_in_cold_water() {
    let samples = run("freezing", &["scale=0.3"], 14);
    for pair in samples.windows(2) {
        let [then, now] = [&pair[0].metrics, &pair[1].metrics];
        let step = pair[1].step;
        assert!(now.n_solid >= then.n_solid, "step {step}: {} particles of snow shrink", then.n_solid);
        // In the second half it is at rest. Single particles at corners move.
        let growth = box_m3(now) / box_m3(then) - 1.0;
        assert!(step <= 300 || growth > -0.02, "step {step}: the box around the snow grows by {growth}");
    }
    let (first, last) = (&samples[0].metrics, &samples[samples.len() - 1].metrics);
    assert!(last.n_solid > 3 * first.n_solid, "{} of {}", last.n_solid, first.n_solid);
    assert!(20 * last.n_melted < last.n_frozen, "{} melt, though nothing is warm enough", last.n_melted);
    assert!(box_m3(last) > 4.0 * box_m3(first), "{} from {} m³", box_m3(last), box_m3(first));
    let spacing_m = Scene::find("freezing", &[]).unwrap().particle_spacing_m();
    assert_thermograph(&samples, spacing_m);
    // It grows around the cube: the snow of the start is still snow, and as a whole colder than what froze.
    let last = &samples[samples.len() - 1];
    let (old, new): (Vec<&Particle>, Vec<&Particle>) =
        last.particles.iter().filter(|p| p.is_solid).partition(|p| p.id >= first.n_fluid);
    let mean_c =
        |set: &[&Particle]| set.iter().map(|p| f64::from(p.temperature_c)).sum::<f64>() / set.len() as f64;
    assert!(20 * old.len() > 19 * first.n_solid as usize, "{} of the snow of the start", old.len());
    let (old_c, new_c) = (mean_c(&old), mean_c(&new));
    assert!(old_c < new_c && new_c < 0.0, "{old_c} °C, and {new_c} °C of what froze");
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn freezing_overtakes_melting_where_hot_water_falls_on_snow() {
    // Four times the conductivities: a quarter of the steps. The full length, at those of the paper, is in
    // `frazil validate paper.water_drop`.
    let faster =
        ["scale=0.25", "snow.heat.snow_conductivity_w_m_k=10000", "snow.heat.water_conductivity_w_m_k=2400"];
    let samples = run("water_drop", &faster, 20);
    let at = |step: u64| &samples[(step / WINDOW) as usize].metrics;
    let between =
        |from: u64, to: u64| [at(to).n_melted - at(from).n_melted, at(to).n_frozen - at(from).n_frozen];
    assert_eq!(between(0, 200), [0, 0], "before the water arrives");
    let [melted, frozen] = between(200, 500);
    println!("first {melted} melt and {frozen} freeze");
    assert!(melted > 100 && frozen > 0 && melted > 5 * frozen, "first {melted} melt and {frozen} freeze");
    let [melted, frozen] = between(800, 1000);
    println!("in the end {melted} melt and {frozen} freeze");
    assert!(frozen > 10 && frozen > melted, "in the end {melted} melt and {frozen} freeze");
    // Heat goes from the water to the snow throughout.
    for pair in samples.windows(2) {
        let [then, now] = [&pair[0].metrics, &pair[1].metrics];
        assert!(
            now.fluid_mean_c <= then.fluid_mean_c && now.solid_mean_c >= then.solid_mean_c,
            "step {}: water at {} °C, snow at {} °C",
            pair[1].step,
            now.fluid_mean_c,
            now.solid_mean_c
        );
    }
}
