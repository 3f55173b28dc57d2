//! `run.json`: scene, device, timing and results of a run.

use super::options::RunOptions;
use crate::device;
use crate::failure::Failure;
use crate::outputs::Folder;
use crate::simulation::Simulation;
use frazil_io::RunInfo;
use frazil_io::calendar;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Instant;

/// Data collected during a run for the report.
pub struct RunReport {
    /// Start as a date and time in UTC.
    date: String,
    started: Instant,
    part_began: Instant,
    wall_time_s: BTreeMap<String, f64>,
    warnings: Vec<String>,
    run_out: Option<Value>,
}

impl RunReport {
    /// Begins the report, and the time of the set-up.
    pub fn begin() -> Self {
        let now = Instant::now();
        let (wall_time_s, warnings) = Default::default();
        Self { date: calendar::now(), started: now, part_began: now, wall_time_s, warnings, run_out: None }
    }

    /// Adds a warning.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Sets the run-out of a flow.
    pub fn set_run_out(&mut self, run_out: Value) {
        self.run_out = Some(run_out);
    }

    /// Marks the end of the set-up.
    pub(super) fn set_up(&mut self) {
        self.part("setup");
    }

    /// Marks the end of the steps.
    pub(super) fn stepped(&mut self) {
        self.part("steps");
    }

    fn part(&mut self, name: &str) {
        self.wall_time_s.insert(name.into(), self.part_began.elapsed().as_secs_f64());
        self.part_began = Instant::now();
    }

    /// Writes `run.json`.
    pub(super) fn write(
        mut self,
        folder: &Folder,
        simulation: &Simulation,
        final_state: Option<String>,
        options: &RunOptions,
    ) -> Result<(), Failure> {
        self.part("output");
        self.wall_time_s.insert("total".into(), self.started.elapsed().as_secs_f64());
        let device = &simulation.device;
        // Changes while it ran are listed apart.
        let scene = simulation.initial_scene();
        let info = device.info();
        let report = RunInfo {
            format_version: RunInfo::FORMAT_VERSION,
            frazil_version: env!("CARGO_PKG_VERSION").into(),
            git_commit: options.commit.clone(),
            date: Some(self.date),
            host: host_name(),
            command_line: options.command_line.clone(),
            scene: scene.name.clone(),
            effective_scene: serde_json::to_value(scene).map_err(Failure::other)?,
            changes: simulation.changes().to_vec(),
            derived_parameters: serde_json::to_value(scene.derived()).map_err(Failure::other)?,
            n_particles: simulation.count_particles().unwrap_or(simulation.n_particles) as u64,
            seed: scene.seed,
            device: info.name.clone(),
            driver: info.driver.clone(),
            api_version: info.api_version.clone(),
            tuning: simulation.changed_tunables(),
            limits: device::limits(device),
            steps: simulation.step(),
            simulated_time_s: simulation.time_s(),
            wall_time_s: self.wall_time_s,
            final_state_hash: final_state,
            warnings: self.warnings,
            run_out: self.run_out,
        };
        report.write(&folder.report()).map_err(Failure::other)
    }
}

/// Returns the name of this machine, if the system tells it.
fn host_name() -> Option<String> {
    let of_system = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let of_environment = || ["HOSTNAME", "COMPUTERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let name = of_system.or_else(of_environment)?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
