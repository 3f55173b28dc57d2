//! A step of grains on the device compared with its f64 twin, from states reached by steps on the device.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::{Partner, State};
use frazil_scene::Dem as Section;
use frazil_solvers::dem::Dem;
use frazil_solvers::{StateColumn, Tuning};
use frazil_testkit::ROUNDING;
use frazil_testkit::{Random, assert_no_validation_messages, config, device, is_full_run};
use frazil_tests::Worst;
use frazil_tests::clouds::{bodies, cloud, every_law};
use frazil_tests::grains::{Grainpack, dt_s};
use frazil_vk::Device;
use glam::DVec3;
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const GRAVITY: DVec3 = DVec3::new(0.3, -9.81, 0.1);

/// Bounds on the errors of a grain's step.
struct Bounds {
    position: f64,
    velocity: f64,
    spin: f64,
    shear: f64,
    rolling: f64,
}

/// Number of perturbed initial states.
const ROUNDINGS: u64 = 4;

/// Runs steps of the twin from states perturbed by a few roundings: single precision cannot be more accurate
/// than their spread. It is large where two centres nearly coincide or the nearest face changes.
fn rounded_steps(pack: &Grainpack, before: &State) -> Vec<State> {
    let rounded = |seed: u64| {
        let mut random = Random::new(seed);
        let mut off = |size: f64| {
            let mut unit = || 8.0 * ROUNDING * size * (2.0 * f64::from(random.unit()) - 1.0);
            DVec3::new(unit(), unit(), unit())
        };
        let mut state = before.clone();
        for grain in &mut state.grains {
            // Positions are near 1 m.
            grain.position += off(1.0);
            grain.velocity += off(grain.velocity.length());
            grain.spin += off(grain.spin.length());
        }
        state.advance(&pack.p, &pack.bodies);
        state
    };
    (1..=ROUNDINGS).map(rounded).collect()
}

/// Returns the maximum distance of any of `others` from a value.
fn farthest(value: DVec3, others: impl Iterator<Item = DVec3>) -> f64 {
    others.map(|other| other.distance(value)).fold(0.0, f64::max)
}

/// Compares one step of the device from `before` with `expected`, the twin's result.
fn compare(worst: &mut Worst, pack: &Grainpack, before: &State, expected: &State, found: &State) {
    let p = &pack.p;
    let rounded = rounded_steps(pack, before);
    assert_eq!(found.grains.len(), expected.grains.len());
    for (k, ((old, a), b)) in before.grains.iter().zip(&expected.grains).zip(&found.grains).enumerate() {
        assert_eq!(a.id, b.id);
        let mine = (a.id, Partner::Grain(0))..(a.id + 1, Partner::Grain(0));
        let n = expected.contacts.range(mine.clone()).count() as f64;
        let n_surfaces = expected
            .contacts
            .range(mine.clone())
            .filter(|((_, partner), _)| !matches!(partner, Partner::Grain(_)))
            .count() as f64;
        let mass = a.mass(p);
        // Overlaps have the rounding error of positions near 1 m; other terms a relative rounding of the sum.
        let place = 8.0 * ROUNDING * (p.normal_stiffness + p.tangential_stiffness) * p.dt_s / mass;
        let change = (a.velocity - old.velocity).length() + (p.dt_s * p.gravity).length();
        let speed = a.velocity.length().max(old.velocity.length())
            + a.radius * a.spin.length().max(old.spin.length());
        let velocity = (1.0 + n) * (place + 32.0 * ROUNDING * (change + speed));
        let shear = (1.0 + n) * 32.0 * ROUNDING * (p.dt_s * speed + 0.1);
        // A surface that projects a grain out rounds its distance, computed from rotated and translated
        // positions, about four times.
        let bounds = Bounds {
            position: 4.0 * (1.0 + n_surfaces) * ROUNDING
                + p.dt_s * velocity
                + farthest(a.position, rounded.iter().map(|s| s.grains[k].position)),
            velocity: velocity + farthest(a.velocity, rounded.iter().map(|s| s.grains[k].velocity)),
            spin: velocity * 2.5 / a.radius + farthest(a.spin, rounded.iter().map(|s| s.grains[k].spin)),
            shear,
            rolling: shear / a.radius,
        };
        let grain = format!("grain {}", a.id);
        worst.note("velocity", (a.velocity - b.velocity).length(), bounds.velocity, &grain);
        worst.note("spin", (a.spin - b.spin).length(), bounds.spin, &grain);
        worst.note("position", (a.position - b.position).length(), bounds.position, &grain);
        worst.note("radius", (a.radius - b.radius).abs(), 1e-12, &grain);
        for (key, history) in expected.contacts.range(mine) {
            let contact = format!("{} {:?}", a.id, key.1);
            // A contact that is not in every perturbed result is at the edge of touching.
            let theirs: Option<Vec<_>> = rounded.iter().map(|s| s.contacts.get(key)).collect();
            let Some(kept) = found.contacts.get(key) else {
                worst.note("kept", f64::from(u8::from(theirs.is_some())), 0.5, &contact);
                continue;
            };
            let Some(theirs) = theirs else { continue };
            let shear = bounds.shear + farthest(history.shear, theirs.iter().map(|m| m.shear));
            let rolling = bounds.rolling + farthest(history.rolling, theirs.iter().map(|m| m.rolling));
            let slow = theirs.iter().map(|m| (m.slow - history.slow).abs()).fold(0.0, f64::max);
            worst.note("shear", (history.shear - kept.shear).length(), shear, &contact);
            worst.note("rolling", (history.rolling - kept.rolling).length(), rolling, &contact);
            let slow = slow + 1e-5 * p.dt_s + 1e-6 * history.slow.abs();
            worst.note("slow", (history.slow - kept.slow).abs(), slow, &contact);
            let may_differ = theirs.iter().any(|m| m.is_bonded != history.is_bonded);
            let differs = kept.is_bonded != history.is_bonded && !may_differ;
            worst.note("bonded", f64::from(u8::from(differs)), 0.5, &contact);
        }
    }
    for key in found.contacts.keys().filter(|key| !expected.contacts.contains_key(key)) {
        let sometimes = rounded.iter().any(|s| s.contacts.contains_key(key));
        worst.note("not kept", f64::from(u8::from(!sometimes)), 0.5, format!("{} {:?}", key.0, key.1));
    }
}

