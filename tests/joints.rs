//! Joints of dynamic bodies against their twins and against mechanics.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::joints::prepare_joint;
use frazil_reference::rigid::{RigidBody, solve_body_constraints};
use frazil_solvers::pbd::Fluid;
use frazil_solvers::{Solver as _, StateColumn};
use frazil_testkit::{assert_no_validation_messages, is_full_run};
use frazil_tests::Simulation;
use frazil_tests::rigid::{
    column, contacts, dry, joint_states, metric, points, quaternion, states, twin_joints, twins, wide,
};
use glam::DVec3;
use std::f64::consts::TAU;

const G: f64 = 9.81;

/// A rod of 0.4 m along x from the place (0, 1.5, 0), its mass 2 kg.
const ROD: &str = "{name='rod',shape={box={centre_m=[0.2,1.5,0],size_m=[0.4,0.04,0.06]}},\
    motion={dynamic={mass_kg=2}}}";

/// Returns the moment of inertia of the rod about its end in kg m².
fn moment_of_rod() -> f64 {
    2.0 * ((0.4_f64.powi(2) + 0.04_f64.powi(2)) / 12.0 + 0.04)
}

fn scene(bodies: &str, joints: &str, overrides: &[&str]) -> Simulation {
    let (bodies, joints) = (format!("bodies=[{bodies}]"), format!("joints=[{joints}]"));
    // A particle and few cells.
    let few =
        ["fluid.particle_spacing_m=0.2", "particles=[{shape={box={min_m=[1.8,0,0.8],max_m=[2,0.2,1]}}}]"];
    dry(&[&few, overrides, &[&bodies, &joints]].concat())
}

/// Bodies with joints of each kind: motors at their speed and at their limit, springs, a partner at rest, and
/// a weld that breaks.
fn each_kind() -> Simulation {
    let dynamic = |name: &str, shape: &str, more: &str| {
        format!("{{name='{name}',shape={{{shape}}},motion={{dynamic={{contact_gap_m=0,{more}}}}}}}")
    };
    let bodies = [
        dynamic(
            "crank",
            "box={centre_m=[0.2,1.5,0],size_m=[0.4,0.04,0.06],rotation_deg=[0,0,20]}",
            "mass_kg=2",
        ),
        dynamic("link", "capsule={from_m=[0.42,1.5,0],to_m=[0.7,1.6,0.1],radius_m=0.03}", "mass_kg=1"),
        dynamic("bob", "sphere={centre_m=[0.75,1.6,0.1],radius_m=0.06}", "mass_kg=3,velocity_m_s=[0,0,1]"),
        dynamic("lift", "box={centre_m=[-0.8,0.6,0],size_m=[0.2,0.1,0.3]}", "mass_kg=4"),
        dynamic("hung", "cylinder={from_m=[-0.9,0.4,0],to_m=[-0.7,0.4,0],radius_m=0.05}", "mass_kg=1"),
        dynamic(
            "puck",
            "cylinder={from_m=[-1.5,1,0],to_m=[-1.5,1.1,0],radius_m=0.1}",
            "mass_kg=1,velocity_m_s=[0.3,0,0.2],angular_velocity_rad_s=[1,4,0]",
        ),
        dynamic("sign", "box={centre_m=[1.2,2,0],size_m=[0.3,0.2,0.02]}", "mass_kg=1"),
        dynamic("wheel", "cylinder={from_m=[1.2,1,0.1],to_m=[1.2,1,0.2],radius_m=0.2}", "mass_kg=2"),
        "{name='post',shape={box={centre_m=[1.2,1,0.3],size_m=[0.1,1,0.1]}}}".to_owned(),
    ];
    let joints = [
        "{name='axle',body='crank',kind={hinge={point_m=[0,1.43,0],axis=[0,0.2,2],\
         motor={speed_rad_s=3,torque_n_m=2}}}}",
        "{name='knee',body='link',to='crank',kind={ball={point_m=[0.4,1.55,0]}}}",
        "{body='bob',to='link',kind={fixed={point_m=[0.7,1.6,0.1]}}}",
        "{name='guide',body='lift',kind={slider={point_m=[-0.8,0.6,0],axis=[0.3,1,0],\
         motor={speed_m_s=0.2,force_n=200}}}}",
        "{name='string',body='hung',to='lift',kind={spring={from_m=[-0.75,0.45,0],to_m=[-0.75,0.55,0.1],\
         stiffness_n_m=2000,damping_n_s_m=3}}}",
        "{body='puck',kind={planar={normal=[0.1,1,0]}}}",
        "{name='nail',body='sign',kind={fixed={point_m=[1,2,0]}},breaks_at_n=8}",
        "{body='wheel',to='post',kind={hinge={point_m=[1.2,1,0.2],axis=[0,0,1],\
         motor={speed_rad_s=0,torque_n_m=0.5}}}}",
        "{body='wheel',kind={spring={from_m=[1.2,1.2,0.15],to_m=[0.9,1.4,0.15],stiffness_n_m=500,\
         length_m=0.1}}}",
    ];
    scene(&bodies.join(","), &joints.join(","), &[])
}

