use frazil_reference::bonds::Bond;
use frazil_reference::snow::{Parameters, State};

use crate::{SPACING_M, distance, parameters, solid_and_fluid, total};

/// Positions of 0.2 m have an ulp of 1.5e-8 m.
const ROUNDING_M: f32 = 1e-7;

fn shape_parameters() -> Parameters {
    let mut p = parameters();
    p.shape_stiffness = 1.0;
    p
}

/// The corners of a cube, each linked with the seven others, and `more` snow, not linked.
fn cube(more: &[[f32; 3]]) -> State {
    let corner = |i: usize| std::array::from_fn(|axis| 0.19 + SPACING_M * (i >> axis & 1) as f32);
    let mut state = solid_and_fluid((0..8).map(corner).chain(more.iter().copied()).collect(), vec![]);
    let rest = state.solid.rest_position.clone();
    for i in 0..8 {
        for j in (0..8).filter(|j| *j != i) {
            let rest_length_m = distance(rest[i], rest[j]);
            state.links.rows[i].push(Bond::new(j as u32, rest_length_m));
        }
    }
    put(&mut state, |x| x);
    state
}

fn link(state: &mut State, i: usize, j: usize, rest_length_m: f32) {
    state.links.rows[i].push(Bond::new(j as u32, rest_length_m));
    state.links.rows[j].push(Bond::new(i as u32, rest_length_m));
}

/// Moves each particle to the image of its position by `at`, like `compute_lambda` and `solve` leave it.
fn put(state: &mut State, at: impl Fn([f32; 3]) -> [f32; 3]) {
    let solid = &mut state.solid;
    solid.predicted = solid.position.iter().map(|x| at(*x)).collect();
    solid.constraint = solid.predicted.iter().map(|[x, y, z]| [*x, *y, *z, 0.0]).collect();
}

