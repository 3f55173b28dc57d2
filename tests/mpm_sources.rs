//! Emitters and drains of snow on a grid: their passes against the twins, rates of flow, jets in free flight
//! and against the floor, and the same bits wherever a run is resumed or its records grow.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::mpm as twin;
use frazil_solvers::mpm::{Mpm, MpmParameters, Stage};
use frazil_solvers::{StateColumn, Tuning};
use frazil_testkit::twins::mpm::{grid_of, node_places, particles_of_state, twin_parameters};
use frazil_testkit::twins::pbd::twin_sources;
use frazil_testkit::{Random, assert_no_validation_messages, is_full_run};
use frazil_tests::flow::Flow;
use glam::DVec3;
use std::collections::BTreeSet;

/// An empty box of 0.4 m × 0.4 m × 0.4 m, with cells of 2 cm.
const BOX: &str = r#"
version = 1
name = "box"
up_axis = "y"
solver.kind = "mpm"
time = { dt_s = 2e-4, duration_s = 1.0 }
mpm = { dimensions = 3, cell_size_m = 0.02 }
domain = { min_m = [-0.2, 0.0, -0.2], max_m = [0.2, 0.4, 0.2] }
"#;

/// A vertical and an oblique pipe, the second of which begins and ends within some steps.
const PIPES: &str = "emitters=[\
    {mouth={disk={centre_m=[0.05,0.3,0.03],radius_m=0.034}},direction=[0,-1,0],speed_m_s=2.0},\
    {mouth={rectangle={centre_m=[-0.08,0.2,0],size_m=[0.06,0.03]}},direction=[1,-0.7,0.3],\
     mass_flow_kg_s=1.5,from_s=0.001,until_s=0.02}]";
const BLOCK: &str =
    "particles=[{shape={box={min_m=[-0.2,0,-0.2],max_m=[0.2,0.06,0.2]}},velocity_m_s=[1,0,0.5]}]";
const DRAIN: &str = "drains=[{shape={box={min_m=[0.1,-1,-1],max_m=[1,0.05,1]}}},\
    {shape={box={min_m=[-0.2,0,-0.2],max_m=[-0.17,0.03,0.2]}}}]";

fn flow(overrides: &[&str]) -> Flow<Mpm> {
    Flow::new(BOX, overrides, |device, scene, sampled| {
        Mpm::of_scene(device, scene, sampled, Tuning::default())
    })
}

fn particles(flow: &Flow<Mpm>) -> Vec<twin::Particle> {
    particles_of_state(flow.solver.parameters(), &flow.columns())
}

fn run(flow: &mut Flow<Mpm>, stages: &[Stage]) {
    let mut recorder = flow.device.recorder().unwrap();
    for stage in stages {
        flow.solver.record_stage(&mut recorder, *stage).unwrap();
    }
    flow.device.submit(recorder).unwrap().wait().unwrap();
}

fn parameters(flow: &Flow<Mpm>) -> twin::Parameters {
    let surroundings = &flow.solver.parameters().surroundings;
    twin_parameters(flow.scene.mpm().unwrap(), flow.scene.dt_s(), surroundings)
}

/// Step by step, with layers that appear, particles that leave and both.
#[test]
fn emission_agrees_with_its_twin() {
    for case in [&[PIPES, BLOCK, DRAIN][..], &[PIPES], &[PIPES, BLOCK, "mpm.transfer='pic_flip'"]] {
        let mut flow = flow(case);
        let (p, sources) = (parameters(&flow), twin_sources(&flow.solver.parameters().sources));
        let emitted = flow.solver.parameters().emitted.map(f64::from);
        let mut n_new = 0;
        for step in 1..=if is_full_run() { 200 } else { 24 } {
            let mut expected = twin::State::new(particles(&flow));
            let next_id = flow.counts().next_id;
            if sources.drains.is_empty() {
                run(&mut flow, &[Stage::Emit]);
            } else {
                expected.drain(&sources);
                run(&mut flow, &[Stage::Drain, Stage::Emit]);
            }
            n_new += expected.emit(&p, &sources, step, next_id, emitted);
            let found = particles(&flow);
            assert_eq!(found.len(), expected.particles.len(), "step {step} of {case:?}");
            for (found, expected) in found.iter().zip(&expected.particles) {
                // The device's place of a layer has some roundings of its distance, a few centimetres.
                let place = |x: &twin::Particle| x.position + x.residual;
                let off = (place(found) - place(expected)).length();
                assert!(off < 1e-8, "{off} m off, step {step} of {case:?}: {found:?}, expected {expected:?}");
                assert!(
                    (found.contact_radius - expected.contact_radius).abs() < 1e-8,
                    "{found:?}, {expected:?}"
                );
                let (position, residual) = (expected.position, expected.residual);
                let contact_radius = expected.contact_radius;
                assert_eq!(&twin::Particle { position, residual, contact_radius, ..*found }, expected);
            }
            let rest: Vec<Stage> =
                flow.solver.stages().filter(|s| !matches!(s, Stage::Drain | Stage::Emit)).collect();
            run(&mut flow, &rest);
        }
        assert!(n_new > 40, "{n_new} particles appear");
        assert_no_validation_messages(&flow.device);
    }
}

