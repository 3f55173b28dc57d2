//! Choice of output folders. No command replaces results of an earlier one unless it is told to.

use super::folder::{Folder, create_dir};
use super::lock::FolderLock;
use crate::failure::Failure;
use frazil_io::RunInfo;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Maximum number of entries that the refusal of a folder names.
const MAX_NAMED: usize = 4;
/// Maximum number in the name of a default folder, a guard against an endless search.
const MAX_NUMBER: u32 = 100_000;

/// Treatment of results that a command finds in its output folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// A folder that was named is refused; a default folder gets the next free number.
    Refuse,
    /// The command replaces its own files.
    Replace,
    /// The command continues from what is there.
    Continue,
}

impl Existing {
    /// Returns the treatment that the options `--overwrite` and `--resume` request.
    pub fn of(overwrite: bool, resume: bool) -> Self {
        match (overwrite, resume) {
            (_, true) => Self::Continue,
            (true, false) => Self::Replace,
            (false, false) => Self::Refuse,
        }
    }
}

/// Output folder of a command.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// Folder that the user named.
    pub requested: Option<&'a Path>,
    /// Folder if the user named none: `out/NAME`, or with results in it `out/NAME-2`, `out/NAME-3`, ….
    pub default: &'a Path,
    /// Treatment of results that are there.
    pub existing: Existing,
}

impl Output<'_> {
    /// Creates the folder, or returns the error that it holds results.
    ///
    /// # Errors
    /// It holds results; it cannot be created or read.
    pub fn claim(self) -> Result<PathBuf, Failure> {
        let folder = match self.requested {
            Some(folder) => folder.to_owned(),
            None if self.existing == Existing::Refuse => return free_folder(self.default),
            None if self.existing == Existing::Continue => last_folder(self.default),
            None => self.default.to_owned(),
        };
        if self.existing == Existing::Refuse {
            refuse_populated(&folder)?;
        }
        create_dir(&folder)?;
        Ok(folder)
    }

    /// Creates the folder and locks it for as long as the result lives, or returns the error that it holds
    /// results or that another process writes to it.
    ///
    /// # Errors
    /// Like [`Self::claim`]; another process writes to it.
    pub fn claim_and_lock(self) -> Result<(Folder, FolderLock), Failure> {
        // A folder in use is populated, too: the process that uses it is the better reason.
        if let Some(folder) = self.requested
            && FolderLock::is_held(folder)
        {
            FolderLock::acquire(folder)?;
        }
        let folder = self.claim()?;
        let lock = FolderLock::acquire(&folder)?;
        // Another process may have written to it, and ended, before the lock was acquired.
        if self.existing == Existing::Refuse {
            refuse_populated(&folder)?;
        }
        Ok((Folder::existing(&folder), lock))
    }
}

/// Returns the error that a folder holds results.
///
/// # Errors
/// It holds results, which the error names; it cannot be read.
pub fn refuse_populated(folder: &Path) -> Result<(), Failure> {
    let entries = entries(folder)?;
    if entries.is_empty() {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{} holds {}: give another --out, or replace it with --overwrite",
        folder.display(),
        description(folder, &entries)
    )))
}

/// Returns the error that a file exists.
///
/// # Errors
/// The file exists.
pub fn refuse_file(option: &str, path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) => Err(Failure::input(format!(
            "{option} {}: the file exists; give another name, or replace it with --overwrite",
            path.display()
        ))),
        Err(_) => Ok(()),
    }
}

/// Describes the contents of a folder: the run that it has results of, if any, and names.
fn description(folder: &Path, entries: &[String]) -> String {
    let run = Folder::existing(folder);
    let what = match RunInfo::read(&run.report()) {
        Ok(info) => {
            let state = if info.final_state_hash.is_some() { "the finished run" } else { "the ended run" };
            format!("{state} of \"{}\", {} steps", info.scene, info.steps)
        }
        Err(_) if run.has_outputs() => "the outputs of an unfinished run".to_owned(),
        Err(_) => "files".to_owned(),
    };
    let mut names = entries[..entries.len().min(MAX_NAMED)].join(", ");
    if entries.len() > MAX_NAMED {
        names += &format!(" and {} more", entries.len() - MAX_NAMED);
    }
    let checkpoint = run.checkpoint();
    let resumable = match checkpoint.exists() {
        true => format!(", which --resume {} would go on with", checkpoint.display()),
        false => String::new(),
    };
    format!("{what} ({names}){resumable}")
}