/// Each step of bodies with joints, from the device's state, agrees with the twins.
#[test]
fn joints_of_each_kind_agree_with_their_twins() {
    let mut simulation = each_kind();
    let (dt_s, gravity_m_s2) =
        (simulation.scene.dt_s(), wide(simulation.scene.gravity_m_s2().map(|g| g as f32)));
    let joints = twin_joints(&simulation);
    let share = 1.0 - (-100.0 * dt_s).exp();
    let converged = (500, 1e-3 * dt_s * gravity_m_s2.length());
    let mut n_broken = 0;
    let (n, apart) = if is_full_run() { (100, 5) } else { (16, 25) };
    for _ in 0..n {
        simulation.advance(apart);
        let mut bodies = twins(&simulation);
        let (before, rows_before) = joint_states(&simulation);
        simulation.advance(1);
        assert!(contacts(&simulation).is_empty(), "bodies of a joint touch");
        for (body, load) in bodies.iter_mut().zip(simulation.body_loads()) {
            let [force, torque] = [load.force_n, load.torque_n_m].map(DVec3::from_array);
            body.move_bodies(dt_s, gravity_m_s2, force, torque);
        }
        let (states_now, rows_now) = joint_states(&simulation);
        let mut rows = Vec::new();
        for ((k, (joint, own)), before) in joints.iter().enumerate().zip(before) {
            let was = (before, &rows_before[own.clone()]);
            let (state, prepared) = prepare_joint(&bodies, joint, was, (dt_s, share));
            let found = states_now[k];
            assert_eq!(found.is_broken, state.is_broken, "joint {k} at step {}", simulation.step);
            let difference = (found.displacement_m - state.displacement_m).abs()
                + (found.angle_rad - state.angle_rad).abs();
            assert!(difference < 1e-5, "joint {k}: {found:?}, not {state:?}");
            n_broken += usize::from(state.is_broken);
            for (found, row) in rows_now[own.clone()].iter().zip(&prepared) {
                assert!(
                    (found.direction - row.direction).length() < 1e-5,
                    "joint {k}: {found:?}, not {row:?}"
                );
                // Lengths of a spring are rounded by some 1e-7 m, which it has a step to follow.
                let rounding = if joint.spring.is_some() { 1e-3 } else { 1e-4 };
                let scale = if joint.spring.is_some() { row.wanted.abs().max(1.0) } else { 1.0 };
                assert!(
                    (found.wanted - row.wanted).abs() < rounding * scale,
                    "joint {k}: {found:?}, not {row:?}"
                );
            }
            rows.extend(prepared);
        }
        solve_body_constraints(&mut bodies, &mut rows, &mut [], converged, share);
        for (twin, state) in bodies.iter().zip(states(&simulation)) {
            let apart = [
                (wide(state.offset_m) - wide(state.offset_rest_m) - twin.offset_m).length() / 1e-6,
                (quaternion(state.rotation) * twin.rotation.inverse()).to_scaled_axis().length() / 1e-5,
                (wide(state.velocity_m_s) - twin.velocity_m_s).length() / 5e-5,
                (wide(state.angular_momentum_kg_m2_s) - twin.angular_momentum_kg_m2_s).length()
                    / (5e-5 * twin.mass_kg * 0.1),
            ];
            assert!(
                apart.iter().all(|x| *x < 1.0),
                "step {}: {apart:?} bounds apart, {twin:?}",
                simulation.step
            );
        }
    }
    println!("{n_broken} samples of broken joints");
    assert!(n_broken > 3, "nothing broke");
    assert_no_validation_messages(&simulation.device);
}

