//! A simulation without a command line: a program loads a scene, takes steps, changes parameters, and reads
//! particles, metrics and pictures. The Python package is made of it.
//!
//! ```no_run
//! use frazil_engine::engine::{self, Engine};
//!
//! let scene = engine::find_scene("dam_break", &["pbd.iterations=4".to_owned()])?;
//! let device = engine::open_device(None)?;
//! let mut engine = Engine::new(&device, scene)?;
//! engine.step(200)?;
//! println!("t = {} s, state {}", engine.time_s(), engine.hash()?);
//! # Ok::<(), engine::Failure>(())
//! ```
//!
//! A step has the same bits as one of `frazil run`. All functions wait for the device. Reading measures the
//! state first, once for each state: what is read is valid, and densities are those of the present positions.

use crate::device;
use crate::energy_limit::EnergyLimit;
use crate::picture::{self, Camera, draw_with};
use crate::simulation::Simulation;
use crate::snapshot::read_frame;
use crate::state::{self, HostColumn, PendingColumn};
use crate::stepping;
use frazil_io::Checkpoint;
use frazil_particles::{ColumnKind, ParticleSet};
use frazil_vk::ReadbackRing;
use std::path::Path;

pub use crate::failure::{Failure, FailureKind};
pub use frazil_io::{ColumnData, Frame, ParameterChange, Recording};
pub use frazil_render::Pixels;
pub use frazil_scene::Scene;
pub use frazil_solvers::MetricInfo;
pub use frazil_vk::{Device, DeviceInfo};

/// Name of the only column that can be written. Positions decide cells, contacts and links, which solvers
/// keep between steps.
const WRITABLE: &str = "velocity";

/// Loads the file at a path or, if there is none, the built-in scene of that name, with overrides `key=value`
/// as in `frazil run --set`.
///
/// # Errors
/// The first error in the file, an override, or the resulting scene.
pub fn find_scene(name_or_path: &str, overrides: &[String]) -> Result<Scene, Failure> {
    checked(Scene::find(name_or_path, overrides)?)
}

/// Reads a scene from its text in TOML, which `origin` names in errors.
///
/// # Errors
/// Like [`find_scene`].
pub fn parse_scene(text: &str, origin: &str, overrides: &[String]) -> Result<Scene, Failure> {
    checked(Scene::parse(text, origin, overrides)?)
}

fn checked(scene: Scene) -> Result<Scene, Failure> {
    picture::check(&scene)?;
    Ok(scene)
}

/// Opens the device of an index or of a part of a name; without, that of `FRAZIL_DEVICE`, or else a GPU if
/// there is one. The variables of `frazil --help` apply, and `FRAZIL_VALIDATION`.
///
/// # Errors
/// There is no such device, or it cannot run frazil.
pub fn open_device(selector: Option<&str>) -> Result<Device, Failure> {
    device::open(selector, device::is_on("FRAZIL_VALIDATION").unwrap_or(false), Vec::new())
}

/// Lists the sets of a scene's particles in recordings: name, and value of the column `phase` if there are
/// several sets.
pub fn recorded_sets(scene: &Scene, n_particles: usize) -> Vec<(&'static str, u32)> {
    frazil_solvers::set_infos(scene, n_particles).iter().map(|info| (info.name, info.phase)).collect()
}

/// Describes a device in one line.
pub fn describe_device(device: &Device) -> String {
    device::describe(device.info())
}

/// A simulation on a device.
pub struct Engine {
    simulation: Simulation,
    metrics: Vec<MetricInfo>,
    /// Metrics of the present state, once it is measured: all that is read then has present densities.
    measured: Option<Vec<f64>>,
    energy: EnergyLimit,
    /// Camera of the last picture, and the settings that it was created with.
    camera: Option<(Vec<String>, Camera)>,
}

/// A set of particles: one, or one for each phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetDescription {
    /// Name of the set.
    pub name: String,
    /// Name and unit of each column; the unit is empty if there is none.
    pub columns: Vec<(String, String)>,
}

/// A column of a set of particles on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct SetColumn {
    /// Name of the column.
    pub name: String,
    /// SI unit; empty if there is none.
    pub unit: String,
    /// Values of all particles of the set.
    pub values: Values,
}

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One unsigned integer for each particle.
    Integers(Vec<u32>),
    /// Numbers, the components of a particle one after another.
    Numbers {
        /// Number of components of each particle.
        components: usize,
        /// All numbers.
        values: Vec<f32>,
    },
}

