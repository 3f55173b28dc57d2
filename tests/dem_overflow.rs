//! Overflow of contact lists, which are then enlarged, and faults of grains, which name their cause.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::dem::Grain;
use frazil_scene::Dem as Section;
use frazil_solvers::dem::{Dem, DemFault, FaultyGrain, Pieces};
use frazil_solvers::{Solver as _, StateColumn, StepDivision, StepPlace};
use frazil_testkit::twins::slabs::{block, ice, link};
use frazil_testkit::{assert_no_validation_messages, device};
use frazil_tests::clouds::{RADIUS_M, cloud, every_law};
use frazil_tests::grains::{Grainpack, dt_s, grain};
use frazil_tests::slabs::{pieces, set_spin, tetrahedron};
use frazil_vk::Device;
use glam::{DQuat, DVec3};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const UNIT: [DVec3; 2] = [DVec3::ZERO, DVec3::ONE];

fn pack_of(section: &Section, grains: &[Grain]) -> Grainpack {
    Grainpack::on(DEVICE.clone(), section, dt_s(section), DVec3::ZERO, UNIT, Vec::new(), grains)
}

/// Grains at the nodes of a lattice that fly towards its centre: no two are near, and then all are.
fn shrinking_lattice() -> Vec<Grain> {
    (0..64_u32)
        .map(|id| {
            let node = DVec3::from_array([id % 4, id / 4 % 4, id / 16].map(|k| f64::from(k) - 1.5));
            let single = |v: DVec3| v.as_vec3().as_dvec3();
            Grain {
                velocity: single(-8.0 * node),
                spin: single(3.0 * node),
                ..grain(id, f64::from(RADIUS_M as f32), single(DVec3::splat(0.5) + 2.8 * RADIUS_M * node))
            }
        })
        .collect()
}

/// Returns the columns without rows of contacts that are not in use, whose number is the capacity.
fn used_columns(pack: &Grainpack) -> Vec<StateColumn> {
    let mut columns = pack.columns();
    let first_row = columns.iter().find(|column| column.name == "contact_first_row").unwrap();
    let n_rows = *first_row.words.last().unwrap() as usize;
    let capacity = columns.iter().find(|column| column.name == "contact_shear").unwrap().words.len() / 4;
    for column in columns.iter_mut().filter(|column| ["contact", "contact_shear"].contains(&&*column.name)) {
        let words = column.words.len() / capacity;
        column.words.truncate(words * n_rows);
    }
    columns
}

/// Two linked blocks that fall and turn in the middle of the lattice, and a tetrahedron beside them.
fn drifting_pieces(section: &Section) -> Pieces {
    let slab = ice(2e4);
    let size = DVec3::new(0.09, 0.06, 0.08);
    let [left, right] = [-0.5, 0.5].map(|side| DVec3::splat(0.5) + side * size.x * DVec3::X);
    let solids = vec![
        block(&slab, left, size, DQuat::IDENTITY),
        block(&slab, right, size, DQuat::IDENTITY),
        tetrahedron(&slab, DVec3::new(0.5, 0.75, 0.5), 0.1, DQuat::from_rotation_x(0.4)),
    ];
    let joint = link(&slab, [0, 1], DVec3::splat(0.5), DVec3::X, size.y * size.z);
    let mut pieces = pieces(&slab, section, solids, vec![joint]);
    for piece in 0..3 {
        pieces.motions[piece].velocity_m_s = [0.3, -0.5, 0.1];
        set_spin(&mut pieces, piece, DVec3::new(1.0, 2.0, -1.0));
    }
    pieces
}

