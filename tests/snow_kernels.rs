//! Kernels of the two-phase step that move words or count, each tested alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::snow::{LinkLimit, LinkRule, fixed_point_temperature};
use frazil_shaders::snow::{accumulate_heat, compute_link_limits, gather_phases, list_particles};
use frazil_testkit::primitives::{DEVICE, config, count, run, workgroup_size};
use frazil_vk::Kernel;
use proptest::prelude::*;

/// Content of buffers before they are written.
const SENTINEL: u32 = 0xdead_beef;

/// Sizes that test tails: zero, one, and both sides of powers of two and workgroups.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        Just(0usize),
        Just(1),
        Just(2),
        (prop::sample::select(vec![64usize, 128, 256, 512, 1024, 4096]), 0usize..3)
            .prop_map(|(n, d)| n + d - 1),
        3usize..3000,
    ]
}

#[test]
fn a_column_is_gathered_from_both_phases() {
    // Each element comes from anywhere in one of the two sources.
    let sources =
        size().prop_flat_map(|n| prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), n));
    proptest!(config(100), |(
        sources in sources,
        spare in 0usize..300,
        workgroup_size in workgroup_size(),
        wide in any::<bool>(),
    )| {
        let (n, words) = (sources.len(), if wide { 3 } else { 1 });
        let capacity = n + spare;
        let source: Vec<u32> = sources.iter().map(|(is_own, at)| {
            at.index(n) as u32 + if *is_own { 0 } else { capacity as u32 }
        }).collect();
        let column = |tag: u32| (0..(capacity * words) as u32).map(|word| tag | word).collect::<Vec<_>>();
        let (own, other) = (column(1 << 30), column(1 << 31));
        let kernel = Kernel::<gather_phases::Interface>::specialized(
            &DEVICE,
            &gather_phases::Specialization { workgroup_size, words: words as u32 },
        ).unwrap();
        let moved = DEVICE.buffer_from("moved", &vec![SENTINEL; capacity * words]).unwrap();
        let count = count(n, capacity);
        run(|r| {
            let bindings = gather_phases::Bindings {
                count: &count,
                source: &DEVICE.buffer_from("source", &source).unwrap(),
                own: &DEVICE.buffer_from("own", &own).unwrap(),
                other: &DEVICE.buffer_from("other", &other).unwrap(),
                moved: &moved,
            };
            let params = gather_phases::Params { capacity: capacity as u32 };
            r.dispatch_counted(&kernel, bindings, params);
        });
        let element = |from: &u32| {
            let (column, at) = match from.checked_sub(capacity as u32) {
                None => (&own, *from as usize),
                Some(at) => (&other, at as usize),
            };
            column[at * words..(at + 1) * words].to_vec()
        };
        let mut expected: Vec<u32> = source.iter().flat_map(element).collect();
        expected.resize(capacity * words, SENTINEL);
        prop_assert_eq!(DEVICE.download(&moved, capacity * words).unwrap(), expected);
    });
}

#[test]
fn all_particles_are_listed_solids_first() {
    proptest!(config(100), |(
        n in size(),
        share in any::<prop::sample::Index>(),
        workgroup_size in workgroup_size(),
    )| {
        // All may be solid, or none.
        let n_solid = share.index(n + 1);
        let kernel = Kernel::<list_particles::Interface>::specialized(
            &DEVICE,
            &list_particles::Specialization { workgroup_size },
        ).unwrap();
        let sentinel = vec![SENTINEL; n + 10];
        let (source, phase) = (
            DEVICE.buffer_from("source", &sentinel).unwrap(),
            DEVICE.buffer_from("phase", &sentinel).unwrap(),
        );
        let count = count(n, n + 10);
        run(|r| {
            let bindings = list_particles::Bindings {
                count: &count,
                solids: &DEVICE.buffer_from("solids", &[n_solid as u32]).unwrap(),
                source: &source,
                phase: &phase,
            };
            let params = list_particles::Params { capacity: n as u32 };
            r.dispatch_counted(&kernel, bindings, params);
        });
        let solids = (0..n_solid as u32).map(|i| (i, 1));
        let fluids = (0..(n - n_solid) as u32).map(|i| (n as u32 + i, 0));
        let rest = std::iter::repeat_n((SENTINEL, SENTINEL), 10);
        let expected: (Vec<u32>, Vec<u32>) = solids.chain(fluids).chain(rest).unzip();
        let found = (DEVICE.download(&source, n + 10).unwrap(), DEVICE.download(&phase, n + 10).unwrap());
        prop_assert_eq!(found, expected);
    });
}

/// Returns the device's `transition_counts`, starting from `before`, after the particles of `temperatures`
/// with a flag have left.
fn transition_counts(
    before: (u32, i64),
    temperatures: &[f32],
    leaves: &[u32],
    workgroup_size: u32,
) -> (u32, i64) {
    let kernel = Kernel::<accumulate_heat::Interface>::specialized(
        &DEVICE,
        &accumulate_heat::Specialization { workgroup_size },
    )
    .unwrap();
    let (n, sum) = (temperatures.len(), before.1.cast_unsigned());
    let transition_counts =
        DEVICE.buffer_from("transition_counts", &[before.0, sum as u32, (sum >> 32) as u32]).unwrap();
    // Particles beyond the count have flags set, which must be ignored.
    let (mut all, mut flags) = (temperatures.to_vec(), leaves.to_vec());
    all.resize(n + 70, 5.0);
    flags.resize(n + 70, 1);
    let count = count(n, n + 70);
    run(|r| {
        let bindings = accumulate_heat::Bindings {
            count: &count,
            leaves: &DEVICE.buffer_from("leaves", &flags).unwrap(),
            temperature: &DEVICE.buffer_from("temperature", &all).unwrap(),
            transition_counts: &transition_counts,
        };
        r.dispatch_counted(&kernel, bindings, ());
    });
    let transition_counts = DEVICE.download(&transition_counts, 3).unwrap();
    (
        transition_counts[0],
        (u64::from(transition_counts[2]) << 32 | u64::from(transition_counts[1])).cast_signed(),
    )
}

