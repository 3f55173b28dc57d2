//! Random small scenes with snow: no particle is lost or escapes in any scene, and links stay consistent.
//!
//! A failure shrinks to the text of a scene, which is printed and can be run unchanged: `frazil run FILE`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::Scene;
use frazil_solvers::Solver as _;
use frazil_solvers::Tuning;
use frazil_solvers::pbd::{Snow, SnowMetrics};
use frazil_testkit::{assert_no_validation_messages, config, device, is_full_run, own_device};
use frazil_tests::SnowSimulation;
use frazil_vk::Device;
use proptest::prelude::*;
use proptest::sample::select;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::LazyLock;

/// One device for all tests of a process: it caches compiled kernels.
static DEVICE: LazyLock<Device> = LazyLock::new(device);

const SPACING_M: f64 = 0.02;

/// Rounding of positions below 0.5 m to f32, and of the few operations that compute them.
const ROUNDING_M: f64 = 1e-6;

/// Text of a scene, which a failure prints unchanged.
struct SceneText(String);

impl fmt::Debug for SceneText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

/// Body of a scene. Lengths in this and the following types are in spacings.
#[derive(Clone, Copy, Debug)]
enum BodyKind {
    None,
    Plane,
    Ball,
    Container,
}

#[derive(Clone, Debug)]
struct Block {
    size: [u32; 3],
    /// Offset from the lower corner of the domain along x and z, as far as the domain allows.
    shift: [u32; 2],
    /// Gap above the block below.
    gap: u32,
    phase: &'static str,
    temperature_c: i32,
    velocity_m_s: [i32; 3],
    jitter_spacings: f64,
}

fn block() -> impl Strategy<Value = Block> {
    let temperature_c = prop_oneof![2 => -40..=-1, 1 => Just(0), 2 => 1..=90];
    let velocity_m_s = prop_oneof![2 => Just([0; 3]), 1 => [-3..=3, -5..=2, -3..=3]];
    (
        [1u32..=6, 1u32..=3, 1u32..=6],
        [0u32..=3, 0u32..=3],
        0u32..=2,
        select(vec!["snow", "water"]),
        temperature_c,
        velocity_m_s,
        select(vec![0.0, 0.2]),
    )
        .prop_map(|(size, shift, gap, phase, temperature_c, velocity_m_s, jitter_spacings)| Block {
            size,
            shift,
            gap,
            phase,
            temperature_c,
            velocity_m_s,
            jitter_spacings,
        })
}

/// Generates the `[snow]` section, line by line; the first choices are the simplest.
fn snow() -> impl Strategy<Value = String> {
    let contact = (
        select(vec![0.5, 0.6]),
        select(vec![
            "",
            "non_penetration_stiffness = 0.25\n",
            "non_penetration_stiffness = 1.0\n",
            "contact_compliance_m_n = 1e-3\n",
            "youngs_modulus_pa = 1e7\n",
        ]),
        select(vec!["pairwise", "off"]),
        select(vec![[0.0, 0.0], [0.5, 0.35], [2.0, 2.0]]),
        select(vec![0.0, 0.1]),
        prop_oneof![3 => Just(0.0), 1 => Just(0.5)],
    )
        .prop_map(|(radius, stiffness, averaging, [rest, slip], xsph, shape)| {
            format!(
                "[snow]\ncontact_radius_spacings = {radius:?}\n{stiffness}\
                 averaging = \"{averaging}\"\nstatic_friction = {rest:?}\nkinetic_friction = {slip:?}\n\
                 xsph_viscosity = {xsph:?}\nshape_stiffness = {shape:?}\n"
            )
        });
    let links = (
        select(vec!["none", "constant", "dynamic"]),
        1u32..=12,
        select(vec![0.0, -8.0]),
        select(vec![1.5, 1.0]),
        select(vec![
            "",
            "stiffness = 0.1\n",
            "stiffness = 1.0\n",
            "compliance_m_n = 1e-6\n",
            "compliance_m_n = 1e-3\n",
        ]),
        select(vec!["", "reach_spacings = 1.2\n", "reach_spacings = 1.6\ninitial_reach_spacings = 1.6\n"]),
        select(vec!["reproducible", "compare_and_swap"]),
        1u32..=3,
    )
        .prop_map(|(limit, most, warmest, ratio, stiffness, more, builder, rounds)| {
            format!(
                "[snow.links]\nlimit = \"{limit}\"\nmost = {most}\ntemperature_c = {warmest:?}\n\
                 break_ratio = {ratio:?}\n{stiffness}{more}builder = \"{builder}\"\n\
                 rounds = {rounds}\n"
            )
        });
    // A small latent heat, since runs are short.
    let heat = select(vec![
        "latent_heat = \"blending\"",
        "latent_heat = \"enthalpy\"\nlatent_heat_j_kg = 3000.0",
    ])
    .prop_map(|latent| {
        format!("[snow.heat]\nsnow_conductivity_w_m_k = 2500.0\nwater_conductivity_w_m_k = 600.0\n{latent}\n")
    });
    let transition =
        (select(vec![1.0, 0.2, 0.01]), select(vec![0.5, 0.0, 0.9])).prop_map(|(speed, threshold)| {
            format!("[snow.transition]\nblend_speed = {speed:?}\nblend_threshold = {threshold:?}\n")
        });
    (contact, links, heat, transition)
        .prop_map(|(contact, links, heat, transition)| [contact, links, heat, transition].concat())
}