/// The state of a step that overflows is kept, also by outputs recorded after it, and the steps from there
/// with more rows have the bits of a run that had them from the start, under every law, with pieces of slabs
/// and without.
#[test]
fn an_overflow_is_repeated_with_more_rows() {
    let grains = shrinking_lattice();
    for (law, has_pieces) in (0..6).flat_map(|law| [(law, false), (law, true)]) {
        let section = |contacts_per_grain| Section { contacts_per_grain, ..every_law(law) };
        let pack_of = |section: Section| match has_pieces {
            true => {
                let (dt, pieces) = (dt_s(&section), drifting_pieces(&section));
                let down = DVec3::new(0.0, -9.81, 0.0);
                Grainpack::with_pieces(DEVICE.clone(), &section, dt, down, UNIT, vec![], 0, &grains, pieces)
            }
            false => pack_of(&section, &grains),
        };
        let mut ample = pack_of(section(24.0));
        let mut pack = pack_of(section(1.0));
        let mut n_overflows = 0;
        for last in [40, 80, 160] {
            while pack.dem.step() < last {
                let Some(fault) = pack.try_advance(last - pack.dem.step()) else { break };
                let [required, capacity] = fault.rows.unwrap_or_else(|| panic!("law {law}: {fault}"));
                assert!(required > capacity, "law {law}: {fault}");
                let held = pack.columns();
                // Neither outputs nor further steps change it.
                assert_eq!(pack.try_advance(3).map(|fault| fault.step), Some(fault.step));
                assert!(pack.columns() == held, "law {law}: the state of step {} changed", fault.step);
                let regrown = pack.dem.regrow(&DEVICE).unwrap().unwrap();
                assert_eq!((regrown.place.step, regrown.from), (fault.step - 1, capacity));
                assert!(regrown.to >= required && regrown.to < 2 * required, "{regrown}");
                assert_eq!(pack.dem.step(), regrown.place.step);
                n_overflows += 1;
            }
            assert_eq!(pack.dem.regrow(&DEVICE).unwrap(), None);
            assert_eq!(ample.try_advance(last - ample.dem.step()), None);
            let differing: Vec<String> = std::iter::zip(used_columns(&pack), used_columns(&ample))
                .filter(|(found, expected)| found != expected)
                .map(|(found, _)| found.name)
                .collect();
            assert!(differing.is_empty(), "law {law}, pieces {has_pieces}: {differing:?} in step {last}");
            // The hash of a state depends on the order of its columns, too.
            let names = |pack: &Grainpack| -> Vec<String> {
                pack.columns().into_iter().map(|column| column.name).collect()
            };
            assert_eq!(names(&pack), names(&ample));
        }
        assert!(n_overflows > 0, "law {law}");
    }
    assert_no_validation_messages(&DEVICE);
}

/// A fault in the repeated step is that fault: nothing of the overflow is left in the record, which would be
/// enlarged for it again and again.
#[test]
fn a_fault_after_an_overflow_is_no_overflow() {
    let section = Section { contacts_per_grain: 1.0, ..every_law(0) };
    let mut pack = pack_of(&section, &shrinking_lattice());
    assert!(pack.try_advance(160).unwrap().rows.is_some());
    pack.dem.regrow(&DEVICE).unwrap().unwrap();
    let columns = pack.dem.state_columns();
    let velocity = columns.iter().find(|column| column.name == "velocity").unwrap();
    DEVICE.upload(&velocity.words, &[f32::NAN.to_bits(); 3]).unwrap();
    let fault = pack.try_advance(1).unwrap();
    assert!(fault.not_finite.is_some() && fault.rows.is_none(), "{fault}");
    assert_eq!(pack.dem.regrow(&DEVICE).unwrap(), None, "{fault}");
    assert_no_validation_messages(&DEVICE);
}

/// Grain `10` and 27 others nearly at one place, among others.
fn heaped() -> Vec<Grain> {
    let mut grains = cloud(40, 1, 0.0);
    for (grain, k) in grains.iter_mut().zip(0..).skip(10).take(28) {
        grain.position = DVec3::splat(0.5) + 0.001 * f64::from(k) * DVec3::X;
    }
    grains
}

