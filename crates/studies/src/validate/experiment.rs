//! A scene on the device, stepped and measured like a user's run.

use super::case::Lab;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::energy_limit::EnergyLimit;
use frazil_engine::snapshot::{read_frame, state_hash};
use frazil_engine::stepping;
use frazil_io::Frame;
use frazil_scene::Scene;
use frazil_solvers::{Measurement, Tuning};

/// A simulation with the default tunables.
pub struct Experiment {
    pub simulation: Simulation,
    names: Vec<String>,
    energy: EnergyLimit,
}

impl Experiment {
    /// Sets up a built-in scene with overrides.
    pub fn builtin(lab: &Lab, name: &str, overrides: &[&str]) -> Result<Self, Failure> {
        let overrides: Vec<String> = overrides.iter().map(|set| (*set).to_owned()).collect();
        Self::of(lab, Scene::find(name, &overrides)?)
    }

    /// Sets up the scene of a text in TOML.
    pub fn text(lab: &Lab, toml: &str) -> Result<Self, Failure> {
        Self::of(lab, Scene::parse(toml, "validation.toml", &[])?)
    }

    /// Sets up a scene.
    pub fn of(lab: &Lab, scene: Scene) -> Result<Self, Failure> {
        let sampled = scene.sample()?;
        let simulation = Simulation::with_tuning(&lab.device, scene, &sampled, Tuning::default())?;
        let metrics = simulation.metrics();
        let energy = EnergyLimit::new(&metrics);
        Ok(Self { simulation, names: metrics.into_iter().map(|metric| metric.name).collect(), energy })
    }

    /// Returns the length of a step in s.
    pub fn dt_s(&self) -> f64 {
        self.simulation.scene.step_s()
    }

    /// Returns the simulated time in s.
    pub fn time_s(&self) -> f64 {
        self.simulation.time_s()
    }

    /// Takes steps up to step `last`, and measures.
    pub fn advance_to(&mut self, last: u64) -> Result<Measured<'_>, Failure> {
        stepping::advance(&mut self.simulation, last, &mut || false)?;
        let measurement = stepping::measure(&self.simulation, &mut self.energy)?;
        Ok(Measured { names: &self.names, measurement })
    }

    /// Takes steps up to the one that is nearest to a time in s, and measures.
    pub fn advance_to_s(&mut self, time_s: f64) -> Result<Measured<'_>, Failure> {
        self.advance_to((time_s / self.dt_s()).round() as u64)
    }

    /// Downloads the particles.
    pub fn frame(&self) -> Result<Frame, Failure> {
        read_frame(&self.simulation)
    }

    /// Downloads a column of numbers that a checkpoint has, in the device's order.
    pub fn state_column(&self, name: &str) -> Result<Vec<f32>, Failure> {
        let mut recorder = self.simulation.device.recorder()?;
        self.simulation.solver.record_output(&mut recorder);
        self.simulation.device.submit(recorder)?;
        let columns = self.simulation.state_columns();
        let column = columns.iter().find(|column| column.name == name);
        let column = column.ok_or_else(|| Failure::other(format!("no column \"{name}\" in the state")))?;
        let words = self.simulation.device.download(&column.words, column.words.len())?;
        Ok(words.into_iter().map(f32::from_bits).collect())
    }

    /// Returns the hash of the state.
    pub fn hash(&self) -> Result<String, Failure> {
        state_hash(&self.simulation)
    }
}

/// Metrics of a state by their names.
pub struct Measured<'a> {
    names: &'a [String],
    measurement: Measurement,
}

impl Measured<'_> {
    /// Returns a metric, NaN if the solver has none of this name: no bound allows it.
    pub fn get(&self, name: &str) -> f64 {
        let place = self.names.iter().position(|known| known == name);
        place.and_then(|place| self.measurement.values.get(place)).copied().unwrap_or(f64::NAN)
    }

    /// Returns the components of a vector.
    pub fn vector(&self, name: &str) -> [f64; 3] {
        ["x", "y", "z"].map(|axis| self.get(&format!("{name}_{axis}")))
    }
}