impl Engine {
    /// Creates a simulation in the initial state of a scene.
    ///
    /// # Errors
    /// The scene cannot be sampled, its first state is invalid, or the device lacks memory for it.
    pub fn new(device: &Device, scene: Scene) -> Result<Self, Failure> {
        Self::of(Simulation::new(device, scene)?)
    }

    /// Creates a simulation in the state of a checkpoint, as [`Self::save`] and `frazil run --checkpoint`
    /// write it: the next steps have the same bits.
    ///
    /// # Errors
    /// The file cannot be read or is damaged, or its scene is invalid; or like [`Self::new`].
    pub fn load(device: &Device, path: &Path) -> Result<Self, Failure> {
        let checkpoint = Checkpoint::read(path).map_err(Failure::input)?;
        let scene = Scene::from_json(&checkpoint.scene_json, &path.display().to_string())?;
        Self::of(Simulation::restore(device, scene, &checkpoint)?)
    }

    fn of(simulation: Simulation) -> Result<Self, Failure> {
        let metrics = simulation.solver.metrics();
        let energy = EnergyLimit::new(&metrics);
        let mut engine = Self { simulation, metrics, measured: None, energy, camera: None };
        // Later energies are compared with that of the first state.
        engine.measure()?;
        Ok(engine)
    }

    /// Writes a checkpoint, from which [`Self::load`] goes on.
    ///
    /// # Errors
    /// The state is invalid, or the file cannot be written.
    pub fn save(&mut self, path: &Path) -> Result<(), Failure> {
        self.checkpoint()?.write(path).map_err(Failure::other)
    }

    /// Returns the present scene, with all changes of parameters.
    pub fn scene(&self) -> &Scene {
        &self.simulation.scene
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.simulation.device
    }

    /// Returns the number of steps taken.
    pub fn step_count(&self) -> u64 {
        self.simulation.step()
    }

    /// Returns the simulated time in s.
    pub fn time_s(&self) -> f64 {
        self.simulation.time_s()
    }

    /// Returns the number of particles, which is constant.
    pub fn n_particles(&self) -> usize {
        self.simulation.n_particles
    }

    /// Returns warnings about the scene, and about tunables stored for the device that are not used.
    pub fn warnings(&self) -> Vec<String> {
        let advice = self.simulation.initial_scene().advice().into_iter().map(|advice| advice.to_string());
        advice.chain(self.simulation.warnings.iter().cloned()).collect()
    }

    /// Takes `n` steps.
    ///
    /// # Errors
    /// A step found a fault, or the device was lost.
    pub fn step(&mut self, n: u64) -> Result<(), Failure> {
        self.step_until(n, &mut || false).map(drop)
    }

    /// Takes at most `n` steps, until `stop` returns true, which is called about every 50 ms; returns the
    /// number of steps taken.
    ///
    /// # Errors
    /// Like [`Self::step`].
    pub fn step_until(&mut self, n: u64, stop: &mut dyn FnMut() -> bool) -> Result<u64, Failure> {
        let first = self.simulation.step();
        self.measured = None;
        stepping::advance(&mut self.simulation, first.saturating_add(n), stop)?;
        Ok(self.simulation.step() - first)
    }

    /// Goes on with other values of live parameters, as arguments `key=value`, and returns the changes. After
    /// an error everything is as it was.
    ///
    /// # Errors
    /// A key that cannot change while the simulation runs, or an invalid value.
    pub fn change(&mut self, arguments: &[String]) -> Result<Vec<ParameterChange>, Failure> {
        let changes = self.simulation.change(arguments)?;
        self.measured = None;
        self.energy.restart();
        Ok(changes)
    }

    /// Returns the changes of parameters so far.
    pub fn changes(&self) -> &[ParameterChange] {
        self.simulation.changes()
    }

    /// Returns the names and units of the metrics; the unit is "1" for a number without one.
    pub fn metric_infos(&self) -> &[MetricInfo] {
        &self.metrics
    }

    /// Measures the state: the values of [`Self::metric_infos`], as in `metrics.csv`.
    ///
    /// # Errors
    /// Particles are lost, not finite or outside the domain, or have gained energy from nothing; the device
    /// was lost.
    pub fn measure(&mut self) -> Result<&[f64], Failure> {
        let measured = match self.measured.take() {
            Some(measured) => measured,
            None => stepping::measure(&self.simulation, &mut self.energy)?.values,
        };
        Ok(self.measured.insert(measured))
    }

