//! Meshes as bodies on the device, compared with their f64 twin and with the box, ball and wall that they
//! represent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::{Grain, Partner};
use frazil_reference::uniform_bodies::{Mesh, Motion, Shape, Surface, UniformBody};
use frazil_scene::{Dem as Section, Implicit, Mpm};
use frazil_solvers::Surroundings;
use frazil_testkit::twins::dem::section;
use frazil_testkit::{Random, assert_no_validation_messages, config, device};
use frazil_tests::bodies::{ball, moving, plow};
use frazil_tests::grains::{Grainpack, dt_s, grain};
use frazil_tests::meshes::{ball_mesh, box_mesh, device_mesh, prism};
use frazil_tests::snowpack::Snowpack;
use frazil_vk::Device;
use glam::{DMat3, DVec3};
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const R: f64 = 0.05;
/// Unit in the last place of positions near 1 m.
const ULP: f64 = 1.0 / (1 << 23) as f64;
const DOWN: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const WIDE: [DVec3; 2] = [DVec3::splat(-4.0), DVec3::splat(4.0)];

fn body(shape: Shape) -> UniformBody {
    UniformBody { shape, surface: Surface { friction: 0.4, sticky: false }, motion: None }
}

/// Creates a mesh with a notch of 96 degrees between two spikes of 45, and flat faces of several triangles.
fn notched() -> Mesh {
    prism(&[[0.0, 0.25], [-0.5, 0.75], [-0.5, -0.5], [0.5, -0.5], [0.625, 0.75]], -0.5, 0.5)
}

/// Returns grains that start at rest at these points after a step without gravity, on the device and on the
/// twin: projected out of the surface if they are too deep, and pushed by its force. No two of them touch.
fn asked(mesh: &Mesh, points: &[DVec3]) -> (Vec<Grain>, Vec<Grain>, Grainpack) {
    // Soft, so that forces are as precise as positions.
    let section = Section { friction: 0.0, ..section(R, 10.0) };
    let grains: Vec<Grain> = points.iter().zip(0..).map(|(x, id)| grain(id, R, *x)).collect();
    let dt = dt_s(&section);
    let with = |grains: &[Grain]| {
        let bodies = vec![body(Shape::Mesh(mesh.clone()))];
        Grainpack::on(DEVICE.clone(), &section, dt, DVec3::ZERO, WIDE, bodies, grains)
    };
    let (mut found, mut expected, mut pack) = (Vec::new(), Vec::new(), with(&[]));
    for group in apart(&grains) {
        pack = with(&group);
        expected.extend(pack.twin_step().grains);
        assert_eq!(pack.try_advance(1), None);
        found.extend(pack.state().grains);
    }
    (found, expected, pack)
}

/// Splits grains into groups in which no two touch, each with ids from 0.
fn apart(grains: &[Grain]) -> Vec<Vec<Grain>> {
    let mut groups: Vec<Vec<Grain>> = Vec::new();
    for grain in grains {
        let is_free = |group: &&mut Vec<Grain>| {
            group.iter().all(|other| other.position.distance(grain.position) > 2.5 * R)
        };
        match groups.iter_mut().find(is_free) {
            Some(group) => group.push(Grain { id: group.len() as u32, ..*grain }),
            None => groups.push(vec![Grain { id: 0, ..*grain }]),
        }
    }
    groups
}

/// Returns the maximum difference of positions and velocities, in units of the rounding at 1 m.
fn worst(found: &[Grain], expected: &[Grain], pack: &Grainpack) -> f64 {
    differences(found, expected, pack).into_iter().fold(0.0, f64::max)
}

/// Returns the difference of each grain in the same units.
fn differences(found: &[Grain], expected: &[Grain], pack: &Grainpack) -> Vec<f64> {
    assert_eq!(found.len(), expected.len());
    let speed =
        pack.p.dt_s * pack.p.normal_stiffness / expected.first().map_or(1.0, |g| g.mass(&pack.p)) * ULP;
    let of = |(a, b): (&Grain, &Grain)| {
        let place = a.position.distance(b.position) / ULP;
        place.max(a.velocity.distance(b.velocity) / speed)
    };
    found.iter().zip(expected).map(of).collect()
}

/// Allowed difference: on edges and corners the nearest point belongs to several faces; for points farther
/// from the surface than rounding, the answer is the same.
const ALLOWED: f64 = 24.0;

