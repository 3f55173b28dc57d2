//! A step of the viscoelastic fluid.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_scene::{Sampled, Scene};
use frazil_solvers::Solver as _;
use frazil_solvers::Tuning;
use frazil_solvers::viscoelastic::{Stage, Viscoelastic};
use frazil_testkit::twins::viscoelastic::{run_stage, twin_parameters, twin_state};
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, Device, Recorder};

/// Step of a block of fluid, particles off their lattice and moving.
pub struct ViscoelasticStep;

const SPACING_M: f64 = 0.01;

const MODELS: &[&str] = &["conformation", "strain_tensor", "springs", "none"];

const VISCOSITIES: &[&str] = &["explicit", "implicit"];

const FEEDS: &[&str] = &["none", "upper half"];

const HEATS: &[&str] = &["none", "faces"];

const BODIES: &[&str] = &["none", "floor"];

/// Maximum rounding error of velocities of up to some m/s: both sides round sums over some thirty neighbours,
/// gradients of which lose the digits of their condition beside free surfaces, and as many in each iteration.
const VELOCITY_TOLERANCE_M_S: f32 = 1e-3;

struct Workload {
    solver: Viscoelastic,
    /// State before the step, in the order of [`Viscoelastic::state_columns`].
    before: Vec<Buffer<u32>>,
    /// Velocity after the step, by id.
    expected: Vec<[f32; 3]>,
}

impl Bench for ViscoelasticStep {
    fn id(&self) -> &'static str {
        "viscoelastic.step"
    }

    fn about(&self) -> &'static str {
        "one step of a cubic block of viscoelastic fluid, particles off their lattice and moving, and its \
         measurement"
    }

    fn axes(&self) -> Vec<Axis> {
        let counts = Domain::Integers(0, 1 << 24);
        vec![
            Axis::integers("count", counts, &[1_000, 10_007], &[1_000]),
            Axis::names("model", MODELS, MODELS, MODELS),
            Axis::names("viscosity", VISCOSITIES, VISCOSITIES, VISCOSITIES),
            Axis::names("feed", FEEDS, &FEEDS[..1], &FEEDS[..1]),
            Axis::names("heat", HEATS, &HEATS[..1], &HEATS[..1]),
            Axis::names("bodies", BODIES, &BODIES[..1], &BODIES[..1]),
        ]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let (scene, sampled) = block(n, point)?;
        let solver = Viscoelastic::with_tuning(device, &scene, &sampled, Tuning::default())?;
        let mut before = Vec::new();
        for column in solver.state_columns() {
            let words: Vec<u32> = device.download(&column.words, column.words.len())?;
            before.push(device.buffer_from(&column.name, &words)?);
        }
        let other = Viscoelastic::with_tuning(device, &scene, &sampled, Tuning::default())?;
        let expected = step_of_twin(device, other, n)?;
        Ok(Prepared::Device(Box::new(Workload { solver, before, expected })))
    }
}

