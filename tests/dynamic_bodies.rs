//! Dynamic bodies: their motion and contacts against the twins and against mechanics, and floating in water.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::rigid::{Contact, RigidBody, Surface, find_body_contacts, solve_body_constraints};
use frazil_scene::Scene;
use frazil_shaders::types::RigidState;
use frazil_solvers::pbd::Fluid;
use frazil_solvers::{Solver, SolverStart, StateColumn, Tuning, factory_of};
use frazil_testkit::twins::bodies::twin_bodies;
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::Simulation;
use frazil_tests::rigid::{column, contacts, dry, points, quaternion, states, twins, wide};
use frazil_vk::Device;
use glam::DVec3;

const PILE: &str = "bodies=[\
    {name='plate',shape={box={centre_m=[0,0.2,0],size_m=[0.6,0.05,0.6],rotation_deg=[0,0,20]}},\
     motion={spinning={point_m=[0,0.2,0],angular_velocity_rad_s=[0,2,0]}}},\
    {name='a',shape={box={centre_m=[0.1,0.55,0.03],size_m=[0.1,0.2,0.15],rotation_deg=[10,20,30]}},\
     motion={dynamic={density_kg_m3=800,contact_gap_m=0,friction=0.4}}},\
    {name='b',shape={sphere={centre_m=[0.05,0.82,0],radius_m=0.12}},\
     motion={dynamic={mass_kg=2,contact_gap_m=0,restitution=0.5,velocity_m_s=[0,-1,0]}}},\
    {name='c',shape={capsule={from_m=[-0.2,0.6,-0.1],to_m=[-0.1,0.7,0.1],radius_m=0.06}},\
     motion={dynamic={density_kg_m3=300,contact_gap_m=0.01,angular_velocity_rad_s=[3,0,-2]}}},\
    {name='d',shape={cylinder={from_m=[0.3,0.4,0.2],to_m=[0.4,0.5,0.2],radius_m=0.08}},\
     motion={dynamic={density_kg_m3=1500,contact_gap_m=0}}},\
    {name='e',shape={box={centre_m=[-1,0.06,0],size_m=[0.3,0.1,0.4]}},\
     motion={dynamic={density_kg_m3=400,contact_gap_m=0}}},\
    {name='f',shape={box={centre_m=[-1.02,0.17,0.01],size_m=[0.1,0.1,0.1],rotation_deg=[0,15,0]}},\
     motion={dynamic={density_kg_m3=900,contact_gap_m=0}}},\
    {name='g',shape={sphere={centre_m=[-0.97,0.4,0.03],radius_m=0.05}},\
     motion={dynamic={density_kg_m3=2000,contact_gap_m=0}}}]";

