//! A step of the position-based fluid, with and without bodies.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_reference::fluid::State;
use frazil_scene::Scene;
use frazil_solvers::Solver as _;
use frazil_solvers::pbd::Fluid;
use frazil_testkit::twins::pbd::{run_fluid_twin, twin_parameters};
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, Device, Recorder};

/// Step of a block of fluid.
pub struct PbdStep {
    /// True for a block between a floor and a spinning cylinder.
    pub has_bodies: bool,
}

const SPACING_M: f64 = 0.01;

/// Methods of the pressure, `pbd.pressure`.
const PRESSURES: &[&str] = &["position", "projection"];

/// Emitters and drains: none, or a drain in a corner and, in a projection without bodies, an emitter that has
/// not begun.
const SOURCES: &[&str] = &["none", "some"];

const CYLINDER_RADIUS_M: f64 = 0.05;

/// Maximum rounding error of one step: both sides round each of its sums over some thirty neighbours, and
/// velocities are differences of positions over 1 ms. The particles move a hundred times as far.
const POSITION_TOLERANCE_M: f32 = 1e-5;
const VELOCITY_TOLERANCE_M_S: f32 = 1e-2;

struct Workload {
    fluid: Fluid,
    /// State before the step, in the order of [`Fluid::state_columns`].
    before: Vec<Buffer<u32>>,
    /// Number of particles before the step, and the dispatch arguments that follow.
    count: (Buffer<u32>, Buffer<[u32; 3]>),
    /// Position and velocity after the step, by id; none of particles that a drain removes.
    expected: Vec<Option<[[f32; 3]; 2]>>,
}

impl Bench for PbdStep {
    fn id(&self) -> &'static str {
        if self.has_bodies { "pbd.step_with_bodies" } else { "pbd.step" }
    }

    fn about(&self) -> &'static str {
        if self.has_bodies {
            "one step of a cubic block of fluid between a floor and a spinning cylinder"
        } else {
            "one step of a cubic block of fluid, particles off their lattice and moving"
        }
    }

    fn axes(&self) -> Vec<Axis> {
        let counts = Domain::Integers(0, 1 << 24);
        vec![
            Axis::integers("count", counts, &[1_000, 10_007, 100_003], &[1_000]),
            Axis::names("pressure", PRESSURES, PRESSURES, PRESSURES),
            Axis::names("sources", SOURCES, &["none"], SOURCES),
        ]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let has_sources = point.name("sources")? == "some";
        let scene = block(n, point.name("pressure")?, (self.has_bodies, has_sources))?;
        let mut sampled = scene.sample()?;
        sampled.positions_m.truncate(n);
        sampled.velocities_m_s.truncate(n);
        let random = |i: usize, scale: f32| scale * (2.0 * unit_noise(i) - 1.0);
        for (i, x) in sampled.positions_m.iter_mut().flatten().enumerate() {
            *x += random(2 * i, 0.2 * SPACING_M as f32);
        }
        for (i, v) in sampled.velocities_m_s.iter_mut().flatten().enumerate() {
            *v = random(2 * i + 1, 1.0);
        }
        let fluid = Fluid::new(device, &scene, &sampled)?;
        let columns = fluid.state_columns();
        let mut before = Vec::new();
        for column in &columns {
            let words: Vec<u32> = device.download(&column.words, column.words.len())?;
            before.push(device.buffer_from(&column.name, &words)?);
        }
        let own = fluid.count();
        let count = (
            device.buffer_from("count before", &device.download(&own.count, 1)?)?,
            device.buffer_from("arguments before", &device.download(&own.args, own.args.len())?)?,
        );
        let expected = step_of_twin(device, &fluid, n)?;
        Ok(Prepared::Device(Box::new(Workload { fluid, before, count, expected })))
    }
}

