use frazil_reference::bonds::check_bonds;
use frazil_reference::fluid;
use frazil_reference::primitives::Grid;
use frazil_reference::snow::{Kind, Parameters, State};
use frazil_reference::snow::{LinkLimit, LinkRule};
use proptest::prelude::*;

use crate::{SPACING_M, cloud, parameters, solid_and_fluid, total};

fn snow_parameters() -> Parameters {
    let mut p = parameters();
    let limit = LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 };
    p.links = Some(LinkRule { radius_m: 2.0 * SPACING_M, link_temperature_c: 0.0, limit, break_ratio: 1.5 });
    p
}

/// Without snow the step is the fluid's, to the bit.
#[test]
fn water_alone_is_the_position_based_fluid() {
    let mut p = parameters();
    p.fluid.gravity_m_s2 = [0.0, -9.81, 0.0];
    p.fluid.pressure_strength = 0.001;
    let mut state = cloud([0, 400], 21);
    state.fluid.temperature_c.fill(10.0);
    state.fluid.blend.fill(1.0);
    let mut twin = fluid::State::new(state.fluid.position.clone(), state.fluid.velocity.clone());
    for step in 0..5 {
        state.step(&p);
        twin.integrate(&p.fluid);
        twin.sort_by_cell();
        twin.reorder();
        twin.find_cells(&p.fluid);
        twin.predict(&p.fluid);
        for _ in 0..p.iterations {
            twin.solve_density(&p.fluid);
            twin.solve_positions(&p.fluid);
        }
        twin.update_velocity(&p.fluid);
        twin.smooth_velocity(&p.fluid);
        assert_eq!(state.fluid.id, twin.id, "step {step}");
        assert_eq!(state.fluid.position, twin.position, "step {step}");
        assert_eq!(state.fluid.velocity, twin.velocity, "step {step}");
        assert_eq!(state.fluid.density, twin.density, "step {step}");
    }
}

#[test]
fn steps_keep_momentum_without_walls() {
    let mut p = snow_parameters();
    // The crowd bursts; walls are out of its reach for ten steps.
    p.fluid.domain_min_m = [-20.0 * SPACING_M; 3];
    p.fluid.domain_max_m = [40.0 * SPACING_M; 3];
    p.fluid.grid = Grid::covering(p.fluid.domain_min_m, p.fluid.domain_max_m, p.fluid.support_m);
    let mut state = cloud([200, 200], 4);
    // A mean that is not zero.
    for kind in Kind::ALL {
        for v in &mut state[kind].velocity {
            *v = v.map(|v| 0.05 * v + 0.02);
        }
        state[kind].blend.fill(1.0);
    }
    let before = total(&state, |phase| &phase.velocity);
    for _ in 0..10 {
        state.step(&p);
    }
    assert!(state.ledger.melted > 10 && state.ledger.frozen > 10, "{:?}", state.ledger);
    for (a, b) in total(&state, |phase| &phase.velocity).iter().zip(before) {
        // Half an ulp of positions of 0.2 m over Δt is 7e-6 m/s, at random over 400 particles and ten steps
        // of five corrections.
        assert!((a - b).abs() < 2e-3, "momentum changed by {} of 8 m/s", a - b);
    }
    let reach_m = Kind::ALL.into_iter().flat_map(|kind| state[kind].position.iter().flatten());
    assert!(reach_m.fold(0.0f32, |reach, x| reach.max((x - 0.2).abs())) < 0.5, "a wall was in reach");
}

#[test]
fn a_step_without_particles_does_nothing() {
    let p = snow_parameters();
    let mut state = solid_and_fluid(vec![], vec![]);
    state.step(&p);
    assert!(state.solid.is_empty() && state.fluid.is_empty());
}

fn check_state(state: &State, p: &Parameters, n: usize) {
    let mut ids: Vec<u32> = state.solid.id.iter().chain(&state.fluid.id).copied().collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..n as u32), "each id once: {ids:?}");
    for kind in Kind::ALL {
        let phase = &state[kind];
        for x in &phase.position {
            assert_eq!(p.fluid.confine(*x), *x, "outside");
        }
        let finite = phase.velocity.iter().flatten().chain(&phase.temperature_c).all(|x| x.is_finite());
        assert!(finite, "{kind:?}");
        assert!(phase.blend.iter().all(|alpha| (0.0..=1.0).contains(alpha)));
    }
    let rule = p.links.as_ref().unwrap();
    let limit: Vec<u32> =
        state.solid.temperature_c.iter().map(|t| rule.link_limit(state.n_max, *t)).collect();
    assert_eq!(check_bonds(&state.links, rule.radius_m, &limit), []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]
    #[test]
    fn random_scenes_lose_nothing(n in prop::array::uniform2(0usize..120), seed: u32) {
        let mut p = snow_parameters();
        p.fluid.gravity_m_s2 = [0.0, -9.81, 0.0];
        (p.blend_speed, p.fluid.dt_s) = (0.2, 5e-3);
        let mut state = cloud(n, seed);
        for _ in 0..10 {
            state.step(&p);
            check_state(&state, &p, n[0] + n[1]);
        }
    }
}
