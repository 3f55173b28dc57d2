//! Bodies among position-based particles: no particle ends a step in one, loads are the momentum that water
//! and snow lose, and bodies drag, carry and plough as their motion demands.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::bodies::{self as twin, Body, Shape};
use frazil_reference::fluid::State;
use frazil_scene::Scene;
use frazil_shaders::bodies::reduce_body_loads;
use frazil_shaders::common::fixed::WRENCH_WORDS;
use frazil_shaders::types::{Body as RawBody, BodyLoad as RawLoad};
use frazil_solvers::pbd::Fluid;
use frazil_solvers::{BodyLoad, MotionMetrics, Solver as _, StateColumn, Surroundings};
use frazil_testkit::twins::bodies::twin_bodies;
use frazil_testkit::twins::pbd::{run_fluid_twin, twin_parameters};
use frazil_testkit::{Random, assert_no_validation_messages, device, is_full_run};
use frazil_tests::meshes::{box_mesh, device_mesh_with_map, prism};
use frazil_tests::{Simulation, SnowSimulation};
use frazil_vk::{Kernel, Threads};
use glam::DVec3;

fn wide(v: [f32; 3]) -> DVec3 {
    DVec3::from_array(v.map(f64::from))
}

/// Returns the minimum distance of a particle's centre from a body, over the clearance, which is half a
/// spacing.
fn min_distance(positions: &[[f32; 3]], bodies: &[Body], time_s: f64, clearance_m: f64) -> f64 {
    let distances = bodies
        .iter()
        .flat_map(|body| positions.iter().map(move |x| body.distance_m(wide(*x), time_s).0 / clearance_m));
    distances.fold(f64::INFINITY, f64::min)
}

/// Runs frames of so many steps each and returns the minimum distance from a body in any of them.
fn min_distance_in_frames(simulation: &mut Simulation, frames: usize, steps: u64) -> f64 {
    let bodies = twin_bodies(&simulation.fluid.parameters().surroundings);
    let clearance_m = 0.5 * simulation.scene.particle_spacing_m();
    let mut min = f64::INFINITY;
    for _ in 0..frames {
        let metrics = simulation.advance(steps);
        assert_eq!((metrics.n_not_finite, metrics.n_outside), (0, 0), "step {}", simulation.step);
        let now = min_distance(&simulation.positions(), &bodies, simulation.time_s(), clearance_m);
        assert!(now > 0.0, "a particle is {now} half spacings deep in a body at step {}", simulation.step);
        min = min.min(now);
    }
    assert_no_validation_messages(&simulation.device);
    min
}

fn momentum(metrics: &MotionMetrics) -> DVec3 {
    DVec3::from_array(metrics.momentum_kg_m_s)
}

fn impulses(loads: &[BodyLoad]) -> DVec3 {
    loads.iter().map(|load| DVec3::from_array(load.impulse_n_s)).sum()
}

/// Sums of any sign and size become the loads that the twin computes, and are reset.
#[test]
fn sums_are_reduced_like_the_twins() {
    let device = device();
    let (n, dt_s, quanta_per_n_s) = (67, 0.5_f32, 1024.0_f32);
    let mut random = Random::new(7);
    let mut draw = || (f64::from(random.unit()) - 0.5) * 2.0_f64.powi((60.0 * random.unit()) as i32);
    let mut loads = vec![twin::Load::default(); n];
    let on_device = device.buffer_from("loads", &vec![<RawLoad as bytemuck::Zeroable>::zeroed(); n]).unwrap();
    let kernel: Kernel<reduce_body_loads::Interface> = Kernel::new(&device).unwrap();
    for _ in 0..3 {
        let quanta: Vec<i64> = (0..6 * n).map(|_| draw() as i64).collect();
        let words: Vec<u32> = quanta
            .iter()
            .flat_map(|q| [q.cast_unsigned() as u32, (q.cast_unsigned() >> 32) as u32])
            .collect();
        assert_eq!(words.len(), WRENCH_WORDS as usize * n);
        let sums = device.buffer_from("sums", &words).unwrap();
        let mut recorder = device.recorder().unwrap();
        let bindings = reduce_body_loads::Bindings { sums: &sums, loads: &on_device };
        let params = reduce_body_loads::Params { n_bodies: n as u32, dt_s, quanta_per_n_s };
        recorder.dispatch(&kernel, Threads::Fixed(n), bindings, params);
        device.submit(recorder).unwrap().wait().unwrap();
        let value = |k: usize| quanta[k] as f64 / f64::from(quanta_per_n_s);
        let mut impulses: Vec<[DVec3; 2]> = (0..n)
            .map(|k| [0, 3].map(|first| DVec3::from_array([0, 1, 2].map(|axis| value(6 * k + first + axis)))))
            .collect();
        let size = impulses.clone();
        twin::reduce_body_loads(&mut loads, &mut impulses, dt_s.into());
        assert!(device.download(&sums, words.len()).unwrap().iter().all(|word| *word == 0), "sums are reset");
        for (k, (found, expected)) in device.download(&on_device, n).unwrap().iter().zip(&loads).enumerate() {
            // Both are rounded to f32 at most once a step: compensated sums do not add up their errors.
            let near = |found: [f32; 3], expected: DVec3, size: f64| {
                (wide(found) - expected).length() <= 1e-6 * (expected.length() + size)
            };
            let [linear, angular] = size[k].map(DVec3::length);
            assert!(near(found.force_n, expected.force_n, 0.0), "{found:?} {expected:?}");
            assert!(near(found.torque_n_m, expected.torque_n_m, 0.0), "{found:?} {expected:?}");
            assert!(near(found.impulse_n_s, expected.impulse_n_s, linear), "{found:?} {expected:?}");
            assert!(near(found.angular_impulse_n_m_s, expected.angular_impulse_n_m_s, angular), "{found:?}");
            assert!((f64::from(found.peak_n) - expected.peak_n).abs() <= 1e-6 * expected.peak_n, "{found:?}");
        }
    }
    assert_no_validation_messages(&device);
}

