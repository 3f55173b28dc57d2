//! Grains compared with closed forms: rebound, friction, conservation, rest, bonds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::{Grain, Partner};
use frazil_reference::uniform_bodies::{Shape, Surface, UniformBody};
use frazil_report::{Mark, Panel, Scale, Series};
use frazil_scene::{Bonds, Dem as Section};
use frazil_shaders::common::body::{BOX, MOTION_SPINNING};
use frazil_shaders::types::Body;
use frazil_solvers::Surroundings;
use frazil_solvers::dem::DemMetrics;
use frazil_testkit::twins::dem::section;
use frazil_testkit::{Random, assert_no_validation_messages, device, is_full_run};
use frazil_tests::curves::keep_curve;
use frazil_tests::grains::{Grainpack, dt_s, grain};
use frazil_tests::scene_grains::SceneGrains;
use frazil_vk::Device;
use glam::DVec3;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const R: f64 = 0.05;
const K: f64 = 1e5;
const WIDE: [DVec3; 2] = [DVec3::splat(-4.0), DVec3::splat(4.0)];

fn pack(section: &Section, gravity: DVec3, bodies: Vec<UniformBody>, grains: &[Grain]) -> Grainpack {
    Grainpack::on(DEVICE.clone(), section, dt_s(section), gravity, WIDE, bodies, grains)
}

/// Two equal spheres separate after a head-on collision at e times their approach speed. Tolerance: the
/// explicit step ends a contact up to Δt late, which contributes c_n/m* Δt of the speed; at 200 steps per
/// contact that and the phase error of the scheme are below 1 %.
#[test]
fn two_spheres_rebound_with_the_restitution_of_the_closed_form() {
    for restitution in [0.1, 0.3, 0.5, 0.8, 1.0] {
        let section = Section { restitution, steps_per_contact: 200.0, ..section(R, K) };
        let mut pair = [grain(0, R, DVec3::new(-0.051, 0.0, 0.0)), grain(1, R, DVec3::new(0.051, 0.0, 0.0))];
        pair[0].velocity = DVec3::X;
        pair[1].velocity = -DVec3::X;
        let mut pack = pack(&section, DVec3::ZERO, Vec::new(), &pair);
        // Steps for 1 mm of approach, and for a contact that damping prolongs slightly.
        let steps = (0.001 / 1.0 / dt_s(&section) + 200.0 * 2.5) as u64;
        pack.advance(steps);
        let state = pack.state();
        let separation_m_s = state.grains[1].velocity.x - state.grains[0].velocity.x;
        assert!(state.contacts.is_empty(), "e = {restitution}: still in touch");
        assert!(
            (separation_m_s / 2.0 - restitution).abs() < 0.01,
            "e = {restitution}: {}",
            separation_m_s / 2.0
        );
    }
    assert_no_validation_messages(&DEVICE);
}

