//! One step of the discrete element method.

use super::contact::{ContactForce, ContactHistory, ContactKinematics, Parameters, evaluate_contact};
use super::slab::{Slabs, Wrench};
use super::surroundings::{Partner, surfaces, torque_centre, velocity};
use crate::sources::Emitter;
use crate::uniform_bodies::UniformBody;
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Spherical grain of snow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// Permanent id.
    pub id: u32,
    /// Centre in m.
    pub position: DVec3,
    /// Velocity in m/s.
    pub velocity: DVec3,
    /// ω in 1/s.
    pub spin: DVec3,
    /// Radius in m.
    pub radius: f64,
}

impl Grain {
    /// Returns the mass in kg.
    pub fn mass(&self, p: &Parameters) -> f64 {
        4.0 / 3.0 * PI * self.radius.powi(3) * p.density
    }

    /// Returns the inertia about the centre, in kg m².
    pub fn inertia(&self, p: &Parameters) -> f64 {
        0.4 * self.mass(p) * self.radius * self.radius
    }

    /// Returns the inertia about a point of the surface, in kg m².
    fn rim_inertia(&self, p: &Parameters) -> f64 {
        1.4 * self.mass(p) * self.radius * self.radius
    }
}

/// Maximum penetration of a grain into a surface, as a share of its radius.
const DEEPEST: f64 = 0.9;

/// All grains and their contact states. A contact is keyed by the id of its owner and by the partner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Grains in any order.
    pub grains: Vec<Grain>,
    /// Contact states, stored at both ends.
    pub contacts: BTreeMap<(u32, Partner), ContactHistory>,
    /// Pieces of slabs.
    pub slabs: Slabs,
    /// Force and torque of the last step on each body.
    pub loads: Vec<Wrench>,
    /// Steps taken.
    pub step: u64,
}

impl State {
    /// Initial state of grains without contacts.
    pub fn new(grains: Vec<Grain>) -> Self {
        Self { grains, ..Default::default() }
    }

