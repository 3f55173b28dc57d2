//! Contact lists with a skin: the bits of lists that are built in every step, and no sooner than needed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::{Grain, check_lists, count_contacts, fit_lists};
use frazil_scene::Dem as Section;
use frazil_solvers::Tuning;
use frazil_solvers::dem::{Dem, LIST_SKIN};
use frazil_testkit::twins::dem::section;
use frazil_testkit::twins::slabs::{block, ice};
use frazil_testkit::{assert_no_validation_messages, device};
use frazil_tests::clouds::{RADIUS_M, bodies, cloud, every_law};
use frazil_tests::grains::{Grainpack, dt_s, grain};
use frazil_tests::slabs::{pieces, set_spin};
use frazil_vk::Device;
use glam::{DQuat, DVec3};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const GRAVITY: DVec3 = DVec3::new(0.3, -9.81, 0.1);
const UNIT: [DVec3; 2] = [DVec3::ZERO, DVec3::ONE];
/// Tuning without a skin.
const NONE: u32 = 1;

fn skin(value: u32) -> Tuning {
    Tuning::default().with(&LIST_SKIN, value).unwrap()
}

/// Skin of a tuning in m.
fn skin_m(value: u32) -> f64 {
    f64::from(value) / 64.0 * RADIUS_M
}

/// Asserts that steps have the same bits with each of these skins as with lists of every step; returns the
/// number of times that lists were built with the last one.
fn assert_same_bits(pack: &mut Grainpack, steps: u64, skins: &[u32]) -> u32 {
    pack.restart(skin(NONE));
    assert_eq!(pack.try_advance(steps), None);
    let expected = pack.columns();
    assert_eq!(u64::from(pack.lists().n_built), steps);
    let mut n_built = 0;
    for &value in skins {
        pack.restart(skin(value));
        assert_eq!(pack.try_advance(steps), None);
        assert!(pack.columns() == expected, "a skin of {value}/64 radii gives other bits");
        n_built = pack.lists().n_built;
    }
    n_built
}

#[test]
fn lists_with_a_skin_give_the_bits_of_lists_of_every_step() {
    for (law, with_bodies) in [(1, true), (2, true), (3, false), (4, true)] {
        let section = every_law(law);
        let grains = cloud(300, u64::from(law), section.radius_spread);
        let bodies = if with_bodies { bodies() } else { Vec::new() };
        let mut pack =
            Grainpack::on(DEVICE.clone(), &section, dt_s(&section), GRAVITY, UNIT, bodies, &grains);
        let n_built = assert_same_bits(&mut pack, 48, &[4, 16, 32]);
        assert!((2..40).contains(&n_built), "law {law}: built {n_built} times in 48 steps");
    }
    assert_no_validation_messages(&DEVICE);
}

/// Grains that approach each other at 60 m/s move by more than the skin in a step, so that each step must
/// list the grains that come into reach in it.
#[test]
fn grains_that_outrun_the_skin_in_one_step_are_found() {
    let section = Section { restitution: 0.9, ..section(RADIUS_M, 1e6) };
    let towards = |k: u32| if k.is_multiple_of(2) { DVec3::X } else { DVec3::NEG_X };
    let grains: Vec<Grain> = (0..8)
        .map(|k| {
            let place = DVec3::new(0.5, 0.1 + 0.1 * f64::from(k / 2), 0.5) - 0.11 * towards(k);
            Grain {
                velocity: 30.0 * towards(k),
                ..grain(k, f64::from(RADIUS_M as f32), place.as_vec3().as_dvec3())
            }
        })
        .collect();
    let dt_s = dt_s(&section);
    assert!(30.0 * dt_s > 0.5 * skin_m(2), "grains move by {} m in a step", 30.0 * dt_s);
    let mut pack = Grainpack::on(DEVICE.clone(), &section, dt_s, DVec3::ZERO, UNIT, Vec::new(), &grains);
    let steps = (0.1 / 30.0 / dt_s) as u64 + 20;
    assert_same_bits(&mut pack, steps, &[2, 4, 16]);
    for g in pack.state().grains {
        assert!(g.velocity.dot(towards(g.id)) < -20.0, "grain {} has not rebounded: {}", g.id, g.velocity);
    }
    assert_no_validation_messages(&DEVICE);
}

