//! Result of a case as a line of JSON, written as soon as the case ends: an interrupt loses the current case
//! only, and a later run can take the others over.

use super::case::{Bound, Case, Check, FinalState, Outcome, Status};
use frazil_engine::Failure;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A measured quantity with its bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    pub name: String,
    /// Unit, "1" for none.
    pub unit: String,
    /// Measured value, `None` if it is not finite.
    pub found: Option<f64>,
    pub bound: Bound,
    /// Reason of the bound.
    pub reason: String,
}

impl Quantity {
    pub fn status(&self) -> Status {
        let passes = self.found.is_some_and(|found| self.bound.allows(found));
        if passes { Status::Pass } else { Status::Fail(String::new()) }
    }
}

/// Result of a case. Fields are documented in `docs/formats.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    pub format_version: u32,
    pub case: String,
    pub about: String,
    pub reference: String,
    /// Reason of a FAIL that is known on every device.
    pub known: Option<String>,
    pub quantities: Vec<Quantity>,
    /// Final state of runs that are repeated.
    pub state: Option<FinalState>,
    /// Status of a case that ended early.
    pub ended: Option<Status>,
    pub has_plot: bool,
    /// True if experiments had the papers' own sizes.
    pub is_full: bool,
    pub seconds: f64,
    pub device: String,
    pub commit: Option<String>,
}

impl CaseResult {
    /// Version of the lines that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 1;

    /// Returns the result of a case on a device, by a program that is built from a commit.
    pub fn new(
        case: &Case,
        outcome: Outcome,
        is_full: bool,
        seconds: f64,
        device: &str,
        commit: Option<String>,
    ) -> Self {
        let quantity = |check: Check| Quantity {
            name: check.quantity,
            unit: check.unit.to_owned(),
            found: Some(check.found).filter(|found| found.is_finite()),
            bound: check.bound,
            reason: check.reason.to_owned(),
        };
        Self {
            format_version: Self::FORMAT_VERSION,
            case: case.name.clone(),
            about: case.about.to_owned(),
            reference: case.reference.to_owned(),
            known: case.known.map(str::to_owned),
            has_plot: !outcome.panels.is_empty(),
            quantities: outcome.checks.into_iter().map(quantity).collect(),
            state: outcome.state,
            ended: outcome.ended,
            is_full,
            seconds,
            device: device.to_owned(),
            commit,
        }
    }

    /// Returns the status of each quantity, and that of the end.
    pub fn statuses(&self) -> impl Iterator<Item = Status> {
        self.quantities.iter().map(Quantity::status).chain(self.ended.clone())
    }

    /// Returns true if a status is a FAIL that is not known: beyond its bound in a case without a known
    /// reason, or the end of a case.
    pub fn is_unexpected(&self, status: &Status) -> bool {
        matches!(status, Status::Fail(why) if self.known.is_none() || !why.is_empty())
    }

    fn was_run(&self) -> bool {
        !matches!(self.ended, Some(Status::NotRun(_)))
    }
}

/// File of results, one line for each case.
pub struct ResultFile {
    path: PathBuf,
    file: File,
}

impl ResultFile {
    /// Creates the file with some results of an earlier run.
    pub fn create(folder: &Path, kept: &[CaseResult]) -> Result<Self, Failure> {
        let path = path(folder);
        let incomplete = path.with_extension("jsonl.incomplete");
        let written = |error| Failure::other(format!("cannot write {}: {error}", path.display()));
        let mut file =
            OpenOptions::new().create(true).write(true).truncate(true).open(&incomplete).map_err(written)?;
        for result in kept {
            file.write_all(line(result)?.as_bytes()).map_err(written)?;
        }
        file.sync_all().and_then(|()| fs::rename(&incomplete, &path)).map_err(written)?;
        Ok(Self { file, path })
    }

    /// Appends a result, in one write.
    pub fn append(&mut self, result: &CaseResult) -> Result<(), Failure> {
        let written = |error| Failure::other(format!("cannot write {}: {error}", self.path.display()));
        self.file.write_all(line(result)?.as_bytes()).map_err(written)
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join("validation.jsonl")
}

fn line(result: &CaseResult) -> Result<String, Failure> {
    Ok(serde_json::to_string(result).map_err(Failure::other)? + "\n")
}

/// Reads the results of an earlier run on the same device and at the same sizes. A last line without its end
/// is that of an interrupted write; cases that were not run are left out.
pub fn read_finished(folder: &Path, device: &str, is_full: bool) -> Result<Vec<CaseResult>, Failure> {
    let path = path(folder);
    let text = fs::read_to_string(&path).map_err(|error| {
        Failure::input(format!("cannot resume: {} cannot be read: {error}", path.display()))
    })?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut results = Vec::new();
    for (i, line) in whole.lines().enumerate() {
        let result: CaseResult = serde_json::from_str(line).map_err(|error| {
            Failure::input(format!("{}:{}: no result of a case: {error}", path.display(), i + 1))
        })?;
        if result.format_version != CaseResult::FORMAT_VERSION || result.device != device {
            let (version, expected) = (result.format_version, CaseResult::FORMAT_VERSION);
            return Err(Failure::input(format!(
                "{}:{}: found a result of {} in format {version}, expected {device} in format {expected}; \
                 choose another --out, or leave out --resume",
                path.display(),
                i + 1,
                result.device
            )));
        }
        if result.is_full == is_full && result.was_run() {
            results.push(result);
        }
    }
    Ok(results)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn result(case: &str, known: Option<&str>, found: Option<f64>, ended: Option<Status>) -> CaseResult {
        let quantity = Quantity {
            name: "error".into(),
            unit: "m".into(),
            found,
            bound: Bound::AtMost(1.0),
            reason: "rounding".into(),
        };
        CaseResult {
            format_version: CaseResult::FORMAT_VERSION,
            case: case.to_owned(),
            about: "a ball".into(),
            reference: "Newton1687".into(),
            known: known.map(str::to_owned),
            quantities: vec![quantity],
            state: None,
            ended,
            has_plot: false,
            is_full: true,
            seconds: 1.0,
            device: "software".into(),
            commit: None,
        }
    }

    #[test]
    fn finished_results_are_read_back_and_a_cut_line_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let not_run = Some(Status::NotRun("memory".into()));
        let kept = [result("a.b", None, Some(0.5), None), result("a.c", Some("slip"), None, None)];
        let mut file = ResultFile::create(folder.path(), &kept).unwrap();
        file.append(&result("a.d", None, None, not_run)).unwrap();
        assert_eq!(read_finished(folder.path(), "software", true).unwrap(), kept);
        assert_eq!(read_finished(folder.path(), "software", false).unwrap(), []);
        file.file.write_all(b"{\"format_version\":1,\"ca").unwrap();
        assert_eq!(read_finished(folder.path(), "software", true).unwrap(), kept);
        let error = read_finished(folder.path(), "another", true).unwrap_err().to_string();
        assert!(error.contains("validation.jsonl:1") && error.contains("another"), "{error}");
    }

    #[test]
    fn what_is_not_finite_fails() {
        let nan = result("a.b", Some("slip"), None, Some(Status::Fail("step 3: NaN".into())));
        let statuses: Vec<Status> = nan.statuses().collect();
        assert_eq!(statuses[0], Status::Fail(String::new()));
        assert!(!nan.is_unexpected(&statuses[0]) && nan.is_unexpected(&statuses[1]));
    }
}