/// Blocks that are welded together do not touch each other, nor what a joint of one of them holds, until the
/// weld breaks; others touch them.
#[test]
fn bodies_that_joints_hold_together_do_not_touch() {
    let block = |name: &str, x: f64, y: f64| {
        format!(
            "{{name='{name}',shape={{box={{centre_m=[{x},{y},0],size_m=[0.2,0.2,0.2]}}}},\
             motion={{dynamic={{density_kg_m3=700,contact_gap_m=0.05}}}}}}"
        )
    };
    // An L of three blocks, a fourth in its corner on a hinge with one of them, and a free one above.
    let bodies = [
        block("a", 0.0, 0.15),
        block("b", 0.2, 0.15),
        block("c", 0.0, 0.35),
        block("d", 0.2, 0.35),
        block("e", -0.02, 0.6),
    ];
    let joints = "{body='b',to='a',kind={fixed={point_m=[0.1,0.15,0]}}},\
        {body='c',to='a',kind={fixed={point_m=[0,0.25,0]}},breaks_at_n=1e4},\
        {body='d',to='c',kind={hinge={point_m=[0.1,0.35,0],axis=[0,0,1]}}},\
        {body='e',to='c',kind={spring={from_m=[0,0.6,0],to_m=[0,0.35,0],stiffness_n_m=1}}}";
    let mut simulation = scene(&bodies.join(","), joints, &[]);
    simulation.advance(100);
    let groups: Vec<u32> = states(&simulation).iter().map(|state| state.group).collect();
    assert_eq!(groups, [1, 1, 1, 4, 5]);
    let owners = points(&simulation);
    let mut touching = std::collections::BTreeSet::new();
    for (p, contact) in contacts(&simulation) {
        touching.insert((owners[p].owner, contact.surface));
    }
    // The floor is surface 1, and bodies are numbered from 6 on: the free block rests on c, a and b on the
    // floor.
    let expected = [(0, 1), (1, 1), (2, 10), (4, 8)].into_iter().collect();
    assert_eq!(touching, expected);
    assert_no_validation_messages(&simulation.device);
}

/// Returns the times in s at which a value passes 0 upwards, between samples of a run.
fn crossings(simulation: &mut Simulation, duration_s: f64, value: impl Fn(&Simulation) -> f64) -> Vec<f64> {
    let every = 5;
    let (mut times, mut before) = (Vec::new(), value(simulation));
    while simulation.time_s() < duration_s {
        simulation.advance(every);
        let now = value(simulation);
        if before < 0.0 && now >= 0.0 {
            let sample_s = every as f64 * simulation.scene.dt_s();
            times.push(simulation.time_s() - sample_s * now / (now - before));
        }
        before = now;
    }
    times
}

