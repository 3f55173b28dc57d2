use frazil_reference::bodies::Body;
use frazil_reference::snow::{Parameters, State};

use crate::{SPACING_M, distance, parameters, solid_and_fluid};

/// Two particles that overlap along x and have slid along z by `slide_m` in the step.
fn slid(p: &Parameters, slide_m: f32) -> State {
    let pair = vec![[0.2, 0.2, 0.2], [0.2 + 0.9 * SPACING_M, 0.2, 0.2]];
    let mut state = solid_and_fluid(pair, vec![]);
    state.begin_step(p);
    for iteration in 0..p.iterations {
        state.compute_lambda(p);
        state.solve(p, iteration);
    }
    state.solid.predicted[0][2] += 0.5 * slide_m;
    state.solid.predicted[1][2] -= 0.5 * slide_m;
    state
}

/// Chen2021 eq 5.22: a slide below μ_s times the normal correction is removed completely, a longer one by μ_k
/// times the normal correction.
#[test]
fn a_pair_sticks_or_slips() {
    let p = parameters();
    let still = slid(&p, 0.0);
    let overlap_m = p.contact_distance_m - distance(still.solid.predicted[0], still.solid.predicted[1]);
    let normal_m = p.iterations as f32 * p.bounce_stiffness * p.fluid.over_relaxation * overlap_m;
    for (ratio, sticks) in [(0.2, true), (0.45, true), (0.55, false), (2.0, false)] {
        let slide_m = ratio * normal_m;
        let mut state = slid(&p, slide_m);
        state.friction(&p);
        let [a, b] = [state.solid.predicted[0], state.solid.predicted[1]];
        let left_m = a[2] - b[2];
        let expected_m = if sticks { 0.0 } else { slide_m - p.kinetic_friction * normal_m };
        // A slide of up to 0.06 spacings rotates the normal by as much, which is second order in all lengths.
        assert!((left_m - expected_m).abs() < 0.02 * normal_m, "{ratio}: {left_m} is not {expected_m} m");
    }
}

/// A contact removes half of the slide under two constraints, for example contact and a link.
#[test]
fn friction_is_averaged_over_the_constraints() {
    let p = parameters();
    let slide_m = 1e-5;
    let mut state = slid(&p, slide_m);
    for contact in &mut state.solid.contact {
        contact[1] = 2.0;
    }
    state.friction(&p);
    let left_m = state.solid.predicted[0][2] - state.solid.predicted[1][2];
    // The slide rotates the normal, so some of the bounce of 0.03 spacings counts as tangential.
    assert!((left_m - 0.5 * slide_m).abs() < 0.05 * slide_m, "{left_m}");
}

/// A pair slides along a wall which pushes one of them: other particles act first, then the wall acts on the
/// rest, and less on a particle that has just frozen.
#[test]
fn wall_friction_follows_particle_friction_and_blends_in() {
    let p = parameters();
    let slide_m = 1e-4;
    for alpha in [1.0, 0.96] {
        let mut state = slid(&p, slide_m);
        for contact in &mut state.solid.contact {
            *contact = [alpha, 2.0];
        }
        let before = state.solid.predicted.clone();
        state.friction(&p);
        let by_pairs_m = before[0][2] - state.solid.predicted[0][2];
        state.solid.predicted.clone_from(&before);
        state.solid.push[0] = [0.0, 1.0, 0.0];
        state.friction(&p);
        let taken_m = before[0][2] - state.solid.predicted[0][2];
        let left_m = before[0][2] - state.solid.position[0][2] - by_pairs_m;
        assert!(by_pairs_m > 0.05 * slide_m, "{by_pairs_m} m by the other particle");
        assert!((taken_m - by_pairs_m - alpha * left_m).abs() < 3e-8, "α {alpha}: {taken_m} m");
    }
}

#[test]
fn separate_particles_have_no_friction() {
    let p = parameters();
    let mut state = solid_and_fluid(vec![[0.2; 3], [0.2 + 1.1 * SPACING_M, 0.2, 0.2]], vec![]);
    state.solid.velocity[0] = [0.0, 0.0, 1.0];
    let mut smooth = state.clone();
    let slippery = Parameters { static_friction: 0.0, kinetic_friction: 0.0, ..p.clone() };
    state.step(&p);
    smooth.step(&slippery);
    assert_eq!(state, smooth);
}

/// Returns the speed along a plane inclined by θ in the plane of x and y of a particle released on it 0.1 s
/// ago.
fn speed_on_a_slope(p: &mut Parameters, slope: f32) -> f32 {
    let norm = (1.0 + slope * slope).sqrt();
    let normal = [slope / norm, 1.0 / norm, 0.0];
    // Through the origin, so that positions are small and round little.
    p.fluid.bodies = vec![Body::plane(normal, 0.0)];
    p.fluid.domain_min_m = [-10.0 * SPACING_M; 3];
    p.fluid.domain_max_m = [10.0 * SPACING_M; 3];
    p.fluid.grid.origin_m = p.fluid.domain_min_m;
    p.fluid.gravity_m_s2 = [0.0, -9.81, 0.0];
    let start = normal.map(|n| n * p.fluid.clearance_m);
    let mut state = solid_and_fluid(vec![start], vec![]);
    for _ in 0..100 {
        state.step(p);
    }
    let [x, y, _] = state.solid.velocity[0];
    (x - slope * y) / norm
}

/// At tan θ below μ_s it rests; above, it accelerates with g (sin θ − μ_k cos θ).
#[test]
fn on_a_slope_it_slips_at_the_friction_angle() {
    for slope in [0.1f32, 0.4, 0.48] {
        let speed_m_s = speed_on_a_slope(&mut parameters(), slope);
        // One step of gravity adds 1e-2 m/s; what is left is rounding of positions over Δt.
        assert!(speed_m_s.abs() < 1e-4, "it slides at {speed_m_s} m/s on a slope of {slope}");
    }
    for slope in [0.52f32, 0.8, 1.0] {
        let speed_m_s = speed_on_a_slope(&mut parameters(), slope);
        let angle = slope.atan();
        let expected_m_s = 0.1 * 9.81 * (angle.sin() - 0.35 * angle.cos());
        assert!(
            (speed_m_s / expected_m_s - 1.0).abs() < 0.01,
            "{slope}: {speed_m_s} is not {expected_m_s} m/s"
        );
    }
}

/// A tower of particles on the floor, each on the next: friction and contact hold it.
#[test]
fn a_stack_stays() {
    let mut p = parameters();
    p.fluid.gravity_m_s2 = [0.0, -9.81, 0.0];
    let n = [3usize, 4, 3];
    let place = |i: usize| [i % n[0], i / n[0] % n[1], i / (n[0] * n[1])];
    let position: Vec<[f32; 3]> = (0..n.iter().product())
        .map(|i| {
            let [x, y, z] = place(i).map(|k| k as f32);
            [0.2 + x * SPACING_M, (y + 0.5) * SPACING_M, 0.2 + z * SPACING_M]
        })
        .collect();
    let mut state = solid_and_fluid(position.clone(), vec![]);
    for _ in 0..500 {
        state.step(&p);
    }
    for (x, id) in state.solid.position.iter().zip(&state.solid.id) {
        let start = position[*id as usize];
        assert!(distance(*x, start) < 0.5 * SPACING_M, "particle {id} went from {start:?} to {x:?}");
    }
    let fastest = state.solid.velocity.iter().map(|v| distance(*v, [0.0; 3])).fold(0.0, f32::max);
    assert!(fastest < 0.02, "{fastest} m/s");
}