/// Each step of a pile on a plate that turns, from the device's state, agrees with the twins.
#[test]
fn bodies_move_and_touch_like_their_twins() {
    let mut simulation = dry(&[PILE]);
    let (dt_s, gravity_m_s2) =
        (simulation.scene.dt_s(), wide(simulation.scene.gravity_m_s2().map(|g| g as f32)));
    let points = points(&simulation);
    let surroundings = simulation.fluid.parameters().surroundings.clone();
    let [low, high] = [surroundings.domain_min_m, surroundings.domain_max_m].map(wide);
    let (mut n_touching, mut n_between) = (0, 0);
    let (n, apart) = if is_full_run() { (120, 5) } else { (24, 25) };
    for _ in 0..n {
        simulation.advance(apart);
        let mut bodies = twins(&simulation);
        let before = contacts(&simulation);
        let starts: Vec<_> = bodies.iter().map(|body| body.place_bodies(dt_s)).collect();
        let start_s = simulation.time_s();
        simulation.advance(1);
        let loads = simulation.body_loads();
        // The first load is that of the plate.
        for (body, load) in bodies.iter_mut().zip(&loads[1..]) {
            let [force, torque] = [load.force_n, load.torque_n_m].map(DVec3::from_array);
            body.move_bodies(dt_s, gravity_m_s2, force, torque);
        }
        let axes = DVec3::AXES;
        let mut surfaces: Vec<Surface> = axes.iter().map(|axis| Surface::Face(low, *axis)).collect();
        surfaces.extend(axes.iter().map(|axis| Surface::Face(high, -*axis)));
        let end_s = start_s + dt_s;
        for (k, mut body) in twin_bodies(&surroundings).into_iter().enumerate() {
            surfaces.push(match k.checked_sub(1) {
                None => Surface::Prescribed(body),
                Some(k) => {
                    body.motion = Some(frazil_reference::bodies::Motion::Dynamic(starts[k], [start_s, dt_s]));
                    Surface::Dynamic(body, k)
                }
            });
        }
        let had = |p: usize, surface: usize| {
            let found = before.iter().find(|(q, contact)| *q == p && contact.surface as usize == surface);
            found.map_or((0.0, DVec3::ZERO), |(_, contact)| {
                (contact.normal_n_s.into(), wide(contact.tangential_n_s))
            })
        };
        let rebound_m_s = 2.0 * dt_s * gravity_m_s2.length();
        let mut found =
            find_body_contacts(&bodies, &points, &surfaces, (end_s, dt_s, rebound_m_s), had, |_, _| false);
        let on_device = contacts(&simulation);
        let what = |contact: &Contact| (contact.bodies.0, contact.surface);
        let listed: Vec<_> = on_device.iter().map(|(p, c)| (points[*p].owner, c.surface as usize)).collect();
        assert_eq!(listed, found.iter().map(what).collect::<Vec<_>>(), "step {}", simulation.step);
        for ((_, raw), contact) in on_device.iter().zip(&found) {
            assert!((wide(raw.normal) - contact.normal).length() < 1e-4, "{raw:?}, not {contact:?}");
            assert!((f64::from(raw.gap_m) - contact.gap_m).abs() < 2e-7, "{raw:?}, not {contact:?}");
        }
        let converged = (500, 0.5e-3 * rebound_m_s);
        solve_body_constraints(&mut bodies, &mut [], &mut found, converged, 1.0 - (-100.0 * dt_s).exp());
        n_touching += found.len();
        n_between += found.iter().filter(|contact| contact.bodies.1.is_some()).count();
        for (twin, state) in bodies.iter().zip(states(&simulation)) {
            let apart = [
                (wide(state.offset_m) - wide(state.offset_rest_m) - twin.offset_m).length() / 1e-6,
                (quaternion(state.rotation) * twin.rotation.inverse()).to_scaled_axis().length() / 1e-5,
                // A gap that is rounded by 1e-7 m is closed in a step at 1e-4 m/s more or less.
                (wide(state.velocity_m_s) - twin.velocity_m_s).length() / 1e-4,
                (wide(state.angular_momentum_kg_m2_s) - twin.angular_momentum_kg_m2_s).length()
                    / (1e-4 * twin.mass_kg * 0.1),
            ];
            assert!(
                apart.iter().all(|x| *x < 1.0),
                "step {}: {apart:?} bounds apart, {twin:?}",
                simulation.step
            );
        }
    }
    assert!(n_touching > 100 && n_between > 10, "{n_touching} contacts, {n_between} between two");
    assert_no_validation_messages(&simulation.device);
}

/// A body without gravity keeps momentum and angular momentum to rounding, and its energy to the order of the
/// method.
#[test]
fn a_free_body_keeps_its_momentum() {
    let body = "bodies=[{name='it',shape={box={centre_m=[0,1.5,0],size_m=[0.1,0.2,0.3]}},\
        motion={dynamic={density_kg_m3=700,velocity_m_s=[0.2,0,0.1],angular_velocity_rad_s=[0.3,5,0.1]}}}]";
    let mut simulation = dry(&[body, "gravity_m_s2=[0,0,0]"]);
    let start = twins(&simulation)[0];
    let mut least_along: f64 = 1.0;
    for _ in 0..if is_full_run() { 60 } else { 42 } {
        simulation.advance(50);
        let now = twins(&simulation)[0];
        let l = now.angular_momentum_kg_m2_s;
        assert_eq!(l, start.angular_momentum_kg_m2_s, "angular momentum");
        let way_m = simulation.time_s() * wide([0.2, 0.0, 0.1]);
        assert!((now.offset_m - way_m).length() < 1e-6, "{} m, not {way_m} m", now.offset_m);
        let energy = now.kinetic_energy_j() / start.kinetic_energy_j();
        assert!((energy - 1.0).abs() < 1e-4, "energy {energy}");
        least_along = least_along.min((now.rotation * DVec3::Y).dot(l.normalize()));
    }
    // The spin about the middle axis is unstable: the body flips.
    assert!(least_along < -0.8, "the axis turned to {least_along}");
    assert_no_validation_messages(&simulation.device);
}

fn slope(body: &str, friction: f64) -> String {
    let dynamic = format!("density_kg_m3=1000,friction={friction}");
    format!("bodies=[{{name='it',{body},motion={{dynamic={{{dynamic}}}}}}}]")
}

