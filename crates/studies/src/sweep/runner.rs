//! A sweep in progress. A case is finished when its `run.json`, the last file that a run writes, says so. A
//! sweep therefore has no state of its own: the tables are made from the folders of the cases, no matter when
//! they were run.

use super::axis::VaryAxis;
use super::observer::{CaseObserver, SweepObserver};
use super::plan::{CASES, Case, SweepOptions};
use super::results::{self, Row};
use super::sheet;
use frazil_engine::outputs::{
    Changes, Ended, Folder, FolderLock, Schedule, check_outputs, create_dir, read_checkpoint,
    refuse_populated,
};
use frazil_engine::run::{RunEnd, RunReport, RunStart, simulate};
use frazil_engine::{Failure, FailureKind};
use frazil_io::{SweepAxis, SweepCase, SweepInfo, SweepStatus};
use frazil_vk::Device;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// File that tells a sweep's folder from others.
const TABLE: &str = "sweep.json";

/// Creates the folder of a sweep and locks it for as long as the result lives. A sweep that is there is
/// resumed.
///
/// # Errors
/// The folder holds anything else and is not to be overwritten; it cannot be created; another process writes
/// to it.
pub fn claim(folder: &Path, overwrite: bool) -> Result<FolderLock, Failure> {
    if !overwrite && !folder.join(TABLE).exists() {
        refuse_populated(folder)?;
    }
    create_dir(folder)?;
    FolderLock::acquire(folder)
}

/// State of a sweep in progress.
pub struct Sweep<'a> {
    options: &'a SweepOptions,
    device: &'a Device,
    cases: Vec<Case>,
    folders: Vec<Folder>,
    out: PathBuf,
    info: SweepInfo,
    observer: Box<dyn SweepObserver>,
}

impl<'a> Sweep<'a> {
    /// Creates the folders of the cases in the sweep's folder. `observe` makes the observer of a sweep with a
    /// total number of steps.
    ///
    /// # Errors
    /// A folder cannot be created.
    pub fn new(
        options: &'a SweepOptions,
        device: &'a Device,
        cases: Vec<Case>,
        out: PathBuf,
        observe: impl FnOnce(u64) -> Box<dyn SweepObserver>,
    ) -> Result<Self, Failure> {
        let axis = |axis: &VaryAxis| SweepAxis { keys: axis.keys.clone(), points: axis.points.clone() };
        let info = SweepInfo {
            format_version: SweepInfo::FORMAT_VERSION,
            frazil_version: env!("CARGO_PKG_VERSION").into(),
            git_commit: options.commit.clone(),
            scene: cases.first().map(|case| case.scene.name.clone()).unwrap_or_default(),
            device: device.info().name.clone(),
            axes: options.axes.iter().map(axis).collect(),
            columns: Vec::new(),
            cases: cases.iter().map(results::pending).collect(),
        };
        let root = out.join(CASES);
        let folders =
            cases.iter().map(|case| Folder::create(&root.join(&case.name))).collect::<Result<_, _>>()?;
        let observer = observe(cases.iter().map(|case| case.last_step).sum());
        Ok(Self { options, device, cases, folders, out, info, observer })
    }

