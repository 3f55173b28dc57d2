//! The material point method on the device compared with its f64 twin: every stage from the device's state
//! before it, and whole steps.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::mpm as twin;
use frazil_reference::uniform_bodies;
use frazil_scene::{
    Contact, Implicit, InitialVolume, Mpm as Section, Rasterization, Spline, Surface, Transfer, Weights,
};
use frazil_solvers::Solver as _;
use frazil_solvers::Tuning;
use frazil_solvers::mpm::{InitialState, Mpm, Surroundings};
use frazil_testkit::ROUNDING;
use frazil_testkit::twins::mpm::particles_of_state;
use frazil_testkit::{assert_no_validation_messages, device};
use frazil_tests::Worst;
use frazil_tests::mpm_stages::{MpmCase, Stages, name_of};
use frazil_tests::snowpack::{empty_space, state_of};
use frazil_vk::Device;
use glam::{DMat3, DVec3};
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

const DT_S: f64 = 1.0 / 8192.0;

/// Returns a cell size that is a power of two: positions in cells are exact.
fn exact_cell(dimensions: u32) -> f64 {
    if dimensions == 2 { 0.0625 } else { 0.125 }
}

/// Creates a section with these settings.
fn with(dimensions: u32, cell_m: f64, spline: Spline, transfer: Transfer) -> Section {
    Section {
        spline,
        transfer,
        walls: Surface { friction: 0.25, sticky: false },
        // tests/defaults_mpm_transfer.rs has contact of particles.
        contact: Some(Contact::Nodes),
        ..Section::sampled(dimensions, cell_m)
    }
}

/// Creates a domain of at most one metre, with oblique gravity.
fn surroundings(dimensions: u32) -> Surroundings {
    let depth = if dimensions == 2 { 0.0 } else { 0.5 };
    let gravity = [1.0, -9.0, if dimensions == 2 { 0.0 } else { 0.5 }];
    Surroundings { gravity_m_s2: gravity, ..empty_space([0.0; 3], [1.0, 0.75, depth]) }
}

/// Creates surroundings with numbers that are not exact in binary.
fn odd_surroundings(dimensions: u32) -> Surroundings {
    let [low, high] = if dimensions == 2 { [0.0; 2] } else { [0.3, 0.8] };
    Surroundings {
        domain_min_m: [-0.3, 0.1, low],
        domain_max_m: [0.7, 0.9, high],
        face_friction: [[None, Some(0.6), None], [Some(0.0), None, Some(0.1)]],
        ..surroundings(dimensions)
    }
}

/// Creates bodies of each kind: at rest, moving, before and after their motion, sticky.
fn bodies(dimensions: u32) -> Vec<uniform_bodies::UniformBody> {
    let is_flat = dimensions == 2;
    let single = |v: [f64; 3]| {
        DVec3::from_array([v[0], v[1], if is_flat { 0.0 } else { v[2] }].map(|x| f64::from(x as f32)))
    };
    let axis = if is_flat { DVec3::Z } else { DVec3::new(1.0, 2.0, 3.0).normalize() };
    let moving = |velocity: [f64; 3], from_s, until_s| {
        Some(uniform_bodies::Motion { velocity_m_s: single(velocity), from_s, until_s })
    };
    let heights = (0..3).map(|k| (0..5).map(|i| 0.03 + 0.02 * f64::from((3 * i + 2 * k) % 5)).collect());
    let heights = uniform_bodies::Heights {
        origin_m: [0.125, 0.0625],
        spacing_m: 0.1875,
        heights_m: heights.collect(),
    };
    let body = |shape, friction, sticky, motion| uniform_bodies::UniformBody {
        shape,
        surface: uniform_bodies::Surface { friction, sticky },
        motion,
    };
    vec![
        body(
            uniform_bodies::Shape::Plane {
                point_m: single([0.1, 0.05, 0.0]),
                normal: single([0.6, 0.8, 0.0]),
            },
            0.3,
            false,
            None,
        ),
        body(
            uniform_bodies::Shape::Ball { centre_m: single([0.45, 0.4, 0.25]), radius_m: 0.13 },
            0.0,
            false,
            moving([0.8, -0.3, 0.2], 0.0, 1.0),
        ),
        body(
            uniform_bodies::Shape::Box {
                centre_m: single([0.8, 0.5, 0.25]),
                size_m: DVec3::new(0.25, 0.2, 0.4),
                rotation: DMat3::from_axis_angle(axis, 0.7),
            },
            0.5,
            true,
            moving([-0.5, 0.5, 0.0], 0.0, 0.001),
        ),
        body(
            uniform_bodies::Shape::Container { centre_m: single([0.5, 0.375, 0.25]), radius_m: 0.6 },
            0.7,
            false,
            moving([0.0, 0.25, 0.1], 0.001, 1.0),
        ),
        body(uniform_bodies::Shape::Heightfield(heights), 0.1, false, moving([0.0, 3.0, 0.0], 1.0, 2.0)),
    ]
}

