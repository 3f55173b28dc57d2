//! Substeps by the speed of the fastest particle: the same bits however steps are submitted and wherever a
//! run is resumed, and no particle faster than the Courant number allows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_engine::snapshot::state_hash;
use frazil_engine::state::{PendingColumn, checkpoint, read_columns};
use frazil_engine::{Simulation, stepping};
use frazil_io::Checkpoint;
use frazil_scene::Scene;
use frazil_testkit::{assert_no_validation_messages, device};
use frazil_vk::{Device, ReadbackRing};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const WATER: (&str, &[&str]) =
    ("dam_break", &["fluid.particle_spacing_m=0.0243333333", "time.dt_s=0.008", "time.substeps=\"auto\""]);

/// Scenes in which the number of substeps changes, and steps taken.
const SCENES: [((&str, &[&str]), u64); 5] = [
    (WATER, 40),
    (("snow_drop_linked", &["scale=0.5", "time.dt_s=0.01", "time.substeps=\"auto\""]), 24),
    (("driftwood", &["scale=0.4", "time.dt_s=0.006", "time.substeps=\"auto\""]), 24),
    (
        (
            "viscoelastic_cube",
            &["scale=0.25", "time.dt_s=0.004", "time.substeps=\"auto\"", "time.courant_number=0.1"],
        ),
        24,
    ),
    (
        ("snowball_collision", &["scale=0.4", "mpm.implicit={}", "time.dt_s=0.01", "time.substeps=\"auto\""]),
        20,
    ),
];

