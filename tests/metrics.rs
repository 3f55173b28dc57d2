//! Metrics against the particles that they are of, read back: extents, speed, momentum and kinetic energy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_solvers::{SolverStart, StateColumn, Tuning, factory_of};
use frazil_testkit::{assert_no_validation_messages, device, saved_state};
use frazil_vk::Device;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Water in blocks of these numbers of particles along the axes, one above another.
fn blocks(counts: &[[u32; 3]]) -> Scene {
    let d = 0.05;
    let mut text = format!(
        "version = 1\nname = \"blocks\"\nup_axis = \"y\"\ntime = {{ dt_s = 0.002, duration_s = 1.0 }}\n\
         [fluid]\nparticle_spacing_m = {d}\n[domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [36.0, 6.0, 6.0]\n"
    );
    let mut floor = 0.0;
    for count in counts {
        let [x, y, z] = count.map(|n| d * f64::from(n));
        let top = floor + y;
        text += &format!(
            "[[particles]]\nvelocity_m_s = [0.5, -1.0, 0.0]\n\
             shape.box = {{ min_m = [0.0, {floor}, 0.0], max_m = [{x}, {top}, {z}] }}\n"
        );
        floor = top + d;
    }
    Scene::parse(&text, "blocks.toml", &[]).unwrap()
}

/// Particles in a tile at the defaults: 256 threads, eight particles each.
const TILE: usize = 2048;

fn vectors(columns: &[StateColumn], name: &str) -> Vec<[f32; 3]> {
    let column = columns.iter().find(|column| column.name == name).unwrap();
    column.words.chunks_exact(3).map(|v| [v[0], v[1], v[2]].map(f32::from_bits)).collect()
}

/// Advances a scene by three steps and compares its metrics with the particles.
fn check(scene: &Scene, has_equal_masses: bool) -> usize {
    let name = &scene.name;
    let start = scene.sample().unwrap();
    let mut solver = factory_of(scene)
        .unwrap()
        .create(&DEVICE, scene, SolverStart::Sampled(&start), Tuning::default())
        .unwrap();
    let mut recorder = DEVICE.recorder().unwrap();
    for _ in 0..3 {
        solver.record_step(&mut recorder);
    }
    let measured = solver.record_metrics(&mut recorder).unwrap();
    DEVICE.submit(recorder).unwrap();
    let measured = measured.wait().unwrap();
    let names = solver.metrics();
    let metric = |wanted: &str| {
        let place = names.iter().position(|metric| metric.name == wanted).unwrap();
        measured.values[place]
    };
    let columns = saved_state(&DEVICE, &*solver).unwrap();
    let (positions, velocities) = (vectors(&columns, "position"), vectors(&columns, "velocity"));
    let n = positions.len();
    assert_eq!(metric("n_particles"), n as f64, "{name}");
    for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
        let along = || positions.iter().map(|x| f64::from(x[axis]));
        let extent = [along().fold(f64::MAX, f64::min), along().fold(f64::MIN, f64::max)];
        let found = ["lower", "upper"].map(|side| metric(&format!("{side}_{letter}")));
        assert_eq!(found, extent, "{name}, {n} particles, {letter}");
    }
    let squared = |v: &[f32; 3]| v.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
    let fastest = velocities.iter().map(squared).fold(0.0, f64::max).sqrt();
    let speed = metric("speed_max");
    assert!((speed / fastest - 1.0).abs() < 1e-6, "{name}: speed {speed}, of the particles {fastest}");
    if has_equal_masses {
        // Momentum and kinetic energy have the same mass over the sums of velocities.
        let mass_kg = 2.0 * metric("kinetic_energy") / velocities.iter().map(squared).sum::<f64>();
        let up = scene.up_axis as usize;
        let sum: f64 = velocities.iter().map(|v| f64::from(v[up])).sum();
        let momentum = metric(&format!("momentum_{}", ["x", "y", "z"][up]));
        assert!((momentum / (mass_kg * sum) - 1.0).abs() < 1e-4, "{name}: momentum {momentum}");
        let fluid = scene.fluid().unwrap();
        let expected_kg = fluid.rest_density_kg_m3 * fluid.particle_spacing_m.powi(3);
        assert!((mass_kg / expected_kg - 1.0).abs() < 0.01, "{name}: {mass_kg} for {expected_kg} kg");
    }
    n
}

/// Kernels measure tiles of particles, and one kernel reduces the records of tiles: all particles must be in
/// the result, whichever tile they are in, and once. Extents are exact, sums as accurate as f32.
#[test]
fn metrics_are_those_of_all_particles() {
    let scenes = [
        ("dam_break", &[][..], true),
        ("snow_drop_linked", &["scale=0.7"], true),
        ("dough", &[], true),
        ("snowball_collision", &[], false),
        ("column_collapse", &[], false),
    ];
    for (name, overrides, has_equal_masses) in scenes {
        let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
        assert!(check(&Scene::find(name, &overrides).unwrap(), has_equal_masses) > TILE, "{name}");
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn metrics_are_those_of_all_particles_at_sizes_around_a_tile() {
    assert_eq!(check(&blocks(&[[1, 1, 1]]), true), 1);
    assert_eq!(check(&blocks(&[[23, 89, 1]]), true), TILE - 1);
    assert_eq!(check(&blocks(&[[16, 16, 8]]), true), TILE);
    assert_eq!(check(&blocks(&[[16, 16, 8], [1, 1, 1]]), true), TILE + 1);
    assert_no_validation_messages(&DEVICE);
}
