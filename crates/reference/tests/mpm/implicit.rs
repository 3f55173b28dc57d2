use std::collections::BTreeMap;

use frazil_reference::mpm::{Grid, Implicit, Parameters, State, Stencil, Transfer, apply_stiffness};
use glam::{DMat3, DVec3};

use crate::{Random, ball, close, cloud, parameters};

type Field = BTreeMap<[i64; 3], DVec3>;

fn random_field(p: &Parameters, grid: &Grid, seed: u64) -> Field {
    let mut random = Random(seed);
    grid.nodes.keys().map(|at| (*at, random.vector(p.dimensions, -1.0, 1.0))).collect()
}

fn dot(a: &Field, b: &Field) -> f64 {
    a.iter().map(|(at, a)| a.dot(b[at])).sum()
}

/// Returns F̂_E of each particle where nodes have moved by s·u (Breekveldt2017 eq 3.17, of F_E).
fn deformed(p: &Parameters, state: &State, u: &Field, s: f64) -> Vec<DMat3> {
    let deform = |particle: &frazil_reference::mpm::Particle| {
        let mut gradient = DMat3::ZERO;
        for n in Stencil::new(p, particle.position).nodes() {
            for axis in 0..3 {
                *gradient.col_mut(axis) += s * u[&n.node] * n.gradient[axis];
            }
        }
        (DMat3::IDENTITY + gradient) * particle.elastic
    };
    state.particles.iter().map(deform).collect()
}

/// Returns Φ of Breekveldt2017 eq 3.16 in J.
fn energy(p: &Parameters, state: &State, u: &Field, s: f64) -> f64 {
    let deformed = deformed(p, state, u, s);
    let energy = |(particle, f): (&frazil_reference::mpm::Particle, DMat3)| {
        particle.volume * p.material.lame(particle.plastic_volume).energy_pa(f)
    };
    state.particles.iter().zip(deformed).map(energy).sum()
}

/// Returns f of Breekveldt2017 eq 3.18 in N.
fn forces(p: &Parameters, state: &State, u: &Field, s: f64) -> Field {
    let mut forces: Field = u.keys().map(|at| (*at, DVec3::ZERO)).collect();
    for (particle, f) in state.particles.iter().zip(deformed(p, state, u, s)) {
        let lame = p.material.lame(particle.plastic_volume);
        let stress = particle.volume * lame.first_piola_pa(f) * particle.elastic.transpose();
        for n in Stencil::new(p, particle.position).nodes() {
            *forces.entry(n.node).or_default() -= stress * n.gradient;
        }
    }
    forces
}

#[test]
fn forces_of_the_grid_are_the_slope_of_the_energy() {
    for d in [2, 3] {
        let p = parameters(d);
        let state = cloud(&p, 30, 21);
        let grid = Grid::rasterize(&p, &state.particles);
        let u = random_field(&p, &grid, 22);
        let step = 1e-7;
        let slope = (energy(&p, &state, &u, step) - energy(&p, &state, &u, -step)) / (2.0 * step);
        let force: Field = grid.nodes.iter().map(|(at, node)| (*at, node.force)).collect();
        assert!((slope + dot(&force, &u)).abs() < 1e-6 * slope.abs(), "{slope} {}", dot(&force, &u));
    }
}

#[test]
fn stiffness_is_the_slope_of_the_forces() {
    for d in [2, 3] {
        let p = parameters(d);
        let state = cloud(&p, 30, 23);
        let u = random_field(&p, &Grid::rasterize(&p, &state.particles), 24);
        let step = 1e-6;
        let (low, high) = (forces(&p, &state, &u, -step), forces(&p, &state, &u, step));
        let applied = apply_stiffness(&p, &state.particles, &u);
        let size = dot(&applied, &applied).sqrt();
        for (at, k_u) in &applied {
            let slope = (high[at] - low[at]) / (2.0 * step);
            assert!(close(-slope, *k_u, 1e-8 * size), "{slope} {k_u}");
        }
    }
}

