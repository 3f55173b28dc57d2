//! Tests of the twin of the bonds alone: rounds against the order of all pairs, breaking by hand, a checker
//! that detects each fault, and rules against closed forms.

use frazil_reference::bonds::{
    Bond, Bonds, Columns, FreezeRule, INVALID_INDEX, Particles, Search, SpringSolve, Violation,
    break_stretched, build_nearest_first, build_reproducible, check_bonds, check_build, check_maximal,
    claim_bonds, compact_bonds, count_bonds, count_required_slots, mark_broken_freeze_bonds,
    mark_long_springs, remap_bonds, remove_bonds, solve_springs, update_freeze_bonds, update_plastic_springs,
};
use proptest::prelude::*;

const SEARCH: Search = Search { radius_m: 0.1, max_bonds: u32::MAX };
const BREAK_RATIO: f32 = 1.2;

/// Returns particles on a line, with ids that fall as indices rise.
fn on_a_line(x_m: &[f32], limit: u32) -> Particles {
    Particles {
        position: x_m.iter().map(|x| [*x, 0.0, 0.0]).collect(),
        limit: vec![limit; x_m.len()],
        id: (0..x_m.len() as u32).rev().collect(),
    }
}

fn pairs(bonds: &Bonds) -> Vec<(u32, u32)> {
    let ends =
        |(i, row): (usize, &Vec<Bond>)| row.iter().map(|bond| (i as u32, bond.partner)).collect::<Vec<_>>();
    let mut pairs: Vec<_> = bonds.rows.iter().enumerate().flat_map(ends).filter(|(i, j)| i < j).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn the_nearest_are_bonded_first_and_ties_go_to_the_lower_id() {
    // 1 and 2 are nearest; 0 is then left alone, and 3 too far from 4.
    let particles = on_a_line(&[0.0, 0.06, 0.11, 0.2, 0.35], 1);
    let mut bonds = Bonds::none(5);
    assert_eq!(build_reproducible(&mut bonds, &particles, &SEARCH, 9), [1, 0]);
    assert_eq!(pairs(&bonds), [(1, 2)]);
    // A tie between 0–1 and 1–2: id 0 is at place 2.
    let particles = on_a_line(&[0.0, 0.0625, 0.125], 1);
    let mut bonds = Bonds::none(3);
    build_reproducible(&mut bonds, &particles, &SEARCH, 9);
    assert_eq!(pairs(&bonds), [(1, 2)]);
}

#[test]
fn bonds_break_by_stretch_by_eligibility_and_by_the_shrinking_limit() {
    let start = on_a_line(&[0.0, 0.03, 0.05, 0.09], 8);
    let break_some =
        |bonds: &mut Bonds, particles: &Particles| break_stretched(bonds, particles, u32::MAX, BREAK_RATIO);
    let mut bonds = Bonds::none(4);
    build_reproducible(&mut bonds, &start, &SEARCH, 9);
    assert_eq!(pairs(&bonds), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    assert_eq!(break_some(&mut bonds.clone(), &start), 0);

    // 0.09 → 0.11 m is 1.22 times, 0.06 → 0.08 m is 1.33, 0.04 → 0.06 m is 1.5; the others have not moved.
    let mut stretched = start.clone();
    stretched.position[3][0] = 0.11;
    let mut broken = bonds.clone();
    assert_eq!(break_some(&mut broken, &stretched), 3);
    assert_eq!(pairs(&broken), [(0, 1), (0, 2), (1, 2)]);

    let mut ineligible = start.clone();
    ineligible.limit[1] = 0;
    let mut broken = bonds.clone();
    assert_eq!(break_some(&mut broken, &ineligible), 3);
    assert_eq!(pairs(&broken), [(0, 2), (0, 3), (2, 3)]);

    // One bond is left to particle 0: it keeps its shortest, to 1, and loses those to 2 and 3.
    let mut limited = start;
    limited.limit[0] = 1;
    let mut broken = bonds;
    assert_eq!(break_some(&mut broken, &limited), 2);
    assert_eq!(pairs(&broken), [(0, 1), (1, 2), (1, 3), (2, 3)]);
}

#[test]
fn rows_move_with_their_particles_and_carry_their_state() {
    let particles = on_a_line(&[0.0, 0.03, 0.05, 0.09], 8);
    let mut bonds = Bonds::with_state(4, &[7]);
    build_reproducible(&mut bonds, &particles, &SEARCH, 9);
    let find = |bonds: &Bonds, i: usize, j: u32| {
        let bond = bonds.rows[i].iter().find(|bond| bond.partner == j)?;
        Some((bond.rest_length_m, bond.state.clone()))
    };
    // Particle 1 leaves, a new one comes first, and the rest is reversed.
    let moved = remap_bonds(&bonds, &[INVALID_INDEX, 3, 2, 0]);
    assert_eq!(pairs(&moved), [(1, 2), (1, 3), (2, 3)]);
    assert_eq!(find(&moved, 1, 2), find(&bonds, 3, 2));
    assert_eq!(find(&moved, 3, 2), find(&bonds, 0, 2));
    assert_eq!(find(&moved, 1, 3).map(|(_, state)| state), Some(vec![7]));
}

#[test]
fn a_build_needs_as_many_slots_as_it_may_fill() {
    // All within reach of all: five bonds each, and the one with a limit of 2 needs no more than that.
    let mut particles = on_a_line(&[0.0, 0.01, 0.02, 0.03, 0.04, 0.05], u32::MAX);
    let required = |particles: &Particles, max_bonds, slots| {
        let search = Search { max_bonds, ..SEARCH };
        count_required_slots(&Bonds::none(6), particles, &search, slots)
    };
    assert_eq!([0, 4, 5].map(|slots| required(&particles, u32::MAX, slots)), [5, 5, 0]);
    assert_eq!([0, 2, 3].map(|slots| required(&particles, 3, slots)), [3, 3, 0]);
    particles.limit = vec![0, 2, 1, 1, 1, 1];
    assert_eq!([0, 1, 2].map(|slots| required(&particles, u32::MAX, slots)), [2, 2, 0]);
    // Existing bonds count, and are not counted again.
    let mut bonds = Bonds::none(6);
    build_reproducible(&mut bonds, &particles, &SEARCH, 9);
    assert_eq!(count_required_slots(&bonds, &particles, &SEARCH, 1), 2);
}

fn worlds() -> impl Strategy<Value = (Particles, Search)> {
    let coordinate = prop_oneof![3 => (0u8..4).prop_map(|a| f32::from(a) * 0.0625), 1 => 0.0f32..0.2];
    let limit = prop_oneof![4 => 0u32..6, 1 => Just(u32::MAX)];
    let particle = (prop::array::uniform3(coordinate), limit);
    let max_bonds = prop_oneof![0u32..5, Just(u32::MAX)];
    (prop::collection::vec(particle, 0..40), max_bonds).prop_flat_map(|(particles, max_bonds)| {
        let ids: Vec<u32> = (0..particles.len() as u32).map(|i| 3 * i + 5).collect();
        Just(ids).prop_shuffle().prop_map(move |id| {
            let position = particles.iter().map(|(x, _)| *x).collect();
            let limit = particles.iter().map(|(_, limit)| *limit).collect();
            (Particles { position, limit, id }, Search { max_bonds, ..SEARCH })
        })
    })
}

proptest! {
    #[test]
    fn rounds_end_in_the_order_of_all_pairs((particles, search) in worlds()) {
        let n = particles.position.len();
        let (mut rounds, mut nearest_first) = (Bonds::none(n), Bonds::none(n));
        let made = build_reproducible(&mut rounds, &particles, &search, 1000);
        build_nearest_first(&mut nearest_first, &particles, &search);
        prop_assert_eq!(pairs(&rounds), pairs(&nearest_first));
        prop_assert_eq!(made.iter().sum::<u32>() as usize, pairs(&rounds).len());
        prop_assert_eq!(made.last(), Some(&0));
    }

    #[test]
    fn builds_pass_their_checks((particles, search) in worlds()) {
        let n = particles.position.len();
        let none = Bonds::with_state(n, &[3, 4]);
        let (mut rounds, mut claims) = (none.clone(), none.clone());
        build_reproducible(&mut rounds, &particles, &search, 1000);
        claim_bonds(&mut claims, &particles, &search);
        let required = count_required_slots(&none, &particles, &search, 0);
        for bonds in [rounds, claims] {
            prop_assert_eq!(check_build(&none, &bonds, &particles, &search, search.radius_m), vec![]);
            prop_assert_eq!(check_maximal(&bonds, &particles, &search), vec![]);
            let counts = count_bonds(&bonds, &particles, &search);
            prop_assert_eq!((counts[0] as usize, counts[2]), (pairs(&bonds).len(), 0));
            prop_assert!(bonds.rows.iter().all(|row| row.len() <= required as usize));
        }
    }
}

#[test]
fn the_checker_names_every_violation() {
    let mut particles = on_a_line(&[0.0, 0.03, 0.05, 0.3], 2);
    let mut good = Bonds::with_state(4, &[1]);
    build_reproducible(&mut good, &particles, &SEARCH, 9);
    assert_eq!(pairs(&good), [(0, 1), (0, 2), (1, 2)]);
    let none = Bonds::with_state(4, &[1]);
    let check = |after: &Bonds| check_build(&none, after, &particles, &SEARCH, SEARCH.radius_m);
    let has = |change: &dyn Fn(&mut Bonds), is: &dyn Fn(&Violation) -> bool| {
        let mut bonds = good.clone();
        change(&mut bonds);
        let found = check(&bonds);
        assert!(found.iter().any(is), "{found:?}");
    };
    assert_eq!(check(&good), []);
    let bond = |partner, rest_length_m| Bond { partner, rest_length_m, state: vec![1] };
    has(&|b| b.rows[0][0].partner = 9, &|v| matches!(v, Violation::NoSuchPartner { partner: 9, .. }));
    has(&|b| b.rows[0][0].partner = 0, &|v| matches!(v, Violation::SelfBond { particle: 0 }));
    has(&|b| b.rows[0][0] = b.rows[0][1].clone(), &|v| matches!(v, Violation::Duplicate { particle: 0, .. }));
    has(&|b| b.rows[0].truncate(1), &|v| matches!(v, Violation::OneWay { partner: 0, .. }));
    has(&|b| b.rows[0][0].rest_length_m = 0.04, &|v| matches!(v, Violation::UnequalLength { .. }));
    has(&|b| b.rows[0][0].state[0] = 2, &|v| matches!(v, Violation::UnequalState { .. }));
    has(&|b| b.rows[0][0].rest_length_m = f32::NAN, &|v| matches!(v, Violation::Length { .. }));
    has(&|b| b.rows[0].push(bond(3, 0.1)), &|v| {
        matches!(v, Violation::OverLimit { degree: 3, limit: 2, .. })
    });
    let far = |b: &mut Bonds| {
        b.rows[3].push(bond(2, 0.1));
        b.rows[2][0] = bond(3, 0.1);
    };
    has(&far, &|v| matches!(v, Violation::Ineligible { particle: 3, partner: 2, .. }));
    has(&far, &|v| matches!(v, Violation::Length { particle: 3, .. }));
    let lost = check_build(&good, &none, &particles, &SEARCH, SEARCH.radius_m);
    assert_eq!(lost.iter().filter(|v| matches!(v, Violation::Lost { .. })).count(), 6);
    assert_eq!(check_maximal(&none, &particles, &SEARCH).len(), 3);
    assert_eq!(check_bonds(&good, SEARCH.radius_m, &[2, 2, 1, 0]).len(), 1);
    particles.limit[0] = 0;
    let ineligible = check_build(&none, &good, &particles, &SEARCH, SEARCH.radius_m);
    assert!(ineligible.iter().any(|v| matches!(v, Violation::Ineligible { limit: [0, 2], .. })));
}

#[test]
fn a_table_is_read_as_the_device_lays_it_out() {
    let table = |partner: [u32; 4], degree: &[u32]| {
        let (rest_length_m, state) = (&[0.1, 0.2, 0.3, 0.4], &[1, 2, 3, 4, 5, 6, 7, 8]);
        let partner = &partner;
        Bonds::from_table(Columns { stride: 2, partner, rest_length_m, state, degree }, &[0, 0])
    };
    const NONE: u32 = INVALID_INDEX;
    let read = table([1, 0, NONE, NONE], &[1, 1]).ok();
    let bond = |partner, rest_length_m, state: [u32; 2]| Bond { partner, rest_length_m, state: state.into() };
    let rows = vec![vec![bond(1, 0.1, [1, 5])], vec![bond(0, 0.2, [2, 6])]];
    assert_eq!(read, Some(Bonds { initial_state: vec![0, 0], rows }));
    let gap = table([NONE, 0, 1, NONE], &[1, 1]);
    assert!(matches!(gap, Err(v) if matches!(v[..], [Violation::Gap { particle: 0, .. }])));
    assert!(table([1, 0, NONE, NONE], &[1, 2]).is_err());
    let slots = vec![None, Some(Bond::new(4, 0.1)), None, Some(Bond::new(2, 0.2))];
    assert_eq!(compact_bonds(slots), [Bond::new(4, 0.1), Bond::new(2, 0.2)]);
}

/// Returns two particles `length_m` apart with a spring of 1 m.
fn a_spring(length_m: f32) -> (Bonds, Particles) {
    let mut bonds = Bonds::with_state(2, &[0, 0]);
    for i in 0..2 {
        bonds.rows[i].push(Bond { partner: 1 - i as u32, rest_length_m: 1.0, state: vec![0, 0] });
    }
    (bonds, on_a_line(&[0.0, length_m], 1))
}

#[test]
fn a_spring_held_beyond_its_yield_relaxes_to_it() {
    // L' = α (r − L − γL) has the fixed point r/(1 + γ) from above, and r/(1 − γ) from below.
    for (length_m, end_m) in [(1.5, 1.5 / 1.25), (0.5, 0.5 / 0.75), (1.2, 1.0), (0.8, 1.0)] {
        let (mut bonds, particles) = a_spring(length_m);
        for _ in 0..200 {
            update_plastic_springs(&mut bonds, &particles.position, 0.1, 0.25);
        }
        let rest_m = bonds.rows[0][0].rest_length_m;
        assert!((rest_m - end_m).abs() < 1e-5, "{length_m} m: {rest_m} m for {end_m} m");
        let strain_m = f32::from_bits(bonds.rows[0][0].state[0]);
        assert!((strain_m - (rest_m - 1.0).abs()).abs() < 1e-5, "{strain_m} m");
        assert_eq!(bonds.rows[1][0].state, bonds.rows[0][0].state);
        assert_eq!(bonds.rows[0][0].state[1], 200);
        let keep_mask = mark_long_springs(&bonds, &particles, 8, 1.25);
        assert_eq!(remove_bonds(&mut bonds, &keep_mask), u32::from(length_m > 1.25));
    }
}

#[test]
fn a_spring_stretches_by_force_times_compliance() {
    // Converged: λ = −C/(w_i + w_j + α̃) of the first stretch, and the ends have moved by w λ each.
    let (mut bonds, particles) = a_spring(1.5);
    let (inverse_mass, compliance_dt2) = (2.0, 4.0);
    let mut position = particles.position;
    for iteration in 0..100 {
        let solve = SpringSolve {
            multiplier_column: 0,
            is_first: iteration == 0,
            gain: 0.5,
            compliance_dt2,
            inverse_mass,
        };
        let moved = solve_springs(&mut bonds, &position, &solve);
        assert_eq!(moved[0], moved[1].map(|d| -d));
        for (x, d) in position.iter_mut().zip(moved) {
            x[0] += d[0];
        }
    }
    let multiplier = f32::from_bits(bonds.rows[0][0].state[0]);
    assert!((multiplier + 0.5 / 8.0).abs() < 1e-6, "{multiplier}");
    assert!((position[1][0] - position[0][0] - 1.25).abs() < 1e-6, "{position:?}");
}

#[test]
fn slow_contacts_freeze_and_frozen_ones_hold_until_they_are_stretched() {
    let rule =
        FreezeRule { dt_s: 0.25, slow_m_s: 0.1, freeze_after_s: 1.0, contact_m: 1.0, break_ratio: 1.5 };
    let (mut bonds, mut particles) = a_spring(1.0);
    let (still, moving) = ([[0.0; 3]; 2], [[0.0; 3], [0.0, 0.2, 0.0]]);
    let state = |bonds: &Bonds| (bonds.rows[0][0].state[0], f32::from_bits(bonds.rows[0][0].state[1]));
    for slow_s in [0.25, 0.5, 0.75] {
        update_freeze_bonds(&mut bonds, &still, &rule);
        assert_eq!(state(&bonds), (0, slow_s));
    }
    update_freeze_bonds(&mut bonds, &moving, &rule);
    assert_eq!(state(&bonds), (0, 0.0));
    let over = |bonds: &Bonds, length_m: f32, particles: &mut Particles| {
        particles.position[1][0] = length_m;
        let keep_mask = mark_broken_freeze_bonds(bonds, particles, 8, &rule);
        remove_bonds(&mut bonds.clone(), &keep_mask) == 1
    };
    assert_eq!([1.0, 1.01].map(|length_m| over(&bonds, length_m, &mut particles)), [false, true]);
    for _ in 0..4 {
        update_freeze_bonds(&mut bonds, &still, &rule);
    }
    update_freeze_bonds(&mut bonds, &moving, &rule);
    assert_eq!(state(&bonds), (1, 1.0));
    assert_eq!([1.5, 1.51].map(|length_m| over(&bonds, length_m, &mut particles)), [false, true]);
}
