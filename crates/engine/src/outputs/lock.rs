//! Lock of an output folder: one run at a time writes to it.

use crate::failure::Failure;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

/// Name of the lock file. It stays in the folder; only the lock on it counts, which ends with its process.
const NAME: &str = ".frazil.lock";

/// Exclusive lock of a folder, until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    /// None on a file system without locks.
    _file: Option<File>,
    warning: Option<String>,
}

impl FolderLock {
    /// Locks a folder. On a file system without locks it goes on with a [`warning`](Self::warning).
    ///
    /// # Errors
    /// Another process, which the error names, holds the lock; the lock file cannot be written.
    pub fn acquire(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(NAME);
        let failed = |error: std::io::Error| {
            Failure::output(&error, format!("cannot lock {}: {error}", path.display()))
        };
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Its holder may be about to write this text.
                let _ = file.read_to_string(&mut holder);
                let holder = if holder.is_empty() { "another process" } else { holder.trim_end() };
                return Err(Failure::input(format!(
                    "{} is in use by {holder}; wait for its end, or give another --out",
                    folder.display()
                )));
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(error)) => {
                let warning = Some(format!("{} cannot be locked: {error}", folder.display()));
                return Ok(Self { _file: None, warning });
            }
        }
        let holder = holder();
        let written =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(holder.as_bytes()));
        written.map_err(failed)?;
        Ok(Self { _file: Some(file), warning: None })
    }

    /// Returns a warning if the folder's file system has no locks.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Returns true if a process holds the lock of a folder. Nothing is created.
    pub fn is_held(folder: &Path) -> bool {
        let file = OpenOptions::new().read(true).open(folder.join(NAME));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }
}

/// Describes this process: "process 123 (frazil run …)".
fn holder() -> String {
    let arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    format!("process {} ({})\n", std::process::id(), arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_again_after_its_release() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FolderLock::acquire(folder.path()).unwrap();
        let error = FolderLock::acquire(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("is in use by process {}", std::process::id())), "{error}");
        drop(lock);
        assert_eq!(FolderLock::acquire(folder.path()).unwrap().warning(), None);
    }
}