/// Balls roll at 5/7 g sin θ, cylinders at 2/3, boxes slide at g (sin θ − μ cos θ), or stay.
#[test]
fn bodies_roll_and_slide_as_coulomb_has_it() {
    let (sin, cos) = 20_f64.to_radians().sin_cos();
    let g = 9.81;
    let gravity = format!("gravity_m_s2=[{},{},0]", g * sin, -g * cos);
    // A spacing above the floor, where contacts keep bodies in a fluid.
    let ball = "shape={sphere={centre_m=[-1,0.15,0],radius_m=0.1}}";
    let cube = "shape={box={centre_m=[-1,0.1,0],size_m=[0.2,0.1,0.2]}}";
    for (body, friction, expected) in [
        (ball, 0.5, 5.0 / 7.0 * g * sin),
        // Below 2/7 tan θ a ball slides.
        (ball, 0.05, g * (sin - 0.05 * cos)),
        (cube, 0.2, g * (sin - 0.2 * cos)),
        (cube, 0.5, 0.0),
    ] {
        let mut simulation = dry(&[&slope(body, friction), &gravity]);
        simulation.advance(500);
        let state = states(&simulation)[0];
        // Of a start with half a step of acceleration without contacts.
        let late_m_s = 2.0 * g * 1e-3;
        let speed = f64::from(state.velocity_m_s[0]);
        assert!(
            (speed - 0.5 * expected).abs() < 1e-3 * 0.5 * expected + late_m_s,
            "{body} with friction {friction}: {speed} m/s, not {}",
            0.5 * expected
        );
        assert!(state.offset_m[1].abs() < 1e-4, "off the slope by {} m", state.offset_m[1]);
        assert_no_validation_messages(&simulation.device);
    }
}

/// A ball rebounds with its coefficient of restitution, and two balls exchange their velocities.
#[test]
fn balls_rebound() {
    let bodies = "bodies=[\
        {name='falls',shape={sphere={centre_m=[0,0.65,0],radius_m=0.1}},\
         motion={dynamic={density_kg_m3=1000,restitution=0.8}}},\
        {name='hits',shape={sphere={centre_m=[-1,2.5,0.3],radius_m=0.1}},\
         motion={dynamic={density_kg_m3=1000,restitution=1,friction=0,velocity_m_s=[2,0,0]}}},\
        {name='is_hit',shape={sphere={centre_m=[-0.7,2.5,0.3],radius_m=0.1}},\
         motion={dynamic={density_kg_m3=1000,restitution=1,friction=0}}}]";
    let mut simulation = dry(&[bodies]);
    // 0.5 m above where it touches the floor: it lands after 0.3193 s at 3.132 m/s.
    simulation.advance(330);
    let [falls, hits, is_hit]: [RigidState; 3] = states(&simulation).try_into().unwrap();
    let expected = 0.8 * 3.132 - 9.81 * (0.330 - 0.3193);
    // Of the time between steps at which it lands.
    assert!((f64::from(falls.velocity_m_s[1]) - expected).abs() < 2.0 * 9.81e-3 * 1.8, "{falls:?}");
    assert!(hits.velocity_m_s[0].abs() < 1e-3 && (is_hit.velocity_m_s[0] - 2.0).abs() < 1e-3);
    assert_no_validation_messages(&simulation.device);
}

/// A stack of ten boxes comes to rest: none moves by a thousandth of its side.
#[test]
fn a_stack_of_ten_boxes_stands() {
    let boxes: Vec<String> = (0..10)
        .map(|k| {
            format!(
                "{{name='b{k}',shape={{box={{centre_m=[0,{},0],size_m=[0.1,0.1,0.1]}}}},\
                 motion={{dynamic={{density_kg_m3=1000}}}}}}",
                0.1 + 0.15 * f64::from(k)
            )
        })
        .collect();
    let mut simulation = dry(&[&format!("bodies=[{}]", boxes.join(","))]);
    for _ in 0..if is_full_run() { 50 } else { 3 } {
        simulation.advance(200);
        for (k, state) in states(&simulation).iter().enumerate() {
            let moved_m = wide(state.offset_m).length();
            assert!(moved_m < 1e-4, "box {k} moved by {moved_m} m at step {}", simulation.step);
        }
    }
    assert_no_validation_messages(&simulation.device);
}

