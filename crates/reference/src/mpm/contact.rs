//! Forces of surfaces on the particles that touch them.

use super::collision::walls;
use super::{Parameters, Particle, outer};
use crate::uniform_bodies::Surface;
use glam::DVec3;

/// Applies the forces of all surfaces that are not sticky to a particle at the end of a step; adds impulses
/// and angular impulses to those of the bodies. In the first step its radius becomes the distance from a
/// surface that it reaches. Surfaces act on the velocity by which it moves.
pub(super) fn apply_contact(
    p: &Parameters,
    particle: &mut Particle,
    mut motion: DVec3,
    (time_s, is_first_step): (f64, bool),
    impulses: &mut [[DVec3; 2]],
) {
    let x = particle.position;
    let mut is_touched = false;
    let mut total = DVec3::ZERO;
    if is_first_step {
        let of_bodies = p.bodies.iter().filter(|body| !body.surface.sticky);
        let distances = of_bodies.map(|body| body.distance_m(p, x, time_s).0);
        let of_walls = walls(p, x).filter(|(.., surface)| !surface.sticky).map(|(distance, ..)| distance);
        let nearest = distances.chain(of_walls).fold(f64::INFINITY, f64::min);
        particle.contact_radius = particle.contact_radius.min(nearest.max(0.0));
    }
    for (k, body) in p.bodies.iter().enumerate() {
        let (distance, normal) = body.distance_m(p, x, time_s);
        if body.surface.sticky || distance >= particle.contact_radius {
            continue;
        }
        let (offset, moving) = body.motion_at(time_s);
        let impulse = resist(p, (distance, normal, moving), body.surface, particle, &mut motion);
        total += impulse;
        is_touched = true;
        if let Some([linear, angular]) = impulses.get_mut(k) {
            *linear -= impulse;
            let at = x - distance * normal - body.shape.origin_m() - offset;
            *angular -= at.cross(impulse);
        }
    }
    for (distance, normal, surface) in walls(p, x) {
        if !surface.sticky && distance < particle.contact_radius {
            total += resist(p, (distance, normal, DVec3::ZERO), surface, particle, &mut motion);
            is_touched = true;
        }
    }
    if p.moves_with_grid() {
        particle.surface_force = total / p.dt_s;
    } else {
        particle.velocity = motion;
    }
    if !is_touched {
        particle.slip = DVec3::ZERO;
    }
}

/// Applies the force of a surface to the motion of a particle that touches it; returns the impulse.
fn resist(
    p: &Parameters,
    (distance, normal, moving): (f64, DVec3, DVec3),
    surface: Surface,
    particle: &mut Particle,
    motion: &mut DVec3,
) -> DVec3 {
    let d = p.dimensions as f64;
    let lame = p.material.lame(1.0);
    let stiffness = (lame.lambda + 2.0 * lame.mu) * particle.volume.powf((d - 1.0) / d) / p.cell_size_m;
    let damping = 2.0 * (stiffness * particle.mass).sqrt();
    let leaving = (*motion - moving).dot(normal);
    let pressing = (stiffness * (particle.contact_radius - distance) - damping * leaving).max(0.0);
    let arm = -distance * normal;
    let relative = (*motion + particle.affine * arm - moving).reject_from_normalized(normal);
    let across = particle.slip.project_onto_normalized(normal);
    let mut along = particle.slip - across + p.dt_s * relative;
    let mut rubbing = -stiffness * along - damping * relative;
    let max_friction = surface.friction * pressing;
    if rubbing.length() > max_friction {
        rubbing *= max_friction / rubbing.length();
        along = -rubbing / stiffness;
    }
    particle.slip = across + along;
    let impulse = p.dt_s * (pressing * normal + rubbing);
    *motion += impulse / particle.mass;
    if p.moves_with_grid() {
        particle.surface_turn += 0.5 / p.inertia_m2() * arm.cross(rubbing);
        return impulse;
    }
    let moment = outer(rubbing, arm);
    particle.affine += (moment - moment.transpose()) * (0.5 * p.dt_s / (particle.mass * p.inertia_m2()));
    impulse
}
