//! Springs of a viscoelastic fluid: no force on rotated bodies, moduli, the period of a strip, plastic flow,
//! rebound, springs that are made and that end, and steps that are too long for them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_solvers::Solver as _;
use frazil_solvers::viscoelastic::{Stage, Viscoelastic, ViscoelasticMetrics};
use frazil_testkit::{assert_no_validation_messages, download_columns, is_full_run};
use frazil_tests::ViscoelasticSimulation;
use glam::{DMat3, DVec3};
use std::f64::consts::TAU;

const D: f64 = 0.01;

/// Returns a scene of a shape in the middle of a box of 0.4 m without gravity.
fn body(shape: &str, dt_s: f64, extra: &str, material: &str) -> String {
    format!(
        "version = 1\nname = \"springs\"\nup_axis = \"y\"\nseed = 3\nsolver = {{ kind = \"viscoelastic\" }}\n\
         {extra}\n[time]\ndt_s = {dt_s:?}\nduration_s = 10.0\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.4, 0.4, 0.4]\n\
         [[particles]]\n{shape}\n\
         [fluid]\nparticle_spacing_m = {D:?}\ninitial_disorder_spacings = 0.0\n\
         [viscoelastic]\nelasticity = \"springs\"\n{material}\n"
    )
}

const NO_GRAVITY: &str = "gravity_m_s2 = [0.0, 0.0, 0.0]";

/// Returns a box of a number of particles along each axis, about the middle of the domain.
fn block(n: [u32; 3]) -> String {
    let [lower, upper] = [-0.5, 0.5].map(|side| n.map(|n| 0.2 + side * f64::from(n) * D));
    format!("shape.box = {{ min_m = {lower:?}, max_m = {upper:?} }}")
}

fn middle() -> DVec3 {
    DVec3::splat(0.2)
}

/// Returns a simulation whose particles are moved by a linear map about the middle, all at rest; springs
/// stay.
fn deformed(text: &str, map: DMat3) -> ViscoelasticSimulation {
    let mut own = ViscoelasticSimulation::new(text);
    own.advance(0);
    let mut columns = download_columns(&own.device, &own.solver.state_columns()).unwrap();
    for column in columns.iter_mut().filter(|column| column.name == "position") {
        for x in column.words.chunks_mut(3) {
            let at = DVec3::from_array(std::array::from_fn(|axis| f32::from_bits(x[axis]).into()));
            let moved = middle() + map * (at - middle());
            x.copy_from_slice(&moved.as_vec3().to_array().map(f32::to_bits));
        }
    }
    own.solver = Viscoelastic::restore(&own.device, &own.scene, &columns, 0, Default::default()).unwrap();
    own
}

/// Returns the matrix with the identity's entries but for these.
fn map(entries: &[([usize; 2], f64)]) -> DMat3 {
    let mut m = DMat3::IDENTITY;
    for ([row, column], value) in entries {
        m.col_mut(*column)[*row] = *value;
    }
    m
}

/// Returns the mean σ_xx, σ_yy, σ_xy in Pa of particles at least two support radii from the surface of a
/// block.
fn inner_stress(own: &ViscoelasticSimulation, n: [u32; 3]) -> [f64; 3] {
    let x = own.positions();
    let stress = own.device.download(own.solver.stress().stress_pa(), 2 * x.len()).unwrap();
    let inner = |x: &[f32; 3]| {
        (0..3).all(|axis| (f64::from(x[axis]) - 0.2).abs() < 0.5 * D * f64::from(n[axis]) - 2.0 * D)
    };
    let mut sum = [0.0; 3];
    let mut count = 0.0;
    for (x, sigma) in x.iter().zip(stress.chunks(2)).filter(|(x, _)| inner(x)) {
        let [xx, yy, xy] = [sigma[0][0], sigma[0][1], sigma[1][0]].map(f64::from);
        sum = [sum[0] + xx, sum[1] + yy, sum[2] + xy];
        count += 1.0;
        assert!(x[0].is_finite());
    }
    assert!(count >= 8.0, "{count} particles");
    sum.map(|s| s / count)
}

fn energy(m: &ViscoelasticMetrics) -> f64 {
    m.all.total_energy_j() + m.elastic_energy_j
}

