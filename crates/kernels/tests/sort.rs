//! The radix sort: a stable permutation, by any bits, at any size, on any group size.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{KernelError, Method, Move, RadixSort, Ranking, SortKey, SortOptions};
use frazil_reference::primitives::radix_sort_pairs;
use frazil_testkit::primitives::*;
use frazil_vk::{BarrierPlan, Buffer, RecorderOptions, find_hazards};
use proptest::prelude::*;
use std::fmt::Debug;
use std::ops::Range;

/// Returns the twin's stable order of keys by some of their bits.
fn stable_order<K: SortKey + Default + Into<u64>>(keys: &[K], bits: Range<u32>) -> Vec<u32> {
    let (mut keys, mut order) = (keys.to_vec(), (0..keys.len() as u32).collect());
    radix_sort_pairs(&mut keys, &mut order, bits);
    order
}

fn bits(key_bits: u32) -> impl Strategy<Value = Range<u32>> {
    prop_oneof![
        Just(0..key_bits),
        (0..=key_bits, 0..=key_bits).prop_map(|(a, b)| a.min(b)..a.max(b)),
        (0..key_bits).prop_map(|b| b..b + 1),
    ]
}

/// Generates all sort options: both methods, both rankings, all workgroup sizes, with and without the path
/// for small arrays, and look-back with tiles that never publish: none, every second, or all.
fn options() -> impl Strategy<Value = SortOptions> {
    let ranking = prop::sample::select(vec![Ranking::Nibbles, Ranking::Ballots]);
    let items = prop::sample::select(vec![None, None, Some(2)]);
    let withheld = prop::sample::select(vec![0u32, 0, 1, 2]);
    (any::<bool>(), ranking, any::<bool>(), (workgroup_size(), items), withheld).prop_map(
        |(look_back, ranking, small_path, (workgroup_size, items_per_thread), withheld)| SortOptions {
            method: Some(if look_back { Method::LookBack } else { Method::ReduceThenScan }),
            ranking: Some(ranking),
            workgroup_size,
            items_per_thread: if ranking == Ranking::Ballots { items_per_thread } else { None },
            small_path,
            withheld,
            ..Default::default()
        },
    )
}

fn sorts_stably<K: SortKey + Default + Into<u64> + Ord + Debug>(
    keys: &[K],
    bits: Range<u32>,
    spare: usize,
    options: SortOptions,
    travelling: u32,
) -> Result<(), TestCaseError> {
    let (n, capacity) = (keys.len(), keys.len() + spare);
    let sort = RadixSort::<K>::with_options(&DEVICE, capacity as u32, options).unwrap();
    let payload: Vec<u32> = (0..n as u32).map(|i| i ^ 0x5555_0000).collect();
    let key_buffer = DEVICE.buffer::<K>("keys", capacity).unwrap();
    DEVICE.upload(&key_buffer, keys).unwrap();
    let payload_buffer = padded(&payload, capacity);
    let count = count(n, capacity);
    run(|r| match travelling {
        0 => sort.record_keys(r, &count, &key_buffer, bits.clone()).unwrap(),
        1 => sort.record(r, &count, &key_buffer, &payload_buffer, bits.clone()).unwrap(),
        _ => sort.record_order(r, &count, &key_buffer, &payload_buffer, bits.clone()).unwrap(),
    });
    let order = stable_order(keys, bits);
    let expected: Vec<K> = order.iter().map(|i| keys[*i as usize]).collect();
    prop_assert!(DEVICE.download(&key_buffer, n).unwrap() == expected, "keys");
    let expected = match travelling {
        0 => payload,
        1 => order.iter().map(|i| payload[*i as usize]).collect(),
        _ => order,
    };
    prop_assert!(DEVICE.download(&payload_buffer, n).unwrap() == expected, "payload");
    Ok(())
}

#[test]
fn sort_is_a_stable_permutation() {
    proptest!(config(1000), |(
        keys in keys(),
        bits in bits(32),
        spare in 0usize..3000,
        options in options(),
        travelling in 0u32..3,
    )| {
        sorts_stably(&keys, bits, spare, options, travelling)?;
    });
}

#[test]
fn sort_of_64_bit_keys_is_a_stable_permutation() {
    proptest!(config(1000), |(
        low in keys(),
        turn in 0u32..64,
        bits in bits(64),
        spare in 0usize..3000,
        options in options(),
        travelling in 0u32..3,
    )| {
        // Each distribution in either word, and across both.
        let keys: Vec<u64> = low
            .iter()
            .map(|k| (u64::from(*k) | u64::from(k.reverse_bits() & 0xff) << 32).rotate_left(turn))
            .collect();
        sorts_stably(&keys, bits, spare, options, travelling)?;
    });
}

