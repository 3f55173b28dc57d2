//! Overflow of rows: nothing is dropped, the required slots are reported, and a build after growth gives the
//! same bits as a table with enough slots from the start.

use super::worlds::*;
use frazil_kernels::{BondSearch, Builder, KernelError, PairBonds};
use frazil_reference::bonds as twin;
use frazil_testkit::primitives::*;
use proptest::prelude::*;

fn required(bonds: &PairBonds) -> u32 {
    DEVICE.download(bonds.required(), 1).unwrap()[0]
}

#[test]
fn bond_overflow_changes_nothing_and_reports_the_required_capacity() {
    let grid = grid();
    let unlimited = BondSearch { radius_m: RADIUS_M, max_bonds: u32::MAX };
    let builder =
        prop_oneof![Just(Builder::Reproducible { rounds: 3 }), Just(Builder::CompareAndSwap { passes: 40 })];
    let limit = prop::sample::select(vec![Limits::Unlimited, Limits::UpTo(90), Limits::All(u32::MAX)]);
    let n = particles().prop_map(|n| n.min(200));
    let case = (shape(), limit, n, any::<u64>(), slots(), workgroup_size(), builder);
    proptest!(config(90), |((shape, limit, n, seed, slots, group, builder) in case, later in 0usize..40)| {
        let has_claims = matches!(builder, Builder::CompareAndSwap { .. });
        let (n, slots) = if has_claims { (n.min(64), slots.min(MAX_CLAIM_SLOTS)) } else { (n, slots) };
        let (particles, _) = sorted(&world(shape, limit, n, seed), &grid);
        let uploaded = Uploaded::new(&particles, &grid, n);
        let mut bonds = new_bonds(n, slots, group);
        // Some bonds exist already, few enough for the rows.
        build(&bonds, &grid, &uploaded, Builder::Reproducible { rounds: 1 }, &search(slots));
        let mut before = download(&bonds, n);

        build(&bonds, &grid, &uploaded, builder, &unlimited);
        let expected_slots = twin::count_required_slots(&before, &particles, &twin_search(&unlimited), slots);
        prop_assert_eq!(required(&bonds), expected_slots);
        if expected_slots > 0 {
            prop_assert!(expected_slots > slots);
            prop_assert_eq!(&download(&bonds, n), &before, "a build that does not fit");
            let overflow = bonds.check_capacity(&DEVICE);
            let is_reported = matches!(overflow, Err(KernelError::BondOverflow { required, slots: had })
                if required == expected_slots && had == slots);
            prop_assert!(is_reported, "{:?}", overflow);
            // A build that would fit is refused, too, until the capacity grows: nothing is built on an
            // incomplete table.
            build(&bonds, &grid, &uploaded, builder, &search(slots));
            prop_assert_eq!(&download(&bonds, n), &before, "a build after it");
            bonds.grow(&DEVICE, expected_slots).unwrap();
            prop_assert_eq!(bonds.slots(), expected_slots);
            prop_assert_eq!(&download(&bonds, n), &before, "grown");
            build(&bonds, &grid, &uploaded, builder, &unlimited);
        }
        prop_assert!(bonds.check_capacity(&DEVICE).is_ok());
        let replayed = download(&bonds, n);
        let violations =
            twin::check_build(&before, &replayed, &particles, &twin_search(&unlimited), RADIUS_M);
        prop_assert_eq!(violations, vec![]);
        if let Builder::Reproducible { rounds } = builder {
            // With enough capacity from the start; 200 particles need 199 slots, and rows end at 240.
            let ample = new_bonds(n, expected_slots.max(slots) + later as u32, group);
            build(&ample, &grid, &uploaded, Builder::Reproducible { rounds: 1 }, &search(slots));
            build(&ample, &grid, &uploaded, builder, &unlimited);
            prop_assert_eq!(&download(&ample, n), &replayed);
            twin::build_reproducible(&mut before, &particles, &twin_search(&unlimited), rounds);
            prop_assert_eq!(&before, &replayed);
        } else {
            prop_assert_eq!(twin::check_maximal(&replayed, &particles, &twin_search(&unlimited)), vec![]);
        }
    });
}

#[test]
fn a_clique_of_two_hundred_is_bonded_broken_and_moved() {
    let grid = grid();
    let n = 200;
    let (mut particles, _) = sorted(&world(Shape::Point, Limits::All(u32::MAX), n, 3), &grid);
    let uploaded = Uploaded::new(&particles, &grid, n);
    let unlimited = BondSearch { radius_m: RADIUS_M, max_bonds: u32::MAX };
    let mut bonds = new_bonds(n, 4, 64);
    let builder = Builder::Reproducible { rounds: 1 };
    bonds.build(&DEVICE, &grid, &uploaded.key, uploaded.particles(), builder, &unlimited).unwrap();
    assert_eq!(bonds.slots(), 199);
    assert_eq!(counts(&bonds, &grid, &uploaded, &unlimited), [199 * 100, 0, 0]);
    assert_eq!(faults(&bonds, &uploaded, u32::MAX, RADIUS_M), [0; 8]);

    // Every fourth particle keeps 70 bonds at most, which takes three words of keep masks.
    let mut expected = download(&bonds, n);
    particles.limit.iter_mut().step_by(4).for_each(|limit| *limit = 70);
    let uploaded = Uploaded::new(&particles, &grid, n);
    run(|r| bonds.record_break_stretched(r, uploaded.particles(), u32::MAX, 1.0).unwrap());
    let broken = twin::break_stretched(&mut expected, &particles, u32::MAX, 1.0);
    assert!(broken > 5_000, "{broken}");
    assert_eq!(download(&bonds, n), expected);

    let order = Stream(9).shuffled(n);
    run(|r| bonds.record_remap(r, &uploaded.count, &padded(&order, n)).unwrap());
    assert_eq!(download(&bonds, n), twin::remap_bonds(&expected, &order));
}
