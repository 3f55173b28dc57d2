//! Stages of the viscoelastic fluid agree with their CPU twins, and keep what they must keep: rotations,
//! momentum and angular momentum, the symmetry of the viscous operator, power, and the bits of a run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_reference::fault::FaultKind;
use frazil_reference::viscoelastic::{Parameters, State, norm, symmetric};
use frazil_scene::{NeighbourGrid, Phase, Sampled, Scene};
use frazil_solvers::pbd::{self, NEIGHBOUR_SLOTS};
use frazil_solvers::viscoelastic::{LOOP_NESTING, Stage, Viscoelastic};
use frazil_solvers::{Solver as _, StateColumn, Tuning};
use frazil_testkit::twins::viscoelastic::{difference, run_stage, twin_parameters, twin_state};
use frazil_testkit::{Random, assert_no_validation_messages, config, device, download_columns, is_full_run};
use frazil_vk::Device;
use glam::{DMat3, DVec3};
use proptest::prelude::*;
use std::sync::LazyLock;

static DEVICE: LazyLock<Device> = LazyLock::new(device);

/// Creates a scene of a box of 0.5 m, whose upper faces cut its cells of 0.1 m along y and z.
fn scene(material: &str, more: &str, periodic: [bool; 3], viscosity_pa_s: f64) -> Scene {
    let text = format!(
        "version = 1\nname = \"twins\"\nup_axis = \"y\"\ntime = {{ dt_s = 0.002, duration_s = 1.0 }}\n\
         [fluid]\nparticle_spacing_m = 0.05\ninitial_disorder_spacings = 0.0\n\
         dynamic_viscosity_pa_s = {viscosity_pa_s}\n\
         [solver]\nkind = \"viscoelastic\"\n\
         [pbd]\nmax_iterations = 3\n\
         [viscoelastic]\nmax_viscosity_iterations = 6\n{material}\n\
         [domain]\nmin_m = [0.0, 0.0, 0.0]\nmax_m = [0.5, 0.54, 0.47]\nperiodic = {periodic:?}\n\
         [[particles]]\nshape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [0.1, 0.1, 0.1] }}\n{more}"
    );
    // Random states are dense and fast: none of them shall end the simulation.
    let limits = ["pbd.max_density_ratio=1e6", "pbd.max_courant=1e6"].map(str::to_owned);
    Scene::parse(&text, "twins.toml", &limits).unwrap()
}

/// Distribution of particles.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Cloud,
    Heap,
    Line,
    Plane,
    Coincident,
    Lattice,
}

const SHAPES: [Shape; 6] =
    [Shape::Cloud, Shape::Heap, Shape::Line, Shape::Plane, Shape::Coincident, Shape::Lattice];

fn sampled(n: usize, shape: Shape, speed_m_s: f32, seed: u64) -> Sampled {
    let mut random = Random::new(seed);
    let mut sampled = Sampled::default();
    for i in 0..n {
        let mut unit = || random.unit();
        let position = match shape {
            Shape::Cloud => [0.5 * unit(), 0.54 * unit(), 0.47 * unit()],
            Shape::Heap => [(); 3].map(|()| 0.21 + 0.08 * unit()),
            Shape::Line => [0.5 * unit(), 0.25, 0.25],
            Shape::Plane => [0.5 * unit(), 0.26, 0.47 * unit()],
            Shape::Coincident => [0.05 + 0.1 * (4.0 * unit()).floor(), 0.3, 0.2],
            Shape::Lattice => {
                let place = [i % 10, i / 100, i / 10 % 10].map(|k| 0.05 * (k as f32 + 0.5));
                [place[0], place[1], place[2] * 0.94]
            }
        };
        sampled.positions_m.push(position);
        sampled.velocities_m_s.push([(); 3].map(|()| speed_m_s * (2.0 * random.unit() - 1.0)));
        sampled.temperatures_c.push(7.3 * i as f32 % 60.0);
        sampled.phases.push(Phase::Water);
    }
    sampled
}

fn run(solver: &mut Viscoelastic, stages: impl IntoIterator<Item = Stage>) {
    let mut recorder = DEVICE.recorder().unwrap();
    for stage in stages {
        solver.record_stage(&mut recorder, stage);
    }
    DEVICE.submit(recorder).unwrap().wait().unwrap();
}

/// Returns true for the stages up to the velocities after the constraints, which other tests compare with
/// twins.
fn is_before(stage: &Stage) -> bool {
    use Stage::{BuildSprings, Fluid, HoldPrediction, ReorderSprings};
    matches!(stage, Fluid(_) | ReorderSprings | BuildSprings | HoldPrediction)
}

/// Runs the stages of the position-based fluid, and fills in random velocities and strains. Returns the
/// stages left.
fn prepare(solver: &mut Viscoelastic, n: usize, speed_m_s: f32, strain: f32, seed: u64) -> Vec<Stage> {
    let (before, after): (Vec<Stage>, Vec<Stage>) = solver.stages().partition(is_before);
    run(solver, before);
    let mut random = Random::new(seed);
    let mut column = |scale: f32| -> Vec<[f32; 3]> {
        (0..n).map(|_| [(); 3].map(|()| scale * (2.0 * random.unit() - 1.0))).collect()
    };
    DEVICE.upload(solver.fluid().updated(), &column(speed_m_s)).unwrap();
    DEVICE.upload(solver.stress().diagonal.front(), &column(strain)).unwrap();
    DEVICE.upload(solver.stress().off_diagonal.front(), &column(strain)).unwrap();
    if let Some(viscosity) = solver.viscosity() {
        DEVICE.upload(viscosity.impulse(), &column(0.1 * speed_m_s)).unwrap();
    }
    after
}