#[test]
fn heat_that_leaves_is_summed_exactly() {
    let temperature = prop_oneof![
        4 => -300.0f32..10_000.0,
        // Units of the sum, halves of them, and values between.
        2 => (-9i32..9, 1i32..3).prop_map(|(n, halves)| n as f32 / (65536.0 * halves as f32)),
        1 => prop::sample::select(vec![
            0.0f32, -0.0, 1e-30, 32767.0, -32767.0, 1e9, -1e9, f32::INFINITY, f32::NEG_INFINITY,
        ]),
    ];
    let particles = size().prop_flat_map(move |n| prop::collection::vec((temperature.clone(), 0u32..2), n));
    // Sums that are about to carry into the high word, in either direction, or to change sign.
    let low = prop::sample::select(vec![
        0i64,
        -1,
        1,
        (1 << 32) - 1,
        1 << 32,
        -(1 << 32),
        (1 << 40) + 7,
        -(1 << 50) - 3,
    ]);
    proptest!(config(100), |(
        particles in particles,
        n_before in 0u32..9,
        low in low,
        workgroup_size in workgroup_size(),
    )| {
        let (temperatures, leaves): (Vec<f32>, Vec<u32>) = particles.iter().copied().unzip();
        let leavers = particles.iter().filter(|(_, leaves)| *leaves != 0);
        let sum: i64 = leavers.clone().map(|(t, _)| fixed_point_temperature(*t)).sum();
        let expected = (n_before + leavers.count() as u32, low + sum);
        prop_assert_eq!(transition_counts((n_before, low), &temperatures, &leaves, workgroup_size), expected);
    });
}

#[test]
fn thousands_of_carries_are_all_counted() {
    // Each of 2¹² particles adds nearly half the range of the low word, so that every second one carries;
    // then they are subtracted.
    let n = 1 << 12;
    let (hot, cold) = (vec![32_000.0f32; n], vec![-32_000.0f32; n]);
    let each = 32_000 * 65_536;
    let warmed = transition_counts((0, -5), &hot, &vec![1; n], 256);
    assert_eq!(warmed, (n as u32, n as i64 * each - 5));
    assert_eq!(transition_counts(warmed, &cold, &vec![1; n], 64), (2 * n as u32, -5));
    assert_eq!(transition_counts((0, 3), &cold, &vec![1; n], 256), (n as u32, 3 - n as i64 * each));
}

#[test]
fn limits_of_links_follow_from_temperature() {
    // All threshold temperatures, the floats next to them, and values that are not temperatures.
    let edges = [-30.0f32, -2.0, 0.0, -15.0, -1.875, -5.625];
    let absurd = [f32::MIN, f32::MAX, f32::NEG_INFINITY, f32::INFINITY, f32::NAN, -0.0, f32::MIN_POSITIVE];
    let near = edges.into_iter().flat_map(|t| [t, t.next_up(), t.next_down()]).chain(absurd);
    let temperature = prop_oneof![prop::sample::select(near.collect::<Vec<_>>()), -40.0f32..5.0];
    let temperatures = size().prop_flat_map(move |n| prop::collection::vec(temperature.clone(), n));
    let limit = |n_max: u32| {
        prop_oneof![
            Just(LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 }),
            (0..=n_max).prop_map(LinkLimit::Constant)
        ]
    };
    let law = (1u32..33).prop_flat_map(move |n_max| (Just(n_max), limit(n_max)));
    proptest!(config(100), |(
        temperatures in temperatures,
        (n_max, limit) in law,
        spare in 0usize..300,
        workgroup_size in workgroup_size(),
    )| {
        let n = temperatures.len();
        let rule = LinkRule { radius_m: 1.0, link_temperature_c: -2.0, limit, break_ratio: 1.1 };
        let (freeze_temperature_c, freeze_span_c, links_per_c, n_constant) = match limit {
            LinkLimit::Constant(links) => (0.0, 0.0, 0.0, links),
            LinkLimit::Dynamic { .. } => (0.0, 30.0, n_max as f32 / 30.0, 0),
        };
        let kernel = Kernel::<compute_link_limits::Interface>::specialized(
            &DEVICE,
            &compute_link_limits::Specialization { workgroup_size },
        ).unwrap();
        let found = DEVICE.buffer_from("limit", &vec![SENTINEL; n + spare]).unwrap();
        let mut all = temperatures.clone();
        all.resize(n + spare, -99.0);
        let count = count(n, n + spare);
        run(|r| {
            let bindings = compute_link_limits::Bindings {
                count: &count,
                temperature: &DEVICE.buffer_from("temperature", &all).unwrap(),
                limit: &found,
            };
            let link_temperature_c = rule.link_temperature_c;
            let params = compute_link_limits::Params {
                link_temperature_c, freeze_temperature_c, freeze_span_c, links_per_c, n_constant, n_max,
            };
            r.dispatch_counted(&kernel, bindings, params);
        });
        let mut expected: Vec<u32> = temperatures.iter().map(|t| rule.link_limit(n_max, *t)).collect();
        expected.resize(n + spare, SENTINEL);
        prop_assert_eq!(DEVICE.download(&found, n + spare).unwrap(), expected);
    });
}
