//! `sweep.json` and `sweep.csv`: the parameters of a sweep, and the results of each case.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::atomic::{self, Durability};
use crate::csv;
use crate::error::Result;
use crate::json::{self, Versioned};

/// Report of a sweep, complete or in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepInfo {
    /// [`SweepInfo::FORMAT_VERSION`].
    pub format_version: u32,
    /// The version of frazil.
    pub frazil_version: String,
    /// The commit frazil was built from, if known.
    pub git_commit: Option<String>,
    /// The scene's name.
    pub scene: String,
    /// The device's name.
    pub device: String,
    /// Varied parameters, in the order given.
    pub axes: Vec<SweepAxis>,
    /// Labels of the measured quantities, such as `kinetic_energy [J]`, in the order of `sweep.csv`.
    pub columns: Vec<String>,
    /// One case for each point of the grid, the last axis varying fastest.
    pub cases: Vec<SweepCase>,
}

/// A `--vary` option: keys that change together, and their values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepAxis {
    /// Paths of the keys.
    pub keys: Vec<String>,
    /// Points, each with one value for each key, in TOML.
    pub points: Vec<Vec<String>>,
}

/// Progress of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepStatus {
    /// The case has not been run, or not to its end.
    Pending,
    /// The case ran to its end.
    Done,
    /// The case broke an invariant.
    Failed,
}

impl SweepStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// Case of one point of the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepCase {
    /// Folder of its results, next to `sweep.json`.
    pub folder: String,
    /// Value for each key, in the order of the axes, in TOML.
    pub values: Vec<String>,
    /// Progress.
    pub status: SweepStatus,
    /// Reason of a failure.
    pub reason: Option<String>,
    /// Number of steps taken; 0 for a failed case.
    pub steps: u64,
    /// Wall time in s of the run that completed it.
    pub wall_time_s: Option<f64>,
    /// Hash of the final state.
    pub state_hash: Option<String>,
    /// Measurements of the final state, by the labels of [`SweepInfo::columns`].
    pub measured: BTreeMap<String, f64>,
}

impl Versioned for SweepInfo {
    const KIND: &'static str = "sweep.json";
    const EXPECTED: u32 = Self::FORMAT_VERSION;

    fn version(&self) -> u32 {
        self.format_version
    }
}

impl SweepInfo {
    /// The version of `sweep.json` that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 1;

    /// Writes `sweep.json`. The file appears complete or not at all.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), naming the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        json::write(path, self)
    }

    /// Reads `sweep.json`.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io); [`Error::Json`](crate::Error::Json) with line and column;
    /// [`Error::Version`](crate::Error::Version).
    pub fn read(path: &Path) -> Result<Self> {
        json::read(path)
    }

    /// Writes `sweep.csv` (RFC 4180): a header row, then a row for each case. The file appears complete or
    /// not at all.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), naming the path.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let keys = self.axes.iter().flat_map(|axis| &axis.keys).map(String::as_str);
        let header = ["case"].into_iter().chain(keys).chain(self.columns.iter().map(String::as_str));
        let header = header.chain(["steps", "wall_time [s]", "state_hash", "status", "reason"]);
        let mut text = csv::line(header.map(str::to_owned));
        for (number, case) in self.cases.iter().enumerate() {
            let measured = self.columns.iter().map(|label| case.measured.get(label).copied());
            let cells = [number.to_string()].into_iter().chain(case.values.iter().cloned());
            let cells = cells.chain(measured.map(cell)).chain([
                case.steps.to_string(),
                cell(case.wall_time_s),
                case.state_hash.clone().unwrap_or_default(),
                case.status.name().to_owned(),
                case.reason.clone().unwrap_or_default(),
            ]);
            text.push_str(&csv::line(cells));
        }
        atomic::write(path, Durability::Process, |out| out.write_all(text.as_bytes()))
    }
}

/// Formats a number so that it reads back bit-exactly; empty if there is none.
fn cell(value: Option<f64>) -> String {
    let Some(value) = value else { return String::new() };
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn case(value: &str, status: SweepStatus) -> SweepCase {
        SweepCase {
            folder: format!("cases/{value}"),
            values: vec![value.to_owned(), "[1, 2]".to_owned()],
            status,
            reason: None,
            steps: 0,
            wall_time_s: None,
            state_hash: None,
            measured: BTreeMap::new(),
        }
    }

    fn info() -> SweepInfo {
        let mut done = case("0.5", SweepStatus::Done);
        done.measured.insert("run_out [m]".to_owned(), 0.1 + 0.2);
        (done.steps, done.wall_time_s, done.state_hash) = (40, Some(2.0), Some("00ff".to_owned()));
        let mut failed = case("0.7", SweepStatus::Failed);
        failed.reason = Some("step 3: 1 of 8, \"lost\"".to_owned());
        SweepInfo {
            format_version: SweepInfo::FORMAT_VERSION,
            frazil_version: "0.1.0".to_owned(),
            git_commit: None,
            scene: "ramps".to_owned(),
            device: "llvmpipe".to_owned(),
            axes: vec![SweepAxis {
                keys: vec!["a.b".to_owned(), "c".to_owned()],
                points: vec![vec!["0.5".to_owned(), "[1, 2]".to_owned()]],
            }],
            columns: vec!["run_out [m]".to_owned()],
            cases: vec![done, failed, case("0.9", SweepStatus::Pending)],
        }
    }

    #[test]
    fn a_sweep_round_trips_and_another_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sweep.json");
        info().write(&path).unwrap();
        assert_eq!(SweepInfo::read(&path).unwrap(), info());
        SweepInfo { format_version: 9, ..info() }.write(&path).unwrap();
        let error = SweepInfo::read(&path).unwrap_err().to_string();
        assert!(error.contains("sweep.json format version 9; this build reads version 1"), "{error}");
    }

    #[test]
    fn a_row_is_a_case_and_values_with_commas_are_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sweep.csv");
        info().write_csv(&path).unwrap();
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "case,a.b,c,run_out [m],steps,wall_time [s],state_hash,status,reason");
        assert_eq!(lines[1], "0,0.5,\"[1, 2]\",0.30000000000000004,40,2,00ff,done,");
        assert_eq!(lines[2], "1,0.7,\"[1, 2]\",,0,,,failed,\"step 3: 1 of 8, \"\"lost\"\"\"");
        assert_eq!(lines[3], "2,0.9,\"[1, 2]\",,0,,,pending,");
    }
}