fn fault_of(grains: &[Grain]) -> DemFault {
    let mut pack = pack_of(&every_law(0), grains);
    let fault = pack.try_advance(1).unwrap();
    let broken = pack.columns();
    assert_eq!(pack.dem.regrow(&DEVICE).unwrap(), None, "{fault}");
    assert_eq!(pack.try_advance(5).map(|fault| fault.to_string()), Some(fault.to_string()));
    // Words, since NaN is not equal to itself.
    assert!(pack.columns() == broken, "a frozen state changed: {fault}");
    fault
}

#[test]
fn faults_name_their_cause() {
    let dt_s = dt_s(&every_law(0));
    // 3 radii per step: by its motion, by its spin, and so that the square of its speed is infinite.
    let fast = f64::from((3.0 * RADIUS_M / dt_s) as f32);
    for (speed, spin) in [(fast, 0.0), (0.0, fast / RADIUS_M), (1e25, 0.0)] {
        let mut grains = cloud(40, 1, 0.0);
        grains[7].position = DVec3::splat(0.5);
        grains[7].velocity = speed * DVec3::X;
        grains[7].spin = f64::from(spin as f32) * DVec3::Y;
        let fault = fault_of(&grains);
        assert_eq!((fault.step, fault.too_fast, fault.not_finite), (1, Some(7), None), "{fault}");
        let message = fault.to_string();
        let expected = ["grain 7 is too fast", "radii per step", "rad/s", "time.dt_s = "];
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
        assert!(!message.contains("spread") && !message.contains("contacts"), "{message}");
        // As it was before a wall stopped it.
        let [found, x] = [fault.grain.velocity_m_s[0], fault.grain.position_m[0]].map(f64::from);
        assert!((found - speed).abs() <= 0.01 * fast.max(speed), "{fault}");
        assert!((x - 0.5 - speed * dt_s).abs() <= 0.01 * (1.0 + speed * dt_s), "{fault}");
    }
    // Too soft for grains that lie in one another.
    let fault = fault_of(&heaped());
    assert_eq!((fault.step, fault.too_fast, fault.crowded), (1, None, Some(10)), "{fault}");
    let message = fault.to_string();
    let expected = ["grain 10 touches more than 24 others", "too soft", "try dem.normal_stiffness_n_m = "];
    assert!(expected.iter().all(|part| message.contains(part)), "{message}");
    assert!(!message.contains("spread") && !message.contains("per_grain"), "{message}");
    // They came there by speed: half a radius per step.
    let mut grains = heaped();
    grains.iter_mut().skip(10).take(28).for_each(|grain| grain.velocity = fast / 6.0 * DVec3::Y);
    let fault = fault_of(&grains);
    assert_eq!((fault.too_fast, fault.crowded), (None, Some(10)), "{fault}");
    let message = fault.to_string();
    assert!(message.contains("too fast") && message.contains("try time.dt_s = "), "{message}");
    assert!(!message.contains("too soft"), "{message}");
    // A NaN has no cause.
    let mut grains = cloud(40, 1, 0.0);
    grains[5].velocity.y = f64::NAN;
    let fault = fault_of(&grains);
    assert_eq!((fault.too_fast, fault.not_finite), (None, Some(5)), "{fault}");
    assert!(fault.to_string().contains("grain 5 is not finite; try time.dt_s = "), "{fault}");
    assert_no_validation_messages(&DEVICE);
}

/// The device goes on counting from the step of a restart.
#[test]
fn a_restarted_run_names_the_step_of_its_fault() {
    let mut pack = pack_of(&every_law(0), &heaped());
    let start = pack.columns();
    pack.dem = Dem::restore(&DEVICE, pack.dem.parameters().clone(), &start, 41, Default::default()).unwrap();
    assert_eq!(pack.try_advance(3).map(|fault| (fault.step, fault.crowded)), Some((42, Some(10))));
    assert_no_validation_messages(&DEVICE);
}

