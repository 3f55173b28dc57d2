//! JSON files, written atomically and read with a version check.

use std::fs;
use std::io;
use std::io::Write;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::atomic::{self, Durability};
use crate::error::{Error, Result};

/// Writes `value` as indented JSON that survives a crash of the machine. The file appears complete or not at
/// all.
///
/// # Errors
/// [`Error::Io`], naming the path.
pub fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let json =
        serde_json::to_string_pretty(value).map_err(|cause| Error::Json { path: path.to_owned(), cause })?;
    atomic::write(path, Durability::Machine, |out| writeln!(out, "{json}"))
}

/// Reads a file without a version.
///
/// # Errors
/// [`Error::Io`]; [`Error::Json`] with line and column.
pub fn read_unversioned<T: DeserializeOwned>(path: &Path) -> Result<T> {
    parse(path, &read_text(path)?)
}

/// Reads a file of kind `kind` whose field `format_version` must be `expected`; a file of another version may
/// have any other fields.
///
/// # Errors
/// [`Error::Io`]; [`Error::Json`] with line and column; [`Error::Version`].
pub fn read_version<T: DeserializeOwned>(path: &Path, kind: &'static str, expected: u32) -> Result<T> {
    /// Fields that files of all versions have.
    #[derive(Deserialize)]
    struct AnyVersion {
        format_version: u32,
    }
    let text = read_text(path)?;
    let AnyVersion { format_version: found } = parse(path, &text)?;
    check_version(path, kind, expected, found)?;
    parse(path, &text)
}

/// Reads a file of UTF-8 text.
///
/// # Errors
/// [`Error::Io`], also for the first byte that is not UTF-8, with its offset.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let found = error.as_bytes().get(at).copied().unwrap_or_default();
        let problem = format!("found byte 0x{found:02x} at byte {at}, expected UTF-8 text");
        Error::io("read", path)(io::Error::new(io::ErrorKind::InvalidData, problem))
    })
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| Error::Json { path: path.to_owned(), cause })
}

fn check_version(path: &Path, kind: &'static str, expected: u32, found: u32) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Version { kind, path: path.to_owned(), oldest: expected, expected, found })
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
    let report: T = read_unversioned(path)?;
    check_version(path, T::KIND, T::EXPECTED, report.version())?;
    Ok(report)
}
