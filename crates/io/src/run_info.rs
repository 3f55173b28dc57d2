//! `run.json`: configuration, device, duration and result of a run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::json::{self, Versioned};

/// Report of a run, sufficient to repeat it and to compare it with another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`RunInfo::FORMAT_VERSION`].
    pub format_version: u32,
    /// The version of frazil.
    pub frazil_version: String,
    /// The commit frazil was built from, if known.
    pub git_commit: Option<String>,
    /// Start of the run: date and time in UTC by ISO 8601. Earlier versions have no date, host and command
    /// line.
    #[serde(default)]
    pub date: Option<String>,
    /// Name of the machine, if known.
    #[serde(default)]
    pub host: Option<String>,
    /// Words of the command line, the program first, if it was a command.
    #[serde(default)]
    pub command_line: Option<Vec<String>>,
    /// The scene's name.
    pub scene: String,
    /// The scene with all defaults and overrides in place, as at the start of the run.
    pub effective_scene: Value,
    /// Changes of its parameters while it ran, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ParameterChange>,
    /// Parameters derived from the scene's values: masses, radii, the number of steps.
    pub derived_parameters: Value,
    /// The number of particles.
    pub n_particles: u64,
    /// The run's seed.
    pub seed: u64,
    /// The device's name.
    pub device: String,
    /// The driver's name and version.
    pub driver: String,
    /// The Vulkan version of the device, such as `1.3.204`.
    pub api_version: String,
    /// Tunables that differ from their defaults, by name. They change no bit of the result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tuning: BTreeMap<String, u32>,
    /// Device limits that affect the engine's decisions, under their Vulkan names.
    pub limits: BTreeMap<String, Value>,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time in seconds.
    pub simulated_time_s: f64,
    /// Wall time in seconds, by part of the run (`total`, `setup`, `steps`, `output`).
    pub wall_time_s: BTreeMap<String, f64>,
    /// Hash of the final state, from [`StateHasher`](crate::StateHasher); `None` if the run did not reach its
    /// end.
    pub final_state_hash: Option<String>,
    /// Warnings of the run.
    pub warnings: Vec<String>,
    /// Run-out of a flow on a terrain, as in `runout.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_out: Option<Value>,
}

/// Change of a parameter while a simulation runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterChange {
    /// Number of steps taken before it.
    pub step: u64,
    /// Simulated time in seconds.
    pub time_s: f64,
    /// Key in the scene.
    pub key: String,
    /// Value before, `null` for a default.
    pub from: Value,
    /// Value from then on.
    pub to: Value,
}

impl std::fmt::Display for ParameterChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { step, time_s, key, from, to } = self;
        let from = if from.is_null() { "the default".to_owned() } else { from.to_string() };
        write!(f, "step {step} ({time_s:.6} s): {key} changed from {from} to {to}")
    }
}

impl Versioned for RunInfo {
    const KIND: &'static str = "run.json";
    const EXPECTED: u32 = Self::FORMAT_VERSION;

    fn version(&self) -> u32 {
        self.format_version
    }
}

impl RunInfo {
    /// The version of `run.json` that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 1;

    /// Writes the report. The file appears complete or not at all.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), naming the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        json::write(path, self)
    }

    /// Reads a report.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io); [`Error::Json`](crate::Error::Json) with line and column;
    /// [`Error::Version`](crate::Error::Version).
    pub fn read(path: &Path) -> Result<Self> {
        json::read(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn info() -> RunInfo {
        RunInfo {
            format_version: RunInfo::FORMAT_VERSION,
            frazil_version: "0.1.0".to_owned(),
            git_commit: None,
            date: Some("2026-11-28T01:02:03Z".to_owned()),
            host: Some("machine".to_owned()),
            command_line: Some(vec!["frazil".to_owned(), "run".to_owned()]),
            scene: "dam_break".to_owned(),
            effective_scene: serde_json::json!({ "version": 1, "spacing_m": 0.01 }),
            changes: vec![ParameterChange {
                step: 30,
                time_s: 0.075,
                key: "gravity_m_s2".to_owned(),
                from: Value::Null,
                to: serde_json::json!([0.0, -1.5, 0.0]),
            }],
            derived_parameters: serde_json::json!({ "particle_mass_kg": 0.001 }),
            n_particles: 4096,
            seed: u64::MAX,
            device: "llvmpipe".to_owned(),
            driver: "lavapipe 22.3.6".to_owned(),
            api_version: "1.3.224".to_owned(),
            tuning: BTreeMap::from([("workgroup_size".to_owned(), 128)]),
            limits: BTreeMap::from([("maxStorageBufferRange".to_owned(), Value::from(134_217_728_u64))]),
            steps: 1000,
            simulated_time_s: 2.5,
            wall_time_s: BTreeMap::from([("total".to_owned(), 12.25)]),
            final_state_hash: Some("00ff".to_owned()),
            warnings: vec!["no GPU found".to_owned()],
            run_out: Some(serde_json::json!({ "affected_area_m2": 1200.0 })),
        }
    }

    #[test]
    fn a_report_round_trips_and_another_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        info().write(&path).unwrap();
        assert_eq!(RunInfo::read(&path).unwrap(), info());

        RunInfo { format_version: 7, ..info() }.write(&path).unwrap();
        let error = RunInfo::read(&path).unwrap_err().to_string();
        assert!(error.contains("run.json format version 7; this build reads version 1"), "{error}");

        fs::write(&path, "{\n  \"format_version\": \"one\"\n}").unwrap();
        let error = RunInfo::read(&path).unwrap_err().to_string();
        assert!(error.contains("run.json: invalid type") && error.contains("line 2"), "{error}");
    }
}
