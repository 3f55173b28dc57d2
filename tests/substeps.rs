//! Substeps: the clock, the fastest particle and the scaling of pressure against their twins, and the same
//! bits as whole steps of that length.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::Counts;
use frazil_reference::clock::{self, Clock, advance_clock};
use frazil_reference::fluid;
use frazil_scene::Scene;
use frazil_shaders::common::{advance_clock as on_device, find_fastest};
use frazil_shaders::pbd::scale_multiplier;
use frazil_shaders::types::StepClock;
use frazil_solvers::pbd::Fluid;
use frazil_solvers::{Solver, SolverStart, StateColumn, Tuning, factory_of};
use frazil_testkit::{Random, assert_no_validation_messages, config, device, saved_state};
use frazil_vk::{Device, Kernel, Threads};
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

#[test]
fn the_clock_advances_like_its_twin() {
    let kernel = Kernel::<on_device::Interface>::new(&DEVICE).unwrap();
    let faults = prop::option::of(any::<u32>().prop_filter("a step", |step| *step != u32::MAX));
    let held = prop::option::weighted(0.2, 1u32..9);
    let numbers = prop::collection::vec(1u32..6, 0..12);
    let steps = 0u32..1 << 30;
    proptest!(config(40), |(fault_step in faults, step in steps, held_at in held, numbers in numbers)| {
        let mut twin =
            Clock { fault_step, step, n_begun: 9, held_at, substep: 0, n_substeps: 1, step_s: 0.001 };
        let before = StepClock {
            fault_step: fault_step.unwrap_or(u32::MAX),
            step,
            n_begun: 9,
            held_at: held_at.unwrap_or(0),
            substep: 0,
            n_substeps: 1,
            step_s: 0.001,
        };
        let clock = DEVICE.buffer_from("clock", &[before]).unwrap();
        let mut recorder = DEVICE.recorder().unwrap();
        for &n_substeps in &numbers {
            let params = on_device::Params { n_substeps };
            recorder.dispatch(&kernel, Threads::Fixed(1), on_device::Bindings { clock: &clock }, params);
            advance_clock(&mut twin, n_substeps);
        }
        DEVICE.submit(recorder).unwrap();
        let expected = StepClock {
            step: twin.step,
            n_begun: twin.n_begun,
            substep: twin.substep,
            n_substeps: twin.n_substeps,
            ..before
        };
        prop_assert_eq!(DEVICE.download(&clock, 1).unwrap()[0], expected);
        let is_frozen = held_at.is_some() || fault_step.is_some_and(|fault_step| fault_step < twin.step);
        prop_assert_eq!(twin.is_frozen(), is_frozen);
    });
    assert_no_validation_messages(&DEVICE);
}

/// Numbers of particles around those at which kernels change their course.
fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0u32),
        Just(1),
        31u32..34,
        63u32..66,
        127u32..130,
        255u32..258,
        511u32..514,
        4000u32..5000
    ]
}