/// A grain that slides along a surface during a whole rebound leaves it with a tangential impulse of μ times
/// the normal one, μ (1 + e) m v_n, and with the torque of that impulse, whatever the restitution.
/// Tolerance: 1 %, of which rounding of positions takes 0.1.
#[test]
fn friction_in_a_rebound_has_mu_times_the_normal_impulse_at_every_restitution() {
    let wall = UniformBody {
        shape: Shape::Plane { point_m: DVec3::ZERO, normal: DVec3::Y },
        surface: Surface { friction: 0.4, sticky: false },
        motion: None,
    };
    for restitution in [0.1, 0.2, 0.3, 0.5, 0.8, 1.0] {
        let section = Section { restitution, wall_restitution: None, ..section(R, K) };
        // Three places within a step's way, so that the first touch is at three shares of a step.
        for share in [0.1, 0.45, 0.8] {
            let dt_s = dt_s(&section);
            let mut ball = grain(0, R, DVec3::new(-1.0, R + 0.001 + share * 0.1 * dt_s, 0.0));
            ball.velocity = DVec3::new(2.0, -0.1, 0.0);
            let mut pack = pack(&section, DVec3::ZERO, vec![wall.clone()], &[ball]);
            pack.advance((0.011 / dt_s) as u64 + 200);
            let after = pack.state().grains[0];
            let normal = after.velocity.y + 0.1;
            let tangential = 2.0 - after.velocity.x;
            let rebound = after.velocity.y / 0.1;
            assert!((rebound - restitution).abs() < 0.01, "e = {restitution}: {rebound}");
            let ratio = tangential / (0.4 * normal);
            assert!((ratio - 1.0).abs() < 0.01, "e = {restitution}, share {share}: {ratio} of μ (1 + e)");
            let spin = after.spin.length() * 0.4 * R;
            assert!(
                (spin / tangential - 1.0).abs() < 0.01,
                "e = {restitution}: spin {spin} for {tangential}"
            );
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// A ball on a slope of angle θ that does not roll (its rolling friction is large) slides at g(sin θ − μ cos
/// θ), or sticks. One that rolls freely accelerates at 5/7 g sin θ while tan θ < 7/2 μ, and at g(sin θ − μ
/// cos θ) beyond.
#[test]
fn a_sphere_on_a_slope_sticks_slides_and_rolls_by_coulombs_law() {
    let slope = |friction: f64| UniformBody {
        shape: Shape::Plane { point_m: DVec3::ZERO, normal: DVec3::Y },
        surface: Surface { friction, sticky: false },
        motion: None,
    };
    let cases = [
        // (degrees, μ, μ_r)
        (20.0_f64, 0.5, 5.0),
        (30.0, 0.3, 5.0),
        (40.0, 0.1, 5.0),
        (20.0, 0.5, 0.0),
        (45.0, 0.2, 0.0),
        (10.0, 0.5, 0.3),
    ];
    for (degrees, mu, mu_r) in cases {
        let section = Section { rolling_friction: mu_r, ..section(R, K) };
        let theta = degrees.to_radians();
        let gravity = 9.81 * DVec3::new(theta.sin(), -theta.cos(), 0.0);
        // It starts at the overlap that balances its weight on the slope.
        let sunk = section.grain_mass_kg(R) * 9.81 * theta.cos() / K;
        let ball = grain(0, R, DVec3::new(-3.0, R - sunk, 0.0));
        let mut pack = pack(&section, gravity, vec![slope(mu)], &[ball]);
        let t = 0.4;
        let metrics = pack.advance((t / dt_s(&section)) as u64);
        let time = pack.dem.step() as f64 * pack.p.dt_s;
        let found = metrics.all.momentum_kg_m_s[0] / metrics.mass_kg / time;
        let slides = 9.81 * (theta.sin() - mu * theta.cos());
        let rolls = 5.0 / 7.0 * 9.81 * theta.sin();
        let expected = if mu_r > 1.0 {
            slides.max(0.0)
        } else if theta.tan() < mu_r {
            0.0
        } else {
            rolls.max(slides)
        };
        // 1 % of g sin θ: tangential springs stretch under the load, and oscillate around the equilibrium.
        let tolerance = 0.01 * 9.81 * theta.sin();
        assert!(
            (found - expected).abs() < tolerance,
            "{degrees}°, μ {mu}, μ_r {mu_r}: {found} m/s², expected {expected}"
        );
    }
    assert_no_validation_messages(&DEVICE);
}

/// A ball that slides under turbulent drag approaches v = √(ξ h (sin θ − μ cos θ)), with ξ h = g/k, as v
/// tanh(t a/v) from rest, a = g (sin θ − μ cos θ): the closed form of a layer under Voellmy's friction. The
/// size of grains is not in it.
#[test]
fn a_sphere_under_turbulent_drag_reaches_the_speed_of_voellmys_friction() {
    let slope = |friction: f64| UniformBody {
        shape: Shape::Plane { point_m: DVec3::ZERO, normal: DVec3::Y },
        surface: Surface { friction, sticky: false },
        motion: None,
    };
    // (degrees, μ, ξ in m/s², h in m, radius in m)
    let cases = [
        (35.0_f64, 0.2, 2.0, 1.0, R),
        (35.0, 0.2, 2.0, 1.0, 2.0 * R),
        (50.0, 0.4, 4.0, 0.5, R),
        (25.0, 0.0, 1.0, 0.7, R),
    ];
    for (degrees, mu, xi_m_s2, thickness_m, radius) in cases {
        let theta = degrees.to_radians();
        let drag = 9.81 / (xi_m_s2 * thickness_m);
        let section = Section { rolling_friction: 5.0, turbulent_drag_1_m: drag, ..section(radius, K) };
        let gravity = 9.81 * DVec3::new(theta.sin(), -theta.cos(), 0.0);
        let sunk = section.grain_mass_kg(radius) * 9.81 * theta.cos() / K;
        let ball = grain(0, radius, DVec3::new(-3.0, radius - sunk, 0.0));
        let mut pack = pack(&section, gravity, vec![slope(mu)], &[ball]);
        let excess = theta.sin() - mu * theta.cos();
        let terminal = (xi_m_s2 * thickness_m * excess).sqrt();
        // The times at which it has reached tanh 1 = 0.76 of that speed, and 0.9993.
        for times in [1.0, 4.0] {
            let required_s = times * terminal / (9.81 * excess);
            let done = pack.dem.step();
            let metrics = pack.advance((required_s / dt_s(&section)) as u64 - done);
            let time_s = pack.dem.step() as f64 * pack.p.dt_s;
            let expected = terminal * (9.81 * excess * time_s / terminal).tanh();
            let found = metrics.all.momentum_kg_m_s[0] / metrics.mass_kg;
            // The tangential spring stretches before the ball slides, which loses it some milliseconds of the
            // first time; the second is after that.
            let tolerance = if times > 1.0 { 2e-3 } else { 0.02 };
            println!("{degrees}°, μ {mu}, r {radius}: {found:.4} m/s, expected {expected:.4}");
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{degrees}°, μ {mu}, radius {radius} m: {found} m/s, expected {expected}"
            );
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// Creates surroundings without bodies.
fn under(gravity: DVec3) -> Surroundings {
    let [domain_min_m, domain_max_m] = WIDE.map(|corner| corner.as_vec3().to_array());
    let gravity_m_s2 = gravity.as_vec3().to_array();
    Surroundings { domain_min_m, domain_max_m, gravity_m_s2, up_axis: 1, ..Default::default() }
}

/// A ball on the axis of a spinning table spins up to the table's angular velocity, because resistance to
/// twisting acts on the relative one, and the table bears the opposite angular impulse.
#[test]
fn a_sphere_on_a_spinning_table_is_carried_along_and_loads_it() {
    let (turns_per_s, half) = (0.5_f32, 0.25_f32);
    let table = Body {
        kind: BOX,
        friction: 0.5,
        damping_ratio: 0.3,
        extent: [1.0, half, 1.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
        motion: MOTION_SPINNING,
        ..bytemuck::Zeroable::zeroed()
    };
    // A point of the axis, its direction, turns per second, start and end.
    let motion = [0.3, 0.0, 0.2, 0.0, 1.0, 0.0, turns_per_s, 0.0, 1e30];
    let around = Surroundings {
        bodies: vec![table],
        names: vec!["table".to_owned()],
        body_data: motion.to_vec(),
        ..under(-9.81 * DVec3::Y)
    };
    let section = Section { rolling_friction: 0.3, ..section(R, K) };
    let sunk = section.grain_mass_kg(R) * 9.81 / K;
    let ball = grain(0, R, DVec3::new(0.3, f64::from(half) + R - sunk, 0.2));
    let mut pack = Grainpack::among(DEVICE.clone(), &section, around, &[ball]);
    let metrics = pack.advance((0.5 / dt_s(&section)) as u64);
    let spin = pack.state().grains[0].spin;
    let of_table = std::f64::consts::TAU * f64::from(turns_per_s);
    println!("ball {spin}, table {of_table} 1/s");
    assert!((spin - of_table * DVec3::Y).length() < 0.01 * of_table, "{spin} of {of_table} 1/s");
    let expected = -ball.inertia(&pack.p) * spin.y;
    let [x, found, z] = metrics.loads[0].angular_impulse_n_m_s;
    println!("angular impulse {found}, expected {expected} N m s");
    assert!((found / expected - 1.0).abs() < 1e-3, "{found} N m s, expected {expected}");
    assert!(x.hypot(z) < 1e-2 * expected.abs(), "{x} {z} N m s");
    assert_no_validation_messages(&DEVICE);
}

/// A ball that does not roll slides on each face as that face's friction lets it, whatever that of the walls.
#[test]
fn a_sphere_slides_on_each_face_by_its_own_friction() {
    let theta = 30.0_f64.to_radians();
    let stiffness = 5e3;
    let section = Section { rolling_friction: 5.0, wall_friction: Some(0.1), ..section(R, stiffness) };
    let sunk = section.grain_mass_kg(R) * 9.81 * theta.cos() / stiffness;
    let t = 0.2;
    let each = (0..3).flat_map(|axis| [(axis, 0, Some(0.3)), (axis, 1, Some(0.3))]);
    for (axis, side, friction) in each.chain([(1, 0, None), (2, 1, Some(0.9))]) {
        let normal = if side == 0 { DVec3::AXES[axis] } else { -DVec3::AXES[axis] };
        let down = DVec3::AXES[(axis + 1) % 3];
        let gravity = 9.81 * (theta.sin() * down - theta.cos() * normal);
        let ball = grain(0, R, (R - sunk - 4.0) * normal);
        let mut faces = [[Some(2.0); 3]; 2];
        faces[side][axis] = friction;
        let around = Surroundings { face_friction: faces, ..under(gravity) };
        let mut pack = Grainpack::among(DEVICE.clone(), &section, around, &[ball]);
        // The tangential spring stretches before the ball slides: the acceleration is that of the second
        // half.
        let steps = (0.5 * t / dt_s(&section)) as u64;
        let mut speed = || {
            let metrics = pack.advance(steps);
            DVec3::from_array(metrics.all.momentum_kg_m_s).dot(down) / metrics.mass_kg
        };
        let [before, after] = [(); 2].map(|()| speed());
        let found = (after - before) / (steps as f64 * pack.p.dt_s);
        let mu = friction.map_or(0.1, f64::from);
        let expected = (9.81 * (theta.sin() - mu * theta.cos())).max(0.0);
        let face = format!("axis {axis}, side {side}, μ {friction:?}");
        println!("{face}: {found:.4} m/s², expected {expected:.4} m/s²");
        // A ball that sticks oscillates by its tangential spring.
        let tolerance = if expected > 0.0 { 0.001 } else { 0.05 } * 9.81 * theta.sin();
        assert!((found - expected).abs() < tolerance, "{face}: {found} m/s², expected {expected}");
        let twin = pack.twin_step();
        pack.advance(1);
        let error = (pack.state().grains[0].velocity - twin.grains[0].velocity).length();
        // The rounding of a position near 4 m changes forces; velocities are up to 2 m/s.
        let bound = 2.5e-7 * (8.0 + 4.0 * stiffness * pack.p.dt_s / ball.mass(&pack.p));
        assert!(error < bound, "{face}: {error} m/s");
    }
    assert_no_validation_messages(&DEVICE);
}

/// Internal forces of a dense cluster of grains without gravity sum to zero.
#[test]
fn contacts_keep_momentum_and_angular_momentum() {
    let bonds = Bonds {
        strength_n: 50.0,
        shear_strength_n: None,
        form_below_m_s: 0.5,
        form_after_s: 0.0,
        forms_until_s: None,
        at_start: false,
    };
    let laws = [
        Section { rolling_friction: 0.3, radius_spread: 0.3, ..section(R, K) },
        Section { cohesion_n: 10.0, bonds: Some(bonds), ..section(R, K) },
    ];
    for section in laws {
        let mut random = Random::new(9);
        let mut vector =
            |size: f64| DVec3::from_array([(); 3].map(|()| f64::from((size as f32) * (random.unit() - 0.5))));
        let grains: Vec<Grain> = (0..300)
            .map(|id| {
                let place = vector(0.6);
                // Initial velocities point towards the middle.
                Grain { velocity: -4.0 * place + vector(1.0), spin: vector(40.0), ..grain(id, R, place) }
            })
            .collect();
        let mut pack = pack(&section, DVec3::ZERO, Vec::new(), &grains);
        let (p, before) = (pack.p.clone(), pack.state());
        let steps = 400;
        let parts: Vec<_> = (0..8).map(|_| pack.advance(steps / 8)).collect();
        let n_contacts: u32 = parts.iter().map(|part| part.n_contacts).sum();
        assert!(n_contacts > 600, "{n_contacts} contacts");
        let (metrics, after) = (&parts[7], pack.state());
        let scale: f64 = after.grains.iter().map(|g| g.mass(&p) * g.velocity.length()).sum();
        // Each step rounds each grain's velocity, with random sign.
        let rounding = (steps as f64).sqrt() / f64::from(1 << 24);
        let drift = (after.momentum(&p) - before.momentum(&p)).length() / scale;
        assert!(
            drift < 4.0 * rounding,
            "momentum drifts by {drift:e} of Σ m |v|, {:.1} roundings",
            drift / rounding
        );
        let turn = (after.angular_momentum(&p) - before.angular_momentum(&p)).length() / scale;
        assert!(
            turn < 4.0 * rounding,
            "angular momentum drifts by {turn:e} m of Σ m |v|, {:.1} roundings",
            turn / rounding
        );
        // The device's metrics agree with the state it holds.
        let measured = DVec3::from_array(metrics.angular_momentum_kg_m2_s);
        assert!((measured - after.angular_momentum(&p)).length() < 1e-5 * scale);
    }
    assert_no_validation_messages(&DEVICE);
}

fn on_the_ground(section: &Section, grains: &[Grain]) -> Grainpack {
    let domain = [DVec3::new(-2.0, 0.0, -2.0), DVec3::new(2.0, 2.0, 2.0)];
    Grainpack::on(
        DEVICE.clone(),
        section,
        dt_s(section),
        DVec3::new(0.0, -9.81, 0.0),
        domain,
        Vec::new(),
        grains,
    )
}

/// Friction with contact history supports a heap permanently: no creep, and energy only decreases, to
/// rounding level.
#[test]
fn a_heap_at_rest_stays_at_rest() {
    let section = Section {
        friction: 0.6,
        rolling_friction: 0.2,
        restitution: 0.2,
        steps_per_contact: 20.0,
        ..section(R, 2e4)
    };
    let grains = cone(R, 6);
    let mut pack = on_the_ground(&section, &grains);
    // The heap settles, and comes to rest.
    pack.advance(6_000);
    let settled = pack.state();
    let long = is_full_run();
    let parts = if long { 100 } else { 5 };
    let mut energies = Vec::new();
    for _ in 0..parts {
        let metrics = pack.advance(1000);
        energies.push(metrics.all.kinetic_energy_j + metrics.rotational_energy_j);
    }
    let moved = pack
        .state()
        .grains
        .iter()
        .zip(&settled.grains)
        .map(|(a, b)| a.position.distance(b.position))
        .fold(0.0, f64::max);
    let weight_energy = grains.len() as f64 * section.grain_mass_kg(R) * 9.81 * R;
    assert!(energies.iter().all(|e| *e < 1e-7 * weight_energy), "energies {energies:?} of {weight_energy}");
    assert!(moved < 1e-4 * R, "a grain crept {:e} radii in {} steps", moved / R, parts * 1000);
    // The result is a heap, not a layer.
    assert!(settled.grains.iter().any(|g| g.position.y > 6.0 * R));
    assert_no_validation_messages(&DEVICE);
}

/// Creates a cone with a slope of 50 degrees.
fn cone(radius_m: f64, layers: u32) -> Vec<Grain> {
    let side = 2.02 * radius_m;
    let mut grains = Vec::new();
    for layer in 0..layers {
        let reach = f64::from(layers - layer) / 50.0_f64.to_radians().tan() + 0.3;
        let n = reach.ceil() as i32;
        for (i, k) in (-n..=n).flat_map(|i| (-n..=n).map(move |k| (i, k))) {
            // Layers lie in the hollows of the layers below.
            let shift = 0.5 * f64::from(layer % 2);
            let (x, z) = (f64::from(i) + shift, f64::from(k) + shift);
            if x.hypot(z) <= reach {
                let y = radius_m + std::f64::consts::FRAC_1_SQRT_2 * side * f64::from(layer);
                grains.push(grain(grains.len() as u32, radius_m, DVec3::new(side * x, y, side * z)));
            }
        }
    }
    grains
}

/// The slope at which a heap comes to rest increases with friction, up to the initial slope.
#[test]
fn the_angle_of_repose_rises_with_friction() {
    let angle = |friction: f64| {
        let section = Section {
            friction,
            rolling_friction: 0.3 * friction,
            wall_friction: Some(0.9),
            restitution: 0.2,
            steps_per_contact: 20.0,
            ..section(R, 5e3)
        };
        let mut pack = on_the_ground(&section, &cone(R, 8));
        pack.advance((2.0 / dt_s(&section)) as u64);
        let state = pack.state();
        // The centre of mass of a cone is at a quarter of its height, and the mean distance of its mass from
        // its axis is half its radius.
        let n = state.grains.len() as f64;
        let height = 4.0 * state.grains.iter().map(|g| g.position.y - R).sum::<f64>() / n;
        let radius = 2.0 * state.grains.iter().map(|g| g.position.with_y(0.0).length()).sum::<f64>() / n;
        height.atan2(radius).to_degrees()
    };
    let frictions = if is_full_run() { &[0.0, 0.2, 0.28, 0.45][..] } else { &[0.0, 0.45] };
    let angles: Vec<f64> = frictions.iter().map(|friction| angle(*friction)).collect();
    let rows = frictions.iter().zip(&angles);
    let table: String = rows.map(|(friction, degrees)| format!("{friction},{degrees:.2}\n")).collect();
    eprintln!("friction, angle of repose in degrees:\n{table}");
    let points = frictions.iter().copied().zip(angles.iter().copied()).collect();
    let series = [Series::new("heaps of spheres", Mark::Line, points)];
    let panel = Panel { x_label: "friction μ [1]", y_label: "angle of repose [deg]", series: &series };
    let header = "friction [1],angle_of_repose [deg]";
    keep_curve("angle_of_repose", header, &table, "Angle of repose", panel, Scale::Linear);
    assert!(angles[0] < 6.0, "{angles:?}");
    assert!(angles.windows(2).all(|pair| pair[1] > pair[0] + 2.0), "{angles:?}");
    assert!((20.0..45.0).contains(angles.last().unwrap()), "{angles:?}");
    assert_no_validation_messages(&DEVICE);
}

/// Two frozen grains hold together up to the bond's strength, and separate beyond it.
#[test]
fn a_bond_holds_its_load_and_breaks_beyond() {
    for (share, holds) in [(0.9, true), (1.1, false)] {
        let strength_n = 20.0;
        let bonds = Bonds {
            strength_n,
            shear_strength_n: None,
            form_below_m_s: 0.1,
            form_after_s: 0.0,
            forms_until_s: None,
            at_start: false,
        };
        let section = Section { bonds: Some(bonds), restitution: 0.1, ..section(R, K) };
        let pair = [grain(0, R, DVec3::ZERO), grain(1, R, DVec3::new(2.0 * R - 1e-4, 0.0, 0.0))];
        let mut pack = pack(&section, DVec3::ZERO, Vec::new(), &pair);
        pack.advance(400);
        let state = pack.state();
        assert!(state.contacts.values().all(|history| history.is_bonded) && state.contacts.len() == 2);
        // Both rotate around their middle: the bond carries the centripetal force m ω² r of each.
        let omega = (share * strength_n / (section.grain_mass_kg(R) * R)).sqrt();
        let spun: Vec<Grain> = state
            .grains
            .iter()
            .map(|g| Grain {
                velocity: omega * DVec3::Y.cross(g.position - DVec3::new(R, 0.0, 0.0)),
                spin: omega * DVec3::Y,
                position: g.position,
                ..*g
            })
            .collect();
        let mut columns = pack.columns();
        let write =
            |columns: &mut Vec<frazil_solvers::StateColumn>, name: &str, of: &dyn Fn(&Grain) -> DVec3| {
                let ids = columns.iter().find(|c| c.name == "id").unwrap().words.clone();
                let column = columns.iter_mut().find(|c| c.name == name).unwrap();
                column.words = ids
                    .iter()
                    .flat_map(|id| of(&spun[*id as usize]).as_vec3().to_array())
                    .map(f32::to_bits)
                    .collect();
            };
        write(&mut columns, "velocity", &|g| g.velocity);
        write(&mut columns, "spin", &|g| g.spin);
        let parameters = pack.dem.parameters().clone();
        pack.dem = frazil_solvers::dem::Dem::restore(&DEVICE, parameters, &columns, 400, Default::default())
            .unwrap();
        pack.advance(600);
        let contacts = pack.state().contacts;
        let is_bonded = contacts.get(&(0, Partner::Grain(1))).is_some_and(|history| history.is_bonded);
        assert_eq!(is_bonded, holds, "{share} of the strength: {contacts:?}");
    }
    assert_no_validation_messages(&DEVICE);
}

/// A grain does not pass through a terrain at any speed or slope.
#[test]
fn no_grain_penetrates_a_terrain() {
    use frazil_reference::uniform_bodies::Heights;
    // Ridges of 60 degrees.
    let rows: Vec<Vec<f64>> =
        (0..33).map(|k| (0..33).map(|i| 0.43 * f64::from((i + k / 3) % 2)).collect()).collect();
    let heights = Heights { origin_m: [-4.0, -4.0], spacing_m: 0.25, heights_m: rows };
    let shape = Shape::Heightfield(heights);
    let terrain =
        UniformBody { shape: shape.clone(), surface: Surface { friction: 0.4, sticky: false }, motion: None };
    let section = Section { rolling_friction: 0.1, ..section(R, K) };
    let mut random = Random::new(4);
    let mut vector =
        |size: f64| DVec3::from_array([(); 3].map(|()| f64::from((size as f32) * (random.unit() - 0.5))));
    let grains: Vec<Grain> = (0..200)
        .map(|id| Grain {
            velocity: 60.0 * (DVec3::NEG_Y + vector(2.0)).normalize() * 0.5,
            ..grain(id, R, vector(3.0).with_y(1.0 + f64::from(id) * 0.01))
        })
        .collect();
    let mut pack = pack(&section, DVec3::new(0.0, -9.81, 0.0), vec![terrain], &grains);
    for _ in 0..20 {
        pack.advance(100);
        for grain in &pack.state().grains {
            let (distance, _) = shape.distance_m(3, grain.position);
            assert!(
                distance > 0.0,
                "grain {} is {distance} m above the ground, at step {}",
                grain.id,
                pack.dem.step()
            );
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// A block of bonded grains that rotates is a rigid body from the start: no bond is sheared or rolled, and
/// energy is kept. Centripetal forces are far below the strength of the bonds.
#[test]
fn a_bonded_block_starts_in_rigid_rotation() {
    let text = "version = 1\nname = \"block\"\nup_axis = \"y\"\n\
                gravity_m_s2 = [0.0, 0.0, 0.0]\n[time]\ndt_s = \"auto\"\nduration_s = 0.05\n\
                [solver]\nkind = \"dem\"\n\
                [domain]\nmin_m = [-2.0, -2.0, -2.0]\nmax_m = [2.0, 2.0, 2.0]\n\
                [dem]\nradius_m = 0.05\ndensity_kg_m3 = 900.0\nnormal_stiffness_n_m = 1e6\n\
                restitution = 0.3\nfriction = 0.5\nbonds = { strength_n = 200.0, at_start = true }\n\
                [[particles]]\nshape.box = { min_m = [-0.2, -0.2, -0.2], max_m = [0.2, 0.2, 0.2] }\n\
                angular_velocity_rad_s = [0.0, 0.0, 3.0]\n";
    let scene = frazil_scene::Scene::parse(text, "block", &[]).unwrap();
    let duration_s = scene.time.duration_s;
    let mut block = SceneGrains::new(&DEVICE, scene);
    let energy = |m: &DemMetrics| m.all.kinetic_energy_j + m.rotational_energy_j;
    let start = block.advance(0);
    assert!(start.n_bonds > 100, "{} bonds", start.n_bonds);
    for grain in block.grains() {
        assert!((grain.spin - DVec3::new(0.0, 0.0, 3.0)).length() < 1e-6, "{grain:?}");
    }
    let end = block.advance(block.steps(duration_s));
    assert_eq!(end.n_bonds, start.n_bonds);
    // Bonds stretch by up to m ω² r/k, 1e-6 of the energy; without spins of its grains the block lost 4 %.
    let lost = 1.0 - energy(&end) / energy(&start);
    assert!(lost.abs() < 2e-3, "{lost}");
    let momentum = |m: &DemMetrics| DVec3::from_array(m.angular_momentum_kg_m2_s);
    let drift = (momentum(&end) - momentum(&start)).length() / momentum(&start).length();
    assert!(drift < 1e-4, "{drift}");
    assert_no_validation_messages(&DEVICE);
}
