//! Fixtures of the tests of kernels: one device per process, buffers with garbage past their count, checked
//! submissions, and strategies for sizes and keys.
//!
//! Errors of the device panic: tests that cannot go on fail.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test that cannot go on fails")]

use crate::cases::config_up_to;
use crate::device::own_device;
use frazil_kernels::{Counts, Litmus};
use frazil_vk::{Buffer, Device, DeviceCount, Recorder, RecorderOptions, find_hazards};
use proptest::prelude::*;
use std::sync::LazyLock;

/// One device for all tests of a process, with validation on.
///
/// Look-back is tested whether or not this device passes the litmus test: its results do not depend on it.
pub static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    let device = own_device();
    Litmus::default().assume(&device);
    device
});

/// Counts on [`DEVICE`].
pub static COUNTS: LazyLock<Counts> = LazyLock::new(|| Counts::new(&DEVICE).unwrap());

/// Maximum number of property-test cases in a default run. Every run draws new ones, and two in five have a
/// size next to a boundary (`size`).
const DEFAULT_CASES: u32 = 200;

/// Returns the configuration for `cases`, of which a default run takes at most `DEFAULT_CASES`;
/// `FRAZIL_CASES` sets another number, and `FRAZIL_FULL=1` gives a hundred times `cases`.
pub fn config(cases: u32) -> ProptestConfig {
    config_up_to(DEFAULT_CASES, cases)
}

/// Makes a count of `n` for arrays of `capacity` elements.
pub fn count(n: usize, capacity: usize) -> DeviceCount {
    COUNTS.upload(&DEVICE, "count", n as u32, capacity as u32).unwrap()
}

/// Uploads `values` to a buffer of `capacity` elements, with garbage after them that nothing may read.
pub fn padded(values: &[u32], capacity: usize) -> Buffer<u32> {
    let mut all = values.to_vec();
    all.resize(capacity, 0xdead_beef);
    DEVICE.buffer_from("values", &all).unwrap()
}

/// Records, checks that no barrier is missing, runs, and checks that the validation layers reported nothing.
pub fn run(record: impl FnOnce(&mut Recorder)) {
    let mut recorder = DEVICE.recorder_with(RecorderOptions { trace: true, ..Default::default() }).unwrap();
    record(&mut recorder);
    assert_eq!(find_hazards(recorder.events()), vec![]);
    DEVICE.submit(recorder).unwrap().wait().unwrap();
    DEVICE.check_validation().unwrap();
}

/// Generates boundary sizes: none, one, and both neighbours of powers of two, workgroup sizes and tiles.
/// There are few small sizes; most cases are for the combinations of a boundary with a workgroup size and a
/// method.
pub fn size() -> impl Strategy<Value = usize> {
    let around = [64usize, 128, 256, 512, 1024, 2048, 4096, 3 * 2048];
    prop_oneof![
        1 => Just(0usize),
        1 => Just(1),
        1 => Just(2),
        5 => (prop::sample::select(around.to_vec()), 0usize..3).prop_map(|(n, d)| n + d - 1),
        4 => 3usize..9000,
    ]
}

/// Threads per workgroup: 64 to 512.
pub fn workgroup_size() -> impl Strategy<Value = u32> {
    (6u32..10).prop_map(|log| 1 << log)
}

/// Keys of several distributions.
pub fn keys() -> impl Strategy<Value = Vec<u32>> {
    (size(), 0u8..8, any::<u32>()).prop_map(|(n, kind, seed)| {
        let mix = |i: usize| {
            let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(seed);
            x = (x ^ (x >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (x >> 32) as u32
        };
        (0..n)
            .map(|i| match kind {
                0 => mix(i),
                1 => i as u32,
                2 => (n - i) as u32,
                3 => seed,
                4 => mix(i) % 3,
                5 => mix(i) | 1 << 31,
                // Every digit of a key equal, one digit after another: the worst for a pass's counters.
                6 => 0x1111_1111 * (i as u32 % 16),
                _ => u32::from(mix(i) % 16 == 0) << (seed % 32),
            })
            .collect()
    })
}