/// A contact that has ended keeps no history, although its row stays: grains that hop in place, by far less
/// than the skin, start each contact anew.
#[test]
fn contacts_that_end_and_return_within_the_skin_are_new() {
    let section = Section { rolling_friction: 0.1, radius_spread: 0.5, ..section(RADIUS_M, 1e5) };
    let single = |x: f64| f64::from(x as f32);
    let [large, small] = [1.5 * RADIUS_M, 0.5 * RADIUS_M].map(single);
    let place = |y: f64| DVec3::new(0.5, y, 0.5).as_vec3().as_dvec3();
    let floor = grain(0, large, place(large - 1e-4));
    let hopping = Grain {
        velocity: DVec3::new(0.02, -0.05, 0.0).as_vec3().as_dvec3(),
        ..grain(1, small, place(2.0 * large + small))
    };
    let (gravity, grains) = (20.0 * DVec3::NEG_Y, [floor, hopping]);
    let dt_s = dt_s(&section);
    let mut pack = Grainpack::on(DEVICE.clone(), &section, dt_s, gravity, UNIT, Vec::new(), &grains);
    let mut n_begun = 0;
    let mut touched = false;
    pack.restart(skin(16));
    for _ in 0..80 {
        assert_eq!(pack.try_advance(4), None);
        let touches = pack
            .state()
            .contacts
            .keys()
            .any(|(id, partner)| *id == 0 && matches!(partner, frazil_reference::dem::Partner::Grain(_)));
        n_begun += u32::from(touches && !touched);
        touched = touches;
    }
    assert!(n_begun >= 2, "{n_begun} contacts begin");
    assert!(pack.lists().n_built < 5, "lists are built {} times", pack.lists().n_built);
    assert_same_bits(&mut pack, 320, &[16]);
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn lists_are_built_when_a_grain_has_moved_by_half_the_skin() {
    let section = every_law(1);
    let grains = cloud(120, 9, section.radius_spread);
    let mut pack =
        Grainpack::on(DEVICE.clone(), &section, dt_s(&section), GRAVITY, UNIT, Vec::new(), &grains);
    let mut n_built = 0;
    let mut listed_at: Vec<DVec3> = Vec::new();
    for step in 0..60 {
        let before = pack.state().grains;
        let is_stale = step == 0 || check_lists(&listed_at, &before, skin_m(LIST_SKIN.default));
        if is_stale {
            listed_at = before.iter().map(|g| g.position).collect();
            n_built += 1;
        }
        assert_eq!(pack.try_advance(1), None);
        assert_eq!(pack.lists().n_built, n_built, "after step {step}");
    }
    assert!((3..30).contains(&n_built), "built {n_built} times");
    assert_no_validation_messages(&DEVICE);
}

/// A state that is saved between two builds goes on with the same bits.
#[test]
fn a_run_resumes_between_two_builds() {
    let section = every_law(3);
    let place =
        |k: u32| 0.3 + 1.99 * RADIUS_M * DVec3::new((k % 4).into(), (k / 4 % 4).into(), (k / 16).into());
    let grains: Vec<Grain> = cloud(64, 5, section.radius_spread)
        .into_iter()
        .map(|g| Grain { position: place(g.id).as_vec3().as_dvec3(), velocity: 0.25 * g.velocity, ..g })
        .collect();
    let mut pack =
        Grainpack::on(DEVICE.clone(), &section, dt_s(&section), GRAVITY, UNIT, Vec::new(), &grains);
    assert_eq!(pack.try_advance(10), None);
    let mut n_between = 0;
    for _ in 0..12 {
        let built = pack.lists().n_built;
        let (step, columns) = (pack.dem.step(), pack.columns());
        let parameters = pack.dem.parameters().clone();
        assert_eq!(pack.try_advance(3), None);
        n_between += u32::from(pack.lists().n_built == built);
        let expected = pack.columns();
        pack.dem = Dem::restore(&DEVICE, parameters, &columns, step, Default::default()).unwrap();
        assert_eq!(pack.try_advance(3), None);
        assert!(pack.columns() == expected, "a state of step {step} goes on with other bits");
    }
    assert!(n_between > 3, "{n_between} of 12 states are saved between builds");
    assert_no_validation_messages(&DEVICE);
}

/// Lists that would overflow with a skin are built without one, then with a smaller one: only contacts need
/// capacity.
#[test]
fn lists_that_do_not_fit_with_a_skin_are_built_without() {
    let section = Section { contacts_per_grain: 1.0, ..every_law(0) };
    let radius = f64::from(RADIUS_M as f32);
    // A line of balls with gaps: none touch, and each has neighbours within the skin.
    let place = |k: u32| (DVec3::new(0.1 + 2.05 * RADIUS_M * f64::from(k), 0.5, 0.5)).as_vec3().as_dvec3();
    let grains: Vec<Grain> = (0..8).map(|k| grain(k, radius, place(k))).collect();
    let mut pack =
        Grainpack::on(DEVICE.clone(), &section, dt_s(&section), DVec3::ZERO, UNIT, Vec::new(), &grains);
    let n_rows: usize = count_contacts(&pack.p, &[], &grains, skin_m(LIST_SKIN.default), 0.0).iter().sum();
    assert_eq!(n_rows, 14);
    let [used, next] = fit_lists(n_rows, 8, skin_m(LIST_SKIN.default));
    assert_eq!(pack.try_advance(1), None);
    let lists = pack.lists();
    let near = |found: f32, expected: f64| (f64::from(found) - expected).abs() < 1e-6 * RADIUS_M;
    assert!(near(lists.used_skin_m, used) && near(lists.skin_m, next), "{lists:?}");
    // In every step they are built again, until a smaller skin fits.
    assert_eq!(pack.try_advance(10), None);
    let lists = pack.lists();
    assert!(lists.used_skin_m > 0.0 && lists.used_skin_m == lists.skin_m, "{lists:?}");
    assert_no_validation_messages(&DEVICE);
}

/// Pieces that rotate and grains among them, with lists that are older than a step.
#[test]
fn pieces_that_turn_and_fall_are_listed_in_time() {
    let section = Section { rolling_friction: 0.1, ..section(RADIUS_M, 1e5) };
    let slab = ice(1e9);
    let size = DVec3::new(0.4, 0.1, 0.3);
    let blocks = (0..3).map(|k| {
        let centre = DVec3::new(0.3 + 0.2 * f64::from(k), 0.35 + 0.2 * f64::from(k), 0.5);
        block(&slab, centre, size, DQuat::from_rotation_z(0.4 * f64::from(k)))
    });
    let mut solids = pieces(&slab, &section, blocks.collect(), Vec::new());
    for k in 0..3 {
        set_spin(&mut solids, k, DVec3::new(4.0, 6.0, -8.0));
    }
    let grains = cloud(200, 11, 0.0);
    let dt_s = dt_s(&section);
    let mut pack =
        Grainpack::with_pieces(DEVICE.clone(), &section, dt_s, GRAVITY, UNIT, bodies(), 1, &grains, solids);
    let n_built = assert_same_bits(&mut pack, 48, &[16, 32]);
    assert!((2..40).contains(&n_built), "built {n_built} times in 48 steps");
    assert_no_validation_messages(&DEVICE);
}