fn vectors(column: &[[f32; 3]]) -> Vec<DVec3> {
    column.iter().map(|x| DVec3::from_array(x.map(f64::from))).collect()
}

fn largest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max)
}

/// Describes the results of a stage that differ from the twin's beyond rounding, relative to the largest of a
/// column: 30 to 250 terms of 2⁻²⁴ each, times the condition of the moment matrices, by which their inverses
/// and all that follows lose digits.
fn disagreement(stage: Stage, found: &State, twin: &State, p: &Parameters) -> Option<String> {
    let moments: Vec<DMat3> = (0..found.share.len()).map(|i| p.moment_beside(twin, i)).collect();
    let condition = moments
        .iter()
        .zip(&twin.share)
        .filter(|(_, share)| **share > 0.0)
        .map(|(m, _)| norm(*m) * norm(m.inverse()))
        .fold(10.0, f64::max);
    let bound = 3e-6 * condition;
    let matrices = |what: &str, a: &[DMat3], b: &[DMat3]| {
        let size = b.iter().map(|m| norm(*m)).fold(1e-6, f64::max);
        let error = difference(a, b) / size;
        (error > bound || error.is_nan() || a.len() != b.len())
            .then(|| format!("{what} by {error:e} of {size:e}, bound {bound:e}"))
    };
    let fields = |what: &str, a: &[DVec3], b: &[DVec3], scale: f64| {
        let size = b.iter().map(|v| v.length()).fold(scale, f64::max);
        let error = largest(a, b) / size;
        (error > bound || error.is_nan() || a.len() != b.len())
            .then(|| format!("{what} by {error:e} of {size:e}, bound {bound:e}"))
    };
    let numbers = |what: &str, a: &[f64], b: &[f64]| {
        let size = b.iter().fold(1e-6, |size: f64, x| size.max(x.abs()));
        let error = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size;
        (error > bound || error.is_nan()).then(|| format!("{what} by {error:e} of {size:e}, bound {bound:e}"))
    };
    let velocity =
        || fields("velocity", &vectors(&found.fluid.velocity), &vectors(&twin.fluid.velocity), 0.01);
    let updated = || fields("updated", &vectors(&found.fluid.updated), &vectors(&twin.fluid.updated), 1e-6);
    match stage {
        // Corrections lose digits by the condition of six equations with the regularization of 0.01.
        Stage::ConductHeat => numbers("temperature", &found.temperature_c, &twin.temperature_c),
        Stage::ShiftViscosity => numbers("shift", &found.viscosity_pa_s, &twin.viscosity_pa_s),
        Stage::UpdateViscosity | Stage::UpdateStress => numbers("share", &found.share, &twin.share)
            .or_else(|| matrices("strain", &found.strain, &twin.strain))
            .or_else(|| matrices("inverse moment", &found.inverse_moment, &twin.inverse_moment))
            .or_else(|| numbers("viscosity", &found.viscosity_pa_s, &twin.viscosity_pa_s))
            .or_else(|| matrices("stress", &found.stress, &twin.stress))
            .or_else(|| matrices("coupling", &found.coupling, &twin.coupling))
            .or_else(|| fields("shift", &found.shift_m, &twin.shift_m, 1e-3)),
        Stage::HoldFeed | Stage::HoldFedVelocity => {
            fields("predicted", &vectors(&found.fluid.predicted), &vectors(&twin.fluid.predicted), 1e-6)
                .or_else(updated)
                .or_else(velocity)
        }
        Stage::CollideWalls => updated(),
        Stage::UpdateSprings | Stage::BreakSprings => springs_differ(found, twin),
        Stage::ApplySprings => {
            // Stretches are differences of lengths up to the support radius, and their rounding is that of
            // these.
            let springs = p.springs.as_ref()?;
            let force = 0.05 * springs.stiffness_n_m * springs.support_m;
            let pressure =
                DMat3::from_diagonal(DVec3::splat(force * springs.support_m * springs.half_per_volume));
            let [found_pa, twin_pa] = [found, twin].map(|s| [&s.stress[..], &[pressure]].concat());
            let scale = force * springs.dt_per_mass;
            let [found_m_s, twin_m_s] = [found, twin]
                .map(|s| vectors(if p.is_implicit { &s.fluid.velocity } else { &s.fluid.updated }));
            fields("velocity", &found_m_s, &twin_m_s, scale)
                .or_else(|| numbers("bound", &found.bound_n_m, &twin.bound_n_m))
                .or_else(|| matrices("stress", &found_pa, &twin_pa))
        }
        Stage::ApplyStress => velocity(),
        Stage::BeginViscosity => velocity()
            .or_else(|| matrices("coupling", &found.coupling, &twin.coupling))
            .or_else(|| fields("residual", &found.residual, &twin.residual, 0.01))
            .or_else(|| fields("direction", &found.direction, &twin.direction, 0.01)),
        Stage::IterateViscosity { .. } => fields("applied", &found.applied, &twin.applied, 0.01)
            .or_else(velocity)
            .or_else(|| fields("residual", &found.residual, &twin.residual, 0.01))
            .or_else(|| {
                let ends = |s: &State| (s.solve.iterations, s.solve.n_unmet, s.solve.n_steps);
                (ends(found) != ends(twin)).then(|| format!("solve {:?} {:?}", found.solve, twin.solve))
            })
            .or_else(|| fields("direction", &found.direction, &twin.direction, 0.01)),
        // Positions of up to 0.5 m are f32.
        Stage::EndViscosity => fields("impulse", &found.impulse, &twin.impulse, 0.01).or_else(|| {
            fields("predicted", &vectors(&found.fluid.predicted), &vectors(&twin.fluid.predicted), 0.1)
        }),
        // A sum of the device's own numbers, rounded once: half an ulp of 0.5 m, and as much for contraction.
        Stage::ShiftParticles => {
            let error = largest(&vectors(&found.fluid.predicted), &vectors(&twin.fluid.predicted));
            (error > 6e-8 || error.is_nan()).then(|| format!("shifted position by {error:e} m"))
        }
        Stage::EndStep => (found.fluid.position != twin.fluid.position).then(|| "position".to_owned()),
        other => Some(format!("{other} was not prepared")),
    }
}

