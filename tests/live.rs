//! Changes while a simulation runs: a change of parameters has the bits of a restart from a checkpoint with
//! the changed scene, a refused one changes nothing, and a pull on particles agrees with its CPU twin.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_particles::PhaseArray;
use frazil_reference::bodies::{Pull, pull_particles};
use frazil_scene::{BodyMotion, LiveValue, Motion, Scene};
use frazil_solvers::{Grab, GrabPass, Solver, SolverStart, StateColumn, Tuning, change_scene, factory_of};
use frazil_testkit::{Random, assert_no_validation_messages, config, device, is_full_run, saved_state};
use frazil_vk::{Device, Replay};
use glam::DVec3;
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const WATER: &str = "version = 1\nname = \"water\"\nup_axis = \"y\"\ntime = { dt_s = 0.002, duration_s = 1.0 \
    }\n\
    [fluid]\nparticle_spacing_m = 0.05\n\
    [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.5, 0.5, 0.3]\n\
    [[bodies]]\nname = \"ball\"\nshape.sphere = { centre_m = [0.35, 0.1, 0.15], radius_m = 0.08 }\n\
    [[particles]]\nshape.box = { min_m = [0.0, 0.0, 0.0], max_m = [0.2, 0.3, 0.3] }\n";

const SNOW: &str = "version = 1\nname = \"snow\"\nup_axis = \"y\"\ntime = { dt_s = 0.00125, duration_s = 1.0 \
    }\n\
    [fluid]\nparticle_spacing_m = 0.02\nsupport_radius_spacings = 1.7\n\
    [pbd]\niterations = 3\nover_relaxation = 0.25\n\
    [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.16, 0.2, 0.16]\n\
    [snow.links]\nlimit = \"constant\"\n\
    [snow.heat]\nsnow_conductivity_w_m_k = 2500.0\nwater_conductivity_w_m_k = 600.0\n\
    [[particles]]\nshape.box = { min_m = [0.0, 0.0, 0.0], max_m = [0.16, 0.06, 0.16] }\n\
    phase = \"water\"\ntemperature_c = 50.0\n\
    [[particles]]\nshape.box = { min_m = [0.02, 0.06, 0.02], max_m = [0.12, 0.14, 0.12] }\n\
    phase = \"snow\"\ntemperature_c = -1.0\n";

const CONTINUUM: &str = "version = 1\nname = \"continuum\"\nup_axis = \"y\"\n\
    time = { dt_s = \"auto\", duration_s = 1.0 }\nsolver.kind = \"mpm\"\n\
    [mpm]\ndimensions = 3\ncell_size_m = 0.05\nparticles_per_cell = 8\n\
    [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.6, 0.6, 0.6]\n\
    [[particles]]\nshape.box = { min_m = [0.1, 0.0, 0.1], max_m = [0.3, 0.3, 0.3] }\n\
    velocity_m_s = [1.0, -2.0, 0.0]\n";

const GRAINS: &str = "version = 1\nname = \"grains\"\nup_axis = \"y\"\n\
    time = { dt_s = \"auto\", duration_s = 1.0 }\nsolver.kind = \"dem\"\n\
    [dem]\nradius_m = 0.02\ndensity_kg_m3 = 500.0\nnormal_stiffness_n_m = 2000.0\ncohesion_n = 0.01\n\
    wall_friction = 0.4\n\
    [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.4, 0.6, 0.4]\n\
    [[particles]]\nshape.box = { min_m = [0.0, 0.0, 0.0], max_m = [0.2, 0.3, 0.2] }\n\
    velocity_m_s = [0.5, -1.0, 0.0]\n";

const SPRINGS: &str = "version = 1\nname = \"springs\"\nup_axis = \"y\"\n\
    time = { dt_s = 0.002, duration_s = 1.0 }\nsolver.kind = \"viscoelastic\"\n\
    [fluid]\nparticle_spacing_m = 0.05\n\
    [viscoelastic]\nelasticity = \"springs\"\nmodulus_pa = 500.0\nyield_strain = 0.0001\ndecay_per_s = \
    100.0\n\
    [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.5, 0.5, 0.3]\n\
    [[particles]]\nshape.box = { min_m = [0.0, 0.0, 0.0], max_m = [0.2, 0.3, 0.2] }\n\
    velocity_m_s = [0.5, -1.0, 0.0]\n";

