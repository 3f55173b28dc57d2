//! Nozzles of viscoelastic fluid, and the ropes that they feed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_solvers::Solver as _;
use frazil_testkit::{assert_no_validation_messages, is_full_run};
use frazil_tests::ViscoelasticSimulation;
use frazil_tests::rope::{centre_m, turning};

/// Returns a scene with a rope of five particles across, around the y axis, from `from_m` to `to_m`.
fn rope([from_m, to_m]: [f64; 2], top_m: f64, more: &str, material: &str) -> String {
    let [centre, height] = [0.5 * (from_m + to_m), to_m - from_m];
    format!(
        "version = 1\nname = \"rope\"\nup_axis = \"y\"\nseed = 3\nsolver = {{ kind = \"viscoelastic\" \
         }}\n{more}\n\
         [time]\ndt_s = 0.001\nduration_s = 10.0\n\
         [domain]\nmin_m = [-0.02, 0.0, -0.02]\nmax_m = [0.02, {top_m:?}, 0.02]\n\
         [[particles]]\nshape.cylinder = {{ centre_m = [0.0, {centre:?}, 0.0], axis = \"y\", radius_m = \
         0.00155, height_m = {height:?} }}\n\
         [fluid]\nparticle_spacing_m = 0.0006\nrest_density_kg_m3 = 1400.0\ndynamic_viscosity_pa_s = 10.0\n\
         [viscoelastic]\nelasticity = \"none\"\nmax_viscosity_iterations = 300\n{material}\n"
    )
}

#[test]
fn fed_particles_move_as_in_a_pipe_until_they_pass_the_mouth() {
    let material = "feed = { mouth_m = 0.04, velocity_m_s = [0.01, -0.1, 0.0] }";
    let mut flow = ViscoelasticSimulation::new(&rope([0.036, 0.06], 0.065, "", material));
    let by_id = |flow: &ViscoelasticSimulation, columns: Vec<[f32; 3]>| {
        let id = flow.device.download(flow.solver.fluid().id(), columns.len()).unwrap();
        let mut sorted = vec![[0.0; 3]; columns.len()];
        id.into_iter().zip(columns).for_each(|(id, x)| sorted[id as usize] = x);
        sorted
    };
    let before = by_id(&flow, flow.positions());
    let steps = 60;
    flow.advance(steps);
    let (after, v) = (by_id(&flow, flow.positions()), by_id(&flow, flow.velocities()));
    assert_no_validation_messages(&flow.device);
    let is_fed = |x: &[f32; 3]| x[1] > 0.04;
    let (mut n_fed, mut n_passed) = (0, 0);
    for i in 0..before.len() {
        if is_fed(&after[i]) {
            // Steps of 1e-4 m are rounded to half an ulp of 0.06 m, 2e-9 m, always in the same direction.
            let travelled = (0..3).map(|a| f64::from(after[i][a] - before[i][a])).collect::<Vec<_>>();
            let expected = [0.01, -0.1, 0.0].map(|v| v * flow.time_s());
            assert!(
                (0..3).all(|a| (travelled[a] - expected[a]).abs() < 2.5e-9 * steps as f64),
                "{travelled:?}"
            );
            assert_eq!(v[i], [0.01, -0.1, 0.0]);
            n_fed += 1;
        } else if is_fed(&before[i]) {
            n_passed += 1;
        }
    }
    // Of the 24 mm above the mouth, six have passed it.
    let expected = 0.006 * n_fed as f64 / (0.02 - 0.006);
    assert!((f64::from(n_passed) / expected - 1.0).abs() < 0.1, "{n_passed} of {n_fed}");
    // Particles below the mouth hang from the rest, and fall faster.
    let lowest = (0..after.len()).min_by(|a, b| after[*a][1].total_cmp(&after[*b][1])).unwrap();
    let fall = f64::from(v[lowest][1]);
    assert!(fall < -0.11 && fall > -0.1 - 9.81 * flow.time_s(), "{fall} m/s");
    let closed = Scene::parse(&rope([0.036, 0.06], 0.065, "", ""), "rope.toml", &[]).unwrap();
    let refusal = flow.solver.set_scene(&flow.device, &closed).unwrap_err().to_string();
    assert!(refusal.contains("viscoelastic.feed"), "{refusal}");
}

