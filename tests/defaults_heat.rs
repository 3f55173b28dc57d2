//! Heat at the defaults: scenes as a user writes them, with geometry, temperatures and a time step, at dt and
//! dt/2, d and d/2, compared with closed forms over all particles. Tolerances are stated where they are used;
//! `FRAZIL_FULL=1` adds the finest resolution.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_report::erf;
use frazil_scene::{Heat, Phase, Scene};
use frazil_solvers::pbd::Snow;
use frazil_solvers::pbd::snow::Stage;
use frazil_testkit::{Random, assert_no_validation_messages, device, is_full_run};
use frazil_tests::bar::{neumann_lambda, neumann_temperature_c, properties};
use frazil_tests::{Particle, SnowSimulation};

/// Surroundings of a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Surroundings {
    /// Walls on all sides.
    Walls,
    /// A floor, on which it lies beside one wall.
    Floor,
    /// Empty space on all sides.
    Free,
    /// Empty space around a cylinder.
    FreeCylinder,
}

/// Two blocks in contact at a plane across x, at rest without gravity.
#[derive(Clone, Copy, Debug)]
struct Bar {
    surroundings: Surroundings,
    /// Particles across, along y and z.
    n_across: u32,
    /// Particles along x of each half.
    n_along: [u32; 2],
    phases: [Phase; 2],
    temperatures_c: [f64; 2],
    has_enthalpy: bool,
    /// Distance √(4αt) that heat travels in the slower half, in spacings of the coarse resolution.
    reach_spacings: f64,
    /// Other lines of the scene's `[snow.heat]`.
    heat: &'static str,
}

/// Resolution: spacing in m, and the time step's share of the maximum that a scene is accepted with.
#[derive(Clone, Copy, Debug)]
struct Resolution {
    spacing_m: f64,
    dt_share: f64,
}

impl Bar {
    /// Returns the scene of the bar. With half the spacing it has twice as many particles along; the number
    /// across stays, so that a bar three particles thick is tested at both.
    fn scene(&self, at: Resolution, refinement: u32) -> Scene {
        let d = at.spacing_m;
        let [a, b] = self.n_along.map(|n| f64::from(n * refinement) * d);
        let width = f64::from(self.n_across) * d;
        let margin = 4.0 * d;
        let (below, above) = match self.surroundings {
            Surroundings::Walls => (0.0, 0.0),
            Surroundings::Floor => (0.0, margin),
            Surroundings::Free | Surroundings::FreeCylinder => (margin, margin),
        };
        let shape = |from: f64, to: f64| {
            if self.surroundings == Surroundings::FreeCylinder {
                return format!(
                    "shape.cylinder = {{ centre_m = [{}, {c}, {c}], axis = \"x\", \
                     radius_m = {}, height_m = {} }}",
                    0.5 * (from + to),
                    0.5 * width,
                    to - from,
                    c = below + 0.5 * width,
                );
            }
            let high = below + width;
            format!("shape.box = {{ min_m = [{from}, {below}, {below}], max_m = [{to}, {high}, {high}] }}")
        };
        let name = |phase| if phase == Phase::Snow { "snow" } else { "water" };
        let blocks: String = [(0, 0.0, a), (1, a, a + b)]
            .into_iter()
            .map(|(half, from, to)| {
                let (phase, temperature_c) = (name(self.phases[half]), self.temperatures_c[half]);
                let shape = shape(from, to);
                format!("[[particles]]\nphase = \"{phase}\"\ntemperature_c = {temperature_c}\n{shape}\n")
            })
            .collect();
        let latent = if self.has_enthalpy { "latent_heat = \"enthalpy\"" } else { "" };
        let side = below + width + above;
        let text = format!(
            "version = 1\nname = \"bar\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
             time = {{ dt_s = 1e-9, duration_s = 1.0 }}\nfluid = {{ particle_spacing_m = {d} }}\n\
             domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [{}, {side}, {side}] }}\n\
             [snow.heat]\n{latent}\n{}\n{blocks}",
            a + b,
            self.heat,
        );
        let mut scene = Scene::parse(&text, "bar.toml", &[]).unwrap();
        scene.solver.steps_per_submission = 50;
        scene.time.dt_s = (at.dt_share * 0.5 / scene.conduction_rate_per_s().unwrap()).into();
        scene
    }
}

