//! The two-phase step compared with its CPU twin: every stage runs on both from the device's state before it,
//! and the first whose results differ is reported. The tests show that no stage is wrong in scenes of all
//! kinds and in random states, and that a planted error is found.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_kernels::CellSortMethod;
use frazil_reference::fault::FaultKind;
use frazil_reference::snow::{Averaging, ConductionLaw, Kind, LatentHeat, Parameters, State};
use frazil_scene::{Phase, Sampled, Scene};
use frazil_solvers::Solver as _;
use frazil_solvers::Tuning;
use frazil_solvers::pbd::Snow;
use frazil_solvers::pbd::snow::Stage;
use frazil_testkit::twins::snow::twin_parameters;
use frazil_testkit::{Random, assert_no_validation_messages, config, device, is_full_run};
use frazil_tests::{is_migrating_after, run_snow_stage, run_snow_twin, snow_disagreement, snow_state};
use frazil_vk::Device;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Particle spacing of the scenes in m.
const D: f32 = 0.02;

/// Upper corner in m of the box that contains the scenes.
const UPPER_M: [f32; 3] = [0.2, 0.3, 0.2];

/// Creates a scene in a box from the origin on, with `lines` as its `[snow]` section, and with `more`, whose
/// first lines belong to the domain.
fn scene(lines: &str, more: &str) -> Scene {
    let [x, y, z] = UPPER_M;
    let text = format!(
        "version = 1\nname = \"twins\"\nup_axis = \"y\"\n[time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = {D}\n\
         [snow]\nheat.snow_conductivity_w_m_k = 2500.0\nheat.water_conductivity_w_m_k = 600.0\n{lines}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [{x}, {y}, {z}]\n{more}"
    );
    // Random states are dense and fast: their stages are compared whether or not they are a fault.
    let limits = ["pbd.max_density_ratio=1e6", "pbd.max_courant=1e6"].map(str::to_owned);
    Scene::parse(&text, "twins.toml", &limits).unwrap()
}

/// A step on the device whose stages are each also run on the twin.
struct Bisection {
    snow: Snow,
    p: Parameters,
}

impl Bisection {
    fn new(snow: Snow) -> Self {
        Self { p: twin_parameters(&DEVICE, &snow).unwrap(), snow }
    }

    fn state(&self, is_migrating: bool) -> State {
        snow_state(&DEVICE, &self.snow, &self.p, is_migrating)
    }

    fn advance(&mut self, steps: usize) {
        let mut recorder = DEVICE.recorder().unwrap();
        for _ in 0..steps {
            self.snow.record_step(&mut recorder);
        }
        DEVICE.submit(recorder).unwrap().wait().unwrap();
    }

    /// Runs one step on the device; each stage also runs on the twin, from the device's state before it,
    /// after `meddle` has changed that state and the parameters. Returns the first stage that differs and the
    /// difference; `see` is called with all stages.
    fn first_wrong_stage(
        &mut self,
        meddle: impl Fn(Stage, &mut State, &mut Parameters),
        mut see: impl FnMut(Stage, &State, &State),
    ) -> Option<(Stage, String)> {
        let mut before = self.state(false);
        for stage in self.snow.stages().collect::<Vec<_>>() {
            let (mut twin, mut p) = (before.clone(), self.p.clone());
            meddle(stage, &mut twin, &mut p);
            run_snow_stage(&DEVICE, &mut self.snow, stage);
            run_snow_twin(&mut twin, &p, stage);
            let device = self.state(is_migrating_after(stage));
            if let Some(what) = snow_disagreement(stage, &self.p, &before, &device, &twin) {
                return Some((stage, what));
            }
            see(stage, &before, &device);
            before = device;
        }
        None
    }
}

/// Events in the compared steps.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    melted: bool,
    frozen: bool,
    links_made: bool,
    links_broken: bool,
    water_touched_snow: bool,
    snow_was_blending: bool,
    water_was_blending: bool,
    was_half_melted: bool,
    water_was_pressed: bool,
    walls_pushed: bool,
    snow_had_friction: bool,
    place_taken: bool,
    shape_kept: bool,
    wall_was_pressed: bool,
}