/// Returns the rates of deformation along and across a rope, by least squares over its middle.
fn rates(flow: &ViscoelasticSimulation, middle_m: f32) -> [f64; 2] {
    let (x, v) = (flow.positions(), flow.velocities());
    let near: Vec<usize> = (0..x.len()).filter(|i| (x[*i][1] - middle_m).abs() < 0.004).collect();
    let slope = |a: usize| {
        let sums = near.iter().fold([0.0f64; 4], |s, i| {
            let (x, v) = (f64::from(x[*i][a]), f64::from(v[*i][a]));
            [s[0] + x, s[1] + v, s[2] + x * x, s[3] + x * v]
        });
        let n = near.len() as f64;
        (sums[3] - sums[0] * sums[1] / n) / (sums[2] - sums[0] * sums[0] / n)
    };
    [slope(1), 0.5 * (slope(0) + slope(2))]
}

#[test]
fn a_stretched_rope_thins_by_its_bulk_viscosity() {
    // No force across: 2 η D_r + ζ (D_y + 2 D_r) = 0, so that D_r = −½ D_y ζ/(η + ζ).
    for ratio in [0.0, 1.0, 10.0] {
        let text = rope(
            [0.01, 0.03],
            0.04,
            "gravity_m_s2 = [0.0, 0.0, 0.0]",
            &format!("bulk_viscosity_ratio = {ratio:?}"),
        );
        let stretch = |x: [f64; 3]| [0.0, 10.0 * (x[1] - 0.02), 0.0];
        let mut rope = ViscoelasticSimulation::with_velocities(&text, stretch);
        rope.advance(3);
        let [along, across] = rates(&rope, 0.02);
        let (found, expected) = (across / along, -0.5 * ratio / (1.0 + ratio));
        println!("ζ/η {ratio}: thins by {found:.3} of its stretch, expected {expected:.3}");
        assert!(along > 0.5, "{along}");
        assert!((found - expected).abs() < 0.035, "{found} {expected}");
        assert_no_validation_messages(&rope.device);
    }
}

/// Follows a thread of honey from a nozzle, with a particle shifting. Returns the ratios of its stretch and
/// of the theoretical one after each 0.08 s.
///
/// Of an element of density ρ that left the nozzle at speed U after s, A/A₀ = 1 − K (l₀ + U s)(t − s),
/// K = ρ g/E, since the weight of l₀ + U s hangs from it. E = 9ζη/(3ζ + η) is the modulus of an isotropic
/// material for rates (Stokes2000 for ζ → ∞, 3η).
fn stretch_ratios(shifting: f64, times: usize) -> Vec<f64> {
    let (eta, ratio, speed, d) = (50.0, 5.0, 0.05, 0.0012);
    let text = format!(
        "version = 1\nname = \"thread\"\nup_axis = \"y\"\nseed = 3\nsolver = {{ kind = \"viscoelastic\" }}\n\
         [time]\ndt_s = 0.001\nduration_s = 10.0\n\
         [domain]\nmin_m = [-0.018, 0.0, -0.018]\nmax_m = [0.018, 0.08, 0.018]\n\
         [[particles]]\nshape.cylinder = {{ centre_m = [0.0, 0.045, 0.0], axis = \"y\", radius_m = 0.006, \
         height_m = 0.03 }}\nvelocity_m_s = [0.0, -{speed}, 0.0]\n\
         [fluid]\nparticle_spacing_m = {d:?}\nrest_density_kg_m3 = 1400.0\n\
         dynamic_viscosity_pa_s = {eta:?}\n\
         [viscoelastic]\nelasticity = \"none\"\nbulk_viscosity_ratio = {ratio:?}\n\
         particle_shifting = {shifting:?}\n\
         feed = {{ mouth_m = 0.04, velocity_m_s = [0.0, -{speed}, 0.0] }}\n"
    );
    let mut thread = ViscoelasticSimulation::new(&text);
    let lowest = |thread: &ViscoelasticSimulation| {
        thread.positions().iter().map(|x| f64::from(x[1])).fold(f64::INFINITY, f64::min)
    };
    let before = lowest(&thread);
    // To the end of the last layer, half a spacing below it.
    let hangs = 0.04 - before + 0.5 * d;
    let ratios = (0..times).map(|_| {
        thread.advance(80);
        let t = thread.time_s();
        let stretch = before - lowest(&thread) - speed * t;
        let k = 1400.0 * 9.81 / (eta * 9.0 * ratio / (3.0 * ratio + 1.0));
        let mean =
            |of: &dyn Fn(f64) -> f64| (0..1000).map(|i| of((i as f64 + 0.5) / 1000.0)).sum::<f64>() / 1000.0;
        let hung = hangs * mean(&|part| 1.0 / (1.0 - k * hangs * part * t));
        let fed = speed * t * mean(&|part| 1.0 / (1.0 - k * (hangs + speed * part * t) * (1.0 - part) * t));
        let expected = hung + fed - hangs - speed * t;
        println!("c = {shifting}, {t:.2} s: {:.3} mm, expected {:.3} mm", 1e3 * stretch, 1e3 * expected);
        stretch / expected
    });
    let ratios = ratios.collect();
    assert_no_validation_messages(&thread.device);
    ratios
}

