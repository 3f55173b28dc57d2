//! Metrics against the particles that they are of, read back: extents, speed, momentum and kinetic energy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_solvers::{SolverStart, StateColumn, Tuning, factory_of};
use frazil_testkit::{assert_no_validation_messages, device, saved_state};
use frazil_vk::Device;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Mass of a scene's particles, as far as the test knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Masses {
    Equal,
    Different,
}

fn vectors(columns: &[StateColumn], name: &str) -> Vec<[f32; 3]> {
    let column = columns.iter().find(|column| column.name == name).unwrap();
    column.words.chunks_exact(3).map(|v| [v[0], v[1], v[2]].map(f32::from_bits)).collect()
}

/// Kernels measure tiles of particles, and one kernel reduces the records of tiles: all particles must be in
/// the result, whichever tile they are in, and once. Extents are exact, sums as accurate as f32.
#[test]
fn metrics_are_those_of_all_particles() {
    let scenes = [
        ("dam_break", &[][..], Masses::Equal),
        ("dam_break", &["fluid.particle_spacing_m=0.0097"], Masses::Equal),
        ("snow_drop_linked", &["scale=0.7"], Masses::Equal),
        ("dough", &[], Masses::Equal),
        ("snowball_collision", &[], Masses::Different),
        ("column_collapse", &[], Masses::Different),
    ];
    for (name, overrides, masses) in scenes {
        let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
        let scene = Scene::find(name, &overrides).unwrap();
        let start = scene.sample().unwrap();
        let mut solver = factory_of(&scene)
            .unwrap()
            .create(&DEVICE, &scene, SolverStart::Sampled(&start), Tuning::default())
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
        if masses == Masses::Different {
            continue;
        }
        // Of equal masses, momentum and kinetic energy have the same mass over the sums of velocities.
        let mass_kg = 2.0 * metric("kinetic_energy") / velocities.iter().map(squared).sum::<f64>();
        let up = scene.up_axis as usize;
        let sum: f64 = velocities.iter().map(|v| f64::from(v[up])).sum();
        let momentum = metric(&format!("momentum_{}", ["x", "y", "z"][up]));
        assert!((momentum / (mass_kg * sum) - 1.0).abs() < 1e-4, "{name}: momentum {momentum}");
        let density = scene.fluid().unwrap().rest_density_kg_m3;
        let expected_kg = density * scene.fluid().unwrap().particle_spacing_m.powi(3);
        assert!((mass_kg / expected_kg - 1.0).abs() < 0.01, "{name}: {mass_kg} for {expected_kg} kg");
    }
    assert_no_validation_messages(&DEVICE);
}
