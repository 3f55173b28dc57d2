//! Frames for tests: arbitrary ones, and a small fixed one.

use frazil_io::{Column, ColumnData, Frame};
use proptest::collection::vec;
use proptest::prelude::*;

/// Generates any bit pattern, including NaN payloads and negative zeros.
fn any_f32() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits)
}

fn column_data(n: usize) -> impl Strategy<Value = ColumnData> {
    prop_oneof![
        vec(any::<u32>(), n).prop_map(ColumnData::U32),
        vec(any_f32(), n).prop_map(ColumnData::F32),
        vec([any_f32(), any_f32(), any_f32()], n).prop_map(ColumnData::Vec3),
    ]
}

prop_compose! {
    /// Generates a frame with up to 40 particles, perhaps none, and up to four columns besides the two
    /// required ones.
    pub fn frame()(n in prop_oneof![Just(0_usize), 1..40_usize])(
        step in any::<u64>(),
        time_bits in any::<u64>(),
        positions in vec([any_f32(), any_f32(), any_f32()], n),
        ids in vec(any::<u32>(), n),
        others in vec(("[a-z_][a-z0-9_]{0,8}", "(|m/s|kg/m\\^3|°C)", column_data(n)), 0..4),
        bodies in (0..5_usize).prop_flat_map(|n| vec(column_data(n), 0..3)),
    ) -> Frame {
        let mut columns = vec![Column::vec3("position", "m", positions), Column::u32("id", "", ids)];
        for (i, (name, unit, data)) in others.into_iter().enumerate() {
            columns.push(Column::new(format!("{name}_{i}"), unit, data));
        }
        // Their names may equal those of particles' columns.
        let body = |(i, data)| Column::new(["position", "turn", "id"][i], "m", data);
        let bodies = bodies.into_iter().enumerate().map(body).collect();
        Frame::new(step, f64::from_bits(time_bits), columns).unwrap().with_bodies(bodies).unwrap()
    }
}

/// Makes three particles with one column of each type.
pub fn small_frame(step: u64) -> Frame {
    let s = step as f32;
    let columns = vec![
        Column::vec3("position", "m", vec![[s, 0.0, 0.5], [1.0, -1.5, 2.0], [0.1, 0.2, 0.3]]),
        Column::u32("id", "", vec![7, 0, u32::MAX >> 1]),
        Column::f32("density", "kg/m^3", vec![1000.0, 999.5, 1e-30]),
        Column::vec3("velocity", "m/s", vec![[0.0, -9.81, 0.0], [1.0, 2.0, 3.0], [-0.0, 1e9, 5e-8]]),
    ];
    Frame::new(step, step as f64 * 0.01, columns).unwrap()
}

/// Returns true if two frames are bit-identical, which `==` cannot test for NaN.
pub fn same_bits(a: &Frame, b: &Frame) -> bool {
    let same = |a: &[Column], b: &[Column]| {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                (&a.name, &a.unit, a.data.kind(), a.data.bytes())
                    == (&b.name, &b.unit, b.data.kind(), b.data.bytes())
            })
    };
    (a.step(), a.time_s().to_bits()) == (b.step(), b.time_s().to_bits())
        && same(a.columns(), b.columns())
        && same(a.bodies(), b.bodies())
}