#[test]
fn sort_moves_every_column() {
    proptest!(config(1000), |(
        keys in keys(),
        bits in bits(32),
        spare in 0usize..3000,
        options in options(),
    )| {
        let (n, capacity) = (keys.len(), keys.len() + spare);
        let sort = RadixSort::with_options(&DEVICE, capacity as u32, options).unwrap();
        let (key_buffer, order) = (padded(&keys, capacity), padded(&[], capacity));
        let wide: Vec<[u32; 3]> = (0..n as u32).map(|i| [i, !i, 7]).collect();
        let (from, to) = (DEVICE.buffer("from", capacity).unwrap(), DEVICE.buffer("to", capacity).unwrap());
        DEVICE.upload(&from, &wide).unwrap();
        let (narrow_from, narrow_to) = (padded(&keys, capacity), padded(&[], capacity));
        let columns = [Move::column(&from, &to), Move::column(&narrow_from, &narrow_to)];
        run(|r| {
            sort.record_columns(r, &count(n, capacity), &key_buffer, &order, &columns, bits.clone()).unwrap()
        });
        let expected = stable_order(&keys, bits);
        prop_assert_eq!(
            DEVICE.download(&to, n).unwrap(),
            expected.iter().map(|i| wide[*i as usize]).collect::<Vec<_>>(),
        );
        prop_assert_eq!(DEVICE.download(&narrow_to, n).unwrap(), DEVICE.download(&key_buffer, n).unwrap());
        prop_assert_eq!(DEVICE.download(&order, n).unwrap(), expected);
    });
}

#[test]
fn sort_takes_a_million_keys() {
    let n = (1 << 20) + 7;
    let keys: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(9)).collect();
    let mut expected = keys.clone();
    expected.sort_unstable();
    let methods = [(Method::ReduceThenScan, 0), (Method::LookBack, 0), (Method::LookBack, 7)];
    for (ranking, (method, withheld)) in
        [Ranking::Nibbles, Ranking::Ballots].into_iter().flat_map(|ranking| methods.map(|m| (ranking, m)))
    {
        let (method, ranking) = (Some(method), Some(ranking));
        let options = SortOptions { method, ranking, withheld, ..Default::default() };
        let sort = RadixSort::with_options(&DEVICE, n as u32, options).unwrap();
        let (key_buffer, order) = (padded(&keys, n), padded(&[], n));
        run(|r| sort.record_order(r, &count(n, n), &key_buffer, &order, 0..32).unwrap());
        assert!(
            DEVICE.download(&key_buffer, n).unwrap() == expected,
            "{method:?}, {ranking:?}, {withheld} withheld"
        );
    }
}

#[test]
fn every_barrier_of_a_sort_is_needed() {
    for ranking in [Ranking::Nibbles, Ranking::Ballots] {
        every_barrier_is_needed(Method::ReduceThenScan, ranking, 9);
        every_barrier_is_needed(Method::LookBack, ranking, 5);
    }
}

/// Checks that there are at least `min_barriers` barriers, all of them necessary.
fn every_barrier_is_needed(method: Method, ranking: Ranking, min_barriers: u32) {
    let n = 5000;
    let (keys, payload, count) = (padded(&vec![3; n], n), padded(&vec![4; n], n), count(n, n));
    let options = SortOptions { method: Some(method), ranking: Some(ranking), ..Default::default() };
    let sort = RadixSort::with_options(&DEVICE, n as u32, options).unwrap();
    let record = |barriers| {
        let mut recorder =
            DEVICE.recorder_with(RecorderOptions { trace: true, barriers, ..Default::default() }).unwrap();
        sort.record(&mut recorder, &count, &keys, &payload, 0..20).unwrap();
        recorder
    };
    let all = record(BarrierPlan::All).barrier_count();
    assert!(all >= min_barriers, "{all} barriers");
    for omitted in 0..all {
        let recorder = record(BarrierPlan::Omit(omitted));
        assert!(!find_hazards(recorder.events()).is_empty(), "barrier {omitted} of {all} is not needed");
    }
    // Messages of the synchronization layer about the planted mistakes.
    DEVICE.validation().take();
}

#[test]
fn misuse_is_refused_by_name() {
    let sort = RadixSort::<u32>::new(&DEVICE, 10).unwrap();
    let (keys, payload) = (padded(&[], 10), padded(&[], 10));
    let mut recorder = DEVICE.recorder().unwrap();
    for (begin, end) in [(5, 4), (0, 33), (40, 41)] {
        let error = sort.record(&mut recorder, &count(10, 10), &keys, &payload, begin..end).unwrap_err();
        assert!(
            matches!(error, KernelError::BitRange { .. })
                && error.to_string().contains(&format!("{begin}..{end}"))
        );
    }
    let mut record = |count, keys: &Buffer<u32>, payload: &Buffer<u32>| {
        sort.record(&mut recorder, &count, keys, payload, 0..8).unwrap_err()
    };
    assert!(matches!(record(count(0, 11), &keys, &payload), KernelError::Capacity { found: 11, .. }));
    assert!(matches!(
        record(count(0, 10), &padded(&[], 9), &payload),
        KernelError::TooSmall { found: 9, .. }
    ));
    assert!(matches!(record(count(0, 10), &keys, &keys), KernelError::Overlap { .. }));
    let options = SortOptions { workgroup_size: 32, ..Default::default() };
    assert!(matches!(
        RadixSort::<u32>::with_options(&DEVICE, 10, options),
        Err(KernelError::WorkgroupSize { found: 32, minimum: 64, .. })
    ));
}
