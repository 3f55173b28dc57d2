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
        run(|recorder| copy.record(recorder, &from, &to, n));
        prop_assert_eq!(DEVICE.download(&to, n + beyond).unwrap(), copy_words(&values, &target, n));
    }
}

#[test]
fn the_bandwidth_is_that_of_a_device() {
    let rate = CopyWords::gb_per_s(&DEVICE).unwrap().unwrap();
    assert!((0.1..1e5).contains(&rate), "{rate} GB/s");
}
