//! Surfaces around grains and pieces: walls of the domain and bodies.

use super::contact::Parameters;
use crate::uniform_bodies::{Shape, UniformBody};
use glam::DVec3;

/// Partner of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Partner {
    /// A grain, by id.
    Grain(u32),
    /// A wall of the domain: the three lower ones, then the three upper ones.
    Wall(u32),
    /// A body, by index.
    Body(u32),
    /// A piece of a slab, by index.
    Piece(u32),
}

/// Surface near a grain.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// Signed distance of the grain's centre in m; negative inside.
    pub distance: f64,
    /// Outward normal.
    pub normal: DVec3,
    /// Velocity in m/s.
    pub velocity: DVec3,
    /// μ.
    pub friction: f64,
    /// Attraction, like that of a [`super::ContactKinematics`].
    pub attraction: (f64, f64),
    /// True for a terrain.
    pub is_terrain: bool,
}

/// Returns the surfaces of walls and bodies around a point.
pub(super) fn surfaces(
    p: &Parameters,
    bodies: &[UniformBody],
    x: DVec3,
    time_s: f64,
) -> Vec<(Partner, Surface)> {
    let is_wall = |k: &u32| !p.wall_is_body[*k as usize / 3][*k as usize % 3];
    let walls = (0..6_u32).filter(is_wall).map(|k| {
        let axis = k as usize % 3;
        let sign = if k < 3 { 1.0 } else { -1.0 };
        let surface = Surface {
            distance: sign * (x[axis] - p.domain[k as usize / 3][axis]),
            normal: sign * DVec3::AXES[axis],
            velocity: DVec3::ZERO,
            friction: p.wall_friction[k as usize / 3][axis],
            attraction: (0.0, 0.0),
            is_terrain: false,
        };
        (Partner::Wall(k), surface)
    });
    let bodies = bodies.iter().zip(0..).map(|(body, k)| {
        let (distance, normal) = body.shape.distance_m(3, x - way(body, time_s));
        let is_terrain = matches!(body.shape, Shape::Heightfield(_));
        let surface = Surface {
            distance,
            normal,
            velocity: velocity(body, time_s),
            friction: body.surface.friction,
            attraction: if is_terrain { p.adhesion } else { (0.0, 0.0) },
            is_terrain,
        };
        (Partner::Body(k), surface)
    });
    walls.chain(bodies).collect()
}

/// Returns the reference point of torques on a body, as `torque_centre` in `common/motion.glsl`.
pub(super) fn torque_centre(body: &UniformBody, time_s: f64) -> DVec3 {
    body.shape.origin_m() + way(body, time_s)
}

/// Returns the displacement of a body.
fn way(body: &UniformBody, time_s: f64) -> DVec3 {
    body.motion.map_or(DVec3::ZERO, |m| m.velocity_m_s * (time_s - m.from_s).clamp(0.0, m.until_s - m.from_s))
}

pub(super) fn velocity(body: &UniformBody, time_s: f64) -> DVec3 {
    let moves = body.motion.filter(|m| time_s >= m.from_s && time_s < m.until_s);
    moves.map_or(DVec3::ZERO, |m| m.velocity_m_s)
}
