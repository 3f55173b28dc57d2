//! Permutations of columns on the device.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::Counts;
use frazil_particles::{Permutation, PhaseArray};
use frazil_vk::{Device, DeviceOptions, RecorderOptions, find_hazards};
use proptest::prelude::*;

/// A permutation of 0 … n − 1 with n drawn from the sizes that break tails.
fn order() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![Just(0usize), Just(1), Just(2), Just(255), Just(256), Just(257), Just(1000), 3usize..600]
        .prop_flat_map(|n| Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle())
}

#[test]
fn every_column_moves_alike_and_nothing_is_lost() {
    let device = Device::open(&DeviceOptions { validation: true, ..Default::default() }).unwrap();
    let (counts, permutation) = (Counts::new(&device).unwrap(), Permutation::new(&device).unwrap());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) };
    proptest!(config, |(order in order(), spare in 0u32..300)| {
        let n = order.len();
        let positions: Vec<[f32; 3]> = (0..n).map(|i| [i as f32, 0.5 + i as f32, -(i as f32)]).collect();
        let velocities: Vec<[f32; 3]> = positions.iter().map(|p| p.map(|x| 7.0 * x)).collect();
        let mut phase = PhaseArray::upload(&device, &counts, &positions, &velocities, n as u32 + spare).unwrap();
        let order_buffer = device.buffer_from("order", &order).unwrap();
        let mut recorder = device.recorder_with(RecorderOptions { trace: true, ..Default::default() }).unwrap();
        phase.permute(&mut recorder, &permutation, &order_buffer);
        phase.permute(&mut recorder, &permutation, &order_buffer);
        prop_assert_eq!(find_hazards(recorder.events()), vec![]);
        device.submit(recorder).unwrap().wait().unwrap();
        // Twice the same order is the order applied to itself.
        let twice: Vec<u32> = order.iter().map(|i| order[*i as usize]).collect();
        let ids = device.download(phase.id.front(), n).unwrap();
        prop_assert_eq!(&ids, &twice);
        let moved = device.download(phase.position.front(), n).unwrap();
        let fast = device.download(phase.velocity.front(), n).unwrap();
        for i in 0..n {
            prop_assert_eq!(moved[i], positions[ids[i] as usize]);
            prop_assert_eq!(fast[i], velocities[ids[i] as usize]);
        }
    });
    device.check_validation().unwrap();
}
