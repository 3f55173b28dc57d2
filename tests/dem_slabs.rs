//! Pieces of slabs compared with their f64 twin, and with rigid-body mechanics.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::{Grain, State};
use frazil_reference::uniform_bodies::{Shape, Surface, UniformBody};
use frazil_scene::{Dem as Section, Slab, SlabPiece};
use frazil_solvers::dem::{Dem, Grains, Pieces};
use frazil_solvers::{StateColumn, Tuning};
use frazil_testkit::ROUNDING;
use frazil_testkit::twins::dem::section;
use frazil_testkit::twins::slabs::{block, ice, link};
use frazil_testkit::{Random, assert_no_validation_messages, device};
use frazil_tests::Worst;
use frazil_tests::grains::{Grainpack, dt_s, grain};
use frazil_tests::slabs::{pieces, set_spin, tetrahedron};
use frazil_vk::Device;
use glam::{DQuat, DVec3};
use std::f64::consts::PI;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const RADIUS_M: f64 = 0.04;
const STIFFNESS_N_M: f64 = 1e5;
const GRAVITY: DVec3 = DVec3::new(0.3, -9.81, 0.1);
/// A domain whose walls are never reached.
const WIDE: [DVec3; 2] = [DVec3::splat(-50.0), DVec3::splat(50.0)];

fn quiet() -> Section {
    section(RADIUS_M, STIFFNESS_N_M)
}

fn still(shape: Shape, friction: f64) -> UniformBody {
    UniformBody { shape, surface: Surface { friction, sticky: false }, motion: None }
}

fn floor(normal: DVec3, friction: f64) -> UniformBody {
    still(Shape::Plane { point_m: DVec3::ZERO, normal }, friction)
}

/// Creates pieces and grains in a domain of their own.
fn world(
    section: &Section,
    gravity: DVec3,
    bodies: Vec<UniformBody>,
    n_named: usize,
    grains: &[Grain],
    pieces: Pieces,
) -> Grainpack {
    let dt = dt_s(section);
    Grainpack::with_pieces(DEVICE.clone(), section, dt, gravity, WIDE, bodies, n_named, grains, pieces)
}

/// Samples boxes and tetrahedra anywhere in the unit cube, with neighbours linked in pairs, and grains among
/// them.
fn clutter(n_pieces: usize, n_grains: u32, seed: u64, section: &Section) -> (Pieces, Vec<Grain>) {
    let mut random = Random::new(seed);
    let mut unit = move || f64::from(random.unit());
    let slab = Slab { friction: Some(0.4), restitution: Some(0.6), ..ice(2e4) };
    let mut solids: Vec<SlabPiece> = Vec::new();
    let mut links = Vec::new();
    while solids.len() < n_pieces {
        let mut vector = |size: f64| size * (DVec3::new(unit(), unit(), unit()) - 0.5);
        let centre = DVec3::splat(0.5) + vector(0.9);
        let turn = DQuat::from_scaled_axis(vector(4.0));
        let size = DVec3::new(0.25, 0.12, 0.2) + vector(0.1);
        let k = solids.len();
        match k % 3 {
            0 => solids.push(tetrahedron(&slab, centre, 0.3, turn)),
            1 if k + 1 < n_pieces => {
                let apart = turn * DVec3::X * size.x;
                solids.push(block(&slab, centre, size, turn));
                solids.push(block(&slab, centre + apart, size, turn));
                links.push(link(&slab, [k, k + 1], centre + 0.5 * apart, turn * DVec3::X, size.y * size.z));
            }
            _ => solids.push(block(&slab, centre, size, turn)),
        }
    }
    let mut pieces = pieces(&slab, section, solids, links);
    for piece in 0..n_pieces {
        let mut vector = |size: f64| size * (DVec3::new(unit(), unit(), unit()) - 0.5);
        pieces.motions[piece].velocity_m_s = vector(2.0).as_vec3().to_array();
        let spin = vector(8.0);
        set_spin(&mut pieces, piece, spin);
    }
    let grains = (0..n_grains).map(|id| {
        let mut vector = |size: f64| (size * (DVec3::new(unit(), unit(), unit()) - 0.5)).as_vec3().as_dvec3();
        let position = (DVec3::splat(0.5) + vector(0.9)).as_vec3().as_dvec3();
        let radius = f64::from(RADIUS_M as f32);
        Grain { id, position, velocity: vector(2.0), spin: vector(20.0), radius }
    });
    (pieces, grains.collect())
}