/// Complete elliptic integral K of the modulus k by the arithmetic–geometric mean.
fn elliptic_k(k: f64) -> f64 {
    let (mut a, mut g) = (1.0, (1.0 - k * k).sqrt());
    while (a - g).abs() > 1e-15 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

fn energy_j(bodies: &[RigidBody]) -> f64 {
    bodies.iter().map(|b| b.kinetic_energy_j() + b.mass_kg * G * (b.centre_m + b.offset_m).y).sum()
}

/// A rod on a hinge swings by 90° to each side with the period of theory, at any step, and keeps its
/// amplitude.
#[test]
fn a_rod_on_a_hinge_swings_with_its_period() {
    let expected = 4.0 * (moment_of_rod() / (2.0 * G * 0.2)).sqrt() * elliptic_k((TAU / 8.0).sin());
    let mut errors = Vec::new();
    for dt in ["time.dt_s=0.002", "time.dt_s=0.001"] {
        let mut simulation = scene(ROD, "{body='rod',kind={hinge={point_m=[0,1.5,0],axis=[0,0,1]}}}", &[dt]);
        let from_below = |s: &Simulation| f64::from(states(s)[0].offset_m[0]) + 0.2;
        let duration_s = if is_full_run() { 40.0 } else { 5.0 };
        let times = crossings(&mut simulation, duration_s, from_below);
        let found = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
        errors.push(found / expected - 1.0);
        let body = twins(&simulation)[0];
        let end = body.centre_m + body.offset_m - body.rotation * (0.2 * DVec3::X);
        assert!((end - 1.5 * DVec3::Y).length() < 2e-6, "{dt}: the hinge is at {end}");
        // Of velocities half a step from the places.
        let kept = (energy_j(&[body]) - 2.0 * G * 1.5) / (2.0 * G * 0.2);
        assert!(kept.abs() < 5e-3, "{dt}: energy changed by {kept} of that of the swing");
        assert_no_validation_messages(&simulation.device);
    }
    println!("periods wrong by {errors:?}");
    assert!(errors[0].abs() < 1e-3 && errors[1].abs() < 5e-4, "periods wrong by {errors:?}");
}

/// Two rods on ball joints, a chaotic double pendulum, keep their energy and their lengths.
#[test]
fn a_double_pendulum_keeps_its_energy() {
    let bodies = format!(
        "{ROD},{{name='second',shape={{box={{centre_m=[0.6,1.5,0],size_m=[0.4,0.04,0.06]}}}},\
         motion={{dynamic={{mass_kg=1}}}}}}"
    );
    let joints = "{body='rod',kind={ball={point_m=[0,1.5,0]}}},\
        {body='second',to='rod',kind={ball={point_m=[0.4,1.5,0]}}}";
    let mut simulation = scene(&bodies, joints, &[]);
    let start = energy_j(&twins(&simulation));
    let mut worst: f64 = 0.0;
    for _ in 0..if is_full_run() { 200 } else { 20 } {
        simulation.advance(100);
        let all = twins(&simulation);
        // Velocities are half a step later than the places: g Δt/2 v of each.
        let late: f64 = all.iter().map(|b| 0.5e-3 * b.mass_kg * G * b.velocity_m_s.length()).sum();
        let off = (energy_j(&all) - start).abs() - 2.0 * late;
        worst = worst.max(off / (3.0 * G * 0.4));
        let ends = [(0, 0.2), (1, -0.2)].map(|(k, along): (usize, f64)| {
            all[k].centre_m + all[k].offset_m + all[k].rotation * (along * DVec3::X)
        });
        assert!(
            (ends[0] - ends[1]).length() < 5e-6,
            "the joint opened by {} m",
            (ends[0] - ends[1]).length()
        );
    }
    assert!(worst < 5e-3, "energy changed by {worst} of that of the fall");
    assert_no_validation_messages(&simulation.device);
}

/// A box on a slider accelerates at g sin θ, and the slider bears m g cos θ; turned and far away as well.
#[test]
fn a_box_slides_along_its_axis() {
    let (sin, cos) = 30_f64.to_radians().sin_cos();
    for (at, axis, across) in
        [(0.0, [cos, -sin, 0.0], [sin, cos, 0.0]), (300.0, [0.0, -sin, cos], [0.0, cos, sin])]
    {
        let place = |x: f64, y: f64, z: f64| format!("[{},{},{}]", at + x, at + y, at + z);
        let domain = [
            format!("domain.min_m={}", place(-2.0, 0.0, -2.0)),
            format!("domain.max_m={}", place(2.0, 3.0, 2.0)),
            format!(
                "particles=[{{shape={{box={{min_m={},max_m={}}}}}}}]",
                place(1.8, 0.0, 1.8),
                place(2.0, 0.2, 2.0)
            ),
        ];
        let body = format!(
            "{{name='it',shape={{box={{centre_m={},size_m=[0.1,0.2,0.3],rotation_deg=[10,20,30]}}}},\
             motion={{dynamic={{mass_kg=2}}}}}}",
            place(0.0, 2.0, 0.0)
        );
        // The rail does not pass through the centre.
        let joint = format!(
            "{{name='rail',body='it',kind={{slider={{point_m={},axis={axis:?}}}}}}}",
            place(0.1, 2.1, 0.05)
        );
        let overrides: Vec<&str> = domain.iter().map(String::as_str).collect();
        let mut simulation = scene(&body, &joint, &overrides);
        simulation.advance(400);
        let body = twins(&simulation)[0];
        let (axis, across) = (DVec3::from_array(axis), DVec3::from_array(across));
        let expected = G * sin * 0.4;
        // The first half of a step is a free fall.
        let found = body.velocity_m_s.dot(axis);
        assert!((found - expected).abs() < 2e-3 * expected, "{found} m/s, not {expected} m/s");
        assert!((body.velocity_m_s - found * axis).length() < 1e-4, "{} m/s across", body.velocity_m_s);
        assert!(body.rotation.to_scaled_axis().length() < 1e-5, "turned by {:?}", body.rotation);
        let force =
            DVec3::from_array(["x", "y", "z"].map(|a| metric(&simulation, &format!("force_of_rail_{a}"))));
        let apart = (force - 2.0 * G * cos * across).length();
        assert!(apart < 2e-3 * 2.0 * G, "the rail exerts {force} N");
        let moved = metric(&simulation, "displacement_of_rail");
        assert!((moved - body.offset_m.dot(axis)).abs() < 1e-5, "{moved} m");
        assert_no_validation_messages(&simulation.device);
    }
}

/// A weight on a spring oscillates with the period 2π √(m/k), decays at c/(2 m), and hangs at m g/k; springs
/// far too stiff for the step hold it, too.
#[test]
fn a_weight_hangs_on_its_spring() {
    let body = "{name='it',shape={sphere={centre_m=[0,1,0],radius_m=0.1}},motion={dynamic={mass_kg=2}}}";
    let joint = |k: f64, c: f64| {
        format!(
            "{{name='spring',body='it',kind={{spring={{from_m=[0,1.1,0],to_m=[0,1.6,0],stiffness_n_m={k:?},\
             damping_n_s_m={c:?}}}}}}}"
        )
    };
    let (k, c) = (800.0, 2.0);
    let mut simulation = scene(body, &joint(k, c), &[]);
    let from_rest = |s: &Simulation| f64::from(states(s)[0].offset_m[1]) + 2.0 * G / k;
    let times = crossings(&mut simulation, 2.0, from_rest);
    let found = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    let rate = c / 4.0;
    let expected = TAU / (k / 2.0 - rate * rate).sqrt();
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} s, not {expected} s");
    // Amplitude by energy.
    let speed = |s: &Simulation| f64::from(states(s)[0].velocity_m_s[1]);
    let amplitude = (from_rest(&simulation).powi(2) + speed(&simulation).powi(2) * 2.0 / k).sqrt();
    let decayed = 2.0 * G / k * (-rate * 2.0_f64).exp();
    assert!((amplitude / decayed - 1.0).abs() < 0.02, "amplitude {amplitude} m, not {decayed} m");
    for (k, c) in [(1e3, 40.0), (1e7, 1e4), (1e9, 0.0)] {
        let mut simulation = scene(body, &joint(k, c), &[]);
        simulation.advance(1000);
        let extension = metric(&simulation, "extension_of_spring");
        let expected = 2.0 * G / k;
        // Without damping what the first step leaves, whose last length is that of its start: less than
        // g Δt²/2.
        let first = if c > 0.0 { 1e-9 } else { 0.5 * G * 1e-6 };
        assert!(
            (extension - expected).abs() < 1e-2 * expected + first,
            "{k} N/m: {extension} m, not {expected} m"
        );
        let force = metric(&simulation, "force_of_spring_y");
        assert!(c == 0.0 || (force / (2.0 * G) - 1.0).abs() < 0.02, "{k} N/m: {force} N");
        assert_no_validation_messages(&simulation.device);
    }
}