/// Asserts that the loads of one step agree with those of the twin's step from the same state.
fn assert_loads_of_a_step_agree_with_the_twin() {
    let mut drum = Simulation::new("drum", &["fluid.particle_spacing_m=0.012"]);
    let mut largest = 0.0_f64;
    for _ in 0..if is_full_run() { 3 } else { 2 } {
        drum.advance(40);
        let (device, n) = (&drum.device, drum.len());
        let mut parameters = twin_parameters(&drum.fluid);
        parameters.time_s = drum.time_s();
        let mut state = State::new(
            device.download(drum.fluid.position(), n).unwrap(),
            device.download(drum.fluid.velocity(), n).unwrap(),
        );
        state.multiplier = device.download(drum.fluid.density_solve().multiplier(), n).unwrap();
        for stage in drum.fluid.stages() {
            run_fluid_twin(&mut state, &parameters, stage);
        }
        drum.advance(1);
        let found = drum.body_loads();
        assert_eq!(found.len(), state.loads.len());
        // Positions are rounded to 1e-8 m, which is 1e-5 m/s in a step of 1 ms: 1e-3 of the gain from
        // gravity.
        let weight = 9.81 * f64::from(parameters.particle_mass_kg) * n as f64;
        for (found, expected) in found.iter().zip(&state.loads) {
            let force = DVec3::from_array(found.force_n) - expected.force_n;
            let torque = DVec3::from_array(found.torque_n_m) - expected.torque_n_m;
            assert!(force.length() < 0.01 * weight, "{found:?} {expected:?}");
            // The radius of the drum is 0.12 m.
            assert!(torque.length() < 0.01 * 0.12 * weight, "{found:?} {expected:?}");
            largest = largest.max(expected.force_n.length() / weight);
        }
    }
    assert!(largest > 0.2, "forces of {largest} weights are too small to be compared");
}

/// Loads, bits after a restart, and motion in one process, which compiles the kernels of bodies once.
#[test]
fn a_spinning_drum_confines_and_drags_its_water_and_carries_its_weight() {
    assert_loads_of_a_step_agree_with_the_twin();
    assert_restored_run_continues_with_the_same_bits();
    let mut drum = Simulation::new("drum", &["fluid.particle_spacing_m=0.012"]);
    let begin = momentum(&drum.advance(0));
    let min = min_distance_in_frames(&mut drum, if is_full_run() { 20 } else { 14 }, 15);
    // The attempts and sweeps of a projection leave only rounding, except where a paddle meets the drum.
    assert!(min > 0.5, "{min}");
    let (metrics, loads) = (drum.advance(0), drum.body_loads());
    // The water touches only the drum and its paddles: Δp = M g t − Σ J, to the rounding of corrections.
    let mass = f64::from(metrics.particles) * drum.scene.particle_mass_kg();
    let weight = mass * drum.time_s() * DVec3::from_array(drum.scene.gravity_m_s2());
    let lost = momentum(&metrics) - begin - weight + impulses(&loads);
    assert!(lost.length() < 1e-4 * weight.length(), "{lost} of {weight} N s");
    // Friction and paddles turn the water in their own direction, against its resistance.
    let (x, v): (Vec<[f32; 3]>, Vec<[f32; 3]>) = {
        let n = drum.len();
        (drum.positions(), drum.device.download(drum.fluid.velocity(), n).unwrap())
    };
    let spin: f64 = x.iter().zip(&v).map(|(x, v)| wide(*x).cross(wide(*v)).z).sum::<f64>() / x.len() as f64;
    // A tenth of that of water in rigid rotation with the drum at 0.09 m.
    assert!(spin > 0.1 * 4.0 * 0.09_f64.powi(2), "{spin} m²/s");
    let torque: f64 = loads.iter().map(|load| load.angular_impulse_n_m_s[2]).sum();
    assert!(torque < 0.0, "{torque} N m s");
}