#[test]
fn a_rotated_body_feels_no_force() {
    let modulus = 1e4;
    for fixed in [true, false] {
        let material = format!("modulus_pa = {modulus:?}\nsprings_fixed = {fixed}");
        let text = body(&block([6, 5, 7]), 5e-4, NO_GRAVITY, &material);
        let axis = DVec3::new(0.3, -0.8, 0.5).normalize();
        let mut own = deformed(&text, DMat3::from_axis_angle(axis, 1.1));
        let after = own.advance(1);
        // Positions of 0.2 m are rounded by 1.5e-8 m, 2e-6 of a spacing: stress by some of that times G,
        // velocities by that of an elastic wave, √(G/ρ).
        let largest = after.stress_pa.iter().fold(0.0_f64, |a, s| a.max(s.abs()));
        println!("stress {largest:.1e} Pa, speed {:.1e} m/s", after.all.speed_max_m_s);
        assert!(largest < 1e-5 * modulus && after.all.speed_max_m_s < 1e-4 * (modulus / 1000.0).sqrt());
        assert!(after.elastic_energy_j < 1e-9, "{}", after.elastic_energy_j);
        assert_no_validation_messages(&own.device);
    }
}

#[test]
fn springs_conserve_momentum_and_angular_momentum_to_rounding() {
    let text = body(&block([6, 6, 6]), 5e-4, NO_GRAVITY, "modulus_pa = 2e4\ndecay_per_s = 50.0");
    let noise =
        |k: f64, x: [f64; 3]| (12.9898 * (k + 1e3 * (x[0] + 3.0 * x[1] + 7.0 * x[2]))).sin() * 43.7585;
    let part = |k: f64, x: [f64; 3]| 2.0 * noise(k, x).fract();
    let mut own = ViscoelasticSimulation::with_velocities(&text, |x| [1.0, 2.0, 3.0].map(|k| part(k, x)));
    let start = own.advance(20);
    let stages: Vec<Stage> = own.solver.stages().collect();
    let n = start.all.particles as usize;
    let mut change: Option<(DVec3, DVec3, f64)> = None;
    for stage in stages {
        let updated =
            |own: &ViscoelasticSimulation| own.device.download(own.solver.fluid().updated(), n).unwrap();
        let before = (stage == Stage::ApplySprings).then(|| updated(&own));
        let mut recorder = own.device.recorder().unwrap();
        own.solver.record_stage(&mut recorder, stage);
        own.device.submit(recorder).unwrap().wait().unwrap();
        let Some(before) = before else { continue };
        let x = own.device.download(own.solver.fluid().predicted(), n).unwrap();
        let wide = |v: &[f32; 3]| DVec3::from_array(v.map(f64::from));
        let mut sums = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for ((a, b), x) in before.iter().zip(&updated(&own)).zip(&x) {
            let impulse = wide(b) - wide(a);
            sums.0 += impulse;
            sums.1 += (wide(x) - middle()).cross(impulse);
            sums.2 += impulse.length();
        }
        change = Some(sums);
    }
    let (linear, angular, size) = change.expect("a stage of springs");
    println!(
        "Σ Δv {:.1e}, Σ x × Δv {:.1e} m of Σ |Δv| {size}",
        linear.length() / size,
        angular.length() / size
    );
    // Each velocity of some m/s is rounded once, by 1e-7 of impulses of some 0.1 m/s; the arm is 0.03 m.
    assert!(linear.length() < 1e-5 * size && angular.length() < 1e-5 * 0.03 * size);
    // As in viscoelastic_physics: 1e-4 of the sum of speeds in 200 steps for rounded positions.
    let mass = own.scene.particle_mass_kg();
    let end = own.advance(200);
    let speeds: f64 =
        own.velocities().iter().map(|v| f64::from(v.iter().map(|v| v * v).sum::<f32>().sqrt())).sum();
    let drift =
        (DVec3::from_array(end.all.momentum_kg_m_s) - DVec3::from_array(start.all.momentum_kg_m_s)).length();
    let turned =
        DVec3::from_array(end.angular_momentum_kg_m2_s) - DVec3::from_array(start.angular_momentum_kg_m2_s);
    let angular = turned.length() / (0.03 * mass * speeds);
    println!(
        "momentum drifts by {:.1e} of Σ m|v|, angular momentum by {angular:.1e} of R Σ m|v|",
        drift / (mass * speeds)
    );
    // The density constraint, not the springs, changes it by ΔX × v, as in viscoelastic_physics.
    assert!(angular < 1e-2, "{angular:e}");
    assert!(drift < 1e-4 * mass * speeds, "{drift:e}");
}