/// Motors accelerate with their torque or force up to their speed, hold it against a load, and brake.
#[test]
fn motors_reach_their_speed_and_hold_it() {
    let wheel = |name: &str, at: f64| {
        format!(
            "{{name='{name}',shape={{cylinder={{from_m=[{at},1.5,0],to_m=[{at},1.5,0.1],radius_m=0.2}}}},\
             motion={{dynamic={{mass_kg=3}}}}}}"
        )
    };
    let lift =
        "{name='lift',shape={box={centre_m=[-1,0.5,0],size_m=[0.2,0.2,0.2]}},motion={dynamic={mass_kg=4}}}";
    let brake = "{name='held',shape={box={centre_m=[-0.5,0.5,0],size_m=[0.2,0.2,0.2]}},\
        motion={dynamic={mass_kg=4,velocity_m_s=[0,1,0]}}}";
    let hinge = |body: &str, at: f64, motor: &str| {
        format!(
            "{{name='of_{body}',body='{body}',\
             kind={{hinge={{point_m=[{at},1.5,0],axis=[0,0,1],motor={{{motor}}}}}}}}}"
        )
    };
    let slider = |body: &str, motor: &str| {
        format!("{{body='{body}',kind={{slider={{point_m=[0,0.5,0],axis=[0,1,0],motor={{{motor}}}}}}}}}")
    };
    let bodies = [wheel("driven", 0.0), wheel("slow", 1.0), lift.to_owned(), brake.to_owned()].join(",");
    let joints = [
        hinge("driven", 0.0, "speed_rad_s=4,torque_n_m=0.6"),
        hinge("slow", 1.0, "speed_rad_s=-40,torque_n_m=0.6"),
        slider("lift", "speed_m_s=0.3,force_n=100"),
        slider("held", "speed_m_s=0,force_n=60"),
    ];
    let mut simulation = scene(&bodies, &joints.join(","), &[]);
    simulation.advance(500);
    let all = twins(&simulation);
    // I = m r²/2 = 0.06 kg m²: 10 rad/s².
    let spin = |k: usize| all[k].angular_momentum_kg_m2_s.z / 0.06;
    assert!((spin(0) - 4.0).abs() < 1e-3, "{} rad/s", spin(0));
    assert!((spin(1) + 5.0).abs() < 0.02, "{} rad/s", spin(1));
    assert!((metric(&simulation, "torque_of_of_slow_z") + 0.6).abs() < 1e-3);
    assert!(metric(&simulation, "torque_of_of_driven_z").abs() < 1e-3);
    let turned = metric(&simulation, "angle_of_of_driven");
    // 0.4 s of acceleration, 0.1 s of its speed; late by a step.
    assert!((turned - (0.8 + 0.4)).abs() < 0.02, "turned by {turned} rad");
    assert!((all[2].velocity_m_s.y - 0.3).abs() < 1e-4, "{} m/s", all[2].velocity_m_s.y);
    // Braked by 60 N and the weight: at rest after 1/24.81 s.
    assert!(all[3].velocity_m_s.length() < 1e-4, "{} m/s", all[3].velocity_m_s);
    let way = all[3].offset_m.y;
    assert!((way - 0.5 / 24.81).abs() < 2e-3, "moved by {way} m");
    assert_no_validation_messages(&simulation.device);
}