/// Returns the sorted names in a folder; none if it does not exist. Hidden files, such as the lock, are no
/// results.
fn entries(folder: &Path) -> Result<Vec<String>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::input(format!("cannot read the folder {}: {error}", folder.display()))
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // A file in its place is reported where the folder is created.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the default folder with a number: `out/NAME` for 1, else `out/NAME-N`.
fn numbered(default: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return default.to_owned();
    }
    let mut name = default.file_name().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    default.with_file_name(name)
}

/// Creates the first of the numbered default folders that has no results and is not in use.
fn free_folder(default: &Path) -> Result<PathBuf, Failure> {
    create_dir(default.parent().unwrap_or(Path::new("")))?;
    for folder in (1..=MAX_NUMBER).map(|number| numbered(default, number)) {
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if folder.is_dir() && !FolderLock::is_held(&folder) && entries(&folder)?.is_empty() {
                    return Ok(folder);
                }
            }
            Err(error) => {
                return Err(Failure::input(format!("cannot make the folder {}: {error}", folder.display())));
            }
        }
    }
    Err(Failure::input(format!(
        "found {MAX_NUMBER} folders such as {}, expected a free number; remove some, or give --out",
        default.display()
    )))
}

/// Returns the existing one of the numbered default folders with the highest number before a gap.
fn last_folder(default: &Path) -> PathBuf {
    let numbers = (2..=MAX_NUMBER).take_while(|&number| numbered(default, number).is_dir());
    numbered(default, numbers.last().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;

    fn output(requested: Option<&Path>, default: &Path, existing: Existing) -> Result<PathBuf, Failure> {
        Output { requested, default, existing }.claim()
    }

    #[test]
    fn default_folders_are_numbered_past_results_and_locks() {
        let folder = tempfile::tempdir().unwrap();
        let default = folder.path().join("out/dam.v1");
        let claim = |existing| output(None, &default, existing).unwrap();
        assert_eq!(claim(Existing::Refuse), default);
        // Empty, or with a lock that nobody holds, it is free.
        fs::write(default.join(".frazil.lock"), "").unwrap();
        assert_eq!(claim(Existing::Refuse), default);
        let held = FolderLock::acquire(&default).unwrap();
        let second = folder.path().join("out/dam.v1-2");
        assert_eq!(claim(Existing::Refuse), second);
        drop(held);
        for path in [&default, &second] {
            fs::write(path.join("metrics.csv"), "").unwrap();
        }
        assert_eq!(claim(Existing::Replace), default);
        assert_eq!(claim(Existing::Continue), second);
        assert_eq!(claim(Existing::Refuse), folder.path().join("out/dam.v1-3"));
    }

    #[test]
    fn a_populated_folder_is_refused_with_its_contents_and_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine");
        let claim = |existing| output(Some(&path), Path::new("unused"), existing);
        assert_eq!(claim(Existing::Refuse).unwrap(), path);
        for name in ["notes.txt", "b", "c", "d", "e"] {
            fs::write(path.join(name), "").unwrap();
        }
        let lock = || Output { requested: Some(&path), default: &path, existing: Existing::Refuse };
        let error = lock().claim_and_lock().unwrap_err().to_string();
        assert!(error.contains("mine holds files (b, c, d, e and 1 more): give another --out"), "{error}");
        assert!(!path.join(".frazil.lock").exists());
        assert!(claim(Existing::Replace).is_ok() && claim(Existing::Continue).is_ok());
        let held = FolderLock::acquire(&path).unwrap();
        let error = lock().claim_and_lock().unwrap_err().to_string();
        assert!(error.contains("is in use by process"), "{error}");
        drop(held);
        fs::write(path.join("recording.frazil-rec"), "").unwrap();
        fs::write(path.join("checkpoint.frazil-ckpt"), "").unwrap();
        let error = claim(Existing::Refuse).unwrap_err().to_string();
        assert!(error.contains("the outputs of an unfinished run") && error.contains("--resume"), "{error}");
    }
}