#[test]
fn small_shear_has_the_modulus_of_the_scene_averaged_over_directions() {
    let (modulus, strain, n) = (1e4, 0.004, [10, 10, 10]);
    let text = body(&block(n), 2e-4, NO_GRAVITY, &format!("modulus_pa = {modulus:?}\nsprings_fixed = true"));
    let along = |f: DMat3| {
        let mut own = deformed(&text, f);
        own.advance(1);
        inner_stress(&own, n)
    };
    let [_, _, xy] = along(map(&[([0, 1], strain)]));
    let [xx, yy, _] = along(map(&[([0, 0], 1.0 + 0.5 * strain), ([1, 1], 1.0 - 0.5 * strain)]));
    let [axes, diagonals] = [xy / strain, 0.5 * (xx - yy) / strain].map(|g| g / modulus);
    let mean = (3.0 * axes + 2.0 * diagonals) / 5.0;
    println!(
        "shear along axes {axes:.4} G, along diagonals {diagonals:.4} G, mean of all directions {mean:.4} G"
    );
    // Sums over 6, 12 and 8 neighbours with stiffness 1 − q: 0.943 and 0.793 of 0.883. The strain is
    // nonlinear by γ.
    assert!((axes - 1.068).abs() < 0.01 && (diagonals - 0.898).abs() < 0.01, "{axes} {diagonals}");
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
}

#[test]
fn a_rheometer_measures_the_modulus() {
    // Faces at y = 0 and 0.4 m shear the whole fluid; stress is that of the middle, which no wave from the
    // free faces has reached: 0.02 s at 1 m/s.
    let (modulus, rate) = (1000.0, 1.0);
    let n = [14, 40, 8];
    let text = body(
        &block(n),
        1e-3,
        NO_GRAVITY,
        &format!("modulus_pa = {modulus:?}\nshear = {{ rate_per_s = {rate:?} }}"),
    );
    let mut own = ViscoelasticSimulation::new(&text);
    for _ in 0..2 {
        own.advance(10);
        let strain = rate * own.time_s();
        let [_, _, xy] = inner_stress(&own, [n[0], 14, n[2]]);
        println!("strain {strain}: {:.4} G γ", xy / (modulus * strain));
        // 1.068 of the lattice along its axes.
        assert!((xy / (modulus * strain) - 1.068).abs() < 0.05, "{xy}");
    }
}

#[test]
fn a_stretched_strip_oscillates_about_its_length_with_the_period_of_its_modulus() {
    let (modulus, stretch, n) = (1e4, 0.02, [20, 6, 6]);
    let text = body(&block(n), 1e-3, NO_GRAVITY, &format!("modulus_pa = {modulus:?}\nsprings_fixed = true"));
    let lateral = 1.0 - 0.25 * stretch;
    let f = map(&[([0, 0], 1.0 + stretch), ([1, 1], lateral), ([2, 2], lateral)]);
    let mut own = deformed(&text, f);
    let length = |m: &ViscoelasticMetrics| m.all.upper_m[0] - m.all.lower_m[0];
    let rest = D * f64::from(n[0] - 1);
    let start = own.advance(0);
    let mut series = vec![length(&start) / rest - 1.0];
    let mut energies = vec![energy(&start)];
    let every = 2;
    while own.time_s() < 0.22 {
        let now = own.advance(every);
        series.push(length(&now) / rest - 1.0);
        energies.push(energy(&now));
    }
    // Times at which it shortens through its rest length.
    let dt_s = every as f64 * own.scene.dt_s();
    let crossings: Vec<f64> = (1..series.len())
        .filter(|&k| series[k - 1] > 0.0 && series[k] <= 0.0)
        .map(|k| dt_s * (k as f64 - series[k] / (series[k] - series[k - 1])))
        .collect();
    let found = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    // Springs have equal Lamé constants: E = 2.5 G in tension. On the lattice, C₁₁ = 2.864 G and C₁₂ = 1.068
    // G make that 2.284 G along its axes. A strip six particles across lacks some springs at its surface, as
    // its energy shows. Compressed, the density constraint adds to E, at most as much as makes 3 G of 2.5 G.
    let density = own.scene.rest_density_kg_m3();
    let volume = f64::from(n[0] * n[1] * n[2]) * D.powi(3);
    let young = 2.0 * start.elastic_energy_j / (stretch * stretch * volume);
    let period = |young: f64| 2.0 * D * f64::from(n[0]) / (young / density).sqrt();
    let [slow, fast] = [1.0, 3.0 / 2.5].map(|ratio| period(ratio * young));
    let low = series.iter().copied().fold(0.0, f64::min);
    println!(
        "E = {:.3} G of 2.284 G inside; period {found:.4} s, expected {fast:.4} to {slow:.4} s, {:.4} s \
         inside; strain {stretch} to {low:.4}, energy left {:.3}",
        young / modulus,
        period(2.284 * modulus),
        energies[energies.len() - 1] / energies[0]
    );
    assert!(young > 1.7 * modulus && young < 2.4 * modulus, "{young}");
    assert!(crossings.len() >= 2 && low < -0.3 * stretch, "{series:?}");
    assert!(found > fast && found < 1.05 * slow, "{found} of {fast} to {slow}");
    // Velocities are those of half a step later, by which the energy that is measured oscillates: π Δt/T.
    let oscillation = 0.5 * TAU * own.scene.dt_s() / found;
    assert!(energies.iter().all(|e| *e < (1.0 + oscillation) * energies[0]), "energy grew: {energies:?}");
}