/// A beam of three boxes that is welded to a wall bears its weight, and breaks where the torque is too much.
#[test]
fn a_welded_beam_bears_its_weight_and_breaks_beyond_its_limit() {
    let beam = |limit: f64| {
        let part = |k: usize| {
            let x = -1.8 + 0.2 * k as f64;
            format!(
                "{{name='p{k}',shape={{box={{centre_m=[{x},1,0],size_m=[0.2,0.1,0.1]}}}},\
                 motion={{dynamic={{mass_kg=2,contact_gap_m=0}}}}}}"
            )
        };
        let weld = |k: usize| {
            let x = -1.9 + 0.2 * k as f64;
            let to = if k == 0 { String::new() } else { format!("to='p{}',", k - 1) };
            format!(
                "{{name='w{k}',body='p{k}',{to}kind={{fixed={{point_m=[{x},1,0]}}}},breaks_at_n_m={limit:?}}}"
            )
        };
        let parts: Vec<String> = (0..3).map(part).collect();
        let welds: Vec<String> = (0..3).map(weld).collect();
        scene(&parts.join(","), &welds.join(","), &[])
    };
    // About the wall: 6 kg at 0.3 m; the next two welds: 4 kg at 0.2 m, and 2 kg at 0.1 m.
    let torques = [6.0 * G * 0.3, 4.0 * G * 0.2, 2.0 * G * 0.1];
    let mut simulation = beam(1.3 * torques[0]);
    simulation.advance(if is_full_run() { 2000 } else { 300 });
    for (k, torque) in torques.iter().enumerate() {
        let found = metric(&simulation, &format!("torque_of_w{k}_z"));
        assert!((found / torque - 1.0).abs() < 0.01, "weld {k}: {found} N m, not {torque}");
        let weight = 2.0 * G * (3 - k) as f64;
        let found = metric(&simulation, &format!("force_of_w{k}_y"));
        assert!((found / weight - 1.0).abs() < 0.01, "weld {k}: {found} N, not {weight}");
        assert_eq!(metric(&simulation, &format!("w{k}_is_broken")), 0.0);
    }
    let sag = -twins(&simulation)[2].offset_m.y;
    assert!(sag.abs() < 1e-5, "the end sags by {sag} m");
    assert_no_validation_messages(&simulation.device);
    let mut simulation = beam(0.5 * (torques[0] + torques[1]));
    simulation.advance(300);
    let broken = [0, 1, 2].map(|k| metric(&simulation, &format!("w{k}_is_broken")));
    assert_eq!(broken, [1.0, 0.0, 0.0]);
    let fall = -twins(&simulation)[0].offset_m.y;
    assert!(fall > 0.2, "the beam fell by {fall} m");
    assert_no_validation_messages(&simulation.device);
}