/// The closed form has no end effects at the nozzle, which holds the thread across, too: 3 %. At the default,
/// without particle shifting, the thread is 5 % too long after 0.24 s and then crumbles: a FAIL in
/// docs/results.md. There it is compared after 0.08 s only.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_thread_stretches_under_its_weight_by_its_extensional_viscosity() {
    for (shifting, times) in [(0.0, 1), (12.0, if is_full_run() { 3 } else { 2 })] {
        for ratio in stretch_ratios(shifting, times) {
            assert!((ratio - 1.0).abs() < 0.03, "c = {shifting}: {ratio}");
        }
    }
}

#[test]
fn bad_feeds_are_refused() {
    let problem = |material: &str, more: &str| {
        Scene::parse(&rope([0.036, 0.06], 0.065, more, material), "rope.toml", &[]).unwrap_err().to_string()
    };
    for (material, more, expected) in [
        ("feed = { mouth_m = 0.07, velocity_m_s = [0.0, -0.1, 0.0] }", "", "viscoelastic.feed.mouth_m"),
        ("feed = { mouth_m = 0.04, velocity_m_s = [0.0, 0.1, 0.0] }", "", "points down"),
        ("feed = { mouth_m = 0.04, velocity_m_s = [0.0, -1.0, 0.0] }", "", "half a spacing"),
        ("bulk_viscosity_ratio = -1.0", "", "viscoelastic.bulk_viscosity_ratio"),
        ("particle_shifting = -1.0", "", "viscoelastic.particle_shifting"),
        ("particle_shifting = nan", "", "viscoelastic.particle_shifting"),
    ] {
        let found = problem(material, more);
        assert!(found.contains(expected), "{found}");
    }
    let springs = rope([0.036, 0.06], 0.065, "", "particle_shifting = 1.0").replace("none", "springs");
    let found = Scene::parse(&springs, "rope.toml", &[]).unwrap_err().to_string();
    assert!(found.contains("viscoelastic.particle_shifting") && found.contains("springs"), "{found}");
    let [before, after] = ["[domain]", "periodic = [false, true, false]\n"];
    let text = rope([0.036, 0.06], 0.065, "", "feed = { mouth_m = 0.04, velocity_m_s = [0.0, -0.1, 0.0] }")
        .replace(before, &format!("{before}\n{after}"));
    let found = Scene::parse(&text, "rope.toml", &[]).unwrap_err().to_string();
    assert!(found.contains("a feed above itself"), "{found}");
}

/// Speed in m/s at which ropes leave the nozzle.
const FED_M_S: f64 = 0.1;

/// Thickness in m of the slice of a rope whose centre is followed, and its height.
const SLICE_M: [f64; 2] = [0.0024, 0.009];