impl Seen {
    fn see(&mut self, p: &Parameters, stage: Stage, before: &State, after: &State) {
        let links = |state: &State| state.links.rows.iter().map(Vec::len).sum::<usize>();
        let is_blending = |kind: Kind| after[kind].blend.iter().any(|alpha| *alpha > 0.0 && *alpha < 1.0);
        let is_pressed = |kind: Kind| after[kind].constraint.iter().any(|constraint| constraint[3] != 0.0);
        match stage {
            Stage::ScanLeavers => {
                self.melted |= after.solid.n_leavers > 0;
                self.frozen |= after.fluid.n_leavers > 0;
            }
            Stage::Conduct => {
                if let LatentHeat::Enthalpy { latent_j_kg } = p.heat.latent_heat {
                    let mut all = Kind::ALL.into_iter().flat_map(|kind| &after[kind].enthalpy_j_kg);
                    self.was_half_melted |= all.any(|h| *h > 0.0 && *h < latent_j_kg);
                }
            }
            Stage::BreakLinks => self.links_broken |= links(after) < links(before),
            Stage::BuildLinks => self.links_made |= links(after) > links(before),
            Stage::AttachToShape => {
                self.place_taken |= before.solid.rest_position != after.solid.rest_position;
            }
            Stage::ApplyShapeMatching => self.shape_kept |= before.solid.predicted != after.solid.predicted,
            Stage::ComputeLambda => {
                self.water_touched_snow |= after.fluid.contact.iter().any(|contact| contact[1] > 1.0);
                self.snow_was_blending |= is_blending(Kind::Solid) && is_pressed(Kind::Solid);
                self.water_was_blending |= is_blending(Kind::Fluid);
                self.water_was_pressed |= is_pressed(Kind::Fluid);
                let constraints = || after.fluid.constraint.iter();
                let beside_wall = |x: &[f32; 4]| (0..3).any(|i| x[i] < D || x[i] > UPPER_M[i] - D);
                self.wall_was_pressed |= constraints().any(|x| x[3] != 0.0 && beside_wall(x));
            }
            Stage::ApplyFriction => {
                self.walls_pushed |= before.solid.push.iter().any(|push| *push != [0.0; 3]);
                self.snow_had_friction |= before.solid.predicted != after.solid.predicted;
            }
            _ => {}
        }
    }

    /// Returns the events that scenes with these settings should have caused and have not.
    fn missing(&self, p: &Parameters) -> Vec<&'static str> {
        let (has_links, has_enthalpy) = (p.links.is_some(), p.heat.latent_heat != LatentHeat::Blending);
        let has_shape = p.shape_stiffness > 0.0;
        let required = [
            ("snow melts", self.melted),
            ("water freezes", self.frozen),
            ("links are made", self.links_made || !has_links),
            ("links break", self.links_broken || !has_links),
            ("water touches snow", self.water_touched_snow),
            ("snow is blending", self.snow_was_blending),
            ("water is blending", self.water_was_blending),
            ("something is half molten", self.was_half_melted || !has_enthalpy),
            ("water is pressed", self.water_was_pressed),
            ("walls push snow", self.walls_pushed),
            ("friction on snow", self.snow_had_friction),
            ("snow takes a place in a shape", self.place_taken || !has_shape),
            ("snow goes back into shape", self.shape_kept || !has_shape),
            ("water is pressed at walls", self.wall_was_pressed),
        ];
        required.into_iter().filter(|(_, happened)| !happened).map(|(what, _)| what).collect()
    }
}

/// A pool of water, cold snow that falls into it, snow that is too warm to last, and water that is too cold.
const POOL: &str = "
[[particles]]
shape.box = { min_m = [0.0, 0.0, 0.0], max_m = [0.2, 0.08, 0.2] }
temperature_c = 0.5
jitter_spacings = 0.3

[[particles]]
shape.box = { min_m = [0.0, 0.08, 0.04], max_m = [0.08, 0.18, 0.14] }
phase = \"snow\"
temperature_c = -60.0
velocity_m_s = [-0.3, -1.0, 0.0]
jitter_spacings = 0.3

[[particles]]
shape.box = { min_m = [0.12, 0.08, 0.04], max_m = [0.2, 0.16, 0.14] }
phase = \"snow\"
temperature_c = 1.0
velocity_m_s = [0.0, -1.0, 0.3]
jitter_spacings = 0.3