fn diffusivity(heat: &Heat, phase: Phase) -> f64 {
    let (k, c) = properties(heat, phase);
    k / (1000.0 * c)
}

/// Returns the temperature of two half-spaces in contact, at x in m from it and t in s.
fn exact_c(heat: &Heat, bar: &Bar, x_m: f64, t_s: f64) -> f64 {
    let [a, b] = bar.phases.map(|phase| {
        let (k, c) = properties(heat, phase);
        (k * c).sqrt()
    });
    let contact = (a * bar.temperatures_c[0] + b * bar.temperatures_c[1]) / (a + b);
    let side = usize::from(x_m > 0.0);
    let reach = (4.0 * diffusivity(heat, bar.phases[side]) * t_s).sqrt();
    contact + (bar.temperatures_c[side] - contact) * erf(x_m.abs() / reach)
}

/// Stages that a run has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stages {
    /// All of them: what a user runs.
    All,
    /// Those before the constraints: heat and changes of phase, but nothing moves. The density constraint
    /// moves water off its lattice by up to a quarter of a spacing, and heat with it.
    Heat,
}

/// Advances by `steps`.
fn advance(run: &mut SnowSimulation, steps: u64, stages: Stages) {
    if stages == Stages::All {
        run.advance(steps);
        return;
    }
    let of_heat: Vec<Stage> = run.snow.stages().take_while(|stage| *stage != Stage::Conduct).collect();
    for first in (0..steps).step_by(50) {
        let mut recorder = run.device.recorder().unwrap();
        for _ in first..steps.min(first + 50) {
            for stage in of_heat.iter().chain(&[Stage::Conduct]) {
                run.snow.record_stage(&mut recorder, *stage);
            }
        }
        run.device.submit(recorder).unwrap();
    }
    run.step += steps;
}

/// Maximum error of temperatures relative to the jump, over all particles, when heat has travelled √(4αt) =
/// `reach_spacings` of the coarse resolution in the slower half.
fn contact_error(bar: &Bar, at: Resolution, refinement: u32, stages: Stages) -> f64 {
    let scene = bar.scene(at, refinement);
    let heat = scene.snow().unwrap().heat.clone();
    let dt = scene.dt_s();
    let slower = bar.phases.map(|phase| diffusivity(&heat, phase)).into_iter().fold(f64::MAX, f64::min);
    let mut run = SnowSimulation::of(&device(), scene);
    let reach_m = bar.reach_spacings * COARSE_M;
    advance(&mut run, (reach_m.powi(2) / (4.0 * slower) / dt).round() as u64, stages);
    let t_s = run.step as f64 * dt;
    let middle_m = f64::from(bar.n_along[0] * refinement) * at.spacing_m;
    let error = |p: &Particle| {
        let exact = exact_c(&heat, bar, f64::from(p.position[0]) - middle_m, t_s);
        (f64::from(p.temperature_c) - exact).abs()
    };
    let worst = run.particles().iter().map(error).fold(0.0, f64::max);
    assert_no_validation_messages(&run.device);
    worst / (bar.temperatures_c[1] - bar.temperatures_c[0]).abs()
}

/// Spacing in m of the coarse resolution of contacts.
const COARSE_M: f64 = 0.02;

