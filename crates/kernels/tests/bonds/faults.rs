//! Faults in rows: each kind is counted where it occurs, and nowhere else.

use super::worlds::*;
use frazil_kernels::{BOND_FAULTS, Builder, INVALID_INDEX};
use frazil_testkit::primitives::*;
use proptest::prelude::*;
use std::collections::HashSet;

/// Row of a table of four particles: (partner, rest length, state) per slot.
type Row<'a> = &'a [(u32, f32, u32)];

/// Returns the faults that the device counts in these rows below the count.
fn faults_of(rows: [Row<'_>; 4], degree: [u32; 4], limit: [u32; 4]) -> Vec<u32> {
    let (n, capacity, slots) = (4, 6, 3);
    let mut particles = world(Shape::Point, Limits::All(0), n, 1);
    particles.limit = limit.to_vec();
    let grid = grid();
    let uploaded = Uploaded::new(&particles, &grid, capacity);
    let bonds = new_bonds(capacity, slots, 256);
    // Garbage past the count, and after empty slots in the other columns.
    let column = capacity * slots as usize;
    let mut partner = vec![0xdead_beef; column];
    let mut rest_length_m = vec![f32::NAN; column];
    let mut state = vec![0xdead_beef; 2 * column];
    for (i, row) in rows.into_iter().enumerate() {
        for slot in 0..slots as usize {
            let at = slot * capacity + i;
            partner[at] = row.get(slot).map_or(INVALID_INDEX, |(partner, ..)| *partner);
            if let Some((_, rest, word)) = row.get(slot) {
                (rest_length_m[at], state[at], state[column + at]) = (*rest, *word, 5);
            }
        }
    }
    DEVICE.upload(bonds.partner(), &partner).unwrap();
    DEVICE.upload(bonds.rest_length_m(), &rest_length_m).unwrap();
    DEVICE.upload(bonds.state(), &state).unwrap();
    DEVICE.upload(bonds.degree(), &degree).unwrap();
    faults(&bonds, &uploaded, 2, RADIUS_M)
}

#[test]
fn each_kind_of_fault_in_rows_is_counted() {
    const NONE: u32 = INVALID_INDEX;
    const L: f32 = 0.01;
    let two = [2u32, 9, 2, 2];
    // A chain 0 – 1 – 2, and 3 alone.
    let chain: [Row<'_>; 4] = [&[(1, L, 8)], &[(0, L, 8), (2, L, 7)], &[(1, L, 7)], &[]];
    let degree = [1, 2, 1, 0];
    assert_eq!(faults_of(chain, degree, two), [0; 8], "sound rows");

    type Planted<'a> = (&'a str, [Row<'a>; 4], [u32; 4], [u32; 4], [u32; 8]);
    let longer: f32 = RADIUS_M.next_up();
    let planted: [Planted<'_>; 18] = [
        (
            "three bonds where two may be",
            [&[(1, L, 0), (2, L, 0), (3, L, 0)], &[(0, L, 0)], &[(0, L, 0)], &[(0, L, 0)]],
            [3, 1, 1, 1],
            [9; 4],
            [1, 0, 0, 0, 0, 0, 0, 0],
        ),
        ("more than its own limit", chain, degree, [1; 4], [1, 0, 0, 0, 0, 0, 0, 0]),
        // Slots past the row are not read; a bond in it has no other end.
        (
            "a degree past the row",
            [&[(1, L, 0), (2, L, 0), (3, L, 0)], &[], &[], &[]],
            [9, 0, 0, 0],
            two,
            [1, 0, 0, 0, 3, 0, 0, 0],
        ),
        ("an empty slot below the degree", [&[]; 4], [1, 0, 0, 0], two, [0, 1, 0, 0, 0, 0, 0, 0]),
        (
            "a partner past the count",
            [&[(4, L, 0)], &[], &[], &[]],
            [1, 0, 0, 0],
            two,
            [0, 1, 0, 0, 0, 0, 0, 0],
        ),
        (
            "a partner past the capacity",
            [&[(77, L, 0)], &[], &[], &[]],
            [1, 0, 0, 0],
            two,
            [0, 1, 0, 0, 0, 0, 0, 0],
        ),
        (
            "an occupied slot past the degree",
            [&[(1, L, 8), (3, L, 8)], chain[1], chain[2], &[]],
            degree,
            two,
            [0, 1, 0, 0, 0, 0, 0, 0],
        ),
        (
            "a hole",
            [&[(NONE, L, 8), (1, L, 8)], chain[1], chain[2], &[]],
            [2, 2, 1, 0],
            two,
            [0, 1, 0, 0, 0, 0, 0, 0],
        ),
        (
            "a bond to itself",
            [chain[0], chain[1], chain[2], &[(3, L, 0)]],
            [1, 2, 1, 1],
            two,
            [0, 0, 1, 0, 0, 0, 0, 0],
        ),
        // Both are found at the other end.
        (
            "a bond twice",
            [&[(1, L, 8), (1, L, 8)], chain[1], chain[2], &[]],
            [2, 2, 1, 0],
            two,
            [0, 0, 0, 1, 0, 0, 0, 0],
        ),
        (
            "a bond of one end",
            [&[(1, L, 8), (3, L, 8)], chain[1], chain[2], &[]],
            [2, 2, 1, 0],
            two,
            [0, 0, 0, 0, 1, 0, 0, 0],
        ),
        (
            "ends a bit apart in length",
            [&[(1, L.next_up(), 8)], chain[1], chain[2], &[]],
            degree,
            two,
            [0, 0, 0, 0, 0, 2, 0, 0],
        ),
        (
            "a negative length",
            [&[(1, -L, 0)], &[(0, -L, 0)], &[], &[]],
            [1, 1, 0, 0],
            two,
            [0, 0, 0, 0, 0, 2, 0, 0],
        ),
        (
            "no length",
            [&[(1, f32::NAN, 0)], &[(0, f32::NAN, 0)], &[], &[]],
            [1, 1, 0, 0],
            two,
            [0, 0, 0, 0, 0, 2, 0, 0],
        ),
        (
            "longer than may be",
            [&[(1, longer, 0)], &[(0, longer, 0)], &[], &[]],
            [1, 1, 0, 0],
            two,
            [0, 0, 0, 0, 0, 2, 0, 0],
        ),
        (
            "ends of another state",
            [&[(1, L, 9)], chain[1], chain[2], &[]],
            degree,
            two,
            [0, 0, 0, 0, 0, 0, 2, 0],
        ),
        // A particle that may have no bonds is over its limit, too.
        ("an end that may have none", chain, degree, [0, 2, 2, 2], [1, 0, 0, 0, 0, 0, 0, 2]),
        ("a middle that may have none", chain, degree, [2, 0, 2, 2], [1, 0, 0, 0, 0, 0, 0, 4]),
    ];
    let mut met = [false; BOND_FAULTS.len()];
    for (what, rows, degree, limit, expected) in planted {
        assert_eq!(faults_of(rows, degree, limit), expected, "{what}");
        met.iter_mut().zip(expected).for_each(|(met, n)| *met |= n > 0);
    }
    assert_eq!(met, [true; BOND_FAULTS.len()]);
}

#[test]
fn built_bonds_have_no_faults_and_each_planted_one_is_counted() {
    let grid = grid();
    proptest!(config(60), |((particles, slots, group) in case(), seed in any::<u64>())| {
        let (particles, _) = sorted(&particles, &grid);
        let n = particles.position.len();
        let uploaded = Uploaded::new(&particles, &grid, n);
        let bonds = new_bonds(n, slots, group);
        build(&bonds, &grid, &uploaded, Builder::Reproducible { rounds: 3 }, &search(slots));
        let check = || faults(&bonds, &uploaded, slots, RADIUS_M);
        prop_assert_eq!(check(), [0; 8]);
        // One slot in three gets another length, and another one in three another age, at one end only.
        let found = download(&bonds, n);
        let mut rest = DEVICE.download(bonds.rest_length_m(), bonds.rest_length_m().len()).unwrap();
        let mut state = DEVICE.download(bonds.state(), bonds.state().len()).unwrap();
        let column = rest.len();
        let mut stream = Stream(seed);
        let (mut lengths, mut ages) = (HashSet::new(), HashSet::new());
        for (i, row) in found.rows.iter().enumerate() {
            for (slot, bond) in row.iter().enumerate().filter(|(_, bond)| (i as u32) < bond.partner) {
                let at = slot * n + i;
                if stream.below(3) == 0 {
                    rest[at] = if rest[at] == 0.0 { 0.001 } else { 0.5 * rest[at] };
                    lengths.insert((i, bond.partner));
                }
                if stream.below(3) == 0 {
                    state[column + at] ^= 1 << stream.below(32);
                    ages.insert((i, bond.partner));
                }
            }
        }
        DEVICE.upload(bonds.rest_length_m(), &rest).unwrap();
        DEVICE.upload(bonds.state(), &state).unwrap();
        prop_assert_eq!(check(), [0, 0, 0, 0, 0, 2 * lengths.len() as u32, 2 * ages.len() as u32, 0]);
    });
}
