//! Reduction, scan and compaction against their CPU twins.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use frazil_kernels::{Compaction, ExclusiveScan, KernelError, Operation, ReductionF32, ReductionU32};
use frazil_reference::primitives::{
    ReduceShape, exclusive_scan_u32, reduce_max_u32, reduce_min_u32, reduce_sum_f32, reduce_sum_u32,
    stream_compaction,
};
use proptest::prelude::*;

#[test]
fn scan_agrees_with_its_twin() {
    proptest!(config(150), |(values in keys(), spare in 0usize..5000, log_group in 6u32..10)| {
        let capacity = values.len() + spare;
        let scan = ExclusiveScan::with_workgroup_size(&DEVICE, capacity as u32, 1 << log_group).unwrap();
        let (input, output) = (padded(&values, capacity), padded(&[], capacity));
        let total = DEVICE.buffer_from("total", &[77]).unwrap();
        run(|r| scan.record(r, &count(values.len(), capacity), &input, &output, Some(&total)).unwrap());
        let (expected, sum) = exclusive_scan_u32(&values);
        let found = DEVICE.download(&output, capacity).unwrap();
        prop_assert_eq!(&found[..values.len()], &expected[..]);
        prop_assert!(found[values.len()..].iter().all(|v| *v == 0xdead_beef), "nothing is written past the count");
        prop_assert_eq!(DEVICE.download(&total, 1).unwrap()[0], sum);
    });
}

#[test]
fn scan_takes_three_levels_of_tiles() {
    // 64 threads of 8 make tiles of 512: three levels from 512² on.
    let n = 512 * 512 + 7;
    let values: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let scan = ExclusiveScan::with_workgroup_size(&DEVICE, n as u32, 64).unwrap();
    let (input, output) = (padded(&values, n), padded(&[], n));
    run(|r| scan.record(r, &count(n, n), &input, &output, None).unwrap());
    assert_eq!(DEVICE.download(&output, n).unwrap(), exclusive_scan_u32(&values).0);
}

#[test]
fn compaction_lists_flagged_indices_in_order() {
    proptest!(config(100), |(values in keys(), spare in 0usize..3000, every in 1u32..5)| {
        let flags: Vec<u32> = values.iter().map(|v| if v % every == 0 { *v } else { 0 }).collect();
        let capacity = flags.len() + spare;
        let compaction = Compaction::new(&DEVICE, capacity as u32).unwrap();
        let (input, kept) = (padded(&flags, capacity), padded(&[], capacity));
        let kept_count = count(0, capacity);
        run(|r| compaction.record(r, &count(flags.len(), capacity), &input, &kept, &kept_count).unwrap());
        let expected = stream_compaction(&flags);
        prop_assert_eq!(DEVICE.download(&kept_count.count, 1).unwrap()[0] as usize, expected.len());
        prop_assert_eq!(DEVICE.download(&kept, expected.len()).unwrap(), expected);
        // The count is ready to dispatch by.
        let groups = DEVICE.download(&kept_count.args, 1).unwrap()[0];
        let kept = DEVICE.download(&kept_count.count, 1).unwrap()[0];
        prop_assert!(u64::from(groups[0]) * u64::from(groups[1]) >= u64::from(kept));
    });
}

#[test]
fn reductions_agree_with_their_twins() {
    proptest!(config(100), |(values in keys(), spare in 0usize..3000, log_group in 6u32..10)| {
        let capacity = values.len() + spare;
        let (input, count) = (padded(&values, capacity), count(values.len(), capacity));
        let expected = [
            (Operation::Sum, reduce_sum_u32(&values)),
            (Operation::Minimum, reduce_min_u32(&values)),
            (Operation::Maximum, reduce_max_u32(&values)),
        ];
        for (operation, expected) in expected {
            let reduction = ReductionU32::with_workgroup_size(&DEVICE, operation, capacity as u32, 1 << log_group).unwrap();
            let mut result = None;
            run(|r| result = Some(reduction.record(r, &count, &input).unwrap().clone()));
            prop_assert_eq!(DEVICE.download(&result.unwrap(), 1).unwrap()[0], expected, "{:?}", operation);
        }
    });
}

#[test]
fn float_sums_have_the_bits_of_their_fixed_tree() {
    proptest!(config(100), |(values in keys(), log_group in 6u32..10)| {
        // Both signs and many magnitudes, so that another order of additions gives other bits.
        let floats: Vec<f32> = values.iter().enumerate().map(|(i, v)| (*v as f32 - 2e9) * 10f32.powi(i as i32 % 7 - 3)).collect();
        let n = floats.len();
        let reduction = ReductionF32::with_workgroup_size(&DEVICE, Operation::Sum, n as u32, 1 << log_group).unwrap();
        let input = DEVICE.buffer_from("floats", &floats).unwrap();
        let mut result = None;
        run(|r| result = Some(reduction.record(r, &count(n, n), &input).unwrap().clone()));
        let found = DEVICE.download(&result.unwrap(), 1).unwrap()[0];
        let shape = ReduceShape { workgroup_size: 1 << log_group, items_per_thread: 8 };
        prop_assert_eq!(found.to_bits(), reduce_sum_f32(&floats, shape).to_bits());
    });
}

#[test]
fn misuse_is_refused_by_name() {
    let scan = ExclusiveScan::new(&DEVICE, 100).unwrap();
    let (small, large) = (padded(&[], 50), padded(&[], 200));
    let mut recorder = DEVICE.recorder().unwrap();
    let error = scan.record(&mut recorder, &count(0, 101), &large, &large, None).unwrap_err();
    assert!(matches!(error, KernelError::Capacity { found: 101, capacity: 100, .. }), "{error}");
    let error = scan.record(&mut recorder, &count(0, 100), &large, &small, None).unwrap_err();
    assert!(matches!(error, KernelError::TooSmall { found: 50, needed: 100, .. }), "{error}");
}
