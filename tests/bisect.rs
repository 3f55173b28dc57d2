//! Bisection of a wrong step: stages before a switch run on the device, the rest on the CPU twins, and the
//! first stage whose results differ is the wrong one. The tests show that no stage is wrong, and that a
//! planted error is found.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::Counts;
use frazil_reference::fluid::Parameters as TwinParameters;
use frazil_shaders::pbd::{begin_density_solve, check_density};
use frazil_shaders::types::StepClock;
use frazil_solvers::pbd::{DensityStatus, SolveMomentum, Stage};
use frazil_testkit::twins::pbd::{run_fluid_twin as run_on_twin, twin_parameters};
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::{
    Simulation, first_wrong_fluid_stage as first_wrong_stage, fluid_disagreement as disagreement,
    fluid_state as device_state, max_difference, run_fluid_stage as run_on_device,
};
use frazil_vk::{DeviceCount, Kernel, Threads};
use proptest::prelude::*;

/// Corrections of positions.
const POSITION: &str = "pbd.pressure='position'";

/// Corrections of positions to the default tolerance, with few enough stages to test each.
const TO_TOLERANCE: &str = "pbd.max_iterations=5";

/// The projection, with few enough stages to test each.
const PROJECTION: &str = "pbd={pressure='projection',iterations=2,max_iterations=6}";

const SMALL: &str = "fluid.particle_spacing_m=0.04";

fn small_scene(bodies: &str, k: f32, solve: &str) -> Simulation {
    Simulation::new(
        "drop",
        &[
            SMALL,
            "domain.min_m=[-0.2,0.0,-0.2]",
            "domain.max_m=[0.2,0.6,0.2]",
            "particles=[{shape={box={min_m=[-0.2,0,-0.2],max_m=[0.2,0.2,0.2]}},jitter_spacings=0.4},\
             {shape={sphere={centre_m=[0,0.42,0],radius_m=0.1}},velocity_m_s=[0.3,-2,0.1]}]",
            bodies,
            POSITION,
            &format!("pbd.artificial_pressure.strength={k}"),
            solve,
        ],
    )
}

#[test]
fn every_stage_agrees_with_its_twin() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) };
    let bodies = prop::sample::select(vec![
        "bodies=[]",
        "bodies=[{shape={plane={point_m=[0,-0.05,0],normal=[0.2,1,0]}}}]",
        "bodies=[{shape={sphere={centre_m=[0,0.3,0],radius_m=0.5}},side='inside'}]",
        "domain.friction={x_min=0,y_min=3,z_max=0.5}",
    ]);
    let solve = prop::sample::select(vec![
        TO_TOLERANCE,
        "pbd.density_tolerance=0.0",
        "pbd={pressure='position',density_tolerance=1e-5,iterations=1,max_iterations=3}",
        "fluid.dynamic_viscosity_pa_s=30",
        "fluid.xsph_viscosity=0.05",
        PROJECTION,
    ]);
    proptest!(config, |(bodies in bodies, k in 0.0f32..0.01, solve in solve, steps in 0u64..30)| {
        let mut simulation = small_scene(bodies, k, solve);
        simulation.advance(steps);
        let mut parameters = twin_parameters(&simulation.fluid);
        for step in steps..steps + 2 {
            parameters.time_s = step as f64 * f64::from(parameters.dt_s);
            prop_assert_eq!(first_wrong_stage(&mut simulation, &parameters), None);
        }
        assert_no_validation_messages(&simulation.device);
    });
}

#[test]
fn every_stage_agrees_with_its_twin_where_viscous_fluid_slips_in_part() {
    // Images behind two faces and their edge slip by the product of both shares.
    let friction = "domain.friction={x_min=0,y_min=3,z_min=0.3,z_max=0.5}";
    let mut simulation = small_scene(friction, 0.0, "fluid.dynamic_viscosity_pa_s=30");
    let mut parameters = twin_parameters(&simulation.fluid);
    for step in 0..3 {
        parameters.time_s = step as f64 * f64::from(parameters.dt_s);
        assert_eq!(first_wrong_stage(&mut simulation, &parameters), None, "step {step}");
    }
    assert_no_validation_messages(&simulation.device);
}

