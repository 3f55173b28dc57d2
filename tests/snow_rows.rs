//! Rows of neighbours of snow and water: they are those of the CPU twin, and no bit of a run depends on them,
//! also where rows are too short and where particles move beyond the skin within a step.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::snow::Kind;
use frazil_scene::{Phase, Sampled, Scene};
use frazil_solvers::Solver as _;
use frazil_solvers::Tuning;
use frazil_solvers::pbd::snow::Stage;
use frazil_solvers::pbd::{NEIGHBOUR_SLOTS, Snow};
use frazil_testkit::twins::snow::twin_parameters;
use frazil_testkit::{Random, assert_no_validation_messages, config, device};
use frazil_tests::snow_state;
use frazil_vk::Device;
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Creates a scene of a box of 5 cells of 4 cm with lines of `[snow]`, and further sections, whose first
/// lines belong to the domain.
fn scene(snow: &str, more: &str) -> Scene {
    let text = format!(
        "version = 1\nname = \"rows\"\nup_axis = \"y\"\ntime = {{ dt_s = 0.001, duration_s = 1.0 }}\n\
         [fluid]\nparticle_spacing_m = 0.02\n\
         [snow]\nheat.snow_conductivity_w_m_k = 2500.0\nheat.water_conductivity_w_m_k = 600.0\n{snow}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.2, 0.2, 0.19]\n{more}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [0.1, 0.1, 0.1] }}\n"
    );
    // Random states are dense and fast: none of them shall end the simulation.
    let limits = ["pbd.max_density_ratio=1e6", "pbd.max_courant=1e6"].map(str::to_owned);
    Scene::parse(&text, "rows.toml", &limits).unwrap()
}

/// Returns particles, half of them snow, on a lattice at rest density that is disturbed by a tenth of a
/// spacing or, as a heap, in a cube of the support radius.
fn sampled(n: usize, is_heap: bool, speed_m_s: f32, seed: u64) -> Sampled {
    let mut random = Random::new(seed);
    let mut sampled = Sampled::default();
    for i in 0..n {
        let place = [i % 8, i / 64, i / 8 % 8];
        sampled.positions_m.push(std::array::from_fn(|axis| match is_heap {
            true => 0.08 + 0.04 * random.unit(),
            false => 0.02 * (place[axis] as f32 + 0.5 + 0.1 * random.unit()),
        }));
        sampled.velocities_m_s.push([(); 3].map(|()| speed_m_s * (2.0 * random.unit() - 1.0)));
        let is_snow = random.unit() < 0.5;
        sampled.temperatures_c.push(if is_snow { -20.0 } else { 20.0 });
        sampled.phases.push(if is_snow { Phase::Snow } else { Phase::Water });
    }
    sampled
}

fn run(snow: &mut Snow, stages: &[Stage]) {
    let mut recorder = DEVICE.recorder().unwrap();
    stages.iter().for_each(|stage| snow.record_stage(&mut recorder, *stage));
    DEVICE.submit(recorder).unwrap().wait().unwrap();
}

#[test]
fn rows_and_flags_are_those_of_the_twin() {
    let sizes = prop_oneof![Just(0usize), Just(1), Just(2), 3usize..200, 255usize..258, 511usize..514];
    let tuning = prop::sample::select(vec![(2u32, 64u32), (64, 256)]);
    let speed = prop::sample::select(vec![0.1f32, 0.5, 3.0]);
    let cases = (sizes, any::<bool>(), tuning, speed, any::<u64>());
    let scene = scene("", "");
    proptest!(config(12), |((n, is_heap, (slots, group), speed, seed) in cases)| {
        let tuning = Tuning::new(group).unwrap().with(&NEIGHBOUR_SLOTS, slots).unwrap();
        let mut snow = Snow::with_tuning(&DEVICE, &scene, &sampled(n, is_heap, speed, seed), tuning).unwrap();
        let stages: Vec<Stage> = snow.stages().collect();
        let first = stages.iter().position(|stage| *stage == Stage::ListNeighbours).unwrap() + 1;
        let corrected = stages.iter().position(|stage| *stage == Stage::Solve { iteration: 0 }).unwrap() + 1;
        run(&mut snow, &stages[..first]);
        let p = twin_parameters(&DEVICE, &snow).unwrap();
        let listed = snow_state(&DEVICE, &snow, &p, false);
        for (number, kind) in [Kind::Solid, Kind::Fluid].into_iter().enumerate() {
            let rows = snow.rows().download(&DEVICE, number).unwrap();
            for i in 0..listed[kind].len() {
                let expected = listed.list_neighbours(&p, kind, i, 1.0 + snow.rows().skin());
                let n_all = expected.concat().len();
                let is_too_short = n_all > snow.rows().slots() as usize;
                let row = rows.row(i);
                prop_assert_eq!(row.is_none(), is_too_short, "row {} of {} neighbours", i, n_all);
                prop_assert_eq!(row.unwrap_or(expected.clone()), expected, "row {}", i);
                prop_assert_eq!(rows.cell(i), listed[kind].key[i]);
            }
            prop_assert!(listed[kind].is_empty() || rows.flags().iter().all(|flag| *flag == 0));
        }
        // The flag of the time after the first correction.
        run(&mut snow, &stages[first..=corrected]);
        let after = snow_state(&DEVICE, &snow, &p, false);
        let limit = snow.rows().max_moved_q2();
        let moved = |share: f32| {
            let is_far = |kind| after.mark_moved(&p, kind, &listed[kind].predicted, share * limit);
            Kind::ALL.into_iter().any(is_far)
        };
        // A distance at the limit may be on either side of it by rounding.
        if moved(1.001) == moved(0.999) {
            for (number, kind) in [Kind::Solid, Kind::Fluid].into_iter().enumerate() {
                let rows = snow.rows().download(&DEVICE, number).unwrap();
                prop_assert!(listed[kind].is_empty() || rows.flags()[2] == u32::from(moved(1.0)));
            }
        }
        assert_no_validation_messages(&DEVICE);
    });
}

