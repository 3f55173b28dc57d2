//! Snow at the defaults of `[snow]`, as a user who sets only geometry and material gets it: a block keeps its
//! shape under its own weight, and a slab on a slope sticks below the friction angle and slides above it by
//! Coulomb's law, at two steps and two spacings. All particles count. `FRAZIL_FULL=1` runs longer and larger
//! cases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_solvers::Solver as _;
use frazil_solvers::StateColumn;
use frazil_solvers::pbd::Snow;
use frazil_testkit::{assert_no_validation_messages, device};
use frazil_tests::{Particle, SnowSimulation};
use std::collections::HashMap;

/// Density in kg/m³ and Young's modulus in Pa, the defaults.
const DENSITY: f64 = 1000.0;
const MODULUS_PA: f64 = 1e5;
const GRAVITY: f64 = 9.81;

/// Discretization: step in s, spacing in m.
type Step = (f64, f64);

/// Steps and spacings: dt, dt/2, and d/2. The short form has one of the first two.
const STEPS: [Step; 3] = [(1e-3, 0.02), (5e-4, 0.02), (1e-3, 0.01)];

fn is_full() -> bool {
    std::env::var_os("FRAZIL_FULL").is_some()
}

/// Creates a scene of one box of snow at −10 °C on the floor, in a domain that is larger by `margin_m`.
fn block(size_m: [f64; 3], (dt_s, d): Step, gravity: [f64; 3], margin_m: f64, more: &str) -> Scene {
    let [x, y, z] = size_m;
    let text = format!(
        "version = 1\nname = \"block\"\nup_axis = \"y\"\ngravity_m_s2 = {gravity:?}\n\
         [time]\ndt_s = {dt_s:?}\nduration_s = 20.0\n\
         [fluid]\nparticle_spacing_m = {d:?}\n\
         [domain]\nmin_m = [{:?}, 0.0, {:?}]\nmax_m = [{:?}, {:?}, {:?}]\n\
         [snow]\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = {size_m:?} }}\nphase = \"snow\"\n\
         temperature_c = -10.0\n{more}",
        -margin_m,
        -margin_m,
        x + margin_m,
        y + 0.2,
        z + margin_m,
    );
    Scene::parse(&text, "block.toml", &[]).unwrap()
}

fn by_id(particles: Vec<Particle>) -> HashMap<u32, [f64; 3]> {
    particles.into_iter().map(|particle| (particle.id, particle.position.map(f64::from))).collect()
}

/// Returns the largest and the mean displacement in m along an axis, and the largest distance.
fn displacements(before: &HashMap<u32, [f64; 3]>, after: &HashMap<u32, [f64; 3]>, axis: usize) -> [f64; 3] {
    assert_eq!(before.len(), after.len());
    let (mut largest, mut sum, mut farthest) = (0.0_f64, 0.0, 0.0_f64);
    for (id, x) in before {
        let moved: [f64; 3] = std::array::from_fn(|i| after[id][i] - x[i]);
        largest = largest.max(moved[axis].abs());
        sum += moved[axis];
        farthest = farthest.max(moved.iter().map(|m| m * m).sum::<f64>().sqrt());
    }
    [largest, sum / before.len() as f64, farthest]
}

/// Lets a block rest for `seconds`; checks its sag against the closed form, that it does not creep, and that
/// no particle leaves its place.
fn rests(name: &str, size_m: [f64; 3], (dt_s, d): Step, seconds: f64, more: &str) {
    let scene = block(size_m, (dt_s, d), [0.0, -GRAVITY, 0.0], 0.2, more);
    let mut simulation = SnowSimulation::of(&device(), scene);
    let before = by_id(simulation.particles());
    let steps = (seconds / dt_s).round() as u64;
    let n_links = simulation.advance(0).n_links;
    simulation.advance(steps / 2);
    let half = by_id(simulation.particles());
    let metrics = simulation.advance(steps - steps / 2);
    let after = by_id(simulation.particles());
    assert_no_validation_messages(&simulation.device);
    let [sunk, _, farthest] = displacements(&before, &after, 1);
    let crept = displacements(&half, &after, 1)[2];
    // The topmost of N layers sinks by the strain Σ n ρ g d/E of the N − 1 layers of springs below it.
    let layers = (size_m[1] / d).round();
    let sag = DENSITY * GRAVITY * d * d * 0.5 * layers * (layers - 1.0) / MODULUS_PA;
    println!(
        "{name}: {} particles, dt {dt_s} s, d {d} m, after {seconds} s: sunk {:.2} mm (closed form {:.2}), \
         {:.2} % of the height; farthest {:.2} mm; crept {:.1e} m since half the time; links {} of \
         {n_links}; {:.1e} m/s",
        before.len(),
        1e3 * sunk,
        1e3 * sag,
        100.0 * sunk / size_m[1],
        1e3 * farthest,
        crept,
        metrics.n_links,
        metrics.all.speed_max_m_s
    );
    assert_eq!(metrics.n_links, n_links, "a link broke");
    // The closed form is of a bar with free sides; the floor hinders the base from widening, and the faces
    // have fewer links than the inside.
    assert!((0.9..1.1).contains(&(sunk / sag)), "sunk by {sunk} m, expected {sag}");
    // Poisson's ratio widens the base by less than it sinks.
    assert!(farthest < 1.3 * sag, "a particle moved by {farthest} m");
    // The first oscillation has decayed to 1e-4 of the sag.
    assert!(crept < 1e-3 * sag, "crept by {crept} m");
}