/// Describes the first row of springs that differs by more than the rounding of a length.
fn springs_differ(found: &State, twin: &State) -> Option<String> {
    let rows = found.springs.rows.iter().zip(&twin.springs.rows).enumerate();
    let mut wrong = rows.filter(|(_, (a, b))| {
        let is_same = a.len() == b.len()
            && a.iter().zip(*b).all(|(a, b)| {
                let is_close = (a.rest_length_m - b.rest_length_m).abs() < 1e-8;
                a.partner == b.partner && is_close && a.state.get(1) == b.state.get(1)
            });
        !is_same
    });
    wrong.next().map(|(i, (a, b))| format!("springs of {i}: {a:?}, expected {b:?}"))
}

const SPRINGS: [&str; 2] = [
    "elasticity = \"springs\"\nmodulus_pa = 600.0\nyield_strain = 0.002\ndecay_per_s = 300.0",
    "elasticity = \"springs\"\nmodulus_pa = 600.0\nsprings_fixed = true\nwall_restitution = 0.5",
];

const MATERIALS: [&str; 10] = [
    SPRINGS[0],
    SPRINGS[1],
    "elasticity = \"conformation\"\nmodulus_pa = 1000.0",
    "elasticity = \"conformation\"\nmodulus_pa = 800.0\nrelaxation_time_s = 0.01\nstick = true",
    "elasticity = \"conformation\"\nmodulus_pa = 800.0\nrelaxation_time_s = 0.01\nyield_stress_pa = 40.0",
    "elasticity = \"conformation\"\nmodulus_pa = 800.0\nyield_stress_pa = 40.0\nwall_restitution = 0.5",
    "elasticity = \"strain_tensor\"\nmodulus_pa = 600.0\nyield_strain = 0.03\ndecay_per_s = 300.0",
    "elasticity = \"none\"\nviscosity = { model = \"carreau\", time_s = 0.1, exponent = 0.5, \
     infinite_shear_pa_s = 0.5 }",
    "elasticity = \"none\"\nviscosity = { model = \"power_law\", consistency_pa_s_n = 2.0, exponent = 0.6 }",
    "elasticity = \"none\"\nviscosity = { model = \"herschel_bulkley\", consistency_pa_s_n = 1.0, \
     exponent = 0.7, yield_stress_pa = 3.0, max_pa_s = 50.0 }",
];

/// Bulk viscosity, and a nozzle in the middle of the box.
const FEED: &str = "\nbulk_viscosity_ratio = 3.0\nfeed = { mouth_m = 0.27, velocity_m_s = [0.2, -0.7, 0.1] }";

/// Heat between insulated faces, and between faces of two temperatures with a shift of viscosity that meets
/// its bounds.
const HEAT: [&str; 2] = [
    "\nheat = { conductivity_w_m_k = 6e4, capacity_j_kg_k = 1000.0, activation_temperature_k = 3000.0 }",
    "\nheat = { conductivity_w_m_k = 3e4, capacity_j_kg_k = 1000.0, activation_temperature_k = 4000.0, \
     reference_temperature_c = 30.0, shifts_relaxation = true, max_viscosity_shift = 1.5, \
     min_viscosity_shift = 0.5, face_temperatures_c = { x_min = 70.0, y_max = -10.0, z_min = 5.0 } }",
];

/// A plane without friction of its own, and a box that spins; a ball that contains the fluid, and oscillates.
const BODIES: [&str; 2] = [
    "\n[[bodies]]\nname = \"plane\"\nshape.plane = { point_m = [0.0, 0.12, 0.0], normal = [0.2, 1.0, 0.1] }\n\
     [[bodies]]\nname = \"box\"\nfriction = 0.6\n\
     shape.box = { centre_m = [0.25, 0.3, 0.2], size_m = [0.12, 0.1, 0.15],\n\
     rotation_deg = [10.0, 20.0, 30.0] }\n\
     motion.spinning = { point_m = [0.2, 0.3, 0.2], angular_velocity_rad_s = [1.0, -12.0, 4.0] }\n",
    "\n[[bodies]]\nname = \"ball\"\nside = \"inside\"\nfriction = 0.3\nsticky = true\n\
     shape.sphere = { centre_m = [0.25, 0.27, 0.24], radius_m = 0.3 }\n\
     motion.oscillating = { amplitude_m = [0.01, 0.02, 0.0], frequency_hz = 8.0 }\n",
];

