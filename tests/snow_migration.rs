//! Particles that change phase: none is lost or created, and their columns are moved to the bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_scene::{LatentHeat, Phase, Scene};
use frazil_solvers::Tuning;
use frazil_solvers::pbd::Snow;
use frazil_solvers::pbd::snow::Stage;
use frazil_testkit::{Random, assert_no_validation_messages, device};
use frazil_tests::{Particle, SnowSimulation};
use frazil_vk::Device;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn bits(vector: [f32; 3]) -> [u32; 3] {
    vector.map(f32::to_bits)
}

/// Returns all columns of a particle, to the bit.
fn all_bits(p: &Particle) -> (u32, bool, [u32; 3], [u32; 3], [u32; 3]) {
    let rest = [p.temperature_c, p.enthalpy_j_kg, p.blend];
    (p.id, p.is_solid, bits(p.position), bits(p.velocity), bits(rest))
}

/// Returns the links as pairs of ids, the lower first, with the bits of their rest length at the lower end.
fn links(run: &SnowSimulation) -> BTreeMap<(u32, u32), u32> {
    let records = run.snow.links();
    let (device, stride) = (&run.device, records.capacity() as usize);
    let ids: Vec<u32> = run.particles().iter().filter(|p| p.is_solid).map(|p| p.id).collect();
    let degree = device.download(records.degree(), ids.len()).unwrap();
    let slots = stride * records.slots() as usize;
    let partner = device.download(records.partner(), slots).unwrap();
    let rest_length = device.download(records.rest_length_m(), slots).unwrap();
    let mut links = BTreeMap::new();
    for (i, id) in ids.iter().enumerate() {
        for slot in 0..degree[i] as usize {
            let other = ids[partner[slot * stride + i] as usize];
            if *id < other {
                links.insert((*id, other), rest_length[slot * stride + i].to_bits());
            }
        }
    }
    links
}

/// Runs a built-in scene step by step and checks the counts of every step. Returns how many particles melted
/// and froze.
fn count_every_step(scene: &str, overrides: &[&str], skipped: u64, steps: u64) -> [u32; 2] {
    let mut run = SnowSimulation::new(scene, overrides);
    let n = run.snow.capacity();
    let start = run.advance(skipped);
    assert_eq!(start.n_solid + start.n_fluid, n);
    let (mut before, mut last) = (run.particles(), start);
    for _ in 0..steps {
        let now = run.advance(1);
        let particles = run.particles();
        let step = run.step;
        let n_solid = particles.iter().filter(|p| p.is_solid).count() as u32;
        assert_eq!((now.n_solid, now.n_fluid), (n_solid, n - n_solid), "step {step} of {scene}: counts");
        let mut ids: Vec<u32> = particles.iter().map(|p| p.id).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..n), "step {step} of {scene}: each id exactly once");
        assert_eq!((now.all.n_not_finite, now.all.n_outside), (0, 0), "step {step} of {scene}");
        // Particles whose phase differs now are those counted as melted or frozen.
        let was_solid: BTreeMap<u32, bool> = before.iter().map(|p| (p.id, p.is_solid)).collect();
        let changed =
            |from| particles.iter().filter(|p| p.is_solid != from && was_solid[&p.id] == from).count();
        assert_eq!(changed(true) as u32, now.n_melted - last.n_melted, "step {step} of {scene}: melted");
        assert_eq!(changed(false) as u32, now.n_frozen - last.n_frozen, "step {step} of {scene}: frozen");
        assert_eq!(run.link_faults(), [], "step {step} of {scene}: links");
        (before, last) = (particles, now);
    }
    println!("{scene}: {n} particles, {} melted and {} froze", last.n_melted, last.n_frozen);
    assert_no_validation_messages(&run.device);
    [last.n_melted, last.n_frozen]
}

#[test]
fn the_snow_drops_keep_their_counts_at_every_step() {
    for scene in ["snow_drop_free", "snow_drop_linked", "snow_drop_dynamic"] {
        assert_eq!(count_every_step(scene, &["scale=0.2"], 0, 50), [0, 0]);
    }
}