#[test]
fn a_block_keeps_its_shape_at_the_defaults() {
    for (dt_s, d) in if is_full() { &STEPS[..] } else { &STEPS[..1] } {
        rests("cube of 16 cm", [0.16; 3], (*dt_s, *d), if is_full() { 2.0 } else { 0.3 }, "");
    }
}

/// Prints how a slab at rest on the floor moves under gravity tilted by `slope_deg`; returns the mean
/// displacement in m over `seconds`, the largest, and the mean acceleration of the second half in m/s².
fn slides(size_m: [f64; 3], step: Step, slope_deg: f64, seconds: f64) -> [f64; 3] {
    let (dt_s, d) = step;
    let slope = slope_deg.to_radians();
    let gravity = [GRAVITY * slope.sin(), -GRAVITY * slope.cos(), 0.0];
    let mut simulation = SnowSimulation::of(&device(), block(size_m, step, gravity, 1.0, ""));
    let before = by_id(simulation.particles());
    let half = ((0.5 * seconds) / dt_s).round() as u64;
    let mean_speed = |simulation: &SnowSimulation| {
        let particles = simulation.particles();
        particles.iter().map(|p| f64::from(p.velocity[0])).sum::<f64>() / particles.len() as f64
    };
    simulation.advance(half);
    let first = mean_speed(&simulation);
    let metrics = simulation.advance(half);
    let acceleration = (mean_speed(&simulation) - first) / (half as f64 * dt_s);
    let [largest, mean, _] = displacements(&before, &by_id(simulation.particles()), 0);
    assert_no_validation_messages(&simulation.device);
    println!(
        "slab of {} particles on {slope_deg}°, dt {dt_s} s, d {d} m, after {seconds} s: moved {:.3} mm, at \
         most {:.3} mm; acceleration {acceleration:.4} m/s², frictionless {:.4}; {} links",
        before.len(),
        1e3 * mean,
        1e3 * largest,
        GRAVITY * slope.sin(),
        metrics.n_links
    );
    [mean, largest, acceleration]
}

const SLAB_M: [f64; 3] = [0.16, 0.08, 0.16];

#[test]
fn a_slab_sticks_below_the_friction_angle_at_the_defaults() {
    for step in if is_full() { &STEPS[..] } else { &STEPS[1..2] }.iter().copied() {
        // 20° is above the angle of kinetic friction, 19.3°: once in motion the slab would not stop.
        for slope_deg in if is_full() { vec![10.0_f64, 15.0, 20.0] } else { vec![20.0] } {
            let seconds = if is_full() { 0.6 } else { 0.3 };
            let [_, largest, acceleration] = slides(SLAB_M, step, slope_deg, seconds);
            // Shear displaces the top by ρ g sin θ H²/(2G), G = E/2.5, the tilting moment by as much
            // again; its uphill edge, which that unloads, slips by up to as much at d/2.
            let along = GRAVITY * slope_deg.to_radians().sin();
            let sheared = DENSITY * along * SLAB_M[1].powi(2) / (0.8 * MODULUS_PA);
            assert!(largest < 3.0 * sheared, "{slope_deg}°: moved by {largest} m, shear alone {sheared} m");
            // A thousandth of the acceleration without friction: what is left of the first oscillation.
            assert!(acceleration.abs() < 1e-3 * along, "{slope_deg}°: {acceleration} m/s²");
        }
    }
}

