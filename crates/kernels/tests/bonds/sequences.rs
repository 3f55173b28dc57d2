//! Bonds through steps (reorder, build, update, break), and barriers that a recording requires.

use super::rules::SPRINGS;
use super::worlds::*;
use frazil_kernels::{
    BondCapacity, BondSearch, BondedParticles, Builder, INVALID_INDEX, KernelError, PairBonds, UniformGrid,
};
use frazil_reference::bonds as twin;
use frazil_testkit::primitives::*;
use frazil_vk::{BarrierPlan, Device, DeviceCount, DeviceOptions, RecorderOptions, find_hazards};
use proptest::prelude::*;

/// Operations of a simulation step between builds.
#[derive(Clone, Copy, Debug)]
struct Step {
    builder: Builder,
    /// Maximum displacement of particles, in m.
    moved_m: f32,
    /// Limits after the displacement.
    limits: Limits,
    /// One of every so many particles leaves; 0 for none.
    leaving: usize,
    coming: usize,
    break_ratio: f32,
}

fn step() -> impl Strategy<Value = Step> {
    let builder = prop_oneof![
        (1u32..4).prop_map(|rounds| Builder::Reproducible { rounds }),
        (1u32..3).prop_map(|passes| Builder::CompareAndSwap { passes }),
    ];
    (
        builder,
        prop::sample::select(vec![0.0f32, 0.004, 0.05]),
        prop::sample::select(vec![Limits::Unlimited, Limits::UpTo(9), Limits::UpTo(40), Limits::All(40)]),
        prop::sample::select(vec![0usize, 0, 2, 9]),
        prop::sample::select(vec![0usize, 40]),
        prop::sample::select(vec![1.0f32, 1.1, 1.5]),
    )
        .prop_map(|(builder, moved_m, limits, leaving, coming, break_ratio)| Step {
            builder,
            moved_m,
            limits,
            leaving,
            coming,
            break_ratio,
        })
}

#[test]
fn bonds_survive_every_sequence_of_operations() {
    let grid = grid();
    let scene = (shape(), 20usize..200, any::<u64>(), slots());
    let case = (scene, prop::collection::vec(step(), 1..5));
    proptest!(config(90), |(((shape, n, seed, slots), steps) in case, group in workgroup_size())| {
        let has_claims = steps.iter().any(|step| matches!(step.builder, Builder::CompareAndSwap { .. }));
        let slots = if has_claims { slots.min(MAX_CLAIM_SLOTS) } else { slots };
        let capacity = n + 40 * steps.len();
        let search = search(slots);
        let twin_search = twin_search(&search);
        let mut stream = Stream(seed ^ 1);
        let mut next_id = 1_000_000;
        let mut particles = world(shape, Limits::UpTo(slots), n, seed);
        let mut bonds = new_bonds(capacity, slots, group);
        let mut expected = no_bonds(n);
        for step in steps {
            // Some leave, some come, and all are sorted by cell: the order of the step.
            let mut order: Vec<u32> = (0..particles.position.len() as u32).collect();
            if step.leaving > 0 {
                order.retain(|_| stream.below(step.leaving) != 0);
            }
            let mut next = moved(&particles, &order);
            for _ in 0..step.coming {
                order.push(INVALID_INDEX);
                next.position.push([(); 3].map(|()| 0.4 * stream.unit()));
                next.limit.push(slots);
                next.id.push(next_id);
                next_id -= 1;
            }
            let (next, sorting) = sorted(&next, &grid);
            particles = next;
            let order: Vec<u32> = sorting.iter().map(|i| order[*i as usize]).collect();
            let n = order.len();

            let uploaded = Uploaded::new(&particles, &grid, capacity);
            let order_buffer = padded(&order, capacity);
            run(|r| bonds.record_remap(r, &uploaded.count, &order_buffer).unwrap());
            expected = twin::remap_bonds(&expected, &order);
            prop_assert_eq!(&download(&bonds, n), &expected, "moved");

            build(&bonds, &grid, &uploaded, step.builder, &search);
            let found = download(&bonds, n);
            prop_assert_eq!(twin::check_build(&expected, &found, &particles, &twin_search, 1.0), vec![]);
            if let Builder::Reproducible { rounds } = step.builder {
                twin::build_reproducible(&mut expected, &particles, &twin_search, rounds);
                prop_assert_eq!(&found, &expected, "built");
            }
            expected = found;

            // Particles move and limits change; bonds flow, and then some break.
            for x in &mut particles.position {
                *x = x.map(|x| x + step.moved_m * (stream.unit() - 0.5));
            }
            particles.limit = limits(step.limits, n, &mut stream);
            let uploaded = Uploaded::new(&particles, &grid, capacity);
            run(|r| SPRINGS.record_flow(r, &bonds, uploaded.particles(), 0.3, 0.02));
            twin::update_plastic_springs(&mut expected, &particles.position, 0.3, 0.02);
            prop_assert_eq!(&download(&bonds, n), &expected, "updated");

            let particles_there = uploaded.particles();
            run(|r| bonds.record_break_stretched(r, particles_there, slots, step.break_ratio).unwrap());
            let broken = twin::break_stretched(&mut expected, &particles, slots, step.break_ratio);
            prop_assert_eq!(&download(&bonds, n), &expected, "broken");
            prop_assert_eq!(DEVICE.download(bonds.broken(), 1).unwrap(), vec![broken]);
            let limit: Vec<u32> = particles.limit.iter().map(|limit| (*limit).min(slots)).collect();
            prop_assert_eq!(twin::check_bonds(&expected, 1.0, &limit), vec![]);
            prop_assert_eq!(faults(&bonds, &uploaded, slots, 1.0), [0; 8]);
        }
    });
}

