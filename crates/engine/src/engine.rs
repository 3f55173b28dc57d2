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
use frazil_particles::{ColumnKind, ColumnView, ParticleSet};
use frazil_vk::{Buffer, ReadbackRing};
use std::path::Path;

pub use crate::failure::{Failure, FailureKind};
pub use frazil_io::{ColumnData, Frame, ParameterChange, Recording};
pub use frazil_render::Pixels;
pub use frazil_scene::{PointArrays, PointCloud, Scene};
pub use frazil_solvers::MetricInfo;
pub use frazil_vk::{Device, DeviceInfo};

/// Columns of the ids that identify particles, of positions, and of their parts below the ulp.
const ID: &str = "id";
const POSITION: &str = "position";
const RESIDUAL: &str = "position_residual";

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

/// Reads a scene like [`parse_scene`], whose `shape.points` may have the names of `points` as paths.
///
/// # Errors
/// Like [`find_scene`].
pub fn parse_scene_with_points(
    text: &str,
    origin: &str,
    overrides: &[String],
    points: &PointArrays,
) -> Result<Scene, Failure> {
    checked(Scene::parse_with_points(text, origin, overrides, points)?)
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

/// A column of a set of particles in memory that host and device share.
#[derive(Clone, Debug)]
pub struct SharedColumn {
    /// Keeps the memory alive.
    _memory: Buffer<u32>,
    /// Address of the first word.
    pub address: usize,
    /// Number of particles.
    pub n: usize,
    /// Number of words of a particle; 1 for a component of records.
    pub components: usize,
    /// Distance between the words of successive particles in bytes.
    pub stride_bytes: usize,
    /// True for unsigned integers, false for `f32`.
    pub is_integer: bool,
}

impl SharedColumn {
    fn new(column: &ColumnView, n: usize) -> Option<Self> {
        let stride_bytes = size_of::<u32>() * column.kind.words() as usize;
        let (first, components) = match column.kind {
            ColumnKind::Component { index, .. } => (index as usize, 1),
            kind => (0, kind.words() as usize),
        };
        let address = column.words.shared_address()? + size_of::<u32>() * first;
        let is_integer = column.kind == ColumnKind::U32;
        Some(Self { _memory: column.words.clone(), address, n, components, stride_bytes, is_integer })
    }
}

impl Values {
    /// Returns the number of words of a particle, and all words.
    fn words(&self) -> (usize, &[u32]) {
        match self {
            Self::Integers(words) => (1, words),
            Self::Numbers { components, values } => ((*components).max(1), bytemuck::cast_slice(values)),
        }
    }
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
        let metrics = simulation.metrics();
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

    /// Returns the number of particles; with emitters or drains it waits for the device.
    pub fn n_particles(&self) -> usize {
        self.simulation.count_particles().unwrap_or(self.simulation.n_particles)
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
        let views =
            names.iter().map(|name| find_column(set, name).cloned()).collect::<Result<Vec<_>, _>>()?;
        let ring = ReadbackRing::new(device);
        let mut recorder = device.recorder()?;
        solver.record_output(&mut recorder);
        let count = ring.read(&mut recorder, &set.count.count, 1)?;
        let columns = state::read_columns(&ring, &mut recorder, &views, None)?;
        device.submit(recorder)?;
        let n = count.wait()?.first().map_or(0, |n| *n as usize);
        let host = |column: PendingColumn| Ok(values(column.wait()?, n));
        columns.into_iter().map(host).collect()
    }

    /// Returns a column where the device has it, without a copy, in the order of [`Self::columns`]. It holds
    /// the values of the present state until the next call that steps, changes or writes the simulation; what
    /// it holds then is undefined.
    ///
    /// # Errors
    /// There is no such set or column; the device's memory is not the host's; or like [`Self::measure`].
    pub fn shared_column(&mut self, set: &str, name: &str) -> Result<SharedColumn, Failure> {
        self.measure()?;
        let Simulation { device, solver, .. } = &self.simulation;
        let sets = solver.particle_sets();
        let set = find(&sets, set)?;
        let view = find_column(set, name)?;
        let mut recorder = device.recorder()?;
        solver.record_output(&mut recorder);
        recorder.share_with_host();
        device.submit(recorder)?.wait()?;
        let n = device.download(&set.count.count, 1)?.first().map_or(0, |n| *n as usize);
        SharedColumn::new(view, n).ok_or_else(|| {
            let device = &device.info().name;
            Failure::device(format!(
                "column \"{name}\" of {}: {device} does not share its memory with the host; read a copy",
                set.name
            ))
        })
    }

    /// Replaces columns of a set's particles, in the order in which [`Self::columns`] returns them. The state
    /// is downloaded and restored, so that it takes as long as a restart from a checkpoint. What solvers keep
    /// of pairs, such as links and the history of contacts, stays with the particles' ids.
    ///
    /// # Errors
    /// There is no such set or column; values of another type or number, or that are not finite; a column
    /// that identifies the particles or follows from the others; a state that is not sound, as with a
    /// particle outside the domain; or like [`Self::measure`]. The simulation is then as it was.
    pub fn set_columns(&mut self, set: &str, columns: &[(&str, Values)]) -> Result<(), Failure> {
        let names: Vec<&str> = [ID].into_iter().chain(columns.iter().map(|(name, _)| *name)).collect();
        let present = self.columns(set, &names)?;
        let Values::Integers(ids) = &present[0].values else { return Err(no_ids(set)) };
        for ((name, values), present) in columns.iter().zip(&present[1..]) {
            check_values(set, name, values, &present.values)?;
        }
        let mut checkpoint = self.checkpoint()?;
        let all: Vec<u32> = bytemuck::pod_collect_to_vec(section(&checkpoint, ID)?);
        let mut row_of = vec![usize::MAX; all.len()];
        for (row, &id) in all.iter().enumerate() {
            if let Some(place) = row_of.get_mut(id as usize) {
                *place = row;
            }
        }
        let place_of = |id: u32| row_of.get(id as usize).copied().unwrap_or(usize::MAX);
        for (name, values) in columns {
            let (stride, new) = values.words();
            let Ok(bytes) = checkpoint.section(name) else { return Err(follows(set, name)) };
            let mut words: Vec<u32> = bytemuck::pod_collect_to_vec(bytes);
            if words.len() != stride * all.len() {
                return Err(follows(set, name));
            }
            for (&id, value) in ids.iter().zip(new.chunks_exact(stride)) {
                let begin = place_of(id).saturating_mul(stride);
                let end = begin.saturating_add(stride);
                words.get_mut(begin..end).ok_or_else(|| no_ids(set))?.copy_from_slice(value);
            }
            checkpoint.sections.insert((*name).to_owned(), bytemuck::cast_slice(&words).to_vec());
            // The part of a position below its ulp belongs to the former one.
            if let (&POSITION, Some(residuals)) = (name, checkpoint.sections.get_mut(RESIDUAL)) {
                let mut words: Vec<[u32; 3]> = bytemuck::pod_collect_to_vec(residuals);
                ids.iter().filter_map(|&id| words.get_mut(place_of(id)).map(|word| *word = [0; 3])).count();
                *residuals = bytemuck::cast_slice(&words).to_vec();
            }
        }
        let before = &self.simulation;
        let mut restored = Simulation::restore(&before.device, before.scene.clone(), &checkpoint)?;
        restored.set_history(before.initial_scene().clone(), before.changes().to_vec());
        restored.warnings.clone_from(&before.warnings);
        let before = std::mem::replace(&mut self.simulation, restored);
        let measured = self.measured.take();
        self.energy.restart();
        let written = self.check_written(set, &names, ids, columns);
        if written.is_err() {
            (self.simulation, self.measured) = (before, measured);
            self.energy.restart();
        }
        written
    }

    /// Checks that a state is sound and has the values that were written to it.
    fn check_written(
        &mut self,
        set: &str,
        names: &[&str],
        ids: &[u32],
        columns: &[(&str, Values)],
    ) -> Result<(), Failure> {
        let found = self.columns(set, names).map_err(|failure| failure.of_kind(FailureKind::Input))?;
        let Values::Integers(found_ids) = &found[0].values else { return Err(no_ids(set)) };
        let mut row_of = vec![usize::MAX; ids.iter().max().map_or(0, |last| *last as usize + 1)];
        ids.iter().enumerate().for_each(|(row, &id)| row_of[id as usize] = row);
        for ((name, values), found) in columns.iter().zip(&found[1..]) {
            let ((stride, written), (_, found)) = (values.words(), found.values.words());
            let is_written = |(id, value): (&u32, &[u32])| {
                let row = row_of.get(*id as usize).copied().unwrap_or(usize::MAX);
                written.chunks_exact(stride).nth(row) == Some(value)
            };
            if !found_ids.iter().zip(found.chunks_exact(stride)).all(is_written) {
                return Err(follows(set, name));
            }
        }
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
        let count = simulation.solver.varying_count();
        let columns = state::read_columns(&ring, &mut recorder, &simulation.state_columns(), count)?;
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

fn find_column<'a>(set: &'a ParticleSet<'_>, name: &str) -> Result<&'a ColumnView, Failure> {
    set.column(name).ok_or_else(|| {
        let known: Vec<&str> = set.columns.iter().map(|column| column.name.as_ref()).collect();
        unknown(&format!("column of {}", set.name), name, &known)
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

fn follows(set: &str, column: &str) -> Failure {
    Failure::input(format!("column \"{column}\" of {set}: cannot be written: it follows from the others"))
}

/// Checks that values can replace those of a column.
fn check_values(set: &str, column: &str, values: &Values, present: &Values) -> Result<(), Failure> {
    let refuse = |found: String| Err(Failure::input(format!("column \"{column}\" of {set}: {found}")));
    if column == ID {
        return refuse("cannot be written: it identifies the particles".to_owned());
    }
    let kind = |values: &Values| match values {
        Values::Integers(_) => "whole numbers".to_owned(),
        Values::Numbers { components, .. } => format!("numbers with {components} components"),
    };
    let ((stride, words), (_, expected)) = (values.words(), present.words());
    if kind(values) != kind(present) {
        return refuse(format!("found {}, expected {}", kind(values), kind(present)));
    }
    if words.len() != expected.len() {
        return refuse(format!("found {} rows, expected {}", words.len() / stride, expected.len() / stride));
    }
    if let Values::Numbers { values, .. } = values
        && let Some(place) = values.iter().position(|x| !x.is_finite())
    {
        return refuse(format!("found {} in row {}, expected finite numbers", values[place], place / stride));
    }
    Ok(())
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
        let position = columns.iter().find(|column| column.name == "position").unwrap();
        parts.set_columns(&set, &[("velocity", velocity.values.clone())]).unwrap();
        // In any order, as long as all columns have it.
        let [ids, again] = &parts.columns(&set, &["id", "velocity"]).unwrap()[..] else { panic!() };
        assert_eq!(ids.values, columns.iter().find(|column| column.name == "id").unwrap().values);
        assert_eq!(again.values, velocity.values);
        assert!(matches!(&position.values, Values::Numbers { components: 3, .. }));
        parts.step(7).unwrap();
        assert_eq!((parts.step_count(), parts.time_s()), (12, whole.time_s()));
        assert_eq!(parts.hash().unwrap(), whole.hash().unwrap());
        device.check_validation().unwrap();
    }

    /// Each column that the next step depends on can be written, of each method.
    #[test]
    fn columns_are_written_and_read_back() {
        let device = own_device();
        let turned = |column: &SetColumn| match &column.values {
            Values::Numbers { components, values } => {
                let mut values = values.clone();
                // The particles in the reverse order of their ids: a sound state.
                values.reverse();
                values.chunks_exact_mut(*components).for_each(<[f32]>::reverse);
                Values::Numbers { components: *components, values }
            }
            Values::Integers(words) => Values::Integers(words.iter().rev().copied().collect()),
        };
        for (scene, overrides, names) in [
            ("dam_break", &["fluid.particle_spacing_m=0.01825"][..], &["position", "velocity"][..]),
            ("column_collapse", &["dem.radius_m=0.02"], &["position", "velocity", "spin", "radius"]),
        ] {
            let mut engine = engine(&device, scene, overrides);
            engine.step(2).unwrap();
            let set = engine.sets()[0].name.clone();
            let before = engine.columns(&set, names).unwrap();
            let written: Vec<(&str, Values)> =
                names.iter().zip(&before).map(|(name, column)| (*name, turned(column))).collect();
            engine.set_columns(&set, &written).unwrap();
            let found = engine.columns(&set, names).unwrap();
            assert!(
                written.iter().zip(&found).all(|((_, values), found)| *values == found.values),
                "{scene}"
            );
            engine.step(2).unwrap();
            engine.measure().unwrap();
        }
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
        let vectors = |n: usize, x: f32| Values::Numbers { components: 3, values: vec![x; 3 * n] };
        let mut set = |name: &str, values: Values| engine.set_columns("water", &[(name, values)]);
        refused(set("velocity", vectors(1, 0.0)), &format!("found 1 rows, expected {n}"));
        refused(set("velocity", vectors(n, f32::NAN)), "in row 0, expected finite");
        refused(
            set("velocity", Values::Integers(vec![0; n])),
            "found whole numbers, expected numbers with 3",
        );
        refused(set("id", Values::Integers(vec![0; n])), "identifies the particles");
        refused(set("position", vectors(n, -9.0)), "outside");
        let density = Values::Numbers { components: 1, values: vec![1.0; n] };
        refused(set("density", density), "follows from the others");
        refused(set("velocities", vectors(n, 0.0)), "did you mean velocity?");
        refused(engine.change(&["time.dt_s=1.0".to_owned()]).map(drop), "cannot change");
        refused(engine.render(&["width=3".to_owned()]).map(drop), "render.width");
        assert!(engine.changes().is_empty() && engine.hash().unwrap() == before);
    }
}