const VISCOUS: &str = "version = 1\nname = \"viscous\"\nup_axis = \"y\"\n\
    time = { dt_s = 0.002, duration_s = 1.0 }\nsolver.kind = \"viscoelastic\"\n\
    [fluid]\nparticle_spacing_m = 0.05\ndynamic_viscosity_pa_s = 300.0\n\
    [viscoelastic]\nelasticity = \"none\"\n\
    [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.5, 0.5, 0.3]\n\
    [[particles]]\nshape.box = { min_m = [0.0, 0.0, 0.0], max_m = [0.2, 0.3, 0.2] }\n\
    velocity_m_s = [0.5, -1.0, 0.0]\n";

fn parse(text: &str) -> Scene {
    Scene::parse(text, "scene.toml", &[]).unwrap()
}

fn start(scene: &Scene) -> Box<dyn Solver> {
    factory_of(scene)
        .unwrap()
        .create(&DEVICE, scene, SolverStart::Sampled(&scene.sample().unwrap()), Tuning::default())
        .unwrap()
}

fn advance(solver: &mut dyn Solver, steps: u64) {
    let mut recorder = DEVICE.recorder().unwrap();
    for _ in 0..steps {
        solver.record_step(&mut recorder);
    }
    DEVICE.submit(recorder).unwrap();
}

fn state(solver: &dyn Solver) -> Vec<StateColumn> {
    saved_state(&DEVICE, solver).unwrap()
}

/// Panics, naming the column, unless the states are the same to the bit.
fn assert_same(found: &[StateColumn], expected: &[StateColumn], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.name, expected.name);
        assert!(found.words == expected.words, "{what}: column {} differs", found.name);
    }
}

/// Returns another value of each live parameter, valid with those of the others.
fn other_values(scene: &Scene) -> Vec<String> {
    let other = |value: LiveValue| match value {
        LiveValue::Number(x) => LiveValue::Number(0.8 * x),
        LiveValue::Whole(n) => LiveValue::Whole(n + 2),
        LiveValue::Vector([x, y, z]) => LiveValue::Vector([x + 3.0, 0.5 * y, z - 1.0]),
    };
    scene.live_parameters().iter().map(|p| format!("{}={}", p.key, other(p.value))).collect()
}

/// Takes some steps, changes the scene, takes others, and does the same with a restart in place of the
/// change. Returns the state at the end.
fn assert_change_is_a_restart(scene: &Scene, changes: &[String]) -> Vec<StateColumn> {
    const STEPS: u64 = 6;
    let what = changes.join(", ");
    let changed = scene.with_live(changes).unwrap();
    let mut solver = start(scene);
    advance(&mut *solver, STEPS);
    let before = state(&*solver);
    let mut restarted = factory_of(&changed)
        .unwrap()
        .create(&DEVICE, &changed, SolverStart::Saved { columns: &before, step: STEPS }, Tuning::default())
        .unwrap();
    change_scene(&mut *solver, &DEVICE, scene, &changed).unwrap();
    assert_same(&state(&*solver), &before, &what);
    advance(&mut *solver, STEPS);
    advance(&mut *restarted, STEPS);
    let after = state(&*solver);
    assert_same(&after, &state(&*restarted), &what);

    let mut unchanged = factory_of(scene)
        .unwrap()
        .create(&DEVICE, scene, SolverStart::Saved { columns: &before, step: STEPS }, Tuning::default())
        .unwrap();
    advance(&mut *unchanged, STEPS);
    assert!(
        state(&*unchanged).iter().zip(&after).any(|(a, b)| a.words != b.words),
        "{what}: the steps do not depend on the change"
    );
    assert_no_validation_messages(&DEVICE);
    after
}

#[test]
fn a_change_while_water_runs_is_a_restart_with_the_changed_scene() {
    let scene = parse(WATER);
    assert_change_is_a_restart(&scene, &other_values(&scene));
    assert_change_is_a_restart(&scene, &["fluid.dynamic_viscosity_pa_s=20.0".to_owned()]);
    assert_change_is_a_restart(&scene, &["gravity_m_s2=[4.0, -3.0, 0.0]".to_owned()]);
    // More iterations have a wider skin, and use more flags, of the rows of neighbours.
    let fixed = ["pbd.density_tolerance=0.0".to_owned()];
    let scene = Scene::parse(WATER, "scene.toml", &fixed).unwrap();
    assert_change_is_a_restart(&scene, &["pbd.iterations=9".to_owned(), "pbd.max_iterations=90".to_owned()]);
}

