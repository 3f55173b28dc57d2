//! Results of a run that a resumed run must reproduce.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that have times, or the process that wrote them.
const TIMES: [&str; 7] = [
    "run.json",
    "timing.csv",
    "frame_time.png",
    "profile.json",
    "profile.html",
    "trace.json",
    ".frazil.lock",
];

/// Final state of a run and all its files but those that have times; checkpoints of earlier runs do not
/// count.
pub struct Outcome {
    state_hash: String,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Outcome {
    /// Reads the results of a run.
    ///
    /// # Errors
    /// `run.json` or another file cannot be read.
    pub fn read(out: &Path) -> Result<Self, String> {
        let report = frazil_io::RunInfo::read(&out.join("run.json")).map_err(|error| error.to_string())?;
        Ok(Self { state_hash: report.final_state_hash.unwrap_or_default(), files: files(out)? })
    }

    /// Compares with the results of an undisturbed run.
    ///
    /// # Errors
    /// The first result that differs.
    pub fn must_equal(&self, reference: &Self) -> Result<(), String> {
        let mut names = self.files.keys().chain(reference.files.keys());
        let subject = match names.find(|name| self.files.get(*name) != reference.files.get(*name)) {
            _ if self.state_hash != reference.state_hash => "the state".to_owned(),
            Some(name) => name.display().to_string(),
            None => return Ok(()),
        };
        Err(format!("{subject} differs from that of a run without faults"))
    }
}

/// Reads the files of a run but those that have times, and checkpoints of earlier runs, by their paths.
///
/// # Errors
/// A file cannot be read.
pub fn files(out: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![out.to_owned()]);
    while let Some(folder) = folders.pop() {
        let at = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(at)? {
            let path = entry.map_err(at)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let has_times = TIMES.contains(&name);
            if path.is_dir() {
                folders.push(path);
            } else if !has_times && !name.starts_with("checkpoint.earlier-") {
                let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                files.insert(path.strip_prefix(out).unwrap_or(&path).to_owned(), bytes);
            }
        }
    }
    Ok(files)
}
