//! Rigid convex pieces of ice slabs, linked at shared faces.

use super::contact::{ContactHistory, ContactKinematics, Parameters, Phase, evaluate_contact};
use super::surroundings::{Partner, surfaces, torque_centre};
use crate::uniform_bodies::UniformBody;
use glam::{DMat3, DQuat, DVec3};

/// A convex polyhedron of ice.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Mass in kg.
    pub mass: f64,
    /// Inertia about the centre of mass in the axes of the initial state, in kg m².
    pub inertia: DMat3,
    /// Corners relative to the centre of mass, in m.
    pub corners: Vec<DVec3>,
    /// Faces as lists of corners, counter-clockwise from outside.
    pub faces: Vec<Vec<usize>>,
    /// Surface points at which contacts are detected.
    pub points: Vec<DVec3>,
    /// μ.
    pub friction: f64,
    /// e.
    pub restitution: f64,
}

/// Position, orientation and momentum of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Centre of mass in m.
    pub centre: DVec3,
    /// Rotation since the initial state.
    pub rotation: DQuat,
    /// Velocity in m/s.
    pub velocity: DVec3,
    /// L in kg m²/s.
    pub angular_momentum: DVec3,
}

/// Link between two pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Indices of the two pieces.
    pub pieces: [usize; 2],
    /// Centre of the shared face relative to both centres in m, in the axes of the initial state.
    pub arms: [DVec3; 2],
    /// Unit normal from the first piece to the second.
    pub normal: DVec3,
    /// Side of the face, taken as a square, in m.
    pub side: f64,
    /// Normal and shear stiffness in N/m.
    pub stiffness: [f64; 2],
    /// Tensile and shear strength in N.
    pub strength: [f64; 2],
    /// Damping of velocity in N s/m, and of angular velocity in N m s.
    pub damping: [f64; 2],
}

/// All pieces and their contact state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slabs {
    /// Constant shape and material of each piece.
    pub solids: Vec<Solid>,
    /// Motion of each piece.
    pub motions: Vec<Motion>,
    /// Links.
    pub links: Vec<Link>,
    /// True for each link that is intact.
    pub is_whole: Vec<bool>,
    /// Contact of each point, piece by piece: its partner and tangential spring in m.
    pub contacts: Vec<Option<(Partner, DVec3)>>,
}

/// Force, and torque about the centre of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force in N.
    pub force: DVec3,
    /// Torque in N m.
    pub torque: DVec3,
}

impl Wrench {
    pub(super) fn push(&mut self, force: DVec3, arm: DVec3) {
        self.force += force;
        self.torque += arm.cross(force);
    }
}

impl Solid {
    fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> + '_ {
        self.faces.iter().flat_map(|face| {
            (2..face.len()).map(|k| [face[0], face[k - 1], face[k]].map(|corner| self.corners[corner]))
        })
    }

    /// Returns the planes of the faces: normal and distance from the centre.
    fn planes(&self) -> Vec<(DVec3, f64)> {
        let of = |face: &Vec<usize>| {
            let corner = |k: usize| self.corners[face[k % face.len()]];
            let normal: DVec3 = (0..face.len()).map(|k| corner(k).cross(corner(k + 1))).sum();
            (normal.normalize(), normal.normalize().dot(corner(0)))
        };
        self.faces.iter().map(of).collect()
    }

    /// Returns the signed distance (negative inside) and the normal at the surface point nearest to a point.
    pub fn surface(&self, point: DVec3) -> (f64, DVec3) {
        let farthest = self
            .planes()
            .into_iter()
            .map(|(normal, offset)| (normal.dot(point) - offset, normal))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((above, normal)) = farthest else { return (f64::INFINITY, DVec3::Y) };
        if above <= 0.0 {
            return (above, normal);
        }
        let nearest = self
            .triangles()
            .map(|triangle| point - nearest_on_triangle(triangle, point))
            .min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
        let apart = nearest.unwrap_or(normal);
        (apart.length(), apart.normalize())
    }
}

/// Returns the barycentric coordinates of the nearest point of a triangle.
fn nearest_on_triangle([a, b, c]: [DVec3; 3], p: DVec3) -> DVec3 {
    let normal = (b - a).cross(c - a);
    let share = |u: DVec3, v: DVec3| (v - u).cross(p - u).dot(normal);
    if share(a, b) >= 0.0 && share(b, c) >= 0.0 && share(c, a) >= 0.0 {
        return p - (p - a).dot(normal) / normal.length_squared() * normal;
    }
    let on_edge = |(u, v): (DVec3, DVec3)| {
        u + ((p - u).dot(v - u) / (v - u).length_squared()).clamp(0.0, 1.0) * (v - u)
    };
    let edges = [(a, b), (b, c), (c, a)].map(on_edge);
    edges.into_iter().min_by(|x, y| (p - *x).length().total_cmp(&(p - *y).length())).unwrap_or(a)
}