/// A ball at rest that a change at 6 steps sets in motion until 10 steps: with the bits of a restart, and of
/// a run that had the path from the start.
#[test]
fn a_body_moved_while_particles_move_is_a_restart_and_a_path() {
    let ball = |centre: &str, radius: &str| {
        format!(
            "[[bodies]]\nname = \"moved\"\nshape.sphere = {{ centre_m = {centre}, radius_m = {radius} }}\n"
        )
    };
    let (snow, grains) = (ball("[0.14, 0.1, 0.08]", "0.015"), ball("[0.28, 0.1, 0.1]", "0.06"));
    let scenes = [
        WATER.to_owned(),
        format!("{SNOW}{snow}"),
        format!("{CONTINUUM}{}", ball("[0.4, 0.15, 0.2]", "0.08")),
        format!("{GRAINS}{grains}"),
        format!("{SPRINGS}{}", ball("[0.3, 0.1, 0.15]", "0.08")),
        // Its implicit viscosity holds it at the ball.
        format!("{VISCOUS}{}", ball("[0.25, 0.1, 0.1]", "0.06")),
    ];
    for text in scenes {
        let scene = parse(&text);
        let [begin, end] = [6.0, 10.0].map(|steps| steps * scene.dt_s());
        let way_m = -0.2 * scene.particle_spacing_m() * 4.0;
        let change = format!(
            "bodies.0.motion={{ keyframed = {{ pivot_m = {:?}, keys = [{{ time_s = {begin:?} }}, \
             {{ time_s = {end:?}, offset_m = [{way_m:?}, 0.0, 0.0] }}] }} }}",
            scene.bodies[0].centre_m().unwrap()
        );
        let changed = assert_change_is_a_restart(&scene, std::slice::from_ref(&change));
        let moved = scene.with_live(&[change]).unwrap();
        let mut from_start = start(&moved);
        advance(&mut *from_start, 12);
        assert_same(&changed, &state(&*from_start), &scene.name);
    }
    let scene = parse(WATER);
    for key in ["bodies.1.motion", "bodies.0.shape", "bodies.ball.motion"] {
        let error = scene.with_live(&[format!("{key}={{ uniform = {{ velocity_m_s = [0.0, 0.0, 0.0] }} }}")]);
        assert!(error.unwrap_err().to_string().contains("cannot change while the simulation runs"), "{key}");
    }
}

#[test]
fn a_change_while_snow_and_water_run_is_a_restart_with_the_changed_scene() {
    let scene = parse(SNOW);
    assert_change_is_a_restart(&scene, &other_values(&scene));
    assert_change_is_a_restart(&scene, &["snow.heat.snow_conductivity_w_m_k=100.0".to_owned()]);
}

#[test]
fn a_change_while_springs_act_is_a_restart_with_the_changed_scene() {
    let scene = parse(SPRINGS);
    assert_change_is_a_restart(&scene, &other_values(&scene));
    for change in ["modulus_pa=100.0", "yield_strain=0.5", "decay_per_s=900.0"] {
        assert_change_is_a_restart(&scene, &[format!("viscoelastic.{change}")]);
    }
}

#[test]
fn a_change_while_a_viscoelastic_fluid_flows_is_a_restart_with_the_changed_scene() {
    for material in [
        "elasticity = \"conformation\"\nmodulus_pa = 500.0\nrelaxation_time_s = 0.1\nyield_stress_pa = 10.0",
        "elasticity = \"strain_tensor\"\nmodulus_pa = 500.0\nyield_strain = 0.01\ndecay_per_s = 50.0",
        "elasticity = \"none\"\nviscosity = { model = \"carreau\", time_s = 0.1, exponent = 0.5 }",
    ] {
        let own = "elasticity = \"springs\"\nmodulus_pa = 500.0\nyield_strain = 0.0001\ndecay_per_s = 100.0";
        let scene = parse(&SPRINGS.replace(own, material));
        assert!(scene.live_keys().len() >= 4, "{:?}", scene.live_keys());
        assert_change_is_a_restart(&scene, &other_values(&scene));
    }
}