fn scene((name, overrides): (&str, &[&str])) -> Scene {
    Scene::find(name, &overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
}

/// Takes a step, and returns its number of substeps.
fn step(simulation: &mut Simulation) -> u32 {
    let mut recorder = DEVICE.recorder().unwrap();
    simulation.record_steps(&mut recorder, 1);
    DEVICE.submit(recorder).unwrap();
    simulation.varying_substeps().unwrap()
}

fn saved(simulation: &Simulation) -> Checkpoint {
    let mut recorder = DEVICE.recorder().unwrap();
    simulation.solver.record_output(&mut recorder);
    let ring = ReadbackRing::new(&DEVICE);
    let count = simulation.solver.varying_count();
    let columns = read_columns(&ring, &mut recorder, &simulation.state_columns(), count).unwrap();
    DEVICE.submit(recorder).unwrap();
    let columns: Vec<_> = columns.into_iter().map(|column: PendingColumn| column.wait().unwrap()).collect();
    checkpoint(&simulation.scene, simulation.step(), simulation.time_s(), &columns).unwrap()
}

#[test]
fn a_run_has_the_same_bits_however_it_is_submitted_and_resumed() {
    for (case, n_steps) in SCENES {
        let scene = scene(case);
        let mut whole = Simulation::new(&DEVICE, scene.clone()).unwrap();
        stepping::advance(&mut whole, n_steps, &mut || false).unwrap();
        let expected = state_hash(&whole).unwrap();

        let mut stepped = Simulation::new(&DEVICE, scene.clone()).unwrap();
        let (mut substeps, mut states) = (Vec::new(), Vec::new());
        for number in 0..n_steps {
            if number % 7 == 1 || number < 3 {
                states.push(saved(&stepped));
            }
            substeps.push(step(&mut stepped));
        }
        let name = case.0;
        assert_eq!(state_hash(&stepped).unwrap(), expected, "{name}, step by step");
        let mut numbers = substeps.clone();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(numbers.len() >= 2, "{name}: only {substeps:?} substeps");

        for state in states {
            let mut resumed = Simulation::restore(&DEVICE, scene.clone(), &state).unwrap();
            let from = state.step as usize;
            let again: Vec<u32> = substeps[from..].iter().map(|_| step(&mut resumed)).collect();
            assert_eq!(again, substeps[from..], "{name}, resumed after step {from}");
            assert_eq!(state_hash(&resumed).unwrap(), expected, "{name}, resumed after step {from}");
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// A block in free fall has the momentum of its weight over the time that has passed.
#[test]
fn time_passes_by_the_length_of_steps_whatever_their_substeps() {
    for times in [
        &["time.dt_s=\"auto\"", "time.substeps=\"auto\""][..],
        &["time.dt_s=\"auto\"", "time.substeps=3"],
        &["time.dt_s=0.01", "time.substeps=\"auto\"", "time.courant_number=0.1"],
    ] {
        let block = [
            "fluid.particle_spacing_m=0.0243333333",
            "particles.0.shape.box={min_m=[0.2,0.4,0],max_m=[0.4,0.57,0.073]}",
        ];
        let mut simulation =
            Simulation::new(&DEVICE, scene(("dam_break", &[&block[..], times].concat()))).unwrap();
        let names = simulation.metrics();
        let mut energy = frazil_engine::energy_limit::EnergyLimit::new(&names);
        let mut momentum = |simulation: &Simulation| {
            let place = names.iter().position(|metric| metric.name == "momentum_y").unwrap();
            stepping::measure(simulation, &mut energy).unwrap().values[place]
        };
        let start = momentum(&simulation);
        stepping::advance(&mut simulation, 12, &mut || false).unwrap();
        let mass_kg = simulation.n_particles as f64 * simulation.scene.particle_mass_kg();
        let expected = start + simulation.scene.gravity_m_s2()[1] * mass_kg * simulation.time_s();
        let found = momentum(&simulation);
        assert!((found / expected - 1.0).abs() < 1e-4, "{times:?}: {found} kg m/s, expected {expected}");
    }
}

/// Particles may be faster than two steps before by more than gravity makes them, where they meet others:
/// rarely, and by less than a fifth.
#[test]
fn no_particle_passes_more_than_the_courant_number_of_spacings() {
    let scene = scene(WATER);
    let longest_m = scene.time.courant_number * scene.particle_spacing_m();
    let mut simulation = Simulation::new(&DEVICE, scene).unwrap();
    let mut energy = frazil_engine::energy_limit::EnergyLimit::new(&simulation.metrics());
    let names: Vec<String> = simulation.metrics().into_iter().map(|metric| metric.name).collect();
    let place = |name: &str| names.iter().position(|own| own == name).unwrap();
    let (mut n_over, mut worst) = (0, 0.0f64);
    for _ in 0..60 {
        let n = step(&mut simulation);
        let values = stepping::measure(&simulation, &mut energy).unwrap().values;
        assert_eq!(values[place("substeps")], f64::from(n));
        let passed = values[place("speed_max")] * simulation.scene.step_s() / f64::from(n) / longest_m;
        n_over += u32::from(passed > 1.0);
        worst = worst.max(passed);
    }
    assert!(worst < 1.2 && n_over <= 3, "{n_over} of 60 steps over the Courant number, by {worst:.3}");
    assert!(worst > 0.5, "substeps are shorter than they need to be: {worst:.3}");
}

#[test]
fn steps_that_require_more_substeps_than_allowed_are_told() {
    let scene = scene((WATER.0, &[WATER.1, &["time.max_substeps=2"]].concat()));
    let mut simulation = Simulation::new(&DEVICE, scene).unwrap();
    for _ in 0..45 {
        assert!(step(&mut simulation) <= 2);
    }
    let warnings = simulation.final_warnings().unwrap();
    let told = warnings.iter().find(|warning| warning.contains("time.max_substeps = 2")).unwrap();
    assert!(told.contains("from step "), "{told}");
}

/// A change of a live parameter keeps the number of substeps, and is a restart with the changed scene.
#[test]
fn a_change_while_the_number_of_substeps_varies_is_a_restart() {
    let mut simulation = Simulation::new(&DEVICE, scene(WATER)).unwrap();
    for _ in 0..12 {
        step(&mut simulation);
    }
    let state = saved(&simulation);
    simulation.change(&["gravity_m_s2=[3.0, -12.0, 0.0]".to_owned()]).unwrap();
    let mut restarted = Simulation::restore(&DEVICE, simulation.scene.clone(), &state).unwrap();
    for number in 0..10 {
        assert_eq!(step(&mut simulation), step(&mut restarted), "step {number}");
    }
    assert_eq!(state_hash(&simulation).unwrap(), state_hash(&restarted).unwrap());
}

/// Particles enter once a step, and a flow beyond the duration, for which there is room, goes on with more:
/// with the bits of a run that had it from the start.
#[test]
fn emitters_keep_their_rates_and_a_step_without_room_is_repeated() {
    let run = |duration_s: f64| {
        let duration = format!("time.duration_s={duration_s}");
        let overrides =
            ["fluid.particle_spacing_m=0.016", "time.dt_s=0.004", "time.substeps=\"auto\"", &duration];
        let mut simulation = Simulation::new(&DEVICE, scene(("fountain", &overrides))).unwrap();
        let capacity = simulation.solver.varying_count().unwrap().capacity;
        let (names, n_steps) = (simulation.metrics(), 40);
        stepping::advance(&mut simulation, n_steps, &mut || false).unwrap();
        let mut energy = frazil_engine::energy_limit::EnergyLimit::new(&names);
        let measured = stepping::measure(&simulation, &mut energy).unwrap();
        let n_emitted = names.iter().position(|metric| metric.name == "n_emitted").unwrap();
        assert_eq!(measured.values[n_emitted], simulation.scene.n_emitted(n_steps) as f64);
        assert!(simulation.varying_substeps().unwrap() > 1);
        let grown = simulation.solver.varying_count().unwrap().capacity;
        (state_hash(&simulation).unwrap(), grown > capacity)
    };
    let (whole, short) = (run(0.3), run(0.02));
    assert_eq!((whole.1, short.1), (false, true), "room grew");
    assert_eq!(whole.0, short.0);
}
