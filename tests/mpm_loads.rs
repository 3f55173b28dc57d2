//! Loads of snow on a grid on the bodies that a scene names: weight, moment, momentum balance, restarts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::uniform_bodies;
use frazil_scene::{Contact, Implicit, Mpm as Section, Transfer};
use frazil_shaders::types::Body;
use frazil_solvers::BodyLoad;
use frazil_solvers::mpm::{Mpm, Surroundings};
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::bodies::{Trial, ball, block, moving, plane, plow};
use frazil_tests::download_loads;
use frazil_tests::mpm_stages::{MpmCase, Stages, name_of};
use frazil_tests::snowpack::{Snowpack, empty_space};
use glam::DVec3;

const G: f64 = 9.81;
const TRANSFERS: [Transfer; 3] = [Transfer::PicFlip, Transfer::Apic, Transfer::Mls];

fn elastic(dimensions: u32, cell_size_m: f64, transfer: Transfer) -> Section {
    let mut section = Section { transfer, ..Section::sampled(dimensions, cell_size_m) };
    section.material.plastic = false;
    section
}

/// Creates a domain under gravity in which all bodies but the first `n_unnamed` have names.
fn among(bodies: Vec<Body>, n_unnamed: usize, max_m: [f32; 3]) -> Surroundings {
    let names = (n_unnamed..bodies.len()).map(|k| format!("body_{k}")).collect();
    let space = empty_space([0.0; 3], max_m);
    Surroundings { gravity_m_s2: [0.0, -G as f32, 0.0], bodies, names, ..space }
}

fn loads(trial: &Trial) -> Vec<BodyLoad> {
    download_loads(&trial.snow.device, trial.snow.mpm.body_loads())
}

fn wide(v: [f64; 3]) -> DVec3 {
    DVec3::from_array(v)
}

/// The mean force over half a second is the weight, and the torque about the plane's point its moment.
#[test]
fn a_plane_bears_the_weight_of_a_block_and_its_moment() {
    let h = 0.02;
    for transfer in TRANSFERS {
        let section = elastic(2, h, transfer);
        let dt = 0.3 * h / section.material.wave_speed_m_s(1.0);
        let lying = block(2, [0.4, 0.2, 0.0], [0.6, 0.3, 0.0], 0.5 * h, 400.0);
        let floor = plane([0.3, 0.2, 0.0], [0.0, 1.0, 0.0], 0.3, false);
        let mut trial = Trial::new(&section, dt, &among(vec![floor], 0, [1.0, 0.6, 0.0]), &lying);
        let settling = (0.05 / dt).round() as u64;
        trial.advance(settling);
        let before = loads(&trial).remove(0);
        let steps = (0.15 / dt).round() as u64;
        let sums = trial.advance(steps);
        let after = loads(&trial).remove(0);
        let mean =
            |of: fn(&BodyLoad) -> [f64; 3]| (wide(of(&after)) - wide(of(&before))) / (steps as f64 * dt);
        let (force, torque) = (mean(|load| load.impulse_n_s), mean(|load| load.angular_impulse_n_m_s));
        let weight = sums.mass * G;
        let moment = -weight * (sums.centre.x - 0.3);
        println!("{transfer:?}: {} of the weight, {} of its moment", -force.y / weight, torque.z / moment);
        // An elastic block oscillates, which changes its momentum by less than g times 2 ms.
        assert!((force.y / weight + 1.0).abs() < 0.02, "{force} N of {weight} N");
        assert!(force.x.abs() < 0.01 * weight, "{force} N of {weight} N");
        assert!((torque.z / moment - 1.0).abs() < 0.02, "{torque} N m of {moment} N m");
        assert_no_validation_messages(&trial.snow.device);
    }
}