#[test]
fn stiffness_is_symmetric() {
    for d in [2, 3] {
        let p = parameters(d);
        let state = cloud(&p, 30, 25);
        let grid = Grid::rasterize(&p, &state.particles);
        let (u, v) = (random_field(&p, &grid, 26), random_field(&p, &grid, 27));
        let u_k_v = dot(&u, &apply_stiffness(&p, &state.particles, &v));
        let v_k_u = dot(&v, &apply_stiffness(&p, &state.particles, &u));
        assert!((u_k_v - v_k_u).abs() < 1e-11 * dot(&u, &apply_stiffness(&p, &state.particles, &u)).abs());
    }
}

#[test]
fn conjugate_residuals_solve_the_system() {
    let implicit = Implicit { beta: 1.0, max_iterations: 200, tolerance: 1e-12 };
    for d in [2, 3] {
        let p = Parameters { dt_s: 5e-3, implicit: Some(implicit), ..parameters(d) };
        let state = cloud(&p, 30, 28);
        let mut grid = Grid::rasterize(&p, &state.particles);
        grid.update_velocity(&p);
        let right: Field = grid.nodes.iter().map(|(at, node)| (*at, node.mass * node.velocity)).collect();
        let solved = grid.solve(&p, &state.particles, &implicit);
        let v: Field = grid.nodes.iter().map(|(at, node)| (*at, node.velocity)).collect();
        let k_v = apply_stiffness(&p, &state.particles, &v);
        let residual = |at: &[i64; 3]| {
            right[at] - grid.nodes[at].mass * v[at] - implicit.beta * p.dt_s * p.dt_s * k_v[at]
        };
        let residual: Field = right.keys().map(|at| (*at, residual(at))).collect();
        let share = (dot(&residual, &residual) / dot(&right, &right)).sqrt();
        assert!(share < 1e-11 && solved.residual <= 1e-12, "{share} {solved:?}");
        assert!((5..200).contains(&solved.iterations), "{solved:?}");
        // The system conserves momentum.
        let before: DVec3 = right.values().sum();
        let after: DVec3 = grid.nodes.values().map(|node| node.mass * node.velocity).sum();
        assert!(close(before, after, 1e-10 * before.length()), "{before} {after}");
    }
}

#[test]
fn without_beta_or_time_the_step_is_explicit() {
    let mut p = parameters(2);
    let state = cloud(&p, 30, 29);
    let mut explicit = state.clone();
    explicit.step(&p);
    p.implicit = Some(Implicit { beta: 0.0, max_iterations: 30, tolerance: 1e-10 });
    let mut other = state;
    let solved = other.step(&p);
    assert_eq!(solved.map(|solved| solved.iterations), Some(0));
    assert_eq!(explicit, other);
}

/// An elastic ball squeezed and released, with 20 times the stable time step of an explicit step: backward
/// Euler dissipates its energy, an explicit step is unstable.
#[test]
fn a_stiff_body_is_stable_with_large_steps() {
    let material = frazil_reference::mpm::Material { plastic: false, ..parameters(2).material };
    let mut p = Parameters { dt_s: 2e-2, material, transfer: Transfer::Apic, ..parameters(2) };
    let mut start = State::new(ball(&p, 0.5 * p.domain_max_m, 0.3));
    for particle in &mut start.particles {
        particle.elastic = DMat3::from_diagonal(DVec3::new(0.9, 1.05, 1.0));
    }
    let mut explicit = start.clone();
    for _ in 0..40 {
        explicit.step(&p);
    }
    assert!(explicit.fault.is_some());

    p.implicit = Some(Implicit { beta: 1.0, max_iterations: 100, tolerance: 1e-9 });
    let mut state = start.clone();
    let mut last = state.energy(&p).total();
    for _ in 0..40 {
        state.step(&p);
        let now = state.energy(&p).total();
        assert!(now < last, "{now} {last}");
        last = now;
    }
    assert!(last < 0.2 * start.energy(&p).total());
    assert!(close(state.momentum(), DVec3::ZERO, 1e-9));
}