/// Runs a bar at (d, dt) and, in the long form, (d, dt/2), (d/2, dt/4) and (d/4, dt/16), prints the errors,
/// and asserts that each is below 1 % of the jump. The short form of a fine bar has (d/2, dt/4).
fn assert_contact(name: &str, bar: &Bar, stages: Stages, is_fine: bool) {
    let is_full = is_full_run();
    let coarse = Resolution { spacing_m: COARSE_M, dt_share: 0.9 };
    let mut cases = vec![(coarse, 1)];
    if is_full {
        cases.push((Resolution { dt_share: 0.45, ..coarse }, 1));
    }
    let refinements: &[u32] = if is_full { &[2, 4] } else { &[2] };
    for &refinement in if is_full || is_fine { refinements } else { &[] } {
        let spacing_m = COARSE_M / f64::from(refinement);
        cases.push((Resolution { spacing_m, ..coarse }, refinement));
    }
    let error = |(at, refinement): &(Resolution, u32)| 100.0 * contact_error(bar, *at, *refinement, stages);
    let errors: Vec<f64> = cases.iter().map(error).collect();
    if let [d, half_dt, half_d, ..] = errors[..] {
        println!("{name}: order of the error in d {:.1}, dt/2 {half_dt:.2} %", (d / half_d).log2());
    }
    println!("{name}: {errors:.2?} % of the jump");
    // The discretization is of second order, and heat has crossed three or four particles of it.
    assert!(errors.iter().all(|error| *error < 1.0), "{name}: {errors:?} % of the jump");
}

fn snow_bar(surroundings: Surroundings, n_across: u32) -> Bar {
    Bar {
        surroundings,
        n_across,
        n_along: [11, 11],
        phases: [Phase::Snow; 2],
        temperatures_c: [-40.0, -10.0],
        has_enthalpy: false,
        reach_spacings: 4.0,
        heat: "",
    }
}