#[test]
fn the_fastest_particle_is_that_of_the_twin() {
    let counts = Counts::new(&DEVICE).unwrap();
    let kernel = Kernel::<find_fastest::Interface>::new(&DEVICE).unwrap();
    let scales = prop::sample::select(vec![0.0f32, 1e-30, 1e-3, 1.0, 1e15, 1e25]);
    let special = prop::sample::select(vec![None, Some(f32::INFINITY), Some(f32::NAN), Some(-f32::NAN)]);
    proptest!(config(40), |(n in sizes(), scale in scales, special in special, seed in any::<u64>())| {
        let mut random = Random::new(seed);
        // Columns are longer than the number of particles.
        let capacity = n + 3;
        let mut velocities: Vec<[f32; 3]> =
            (0..capacity).map(|_| [(); 3].map(|()| scale * (2.0 * random.unit() - 1.0))).collect();
        velocities[n as usize..].fill([f32::MAX.sqrt(); 3]);
        if let Some(special) = special && n > 0 {
            velocities[(seed % u64::from(n)) as usize][(seed % 3) as usize] = special;
        }
        let count = counts.upload(&DEVICE, "count", n, capacity).unwrap();
        let velocity = DEVICE.buffer_from("velocity", &velocities).unwrap();
        let pace = DEVICE.buffer_from("pace", &[0u32, 7]).unwrap();
        let mut recorder = DEVICE.recorder().unwrap();
        let bindings = find_fastest::Bindings { count: &count, velocity: &velocity, pace: &pace };
        recorder.dispatch_counted(&kernel, bindings, find_fastest::Params { n_substeps: 5 });
        DEVICE.submit(recorder).unwrap();
        let found = DEVICE.download(&pace, 2).unwrap();
        let expected = clock::find_fastest(&velocities[..n as usize]);
        let [found_square, expected_square] = [found[0], expected].map(f32::from_bits);
        // A compiler may contract products and sums.
        let is_close = (found_square - expected_square).abs() <= 3e-7 * expected_square;
        let are_infinite = !found_square.is_finite() && !expected_square.is_finite();
        prop_assert!(is_close || are_infinite, "{} and {}", found_square, expected_square);
        prop_assert_eq!(found[1], if n > 0 { 5 } else { 7 });
    });
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn multipliers_are_scaled_like_the_twin() {
    let counts = Counts::new(&DEVICE).unwrap();
    let kernel = Kernel::<scale_multiplier::Interface>::new(&DEVICE).unwrap();
    proptest!(config(20), |(n in sizes(), factor in 1e-4f32..1e4, seed in any::<u64>())| {
        let mut random = Random::new(seed);
        let before: Vec<f32> = (0..n + 3).map(|_| -random.unit()).collect();
        let count = counts.upload(&DEVICE, "count", n, n + 3).unwrap();
        let multiplier = DEVICE.buffer_from("multiplier", &before).unwrap();
        let mut recorder = DEVICE.recorder().unwrap();
        let bindings = scale_multiplier::Bindings { count: &count, multiplier: &multiplier };
        recorder.dispatch_counted(&kernel, bindings, scale_multiplier::Params { factor });
        DEVICE.submit(recorder).unwrap();
        let mut expected = before;
        fluid::scale_multiplier(&mut expected[..n as usize], factor);
        prop_assert_eq!(DEVICE.download(&multiplier, n as usize + 3).unwrap(), expected);
    });
    assert_no_validation_messages(&DEVICE);
}

/// Takes 24 substeps of a scene, in steps of `step_s` that have `substeps`, and returns the state.
fn state_after(name: &str, overrides: &[&str], step_s: f64, substeps: u32) -> Vec<StateColumn> {
    let times = [format!("time.dt_s={step_s}"), format!("time.substeps={substeps}")];
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).chain(times).collect();
    let scene = Scene::find(name, &overrides).unwrap();
    assert_eq!((scene.dt_s(), scene.step_s()), (step_s / f64::from(substeps), step_s));
    let (sampled, factory) = (scene.sample().unwrap(), factory_of(&scene).unwrap());
    let start = SolverStart::Sampled(&sampled);
    let mut solver = factory.create(&DEVICE, &scene, start, Tuning::default()).unwrap();
    for _ in 0..6 {
        let mut recorder = DEVICE.recorder().unwrap();
        (0..4).for_each(|_| solver.record_step(&mut recorder));
        let fault = solver.record_fault_check(&mut recorder).unwrap();
        DEVICE.submit(recorder).unwrap();
        assert_eq!(fault.and_then(|fault| fault.wait().unwrap()), None, "{name}");
    }
    saved_state(&DEVICE, &*solver).unwrap()
}

/// Returns the state after steps of a quarter of four steps of the scene, and after those with four substeps.
fn states(name: &str, overrides: &[&str]) -> [Vec<StateColumn>; 2] {
    let own: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let short_s = Scene::find(name, &own).unwrap().step_s();
    [state_after(name, overrides, short_s, 1), state_after(name, overrides, 4.0 * short_s, 4)]
}