/// Returns the impulses and angular impulses of this step on bodies in N s and N m s.
fn body_impulses(solver: &Viscoelastic) -> Vec<f64> {
    let fluid = solver.fluid();
    let Some(sums) = fluid.body_impulses() else { return Vec::new() };
    let words = DEVICE.download(sums, sums.len()).unwrap();
    let quanta = |pair: &[u32]| (u64::from(pair[1]) << 32 | u64::from(pair[0])).cast_signed();
    words.chunks(2).map(|pair| quanta(pair) as f64 / f64::from(fluid.quanta_per_n_s())).collect()
}

/// Describes the difference of the impulses that implicit viscosity gives bodies from those of the twin.
fn loads_differ(before: &[f64], after: &[f64], twin: &mut State, p: &Parameters) -> Option<String> {
    let expected: Vec<f64> =
        twin.body_loads(p).into_iter().flatten().flat_map(|load| load.to_array()).collect();
    let size = expected.iter().fold(1e-4, |size: f64, x| size.max(x.abs()));
    let found: Vec<f64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size;
    // Couplings differ by 1e-5, and of forces of both signs sums remain.
    (error > 1e-3 || error.is_nan()).then(|| format!("loads {found:?}, expected {expected:?}"))
}

const SHEAR: &str = "\nshear = { rate_per_s = 3.0 }";

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        1 => prop::sample::select(vec![0usize, 1, 2]),
        4 => prop::sample::select(vec![63usize, 64, 65, 127, 128, 129, 255, 256, 257]),
        1 => 3usize..200,
    ]
}

/// Returns whether rows are flagged as left, and whether a particle is farther from where they were searched
/// than they allow.
fn has_moved(solver: &Viscoelastic, n: usize) -> [bool; 2] {
    let (rows, h_m) = (solver.fluid().rows(), solver.fluid().parameters().support_m);
    let flag = rows.download(&DEVICE, 0).unwrap().flags()[0] != 0;
    let [from, to] =
        [rows.listed(0), solver.fluid().predicted()].map(|x| vectors(&DEVICE.download(x, n).unwrap()));
    let farthest_h = largest(&from, &to) / f64::from(h_m);
    [flag, farthest_h.powi(2) >= rows.max_moved_q2().into()]
}

/// Compares each stage after those of the position-based fluid with its twin.
fn stages_agree(
    scene: &Scene,
    particles: &Sampled,
    tuning: Tuning,
    speed_m_s: f32,
    seed: u64,
) -> Result<(), TestCaseError> {
    let n = particles.positions_m.len();
    let mut solver = Viscoelastic::with_tuning(&DEVICE, scene, particles, tuning).unwrap();
    let stages = prepare(&mut solver, n, speed_m_s, 0.1, seed);
    for stage in stages {
        let dt_s = f64::from(solver.fluid().parameters().dt_s);
        let time_s = 0.5 * dt_s;
        let p = twin_parameters(&solver, time_s);
        let mut twin = twin_state(&DEVICE, &solver, n).unwrap();
        let was_done = twin.solve.is_done;
        let before = body_impulses(&solver);
        run(&mut solver, [stage]);
        if matches!(stage, Stage::IterateViscosity { .. }) && was_done {
            continue;
        }
        run_stage(&mut twin, &p, stage).unwrap();
        let found = twin_state(&DEVICE, &solver, n).unwrap();
        let mut wrong = disagreement(stage, &found, &twin, &p);
        if stage == Stage::EndViscosity {
            let after = body_impulses(&solver);
            twin.is_at_start = true;
            wrong = wrong.or_else(|| loads_differ(&before, &after, &mut twin, &p));
        }
        prop_assert!(wrong.is_none(), "{}: {}", stage, wrong.unwrap());
    }
    assert_no_validation_messages(&DEVICE);
    Ok(())
}

#[test]
fn every_stage_agrees_with_its_twin() {
    let cases = (
        (sizes(), prop::sample::select(SHAPES.to_vec()), any::<u64>()),
        (prop::sample::select(MATERIALS.to_vec()), 0u32..8, any::<bool>(), any::<bool>()),
        prop::sample::select(vec![1.0f64, 300.0]),
        (prop::sample::select(vec![0.05f32, 1.0, 8.0]), prop::sample::select(vec![64u32, 256])),
        (prop::sample::select(vec![1u32, NEIGHBOUR_SLOTS.default]), 0usize..4),
    );
    proptest!(config(24), |(cases in cases)| {
        let (
            (n, shape, seed), (material, mask, is_sheared, is_fed), viscosity, (speed, group), (slots, heat)
        ) = cases;
        let may_repeat = !SPRINGS.contains(&material);
        let periodic = [0, 1, 2].map(|axis| may_repeat && mask >> axis & 1 == 1);
        let shear = if is_sheared && !periodic[1] { SHEAR } else { "" };
        let feed = if is_fed && !periodic[1] { FEED } else { "" };
        // Faces that have a temperature are not periodic.
        let heat = if heat == 1 && periodic != [false; 3] { "" } else { HEAT.get(heat).unwrap_or(&"") };
        let shifting = if may_repeat && seed % 2 == 0 { "\nparticle_shifting = 40.0" } else { "" };
        let scene = scene(&format!("{material}{shifting}{shear}{feed}{heat}"), "", periodic, viscosity);
        let tuning = Tuning::new(group).unwrap().with(&NEIGHBOUR_SLOTS, slots).unwrap();
        stages_agree(&scene, &sampled(n, shape, 0.1, seed), tuning, speed, seed)?;
    });
}