#[test]
fn melting_keeps_its_counts_at_every_step() {
    let [melted, _] = count_every_step("melting", &["scale=0.2"], 130, 50);
    assert!(melted > 0);
}

#[test]
fn freezing_keeps_its_counts_at_every_step() {
    let [_, frozen] = count_every_step("freezing", &["scale=0.2"], 40, 50);
    assert!(frozen > 0);
}

#[test]
fn the_water_drop_keeps_its_counts_at_every_step() {
    let [melted, frozen] = count_every_step("water_drop", &["scale=0.2"], 260, 50);
    assert!(melted + frozen > 0);
}

/// Condition, besides α, that decides whether a particle leaves a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warmth {
    Cold,
    /// At freezing, where no particle leaves.
    Between,
    Warm,
}

/// Pattern of warm particles.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    NobodyLeaves,
    AllMelt,
    AllFreeze,
    AllLeave,
    EverySecondLeaves,
    OneLeaves,
    Random,
}

/// Pattern of snow particles before the migration.
#[derive(Clone, Copy, Debug)]
enum Mixture {
    SnowOnly,
    WaterOnly,
    Random,
}

#[derive(Clone, Debug)]
struct Case {
    size: [u32; 3],
    mixture: Mixture,
    pattern: Pattern,
    latent_heat: LatentHeat,
    has_shape: bool,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    use Pattern::*;
    let patterns = [NobodyLeaves, AllMelt, AllFreeze, AllLeave, EverySecondLeaves, OneLeaves, Random];
    let mixtures = [Mixture::SnowOnly, Mixture::WaterOnly, Mixture::Random, Mixture::Random];
    let latent_heats = [LatentHeat::Blending, LatentHeat::Enthalpy];
    (
        [1_u32..=9, 1..=9, 1..=9],
        prop::sample::select(mixtures.to_vec()),
        prop::sample::select(patterns.to_vec()),
        prop::sample::select(latent_heats.to_vec()),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(size, mixture, pattern, latent_heat, has_shape, seed)| Case {
            size,
            mixture,
            pattern,
            latent_heat,
            has_shape,
            seed,
        })
}

/// Latent heat of the cases in J/kg.
const LATENT_J_KG: f32 = 20_000.0;

impl Case {
    fn scene(&self) -> Scene {
        let [x, y, z] = self.size.map(|n| 0.01 * f64::from(n));
        let text = format!(
            "version = 1\nname = \"mixture\"\nup_axis = \"y\"\n\
             time = {{ dt_s = 0.001, duration_s = 1.0 }}\n\
             fluid = {{ particle_spacing_m = 0.01 }}\n\
             domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [{x}, {}, {z}] }}\n\
             [snow]\nlinks = {{ limit = \"constant\", most = 6 }}\n\
             [[particles]]\njitter_spacings = 0.2\n\
             shape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{x}, {y}, {z}] }}\n",
            y + 0.02
        );
        let mut scene = Scene::parse(&text, "mixture.toml", &[]).unwrap();
        let snow = scene.snow_mut().unwrap();
        // The paper's conductivities: heat spreads in tens of steps.
        (snow.heat.snow_conductivity_w_m_k, snow.heat.water_conductivity_w_m_k) = (2500.0, 600.0);
        snow.heat.latent_heat = self.latent_heat;
        snow.heat.latent_heat_j_kg = f64::from(LATENT_J_KG);
        snow.shape_stiffness = if self.has_shape { 0.5 } else { 0.0 };
        scene
    }

