use frazil_reference::mpm::{Parameters, collide};
use frazil_reference::uniform_bodies::{Heights, Motion, Shape, Surface, UniformBody};
use glam::{DMat3, DVec3};

use crate::{Random, close, parameters};

const SLIPPERY: Surface = Surface { friction: 0.0, sticky: false };
const ROUGH: Surface = Surface { friction: 0.5, sticky: false };
const STICKY: Surface = Surface { friction: 0.5, sticky: true };

fn shapes(dimensions: usize) -> Vec<Shape> {
    let tilt = if dimensions == 2 { 0.0 } else { 0.7 };
    let centre_m = DVec3::new(1.0, 0.9, 1.1);
    vec![
        Shape::Plane { point_m: centre_m, normal: DVec3::new(0.6, 0.8, 0.0) },
        Shape::Ball { centre_m, radius_m: 0.4 },
        Shape::Container { centre_m, radius_m: 0.8 },
        Shape::Box {
            centre_m,
            size_m: DVec3::new(0.6, 0.4, 0.8),
            rotation: DMat3::from_rotation_z(0.5) * DMat3::from_rotation_x(tilt),
        },
    ]
}

#[test]
fn normals_are_the_directions_in_which_distances_grow() {
    let mut random = Random(9);
    let step = 1e-7;
    for d in [2, 3] {
        for shape in shapes(d) {
            let mut sides = [0; 2];
            for _ in 0..500 {
                let x = random.vector(d, 0.0, 2.0);
                let (distance, normal) = shape.distance_m(d, x);
                assert!((normal.length() - 1.0).abs() < 1e-14);
                sides[usize::from(distance > 0.0)] += 1;
                let slopes = |axis: DVec3| {
                    let at = |s: f64| shape.distance_m(d, x + s * step * axis).0;
                    (at(1.0) - at(-1.0)) / (2.0 * step)
                };
                let gradient = DVec3::from_array(DVec3::AXES.map(slopes));
                assert!(close(gradient, normal, 1e-6), "{shape:?} {x} {gradient} {normal}");
                if d == 2 {
                    assert_eq!(shape.distance_m(2, x + 0.3 * DVec3::Z).0, distance);
                }
            }
            assert!(sides.iter().all(|n| *n > 10), "{shape:?} {sides:?}");
        }
    }
}

#[test]
fn distances_to_a_rotated_box_are_exact() {
    let shape = Shape::Box {
        centre_m: DVec3::new(1.0, 1.0, 0.5),
        size_m: DVec3::new(0.4, 0.2, 0.2),
        rotation: DMat3::from_rotation_z(std::f64::consts::FRAC_PI_2),
    };
    // It is 0.2 wide and 0.4 high now.
    let at = |x, y, z| shape.distance_m(3, DVec3::new(x, y, z));
    for ((distance, normal), (known, direction)) in [
        (at(1.3, 1.0, 0.5), (0.2, DVec3::X)),
        (at(1.05, 1.0, 0.5), (-0.05, DVec3::X)),
        (at(1.0, 1.19, 0.5), (-0.01, DVec3::Y)),
        (at(1.0, 1.0, 0.58), (-0.02, DVec3::Z)),
        (at(1.13, 1.24, 0.5), (0.05, DVec3::new(0.6, 0.8, 0.0))),
    ] {
        assert!((distance - known).abs() < 1e-14 && close(normal, direction, 1e-12), "{distance} {normal}");
    }
    // In a plane it has no depth.
    assert!((shape.distance_m(2, DVec3::new(1.0, 1.0, 0.0)).0 + 0.1).abs() < 1e-14);
}

#[test]
fn a_terrain_is_bilinear_and_goes_on_level() {
    let terrain = |heights_m: Vec<Vec<f64>>| {
        Shape::Heightfield(Heights { origin_m: [0.0, 0.0], spacing_m: 1.0, heights_m })
    };
    let slope = terrain(vec![vec![0.0, 0.75], vec![0.0, 0.75]]);
    let (distance, normal) = slope.distance_m(3, DVec3::new(0.5, 1.375, 0.2));
    assert!((distance - 0.8).abs() < 1e-14 && close(normal, DVec3::new(-0.6, 0.8, 0.0), 1e-14));
    for (x, height) in [(-3.0, 0.0), (4.0, 0.75)] {
        let (distance, normal) = slope.distance_m(3, DVec3::new(x, 1.0, 9.0));
        assert!((distance - (1.0 - height)).abs() < 1e-14 && normal == DVec3::Y);
    }
    let saddle = terrain(vec![vec![0.0, 1.0], vec![1.0, 0.0]]);
    let (distance, normal) = saddle.distance_m(3, DVec3::new(0.5, 2.0, 0.5));
    assert!((distance - 1.5).abs() < 1e-14 && close(normal, DVec3::Y, 1e-14));
    let profile = terrain(vec![vec![0.0, 0.75]]);
    assert_eq!(
        profile.distance_m(2, DVec3::new(0.5, 1.375, 0.0)),
        slope.distance_m(3, DVec3::new(0.5, 1.375, 0.0))
    );
}