/// A ball with 40 small ones around it has more contacts than equal balls can have, and no deep overlap.
#[test]
fn many_shallow_contacts_are_no_fault() {
    let centre = DVec3::splat(0.5);
    let [radius, small] = [RADIUS_M, 0.25 * RADIUS_M].map(|r| f64::from(r as f32));
    let mut grains = vec![grain(0, radius, centre)];
    // A Fibonacci lattice on the sphere of their centres.
    grains.extend((0..40_u32).map(|k| {
        let y = 1.0 - (2.0 * f64::from(k) + 1.0) / 40.0;
        let turn = f64::from(k) * std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        let level = (1.0 - y * y).sqrt();
        let away = DVec3::new(level * turn.cos(), y, level * turn.sin());
        grain(k + 1, small, (centre + 0.99 * (radius + small) * away).as_vec3().as_dvec3())
    }));
    let mut pack = pack_of(&every_law(0), &grains);
    assert_eq!(pack.try_advance(1), None);
    let state = pack.state();
    let n = state.contacts.keys().filter(|(id, _)| *id == 0).count();
    assert_eq!(n, 40, "contacts of the ball");
    assert_no_validation_messages(&DEVICE);
}

/// Without a device: what a message says follows from travel and overlap.
#[test]
fn a_grain_with_too_many_shallow_contacts_is_named() {
    let grain = FaultyGrain { dt_s: 1e-3, stiffness_n_m: 1e5, overlap: 0.5, ..FaultyGrain::default() };
    let fault = |grain| DemFault {
        step: 3,
        not_finite: None,
        too_fast: None,
        crowded: Some(4),
        rows: None,
        piece_not_finite: None,
        grain,
    };
    let message = fault(grain).to_string();
    assert!(
        message.contains("by 50 % of a radius") && message.contains("normal_stiffness_n_m = 1e6"),
        "{message}"
    );
    let message = fault(FaultyGrain { overlap: 0.0, ..grain }).to_string();
    assert!(message.contains("more than 240 others") && message.contains("dem.radius_spread"), "{message}");
}

/// The substeps of a step before one that overflows are not taken again.
#[test]
fn an_overflow_within_a_step_is_repeated_from_its_substep() {
    let (grains, n, last) = (shrinking_lattice(), 7, 160);
    let divided = |contacts_per_grain| {
        let section = Section { contacts_per_grain, ..every_law(3) };
        let mut pack = pack_of(&section, &grains);
        let mut parameters = pack.dem.parameters().clone();
        parameters.division = StepDivision { step_s: f64::from(n) * parameters.division.step_s, n };
        pack.dem = Dem::restore(&DEVICE, parameters, &pack.columns(), 0, Default::default()).unwrap();
        pack
    };
    let taken = |pack: &Grainpack| {
        let StepPlace { step, substeps } = pack.dem.place();
        step * u64::from(n) + u64::from(substeps)
    };
    let (mut ample, mut pack) = (divided(24.0), divided(1.0));
    let mut places = Vec::new();
    while let Some(fault) = pack.try_advance(last - taken(&pack)) {
        let regrown = pack.dem.regrow(&DEVICE).unwrap().unwrap_or_else(|| panic!("{fault}"));
        assert_eq!((pack.dem.place(), regrown.place.step + 1), (regrown.place, fault.step));
        places.push(regrown.place);
    }
    assert!(places.iter().any(|place| place.substeps > 0), "{places:?}");
    assert_eq!(ample.try_advance(last), None);
    assert_eq!(taken(&pack), taken(&ample));
    let differing: Vec<String> = std::iter::zip(used_columns(&pack), used_columns(&ample))
        .filter(|(found, expected)| found != expected)
        .map(|(found, _)| found.name)
        .collect();
    assert!(differing.is_empty(), "{differing:?} differ");
    assert_no_validation_messages(&DEVICE);
}
