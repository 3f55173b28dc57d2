use frazil_reference::mpm::{Grid, Parameters, Particle, State, Transfer};
use glam::{DMat3, DVec3};

use crate::{CELL_M, ball, close, cloud, difference, parameters, settings};

/// Σ of momentum, and of angular momentum.
fn momenta(p: &Parameters, grid: &Grid) -> (DVec3, DVec3) {
    let nodes = || grid.nodes.iter().map(|(at, node)| (p.node_m(*at), node.momentum));
    (nodes().map(|(_, momentum)| momentum).sum(), nodes().map(|(x, momentum)| x.cross(momentum)).sum())
}

#[test]
fn the_grid_has_the_mass_and_the_momenta_of_the_particles() {
    for p in settings() {
        let state = cloud(&p, 60, 1);
        let grid = Grid::rasterize(&p, &state.particles);
        let mass: f64 = grid.nodes.values().map(|node| node.mass).sum();
        let (linear, angular) = momenta(&p, &grid);
        assert!((mass - state.mass()).abs() < 1e-12);
        assert!(close(linear, state.momentum(), 1e-12));
        // Σ w x_i = x_p: what PIC loses, it loses on the way back.
        assert!(close(angular, state.angular_momentum(&p), 1e-11), "{p:?}");
    }
}

#[test]
fn internal_forces_have_no_resultant_and_no_torque() {
    for p in settings() {
        let state = cloud(&p, 60, 2);
        let grid = Grid::rasterize(&p, &state.particles);
        let force: DVec3 = grid.nodes.values().map(|node| node.force).sum();
        let torque: DVec3 = grid.nodes.iter().map(|(at, node)| p.node_m(*at).cross(node.force)).sum();
        let size: f64 = grid.nodes.values().map(|node| node.force.length()).sum();
        assert!(size > 1000.0 && force.length() < 1e-12 * size && torque.length() < 1e-12 * size, "{p:?}");
    }
}

#[test]
fn inside_a_body_the_grid_volume_equals_the_sampled_volume() {
    for d in [2, 3] {
        let p = parameters(d);
        let centre = 0.5 * p.domain_max_m;
        let mut state = State::new(ball(&p, centre, 0.45));
        let filled = state.particles[0].volume;
        state.take_volume_from_grid(&p);
        for particle in &state.particles {
            let share = particle.volume / filled;
            let depth = 0.45 - (particle.position - centre).length();
            // The grid is emptier near the surface, and no fuller than the body anywhere; from three cells
            // below on a particle sees the surface with the ends of two splines.
            assert!(depth < 3.0 * CELL_M || share < 1.001, "{share}");
            assert!((1.0 - 1e-12..8.0).contains(&share), "{share}");
        }
    }
}

/// Breekveldt2017 appendix A: a particle on a node, as compressed as it can be, above nodes that a floor
/// holds. It prints 1907.83 for the force and 233.37 for the density, by a slip in its sum over the upper
/// nodes, which is Σ∇w = ½.
#[test]
fn the_thesis_tips_at_231_9_over_h() {
    let p = parameters(3);
    let centre = 0.5 * p.domain_max_m;
    let mut particle = Particle::new(centre, 0, 1.0, 1.0);
    particle.elastic = DMat3::from_diagonal(DVec3::new(1.0, 0.975, 1.0));
    let stress = particle.stress(&p.material);
    assert!((stress.y_axis.y + 3791.6667).abs() < 1e-4 && (stress.x_axis.x + 947.91667).abs() < 1e-5);
    let grid = Grid::rasterize(&p, &[particle]);
    let layer = |of: &dyn Fn(&frazil_reference::mpm::Node) -> f64, upwards: f64| -> f64 {
        let height = centre.y + upwards * CELL_M;
        let nodes = grid.nodes.iter().filter(|(at, _)| (p.node_m(**at).y - height).abs() < 1e-9);
        nodes.map(|(_, node)| of(node)).sum()
    };
    let force = layer(&|node| node.force.y, 1.0) * CELL_M;
    assert!((force - 1895.8333).abs() < 1e-4, "{force}");
    let held = layer(&|node| node.mass, -1.0);
    assert!((held - 1.0 / 6.0).abs() < 1e-12);
    let tipping = force / (9.81 * (1.0 - held));
    assert!((tipping - 231.9).abs() < 0.05, "{tipping}");
}