impl Slabs {
    /// Pieces at rest, with all links intact and no contacts.
    pub fn new(solids: Vec<Solid>, motions: Vec<Motion>, links: Vec<Link>) -> Self {
        let n_points = solids.iter().map(|solid| solid.points.len()).sum();
        Self { solids, motions, is_whole: vec![true; links.len()], links, contacts: vec![None; n_points] }
    }

    fn inverse_inertia(&self, piece: usize) -> DMat3 {
        let turn = DMat3::from_quat(self.motions[piece].rotation);
        turn * self.solids[piece].inertia.inverse() * turn.transpose()
    }

    /// Returns ω of a piece in 1/s.
    pub fn spin(&self, piece: usize) -> DVec3 {
        self.inverse_inertia(piece) * self.motions[piece].angular_momentum
    }

    /// Returns the velocity in m/s of the point of a piece at offset `arm` from its centre.
    pub fn velocity_at(&self, piece: usize, arm: DVec3) -> DVec3 {
        self.motions[piece].velocity + self.spin(piece).cross(arm)
    }

    /// Returns the contribution of a piece to 1/m* of a contact.
    pub fn inverse_mass_at(&self, piece: usize, arm: DVec3, normal: DVec3) -> f64 {
        let across = arm.cross(normal);
        1.0 / self.solids[piece].mass + across.dot(self.inverse_inertia(piece) * across)
    }

    /// Returns the distance and normal of the surface of a piece from a point in world coordinates.
    pub fn surface(&self, piece: usize, place: DVec3) -> (f64, DVec3) {
        let motion = &self.motions[piece];
        let (distance, normal) =
            self.solids[piece].surface(motion.rotation.inverse() * (place - motion.centre));
        (distance, motion.rotation * normal)
    }

    fn are_linked(&self, a: usize, b: usize) -> bool {
        let is = |link: &Link| link.pieces == [a, b] || link.pieces == [b, a];
        self.links.iter().zip(&self.is_whole).any(|(link, whole)| *whole && is(link))
    }

    /// Adds the contact forces of points on what they penetrate deepest to pieces and bodies, and stores the
    /// contact state.
    pub(super) fn touch(
        &mut self,
        p: &Parameters,
        bodies: &[UniformBody],
        time_s: f64,
        wrenches: &mut [Wrench],
        on_bodies: &mut [Wrench],
    ) {
        let mut contacts = Vec::with_capacity(self.contacts.len());
        let owners: Vec<(usize, DVec3)> = self
            .solids
            .iter()
            .enumerate()
            .flat_map(|(piece, solid)| solid.points.iter().map(move |point| (piece, *point)))
            .collect();
        for ((piece, local), before) in owners.into_iter().zip(&self.contacts) {
            let motion = self.motions[piece];
            let x = motion.centre + motion.rotation * local;
            let solid = &self.solids[piece];
            let fixed = surfaces(p, bodies, x, time_s)
                .into_iter()
                .map(|(partner, surface)| (partner, surface.distance, surface.normal, surface.velocity));
            let others = (0..self.solids.len())
                .filter(|other| *other != piece && !self.are_linked(piece, *other))
                .map(|other| {
                    let (distance, normal) = self.surface(other, x);
                    (Partner::Piece(other as u32), distance, normal, DVec3::ZERO)
                });
            let deepest = fixed
                .chain(others)
                .filter(|(_, distance, ..)| *distance < 0.0)
                .min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((partner, distance, normal, mut their_velocity)) = deepest else {
                contacts.push(None);
                continue;
            };
            let place = x - 0.5 * distance * normal;
            let arm = place - motion.centre;
            let mut inverse_mass = self.inverse_mass_at(piece, arm, normal);
            let (mut friction, mut restitution) = (solid.friction, solid.restitution);
            if let Partner::Piece(other) = partner {
                let other = other as usize;
                let their_arm = place - self.motions[other].centre;
                inverse_mass += self.inverse_mass_at(other, their_arm, normal);
                their_velocity = self.velocity_at(other, their_arm);
                friction = friction.min(self.solids[other].friction);
                restitution = restitution.min(self.solids[other].restitution);
            }
            let touch = ContactKinematics {
                normal,
                overlap: -distance,
                velocity: self.velocity_at(piece, arm) - their_velocity,
                spin: DVec3::ZERO,
                mass: 1.0 / inverse_mass,
                radius: 0.0,
                rolling_inertia: 0.0,
                restitution,
                friction,
                attraction: (0.0, 0.0),
                may_bond: false,
                strength: [0.0; 2],
                bond_yields: false,
            };
            let sprung = before.filter(|(old, _)| *old == partner).map_or(DVec3::ZERO, |(_, shear)| shear);
            let without_rolling = Parameters { rolling_friction: 0.0, ..p.clone() };
            let is_old = before.is_some_and(|(old, _)| old == partner);
            let phase = if is_old { Phase::Held } else { Phase::New };
            let history = ContactHistory { shear: sprung, phase, ..Default::default() };
            let response = evaluate_contact(&without_rolling, &touch, history);
            let force = response.across + response.along;
            wrenches[piece].push(force, arm);
            match partner {
                Partner::Piece(other) => {
                    wrenches[other as usize].push(-force, place - self.motions[other as usize].centre);
                }
                Partner::Body(k) => {
                    on_bodies[k as usize].push(-force, place - torque_centre(&bodies[k as usize], time_s));
                }
                _ => {}
            }
            contacts.push(response.history.map(|history| (partner, history.shear)));
        }
        self.contacts = contacts;
    }