fn scene() -> impl Strategy<Value = SceneText> {
    let body = prop_oneof![
        3 => Just(BodyKind::None),
        1 => Just(BodyKind::Plane),
        1 => Just(BodyKind::Ball),
        1 => Just(BodyKind::Container),
    ];
    let space = ([6u32..=9, 0u32..=4, 6u32..=9], select(vec!["analytic", "particles"]), body);
    let solver = (1u32..=4, select(vec![0.25, 0.5]), select(vec![0.0, 0.001]), select(vec![2.0, 1.684]));
    let blocks = prop::collection::vec(block(), 1..=3);
    (1u32..=30, space, solver, snow(), blocks).prop_map(
        |(steps, (margin, walls, body), (iterations, relaxation, pressure, support), snow, blocks)| {
            let bottom = if matches!(body, BodyKind::Plane | BodyKind::Ball) { 2 } else { 0 };
            let stacked: u32 = blocks.iter().map(|block| block.gap + block.size[1]).sum();
            let extent = [margin[0], bottom + stacked + margin[1], margin[2]];
            let mut text = format!(
                "version = 1\nname = \"random\"\nup_axis = \"y\"\n\
                 [time]\ndt_s = 0.001\nduration_s = {:?}\n\
                 [fluid]\nparticle_spacing_m = {SPACING_M:?}\nsupport_radius_spacings = {support:?}\n\
                 [pbd]\niterations = {iterations}\nover_relaxation = {relaxation:?}\n\
                 artificial_pressure.strength = {pressure:?}\n\
                 [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = {:?}\nwalls = \"{walls}\"\n{snow}",
                0.001 * f64::from(steps),
                metres(extent.map(f64::from)),
            );
            write_blocks(&mut text, &blocks, extent, bottom);
            write_body(&mut text, body, extent.map(f64::from));
            SceneText(text)
        },
    )
}

/// Converts to metres, rounded to a tenth of a millimetre, so that a scene is easy to read.
fn metres(lengths: [f64; 3]) -> [f64; 3] {
    lengths.map(|x| (1e4 * SPACING_M * x).round() / 1e4)
}

fn write_blocks(text: &mut String, blocks: &[Block], extent: [u32; 3], bottom: u32) {
    let mut y = bottom;
    for block in blocks {
        y += block.gap;
        let along = |axis: usize, shift: u32| shift.min(extent[axis] - block.size[axis]);
        let low = [along(0, block.shift[0]), y, along(2, block.shift[1])];
        let high: [u32; 3] = std::array::from_fn(|axis| low[axis] + block.size[axis]);
        y = high[1];
        writeln!(
            text,
            "[[particles]]\nphase = \"{}\"\ntemperature_c = {:?}\nvelocity_m_s = {:?}\njitter_spacings = \
             {:?}\n\
             shape.box = {{ min_m = {:?}, max_m = {:?} }}",
            block.phase,
            f64::from(block.temperature_c),
            block.velocity_m_s.map(f64::from),
            block.jitter_spacings,
            metres(low.map(f64::from)),
            metres(high.map(f64::from)),
        )
        .unwrap();
    }
}