#[test]
fn held_nodes_agree_with_their_twin() {
    for case in [&[PIPES, BLOCK][..], &[PIPES, "mpm.spline='quadratic'", "mpm.transfer='pic_flip'"]] {
        let mut flow = flow(case);
        flow.advance(40);
        let before: Vec<Stage> =
            flow.solver.stages().take_while(|stage| *stage != Stage::HoldNodes).collect();
        run(&mut flow, &before);
        let (p, sources) = (parameters(&flow), twin_sources(&flow.solver.parameters().sources));
        let free = grid_of(&flow.device, &flow.solver).unwrap();
        // Rounding decides about nodes on the surface of a pipe.
        let [expected, earlier, later] = [0.0, -1e-6, 1e-6].map(|along_m| {
            let mut moved = sources.clone();
            for emitter in &mut moved.emitters {
                let x = &mut emitter.mouth_m;
                (0..3).for_each(|i| x[i] += along_m * emitter.axes.iter().map(|axis| axis[i]).sum::<f32>());
            }
            let mut grid = free.clone();
            grid.hold(&p, &moved);
            grid
        });
        run(&mut flow, &[Stage::HoldNodes]);
        let found = grid_of(&flow.device, &flow.solver).unwrap();
        let mut n_held = 0;
        for (place, node) in &expected.nodes {
            let is_on_surface = earlier.nodes[place] != later.nodes[place];
            let own = found.nodes[place].velocity;
            assert!(
                own == node.velocity || is_on_surface,
                "node {place:?} of {case:?}: {own}, {}",
                node.velocity
            );
            n_held += u32::from(free.nodes[place].velocity != node.velocity);
        }
        if flow.solver.parameters().has_flip {
            let places = node_places(&flow.device, &flow.solver).unwrap();
            let changes = flow.device.download(flow.solver.node_change(), places.len()).unwrap();
            for (place, change) in places.iter().zip(changes) {
                let node = &expected.nodes[place];
                let off = (DVec3::from_array(change.map(f64::from)) - (node.velocity - node.before)).length();
                let is_on_surface = earlier.nodes[place] != later.nodes[place];
                assert!(
                    node.mass == 0.0 || is_on_surface || off < 1e-6,
                    "change of node {place:?}: {off} m/s off"
                );
            }
        }
        assert!(n_held > 100, "{n_held} nodes are held");
        assert_no_validation_messages(&flow.device);
    }
}