#[test]
fn a_change_while_a_continuum_runs_is_a_restart_with_the_changed_scene() {
    let scene = parse(CONTINUUM);
    assert_change_is_a_restart(&scene, &other_values(&scene));
    assert_change_is_a_restart(&scene, &["mpm.material.youngs_modulus_pa=20000.0".to_owned()]);
}

#[test]
fn a_change_while_grains_run_is_a_restart_with_the_changed_scene() {
    let scene = parse(GRAINS);
    assert_change_is_a_restart(&scene, &other_values(&scene));
    assert_change_is_a_restart(&scene, &["dem.cohesion_n=0.5".to_owned()]);
}

#[test]
fn replayed_steps_have_the_bits_of_recorded_ones_before_and_after_a_change() {
    // Steps take the time at which a body is from the clock of the device.
    let beside_a_ball = [(WATER, 0.45), (CONTINUUM, 0.45), (GRAINS, 0.28)].map(|(text, x_m)| {
        format!(
            "{text}[[bodies]]\nname = \"moving ball\"\n\
             motion.uniform = {{ velocity_m_s = [-1.0, 0.0, 0.0] }}\n\
             shape.sphere = {{ centre_m = [{x_m}, 0.1, 0.1], radius_m = 0.06 }}\n"
        )
    });
    let at_rest = [WATER, SNOW, SPRINGS, CONTINUUM, GRAINS].map(str::to_owned);
    for text in at_rest.iter().chain(&beside_a_ball) {
        let scene = parse(text);
        let changed = scene.with_live(&other_values(&scene)).unwrap();
        let [mut recorded, mut replayed] = [start(&scene), start(&scene)];
        let replay = Replay::default();
        for phase in ["before", "after"] {
            let before = replay.counts().replayed;
            for n in if is_full_run() { &[1, 3, 8, 8, 8][..] } else { &[1, 3, 8] } {
                advance(&mut *recorded, *n);
                let mut recorder = DEVICE.recorder().unwrap();
                for _ in 0..*n {
                    recorder.replayed(&replay, |recorder| replayed.record_step(recorder));
                }
                DEVICE.submit(recorder).unwrap();
            }
            assert_same(&state(&*replayed), &state(&*recorded), &format!("{} {phase}", scene.name));
            let n_replayed = replay.counts().replayed - before;
            assert!(n_replayed > 0, "{} {phase}: {replay:?}", scene.name);
            if phase == "before" {
                for solver in [&mut recorded, &mut replayed] {
                    change_scene(&mut **solver, &DEVICE, &scene, &changed).unwrap();
                }
            }
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_refused_change_names_the_key_and_leaves_the_state_and_the_steps_as_they_were() {
    for (text, changes) in [
        (WATER, ["fluid.particle_spacing_m=0.06", "pbd.density_tolerance=0.0"]),
        (SNOW, ["snow.links.most=12", "time.dt_s=0.001"]),
        (CONTINUUM, ["mpm.cell_size_m=0.06", "domain.max_m=[0.6, 0.7, 0.6]"]),
        (GRAINS, ["dem.cohesion_n=0.0", "dem.rolling_friction=0.0"]),
    ] {
        let scene = parse(text);
        let mut solver = start(&scene);
        advance(&mut *solver, 3);
        let before = state(&*solver);
        for change in changes {
            let changed = Scene::parse(text, "scene.toml", &[change.to_owned()]).unwrap();
            let error = change_scene(&mut *solver, &DEVICE, &scene, &changed).unwrap_err().to_string();
            let key = change.split_once('=').unwrap().0;
            assert!(error.contains(key), "{change}: {error}");
        }
        assert_same(&state(&*solver), &before, "refused");
        advance(&mut *solver, 3);
        let mut alone = factory_of(&scene)
            .unwrap()
            .create(&DEVICE, &scene, SolverStart::Saved { columns: &before, step: 3 }, Tuning::default())
            .unwrap();
        advance(&mut *alone, 3);
        assert_same(&state(&*solver), &state(&*alone), "refused");
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_pull_agrees_with_its_twin() {
    let sizes =
        prop_oneof![Just(0usize), Just(1), Just(2), 3usize..100, 63usize..66, 255usize..258, 511usize..514];
    let group = prop_oneof![Just(64u32), Just(256)];
    proptest!(config(40), |(n in sizes, workgroup_size in group, seed in any::<u64>())| {
        let mut random = Random::new(seed);
        let mut vector = |scale: f32| [(); 3].map(|()| scale * (2.0 * random.unit() - 1.0));
        let positions: Vec<[f32; 3]> = (0..n).map(|_| vector(1.0)).collect();
        let velocities: Vec<[f32; 3]> = (0..n).map(|_| vector(5.0)).collect();
        let wide = |v: [f32; 3]| DVec3::from(v.map(f64::from));
        let direction = wide(vector(1.0)).normalize_or(DVec3::X).as_vec3();
        let grab = Grab {
            centre_m: vector(0.5),
            direction: direction.to_array(),
            velocity_m_s: vector(2.0),
            radius_m: 0.1 + 0.7 * vector(1.0)[0].abs(),
            rate_1_s: 5.0 + 50.0 * vector(1.0)[0].abs(),
        };
        let dt_s = 0.01_f32;
        let capacity = n as u32 + 7;
        let (_, phase) =
            PhaseArray::with_table(&DEVICE, &positions, &velocities, capacity, workgroup_size).unwrap();
        let pass = GrabPass::new(&DEVICE, workgroup_size).unwrap();
        let mut recorder = DEVICE.recorder().unwrap();
        pass.record(&mut recorder, &phase, &grab, dt_s);
        DEVICE.submit(recorder).unwrap();
        let found = DEVICE.download(phase.velocity.front(), n).unwrap();
        let mut expected: Vec<DVec3> = velocities.iter().copied().map(wide).collect();
        let at: Vec<DVec3> = positions.iter().copied().map(wide).collect();
        pull_particles(&at, &mut expected, &Pull {
            centre_m: wide(grab.centre_m),
            direction: wide(grab.direction),
            velocity_m_s: wide(grab.velocity_m_s),
            radius_m: grab.radius_m.into(),
            rate_1_s: grab.rate_1_s.into(),
            dt_s: dt_s.into(),
        });
        // Some twenty roundings of sums of at most 60 m/s, doubled by the square of the weight, whose
        // relative error is that of 1/R² at most.
        let bound = 2e-4;
        for i in 0..n {
            let error = (wide(found[i]) - expected[i]).length();
            prop_assert!(error < bound, "{i}: {:?}, expected {:?}", found[i], expected[i]);
        }
    });
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn pulled_particles_of_every_solver_follow_the_line_and_the_others_do_not() {
    for text in [WATER, SNOW, CONTINUUM, GRAINS] {
        let scene = parse(text);
        let [mut pulled, mut free] = [start(&scene), start(&scene)];
        let corner = scene.sample().unwrap().positions_m[0];
        let grab = Grab {
            centre_m: corner,
            direction: [0.0, 0.0, 1.0],
            // Above the speed at which particles over the line approach it.
            velocity_m_s: [0.0, 30.0, 0.0],
            radius_m: scene.support_radius_m() as f32,
            rate_1_s: (0.2 / scene.dt_s()).min(20.0 / scene.support_radius_m()) as f32,
        };
        for _ in 0..4 {
            let mut recorder = DEVICE.recorder().unwrap();
            assert!(pulled.record_grab(&mut recorder, &grab), "{}", scene.name);
            DEVICE.submit(recorder).unwrap();
            advance(&mut *pulled, 1);
            advance(&mut *free, 1);
        }
        let of_id = |solver: &dyn Solver, name: &str, id: u32| {
            let state = state(solver);
            let column = |name: &str| state.iter().find(|column| column.name == name).unwrap();
            let place = column("id").words.iter().position(|own| *own == id).unwrap();
            f32::from_bits(column(name).words[3 * place + 1])
        };
        let [own, other] = [&*pulled, &*free].map(|solver| of_id(solver, "velocity", 0));
        assert!(own > other + 0.2, "{}: {own} m/s, {other} m/s without the pull", scene.name);
    }
    assert_no_validation_messages(&DEVICE);
}

const BALL: &str =
    "[[bodies]]\nname = \"ball\"\nshape.sphere = { centre_m = [0.3, 0.1, 0.2], radius_m = 0.05 }\n";

/// Lets each creation of a buffer or kernel that the change to another scene needs fail in turn. After each
/// failure the next step must be that of a simulation whose change was never tried.
fn assert_failed_changes_change_nothing(scene: &Scene, changed: &Scene) {
    let device = device();
    let create = || {
        let sampled = scene.sample().unwrap();
        factory_of(scene)
            .unwrap()
            .create(&device, scene, SolverStart::Sampled(&sampled), Tuning::default())
            .unwrap()
    };
    let steps = |solver: &mut dyn Solver, n: u32| {
        let mut recorder = device.recorder().unwrap();
        (0..n).for_each(|_| solver.record_step(&mut recorder));
        device.submit(recorder).unwrap();
        saved_state(&device, solver).unwrap()
    };
    let (mut solver, mut unchanged) = (create(), create());
    let mut n_failed = 0;
    loop {
        assert_same(
            &steps(&mut *solver, 1),
            &steps(&mut *unchanged, 1),
            &format!("after {n_failed} failures"),
        );
        device.fail_creation(Some(n_failed));
        let changed = change_scene(&mut *solver, &device, scene, changed);
        if device.fail_creation(None) {
            changed.unwrap();
            break;
        }
        assert!(changed.is_err(), "the failure of creation {n_failed} is not reported");
        n_failed += 1;
    }
    assert!(n_failed > 0, "the change creates nothing");
    // A body that begins to move needs some steps until it touches a particle.
    let mut has_effect = || {
        let (found, before) = (steps(&mut *solver, 10), steps(&mut *unchanged, 10));
        found.iter().zip(&before).any(|(a, b)| a.words != b.words)
    };
    assert!((0..10).any(|_| has_effect()), "the change has no effect");
    assert_no_validation_messages(&device);
}

#[test]
fn a_change_that_fails_leaves_water_as_it_was() {
    let scene = parse(WATER);
    let change = ["fluid.dynamic_viscosity_pa_s=20.0", "pbd.iterations=7", "gravity_m_s2=[4.0, -3.0, 0.0]"];
    let changed = scene.with_live(&change.map(str::to_owned)).unwrap();
    assert_failed_changes_change_nothing(&scene, &changed);
}

#[test]
fn a_change_that_fails_leaves_snow_as_it_was() {
    let scene = parse(&format!("{SNOW}{}", BALL.replace("0.252, 0.1, 0.1", "0.1, 0.195, 0.1")));
    let changed = scene.with_live(&["gravity_m_s2=[4.0, -3.0, 0.0]".to_owned()]).unwrap();
    assert_failed_changes_change_nothing(&scene, &changed);
}

#[test]
fn a_change_that_fails_leaves_a_continuum_as_it_was() {
    let scene = parse(CONTINUUM);
    let changed = scene.with_live(&["gravity_m_s2=[4.0, -3.0, 0.0]".to_owned()]).unwrap();
    assert_failed_changes_change_nothing(&scene, &changed);
}

#[test]
fn a_change_that_fails_leaves_grains_as_they_were() {
    let scene = parse(&format!("{GRAINS}{BALL}"));
    let changed = scene.with_live(&["gravity_m_s2=[4.0, -3.0, 0.0]".to_owned()]).unwrap();
    assert_failed_changes_change_nothing(&scene, &changed);
    // A body that begins to move needs other kernels.
    let motion = BodyMotion::Uniform(Motion { velocity_m_s: [-20.0, 0.0, 0.0], from_s: 0.0, until_s: None });
    assert_failed_changes_change_nothing(&scene, &scene.with_body_motion(0, &motion).unwrap());
}

#[test]
fn a_change_that_fails_leaves_a_viscoelastic_fluid_as_it_was() {
    let scene = parse(SPRINGS);
    let changed = scene.with_live(&["gravity_m_s2=[4.0, -3.0, 0.0]".to_owned()]).unwrap();
    assert_failed_changes_change_nothing(&scene, &changed);
    // Implicit viscosity also needs the neighbours at the start of the step.
    let implicit =
        parse(&SPRINGS.replace("[viscoelastic]", "dynamic_viscosity_pa_s = 400.0\n[viscoelastic]"));
    let changed = implicit.with_live(&["fluid.dynamic_viscosity_pa_s=500.0".to_owned()]).unwrap();
    assert_failed_changes_change_nothing(&implicit, &changed);
}
