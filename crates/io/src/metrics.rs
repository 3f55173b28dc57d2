//! `metrics.csv`: one row of numbers per sample of a run, written as the run proceeds.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::atomic;
use crate::error::{Error, Result};
use crate::extent::{Extent, RunningExtent};
use crate::frame::{is_plain, label, list};
use crate::json::read_text;

/// Quantity that a run reports: its name and its unit in SI, empty if there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Name, such as `kinetic_energy`.
    pub name: String,
    /// Unit, such as `J`.
    pub unit: String,
}

impl Metric {
    /// Makes a metric; name and unit are checked when a table is made of it.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }

    /// Returns the label in the header row: `kinetic_energy [J]`.
    pub fn label(&self) -> String {
        label(&self.name, &self.unit)
    }

    fn from_label(text: &str) -> Option<Self> {
        let (name, unit) = match text.strip_suffix(']') {
            Some(opened) => opened.split_once(" [")?,
            None => (text, ""),
        };
        let plain = !name.is_empty() && is_plain(name) && is_plain(unit);
        plain.then(|| Self::new(name, unit))
    }
}

/// Writer of `metrics.csv`. Each row is passed to the operating system in one piece before [`row`](Self::row)
/// returns.
#[derive(Debug)]
pub struct MetricsWriter {
    file: File,
    path: PathBuf,
    n_metrics: usize,
    running: RunningExtent,
}

impl MetricsWriter {
    /// Starts a table, replacing any file at `path`.
    ///
    /// # Errors
    /// [`Error::MetricsInput`] if there is no metric, a name is not unique, or a name or unit cannot be
    /// written in the header; [`Error::Io`].
    pub fn create(path: &Path, metrics: &[Metric]) -> Result<Self> {
        check_metrics(path, metrics)?;
        let file = File::create(path).map_err(Error::io("create", path))?;
        let mut writer =
            Self { file, path: path.to_owned(), n_metrics: metrics.len(), running: RunningExtent::new() };
        let header: Vec<_> = metrics.iter().map(Metric::label).collect();
        writer.line(header.join(","))?;
        Ok(writer)
    }

    /// Continues a table after a resume: keeps the leading rows in which `key` (such as `step`) is at most
    /// `last`, drops the rest and a row truncated by a kill, and appends from there.
    ///
    /// # Errors
    /// The errors of [`MetricsTable::read`]; [`Error::Metrics`] if the file's header is not that of
    /// `metrics`.
    pub fn resume(path: &Path, metrics: &[Metric], key: &str, last: f64) -> Result<Self> {
        check_metrics(path, metrics)?;
        let text = read_text(path)?;
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let table = MetricsTable::parse(path, whole)?;
        if table.metrics != metrics {
            let expected: Vec<_> = metrics.iter().map(Metric::label).collect();
            let problem = format!("this run reports {}", expected.join(", "));
            return Err(Error::Metrics { path: path.to_owned(), line: 1, problem });
        }
        let n_kept = table.column(key)?.iter().take_while(|value| **value <= last).count();
        let kept_bytes: usize = whole.split_inclusive('\n').take(1 + n_kept).map(str::len).sum();

        let file = OpenOptions::new().append(true).open(path).map_err(Error::io("open", path))?;
        file.set_len(kept_bytes as u64).map_err(Error::io("truncate", path))?;
        let running = RunningExtent::of_file(path, kept_bytes as u64)?;
        Ok(Self { file, path: path.to_owned(), n_metrics: metrics.len(), running })
    }

    /// Writes a row, one value per metric.
    ///
    /// # Errors
    /// [`Error::MetricsInput`] if the number of values is wrong; [`Error::Io`].
    pub fn row(&mut self, values: &[f64]) -> Result<()> {
        if values.len() != self.n_metrics {
            let problem = format!("a row of {} value(s), expected {}", values.len(), self.n_metrics);
            return Err(Error::MetricsInput { path: self.path.clone(), problem });
        }
        // Debug prints the fewest digits that read back to the same number, with an exponent where it is
        // shorter.
        let cells: Vec<_> = values.iter().map(|value| format!("{value:?}")).collect();
        let cells: Vec<_> = cells.iter().map(|cell| cell.strip_suffix(".0").unwrap_or(cell)).collect();
        self.line(cells.join(","))
    }

    fn line(&mut self, mut line: String) -> Result<()> {
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(Error::io("append to", &self.path))?;
        self.running.write_all(line.as_bytes()).map_err(Error::io("append to", &self.path))
    }

    /// Returns length and checksum of the file so far.
    pub fn extent(&self) -> Extent {
        self.running.extent()
    }