/// All numbers of particles around powers of two and the group size: some, none, all, the first and the last
/// of them in drains.
#[test]
fn removal_agrees_with_its_twin_at_any_number() {
    let flow = flow(&[BLOCK, "drains=[{shape={box={min_m=[0,-1,-1],max_m=[1,1,1]}}}]"]);
    let sources = twin_sources(&flow.solver.parameters().sources);
    let state = flow.columns();
    let mut random = Random::new(7);
    let sizes = [0usize, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1025];
    for n in sizes {
        for share in [0.0, 0.02, 0.3, 0.9, 1.0, -1.0, -2.0] {
            // Negative: the first half, or the last.
            let drained = |i: usize, random: &mut Random| match share {
                -1.0 => 2 * i < n,
                -2.0 => 2 * i >= n,
                _ => f64::from(random.unit()) < share,
            };
            let mut columns: Vec<StateColumn> = Vec::new();
            for column in &state {
                let words =
                    column.words.len() / if column.name == "heaviest_mass" { 1 } else { flow.n_particles() };
                let is_array = ["emission", "heaviest_mass"].contains(&column.name.as_str());
                let mut own = column.clone();
                if !is_array {
                    own.words.truncate(n * words);
                }
                match own.name.as_str() {
                    "id" => own.words = (0..n as u32).collect(),
                    "position" => {
                        for i in 0..n {
                            let x: f32 = if drained(i, &mut random) { 0.1 } else { -0.1 };
                            own.words[3 * i] = x.to_bits();
                        }
                    }
                    "emission" | "heaviest_mass" => {}
                    // Each element differs from all others.
                    _ => own
                        .words
                        .iter_mut()
                        .enumerate()
                        .for_each(|(i, word)| *word = (1.0 + i as f32 * 1e-3).to_bits()),
                }
                columns.push(own);
            }
            let parameters = MpmParameters { ..flow.solver.parameters().clone() };
            let solver = Mpm::restore(&flow.device, parameters, &columns, 3, Tuning::default()).unwrap();
            let mut after =
                Flow { device: flow.device.clone(), scene: flow.scene.clone(), solver, step: 3, substeps: 0 };
            let mut expected = twin::State::new(particles(&after));
            expected.drain(&sources);
            let n_before = after.counts().n_drained;
            run(&mut after, &[Stage::Drain]);
            assert_eq!(particles(&after), expected.particles, "{n} particles, share {share}");
            assert_eq!(after.counts().n_drained - n_before, (n - expected.particles.len()) as u32);
        }
    }
    assert_no_validation_messages(&flow.device);
}

/// Counts of a run are those of the scene's flow, to the layer; no id occurs twice, and none is lost.
#[test]
fn particles_are_those_of_the_start_and_the_emitted_less_the_drained() {
    let mut flow = flow(&[PIPES, BLOCK, DRAIN]);
    let start = flow.n_particles() as u32;
    for steps in [1, 30, 70] {
        flow.advance(steps);
        let counts = flow.counts();
        assert_eq!(u64::from(counts.n_emitted), flow.scene.n_emitted(flow.step));
        assert_eq!(flow.n_particles() as u32, start + counts.n_emitted - counts.n_drained);
        let ids: BTreeSet<u32> = particles(&flow).iter().map(|particle| particle.id).collect();
        assert_eq!(ids.len(), flow.n_particles());
        assert!(*ids.last().unwrap() < start + counts.n_emitted);
    }
    assert!(flow.counts().n_drained > 20, "{:?}", flow.counts());
    assert_no_validation_messages(&flow.device);
}