/// Rotates by 0.9 about (1, 2, 2)/3 through (0.2, 0.2, 0.2), and translates.
fn rigid(x: [f32; 3]) -> [f32; 3] {
    let (axis, (sin, cos)) = ([1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 0.9f32.sin_cos());
    let q = x.map(|x| x - 0.2);
    let along: f32 = (0..3).map(|i| axis[i] * q[i]).sum();
    std::array::from_fn(|i| {
        let [a, b] = [(i + 1) % 3, (i + 2) % 3];
        let across = axis[a] * q[b] - axis[b] * q[a];
        0.2 + [0.03, -0.02, 0.01][i] + cos * q[i] + sin * across + (1.0 - cos) * along * axis[i]
    })
}

/// Shears along x in proportion to height.
fn sheared([x, y, z]: [f32; 3]) -> [f32; 3] {
    [x + 0.4 * (y - 0.2), y, z]
}

fn farthest(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    a.iter().zip(b).map(|(a, b)| distance(*a, *b)).fold(0.0, f32::max)
}

#[test]
fn a_rigidly_moved_cluster_is_left_where_it_is() {
    let mut state = cube(&[]);
    put(&mut state, rigid);
    let before = state.solid.predicted.clone();
    state.apply_shape_matching(&shape_parameters());
    assert!(farthest(&state.solid.predicted, &before) < ROUNDING_M);
}

#[test]
fn corrections_of_a_cluster_add_up_to_nothing() {
    let mut state = cube(&[]);
    put(&mut state, |x| sheared(rigid(x)));
    // With one partner less, a cluster is no longer the same as another.
    state.links.rows[0].pop();
    state.links.rows[7].remove(0);
    let before = state.clone();
    state.apply_shape_matching(&shape_parameters());
    assert!(farthest(&state.solid.predicted, &before.solid.predicted) > 0.05 * SPACING_M);
    let [before, after] = [&before, &state].map(|state| total(state, |phase| &phase.predicted));
    assert!((0..3).all(|axis| (after[axis] - before[axis]).abs() < 8.0 * f64::from(ROUNDING_M)));
}

#[test]
fn a_sheared_cluster_recovers_its_shape() {
    let mut state = cube(&[]);
    put(&mut state, |x| sheared(rigid(x)));
    let p = shape_parameters();
    let unlike_rest = |state: &State| {
        let (x, rest) = (&state.solid.predicted, &state.solid.rest_position);
        let pairs = (0..8).flat_map(|i| (0..8).map(move |j| (i, j)));
        pairs.map(|(i, j)| (distance(x[i], x[j]) - distance(rest[i], rest[j])).abs()).fold(0.0, f32::max)
    };
    assert!(unlike_rest(&state) > 0.1 * SPACING_M);
    // In each iteration a particle covers eight ninths of the distance to its goal, which is the same in all
    // eight clusters.
    for _ in 0..10 {
        state.apply_shape_matching(&p);
        state.solid.position.clone_from(&state.solid.predicted);
        put(&mut state, |x| x);
    }
    assert!(unlike_rest(&state) < 2.0 * ROUNDING_M, "{}", unlike_rest(&state));
}

#[test]
fn stiffness_is_the_corrected_share_of_the_distance() {
    let moved_by = |stiffness: f32| {
        let mut state = cube(&[]);
        put(&mut state, sheared);
        let before = state.solid.predicted[3][0];
        state.apply_shape_matching(&Parameters { shape_stiffness: stiffness, ..parameters() });
        state.solid.predicted[3][0] - before
    };
    assert!(moved_by(1.0).abs() > 0.05 * SPACING_M);
    assert!((moved_by(0.25) - 0.25 * moved_by(1.0)).abs() < ROUNDING_M);
}

/// Walls stop particles on their way to the goal, and their displacement is stored for friction.
#[test]
fn walls_push_particles_corrected_back_through_them() {
    let mut state = cube(&[]);
    let mut p = shape_parameters();
    p.fluid.domain_max_m[0] = 0.212;
    let limit_m = p.fluid.domain_max_m[0] - p.fluid.clearance_m;
    put(&mut state, |[x, y, z]| [0.2 + 0.1 * (x - 0.2), y, z]);
    state.apply_shape_matching(&p);
    let outer = |i: &usize| i & 1 == 1;
    assert!((0..8).filter(outer).all(|i| state.solid.predicted[i][0] == limit_m));
    assert!((0..8).filter(outer).all(|i| state.solid.push[i][0] < -0.1 * SPACING_M));
    assert!((0..8).filter(|i| !outer(i)).all(|i| state.solid.push[i] == [0.0; 3]));
}

#[test]
fn links_of_another_length_than_the_rest_positions_are_left_out() {
    let mut state = cube(&[[0.25, 0.2, 0.2]]);
    let between = distance(state.solid.rest_position[1], state.solid.rest_position[8]);
    for (part, is_of_shape) in [(0.88, false), (0.92, true), (1.09, true), (1.12, false)] {
        // A link is as long as it was made, the rest positions are apart by `part` of that.
        link(&mut state, 1, 8, between / part);
        let members = |i: usize| state.clusters()[i].members.clone();
        assert_eq!(members(8) == [8, 1], is_of_shape, "{part}");
        assert_eq!(members(1).contains(&8), is_of_shape, "{part}");
        put(&mut state, |x| if x[0] > 0.24 { [0.3, 0.3, 0.2] } else { x });
        let before = state.solid.predicted.clone();
        state.apply_shape_matching(&shape_parameters());
        assert_eq!(farthest(&state.solid.predicted, &before) > 0.1 * SPACING_M, is_of_shape, "{part}");
        state.links.rows[1].pop();
        state.links.rows[8].clear();
    }
}

/// Water froze beside a block that has rotated since its rest state.
#[test]
fn a_frozen_particle_takes_a_place_that_fits_its_distances() {
    let mut state = cube(&[[0.222, 0.206, 0.213]]);
    // Its rest position is arbitrary.
    state.solid.rest_position[8] = [0.05, 0.3, 0.11];
    put(&mut state, rigid);
    let before = state.solid.rest_position.clone();
    let made_m = distance(state.solid.predicted[7], state.solid.predicted[8]);
    link(&mut state, 7, 8, made_m);
    state.attach_to_shape();
    let (x, rest) = (&state.solid.predicted, &state.solid.rest_position);
    assert_eq!(rest[..8], before[..8]);
    for i in 0..8 {
        assert!((distance(rest[i], rest[8]) - distance(x[i], x[8])).abs() < 4.0 * ROUNDING_M, "{i}");
    }
    assert_eq!(state.clusters()[8].members, [8, 7]);
    // A particle with a rest position keeps it.
    let before = rest.clone();
    put(&mut state, |x| x.map(|x| 0.5 * x));
    state.attach_to_shape();
    assert_eq!(state.solid.rest_position, before);
}

#[test]
fn of_two_without_rest_positions_the_higher_id_attaches() {
    for ids in [[3, 5], [5, 3]] {
        let mut state = solid_and_fluid(vec![[0.2; 3], [0.21, 0.2, 0.2]], vec![]);
        state.solid.id = ids.to_vec();
        state.solid.rest_position = vec![[0.1, 0.1, 0.1], [0.3, 0.3, 0.3]];
        link(&mut state, 0, 1, 0.01);
        put(&mut state, |x| x);
        let before = state.solid.rest_position.clone();
        state.attach_to_shape();
        let stays = usize::from(ids[0] > ids[1]);
        let rest = &state.solid.rest_position;
        assert_eq!(rest[stays], before[stays]);
        assert!((distance(rest[0], rest[1]) - 0.01).abs() < ROUNDING_M, "{ids:?}");
    }
}

/// A step with shape matching is one that goes through its stages.
#[test]
fn a_twisting_block_keeps_its_momentum() {
    let p = shape_parameters();
    let mut state = cube(&[]);
    for (v, [x, y, _]) in state.solid.velocity.iter_mut().zip(&state.solid.position) {
        *v = [10.0 * (y - 0.2) + 0.1, 10.0 * (x - 0.2), 0.2];
    }
    let before = total(&state, |phase| &phase.velocity);
    for _ in 0..5 {
        state.step(&p);
    }
    let after = total(&state, |phase| &phase.velocity);
    assert!((0..3).all(|axis| (after[axis] - before[axis]).abs() < 1e-3), "{before:?} {after:?}");
}