/// Boundary densities of meshes agree with sums over the solid, at faces, edges and corners, outside and
/// inside.
#[test]
fn meshes_count_their_edges_and_corners() {
    let h = 0.024;
    let cube = box_mesh(DVec3::splat(-0.03), DVec3::new(0.05, 0.04, 0.03));
    // A plate of half the kernel's support, and a wedge of 30°.
    let plate = box_mesh(DVec3::new(-0.05, -0.05, -0.006), DVec3::new(0.05, 0.05, 0.006));
    let wedge = prism(&[[0.0, 0.0], [0.07, 0.0], [0.07, 0.07 * 0.577]], -0.04, 0.04);
    let mut random = Random::new(11);
    for (name, mesh, is_container) in [
        ("cube", &cube, false),
        ("cube inside", &cube, true),
        ("plate", &plate, false),
        ("wedge", &wedge, false),
    ] {
        let mut numbers = vec![0.0];
        let raw = device_mesh_with_map(mesh, h, &mut numbers);
        let surroundings = Surroundings {
            bodies: vec![RawBody { is_container: is_container.into(), ..raw }],
            body_data: numbers,
            up_axis: 1,
            ..Default::default()
        };
        let [body] = &twin_bodies(&surroundings)[..] else { panic!("one body") };
        let Shape::Mesh(mesh, _) = &body.shape else { panic!("a mesh") };
        let flat = Body { shape: Shape::Mesh(mesh.clone(), None), ..body.clone() };
        let mut errors = [0.0_f64; 2];
        let mut n = 0;
        while n < if is_full_run() { 120 } else { 30 } {
            let x = 0.16 * DVec3::from_array([(); 3].map(|()| f64::from(random.unit()) - 0.5));
            // Where particles may be: half a spacing away, at the support of two spacings.
            if !(0.24 * h..0.9 * h).contains(&body.distance_m(x, 0.0).0) {
                continue;
            }
            n += 1;
            let exact = body.boundary_density_on_lattice(x, 0.0, h);
            for (error, body) in errors.iter_mut().zip([body, &flat]) {
                *error = error.max((body.boundary_density(x, 0.0, h, 1.0).0 - exact).abs());
            }
        }
        println!("{name}: {:.4}, as tangent planes {:.4}", errors[0], errors[1]);
        // Linear interpolation between nodes h/6 apart, across the edge of the tangent planes in a concave
        // corner.
        assert!(errors[0] < 0.03, "{name}: {errors:?}");
    }
}

#[test]
fn poured_water_enters_neither_a_mesh_nor_a_terrain() {
    let mesh = ("../scenes/pour_on_mesh.toml", "fluid.particle_spacing_m=0.015");
    let terrain = ("pour_down_terrain", "fluid.particle_spacing_m=0.012");
    for (scene, spacing) in [mesh, terrain] {
        let mut poured = Simulation::new(scene, &[spacing]);
        let min = min_distance_in_frames(&mut poured, if is_full_run() { 20 } else { 12 }, 20);
        assert!(min > 0.3, "{scene}: {min}");
        let impulse = impulses(&poured.body_loads());
        assert!(impulse[poured.scene.up_axis.index()] < 0.0, "{scene}: {impulse} N s");
    }
}

#[test]
fn a_moving_box_ploughs_snow_that_resists_it() {
    let mut plough = SnowSimulation::new("snow_box_plough", &["fluid.particle_spacing_m=0.02"]);
    let bodies = twin_bodies(&plough.snow.parameters().fluid.surroundings);
    for _ in 0..16 {
        let metrics = plough.advance(25);
        assert_eq!((metrics.all.n_not_finite, metrics.all.n_outside), (0, 0));
        let positions: Vec<[f32; 3]> = plough.particles().iter().map(|p| p.position).collect();
        let time_s = plough.step as f64 * plough.scene.dt_s();
        let min = min_distance(&positions, &bodies, time_s, 0.01);
        assert!(min > 0.9, "{min} half spacings at step {}", plough.step);
    }
    let [x, y, z] = plough.body_loads()[0].impulse_n_s;
    // It moves along x: snow resists it, and does not push it aside.
    assert!(x < 0.0 && z.abs() < 0.3 * x.abs(), "{x} {y} {z} N s");
    let heap = plough.particles().iter().map(|p| p.position[1]).fold(0.0, f32::max);
    assert!(heap > 0.08, "snow as high as {heap} m before the plough");
}