[[particles]]
shape.box = { min_m = [0.0, 0.18, 0.04], max_m = [0.06, 0.24, 0.1] }
temperature_c = -3.0
velocity_m_s = [0.2, -1.0, 0.0]
jitter_spacings = 0.3
";

/// The paper's contacts and links, which correct shares of overlap and stretch; other settings are springs.
const SHARES: &str = "non_penetration_stiffness = 0.25\nlinks.stiffness = 0.1\nlinks.limit = \"dynamic\"\n\
                      links.most = 8\nlinks.reach_spacings = 2.0\nlinks.initial_reach_spacings = 2.0\n";

/// Settings of `[snow]` that cover the branches of the kernels, and the further lines that they need; true
/// for those of [`SHARES`] as well.
const SETTINGS: [(bool, [&str; 2]); 13] = [
    (true, ["links.break_ratio = 1.05", ""]),
    (
        false,
        [
            "averaging = \"off\"\nnon_penetration_stiffness = 0.25\nlinks = { limit = \"constant\", \
             stiffness = 0.1, most = 5, temperature_c = -1.0, break_ratio = 1.02, rounds = 3, reach_spacings \
             = 2.0 }",
            "",
        ],
    ),
    (
        false,
        [
            "links.limit = \"none\"\ncontact_radius_spacings = 0.6\nheat.conduction = \"uncorrected\"\n\
             heat.law = \"printed\"",
            "[pbd]\nartificial_pressure.strength = 0.005",
        ],
    ),
    (false, ["links.break_ratio = 1.02", "[pbd]\nover_relaxation = 0.5\niterations = 4"]),
    (
        false,
        [
            "links = { compliance_m_n = 1e-4, break_ratio = 1.02, most = 3, reach_spacings = 2.0 }\n\
             averaging = \"off\"\nnon_penetration_stiffness = 0.25\nheat.conduction = \"uncorrected\"",
            "[pbd]\nover_relaxation = 0.3",
        ],
    ),
    (
        false,
        [
            "heat.latent_heat = \"enthalpy\"\nheat.latent_heat_j_kg = 500.0\nlinks.break_ratio = 1.02\n\
             density_kg_m3 = 500.0",
            "",
        ],
    ),
    (
        true,
        [
            "links.break_ratio = 1.05\nstatic_friction = 1.5\nkinetic_friction = 0.1\nxsph_viscosity = 0.0",
            "[[bodies]]\nshape.plane = { point_m = [0.003, 0.003, 0.0], normal = [1.0, 1.0, 0.0] }\n\
             [[bodies]]\nshape.sphere = { centre_m = [0.1, 0.12, 0.09], radius_m = 0.018 }\n\
             [[bodies]]\nshape.sphere = { centre_m = [0.1, 0.15, 0.1], radius_m = 0.195 }\nside = \"inside\"",
        ],
    ),
    (true, ["shape_stiffness = 0.6\nlinks.break_ratio = 1.05", ""]),
    (
        true,
        [
            "links.break_ratio = 1.05",
            "walls = \"particles\"\n[[bodies]]\nshape.plane = { point_m = [0.003, 0.003, 0.0], normal = \
             [1.0, 1.0, 0.0] }\n\
             [[bodies]]\nshape.sphere = { centre_m = [0.1, 0.12, 0.09], radius_m = 0.018 }",
        ],
    ),
    (
        false,
        [
            "links.break_ratio = 1.02\ndensity_kg_m3 = 600.0",
            "[[bodies]]\nname = \"wall\"\nfriction = 0.4\n\
             shape.plane = { point_m = [0.003, 0.0, 0.0], normal = [1.0, 0.0, 0.0] }\n\
             [[bodies]]\nname = \"block\"\nsticky = true\n\
             shape.box = { centre_m = [0.16, 0.12, 0.162], size_m = [0.06, 0.06, 0.04] }\n\
             [[bodies]]\nname = \"pipe\"\n\
             shape.cylinder = { from_m = [0.1, 0.11, 0.06], to_m = [0.1, 0.14, 0.11], radius_m = 0.015 }",
        ],
    ),
    (true, ["links.break_ratio = 1.05", "friction = { x_min = 1.0, y_min = 0.05, z_max = 0.0 }"]),
    (
        false,
        [
            "contact_compliance_m_n = 1e-3\nlinks.limit = \"dynamic\"\nlinks.break_ratio = 1.02\n\
             links.reach_spacings = 1.5\ndensity_kg_m3 = 700.0",
            "",
        ],
    ),
    (false, ["shape_stiffness = 0.6\nlinks.break_ratio = 1.05\ndensity_kg_m3 = 800.0", ""]),
];

