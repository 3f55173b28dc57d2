//! The log of measurements: a line of JSON for each run of a command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use frazil_io::json_lines::{self, JsonLinesWriter};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// A run of a command that measured. Fields are documented in `docs/formats.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "one table documents them, for users who never see this type")]
pub struct HistoryRecord {
    pub format_version: u32,
    pub unix_time_s: u64,
    pub version: String,
    pub commit: Option<String>,
    pub commit_unix_time_s: Option<u64>,
    pub host: HistoryHost,
    pub device: String,
    pub driver: String,
    pub settings: BTreeMap<String, String>,
    pub copy_gb_per_s: Option<f64>,
    pub entries: Vec<HistoryEntry>,
}

/// The machine of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs, reason = "see HistoryRecord")]
pub struct HistoryHost {
    pub name: String,
    pub cpu: String,
    pub processors: usize,
}

/// A kernel or a point of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "see HistoryRecord")]
pub struct HistoryEntry {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub point: String,
    pub time_ns: f64,
    pub median_ns: f64,
    pub quartiles_ns: [f64; 2],
    pub samples: u64,
    pub bytes: Option<f64>,
    pub gb_per_s: Option<f64>,
    pub share_of_copy: Option<f64>,
}

/// Last second of the year 9999, after which dates have other forms.
const MAX_UNIX_TIME_S: u64 = 253_402_300_799;

impl HistoryRecord {
    /// The version of records that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 1;

    /// Returns the first problem, if any: the numbers must be possible results of a measurement.
    fn problem(&self) -> Option<String> {
        if self.format_version != Self::FORMAT_VERSION {
            let expected = Self::FORMAT_VERSION;
            return Some(format!(
                "record format version {}; this build reads version {expected}",
                self.format_version
            ));
        }
        let times = [Some(self.unix_time_s), self.commit_unix_time_s];
        if let Some(time) = times.into_iter().flatten().find(|time| *time > MAX_UNIX_TIME_S) {
            return Some(format!("found the time {time} s, expected one before the year 10000"));
        }
        self.entries.iter().find_map(|entry| {
            let is_time = |ns: &f64| ns.is_finite() && *ns > 0.0;
            let bad = [entry.time_ns, entry.median_ns].into_iter().find(|ns| !is_time(ns))?;
            Some(format!("{}: found the time {bad} ns, expected a number above 0", entry.name))
        })
    }
}

/// The records of a file, and warnings about lines that are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The file.
    pub path: PathBuf,
    /// Records in the order of the file.
    pub records: Vec<HistoryRecord>,
    /// A message for each line that was left out, with the file and the number of the line.
    pub warnings: Vec<String>,
}

impl History {
    /// Reads the records of a file, none if it does not exist. Lines that are damaged, as the last one is
    /// after a kill or on a full disk, or of another version are left out with a warning.
    ///
    /// # Errors
    /// [`Io`](frazil_io::Error::Io).
    pub fn read(path: &Path) -> Result<Self> {
        let mut history = Self { path: path.to_owned(), ..Self::default() };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(history),
            Err(cause) => {
                return Err(frazil_io::Error::Io { operation: "read", path: path.to_owned(), cause }.into());
            }
        };
        // Bytes that are not text spoil their own line only.
        for (line, record) in json_lines::parse::<HistoryRecord>(&String::from_utf8_lossy(&bytes)) {
            match record.and_then(|record| record.problem().map_or(Ok(record), Err)) {
                Ok(record) => history.records.push(record),
                Err(problem) => {
                    history.warnings.push(format!("{}:{line}: left out: {problem}", path.display()));
                }
            }
        }
        Ok(history)
    }

    /// Appends a record to a file, which is created if it does not exist. Several processes may append to one
    /// file.
    ///
    /// # Errors
    /// [`Io`](frazil_io::Error::Io).
    pub fn append(path: &Path, record: &HistoryRecord) -> Result<()> {
        Ok(JsonLinesWriter::open(path)?.append(record)?)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;

    /// Makes a record of one kernel and a step at a time in s, with the letter of its commit.
    pub fn record(unix_time_s: u64, commit: char, time_ns: f64) -> HistoryRecord {
        let entry = |name: &str, time_ns: f64| HistoryEntry {
            name: name.to_owned(),
            point: String::new(),
            time_ns,
            median_ns: 1.1 * time_ns,
            quartiles_ns: [1.05 * time_ns, 1.2 * time_ns],
            samples: 40,
            bytes: Some(8000.0),
            gb_per_s: Some(8000.0 / time_ns),
            share_of_copy: Some(400.0 / time_ns),
        };
        HistoryRecord {
            format_version: HistoryRecord::FORMAT_VERSION,
            unix_time_s,
            version: "0.1.0".to_owned(),
            commit: Some(commit.to_string().repeat(40)),
            commit_unix_time_s: Some(unix_time_s - unix_time_s % 100),
            host: HistoryHost { name: "box".to_owned(), cpu: "a CPU".to_owned(), processors: 2 },
            device: "llvmpipe (LLVM 15, 256 bits)".to_owned(),
            driver: "llvmpipe, Mesa".to_owned(),
            settings: BTreeMap::from([("scene".to_owned(), "dam_break".to_owned())]),
            copy_gb_per_s: Some(20.0),
            entries: vec![entry("pbd.lambda", time_ns), entry("step", 1e6)],
        }
    }

    #[test]
    fn damaged_lines_are_left_out_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/profile.jsonl");
        assert_eq!(History::read(&path).unwrap().records, []);
        let first = record(1000, 'a', 5.0);
        History::append(&path, &first).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"format_version\": 1, \"unix_\xff").unwrap();
        let truncated = History::read(&path).unwrap();
        assert_eq!((truncated.records.len(), truncated.warnings.len()), (1, 1));
        assert!(truncated.warnings[0].starts_with(&format!("{}:2: left out: EOF", path.display())));

        let second = record(1100, 'b', 6.0);
        History::append(&path, &second).unwrap();
        History::append(&path, &HistoryRecord { format_version: 2, ..second.clone() }).unwrap();
        History::append(&path, &record(1200, 'c', -1.0)).unwrap();
        History::append(&path, &HistoryRecord { unix_time_s: u64::MAX, ..second.clone() }).unwrap();
        let history = History::read(&path).unwrap();
        assert_eq!(history.records, [first, second]);
        let said = ["EOF", "record format version 2", "pbd.lambda: found the time -1", "the year 10000"];
        assert_eq!(history.warnings.len(), 4);
        for (i, said) in said.into_iter().enumerate() {
            let at = format!(":{}: ", [2, 4, 5, 6][i]);
            assert!(history.warnings[i].contains(said) && history.warnings[i].contains(&at), "{history:?}");
        }
        let error = History::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains(&folder.path().display().to_string()));
    }
}