#[test]
fn the_normal_of_a_terrain_is_that_of_its_slope() {
    let terrain = Shape::Heightfield(Heights {
        origin_m: [0.3, 0.2],
        spacing_m: 0.5,
        heights_m: vec![vec![0.9, 1.1, 1.0], vec![1.2, 0.8, 1.0], vec![1.0, 1.0, 1.3]],
    });
    let mut random = Random(12);
    let step = 1e-7;
    for d in [2, 3] {
        for _ in 0..200 {
            let x = random.vector(d, 0.0, 2.0);
            let (_, normal) = terrain.distance_m(d, x);
            let height = |s: DVec3| {
                let (distance, normal) = terrain.distance_m(d, x + step * s);
                x.y - distance / normal.y
            };
            let slope = |axis| (height(axis) - height(-axis)) / (2.0 * step);
            assert!((slope(DVec3::X) + normal.x / normal.y).abs() < 1e-6, "{x}");
            assert!((slope(DVec3::Z) + normal.z / normal.y).abs() < 1e-6, "{x}");
        }
    }
}

#[test]
fn friction_is_proportional_to_the_normal_correction() {
    let down = DVec3::new(1.0, -1.0, 0.0);
    assert_eq!(SLIPPERY.respond(down, DVec3::Y, DVec3::ZERO), DVec3::X);
    assert_eq!(ROUGH.respond(down, DVec3::Y, DVec3::ZERO), 0.5 * DVec3::X);
    assert_eq!(ROUGH.respond(DVec3::new(0.4, -1.0, 0.0), DVec3::Y, DVec3::ZERO), DVec3::ZERO);
    assert_eq!(ROUGH.respond(-DVec3::Y, DVec3::Y, DVec3::ZERO), DVec3::ZERO);
    let away = DVec3::new(1.0, 0.2, 0.0);
    assert_eq!(ROUGH.respond(away, DVec3::Y, DVec3::ZERO), away);
    assert_eq!(STICKY.respond(away, DVec3::Y, DVec3::ZERO), DVec3::ZERO);
}

#[test]
fn only_velocities_relative_to_the_body_count() {
    let body = DVec3::new(3.0, 2.0, 1.0);
    for surface in [SLIPPERY, ROUGH, STICKY] {
        let mut random = Random(10);
        for _ in 0..50 {
            let v = random.vector(3, -1.0, 1.0);
            let moved = surface.respond(v + body, DVec3::Y, body);
            assert!(close(moved, surface.respond(v, DVec3::Y, DVec3::ZERO) + body, 1e-14));
        }
    }
}

#[test]
fn a_body_moves_within_its_time_interval() {
    let body = UniformBody {
        shape: Shape::Ball { centre_m: DVec3::splat(1.0), radius_m: 0.2 },
        surface: STICKY,
        motion: Some(Motion { velocity_m_s: DVec3::X, from_s: 0.5, until_s: 0.8 }),
    };
    for (time_s, offset, speed) in
        [(0.0, 0.0, 0.0), (0.5, 0.0, 1.0), (0.6, 0.1, 1.0), (0.8, 0.3, 0.0), (9.0, 0.3, 0.0)]
    {
        let (moved, velocity) = body.motion_at(time_s);
        assert!(close(moved, offset * DVec3::X, 1e-14) && velocity == speed * DVec3::X, "{time_s}");
    }
    let p = Parameters { bodies: vec![body], ..parameters(3) };
    let at = |x: f64, time_s| collide(&p, DVec3::new(x, 1.0, 1.0), 0.0, DVec3::Y, time_s);
    assert_eq!(at(1.25, 0.5), DVec3::Y);
    assert_eq!(at(1.25, 0.6), DVec3::X);
    assert_eq!(at(1.25, 0.8), DVec3::ZERO);
}

#[test]
fn the_last_surface_determines_the_velocity() {
    let floor = |point_m, surface| UniformBody {
        shape: Shape::Plane { point_m, normal: DVec3::Y },
        surface,
        motion: None,
    };
    let x = DVec3::new(0.0, 0.5, 1.0);
    let v = DVec3::new(-1.0, -2.0, 0.5);
    // Sliding first, stuck after.
    let bodies = vec![floor(DVec3::Y, SLIPPERY), floor(DVec3::Y, STICKY)];
    let p = Parameters { bodies, ..parameters(3) };
    assert_eq!(collide(&p, x, 0.0, v, 0.0), DVec3::ZERO);
    // Sliding on the floor, then on the wall at x = 0.
    let bodies = vec![floor(DVec3::Y, SLIPPERY)];
    let p = Parameters { bodies, walls: [[SLIPPERY; 3]; 2], ..parameters(3) };
    assert!(close(collide(&p, x, 0.0, v, 0.0), 0.5 * DVec3::Z, 1e-14));
    // In a plane there are four walls.
    let p = Parameters { walls: [[STICKY; 3]; 2], ..parameters(2) };
    let v = DVec3::new(1.0, 1.0, 0.0);
    assert_eq!(collide(&p, DVec3::new(1.0, 1.0, 0.0), 0.0, v, 0.0), v);
    assert_eq!(collide(&p, DVec3::new(1.0, 2.0, 0.0), 0.0, v, 0.0), DVec3::ZERO);
}