    /// Creates the scene with cold, linked snow and warm water, before any particle meets the condition to
    /// leave.
    fn simulation(&self, device: &Device, tuning: Tuning) -> SnowSimulation {
        let scene = self.scene();
        let mut random = Random::new(self.seed);
        let mut sampled = scene.sample().unwrap();
        for i in 0..sampled.len() {
            let is_solid = match self.mixture {
                Mixture::SnowOnly => true,
                Mixture::WaterOnly => false,
                Mixture::Random => random.unit() < 0.5,
            };
            sampled.phases[i] = if is_solid { Phase::Snow } else { Phase::Water };
            sampled.temperatures_c[i] = if is_solid { -5.0 } else { 5.0 };
            sampled.velocities_m_s[i] = std::array::from_fn(|_| random.unit() - 0.5);
        }
        let snow = Snow::with_tuning(device, &scene, &sampled, tuning).unwrap();
        SnowSimulation { device: device.clone(), scene, snow, step: 0, replay: Default::default() }
    }

    fn warmth(&self, random: &mut Random, i: usize, n: usize, is_solid: bool) -> Warmth {
        let (stays, leaves) =
            if is_solid { (Warmth::Cold, Warmth::Warm) } else { (Warmth::Warm, Warmth::Cold) };
        let leaves_if = |is_leaving| if is_leaving { leaves } else { stays };
        match self.pattern {
            Pattern::NobodyLeaves => stays,
            Pattern::AllMelt => Warmth::Warm,
            Pattern::AllFreeze => Warmth::Cold,
            Pattern::AllLeave => leaves,
            Pattern::EverySecondLeaves => leaves_if(i % 2 == 1),
            Pattern::OneLeaves => leaves_if(i == n / 2),
            Pattern::Random => [Warmth::Cold, Warmth::Between, Warmth::Warm][(3.0 * random.unit()) as usize],
        }
    }

    /// Sets the particles' temperatures on the device to those of the pattern and, if it is random, α to
    /// random values.
    fn warm(&self, run: &SnowSimulation) {
        let mut random = Random::new(!self.seed);
        let particles = run.particles();
        for (is_solid, phase_particles) in [(true, run.snow.solid()), (false, run.snow.fluid())] {
            let n = particles.iter().filter(|p| p.is_solid == is_solid).count();
            let (mut temperature, mut enthalpy, mut blend) = (Vec::new(), Vec::new(), Vec::new());
            for i in 0..n {
                // Different for all particles, so that a mix-up is detected.
                let much = 1.0 + random.unit();
                let (t, h) = match self.warmth(&mut random, i, n, is_solid) {
                    Warmth::Cold => (-much, -1000.0 * much),
                    Warmth::Between => (0.0, 0.5 * much * LATENT_J_KG),
                    Warmth::Warm => (much, LATENT_J_KG + 1000.0 * much),
                };
                temperature.push(t);
                enthalpy.push(h);
                blend.push(if matches!(self.pattern, Pattern::Random) { random.unit() } else { 1.0 });
            }
            run.device.upload(phase_particles.temperature.front(), &temperature).unwrap();
            run.device.upload(phase_particles.enthalpy.front(), &enthalpy).unwrap();
            run.device.upload(phase_particles.blend.front(), &blend).unwrap();
        }
    }
}

/// Columns of a particle that a migration moves, to the bit; and α.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Carried {
    id: u32,
    position: [u32; 3],
    velocity: [u32; 3],
    temperature: u32,
    /// Enthalpy, 0 without true latent heat.
    enthalpy: u32,
    /// Rest position, 0 without shape matching.
    rest_position: [u32; 3],
    blend: f32,
}

/// Returns the particles of snow and of water, in the device's order.
fn carried(run: &SnowSimulation, case: &Case) -> [Vec<Carried>; 2] {
    let particles = run.particles();
    [(true, run.snow.solid()), (false, run.snow.fluid())].map(|(is_solid, phase_particles)| {
        let own: Vec<&Particle> = particles.iter().filter(|p| p.is_solid == is_solid).collect();
        let rest_position = run.device.download(phase_particles.rest_position.front(), own.len()).unwrap();
        let each = own.into_iter().zip(rest_position).map(|(p, rest_position)| Carried {
            id: p.id,
            position: bits(p.position),
            velocity: bits(p.velocity),
            temperature: p.temperature_c.to_bits(),
            enthalpy: if case.latent_heat == LatentHeat::Enthalpy { p.enthalpy_j_kg.to_bits() } else { 0 },
            rest_position: if case.has_shape { bits(rest_position) } else { [0; 3] },
            blend: p.blend,
        });
        each.collect()
    })
}