#[test]
fn bodies_in_an_implicit_viscosity_agree_with_their_twins() {
    let materials = prop::sample::select(vec!["elasticity = \"none\"", MATERIALS[7], MATERIALS[9]]);
    let cases = (
        (sizes(), prop::sample::select(SHAPES.to_vec()), any::<u64>()),
        (materials, any::<bool>(), any::<bool>(), prop::sample::select(BODIES.to_vec())),
        prop::sample::select(vec![1, 4]),
    );
    proptest!(config(8), |(((n, shape, seed), (material, is_fed, has_heat, bodies), nesting) in cases)| {
        let (feed, heat) = (if is_fed { FEED } else { "" }, if has_heat { HEAT[1] } else { "" });
        let scene = scene(&format!("{material}{feed}{heat}"), bodies, [false; 3], 300.0);
        let tuning = Tuning::default().with(&LOOP_NESTING, nesting).unwrap();
        stages_agree(&scene, &sampled(n, shape, 0.1, seed), tuning, 1.0, seed)?;
    });
}

#[test]
fn rows_are_flagged_where_viscosity_moves_particles_beyond_their_margin() {
    let mut n_moved = 0;
    for seed in 0..16 {
        let n = 63;
        let scene = scene("elasticity = \"none\"", "", [false; 3], 300.0);
        let particles = sampled(n, Shape::Cloud, 0.1, seed);
        let mut solver = Viscoelastic::with_tuning(&DEVICE, &scene, &particles, Tuning::default()).unwrap();
        let stages = prepare(&mut solver, n, 8.0, 0.0, seed);
        let [before, _] = has_moved(&solver, n);
        run(&mut solver, stages.into_iter().filter(|stage| *stage != Stage::EndStep));
        let [flag, beyond] = has_moved(&solver, n);
        assert_eq!(flag, before || beyond, "seed {seed}");
        n_moved += usize::from(!before && beyond);
    }
    assert!(n_moved > 1, "{n_moved}");
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn a_rotation_rotates_conformation_and_strain() {
    let materials =
        prop::sample::select(vec![MATERIALS[2], "elasticity = \"strain_tensor\"\nmodulus_pa = 600.0"]);
    let angle = prop_oneof![-1.0f64..1.0, -0.05f64..0.05];
    let axes = [-1.0f64..1.0, -1.0f64..1.0, 0.1f64..1.0];
    proptest!(config(12), |(
        material in materials,
        angle in angle,
        axis in axes,
        strain in 0.0f32..0.2,
        seed in any::<u64>(),
    )| {
        let n = 300;
        let scene = scene(material, "", [false; 3], 0.0);
        let particles = sampled(n, Shape::Lattice, 0.1, seed);
        let mut solver =
            Viscoelastic::with_tuning(&DEVICE, &scene, &particles, Tuning::default()).unwrap();
        prepare(&mut solver, n, 0.0, strain, seed);
        let rotation = DMat3::from_axis_angle(DVec3::from_array(axis).normalize(), angle);
        let before = twin_state(&DEVICE, &solver, n).unwrap();
        let dt_s = f64::from(solver.fluid().parameters().dt_s);
        let u: Vec<[f32; 3]> = vectors(&before.fluid.predicted)
            .iter()
            .map(|x| {
                let arm = *x - DVec3::splat(0.2);
                ((arm - rotation.transpose() * arm) / dt_s).as_vec3().to_array()
            })
            .collect();
        DEVICE.upload(solver.fluid().updated(), &u).unwrap();
        run(&mut solver, [Stage::UpdateStress]);
        let after = twin_state(&DEVICE, &solver, n).unwrap();
        for i in (0..n).filter(|i| after.share[*i] == 1.0) {
            let expected = rotation * before.strain[i] * rotation.transpose();
            // Displacements of some spacings in f32, over spacings: 1e-6, times the condition of moments.
            let error = norm(after.strain[i] - expected);
            prop_assert!(error < 3e-5, "particle {}: {:e}", i, error);
        }
    });
}

/// Returns a solver whose stress is updated, and the twin's parameters and state.
fn stressed(
    material: &str,
    periodic: [bool; 3],
    viscosity: f64,
    seed: u64,
) -> (Viscoelastic, Parameters, State) {
    let n = 300;
    // Periodic domains have no bodies.
    let bodies =
        if periodic == [false; 3] { BODIES.get(seed as usize % 3).copied().unwrap_or("") } else { "" };
    let scene = scene(material, bodies, periodic, viscosity);
    let particles = sampled(n, Shape::Cloud, 0.1, seed);
    let mut solver = Viscoelastic::with_tuning(&DEVICE, &scene, &particles, Tuning::default()).unwrap();
    prepare(&mut solver, n, 0.5, 0.1, seed);
    let is_implicit = solver.viscosity().is_some();
    run(&mut solver, [if is_implicit { Stage::UpdateViscosity } else { Stage::UpdateStress }]);
    let p = twin_parameters(&solver, 0.0);
    let state = State { is_at_start: is_implicit, ..twin_state(&DEVICE, &solver, n).unwrap() };
    (solver, p, state)
}

#[test]
fn stress_keeps_momentum_and_angular_momentum_and_takes_its_power() {
    let materials = prop::sample::select(vec![MATERIALS[2], MATERIALS[6]]);
    proptest!(config(10), |(material in materials, seed in any::<u64>())| {
        let [symmetric, one_sided] = ["", "\nas_printed = true"].map(|more| {
            let is_strain = material == MATERIALS[6];
            let more = if is_strain { more } else { "" };
            let (mut solver, p, state) = stressed(&format!("{material}{more}"), [false; 3], 1.0, seed);
            run(&mut solver, [Stage::ApplyStress]);
            let v = vectors(&DEVICE.download(solver.fluid().velocity(), 300).unwrap());
            let (u, x) = (state.updated(), vectors(&state.fluid.predicted));
            let change: Vec<DVec3> = v.iter().zip(&u).map(|(v, u)| *v - *u).collect();
            let size: f64 = change.iter().map(|c| c.length()).sum();
            let linear = change.iter().sum::<DVec3>().length() / size;
            let angular = x.iter().zip(&change).map(|(x, c)| x.cross(*c)).sum::<DVec3>().length() / size;
            let dissipated: f64 = -u.iter().zip(&change).map(|(u, c)| u.dot(*c)).sum::<f64>();
            let scale = f64::from(p.fluid.dt_s) / f64::from(p.fluid.rest_density_kg_m3);
            let size: f64 = u.iter().zip(&change).map(|(u, c)| u.dot(*c).abs()).sum();
            let power = (dissipated - scale * state.power(&p, &u, true)) / size;
            (is_strain, linear, angular, power)
        });
        // Sums of some thousand terms of 2⁻²⁴, and velocities rounded at 1 m/s.
        let (_, linear, angular, power) = symmetric;
        // Torques cancel as far as B is the inverse of M: to rounding times the condition of M, some
        // thousands.
        prop_assert!(linear < 1e-5 && angular < 5e-4, "{:e} {:e}", linear, angular);
        prop_assert!(power.abs() < 1e-4, "power {:e}", power);
        // Torques of a random cloud may cancel by chance.
        let (is_strain, linear, ..) = one_sided;
        prop_assert!(!is_strain || linear > 1e-3, "as printed {:e}", linear);
    });
}

#[test]
fn the_operator_of_viscosity_is_symmetric_and_positive() {
    let masks = prop_oneof![Just(0u32), 0u32..8];
    proptest!(config(8), |(seed in any::<u64>(), mask in masks, has_bulk in any::<bool>())| {
        let bulk = if has_bulk { "\nbulk_viscosity_ratio = 5.0" } else { "" };
        let periodic = [0, 1, 2].map(|axis| mask >> axis & 1 == 1);
        let (mut solver, p, mut state) =
            stressed(&format!("elasticity = \"none\"\nstick = true{bulk}"), periodic, 300.0, seed);
        let n = state.fluid.predicted.len();
        run(&mut solver, [Stage::BeginViscosity]);
        let mut random = Random::new(seed ^ 5);
        let [(a, of_a), (b, of_b)] = [(); 2].map(|()| {
            let field: Vec<[f32; 3]> = (0..n).map(|_| [(); 3].map(|()| random.unit() - 0.5)).collect();
            DEVICE.upload(solver.viscosity().unwrap().direction(), &field).unwrap();
            DEVICE.upload(solver.viscosity().unwrap().residual(), &field).unwrap();
            run(&mut solver, [Stage::BeginViscosity]);
            DEVICE.upload(solver.viscosity().unwrap().direction(), &field).unwrap();
            run(&mut solver, [Stage::IterateViscosity { iteration: 0 }]);
            (vectors(&field), vectors(&DEVICE.download(solver.viscosity().unwrap().applied(), n).unwrap()))
        });
        let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let size = (dot(&a, &a) * dot(&of_b, &of_b)).sqrt();
        prop_assert!((dot(&a, &of_b) - dot(&b, &of_a)).abs() < 1e-5 * size, "not symmetric");
        prop_assert!(dot(&a, &of_a) > dot(&a, &a) && dot(&b, &of_b) > dot(&b, &b), "below the identity");
        state.direction.clone_from(&a);
        state.differentiate(&p, &a, true);
        let power =
            state.power(&p, &a, false) * f64::from(p.fluid.dt_s) / f64::from(p.fluid.rest_density_kg_m3);
        let taken = dot(&a, &of_a) - dot(&a, &a);
        prop_assert!(periodic == [false; 3] || power > 0.0);
        if periodic == [true; 3] {
            prop_assert!((power / taken - 1.0).abs() < 1e-4, "power {:e} of {:e}", power, taken);
        }
    });
}

/// Bits of the state after some steps.
fn bits_after(scene: &Scene, particles: &Sampled, tuning: Tuning, steps: usize) -> Vec<StateColumn> {
    let mut solver = Viscoelastic::with_tuning(&DEVICE, scene, particles, tuning).unwrap();
    for _ in 0..steps {
        let stages: Vec<Stage> = solver.stages().collect();
        run(&mut solver, stages);
    }
    // After a fault nothing moves.
    let mut recorder = DEVICE.recorder().unwrap();
    let check = frazil_solvers::Solver::record_fault_check(&solver, &mut recorder).unwrap().unwrap();
    DEVICE.submit(recorder).unwrap().wait().unwrap();
    assert_eq!(check.wait().unwrap(), None);
    download_columns(&DEVICE, &solver.state_columns()).unwrap()
}

#[test]
fn no_bit_depends_on_rows_threads_or_a_restart() {
    let slow = sampled(500, Shape::Cloud, 0.3, 3);
    // As fast as sound states are: 6 mm a step, beyond the margin of rows.
    let fast = sampled(500, Shape::Cloud, 3.0, 3);
    let is_full = is_full_run();
    let steps = if is_full { 6 } else { 4 };
    for (k, (material, periodic, viscosity, particles)) in [
        (format!("{}{SHEAR}", MATERIALS[3]), [true, false, true], 1.0, &slow),
        (MATERIALS[6].to_owned(), [false; 3], 1.0, &slow),
        (format!("elasticity = \"none\"{SHEAR}"), [true, false, true], 300.0, &slow),
        (SPRINGS[0].to_owned(), [false; 3], 1.0, &slow),
        (SPRINGS[1].to_owned(), [false; 3], 300.0, &slow),
        (format!("elasticity = \"none\"{FEED}"), [true, false, true], 300.0, &slow),
        (format!("elasticity = \"none\"\nparticle_shifting = 12.0{FEED}"), [true, false, true], 300.0, &slow),
        (format!("{}\nparticle_shifting = 12.0", MATERIALS[2]), [false; 3], 1.0, &fast),
        (format!("{}{}", MATERIALS[3], HEAT[1]), [false; 3], 1.0, &slow),
        (format!("{}{}", MATERIALS[7], HEAT[0]), [true, false, true], 300.0, &slow),
        ("elasticity = \"none\"".to_owned(), [false; 3], 300.0, &fast),
        (MATERIALS[2].to_owned(), [true, false, true], 300.0, &fast),
    ]
    .into_iter()
    .enumerate()
    {
        let scene = scene(&material, "", periodic, viscosity);
        let expected = bits_after(&scene, particles, Tuning::default(), steps);
        // In the short form, each case has every second variant.
        let variants = [(64, 1, 1), (64, 16, 1), (256, NEIGHBOUR_SLOTS.default, 4)];
        for (group, slots, nesting) in
            variants.into_iter().filter(|(_, slots, _)| is_full || (*slots == 1) == (k % 2 == 0))
        {
            let tuning = Tuning::new(group).unwrap().with(&NEIGHBOUR_SLOTS, slots).unwrap();
            let tuning = tuning.with(&LOOP_NESTING, nesting).unwrap();
            let found = bits_after(&scene, particles, tuning, steps);
            for (a, b) in found.iter().zip(&expected) {
                assert_eq!(a.words, b.words, "{} with {group} threads and {slots} slots, {material}", a.name);
            }
        }
        let grids = [NeighbourGrid::Counting, NeighbourGrid::Sorting];
        for grid in if is_full { &grids[..] } else { &grids[k / 2 % 2..][..1] } {
            let mut other = scene.clone();
            other.fluid_mut().unwrap().neighbour_grid = Some(*grid);
            let found = bits_after(&other, particles, Tuning::default(), steps);
            for (a, b) in found.iter().zip(&expected) {
                assert_eq!(a.words, b.words, "{} with {grid:?}, {material}", a.name);
            }
        }
        let half = steps / 2;
        let saved = bits_after(&scene, particles, Tuning::default(), half);
        let mut resumed =
            Viscoelastic::restore(&DEVICE, &scene, &saved, half as u64, Default::default()).unwrap();
        let restored = download_columns(&DEVICE, &resumed.state_columns()).unwrap();
        for (a, b) in restored.iter().zip(&saved) {
            assert_eq!(a.words, b.words, "{} restored, {material}", a.name);
        }
        for _ in half..steps {
            let stages: Vec<Stage> = resumed.stages().collect();
            run(&mut resumed, stages);
        }
        let found = download_columns(&DEVICE, &resumed.state_columns()).unwrap();
        for (a, b) in found.iter().zip(&expected) {
            assert_eq!(a.words, b.words, "{} after a restart, {material}", a.name);
        }
    }
    assert_no_validation_messages(&DEVICE);
}

#[test]
fn conformation_stays_positive_definite() {
    proptest!(config(10), |(seed in any::<u64>(), speed in 0.1f32..5.0)| {
        let n = 300;
        let scene = scene(MATERIALS[3], "", [true; 3], 1.0);
        let particles = sampled(n, Shape::Cloud, 0.1, seed);
        let mut solver =
            Viscoelastic::with_tuning(&DEVICE, &scene, &particles, Tuning::default()).unwrap();
        prepare(&mut solver, n, speed, 0.0, seed);
        for _ in 0..6 {
            run(&mut solver, [Stage::UpdateStress]);
        }
        let d = DEVICE.download(solver.stress().diagonal.front(), n).unwrap();
        let o = DEVICE.download(solver.stress().off_diagonal.front(), n).unwrap();
        for (d, o) in d.iter().zip(&o) {
            let a = DMat3::IDENTITY + symmetric(*d, *o);
            let minor = a.x_axis.x * a.y_axis.y - a.x_axis.y * a.y_axis.x;
            let rounding = 1e-5 * norm(a).powi(3);
            prop_assert!(
                a.x_axis.x > -rounding && minor > -rounding && a.determinant() > -rounding,
                "{:?}", a
            );
        }
    });
}

#[test]
fn a_periodic_lattice_is_at_rest_density_and_feels_no_force() {
    let scene = scene(MATERIALS[2], "", [true; 3], 1.0);
    let mut particles = Sampled::default();
    for i in 0..1000 {
        // 10 × 10 × 10 of them fill 0.5 × 0.54 × 0.47 m.
        let place = [i % 10, i / 10 % 10, i / 100].map(|k| k as f32 + 0.25);
        particles.positions_m.push([0.05 * place[0], 0.054 * place[1], 0.047 * place[2]]);
        particles.velocities_m_s.push([40.0, -30.0, 20.0]);
        particles.temperatures_c.push(0.0);
        particles.phases.push(Phase::Water);
    }
    let mut solver = Viscoelastic::with_tuning(&DEVICE, &scene, &particles, Tuning::default()).unwrap();
    let stages: Vec<Stage> = solver.stages().collect();
    for stage in stages {
        run(&mut solver, [stage]);
        if stage == Stage::Fluid(pbd::Stage::UpdateVelocity) {
            let density = DEVICE.download(solver.fluid().density(), 1000).unwrap();
            let (low, high) = density.iter().fold((f32::MAX, 0.0f32), |(l, h), d| (l.min(*d), h.max(*d)));
            // All the same, and the box holds as many as at rest density, less 1.5 %: 0.5 · 0.54 ·
            // 0.47/0.05³.
            assert!(high - low < 0.05 && (high / 985.0 - 1.0).abs() < 0.02, "{low} to {high} kg/m³");
        }
    }
    let v = vectors(&DEVICE.download(solver.fluid().velocity(), 1000).unwrap());
    let first = v[0];
    assert!(v.iter().all(|v| (*v - first).length() < 0.02), "forces on a lattice");
    let inside = |x: &[f32; 3]| (0..3).all(|a| x[a] > -0.11 && x[a] < [0.61, 0.65, 0.58][a]);
    assert!(DEVICE.download(solver.fluid().position(), 1000).unwrap().iter().all(inside));
}

#[test]
fn measurements_agree_with_the_twin() {
    for (material, n) in
        [(MATERIALS[2], 257), (MATERIALS[6], 64), (MATERIALS[7], 1), (MATERIALS[3], 0), (SPRINGS[0], 257)]
    {
        let scene = scene(material, "", [false; 3], 1.0);
        let particles = sampled(n, Shape::Cloud, 0.3, 9);
        let mut solver = Viscoelastic::with_tuning(&DEVICE, &scene, &particles, Tuning::default()).unwrap();
        let rest = prepare(&mut solver, n, 0.5, 0.2, 4);
        run(&mut solver, rest);
        let mut recorder = DEVICE.recorder().unwrap();
        let measured = solver.record_metrics(&mut recorder).unwrap();
        DEVICE.submit(recorder).unwrap().wait().unwrap();
        let found = measured.wait().unwrap();
        let p = twin_parameters(&solver, 0.0);
        let state = twin_state(&DEVICE, &solver, n).unwrap();
        let (mut energy, angular) = state.measure_elasticity(&p);
        if let Some(springs) = &p.springs {
            let (of_springs, ends) = state.measure_springs(springs);
            energy += of_springs;
            assert!(ends > 100 && found.n_springs as usize == ends / 2, "{} of {ends}", found.n_springs);
        }
        let mass = solver.fluid().parameters().particle_mass_kg;
        let close = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-4 * size.abs() + 1e-9;
        assert!(close(found.elastic_energy_j, mass * energy, mass * energy), "{found:?}, {energy}");
        let size = mass * n as f64 * 0.5;
        for (found, expected) in found.angular_momentum_kg_m2_s.into_iter().zip(angular.to_array()) {
            assert!(close(found, mass * expected, size), "{found} of {expected}");
        }
        let mean = state.stress.iter().fold(DMat3::ZERO, |sum, s| sum + *s) * (1.0 / n.max(1) as f64);
        let [xx, _, _, xy, ..] = found.stress_pa;
        let size = state.stress.iter().map(|s| norm(*s)).fold(0.0, f64::max);
        assert!(close(xx, mean.x_axis.x, size) && close(xy, mean.x_axis.y, size), "{found:?}, {mean}");
    }
}

#[test]
fn a_blow_up_is_reported_with_its_particle_and_a_smaller_step() {
    let mut scene = scene(MATERIALS[2], "", [false; 3], 1.0);
    let pbd = scene.pbd_mut().unwrap();
    (pbd.max_density_ratio, pbd.max_courant) = (4.0, 1.0);
    let mut particles = sampled(300, Shape::Lattice, 0.0, 1);
    for (v, x) in particles.velocities_m_s.iter_mut().zip(&particles.positions_m) {
        v[0] = if x[0] < 0.25 { 1000.0 } else { -1000.0 };
    }
    let mut solver = Viscoelastic::with_tuning(&DEVICE, &scene, &particles, Tuning::default()).unwrap();
    let mut expected = None;
    for _ in 0..2 {
        let stages: Vec<Stage> = solver.stages().collect();
        for stage in stages {
            let p = twin_parameters(&solver, 0.0);
            let mut twin = twin_state(&DEVICE, &solver, 300).unwrap();
            run(&mut solver, [stage]);
            if stage == Stage::Fluid(pbd::Stage::UpdateVelocity) && expected.is_none() {
                twin.fluid.update_velocity(&p.fluid);
                twin.end_step();
                expected = twin.fluid.faults.first;
            }
        }
    }
    let mut recorder = DEVICE.recorder().unwrap();
    let check = frazil_solvers::Solver::record_fault_check(&solver, &mut recorder).unwrap().unwrap();
    DEVICE.submit(recorder).unwrap().wait().unwrap();
    let fault = check.wait().unwrap().unwrap();
    let expected = expected.unwrap();
    assert_eq!((expected.step, expected.kind), (1, FaultKind::TooFast));
    assert_eq!(
        (fault.step, fault.pass, &fault.object[..]),
        (1, "UpdateVelocity", &format!("particle {}", expected.id)[..])
    );
    // 1 000 m/s are beyond what a 32nd of the step would mend.
    assert!(fault.message.contains("try time.dt_s = 6.2e-5"), "{}", fault.message);
}