/// A body of each kind and motion below one drop, which meets it within some dozens of steps.
const MOVING_BODIES: [&str; 6] = [
    "name='b',shape={box={centre_m=[0,0.12,0],size_m=[0.2,0.1,0.12],rotation_deg=[10,20,30]}},friction=0.4,\
     motion={uniform={velocity_m_s=[0.5,0.2,0],until_s=0.03}}",
    "name='b',shape={cylinder={from_m=[-0.1,0.08,0.02],to_m=[0.1,0.16,-0.02],radius_m=0.06}},\
     motion={spinning={point_m=[0,0.1,0],angular_velocity_rad_s=[2,9,1],from_s=0.01}}",
    "name='b',shape={capsule={from_m=[-0.06,0.1,0.02],to_m=[0.08,0.14,-0.02],radius_m=0.06}},sticky=true,\
     motion={oscillating={amplitude_m=[0.01,0.02,0],frequency_hz=8,phase_deg=30}}",
    "name='b',shape={cylinder={from_m=[0,0.2,-0.19],to_m=[0,0.2,0.19],radius_m=0.19}},side='inside',\
     motion={spinning={point_m=[0,0.2,0],angular_velocity_rad_s=[0,0,-12]}}",
    "name='b',shape={box={centre_m=[0,0.25,0],size_m=[0.36,0.42,0.36]}},side='inside',\
     motion={keyframed={pivot_m=[0,0.2,0],keys=[{time_s=0.005},\
     {time_s=0.02,offset_m=[0.01,0,0],rotation_deg=[3,0,5]},{time_s=0.03,offset_m=[0,0,-0.01]}]}}",
    "name='b',shape={heightfield={origin_m=[-0.2,-0.2],spacing_m=0.1,\
     heights_m=[[0.05,0.1,0.08,0.05,0.1],[0.06,0.1,0.12,0.07,0.1],[0.05,0.06,0.1,0.12,0.1],\
     [0.1,0.1,0.06,0.05,0.02],[0.1,0.1,0.06,0.05,0]]}}",
];

#[test]
fn every_stage_agrees_with_its_twin_with_bodies_of_each_kind_and_motion() {
    // In the short form, `projection` and `drum` have the cylinders.
    let is_full = is_full_run();
    for body in MOVING_BODIES.into_iter().filter(|body| is_full || !body.contains("cylinder")) {
        let bodies = format!("bodies=[{{{body}}}]");
        let overrides = [
            "fluid.particle_spacing_m=0.02",
            "domain.min_m=[-0.2,0.0,-0.2]",
            "domain.max_m=[0.2,0.6,0.2]",
            "particles=[{shape={sphere={centre_m=[0,0.28,0],radius_m=0.07}},velocity_m_s=[0.3,-4,0.1],\
             jitter_spacings=0.3}]",
            bodies.as_str(),
            POSITION,
        ];
        let mut simulation = Simulation::new("drop", &overrides);
        let mut parameters = twin_parameters(&simulation.fluid);
        // Four steps of the fall and the impact; in the short form, one of the impact, at the bottom of those
        // that contain the drop.
        let impact = if body.contains("inside") { 47 } else { 26 };
        let (n, apart) = if is_full { (4, 11) } else { (1, impact) };
        for _ in 0..n {
            simulation.advance(apart);
            parameters.time_s = simulation.time_s();
            let wrong = first_wrong_stage(&mut simulation, &parameters);
            simulation.step += 1;
            assert_eq!(wrong, None, "step {} with {body}", simulation.step);
        }
        let impulse = simulation.body_loads()[0].impulse_n_s;
        assert!(impulse.iter().any(|j| j.abs() > 1e-4), "nothing touches {body}: {impulse:?}");
        assert_no_validation_messages(&simulation.device);
    }
}

#[test]
fn every_stage_agrees_with_its_twin_on_a_mesh_that_rotates() {
    for pressure in [POSITION, PROJECTION] {
        agrees_on_a_mesh_that_rotates(pressure);
    }
}

