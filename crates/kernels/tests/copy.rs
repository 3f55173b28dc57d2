//! Copies of words between buffers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::CopyWords;
use frazil_reference::primitives::copy_words;
use frazil_testkit::primitives::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn copies_agree_with_their_twin_and_write_nothing_behind(
        values in keys(), beyond in 0usize..40, workgroup_size in workgroup_size(),
    ) {
        let n = values.len();
        let copy = CopyWords::new(&DEVICE, workgroup_size).unwrap();
        let from = padded(&values, n + beyond);
        let target = vec![7; n + beyond];
        let to = DEVICE.buffer_from("target", &target).unwrap();
        run(|recorder| copy.record(recorder, &from, &to, n).unwrap());
        prop_assert_eq!(DEVICE.download(&to, n + beyond).unwrap(), copy_words(&values, &target, n));
    }
}

#[test]
fn a_copy_beyond_a_buffer_is_refused_by_its_name() {
    let copy = CopyWords::new(&DEVICE, 64).unwrap();
    let (from, to) = (padded(&[1, 2], 2), padded(&[], 1));
    let mut recorder = DEVICE.recorder().unwrap();
    let error = copy.record(&mut recorder, &from, &to, 2).unwrap_err();
    assert!(error.to_string().contains("holds 1 elements, 2 are required"), "{error}");
}

#[test]
fn the_bandwidth_is_that_of_a_device() {
    let rates = CopyWords::rates(&DEVICE).unwrap().unwrap();
    let rate = rates.large_gb_per_s;
    assert!((0.1..1e5).contains(&rate), "{rate} GB/s");
    assert!(rates.launch_ns.unwrap() > 0.0 && rates.sized.is_sorted_by_key(|(bytes, _)| *bytes), "{rates:?}");
    assert_eq!((rates.sized[0].0, rates.sized.last().unwrap().1), (8, rate));
}