/// Bodies that cross rest on each other although no corner of one is on the other: a beam on a wall and on
/// another beam, a capsule and a log on rails, a board on the edge of a roof.
#[test]
fn crossed_bodies_rest_on_each_other() {
    let fixed = |shape: &str| format!("{{shape={{{shape}}}}}");
    let dynamic = |name: &str, shape: &str| {
        let motion = "motion={dynamic={density_kg_m3=600,contact_gap_m=0}}";
        format!("{{name='{name}',shape={{{shape}}},{motion}}}")
    };
    let bodies = [
        fixed("box={centre_m=[0,0.15,0],size_m=[0.03,0.3,0.2]}"),
        dynamic("on_wall", "box={centre_m=[0,0.325,0],size_m=[0.5,0.05,0.05]}"),
        dynamic("below", "box={centre_m=[-1,0.025,0],size_m=[0.5,0.05,0.05]}"),
        dynamic("above", "box={centre_m=[-1,0.075,0],size_m=[0.05,0.05,0.5],rotation_deg=[0,20,0]}"),
        fixed("box={centre_m=[1,0.1,0.1],size_m=[0.6,0.2,0.02]}"),
        fixed("box={centre_m=[1,0.1,-0.1],size_m=[0.6,0.2,0.02]}"),
        dynamic("log", "cylinder={from_m=[1,0.25,-0.2],to_m=[1,0.25,0.2],radius_m=0.05}"),
        dynamic("pole", "capsule={from_m=[1.2,0.23,-0.2],to_m=[1.2,0.23,0.2],radius_m=0.03}"),
        fixed("box={centre_m=[0,0.1,0.7],size_m=[0.2,0.2,0.1],rotation_deg=[0,0,45]}"),
        dynamic("board", "box={centre_m=[0,0.2514213562,0.7],size_m=[0.4,0.02,0.05]}"),
    ];
    let mut simulation = dry(&[&format!("bodies=[{}]", bodies.join(","))]);
    simulation.advance(300);
    for (k, body) in twins(&simulation).iter().enumerate() {
        // The rounded corners of a prism that touches with its edge are 0.2 mm lower.
        let fall_m = body.offset_m.length();
        assert!(fall_m < 5e-4, "body {k} moved by {} m", body.offset_m);
        assert!(body.velocity_m_s.length() < 1e-3, "body {k} moves at {} m/s", body.velocity_m_s);
    }
    assert_no_validation_messages(&simulation.device);
}

/// Bodies slide, roll and rest alike wherever they are: a box on a plate that is a dynamic body itself, and a
/// ball on the slope of a body.
#[test]
fn bodies_touch_alike_300_m_from_the_origin() {
    let run = |at: f64| {
        let place = |x: f64, y: f64| format!("[{},{},{at}]", at + x, at + y);
        let near = [
            format!("domain.min_m=[{},{at},{}]", at - 2.0, at - 1.0),
            format!("domain.max_m=[{},{},{}]", at + 2.0, at + 3.0, at + 1.0),
            format!(
                "particles=[{{shape={{box={{min_m=[{},{at},{}],max_m=[{},{},{}]}}}}}}]",
                at + 1.8,
                at + 0.8,
                at + 2.0,
                at + 0.1,
                at + 1.0
            ),
            format!(
                "bodies=[\
                 {{name='plate',shape={{box={{centre_m={},size_m=[0.5,0.1,0.5]}}}},\
                 motion={{dynamic={{density_kg_m3=800,friction=0.3,velocity_m_s=[0.5,0,0]}}}}}},\
                 {{name='box',shape={{box={{centre_m={},size_m=[0.2,0.1,0.2]}}}},\
                 motion={{dynamic={{density_kg_m3=800,friction=0.3}}}}}},\
                 {{name='hill',shape={{box={{centre_m={},size_m=[1.5,0.1,1],rotation_deg=[0,0,-20]}}}}}},\
                 {{name='ball',shape={{sphere={{centre_m={},radius_m=0.1}}}},\
                 motion={{dynamic={{density_kg_m3=800}}}}}}]",
                place(0.5, 0.1),
                place(0.5, 0.25),
                place(-1.0, 0.5),
                place(-1.2, 0.8),
            ),
        ];
        let mut simulation = dry(&near.iter().map(String::as_str).collect::<Vec<_>>());
        let mut found = Vec::new();
        for _ in 0..4 {
            simulation.advance(100);
            found.extend(twins(&simulation));
        }
        assert_no_validation_messages(&simulation.device);
        found
    };
    let (here, there) = (run(0.0), run(300.0));
    for (near, far) in here.iter().zip(&there) {
        // Places at time 0 are rounded by 1.5e-5 m at 300 m, and with them gaps, and when a gap is closed: a
        // step earlier or later.
        let apart = [
            (near.offset_m - far.offset_m).length() / 1e-4,
            (near.velocity_m_s - far.velocity_m_s).length() / 1e-3,
            (near.rotation * far.rotation.inverse()).to_scaled_axis().length() / 1e-3,
        ];
        assert!(apart.iter().all(|x| *x < 1.0), "{apart:?} bounds apart: {near:?}, at 300 m {far:?}");
        println!("{apart:?}, vertically {} and {} m/s", near.velocity_m_s.y, far.velocity_m_s.y);
    }
    // The box rests on the plate.
    let at_rest = |bodies: &[RigidBody]| bodies[bodies.len() - 2].velocity_m_s.y.abs();
    assert!(at_rest(&here) < 1e-5 && at_rest(&there) < 1e-5, "{} {}", at_rest(&here), at_rest(&there));
}