fn agrees_on_a_mesh_that_rotates(pressure: &str) {
    let overrides = [
        pressure,
        "fluid.particle_spacing_m=0.015",
        "bodies.0.motion={spinning={point_m=[0,0,0],angular_velocity_rad_s=[0,0,3]}}",
        "particles=[{shape={box={min_m=[-0.015,-0.045,0.1],max_m=[0.075,0.045,0.19]}},\
         velocity_m_s=[0.1,0,-1.5],jitter_spacings=0.3}]",
    ];
    let mut simulation = Simulation::new("../scenes/pour_on_mesh.toml", &overrides);
    let mut parameters = twin_parameters(&simulation.fluid);
    let (n, apart) = if is_full_run() { (6, 12) } else { (3, 25) };
    for _ in 0..n {
        simulation.advance(apart);
        parameters.time_s = simulation.time_s();
        let wrong = first_wrong_stage(&mut simulation, &parameters);
        simulation.step += 1;
        assert_eq!(wrong, None, "step {}", simulation.step);
    }
    let impulse = simulation.body_loads()[0].impulse_n_s;
    assert!(impulse[2] < -1e-2, "nothing touches the mesh: {impulse:?}");
    assert_no_validation_messages(&simulation.device);
}

#[test]
fn a_step_finished_by_the_twins_from_any_stage_on_ends_the_same() {
    let stages: Vec<Stage> = small_scene("bodies=[]", 0.0, TO_TOLERANCE).fluid.stages().collect();
    let parameters = twin_parameters(&small_scene("bodies=[]", 0.0, TO_TOLERANCE).fluid);
    // The short form switches behind every third stage.
    for switch in (0..=stages.len()).step_by(if is_full_run() { 1 } else { 3 }) {
        let mut simulation = small_scene("bodies=[]", 0.0, TO_TOLERANCE);
        simulation.advance(5);
        for stage in &stages[..switch] {
            run_on_device(&mut simulation, *stage);
        }
        let mut state = device_state(&simulation);
        for stage in &stages[switch..] {
            run_on_twin(&mut state, &parameters, *stage);
        }
        for stage in &stages[switch..] {
            run_on_device(&mut simulation, *stage);
        }
        let device = device_state(&simulation);
        assert_eq!(device.id, state.id, "switched after {switch} stages");
        let (x, v) = (
            max_difference(&device.position, &state.position),
            max_difference(&device.velocity, &state.velocity),
        );
        assert!(
            x < 1e-5 && v < 1e-2,
            "switched after {switch} stages: positions by {x:e} m, velocities by {v:e} m/s"
        );
    }
}

#[test]
fn a_wrong_stage_is_named() {
    type Wrong = fn(&mut TwinParameters);
    let planted: [(Stage, Wrong); 6] = [
        (Stage::Integrate, |p| p.gravity_m_s2[1] = 9.81),
        (Stage::Predict, |p| p.domain_max_m[1] = 0.1),
        (Stage::SolveDensity, |p| p.volume_h3 *= 1.01),
        (Stage::SolvePositions, |p| p.over_relaxation = -0.5),
        (Stage::UpdateVelocity, |p| p.dt_s *= 1.5),
        (Stage::SmoothVelocity, |p| p.xsph_viscosity = -0.05),
    ];
    for (expected, wrong) in planted {
        let mut simulation = small_scene("bodies=[]", 0.0, TO_TOLERANCE);
        simulation.advance(10);
        let right = twin_parameters(&simulation.fluid);
        let mut parameters = right.clone();
        wrong(&mut parameters);
        let stages: Vec<Stage> = simulation.fluid.stages().collect();
        // Stages before the planted one run with correct parameters: a wrong Δt, for example, affects several
        // of them.
        let mut found = None;
        for stage in stages {
            let mut twin = device_state(&simulation);
            run_on_device(&mut simulation, stage);
            run_on_twin(&mut twin, if stage == expected { &parameters } else { &right }, stage);
            if disagreement(stage, &device_state(&simulation), &twin).is_some() {
                found = Some(stage);
                break;
            }
        }
        assert_eq!(found, Some(expected));
    }
}

