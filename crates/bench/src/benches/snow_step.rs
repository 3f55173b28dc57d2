//! A step of snow and water, with and without a body.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::Counts;
use frazil_reference::bonds::Bonds;
use frazil_reference::snow::{Kind, Phase, State};
use frazil_scene::{Phase as ScenePhase, Sampled, Scene};
use frazil_solvers::Solver as _;
use frazil_solvers::pbd::snow::{PhaseParticles, Snow};
use frazil_testkit::twins::bonds::download;
use frazil_testkit::twins::snow::twin_parameters;
use frazil_testkit::unit_noise;
use frazil_vk::{Buffer, Device, Recorder};

/// Step of snow in water.
pub struct SnowStep {
    /// True for a plate within the snow.
    pub has_body: bool,
}

/// Maximum rounding error of one step, like for water alone. The particles move fifty times as far.
const POSITION_TOLERANCE_M: f32 = 1e-5;
const VELOCITY_TOLERANCE_M_S: f32 = 1e-2;
/// Tolerance of temperatures: a particle's neighbours differ by up to 60 °C, and a step reduces the
/// difference by a hundredth.
const TEMPERATURE_TOLERANCE_C: f32 = 1e-3;

struct Workload {
    snow: Snow,
    counts: Counts,
    /// Snow and water before the step.
    before: [Before; 2],
    /// Degrees, partners and rest lengths before the step.
    links: Vec<Buffer<u32>>,
    /// Expected particles after the step, by id.
    expected: Vec<Particle>,
}

/// State of a phase before the step.
struct Before {
    count: Buffer<u32>,
    columns: Vec<Buffer<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct Particle {
    is_solid: bool,
    position: [f32; 3],
    velocity: [f32; 3],
    temperature_c: f32,
}

impl Bench for SnowStep {
    fn id(&self) -> &'static str {
        if self.has_body { "snow.step_with_bodies" } else { "snow.step" }
    }

    fn about(&self) -> &'static str {
        if self.has_body {
            "one step of a cube of linked snow around a plate in hot water"
        } else {
            "one step of a cube of linked snow in hot water, a hundredth of each changing phase"
        }
    }

    fn axes(&self) -> Vec<Axis> {
        // The twin finds bonds by checking all pairs of snow: a million particles would take minutes.
        let counts = Domain::Integers(0, 1 << 20);
        vec![Axis::integers("count", counts, &[1_000, 10_007, 74_648], &[1_000])]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let n = point.count()?;
        let (scene, sampled) = snow_in_water(n, self.has_body)?;
        let snow = Snow::new(device, &scene, &sampled)?;
        let before = [Before::copy(device, snow.solid())?, Before::copy(device, snow.fluid())?];
        let mut links = Vec::new();
        for buffer in link_words(&snow) {
            links.push(device.buffer_from("links before", &device.download(&buffer, buffer.len())?)?);
        }
        let expected = step_of_twin(device, &snow, n)?;
        Ok(Prepared::Device(Box::new(Workload {
            snow,
            counts: Counts::new(device)?,
            before,
            links,
            expected,
        })))
    }
}

/// Makes a moving block of `n` particles that fills its container except for the top, with offsets from its
/// lattice; the middle of it, an eighth or somewhat less, is snow at −10 °C and the rest water at 50 °C. The
/// parameters are those of the melting scene. The plate is thinner than the gap between two layers of
/// particles.
fn snow_in_water(n: usize, has_plate: bool) -> Result<(Scene, Sampled)> {
    let mut side = 1usize;
    while side.pow(3) < n {
        side += 1;
    }
    let scene = Scene::find("melting", &[])?;
    let spacing_m = scene.particle_spacing_m();
    let extent_m = spacing_m * side as f64;
    let block =
        format!("particles=[{{shape={{box={{min_m=[0,0,0],max_m=[{extent_m},{extent_m},{extent_m}]}}}}}}]");
    let mut overrides = vec![
        "domain.min_m=[0,0,0]".to_owned(),
        format!("domain.max_m=[{extent_m},{},{extent_m}]", 1.5 * extent_m),
        block,
        // Particles that stick on one side and slip on the other would differ by more than rounding.
        "snow.kinetic_friction=0.5".to_owned(),
    ];
    if has_plate {
        let (x, middle) = ((side / 2) as f64 * spacing_m, 0.5 * extent_m);
        overrides.push(format!(
            "bodies=[{{name='plate',shape={{box={{centre_m=[{x},{middle},{middle}],\
             size_m=[{},{extent_m},{extent_m}]}}}}}}]",
            0.1 * spacing_m
        ));
    }
    let scene = Scene::find("melting", &overrides)?;
    let mut sampled = scene.sample()?;
    sampled.positions_m.truncate(n);
    sampled.velocities_m_s.truncate(n);
    sampled.phases.truncate(n);
    sampled.temperatures_c.truncate(n);
    let random = |i: usize, scale: f32| scale * (2.0 * unit_noise(i) - 1.0);
    for i in 0..n {
        let position = sampled.positions_m[i];
        let middle = |x: f32| (0.25..0.75).contains(&(x / extent_m as f32));
        let is_solid = position.into_iter().all(middle);
        let changes = unit_noise(7 * i) < 0.01;
        (sampled.phases[i], sampled.temperatures_c[i]) = match (is_solid, changes) {
            (true, false) => (ScenePhase::Snow, -10.0),
            (true, true) => (ScenePhase::Snow, 1.0),
            (false, false) => (ScenePhase::Water, 50.0),
            (false, true) => (ScenePhase::Water, -1.0),
        };
        for axis in 0..3 {
            sampled.positions_m[i][axis] += random(7 * i + 1 + axis, 0.1 * spacing_m as f32);
            sampled.velocities_m_s[i][axis] = random(7 * i + 4 + axis, 0.5);
        }
    }
    Ok((scene, sampled))
}