/// Creates a floor, and a box that has a name.
fn scenery() -> Vec<UniformBody> {
    let cube = Shape::Box {
        centre_m: DVec3::new(0.3, 0.2, 0.6),
        size_m: DVec3::new(0.3, 0.4, 0.2),
        rotation: glam::DMat3::from_rotation_y(0.3),
    };
    vec![floor(DVec3::new(0.1, 1.0, 0.05).normalize(), 0.5), still(cube, 0.2)]
}

/// Compares a step of pieces and loads on bodies. Bounds: the rounding of positions near 1 m changes an
/// overlap and with it a force, for each of some contacts; torques have an arm of up to 0.5 m.
fn compare(worst: &mut Worst, pack: &Grainpack, expected: &State, found: &State) {
    let p = &pack.p;
    let contacts = 24.0;
    let force = contacts * 16.0 * ROUNDING * 4.0 * p.normal_stiffness;
    for (k, (a, b)) in expected.slabs.motions.iter().zip(&found.slabs.motions).enumerate() {
        let mass = expected.slabs.solids[k].mass;
        let at = format!("piece {k}");
        let speed = p.dt_s * force / mass + 32.0 * ROUNDING * (1.0 + a.velocity.length());
        worst.note("piece velocity", (a.velocity - b.velocity).length(), speed, &at);
        let whirl = 0.5 * p.dt_s * force + 32.0 * ROUNDING * (1.0 + a.angular_momentum.length());
        worst.note("angular momentum", (a.angular_momentum - b.angular_momentum).length(), whirl, &at);
        worst.note("piece place", (a.centre - b.centre).length(), 4.0 * ROUNDING + p.dt_s * speed, &at);
        let turn = a.rotation.dot(b.rotation).abs().min(1.0).acos() * 2.0;
        // acos of a number near 1 has half the digits of f64, and rotations are those of f32.
        worst.note("turn", turn, 1e-6 + 16.0 * ROUNDING, &at);
    }
    worst.note(
        "broken links",
        if expected.slabs.is_whole == found.slabs.is_whole { 0.0 } else { f64::INFINITY },
        1.0,
        format!("{:?} {:?}", expected.slabs.is_whole, found.slabs.is_whole),
    );
    for (k, (a, b)) in expected.slabs.contacts.iter().zip(&found.slabs.contacts).enumerate() {
        // A contact that only one of them has is too weak to matter: the motions are compared anyway.
        if let (Some((theirs, a)), Some((ours, b))) = (a, b) {
            assert_eq!(theirs, ours, "point {k}");
            // At the Coulomb limit the displacement is μ k_n/k_t times an overlap. Near 1 m the corner of a
            // piece has an error of 3.4 roundings (2.4 of a turned arm of 0.35 m, 1 of the sum), its place
            // in the axes of another piece 3.8 more, and the distance from a face of that 0.6. Once the ends
            // separate, the load follows the impulse to come, m*(v_end - v)/Δt, which an overlap changes by
            // k_n/(ω Δt).
            let to_come = quiet().steps_per_contact / std::f64::consts::PI;
            let cut = to_come * 8.0 * ROUNDING * 0.5 * p.normal_stiffness / p.tangential_stiffness;
            worst.note("shear", (*a - *b).length(), 32.0 * ROUNDING * (p.dt_s * 10.0 + 0.02) + cut, k);
        }
    }
    for (k, (a, b)) in expected.loads.iter().zip(&found.loads).enumerate().skip(1) {
        worst.note("force", (a.force - b.force).length(), force + 1e-5 * a.force.length(), k);
        // Arms are up to 1 m long.
        worst.note("torque", (a.torque - b.torque).length(), force + 1e-5 * a.torque.length(), k);
    }
    for (a, b) in expected.grains.iter().zip(&found.grains) {
        let bound =
            8.0 * (p.dt_s * 8.0 * ROUNDING * 4.0 * p.normal_stiffness / a.mass(p) + 32.0 * ROUNDING * 10.0);
        worst.note("grain velocity", (a.velocity - b.velocity).length(), bound, a.id);
        worst.note("grain spin", (a.spin - b.spin).length(), bound * 2.5 / a.radius, a.id);
    }
}