/// Returns points of single precision on the surface: corners, middles of edges and faces, and points at a
/// small offset.
fn about_the_surface(mesh: &Mesh, offset_m: f64) -> Vec<DVec3> {
    let of = |t: &[DVec3; 3]| {
        let [a, b, c] = *t;
        let face = (b - a).cross(c - a).normalize();
        let middle = (a + b + c) / 3.0;
        let off = [DVec3::ZERO, offset_m * face, -offset_m * face];
        let places = [a, 0.5 * (a + b), 0.25 * a + 0.75 * c, middle, 0.9 * middle + 0.1 * b];
        places.into_iter().flat_map(|p| off.map(|o| (p + o).as_vec3().as_dvec3())).collect::<Vec<_>>()
    };
    mesh.triangles_m.iter().flat_map(of).collect()
}

#[test]
fn on_faces_edges_and_corners_a_mesh_is_where_its_twin_is() {
    for mesh in [box_mesh(DVec3::splat(-0.25), DVec3::new(0.5, 0.25, 0.25)), notched()] {
        for offset_m in [0.02, 0.04] {
            let points = about_the_surface(&mesh, offset_m);
            // Exactly on the surface, the side depends on rounding: only the distance by which a grain is
            // moved out is checked.
            let (on, off): (Vec<_>, Vec<_>) =
                points.into_iter().partition(|x| mesh.distance_m(*x).0.abs() < 1e-6);
            let (found, expected, pack) = asked(&mesh, &off);
            let off_by = worst(&found, &expected, &pack);
            assert!(off_by < ALLOWED, "{off_by} roundings");
            let (found, ..) = asked(&mesh, &on);
            assert!(found.len() > 20);
            for grain in found {
                let (distance, _) = mesh.distance_m(grain.position);
                // Bounded below by the slope of its normal relative to the sharpest edge.
                assert!(distance > 0.01 * R && distance < 0.1001 * R, "{distance} at {}", grain.position);
            }
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// Creates a splinter, one of whose four sides is a fan of eight slivers.
fn splinter() -> Mesh {
    let tip = DVec3::new(0.0, 0.75, 0.0);
    let mut foot = vec![DVec3::new(-0.125, -0.25, 0.125)];
    foot.extend((0..=8).map(|k| DVec3::new(0.125, -0.25, 0.125 - f64::from(k) / 32.0)));
    foot.push(DVec3::new(-0.125, -0.25, -0.125));
    let n = foot.len();
    let sides = (0..n).map(|k| [foot[k], foot[(k + 1) % n], tip]);
    let below = (1..n - 1).map(|k| [foot[0], foot[k + 1], foot[k]]);
    Mesh { triangles_m: sides.chain(below).collect() }
}

/// At a sharp tip neither a normal of a face or an edge nor their unweighted sum distinguishes inside from
/// outside if one side is divided into many.
#[test]
fn about_a_sharp_tip_a_mesh_is_where_its_twin_is() {
    let mut random = Random::new(2);
    let mut unit = || 2.0 * f64::from(random.unit()) - 1.0;
    let mesh = splinter();
    let points: Vec<DVec3> = (0..200)
        .map(|_| DVec3::new(unit(), 0.5 * unit(), unit()).normalize())
        .map(|direction| (DVec3::new(0.0, 0.75, 0.0) + 0.03 * direction).as_vec3().as_dvec3())
        .filter(|x| is_plain(&mesh, *x))
        .collect();
    assert!(points.len() > 100, "{} points", points.len());
    let (found, expected, pack) = asked(&mesh, &points);
    let off_by = worst(&found, &expected, &pack);
    assert!(off_by < ALLOWED, "{off_by} roundings");
    assert_no_validation_messages(&DEVICE);
}

proptest! {
    #![proptest_config(config(8))]

    /// Points anywhere inside, around and far from the mesh; also deep inside, where all triangles are almost
    /// equally far.
    #[test]
    fn anywhere_a_mesh_is_where_its_twin_is(seed in any::<u64>(), n in 1_i32..9, is_ball in any::<bool>()) {
        let mesh = if is_ball { ball_mesh(DVec3::new(0.1, -0.05, 0.03), 0.4, n) } else { notched() };
        let mut random = Random::new(seed);
        let mut coordinate = || 1.8 * (f64::from(random.unit()) - 0.5);
        let points: Vec<DVec3> = (0..200)
            .map(|_| DVec3::new(coordinate(), coordinate(), coordinate()).as_vec3().as_dvec3())
            // If the distances of two features differ by less than rounding, either is correct.
            .filter(|x| is_plain(&mesh, *x))
            .collect();
        let (found, expected, pack) = asked(&mesh, &points);
        let off_by = differences(&found, &expected, &pack);
        let n_beyond = off_by.iter().filter(|off_by| **off_by >= ALLOWED).count();
        let worst = off_by.into_iter().fold(0.0, f64::max);
        prop_assert!(
            n_beyond <= TIES && worst < ALLOWED_IN_TIES,
            "{n_beyond} grains off, by up to {worst} roundings"
        );
    }
}

/// Allowed number of ties: near a side of a triangle, even one within a face, points of both triangles are
/// equally far up to rounding if they are at most √(2 d · 4 ulp) apart, at d ≤ 0.9 m. Of 100 000 points one
/// is so near a side that the other triangle is selected.
const TIES: usize = 2;
const ALLOWED_IN_TIES: f64 = 7800.0;

/// At this distance the rounding of a position changes the direction to an edge such that a grain of radius R
/// moves by a quarter of the rounding.
const NEAREST_EDGE_M: f64 = R / 4.0;

/// Returns true if the normal is constant in a small neighbourhood of a point, except for the variation of
/// one that comes from an edge.
fn is_plain(mesh: &Mesh, x: DVec3) -> bool {
    let (distance, normal) = mesh.distance_m(x);
    let beside = DVec3::AXES.iter().flat_map(|axis| [1e-5, -1e-5].map(|by| mesh.distance_m(x + by * axis).1));
    distance.abs() > 1e-3 && beside.into_iter().all(|other| other.distance(normal) < 1e-5 / NEAREST_EDGE_M)
}

/// The leaves of a tree contain all triangles once, for any number of them.
#[test]
fn every_triangle_is_in_the_tree_once() {
    for n in [1, 2, 3, 5, 8] {
        let mesh = ball_mesh(DVec3::ZERO, 1.0, n);
        let mut numbers = vec![7.0; 3];
        let body = device_mesh(&mesh, &mut numbers);
        let [levels, n_triangles] = body.n_heights.map(|n| n as usize);
        assert_eq!((body.first_height, n_triangles), (3, mesh.triangles_m.len()));
        let triangles = 4 + 6 * ((2 << levels) - 1);
        assert_eq!(numbers.len(), triangles + 30 * n_triangles);
        let mut found: Vec<[u32; 9]> = (0..n_triangles)
            .map(|k| std::array::from_fn(|i| numbers[triangles + 30 * k + i].to_bits()))
            .collect();
        let mut expected: Vec<[u32; 9]> = mesh
            .triangles_m
            .iter()
            .map(|t| std::array::from_fn(|i| (t[i / 3][i % 3] as f32).to_bits()))
            .collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

fn rests_on(shape: Shape, steps: u64) -> Vec<Grain> {
    let section = Section { rolling_friction: 0.05, ..section(R, 2e4) };
    let mut random = Random::new(5);
    let grains: Vec<Grain> = (0..9)
        .map(|id| {
            let at = DVec3::new(f64::from(id % 3) - 1.0, 0.0, f64::from(id / 3) - 1.0);
            let aside = DVec3::new(f64::from(random.unit()), 0.0, f64::from(random.unit()));
            grain(id, R, 0.15 * at + 0.01 * aside + (0.25 + 1.001 * R) * DVec3::Y)
        })
        .collect();
    let mut pack =
        Grainpack::on(DEVICE.clone(), &section, dt_s(&section), DOWN, WIDE, vec![body(shape)], &grains);
    pack.advance(steps);
    pack.state().grains
}

/// Grains on a box and on the mesh of a box differ after a thousand steps only by accumulated rounding.
#[test]
fn grains_rest_on_the_mesh_of_a_box_as_on_the_box() {
    let half = DVec3::new(0.5, 0.25, 0.5);
    let on_box =
        rests_on(Shape::Box { centre_m: DVec3::ZERO, size_m: 2.0 * half, rotation: DMat3::IDENTITY }, 1000);
    let on_mesh = rests_on(Shape::Mesh(box_mesh(-half, half)), 1000);
    for (a, b) in on_box.iter().zip(&on_mesh) {
        assert!(a.position.distance(b.position) < 1e-5 * R, "{} and {}", a.position, b.position);
        assert!((a.position.y - 0.25 - R).abs() < 0.01 * R, "{}", a.position);
    }
    // Without the obstacle the grains fall away.
    let away = box_mesh(DVec3::splat(2.0), DVec3::splat(3.0));
    assert!(rests_on(Shape::Mesh(away), 1000).iter().all(|g| g.position.y < 0.0));
    assert_no_validation_messages(&DEVICE);
}

/// A ball of snow falls onto a block and onto the mesh of one, explicitly and semi-implicitly: every kernel
/// that queries surfaces supports both.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn snow_on_a_grid_meets_the_mesh_of_a_box_as_the_box() {
    let half = DVec3::new(0.3, 0.1, 0.3);
    let centre = DVec3::new(0.5, 0.2, 0.5);
    for implicit in [None, Some(Implicit { beta: 0.5, max_iterations: 10, tolerance: 1e-4 })] {
        let section = Mpm { implicit, ..Mpm::sampled(3, 1.0 / 16.0) };
        let lands_on = |is_mesh: bool| {
            let mut surroundings = Surroundings {
                domain_max_m: [1.0; 3],
                gravity_m_s2: [0.0, -9.81, 0.0],
                up_axis: 1,
                ..Default::default()
            };
            let body = if is_mesh {
                device_mesh(&box_mesh(centre - half, centre + half), &mut surroundings.body_data)
            } else {
                plow(centre.to_array(), half.to_array(), [0.0; 3], 0.0, 0.0)
            };
            surroundings.bodies.push(frazil_shaders::types::Body { friction: 0.4, ..body });
            let ball =
                moving(ball(3, [0.5, 0.45, 0.5], 0.12, 1.0 / 32.0, 300.0), |_| DVec3::new(0.5, -4.0, 0.0));
            let mut snow = Snowpack::on(DEVICE.clone(), &section, 2e-4, surroundings, &ball);
            snow.advance(250);
            let mut particles = snow.particles();
            particles.sort_by_key(|particle| particle.id);
            particles
        };
        let (on_mesh, on_box) = (lands_on(true), lands_on(false));
        assert!(on_box.len() > 200 && on_box.iter().all(|p| p.position.y > 0.3 - 1e-6));
        let slowed = on_box.iter().filter(|p| p.velocity.y > -2.0).count();
        assert!(slowed > on_box.len() / 2, "{slowed} of {} have landed", on_box.len());
        for (a, b) in on_mesh.iter().zip(&on_box) {
            assert!(
                a.position.distance(b.position) < 1e-4,
                "{implicit:?}: {} and {}",
                a.position,
                b.position
            );
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// Two hundred grains at 10 m/s against a wall across a channel: none passes it, and all pass without a wall.
#[test]
fn a_wall_that_is_a_mesh_stops_a_flow() {
    let section = Section { rolling_friction: 0.05, restitution: 0.3, ..section(R, 1e5) };
    let mut random = Random::new(8);
    let grains: Vec<Grain> = (0..200)
        .map(|id| {
            let at = [id % 4, id / 4 % 8, id / 32].map(|k| f64::from(k) * 2.1 * R);
            let place =
                DVec3::new(-0.4 - at[0] - at[2] * 4.0, R + at[1], R * (2.0 + f64::from(random.unit())));
            Grain { velocity: DVec3::new(10.0, 0.0, 0.0), ..grain(id, R, place) }
        })
        .collect();
    let domain = [DVec3::new(-4.0, 0.0, 0.0), DVec3::new(4.0, 2.0, 0.25)];
    let past = |bodies: Vec<UniformBody>| {
        let mut pack =
            Grainpack::on(DEVICE.clone(), &section, dt_s(&section), 0.1 * DOWN, domain, bodies, &grains);
        pack.advance(1200);
        let state = pack.state();
        let touching = state.contacts.keys().filter(|(_, p)| *p == Partner::Body(0)).count();
        (state.grains.iter().filter(|g| g.position.x > 0.0).count(), touching)
    };
    // A wall as thin as a grain, inclined, from floor to ceiling and into the side walls.
    let wall = prism(&[[-0.1, -0.5], [0.0, -0.5], [0.2, 2.5], [0.1, 2.5]], -0.5, 0.75);
    let (n_past, touching) = past(vec![body(Shape::Mesh(wall.clone()))]);
    assert_eq!(n_past, 0);
    assert!(touching > 3, "{touching} grains touch it");
    let (n_past, _) = past(Vec::new());
    assert!(n_past > 60, "{n_past} of 200 pass where nothing stands");
    // A wall that moves towards the grains pushes them along.
    let motion = Some(Motion { velocity_m_s: DVec3::new(-2.0, 0.0, 0.0), from_s: 0.0, until_s: 9.0 });
    let (n_past, _) = past(vec![UniformBody { motion, ..body(Shape::Mesh(wall)) }]);
    assert_eq!(n_past, 0);
    assert_no_validation_messages(&DEVICE);
}