/// A puck in a plane moves and spins in it for ever, and not out of it.
#[test]
fn a_puck_stays_in_its_plane() {
    let body = "{name='puck',shape={box={centre_m=[0,1.5,0],size_m=[0.3,0.1,0.2]}},\
        motion={dynamic={mass_kg=1,velocity_m_s=[0.3,0,0.2],angular_velocity_rad_s=[0,6,0]}}}";
    let mut simulation = scene(body, "{body='puck',kind={planar={normal=[0,3,0]}}}", &[]);
    simulation.advance(1000);
    let puck = twins(&simulation)[0];
    assert!((puck.offset_m - DVec3::new(0.3, 0.0, 0.2)).length() < 1e-4, "{} m", puck.offset_m);
    let spin = puck.angular_momentum_kg_m2_s / (0.13 / 12.0);
    assert!((spin - 6.0 * DVec3::Y).length() < 1e-3, "{spin} rad/s");
    assert!((puck.rotation * DVec3::Y - DVec3::Y).length() < 1e-5);
    assert_no_validation_messages(&simulation.device);
}

/// A ball that swings against four others at rest stops, and the last swings out as far (Newton's cradle).
/// The balls are 2 mm apart: impacts follow each other, as waves in steel do.
#[test]
fn a_cradle_hands_on_the_momentum() {
    let ball = |k: usize, x: f64, y: f64| {
        format!(
            "{{name='b{k}',shape={{sphere={{centre_m=[{x},{y},0],radius_m=0.05}}}},\
             motion={{dynamic={{mass_kg=1,restitution=1,friction=0,contact_gap_m=0}}}}}}"
        )
    };
    let string =
        |k: usize, x: f64| format!("{{body='b{k}',kind={{hinge={{point_m=[{x},1.5,0],axis=[0,0,1]}}}}}}");
    let at = |k: usize| 0.102 * k as f64;
    let (sin, cos) = 30_f64.to_radians().sin_cos();
    let balls: Vec<String> = (0..5)
        .map(|k| if k == 0 { ball(0, -0.5 * sin, 1.5 - 0.5 * cos) } else { ball(k, at(k), 1.0) })
        .collect();
    let strings: Vec<String> = (0..5).map(|k| string(k, at(k))).collect();
    let mut simulation = scene(&balls.join(","), &strings.join(","), &["time.dt_s=0.0005"]);
    // A quarter of the period, and the way to the height that it had.
    let mut highest = [0.0_f64; 5];
    for _ in 0..24 {
        simulation.advance(100);
        for (height, body) in highest.iter_mut().zip(twins(&simulation)) {
            *height = height.max(body.centre_m.y + body.offset_m.y - 1.0);
        }
    }
    println!("heights {highest:?}");
    let start = 0.5 * (1.0 - cos);
    assert!((highest[4] / start - 1.0).abs() < 0.05, "the last rose by {} m of {start} m", highest[4]);
    assert!(highest[1..4].iter().all(|height| *height < 0.02 * start), "{highest:?}");
    assert_no_validation_messages(&simulation.device);
}

