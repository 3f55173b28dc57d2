//! A measurement as a line of JSON.

use crate::axis::Point;
use crate::error::{Error, Result};
use crate::stopping::StopReason;
use frazil_io::json_lines::{self, JsonLinesWriter};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
pub struct RowWriter(JsonLinesWriter);

impl RowWriter {
    /// Opens the file for appending; creates it and its parent folders if they do not exist.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(JsonLinesWriter::open(path)?))
    }

    /// Appends a row, in one write.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn append(&mut self, row: &Row) -> Result<()> {
        Ok(self.0.append(row)?)
    }
}

/// Reads all rows of a file. Empty lines are ignored.
///
/// # Errors
/// [`Error::File`]; [`Error::Row`] with the line for anything that is no row of this version.
pub fn read_rows(path: &Path) -> Result<Vec<Row>> {
    let text = frazil_io::json::read_text(path)?;
    let row = |(line, row): (usize, std::result::Result<Row, String>)| -> Result<Row> {
        let wrong = |problem| Error::Row { path: path.to_owned(), line, problem };
        let row = row.map_err(|problem| wrong(format!("no row of a bench: {problem}")))?;
        row.problem().map_or(Ok(row), |problem| Err(wrong(problem)))
    };
    json_lines::parse(&text).map(row).collect()
}
