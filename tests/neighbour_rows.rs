//! Rows of neighbours of the density solve: they are those of the CPU twin, and no bit of a run depends on
//! them, also where rows are too short and where particles move beyond the skin within a step.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::fluid::State;
use frazil_scene::{Phase, Sampled, Scene};
use frazil_solvers::Solver as _;
use frazil_solvers::Tuning;
use frazil_solvers::pbd::{Fluid, NEIGHBOUR_SLOTS, Stage};
use frazil_testkit::twins::pbd::twin_parameters;
use frazil_testkit::{Random, assert_no_validation_messages, config, device};
use frazil_vk::Device;
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Particle spacing in m.
const D: f64 = 0.05;

/// Creates a scene of a box whose upper faces cut its cells of 0.1 m, or not; `more` holds further sections.
fn scene(more: &str) -> Scene {
    scene_with(more, "")
}

/// The same with further keys of `[fluid]`.
fn scene_with(more: &str, of_fluid: &str) -> Scene {
    let text = format!(
        "version = 1\nname = \"rows\"\nup_axis = \"y\"\ntime = {{ dt_s = 0.002, duration_s = 1.0 }}\n\
         [fluid]\nparticle_spacing_m = {D}\ninitial_disorder_spacings = 0.0\n{of_fluid}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.6, 0.64, 0.67]\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [0.1, 0.1, 0.1] }}\n{more}"
    );
    // Random states are dense and fast: none of them shall end the simulation.
    let limits = ["pbd.max_density_ratio=1e6", "pbd.max_courant=1e6"].map(str::to_owned);
    Scene::parse(&text, "rows.toml", &limits).unwrap()
}

/// Distribution of particles.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// In the whole box, at about rest density for a thousand.
    Cloud,
    /// In a cube of the support radius, so that each is a neighbour of most.
    Heap,
    /// At a few points of a lattice, with distances of exactly h, and many at one point.
    Lattice,
}

fn sampled(n: usize, shape: Shape, speed_m_s: f32, seed: u64) -> Sampled {
    let mut random = Random::new(seed);
    let mut sampled = Sampled::default();
    for _ in 0..n {
        let position = [(); 3].map(|()| match shape {
            Shape::Cloud => 0.02 + 0.58 * random.unit(),
            Shape::Heap => 0.2 + 0.1 * random.unit(),
            Shape::Lattice => 0.1 * (1.0 + (4.0 * random.unit()).floor()),
        });
        sampled.positions_m.push(position);
        sampled.velocities_m_s.push([(); 3].map(|()| speed_m_s * (2.0 * random.unit() - 1.0)));
        sampled.temperatures_c.push(0.0);
        sampled.phases.push(Phase::Water);
    }
    sampled
}

fn run(fluid: &mut Fluid, stages: &[Stage]) {
    let mut recorder = DEVICE.recorder().unwrap();
    for stage in stages {
        fluid.record_stage(&mut recorder, *stage);
    }
    DEVICE.submit(recorder).unwrap().wait().unwrap();
}