    /// Advances the state by one step among bodies.
    pub fn advance(&mut self, p: &Parameters, bodies: &[UniformBody]) {
        self.emit(p);
        let time_s = self.step as f64 * p.dt_s;
        let mut contacts = BTreeMap::new();
        let mut wrenches = vec![Wrench::default(); self.slabs.solids.len()];
        let mut loads = vec![Wrench::default(); bodies.len()];
        let mut moved = self.grains.clone();
        for (grain, next) in self.grains.iter().zip(&mut moved) {
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            let mut take = |partner: Partner, response: ContactForce, normal: DVec3, lever: f64| {
                force += response.across + response.along;
                torque += response.couple - lever * normal.cross(response.along);
                if let Some(history) = response.history {
                    contacts.insert((grain.id, partner), history);
                }
            };
            for other in self.grains.iter().filter(|other| other.id != grain.id) {
                let partner = Partner::Grain(other.id);
                let (mut touch, lever) = touch_of(p, grain, other);
                touch.may_bond &= p.bonds.is_some_and(|bonds| self.step < bonds.forms_until);
                let history = self.history(grain.id, partner);
                take(partner, evaluate_contact(p, &touch, history), touch.normal, lever);
            }
            for (partner, surface) in surfaces(p, bodies, grain.position, time_s) {
                let overlap = grain.radius - surface.distance;
                let lever = grain.radius - 0.5 * overlap.max(0.0);
                let layer =
                    p.layer.filter(|layer| surface.is_terrain && layer.holds(grain.position, self.step + 1));
                let forms = layer.is_some_and(|layer| self.step < layer.forms_until);
                let touch = ContactKinematics {
                    normal: surface.normal,
                    overlap,
                    velocity: grain.velocity - surface.velocity - lever * grain.spin.cross(surface.normal),
                    spin: grain.spin,
                    mass: grain.mass(p),
                    radius: grain.radius,
                    rolling_inertia: grain.rim_inertia(p),
                    restitution: p.wall_restitution,
                    friction: surface.friction,
                    attraction: surface.attraction,
                    may_bond: false,
                    strength: p.layer.map_or([0.0; 2], |layer| [layer.strength, layer.shear_strength]),
                    bond_yields: forms,
                };
                let mut history = self.history(grain.id, partner);
                history.is_bonded &= layer.is_some();
                let mut response = evaluate_contact(p, &touch, history);
                if let Some(after) = &mut response.history {
                    after.is_bonded |= forms;
                }
                take(partner, response, touch.normal, lever);
                if let Partner::Body(k) = partner {
                    let at = grain.position - lever * surface.normal;
                    let arm = at - torque_centre(&bodies[k as usize], time_s);
                    loads[k as usize].push(-(response.across + response.along), arm);
                    loads[k as usize].torque -= response.couple;
                }
            }
            for (piece, wrench) in wrenches.iter_mut().enumerate() {
                let (distance, normal) = self.slabs.surface(piece, grain.position);
                let overlap = grain.radius - distance;
                if overlap < 0.0 {
                    continue;
                }
                let lever = grain.radius - 0.5 * overlap;
                let arm = grain.position - lever * normal - self.slabs.motions[piece].centre;
                let solid = &self.slabs.solids[piece];
                let touch = ContactKinematics {
                    normal,
                    overlap,
                    velocity: grain.velocity
                        - lever * grain.spin.cross(normal)
                        - self.slabs.velocity_at(piece, arm),
                    spin: grain.spin - self.slabs.spin(piece),
                    mass: 1.0 / (1.0 / grain.mass(p) + self.slabs.inverse_mass_at(piece, arm, normal)),
                    radius: grain.radius,
                    rolling_inertia: grain.rim_inertia(p),
                    restitution: solid.restitution,
                    friction: solid.friction,
                    attraction: (0.0, 0.0),
                    may_bond: false,
                    strength: [0.0; 2],
                    bond_yields: false,
                };
                let partner = Partner::Piece(piece as u32);
                let response = evaluate_contact(p, &touch, self.history(grain.id, partner));
                take(partner, response, normal, lever);
                wrench.push(-(response.across + response.along), arm);
                wrench.torque -= response.couple;
            }
            next.velocity += p.dt_s * (force / grain.mass(p) + p.gravity);
            next.velocity /= 1.0 + p.dt_s * p.turbulent_drag * next.velocity.length();
            next.spin += p.dt_s / grain.inertia(p) * torque;
            let place = grain.position.as_vec3().to_array();
            let is_in_pipe = |emitter: &&Emitter| emitter.is_in_pipe(place, 0.6 * emitter.reach_m);
            if let Some(emitter) = p.sources.emitters.iter().rfind(is_in_pipe) {
                (next.velocity, next.spin) = (emitter.velocity(), DVec3::ZERO);
            }
            next.position += p.dt_s * next.velocity;
            push_out(p, bodies, next, time_s, &mut loads);
        }
        self.slabs.touch(p, bodies, time_s, &mut wrenches, &mut loads);
        self.slabs.pull(&mut wrenches);
        self.slabs.advance(p, &wrenches);
        self.loads = loads;
        self.grains = moved;
        self.contacts = contacts;
        self.step += 1;
    }

    /// Adds the grains of emitters that appear before the step: twin of `dem/emit` and `count_emitted`.
    fn emit(&mut self, p: &Parameters) {
        for particle in p.sources.new_particles(self.step as u32 + 1) {
            let id = self.grains.len() as u32;
            let wide = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
            let [mean, spread, room] = p.emitted_radius;
            let radius = mean * (1.0 + spread * (2.0 * unit_of(id, 0) - 1.0));
            let unit =
                |k: u32| f64::from(room - radius) / 3f64.sqrt() * (2.0 * f64::from(unit_of(id, k)) - 1.0);
            let axes = p.sources.emitters[particle.emitter].axes;
            let shift: DVec3 = (1..).zip(axes).map(|(k, axis)| unit(k) * wide(axis)).sum();
            self.grains.push(Grain {
                id,
                position: wide(particle.position_m) + wide(particle.residual_m) + shift,
                velocity: wide(particle.velocity_m_s),
                spin: DVec3::ZERO,
                radius: radius.into(),
            });
        }
    }

