//! A measurement as a line of JSON.

use crate::axis::Point;
use crate::error::{Error, Result};
use crate::stopping::StopReason;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Clock of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The device's time stamps, from the first pass's start to the last one's end.
    Device,
    /// The host's clock: the workload runs on the CPU.
    Host,
}

/// A measurement of one point. Fields are documented in `docs/formats.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "one table documents them, for users who never see this type")]
pub struct Row {
    pub format_version: u32,
    pub bench: String,
    pub point: Point,
    pub verified: bool,
    pub clock: Clock,
    pub samples_ns: Vec<f64>,
    pub cold_samples_ns: Vec<f64>,
    pub host_samples_ns: Vec<f64>,
    pub median_ns: f64,
    pub min_ns: f64,
    pub iqr_ns: f64,
    pub cold_median_ns: Option<f64>,
    pub host_median_ns: Option<f64>,
    pub stopped_because: StopReason,
    pub elements: u64,
    pub bytes_minimum: u64,
    pub bytes_moved: Option<u64>,
    pub gb_per_s: Option<f64>,
    pub copy_gb_per_s: f64,
    pub share_of_copy: Option<f64>,
    pub share_of_peak: Option<f64>,
    pub device: String,
    pub driver: String,
    pub subgroup_size: u32,
    pub commit: Option<String>,
    pub unix_time_s: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Row {
    /// The version of rows that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 1;

    /// Returns the nanoseconds per element; `None` where there are no elements.
    pub fn ns_per_element(&self) -> Option<f64> {
        (self.elements > 0).then(|| self.median_ns / self.elements as f64)
    }

    /// Returns the figure in ns by which processes are compared: see [`frazil_report::figure`].
    pub fn figure_ns(&self) -> f64 {
        frazil_report::figure(&self.samples_ns)
    }

    /// Returns the first problem, if any: the numbers must be possible results of a measurement.
    fn problem(&self) -> Option<String> {
        let all = [&self.samples_ns, &self.cold_samples_ns, &self.host_samples_ns];
        if self.format_version != Self::FORMAT_VERSION {
            let expected = Self::FORMAT_VERSION;
            Some(format!("row format version {}; this build reads version {expected}", self.format_version))
        } else if !self.verified {
            Some("the row's result was not verified".to_owned())
        } else if self.samples_ns.is_empty() {
            Some("the row has no samples".to_owned())
        } else {
            let bad = all.into_iter().flatten().find(|sample| !(sample.is_finite() && **sample >= 0.0))?;
            Some(format!("found the sample {bad} ns, expected a number from 0"))
        }
    }
}

/// Appends rows to a file, each as soon as it is available: an interrupt loses only the current point.
#[derive(Debug)]
pub struct RowWriter {
    file: File,
    path: PathBuf,
}

impl RowWriter {
    /// Opens the file for appending; creates it and its parent folders if they do not exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let refused = |cause| Error::Io { operation: "append to", path: path.to_owned(), cause };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(refused)?;
        }
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path).map_err(refused)?;
        // The rest of a line that was interrupted by a kill must not swallow the next row.
        if !ends_with_newline(&mut file).map_err(refused)? {
            file.write_all(b"\n").map_err(refused)?;
        }
        Ok(Self { file, path: path.to_owned() })
    }

    /// Appends a row, in one write.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, row: &Row) -> Result<()> {
        let refused = |cause| Error::Io { operation: "append to", path: self.path.clone(), cause };
        let mut line = serde_json::to_string(row).map_err(|e| refused(e.into()))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(refused)
    }
}

/// Returns true if the file ends with a newline or is empty.
fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Reads all rows of a file. Empty lines are ignored.
///
/// # Errors
/// [`Error::Io`]; [`Error::Row`] with the line for anything that is no row of this version.
pub fn read_rows(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).map_err(|cause| Error::Io {
        operation: "read",
        path: path.to_owned(),
        cause,
    })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(i, line): (usize, &str)| -> Result<Row> {
        let wrong = |problem| Error::Row { path: path.to_owned(), line: i + 1, problem };
        let row: Row = serde_json::from_str(line).map_err(|cause| {
            // The parser saw one line only, so its line number would mislead.
            let text = cause.to_string();
            let what = text.split(" at line ").next().unwrap_or(&text);
            wrong(format!("no row of a bench: {what} at column {}", cause.column()))
        })?;
        row.problem().map_or(Ok(row), |problem| Err(wrong(problem)))
    };
    lines.map(row).collect()
}
