//! Scan, compaction and reduction against their CPU twins.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{
    Compaction, KernelError, Litmus, Method, Move, Operation, ReductionF32, ReductionU32, Scan, ScanOptions,
};
use frazil_reference::primitives::{
    ReduceShape, exclusive_scan_u32, inclusive_scan_u32, partition, reduce_max_u32, reduce_min_u32,
    reduce_sum_f32, reduce_sum_u32, stream_compaction,
};
use frazil_testkit::own_device;
use frazil_testkit::primitives::*;
use proptest::prelude::*;

/// Generates all scan options: both methods, both kinds, all workgroup sizes, and look-back with tiles that
/// never publish: none, every second, or all.
fn options() -> impl Strategy<Value = ScanOptions> {
    let items = prop::sample::select(vec![8u32, 8, 64]);
    let withheld = prop::sample::select(vec![0u32, 0, 1, 2]);
    let capabilities = DEVICE.capabilities();
    let largest = capabilities.max_subgroups * capabilities.subgroup_size;
    let loads = (items, any::<bool>(), any::<bool>());
    (any::<bool>(), any::<bool>(), workgroup_size(), loads, withheld).prop_map(
        move |(inclusive, look_back, workgroup_size, (items, is_staged, subgroup_sums), withheld)| {
            ScanOptions {
                inclusive,
                method: Some(if look_back { Method::LookBack } else { Method::ReduceThenScan }),
                workgroup_size,
                // Tiles have at most 2048 elements, which the smallest shared memory holds.
                items_per_thread: items.min(2048 / workgroup_size),
                is_staged,
                // On a device with subgroups of 4 or 8, large groups have too many of them.
                subgroup_sums: Some(subgroup_sums && workgroup_size <= largest),
                withheld,
                ..Default::default()
            }
        },
    )
}

#[test]
fn this_device_passes_the_litmus_test() {
    let device = own_device();
    assert!(Litmus::run(&device).unwrap().passes(), "{}", Litmus::of(&device).unwrap());
    assert_eq!(Method::best(&device).unwrap(), Method::LookBack);
    // A device that failed would get reduce-then-scan, and an explicit request for look-back an error.
    Litmus { messages_missed: 1, waits_given_up: 2 }.assume(&device);
    assert_eq!(Scan::new(&device, 10).unwrap().method(), Method::ReduceThenScan);
    let options = ScanOptions { method: Some(Method::LookBack), ..Default::default() };
    let error = Scan::with_options(&device, 10, options).err().unwrap();
    assert!(error.to_string().contains("1 messages missed, 2 waits given up"), "{error}");
    device.check_validation().unwrap();
}

#[test]
fn scan_agrees_with_its_twin() {
    proptest!(config(1000), |(values in keys(), spare in 0usize..5000, options in options())| {
        let capacity = values.len() + spare;
        let scan = Scan::with_options(&DEVICE, capacity as u32, options).unwrap();
        let (input, output) = (padded(&values, capacity), padded(&[], capacity));
        let total = DEVICE.buffer_from("total", &[77]).unwrap();
        run(|r| scan.record(r, &count(values.len(), capacity), &input, &output, Some(&total)).unwrap());
        let (exclusive, sum) = exclusive_scan_u32(&values);
        let expected = if options.inclusive { inclusive_scan_u32(&values) } else { exclusive };
        let found = DEVICE.download(&output, capacity).unwrap();
        prop_assert_eq!(&found[..values.len()], &expected[..]);
        prop_assert!(
            found[values.len()..].iter().all(|v| *v == 0xdead_beef),
            "nothing is written past the count"
        );
        prop_assert_eq!(DEVICE.download(&total, 1).unwrap()[0], sum);
    });
}