/// Returns a number of particles that fills the domain, some cells with several.
fn enough(dimensions: u32) -> u32 {
    if dimensions == 2 { 300 } else { 250 }
}

/// Asserts that no stage of two steps from a random state differs by more than rounding.
fn assert_stages_agree(case: &MpmCase, seed: u64) -> Worst {
    let particles = case.scatter(enough(case.section.dimensions), seed);
    let mut stages = Stages::new(case, &DEVICE, &particles, 37);
    stages.step();
    stages.step();
    let (name, beyond) = (name_of(&case.section), stages.worst.beyond());
    assert!(beyond.is_empty(), "{name}:\n{beyond}");
    println!("{name}\n{}", stages.worst.shares());
    stages.worst
}

#[test]
fn every_stage_in_a_plane_agrees_with_the_twin() {
    stages_agree(2);
}

#[test]
fn every_stage_in_space_agrees_with_the_twin() {
    stages_agree(3);
}

fn stages_agree(dimensions: u32) {
    for spline in [Spline::Cubic, Spline::Quadratic] {
        let affine = [Transfer::Apic, Transfer::Mls];
        let flipped = affine.into_iter().flat_map(|transfer| [(transfer, Some(0.0)), (transfer, Some(0.7))]);
        for (transfer, flip_ratio) in [(Transfer::PicFlip, None)].into_iter().chain(flipped) {
            let section =
                Section { flip_ratio, ..with(dimensions, exact_cell(dimensions), spline, transfer) };
            let case = MpmCase::new(section, DT_S, surroundings(dimensions), bodies(dimensions));
            let worst = assert_stages_agree(&case, 1);
            assert_eq!(worst.n_seen(), case.p.bodies.len(), "bodies that nothing touched");
            assert!(worst.n_yielded > 100, "{} particles yielded", worst.n_yielded);
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn every_stage_agrees_where_places_in_cells_are_rounded() {
    for dimensions in [2, 3] {
        for (spline, transfer, weights, plastic, strain_floor, sticky, node_mass_cutoff) in [
            (Spline::Cubic, Transfer::PicFlip, Weights::AsPrinted, false, false, true, 0.0),
            (Spline::Quadratic, Transfer::Mls, Weights::Factored, true, true, false, 0.05),
        ] {
            let mut section = with(dimensions, 0.05 * f64::from(dimensions - 1), spline, transfer);
            section.weights = weights;
            section.material.plastic = plastic;
            section.strain_floor = strain_floor;
            section.node_mass_cutoff = node_mass_cutoff;
            section.walls.sticky = sticky;
            section.flip_ratio = Some(0.5);
            let case = MpmCase::new(section, 1e-4, odd_surroundings(dimensions), bodies(dimensions));
            assert_stages_agree(&case, 2);
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn atomics_in_fixed_and_in_floating_point_agree_with_the_twin() {
    for rasterization in [Rasterization::FixedPoint, Rasterization::FloatAtomics] {
        if rasterization == Rasterization::FloatAtomics && !DEVICE.capabilities().float_atomics {
            eprintln!("SKIPPED: the device has no floating-point atomics");
            continue;
        }
        for (dimensions, spline, transfer) in [
            (2, Spline::Cubic, Transfer::PicFlip),
            (2, Spline::Quadratic, Transfer::Mls),
            (3, Spline::Cubic, Transfer::Mls),
            (3, Spline::Quadratic, Transfer::Apic),
        ] {
            let section =
                Section { rasterization, ..with(dimensions, exact_cell(dimensions), spline, transfer) };
            let case = MpmCase::new(section, DT_S, surroundings(dimensions), Vec::new());
            assert_stages_agree(&case, 3);
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn the_semi_implicit_solve_agrees_with_the_twin() {
    for (dimensions, spline, transfer, pic_rate_per_s, beta) in [
        (2, Spline::Cubic, Transfer::PicFlip, None, 1.0),
        (2, Spline::Quadratic, Transfer::Mls, None, 0.5),
        (2, Spline::Cubic, Transfer::Apic, Some(0.02 / DT_S), 1.0),
        (3, Spline::Cubic, Transfer::Apic, None, 1.0),
        (3, Spline::Quadratic, Transfer::PicFlip, None, 0.5),
    ] {
        let implicit = Some(Implicit { beta, max_iterations: 60, tolerance: 1e-4 });
        let mut section = Section {
            implicit,
            pic_rate_per_s,
            ..with(dimensions, exact_cell(dimensions), spline, transfer)
        };
        // Compact snow converges in the same number of iterations as snow that bursts, and stays in its
        // cells.
        section.material.youngs_modulus_pa = 5e4;
        let mut case = MpmCase::new(section, 16.0 * DT_S, surroundings(dimensions), bodies(dimensions));
        case.p.bodies.truncate(2);
        case.surroundings.bodies.truncate(2);
        assert_stages_agree(&case, 4);
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn volumes_from_the_grid_agree_with_the_twin() {
    for dimensions in [2, 3] {
        for spline in [Spline::Cubic, Spline::Quadratic] {
            let section = Section {
                initial_volume: InitialVolume::Grid,
                ..with(dimensions, exact_cell(dimensions), spline, Transfer::Apic)
            };
            let case = MpmCase::new(section, DT_S, surroundings(dimensions), Vec::new());
            let particles = case.scatter(enough(dimensions), 5);
            let beginning = InitialState {
                positions_m: particles.iter().map(|x| x.position.as_vec3().to_array()).collect(),
                velocities_m_s: particles.iter().map(|x| x.velocity.as_vec3().to_array()).collect(),
                masses_kg: particles.iter().map(|x| x.mass as f32).collect(),
                // Invalid volumes, which must not be read.
                volumes_m3: vec![-1.0; particles.len()],
                ..InitialState::default()
            };
            let mpm = Mpm::new(&DEVICE, case.parameters(), &beginning, Tuning::default()).unwrap();
            let found = particles_of_state(mpm.parameters(), &state_of(&DEVICE, &mpm));
            let mut expected = twin::State::new(particles);
            expected.take_volume_from_grid(&case.p);
            for particle in found {
                let volume = expected.particles[particle.id as usize].volume;
                // Sums of 4^D positive terms, each a sum of 4^D.
                let bound = 150.0 * ROUNDING * volume;
                assert!((particle.volume - volume).abs() <= bound, "{particle:?}, expected {volume}");
            }
        }
    }
    assert_no_validation_messages(&DEVICE);
}

/// Snow strained far beyond both bounds, one particle per case, on nodes at rest: F̂_E is the previous value,
/// and yields.
#[test]
fn snow_strained_beyond_its_bounds_yields_and_hardens_as_the_twin() {
    for (dimensions, relaxation_time_s) in [(2, 0.0), (3, 0.0), (2, DT_S), (3, 7.0 * DT_S)] {
        let mut section = with(dimensions, exact_cell(dimensions), Spline::Cubic, Transfer::PicFlip);
        section.flip_ratio = Some(0.0);
        section.material.relaxation_time_s = relaxation_time_s;
        let case = MpmCase::new(section, DT_S, surroundings(dimensions), Vec::new());
        let mut particles = case.scatter(200, 6);
        for (i, particle) in particles.iter_mut().enumerate() {
            // Stretched, compressed, both along different axes, near the bounds, and equally along all axes.
            let sigma =
                [[1.5, 1.2, 1.1], [0.5, 0.7, 0.9], [1.4, 0.6, 1.0], [1.0076, 0.9749, 1.0], [0.8; 3]][i % 5];
            let [first, second] = [0.37, 1.1].map(|turn| {
                let axis = if dimensions == 2 { DVec3::Z } else { particle.position.normalize_or(DVec3::X) };
                DMat3::from_axis_angle(axis, turn * i as f64)
            });
            let mut strain = DMat3::from_diagonal(DVec3::from_array(sigma));
            if dimensions == 2 {
                strain.z_axis.z = 1.0;
            }
            let elastic = first * strain * second;
            particle.elastic = DMat3::from_cols_array(&elastic.to_cols_array().map(|x| f64::from(x as f32)));
            particle.velocity = DVec3::ZERO;
            // Zero volume gives zero force.
            particle.volume = f64::from((particle.volume * 1e-12) as f32);
        }
        let mut stages = Stages::new(&case, &DEVICE, &particles, 0);
        stages.step();
        let beyond = stages.worst.beyond();
        assert!(beyond.is_empty(), "{beyond}");
        assert_eq!(stages.worst.n_yielded, particles.len());
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn whole_steps_agree_with_the_twin() {
    for (dimensions, transfer, rasterization, implicit) in [
        (2, Transfer::PicFlip, Rasterization::Tiles, false),
        (2, Transfer::Mls, Rasterization::FixedPoint, false),
        (3, Transfer::Apic, Rasterization::Tiles, false),
        (3, Transfer::PicFlip, Rasterization::FixedPoint, true),
    ] {
        let spline = if transfer == Transfer::Mls { Spline::Quadratic } else { Spline::Cubic };
        let implicit = implicit.then_some(Implicit { beta: 1.0, max_iterations: 60, tolerance: 1e-6 });
        let section =
            Section { rasterization, implicit, ..with(dimensions, exact_cell(dimensions), spline, transfer) };
        let name = name_of(&section);
        let case = MpmCase::new(section, DT_S, surroundings(dimensions), Vec::new());
        let particles = case.scatter(enough(dimensions), 7);
        let mut mpm = case.restore(&DEVICE, &particles, 0);
        let mut expected = twin::State::new(particles);
        let mut recorder = DEVICE.recorder().unwrap();
        for _ in 0..5 {
            mpm.record_step(&mut recorder);
            expected.step(&case.p);
        }
        let fault = mpm.record_fault_check(&mut recorder).unwrap();
        DEVICE.submit(recorder).unwrap();
        assert_eq!((fault.wait().unwrap(), expected.fault), (None, None));

        let mut found = particles_of_state(mpm.parameters(), &state_of(&DEVICE, &mpm));
        found.sort_by_key(|particle| particle.id);
        let mut sorted = expected.particles.clone();
        sorted.sort_by_key(|particle| particle.id);
        let mut worst = Worst::default();
        let speed = sorted.iter().map(|x| x.velocity.length()).fold(0.0, f64::max);
        // Rounding of one step propagates through four more, in each of which stiff snow amplifies it several
        // times.
        let rounding = 4000.0 * ROUNDING;
        for (a, b) in found.iter().zip(&sorted) {
            let name = format!("{a:?}, expected {b:?}");
            worst.note(
                "x",
                (a.position - b.position).length(),
                rounding * 5.0 * DT_S * speed + 16.0 * ROUNDING,
                &name,
            );
            worst.note("v", (a.velocity - b.velocity).length(), rounding * speed, &name);
            let strain = a.elastic - b.elastic;
            let strain = strain.to_cols_array().iter().fold(0.0, |max: f64, x| max.max(x.abs()));
            worst.note("F", strain, 0.05 * rounding, &name);
            worst.note("J_P", (a.plastic_volume - b.plastic_volume).abs(), 0.05 * rounding, &name);
        }
        let beyond = worst.beyond();
        assert!(beyond.is_empty(), "{name}:\n{beyond}");
        println!("{name}\n{}", worst.shares());
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn metrics_agree_with_the_twin() {
    for (dimensions, spline, transfer) in [
        (2, Spline::Quadratic, Transfer::Apic),
        (2, Spline::Cubic, Transfer::PicFlip),
        (3, Spline::Cubic, Transfer::Mls),
        (3, Spline::Quadratic, Transfer::Apic),
    ] {
        let section = with(dimensions, exact_cell(dimensions), spline, transfer);
        let name = name_of(&section);
        let case = MpmCase::new(section, DT_S, surroundings(dimensions), Vec::new());
        let state = twin::State::new(case.scatter(1000, 8));
        let (p, particles) = (&case.p, &state.particles);
        let mpm = case.restore(&DEVICE, particles, 0);
        let mut recorder = DEVICE.recorder().unwrap();
        let metrics = mpm.record_metrics(&mut recorder).unwrap();
        DEVICE.submit(recorder).unwrap();
        let metrics = metrics.wait().unwrap();

        let energy = state.energy(p);
        let bottom = DVec3::new(p.domain_max_m.x, p.domain_min_m.y, p.domain_max_m.z);
        let potential = energy.potential + state.mass() * p.gravity_m_s2.dot(bottom);
        // A reduction tree with few levels, of terms with a few roundings each: relative to the sums of
        // magnitudes.
        let rounding = 32.0 * ROUNDING;
        let sum = |of: &dyn Fn(&twin::Particle) -> f64| rounding * particles.iter().map(of).sum::<f64>();
        let stiffness = |x: &twin::Particle| {
            let lame = p.material.lame(x.plastic_volume);
            x.volume * (2.0 * lame.mu + 3.0 * lame.lambda)
        };
        let mut worst = Worst::default();
        let mut note = |what, found: DVec3, expected: DVec3, bound| {
            worst.note(what, (found - expected).length(), bound, format!("{found}, expected {expected}"));
        };
        let scalar = |x: f64| DVec3::new(x, 0.0, 0.0);
        note("mass", scalar(metrics.mass_kg), scalar(state.mass()), sum(&|x| x.mass));
        let momentum = metrics.all.momentum_kg_m_s.into();
        note("momentum", momentum, state.momentum(), sum(&|x| x.mass * x.velocity.length()));
        let [orbit, affine] = state.angular_momenta(p);
        let swept = sum(&|x| x.mass * x.velocity.length());
        note("angular momentum", metrics.angular_momentum_kg_m2_s.into(), orbit, swept);
        let spin = sum(&|x| x.mass * p.inertia_m2() * 20.0);
        note("affine momentum", metrics.affine_momentum_kg_m2_s.into(), affine, spin);
        let kinetic = scalar(metrics.all.kinetic_energy_j);
        note("kinetic energy", kinetic, scalar(energy.kinetic), rounding * energy.kinetic);
        // Strains of up to a tenth are differences of numbers near 1.
        let elastic = scalar(metrics.elastic_energy_j);
        note("elastic energy", elastic, scalar(energy.elastic), sum(&|x| 0.1 * stiffness(x)));
        let weight = |x: &twin::Particle| x.mass * p.gravity_m_s2.length();
        note("potential energy", scalar(metrics.all.potential_energy_j), scalar(potential), sum(&weight));
        let beyond = worst.beyond();
        assert!(beyond.is_empty(), "{name}:\n{beyond}");

        let plastic = || particles.iter().map(|x| x.plastic_volume);
        assert_eq!(metrics.plastic_volume_min, plastic().fold(f64::INFINITY, f64::min));
        assert_eq!(metrics.plastic_volume_max, plastic().fold(0.0, f64::max));
        let lower = particles.iter().fold(DVec3::INFINITY, |low, x| low.min(x.position));
        let upper = particles.iter().fold(DVec3::NEG_INFINITY, |high, x| high.max(x.position));
        assert_eq!((metrics.all.lower_m, metrics.all.upper_m), (lower.to_array(), upper.to_array()));
        // No step has run that would have created nodes.
        assert_eq!((metrics.all.n_not_finite, metrics.all.n_outside, metrics.n_nodes), (0, 0, 0));
    }
    assert_no_validation_messages(&DEVICE);
}