    /// Adds the forces of links and breaks overloaded ones.
    pub(super) fn pull(&mut self, wrenches: &mut [Wrench]) {
        for (link, whole) in self
            .links
            .iter()
            .zip(self.is_whole.clone())
            .zip(0..)
            .filter_map(|((l, w), k)| w.then_some((*l, k)))
        {
            let [a, b] = link.pieces;
            let [ma, mb] = [a, b].map(|piece| self.motions[piece]);
            let ends = [ma.centre + ma.rotation * link.arms[0], mb.centre + mb.rotation * link.arms[1]];
            let normal = (ma.rotation * link.normal + mb.rotation * link.normal).normalize();
            let apart = ends[1] - ends[0];
            let pull = link.stiffness[0] * apart.dot(normal);
            let shear = link.stiffness[1] * apart.reject_from(normal);
            let mut turn = mb.rotation * ma.rotation.inverse();
            if turn.w < 0.0 {
                turn = -turn;
            }
            let angle = 2.0 * DVec3::new(turn.x, turn.y, turn.z);
            // Second moments of a square about a centre line and about its centre.
            let (area, flat) = (link.side.powi(2), link.side.powi(4) / 12.0);
            let bending = link.stiffness[0] / area * flat * angle.reject_from(normal);
            let twisting = link.stiffness[1] / area * 2.0 * flat * angle.dot(normal);
            let stress = pull / area + bending.length() * 0.5 * link.side / flat;
            let shear_stress =
                shear.length() / area + twisting.abs() * 0.5 * 2.0_f64.sqrt() * link.side / (2.0 * flat);
            if stress > link.strength[0] / area || shear_stress > link.strength[1] / area {
                self.is_whole[whole] = false;
                continue;
            }
            let place = 0.5 * (ends[0] + ends[1]);
            let arms = [place - ma.centre, place - mb.centre];
            let relative_m_s = self.velocity_at(b, arms[1]) - self.velocity_at(a, arms[0]);
            let force = pull * normal + shear + link.damping[0] * relative_m_s;
            let couple = bending + twisting * normal + link.damping[1] * (self.spin(b) - self.spin(a));
            wrenches[a].push(force, arms[0]);
            wrenches[a].torque += couple;
            wrenches[b].push(-force, arms[1]);
            wrenches[b].torque -= couple;
        }
    }

    /// Integrates the motion over a step.
    pub(super) fn advance(&mut self, p: &Parameters, wrenches: &[Wrench]) {
        for (piece, wrench) in wrenches.iter().enumerate() {
            let mass = self.solids[piece].mass;
            let motion = &mut self.motions[piece];
            motion.velocity += p.dt_s * (wrench.force / mass + p.gravity);
            motion.angular_momentum += p.dt_s * wrench.torque;
            motion.centre += p.dt_s * motion.velocity;
            let begin = motion.rotation;
            let spin = self.spin(piece);
            self.motions[piece].rotation = DQuat::from_scaled_axis(0.5 * p.dt_s * spin) * begin;
            let spin = self.spin(piece);
            self.motions[piece].rotation = (DQuat::from_scaled_axis(p.dt_s * spin) * begin).normalize();
        }
    }

    /// Σ m v.
    pub fn momentum(&self) -> DVec3 {
        self.solids.iter().zip(&self.motions).map(|(solid, motion)| solid.mass * motion.velocity).sum()
    }

    /// Σ m x × v + L.
    pub fn angular_momentum(&self) -> DVec3 {
        let each = |(solid, motion): (&Solid, &Motion)| {
            solid.mass * motion.centre.cross(motion.velocity) + motion.angular_momentum
        };
        self.solids.iter().zip(&self.motions).map(each).sum()
    }

    /// Σ m v²/2 + L · ω/2.
    pub fn kinetic_energy(&self) -> f64 {
        let each = |piece: usize| {
            let motion = &self.motions[piece];
            0.5 * self.solids[piece].mass * motion.velocity.length_squared()
                + 0.5 * motion.angular_momentum.dot(self.spin(piece))
        };
        (0..self.motions.len()).map(each).sum()
    }
}
