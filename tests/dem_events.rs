//! Grains on mountain sides compared with depth-averaged flows: two events, one set of parameters.
//!
//! - avaKot: a real mountain side, compared with com1DFA (Tonnel2023), by samosAT's friction.
//! - A generated track, compared with the depth-averaged model of `frazil_reference`, by the same friction.
//!   That model is tested against closed forms in its own file, and here against com1DFA.
//!
//! Grains have the Voellmy friction that com1DFA offers by default, μ = 0.155 on the ground and ξ = 4000
//! m/s², in a layer of 1 m: k = g/(ξ h) = 0.00245 1/m (`tests/scenes`), the same for both events. They resist
//! rolling more than sliding: otherwise a layer of single grains rolls, and is slowed down less than one of
//! several grains, so that friction depends on their size.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::depth_averaged::Friction;
use frazil_testkit::{assert_no_validation_messages, device, is_full_run};
use frazil_tests::events::{Agreement, Event, avakot_data, com1dfa, compare};
use frazil_vk::Device;
use std::path::PathBuf;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Friction of com1DFA's standard calibration.
const SAMOS_AT: Friction = Friction::SamosAt { mu: 0.155 };

/// Edge of the blocks in which areas are compared, in cells of 5 m: grains of 2 m are scattered over cells.
const BLOCK: usize = 4;

fn track() -> Event {
    Event::track(&PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("track"))
}

/// Runs grains of a radius, with some parameters of the scene changed, and compares them with the event's
/// depth-averaged flow, in blocks of `side`² cells.
fn run(event: &Event, radius_m: f64, changes: &[String], side: usize) -> Agreement {
    // Stiffness in proportion to the radius: impacts at the same speed press grains in by the same share.
    let mut overrides =
        vec![format!("dem.radius_m={radius_m}"), format!("dem.normal_stiffness_n_m={}", 1e7 * radius_m)];
    overrides.extend_from_slice(changes);
    let (terrain, flow) = event.grains(&DEVICE, &overrides);
    let reference = match avakot_data().filter(|_| event.name == "avaKot") {
        Some(data) => com1dfa(&data, &terrain),
        None => event.depth_averaged(SAMOS_AT),
    };
    let agreement = compare(&terrain, &flow, &reference, side);
    assert_no_validation_messages(&DEVICE);
    let Agreement { overlap, within, flow, reference } = agreement;
    eprintln!(
        "{}, grains of {radius_m} m {changes:?}, blocks of {} m: overlap {overlap:.2}, within {within:.2}\n  \
         grains:         {flow:.1?}\n  depth-averaged: {reference:.1?}",
        event.name,
        5 * side,
    );
    agreement
}

/// The model of the reference crate reproduces com1DFA's flow with com1DFA's parameters.
#[test]
fn the_depth_averaged_reference_agrees_with_com1dfa() {
    let (Some(data), Some(event)) = (avakot_data(), Event::avakot()) else { return };
    let scene = event.load(&[]);
    let terrain = scene.ground().unwrap();
    let agreement = compare(terrain, &event.depth_averaged(SAMOS_AT), &com1dfa(&data, terrain), 1);
    eprintln!("{agreement:.2?}");
    let Agreement { overlap, flow, reference, .. } = agreement;
    assert!(overlap > 0.75, "{agreement:?}");
    assert!((flow.low_m - reference.low_m).abs() < 10.0, "{agreement:?}");
    assert!((flow.run_out_m / reference.run_out_m - 1.0).abs() < 0.05, "{agreement:?}");
    assert!((flow.speed_m_s / reference.speed_m_s - 1.0).abs() < 0.1, "{agreement:?}");
}

/// Asserts the target of an event: the overlap, and the height of the lowest place.
fn assert_reached(event: &Event, agreement: &Agreement, overlap: f64, speed: f64) {
    let Agreement { flow, reference, .. } = agreement;
    let name = event.name;
    assert!(agreement.overlap >= overlap, "{name}: {agreement:?}");
    assert!((flow.low_m - reference.low_m).abs() < 50.0, "{name}: {agreement:?}");
    assert!((flow.speed_m_s / reference.speed_m_s - 1.0).abs() < speed, "{name}: {agreement:?}");
}

/// The generated track with few grains, of 3 m.
#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn large_grains_run_out_like_the_depth_averaged_flow() {
    let event = track();
    let agreement = run(&event, 3.0, &[], BLOCK);
    // So few grains leave blocks of the flow untouched.
    assert_reached(&event, &agreement, 0.65, 0.15);
    assert!((agreement.flow.angle_deg - agreement.reference.angle_deg).abs() < 2.0, "{agreement:?}");
}

/// Friction without drag that was fitted to avaKot: grains of 2 m end where com1DFA's flow does.
const FITTED: [&str; 4] =
    ["turbulent_drag_1_m=0", "friction=0.4", "rolling_friction=0.2", "wall_friction=0.36"];

/// Both events with one set of parameters, and grains of 2 m and of 1 m. Without drag, friction that was
/// fitted to one event is far too low for the other.
#[test]
fn two_events_agree_with_depth_averaged_flows_by_one_set_of_parameters() {
    if !is_full_run() {
        return;
    }
    let fitted = FITTED.map(|set| format!("dem.{set}"));
    for event in [Event::avakot(), Some(track())].into_iter().flatten() {
        let coarse = run(&event, 2.0, &[], BLOCK);
        assert_reached(&event, &coarse, 0.7, 0.2);
        let fine = run(&event, 1.0, &[], BLOCK);
        assert_reached(&event, &fine, 0.7, 0.2);
        assert!((fine.overlap - coarse.overlap).abs() < 0.1, "{}: {coarse:?} {fine:?}", event.name);
        let free = run(&event, 2.0, &fitted, BLOCK);
        if event.name == "track" {
            assert!(free.flow.speed_m_s > 1.2 * free.reference.speed_m_s, "{free:?}");
        }
    }
}