/// Makes a cubic block of at least `n` particles that fills its container except for the top. With bodies the
/// floor is one, a cylinder on top of the block spins about its axis, so that its surface does not move, and
/// a dynamic ball swings from a joint.
fn block(n: usize, pressure: &str, (has_bodies, has_sources): (bool, bool)) -> Result<Scene> {
    let mut side = 1usize;
    while side.pow(3) < n {
        side += 1;
    }
    let extent_m = SPACING_M * side as f64;
    let floor_m = if has_bodies { -0.5 * SPACING_M } else { 0.0 };
    let (middle_m, axis_m) = (0.5 * extent_m, extent_m + CYLINDER_RADIUS_M);
    let bodies = format!(
        "[[bodies]]\nname = \"floor\"\nshape.plane = {{ point_m = [0, 0, 0], normal = [0, 1, 0] }}\n\
         [[bodies]]\nname = \"cylinder\"\nshape.cylinder = {{ from_m = [{middle_m}, {axis_m}, 0], \
         to_m = [{middle_m}, {axis_m}, {extent_m}], radius_m = {CYLINDER_RADIUS_M} }}\n\
         motion.spinning = {{ point_m = [{middle_m}, {axis_m}, 0], angular_velocity_rad_s = [0, 0, 8] }}\n"
    );
    // Far above the particles, whose twin does not move it.
    let above_all_m = extent_m + 2.0 * CYLINDER_RADIUS_M + 4.0 * SPACING_M;
    // Fits between the faces beside a block of one particle.
    let ball_m = SPACING_M.min(0.25 * extent_m);
    let ball = format!(
        "[[bodies]]\nname = \"ball\"\nshape.sphere = {{ centre_m = [{middle_m}, \
         {above_all_m}, {middle_m}], radius_m = {ball_m} }}\nmotion.dynamic = {{ density_kg_m3 = 500 }}\n\
         [[joints]]\nbody = \"ball\"\nkind.ball = {{ point_m = [{middle_m}, {}, {middle_m}] }}\n",
        above_all_m + SPACING_M
    );
    let bodies = bodies + &ball;
    let width_m = if has_sources { extent_m.max(4.0 * SPACING_M) } else { extent_m };
    let height_m = if has_sources { extent_m + 8.0 * SPACING_M } else { 1.5 * extent_m };
    let height_m = if has_bodies { height_m.max(above_all_m + 3.0 * SPACING_M) } else { height_m };
    // A step removes particles of the corner, since their number is that of the start again before each.
    let drain = format!(
        "[[drains]]\nshape.box = {{ min_m = [-1, -1, -1], \
         max_m = [{SPACING_M}, {SPACING_M}, {SPACING_M}] }}\n"
    );
    let (mouth_m, above_m) = (0.5 * width_m, extent_m + 4.0 * SPACING_M);
    let emitter = format!(
        "[[emitters]]\nmouth.disk = {{ centre_m = [{mouth_m}, {above_m}, {mouth_m}], \
         radius_m = {SPACING_M} }}\n\
         direction = [0, -1, 0]\nspeed_m_s = 1.0\nfrom_s = 0.9\n"
    );
    let sources = match (has_sources, pressure) {
        (false, _) => String::new(),
        (true, "projection") if !has_bodies => drain + &emitter,
        (true, _) => drain,
    };
    let text = format!(
        "version = 1\nname = \"block\"\nup_axis = \"y\"\n[time]\ndt_s = 0.001\nduration_s = 1.0\n\
         [fluid]\nparticle_spacing_m = {SPACING_M}\n\
         [pbd]\npressure = \"{pressure}\"\n\
         [domain]\nmin_m = [0, {floor_m}, 0]\nmax_m = [{width_m}, {height_m}, {width_m}]\n\
         [[particles]]\nshape.box = {{ min_m = [0, 0, 0], max_m = [{extent_m}, {extent_m}, {extent_m}] \
         }}\n{}{sources}",
        if has_bodies { &bodies } else { "" }
    );
    Ok(Scene::parse(&text, "block", &[])?)
}

fn step_of_twin(device: &Device, fluid: &Fluid, n: usize) -> Result<Vec<Option<[[f32; 3]; 2]>>> {
    let p = twin_parameters(fluid);
    // The start has lost what was in the drain.
    let n_now = device.download(&fluid.count().count, 1)?[0] as usize;
    let mut state =
        State::new(device.download(fluid.position(), n_now)?, device.download(fluid.velocity(), n_now)?);
    state.id = device.download(fluid.id(), n_now)?;
    state.multiplier = device.download(fluid.density_solve().multiplier(), n_now)?;
    for stage in fluid.stages() {
        run_fluid_twin(&mut state, &p, stage);
    }
    let mut by_id = vec![None; n];
    for ((id, position), velocity) in state.id.iter().zip(&state.position).zip(&state.velocity) {
        by_id[*id as usize] = Some([*position, *velocity]);
    }
    Ok(by_id)
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected.len() as u64;
        // Position, velocity and id read and written, the density written.
        Work { elements, bytes_minimum: (2 * 28 + 4) * elements }
    }

    fn poison(&mut self, _: &mut Recorder) {
        // Empty: the outputs are the inputs, which a step moves by more than the tolerance.
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        for (before, column) in self.before.iter().zip(self.fluid.state_columns()) {
            recorder.copy(before, &column.words, before.len());
        }
        let own = self.fluid.count();
        recorder.copy(&self.count.0, &own.count, 1);
        recorder.copy(&self.count.1, &own.args, own.args.len());
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.fluid.record_step(recorder);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let n = device.download(&self.fluid.count().count, 1)?[0] as usize;
        let n_expected = self.expected.iter().flatten().count();
        if n != n_expected {
            return Ok(Some(Difference(format!("{n} particles, expected {n_expected}"))));
        }
        let ids = device.download(self.fluid.id(), n)?;
        let position = device.download(self.fluid.position(), n)?;
        let velocity = device.download(self.fluid.velocity(), n)?;
        let mut seen = vec![false; self.expected.len()];
        for (i, id) in ids.iter().enumerate() {
            let known = self.expected.get(*id as usize).copied().flatten();
            let Some((expected, seen)) = known.zip(seen.get_mut(*id as usize)) else {
                return Ok(Some(Difference(format!("id[{i}] is {id}, which no particle has"))));
            };
            if std::mem::replace(seen, true) {
                return Ok(Some(Difference(format!("id[{i}] is {id}, a duplicate"))));
            }
            for (name, found, expected, tolerance) in [
                ("position", position[i], expected[0], POSITION_TOLERANCE_M),
                ("velocity", velocity[i], expected[1], VELOCITY_TOLERANCE_M_S),
            ] {
                // Written so that a NaN exceeds any tolerance.
                let close = |(found, expected): (f32, f32)| (found - expected).abs() <= tolerance;
                if !found.into_iter().zip(expected).all(close) {
                    return Ok(Some(Difference(format!(
                        "{name} of particle {id} is {found:?}, expected {expected:?} to {tolerance:e}"
                    ))));
                }
            }
        }
        Ok(None)
    }
}