/// A tank of water, 0.3 m × 0.3 m and 0.25 m deep, and a body above it.
fn tank(body: &str, dynamic: &str, overrides: &[&str]) -> Simulation {
    let body = format!("bodies=[{{name='it',shape={{{body}}},motion={{dynamic={{{dynamic}}}}}}}]");
    let own = [
        "domain.min_m=[-0.15,0,-0.15]",
        "domain.max_m=[0.15,0.6,0.15]",
        "domain.friction={}",
        "particles=[{shape={box={min_m=[-0.15,0,-0.15],max_m=[0.15,0.25,0.15]}}}]",
        "fluid.particle_spacing_m=0.025",
        "time.dt_s=0.0025",
        &body,
    ];
    Simulation::new("dam_break", &own.iter().chain(overrides).copied().collect::<Vec<_>>())
}

/// Bodies float where they displace their own mass (Archimedes).
#[test]
fn bodies_float_at_their_draft() {
    const AREA_M2: f64 = 0.09;
    // Depth of the centre of a ball of 0.1 m below the surface, over its radius, by the volume of a cap.
    let depth_of_ball = |share: f64| {
        let immersed = |depth: f64| (depth + 1.0).powi(2) * (2.0 - depth) / 4.0;
        let (mut low, mut high) = (-1.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if immersed(middle) < share { low = middle } else { high = middle }
        }
        low
    };
    let ball = "sphere={centre_m=[0,0.36,0],radius_m=0.1}";
    let raft = "box={centre_m=[0,0.31,0],size_m=[0.2,0.1,0.2]}";
    let all = [(ball, 500.0), (raft, 300.0), (ball, 300.0), (raft, 700.0)];
    let cases = &all[..if is_full_run() { 4 } else { 1 }];
    let spacing_m = if is_full_run() { 0.2 / 12.0 } else { 0.025 };
    for &(body, density) in cases {
        let share = density / 1000.0;
        let (volume_m3, centre_m, height_m) = match body == ball {
            true => (4.18879e-3, -0.1 * depth_of_ball(share), 0.2),
            false => (4e-3, 0.1 * (0.5 - share), 0.1),
        };
        let spacing = format!("fluid.particle_spacing_m={spacing_m}");
        // Viscosity damps the bobbing, and has no part in a body at rest.
        let damped = ["fluid.dynamic_viscosity_pa_s=5", &spacing];
        let mut simulation = tank(body, &format!("density_kg_m3={density}"), &damped);
        simulation.advance(300);
        let mut sum_m = 0.0;
        for _ in 0..10 {
            simulation.advance(10);
            sum_m += (twins(&simulation)[0].centre_m + twins(&simulation)[0].offset_m).y;
        }
        let surface_m = 0.25 + share * volume_m3 / AREA_M2;
        let (found_m, expected_m) = (sum_m / 10.0, surface_m + centre_m);
        // 2 % of the height at a twelfth of 0.2 m between particles, in proportion.
        let bound_m = 0.02 * 0.2 * (spacing_m / (0.2 / 12.0)) * (height_m / 0.2_f64).max(1.0);
        assert!(
            (found_m - expected_m).abs() < bound_m,
            "{body} of {density} kg/m³: its centre is at {found_m} m, not {expected_m} m"
        );
        assert_no_validation_messages(&simulation.device);
    }
}

