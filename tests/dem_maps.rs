//! Maps of flows: peaks of every step over the cells of a terrain, compared with the twin.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::FlowMap;
use frazil_scene::Dem as Section;
use frazil_solvers::dem::{Dem, DemFault, DemParameters, Grains, LIST_SKIN, MapGrid};
use frazil_solvers::{FlowCells, Solver as _, StateColumn, Tuning};
use frazil_testkit::twins::dem::{grains_of, section};
use frazil_testkit::{assert_no_validation_messages, config, device, saved_state};
use frazil_tests::clouds::{RADIUS_M, cloud};
use frazil_tests::grains::{dt_s, parameters};
use frazil_vk::Device;
use glam::DVec3;
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Cells as wide as a radius, which leave out a part of the unit cube along both axes.
const N_CELLS: [u32; 2] = [20, 18];
const CELL_M: f64 = 0.04;
/// Steps in which some grains of a cloud at up to 1 m/s enter another cell.
const STEPS: u64 = 40;
/// Maximum relative error: some ten roundings to single precision, of the square root and the division too.
const TOLERANCE: f64 = 2e-6;

/// Creates overlapping grains with a map.
fn start(n: u32, seed: u64, tuning: Tuning) -> (Dem, DemParameters) {
    let section = Section { radius_spread: 0.3, ..section(RADIUS_M, 1e5) };
    let grains = cloud(n, seed, section.radius_spread);
    let unit = [DVec3::ZERO, DVec3::ONE];
    let gravity = DVec3::new(3.0, -9.81, 0.0);
    let (mut parameters, _) = parameters(&section, dt_s(&section), gravity, unit, &[], n);
    parameters.map = Some(MapGrid::new(N_CELLS, CELL_M, RADIUS_M));
    let narrow = |v: DVec3| v.as_vec3().to_array();
    let beginning = Grains {
        positions_m: grains.iter().map(|g| narrow(g.position)).collect(),
        velocities_m_s: grains.iter().map(|g| narrow(g.velocity)).collect(),
        spins_1_s: grains.iter().map(|g| narrow(g.spin)).collect(),
        radii_m: grains.iter().map(|g| g.radius as f32).collect(),
        residuals_m: Vec::new(),
    };
    (Dem::new(&DEVICE, parameters.clone(), &beginning, tuning).unwrap(), parameters)
}

fn advance(dem: &mut Dem, steps: u64) {
    let mut recorder = DEVICE.recorder().unwrap();
    (0..steps).for_each(|_| dem.record_step(&mut recorder));
    let check = dem.record_fault_check(&mut recorder).unwrap();
    DEVICE.submit(recorder).unwrap();
    assert_eq!(check.wait().unwrap(), None);
}

fn read(dem: &Dem) -> FlowCells {
    let mut recorder = DEVICE.recorder().unwrap();
    let pending = dem.record_flow_cells(&mut recorder).unwrap().unwrap();
    DEVICE.submit(recorder).unwrap();
    pending.wait().unwrap()
}

/// Returns the twin of an empty map.
fn empty_twin() -> FlowMap {
    FlowMap::new(N_CELLS.map(|n| n as usize), (1.0 / CELL_M) as f32)
}

/// Compares the device's map with the twin's, and the current volumes with those of the last step.
fn assert_equal(found: &FlowCells, twin: &FlowMap, volumes_m3: &[f64]) {
    let near = |found: &[f32], expected: &[f64], what: &str| {
        assert_eq!(found.len(), expected.len());
        for (cell, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (f64::from(*found) - expected).abs();
            assert!(error <= TOLERANCE * expected, "{what} of cell {cell}: {found}, twin {expected}");
        }
    };
    near(&found.volume_m3, volumes_m3, "volume");
    near(&found.peak_volume_m3, &twin.peak_volume, "peak volume");
    near(&found.peak_speed_m_s, &twin.peak_speed, "peak speed");
    let first = twin.first_step.iter().map(|step| step.map_or(FlowCells::NEVER, |step| step as u32));
    assert_eq!(found.first_step, first.collect::<Vec<_>>());
}

/// Runs steps on the device, and maps the state after each with the twin; returns both.
fn assert_agrees_with_the_twin(n: u32, seed: u64, steps: u64) -> FlowMap {
    let (mut dem, _) = start(n, seed, Tuning::default());
    let mut twin = empty_twin();
    let mut grains = grains_of(&saved_state(&DEVICE, &dem).unwrap());
    twin.map(&grains, 0);
    for step in 1..=steps {
        advance(&mut dem, 1);
        grains = grains_of(&saved_state(&DEVICE, &dem).unwrap());
        twin.map(&grains, step);
    }
    let mut now = empty_twin();
    now.add_to_map(&grains);
    let volumes: Vec<f64> = now.sums.iter().map(|[volume, _]| *volume).collect();
    let found = read(&dem);
    assert_equal(&found, &twin, &volumes);
    assert_eq!(found, read(&dem), "reading a map changes it");
    twin
}