/// Tilts the floor under a slab of snow at rest to one angle after the other, for 0.15 s each; returns the
/// mean displacement in m along the slope at each, and the mean velocity at its end.
fn tilted(size_m: [f64; 3], step: Step, slopes_deg: &[f64]) -> Vec<[f64; 2]> {
    let scene = |slope_deg: f64| {
        let slope = slope_deg.to_radians();
        block(size_m, step, [GRAVITY * slope.sin(), -GRAVITY * slope.cos(), 0.0], 1.0, "")
    };
    let device = device();
    let mut simulation = SnowSimulation::of(&device, scene(0.0));
    simulation.advance((0.4 / step.0).round() as u64);
    let mut tilt = |slope_deg: f64| {
        let columns = simulation.snow.state_columns();
        let saved = columns.iter().map(|column| StateColumn {
            name: column.name.to_string(),
            words: device.download(&column.words, column.words.len()).unwrap(),
        });
        let (saved, scene) = (saved.collect::<Vec<_>>(), scene(slope_deg));
        simulation.snow = Snow::restore(&device, &scene, &saved, 0, Default::default()).unwrap();
        simulation.scene = scene;
        let before = by_id(simulation.particles());
        simulation.advance((0.15 / step.0).round() as u64);
        let particles = simulation.particles();
        let speed = particles.iter().map(|p| f64::from(p.velocity[0])).sum::<f64>() / particles.len() as f64;
        let [_, mean, _] = displacements(&before, &by_id(particles), 0);
        println!("slab {size_m:?} m tilted to {slope_deg}°: moved {:.4} mm, {speed:.1e} m/s", 1e3 * mean);
        [mean, speed]
    };
    let found = slopes_deg.iter().map(|slope_deg| tilt(*slope_deg)).collect();
    assert_no_validation_messages(&device);
    found
}

/// Coulomb's law holds at each particle: a layer sticks up to arctan 0.5 = 26.57°. A thicker slab slips
/// earlier, since its uphill edge is unloaded by the tilting moment and slips first, and then carries only
/// kinetic friction (BenDavid2011): at 24° for a thickness of an eighth of the length, at 21° for a half.
#[test]
fn a_layer_sticks_up_to_the_friction_angle_and_thicker_slabs_slip_earlier() {
    let layer = tilted([0.32, 0.02, 0.08], STEPS[0], &[20.0, 26.0, 27.0]);
    // Springs of the layer itself are not loaded; it moves by rounding.
    assert!(layer[..2].iter().all(|[moved, _]| *moved < 1e-6), "{layer:?}");
    let sliding = GRAVITY * (27.0_f64.to_radians().sin() - 0.35 * 27.0_f64.to_radians().cos());
    assert!((layer[2][1] / (0.15 * sliding) - 1.0).abs() < 0.03, "{layer:?}, {sliding} m/s²");
    let [moved, speed] = tilted([0.32, 0.04, 0.08], STEPS[0], &[15.0, 23.0])[1];
    assert!(moved < 1e-4 && speed.abs() < 1e-5, "moved by {moved} m, {speed} m/s");
}

/// A slab that slips below the angle of static friction is no faster than by kinetic friction.
#[test]
fn a_slab_just_below_the_friction_angle_slips_no_faster_than_by_kinetic_friction() {
    let slope = 25.0_f64.to_radians();
    let kinetic = GRAVITY * (slope.sin() - 0.35 * slope.cos());
    let [_, _, acceleration] = slides(SLAB_M, STEPS[0], 25.0, 0.3);
    assert!(acceleration < 1.05 * kinetic, "{acceleration} m/s², kinetic friction alone {kinetic}");
}

#[test]
fn a_slab_slides_by_coulombs_law_above_the_friction_angle_at_the_defaults() {
    for &step in if is_full() { &STEPS[..] } else { &STEPS[..1] } {
        for slope_deg in if is_full() { vec![29.0_f64, 35.0] } else { vec![29.0] } {
            let slope = slope_deg.to_radians();
            let expected = GRAVITY * (slope.sin() - 0.35 * slope.cos());
            let [_, _, acceleration] = slides(SLAB_M, step, slope_deg, 0.3);
            // The first oscillation has decayed to 1e-3 of it.
            assert!(
                (acceleration / expected - 1.0).abs() < 0.01,
                "{slope_deg}°: {acceleration} m/s², expected {expected}"
            );
        }
    }
}