/// Bodies of a twentieth and twenty times the density of water neither jitter nor blow up.
#[test]
fn light_and_heavy_bodies_are_stable() {
    for density in [50, 20_000] {
        let mut simulation =
            tank("sphere={centre_m=[0,0.37,0],radius_m=0.1}", &format!("density_kg_m3={density}"), &[]);
        let mut fastest: f64 = 0.0;
        for _ in 0..if is_full_run() { 10 } else { 5 } {
            let metrics = simulation.advance(20);
            assert_eq!((metrics.n_not_finite, metrics.n_outside), (0, 0), "{density} kg/m³");
            fastest = fastest.max(wide(states(&simulation)[0].velocity_m_s).length());
        }
        // A fall through the whole tank.
        assert!(fastest < (2.0 * 9.81 * 0.5_f64).sqrt(), "{density} kg/m³: {fastest} m/s");
        if density == 50 {
            let speed = wide(states(&simulation)[0].velocity_m_s).length();
            assert!(speed < 0.3, "a light ball bobs at {speed} m/s at the end");
        }
        assert_no_validation_messages(&simulation.device);
    }
}

/// A light body that is released under water accelerates with the water around it, whose added mass exceeds
/// its own ten times: without the share that a step repeats its velocity alternates and grows.
#[test]
fn a_light_body_under_water_rises_with_the_water_around_it() {
    let block = |min: &str, max: &str| format!("{{shape={{box={{min_m={min},max_m={max}}}}}}}");
    // Around a cube of 0.1 m, from which it is half a spacing.
    let blocks = [
        block("[-0.15,0,-0.15]", "[0.15,0.1,0.15]"),
        block("[-0.15,0.1,-0.15]", "[-0.05,0.2,0.15]"),
        block("[0.05,0.1,-0.15]", "[0.15,0.2,0.15]"),
        block("[-0.05,0.1,-0.15]", "[0.05,0.2,-0.05]"),
        block("[-0.05,0.1,0.05]", "[0.05,0.2,0.15]"),
        block("[-0.15,0.2,-0.15]", "[0.15,0.3,0.15]"),
    ];
    let particles = format!("particles=[{}]", blocks.join(","));
    let cube = "box={centre_m=[0,0.15,0],size_m=[0.1,0.1,0.1]}";
    let mut simulation = tank(cube, "density_kg_m3=50", &[&particles, "fluid.particle_spacing_m=0.02"]);
    // The first steps close what the blocks leave open, and drag begins after 25 ms.
    let mut speed_after = |steps: u64| {
        simulation.advance(steps);
        f64::from(states(&simulation)[0].velocity_m_s[1])
    };
    let (first, last) = (speed_after(3), speed_after(6));
    let found = (last - first) / (6.0 * 0.0025);
    // (ρ_w − ρ_b) g/(ρ_b + C ρ_w), with C = 0.67 of a cube in an unbounded fluid, to which walls add.
    let expected = 950.0 * 9.81 / (50.0 + 670.0);
    assert!((0.8 * expected..1.1 * expected).contains(&found), "{found} m/s², not {expected} m/s²");
    assert_no_validation_messages(&simulation.device);
}

/// Steps of changing lengths, in which the share of the last momentum that a step repeats is that of its own.
#[test]
fn bodies_move_like_their_twins_in_substeps_of_changing_numbers() {
    let body = "bodies=[{name='it',shape={box={centre_m=[0,2.5,0],size_m=[0.1,0.2,0.3]}},\
        motion={dynamic={density_kg_m3=100,angular_velocity_rad_s=[0.3,5,0.1]}}}]";
    let mut simulation = dry(&[body]);
    let gravity_m_s2 = wide(simulation.scene.gravity_m_s2().map(|g| g as f32));
    for n in [1, 4, 4, 2, 7, 1, 1, 3, 16, 1] {
        let divided = simulation.scene.with_substeps(n);
        let device = simulation.device.clone();
        simulation.fluid.set_scene(&device, &divided).unwrap();
        let mut twin = twins(&simulation)[0];
        simulation.advance(1);
        let load = simulation.body_loads().remove(0);
        let [force, torque] = [load.force_n, load.torque_n_m].map(DVec3::from_array);
        twin.move_bodies(divided.dt_s(), gravity_m_s2, force, torque);
        let found = twins(&simulation)[0];
        let apart = [
            (found.velocity_m_s - twin.velocity_m_s).length() / 1e-6,
            (found.offset_m - twin.offset_m).length() / 1e-7,
            (found.gained[0] - twin.gained[0]).length() / (1e-6 * twin.gained[0].length()),
            (found.angular_momentum_kg_m2_s - twin.angular_momentum_kg_m2_s).length()
                / (1e-6 * twin.angular_momentum_kg_m2_s.length()),
        ];
        assert!(apart.iter().all(|x| *x < 1.0), "{n} substeps: {apart:?} bounds apart, {twin:?}");
    }
    assert_no_validation_messages(&simulation.device);
}

