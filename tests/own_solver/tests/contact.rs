//! Bodies of a solver outside of frazil have its friction and the reach of its particles, and stop them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use frazil_own_solver::FreeFlightFactory;
use frazil_scene::Scene;
use frazil_solvers::{Solver, SolverFactory, SolverStart, Surroundings, Tuning};
use frazil_testkit::device;
use std::path::Path;

const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/free_flight.toml");

fn scene(overrides: &[&str]) -> Scene {
    // Another test of the process may have registered it.
    let _ = frazil_own_solver::register();
    Scene::load(SCENE, &overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn bodies_have_its_friction_and_meshes_its_reach() {
    let mesh = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/meshes/splitter.obj");
    let bodies = format!(
        "bodies=[{{name='ball',shape={{sphere={{centre_m=[1,0.5,0.2],radius_m=0.1}}}}}},\
         {{name='ice',shape={{sphere={{centre_m=[1,0.5,0.2],radius_m=0.1}}}},friction=0.02}},\
         {{name='wedge',shape={{mesh={{path='{}',scale=0.01,offset_m=[1,0,0.2]}}}}}}]",
        mesh.canonicalize().unwrap().display()
    );
    let around = Surroundings::of(&scene(&[&bodies, "drag.body_friction=0.45"])).unwrap();
    let frictions: Vec<f32> = around.bodies.iter().map(|body| body.friction).collect();
    assert_eq!(frictions, [0.45, 0.02, 0.45]);
    // The first number of a mesh is its reach, with a margin.
    let reach_m = around.body_data[around.bodies[2].first_height as usize];
    assert!((0.05..0.06).contains(&reach_m), "{reach_m} m of a spacing of 0.05 m");
    assert_eq!(around.names, ["ball", "ice", "wedge"]);
    // Without the key, its own default.
    assert_eq!(Surroundings::of(&scene(&[&bodies])).unwrap().bodies[0].friction, 0.3);
}

/// Returns the speeds along x and the lowest height of the particles after the flight.
fn after_flight(overrides: &[&str]) -> (Vec<f32>, f32) {
    let scene = scene(&[&["time.duration_s=0.6"], overrides].concat());
    let sampled = scene.sample().unwrap();
    let device = device();
    let mut solver =
        FreeFlightFactory.create(&device, &scene, SolverStart::Sampled(&sampled), Tuning::default()).unwrap();
    for _ in 0..scene.n_steps() {
        let mut recorder = device.recorder().unwrap();
        solver.record_step(&mut recorder);
        device.submit(recorder).unwrap().wait().unwrap();
    }
    let column = |solver: &dyn Solver, name: &str| -> Vec<[f32; 3]> {
        let columns = solver.columns();
        let view = columns.iter().find(|column| column.name == name).unwrap();
        device.download(&view.words.cast(), sampled.len()).unwrap()
    };
    let lowest_m = column(&*solver, "position").iter().map(|x| x[1]).fold(f32::INFINITY, f32::min);
    (column(&*solver, "velocity").iter().map(|v| v[0]).collect(), lowest_m)
}

#[test]
fn its_particles_land_on_bodies_and_are_decelerated_by_friction() {
    let floor = "bodies=[{name='floor',shape={plane={point_m=[0,0.28,0],normal=[0,1,0]}}}]";
    let (smooth, rough) = ("drag.body_friction=0", "drag.body_friction=0.5");
    let (_, without_m) = after_flight(&["bodies=[]"]);
    assert!(without_m < 0.2, "{without_m} m");
    let (sliding, lowest_m) = after_flight(&[floor, smooth]);
    assert!(lowest_m > 0.2799, "{lowest_m} m");
    let (held, _) = after_flight(&[floor, rough]);
    let fastest = |speeds: &[f32]| speeds.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
    let slowest = |speeds: &[f32]| speeds.iter().fold(f32::INFINITY, |least, v| least.min(v.abs()));
    let (slowest, fastest) = (slowest(&sliding), fastest(&held));
    assert!(fastest < 0.5 * slowest, "{fastest} m/s with friction, {slowest} m/s without");
}