#[test]
fn bars_between_walls_conduct_by_fouriers_law() {
    for &n_across in if is_full_run() { &[1, 3, 5][..] } else { &[1, 3] } {
        let bar = snow_bar(Surroundings::Walls, n_across);
        assert_contact(&format!("snow between walls, {n_across} across"), &bar, Stages::All, n_across == 3);
    }
    let bar = Bar { has_enthalpy: true, ..snow_bar(Surroundings::Walls, 3) };
    assert_contact("snow between walls, 3 across, enthalpy", &bar, Stages::All, false);
    let (phases, n_along, reach_spacings) = ([Phase::Water; 2], [9, 9], 3.0);
    let water = Bar { phases, n_along, reach_spacings, temperatures_c: [10.0, 40.0], ..bar };
    assert_contact("still water between walls, 3 across, enthalpy", &water, Stages::Heat, false);
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn bars_with_free_surfaces_conduct_by_fouriers_law() {
    for &n_across in if is_full_run() { &[1, 2, 3, 5][..] } else { &[1] } {
        let bar = snow_bar(Surroundings::Free, n_across);
        assert_contact(&format!("snow in empty space, {n_across} across"), &bar, Stages::All, false);
    }
    let bar = Bar { has_enthalpy: true, ..snow_bar(Surroundings::Free, 3) };
    assert_contact("snow in empty space, 3 across, enthalpy", &bar, Stages::All, false);
    let bar = snow_bar(Surroundings::Floor, 4);
    assert_contact("snow on a floor beside a wall, 4 across", &bar, Stages::All, false);
    let bar = snow_bar(Surroundings::FreeCylinder, 7);
    assert_contact("a cylinder of snow, 7 across", &bar, Stages::All, false);
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn snow_and_water_between_walls_exchange_heat_by_fouriers_law() {
    for &has_enthalpy in if is_full_run() { &[false, true][..] } else { &[false] } {
        // At these temperatures the contact stays at freezing, and nothing changes phase.
        let effusivity = |phase| {
            let (k, c) = properties(&Heat::default(), phase);
            (k * c).sqrt()
        };
        let warm_c = 20.0 * effusivity(Phase::Snow) / effusivity(Phase::Water);
        let bar = Bar {
            n_along: [24, 9],
            reach_spacings: 3.0,
            phases: [Phase::Snow, Phase::Water],
            temperatures_c: [-20.0, warm_c],
            has_enthalpy,
            ..snow_bar(Surroundings::Walls, 3)
        };
        let name = if has_enthalpy { "enthalpy" } else { "blending" };
        let name = format!("snow and still water between walls, 3 across, {name}");
        assert_contact(&name, &bar, Stages::Heat, false);
    }
}

/// The paper's form, which `snow.heat.conduction` still offers, for the record of what the default mends.
#[test]
fn without_correction_a_bar_between_walls_conducts_too_little() {
    let bar = Bar { heat: "conduction = \"uncorrected\"", ..snow_bar(Surroundings::Walls, 3) };
    let coarse = Resolution { spacing_m: COARSE_M, dt_share: 0.9 };
    let error = contact_error(&bar, coarse, 1, Stages::All);
    println!("snow between walls, 3 across, uncorrected: {:.2} % of the jump", 100.0 * error);
    assert!(error > 0.03, "{error}");
}

/// Front between ice and water, relative to Neumann's, and the maximum error of temperatures relative to the
/// jump over all particles, when it has moved FRONT_M.
fn stefan_errors(bar: &Bar, at: Resolution, refinement: u32, stages: Stages) -> (f64, f64) {
    let scene = bar.scene(at, refinement);
    let heat = scene.snow().unwrap().heat.clone();
    let dt = scene.dt_s();
    let lambda = neumann_lambda(&heat, bar.temperatures_c);
    let water = diffusivity(&heat, Phase::Water);
    let [ice_c, water_c] = bar.temperatures_c;
    let mut run = SnowSimulation::of(&device(), scene);
    let steps = ((FRONT_M / (2.0 * lambda)).powi(2) / water / dt).round() as u64;
    advance(&mut run, steps, stages);
    let t_s = run.step as f64 * dt;
    let particles = run.particles();
    let n_section = f64::from(bar.n_across * bar.n_across);
    let n_water = f64::from(bar.n_along[1] * refinement) * n_section;
    // Front if all melted mass is water, in m into the ice.
    let molten = |p: &Particle| (f64::from(p.enthalpy_j_kg) / heat.latent_heat_j_kg).clamp(0.0, 1.0);
    let found_m = (particles.iter().map(molten).sum::<f64>() - n_water) / n_section * at.spacing_m;
    let exact_m = 2.0 * lambda * (water * t_s).sqrt();
    let contact_m = f64::from(bar.n_along[0] * refinement) * at.spacing_m;
    let error = |p: &Particle| {
        let into_ice_m = contact_m - f64::from(p.position[0]);
        let exact_c = neumann_temperature_c(&heat, bar.temperatures_c, lambda, into_ice_m, t_s);
        (f64::from(p.temperature_c) - exact_c).abs() / (water_c - ice_c)
    };
    let worst = particles.iter().map(error).fold(0.0, f64::max);
    assert_no_validation_messages(&run.device);
    (found_m / exact_m - 1.0, worst)
}

/// Distance in m that fronts move.
const FRONT_M: f64 = 0.06;

/// Runs a front at a spacing of 2 cm, in the long form of 1 cm and at dt/2, too, and asserts its position to
/// 3 % and temperatures to `tolerance` of the jump at 1 cm, twice that at 2 cm: a particle that contains the
/// front is at the freezing temperature over all of its volume, an error of first order in the spacing.
fn assert_front(name: &str, bar: &Bar, stages: Stages, tolerance: f64) {
    let is_full = is_full_run();
    let coarse = Resolution { spacing_m: 0.02, dt_share: 0.9 };
    let mut cases = vec![(coarse, 1)];
    // At half the spacing it takes eight times as long.
    if is_full {
        cases.push((Resolution { dt_share: 0.45, ..coarse }, 1));
        cases.push((Resolution { spacing_m: 0.01, ..coarse }, 2));
    }
    for (at, refinement) in cases {
        let (front, error) = stefan_errors(bar, at, refinement, stages);
        println!(
            "{name}, d {} m, dt share {}: front {:+.2} %, T {:.2} % of the jump",
            at.spacing_m,
            at.dt_share,
            100.0 * front,
            100.0 * error
        );
        assert!(front.abs() < 0.03, "{name}: front off by {:.2} %", 100.0 * front);
        let tolerance = tolerance * at.spacing_m / 0.01;
        assert!(error < tolerance, "{name}: temperatures off by {:.2} % of the jump", 100.0 * error);
    }
}

/// Temperatures of still water and snow: 1 % of the jump.
const STILL: f64 = 0.01;

/// In water that moves off its lattice, 2 %: the gradient is 14 % of the jump in a spacing, of which the
/// water moves a tenth to a quarter. The ledger says FAIL.
const MOVING: f64 = 0.02;

/// Snow at −100 °C and water at 1 °C, as in the scene `freezing`, with the conductivities of ice and water.
fn freezing_bar() -> Bar {
    Bar {
        n_along: [28, 13],
        phases: [Phase::Snow, Phase::Water],
        temperatures_c: [-100.0, 1.0],
        has_enthalpy: true,
        ..snow_bar(Surroundings::Walls, 3)
    }
}

/// Ice at freezing that conducts and stores heat like water, and water at a Stefan number of 1: the limit of
/// time steps follows from the water, not from ice that only lies there.
fn melting_bar() -> Bar {
    Bar {
        n_along: [6, 20],
        temperatures_c: [0.0, 333_600.0 / 4182.0],
        heat: "snow_conductivity_w_m_k = 0.56\nsnow_capacity_j_kg_k = 4182.0",
        ..freezing_bar()
    }
}

#[test]
fn fronts_of_freezing_and_melting_are_neumanns() {
    assert_front("freezing, still", &freezing_bar(), Stages::Heat, STILL);
    assert_front("melting, still", &melting_bar(), Stages::Heat, STILL);
}

#[test]
#[ignore = "long: FRAZIL_FULL=1 tools/test"]
fn fronts_in_moving_water_are_where_neumanns_are() {
    assert_front("freezing", &freezing_bar(), Stages::All, MOVING);
    assert_front("melting", &melting_bar(), Stages::All, MOVING);
}

/// Creates snow at rest at given positions, with uniformly random temperatures from −40 to −10 °C.
fn packing(positions_m: Vec<[f32; 3]>, side_m: f64, has_enthalpy: bool) -> SnowSimulation {
    let latent = if has_enthalpy { "latent_heat = \"enthalpy\"" } else { "" };
    let text = format!(
        "version = 1\nname = \"packing\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
         time = {{ dt_s = 1e-9, duration_s = 1.0 }}\nfluid = {{ particle_spacing_m = 0.01 }}\n\
         domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [{side_m}, {side_m}, {side_m}] }}\n\
         [snow.heat]\n{latent}\n\
         [[particles]]\nphase = \"snow\"\ntemperature_c = -10.0\n\
         shape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [{side_m}, {side_m}, {side_m}] }}\n"
    );
    let mut scene = Scene::parse(&text, "packing.toml", &[]).unwrap();
    scene.time.dt_s = (0.5 / scene.conduction_rate_per_s().unwrap()).into();
    let mut sampled = scene.sample().unwrap();
    let mut random = Random::new(3);
    let n = positions_m.len();
    sampled.phases.resize(n, Phase::Snow);
    sampled.velocities_m_s.resize(n, [0.0; 3]);
    sampled.temperatures_c = (0..n).map(|_| -40.0 + 30.0 * random.unit()).collect();
    sampled.positions_m = positions_m;
    let device = device();
    let snow = Snow::new(&device, &scene, &sampled).unwrap();
    SnowSimulation { device, scene, snow, step: 0, replay: Default::default() }
}