/// Momentum and angular momentum of water and a body that it hits stay together, without gravity, also where
/// lengths of steps change.
#[test]
fn water_and_a_body_exchange_momentum() {
    for numbers in [&[1][..], &[1, 3, 1, 2, 4]] {
        assert_momentum_is_exchanged(numbers);
    }
}

/// Asserts it for steps that have these numbers of substeps in turn, ten each.
fn assert_momentum_is_exchanged(numbers: &[u32]) {
    let body = "bodies=[{name='it',shape={box={centre_m=[0.3,0.3,0.3],size_m=[0.06,0.1,0.1],\
        rotation_deg=[0,0,20]}},motion={dynamic={density_kg_m3=400}}}]";
    let mut simulation = Simulation::new(
        "dam_break",
        &[
            // The splash stays between the walls.
            "domain.min_m=[0,-0.1,0]",
            "domain.max_m=[0.6,0.6,0.6]",
            "domain.friction={}",
            "gravity_m_s2=[0,0,0]",
            "fluid.particle_spacing_m=0.01",
            "particles=[{shape={sphere={centre_m=[0.2,0.31,0.3],radius_m=0.04}},velocity_m_s=[1,0,0]}]",
            body,
        ],
    );
    let mass_kg = simulation.scene.particle_mass_kg();
    let total = |simulation: &Simulation| {
        let body = twins(simulation)[0];
        // Includes the share of the momentum that the next steps repeat.
        let pending = body.repeated.map(|share| share / (1.0 - share));
        let place = body.centre_m + body.offset_m;
        let own = body.mass_kg * body.velocity_m_s + pending[0] * body.gained[0];
        let turning = body.angular_momentum_kg_m2_s + pending[1] * body.gained[1];
        let (x, v) = (simulation.positions(), simulation.velocities());
        let pairs = || x.iter().zip(&v).map(|(x, v)| (wide(*x), mass_kg * wide(*v)));
        let momentum: DVec3 = pairs().map(|(_, p)| p).sum();
        let angular: DVec3 = pairs().map(|(x, p)| (x - place).cross(p)).sum();
        (momentum + own, angular + turning, place, body)
    };
    let (momentum, angular, place, _) = total(&simulation);
    let device = simulation.device.clone();
    for turn in 0..25 {
        let n = numbers[turn % numbers.len()];
        let divided = simulation.scene.with_substeps(n);
        simulation.fluid.set_scene(&device, &divided).unwrap();
        simulation.advance(10 * u64::from(n));
    }
    let (now, turning, at, body) = total(&simulation);
    assert!(body.velocity_m_s.x > 0.1 && body.angular_momentum_kg_m2_s.length() > 1e-4, "{body:?}");
    let size = momentum.length();
    assert!((now - momentum).length() < 1e-4 * size, "{now} N s, not {momentum}");
    // About the same point.
    let turning = turning + (at - place).cross(now);
    assert!((turning - angular).length() < 2e-3 * size * 0.1, "{turning} N m s, not {angular}");
    assert_no_validation_messages(&simulation.device);
}

/// A run that is resumed has the bits of one that was not.
#[test]
fn resumed_bodies_have_the_bits_of_whole_ones() {
    let mut simulation = Simulation::new("driftwood", &["scale=0.4", "time.dt_s=0.002"]);
    simulation.advance(60);
    let n = simulation.len();
    let mut state = Vec::new();
    for column in simulation.fluid.state_columns() {
        let len = if column.is_of_particles { n * column.kind.words() as usize } else { column.words.len() };
        let words = simulation.device.download(&column.words, len).unwrap();
        state.push(StateColumn { name: column.name.to_string(), words });
    }
    let scene = simulation.scene.clone();
    let fluid = Fluid::restore(&simulation.device, &scene, &state, 60, Default::default()).unwrap();
    let device = simulation.device.clone();
    let mut resumed = Simulation { device, scene, fluid, step: 60, replay: Default::default() };
    for simulation in [&mut simulation, &mut resumed] {
        simulation.advance(40);
    }
    assert!(!contacts(&simulation).is_empty(), "nothing touches");
    // At this size surfaces cannot stay a spacing apart: the log is longer than the tank is wide.
    let in_tank = |state: &RigidState| wide(state.offset_m).length() < 0.4;
    assert!(states(&simulation).iter().all(in_tank), "{:?}", states(&simulation));
    for name in ["dynamic bodies", "contacts of points", "contacts of dynamic bodies", "body loads"] {
        assert_eq!(column(&resumed, name), column(&simulation, name), "{name}");
    }
    for name in ["id", "position", "velocity"] {
        assert_eq!(resumed.words(name), simulation.words(name), "{name}");
    }
    assert_no_validation_messages(&simulation.device);
}