    /// Downloads the recorded columns of all particles, and those of rigid bodies.
    ///
    /// # Errors
    /// Like [`Self::measure`].
    pub fn frame(&mut self) -> Result<Frame, Failure> {
        self.measure()?;
        read_frame(&self.simulation)
    }

    /// Returns the hash of the state: `final_state_hash` of `run.json` for a run that ends here.
    ///
    /// # Errors
    /// Like [`Self::measure`].
    pub fn hash(&mut self) -> Result<String, Failure> {
        Ok(self.frame()?.state_hash())
    }

    /// Lists the sets of particles with all columns, also those that recordings do not have.
    pub fn sets(&self) -> Vec<SetDescription> {
        let describe = |set: ParticleSet<'_>| SetDescription {
            name: set.name.to_owned(),
            columns: set.columns.iter().map(|column| (column.name.to_string(), unit(&column.unit))).collect(),
        };
        self.simulation.solver.particle_sets().into_iter().map(describe).collect()
    }

    /// Returns the number of particles of a set.
    ///
    /// # Errors
    /// There is no such set; the device was lost.
    pub fn set_len(&self, set: &str) -> Result<usize, Failure> {
        let sets = self.simulation.solver.particle_sets();
        let count = self.simulation.device.download(&find(&sets, set)?.count.count, 1)?;
        Ok(count.first().map_or(0, |n| *n as usize))
    }

    /// Downloads columns of a set. All columns of a set have the same order, in which steps may permute the
    /// particles; the column `id` identifies them.
    ///
    /// # Errors
    /// There is no such set or column; or like [`Self::measure`].
    pub fn columns(&mut self, set: &str, names: &[&str]) -> Result<Vec<SetColumn>, Failure> {
        self.measure()?;
        let Simulation { device, solver, .. } = &self.simulation;
        let sets = solver.particle_sets();
        let set = find(&sets, set)?;
        let views = names
            .iter()
            .map(|&name| {
                set.column(name).cloned().ok_or_else(|| {
                    let known: Vec<&str> = set.columns.iter().map(|column| column.name.as_ref()).collect();
                    unknown(&format!("column of {}", set.name), name, &known)
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let ring = ReadbackRing::new(device);
        let mut recorder = device.recorder()?;
        solver.record_output(&mut recorder);
        let count = ring.read(&mut recorder, &set.count.count, 1)?;
        let columns = state::read_columns(&ring, &mut recorder, &views)?;
        device.submit(recorder)?;
        let n = count.wait()?.first().map_or(0, |n| *n as usize);
        let host = |column: PendingColumn| Ok(values(column.wait()?, n));
        columns.into_iter().map(host).collect()
    }

    /// Replaces the velocities of a set's particles, in m/s, in the order in which [`Self::columns`] returns
    /// them. The state is downloaded and restored, so that it takes as long as a restart from a checkpoint.
    ///
    /// # Errors
    /// There is no such set, another column than `velocity`, another number of particles, or a velocity that
    /// is not finite; or like [`Self::measure`].
    pub fn set_column(&mut self, set: &str, column: &str, vectors: &[[f32; 3]]) -> Result<(), Failure> {
        if column != WRITABLE {
            return Err(Failure::input(format!(
                "column \"{column}\" of {set}: cannot be written, expected \"{WRITABLE}\"; other columns \
                 follow from the initial particles, which a scene can read from a file (shape.points)"
            )));
        }
        let [id] = &self.columns(set, &["id"])?[..] else { return Err(no_ids(set)) };
        let Values::Integers(ids) = &id.values else { return Err(no_ids(set)) };
        if vectors.len() != ids.len() {
            let (found, expected) = (vectors.len(), ids.len());
            return Err(Failure::input(format!(
                "column \"{column}\" of {set}: found {found} vectors, expected {expected}"
            )));
        }
        if let Some(row) = vectors.iter().position(|vector| !vector.iter().all(|x| x.is_finite())) {
            let found = vectors[row];
            return Err(Failure::input(format!(
                "column \"{column}\" of {set}: found {found:?} in row {row}, expected finite numbers"
            )));
        }
        let mut checkpoint = self.checkpoint()?;
        let all: Vec<u32> = bytemuck::pod_collect_to_vec(section(&checkpoint, "id")?);
        let mut row_of = vec![usize::MAX; all.len()];
        for (row, &id) in all.iter().enumerate() {
            if let Some(place) = row_of.get_mut(id as usize) {
                *place = row;
            }
        }
        let mut words: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(section(&checkpoint, column)?);
        for (&id, vector) in ids.iter().zip(vectors) {
            let row = row_of.get(id as usize).copied().unwrap_or(usize::MAX);
            *words.get_mut(row).ok_or_else(|| no_ids(set))? = *vector;
        }
        checkpoint.sections.insert(column.to_owned(), bytemuck::cast_slice(&words).to_vec());
        let before = &self.simulation;
        let mut restored = Simulation::restore(&before.device, before.scene.clone(), &checkpoint)?;
        restored.set_history(before.initial_scene().clone(), before.changes().to_vec());
        restored.warnings.clone_from(&before.warnings);
        (self.simulation, self.measured) = (restored, None);
        self.energy.restart();
        Ok(())
    }

    /// Draws the state. `settings` are values `key=value` of `[render]` in the scene that differ, such as
    /// `camera.azimuth_deg=30.0`. A range of colours that follows from the values is that of the first
    /// picture with these settings.
    ///
    /// # Errors
    /// An unknown key, an invalid value or an unknown property; or like [`Self::measure`].
    pub fn render(&mut self, settings: &[String]) -> Result<Pixels, Failure> {
        self.measure()?;
        let mut camera = match self.camera.take_if(|(known, _)| known == settings) {
            Some((_, camera)) => camera,
            None => Camera::with_scene(&self.simulation, &self.shown_scene(settings)?)?,
        };
        let pixels = draw_with(&self.simulation, &mut camera);
        self.camera = Some((settings.to_vec(), camera));
        let pixels = pixels?;
        self.simulation.device.check_validation()?;
        Ok(pixels)
    }

    /// Returns the scene with other settings of pictures.
    fn shown_scene(&self, settings: &[String]) -> Result<Scene, Failure> {
        let mut shown = self.simulation.scene.clone();
        if !settings.is_empty() {
            let json = serde_json::to_string(&shown).map_err(Failure::other)?;
            let overrides: Vec<String> = settings.iter().map(|setting| format!("render.{setting}")).collect();
            let changed = checked(Scene::from_json_with(&json, &shown.name, &overrides)?)?;
            shown.render = changed.render;
        }
        Ok(shown)
    }

    /// Downloads the whole state.
    fn checkpoint(&mut self) -> Result<Checkpoint, Failure> {
        self.measure()?;
        let simulation = &self.simulation;
        let ring = ReadbackRing::new(&simulation.device);
        let mut recorder = simulation.device.recorder()?;
        simulation.solver.record_output(&mut recorder);
        let columns = state::read_columns(&ring, &mut recorder, &simulation.solver.state_columns())?;
        simulation.device.submit(recorder)?;
        let columns = columns.into_iter().map(PendingColumn::wait).collect::<Result<Vec<_>, _>>()?;
        state::checkpoint(&simulation.scene, simulation.step(), simulation.time_s(), &columns)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // If the cache cannot be written, only the next start takes longer.
        let _ = self.simulation.device.save_pipeline_cache();
    }
}

fn find<'a, 'b>(sets: &'b [ParticleSet<'a>], name: &str) -> Result<&'b ParticleSet<'a>, Failure> {
    sets.iter().find(|set| set.name == name).ok_or_else(|| {
        let known: Vec<&str> = sets.iter().map(|set| set.name).collect();
        unknown("set of particles", name, &known)
    })
}

fn unknown(what: &str, found: &str, known: &[&str]) -> Failure {
    let expected = frazil_scene::one_of(known);
    let hint = frazil_scene::nearest(found, known).map(|near| format!("; did you mean {near}?"));
    Failure::input(format!("{what}: found \"{found}\", expected {expected}{}", hint.unwrap_or_default()))
}

fn no_ids(set: &str) -> Failure {
    Failure::other(format!("{set}: the columns have no ids that identify the particles"))
}

fn section<'a>(checkpoint: &'a Checkpoint, name: &str) -> Result<&'a [u8], Failure> {
    checkpoint.section(name).map_err(Failure::input)
}

