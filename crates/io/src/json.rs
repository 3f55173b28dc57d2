//! JSON files, written whole.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::atomic::{self, Durability};
use crate::error::{Error, Result};

/// Writes `value` as indented JSON that survives a crash of the machine.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let json =
        serde_json::to_string_pretty(value).map_err(|cause| Error::Json { path: path.to_owned(), cause })?;
    atomic::write(path, Durability::Machine, |out| writeln!(out, "{json}"))
}