fn run(
    section: &Section,
    n: u32,
    seed: u64,
    with_bodies: bool,
    steps: usize,
) -> (Worst, Vec<StateColumn>, State) {
    let bodies = if with_bodies { bodies() } else { Vec::new() };
    let grains = cloud(n, seed, section.radius_spread);
    let domain = [DVec3::ZERO, DVec3::ONE];
    let mut pack = Grainpack::on(DEVICE.clone(), section, dt_s(section), GRAVITY, domain, bodies, &grains);
    let mut worst = Worst::default();
    for _ in 0..steps {
        let before = pack.state();
        let expected = pack.twin_step();
        assert_eq!(pack.try_advance(1), None);
        let found = pack.state();
        compare(&mut worst, &pack, &before, &expected, &found);
        // Steps that are not compared, between those that are.
        assert_eq!(pack.try_advance(5), None);
    }
    let columns = pack.columns();
    (worst, columns, pack.state())
}

#[test]
fn steps_agree_with_the_twin_under_every_law() {
    let mut n_bonds = 0;
    let n_steps = if is_full_run() { 4 } else { 2 };
    for k in 0..6 {
        // Half of the laws with bodies, half without; the long run tests each law in both ways.
        for with_bodies in if is_full_run() { vec![false, true] } else { vec![k % 2 == 1] } {
            let (worst, _, state) = run(&every_law(k), 800, u64::from(k), with_bodies, n_steps);
            assert!(worst.beyond().is_empty(), "law {k}, bodies {with_bodies}:\n{}", worst.beyond());
            assert!(state.contacts.len() > 800, "law {k}: {} contacts", state.contacts.len());
            n_bonds += state.contacts.values().filter(|history| history.is_bonded).count();
        }
    }
    assert!(n_bonds > 50, "{n_bonds} bonds");
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn sizes_about_powers_of_two_agree_with_the_twin() {
    for n in [0, 1, 2, 63, 64, 65, 255, 256, 257, 511, 513] {
        let (worst, ..) = run(&every_law(1), n, 7, n % 2 == 1, 1);
        assert!(worst.beyond().is_empty(), "{n} grains:\n{}", worst.beyond());
    }
    assert_no_validation_messages(&DEVICE);
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn clouds_agree_with_the_twin(
        seed in any::<u64>(),
        n in 0_u32..300,
        law in 0_u32..6,
        with_bodies in any::<bool>(),
    ) {
        let (worst, ..) = run(&every_law(law), n, seed, with_bodies, 2);
        prop_assert!(worst.beyond().is_empty(), "{}", worst.beyond());
    }
}

/// The two ends of a contact store the same history with opposite signs, to the bit, and refer to each other.
#[test]
fn both_ends_of_a_contact_hold_the_same_bits_with_opposite_signs() {
    for k in [1, 3] {
        let (_, _, state) = run(&every_law(k), 500, 3, true, if is_full_run() { 5 } else { 3 });
        let mut n = 0;
        for ((id, partner), history) in &state.contacts {
            let Partner::Grain(other) = partner else { continue };
            let back = &state.contacts[&(*other, Partner::Grain(*id))];
            assert_eq!(history.shear, -back.shear, "law {k}: {id} and {other}");
            assert_eq!(history.rolling, -back.rolling, "law {k}: {id} and {other}");
            assert_eq!(
                (history.slow, history.is_bonded),
                (back.slow, back.is_bonded),
                "law {k}: {id} and {other}"
            );
            n += 1;
        }
        assert!(n > 500, "{n} ends");
    }
}

fn restore(pack: &Grainpack, columns: &[StateColumn], step: u64) -> Dem {
    Dem::restore(&DEVICE, pack.dem.parameters().clone(), columns, step, Default::default()).unwrap()
}

#[test]
fn runs_restarts_and_other_groups_give_the_same_bits() {
    let section = every_law(3);
    let grains = cloud(700, 5, section.radius_spread);
    let fresh = || {
        let domain = [DVec3::ZERO, DVec3::ONE];
        Grainpack::on(DEVICE.clone(), &section, dt_s(&section), GRAVITY, domain, bodies(), &grains)
    };
    let mut whole = fresh();
    let half: u64 = if is_full_run() { 9 } else { 5 };
    assert_eq!(whole.try_advance(half), None);
    let columns = whole.columns();
    assert_eq!(whole.try_advance(half), None);
    let expected = whole.columns();
    let mut again = fresh();
    assert_eq!(again.try_advance(2 * half), None);
    assert!(again.columns() == expected, "a second run has other bits");
    again.dem = restore(&again, &columns, half);
    assert_eq!(again.try_advance(half), None);
    assert!(again.columns() == expected, "a restored state goes on with other bits");
    for size in [64, 128] {
        again.restart(Tuning::new(size).unwrap());
        assert_eq!(again.try_advance(2 * half), None);
        assert!(again.columns() == expected, "groups of {size} give other bits");
    }
    assert_no_validation_messages(&DEVICE);
}

/// Grains that start closer than a scene's capacity assumes still have sufficient capacity.
#[test]
fn capacity_suffices_for_grains_that_start_close() {
    let section = Section { contacts_per_grain: 1.0, ..every_law(2) };
    let grains = cloud(800, 3, 0.0);
    let domain = [DVec3::ZERO, DVec3::ONE];
    let mut pack =
        Grainpack::on(DEVICE.clone(), &section, dt_s(&section), GRAVITY, domain, Vec::new(), &grains);
    assert_eq!(pack.try_advance(1), None);
    let n = pack.state().contacts.len();
    assert!(n > 1000, "{n} contacts");
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_state_without_a_column_or_of_another_length_is_refused() {
    let section = every_law(1);
    let grains = cloud(5, 1, 0.0);
    let domain = [DVec3::ZERO, DVec3::ONE];
    let pack = Grainpack::on(DEVICE.clone(), &section, dt_s(&section), GRAVITY, domain, Vec::new(), &grains);
    let columns = pack.columns();
    let refused = |columns: &[StateColumn]| {
        let parameters = pack.dem.parameters().clone();
        Dem::restore(&DEVICE, parameters, columns, 0, Default::default()).map(|_| ()).unwrap_err().to_string()
    };
    for name in ["id", "position", "spin", "radius", "contact_first_row", "contact", "contact_shear"] {
        let without: Vec<_> = columns.iter().filter(|c| c.name != name).cloned().collect();
        assert_eq!(refused(&without), format!("saved state: column \"{name}\" is missing"));
    }
    let mut short = columns.clone();
    short.iter_mut().find(|c| c.name == "spin").unwrap().words.pop();
    assert!(
        refused(&short).contains("\"spin\" has 14 words, expected 3 for each of 5"),
        "{}",
        refused(&short)
    );
    let refused_with = |change: &dyn Fn(&mut [u32])| {
        let mut absurd = columns.clone();
        change(&mut absurd.iter_mut().find(|c| c.name == "contact_first_row").unwrap().words);
        refused(&absurd)
    };
    let found = refused_with(&|first_row| first_row[1] += 241);
    assert!(found.contains("\"contact_first_row\" has rows 0 to 241 for one grain, expected 240"), "{found}");
    let found = refused_with(&|first_row| first_row[0] = 1);
    assert!(found.contains("begins with 1, expected 0") || found.contains("for one grain"), "{found}");
    let found = refused_with(&|first_row| first_row.iter_mut().zip(0..).for_each(|(row, i)| *row = 20 * i));
    assert!(found.contains("\"contact_shear\" has 40 rows, expected 100 at least"), "{found}");
}