/// Returns a rope that leaves a nozzle and has just reached the floor.
fn falling_rope(mouth_m: f64, duration_s: f64, dt_s: f64, viscosity_pa_s: f64) -> ViscoelasticSimulation {
    let top_m = mouth_m + FED_M_S * duration_s + 0.004;
    let material = format!(
        "bulk_viscosity_ratio = 5.0\nviscosity_tolerance = 0.003\n\
         feed = {{ mouth_m = {mouth_m:?}, velocity_m_s = [0.0, -{FED_M_S:?}, 0.0] }}"
    );
    let text = rope([0.001, top_m], top_m + 0.004, "", &material)
        .replace("dt_s = 0.001", &format!("dt_s = {dt_s:?}"))
        .replace("dynamic_viscosity_pa_s = 10.0", &format!("dynamic_viscosity_pa_s = {viscosity_pa_s:?}"))
        .replace("max_viscosity_iterations = 300", "max_viscosity_iterations = 200");
    ViscoelasticSimulation::with_velocities(&text, |_| [0.0, -FED_M_S, 0.0])
}

/// Follows the coiling of a rope. Returns its angular velocity in rad/s and its number of turns between 0.5 s
/// and 0.75 s, and the speed in m/s at which it comes down.
fn coiling(mouth_m: f64, viscosity_pa_s: f64) -> [f64; 3] {
    let (interval_s, dt_s) = (0.01, 0.001);
    let mut rope = falling_rope(mouth_m, 0.75, dt_s, viscosity_pa_s);
    rope.advance(500);
    let [thickness_m, height_m] = SLICE_M;
    let (mut path, mut speed) = (Vec::new(), 0.0);
    for _ in 0..25 {
        rope.advance((interval_s / dt_s).round() as u64);
        let (x, v) = (rope.positions(), rope.velocities());
        path.push(centre_m(&x, height_m, thickness_m).unwrap());
        let near = |i: &usize| (f64::from(x[*i][1]) - height_m).abs() < 0.5 * thickness_m;
        let down: Vec<f64> = (0..x.len()).filter(near).map(|i| -f64::from(v[i][1])).collect();
        speed += down.iter().sum::<f64>() / (down.len() * 25) as f64;
    }
    assert_no_validation_messages(&rope.device);
    let (rate, turns) = turning(&path, interval_s);
    [rate.abs(), turns.abs(), speed]
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn a_rope_of_honey_buckles_and_coils() {
    let mut rope = falling_rope(0.025, 0.2, 0.002, 20.0);
    let deflection = |rope: &ViscoelasticSimulation| {
        let [x, z] = centre_m(&rope.positions(), SLICE_M[1], SLICE_M[0]).unwrap();
        x.hypot(z)
    };
    rope.advance(5);
    let straight = deflection(&rope);
    rope.advance(95);
    let bent = deflection(&rope);
    println!("deflection {:.2} mm, then {:.2} mm", 1e3 * straight, 1e3 * bent);
    assert!(straight < 1e-4 && bent > 0.001, "{straight} {bent}");
    assert_no_validation_messages(&rope.device);
    if !is_full_run() {
        return;
    }
    // Where forces of viscosity balance each other, Ω ~ U/H (Ribe2012), with the speed U of the rope near the
    // floor; where they balance weight, Ω ~ U (g/νQ)^¼ whatever the height.
    let viscosity_pa_s = 20.0;
    let flow_m3_s = std::f64::consts::PI * 0.00155f64.powi(2) * FED_M_S;
    let length_m = (viscosity_pa_s / 1400.0 * flow_m3_s / 9.81).powf(0.25);
    let mut numbers = Vec::new();
    for mouth_m in [0.018, 0.025] {
        let [rate, turns, speed] = coiling(mouth_m, viscosity_pa_s);
        println!(
            "H {mouth_m} m: {rate:.1} rad/s, {turns:.2} turns, U {speed:.3} m/s, ΩH/U {:.2}, \
             Ω (νQ/g)^¼/U {:.2}",
            rate * mouth_m / speed,
            rate * length_m / speed
        );
        assert!(turns > 0.8, "{turns} turns");
        numbers.push(rate * mouth_m / speed);
    }
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    assert!(numbers.iter().all(|number| (number / mean - 1.0).abs() < 0.1), "{numbers:?}");
}