#[test]
fn rows_are_those_of_the_twin() {
    let sizes = prop_oneof![Just(0usize), Just(1), Just(2), 3usize..200, 255usize..258, 511usize..514];
    let shapes = prop::sample::select(vec![Shape::Cloud, Shape::Heap, Shape::Lattice]);
    let slots = prop::sample::select(vec![2u32, 64, 256]);
    let group = prop::sample::select(vec![64u32, 256]);
    let cases = (sizes, shapes, slots, group, any::<bool>(), any::<u64>());
    proptest!(config(24), |((n, shape, slots, group, has_start, seed) in cases)| {
        let tuning = Tuning::new(group).unwrap().with(&NEIGHBOUR_SLOTS, slots).unwrap();
        // Faster than the skin, where neighbours at the start of a step differ from those at its end.
        let particles = sampled(n, shape, if has_start { 20.0 } else { 1.0 }, seed);
        let scene = scene("[pbd]\npressure = \"position\"\n");
        let mut fluid = Fluid::with_tuning(&DEVICE, &scene, &particles, tuning).unwrap();
        if has_start {
            fluid.list_neighbours_at_start(&DEVICE).unwrap();
        }
        let stages: Vec<Stage> =
            fluid.stages().take_while(|stage| *stage != Stage::BeginDensitySolve).collect();
        prop_assert_eq!(stages.last(), Some(&Stage::ListNeighbours));
        run(&mut fluid, &stages);
        let p = twin_parameters(&fluid);
        let mut twin = State::new(DEVICE.download(fluid.position(), n).unwrap(), vec![[0.0; 3]; n]);
        twin.key = DEVICE.download(fluid.key(), n).unwrap();
        twin.predicted = DEVICE.download(fluid.predicted(), n).unwrap();
        twin.cell_start =
            DEVICE.download(fluid.grid().cell_start(), fluid.grid().cells() as usize + 1).unwrap();
        let slots = fluid.rows().slots() as usize;
        let rows = fluid.rows().download(&DEVICE, 0).unwrap();
        prop_assert!(n == 0 || rows.flags().iter().all(|flag| *flag == 0));
        for (i, (own, images)) in p.list_neighbours(&twin, has_start).into_iter().enumerate() {
            let n_all = own.len() + images.len();
            let row = rows.row(i);
            prop_assert_eq!(row.is_none(), n_all > slots, "row {} of {} neighbours", i, n_all);
            let Some([found_own, found_images]) = row else { continue };
            prop_assert_eq!(found_own, own, "row {}", i);
            // Which axes are reflected; the face follows from the position.
            let reflected = |entry: &u32| {
                let sides: [u32; 3] = std::array::from_fn(|axis| entry >> (26 + 2 * axis) & 3);
                (entry & ((1 << 26) - 1), sides.map(|side| side != 0))
            };
            let mut found: Vec<_> = found_images.iter().map(reflected).collect();
            let mut expected: Vec<_> =
                images.iter().map(|(j, sign)| (*j, sign.map(|sign| sign < 0.0))).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected, "images in row {}", i);
        }
        let counted = fluid.work_counters(&DEVICE).unwrap();
        if (0..n).any(|i| rows.row(i).is_none()) {
            prop_assert!(counted.is_empty(), "{:?}", counted);
            return Ok(());
        }
        let count = |item: &str| counted.iter().find(|counter| counter.item == item).unwrap().count;
        // Offsets of all pairs in rows, of images behind the nearer face.
        let (mut own_q2, mut image_q2) = (Vec::new(), Vec::new());
        let domain = [[0.0; 3], [0.6, 0.64, 0.67]];
        for (i, (own, images)) in p.list_neighbours(&twin, has_start).into_iter().enumerate() {
            let pairs = own.iter().map(|j| (*j, [1.0; 3])).chain(images.iter().copied());
            for (k, (j, sign)) in pairs.enumerate() {
                let [x, y] = [i, j as usize].map(|i| twin.predicted[i].map(f64::from));
                let offset = |axis: usize| {
                    let behind = domain.map(|face: [f64; 3]| (x[axis] + y[axis] - 2.0 * face[axis]).abs());
                    if sign[axis] < 0.0 { behind[0].min(behind[1]) } else { x[axis] - y[axis] }
                };
                let q2: f64 = (0..3).map(|axis| (offset(axis) / f64::from(p.support_m)).powi(2)).sum();
                if k < own.len() { own_q2.push(q2) } else { image_q2.push(q2) }
            }
        }
        let items =
            [(own_q2, "listed_neighbour", "near_neighbour"), (image_q2, "listed_image", "near_image")];
        for (q2, listed, near) in items {
            prop_assert_eq!(count(listed), q2.len() as u64);
            let within = |q2_max: f64| q2.iter().filter(|q2| **q2 < q2_max).count() as u64;
            let bounds = within(1.0 - 1e-4)..=within(1.0 + 1e-4);
            prop_assert!(bounds.contains(&count(near)), "{} {:?}", near, counted);
        }
        assert_no_validation_messages(&DEVICE);
    });
}

/// Bits of all columns after some steps, and the numbers of steps in which a particle moved by more than half
/// the skin, and of rows that were too short.
fn bits_after(steps: usize, scene: &Scene, sampled: &Sampled, slots: u32) -> (Vec<Vec<u32>>, usize, usize) {
    let tuning = Tuning::default().with(&NEIGHBOUR_SLOTS, slots).unwrap();
    let mut fluid = Fluid::with_tuning(&DEVICE, scene, sampled, tuning).unwrap();
    let (mut n_moved, mut n_short) = (0, 0);
    for _ in 0..steps {
        let stages: Vec<Stage> = fluid.stages().collect();
        run(&mut fluid, &stages);
        if fluid.rows().slots() > 0 {
            let rows = fluid.rows().download(&DEVICE, 0).unwrap();
            n_moved += usize::from(rows.flags().contains(&1));
            n_short += (0..sampled.positions_m.len()).filter(|i| rows.row(*i).is_none()).count();
        }
    }
    let columns = fluid.state_columns();
    let bits = columns.iter().map(|column| DEVICE.download(&column.words, column.words.len()).unwrap());
    (bits.collect(), n_moved, n_short)
}

