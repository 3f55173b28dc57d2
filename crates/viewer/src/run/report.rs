//! `run.json` and `profile.json`: what ran, on what, how long, and what came out.

use super::outputs::Folder;
use crate::device;
use crate::failure::Failure;
use crate::profiling::PassLog;
use crate::say;
use crate::simulation::Simulation;
use frazil_io::{Profile, RunInfo, write_trace};
use std::collections::BTreeMap;
use std::time::Instant;

/// The commit this program was built from, where the build knew it.
pub const GIT_COMMIT: Option<&str> = option_env!("FRAZIL_GIT_COMMIT");

/// What the report gathers while a run goes on.
pub struct Report {
    started: Instant,
    part_began: Instant,
    wall_time_s: BTreeMap<String, f64>,
    warnings: Vec<String>,
}

impl Report {
    pub fn begin() -> Self {
        let now = Instant::now();
        Self { started: now, part_began: now, wall_time_s: BTreeMap::new(), warnings: Vec::new() }
    }

    /// Keeps a warning, and says it unless `quiet`.
    pub fn warn(&mut self, warning: String, quiet: bool) {
        if !quiet {
            say::note(format_args!("warning: {warning}"));
        }
        self.warnings.push(warning);
    }

    /// The set-up is over.
    pub fn set_up(&mut self) {
        self.part("setup");
    }

    /// The steps are over.
    pub fn stepped(&mut self) {
        self.part("steps");
    }

    fn part(&mut self, name: &str) {
        self.wall_time_s.insert(name.into(), self.part_began.elapsed().as_secs_f64());
        self.part_began = Instant::now();
    }

    /// Writes `run.json`.
    pub fn write(
        mut self,
        folder: &Folder,
        simulation: &Simulation,
        final_state: Option<String>,
    ) -> Result<(), Failure> {
        self.part("output");
        self.wall_time_s.insert("total".into(), self.started.elapsed().as_secs_f64());
        let Simulation { device, scene, .. } = simulation;
        let info = device.info();
        let report = RunInfo {
            format_version: RunInfo::FORMAT_VERSION,
            frazil_version: env!("CARGO_PKG_VERSION").into(),
            git_commit: GIT_COMMIT.map(str::to_owned),
            scene: scene.name.clone(),
            effective_scene: serde_json::to_value(scene).map_err(Failure::other)?,
            derived_parameters: serde_json::to_value(scene.derived()).map_err(Failure::other)?,
            n_particles: simulation.n_particles as u64,
            seed: scene.seed,
            device: info.name.clone(),
            driver: info.driver.clone(),
            api_version: info.api_version.clone(),
            limits: device::limits(device),
            steps: simulation.step(),
            simulated_time_s: simulation.time_s(),
            wall_time_s: self.wall_time_s,
            final_state_hash: final_state,
            warnings: self.warnings,
        };
        report.write(&folder.report()).map_err(Failure::other)
    }
}

/// Writes `profile.json` and `trace.json`.
pub fn write_profile(
    folder: &Folder,
    simulation: &Simulation,
    passes: &PassLog,
    state_hash: Option<String>,
) -> Result<(), Failure> {
    let info = simulation.device.info();
    let idle = passes.idle();
    let profile = Profile {
        format_version: Profile::FORMAT_VERSION,
        scene: simulation.scene.name.clone(),
        device: info.name.clone(),
        driver: info.driver.clone(),
        git_commit: GIT_COMMIT.map(str::to_owned),
        n_particles: simulation.n_particles as u64,
        steps: passes.steps(),
        state_hash,
        copy_gb_per_s: passes.copy_gb_per_s(),
        idle_between_submissions: idle.map(|idle| idle.between_submissions),
        host_busy: idle.map(|idle| idle.host_busy),
        rows: passes.rows(),
        samples_ns: passes.samples_ns(),
    };
    profile.write(&folder.profile()).map_err(Failure::other)?;
    write_trace(&folder.trace(), "frazil", passes.spans()).map_err(Failure::other)
}