/// A simulation of any solver, and its metrics by name.
struct AnySolver {
    device: Device,
    scene: Scene,
    solver: Box<dyn Solver>,
}

impl AnySolver {
    fn new(scene: &str, overrides: &[&str]) -> Self {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let (device, scene) = (device(), Scene::find(scene, &overrides).unwrap());
        let sampled = scene.sample().unwrap();
        let start = SolverStart::Sampled(&sampled);
        let solver = factory_of(&scene).unwrap().create(&device, &scene, start, Tuning::default()).unwrap();
        Self { device, scene, solver }
    }

    fn advance(&mut self, steps: u64) {
        for _ in 0..steps.div_ceil(32) {
            let mut recorder = self.device.recorder().unwrap();
            for _ in 0..32 {
                self.solver.record_step(&mut recorder);
            }
            self.device.submit(recorder).unwrap().wait().unwrap();
        }
        assert_no_validation_messages(&self.device);
    }

    /// Returns three metrics whose names begin alike.
    fn vector(&mut self, name: &str) -> DVec3 {
        let mut recorder = self.device.recorder().unwrap();
        let pending = self.solver.record_metrics(&mut recorder).unwrap();
        self.device.submit(recorder).unwrap();
        let (metrics, values) = (self.solver.metrics(), pending.wait().unwrap().values);
        let of = |axis: &str| {
            let name = format!("{name}_{axis}");
            values[metrics.iter().position(|metric| metric.name == name).unwrap()]
        };
        DVec3::new(of("x"), of("y"), of("z"))
    }
}

/// Grains and snow of the material point method get back from a body that they hit what they give it.
#[test]
fn grains_and_snow_exchange_momentum_with_a_body() {
    let plate = |centre: &str, size: &str, more: &str| {
        format!("bodies=[{{name='it',shape={{box={{centre_m={centre},size_m={size}}}}},{more}}}]")
    };
    let grains = plate("[0.6,0.3,0.4]", "[0.05,0.3,0.3]", "motion={dynamic={mass_kg=0.5}}");
    let snow = plate("[0.75,0.5,0.45]", "[0.06,0.4,0.4]", "motion={dynamic={mass_kg=0.5}}");
    let cases = [
        (
            "column_collapse",
            [
                "domain={min_m=[0,0,0],max_m=[1,0.6,0.8]}",
                "particles=[{shape={box={min_m=[0.45,0.27,0.37],max_m=[0.56,0.33,0.43]}},\
                 velocity_m_s=[2,0,0]}]",
                &grains,
            ],
            [0.06, 1.0],
        ),
        (
            "snowballs_3d",
            [
                "scale=1",
                "particles=[{shape={sphere={centre_m=[0.6,0.5,0.45],radius_m=0.06}},velocity_m_s=[4,0,0]}]",
                &snow,
            ],
            [0.05, 1.0],
        ),
    ];
    for (name, overrides, [seconds, least_share]) in cases {
        let free = [&["gravity_m_s2=[0,0,0]"][..], &overrides].concat();
        let mut simulation = AnySolver::new(name, &free);
        let start = simulation.vector("momentum");
        simulation.advance((seconds / simulation.scene.dt_s()) as u64);
        let (particles, velocity) = (simulation.vector("momentum"), simulation.vector("velocity_of_it"));
        let impulse = simulation.vector("impulse_on_it");
        let mass_kg = simulation.scene.bodies.last().unwrap().mass().unwrap().mass_kg;
        assert!(velocity.x > 0.05 * least_share, "{name}: the body moves at {velocity} m/s");
        let lost = start - particles;
        assert!(
            (impulse - lost).length() < 1e-3 * start.length(),
            "{name}: the body got {impulse} N s, the particles lost {lost}"
        );
        // The next steps repeat a share of the last momentum: of snow some steps of the load at the end.
        let late = if name == "column_collapse" { 1e-4 } else { 0.03 };
        let gained = mass_kg * velocity;
        assert!(
            (gained - impulse).length() < late * start.length(),
            "{name}: the body has {gained} N s and got {impulse}"
        );
    }
}
