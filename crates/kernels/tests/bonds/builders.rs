//! Both builders against their twin and against each other.

use super::worlds::*;
use frazil_kernels::{Builder, INVALID_INDEX, UniformGrid};
use frazil_reference::bonds as twin;
use frazil_reference::bonds::Bonds;
use frazil_testkit::primitives::*;
use proptest::prelude::*;

/// Returns rows by ids instead of indices, ordered by id, which must not depend on the order of particles.
fn by_id(bonds: &Bonds, particles: &twin::Particles) -> Vec<(u32, Vec<(u32, u32)>)> {
    let end = |bond: &twin::Bond| (particles.id[bond.partner as usize], bond.rest_length_m.to_bits());
    let row = |(i, row): (usize, &Vec<twin::Bond>)| (particles.id[i], row.iter().map(end).collect());
    let mut rows: Vec<_> = bonds.rows.iter().enumerate().map(row).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn reproducible_bonds_equal_their_twin() {
    let grid = grid();
    proptest!(config(120), |((particles, slots, group) in case(), rounds in 1u32..6, spare in 0usize..100)| {
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let (search, uploaded) = (search(slots), Uploaded::new(&particles, &grid, n + spare));
        let twin_search = twin_search(&search);
        let mut expected = no_bonds(n);
        let made = twin::build_reproducible(&mut expected, &particles, &twin_search, rounds);
        for _ in 0..2 {
            let bonds = new_bonds(n + spare, slots, group);
            build(&bonds, &grid, &uploaded, Builder::Reproducible { rounds }, &search);
            let found = download(&bonds, n);
            let violations = twin::check_build(&no_bonds(n), &found, &particles, &twin_search, RADIUS_M);
            prop_assert_eq!(violations, vec![]);
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(&DEVICE.download(bonds.progress(), made.len()).unwrap(), &made);
            prop_assert_eq!(DEVICE.download(bonds.required(), 1).unwrap(), vec![0]);
            let expected_counts = twin::count_bonds(&expected, &particles, &twin_search);
            prop_assert_eq!(counts(&bonds, &grid, &uploaded, &search), expected_counts);
        }
    });
}

#[test]
fn reproducible_bonds_do_not_depend_on_the_order_of_particles() {
    let grid = grid();
    proptest!(config(90), |((particles, slots, group) in case(), rounds in 1u32..5, seed in any::<u64>())| {
        let n = particles.position.len();
        let shuffle = Stream(seed).shuffled(n);
        let found: Vec<_> = [particles.clone(), moved(&particles, &shuffle)].iter().map(|particles| {
            let (particles, _) = sorted(particles, &grid);
            let uploaded = Uploaded::new(&particles, &grid, n);
            let bonds = new_bonds(n, slots, group);
            build(&bonds, &grid, &uploaded, Builder::Reproducible { rounds }, &search(slots));
            by_id(&download(&bonds, n), &particles)
        }).collect();
        prop_assert_eq!(&found[0], &found[1]);
    });
}

#[test]
fn enough_rounds_bond_all_pairs_nearest_first() {
    let grid = grid();
    proptest!(config(60), |((particles, slots, group) in case())| {
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let (search, uploaded) = (search(slots), Uploaded::new(&particles, &grid, n));
        let twin_search = twin_search(&search);
        let mut bonds = new_bonds(n, slots, group);
        let mut expected = no_bonds(n);
        twin::build_nearest_first(&mut expected, &particles, &twin_search);
        build(&bonds, &grid, &uploaded, Builder::Reproducible { rounds: 256 }, &search);
        prop_assert!(DEVICE.download(bonds.progress(), 256).unwrap().contains(&0));
        // Slots are in the order of rounds; the twin's are in the order of distance.
        let sorted_by_partner = |mut bonds: Bonds| {
            bonds.rows.iter_mut().for_each(|row| row.sort_by_key(|bond| bond.partner));
            bonds
        };
        let found = download(&bonds, n);
        prop_assert_eq!(sorted_by_partner(found.clone()), sorted_by_partner(expected));
        prop_assert_eq!(twin::check_maximal(&found, &particles, &twin_search), vec![]);
        prop_assert_eq!(counts(&bonds, &grid, &uploaded, &search)[2], 0);
        // Nothing is left to make or to break.
        build(&bonds, &grid, &uploaded, Builder::Reproducible { rounds: 1 }, &search);
        prop_assert_eq!(&download(&bonds, n), &found);
        run(|r| bonds.record_break_stretched(r, uploaded.particles(), slots, 1.0).unwrap());
        prop_assert_eq!(&download(&bonds, n), &found);
        prop_assert_eq!(DEVICE.download(bonds.broken(), 1).unwrap(), vec![0]);
    });
}

#[test]
fn claimed_bonds_are_whole_and_in_the_end_maximal() {
    let grid = grid();
    proptest!(config(90), |((particles, slots, group) in case())| {
        let slots = slots.min(MAX_CLAIM_SLOTS);
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let (search, uploaded) = (search(slots), Uploaded::new(&particles, &grid, n));
        let twin_search = twin_search(&search);
        let bonds = new_bonds(n, slots, group);
        let mut before = no_bonds(n);
        for passes in [1, 1, 40] {
            build(&bonds, &grid, &uploaded, Builder::CompareAndSwap { passes }, &search);
            let found = download(&bonds, n);
            let violations = twin::check_build(&before, &found, &particles, &twin_search, RADIUS_M);
            prop_assert_eq!(violations, vec![]);
            let made: u32 = DEVICE.download(bonds.progress(), 256).unwrap().iter().sum();
            let ends = |bonds: &Bonds| bonds.rows.iter().map(Vec::len).sum::<usize>();
            prop_assert_eq!(2 * made as usize, ends(&found) - ends(&before));
            before = found;
        }
        let progress = DEVICE.download(bonds.progress(), 40).unwrap();
        prop_assert!(progress.contains(&0), "{:?}", progress);
        prop_assert_eq!(twin::check_maximal(&before, &particles, &twin_search), vec![]);
        let expected_counts = twin::count_bonds(&before, &particles, &twin_search);
        prop_assert_eq!(counts(&bonds, &grid, &uploaded, &search), expected_counts);
    });
}

#[test]
fn rows_with_many_candidates_stay_within_their_limits() {
    let grid = grid();
    for shape in [Shape::Star, Shape::Point] {
        for (slots, limit) in [(1, 0), (1, 1), (8, 1), (8, 8), (48, 48)] {
            let (particles, _) = sorted(&world(shape, Limits::All(limit), 101, 5), &grid);
            let (search, uploaded) = (search(slots), Uploaded::new(&particles, &grid, 101));
            let twin_search = twin_search(&search);
            for builder in [Builder::Reproducible { rounds: 256 }, Builder::CompareAndSwap { passes: 40 }] {
                let bonds = new_bonds(101, slots, 64);
                build(&bonds, &grid, &uploaded, builder, &search);
                let found = download(&bonds, 101);
                let none = no_bonds(101);
                assert_eq!(twin::check_build(&none, &found, &particles, &twin_search, RADIUS_M), vec![]);
                assert_eq!(twin::check_maximal(&found, &particles, &twin_search), vec![]);
                let full = found.rows.iter().filter(|row| row.len() == limit as usize).count();
                // In a heap all pairs are eligible: particles below their limits are all bonded with each
                // other.
                if let Shape::Point = shape {
                    assert!(101 - full <= limit as usize, "{full} of 101 full at {limit}");
                }
                let [bonded, at_limit, open] = counts(&bonds, &grid, &uploaded, &search);
                assert_eq!(bonded as usize, found.rows.iter().map(Vec::len).sum::<usize>() / 2);
                assert!(open == 0 && (at_limit > 0) == (limit > 0), "{at_limit} at a limit, {open} open");
            }
        }
    }
}

#[test]
fn many_simultaneous_claims_leave_consistent_bonds() {
    let grid = grid();
    let n = 6_000;
    for (seed, limit) in [(1, 40), (2, 8), (3, 3)] {
        let mut particles = world(Shape::Cloud { dense: false }, Limits::All(limit), n, seed);
        // Some 25 neighbours each, all within a few workgroups.
        particles.position.iter_mut().for_each(|x| x[2] *= 0.9);
        let (particles, _) = sorted(&particles, &grid);
        let uploaded = Uploaded::new(&particles, &grid, n);
        let search = frazil_kernels::BondSearch { radius_m: 0.05, max_bonds: limit };
        let bonds = new_bonds(n, limit, 64);
        build(&bonds, &grid, &uploaded, Builder::CompareAndSwap { passes: 8 }, &search);
        let (none, found) = (no_bonds(n), download(&bonds, n));
        let violations = twin::check_build(&none, &found, &particles, &twin_search(&search), 0.05);
        assert_eq!(violations, vec![]);
        let [bonded, at_limit, open] = counts(&bonds, &grid, &uploaded, &search);
        assert!(
            bonded > 5_000 && at_limit > 0 && open == 0,
            "{bonded} bonds, {at_limit} at a limit, {open} open"
        );
    }
}

/// One particle per cell in a row: threads in lockstep consider their next one together, and each then holds
/// the slot that the previous one needs.
#[test]
fn threads_in_lockstep_fill_a_row_completely() {
    let n = 256;
    let grid = UniformGrid::new(&DEVICE, [0.0; 3], [CELL_M * n as f32, CELL_M, CELL_M], CELL_M).unwrap();
    let mut particles = world(Shape::Point, Limits::All(1), n, 1);
    for (i, x) in particles.position.iter_mut().enumerate() {
        *x = [0.5 * CELL_M + 0.1009 * i as f32, 0.0, 0.0];
    }
    let uploaded = Uploaded::new(&particles, &grid, n);
    let keys: Vec<u32> = (0..n as u32).collect();
    assert_eq!(DEVICE.download(&uploaded.key, n).unwrap(), keys);
    let search = frazil_kernels::BondSearch { radius_m: CELL_M, max_bonds: 1 };
    let bonds = new_bonds(n, 1, 256);
    build(&bonds, &grid, &uploaded, Builder::CompareAndSwap { passes: 40 }, &search);
    let (found, twin_search) = (download(&bonds, n), twin_search(&search));
    assert_eq!(twin::check_build(&no_bonds(n), &found, &particles, &twin_search, CELL_M), vec![]);
    assert_eq!(twin::check_maximal(&found, &particles, &twin_search), vec![]);
    let progress = DEVICE.download(bonds.progress(), 40).unwrap();
    assert!(progress[..8].contains(&0), "{progress:?}");
}

/// A table with a hole in a row, as a released claim leaves it.
#[test]
fn empty_slots_left_by_claims_are_compacted() {
    let grid = grid();
    let (particles, _) = sorted(&world(Shape::Point, Limits::All(0), 3, 1), &grid);
    let uploaded = Uploaded::new(&particles, &grid, 3);
    let bonds = new_bonds(3, 3, 64);
    const NONE: u32 = INVALID_INDEX;
    DEVICE.upload(bonds.partner(), &[NONE, 0, NONE, 1, NONE, NONE, 2, NONE, 0]).unwrap();
    DEVICE.upload(bonds.rest_length_m(), &[9.0, 0.01, 9.0, 0.01, 9.0, 9.0, 0.02, 9.0, 0.02]).unwrap();
    let state: Vec<u32> = (0..18).collect();
    DEVICE.upload(bonds.state(), &state).unwrap();
    build(&bonds, &grid, &uploaded, Builder::CompareAndSwap { passes: 1 }, &search(3));
    let slots = |i: usize| -> Vec<_> {
        let partner = [NONE, 0, NONE, 1, NONE, NONE, 2, NONE, 0];
        let rest = [9.0, 0.01, 9.0, 0.01, 9.0, 9.0, 0.02, 9.0, 0.02];
        let bond = |at: usize| twin::Bond {
            partner: partner[at],
            rest_length_m: rest[at],
            state: vec![at as u32, at as u32 + 9],
        };
        (0..3).map(|slot| 3 * slot + i).map(|at| (partner[at] != NONE).then(|| bond(at))).collect()
    };
    let rows: Vec<_> = (0..3).map(|i| twin::compact_bonds(slots(i))).collect();
    assert_eq!([2, 1, 1], [rows[0].len(), rows[1].len(), rows[2].len()]);
    assert_eq!(download(&bonds, 3).rows, rows);
}