/// A jet without gravity, along the grid, obliquely to it and far from the origin: the flow that is asked, to
/// a layer, its momentum, no strain, and a head that has come as far as the flow.
#[test]
fn jets_enter_alike_in_every_direction_and_place() {
    let speed_m_s = 3.0;
    for (direction, at_m) in [([1.0, 0.0, 0.0], 0.0), ([0.8, 0.6, 0.0], 0.0), ([1.0, 2.0, -0.5], 300.0)] {
        let mut jet = flow(&[
            "gravity_m_s2=[0,0,0]",
            &format!("domain.min_m=[{},0,-0.2]", at_m - 0.2),
            &format!("domain.max_m=[{},0.4,0.2]", at_m + 0.2),
            &format!(
                "emitters=[{{mouth={{disk={{centre_m=[{},0.15,0],radius_m=0.03}}}},direction={direction:?},\
                 speed_m_s={speed_m_s}}}]",
                at_m - 0.1
            ),
        ]);
        let (steps, dt_s) = (200, jet.scene.dt_s());
        jet.advance(steps);
        let particles = particles(&jet);
        let stream = jet.scene.streams().remove(0);
        let mass_kg: f64 = particles.iter().map(|particle| particle.mass).sum();
        let travel_m = speed_m_s * steps as f64 * dt_s;
        let expected_kg = 400.0 * std::f64::consts::PI * 0.03f64.powi(2) * travel_m;
        let layer_kg = expected_kg * stream.layer_m / travel_m;
        let axis = DVec3::from_array(stream.axes[0]);
        let speed = particles.iter().map(|x| x.mass * x.velocity.dot(axis)).sum::<f64>() / mass_kg;
        let strain =
            |x: &twin::Particle| (x.elastic.transpose() * x.elastic - glam::DMat3::IDENTITY).to_cols_array();
        let strain = particles.iter().flat_map(strain).map(f64::abs).fold(0.0, f64::max);
        let mouth = DVec3::from_array(stream.mouth_m);
        let head = particles.iter().map(|x| (x.position - mouth).dot(axis)).fold(f64::MIN, f64::max);
        let behind_m = travel_m - stream.reach_m - head;
        println!(
            "{direction:?} at {at_m} m: {mass_kg} kg of {expected_kg}, {speed} m/s, strain {strain:.1e}, \
             head {behind_m:.1e} m behind"
        );
        // A layer appears before the first step.
        assert!((mass_kg - expected_kg - 0.5 * layer_kg).abs() < 0.51 * layer_kg);
        assert!((speed / speed_m_s - 1.0).abs() < 1e-5, "{speed} m/s");
        assert!(strain < 1e-3, "strain of {strain}");
        assert!(behind_m.abs() < 1e-4, "the head is {behind_m} m behind");
        assert_no_validation_messages(&jet.device);
    }
}

/// A horizontal jet of snow without strength falls along a parabola that begins in the mouth. Bound: half of
/// a cell, by which nodes in the pipe hold the particles before it.
#[test]
fn a_jet_falls_along_a_parabola_from_its_mouth() {
    let speed_m_s: f64 = 2.5;
    let mut jet = flow(&[
        "mpm.material.youngs_modulus_pa=2000.0",
        "mpm.material.critical_compression=1e-3",
        "mpm.material.critical_stretch=1e-4",
        "mpm.material.hardening=0.0",
        &format!(
            "emitters=[{{mouth={{disk={{centre_m=[-0.15,0.35,0],radius_m=0.03}}}},direction=[1,0,0],\
             speed_m_s={speed_m_s}}}]"
        ),
    ]);
    jet.advance(550);
    let particles = particles(&jet);
    for along_m in [0.1, 0.15, 0.2] {
        let near = particles.iter().filter(|x| (x.position.x + 0.15 - along_m).abs() < 0.01);
        let falls: Vec<f64> = near.map(|x| 0.35 - x.position.y).collect();
        let fall_m = falls.iter().sum::<f64>() / falls.len() as f64;
        let began_m = along_m - speed_m_s * (2.0 * fall_m / 9.81).sqrt();
        println!(
            "{along_m} m: {fall_m:.5} m lower, {} particles, from {began_m:.4} m before the mouth",
            falls.len()
        );
        let is_at_mouth = began_m.abs() < 0.01;
        assert!(falls.len() > 20 && is_at_mouth, "the fall begins after {began_m} m");
    }
    assert_no_validation_messages(&jet.device);
}

/// A column that grows against the floor up to the mouth is pressed by what follows, and does not enter the
/// pipe: the volume of all particles, by their deformation, is the space that they take.
#[test]
fn a_blocked_mouth_presses_the_snow_in_front_of_it() {
    let mut flow = flow(&[
        "emitters=[{mouth={disk={centre_m=[0,0.1,0],radius_m=0.03}},direction=[0,-1,0],speed_m_s=1.0}]",
    ]);
    flow.advance(1000);
    let particles = particles(&flow);
    let entered = flow.counts().n_emitted as usize;
    assert_eq!(particles.len(), entered);
    // 0.2 s at 1 m/s, of which 0.1 m fit below the mouth.
    let below: Vec<_> = particles.iter().filter(|x| x.position.y < 0.1).collect();
    let widest = below.iter().map(|x| x.position.x.hypot(x.position.z)).fold(0.0, f64::max);
    let volume = |x: &&twin::Particle| x.elastic.determinant() * x.plastic_volume * x.volume;
    let volume_m3: f64 = below.iter().map(volume).sum();
    // The outermost particles are up to half a spacing from the surface.
    let space_m3 = [0.0, 0.005].map(|more: f64| 0.1 * std::f64::consts::PI * (widest + more).powi(2));
    println!(
        "{} of {entered} below the mouth, {widest} m wide, {volume_m3} m³ in {space_m3:?} m³",
        below.len()
    );
    assert!(volume_m3 > space_m3[0] && volume_m3 < space_m3[1], "{volume_m3} m³ in {space_m3:?} m³");
    let in_pipe = particles.iter().filter(|x| x.position.y >= 0.1).count();
    // A support radius of 4 cm of the flow, and a layer at each end.
    let stream = flow.scene.streams().remove(0);
    let of_pipe = stream.points_m.len() as f64 * (0.04 / stream.layer_m + 1.5);
    assert!((in_pipe as f64) < of_pipe, "{in_pipe} particles in a pipe of {of_pipe}");
    assert_no_validation_messages(&flow.device);
}