/// Four substeps of a step are four steps of that length: nothing but the count of steps differs.
#[test]
fn substeps_have_the_bits_of_steps_of_their_length() {
    let scenes: [(&str, &[&str]); 8] = [
        ("dam_break", &["fluid.particle_spacing_m=0.0243333333"]),
        ("dam_break", &["fluid.particle_spacing_m=0.0243333333", "pbd.pressure=\"position\""]),
        ("snow_drop_linked", &["scale=0.5"]),
        ("viscoelastic_springs", &["scale=0.4"]),
        ("snowball_collision", &["scale=0.4"]),
        ("snowball_collision", &["scale=0.4", "mpm.implicit={}"]),
        ("column_collapse", &["scale=0.4"]),
        ("slab_release", &["scale=0.2"]),
    ];
    for (name, overrides) in scenes {
        let [whole, divided] = states(name, overrides);
        let differing: Vec<&str> = std::iter::zip(&whole, &divided)
            .filter(|(one, other)| one.words != other.words)
            .map(|(one, _)| &*one.name)
            .collect();
        // These have numbers of steps: of the worst error, and of the first with snow over a cell.
        let of_steps = ["density status", "map_first_step"];
        assert!(differing.iter().all(|column| of_steps.contains(column)), "{name}: {differing:?} differ");
    }
    assert_no_validation_messages(&DEVICE);
}

/// Bodies are where they are in steps of the substeps' length, but for the rounding of times. Where they lag
/// by substeps, particles are 2e-5 m or more apart.
#[test]
fn bodies_move_in_substeps() {
    let moving = |velocity: &str, centre: &str, size: &str| {
        format!(
            "bodies=[{{motion={{uniform={{velocity_m_s={velocity}}}}},\
             shape={{box={{centre_m={centre},size_m={size}}}}}}}]"
        )
    };
    let scenes = [
        ("dam_break", "scale=0.5", moving("[-0.5,0,0]", "[0.171,0.1,0.036]", "[0.05,0.1,0.05]")),
        ("drum", "scale=0.5", "pbd.pressure=\"position\"".to_owned()),
        ("snow_drop_linked", "scale=0.5", moving("[0,1,0]", "[0,0.19,0]", "[0.3,0.05,0.3]")),
        ("viscoelastic_cube", "scale=0.4", moving("[0,1,0]", "[0,0.25,0]", "[0.2,0.04,0.2]")),
        ("snowball_collision", "scale=0.4", moving("[-2,0,0]", "[0.7,0.5,0]", "[0.1,0.5,1]")),
        ("column_collapse", "scale=0.4", moving("[-0.5,0,0]", "[0.13,0,0.1]", "[0.06,0.2,0.1]")),
    ];
    for (name, scale, more) in scenes {
        let [whole, divided] = states(name, &[scale, &more]).map(|state| {
            let column = |name: &str| state.iter().find(|column| column.name == name).unwrap().words.clone();
            let positions: Vec<[f32; 3]> = bytemuck::cast_slice(&column("position")).to_vec();
            let mut by_id: Vec<(u32, [f32; 3])> = std::iter::zip(column("id"), positions).collect();
            by_id.sort_by_key(|(id, _)| *id);
            by_id
        });
        let apart = std::iter::zip(&whole, &divided)
            .flat_map(|((_, one), (_, other))| std::iter::zip(one, other).map(|(a, b)| (a - b).abs()))
            .fold(0.0, f32::max);
        println!("{name}: {apart:e}");
        assert!(apart < 1e-7, "{name}: positions {apart:e} m apart");
    }
    assert_no_validation_messages(&DEVICE);
}

/// A column at rest has the same pressure at another length of the step: multipliers, which are a pressure
/// times its square, are scaled, so that the solve has little to do: 3 iterations, the least, or 6, for 8 to
/// 11 with those of the other length.
#[test]
fn the_pressure_stays_at_another_length_of_the_step() {
    let overrides = ["fluid.particle_spacing_m=0.025".to_owned()];
    let scene = Scene::find("hydrostatic", &overrides).unwrap();
    let sampled = scene.sample().unwrap();
    let mut column = Fluid::new(&DEVICE, &scene, &sampled).unwrap();
    let iterations = |column: &mut Fluid, steps: u32| {
        let mut recorder = DEVICE.recorder().unwrap();
        (0..steps).for_each(|_| column.record_step(&mut recorder));
        DEVICE.submit(recorder).unwrap();
        DEVICE.download(column.density_solve().status(), 1).unwrap()[0].iterations
    };
    iterations(&mut column, 600);
    for substeps in [4, 1, 3, 1] {
        column.set_scene(&DEVICE, &scene.with_substeps(substeps)).unwrap();
        let (first, later) = (iterations(&mut column, 1), iterations(&mut column, 40));
        assert!(first <= later + 3, "{substeps} substeps: {first} iterations, later {later}");
    }
    assert_no_validation_messages(&DEVICE);
}