/// Returns the draft in m of a plate of snow that floats, and its thickness. The draft is that after 0.6 s,
/// or in the long form the mean of the 0.6 s after that, in which the plate bobs once.
fn floats(density_kg_m3: f64, n_layers: f64, (dt_s, d): Step) -> [f64; 2] {
    let (side_m, depth_m) = (12.0 * d, 6.0 * d);
    let spacing_m = d * (1000.0 / density_kg_m3).cbrt();
    let [width_m, height_m] = [5.0, n_layers].map(|n| n * spacing_m * (1.0 + 1e-6));
    let (low, high) = (0.5 * (side_m - width_m), 0.5 * (side_m + width_m));
    let (bottom, top) = (depth_m + 0.5 * spacing_m, depth_m + 0.5 * spacing_m + height_m);
    let text = format!(
        "version = 1\nname = \"plate\"\nup_axis = \"y\"\n\
         [time]\ndt_s = {dt_s:?}\nduration_s = 1.2\n\
         [fluid]\nparticle_spacing_m = {d:?}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{side_m:?}, {:?}, {side_m:?}]\n\
         [snow]\ndensity_kg_m3 = {density_kg_m3:?}\n\
         heat = {{ snow_conductivity_w_m_k = 1e-9, water_conductivity_w_m_k = 1e-9 }}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{side_m:?}, {depth_m:?}, \
         {side_m:?}] }}\nphase = \"water\"\ntemperature_c = 1.0\n\
         [[particles]]\nshape.box = {{ min_m = [{low:?}, {bottom:?}, {low:?}], max_m = [{high:?}, {top:?}, \
         {high:?}] }}\nphase = \"snow\"\ntemperature_c = -10.0\n",
        2.0 * depth_m,
    );
    let scene = Scene::parse(&text, "plate.toml", &[]).unwrap();
    let mut simulation = SnowSimulation::of(&device(), scene);
    simulation.advance((0.6 / dt_s).round() as u64);
    let mut drafts_m = vec![draft_m(&simulation, d, height_m)];
    for _ in 0..if is_full() { 12 } else { 0 } {
        simulation.advance((0.05 / dt_s).round() as u64);
        drafts_m.push(draft_m(&simulation, d, height_m));
    }
    println!("drafts {drafts_m:.4?} m");
    assert_no_validation_messages(&simulation.device);
    [drafts_m.iter().sum::<f64>() / drafts_m.len() as f64, height_m]
}

/// Returns the depth in m of the lower side of a plate of snow below the level of the water around it.
fn draft_m(simulation: &SnowSimulation, d: f64, height_m: f64) -> f64 {
    let particles = simulation.particles();
    let of = |is_solid: bool| {
        particles.iter().filter(move |p| p.is_solid == is_solid).map(|p| p.position.map(f64::from))
    };
    let n_snow = of(true).count() as f64;
    let centre_m = of(true).map(|x| x[1]).sum::<f64>() / n_snow;
    // The level is half a spacing above the highest particles of columns two spacings wide, except near the
    // plate.
    let bounds = [0, 2].map(|axis| {
        let along = of(true).map(|x| x[axis]);
        along.fold([f64::MAX, f64::MIN], |[low, high], x| [low.min(x - 1.5 * d), high.max(x + 1.5 * d)])
    });
    let mut highest_m = HashMap::<[i64; 2], f64>::new();
    for [x, y, z] in of(false) {
        if [x, z].into_iter().zip(bounds).all(|(x, [low, high])| low < x && x < high) {
            continue;
        }
        let top_m = highest_m.entry([x, z].map(|x| (x / (2.0 * d)) as i64)).or_insert(y);
        *top_m = top_m.max(y);
    }
    let level_m = highest_m.values().sum::<f64>() / highest_m.len() as f64 + 0.5 * d;
    level_m - centre_m + 0.5 * height_m
}