#[test]
fn scan_takes_a_million_elements_and_three_levels_of_tiles() {
    // 64 threads of 8 make tiles of 512: three levels from 512² on.
    for (n, workgroup_size) in [(512 * 512 + 7, 64), ((1 << 20) + 7, 256)] {
        let values: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        for method in [Method::ReduceThenScan, Method::LookBack] {
            // With all sums withheld each tile looks back at every other, over many windows.
            for withheld in [0, 1, 5] {
                let options =
                    ScanOptions { method: Some(method), workgroup_size, withheld, ..Default::default() };
                let scan = Scan::with_options(&DEVICE, n as u32, options).unwrap();
                let (input, output) = (padded(&values, n), padded(&[], n));
                run(|r| scan.record(r, &count(n, n), &input, &output, None).unwrap());
                assert!(DEVICE.download(&output, n).unwrap() == exclusive_scan_u32(&values).0, "{method:?}");
            }
        }
    }
}

#[test]
fn compaction_lists_flagged_indices_in_order() {
    proptest!(config(1000), |(
        values in keys(),
        spare in 0usize..3000,
        every in 1u32..5,
        options in options(),
    )| {
        let flags: Vec<u32> = values.iter().map(|v| if v % every == 0 { *v } else { 0 }).collect();
        let capacity = flags.len() + spare;
        let compaction = Compaction::with_options(&DEVICE, capacity as u32, options).unwrap();
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
fn partition_moves_every_column_and_loses_nothing() {
    // Ten columns take two passes; elements of one to four words.
    proptest!(config(1000), |(
        values in keys(),
        every in 1u32..5,
        options in options(),
        columns in 0usize..11,
        both in any::<bool>(),
    )| {
        let n = values.len();
        let flags: Vec<u32> = values.iter().map(|v| if v % every == 0 { *v } else { 0 }).collect();
        let compaction = Compaction::with_options(&DEVICE, n as u32, options).unwrap();
        let data: Vec<Vec<[u32; 3]>> =
            (0..columns)
                .map(|c| values.iter().enumerate().map(|(i, v)| [*v, i as u32, c as u32]).collect())
                .collect();
        let from: Vec<_> = data.iter().map(|d| DEVICE.buffer_from("column", d).unwrap()).collect();
        let filled = |n| DEVICE.buffer_from("moved", &vec![[9u32; 3]; n]).unwrap();
        let (kept, dropped): (Vec<_>, Vec<_>) = (0..columns).map(|_| (filled(n), filled(n))).unzip();
        let moves: Vec<Move> = (0..columns)
            .map(|c| {
                let column = Move::column(&from[c], &kept[c]);
                if both { column.dropping_to(&dropped[c]) } else { column }
            })
            .collect();
        let (kept_count, dropped_count) = (count(5, n), count(5, n));
        let input = padded(&flags, n);
        run(|r| {
            let dropped_count = Some(&dropped_count);
            compaction.record_columns(r, &count(n, n), &input, &moves, &kept_count, dropped_count).unwrap()
        });
        let kept_n = flags.iter().filter(|f| **f != 0).count();
        prop_assert_eq!(DEVICE.download(&kept_count.count, 1).unwrap()[0] as usize, kept_n);
        prop_assert_eq!(DEVICE.download(&dropped_count.count, 1).unwrap()[0] as usize, n - kept_n);
        for c in 0..columns {
            let (expected_kept, expected_dropped) = partition(&data[c], &flags);
            prop_assert_eq!(DEVICE.download(&kept[c], kept_n).unwrap(), expected_kept);
            let found = DEVICE.download(&dropped[c], n).unwrap();
            if both {
                prop_assert_eq!(&found[..n - kept_n], &expected_dropped[..]);
            } else {
                prop_assert!(found.iter().all(|d| *d == [9; 3]), "nothing else is written");
            }
        }
    });
}

#[test]
fn reductions_agree_with_their_twins() {
    proptest!(config(1000), |(values in keys(), spare in 0usize..3000, group in workgroup_size())| {
        let capacity = values.len() + spare;
        let (input, count) = (padded(&values, capacity), count(values.len(), capacity));
        let expected = [
            (Operation::Sum, reduce_sum_u32(&values)),
            (Operation::Minimum, reduce_min_u32(&values)),
            (Operation::Maximum, reduce_max_u32(&values)),
        ];
        for (operation, expected) in expected {
            let reduction =
                ReductionU32::with_workgroup_size(&DEVICE, operation, capacity as u32, group).unwrap();
            let mut result = None;
            run(|r| result = Some(reduction.record(r, &count, &input).unwrap().clone()));
            prop_assert_eq!(DEVICE.download(&result.unwrap(), 1).unwrap()[0], expected, "{:?}", operation);
        }
    });
}

#[test]
fn float_sums_have_the_bits_of_their_fixed_tree() {
    proptest!(config(1000), |(values in keys(), group in workgroup_size())| {
        // Both signs and many magnitudes, so that another order of additions gives other bits.
        let floats: Vec<f32> = values
            .iter()
            .enumerate()
            .map(|(i, v)| (*v as f32 - 2e9) * 10f32.powi(i as i32 % 7 - 3))
            .collect();
        let n = floats.len();
        let reduction = ReductionF32::with_workgroup_size(&DEVICE, Operation::Sum, n as u32, group).unwrap();
        let input = DEVICE.buffer_from("floats", &floats).unwrap();
        let mut result = None;
        run(|r| result = Some(reduction.record(r, &count(n, n), &input).unwrap().clone()));
        let found = DEVICE.download(&result.unwrap(), 1).unwrap()[0];
        let shape = ReduceShape { workgroup_size: group as usize, items_per_thread: 8 };
        prop_assert_eq!(found.to_bits(), reduce_sum_f32(&floats, shape).to_bits());
    });
}

#[test]
fn misuse_is_refused_by_name() {
    let scan = Scan::new(&DEVICE, 100).unwrap();
    let (small, large, other) = (padded(&[], 50), padded(&[], 200), padded(&[], 200));
    let mut recorder = DEVICE.recorder().unwrap();
    let error = scan.record(&mut recorder, &count(0, 101), &large, &other, None).unwrap_err();
    assert!(matches!(error, KernelError::Capacity { found: 101, capacity: 100, .. }), "{error}");
    let error = scan.record(&mut recorder, &count(0, 100), &large, &small, None).unwrap_err();
    assert!(matches!(error, KernelError::TooSmall { found: 50, required: 100, .. }), "{error}");
    let error = scan.record(&mut recorder, &count(0, 100), &large, &large, None).unwrap_err();
    assert!(matches!(error, KernelError::Overlap { .. }), "{error}");
    let error = scan.record(&mut recorder, &count(0, 100), &large, &other, Some(&large)).unwrap_err();
    assert!(matches!(error, KernelError::Overlap { .. }), "{error}");

    let compaction = Compaction::new(&DEVICE, 100).unwrap();
    let (count, kept, dropped) = (count(0, 100), count(0, 100), padded(&[], 200));
    let mut record =
        |moves: &[Move]| compaction.record_columns(&mut recorder, &count, &large, moves, &kept, None);
    let error = record(&[Move::column(&large, &large)]).unwrap_err();
    assert!(matches!(error, KernelError::Overlap { .. }), "{error}");
    let error = record(&[Move::column(&large, &other).dropping_to(&other)]).unwrap_err();
    assert!(matches!(error, KernelError::Overlap { .. }), "{error}");
    let error = record(&[Move::column(&large.cast::<[u32; 3]>(), &other.cast())]).unwrap_err();
    assert!(matches!(error, KernelError::TooSmall { found: 198, required: 300, .. }), "{error}");
    let moves = [Move::index(&other), Move::column(&large, &padded(&[], 200)).dropping_to(&dropped)];
    assert!(matches!(record(&moves).unwrap_err(), KernelError::NoPlaceForDropped { .. }));
}