#[test]
fn the_stress_of_a_held_strip_decays_to_the_yield_strain() {
    // Waves of 0.1 m/s do not cross the strip in the time of the decay: its inertia holds it.
    let (rate, stretch) = (100.0, 0.03);
    for yields in [0.0, 0.01] {
        let material = format!("modulus_pa = 10.0\ndecay_per_s = {rate:?}\nyield_strain = {yields:?}");
        let text = body(&block([10, 5, 5]), 1e-3, NO_GRAVITY, &material);
        let mut own = deformed(&text, DMat3::IDENTITY * (1.0 + stretch));
        let first = own.advance(1).stress_pa[0];
        let mut worst = 0.0_f64;
        for _ in 0..10 {
            let now = own.advance(3).stress_pa[0];
            // Strains of springs: (r − L)/r decays to γ L/r. The first stress is that after one step.
            let left = |t: f64| yields + (stretch - yields).max(0.0) * (-rate * t).exp();
            worst = worst.max((now / first - left(own.time_s()) / left(own.scene.dt_s())).abs());
        }
        println!("yield strain {yields}: stress is within {worst:.4} of its decay");
        // Stiffness is 1 − L/h of the flowing L: some 3 % of it changes; and the ends move.
        assert!(worst < 0.05, "{worst}");
        assert_no_validation_messages(&own.device);
    }
}

/// Returns the restitution of a ball of springs that falls onto the floor, and the energy left.
fn restitution(dt_s: f64, material: &str) -> (f64, f64) {
    let shape = "shape.sphere = { centre_m = [0.2, 0.095, 0.2], radius_m = 0.05 }";
    let mut ball = ViscoelasticSimulation::new(&body(shape, dt_s, "", material));
    let start = energy(&ball.advance(0));
    let (mut down, mut up, mut last) = (0.0_f64, 0.0_f64, start);
    // The fall takes 0.096 s.
    while ball.time_s() < 0.15 {
        let now = ball.advance((0.0025 / dt_s).round() as u64);
        let momentum = now.all.momentum_kg_m_s[1];
        down = down.min(momentum);
        if momentum > down {
            up = up.max(momentum);
        }
        last = energy(&now);
    }
    assert_no_validation_messages(&ball.device);
    (up / -down, last / start)
}