/// Writes bodies with gaps to each other and to the walls: no two solids may both collide with a particle
/// at one place.
fn write_body(text: &mut String, body: BodyKind, [x, y, z]: [f64; 3]) {
    let line = match body {
        BodyKind::None => return,
        BodyKind::Plane => {
            format!("plane = {{ point_m = {:?}, normal = [0.2, 1.0, 0.0] }}", metres([0.5 * x, 0.0, 0.0]))
        }
        BodyKind::Ball => {
            let centre_m = metres([0.5 * x, 0.0, 0.5 * z]);
            format!("sphere = {{ centre_m = {centre_m:?}, radius_m = {:?} }}", 1.5 * SPACING_M)
        }
        BodyKind::Container => {
            // Covers the corners of the domain but no particle's position.
            let radius_m = SPACING_M * (0.5 * (x * x + y * y + z * z).sqrt() - 0.45);
            let centre_m = metres([0.5 * x, 0.5 * y, 0.5 * z]);
            format!("sphere = {{ centre_m = {centre_m:?}, radius_m = {radius_m:.4} }}\nside = \"inside\"")
        }
    };
    writeln!(text, "[[bodies]]\nshape.{line}").unwrap();
}

fn parse(text: &str) -> Scene {
    Scene::parse(text, "random.toml", &[]).unwrap()
}

/// Lists violated invariants of a state after at least one step; any is an error of the engine.
fn problems(simulation: &SnowSimulation, metrics: &SnowMetrics, begin: &SnowMetrics) -> Vec<String> {
    let mut problems: Vec<String> =
        simulation.link_faults().iter().map(|fault| format!("{fault:?}")).collect();
    let particles = simulation.particles();
    let n = simulation.snow.capacity();
    let n_solid = particles.iter().filter(|particle| particle.is_solid).count() as u32;
    let mut ids: Vec<u32> = particles.iter().map(|particle| particle.id).collect();
    ids.sort_unstable();
    if !ids.into_iter().eq(0..n) {
        problems
            .push(format!("{} particles of {n}, or ids that are not those of the scene", particles.len()));
    }
    if [metrics.n_solid, metrics.n_fluid] != [n_solid, particles.len() as u32 - n_solid] {
        let (solid, fluid) = (metrics.n_solid, metrics.n_fluid);
        problems.push(format!("{solid} and {fluid} measured, of {n} particles {n_solid} are snow"));
    }
    if begin.n_solid + metrics.n_frozen != metrics.n_solid + metrics.n_melted {
        let (frozen, melted) = (metrics.n_frozen, metrics.n_melted);
        let (from, to) = (begin.n_solid, metrics.n_solid);
        problems.push(format!("{from} snow particles became {to}, {melted} melted and {frozen} frozen"));
    }
    let scene = &simulation.scene;
    let clearance_m = 0.5 * SPACING_M - ROUNDING_M;
    // Otherwise the column is not updated.
    let has_enthalpy = simulation.snow.parameters().has_enthalpy();
    for particle in particles {
        let enthalpy_j_kg = if has_enthalpy { particle.enthalpy_j_kg } else { 0.0 };
        let values = [particle.temperature_c, enthalpy_j_kg, particle.blend];
        let all = particle.position.iter().chain(&particle.velocity).chain(&values);
        let position = particle.position.map(f64::from);
        let (low, high) = (scene.domain.min_m, scene.domain.max_m);
        let is_inside =
            (0..3).all(|i| low[i] + clearance_m <= position[i] && position[i] <= high[i] - clearance_m);
        let depths_m = scene.bodies.iter().map(|body| scene.body_depth_m(body, position));
        let depth_m = depths_m.fold(f64::MIN, f64::max);
        if !all.clone().all(|x| x.is_finite()) {
            problems.push(format!("not finite: {particle:?}"));
        } else if !is_inside || depth_m > -clearance_m {
            problems.push(format!("in a wall, {depth_m:e} m deep in a body: {particle:?}"));
        } else if !(0.0..=1.0).contains(&particle.blend) {
            problems.push(format!("not blended between none and all: {particle:?}"));
        }
    }
    problems
}

