//! `run.json`: scene, device, timing and results of a run.

use crate::build_info::GIT_COMMIT;
use crate::say;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::device;
use frazil_engine::outputs::Folder;
use frazil_io::RunInfo;
use frazil_report::RunOut;
use std::collections::BTreeMap;
use std::time::Instant;

/// Data collected during a run for the report.
pub struct Report {
    started: Instant,
    part_began: Instant,
    wall_time_s: BTreeMap<String, f64>,
    warnings: Vec<String>,
    run_out: Option<serde_json::Value>,
}

impl Report {
    pub fn begin() -> Self {
        let now = Instant::now();
        let (wall_time_s, warnings) = Default::default();
        Self { started: now, part_began: now, wall_time_s, warnings, run_out: None }
    }

    /// Stores a warning, and prints it unless `quiet`.
    pub fn warn(&mut self, warning: String, quiet: bool) {
        if !quiet {
            say::note(format_args!("warning: {warning}"));
        }
        self.warnings.push(warning);
    }

    /// Stores the run-out of a flow, and prints its summary unless `quiet`.
    pub fn ran_out(&mut self, run_out: &RunOut, quiet: bool) -> Result<(), Failure> {
        if !quiet {
            say::note(format_args!("{}", run_out.summary()));
        }
        self.run_out = Some(serde_json::to_value(run_out).map_err(Failure::other)?);
        Ok(())
    }

    /// Marks the end of the set-up.
    pub fn set_up(&mut self) {
        self.part("setup");
    }

    /// Marks the end of the steps.
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
        let device = &simulation.device;
        // Changes while it ran are listed apart.
        let scene = simulation.initial_scene();
        let info = device.info();
        let report = RunInfo {
            format_version: RunInfo::FORMAT_VERSION,
            frazil_version: env!("CARGO_PKG_VERSION").into(),
            git_commit: GIT_COMMIT.map(str::to_owned),
            scene: scene.name.clone(),
            effective_scene: serde_json::to_value(scene).map_err(Failure::other)?,
            changes: simulation.changes().to_vec(),
            derived_parameters: serde_json::to_value(scene.derived()).map_err(Failure::other)?,
            n_particles: simulation.n_particles as u64,
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