#[test]
fn maps_agree_with_the_twin_for_sizes_about_those_of_workgroups() {
    for n in [0, 1, 2, 31, 32, 33, 255, 256, 257] {
        assert_agrees_with_the_twin(n, u64::from(n), 3);
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn cells_that_grains_reach_have_the_step_of_their_arrival() {
    let twin = assert_agrees_with_the_twin(60, 7, STEPS);
    let n_later = twin.first_step.iter().flatten().filter(|step| **step > 0).count();
    assert!(n_later > 0, "no grain enters another cell");
    assert_no_validation_messages(&DEVICE);
}

proptest! {
    #![proptest_config(config(6))]
    #[test]
    fn maps_agree_with_the_twin(n in 0..600_u32, seed: u64) {
        assert_agrees_with_the_twin(n, seed, 6);
    }
}

/// Neither the order of the grains, nor how steps are submitted, nor a checkpoint changes a bit of a map.
#[test]
fn a_map_does_not_depend_on_order_submissions_or_checkpoints() {
    let (mut whole, parameters) = start(300, 3, Tuning::default());
    advance(&mut whole, STEPS);
    let expected = read(&whole);
    assert!(expected.peak_volume_m3.iter().zip(&expected.volume_m3).any(|(peak, now)| peak > now));
    assert!(expected.peak_volume_m3.iter().zip(&expected.volume_m3).all(|(peak, now)| peak >= now));

    let every_step = Tuning::default().with(&LIST_SKIN, 1).unwrap();
    let (mut single, _) = start(300, 3, every_step);
    (0..STEPS).for_each(|_| advance(&mut single, 1));
    assert_eq!(read(&single), expected, "with lists of every step");

    let (mut broken, _) = start(300, 3, Tuning::default());
    advance(&mut broken, 17);
    let saved: Vec<StateColumn> = saved_state(&DEVICE, &broken).unwrap();
    let before = read(&broken);
    let mut resumed = Dem::restore(&DEVICE, parameters.clone(), &saved, 17, Default::default()).unwrap();
    assert_eq!(read(&resumed), before, "as restored");
    advance(&mut resumed, STEPS - 17);
    assert_eq!(read(&resumed), expected, "after a checkpoint");

    let lost: Vec<StateColumn> = saved.into_iter().filter(|c| c.name != "map_peak_speed").collect();
    let error = Dem::restore(&DEVICE, parameters, &lost, 17, Default::default()).err().unwrap().to_string();
    assert!(error.contains("map_peak_speed"), "{error}");
    assert_no_validation_messages(&DEVICE);
}

/// Moves all grains by a cell and doubles their velocities after some steps, so that the next step reaches
/// new cells at new peaks of speed, and takes steps. With `is_faulty`, one velocity is not a number. Returns
/// the maps before and after, and the fault.
fn map_of_moved_grains(is_faulty: bool, steps: u64) -> (FlowCells, FlowCells, Option<DemFault>) {
    let (mut dem, _) = start(300, 5, Tuning::default());
    advance(&mut dem, 5);
    let before = read(&dem);
    let state = saved_state(&DEVICE, &dem).unwrap();
    let planted = |name: &str, change: &dyn Fn(usize, f32) -> f32| {
        let words = &state.iter().find(|column| column.name == name).unwrap().words;
        let changed = words.iter().enumerate().map(|(i, word)| change(i, f32::from_bits(*word)).to_bits());
        let columns = dem.columns();
        let column = columns.iter().find(|column| column.name == name).unwrap();
        DEVICE.upload(&column.words, &changed.collect::<Vec<u32>>()).unwrap();
    };
    planted("position", &|i, x| if i % 3 == 0 { x + CELL_M as f32 } else { x });
    planted("velocity", &|i, v| if is_faulty && i == 100 { f32::NAN } else { 2.0 * v });
    dem.adopt_columns();
    let mut recorder = DEVICE.recorder().unwrap();
    (0..steps).for_each(|_| dem.record_step(&mut recorder));
    let fault = dem.record_fault_check(&mut recorder).unwrap();
    DEVICE.submit(recorder).unwrap();
    let fault = fault.wait().unwrap();
    (before, read(&dem), fault)
}

#[test]
fn a_faulty_step_leaves_the_map_alone() {
    let (before, after, fault) = map_of_moved_grains(false, 1);
    assert_eq!(fault, None);
    let rose = |old: &[f32], new: &[f32]| old.iter().zip(new).filter(|(old, new)| new > old).count();
    assert!(rose(&before.peak_volume_m3, &after.peak_volume_m3) > 10);
    assert!(rose(&before.peak_speed_m_s, &after.peak_speed_m_s) > 10);
    assert!(after.first_step.iter().filter(|step| **step == 6).count() > 10);

    for steps in [1, 4] {
        let (before, after, fault) = map_of_moved_grains(true, steps);
        assert_eq!(fault.map(|fault| (fault.step, fault.not_finite)), Some((6, Some(33))));
        // No state of a faulty step is mapped, so there are no current volumes either.
        let volume_m3 = vec![0.0; before.volume_m3.len()];
        assert!(after == FlowCells { volume_m3, ..before }, "{steps} steps");
    }
    assert_no_validation_messages(&DEVICE);
}