fn record(run: &mut SnowSimulation, stages: &[Stage]) {
    let mut recorder = run.device.recorder().unwrap();
    stages.iter().for_each(|stage| run.snow.record_stage(&mut recorder, *stage));
    run.device.submit(recorder).unwrap().wait().unwrap();
}

/// Returns true if a particle leaves its phase, given its α after growth: by Chen2021 eq 6.4, or by its
/// enthalpy.
fn is_leaving(case: &Case, scene: &Scene, p: &Carried, is_solid: bool) -> bool {
    let transition = &scene.snow().unwrap().transition;
    let (heat, melts_above) = match case.latent_heat {
        LatentHeat::Blending => (f32::from_bits(p.temperature), 0.0),
        LatentHeat::Enthalpy => (f32::from_bits(p.enthalpy), LATENT_J_KG),
    };
    p.blend > transition.blend_threshold as f32 && if is_solid { heat > melts_above } else { heat < 0.0 }
}

/// Counts of a migration.
#[derive(Debug, PartialEq, Eq)]
struct Migrated {
    n_melted: usize,
    n_frozen: usize,
    n_links_lost: usize,
}

/// Runs one step of a case, and compares its migration with a plain computation from the state before it.
fn check_migration(device: &Device, case: &Case) -> Result<Migrated, TestCaseError> {
    let mut run = case.simulation(device, Tuning::default());
    case.warm(&run);
    let stages: Vec<Stage> = run.snow.stages().collect();
    let after = |stage| stages.iter().position(|s| *s == stage).unwrap() + 1;
    let (marked, reordered) = (after(Stage::MarkPhaseChange), after(Stage::Reorder));

    record(&mut run, &stages[..marked]);
    let before = carried(&run, case);
    let links_before = links(&run);
    let keys = [run.snow.solid(), run.snow.fluid()].map(|phase_particles| phase_particles.key().clone());
    let mut next: [Vec<(u32, Carried)>; 2] = Default::default();
    let mut leavers: [Vec<(u32, Carried)>; 2] = Default::default();
    for side in 0..2 {
        let keys = device.download(&keys[side], before[side].len()).unwrap();
        for (key, p) in keys.into_iter().zip(&before[side]) {
            if is_leaving(case, &run.scene, p, side == 0) {
                leavers[1 - side].push((key, Carried { blend: 0.0, ..*p }));
            } else {
                next[side].push((key, *p));
            }
        }
    }
    let [freezing, melting] =
        [0, 1].map(|side| leavers[side].iter().map(|(_, p)| p.id).collect::<BTreeSet<u32>>());
    let expected: Vec<Vec<Carried>> = next
        .into_iter()
        .zip(leavers)
        .map(|(mut stay, mut come)| {
            stay.append(&mut come);
            // Stable.
            stay.sort_by_key(|(key, _)| *key);
            stay.into_iter().map(|(_, p)| p).collect()
        })
        .collect();

    record(&mut run, &stages[marked..reordered]);
    let found = carried(&run, case);
    prop_assert_eq!(&found[0], &expected[0], "snow");
    prop_assert_eq!(&found[1], &expected[1], "water");
    let mut surviving = links_before.clone();
    surviving.retain(|(a, b), _| !melting.contains(a) && !melting.contains(b));
    let n_links = surviving.len();
    prop_assert_eq!(links(&run), surviving, "links, by the ids of their ends");

    record(&mut run, &stages[reordered..]);
    let metrics = run.advance(0);
    prop_assert_eq!((metrics.n_melted as usize, metrics.n_frozen as usize), (melting.len(), freezing.len()));
    let n = run.snow.capacity();
    for _ in 0..3 {
        let metrics = run.advance(1);
        prop_assert_eq!(metrics.n_solid + metrics.n_fluid, n);
        prop_assert_eq!((metrics.all.n_not_finite, metrics.all.n_outside), (0, 0));
        prop_assert_eq!(run.link_faults(), vec![]);
    }
    let mut particles = run.particles();
    particles.sort_by_key(|p| p.id);
    prop_assert!(particles.iter().map(|p| p.id).eq(0..n), "each id exactly once");
    // Particles that have just changed phase have a small α, and stay at any temperature.
    let is_solid = |id: u32| particles[id as usize].is_solid;
    prop_assert!(melting.iter().all(|id| !is_solid(*id)) && freezing.iter().all(|id| is_solid(*id)));
    assert_no_validation_messages(device);
    Ok(Migrated {
        n_melted: melting.len(),
        n_frozen: freezing.len(),
        n_links_lost: links_before.len() - n_links,
    })
}