/// A plate of snow floats with the share ρ_s/ρ₀ of its height under water (Archimedes): packed snow, and in
/// the long form ice. It is so flat that it is stable. Bound: 0.3 spacings, since surfaces of water and of
/// snow are those of particles.
#[test]
fn a_plate_of_snow_floats_at_the_draft_of_its_density() {
    let step = STEPS[0];
    let cases: &[(f64, f64)] = if is_full() { &[(500.0, 3.0), (917.0, 3.0)] } else { &[(500.0, 3.0)] };
    for &(density_kg_m3, n_layers) in cases {
        let [draft_m, height_m] = floats(density_kg_m3, n_layers, step);
        let expected_m = density_kg_m3 / 1000.0 * height_m;
        let error = (draft_m - expected_m) / step.1;
        println!(
            "{density_kg_m3} kg/m³: draft {draft_m:.4} m, Archimedes {expected_m:.4} m, {error:.2} spacings"
        );
        assert!(error.abs() < 0.3, "{density_kg_m3} kg/m³: draft {draft_m} m, expected {expected_m} m");
    }
}

/// Returns a scene of a block of loose snow of a density, or of water that has it once frozen, on the floor
/// or on a body whose upper side is `floor_m` above it.
fn on_floor(density_kg_m3: f64, floor_m: f64, size_m: [f64; 3], phase: &str, temperature_c: f64) -> Scene {
    let ([x, y, z], [dt_s, d]) = (size_m, [STEPS[0].0, STEPS[0].1]);
    let body = match floor_m > 0.0 {
        true => format!(
            "[[bodies]]\nname = \"table\"\n\
             shape.box = {{ centre_m = [{:?}, {:?}, {:?}], size_m = [0.6, {floor_m:?}, 0.6] }}\n",
            0.5 * x,
            0.5 * floor_m,
            0.5 * z
        ),
        false => String::new(),
    };
    let text = format!(
        "version = 1\nname = \"block\"\nup_axis = \"y\"\n\
         [time]\ndt_s = {dt_s:?}\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = {d:?}\n\
         [domain]\nmin_m = [-0.3, 0.0, -0.3]\nmax_m = [{:?}, {:?}, {:?}]\n\
         [snow]\ndensity_kg_m3 = {density_kg_m3:?}\nlinks.limit = \"none\"\n\
         heat = {{ snow_conductivity_w_m_k = 1e-9, water_conductivity_w_m_k = 1e-9 }}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, {floor_m:?}, 0.0], max_m = [{x:?}, {:?}, {z:?}] }}\n\
         phase = \"{phase}\"\ntemperature_c = {temperature_c:?}\n{body}",
        x + 0.3,
        floor_m + y + 0.3,
        z + 0.3,
        floor_m + y,
    );
    Scene::parse(&text, "block.toml", &[]).unwrap()
}

/// Returns the height in m of the lowest particle.
fn lowest_m(simulation: &SnowSimulation) -> f64 {
    simulation.particles().into_iter().map(|p| f64::from(p.position[1])).fold(f64::MAX, f64::min)
}

/// A face and a body keep snow half of its own spacing away, whatever its density: a block lies on them as it
/// was sampled. Bound: rounding of positions, 1e-5 m, in heights below 1 m.
#[test]
fn snow_lies_at_half_of_its_own_spacing_on_faces_and_bodies() {
    let d = STEPS[0].1;
    for density_kg_m3 in [300.0_f64, 500.0] {
        let spacing_m = d * (DENSITY / density_kg_m3).cbrt();
        let size_m = [3.0 * spacing_m * (1.0 + 1e-6); 3];
        for floor_m in [0.0, 0.1] {
            let scene = on_floor(density_kg_m3, floor_m, size_m, "snow", -10.0);
            let mut simulation = SnowSimulation::of(&device(), scene);
            simulation.advance((0.2 / STEPS[0].0).round() as u64);
            let gap_m = lowest_m(&simulation) - floor_m;
            println!("{density_kg_m3} kg/m³, floor at {floor_m} m: {gap_m:.6} m of {:.6} m", 0.5 * spacing_m);
            assert!((gap_m - 0.5 * spacing_m).abs() < 1e-5, "{gap_m} m of {} m", 0.5 * spacing_m);
            assert_no_validation_messages(&simulation.device);
        }
    }
}

