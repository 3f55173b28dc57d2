//! Segmented reduction against its CPU twin and a plain loop.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::{KernelError, Operation, SegmentedReductionF32, SegmentedReductionU32};
use frazil_reference::primitives::{ReduceShape, segmented_reduce};
use frazil_testkit::Random;
use frazil_testkit::primitives::*;
use proptest::prelude::*;

/// Starts of segments: random lengths, all of one element, one huge segment, all empty, exact tiles, and runs
/// of empty ones.
fn starts(n: usize, kind: u8, seed: u32) -> Vec<u32> {
    let mut random = Random::new(u64::from(seed) | 1);
    let mut next = |bound: u64| random.below(bound) as usize;
    let mut starts = vec![0u32];
    let mut at = 0;
    while at < n {
        let length = match kind {
            0 => next(50),
            1 => 1,
            2 => n,
            3 => 512,
            4 => [0, 0, 0, 700, 3][next(5)],
            _ => [0, 1, 2, 4000][next(4)],
        };
        at = (at + length).min(n);
        starts.push(at as u32);
    }
    // Empty ones at the end, and nothing but empty ones where there is no element.
    starts.extend(std::iter::repeat_n(n as u32, seed as usize % 5));
    starts
}

#[test]
fn segments_of_integers_agree_with_a_loop() {
    proptest!(config(1000), |(values in keys(), kind in 0u8..6, seed: u32, spare in 0usize..500, group in workgroup_size(), which in 0usize..3)| {
        let starts = starts(values.len(), kind, seed);
        let (n, n_segments) = (values.len(), starts.len() - 1);
        let operation = [Operation::Sum, Operation::Minimum, Operation::Maximum][which];
        let capacity = n_segments + spare;
        let reduction =
            SegmentedReductionU32::with_workgroup_size(&DEVICE, operation, (n + spare) as u32, capacity as u32, group).unwrap();
        let (start, input, output) = (padded(&starts, capacity + 1), padded(&values, n + spare), padded(&[], capacity));
        run(|r| reduction.record(r, &count(n_segments, capacity), &start, &input, &output).unwrap());
        let expected: Vec<u32> = starts
            .windows(2)
            .map(|w| {
                let segment = values[w[0] as usize..w[1] as usize].iter();
                match operation {
                    Operation::Sum => segment.fold(0u32, |a, b| a.wrapping_add(*b)),
                    Operation::Minimum => segment.fold(u32::MAX, |a, b| a.min(*b)),
                    Operation::Maximum => segment.fold(0, |a, b| a.max(*b)),
                }
            })
            .collect();
        let found = DEVICE.download(&output, capacity).unwrap();
        prop_assert_eq!(&found[..n_segments], &expected[..]);
        prop_assert!(found[n_segments..].iter().all(|v| *v == 0xdead_beef), "nothing is written past the count");
    });
}

#[test]
fn segments_of_floats_have_the_bits_of_their_twin() {
    proptest!(config(1000), |(values in keys(), kind in 0u8..6, seed: u32, group in workgroup_size())| {
        // Both signs and many magnitudes, so that another order of additions gives other bits.
        let floats: Vec<f32> =
            values.iter().enumerate().map(|(i, v)| (*v as f32 - 2e9) * 10f32.powi(i as i32 % 7 - 3)).collect();
        let starts = starts(floats.len(), kind, seed);
        let n_segments = starts.len() - 1;
        let reduction = SegmentedReductionF32::with_workgroup_size(
            &DEVICE, Operation::Sum, floats.len() as u32, n_segments as u32, group).unwrap();
        let start = DEVICE.buffer_from("starts", &starts).unwrap();
        let input = DEVICE.buffer_from("floats", &floats).unwrap();
        let output = DEVICE.buffer::<f32>("sums", n_segments).unwrap();
        run(|r| reduction.record(r, &count(n_segments, n_segments), &start, &input, &output).unwrap());
        let shape = ReduceShape { workgroup_size: group as usize, items_per_thread: 8 };
        let expected = segmented_reduce(&floats, &starts, 0.0, shape, |a, b| a + b);
        let bits = |sums: &[f32]| sums.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&DEVICE.download(&output, n_segments).unwrap()), bits(&expected));
        // Accuracy: the sum in f64, within the rounding of at most 40 consecutive additions.
        for (s, sum) in expected.iter().enumerate() {
            let segment = &floats[starts[s] as usize..starts[s + 1] as usize];
            let (exact, magnitude) =
                segment.iter().fold((0.0, 0.0), |(e, m), x| (e + f64::from(*x), m + f64::from(x.abs())));
            prop_assert!((f64::from(*sum) - exact).abs() <= 40.0 * f64::from(f32::EPSILON) * magnitude);
        }
    });
}

#[test]
fn a_million_elements_in_one_segment_or_in_as_many() {
    let n = (1 << 20) + 7;
    let values: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let input = DEVICE.buffer_from("values", &values).unwrap();
    for starts in [vec![0, n as u32], (0..=n as u32).collect()] {
        let n_segments = starts.len() - 1;
        let reduction =
            SegmentedReductionU32::new(&DEVICE, Operation::Sum, n as u32, n_segments as u32).unwrap();
        let start = DEVICE.buffer_from("starts", &starts).unwrap();
        let output = DEVICE.buffer("sums", n_segments).unwrap();
        run(|r| reduction.record(r, &count(n_segments, n_segments), &start, &input, &output).unwrap());
        let expected = if n_segments == 1 {
            vec![values.iter().fold(0, |a: u32, b| a.wrapping_add(*b))]
        } else {
            values.clone()
        };
        assert!(DEVICE.download(&output, n_segments).unwrap() == expected, "{n_segments} segments");
    }
}

#[test]
fn misuse_is_refused_by_name() {
    let reduction = SegmentedReductionU32::new(&DEVICE, Operation::Sum, 100, 10).unwrap();
    let (start, values, reduced) = (padded(&[], 11), padded(&[], 100), padded(&[], 10));
    let mut recorder = DEVICE.recorder().unwrap();
    let mut record = |n, start, values, reduced| {
        reduction.record(&mut recorder, &count(0, n), start, values, reduced).unwrap_err()
    };
    let short = padded(&[], 10);
    assert!(matches!(record(11, &start, &values, &reduced), KernelError::Capacity { found: 11, .. }));
    assert!(matches!(
        record(10, &short, &values, &reduced),
        KernelError::TooSmall { found: 10, required: 11, .. }
    ));
    assert!(matches!(
        record(10, &start, &short, &reduced),
        KernelError::TooSmall { found: 10, required: 100, .. }
    ));
    assert!(matches!(record(10, &start, &values, &values), KernelError::Overlap { .. }));
}
