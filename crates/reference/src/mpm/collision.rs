//! Effect of bodies and of the walls of the domain on positions and velocities.

use super::{Parameters, outer};
use crate::uniform_bodies::{Surface, UniformBody};
use glam::{DMat3, DVec3};

/// Share of a speed that rounding on a device leaves along a normal after its removal.
const STANDING: f64 = 1e-5;

impl Parameters {
    /// Distance from a surface up to which a node is on it: a row of nodes along a surface is on it however
    /// the positions are rounded.
    pub fn on_surface_m(&self) -> f64 {
        self.cell_size_m / 1024.0
    }
}

impl UniformBody {
    /// Returns the signed distance in m and the outward normal at a time.
    pub fn distance_m(&self, p: &Parameters, x: DVec3, time_s: f64) -> (f64, DVec3) {
        self.shape.distance_m(p.dimensions, x - self.motion_at(time_s).0)
    }
}

/// Returns the signed distance in m, the normal and the surface of each wall of the domain.
pub(super) fn walls(p: &Parameters, x: DVec3) -> impl Iterator<Item = (f64, DVec3, Surface)> {
    let (low, high, walls) = (x - p.domain_min_m, p.domain_max_m - x, p.walls);
    (0..p.dimensions).flat_map(move |axis| {
        let normal = DVec3::AXES[axis];
        [(low[axis], normal, walls[0][axis]), (high[axis], -normal, walls[1][axis])]
    })
}

/// Returns a velocity after collision with the bodies and walls that contain the point at a time, or are at
/// most `reach_m` away.
pub fn collide(p: &Parameters, x: DVec3, reach_m: f64, velocity: DVec3, time_s: f64) -> DVec3 {
    collide_and_measure(p, x, reach_m, (0.0, velocity), time_s, &mut [])
}

/// Like [`collide`], with the velocity of a mass in kg, whose impulses and angular impulses are added to
/// those of the bodies.
pub(super) fn collide_and_measure(
    p: &Parameters,
    x: DVec3,
    reach_m: f64,
    (mass, velocity): (f64, DVec3),
    time_s: f64,
    impulses: &mut [[DVec3; 2]],
) -> DVec3 {
    let mut v = velocity;
    for (k, body) in p.bodies.iter().enumerate() {
        let (distance, normal) = body.distance_m(p, x, time_s);
        if distance <= reach_m {
            let before = v;
            let (offset, body_velocity) = body.motion_at(time_s);
            v = body.surface.respond(v, normal, body_velocity);
            if let Some([linear, angular]) = impulses.get_mut(k) {
                let impulse = mass * (before - v);
                *linear += impulse;
                *angular += (x - body.shape.origin_m() - offset).cross(impulse);
            }
        }
    }
    for (distance, normal, surface) in walls(p, x) {
        if distance <= reach_m {
            v = surface.respond(v, normal, DVec3::ZERO);
        }
    }
    v
}

/// Returns the velocity of a node after collision, and adds its impulses: with all surfaces, or, if particles
/// are in contact, with sticky ones only.
pub(super) fn collide_node(
    p: &Parameters,
    x: DVec3,
    moving: (f64, DVec3),
    time_s: f64,
    impulses: &mut [[DVec3; 2]],
) -> DVec3 {
    if !p.has_contact_forces {
        return collide_and_measure(p, x, p.on_surface_m(), moving, time_s, impulses);
    }
    let mut v = moving.1;
    for (k, body) in p.bodies.iter().enumerate().filter(|(_, body)| body.surface.sticky) {
        let (distance, _) = body.distance_m(p, x, time_s);
        if distance <= p.on_surface_m() {
            let (offset, body_velocity) = body.motion_at(time_s);
            if let Some([linear, angular]) = impulses.get_mut(k) {
                let impulse = moving.0 * (v - body_velocity);
                *linear += impulse;
                *angular += (x - body.shape.origin_m() - offset).cross(impulse);
            }
            v = body_velocity;
        }
    }
    let is_held = walls(p, x).any(|(distance, _, surface)| surface.sticky && distance <= p.on_surface_m());
    if is_held { DVec3::ZERO } else { v }
}

/// Returns the projection of a velocity change onto the directions that bodies and walls leave free after a
/// collision: zero where the point sticks, otherwise the directions tangential to every surface that the
/// velocity does not leave.
pub fn left_free(p: &Parameters, x: DVec3, velocity: DVec3, time_s: f64) -> DMat3 {
    let bodies = p.bodies.iter().map(|body| {
        let (distance, normal) = body.distance_m(p, x, time_s);
        (distance, normal, body.motion_at(time_s).1, body.surface)
    });
    let walls = walls(p, x).map(|(distance, normal, surface)| (distance, normal, DVec3::ZERO, surface));
    let mut free = DMat3::IDENTITY;
    for (_, normal, surface_velocity, surface) in
        bodies.chain(walls).filter(|(distance, ..)| *distance <= p.on_surface_m())
    {
        let relative = velocity - surface_velocity;
        if surface.sticky || (surface.friction > 0.0 && relative == DVec3::ZERO) {
            return DMat3::ZERO;
        }
        let new = free * normal;
        if relative.dot(normal) <= STANDING * relative.length() && new.length() > 1e-3 {
            let new = new.normalize();
            free -= outer(new, new);
        }
    }
    free
}

/// Returns a position pushed out of bodies, like Cai2020 in its step 8, and into the domain.
pub(super) fn push_out(p: &Parameters, x: DVec3, time_s: f64) -> DVec3 {
    let mut x = x;
    for body in &p.bodies {
        let (distance, normal) = body.distance_m(p, x, time_s);
        if distance < 0.0 {
            x -= distance * normal;
        }
    }
    let confined = x.clamp(p.domain_min_m, p.domain_max_m);
    if p.dimensions == 2 { confined.with_z(x.z) } else { confined }
}
