//! The radix sort: a stable permutation, by any bits, at any size, on any group size.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use frazil_kernels::{KernelError, RadixSort};
use frazil_reference::primitives::radix_sort_pairs;
use frazil_vk::{BarrierPlan, RecorderOptions, find_hazards};
use proptest::prelude::*;

/// The twin's stable order of keys by some of their bits.
fn stable_order(keys: &[u32], bits: std::ops::Range<u32>) -> Vec<u32> {
    let (mut keys, mut order) = (keys.to_vec(), (0..keys.len() as u32).collect());
    radix_sort_pairs(&mut keys, &mut order, bits);
    order
}

fn bits() -> impl Strategy<Value = std::ops::Range<u32>> {
    prop_oneof![
        Just(0..32),
        (0u32..=32, 0u32..=32).prop_map(|(a, b)| a.min(b)..a.max(b)),
        (0u32..32).prop_map(|b| b..b + 1),
    ]
}

#[test]
fn sort_is_a_stable_permutation() {
    proptest!(config(120), |(keys in keys(), bits in bits(), spare in 0usize..3000, log_group in 6u32..10)| {
        let (n, capacity) = (keys.len(), keys.len() + spare);
        let sort = RadixSort::with_workgroup_size(&DEVICE, capacity as u32, 1 << log_group).unwrap();
        let payload: Vec<u32> = (0..n as u32).map(|i| i ^ 0x5555_0000).collect();
        let (key_buffer, payload_buffer) = (padded(&keys, capacity), padded(&payload, capacity));
        run(|r| sort.record(r, &count(n, capacity), &key_buffer, &payload_buffer, bits.clone()).unwrap());
        let order = stable_order(&keys, bits);
        let expected: Vec<(u32, u32)> = order.iter().map(|i| (keys[*i as usize], payload[*i as usize])).collect();
        let found: Vec<(u32, u32)> = DEVICE.download(&key_buffer, n).unwrap().into_iter()
            .zip(DEVICE.download(&payload_buffer, n).unwrap()).collect();
        prop_assert_eq!(found, expected);
    });
}

#[test]
fn sort_tells_where_each_key_came_from() {
    proptest!(config(80), |(keys in keys(), bits in bits(), spare in 0usize..3000)| {
        let (n, capacity) = (keys.len(), keys.len() + spare);
        let sort = RadixSort::new(&DEVICE, capacity as u32).unwrap();
        let (key_buffer, order) = (padded(&keys, capacity), padded(&[], capacity));
        run(|r| sort.record_order(r, &count(n, capacity), &key_buffer, &order, bits.clone()).unwrap());
        prop_assert_eq!(DEVICE.download(&order, n).unwrap(), stable_order(&keys, bits));
    });
}

#[test]
fn sort_takes_a_million_keys() {
    let n = (1 << 20) + 7;
    let keys: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(9)).collect();
    let sort = RadixSort::new(&DEVICE, n as u32).unwrap();
    let (key_buffer, order) = (padded(&keys, n), padded(&[], n));
    run(|r| sort.record_order(r, &count(n, n), &key_buffer, &order, 0..32).unwrap());
    let mut expected = keys;
    expected.sort_unstable();
    assert_eq!(DEVICE.download(&key_buffer, n).unwrap(), expected);
}

#[test]
fn every_barrier_of_a_sort_is_needed() {
    let n = 5000;
    let (keys, payload, count) = (padded(&vec![3; n], n), padded(&vec![4; n], n), count(n, n));
    let sort = RadixSort::new(&DEVICE, n as u32).unwrap();
    let record = |barriers| {
        let mut recorder =
            DEVICE.recorder_with(RecorderOptions { trace: true, barriers, ..Default::default() }).unwrap();
        sort.record(&mut recorder, &count, &keys, &payload, 0..12).unwrap();
        recorder
    };
    let all = record(BarrierPlan::All).barrier_count();
    assert!(all >= 9, "{all} barriers for three passes of three kernels and more");
    for omitted in 0..all {
        let recorder = record(BarrierPlan::Omit(omitted));
        assert!(!find_hazards(recorder.events()).is_empty(), "barrier {omitted} of {all} is not needed");
    }
    // What the synchronization layer said of the planted mistakes.
    DEVICE.validation().take();
}

#[test]
fn bad_bit_ranges_are_refused() {
    let sort = RadixSort::new(&DEVICE, 10).unwrap();
    let (keys, payload) = (padded(&[], 10), padded(&[], 10));
    let mut recorder = DEVICE.recorder().unwrap();
    for (begin, end) in [(5, 4), (0, 33), (40, 41)] {
        let error = sort.record(&mut recorder, &count(10, 10), &keys, &payload, begin..end).unwrap_err();
        assert!(
            matches!(error, KernelError::BitRange { .. })
                && error.to_string().contains(&format!("{begin}..{end}"))
        );
    }
}