/// Indices of [`SETTINGS`] with shape matching, with walls of particles, and with shape matching of light
/// snow.
const SHAPE: usize = 7;
const BOUNDARY: usize = 8;
const EXPANDED_SHAPE: usize = 12;

fn scene_of((has_shares, [lines, more]): (bool, [&str; 2])) -> Scene {
    let transition = "transition.blend_speed = 0.05\ntransition.blend_threshold = 0.3";
    let shares = if has_shares { SHARES } else { "" };
    scene(&format!("{transition}\n{shares}{lines}"), &format!("{more}\n{POOL}"))
}

/// Indices of [`SETTINGS`] of the short form: those that the random states of a default run do not have.
const SHORT: [usize; 5] = [3, 6, 9, 10, 11];

#[test]
fn every_stage_agrees_with_its_twin() {
    let is_short = !is_full_run();
    for (k, settings) in SETTINGS.into_iter().enumerate() {
        if is_short && !SHORT.contains(&k) {
            continue;
        }
        let scene = scene_of(settings);
        let mut bisection = Bisection::new(Snow::new(&DEVICE, &scene, &scene.sample().unwrap()).unwrap());
        let (mut seen, p) = (Seen::default(), bisection.p.clone());
        for steps in if is_short { &[0, 16][..] } else { &[0, 8, 16, 24] } {
            bisection.advance(*steps);
            for _ in 0..if is_short { 1 } else { 2 } {
                let wrong =
                    bisection.first_wrong_stage(|_, _, _| {}, |stage, a, b| seen.see(&p, stage, a, b));
                assert_eq!(wrong, None, "{settings:?}");
            }
        }
        assert_eq!(seen.missing(&p), Vec::<&str>::new(), "{settings:?}: {seen:?}");
    }
    assert_no_validation_messages(&DEVICE);
}

fn one_of<T: Copy>(random: &mut Random, values: &[T]) -> T {
    values[(random.unit() * values.len() as f32) as usize]
}

/// Distribution of particles.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Random positions in a box with 0.6³ cubic spacings per particle.
    Cloud,
    OneCell,
    /// At a few points.
    Heaps,
    /// In contact, with all distances equal.
    Lattice,
    /// On faces, edges and corners of the domain.
    Walls,
}

/// Distribution of temperatures.
#[derive(Clone, Copy, Debug)]
enum Weather {
    Mixed,
    /// At the threshold temperature and enthalpies.
    Freezing,
    AllStay,
    AllLeave,
}

/// Distribution of blending factors.
#[derive(Clone, Copy, Debug)]
enum Blending {
    Mixed,
    JustCome,
    AtThreshold,
    AtHome,
}

#[derive(Clone, Debug)]
struct Case {
    n: usize,
    /// Percentage of snow particles.
    snow: u32,
    shape: Shape,
    weather: Weather,
    blending: Blending,
    settings: usize,
    log_group: u32,
    is_radix: bool,
    seed: u64,
}

/// Generates random states in scenes with these of [`SETTINGS`].
fn case(settings: impl Strategy<Value = usize>) -> impl Strategy<Value = Case> {
    let n = prop_oneof![
        Just(0usize),
        Just(1),
        Just(2),
        3usize..200,
        (prop::sample::select(vec![64usize, 128, 256, 512]), 0usize..3).prop_map(|(n, d)| n + d - 1),
    ];
    let shape =
        prop::sample::select(vec![Shape::Cloud, Shape::OneCell, Shape::Heaps, Shape::Lattice, Shape::Walls]);
    let weather =
        prop::sample::select(vec![Weather::Mixed, Weather::Freezing, Weather::AllStay, Weather::AllLeave]);
    let blending = prop::sample::select(vec![
        Blending::Mixed,
        Blending::JustCome,
        Blending::AtThreshold,
        Blending::AtHome,
    ]);
    let tuning = (6u32..10, any::<bool>());
    let snow = prop::sample::select(vec![0u32, 50, 50, 100]);
    ((n, snow), shape, weather, blending, settings, tuning, any::<u64>()).prop_map(
        |((n, snow), shape, weather, blending, settings, (log_group, is_radix), seed)| Case {
            n,
            snow,
            shape,
            weather,
            blending,
            settings,
            log_group,
            is_radix,
            seed,
        },
    )
}