#[test]
fn every_barrier_of_a_build_is_needed() {
    // Without validation, whose layer would object to the planted mistakes too. Nothing is submitted.
    let device = Device::open(&DeviceOptions::default()).unwrap();
    let grid = UniformGrid::new(&device, [0.0; 3], [1.0; 3], CELL_M).unwrap();
    let count = DeviceCount::new(&device, "count", 100).unwrap();
    let [key, id, limit, order] =
        ["key", "id", "limit", "order"].map(|name| device.buffer(name, 100).unwrap());
    let position = device.buffer("position", 100).unwrap();
    let particles = BondedParticles { count: &count, position: &position, limit: &limit, id: &id };
    let record = |builder, barriers| {
        let capacity = BondCapacity { particles: 100, slots: 8 };
        let mut bonds = PairBonds::new(&device, capacity, &columns()).unwrap();
        let options = RecorderOptions { trace: true, barriers, ..Default::default() };
        let mut r = device.recorder_with(options).unwrap();
        let search = search(9);
        bonds.record_build(&mut r, &grid, &key, particles, builder, &search).unwrap();
        bonds.record_break_stretched(&mut r, particles, 8, 1.1).unwrap();
        bonds.record_remap(&mut r, &count, &order).unwrap();
        bonds.record_count(&mut r, &grid, &key, particles, &search).unwrap();
        r
    };
    for builder in [Builder::Reproducible { rounds: 2 }, Builder::CompareAndSwap { passes: 2 }] {
        let all = record(builder, BarrierPlan::All).barrier_count();
        assert!(all >= 8, "{all} barriers for a build, a break, a move and a count");
        for omitted in 0..all {
            let recorder = record(builder, BarrierPlan::Omit(omitted));
            assert_ne!(find_hazards(recorder.events()), vec![], "{builder:?}: barrier {omitted}");
        }
    }
}

#[test]
fn invalid_settings_are_refused() {
    for slots in [0, 241] {
        let error = PairBonds::new(&DEVICE, BondCapacity { particles: 10, slots }, &[]).err();
        assert!(matches!(error, Some(KernelError::Bonds { .. })), "{slots}: {error:?}");
    }
    let grid = grid();
    let particles = world(Shape::Lattice, Limits::All(8), 10, 1);
    let uploaded = Uploaded::new(&particles, &grid, 10);
    let mut bonds = new_bonds(10, 8, 64);
    let mut recorder = DEVICE.recorder().unwrap();
    let error = bonds.grow(&DEVICE, 241);
    assert!(matches!(error, Err(KernelError::Bonds { .. })), "{error:?}");
    let mut build = |builder, search: &BondSearch| {
        bonds.record_build(&mut recorder, &grid, &uploaded.key, uploaded.particles(), builder, search).err()
    };
    for radius_m in [0.0, -1.0, f32::NAN, f32::INFINITY, 2.0 * CELL_M] {
        let error = build(Builder::Reproducible { rounds: 1 }, &BondSearch { radius_m, ..search(8) });
        assert!(matches!(error, Some(KernelError::Bonds { .. })), "{radius_m}: {error:?}");
    }
    for builder in [Builder::Reproducible { rounds: 0 }, Builder::CompareAndSwap { passes: 257 }] {
        let error = build(builder, &search(8));
        assert!(matches!(error, Some(KernelError::Bonds { .. })), "{builder:?}: {error:?}");
    }
    for break_ratio in [0.9, f32::NAN, f32::INFINITY] {
        let error = bonds.record_break_stretched(&mut recorder, uploaded.particles(), 8, break_ratio).err();
        assert!(matches!(error, Some(KernelError::Bonds { .. })), "{break_ratio}: {error:?}");
    }
    let long = new_bonds(10, MAX_CLAIM_SLOTS + 1, 64);
    let claims = Builder::CompareAndSwap { passes: 1 };
    let error = long
        .record_build(&mut recorder, &grid, &uploaded.key, uploaded.particles(), claims, &search(8))
        .err();
    assert!(matches!(error, Some(KernelError::Bonds { .. })), "{error:?}");
    let short = DEVICE.buffer("short", 9).unwrap();
    let error = bonds.record_remap(&mut recorder, &uploaded.count, &short).err();
    assert!(matches!(error, Some(KernelError::TooSmall { found: 9, required: 10, .. })), "{error:?}");
    for particles in [
        BondedParticles { id: &short, ..uploaded.particles() },
        BondedParticles { limit: &short, ..uploaded.particles() },
    ] {
        let error = bonds.record_break_stretched(&mut recorder, particles, 8, 1.5).err();
        assert!(matches!(error, Some(KernelError::TooSmall { .. })), "{error:?}");
    }
    let many = count(10, 11);
    let error = bonds.record_remap(&mut recorder, &many, &padded(&[], 11)).err();
    assert!(matches!(error, Some(KernelError::Capacity { found: 11, capacity: 10, .. })), "{error:?}");
}
