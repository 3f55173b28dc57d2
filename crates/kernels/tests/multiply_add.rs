//! Chains of multiply-adds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::MultiplyAdd;
use frazil_reference::primitives::multiply_add;
use frazil_shaders::primitives::multiply_add::{CHAINS, Specialization};
use frazil_testkit::primitives::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn chains_agree_with_their_twin(
        n in size(), rounds in 1u32..8, addend in -9i8..9,
        factor in prop_oneof![Just(1.0f32), Just(-1.0), Just(0.0)],
        workgroup_size in workgroup_size(),
    ) {
        let start: Vec<f32> = (0..n).map(|i| (i % 97) as f32 - 40.0).collect();
        let chains = MultiplyAdd::new(&DEVICE, workgroup_size, rounds).unwrap();
        let terms = [factor, f32::from(addend)];
        let count = count(n, n + 3);
        let mut padded = start.clone();
        padded.resize(n + 3, 0.5);
        let from = DEVICE.buffer_from("start", &padded).unwrap();
        let total = DEVICE.buffer_from("total", &vec![0.25f32; n + 3]).unwrap();
        run(|recorder| chains.record(recorder, &count, &from, &total, terms).unwrap());
        let mut expected = multiply_add(&start, CHAINS, chains.operations(), terms);
        expected.resize(n + 3, 0.25);
        prop_assert_eq!(DEVICE.download(&total, n + 3).unwrap(), expected);
    }
}

#[test]
fn the_bench_says_what_an_element_is() {
    let rounds = Specialization::default().rounds;
    assert_eq!(MultiplyAdd::new(&DEVICE, 256, rounds).unwrap().flop_per_element(), 98_304);
}

#[test]
fn the_peak_is_that_of_a_device() {
    let peak = MultiplyAdd::peak_gflop_per_s(&DEVICE).unwrap().unwrap();
    assert!((0.01..1e6).contains(&peak), "{peak} GFLOP/s");
}