#[test]
fn steps_agree_with_the_twin() {
    let mut touched = [0_usize; 4];
    let mut worst = Worst::default();
    let rolling = Section { rolling_friction: 0.2, ..quiet() };
    let sizes = [(0, 5), (1, 0), (1, 20), (2, 3), (3, 40), (7, 9), (8, 30), (9, 0), (17, 31), (33, 60)];
    for (k, (n_pieces, n_grains)) in sizes.into_iter().enumerate() {
        let section = if k % 2 == 0 { quiet() } else { rolling.clone() };
        let (pieces, grains) = clutter(n_pieces, n_grains, k as u64, &section);
        let mut pack = world(&section, GRAVITY, scenery(), 1, &grains, pieces);
        for _ in 0..4 {
            let expected = pack.twin_step();
            assert_eq!(pack.try_advance(1), None);
            let found = pack.state();
            compare(&mut worst, &pack, &expected, &found);
            touched[0] += usize::from(expected.loads[1].force != DVec3::ZERO);
            touched[1] += expected.slabs.contacts.iter().flatten().count();
            let with_piece = |key: &&(u32, frazil_reference::dem::Partner)| {
                matches!(key.1, frazil_reference::dem::Partner::Piece(_))
            };
            touched[2] += expected.contacts.keys().filter(with_piece).count();
            touched[3] += expected.slabs.is_whole.iter().filter(|whole| !**whole).count();
            assert_eq!(pack.try_advance(7), None);
        }
    }
    assert_eq!(worst.beyond(), "");
    assert!(touched.iter().all(|n| *n > 0), "loads, points, grains on pieces, broken links: {touched:?}");
    assert_no_validation_messages(&DEVICE);
}

/// A plate under 49 cubes, more contacts than the capacity per piece, and beams tip to tip, whose centres are
/// two cells apart along each axis.
#[test]
fn points_find_contacts_with_a_list_without_one_and_from_a_distance() {
    let section = quiet();
    let slab = ice(0.0);
    let cuboid = |centre: DVec3, size: DVec3| block(&slab, centre, size, DQuat::IDENTITY);
    let mut solids = vec![cuboid(DVec3::new(0.0, -0.05, 0.0), DVec3::new(2.0, 0.1, 2.0))];
    for k in 0..49 {
        let [x, z] = [k % 7, k / 7].map(|n| 0.28 * (f64::from(n) - 3.0));
        solids.push(cuboid(DVec3::new(x, 0.119, z), DVec3::splat(0.24)));
    }
    let first_beam = solids.len();
    for (axis, middle) in [[0.0, 1.0, 0.0], [1.5, 0.0, 1.5], [-1.5, 2.0, 0.0]].into_iter().enumerate() {
        let along = DVec3::AXES[axis];
        let size = |side: f64| DVec3::splat(side) + (4.0 - side) * along;
        solids.push(cuboid(DVec3::from_array(middle) - 2.0 * along, size(0.2)));
        solids.push(cuboid(DVec3::from_array(middle) + 1.998 * along, size(0.1)));
    }
    let n_solids = solids.len();
    let pieces = pieces(&slab, &section, solids, vec![]);
    let point_pieces = pieces.point_pieces.clone();
    let mut pack = world(&section, DVec3::ZERO, vec![], 0, &[], pieces);
    let expected = pack.twin_step();
    assert_eq!(pack.try_advance(1), None);
    let found = pack.state();
    let mut worst = Worst::default();
    compare(&mut worst, &pack, &expected, &found);
    assert_eq!(worst.beyond(), "");
    let mut n_touching = vec![0; n_solids];
    for (k, piece) in point_pieces.into_iter().enumerate() {
        let [theirs, ours] =
            [&expected, &found].map(|state| state.slabs.contacts[k].map(|(partner, _)| partner));
        assert_eq!(ours, theirs, "point {k} of piece {piece}");
        n_touching[piece as usize] += usize::from(ours.is_some());
    }
    // All cubes, the plate, and the narrower beam of each pair.
    assert!(n_touching[..first_beam].iter().all(|n| *n > 0), "{n_touching:?}");
    assert!((0..3).all(|pair| n_touching[first_beam + 2 * pair + 1] > 0), "{n_touching:?}");
}