/// Returns a unit as files have it: columns have "1" for a number without one.
fn unit(unit: &str) -> String {
    if unit == "1" { String::new() } else { unit.to_owned() }
}

/// Converts the first `n` elements of a column.
fn values(column: HostColumn, n: usize) -> SetColumn {
    let kind = column.kind();
    let stride = kind.words() as usize;
    let (name, unit) = (column.name.to_string(), unit(column.unit()));
    let mut words = column.words;
    words.truncate(n * stride);
    let values = match kind {
        ColumnKind::U32 => Values::Integers(words),
        ColumnKind::Component { index, .. } => {
            let component = words.chunks_exact(stride).map(|record| f32::from_bits(record[index as usize]));
            Values::Numbers { components: 1, values: component.collect() }
        }
        ColumnKind::F32 | ColumnKind::Vec3 | ColumnKind::Matrix(_) => {
            Values::Numbers { components: stride, values: bytemuck::cast_vec(words) }
        }
    };
    SetColumn { name, unit, values }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_testkit::own_device;

    fn engine(device: &Device, name: &str, overrides: &[&str]) -> Engine {
        let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
        Engine::new(device, find_scene(name, &overrides).unwrap()).unwrap()
    }

    /// A dam break of 512 particles.
    fn water(device: &Device) -> Engine {
        engine(device, "dam_break", &["fluid.particle_spacing_m=0.01825"])
    }

    #[test]
    fn what_is_read_or_written_back_in_between_changes_no_bit() {
        let device = own_device();
        let (mut whole, mut parts) = (water(&device), water(&device));
        whole.step(12).unwrap();
        parts.step(5).unwrap();
        let n_values = parts.measure().unwrap().len();
        assert_eq!(n_values, parts.metric_infos().len());
        assert_eq!(parts.frame().unwrap().len(), parts.n_particles());
        let settings = ["width_px=64", "height_px=36"].map(str::to_owned);
        assert_eq!(parts.render(&settings).unwrap().pixels.len(), 64 * 36);
        let [set] = &parts.sets()[..] else { panic!("{:?}", parts.sets()) };
        let (set, names) = (set.name.clone(), set.columns.iter().map(|(name, _)| name.clone()));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns = parts.columns(&set, &names).unwrap();
        let velocity = columns.iter().find(|column| column.name == "velocity").unwrap();
        let Values::Numbers { components: 3, values } = &velocity.values else { panic!("{velocity:?}") };
        parts.set_column(&set, "velocity", bytemuck::cast_slice(values)).unwrap();
        parts.step(7).unwrap();
        assert_eq!((parts.step_count(), parts.time_s()), (12, whole.time_s()));
        assert_eq!(parts.hash().unwrap(), whole.hash().unwrap());
        device.check_validation().unwrap();
    }

    #[test]
    fn an_overflow_is_repeated_as_in_a_run() {
        let device = own_device();
        let [few, many] = ["1.0", "12.0"].map(|per_grain| {
            let overrides = ["dem.radius_m=0.02", &format!("dem.contacts_per_grain={per_grain}")];
            let mut engine = engine(&device, "column_collapse", &overrides);
            // With 1 contact per grain, steps 58 and 93 exceed the capacity.
            engine.step(120).unwrap();
            (engine.step_count(), engine.hash().unwrap())
        });
        assert_eq!(few, many);
    }

    #[test]
    fn steps_end_when_they_are_stopped() {
        let device = own_device();
        let mut engine = water(&device);
        let mut n_asked = 0;
        let stop = &mut || {
            n_asked += 1;
            n_asked > 2
        };
        let taken = engine.step_until(1_000_000, stop).unwrap();
        assert!((1..1000).contains(&taken) && engine.step_count() == taken, "{taken}");
        assert_eq!(engine.step_until(5, &mut || true).unwrap(), 0);
    }

    #[test]
    fn bad_input_is_refused_and_changes_nothing() {
        let device = own_device();
        let mut engine = water(&device);
        engine.step(2).unwrap();
        let before = engine.hash().unwrap();
        let n = engine.n_particles();
        let refused = |found: Result<(), Failure>, said: &str| {
            let failure = found.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Input, "{failure}");
            assert!(failure.to_string().contains(said), "{failure}");
        };
        refused(engine.columns("wine", &[]).map(drop), "found \"wine\", expected water");
        refused(engine.columns("water", &["velocities"]).map(drop), "did you mean velocity?");
        refused(engine.set_len("wine").map(drop), "expected water");
        refused(engine.set_column("water", "position", &vec![[0.0; 3]; n]), "expected \"velocity\"");
        let expected = format!("found 1 vectors, expected {n}");
        refused(engine.set_column("water", "velocity", &[[0.0; 3]]), &expected);
        refused(engine.set_column("water", "velocity", &vec![[f32::NAN; 3]; n]), "in row 0, expected finite");
        refused(engine.change(&["time.dt_s=1.0".to_owned()]).map(drop), "cannot change");
        refused(engine.render(&["width=3".to_owned()]).map(drop), "render.width");
        assert!(engine.changes().is_empty() && engine.hash().unwrap() == before);
    }
}