/// v = a + B x on all nodes: particles take it as it is, and C and F by it.
#[test]
fn an_affine_velocity_field_is_reproduced_exactly() {
    for p in settings().into_iter().filter(|p| p.flip_ratio == 0.0) {
        let mut state = cloud(&p, 20, 3);
        let (a, mut b) = (DVec3::new(0.3, -0.2, 0.0), DMat3::ZERO);
        b.x_axis.y = 1.5;
        b.y_axis = DVec3::new(-0.5, 0.7, 0.0);
        let mut grid = Grid::rasterize(&p, &state.particles);
        for (at, node) in &mut grid.nodes {
            node.velocity = a + b * p.node_m(*at);
        }
        let before = state.particles.clone();
        let p =
            Parameters { material: frazil_reference::mpm::Material { plastic: false, ..p.material }, ..p };
        state.update_particles(&p, &grid, 0.0);
        for (before, after) in before.iter().zip(&state.particles) {
            assert!(close(after.velocity, a + b * before.position, 1e-13), "{p:?}");
            assert!(close(after.position, before.position + p.dt_s * after.velocity, 1e-14));
            let deformed = (DMat3::IDENTITY + p.dt_s * b) * before.elastic;
            assert!(difference(after.elastic, deformed) < 1e-14, "{p:?}");
            let affine = if p.is_affine() { b } else { DMat3::ZERO };
            assert!(difference(after.affine, affine) < 1e-12, "{p:?}");
        }
    }
}

#[test]
fn flip_keeps_what_the_grid_does_not_change() {
    let transfers = [Transfer::PicFlip, Transfer::Apic, Transfer::Mls];
    for (transfer, share) in transfers.into_iter().flat_map(|t| [0.0, 0.5, 1.0].map(|share| (t, share))) {
        let p = Parameters { transfer, flip_ratio: share, ..parameters(3) };
        let mut state = cloud(&p, 20, 4);
        for particle in &mut state.particles {
            particle.elastic = DMat3::IDENTITY;
        }
        let before = state.particles.clone();
        let mut grid = Grid::rasterize(&p, &before);
        grid.update_velocity(&p);
        state.update_particles(&p, &grid, 0.0);
        for (before, after) in before.iter().zip(&state.particles) {
            let lost = (after.velocity - before.velocity).length();
            assert_eq!(lost < 1e-12, share == 1.0, "{share} {lost}");
        }
    }
}

/// 2⁻²⁴ is half the rounding of 1 in f32.
#[test]
fn strain_below_the_floor_is_none() {
    let mut p = Parameters { transfer: Transfer::Apic, ..parameters(3) };
    for (rate, floored) in [(1.05, false), (0.95, true)] {
        let particle = Particle::new(0.5 * p.domain_max_m, 0, 1.0, 1.0);
        let mut grid = Grid::rasterize(&p, &[particle]);
        for (at, node) in &mut grid.nodes {
            node.velocity = rate * 2f64.powi(-24) / p.dt_s * DVec3::X * (p.node_m(*at).y - 1.0);
        }
        for floor in [false, true] {
            p.strain_floor = floor;
            let mut state = State::new(vec![particle]);
            state.update_particles(&p, &grid, 0.0);
            let shear = state.particles[0].elastic.y_axis.x;
            assert_eq!(shear == 0.0, floor && floored, "{rate} {floor} {shear}");
            // The velocity itself is unchanged.
            assert!(state.particles[0].affine.y_axis.x > 0.0);
        }
    }
}