/// Bits of all columns after some steps, and the numbers of steps in which a particle moved by more than half
/// the skin, and of rows that were too short.
fn bits_after(steps: usize, scene: &Scene, particles: &Sampled, slots: u32) -> (Vec<Vec<u32>>, usize, usize) {
    let tuning = Tuning::default().with(&NEIGHBOUR_SLOTS, slots).unwrap();
    let mut snow = Snow::with_tuning(&DEVICE, scene, particles, tuning).unwrap();
    let (mut n_moved, mut n_short) = (0, 0);
    for _ in 0..steps {
        let stages: Vec<Stage> = snow.stages().collect();
        run(&mut snow, &stages);
        if snow.rows().slots() > 0 {
            let solid = snow.rows().download(&DEVICE, 0).unwrap();
            n_moved += usize::from(solid.flags().contains(&1));
            let n = DEVICE.download(&snow.solid().phase.count.count, 1).unwrap()[0] as usize;
            n_short += (0..n).filter(|i| solid.row(*i).is_none()).count();
        }
    }
    let mut recorder = DEVICE.recorder().unwrap();
    snow.record_output(&mut recorder);
    DEVICE.submit(recorder).unwrap().wait().unwrap();
    let columns = snow.state_columns();
    let bits = columns.iter().map(|column| DEVICE.download(&column.words, column.words.len()).unwrap());
    (bits.collect(), n_moved, n_short)
}

#[test]
fn no_bit_depends_on_rows() {
    let shares = "non_penetration_stiffness = 0.25\nlinks.stiffness = 0.1\nlinks.limit = \"dynamic\"\n";
    let uncorrected = format!("{shares}heat.conduction = \"uncorrected\"");
    let enthalpy = format!("{shares}heat.latent_heat = \"enthalpy\"\nheat.latent_heat_j_kg = 500.0");
    let shape = "shape_stiffness = 0.6\n";
    let body = "[[bodies]]\nname = \"ball\"\nfriction = 0.4\n\
                shape.sphere = { centre_m = [0.08, 0.15, 0.08], radius_m = 0.02 }\n";
    let scenes = [scene(&uncorrected, ""), scene(&enthalpy, "walls = \"particles\""), scene(shape, body)];
    let (mut calm, mut moved, mut short) = (0, 0, 0);
    let calm_speed = 0.02;
    for (number, is_heap, n, speed) in [
        (0, false, 400, calm_speed),
        (0, false, 400, 8.0),
        (1, false, 400, calm_speed),
        (1, true, 150, calm_speed),
        (2, false, 400, calm_speed),
        (2, false, 400, 1.0),
    ] {
        let particles = sampled(n, is_heap, speed, 7);
        let (without, ..) = bits_after(4, &scenes[number], &particles, 1);
        let (with, n_moved, n_short) = bits_after(4, &scenes[number], &particles, NEIGHBOUR_SLOTS.default);
        assert!(
            with == without,
            "scene {number}, {n} particles, {speed} m/s: {n_moved} steps, {n_short} rows"
        );
        (calm, moved, short) = (calm + 4 - n_moved, moved + n_moved, short + n_short);
    }
    assert!(calm > 4 && moved > 4 && short > 50, "{calm} steps calm, {moved} not; {short} rows too short");
    assert_no_validation_messages(&DEVICE);
}
