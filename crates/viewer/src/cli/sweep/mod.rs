//! `frazil sweep`: runs a scene at each point of a grid of parameters, one after the other, and compares the
//! results. A case is finished when its `run.json`, the last file that a run writes, says so. A sweep
//! therefore has no state of its own: the tables are made from the folders of the cases, no matter when they
//! were run.

mod args;
mod axis;
mod plan;
mod results;
mod sheet;

pub use axis::VaryAxis;

use crate::build_info::GIT_COMMIT;
use crate::cli::run::{self, Ran, Report, Start};
use crate::say;
pub use args::SweepArgs;
use frazil_engine::device;
use frazil_engine::outputs::{
    Changes, Ended, Folder, FolderLock, Schedule, check_outputs, create_dir, default_folder, read_checkpoint,
    refuse_populated,
};
use frazil_engine::{Failure, FailureKind};
use frazil_io::{SweepAxis, SweepInfo, SweepStatus};
use frazil_vk::Device;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plan::Case;
use results::Row;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// File that tells a sweep's folder from others.
const TABLE: &str = "sweep.json";

/// Sweeps a scene over its grid.
pub fn sweep(args: &SweepArgs, validation: bool) -> Result<(), Failure> {
    let out = out_folder(args);
    let cases = plan::cases(args)?;
    let device = device::open(args.device.device.as_deref(), validation, Vec::new())?;
    if !args.quiet {
        introduce(&cases, &device);
    }
    if !args.overwrite && !out.join(TABLE).exists() {
        refuse_populated(&out)?;
    }
    create_dir(&out)?;
    let lock = FolderLock::acquire(&out)?;
    if let Some(warning) = lock.warning() {
        say::note(format_args!("warning: {warning}"));
    }
    Sweep::new(args, &device, cases, out)?.run()
}

fn out_folder(args: &SweepArgs) -> PathBuf {
    let name = Path::new(&args.scene.scene).file_stem().unwrap_or_default().to_string_lossy();
    args.out.clone().unwrap_or_else(|| default_folder(&name, "_sweep"))
}

/// Prints once the messages that each run would print.
fn introduce(cases: &[Case], device: &Device) {
    say::note(format_args!("device {}: {}", device.info().index, device::describe(device.info())));
    if device.is_software() {
        say::note(format_args!("warning: {}", device::SOFTWARE_WARNING));
    }
    let advice = cases.iter().flat_map(|case| case.scene.advice()).map(|advice| advice.to_string());
    for advice in advice.collect::<BTreeSet<_>>() {
        say::note(format_args!("warning: {advice}"));
    }
}

/// State of a sweep in progress.
struct Sweep<'a> {
    args: &'a SweepArgs,
    device: &'a Device,
    cases: Vec<Case>,
    folders: Vec<Folder>,
    out: PathBuf,
    info: SweepInfo,
    bar: ProgressBar,
}

impl<'a> Sweep<'a> {
    fn new(args: &'a SweepArgs, device: &'a Device, cases: Vec<Case>, out: PathBuf) -> Result<Self, Failure> {
        let axis = |axis: &VaryAxis| SweepAxis { keys: axis.keys.clone(), points: axis.points.clone() };
        let info = SweepInfo {
            format_version: SweepInfo::FORMAT_VERSION,
            frazil_version: env!("CARGO_PKG_VERSION").into(),
            git_commit: GIT_COMMIT.map(str::to_owned),
            scene: cases.first().map(|case| case.scene.name.clone()).unwrap_or_default(),
            device: device.info().name.clone(),
            axes: args.axes.iter().map(axis).collect(),
            columns: Vec::new(),
            cases: cases.iter().map(results::pending).collect(),
        };
        let root = out.join(plan::CASES);
        let folders =
            cases.iter().map(|case| Folder::create(&root.join(&case.name))).collect::<Result<_, _>>()?;
        let bar = bar(cases.iter().map(|case| case.last_step).sum(), args.quiet);
        Ok(Self { args, device, cases, folders, out, info, bar })
    }

