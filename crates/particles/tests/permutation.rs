//! Permutations of columns on the device.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_particles::{Column, Permutation, PhaseArray};
use frazil_testkit::config;
use frazil_testkit::primitives::{DEVICE, count, run};
use proptest::prelude::*;

/// A permutation of 0 … n − 1 with n drawn from sizes that exercise partial workgroups.
fn order() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![Just(0usize), Just(1), Just(2), Just(255), Just(256), Just(257), Just(1000), 3usize..600]
        .prop_flat_map(|n| Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle())
}

#[test]
fn every_column_is_permuted_alike_and_no_particle_is_lost() {
    proptest!(config(40), |(order in order(), spare in 0u32..300)| {
        let n = order.len();
        let positions: Vec<[f32; 3]> = (0..n).map(|i| [i as f32, 0.5 + i as f32, -(i as f32)]).collect();
        let velocities: Vec<[f32; 3]> = positions.iter().map(|p| p.map(|x| 7.0 * x)).collect();
        let capacity = n as u32 + spare;
        let (table, phase) =
            PhaseArray::with_table(&DEVICE, &positions, &velocities, capacity, 256).unwrap();
        let order_buffer = DEVICE.buffer_from("order", &order).unwrap();
        run(|recorder| {
            table.permute(recorder, &order_buffer);
            table.permute(recorder, &order_buffer);
        });
        // Permuting twice with the same order equals permuting once with the order composed with itself.
        let twice: Vec<u32> = order.iter().map(|i| order[*i as usize]).collect();
        let ids = DEVICE.download(phase.id.front(), n).unwrap();
        prop_assert_eq!(&ids, &twice);
        let moved = DEVICE.download(phase.position.front(), n).unwrap();
        let fast = DEVICE.download(phase.velocity.front(), n).unwrap();
        for i in 0..n {
            prop_assert_eq!(moved[i], positions[ids[i] as usize]);
            prop_assert_eq!(fast[i], velocities[ids[i] as usize]);
        }
    });
}

#[test]
fn more_columns_than_one_pass_moves_all_move() {
    let permutation = Permutation::new(&DEVICE).unwrap();
    let order: Vec<u32> = (0..600).map(|i| (i * 7 + 3) % 600).collect();
    let n = order.len();
    let count = count(n, n);
    let order_buffer = DEVICE.buffer_from("order", &order).unwrap();
    // Nine columns, with one to nine words in an element.
    let value = |words: usize, i: usize, word: usize| (1000 * words + 10 * i + word) as f32;
    let columns: Vec<Column<f32>> = (1..=9)
        .map(|words| {
            let column = Column::of_matrices(&DEVICE, "column", "1", words as u32, n).unwrap();
            let numbers: Vec<f32> =
                (0..n * words).map(|place| value(words, place / words, place % words)).collect();
            DEVICE.upload(column.front(), &numbers).unwrap();
            column
        })
        .collect();
    let moved: Vec<Column<u32>> = columns.iter().map(Column::words).collect();
    run(|recorder| permutation.record(recorder, &count, &order_buffer, &moved));
    for (words, column) in (1..=9).zip(&columns) {
        let found = DEVICE.download(column.front(), n * words).unwrap();
        for (place, found) in found.iter().enumerate() {
            assert_eq!(*found, value(words, order[place / words] as usize, place % words), "{words} words");
        }
    }
}
