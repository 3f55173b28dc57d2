//! Reproducibility of the material point method: its bits do not depend on runs, restarts or block capacity
//! where they are reproducible by specification; those of floating-point atomics do. A faulty state is kept
//! to the bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::CellSortMethod;
use frazil_reference::mpm::{self as twin, Particle};
use frazil_reference::uniform_bodies;
use frazil_scene::{InitialVolume, Mpm as Section, Rasterization, Spline, Transfer};
use frazil_solvers::mpm::{FaultKind, InitialState, Mpm, MpmParameters, ROWS_PER_THREAD, Surroundings};
use frazil_solvers::{Solver as _, StateColumn, StepDivision, StepPlace, Tuning};
use frazil_testkit::{Random, assert_no_validation_messages, device, is_full_run};
use frazil_tests::mpm_stages::MpmCase;
use frazil_tests::snowpack::{empty_space, state_of};
use frazil_vk::Device;
use glam::{DMat3, DVec3};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const DT_S: f64 = 1e-4;

fn surroundings(dimensions: u32) -> Surroundings {
    let depth = if dimensions == 2 { 0.0 } else { 1.0 };
    Surroundings { gravity_m_s2: [0.0, -9.8, 0.0], ..empty_space([0.0; 3], [1.0, 1.0, depth]) }
}

/// Creates a moving ball, so that bits depend on the time, too.
fn moving_ball() -> uniform_bodies::UniformBody {
    let motion =
        uniform_bodies::Motion { velocity_m_s: DVec3::new(3.0, 1.0, 0.0), from_s: 0.0005, until_s: 0.002 };
    uniform_bodies::UniformBody {
        shape: uniform_bodies::Shape::Ball { centre_m: DVec3::new(0.4, 0.4, 0.4), radius_m: 0.15 },
        surface: uniform_bodies::Surface { friction: 0.3, sticky: false },
        motion: Some(motion),
    }
}

fn case(dimensions: u32, transfer: Transfer, rasterization: Rasterization) -> MpmCase {
    let section = Section { transfer, rasterization, ..Section::sampled(dimensions, 0.1) };
    MpmCase::new(section, DT_S, surroundings(dimensions), vec![moving_ball()])
}

fn advance(mpm: &mut Mpm, steps: usize) {
    let mut recorder = DEVICE.recorder().unwrap();
    for _ in 0..steps {
        mpm.record_step(&mut recorder);
    }
    let fault = mpm.record_fault_check(&mut recorder).unwrap();
    DEVICE.submit(recorder).unwrap();
    assert_eq!(fault.wait().unwrap(), None);
}

/// Downloads all columns, in the device's order.
fn bits(mpm: &Mpm) -> Vec<(String, Vec<u32>)> {
    state_of(&DEVICE, mpm).into_iter().map(|c| (c.name, c.words)).collect()
}

/// Downloads all columns except those only for display, in the order of ids.
fn bits_by_id(mpm: &Mpm) -> Vec<(String, Vec<u32>)> {
    let mut columns = bits(mpm);
    let ids = columns.iter().find(|(name, _)| name == "id").unwrap().1.clone();
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|i| ids[*i]);
    for (_, words) in &mut columns {
        let each = words.len() / ids.len();
        *words = order.iter().flat_map(|i| words[each * i..each * (i + 1)].to_vec()).collect();
    }
    columns
}

fn hash(mpm: &Mpm) -> u64 {
    let mut hasher = DefaultHasher::new();
    bits(mpm).hash(&mut hasher);
    hasher.finish()
}

/// Hashes the results of repeated runs from one state until there are two different hashes, up to `runs`
/// runs.
fn hashes(case: &MpmCase, particles: &[Particle], runs: usize) -> HashSet<u64> {
    let mut hashes = HashSet::new();
    for _ in 0..runs {
        let mut mpm = case.restore(&DEVICE, particles, 0);
        advance(&mut mpm, 3);
        hashes.insert(hash(&mpm));
    }
    hashes
}

/// Creates the initial state with unit masses at rest and no volumes yet.
fn initial_state_of(particles: &[Particle]) -> InitialState {
    let mut initial = InitialState::default();
    for particle in particles {
        initial.positions_m.push(particle.position.as_vec3().to_array());
        initial.velocities_m_s.push([0.0; 3]);
        initial.masses_kg.push(1.0);
        initial.volumes_m3.push(0.0);
    }
    initial
}