    fn run(mut self) -> Result<(), Failure> {
        let interrupt = run::interrupt_flag();
        // Finished cases are in the tables from the start, even if the sweep fails.
        for idx in 0..self.cases.len() {
            if let Some(row) = results::read_done(&self.cases[idx], &self.folders[idx])? {
                self.add(idx, row);
            }
        }
        self.refuse_others()?;
        let n_skipped = self.count(SweepStatus::Done);
        if n_skipped > 0 {
            self.say(&format!("{n_skipped} of {} cases are done already", self.cases.len()));
        }
        self.write_tables()?;
        let mut before = 0;
        for idx in 0..self.cases.len() {
            let last_step = self.cases[idx].last_step;
            if self.info.cases[idx].status == SweepStatus::Pending {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(self.interrupted(idx, 0));
                }
                self.run_case(idx, before)?;
                self.write_tables()?;
            }
            before += last_step;
            self.bar.set_position(before);
        }
        self.bar.finish_and_clear();
        let sheet = self.out.join("contact_sheet.png");
        sheet::write(&sheet, &self.args.axes, &self.cases, &self.folders, &self.info.cases)?;
        self.conclude()
    }

    /// Returns the error for a finished run of other parameters in the folder of a case, which would be lost.
    fn refuse_others(&self) -> Result<(), Failure> {
        let pending = |idx: &usize| self.info.cases[*idx].status == SweepStatus::Pending;
        let is_other = |idx: &usize| results::is_of_other(&self.cases[*idx], &self.folders[*idx]);
        match (0..self.cases.len()).filter(pending).find(is_other) {
            Some(idx) if !self.args.overwrite => Err(Failure::input(format!(
                "{} holds a finished run of other parameters or of another duration: give another --out, or replace \
                 such cases with --overwrite",
                self.folders[idx].root().display()
            ))),
            _ => Ok(()),
        }
    }

    /// Runs a case, from its checkpoint if it has one. A violated invariant is a result of the case; other
    /// errors end the sweep.
    fn run_case(&mut self, idx: usize, before: u64) -> Result<(), Failure> {
        let (case, folder) = (&self.cases[idx], &self.folders[idx]);
        self.bar.set_message(format!("{} of {}", idx + 1, self.cases.len()));
        let mut report = Report::begin();
        for advice in case.scene.advice() {
            report.warn(advice.to_string(), true);
        }
        // A checkpoint of another scene, of a later step or a damaged one is ignored: the case starts again.
        let checkpoint = read_checkpoint(&folder.checkpoint(), &case.scene, &Changes::default()).ok();
        let schedule = Schedule::new(&case.options.schedule, &case.scene);
        let checkpoint = checkpoint.filter(|(checkpoint, _)| {
            checkpoint.step <= case.last_step && check_outputs(folder, &schedule, checkpoint).is_ok()
        });
        self.bar.set_position(before + checkpoint.as_ref().map_or(0, |(checkpoint, _)| checkpoint.step));
        self.bar.reset_eta();
        let start = Start {
            options: &case.options,
            device: self.device,
            scene: case.scene.clone(),
            changes: Changes::default(),
            checkpoint,
            folder,
            report,
            bar: Some((&self.bar, before)),
        };
        match run::simulate(start, |simulation| results::write_final(case, simulation, folder)) {
            Ok(Ran { ended: Ended::Complete, .. }) => {
                let row = results::read_done(case, folder)?.ok_or_else(|| {
                    let root = folder.root().display();
                    Failure::other(format!("{root}: the files of a case that was done cannot be read back"))
                })?;
                // No longer needed: a finished case is never resumed.
                let _ = std::fs::remove_file(folder.checkpoint());
                self.add(idx, row);
                self.say(&format!("case {} of {} done: {}", idx + 1, self.cases.len(), self.label(idx)));
                Ok(())
            }
            Ok(Ran { ended: Ended::Interrupted, step, .. }) => Err(self.interrupted(idx, step)),
            Err(failure) if failure.kind == FailureKind::Invariant => {
                let row = &mut self.info.cases[idx];
                (row.status, row.reason) = (SweepStatus::Failed, Some(failure.to_string()));
                self.say(&format!("case {} of {} failed: {}", idx + 1, self.cases.len(), self.label(idx)));
                Ok(())
            }
            Err(failure) => Err(self.ended_by(idx, failure)),
        }
    }

    fn add(&mut self, idx: usize, row: Row) {
        for column in row.columns {
            if !self.info.columns.contains(&column) {
                self.info.columns.push(column);
            }
        }
        self.info.cases[idx] = row.case;
    }

    fn write_tables(&self) -> Result<(), Failure> {
        self.info.write_csv(&self.out.join("sweep.csv")).map_err(Failure::input)?;
        self.info.write(&self.out.join(TABLE)).map_err(Failure::input)
    }

    fn count(&self, status: SweepStatus) -> usize {
        self.info.cases.iter().filter(|case| case.status == status).count()
    }

    fn label(&self, idx: usize) -> String {
        self.cases[idx].lines.join(", ")
    }

    fn interrupted(&self, idx: usize, step: u64) -> Failure {
        self.bar.finish_and_clear();
        Failure::other(format!(
            "interrupted in case {} of {} ({}) at step {step} of {}, {} done; the same command resumes there",
            idx + 1,
            self.cases.len(),
            self.label(idx),
            self.cases[idx].last_step,
            self.count(SweepStatus::Done)
        ))
    }

    fn ended_by(&self, idx: usize, failure: Failure) -> Failure {
        self.bar.finish_and_clear();
        failure.within(format_args!("case {} of {} ({})", idx + 1, self.cases.len(), self.label(idx)))
    }

    /// Prints the paths of the results; fails if a case failed.
    fn conclude(&self) -> Result<(), Failure> {
        let (n_cases, out) = (self.cases.len(), self.out.display());
        let failed = |case: &&frazil_io::SweepCase| case.status == SweepStatus::Failed;
        match self.info.cases.iter().find(failed) {
            None => {
                self.say(&format!("{n_cases} cases done; results are in {out}"));
                Ok(())
            }
            Some(first) => {
                let n_failed = self.count(SweepStatus::Failed);
                let reason = first.reason.as_deref().unwrap_or_default();
                Err(Failure::invariant(format!(
                    "{n_failed} of {n_cases} cases failed, results are in {out}; {}: {reason}",
                    first.folder
                )))
            }
        }
    }

    fn say(&self, line: &str) {
        if !self.args.quiet {
            self.bar.suspend(|| say::note(line));
        }
    }
}

/// Progress bar over the steps of all cases, on a terminal only.
fn bar(n_steps: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(n_steps), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("case {msg} [{bar:30}] {percent} %{left}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.with_key("left", run::time_left).progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
