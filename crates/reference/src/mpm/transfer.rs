//! Particles to grid, the grid's step, grid to particles (Breekveldt2017 sec 3.2.1 to 3.2.10).

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};

use super::collision::{collide, collide_and_measure, collide_node, left_free, push_out};
use super::contact::apply_contact;
use super::{Parameters, Particle, Stencil, Transfer, outer};

/// Magnitude below which an entry of Δt ∇v is lost when it is added to 1 in f32.
const STRAIN_FLOOR: f64 = 1.0 / (1 << 24) as f64;

/// State of a node of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Node {
    /// m_i in kg, in a plane kg/m.
    pub mass: f64,
    /// Σ of the momentum of particles, in kg m/s.
    pub momentum: DVec3,
    /// f_i in N, without gravity.
    pub force: DVec3,
    /// v_i at the start of the step, in m/s; 0 where there is no mass.
    pub before: DVec3,
    /// Current v_i in m/s.
    pub velocity: DVec3,
    /// Projection of a change of v_i onto the directions that surfaces leave free.
    pub free: DMat3,
}

/// Nodes that particles reach.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// Nodes by their index along each axis.
    pub nodes: BTreeMap<[i64; 3], Node>,
    /// Impulse and angular impulse of this step on each body, as in an explicit step.
    pub impulses: Vec<[DVec3; 2]>,
}

impl Grid {
    /// Adds mass, momentum and force of the particles to their nodes: steps 1 and 3.
    pub fn rasterize(p: &Parameters, particles: &[Particle]) -> Self {
        let mut grid = Self::default();
        for particle in particles {
            let stress = particle.stress(&p.material);
            for n in Stencil::new(p, particle.position).nodes() {
                let offset = p.node_m(n.node) - particle.position;
                let affine = if p.is_affine() { particle.affine * offset } else { DVec3::ZERO };
                let direction = match p.transfer {
                    Transfer::Mls => n.weight * offset / p.inertia_m2(),
                    Transfer::PicFlip | Transfer::Apic => n.gradient,
                };
                let node = grid.nodes.entry(n.node).or_default();
                node.mass += n.weight * particle.mass;
                node.momentum += n.weight * particle.mass * (particle.velocity + affine);
                let pushed = particle.surface_force + particle.surface_turn.cross(offset);
                node.force += n.weight * pushed - stress * direction;
            }
        }
        grid
    }

    /// Computes V⁰ of particles from the density of the grid around them (Breekveldt2017 eq 3.12 to 3.14):
    /// step 2.
    pub fn initial_volume(&self, p: &Parameters, particles: &mut [Particle]) {
        let cell = p.cell_size_m.powi(p.dimensions as i32);
        for particle in particles {
            let nodes = Stencil::new(p, particle.position).nodes();
            let mass: f64 = nodes.iter().map(|n| self.node(n.node).mass * n.weight).sum();
            particle.volume = particle.mass * cell / mass;
        }
    }

    /// Computes v_i, and v* after forces (Breekveldt2017 eq 3.24): step 4.
    pub fn update_velocity(&mut self, p: &Parameters) {
        for node in self.nodes.values_mut().filter(|node| node.mass > 0.0) {
            node.before = node.momentum / node.mass;
            let is_light = node.mass <= p.node_mass_cutoff_kg;
            let pushed = if is_light { DVec3::ZERO } else { node.force / node.mass };
            node.velocity = node.before + p.dt_s * (pushed + p.gravity_m_s2);
        }
    }

    /// Collides v* with bodies and walls: step 5, and again after step 6.
    pub fn collide(&mut self, p: &Parameters, time_s: f64) {
        self.impulses.resize(p.bodies.len(), [DVec3::ZERO; 2]);
        for (at, node) in self.nodes.iter_mut().filter(|(_, node)| node.mass > 0.0) {
            let moving = (node.mass, node.velocity);
            node.velocity = collide_node(p, p.node_m(*at), moving, time_s, &mut self.impulses);
        }
    }

    /// Finds the directions that bodies and walls leave free after the collisions, for step 6.
    pub fn find_contacts(&mut self, p: &Parameters, time_s: f64) {
        for (at, node) in self.nodes.iter_mut().filter(|(_, node)| node.mass > 0.0) {
            node.free = left_free(p, p.node_m(*at), node.velocity, time_s);
        }
    }

    /// Returns a node, or one without mass if there is none.
    pub fn node(&self, at: [i64; 3]) -> Node {
        self.nodes.get(&at).copied().unwrap_or_default()
    }

    /// Returns the particle after the step, before plastic yield: steps 7 to 10 with F̂_E for F_E.
    /// Adds the impulses of its collisions.
    pub(super) fn moved(
        &self,
        p: &Parameters,
        particle: &Particle,
        time_s: f64,
        impulses: &mut [[DVec3; 2]],
    ) -> Particle {
        let mut after = Particle {
            velocity: DVec3::ZERO,
            affine: DMat3::ZERO,
            surface_force: DVec3::ZERO,
            surface_turn: DVec3::ZERO,
            ..*particle
        };
        let mut gradient = DMat3::ZERO;
        let mut gained = DVec3::ZERO;
        for n in Stencil::new(p, particle.position).nodes() {
            let node = self.node(n.node);
            after.velocity += n.weight * node.velocity;
            gained += n.weight * (node.velocity - node.before);
            gradient += outer(node.velocity, n.gradient);
            if p.is_affine() {
                let offset = p.node_m(n.node) - particle.position;
                after.affine += outer(n.weight * node.velocity, offset) * (1.0 / p.inertia_m2());
            }
        }
        let (mut motion, flip) = (after.velocity, particle.velocity + gained);
        after.velocity = (1.0 - p.flip_ratio) * after.velocity + p.flip_ratio * flip;
        if p.transfer == Transfer::Mls {
            gradient = after.affine;
        }
        after.elastic = particle.elastic + strain(p, gradient) * particle.elastic;
        let moving = (particle.mass, after.velocity);
        after.velocity = collide_and_measure(p, particle.position, 0.0, moving, time_s, impulses);
        if p.moves_with_grid() {
            motion = collide(p, particle.position, 0.0, motion, time_s);
        } else {
            motion = after.velocity;
        }
        after.position = particle.position + (particle.residual + p.dt_s * motion);
        after.residual = DVec3::ZERO;
        if p.has_contact_forces {
            let end_s = time_s + p.dt_s;
            apply_contact(p, &mut after, motion, (end_s, time_s == 0.0), impulses);
            after.position = push_out(p, after.position, end_s);
        } else {
            after.position = push_out(p, after.position, time_s);
        }
        after
    }
}

/// Returns Δt ∇v without entries below the floor.
fn strain(p: &Parameters, gradient: DMat3) -> DMat3 {
    let strain = p.dt_s * gradient;
    if !p.strain_floor {
        return strain;
    }
    DMat3::from_cols_array(&strain.to_cols_array().map(|x| if x.abs() < STRAIN_FLOOR { 0.0 } else { x }))
}