impl Case {
    fn position(&self, i: usize, random: &mut Random) -> [f32; 3] {
        let extent_m = 0.6 * D * (self.n as f32).cbrt();
        match self.shape {
            Shape::Cloud => [(); 3].map(|()| 0.1 + extent_m * (random.unit() - 0.5)),
            Shape::OneCell => [(); 3].map(|()| 0.085 + 0.03 * random.unit()),
            Shape::Heaps => [(); 3].map(|()| one_of(random, &[0.09, 0.1, 0.115])),
            Shape::Lattice => [i % 8, i / 64, i / 8 % 8].map(|place| (place as f32 + 0.5) * D),
            Shape::Walls => std::array::from_fn(|axis| {
                let inside = UPPER_M[axis] * random.unit();
                one_of(random, &[0.0, 0.5 * D, UPPER_M[axis], inside, inside])
            }),
        }
    }

    fn temperature_c(&self, phase: Phase, random: &mut Random) -> f32 {
        let away = if phase == Phase::Snow { 1.0 } else { -1.0 };
        match self.weather {
            Weather::Mixed => 80.0 * random.unit() - 40.0,
            Weather::Freezing => one_of(random, &[0.0, -0.0, f32::MIN_POSITIVE, -1e-6, 1e-6]),
            Weather::AllStay => -away * 20.0 * random.unit(),
            Weather::AllLeave => away * (0.1 + 20.0 * random.unit()),
        }
    }

    fn sampled(&self) -> Sampled {
        let mut random = Random::new(self.seed);
        let mut sampled = Sampled::default();
        for i in 0..self.n {
            let phase = if 100.0 * random.unit() < self.snow as f32 { Phase::Snow } else { Phase::Water };
            sampled.positions_m.push(self.position(i, &mut random));
            sampled.velocities_m_s.push([(); 3].map(|()| 2.0 * random.unit() - 1.0));
            sampled.temperatures_c.push(self.temperature_c(phase, &mut random));
            sampled.phases.push(phase);
        }
        sampled
    }

    /// Creates the particles on the device, with blends, enthalpies and rest positions that a scene has after
    /// some time.
    fn begin(&self) -> Bisection {
        let scene = scene_of(SETTINGS[self.settings]);
        let mut tuning = Tuning::new(1 << self.log_group).unwrap();
        tuning.cell_sort = Some(if self.is_radix { CellSortMethod::Radix } else { CellSortMethod::Counting });
        let snow = Snow::with_tuning(&DEVICE, &scene, &self.sampled(), tuning).unwrap();
        let bisection = Bisection::new(snow);
        let (p, state) = (&bisection.p, bisection.state(false));
        let mut random = Random::new(self.seed ^ 1);
        for (kind, phase_particles) in
            [(Kind::Solid, bisection.snow.solid()), (Kind::Fluid, bisection.snow.fluid())]
        {
            let alpha = |random: &mut Random| match self.blending {
                Blending::Mixed => one_of(random, &[0.0, 0.1, 0.26, 0.5, 0.97, 1.0]),
                Blending::JustCome => 0.0,
                Blending::AtThreshold => p.blend_threshold - p.blend_speed,
                Blending::AtHome => 1.0,
            };
            let blend: Vec<f32> = state[kind].id.iter().map(|_| alpha(&mut random)).collect();
            DEVICE.upload(phase_particles.blend.front(), &blend).unwrap();
            if p.shape_stiffness > 0.0 {
                let rest: Vec<[f32; 3]> =
                    state[kind].position.iter().map(|x| rest_position(*x, &mut random)).collect();
                DEVICE.upload(phase_particles.rest_position.front(), &rest).unwrap();
            }
            if let (LatentHeat::Enthalpy { latent_j_kg }, Weather::Freezing) =
                (p.heat.latent_heat, self.weather)
            {
                let decisive = [
                    0.0,
                    -0.0,
                    latent_j_kg,
                    0.5 * latent_j_kg,
                    latent_j_kg.next_up(),
                    latent_j_kg.next_down(),
                ];
                let enthalpy: Vec<f32> =
                    state[kind].id.iter().map(|_| one_of(&mut random, &decisive)).collect();
                DEVICE.upload(phase_particles.enthalpy.front(), &enthalpy).unwrap();
            }
        }
        bisection
    }
}

