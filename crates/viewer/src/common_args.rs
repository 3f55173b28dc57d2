//! Arguments that several commands share: the scene, the device, the duration, and comparisons.

use frazil_engine::outputs::ScheduleRequest;
use frazil_engine::picture;
use frazil_report::{MIN_RUNS, looks};
use frazil_scene::{RenderScheme, Scene, SceneError};
use std::path::PathBuf;

/// Selection of a scene, and overrides.
#[derive(Debug, clap::Args)]
pub struct SceneArgs {
    /// Path of a scene file, or the name of a built-in scene (see `frazil scenes`).
    pub scene: String,
    #[command(flatten)]
    pub changes: SceneChanges,
}

#[derive(Debug, clap::Args)]
pub struct SceneChanges {
    /// Override a value of the scene, such as fluid.particle_spacing_m=0.005; may be given several times.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub overrides: Vec<String>,
    /// Seed of everything random in the scene.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Representation of particles: sprites, surface, surface_and_slabs or fluid [default: the scene's
    /// render.scheme].
    #[arg(long, value_name = "SCHEME", value_parser = scheme)]
    pub scheme: Option<RenderScheme>,
}

impl SceneArgs {
    /// Loads the scene with its overrides; warnings go to stderr unless `quiet`.
    pub fn load(&self) -> Result<Scene, SceneError> {
        self.changes.load(&self.scene)
    }
}

impl SceneChanges {
    pub fn load(&self, scene: &str) -> Result<Scene, SceneError> {
        let scene = Scene::find(scene, &self.all())?;
        picture::check(&scene)?;
        Ok(scene)
    }

    /// Returns all changes as overrides.
    pub fn all(&self) -> Vec<String> {
        let seed = self.seed.map(|seed| format!("seed={seed}"));
        self.shown().into_iter().chain(seed).collect()
    }

    /// Returns all changes but the seed, as overrides.
    pub fn shown(&self) -> Vec<String> {
        let scheme = self.scheme.map(|scheme| format!("render.scheme=\"{}\"", scheme.name()));
        self.overrides.iter().cloned().chain(scheme).collect()
    }
}

fn scheme(text: &str) -> Result<RenderScheme, String> {
    let found = RenderScheme::ALL.into_iter().find(|scheme| scheme.name() == text);
    found.ok_or_else(|| format!("found \"{text}\", expected sprites, surface, surface_and_slabs or fluid"))
}

/// Selection of a device.
#[derive(Debug, Default, clap::Args)]
pub struct DeviceArgs {
    /// Device, by part of its name or by index (see `frazil devices`) [default: $FRAZIL_DEVICE, or the best
    /// one].
    #[arg(long, value_name = "NAME|INDEX")]
    pub device: Option<String>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("found \"{text}\", expected a number above 0, such as 0.05 for 5 %")),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('s').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("found \"{text}\", expected a time in seconds above 0")),
    }
}

/// Duration of the simulation.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(multiple = false)]
pub struct LengthArgs {
    /// Stop at step N [default: the scene's duration].
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop at this simulated time in s.
    #[arg(long, value_name = "T", value_parser = seconds, allow_hyphen_values = true)]
    pub time: Option<f64>,
}

impl LengthArgs {
    /// Returns a request for this duration, with the scene's outputs.
    pub fn request(self) -> ScheduleRequest {
        ScheduleRequest { steps: self.steps, time_s: self.time, ..ScheduleRequest::default() }
    }
}

/// Comparison with another build or with an earlier measurement.
#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Compare with another build of frazil, whose processes take turns with those of this one, or with an
    /// earlier measurement (rows of a bench, profile.json) on the same device; exit status 1 if anything is
    /// slower.
    #[arg(long, value_name = "BINARY|FILE")]
    pub against: Option<PathBuf>,
    /// Number of rounds with another build, each of two processes of both [default: 10, and more while a
    /// verdict is unclear].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(3..))]
    rounds: Option<u16>,
    /// Double the number of rounds while a verdict is unclear, up to N [default: --rounds; 40 without it].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(3..))]
    max_rounds: Option<u16>,
    /// Measure in N processes, so that a later comparison knows the variance between them [default: 1; 5 if
    /// compared with a file that has at least 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: Option<u16>,
    /// Tolerated relative difference [default: 0.02 with another build, 0.05 with a file].
    #[arg(long, value_name = "SHARE", value_parser = tolerance, allow_hyphen_values = true)]
    tolerance: Option<f64>,
    /// Print all columns of tables, beyond a width of 100.
    #[arg(long)]
    pub wide: bool,
}

impl CompareArgs {
    /// Options of the comparison, and true for those with a value: processes that only measure do without.
    pub const OPTIONS: [(&str, bool); 6] = [
        ("against", true),
        ("rounds", true),
        ("max-rounds", true),
        ("runs", true),
        ("tolerance", true),
        ("wide", false),
    ];

    /// Returns the numbers of rounds with another build after which verdicts are looked at.
    pub fn looks(&self) -> Vec<usize> {
        let first = self.rounds.unwrap_or(10);
        let last = self.max_rounds.or(self.rounds).unwrap_or(40);
        looks(first.into(), last.into())
    }

    /// Returns the tolerated relative difference with another build.
    pub fn tolerance_of_builds(&self) -> f64 {
        self.tolerance.unwrap_or(0.02)
    }

    /// Returns the tolerated relative difference with an earlier measurement.
    pub fn tolerance_of_files(&self) -> f64 {
        self.tolerance.unwrap_or(0.05)
    }

    /// Returns the number of processes that measure, if they are compared with a file whose measurement took
    /// `earlier`; `None` for none but this one.
    pub fn processes(&self, earlier: Option<usize>) -> Option<usize> {
        let default = if earlier.is_some_and(|n| n >= MIN_RUNS) { 5 } else { 1 };
        Some(self.runs.map_or(default, usize::from)).filter(|n| *n > 1)
    }
}