    /// Runs the cases that are not finished, until `interrupt` is set, and writes tables and contact sheet.
    ///
    /// # Errors
    /// A finished case of other parameters would be lost; a case failed, after all others have run; an
    /// interrupt; a file cannot be written; the device was lost.
    pub fn run(mut self, interrupt: &AtomicBool) -> Result<(), Failure> {
        // Finished cases are in the tables from the start, even if the sweep fails.
        for idx in 0..self.cases.len() {
            if let Some(row) = results::read_done(&self.cases[idx], &self.folders[idx])? {
                self.add(idx, row);
            }
        }
        self.refuse_others()?;
        let n_skipped = self.count(SweepStatus::Done);
        if n_skipped > 0 {
            self.observer.note(&format!("{n_skipped} of {} cases are done already", self.cases.len()));
        }
        self.write_tables()?;
        let mut before = 0;
        for idx in 0..self.cases.len() {
            let last_step = self.cases[idx].last_step;
            if self.info.cases[idx].status == SweepStatus::Pending {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(self.interrupted(idx, 0));
                }
                self.run_case(idx, before, interrupt)?;
                self.write_tables()?;
            }
            before += last_step;
            self.observer.reached(before);
        }
        self.observer.clear();
        let sheet = self.out.join("contact_sheet.png");
        sheet::write(&sheet, &self.options.axes, &self.cases, &self.folders, &self.info.cases)?;
        self.conclude()
    }

    /// Returns the error for a finished run of other parameters in the folder of a case, which would be lost.
    fn refuse_others(&self) -> Result<(), Failure> {
        let pending = |idx: &usize| self.info.cases[*idx].status == SweepStatus::Pending;
        let is_other = |idx: &usize| results::is_of_other(&self.cases[*idx], &self.folders[*idx]);
        match (0..self.cases.len()).filter(pending).find(is_other) {
            Some(idx) if !self.options.overwrite => Err(Failure::input(format!(
                "{} holds a finished run of other parameters or of another duration: give another --out, or \
                 replace such cases with --overwrite",
                self.folders[idx].root().display()
            ))),
            _ => Ok(()),
        }
    }

    /// Runs a case, from its checkpoint if it has one. A violated invariant is a result of the case; other
    /// errors end the sweep.
    fn run_case(&mut self, idx: usize, before: u64, interrupt: &AtomicBool) -> Result<(), Failure> {
        let (case, folder) = (&self.cases[idx], &self.folders[idx]);
        self.observer.case(idx, self.cases.len());
        let mut report = RunReport::begin();
        for advice in case.scene.advice() {
            report.warn(advice.to_string());
        }
        // A checkpoint of another scene, of a later step or a damaged one is ignored: the case starts again.
        let checkpoint = read_checkpoint(&folder.checkpoint(), &case.scene, &Changes::default()).ok();
        let schedule = Schedule::new(&case.options.schedule, &case.scene);
        let checkpoint = checkpoint.filter(|(checkpoint, _)| {
            checkpoint.step <= case.last_step && check_outputs(folder, &schedule, checkpoint).is_ok()
        });
        self.observer.begins_at(before + checkpoint.as_ref().map_or(0, |(checkpoint, _)| checkpoint.step));
        let start = RunStart {
            options: &case.options,
            device: self.device,
            scene: case.scene.clone(),
            changes: Changes::default(),
            checkpoint,
            folder,
            report,
            interrupt,
        };
        match simulate(start, &mut CaseObserver { case, sweep: &*self.observer, before }) {
            Ok(RunEnd { ended: Ended::Complete, .. }) => {
                let row = results::read_done(case, folder)?.ok_or_else(|| {
                    let root = folder.root().display();
                    Failure::other(format!("{root}: the files of a case that was done cannot be read back"))
                })?;
                // No longer needed: a finished case is never resumed.
                let _ = std::fs::remove_file(folder.checkpoint());
                self.add(idx, row);
                self.observer.note(&format!(
                    "case {} of {} done: {}",
                    idx + 1,
                    self.cases.len(),
                    self.label(idx)
                ));
                Ok(())
            }
            Ok(RunEnd { ended: Ended::Interrupted, step, .. }) => Err(self.interrupted(idx, step)),
            Err(failure) if failure.kind == FailureKind::Invariant => {
                let row = &mut self.info.cases[idx];
                (row.status, row.reason) = (SweepStatus::Failed, Some(failure.to_string()));
                self.observer.note(&format!(
                    "case {} of {} failed: {}",
                    idx + 1,
                    self.cases.len(),
                    self.label(idx)
                ));
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
        self.info.write_csv(&self.out.join("sweep.csv")).map_err(Failure::file)?;
        self.info.write(&self.out.join(TABLE)).map_err(Failure::file)
    }

    fn count(&self, status: SweepStatus) -> usize {
        self.info.cases.iter().filter(|case| case.status == status).count()
    }

    fn label(&self, idx: usize) -> String {
        self.cases[idx].lines.join(", ")
    }

    fn interrupted(&self, idx: usize, step: u64) -> Failure {
        self.observer.clear();
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
        self.observer.clear();
        failure.within(format_args!("case {} of {} ({})", idx + 1, self.cases.len(), self.label(idx)))
    }

    /// Prints the paths of the results; fails if a case failed.
    fn conclude(&self) -> Result<(), Failure> {
        let (n_cases, out) = (self.cases.len(), self.out.display());
        let failed = |case: &&SweepCase| case.status == SweepStatus::Failed;
        match self.info.cases.iter().find(failed) {
            None => {
                self.observer.note(&format!("{n_cases} cases done; results are in {out}"));
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
}