#[test]
fn no_particle_is_lost_or_escapes_in_any_scene() {
    let (melted, frozen) = (Cell::new(0), Cell::new(0));
    proptest!(config(32), |(text in scene())| {
        let scene = parse(&text.0);
        let n_steps = scene.n_steps();
        let mut simulation = SnowSimulation::of(&DEVICE, scene);
        let begin = simulation.advance(0);
        // The first step, in which all may change phase, and the last.
        for steps in [1, n_steps - 1] {
            let metrics = simulation.advance(steps);
            prop_assert_eq!(problems(&simulation, &metrics, &begin), Vec::<String>::new());
            melted.set(melted.get() + metrics.n_melted);
            frozen.set(frozen.get() + metrics.n_frozen);
        }
    });
    println!("{} particles melted and {} froze in all", melted.get(), frozen.get());
    assert_no_validation_messages(&DEVICE);
}

/// Scene with 216 particles of snow in groups of 64 threads, so that threads of several groups compete for
/// the same partners. Each step breaks all stretched links, and creates new ones.
const CONTENDED: &str = r#"
version = 1
name = "contended"
up_axis = "y"
time = { dt_s = 0.001, duration_s = 0.002 }
fluid = { particle_spacing_m = 0.02 }
pbd = { iterations = 1 }
domain = { min_m = [0.0, 0.0, 0.0], max_m = [0.18, 0.18, 0.18] }
[snow]
averaging = "off"
[snow.links]
limit = "constant"
most = 5
break_ratio = 1.0
builder = "compare_and_swap"
rounds = 3
[[particles]]
phase = "snow"
temperature_c = -10.0
velocity_m_s = [0.0, -3.0, 0.0]
jitter_spacings = 0.4
shape.box = { min_m = [0.02, 0.0, 0.02], max_m = [0.14, 0.12, 0.14] }
"#;

/// The long form has a thousand runs: the order of threads differs between them.
#[test]
fn links_by_compare_and_swap_are_whole_in_many_runs() {
    let runs = if is_full_run() { 1000 } else { 60 };
    let scene = parse(CONTENDED);
    let sampled = scene.sample().unwrap();
    let mut ends: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    for run in 0..runs {
        let tuning = Tuning::new(64).unwrap();
        let snow = Snow::with_tuning(&DEVICE, &scene, &sampled, tuning).unwrap();
        let mut simulation = SnowSimulation {
            device: DEVICE.clone(),
            scene: scene.clone(),
            snow,
            step: 0,
            replay: Default::default(),
        };
        assert_eq!(simulation.link_faults(), [], "run {run}, at the start");
        let mut recorder = DEVICE.recorder().unwrap();
        for _ in 0..scene.n_steps() {
            simulation.snow.record_step(&mut recorder);
        }
        DEVICE.submit(recorder).unwrap();
        assert_eq!(simulation.link_faults(), [], "run {run}");
        let degrees = DEVICE.download(simulation.snow.links().degree(), sampled.len()).unwrap();
        assert!(degrees.iter().any(|degree| *degree > 0), "run {run}: no links");
        let partner = simulation.snow.links().partner();
        *ends.entry(DEVICE.download(partner, partner.len()).unwrap()).or_default() += 1;
    }
    // Purpose of the runs: the order of threads affects which particles are linked.
    println!("{} states of links in {runs} runs", ends.len());
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_step_of_snow_neither_waits_nor_reads_back() {
    let scene = Scene::find("melting", &["scale=0.2".to_owned()]).unwrap();
    let mut melting = SnowSimulation::of(&own_device(), scene);
    melting.advance(8);
    let before = melting.device.statistics();
    for _ in 0..5 {
        let mut recorder = melting.device.recorder().unwrap();
        for _ in 0..4 {
            melting.snow.record_step(&mut recorder);
        }
        melting.device.submit(recorder).unwrap();
    }
    let after = melting.device.statistics();
    assert_eq!(after.submissions - before.submissions, 5, "20 steps in 5 submissions");
    assert_eq!(after.waits, before.waits, "the host never waited");
    assert_eq!(after.bytes_held, before.bytes_held, "nothing was allocated");
}