/// Returns the position of a particle in a body that has rotated since, or, for every third, a random
/// position.
fn rest_position([x, y, z]: [f32; 3], random: &mut Random) -> [f32; 3] {
    let (sin, cos) = 0.7f32.sin_cos();
    match random.unit() {
        share if share > 0.33 => [cos * x - sin * y, sin * x + cos * y, z],
        _ => [(); 3].map(|()| 0.2 * random.unit()),
    }
}

/// Checks that two steps agree, and that no particle is lost.
fn check_case(case: &Case) -> Result<(), TestCaseError> {
    let mut bisection = case.begin();
    for _ in 0..2 {
        prop_assert_eq!(bisection.first_wrong_stage(|_, _, _| {}, |_, _, _| {}), None);
    }
    let after = bisection.state(false);
    let mut ids: Vec<u32> = Kind::ALL.into_iter().flat_map(|kind| after[kind].id.clone()).collect();
    ids.sort_unstable();
    prop_assert_eq!(ids, (0..case.n as u32).collect::<Vec<_>>());
    assert_no_validation_messages(&DEVICE);
    Ok(())
}

#[test]
fn every_stage_agrees_with_its_twin_in_any_state() {
    proptest!(config(12), |(case in case(0..SHAPE))| check_case(&case)?);
}

#[test]
fn shapes_and_boundaries_agree_with_their_twins_in_any_state() {
    let stages = prop::sample::select(vec![SHAPE, EXPANDED_SHAPE, BOUNDARY]);
    proptest!(config(8), |(case in case(stages))| check_case(&case)?);
}