/// An elastic column between two smooth walls loads them with ν/(1 − ν) ρ g H²/2, but walls yield like a cell
/// each: the load is less by 1 + 2 h/L at a distance of L. Mean over six periods of 4 H/c, about the
/// equilibrium.
#[test]
fn a_column_loads_side_walls_that_yield_like_a_cell() {
    let (width, height) = (0.24, 0.4);
    for h in if is_full_run() { &[0.04, 0.02, 0.01][..] } else { &[0.04] } {
        let section = elastic(2, *h, Transfer::Apic);
        let (nu, c) = (section.material.poissons_ratio, section.material.wave_speed_m_s(1.0));
        let steps = (24.0 * height / (0.3 * h)).round();
        let dt_s = 24.0 * height / c / steps;
        let wall = plane([width, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.0, false);
        let column = block(2, [0.0; 3], [width, height, 0.0], 0.5 * h, 400.0);
        let around = among(vec![wall], 0, [0.3, 0.6, 0.0]);
        let mut trial = Trial::new(&section, dt_s, &around, &column);
        trial.advance(steps as u64);
        let load_n_m = loads(&trial)[0].impulse_n_s[0] / (steps * dt_s);
        let expected_n_m = nu / (1.0 - nu) * 0.5 * 400.0 * G * height * height;
        let share = load_n_m / expected_n_m;
        println!("cells of {h} m: {share:.4} of the load on rigid walls");
        assert!((share * (1.0 + 2.0 * h / width) - 1.0).abs() < 0.06, "{share} at {h} m");
        assert_no_validation_messages(&trial.snow.device);
    }
}

/// A ball meets a sticky plane, a slope and a moving box, and nothing else: Δp = M g t − Σ J.
#[test]
fn momentum_is_balanced_by_the_loads_on_bodies() {
    // In the short form, in a plane.
    let cases = [(2, 0.0, &TRANSFERS[..]), (3, 0.6, &TRANSFERS[2..])];
    for (dimensions, depth, transfers) in cases.into_iter().take(if is_full_run() { 2 } else { 1 }) {
        for &transfer in transfers {
            let h = 0.04;
            let section = elastic(dimensions, h, transfer);
            let dt = 0.3 * h / section.material.wave_speed_m_s(1.0);
            let falling = moving(ball(dimensions, [0.4, 0.4, 0.5 * depth], 0.16, 0.5 * h, 400.0), |_| {
                DVec3::new(1.0, -3.0, if dimensions == 3 { 0.3 } else { 0.0 })
            });
            let bodies = vec![
                plane([0.0, 0.15, 0.0], [0.0, 1.0, 0.0], 0.0, true),
                plane([0.5, 0.15, 0.0], [-0.6, 0.8, 0.0], 0.4, false),
                plow([0.75, 0.3, 0.5 * depth], [0.1, 0.2, 0.1], [-1.0, 0.0, 0.0], 0.01, 0.1),
            ];
            let around = among(bodies, 0, [1.2, 1.0, depth as f32]);
            let mut trial = Trial::new(&section, dt, &around, &falling);
            let begin = trial.sums();
            let steps = (0.15 / dt).round() as u64;
            let end = trial.advance(steps);
            let loads = loads(&trial);
            let impulse: DVec3 = loads.iter().map(|load| wide(load.impulse_n_s)).sum();
            let f32_dt = f64::from(dt as f32);
            let weight = end.mass * f64::from(G as f32) * steps as f64 * f32_dt * DVec3::NEG_Y;
            let lost = end.momentum - begin.momentum - weight + impulse;
            let scale = begin.momentum.length();
            println!("{dimensions}-D {transfer:?}: {:.1e} of the momentum", lost.length() / scale);
            assert!(impulse.length() > 0.5 * scale, "{impulse} of {scale} N s: nothing was hit");
            for load in &loads {
                assert!(wide(load.impulse_n_s).length() > 1e-3 * scale, "{load:?}: nothing hit it");
            }
            // Sums on nodes and of particles in f32 lose some 1e-7 a step of what moves.
            assert!(lost.length() < 1e-4 * scale, "{lost} of {scale} N s");
            assert_no_validation_messages(&trial.snow.device);
        }
    }
}

/// Unnamed bodies have no loads, the index of a load is that among the named ones, and loads change no bit of
/// the snow. With the semi-implicit step, which also holds nodes at bodies, there are no loads.
#[test]
fn only_named_bodies_have_loads_and_loads_change_no_bit() {
    let h = 0.04;
    let falling = moving(ball(2, [0.4, 0.4, 0.0], 0.16, 0.5 * h, 400.0), |_| DVec3::new(1.0, -3.0, 0.0));
    let bodies = || {
        vec![
            plane([0.0, 0.15, 0.0], [0.0, 1.0, 0.0], 0.2, false),
            plow([0.75, 0.3, 0.0], [0.1, 0.2, 0.1], [-1.0, 0.0, 0.0], 0.01, 0.1),
        ]
    };
    let section = elastic(2, h, Transfer::PicFlip);
    let dt = 0.3 * h / section.material.wave_speed_m_s(1.0);
    let run = |section: &Section, n_unnamed: usize| {
        let around = among(bodies(), n_unnamed, [1.2, 1.0, 0.0]);
        let mut trial = Trial::new(section, dt, &around, &falling);
        trial.advance(120);
        let state = trial.snow.state().into_iter().filter(|column| column.name != "body loads");
        let state: Vec<_> = state.map(|column| (column.name, column.words)).collect();
        (loads(&trial), state)
    };
    let [(both, state), (second, state_of_one), (none, state_of_none)] =
        [0, 1, 2].map(|n_unnamed| run(&section, n_unnamed));
    assert_eq!((both.len(), second.len(), none.len()), (2, 1, 0));
    assert_eq!(both[1], second[0]);
    assert!(state == state_of_one && state == state_of_none, "loads change the snow");
    let implicit = Some(Implicit { beta: 0.5, max_iterations: 10, tolerance: 1e-3 });
    assert!(run(&Section { implicit, ..section }, 0).0.is_empty());
}

#[test]
fn a_restored_run_continues_with_the_same_loads() {
    let h = 0.04;
    let section = elastic(2, h, Transfer::Apic);
    let dt = 0.3 * h / section.material.wave_speed_m_s(1.0);
    let lying = block(2, [0.4, 0.2, 0.0], [0.6, 0.4, 0.0], 0.5 * h, 400.0);
    let floor = plane([0.3, 0.2, 0.0], [0.0, 1.0, 0.0], 0.3, false);
    let around = among(vec![floor], 0, [1.0, 0.6, 0.0]);
    let mut trial = Trial::new(&section, dt, &around, &lying);
    trial.advance(60);
    let (device, state) = (trial.snow.device.clone(), trial.snow.state());
    let parameters = trial.snow.mpm.parameters().clone();
    let mpm = Mpm::restore(&device, parameters, &state, 60, Default::default()).unwrap();
    let mut again = Snowpack::of(device.clone(), mpm);
    trial.advance(60);
    again.advance(60);
    assert_eq!(loads(&trial), download_loads(&device, again.mpm.body_loads()));
    assert!(wide(loads(&trial)[0].impulse_n_s).length() > 0.0);
}

/// Loads of a step from random states agree with the twin's, in which particles are anywhere: on nodes, faces
/// and edges, inside bodies of each kind.
#[test]
fn loads_of_random_states_agree_with_the_twin() {
    let device = device();
    let body = |shape, friction, sticky, velocity: DVec3| uniform_bodies::UniformBody {
        shape,
        surface: uniform_bodies::Surface { friction, sticky },
        motion: Some(uniform_bodies::Motion { velocity_m_s: velocity, from_s: 0.0, until_s: 1.0 }),
    };
    for dimensions in [2, 3] {
        for transfer in TRANSFERS {
            let depth = if dimensions == 2 { 0.0 } else { 0.5 };
            let bodies = vec![
                body(
                    uniform_bodies::Shape::Plane {
                        point_m: DVec3::new(0.11, 0.05, 0.0),
                        normal: DVec3::new(0.6, 0.8, 0.0),
                    },
                    0.3,
                    false,
                    DVec3::ZERO,
                ),
                body(
                    uniform_bodies::Shape::Ball {
                        centre_m: DVec3::new(0.45, 0.4, 0.5 * depth),
                        radius_m: 0.13,
                    },
                    0.0,
                    false,
                    DVec3::new(0.8, -0.3, 0.0),
                ),
                body(
                    uniform_bodies::Shape::Container {
                        centre_m: DVec3::new(0.5, 0.375, 0.5 * depth),
                        radius_m: 0.55,
                    },
                    0.7,
                    true,
                    DVec3::new(0.0, 0.25, 0.0),
                ),
            ];
            let cell_m = if dimensions == 2 { 0.0625 } else { 0.125 };
            // Bounds are those of collisions of nodes; the tests above have contact of particles and affine
            // transfers with a share of FLIP, too.
            let flip_ratio = (transfer != Transfer::PicFlip).then_some(0.0);
            let contact = Some(Contact::Nodes);
            let section = Section { contact, flip_ratio, ..elastic(dimensions, cell_m, transfer) };
            let space = empty_space([0.0; 3], [1.0, 0.75, depth as f32]);
            let around = Surroundings { gravity_m_s2: [1.0, -9.0, 0.0], ..space };
            let mut case = MpmCase::new(section, 1.0 / 8192.0, around, bodies);
            case.surroundings.names = vec!["ball".to_owned(), "container".to_owned()];
            for seed in [1, 2] {
                let mut stages = Stages::new(&case, &device, &case.scatter(250, seed), 37);
                stages.step();
                stages.step();
                let (name, beyond) = (name_of(&case.section), stages.worst.beyond());
                assert!(beyond.is_empty(), "{name}:\n{beyond}");
                println!("{name}\n{}", stages.worst.shares());
            }
        }
    }
    assert_no_validation_messages(&device);
}