/// Records conduction alone, so that nothing moves.
fn conduct(run: &mut SnowSimulation, steps: usize) {
    let mut recorder = run.device.recorder().unwrap();
    (0..steps).for_each(|_| run.snow.record_stage(&mut recorder, Stage::Conduct));
    run.device.submit(recorder).unwrap();
}

/// Random points in a cube at least `apart_m` from one another and half a spacing from its faces.
fn random_points(n: usize, side_m: f64, apart_m: f32) -> Vec<[f32; 3]> {
    let mut random = Random::new(7);
    let mut points: Vec<[f32; 3]> = Vec::new();
    while points.len() < n {
        let x = [(); 3].map(|()| 0.005 + (side_m as f32 - 0.01) * random.unit());
        let far = |y: &[f32; 3]| (0..3).map(|a| (x[a] - y[a]).powi(2)).sum::<f32>() > apart_m * apart_m;
        if points.iter().all(far) {
            points.push(x);
        }
    }
    points
}

/// Whatever the packing, at the largest accepted time step: no temperature leaves the range of the initial
/// ones, and the sum is constant.
#[test]
fn lone_particles_rows_planes_and_clouds_keep_heat_and_make_no_extrema() {
    let at = |points: &[[f32; 3]]| points.iter().map(|x| x.map(|x| 0.01 * x)).collect::<Vec<_>>();
    let plane: Vec<[f32; 3]> = (0..25).map(|i| [2.5 + (i % 5) as f32, 3.0, 2.5 + (i / 5) as f32]).collect();
    let row: Vec<[f32; 3]> = (0..6).map(|i| [2.0 + i as f32, 5.0, 5.0]).collect();
    let edge: Vec<[f32; 3]> = (0..6).map(|i| [0.5, 0.5 + i as f32, 0.5]).collect();
    let packings = [
        ("one", at(&[[5.0; 3]])),
        ("two in contact", at(&[[5.0; 3], [6.0, 5.0, 5.0]])),
        ("two apart by 1.9 spacings", at(&[[5.0; 3], [6.9, 5.0, 5.0]])),
        ("two at one place", at(&[[5.0; 3], [5.0; 3]])),
        ("a row", at(&row)),
        ("a row along an edge", at(&edge)),
        ("a plane", at(&plane)),
        ("a sparse cloud", random_points(300, 0.1, 0.006)),
        ("a dense cloud", random_points(900, 0.1, 0.006)),
    ];
    for (name, positions_m) in packings {
        for has_enthalpy in [false, true] {
            let n = positions_m.len();
            let mut run = packing(positions_m.clone(), 0.1, has_enthalpy);
            let temperatures = |run: &SnowSimulation| -> Vec<f64> {
                run.particles().iter().map(|p| f64::from(p.temperature_c)).collect()
            };
            let range = |all: &[f64]| {
                all.iter().fold((f64::MAX, f64::MIN), |(low, high), t| (low.min(*t), high.max(*t)))
            };
            let before = temperatures(&run);
            let (mut low, mut high) = range(&before);
            for _ in 0..20 {
                conduct(&mut run, 1);
                let now = range(&temperatures(&run));
                // Rounding of 40 °C over some 30 terms.
                assert!(now.0 > low - 1e-4 && now.1 < high + 1e-4, "{name}: {now:?} from {low} to {high}");
                (low, high) = now;
            }
            conduct(&mut run, if is_full_run() { 200 } else { 60 });
            let after = temperatures(&run);
            let drift = (after.iter().sum::<f64>() - before.iter().sum::<f64>()).abs() / n as f64;
            assert!(drift < 2e-5, "{name}: the mean drifts by {drift} °C");
            println!(
                "{name} ({n}): from {low:.2} to {high:.2} °C after 20 steps, mean drifts by {drift:.0e} °C"
            );
            assert_no_validation_messages(&run.device);
        }
    }
}