#[test]
fn a_floor_bears_the_weight_and_a_sunk_box_the_lift_of_its_water() {
    let overrides = [
        "domain.min_m=[0.0,-0.03,0.0]",
        "bodies=[{name='floor',shape={plane={point_m=[0,0,0],normal=[0,1,0]}},friction=0},\
         {name='block',shape={box={centre_m=[0.06,0.1,0.06],size_m=[0.04,0.04,0.04]}},friction=0}]",
        "particles=[{shape={box={min_m=[0,0,0],max_m=[0.12,0.08,0.12]}}},\
         {shape={box={min_m=[0,0.12,0],max_m=[0.12,0.2,0.12]}}},\
         {shape={box={min_m=[0,0.08,0],max_m=[0.04,0.12,0.12]}}},\
         {shape={box={min_m=[0.08,0.08,0],max_m=[0.12,0.12,0.12]}}},\
         {shape={box={min_m=[0.04,0.08,0],max_m=[0.08,0.12,0.04]}}},\
         {shape={box={min_m=[0.04,0.08,0.08],max_m=[0.08,0.12,0.12]}}}]",
        "fluid.wall_friction=0",
    ];
    let mut column = Simulation::new("hydrostatic", &overrides);
    // The water is at rest from the start. From step 40 on, means over 20 steps differ from the weight by
    // 0.5 % at most, and from the lift by 5 %, without a trend up to step 300.
    let (settling, measured) = if is_full_run() { (200, 100) } else { (80, 60) };
    column.advance(settling);
    let before = column.body_loads();
    let metrics = column.advance(measured);
    let after = column.body_loads();
    let mass = f64::from(metrics.particles) * column.scene.particle_mass_kg();
    let span_s = measured as f64 * column.scene.dt_s();
    let force = |k: usize| (after[k].impulse_n_s[1] - before[k].impulse_n_s[1]) / span_s;
    let lift = 1000.0 * 9.81 * 0.04_f64.powi(3);
    // 1.045 is found; three iterations a step, not to a tolerance, gave 1.08.
    println!("a lift of {:.4} of Archimedes'", force(1) / lift);
    assert!((force(1) / lift - 1.0).abs() < 0.1, "{} of {lift} N", force(1));
    // The floor bears the water and the reaction to its lift.
    let weight = -9.81 * mass - force(1);
    assert!((force(0) / weight - 1.0).abs() < 0.02, "{} of {weight} N", force(0));
    // At the faces, edges and corners of the block, too, the density is the rest density.
    assert!((metrics.density_mean_kg_m3 / 1000.0 - 1.0).abs() < 0.02, "{}", metrics.density_mean_kg_m3);
}

#[test]
fn water_runs_farther_between_faces_without_friction() {
    let front = |friction: &str| {
        // No slip of a liquid a thousand times as viscous as water: that of water is not resolved.
        let spacing = "fluid.particle_spacing_m=0.01825";
        let mut dam = Simulation::new("dam_break", &[spacing, "fluid.dynamic_viscosity_pa_s=2", friction]);
        dam.advance(if is_full_run() { 200 } else { 120 }).upper_m[0]
    };
    let [rough, sides, all] = [
        "domain.friction={z_min=1,z_max=1}",
        "domain.friction={z_min=0,z_max=0}",
        "domain.friction={x_min=0,x_max=0,y_min=0,y_max=0,z_min=0,z_max=0}",
    ]
    .map(front);
    assert!(rough + 0.002 < sides && sides + 0.002 < all, "{rough} {sides} {all} m");
    let slip = front("fluid.wall_friction=0");
    // The drag of faces is subtracted from that of all walls, which leaves rounding.
    assert!((all - slip).abs() < 1e-3, "{all} {slip} m");
}

/// Asserts that a restored run with moving bodies continues with the same bits.
fn assert_restored_run_continues_with_the_same_bits() {
    let overrides = ["fluid.particle_spacing_m=0.012"];
    let mut drum = Simulation::new("drum", &overrides);
    drum.advance(15);
    let state: Vec<StateColumn> = drum
        .fluid
        .state_columns()
        .iter()
        .map(|column| {
            let words = drum.device.download(&column.words, column.words.len()).unwrap();
            StateColumn { name: column.name.to_string(), words }
        })
        .collect();
    let scene = Scene::find("drum", &overrides.map(str::to_owned)).unwrap();
    let device = device();
    let fluid = Fluid::restore(&device, &scene, &state, drum.step, Default::default()).unwrap();
    let mut again = Simulation { device, scene, fluid, step: drum.step, replay: Default::default() };
    assert_eq!(drum.advance(15), again.advance(15));
    assert_eq!(drum.body_loads(), again.body_loads());
    assert_eq!(drum.words("position"), again.words("position"));
}