    /// Waits until all rows so far are on disk.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(Error::io("sync", &self.path))?;
        atomic::sync_directory_of(&self.path)
    }
}

fn check_metrics(path: &Path, metrics: &[Metric]) -> Result<()> {
    let problem = if metrics.is_empty() {
        "expected at least one metric, found none".to_owned()
    } else if let Some(bad) =
        metrics.iter().find(|metric| Metric::from_label(&metric.label()).as_ref() != Some(metric))
    {
        format!(
            "{bad:?} is not valid in a header row: expected no brackets, commas, quotes, line breaks or \
             outer blanks"
        )
    } else if let Some([_, twice]) = duplicate(metrics) {
        format!("the metric {:?} occurs twice", metrics[twice].name)
    } else {
        return Ok(());
    };
    Err(Error::MetricsInput { path: path.to_owned(), problem })
}

/// Returns the indices of two metrics with the same name, if there are any.
fn duplicate(metrics: &[Metric]) -> Option<[usize; 2]> {
    (0..metrics.len()).find_map(|later| {
        let same = |earlier: &Metric| earlier.name == metrics[later].name;
        Some([metrics[..later].iter().position(same)?, later])
    })
}

/// Contents of a metrics file, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricsTable {
    path: PathBuf,
    metrics: Vec<Metric>,
    columns: Vec<Vec<f64>>,
}

impl MetricsTable {
    /// Reads a metrics file.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Metrics`], with the line, for a header that names no metrics, a cell that is
    /// not a number, a row with too few or too many cells, or a last row without its line break.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path)?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let wrong = |line, problem| Error::Metrics { path: path.to_owned(), line, problem };
        let mut lines = text.split_inclusive('\n').zip(1..);
        let (header, _) =
            lines.next().ok_or_else(|| wrong(1, "expected a header row, found an empty file".to_owned()))?;
        let header = whole_line(header).map_err(|problem| wrong(1, problem))?;
        // Messages name columns by their numbers: the file may be any file.
        let metrics = header
            .split(',')
            .zip(1..)
            .map(|(cell, column)| {
                Metric::from_label(cell).ok_or_else(|| {
                    wrong(1, format!("expected a metric such as \"time [s]\" in column {column}, found text"))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        if let Some([a, b]) = duplicate(&metrics) {
            return Err(wrong(1, format!("columns {} and {} have the same metric", a + 1, b + 1)));
        }

        let mut columns = vec![Vec::new(); metrics.len()];
        for (row, line) in lines {
            let row = whole_line(row).map_err(|problem| wrong(line, problem))?;
            let cells: Vec<_> = row.split(',').collect();
            if cells.len() != metrics.len() {
                let problem =
                    format!("expected {} cell(s) as in the header, found {}", metrics.len(), cells.len());
                return Err(wrong(line, problem));
            }
            for ((cell, column), number) in cells.iter().zip(&mut columns).zip(1..) {
                let value = cell.trim().parse().map_err(|_| {
                    let found = if cell.trim().is_empty() { "nothing" } else { "text" };
                    wrong(line, format!("expected a number in column {number}, found {found}"))
                })?;
                column.push(value);
            }
        }
        Ok(Self { path: path.to_owned(), metrics, columns })
    }

    /// Returns the path of the file that the table was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the metrics, in the order of the header.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns[0].len()
    }

    /// Returns the values of the metric of that name, one per row.
    ///
    /// # Errors
    /// [`Error::Metrics`], listing the available metrics.
    pub fn column(&self, name: &str) -> Result<&[f64]> {
        let at = self.metrics.iter().position(|metric| metric.name == name).ok_or_else(|| {
            let names = || self.metrics.iter().map(|metric| metric.name.as_str());
            // Names of a run's metrics, and no other text of a file.
            let is_metric =
                |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-/".contains(c));
            let available = match names().all(is_metric) {
                true => list(names()),
                false => format!("{} column(s) of other names", self.metrics.len()),
            };
            let problem = format!("expected a column {name:?}, found {available}");
            Error::Metrics { path: self.path.clone(), line: 1, problem }
        })?;
        Ok(&self.columns[at])
    }

    /// Returns an iterator over the metrics with their values.
    pub fn columns(&self) -> impl Iterator<Item = (&Metric, &[f64])> {
        self.metrics.iter().zip(self.columns.iter().map(Vec::as_slice))
    }
}

fn whole_line(line: &str) -> std::result::Result<&str, String> {
    let whole = line
        .strip_suffix('\n')
        .ok_or("truncated: expected a line break at its end, found the end of the file")?;
    Ok(whole.strip_suffix('\r').unwrap_or(whole))
}