#[test]
fn a_density_solve_begins_and_ends_for_any_number_of_particles() {
    let device = device();
    let counts = Counts::new(&device).unwrap();
    let begin: Kernel<begin_density_solve::Interface> = Kernel::new(&device).unwrap();
    let check: Kernel<check_density::Interface> = Kernel::new(&device).unwrap();
    let sizes = prop::sample::select(vec![0_u32, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000]);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) };
    proptest!(config, |(n in sizes, share in 0.0f32..1.0, error in 0.0f32..0.01, is_last in any::<bool>())| {
        let capacity = n.max(1);
        let count = counts.upload(&device, "count", n, capacity).unwrap();
        let active = DeviceCount::new(&device, "active", capacity).unwrap();
        let value = |i: u32| -(i as f32 + 0.25);
        let lambda: Vec<f32> = (0..capacity).map(value).collect();
        let predicted: Vec<[f32; 3]> = (0..capacity).map(|i| [i as f32, 0.5, -1.0]).collect();
        let multiplier = device.buffer_from("multiplier", &lambda).unwrap();
        let predicted = device.buffer_from("predicted", &predicted).unwrap();
        let constraint = device.buffer_from("constraint", &vec![[9.0f32; 4]; capacity as usize]).unwrap();
        let zero: DensityStatus = bytemuck::Zeroable::zeroed();
        let status = device.buffer_from("status", &[zero]).unwrap();
        let still: SolveMomentum = bytemuck::Zeroable::zeroed();
        let momentum = device.buffer_from("momentum", &[still]).unwrap();
        let now = StepClock { fault_step: u32::MAX, step: 1, ..bytemuck::Zeroable::zeroed() };
        let clock = device.buffer_from("clock", &[now]).unwrap();
        let total = device.buffer_from("total", &[error * n as f32]).unwrap();
        let mut recorder = device.recorder().unwrap();
        let mut dispatch_check = |is_first: u32, iteration: u32| {
            let bindings = check_density::Bindings {
                count: &count,
                total: &total,
                status: &status,
                active_count: &active.count,
                args: &active.args,
                momentum: &momentum,
                clock: &clock,
            };
            let params = check_density::Params {
                is_first,
                has_motion: 0,
                iteration,
                min_iterations: 0,
                max_iterations: 4,
                tolerance: 0.005,
                max_error: 0.008,
                max_groups_x: 65535,
            };
            recorder.dispatch(&check, Threads::Fixed(1), bindings, params);
        };
        dispatch_check(1, 0);
        dispatch_check(0, if is_last { 4 } else { 3 });
        let bindings = begin_density_solve::Bindings {
            count: &count,
            predicted: &predicted,
            multiplier: &multiplier,
            constraint: &constraint,
        };
        recorder.dispatch_counted(&begin, bindings, begin_density_solve::Params { share });
        device.submit(recorder).unwrap().wait().unwrap();

        let found = device.download(&constraint, capacity as usize).unwrap();
        let left = device.download(&multiplier, capacity as usize).unwrap();
        for i in 0..n {
            prop_assert_eq!(found[i as usize], [i as f32, 0.5, -1.0, share * value(i)]);
            prop_assert_eq!(left[i as usize], 0.0);
        }
        if n == 0 {
            prop_assert_eq!(found[0], [9.0; 4], "nothing is written beyond the count");
        }
        let status = device.download(&status, 1).unwrap()[0];
        let mean = if n == 0 { 0.0 } else { error * n as f32 / n as f32 };
        let is_diverged = mean >= 0.008;
        let is_done = mean <= 0.005 || is_last || is_diverged;
        prop_assert_eq!((status.is_done != 0, status.n_steps), (is_done, 1));
        prop_assert_eq!(status.n_unmet, u32::from((is_last || is_diverged) && mean > 0.005));
        let groups = device.download(&active.args, 7).unwrap()[6][0];
        let expected = if is_done { 0 } else { n };
        prop_assert_eq!(device.download(&active.count, 1).unwrap()[0], expected);
        prop_assert_eq!(groups, expected.div_ceil(64));
    });
    assert_no_validation_messages(&device);
}