#[test]
fn a_wrong_stage_is_named() {
    type Wrong = fn(&mut State, &mut Parameters);
    let usual: &[(Stage, Wrong)] = &[
        (Stage::Integrate, |_, p| p.fluid.gravity_m_s2[1] = 9.81),
        (Stage::Integrate, |_, p| p.fluid.domain_max_m[1] = 0.1),
        (Stage::MarkPhaseChange, |_, p| p.blend_speed *= 1.01),
        (Stage::MarkPhaseChange, |_, p| p.heat.freezing_c = 1.0),
        (Stage::MarkPhaseChange, |state, _| state.ledger.melted_temperature += 1),
        (Stage::ScanLeavers, |state, _| state.solid.leaves[3] ^= 1),
        (Stage::Migrate, |state, _| state.capacity += 1),
        (Stage::SortByCell, |state, _| state.fluid.key.swap(0, 100)),
        (Stage::Reorder, |state, _| state.fluid.id.swap(3, 4)),
        (Stage::Reorder, |state, _| state.solid.blend[7] += 0.1),
        (Stage::Reorder, |state, _| state.links.rows.iter_mut().for_each(|row| row.truncate(1))),
        (Stage::Predict, |_, p| p.fluid.domain_max_m[1] = 0.1),
        (Stage::Conduct, |_, p| p.heat.snow_conductivity_w_m_k *= 1.01),
        (Stage::Conduct, |_, p| p.heat.laplacian_scale *= 1.01),
        (Stage::Conduct, |_, p| p.heat.law = ConductionLaw::Printed),
        (Stage::Conduct, |_, p| p.snow_volume *= 1.01),
        (Stage::Conduct, |_, p| p.fluid.domain_min_m[1] = -1.0),
        (Stage::Conduct, |_, p| p.heat.max_correction = Some(1.0)),
        (Stage::BreakLinks, |_, p| p.links.as_mut().unwrap().break_ratio = 1.0),
        (Stage::BuildLinks, |_, p| p.links.as_mut().unwrap().radius_m *= 0.7),
        (Stage::ComputeLambda, |_, p| p.fluid.relaxation *= 1.1),
        (Stage::ComputeLambda, |_, p| p.contact_distance_m *= 0.9),
        (Stage::ComputeLambda, |_, p| p.mixed_contact_distance_m *= 0.9),
        (Stage::ComputeLambda, |_, p| p.snow_volume *= 1.05),
        (Stage::Solve { iteration: 1 }, |_, p| p.mass_kg *= 1.1),
        (Stage::Solve { iteration: 2 }, |state, _| state.solid.constraint[5][3] -= 0.01),
        (Stage::ApplyFriction, |_, p| p.static_friction *= 0.5),
        (Stage::ApplyFriction, |_, p| p.kinetic_friction *= 1.1),
        (Stage::ApplyFriction, |state, _| state.solid.push.fill([0.0; 3])),
        (Stage::UpdateVelocity, |_, p| p.fluid.dt_s *= 1.01),
        (Stage::DampLinks, |_, p| p.springs.damping *= 1.5),
        (Stage::SmoothVelocity, |_, p| p.snow_xsph_viscosity *= 1.01),
        (Stage::SmoothVelocity, |_, p| p.fluid.wall_friction *= 0.9),
        (Stage::UpdateVelocity, |_, p| p.fluid.max_speed_m_s = 0.01),
        (Stage::EndStep, |state, _| state.faults.note(FaultKind::TooFast, 0, 3)),
    ];
    let shares: &[(Stage, Wrong)] = &[
        (Stage::Solve { iteration: 0 }, |_, p| p.bounce_stiffness *= 1.01),
        (Stage::Solve { iteration: 0 }, |_, p| p.averaging = Averaging::Off),
    ];
    let shape: &[(Stage, Wrong)] = &[
        (Stage::Reorder, |state, _| state.fluid.rest_position[3][1] += 0.01),
        (Stage::AttachToShape, |state, _| state.solid.id.iter_mut().for_each(|id| *id = !*id)),
        (Stage::AttachToShape, |state, _| state.solid.rest_position.iter_mut().for_each(|x| x[2] *= -1.0)),
        (Stage::ApplyShapeMatching, |_, p| p.shape_stiffness *= 1.01),
        (Stage::ApplyShapeMatching, |_, p| p.snow_spacing *= 1.1),
        (Stage::ApplyShapeMatching, |state, _| state.links.rows.iter_mut().for_each(|row| row.truncate(1))),
    ];
    let boundary: &[(Stage, Wrong)] = &[
        (Stage::ComputeLambda, |_, p| {
            p.boundary.as_mut().unwrap().particles.iter_mut().for_each(|b| b[3] *= 1.01)
        }),
        (Stage::Solve { iteration: 1 }, |_, p| p.boundary = None),
    ];
    let expanded: &[(Stage, Wrong)] = &[
        (Stage::Solve { iteration: 1 }, |_, p| p.snow_spacing *= 1.1),
        (Stage::ApplyFriction, |_, p| p.snow_spacing *= 1.1),
    ];
    let planted = [(3, usual), (0, shares), (SHAPE, shape), (BOUNDARY, boundary), (9, expanded)];
    let planted =
        planted.into_iter().flat_map(|(settings, all)| all.iter().map(move |wrong| (settings, wrong)));
    let usual = Case {
        n: 511,
        snow: 50,
        shape: Shape::Walls,
        weather: Weather::Mixed,
        blending: Blending::Mixed,
        settings: 0,
        log_group: 8,
        is_radix: true,
        seed: 4,
    };
    let name = |stage: &Stage| format!("{stage:?}").split(' ').next().unwrap().to_owned();
    let (mut stages, mut wrong_stages) = (BTreeSet::new(), BTreeSet::new());
    for (number, (settings, (expected, wrong))) in planted.enumerate() {
        let mut bisection = Case { settings, ..usual.clone() }.begin();
        stages.extend(bisection.snow.stages().map(|stage| name(&stage)));
        wrong_stages.insert(name(expected));
        // Stages before the planted one run with correct parameters: a wrong Δt, for example, affects several
        // of them.
        let meddle = |stage: Stage, state: &mut State, p: &mut Parameters| {
            if stage == *expected {
                wrong(state, p);
            }
        };
        let found = bisection.first_wrong_stage(meddle, |_, _, _| {});
        assert_eq!(found.map(|(stage, _)| stage), Some(*expected), "number {number}");
    }
    // Rows of neighbours are no part of the state: `snow_rows` compares them.
    let without: Vec<&String> = stages.difference(&wrong_stages).collect();
    assert_eq!(without, ["ListNeighbours"], "stages without a planted mistake");
}
