//! A validation: runs cases on a device, and writes table, page and plots after each.

use super::case::{Case, Lab, Outcome, Status};
use super::cases;
use super::report::Table;
use super::result::{CaseResult, ResultFile, read_finished};
use super::selection::matches;
use frazil_engine::{Failure, FailureKind};
use frazil_vk::Device;
use std::path::PathBuf;
use std::time::Instant;

/// Extent of a validation and the place of its results.
#[derive(Clone, Debug)]
pub struct ValidationOptions {
    /// True for the papers' own sizes.
    pub is_full: bool,
    /// Folder of the results, which exists.
    pub folder: PathBuf,
    /// Commit that the program is built from, for the results.
    pub commit: Option<String>,
}

/// Cases on a device, and their results so far.
pub struct Validation {
    device: Device,
    cases: Vec<Case>,
    table: Table,
    options: ValidationOptions,
}

impl Validation {
    /// Prepares the cases to be run on a device.
    pub fn new(device: &Device, cases: Vec<Case>, options: ValidationOptions) -> Self {
        let table = Table::new(device, &cases::all(), &cases);
        Self { device: device.clone(), cases, table, options }
    }

    /// Takes over the results in the folder that this device has at the same sizes; their cases are not run,
    /// but for those that `names` name.
    ///
    /// # Errors
    /// The results cannot be read, or are those of another device.
    pub fn take_over(&mut self, names: &[String]) -> Result<(), Failure> {
        let all = cases::all();
        for finished in read_finished(&self.options.folder, &self.table.device, self.options.is_full)? {
            let is_named = names.iter().any(|name| matches(&finished.case, name));
            if !is_named && all.iter().any(|case| case.name == finished.case) {
                self.cases.retain(|case| case.name != finished.case);
                self.table.add(finished);
            }
        }
        Ok(())
    }

    /// Runs the cases. `print` gets the head of the table, and the rows of each case when it has ended.
    ///
    /// # Errors
    /// A file cannot be written; `print` fails; a scene of a case is invalid; the work of the device was
    /// cancelled. A device that refuses a case, and a broken invariant, are results.
    pub fn run(&mut self, print: &mut dyn FnMut(&str) -> Result<(), Failure>) -> Result<(), Failure> {
        let ValidationOptions { is_full, folder, commit } = &self.options;
        let mut file = ResultFile::create(folder, &self.table.results)?;
        let lab = Lab::new(self.device.clone(), *is_full);
        print(&self.table.header())?;
        for case in &self.cases {
            let begin = Instant::now();
            let outcome = outcome(case, &lab);
            // The outcome of a cancelled case says nothing about the device.
            if self.device.is_cancelled() {
                return Err(Failure::other(format!(
                    "interrupted in {}; the results of the cases before it are in {}, and --resume goes on",
                    case.name,
                    folder.display()
                )));
            }
            let outcome = outcome?;
            self.device.check_validation()?;
            outcome.write_plot(case, folder)?;
            let seconds = begin.elapsed().as_secs_f64();
            let device = &self.table.device;
            let result = CaseResult::new(case, outcome, *is_full, seconds, device, commit.clone());
            print(&self.table.lines(&result))?;
            file.append(&result)?;
            self.table.add(result);
            self.table.write(folder)?;
        }
        self.table.write(folder)
    }

    /// Returns the numbers of results and their time, in one line.
    pub fn summary(&self) -> String {
        self.table.summary()
    }

    /// Returns the error that cases fail that do not fail on every device.
    ///
    /// # Errors
    /// There are such cases.
    pub fn check(&self) -> Result<(), Failure> {
        match self.table.unexpected().as_slice() {
            [] => Ok(()),
            failed => Err(Failure::invariant(format!(
                "{} on {}: do not trust results of this kind from this device and driver",
                failed.join(", "),
                self.device.info().name
            ))),
        }
    }
}

/// Runs a case. A device that refuses it, for lack of memory or of a limit, is an outcome; so is a broken
/// invariant, and a result that differs from the twin's.
fn outcome(case: &Case, lab: &Lab) -> Result<Outcome, Failure> {
    match (case.run)(lab) {
        Ok(outcome) => Ok(outcome),
        Err(failure) => match failure.kind {
            FailureKind::Device => Ok(Outcome::ended(Status::NotRun(failure.to_string()))),
            FailureKind::Invariant | FailureKind::Other => {
                Ok(Outcome::ended(Status::Fail(failure.to_string())))
            }
            FailureKind::Input => Err(failure.within(&case.name)),
        },
    }
}