fn words(columns: Vec<StateColumn>) -> Vec<(String, Vec<u32>)> {
    columns.into_iter().map(|c| (c.name, c.words)).collect()
}

#[test]
fn runs_and_restarts_give_the_same_bits() {
    let section = Section { rolling_friction: 0.1, ..quiet() };
    let (pieces, grains) = clutter(17, 60, 5, &section);
    let begin = || world(&section, GRAVITY, scenery(), 1, &grains, pieces.clone());
    let mut first = begin();
    assert_eq!(first.try_advance(100), None);
    let checkpoint = first.columns();
    assert_eq!(first.try_advance(100), None);
    let expected = words(first.columns());
    assert!(expected.iter().any(|(name, words)| name == "slab_link" && words.contains(&0)), "a link breaks");
    let mut again = begin();
    assert_eq!(again.try_advance(200), None);
    assert_eq!(words(again.columns()), expected);
    let mut resumed = begin();
    let parameters = resumed.dem.parameters().clone();
    resumed.dem = Dem::restore(&DEVICE, parameters.clone(), &checkpoint, 100, Default::default()).unwrap();
    assert_eq!(resumed.try_advance(100), None);
    assert_eq!(words(resumed.columns()), expected);

    // More pieces than the 64 threads of a group.
    let (many, _) = clutter(70, 0, 6, &section);
    let mut alone = world(&section, GRAVITY, scenery(), 1, &[], many);
    let of_many = alone.dem.parameters().clone();
    assert_eq!(alone.try_advance(60), None);
    let by_default = words(alone.columns());
    for size in [64, 128] {
        let tuning = Tuning::new(size).unwrap();
        alone.dem = Dem::new(&DEVICE, of_many.clone(), &Grains::default(), tuning).unwrap();
        assert_eq!(alone.try_advance(60), None);
        assert_eq!(words(alone.columns()), by_default, "groups of {size}");
    }

    let short: Vec<StateColumn> = checkpoint.into_iter().filter(|c| c.name != "slab_motion").collect();
    let refused =
        Dem::restore(&DEVICE, parameters, &short, 100, Default::default()).err().unwrap().to_string();
    assert!(refused.contains("slab_motion") && refused.contains("missing"), "{refused}");
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_piece_that_is_not_finite_is_a_fault_that_freezes_the_state() {
    let section = quiet();
    let (mut pieces, grains) = clutter(5, 3, 2, &section);
    pieces.motions[3].velocity_m_s = [3e38, 0.0, 0.0];
    pieces.motions[3].angular_momentum_kg_m2_s = [0.0, 3e38, 0.0];
    let mut pack = world(&section, GRAVITY, scenery(), 1, &grains, pieces);
    let fault = pack.try_advance(1).unwrap();
    assert_eq!((fault.step, fault.piece_not_finite), (1, Some(3)));
    let broken = words(pack.columns());
    assert_eq!(pack.try_advance(5).map(|fault| fault.step), Some(1));
    let columns = words(pack.columns());
    let motion =
        |columns: &[(String, Vec<u32>)]| columns.iter().find(|(name, _)| name == "slab_motion").cloned();
    assert!(motion(&broken).is_some());
    assert_eq!(motion(&columns), motion(&broken), "no piece moves from then on");
    let said = fault.to_string();
    assert!(said.contains("step 1, pass") && (said.contains("piece 3") || said.contains("grain")), "{said}");
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn pieces_links_and_grains_keep_momentum_and_angular_momentum() {
    let section = Section { rolling_friction: 0.1, ..quiet() };
    let (pieces, grains) = clutter(17, 60, 9, &section);
    let mut pack = world(&section, DVec3::ZERO, Vec::new(), 0, &grains, pieces);
    let before = pack.state();
    let (p, l) = (before.momentum(&pack.p), before.angular_momentum(&pack.p));
    let steps = 300;
    assert_eq!(pack.try_advance(steps), None);
    let after = pack.state();
    let size: f64 = before.grains.iter().map(|g| g.mass(&pack.p) * g.velocity.length()).sum::<f64>()
        + before
            .slabs
            .solids
            .iter()
            .zip(&before.slabs.motions)
            .map(|(s, m)| s.mass * m.velocity.length())
            .sum::<f64>();
    let exchanged = (after.slabs.momentum() - before.slabs.momentum()).length();
    assert!(exchanged > 0.01 * size, "grains and pieces push each other: {exchanged} of {size}");
    // Each step rounds velocities once with random sign: errors grow with the root of the number of steps.
    let drift = size * 16.0 * ROUNDING * (steps as f64).sqrt();
    assert!(
        (after.momentum(&pack.p) - p).length() < drift,
        "{} {drift}",
        (after.momentum(&pack.p) - p).length()
    );
    let turned = (after.angular_momentum(&pack.p) - l).length();
    // Positions are rounded too, and forces are up to 10 kN: x × F has an error of ROUNDING × F × Δt in each
    // step.
    let drift_of_turning = 4.0 * drift + steps as f64 * pack.p.dt_s * 1e4 * ROUNDING;
    assert!(turned < drift_of_turning, "{turned} {drift_of_turning}");
}

#[test]
fn an_eccentric_impact_on_a_piece_follows_rigid_body_dynamics() {
    // A grain hits a plate at right angles 0.35 m from its centre, without friction: J = (1 + e) v m*, with
    // 1/m* = 1/m + 1/M + d²/I.
    let e = 0.5;
    let section = Section { friction: 0.0, steps_per_contact: 200.0, ..quiet() };
    let slab = Slab { friction: Some(0.0), restitution: Some(e), ..ice(0.0) };
    let plate = block(&slab, DVec3::ZERO, DVec3::new(1.0, 0.1, 0.4), DQuat::IDENTITY);
    let (d, v) = (0.35, 3.0);
    let inertia = plate.inertia_kg_m2[2][2];
    let inertia_expected = plate.mass_kg * (1.0 + 0.01) / 12.0;
    assert!((inertia - inertia_expected).abs() < 1e-9);
    let mass = plate.mass_kg;
    let mut hit = grain(0, RADIUS_M, DVec3::new(d, 0.05 + RADIUS_M + 0.001, 0.0));
    hit.velocity = DVec3::new(0.0, -v, 0.0);
    let mut pack =
        world(&section, DVec3::ZERO, Vec::new(), 0, &[hit], pieces(&slab, &section, vec![plate], vec![]));
    let m = hit.mass(&pack.p);
    let reduced = 1.0 / (1.0 / m + 1.0 / mass + d * d / inertia);
    let impulse = (1.0 + e) * v * reduced;
    assert_eq!(pack.try_advance(400), None);
    let state = pack.state();
    let (rebound, velocity) = (state.grains[0].velocity.y + v, state.slabs.motions[0].velocity.y);
    // The contact point moves slightly during the contact.
    assert!((rebound - impulse / m).abs() < 0.01 * impulse / m, "{rebound} {}", impulse / m);
    assert!((velocity + impulse / mass).abs() < 0.01 * impulse / mass, "{velocity} {}", impulse / mass);
    let whirl = state.slabs.motions[0].angular_momentum.z;
    assert!((whirl + d * impulse).abs() < 0.01 * d * impulse, "{whirl} {}", d * impulse);
}

#[test]
fn a_free_piece_rotates_by_eulers_equations() {
    // A square plate is a symmetric top: its axis precesses around L at |L|/I₁, and its inertia is (1, 2, 1)
    // about x, y, z in the limit of zero thickness.
    let section = quiet();
    let slab = ice(0.0);
    let plate = block(&slab, DVec3::ZERO, DVec3::new(0.4, 0.05, 0.4), DQuat::from_rotation_x(0.4));
    let mut pieces_of = pieces(&slab, &section, vec![plate], vec![]);
    set_spin(&mut pieces_of, 0, DVec3::new(2.0, 6.0, 1.0));
    let mut pack = world(&section, DVec3::ZERO, Vec::new(), 0, &[], pieces_of);
    let before = pack.state().slabs;
    let l = before.motions[0].angular_momentum;
    let about = |size: f64, other: f64| before.solids[0].mass * (size * size + other * other) / 12.0;
    let across = about(0.4, 0.05);
    let axis = |slabs: &frazil_reference::dem::Slabs| {
        slabs.motions[0].rotation * DQuat::from_rotation_x(0.4) * DVec3::Y
    };
    let begin = axis(&before);
    for turns in 1..=4 {
        assert_eq!(pack.try_advance(500), None);
        let time = f64::from(turns) * 500.0 * pack.p.dt_s;
        let now = pack.state().slabs;
        let expected = DQuat::from_axis_angle(l.normalize(), l.length() / across * time) * begin;
        let error = axis(&now).angle_between(expected);
        // Second order: (ω Δt)² of each radian of rotation, and one rounding per step.
        let turned = l.length() / across * time;
        let bound = turned * (10.0 * pack.p.dt_s).powi(2) + f64::from(turns) * 500.0 * 4.0 * ROUNDING;
        assert!(error < bound, "after {turned} rad: {error}, bound {bound}");
        assert_eq!(now.motions[0].angular_momentum, l, "nothing changes L");
        let energy = now.kinetic_energy() / before.kinetic_energy() - 1.0;
        assert!(energy.abs() < bound, "{energy}");
    }
}

#[test]
fn a_block_on_a_slope_sticks_and_slides_by_coulombs_law() {
    let mu = 0.4;
    let section = Section { restitution: 0.3, ..quiet() };
    let slab = Slab { friction: Some(mu), restitution: Some(0.3), ..ice(0.0) };
    for (tangent, slides) in [(0.3_f64, false), (0.7, true)] {
        let angle = tangent.atan();
        let turn = DQuat::from_rotation_z(-angle);
        let normal = turn * DVec3::Y;
        let size = DVec3::new(0.4, 0.1, 0.3);
        let block = block(&slab, 0.05 * normal, size, turn);
        let g = DVec3::new(0.0, -9.81, 0.0);
        let pieces = pieces(&slab, &section, vec![block], vec![]);
        let mut pack = world(&section, g, vec![floor(normal, 0.9)], 0, &[], pieces);
        let steps = 1500;
        assert_eq!(pack.try_advance(steps), None);
        let slabs = pack.state().slabs;
        let (motion, time) = (slabs.motions[0], steps as f64 * pack.p.dt_s);
        let down = turn * DVec3::X;
        let speed = motion.velocity.dot(down);
        if slides {
            let expected = 9.81 * (angle.sin() - mu * angle.cos()) * time;
            // It slides fully only after the tangential springs have reached the Coulomb limit.
            assert!((speed - expected).abs() < 0.01 * expected, "{speed} {expected}");
            assert!(slabs.spin(0).length() < 0.02, "it does not tip: {}", slabs.spin(0));
        } else {
            assert!(motion.velocity.length() < 1e-4, "at rest: {}", motion.velocity);
            let crept = (motion.centre - 0.05 * normal).dot(down);
            assert!((0.0..1e-3).contains(&crept), "{crept} m, as far as springs give");
        }
    }
}

#[test]
fn links_hold_their_load_and_break_beyond() {
    // A block of 0.2 m is linked to the middle of a beam across a gap, and hangs; or to the end of a beam on
    // a table, as a cantilever beyond its edge. The hanging block loads the face with its weight; the
    // cantilever with 6 M/s³ at the top of the face, M = m g s/2, and the shear m g.
    let section = Section { restitution: 0.3, ..quiet() };
    let s = 0.2;
    let weight = 900.0 * s * s * s * 9.81;
    let area = s * s;
    let (hanging, bending) = (weight / area, 6.0 * (weight * 0.5 * s) / (s * s * s));
    let support = |from: f64, to: f64| {
        let shape = Shape::Box {
            centre_m: DVec3::new(0.5 * (from + to), -0.5, 0.0),
            size_m: DVec3::new(to - from, 1.0, 1.0),
            rotation: glam::DMat3::IDENTITY,
        };
        still(shape, 0.8)
    };
    let over_a_gap = vec![support(-1.0, -0.15), support(0.15, 1.0)];
    // The table ends before the face, so that the cantilever does not rest on it.
    let on_a_table = vec![support(-1.0, -0.1)];
    let cases = [
        (DVec3::new(0.0, 0.1, 0.0), DVec3::NEG_Y, 0.5 * s, hanging, over_a_gap),
        (DVec3::new(-0.4, 0.1, 0.0), DVec3::X, 0.4, bending, on_a_table),
    ];
    for (beam_m, direction, half_m, stress, bodies) in cases {
        for (share, holds) in [(1.1, true), (0.9, false)] {
            let slab = Slab { link_shear_strength_pa: Some(1e9), ..ice(share * stress) };
            let solids = vec![
                block(&slab, beam_m, DVec3::new(0.8, s, s), DQuat::IDENTITY),
                block(&slab, beam_m + (half_m + 0.5 * s) * direction, DVec3::splat(s), DQuat::IDENTITY),
            ];
            let joint = link(&slab, [0, 1], beam_m + half_m * direction, direction, area);
            let pieces = pieces(&slab, &section, solids, vec![joint]);
            let mut pack = world(&section, DVec3::ZERO, bodies.clone(), 0, &[], pieces);
            // A sudden load would count twice: gravity is increased in many small steps.
            let n = 25;
            for k in 1..=n {
                let mut parameters = pack.dem.parameters().clone();
                parameters.terms.gravity_m_s2[1] = (-9.81 * f64::from(k) / f64::from(n)) as f32;
                pack.dem =
                    Dem::restore(&DEVICE, parameters, &pack.columns(), pack.dem.step(), Default::default())
                        .unwrap();
                assert_eq!(pack.try_advance(40), None);
            }
            assert_eq!(pack.state().slabs.is_whole[0], holds, "{direction}: bears {share} of its load");
        }
    }
}

#[test]
fn pieces_settle_at_rest() {
    let section = Section { restitution: 0.3, ..quiet() };
    let slab = Slab { friction: Some(0.5), restitution: Some(0.3), ..ice(0.0) };
    let size = DVec3::new(0.4, 0.1, 0.3);
    let turns = [0.0, 0.5, -0.3];
    let boxes = (0..3).zip(turns).map(|(k, turn)| {
        block(&slab, DVec3::Y * (0.06 + 0.11 * f64::from(k)), size, DQuat::from_rotation_y(turn))
    });
    let pieces = pieces(&slab, &section, boxes.collect(), vec![]);
    let g = DVec3::new(0.0, -9.81, 0.0);
    let mut pack = world(&section, g, vec![floor(DVec3::Y, 0.5)], 0, &[], pieces);
    assert_eq!(pack.try_advance(3000), None);
    let slabs = pack.state().slabs;
    for (k, motion) in slabs.motions.iter().enumerate() {
        let rests = 0.05 + 0.1 * k as f64;
        // Springs deflect by m g / (n k): far less than a millimetre.
        assert!((motion.centre.y - rests).abs() < 1e-3, "block {k} at {}", motion.centre.y);
        assert!(motion.velocity.length() < 1e-3, "block {k} at {}", motion.velocity);
    }
}

#[test]
fn a_body_bears_weight_its_moment_and_impulse() {
    // A table under grains and a block carries their weight; a grain that falls on it transfers m (1 + e) v.
    let table = Shape::Box {
        centre_m: DVec3::ZERO,
        size_m: DVec3::new(2.0, 0.2, 2.0),
        rotation: glam::DMat3::IDENTITY,
    };
    let section = Section { restitution: 0.3, ..quiet() };
    let slab = Slab { restitution: Some(0.3), ..ice(0.0) };
    let lying = block(&slab, DVec3::new(0.4, 0.151, 0.0), DVec3::new(0.3, 0.1, 0.3), DQuat::IDENTITY);
    let block_mass = lying.mass_kg;
    let grains: Vec<Grain> = (0..9)
        .map(|k| grain(k, RADIUS_M, DVec3::new(-0.5 + 0.1 * f64::from(k % 3), 0.141, 0.1 * f64::from(k / 3))))
        .collect();
    let g = DVec3::new(0.0, -9.81, 0.0);
    let mut pack = world(
        &section,
        g,
        vec![floor(DVec3::Y, 0.5), still(table.clone(), 0.5)],
        1,
        &grains,
        pieces(&slab, &section, vec![lying], vec![]),
    );
    assert_eq!(pack.try_advance(3000), None);
    let weight = 9.81 * (block_mass + grains.iter().map(|g| g.mass(&pack.p)).sum::<f64>());
    let (state, load) = (pack.state(), pack.state().loads[1]);
    assert!((load.force + DVec3::Y * weight).length() < 1e-3 * weight, "{load:?} {weight}");
    // Grains and block lie off the table's centre, the origin: their weight has a moment about it.
    let of_grains: DVec3 = state.grains.iter().map(|grain| grain.mass(&pack.p) * grain.position).sum();
    let moment = (of_grains + block_mass * state.slabs.motions[0].centre).cross(g);
    assert!(moment.length() > 0.1 * weight, "{moment} N m");
    assert!((load.torque - moment).length() < 1e-3 * moment.length(), "{load:?} {moment}");

    let e = 0.5;
    let section = Section { restitution: e, steps_per_contact: 200.0, ..quiet() };
    let mut falls = grain(0, RADIUS_M, DVec3::new(0.0, 0.1 + RADIUS_M + 0.001, 0.0));
    falls.velocity = DVec3::new(0.0, -3.0, 0.0);
    let mut pack = world(&section, DVec3::ZERO, vec![still(table, 0.5)], 1, &[falls], Pieces::default());
    assert_eq!(pack.try_advance(600), None);
    let metrics = pack.advance(1);
    let expected = falls.mass(&pack.p) * (1.0 + e) * 3.0;
    let impulse = metrics.loads[0].impulse_n_s;
    assert!((impulse[1] + expected).abs() < 5e-3 * expected, "{impulse:?} {expected}");
    // Half a sine without damping has a peak of π/2 of its mean; damping shifts the peak to an earlier time.
    let contact = PI * (falls.mass(&pack.p) / STIFFNESS_N_M).sqrt();
    let peak = metrics.loads[0].peak_n / (expected / contact);
    assert!((1.4..2.2).contains(&peak), "{peak}");
    assert_eq!(metrics.loads[0].force_n, [0.0; 3], "nothing touches it any more");

    // The same holds for a grain that a step moves far into the table and that is projected out of it: the
    // table receives its momentum, whatever the force law.
    // Farther than its radius would be a fault.
    falls.velocity = DVec3::new(0.0, -0.97 * RADIUS_M / dt_s(&section), 0.0);
    let table = Shape::Box {
        centre_m: DVec3::ZERO,
        size_m: DVec3::new(2.0, 0.2, 2.0),
        rotation: glam::DMat3::IDENTITY,
    };
    let mut pack = world(&section, DVec3::ZERO, vec![still(table, 0.5)], 1, &[falls], Pieces::default());
    let metrics = pack.advance(600);
    let rebound = pack.state().grains[0].velocity - falls.velocity;
    assert!(rebound.y >= -falls.velocity.y, "it did not stop: {rebound}");
    let (expected, impulse) = (falls.mass(&pack.p) * rebound.y, metrics.loads[0].impulse_n_s);
    // Forces sum with 24 bits of precision over 600 steps, most of the impulse in one step.
    assert!((impulse[1] + expected).abs() < 1e-5 * expected, "{impulse:?} {expected}");
}