/// Samples many particles in a few cells: every node receives contributions from all workgroups.
fn dense_cloud(case: &MpmCase) -> Vec<Particle> {
    let mut particles = case.scatter(6000, 11);
    for particle in &mut particles {
        let narrow = |x: f64| f64::from((0.5 + 0.1 * (x - 0.5)) as f32);
        particle.position = DVec3::new(narrow(particle.position.x), narrow(particle.position.y), 0.0);
    }
    particles
}

#[test]
fn float_atomics_give_more_than_one_hash_and_the_others_give_one() {
    let runs = if is_full_run() { 12 } else { 6 };
    for rasterization in [Rasterization::Tiles, Rasterization::FixedPoint] {
        let case = case(2, Transfer::Apic, rasterization);
        let hashes = hashes(&case, &dense_cloud(&case), runs);
        assert_eq!(hashes.len(), 1, "{rasterization:?} in {runs} runs");
    }
    if !DEVICE.capabilities().float_atomics {
        eprintln!("SKIPPED: the device has no floating-point atomics");
        return;
    }
    let case = case(2, Transfer::Apic, Rasterization::FloatAtomics);
    let mut found = hashes(&case, &dense_cloud(&case), runs);
    for _ in 0..4 {
        if found.len() < 2 {
            // A busy device may have run all workgroups in sequence.
            found.extend(hashes(&case, &dense_cloud(&case), runs));
        }
    }
    println!("{} hashes of sums by floating-point atomics", found.len());
    assert!(found.len() > 1, "floating-point atomics gave one hash");
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn rows_of_nodes_per_thread_and_the_sort_change_no_bit() {
    for (dimensions, transfer) in
        [(2, Transfer::PicFlip), (2, Transfer::Mls), (3, Transfer::PicFlip), (3, Transfer::Apic)]
    {
        // Each spline with one transfer of each number of dimensions.
        let own = if transfer == Transfer::PicFlip { Spline::Cubic } else { Spline::Quadratic };
        let splines: &[Spline] = if is_full_run() { &[Spline::Cubic, Spline::Quadratic] } else { &[own] };
        for &spline in splines {
            let mut case = case(dimensions, transfer, Rasterization::Tiles);
            case.section.spline = spline;
            let case = MpmCase::new(case.section, DT_S, case.surroundings, vec![moving_ball()]);
            let particles = dense_cloud(&case);
            let run = |rows_per_thread: u32, sort: CellSortMethod| {
                let mut tuning = Tuning::new(64).unwrap().with(&ROWS_PER_THREAD, rows_per_thread).unwrap();
                tuning.cell_sort = Some(sort);
                let initial = initial_state_of(&particles);
                let mut mpm = Mpm::new(
                    &DEVICE,
                    MpmParameters { initial_volume: InitialVolume::Grid, ..case.parameters() },
                    &initial,
                    tuning,
                )
                .unwrap();
                assert_eq!(mpm.blocks().has_table(), sort == CellSortMethod::Counting);
                advance(&mut mpm, if is_full_run() { 8 } else { 4 });
                bits(&mpm)
            };
            let one = run(1, CellSortMethod::Radix);
            for n in if is_full_run() { vec![2, 4, 16] } else { vec![2, 16] } {
                let found = run(n, CellSortMethod::Counting);
                assert!(found == one, "{dimensions}-D, {transfer:?}, {spline:?}: other bits with {n}");
            }
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_restored_state_continues_with_the_same_bits() {
    for (dimensions, transfer, rasterization) in [
        (2, Transfer::PicFlip, Rasterization::Tiles),
        (2, Transfer::Apic, Rasterization::FixedPoint),
        (3, Transfer::Mls, Rasterization::Tiles),
    ] {
        let case = case(dimensions, transfer, rasterization);
        let mut mpm = case.restore(&DEVICE, &case.scatter(400, 12), 0);
        advance(&mut mpm, 11);
        let saved: Vec<StateColumn> = state_of(&DEVICE, &mpm);
        let mut restored =
            Mpm::restore(&DEVICE, case.parameters(), &saved, mpm.step(), Default::default()).unwrap();
        assert_eq!(bits(&restored), bits(&mpm), "{transfer:?} {rasterization:?} as restored");
        advance(&mut mpm, 14);
        advance(&mut restored, 14);
        assert_eq!(restored.step(), 25);
        assert!(bits(&restored) == bits(&mpm), "{transfer:?} {rasterization:?} fourteen steps on");
        // A later time gives another step: the ball has moved.
        let mut late = Mpm::restore(&DEVICE, case.parameters(), &saved, 12, Default::default()).unwrap();
        advance(&mut late, 14);
        assert!(bits(&late) != bits(&mpm), "bits do not depend on the time");
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_state_without_a_column_or_of_another_length_is_refused() {
    let case = case(2, Transfer::Apic, Rasterization::Tiles);
    let columns = case.columns(&case.scatter(5, 1));
    for (name, expected) in [("stress", 15), ("affine", 20), ("mass", 5)] {
        let mut short = columns.clone();
        short.iter_mut().find(|c| c.name == name).unwrap().words.pop();
        let refused = Mpm::restore(&DEVICE, case.parameters(), &short, 0, Default::default())
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains(name) && refused.contains(&(expected - 1).to_string()), "{refused}");
        short.retain(|c| c.name != name);
        let refused = Mpm::restore(&DEVICE, case.parameters(), &short, 0, Default::default())
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains(name) && refused.contains("missing"), "{refused}");
    }
}

/// Creates particles near one place that fly apart in all directions; 100 m/s are one cell per step.
fn burst(n: u32, speed_m_s: f64) -> (MpmCase, Vec<Particle>) {
    let mut section = Section::sampled(2, 0.01);
    section.transfer = Transfer::PicFlip;
    section.flip_ratio = Some(1.0);
    let case = MpmCase::new(section, DT_S, empty_space([0.0; 3], [1.5, 1.5, 0.0]), Vec::new());
    let mut random = Random::new(13);
    let particles = (0..n)
        .map(|id| {
            let [turn, share] = [0, 1].map(|_| f64::from(random.unit()));
            let away =
                DVec3::new((std::f64::consts::TAU * turn).cos(), (std::f64::consts::TAU * turn).sin(), 0.0);
            let single = |v: DVec3| v.as_vec3().as_dvec3();
            Particle {
                velocity: single(speed_m_s * (0.3 + 0.7 * share) * away),
                ..Particle::new(single(DVec3::new(0.75, 0.75, 0.0) + 0.05 * away), id, 1e-3, 1e-9)
            }
        })
        .collect();
    (case, particles)
}

#[test]
fn growing_capacity_changes_no_bit() {
    let (case, particles) = burst(300, 15.0);
    let run = |steps_a_submission: usize| {
        let mut mpm = case.restore(&DEVICE, &particles, 0);
        let first = mpm.blocks().capacity();
        let mut grown = Vec::new();
        for _ in 0..130 / steps_a_submission {
            advance(&mut mpm, steps_a_submission);
            let capacity = mpm.blocks().capacity();
            if grown.last().is_none_or(|(_, last)| *last != capacity) {
                grown.push((mpm.step(), capacity));
            }
        }
        assert!(grown.last().unwrap().1.active > first.active, "{first:?} did not grow");
        (bits(&mpm), grown)
    };
    let (often, capacities) = run(1);
    let (seldom, other_capacities) = run(5);
    assert_ne!(capacities, other_capacities, "both grew at the same steps");
    assert!(often == seldom, "bits depend on when the capacity grew");
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn block_overflow_is_reported_and_discards_only_the_step() {
    assert_overflow_discards_only_the_substep(1);
}

#[test]
fn block_overflow_within_a_step_discards_only_the_substep() {
    let place = assert_overflow_discards_only_the_substep(4);
    assert!(place.substeps > 0, "it was in the first substep of a step: {place:?}");
}

/// Returns the first place from which steps went on.
fn assert_overflow_discards_only_the_substep(n_substeps: u32) -> StepPlace {
    let (case, particles) = burst(300, 40.0);
    let division = StepDivision { step_s: DT_S * f64::from(n_substeps), n: n_substeps };
    let restored = || {
        let (parameters, columns) =
            (MpmParameters { division, ..case.parameters() }, case.columns(&particles));
        Mpm::restore(&DEVICE, parameters, &columns, 0, Default::default()).unwrap()
    };
    let taken = |place: StepPlace| place.step * u64::from(n_substeps) + u64::from(place.substeps);
    let mut mpm = restored();
    let capacity = mpm.blocks().capacity();
    // All substeps are in one recorder: no result is read back in between to grow a capacity.
    let last = 63;
    let mut recorder = DEVICE.recorder().unwrap();
    for _ in 0..last {
        mpm.record_step(&mut recorder);
    }
    let fault = mpm.record_fault_check(&mut recorder).unwrap();
    DEVICE.submit(recorder).unwrap();
    let fault = fault.wait().unwrap().unwrap();
    let FaultKind::GridFull { capacity: exceeded, required } = fault.found.clone() else {
        panic!("{fault}");
    };
    assert_eq!((fault.pass, exceeded), ("SortByCell", capacity));
    assert!(required.active > capacity.active || required.occupied > capacity.occupied, "{fault}");

    // The state is that of the substep before, which sufficient capacity gives, too.
    let found = bits_by_id(&mpm);
    let mut places = Vec::new();
    // It goes on from there with more blocks.
    let mut with_capacity = restored();
    while let Some(regrown) = mpm.regrow(&DEVICE).unwrap() {
        if places.is_empty() {
            assert_eq!(regrown.place.step + 1, fault.step);
            for _ in 0..taken(regrown.place) {
                advance(&mut with_capacity, 1);
            }
            assert!(found == bits_by_id(&with_capacity), "the substep that overflowed changed something");
        }
        assert_eq!(mpm.place(), regrown.place);
        places.push(regrown.place);
        let mut recorder = DEVICE.recorder().unwrap();
        for _ in taken(mpm.place())..last {
            mpm.record_step(&mut recorder);
        }
        DEVICE.submit(recorder).unwrap();
    }
    assert!(!places.is_empty() && taken(mpm.place()) == last);
    for _ in taken(with_capacity.place())..last {
        advance(&mut with_capacity, 1);
    }
    assert!(bits(&mpm) == bits(&with_capacity), "other bits after the substep that overflowed");
    assert_no_validation_messages(&DEVICE);
    places[0]
}

/// Fault of a particle, and the pass that reports it.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    Velocity,
    Position,
    Strain,
    InsideOut,
    Fast,
}

#[test]
fn a_fault_is_named_and_freezes_the_state() {
    let kinds = [
        (Wrong::Velocity, "UpdateNodes", "velocity that is not finite"),
        (Wrong::Position, "UpdateNodes", "velocity that is not finite"),
        (Wrong::Strain, "UpdateParticles", "deformation gradient that is not finite"),
        (Wrong::InsideOut, "UpdateParticles", "inside out"),
        (Wrong::Fast, "UpdateParticles", "more than a cell"),
    ];
    for (dimensions, transfer) in [(2, Transfer::PicFlip), (3, Transfer::Apic)] {
        for (wrong, pass, what) in kinds {
            let mut case = case(dimensions, transfer, Rasterization::Tiles);
            case.p.bodies.clear();
            case.surroundings.bodies.clear();
            // Only one particle is at fault: each is in its own corner, but one sorts last and comes first by
            // id.
            let mut particles = vec![Particle::new(DVec3::ZERO, 0, 0.4, 1e-3); 4];
            let corner = |x: f64, y: f64| {
                DVec3::new(x, y, if dimensions == 2 { 0.0 } else { 0.5 }).as_vec3().as_dvec3()
            };
            let places = [corner(0.85, 0.85), corner(0.15, 0.15), corner(0.85, 0.15), corner(0.15, 0.85)];
            for (k, (particle, place)) in particles.iter_mut().zip(places).enumerate() {
                particle.position = place;
                particle.id = 10 + k as u32;
            }
            // Two faulty particles, of which the later one in memory has the lower id.
            for at in [0, 2] {
                let particle = &mut particles[at];
                match wrong {
                    Wrong::Velocity => particle.velocity.x = f64::NAN,
                    Wrong::Position => particle.position.y = f64::NAN,
                    Wrong::Strain => particle.elastic.x_axis.y = f64::INFINITY,
                    Wrong::InsideOut => particle.elastic.x_axis.x = -0.99,
                    Wrong::Fast => particle.velocity = DVec3::new(0.0, 1200.0, 0.0),
                }
            }
            let columns = case.columns(&particles);
            let mut columns = columns;
            if matches!(wrong, Wrong::Strain | Wrong::InsideOut) {
                // Without stress, so that the fault stays with its particle until it is detected.
                columns.iter_mut().filter(|c| c.name == "stress").for_each(|c| c.words.fill(0));
            }
            let mut mpm = Mpm::restore(&DEVICE, case.parameters(), &columns, 7, Default::default()).unwrap();
            let mut recorder = DEVICE.recorder().unwrap();
            mpm.record_step(&mut recorder);
            let fault = mpm.record_fault_check(&mut recorder).unwrap();
            DEVICE.submit(recorder).unwrap();
            let fault = fault.wait().unwrap().unwrap_or_else(|| panic!("{wrong:?} was not found"));
            let message = fault.to_string();
            assert_eq!((fault.step, fault.pass), (8, pass), "{message}");
            assert!(message.contains(what), "{wrong:?}: {message}");
            let FaultKind::Particle { id, cell, determinant, .. } = fault.found.clone() else {
                panic!("{message}");
            };
            if matches!(wrong, Wrong::Position) {
                assert!([10, 12].contains(&id), "{message}");
            } else {
                // The lower of the two cells; four cells are outside the domain, and a cubic spline starts
                // one cell below.
                assert_eq!((id, cell), (12, [11, 4, if dimensions == 2 { 0 } else { 8 }]), "{message}");
            }
            if matches!(wrong, Wrong::InsideOut) {
                assert!(determinant < 0.0, "{message}");
            }
            let expected = twin_fault(&case, &particles);
            let is_same = match expected.map(|f| f.kind) {
                Some(twin::FaultKind::NotFinite) => what.contains("finite"),
                Some(twin::FaultKind::Inverted) => what.contains("inside out"),
                Some(twin::FaultKind::TooFast) => what.contains("a cell"),
                None => false,
            };
            assert!(is_same, "{wrong:?}: {message}; the twin found {expected:?}");

            let frozen = bits_by_id(&mpm);
            let mut recorder = DEVICE.recorder().unwrap();
            for _ in 0..5 {
                mpm.record_step(&mut recorder);
            }
            let again = mpm.record_fault_check(&mut recorder).unwrap();
            DEVICE.submit(recorder).unwrap();
            assert_eq!(again.wait().unwrap().map(|f| (f.step, f.pass)), Some((8, pass)));
            assert!(bits_by_id(&mpm) == frozen, "{wrong:?}: a frozen state changed");
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// Returns the twin's fault, without stresses where they would spread it.
fn twin_fault(case: &MpmCase, particles: &[Particle]) -> Option<twin::Fault> {
    let mut state = twin::State::new(particles.to_vec());
    for particle in &mut state.particles {
        if !particle.elastic.is_finite() || particle.elastic.determinant() <= 0.0 {
            particle.volume = 0.0;
        }
        if !particle.position.is_finite() {
            // The position is invalid and has no cell in the twin's grid.
            particle.position = DVec3::splat(0.5);
            particle.velocity = DVec3::NAN;
        }
    }
    state.sort_by_cell(&case.p);
    let mut grid = twin::Grid::rasterize(&case.p, &state.particles);
    for node in grid.nodes.values_mut() {
        node.force = DVec3::ZERO;
    }
    grid.update_velocity(&case.p);
    grid.collide(&case.p, 0.0);
    // A strain that is not finite has no decomposition for the yield criterion.
    let is_strain_finite = state.particles.iter().all(|x| x.elastic.is_finite());
    if !is_strain_finite {
        let at = state.particles.iter().position(|x| !x.elastic.is_finite())?;
        return Some(twin::Fault { step: 0, particle: at, kind: twin::FaultKind::NotFinite });
    }
    state.update_particles(&case.p, &grid, 0.0);
    state.fault
}

#[test]
fn a_step_with_a_fault_moves_all_other_particles() {
    for dimensions in [2, 3] {
        for has_body in [false, true] {
            let mut case = case(dimensions, Transfer::Apic, Rasterization::Tiles);
            if !has_body {
                case.p.bodies.clear();
                case.surroundings.bodies.clear();
            }
            // The faulty particle has the lowest key, and is out of reach of the others.
            let mut particles = case.scatter(3000, 5);
            for particle in &mut particles {
                particle.position = (0.5 + 0.3 * (particle.position - 0.5)).as_vec3().as_dvec3();
            }
            let mut faulty = Particle::new(DVec3::new(0.05, 0.05, 0.0), 3000, 0.4, 1e-3);
            faulty.position.z = if dimensions == 2 { 0.0 } else { 0.0625 };
            particles.push(faulty);
            let step = |determinant_entry: f64| {
                let mut particles = particles.clone();
                particles[3000].elastic.x_axis.x = determinant_entry;
                let mut columns = case.columns(&particles);
                // Without stress, so that the fault is not passed on.
                columns.iter_mut().filter(|c| c.name == "stress").for_each(|c| c.words.fill(0));
                let mut mpm =
                    Mpm::restore(&DEVICE, case.parameters(), &columns, 3, Default::default()).unwrap();
                let mut recorder = DEVICE.recorder().unwrap();
                mpm.record_step(&mut recorder);
                let fault = mpm.record_fault_check(&mut recorder).unwrap();
                DEVICE.submit(recorder).unwrap();
                (bits_by_id(&mpm), fault.wait().unwrap())
            };
            let (sound, none) = step(1.0);
            let (found, fault) = step(-0.99);
            assert!(none.is_none(), "{none:?}");
            assert!(matches!(fault.unwrap().found, FaultKind::Particle { id: 3000, .. }));
            for ((name, found), (_, sound)) in found.iter().zip(&sound) {
                // The last id is that of the faulty particle.
                let n = found.len() / particles.len() * 3000;
                assert!(found[..n] == sound[..n], "{dimensions}-D, body {has_body}: {name} differs");
            }
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn initial_spins_belong_to_their_particles() {
    for dimensions in [2, 3] {
        let case = case(dimensions, Transfer::Apic, Rasterization::Tiles);
        let particles = case.scatter(200, 3);
        let mut initial = initial_state_of(&particles);
        // Particles far apart in memory are near in space: the first sort moves most of them.
        initial.spins_rad_s = (0..particles.len()).map(|i| [0.0, 0.0, 1.0 + i as f32]).collect();
        let mpm = Mpm::new(&DEVICE, case.parameters(), &initial, Tuning::default()).unwrap();
        let state = state_of(&DEVICE, &mpm);
        let words = |name: &str| &state.iter().find(|c| c.name == name).unwrap().words;
        let (id, affine) = (words("id"), words("affine"));
        assert!(!id.is_sorted(), "the sort moves nothing");
        let d = dimensions as usize;
        for (i, id) in id.iter().enumerate() {
            // C r = ω × r, by columns: the first is (0, ω, 0).
            assert_eq!(f32::from_bits(affine[d * d * i + 1]), 1.0 + *id as f32, "particle {id}");
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn no_snow_and_one_particle_are_snow() {
    for dimensions in [2, 3] {
        for rasterization in [Rasterization::Tiles, Rasterization::FixedPoint] {
            for n in [0, 1] {
                let case = case(dimensions, Transfer::Apic, rasterization);
                let mut particles = case.scatter(n, 14);
                particles.iter_mut().for_each(|particle| particle.elastic = DMat3::IDENTITY);
                let mut mpm = case.restore(&DEVICE, &particles, 0);
                advance(&mut mpm, 5);
                let mut recorder = DEVICE.recorder().unwrap();
                let metrics = mpm.record_metrics(&mut recorder).unwrap();
                DEVICE.submit(recorder).unwrap();
                let metrics = metrics.wait().unwrap();
                assert_eq!(metrics.all.particles, n);
                assert_eq!(metrics.n_nodes > 0, n > 0);
                assert!((metrics.mass_kg > 0.0) == (n > 0));
                let initial = initial_state_of(&particles);
                let mut parameters = case.parameters();
                parameters.initial_volume = InitialVolume::Grid;
                let mut mpm = Mpm::new(&DEVICE, parameters, &initial, Tuning::default()).unwrap();
                advance(&mut mpm, 5);
            }
        }
    }
    assert_no_validation_messages(&DEVICE);
}
