//! Clouds of grains among bodies of every kind, under every contact law.

use crate::meshes::ball_mesh;
use frazil_reference::dem::Grain;
use frazil_reference::uniform_bodies::{Heights, Motion, Shape, Surface, UniformBody};
use frazil_scene::{Bonds, Dem as Section, TriggerArea, WeakLayer};
use frazil_testkit::Random;
use frazil_testkit::twins::dem::section;
use glam::{DMat3, DVec3};

/// Radius of the grains in m.
pub const RADIUS_M: f64 = 0.04;
const STIFFNESS_N_M: f64 = 1e5;
fn surface(friction: f64) -> Surface {
    Surface { friction, sticky: false }
}

/// Creates one body of each kind, one of them moving.
pub fn bodies() -> Vec<UniformBody> {
    let still = |shape| UniformBody { shape, surface: surface(0.3), motion: None };
    let rows = (0..5).map(|k| (0..5).map(|i| 0.1 + 0.02 * f64::from(i * k % 3)).collect()).collect();
    vec![
        still(Shape::Plane {
            point_m: DVec3::new(0.0, 0.05, 0.0),
            normal: DVec3::new(0.1, 1.0, 0.2).normalize(),
        }),
        UniformBody {
            shape: Shape::Ball { centre_m: DVec3::new(0.5, 0.4, 0.5), radius_m: 0.15 },
            surface: surface(0.6),
            motion: Some(Motion { velocity_m_s: DVec3::new(1.0, 0.5, -0.5), from_s: 0.0, until_s: 1.0 }),
        },
        still(Shape::Container { centre_m: DVec3::splat(0.5), radius_m: 0.8 }),
        still(Shape::Box {
            centre_m: DVec3::new(0.2, 0.6, 0.8),
            size_m: DVec3::new(0.2, 0.1, 0.3),
            rotation: DMat3::from_rotation_z(0.4),
        }),
        still(Shape::Cylinder { foot_m: DVec3::new(0.8, 0.1, 0.2), radius_m: 0.1, height_m: 0.4 }),
        still(Shape::Heightfield(Heights { origin_m: [0.0; 2], spacing_m: 0.25, heights_m: rows })),
        still(Shape::Mesh(ball_mesh(DVec3::new(0.7, 0.7, 0.7), 0.12, 3))),
    ]
}

/// Samples grains anywhere in the unit cube, with many overlaps, in single precision.
pub fn cloud(n: u32, seed: u64, spread: f64) -> Vec<Grain> {
    let mut random = Random::new(seed);
    let mut unit = move || f64::from(random.unit());
    let single = |x: f64| f64::from(x as f32);
    (0..n)
        .map(|id| {
            let mut vector = |size: f64| DVec3::from_array([(); 3].map(|()| single(size * (unit() - 0.5))));
            let (position, velocity, spin) = (DVec3::splat(0.5) + vector(0.9), vector(2.0), vector(20.0));
            let radius = single(RADIUS_M * (1.0 + spread * (2.0 * unit() - 1.0)));
            Grain { id, position: position.map(single), velocity, spin, radius }
        })
        .collect()
}

/// Returns one of six contact laws.
pub fn every_law(k: u32) -> Section {
    let plain = section(RADIUS_M, STIFFNESS_N_M);
    let dt_s = plain.contact_time_s() / plain.steps_per_contact;
    let bonds = Bonds {
        strength_n: 200.0,
        shear_strength_n: Some(120.0),
        form_below_m_s: 0.8,
        form_after_s: 0.0,
        forms_until_s: Some(10.0 * dt_s),
        at_start: false,
    };
    // It forms in the first steps of a test, and fails within it.
    let layer = WeakLayer {
        strength_n: 150.0,
        shear_strength_n: Some(80.0),
        forms_until_s: 7.0 * dt_s,
        fails_at_s: Some(14.0 * dt_s),
        fails_within: Some(TriggerArea { centre_m: [0.4, 0.5], radius_m: 0.35 }),
    };
    match k {
        0 => plain,
        1 => Section { rolling_friction: 0.2, radius_spread: 0.3, ..plain },
        2 => Section {
            cohesion_n: 20.0,
            terrain_adhesion_n: 10.0,
            turbulent_drag_1_m: 5.0,
            wall_friction: Some(0.2),
            wall_restitution: Some(0.9),
            ..plain
        },
        3 => Section {
            bonds: Some(bonds),
            weak_layer: Some(layer),
            rolling_friction: 0.1,
            radius_spread: 0.2,
            ..plain
        },
        4 => Section { bonds: Some(Bonds { form_after_s: 5e-4, ..bonds }), cohesion_n: 5.0, ..plain },
        _ => Section { tangential_stiffness_ratio: 0.0, friction: 0.0, restitution: 1.0, ..plain },
    }
}
