use std::collections::BTreeMap;

use frazil_reference::bonds::{Bond, Bonds, INVALID_INDEX, check_bonds};
use frazil_reference::snow::{Kind, LatentHeat, Parameters, Phase, State, fixed_point_temperature};
use proptest::prelude::*;

use crate::{cloud, parameters};

/// Returns the state that a particle keeps, by id: bits of position, velocity, temperature and enthalpy.
fn carried(state: &State) -> BTreeMap<u32, [u32; 8]> {
    let mut carried = BTreeMap::new();
    for phase in [&state.solid, &state.fluid] {
        for i in 0..phase.len() {
            let ([x, y, z], [u, v, w]) = (phase.position[i], phase.velocity[i]);
            let words = [x, y, z, u, v, w, phase.temperature_c[i], phase.enthalpy_j_kg[i]];
            let twice = carried.insert(phase.id[i], words.map(f32::to_bits));
            assert!(twice.is_none(), "id {} occurs twice", phase.id[i]);
        }
    }
    carried
}

/// Snow linked in a chain of its ids' order.
fn link_in_a_chain(state: &mut State) {
    let n = state.solid.len();
    state.links = Bonds::none(n);
    for i in 1..n {
        let link = |partner: usize| Bond::new(partner as u32, 0.001 * i as f32);
        state.links.rows[i - 1].push(link(i));
        state.links.rows[i].push(link(i - 1));
    }
}

/// Temperatures and blends that make exactly those leave who are flagged, and something in enthalpy to carry.
fn set_leaves(state: &mut State, flags: [&[bool]; 2]) {
    for (kind, flags) in Kind::ALL.into_iter().zip(flags) {
        let away = if kind == Kind::Solid { 1.0 } else { -1.0 };
        for (i, leaves) in flags.iter().enumerate() {
            // A particle stays for one of two reasons: it is on the right side, or it has just changed phase.
            let (side, blend) = if *leaves {
                (away, 0.9)
            } else if i % 2 == 0 {
                (-away, 0.9)
            } else {
                (away, 0.3)
            };
            state[kind].temperature_c[i] = side * (1.0 + i as f32 / 7.0);
            state[kind].enthalpy_j_kg[i] = i as f32 * 3.3;
            state[kind].blend[i] = blend;
        }
    }
}

fn migrate(state: &mut State, p: &Parameters) {
    state.integrate(p);
    state.mark_phase_change(p);
    state.scan_leavers();
    state.migrate();
    state.sort_by_cell(p);
    state.reorder();
}

fn check_migration(n: [usize; 2], flags: [&[bool]; 2]) {
    let p = parameters();
    let mut state = cloud(n, 7);
    link_in_a_chain(&mut state);
    set_leaves(&mut state, flags);
    let mut before = state.clone();
    before.integrate(&p);
    migrate(&mut state, &p);

    assert_eq!(carried(&state), carried(&before), "ids, positions, momentum, temperature");
    let left = flags.map(|flags| flags.iter().filter(|leaves| **leaves).count());
    assert_eq!(state.solid.len(), n[0] - left[0] + left[1]);
    assert_eq!(state.fluid.len(), n[1] - left[1] + left[0]);
    assert_eq!([state.ledger.melted, state.ledger.frozen], left.map(|n| n as u32));
    let sum = |phase: &Phase, flags: &[bool]| -> i64 {
        let leavers = phase.temperature_c.iter().zip(flags).filter(|(_, leaves)| **leaves);
        leavers.map(|(t, _)| fixed_point_temperature(*t)).sum()
    };
    assert_eq!(state.ledger.melted_temperature, sum(&before.solid, flags[0]));
    assert_eq!(state.ledger.frozen_temperature, sum(&before.fluid, flags[1]));

    for (kind, flags) in Kind::ALL.into_iter().zip(flags) {
        let after = &state[kind];
        let n_cells = p.fluid.grid.n_cells() as usize;
        assert!(after.key.is_sorted());
        assert_eq!(after.cell_start[n_cells] as usize, after.len());
        for column in [after.id.len(), after.key.len(), after.predicted.len(), after.velocity.len()] {
            assert_eq!(column, after.len());
        }
        for i in 0..after.len() {
            let x = p.fluid.confine(std::array::from_fn(|axis| {
                after.position[i][axis] + p.fluid.dt_s * after.velocity[i][axis]
            }));
            assert_eq!(after.key[i], p.fluid.grid.cell_key(x), "each key went with its particle");
            let was_here = before[kind].id.iter().position(|id| *id == after.id[i]);
            match was_here {
                Some(from) => {
                    assert!(!flags[from], "particle {} should have left", after.id[i]);
                    assert_eq!(after.blend[i], before[kind].blend[from] + p.blend_speed);
                    assert_eq!(after.source[i], from as u32);
                }
                None => assert_eq!(after.blend[i], 0.0, "who has just come has not blended in"),
            }
        }
        // Stable: in each cell those that stayed in their old order, then those that came in theirs.
        for cell in after.cell_start.windows(2) {
            assert!(after.source[cell[0] as usize..cell[1] as usize].is_sorted());
        }
    }

    assert_eq!(check_bonds(&state.links, 1.0, &vec![8; state.solid.len()]), []);
    let length = |id: u32| {
        let place = state.solid.id.iter().position(|other| *other == id)?;
        state.links.rows[place].iter().find_map(|link| {
            (link.partner != INVALID_INDEX && state.solid.id[link.partner as usize] == id + 1)
                .then_some(link.rest_length_m)
        })
    };
    for i in 1..n[0] {
        let stays = !flags[0][i - 1] && !flags[0][i];
        assert_eq!(length(i as u32 - 1), stays.then_some(0.001 * i as f32), "link of {} and {i}", i - 1);
    }
}