/// Particles displaced from the lattice by up to a fifth of a spacing on each axis, also with free surfaces
/// around them: the diffusivity that fits the temperatures best is Fourier's to 3 %. Single temperatures
/// deviate by more, because the flux between disordered particles is right on average only.
#[test]
#[ignore = "long: bars of disordered snow; bars on a lattice above, clouds keep heat"]
fn disordered_snow_conducts_by_fouriers_law_on_average() {
    let cases = [("between walls", 0, true), ("free", 2, true), ("free, uncorrected", 2, false)];
    // Without a correction, the short form has the bar on a lattice, above.
    for (name, low, is_corrected) in cases.into_iter().take(if is_full_run() { 3 } else { 2 }) {
        let (n_along, n_across) = (40, 5);
        let mut random = Random::new(11);
        let places = (0..n_along * n_across * n_across).map(|i| {
            let cell = [i % n_along, i / n_along % n_across, i / (n_along * n_across)];
            let shift = if low == 0 { [0, 0, 0] } else { [0, low, low] };
            let at = |axis: usize, random: &mut Random| {
                // A standard deviation of 0.2/√3 on each axis; particles are half a spacing from walls.
                let x = (cell[axis] + shift[axis]) as f32 + 0.5 + 0.4 * (random.unit() - 0.5);
                let max = if axis == 0 { n_along } else { n_across } as f32 - 0.5;
                0.01 * if low == 0 || axis == 0 { x.clamp(0.5, max) } else { x }
            };
            [0, 1, 2].map(|axis| at(axis, &mut random))
        });
        let positions_m: Vec<[f32; 3]> = places.collect();
        let side = 0.01 * f64::from(n_across + 2 * low);
        let conduction = if is_corrected { "corrected" } else { "uncorrected" };
        let text = format!(
            "version = 1\nname = \"bar\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
             time = {{ dt_s = 5.0, duration_s = 5.0 }}\nfluid = {{ particle_spacing_m = 0.01 }}\n\
             domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [0.4, {side}, {side}] }}\n\
             snow = {{ heat.conduction = \"{conduction}\" }}\n\
             [[particles]]\nphase = \"snow\"\ntemperature_c = -10.0\n\
             shape.box = {{ min_m = [0.0, 0.0, 0.0], max_m = [0.4, {side}, {side}] }}\n"
        );
        let scene = Scene::parse(&text, "bar.toml", &[]).unwrap();
        let mut sampled = scene.sample().unwrap();
        let n = positions_m.len();
        sampled.phases.resize(n, Phase::Snow);
        sampled.velocities_m_s.resize(n, [0.0; 3]);
        sampled.temperatures_c = positions_m.iter().map(|x| if x[0] < 0.2 { -40.0 } else { -10.0 }).collect();
        sampled.positions_m = positions_m;
        let device = device();
        let snow = Snow::new(&device, &scene, &sampled).unwrap();
        let heat = scene.snow().unwrap().heat.clone();
        let mut run = SnowSimulation { device, scene, snow, step: 0, replay: Default::default() };
        // Heat travels eight spacings.
        let alpha = diffusivity(&heat, Phase::Snow);
        let steps = (0.08_f64.powi(2) / (4.0 * alpha) / 5.0 / 10.0).round() as usize;
        for _ in 0..10 {
            conduct(&mut run, steps);
        }
        let t_s = 5.0 * 10.0 * steps as f64;
        let particles = run.particles();
        let square_error = |ratio: f64| -> f64 {
            let exact = |p: &Particle| {
                let x = f64::from(p.position[0]) - 0.2;
                -25.0 + 15.0 * erf(x / (4.0 * ratio * alpha * t_s).sqrt())
            };
            particles.iter().map(|p| (f64::from(p.temperature_c) - exact(p)).powi(2)).sum()
        };
        let ratios = (500..1300).map(|k| 0.001 * f64::from(k));
        let best = ratios.min_by(|a, b| square_error(*a).total_cmp(&square_error(*b))).unwrap();
        let rms = (square_error(1.0) / n as f64).sqrt() / 30.0;
        println!("disordered snow {name}: {best:.3} α; {:.2} % of the jump off (rms)", 100.0 * rms);
        if is_corrected {
            assert!((best - 1.0).abs() < 0.03, "{best} α");
        } else {
            assert!(best < 0.9, "{best} α");
        }
    }
}
