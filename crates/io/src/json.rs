//! JSON files, written atomically and read with a version check.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::atomic::{self, Durability};
use crate::error::{Error, Result};

/// Writes `value` as indented JSON that survives a crash of the machine.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let json =
        serde_json::to_string_pretty(value).map_err(|cause| Error::Json { path: path.to_owned(), cause })?;
    atomic::write(path, Durability::Machine, |out| writeln!(out, "{json}"))
}

/// A report whose version is one of its fields.
pub(crate) trait Versioned: DeserializeOwned {
    /// The file's name.
    const KIND: &'static str;
    /// The version that this build writes and reads.
    const EXPECTED: u32;
    /// Returns the version that was found.
    fn version(&self) -> u32;
}

/// Reads a report of the version that this build writes.
pub(crate) fn read<T: Versioned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    let report: T =
        serde_json::from_str(&text).map_err(|cause| Error::Json { path: path.to_owned(), cause })?;
    let (expected, found) = (T::EXPECTED, report.version());
    if found != expected {
        return Err(Error::Version {
            kind: T::KIND,
            path: path.to_owned(),
            oldest: expected,
            expected,
            found,
        });
    }
    Ok(report)
}