#[test]
fn migration_loses_no_particle_for_any_choice() {
    type Flags = fn(usize, usize) -> bool;
    let flags: [(&str, Flags); 7] = [
        ("none", |_, _| false),
        ("all", |_, _| true),
        ("alternating", |i, _| i % 2 == 0),
        ("the first", |i, _| i == 0),
        ("the last", |i, n| i + 1 == n),
        ("all but the first", |i, _| i > 0),
        ("runs", |i, _| i / 5 % 2 == 1),
    ];
    for n in [[40, 60], [1, 1], [0, 9], [9, 0], [0, 0], [1, 64]] {
        for (_, solid) in flags {
            for (_, fluid) in flags {
                let solid: Vec<bool> = (0..n[0]).map(|i| solid(i, n[0])).collect();
                let fluid: Vec<bool> = (0..n[1]).map(|i| fluid(i, n[1])).collect();
                check_migration(n, [&solid, &fluid]);
            }
        }
    }
}

#[test]
fn a_particle_may_not_change_back_before_it_has_blended_in() {
    let mut p = parameters();
    p.blend_speed = 0.25;
    let mut state = cloud([1, 0], 3);
    state.solid.temperature_c[0] = 5.0;
    state.solid.blend[0] = 1.0;
    migrate(&mut state, &p);
    assert_eq!([state.solid.len(), state.fluid.len()], [0, 1], "melted");
    state.fluid.temperature_c[0] = -5.0;
    for blend in [0.25, 0.5] {
        migrate(&mut state, &p);
        assert_eq!((state.fluid.len(), state.fluid.blend[0]), (1, blend), "α is not yet above 0.5");
    }
    migrate(&mut state, &p);
    assert_eq!([state.solid.len(), state.fluid.len()], [1, 0], "frozen again");
    assert_eq!([state.ledger.melted, state.ledger.frozen], [1, 1]);
}

#[test]
fn with_enthalpy_the_latent_heat_must_be_paid_first() {
    let mut p = parameters();
    p.heat.latent_heat = LatentHeat::Enthalpy { latent_j_kg: 1000.0 };
    let mut state = cloud([3, 3], 3);
    state.solid.enthalpy_j_kg = vec![-1.0, 999.0, 1000.0];
    state.fluid.enthalpy_j_kg = vec![1001.0, 1.0, 0.0];
    for kind in Kind::ALL {
        state[kind].blend = vec![1.0; 3];
    }
    state.mark_phase_change(&p);
    assert_eq!([&state.solid.leaves, &state.fluid.leaves], [&vec![0, 0, 1], &vec![0, 0, 1]]);
}

#[test]
fn particles_at_nan_do_not_move() {
    let p = parameters();
    let mut state = cloud([2, 2], 3);
    for kind in Kind::ALL {
        state[kind].blend = vec![1.0; 2];
        state[kind].temperature_c = vec![f32::NAN, p.heat.freezing_c];
    }
    state.mark_phase_change(&p);
    assert_eq!([&state.solid.leaves, &state.fluid.leaves], [&vec![0, 0], &vec![0, 0]]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn migration_loses_nothing_for_any_flags(
        solid in prop::collection::vec(any::<bool>(), 0..80),
        fluid in prop::collection::vec(any::<bool>(), 0..80),
    ) {
        check_migration([solid.len(), fluid.len()], [&solid, &fluid]);
    }
}
