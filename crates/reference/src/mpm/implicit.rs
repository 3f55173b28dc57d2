//! The semi-implicit step (Breekveldt2017 eq 3.25): (M + β Δt² K) v = M v*, K = ∂²Φ/∂x̂² at the start of the
//! step.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};

use super::{Grid, Implicit, Parameters, Particle, Stencil, outer};

/// Outcome of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Iterations done.
    pub iterations: u32,
    /// |M v* − A v| / |M v*|.
    pub residual: f64,
}

/// Vector field on the nodes with mass.
type Field = BTreeMap<[i64; 3], DVec3>;

/// Returns K u, matrix-free: Σ_p V⁰ δP F_Eᵀ ∇w with δP for δF_E = (Σ_i u_i ∇wᵀ) F_E. With u in m it is in N.
pub fn apply_stiffness(p: &Parameters, particles: &[Particle], u: &Field) -> Field {
    let mut forces: Field = u.keys().map(|at| (*at, DVec3::ZERO)).collect();
    for particle in particles {
        let nodes = Stencil::new(p, particle.position).nodes();
        let mut gradient = DMat3::ZERO;
        for n in &nodes {
            gradient += outer(u.get(&n.node).copied().unwrap_or_default(), n.gradient);
        }
        let lame = p.material.lame(particle.plastic_volume);
        let differential = lame.differential_pa(particle.elastic, gradient * particle.elastic);
        let stress = particle.volume * differential * particle.elastic.transpose();
        for n in &nodes {
            if let Some(force) = forces.get_mut(&n.node) {
                *force += stress * n.gradient;
            }
        }
    }
    forces
}

fn dot(a: &Field, b: &Field) -> f64 {
    a.values().zip(b.values()).map(|(a, b)| a.dot(*b)).sum()
}

/// Returns a + s·b.
fn plus(a: &Field, s: f64, b: &Field) -> Field {
    a.iter().zip(b.values()).map(|((at, a), b)| (*at, *a + s * *b)).collect()
}

impl Grid {
    /// Replaces v* by the solution of the system, by conjugate residuals from v*, preconditioned with M:
    /// forces on a node fall with its mass, so M⁻¹ K is bounded although K has entries of all magnitudes.
    /// Only the components of v* that surfaces leave free change.
    pub fn solve(&mut self, p: &Parameters, particles: &[Particle], implicit: &Implicit) -> Solved {
        let massive = || self.nodes.iter().filter(|(_, node)| node.mass > 0.0);
        let mass: BTreeMap<[i64; 3], f64> = massive().map(|(at, node)| (*at, node.mass)).collect();
        let weighed = |u: &Field| -> Field { u.iter().map(|(at, u)| (*at, mass[at] * *u)).collect() };
        let unweighed = |u: &Field| -> Field { u.iter().map(|(at, u)| (*at, *u / mass[at])).collect() };
        let stiffness = implicit.beta * p.dt_s * p.dt_s;
        let free =
            |u: Field| -> Field { u.into_iter().map(|(at, u)| (at, self.nodes[&at].free * u)).collect() };
        let apply = |u: &Field| free(plus(&weighed(u), stiffness, &apply_stiffness(p, particles, u)));

        let mut v: Field = massive().map(|(at, node)| (*at, node.velocity)).collect();
        let right = weighed(&v);
        let size = dot(&right, &right).sqrt();
        let mut r = plus(&free(right), -1.0, &apply(&v));
        let mut z = unweighed(&r);
        let mut az = apply(&z);
        let (mut direction, mut image) = (z.clone(), az.clone());
        let mut z_az = dot(&z, &az);
        let residual = |r: &Field| if size > 0.0 { dot(r, r).sqrt() / size } else { 0.0 };
        let mut iterations = 0;
        while iterations < implicit.max_iterations && residual(&r) > implicit.tolerance {
            let image_z = unweighed(&image);
            let alpha = z_az / dot(&image, &image_z);
            v = plus(&v, alpha, &direction);
            r = plus(&r, -alpha, &image);
            z = plus(&z, -alpha, &image_z);
            az = apply(&z);
            let next = dot(&z, &az);
            direction = plus(&z, next / z_az, &direction);
            image = plus(&az, next / z_az, &image);
            z_az = next;
            iterations += 1;
        }
        for (at, v) in v {
            self.nodes.entry(at).or_default().velocity = v;
        }
        Solved { iterations, residual: residual(&r) }
    }
}