/// A run with joints that is resumed has the bits of one that was not.
#[test]
fn resumed_joints_have_the_bits_of_whole_ones() {
    let mut simulation = each_kind();
    simulation.advance(120);
    let n = simulation.len();
    let mut state = Vec::new();
    for column in simulation.fluid.state_columns() {
        let len = if column.is_of_particles { n * column.kind.words() as usize } else { column.words.len() };
        let words = simulation.device.download(&column.words, len).unwrap();
        state.push(StateColumn { name: column.name.to_string(), words });
    }
    let scene = simulation.scene.clone();
    let fluid = Fluid::restore(&simulation.device, &scene, &state, 120, Default::default()).unwrap();
    let device = simulation.device.clone();
    let mut resumed = Simulation { device, scene, fluid, step: 120, replay: Default::default() };
    for simulation in [&mut simulation, &mut resumed] {
        simulation.advance(60);
    }
    assert!(joint_states(&simulation).0.iter().any(|state| state.is_broken), "nothing broke");
    for name in ["dynamic bodies", "joints", "rows of joints"] {
        assert_eq!(column(&resumed, name), column(&simulation, name), "{name}");
    }
    assert_no_validation_messages(&simulation.device);
}

/// A scene without joints has no columns of them.
#[test]
fn bodies_without_joints_have_none() {
    let simulation = dry(&[&format!("bodies=[{ROD}]")]);
    assert!(simulation.fluid.state_columns().iter().all(|column| !column.name.contains("joint")));
}