/// Names and words of a state, without what the device computes for output.
fn bits(flow: &Flow<Mpm>) -> Vec<(String, Vec<u32>)> {
    let of_steps = flow.columns().into_iter().filter(|column| column.name != "density");
    of_steps.map(|column| (column.name, column.words)).collect()
}

/// A run that is resumed has the bits of one that was not, and so has one with room for more particles.
#[test]
fn resumed_flows_have_the_bits_of_whole_ones() {
    let mut flow = flow(&[PIPES, BLOCK, DRAIN, "particles.0.mass_spread=0.2"]);
    flow.advance(24);
    let state = flow.columns();
    let mut longer = flow.scene.clone();
    longer.time.duration_s *= 2.0;
    let resumed = [flow.scene.clone(), longer].map(|scene| {
        let solver = Mpm::restore_scene(&flow.device, &scene, &state, 24, Tuning::default()).unwrap();
        let mut resumed = Flow { device: flow.device.clone(), scene, solver, step: 24, substeps: 0 };
        resumed.advance(36);
        bits(&resumed)
    });
    flow.advance(36);
    for resumed in resumed {
        for (whole, own) in bits(&flow).iter().zip(&resumed) {
            assert!(whole == own, "{}", whole.0);
        }
    }
    assert_no_validation_messages(&flow.device);
}

/// A flow for which there is no room goes on with more, and one that reaches more blocks than there is room
/// for too, without a particle more or less: with the bits of one that had the room from the start.
#[test]
fn flows_that_overflow_their_records_have_the_bits_of_whole_ones() {
    let mut whole = flow(&[PIPES]);
    // Room for a hundredth of the flow.
    let mut short = flow(&[PIPES, "time.duration_s=0.005"]);
    let (grown_whole, grown_short) = (whole.advance(150), short.advance(150));
    println!("{grown_whole:?} and {grown_short:?} grew; {} particles", whole.n_particles());
    assert!(!grown_short.is_empty(), "{} particles fit", short.n_particles());
    for (whole, short) in bits(&whole).iter().zip(&bits(&short)) {
        assert!(whole == short, "{}", whole.0);
    }
    assert_eq!(u64::from(whole.counts().n_emitted), whole.scene.n_emitted(150));
    assert_no_validation_messages(&short.device);
}

/// A layer that reaches more blocks of nodes than there is room for appears once, although its step is
/// repeated.
#[test]
fn a_layer_whose_step_is_repeated_appears_once() {
    let mut flow = flow(&[
        "mpm.cell_size_m=0.01",
        "time.dt_s=1e-4",
        "emitters=[{mouth={rectangle={centre_m=[0,0.2,0],size_m=[0.3,0.3]}},direction=[0,-1,0],speed_m_s=1}]",
    ]);
    let grown = flow.advance(20);
    println!("{grown:?} grew");
    assert!(!grown.is_empty(), "all blocks fit");
    assert_eq!(u64::from(flow.counts().n_emitted), flow.scene.n_emitted(20));
    let ids: BTreeSet<u32> = particles(&flow).iter().map(|particle| particle.id).collect();
    assert_eq!(ids.len(), flow.n_particles());
    assert_eq!(flow.n_particles() as u32, flow.counts().n_emitted);
    assert_no_validation_messages(&flow.device);
}