/// Makes a cubic block of `n` particles that fills its container except for the top.
fn block(n: usize, point: &Point) -> Result<(Scene, Sampled)> {
    let model = point.name("model")?;
    let mut side = 1usize;
    while side.pow(3) < n {
        side += 1;
    }
    let extent_m = SPACING_M * side as f64;
    let viscosity_pa_s = if point.name("viscosity")? == "implicit" { 50.0 } else { 0.1 };
    let feed = match point.name("feed")? {
        "none" => String::new(),
        _ => format!("feed = {{ mouth_m = {}, velocity_m_s = [0.0, -0.2, 0.0] }}\n", 0.5 * extent_m),
    };
    let heat = match point.name("heat")? {
        "none" => "",
        _ => {
            "heat = { conductivity_w_m_k = 500.0, capacity_j_kg_k = 1000.0, activation_temperature_k = \
             3000.0, face_temperatures_c = { y_min = 5.0, x_max = 40.0 } }\n"
        }
    };
    let (floor_m, bodies) = match point.name("bodies")? {
        "none" => (0.0, ""),
        _ => (-SPACING_M, "[[bodies]]\nshape.plane = { point_m = [0, 0, 0], normal = [0, 1, 0] }\n"),
    };
    let text = format!(
        "version = 1\nname = \"block\"\nup_axis = \"y\"\n[time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = {SPACING_M}\ndynamic_viscosity_pa_s = {viscosity_pa_s}\n\
         [solver]\nkind = \"viscoelastic\"\n\
         [viscoelastic]\nelasticity = \"{model}\"\nmodulus_pa = 500.0\n{feed}{heat}\
         {bodies}[domain]\nmin_m = [0, {floor_m}, 0]\nmax_m = [{extent_m}, {}, {extent_m}]\n\
         [[particles]]\nshape.box = {{ min_m = [0, 0, 0], max_m = [{extent_m}, {extent_m}, {extent_m}] }}\n",
        1.5 * extent_m,
    );
    let scene = Scene::parse(&text, "block", &[])?;
    let mut sampled = scene.sample()?;
    sampled.positions_m.truncate(n);
    sampled.velocities_m_s.truncate(n);
    sampled.temperatures_c.truncate(n);
    let random = |i: usize, scale: f32| scale * (2.0 * unit_noise(i) - 1.0);
    for (i, x) in sampled.positions_m.iter_mut().flatten().enumerate() {
        *x += random(2 * i, 0.2 * SPACING_M as f32);
    }
    for (i, v) in sampled.velocities_m_s.iter_mut().flatten().enumerate() {
        *v = random(2 * i + 1, 0.1);
    }
    Ok((scene, sampled))
}

/// Runs the stages of the position-based fluid on the device, which have a bench and twin of their own, and
/// the rest on the twin.
fn step_of_twin(device: &Device, mut solver: Viscoelastic, n: usize) -> Result<Vec<[f32; 3]>> {
    let (of_fluid, rest): (Vec<Stage>, Vec<Stage>) = solver.stages().partition(|stage| {
        use Stage::{BuildSprings, Fluid, HoldPrediction, ReorderSprings};
        matches!(stage, Fluid(_) | ReorderSprings | BuildSprings | HoldPrediction)
    });
    let mut recorder = device.recorder()?;
    for stage in of_fluid {
        solver.record_stage(&mut recorder, stage);
    }
    device.submit(recorder)?.wait()?;
    let p = twin_parameters(&solver, 0.0);
    let mut state = twin_state(device, &solver, n)?;
    for stage in rest {
        run_stage(&mut state, &p, stage)?;
    }
    let mut by_id = vec![[0.0; 3]; n];
    for (id, velocity) in state.fluid.id.iter().zip(&state.fluid.velocity) {
        by_id[*id as usize] = *velocity;
    }
    Ok(by_id)
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected.len() as u64;
        // Position, velocity, id and the strain read and written, the stress written.
        Work { elements, bytes_minimum: (2 * 52 + 24) * elements }
    }

    fn poison(&mut self, _: &mut Recorder) {
        // Empty: the outputs are the inputs, which a step moves by more than the tolerance.
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        for (before, column) in self.before.iter().zip(self.solver.state_columns()) {
            recorder.copy(before, &column.words, before.len());
        }
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.solver.record_step(recorder);
        drop(self.solver.record_metrics(recorder)?);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = self.expected.len();
        let ids = device.download(self.solver.fluid().id(), n)?;
        let velocity = device.download(self.solver.fluid().velocity(), n)?;
        for (id, found) in ids.iter().zip(&velocity) {
            let Some(expected) = self.expected.get(*id as usize) else {
                return Ok(Some(Difference(format!("an id is {id}, expected one below {n}"))));
            };
            // Written so that a NaN exceeds any tolerance.
            if !found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= VELOCITY_TOLERANCE_M_S) {
                return Ok(Some(Difference(format!(
                    "velocity of particle {id} is {found:?}, expected {expected:?} to \
                     {VELOCITY_TOLERANCE_M_S:e}"
                ))));
            }
        }
        Ok(None)
    }
}