#[test]
fn migration_preserves_every_column_and_the_links_of_remaining_particles() {
    let device = device();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) };
    proptest!(config, |(case in case())| {
        check_migration(&device, &case)?;
    });
}

#[test]
fn all_one_or_no_particles_change_phase_in_one_step() {
    use Pattern::*;
    let device = device();
    let migrated = |mixture, pattern| {
        let case =
            |latent_heat| Case { size: [9, 8, 7], mixture, pattern, latent_heat, has_shape: false, seed: 3 };
        let blending = check_migration(&device, &case(LatentHeat::Blending)).unwrap();
        assert_eq!(check_migration(&device, &case(LatentHeat::Enthalpy)).unwrap(), blending);
        (blending.n_melted, blending.n_frozen, blending.n_links_lost > 0)
    };
    let n = 9 * 8 * 7;
    for mixture in [Mixture::SnowOnly, Mixture::WaterOnly, Mixture::Random] {
        assert_eq!(migrated(mixture, NobodyLeaves), (0, 0, false), "{mixture:?}");
    }
    assert_eq!(migrated(Mixture::SnowOnly, AllMelt), (n, 0, true));
    assert_eq!(migrated(Mixture::WaterOnly, AllMelt), (0, 0, false));
    assert_eq!(migrated(Mixture::WaterOnly, AllFreeze), (0, n, false));
    assert_eq!(migrated(Mixture::SnowOnly, AllFreeze), (0, 0, false));
    assert_eq!(migrated(Mixture::SnowOnly, EverySecondLeaves), (n / 2, 0, true));
    assert_eq!(migrated(Mixture::WaterOnly, EverySecondLeaves), (0, n / 2, false));
    assert_eq!(migrated(Mixture::Random, OneLeaves), (1, 1, true));
    let (n_melted, n_frozen, _) = migrated(Mixture::Random, AllLeave);
    assert_eq!(n_melted + n_frozen, n, "both phases change places");
}

#[test]
fn runs_in_which_particles_melt_and_freeze_have_the_same_bits_at_any_workgroup_size() {
    let case = Case {
        size: [9, 8, 7],
        mixture: Mixture::Random,
        pattern: Pattern::Random,
        latent_heat: LatentHeat::Blending,
        has_shape: true,
        seed: 7,
    };
    let device = device();
    let run = |tuning| {
        let mut run = case.simulation(&device, tuning);
        case.warm(&run);
        let metrics = run.advance(30);
        let state: Vec<_> = run.particles().iter().map(all_bits).collect();
        (metrics.n_melted, metrics.n_frozen, state, links(&run))
    };
    let first = run(Tuning::default());
    let (n_melted, n_frozen, state, links) = &first;
    println!("{n_melted} of {} melt, {n_frozen} freeze, {} links", state.len(), links.len());
    assert!(*n_melted > 10 && *n_frozen > 10 && !links.is_empty());
    assert!(run(Tuning::default()) == first, "a second run has other bits");
    for size in [64, 128] {
        assert!(run(Tuning::new(size).unwrap()) == first, "other bits with {size} threads a workgroup");
    }
    assert_no_validation_messages(&device);
}
