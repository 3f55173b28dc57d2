//! User rules: plastic springs as compliant constraints, and contacts that freeze, against their twins.

use super::worlds::*;
use frazil_kernels::{BondCapacity, BondColumn, Builder, PairBonds};
use frazil_reference::bonds as twin;
use frazil_reference::bonds::Bonds;
use frazil_testkit::bond_rules::{FreezeRules, SpringRules};
use frazil_testkit::primitives::*;
use proptest::prelude::*;
use std::sync::LazyLock;

pub static SPRINGS: LazyLock<SpringRules> = LazyLock::new(|| SpringRules::new(&DEVICE).unwrap());
static FREEZING: LazyLock<FreezeRules> = LazyLock::new(|| FreezeRules::new(&DEVICE).unwrap());

/// Springs with plastic rest lengths (state: plastic change of length, age, multiplier) in unlimited numbers.
fn springs(n: usize) -> PairBonds {
    let columns = [
        BondColumn::f32("plastic_change", "m", 0.0),
        BondColumn::u32("age", "1", 0),
        BondColumn::f32("multiplier", "kg m", 0.0),
    ];
    PairBonds::new(&DEVICE, BondCapacity { particles: n as u32, slots: 4 }, &columns).unwrap()
}

const SPRING_COLUMNS: usize = 3;
const MULTIPLIER: usize = 2;

#[test]
fn plastic_springs_flow_break_and_keep_momentum() {
    const MAX_LENGTH_M: f32 = 0.09;
    const MAX_REST_M: f32 = 0.068;
    const MASS_KG: f32 = 0.5;
    let grid = grid();
    let unlimited = frazil_kernels::BondSearch { radius_m: 0.07, max_bonds: u32::MAX };
    // Of all cases: how many springs flowed, broke, and ended.
    let counts = [0, 1, 2].map(|_| std::cell::Cell::new(0u32));
    let add = |which: usize, n: u32| counts[which].set(counts[which].get() + n);
    proptest!(config(30), |(
        dense in any::<bool>(),
        n in particles(),
        seed in any::<u64>(),
        compliance in prop::sample::select(vec![0.0f32, 0.5, 30.0]),
    )| {
        let mut particles = world(Shape::Cloud { dense }, Limits::All(u32::MAX), n, seed);
        particles = sorted(&particles, &grid).0;
        let mut bonds = springs(n);
        let mut expected = Bonds::with_state(n, &[0; SPRING_COLUMNS]);
        let mut stream = Stream(seed);
        let displacement = DEVICE.buffer("displacement", n).unwrap();
        for _ in 0..4 {
            let uploaded = Uploaded::new(&particles, &grid, n);
            let builder = Builder::Reproducible { rounds: 1 };
            bonds.build(&DEVICE, &grid, &uploaded.key, uploaded.particles(), builder, &unlimited).unwrap();
            twin::build_reproducible(&mut expected, &particles, &twin_search(&unlimited), 1);
            prop_assert_eq!(&download(&bonds, n), &expected, "built");

            // A solve moves both ends of a spring by the same bits with opposite signs.
            for iteration in 0..3 {
                let solve = twin::SpringSolve {
                    multiplier_column: MULTIPLIER,
                    is_first: iteration == 0,
                    gain: 0.1,
                    compliance_dt2: compliance,
                    inverse_mass: 1.0 / MASS_KG,
                };
                let uploaded = Uploaded::new(&particles, &grid, n);
                run(|r| SPRINGS.record_solve(r, &bonds, uploaded.particles(), &solve, &displacement));
                let moved = DEVICE.download(&displacement, n).unwrap();
                let twin_moved = twin::solve_springs(&mut expected, &particles.position, &solve);
                let found = download(&bonds, n);
                // A division or a root may round otherwise: 4 ulp of each spring's share.
                let longest = expected.rows.iter().map(Vec::len).max().unwrap_or(0) as f32;
                let bound_m = 4.0 * f32::EPSILON * 0.1 * longest.max(1.0);
                for (i, (a, b)) in moved.iter().zip(&twin_moved).enumerate() {
                    for axis in 0..3 {
                        prop_assert!((a[axis] - b[axis]).abs() <= bound_m, "{} {:?} {:?}", i, a, b);
                    }
                }
                for axis in 0..3 {
                    let momentum: f64 = moved.iter().map(|d| f64::from(MASS_KG * d[axis])).sum();
                    // Each sum over a row rounds by half an ulp per term.
                    prop_assert!(momentum.abs() <= f64::from(bound_m) * n as f64, "momentum {}", momentum);
                }
                for (row, twin_row) in found.rows.iter().zip(&expected.rows) {
                    for (bond, twin_bond) in row.iter().zip(twin_row) {
                        let [a, b] = [bond, twin_bond].map(|bond| f32::from_bits(bond.state[MULTIPLIER]));
                        prop_assert!((a - b).abs() <= 1e-7, "multiplier {} for {}", a, b);
                    }
                }
                prop_assert_eq!(faults(&bonds, &uploaded, u32::MAX, 1.0), [0; 8]);
                expected = found;
                for (x, d) in particles.position.iter_mut().zip(&moved) {
                    *x = std::array::from_fn(|axis| x[axis] + d[axis]);
                }
            }

            // Then particles move for reasons other than the springs; springs flow, and overlong ones break.
            for x in &mut particles.position {
                *x = x.map(|x| x + 0.02 * (stream.unit() - 0.5));
            }
            let uploaded = Uploaded::new(&particles, &grid, n);
            run(|r| SPRINGS.record_flow(r, &bonds, uploaded.particles(), 0.4, 0.1));
            let before = expected.clone();
            twin::update_plastic_springs(&mut expected, &particles.position, 0.4, 0.1);
            add(0, u32::from(before != expected));
            prop_assert_eq!(&download(&bonds, n), &expected, "flowed");
            run(|r| {
                SPRINGS.record_mark_long(r, &bonds, uploaded.particles(), u32::MAX, MAX_LENGTH_M);
                bonds.record_remove(r, &uploaded.count).unwrap();
            });
            let keep_mask = twin::mark_long_springs(&expected, &particles, u32::MAX, MAX_LENGTH_M);
            add(1, twin::remove_bonds(&mut expected, &keep_mask));
            prop_assert_eq!(&download(&bonds, n), &expected, "removed");
            run(|r| {
                SPRINGS.record_mark_flowed(r, &bonds, uploaded.particles(), u32::MAX, MAX_REST_M);
                bonds.record_remove(r, &uploaded.count).unwrap();
            });
            let keep_mask = twin::mark_flowed_springs(&expected, &particles, u32::MAX, MAX_REST_M);
            add(2, twin::remove_bonds(&mut expected, &keep_mask));
            prop_assert_eq!(&download(&bonds, n), &expected, "ended");
            prop_assert_eq!(faults(&bonds, &uploaded, u32::MAX, MAX_REST_M), [0; 8]);

            // The order of the next step.
            let (next, order) = sorted(&particles, &grid);
            particles = next;
            let uploaded = Uploaded::new(&particles, &grid, n);
            run(|r| bonds.record_remap(r, &uploaded.count, &padded(&order, n)).unwrap());
            expected = twin::remap_bonds(&expected, &order);
            prop_assert_eq!(&download(&bonds, n), &expected, "moved");
        }
    });
    assert!(counts.iter().all(|n| n.get() > 0), "steps with flow, springs broken and ended: {counts:?}");
}