/// A particle of water that freezes on a floor rises with α to half of its own spacing, and one that melts
/// falls by as much: neither is thrown. Bound: 5 % above the growth of that distance, and a free fall.
#[test]
fn water_that_freezes_on_a_floor_rises_by_half_of_the_difference_of_spacings() {
    let [dt_s, d] = [STEPS[0].0, STEPS[0].1];
    let spacing_m = d * (DENSITY / 500.0).cbrt();
    for floor_m in [0.0, 0.1] {
        for (phase, temperature_c, [from_m, to_m]) in
            [("water", -5.0, [d, spacing_m]), ("snow", 5.0, [spacing_m, d])]
        {
            let scene = on_floor(500.0, floor_m, [from_m * (1.0 + 1e-6); 3], phase, temperature_c);
            let rate_per_s = scene.snow().unwrap().transition.blend_step(dt_s) / dt_s;
            let mut simulation = SnowSimulation::of(&device(), scene);
            let mut fastest_m_s = 0.0_f64;
            for _ in 0..60 {
                let metrics = simulation.advance((0.01 / dt_s).round() as u64);
                fastest_m_s = fastest_m_s.max(metrics.all.speed_max_m_s);
            }
            let particles = simulation.particles();
            assert_eq!(particles.len(), 1);
            assert_eq!(particles[0].is_solid, phase == "water", "it changed phase");
            let gap_m = lowest_m(&simulation) - floor_m;
            println!(
                "{phase} at {floor_m} m: from {from_m:.5} to {gap_m:.5} m, at most {fastest_m_s:.4} m/s"
            );
            assert!((gap_m - 0.5 * to_m).abs() < 1e-5, "{gap_m} m of {} m", 0.5 * to_m);
            // The floor alone pushes a particle that freezes; one that melts falls freely.
            let height_m = 0.5 * (spacing_m - d);
            let bound_m_s = match phase {
                "water" => 1.05 * rate_per_s * height_m,
                _ => 1.05 * (2.0 * GRAVITY * height_m).sqrt() + GRAVITY * dt_s,
            };
            assert!(fastest_m_s < bound_m_s, "{fastest_m_s} m/s of {bound_m_s} m/s");
            assert_no_validation_messages(&simulation.device);
        }
    }
}

/// Returns the mean load in N/m on the wall of a tank, a body, beside water at rest that is `n` spacings
/// deep.
fn load_on_wall(n: u32, (dt_s, d): Step, seconds: f64) -> f64 {
    let depth_m = f64::from(n) * d;
    let text = format!(
        "version = 1\nname = \"tank\"\nup_axis = \"y\"\n\
         [time]\ndt_s = {dt_s:?}\nduration_s = 9.0\n\
         [fluid]\nparticle_spacing_m = {d:?}\nwall_friction = 0.0\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{:?}, {:?}, {:?}]\n\
         [snow]\n\
         heat = {{ snow_conductivity_w_m_k = 1e-9, water_conductivity_w_m_k = 1e-9 }}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{:?}, {depth_m:?}, {:?}] }}\n\
         phase = \"water\"\ntemperature_c = 1.0\n\
         [[bodies]]\nname = \"wall\"\n\
         shape.plane = {{ point_m = [{:?}, 0.0, 0.0], normal = [-1.0, 0.0, 0.0] }}\n",
        9.0 * d,
        depth_m + 4.0 * d,
        6.0 * d,
        8.0 * d,
        6.0 * d,
        8.0 * d,
    );
    let scene = Scene::parse(&text, "tank.toml", &[]).unwrap();
    let mut simulation = SnowSimulation::of(&device(), scene);
    let half = (0.5 * seconds / dt_s).round() as u64;
    let impulse_n_s = |simulation: &SnowSimulation| simulation.body_loads()[0].impulse_n_s[0];
    simulation.advance(half);
    let before = impulse_n_s(&simulation);
    simulation.advance(half);
    (impulse_n_s(&simulation) - before) / (half as f64 * dt_s) / (6.0 * d)
}

/// Water at rest beside snow loads a side wall with ρ g H²/2 but for what its uppermost layer lacks: its
/// density is below that at which the constraint acts, so that it has no pressure. Bound: half of a layer of
/// the depth.
#[test]
fn water_loads_a_side_wall_by_its_depth_but_for_half_a_layer() {
    let cases: &[(u32, f64)] = if is_full() { &[(10, 0.04), (20, 0.04), (20, 0.02)] } else { &[(10, 0.02)] };
    for &(n, d) in cases {
        let load_n_m = load_on_wall(n, (STEPS[0].0, d), if is_full() { 2.0 } else { 1.0 });
        let depth_m = f64::from(n) * d;
        let share = load_n_m / (0.5 * DENSITY * GRAVITY * depth_m * depth_m);
        println!("{n} layers of {d} m: {share:.4} of ρ g H²/2");
        assert!(share < 1.0 && share > 1.0 - 0.5 / f64::from(n), "{share} with {n} layers");
    }
}