impl Before {
    fn copy(device: &Device, phase_particles: &PhaseParticles) -> Result<Self> {
        let mut columns = Vec::new();
        for words in state_words(phase_particles) {
            columns.push(device.buffer_from("before", &device.download(&words, words.len())?)?);
        }
        let count =
            device.buffer_from("count before", &device.download(&phase_particles.phase.count.count, 1)?)?;
        Ok(Self { count, columns })
    }
}

/// Returns the columns at the start of a step: position, velocity, id, temperature and α.
fn state_words(phase_particles: &PhaseParticles) -> [Buffer<u32>; 5] {
    [
        phase_particles.phase.position.view().words,
        phase_particles.phase.velocity.view().words,
        phase_particles.phase.id.view().words,
        phase_particles.temperature.view().words,
        phase_particles.blend.view().words,
    ]
}

fn link_words(snow: &Snow) -> [Buffer<u32>; 3] {
    let links = snow.links();
    [links.degree().clone(), links.partner().clone(), links.rest_length_m().cast()]
}

fn step_of_twin(device: &Device, snow: &Snow, n: usize) -> Result<Vec<Particle>> {
    let p = twin_parameters(device, snow)?;
    let [solid, fluid] = [phase(device, snow.solid())?, phase(device, snow.fluid())?];
    let mut state = State::new(solid, fluid, snow.links().slots());
    state.links = links(device, snow, state.solid.len())?;
    state.step(&p);
    let nothing = Particle { is_solid: false, position: [0.0; 3], velocity: [0.0; 3], temperature_c: 0.0 };
    let mut by_id = vec![nothing; n];
    for kind in Kind::ALL {
        let phase = &state[kind];
        for (i, id) in phase.id.iter().enumerate() {
            by_id[*id as usize] = Particle {
                is_solid: kind == Kind::Solid,
                position: phase.position[i],
                velocity: phase.velocity[i],
                temperature_c: phase.temperature_c[i],
            };
        }
    }
    Ok(by_id)
}

fn phase(device: &Device, phase_particles: &PhaseParticles) -> Result<Phase> {
    let n = device.download(&phase_particles.phase.count.count, 1)?[0] as usize;
    Ok(Phase {
        velocity: device.download(phase_particles.velocity(), n)?,
        id: device.download(phase_particles.id(), n)?,
        temperature_c: device.download(phase_particles.temperature.front(), n)?,
        blend: device.download(phase_particles.blend.front(), n)?,
        ..Phase::new(device.download(phase_particles.position(), n)?, 0.0, 0)
    })
}

fn links(device: &Device, snow: &Snow, n: usize) -> Result<Bonds> {
    // Rows with faults differ from the twin's after the step.
    Ok(download(device, snow.links(), n)?.unwrap_or_else(|_| Bonds::none(n)))
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.expected.len() as u64;
        // Position, velocity, id, temperature and α read and written.
        Work { elements, bytes_minimum: 2 * 36 * elements }
    }

    fn poison(&mut self, _: &mut Recorder) {
        // Empty: the outputs are the inputs, which a step moves by more than the tolerance.
    }

    fn reset(&mut self, recorder: &mut Recorder) {
        for (before, phase_particles) in self.before.iter().zip([self.snow.solid(), self.snow.fluid()]) {
            recorder.copy(&before.count, &phase_particles.phase.count.count, 1);
            self.counts.prepare(recorder, &phase_particles.phase.count);
            for (before, words) in before.columns.iter().zip(state_words(phase_particles)) {
                recorder.copy(before, &words, before.len());
            }
        }
        for (before, words) in self.links.iter().zip(link_words(&self.snow)) {
            recorder.copy(before, &words, before.len());
        }
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        self.snow.record_step(recorder);
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let mut seen = vec![false; self.expected.len()];
        for (is_solid, phase_particles) in [(true, self.snow.solid()), (false, self.snow.fluid())] {
            let found = phase(device, phase_particles)?;
            for (i, id) in found.id.iter().enumerate() {
                let Some((expected, seen)) = self.expected.get(*id as usize).zip(seen.get_mut(*id as usize))
                else {
                    let n = self.expected.len();
                    return Ok(Some(Difference(format!("id[{i}] is {id}, expected one below {n}"))));
                };
                if std::mem::replace(seen, true) {
                    return Ok(Some(Difference(format!("id[{i}] is {id}, a duplicate"))));
                }
                let particle = Particle {
                    is_solid,
                    position: found.position[i],
                    velocity: found.velocity[i],
                    temperature_c: found.temperature_c[i],
                };
                if !is_close(&particle, expected) {
                    return Ok(Some(Difference(format!(
                        "particle {id} is {particle:?}, expected {expected:?}"
                    ))));
                }
            }
        }
        Ok(seen.iter().position(|seen| !seen).map(|id| Difference(format!("no particle has the id {id}"))))
    }
}

fn is_close(found: &Particle, expected: &Particle) -> bool {
    // Written so that a NaN exceeds any tolerance.
    let close = |found: [f32; 3], expected: [f32; 3], tolerance: f32| {
        found.into_iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= tolerance)
    };
    found.is_solid == expected.is_solid
        && close(found.position, expected.position, POSITION_TOLERANCE_M)
        && close(found.velocity, expected.velocity, VELOCITY_TOLERANCE_M_S)
        && (found.temperature_c - expected.temperature_c).abs() <= TEMPERATURE_TOLERANCE_C
}