    fn history(&self, id: u32, partner: Partner) -> ContactHistory {
        self.contacts.get(&(id, partner)).copied().unwrap_or_default()
    }

    /// Σ m v.
    pub fn momentum(&self, p: &Parameters) -> DVec3 {
        self.grains.iter().map(|g| g.mass(p) * g.velocity).sum::<DVec3>() + self.slabs.momentum()
    }

    /// Σ m x × v + I ω.
    pub fn angular_momentum(&self, p: &Parameters) -> DVec3 {
        let grain = |g: &Grain| g.mass(p) * g.position.cross(g.velocity) + g.inertia(p) * g.spin;
        self.grains.iter().map(grain).sum::<DVec3>() + self.slabs.angular_momentum()
    }
}

/// Returns a number from 0 to 1 by which radii and places of emitted grains are spread, another one for each
/// k below 4 (O'Neill 2014, PCG-RXS-M-XS).
fn unit_of(id: u32, k: u32) -> f32 {
    let state = (id.wrapping_mul(4).wrapping_add(k)).wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (((word >> 22) ^ word) >> 8) as f32 / 16_777_216.0
}

/// Returns the contact of two grains as seen from the first, and the distance of the contact from its centre.
fn touch_of(p: &Parameters, grain: &Grain, other: &Grain) -> (ContactKinematics, f64) {
    let apart = grain.position - other.position;
    let distance = apart.length();
    let along_x = if grain.id < other.id { DVec3::X } else { DVec3::NEG_X };
    let normal = if distance > 0.0 { apart / distance } else { along_x };
    let overlap = grain.radius + other.radius - distance;
    let levers = [grain.radius - 0.5 * overlap, other.radius - 0.5 * overlap];
    let in_a_row = |a: f64, b: f64| a * b / (a + b);
    let turning = levers[0] * grain.spin + levers[1] * other.spin;
    let touch = ContactKinematics {
        normal,
        overlap,
        velocity: grain.velocity - other.velocity - turning.cross(normal),
        spin: grain.spin - other.spin,
        mass: in_a_row(grain.mass(p), other.mass(p)),
        radius: in_a_row(grain.radius, other.radius),
        rolling_inertia: in_a_row(grain.rim_inertia(p), other.rim_inertia(p)),
        restitution: p.restitution,
        friction: p.friction,
        attraction: p.cohesion,
        may_bond: true,
        strength: p.bonds.map_or([0.0; 2], |bonds| [bonds.strength, bonds.shear_strength]),
        bond_yields: false,
    };
    (touch, levers[0])
}

/// Moves a grain out of a surface that it has penetrated too deep, and removes its velocity into the surface
/// (Gucer2010 eq 3.16).
fn push_out(p: &Parameters, bodies: &[UniformBody], grain: &mut Grain, time_s: f64, loads: &mut [Wrench]) {
    let max_m = (1.0 - DEEPEST) * grain.radius;
    let n = bodies.len() as u32;
    for partner in (0..n).map(Partner::Body).chain((0..6).map(Partner::Wall)) {
        let at = surfaces(p, bodies, grain.position, time_s + p.dt_s);
        let Some((_, surface)) = at.into_iter().find(|(other, _)| *other == partner) else { continue };
        if surface.distance >= max_m {
            continue;
        }
        let moving = match partner {
            Partner::Body(k) => velocity(&bodies[k as usize], time_s),
            _ => DVec3::ZERO,
        };
        grain.position += (max_m - surface.distance) * surface.normal;
        let taken = (grain.velocity - moving).dot(surface.normal).min(0.0) * surface.normal;
        grain.velocity -= taken;
        if let Partner::Body(k) = partner {
            let arm = grain.position - torque_centre(&bodies[k as usize], time_s + p.dt_s);
            loads[k as usize].push(grain.mass(p) / p.dt_s * taken, arm);
        }
    }
}