#[test]
#[ignore = "long: a fall and rebound; the oscillating strip and stiff springs run the same stages"]
fn a_dropped_ball_of_springs_rebounds() {
    let of = |name: &str, dt_s: f64, material: &str| {
        let (e, left) = restitution(dt_s, material);
        println!("{name}, step {dt_s} s: restitution {e:.3}, energy left {left:.3}");
        assert!(left < 1.005, "{name} gained energy: {left}");
        e
    };
    let fixed = of("fixed, G = 50 kPa", 5e-4, "modulus_pa = 50000.0\nsprings_fixed = true");
    let plastic =
        of("plastic, G = 50 kPa", 5e-4, "modulus_pa = 50000.0\nyield_strain = 0.02\ndecay_per_s = 200.0");
    // Stiffer balls miss the 0.9 of docs/results.md.
    assert!(fixed > 0.85, "{fixed}");
    assert!(plastic < fixed - 0.1, "{plastic} {fixed}");
    if is_full_run() {
        let fixed = "modulus_pa = 200000.0\nsprings_fixed = true";
        of("fixed, G = 200 kPa", 2.5e-4, fixed);
        of("fixed, undamped, G = 200 kPa", 2.5e-4, &format!("{fixed}\nunresolved_damping = 0.0"));
        of("made and removed, G = 200 kPa", 2.5e-4, "modulus_pa = 200000.0");
    }
}

#[test]
fn springs_are_made_and_end_unless_they_are_fixed() {
    let shape = "shape.box = { min_m = [0.17, 0.0, 0.17], max_m = [0.23, 0.1, 0.23] }";
    for fixed in [false, true] {
        let flow = if fixed { "springs_fixed = true" } else { "yield_strain = 0.05\ndecay_per_s = 200.0" };
        let mut own =
            ViscoelasticSimulation::new(&body(shape, 1e-3, "", &format!("modulus_pa = 1000.0\n{flow}")));
        let first = own.advance(0);
        let n = first.all.particles as usize;
        let bonds = |own: &ViscoelasticSimulation| {
            let bonds = own.solver.springs().unwrap().bonds();
            let download = |buffer: &_| own.device.download::<u32>(buffer, 1).unwrap()[0];
            [download(bonds.progress()), download(bonds.broken())]
        };
        let (mut made, mut ended) = (0, 0);
        let mut last = first.n_springs;
        for _ in 0..80 {
            last = own.advance(1).n_springs;
            let [now_made, now_ended] = bonds(&own);
            // The rounds of the first build, if there are no others.
            made += if fixed { 0 } else { now_made };
            ended += now_ended;
        }
        println!(
            "{n} particles, {} springs at first: {made} made, {ended} ended, {last} left",
            first.n_springs
        );
        // Half of 26 neighbours inside.
        assert!(first.n_springs as usize > 8 * n && (first.n_springs as usize) < 13 * n);
        if fixed {
            assert!(last == first.n_springs && ended == 0, "fixed springs changed");
        } else {
            assert!(made > 100 && ended > 20, "{made} made, {ended} ended");
            assert_eq!(last + ended, first.n_springs + made);
        }
        let mut recorder = own.device.recorder().unwrap();
        let check = own.solver.record_spring_check(&mut recorder).unwrap().unwrap();
        own.device.submit(recorder).unwrap();
        let faults = check.wait().unwrap();
        assert!(faults.iter().all(|(_, count)| *count == 0), "{faults:?}");
        assert_no_validation_messages(&own.device);
    }
}

#[test]
fn springs_that_are_too_stiff_for_the_step_do_not_gain_energy() {
    let text = body(&block([6, 6, 6]), 1e-3, NO_GRAVITY, "modulus_pa = 1e4\nsprings_fixed = true");
    let stretch = map(&[([0, 0], 1.05)]);
    let mut own = deformed(&text, stretch);
    // A thousand times what a scene file may have at this step.
    let mut scene = Scene::parse(&text, "stiff.toml", &[]).unwrap();
    scene.viscoelastic_mut().unwrap().modulus_pa = 1e9;
    scene.viscoelastic_mut().unwrap().unresolved_damping = 0.0;
    own.solver.set_scene(&own.device, &scene).unwrap();
    let p = *own.solver.springs().unwrap().parameters();
    // The speed at which ends of a spring stretched by 5 % meet, if it has all of the stiffness that the step
    // takes.
    let fastest = 0.05 * D * TAU / scene.dt_s();
    let speed = (0..20).map(|_| own.advance(10).all.speed_max_m_s).fold(0.0, f64::max);
    println!("bound {:.3e} N/m, fastest {speed:.3} m/s of {fastest:.3}", p.max_bound_n_m);
    assert!(speed < fastest, "{speed}");
}