#[test]
fn no_bit_depends_on_rows() {
    let solves = [
        "",
        "[pbd]\npressure = \"position\"\n",
        "[pbd]\npressure = \"position\"\ndensity_tolerance = 0.0\nartificial_pressure.strength = 0.005\n",
        "[pbd]\npressure = \"position\"\nmax_iterations = 6\n",
    ];
    let [projected, adaptive, fixed, bounded] = solves.map(scene);
    let at_start = scene_with("[pbd]\npressure = \"position\"\n", "constraint_gradient = \"start\"");
    const N: usize = 8;
    let (mut calm, mut moved, mut short) = (0, 0, 0);
    for (scene, shape, n, speed) in [
        (&projected, Shape::Cloud, 900, 0.1),
        (&adaptive, Shape::Cloud, 900, 0.1),
        (&adaptive, Shape::Cloud, 900, 8.0),
        (&fixed, Shape::Cloud, 900, 3.0),
        (&bounded, Shape::Heap, 200, 0.1),
        (&bounded, Shape::Lattice, 300, 0.1),
        (&at_start, Shape::Cloud, 900, 0.1),
        (&at_start, Shape::Cloud, 900, 8.0),
    ] {
        let particles = sampled(n, shape, speed, 7);
        let (without, ..) = bits_after(N, scene, &particles, 1);
        for slots in [16, NEIGHBOUR_SLOTS.default] {
            let (with, n_moved, n_short) = bits_after(N, scene, &particles, slots);
            assert_eq!(with, without, "{shape:?} at {speed} m/s, {slots} slots: {n_moved}, {n_short}");
            (calm, moved, short) = (calm + N - n_moved, moved + n_moved, short + n_short);
        }
    }
    assert!(
        calm > 12 && moved > 12 && short > 1000,
        "{calm} steps calm, {moved} not; {short} rows too short"
    );
    assert_no_validation_messages(&DEVICE);
}

/// Projection out of bodies moves particles between iterations, across a thin plate and out of a sphere among
/// many.
#[test]
fn no_bit_depends_on_rows_beside_bodies() {
    let sphere =
        "[[bodies]]\nname = \"ball\"\nshape.sphere = { centre_m = [0.25, 0.25, 0.25], radius_m = 0.08 }\n";
    // A large ball near the floor, with a narrow wedge between them.
    let wedge =
        "[[bodies]]\nname = \"wedge\"\nshape.sphere = { centre_m = [0.3, 0.22, 0.3], radius_m = 0.2 }\n";
    let plates = "[[bodies]]\nname = \"plate\"\nshape.box = { centre_m = [0.3, 0.3, 0.3], size_m = [0.5, \
                  0.004, 0.5] }\n\
                  [[bodies]]\nname = \"wall\"\nshape.box = { centre_m = [0.3, 0.3, 0.3], size_m = [0.004, \
                  0.5, 0.5] }\n";
    const N: usize = 6;
    let (mut calm, mut moved) = (0, 0);
    let position = "[pbd]\npressure = \"position\"\n";
    for (pressure, more, shape, n, speed) in [
        ("", sphere, Shape::Cloud, 900, 0.05),
        (position, sphere, Shape::Cloud, 900, 0.05),
        (position, sphere, Shape::Heap, 200, 0.1),
        (position, plates, Shape::Cloud, 900, 1.0),
        (position, plates, Shape::Lattice, 300, 0.1),
        (position, wedge, Shape::Cloud, 900, 0.3),
        (position, wedge, Shape::Cloud, 900, 0.05),
    ] {
        let particles = sampled(n, shape, speed, 11);
        let scene = scene(&format!("{pressure}{more}"));
        let (without, ..) = bits_after(N, &scene, &particles, 1);
        let (with, n_moved, _) = bits_after(N, &scene, &particles, NEIGHBOUR_SLOTS.default);
        assert_eq!(with, without, "{shape:?} at {speed} m/s with {more}: {n_moved}");
        (calm, moved) = (calm + N - n_moved, moved + n_moved);
    }
    assert!(calm > 3 && moved > 3, "{calm} steps calm, {moved} not");
    assert_no_validation_messages(&DEVICE);
}