#[test]
fn contacts_freeze_by_their_state_and_break_by_their_stretch() {
    let rule = twin::FreezeRule {
        dt_s: 0.25,
        slow_m_s: 0.8,
        freeze_after_s: 0.5,
        contact_m: 0.055,
        break_ratio: 1.2,
    };
    let grid = grid();
    let touching = frazil_kernels::BondSearch { radius_m: 0.05, max_bonds: u32::MAX };
    let columns = [BondColumn::u32("is_frozen", "1", 0), BondColumn::f32("slow_time", "s", 0.0)];
    proptest!(config(30), |(dense in any::<bool>(), n in particles(), seed in any::<u64>())| {
        let mut particles = world(Shape::Cloud { dense }, Limits::All(u32::MAX), n, seed);
        particles = sorted(&particles, &grid).0;
        let capacity = BondCapacity { particles: n as u32, slots: 4 };
        let mut bonds = PairBonds::new(&DEVICE, capacity, &columns).unwrap();
        let mut expected = Bonds::with_state(n, &[0; 2]);
        let mut stream = Stream(seed);
        let (mut froze, mut broke) = (false, 0);
        for _ in 0..6 {
            let velocity: Vec<[f32; 3]> =
                (0..n).map(|_| [(); 3].map(|()| stream.unit() - 0.5)).collect();
            let velocities = DEVICE.buffer_from("velocity", &velocity).unwrap();
            let uploaded = Uploaded::new(&particles, &grid, n);
            let builder = Builder::Reproducible { rounds: 1 };
            bonds.build(&DEVICE, &grid, &uploaded.key, uploaded.particles(), builder, &touching).unwrap();
            twin::build_reproducible(&mut expected, &particles, &twin_search(&touching), 1);
            run(|r| FREEZING.record_update(r, &bonds, uploaded.particles(), &velocities, &rule));
            twin::update_freeze_bonds(&mut expected, &velocity, &rule);
            prop_assert_eq!(&download(&bonds, n), &expected, "updated");
            froze |= expected.rows.iter().flatten().any(|bond| bond.state[0] == 1);

            for x in &mut particles.position {
                *x = x.map(|x| x + 0.01 * (stream.unit() - 0.5));
            }
            let uploaded = Uploaded::new(&particles, &grid, n);
            run(|r| {
                FREEZING.record_mark_broken(r, &bonds, uploaded.particles(), u32::MAX, &rule);
                bonds.record_remove(r, &uploaded.count).unwrap();
            });
            let keep_mask = twin::mark_broken_freeze_bonds(&expected, &particles, u32::MAX, &rule);
            broke += twin::remove_bonds(&mut expected, &keep_mask);
            prop_assert_eq!(&download(&bonds, n), &expected, "broken");
            prop_assert_eq!(faults(&bonds, &uploaded, u32::MAX, RADIUS_M), [0; 8]);

            let (next, order) = sorted(&particles, &grid);
            particles = next;
            let uploaded = Uploaded::new(&particles, &grid, n);
            run(|r| bonds.record_remap(r, &uploaded.count, &padded(&order, n)).unwrap());
            expected = twin::remap_bonds(&expected, &order);
            prop_assert_eq!(&download(&bonds, n), &expected, "moved");
        }
        prop_assert!(n < 250 || froze && broke > 0, "froze {}, {} broke", froze, broke);
    });
}
