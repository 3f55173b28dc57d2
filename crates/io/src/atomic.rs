//! Files that are either complete or absent.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Kind of failure that a file must survive once its write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A kill of this process. Enough for files that can be regenerated.
    Process,
    /// A crash of the machine: the file and its directory entry are synced.
    Machine,
}

/// Writes a file under a temporary name beside `path`, then renames it over `path`.
///
/// An existing file at `path` stays intact until the rename. On failure the temporary file is removed; the
/// error names `path`. The temporary name is fixed, so the next write overwrites what a kill leaves behind.
///
/// # Errors
/// [`Error::Io`], naming the path.
pub fn write(
    path: &Path,
    durability: Durability,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<()> {
    let temporary = temporary_name(path)?;
    let written = write_temporary(&temporary, durability, content).map_err(Error::io("write", path));
    let renamed = written.and_then(|()| fs::rename(&temporary, path).map_err(Error::io("rename into", path)));
    if renamed.is_err() {
        // The first error is the one to report; a leftover temporary file is harmless.
        let _ = fs::remove_file(&temporary);
        return renamed;
    }
    if durability == Durability::Machine {
        sync_directory_of(path)?;
    }
    Ok(())
}

fn write_temporary(
    temporary: &Path,
    durability: Durability,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(temporary)?);
    content(&mut out)?;
    out.flush()?;
    match durability {
        Durability::Process => Ok(()),
        Durability::Machine => out.get_ref().sync_all(),
    }
}

/// Waits until a file that was written before, and its directory entry, are on disk.
///
/// # Errors
/// [`Error::Io`], naming the path.
pub fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::io("sync", path))?;
    sync_directory_of(path)
}

pub(crate) fn temporary_name(path: &Path) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "expected a path that ends in a file name");
        return Err(Error::Io { operation: "write", path: path.to_owned(), cause });
    };
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(".tmp");
    Ok(path.with_file_name(temporary))
}

/// Makes a rename, or a new file or folder, survive a crash of the machine.
///
/// # Errors
/// [`Error::Io`], naming the directory.
pub fn sync_directory_of(path: &Path) -> Result<()> {
    // Windows cannot open directories as files and needs no such sync.
    if cfg!(unix) {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        File::open(directory)
            .and_then(|file| file.sync_all())
            .map_err(Error::io("sync directory", directory))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_previous_file_and_leaves_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        write(&path, Durability::Machine, |out| out.write_all(b"first")).unwrap();
        let error = write(&path, Durability::Machine, |out| {
            out.write_all(b"half of the sec")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err()
        .to_string();
        assert!(error.contains("cannot write") && error.contains("state"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("nosuch/file");
        let error = write(&path, Durability::Process, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("nosuch"), "{error}");
    }

    #[test]
    fn a_path_without_a_file_name_is_refused() {
        assert!(write(Path::new("/"), Durability::Process, |_| Ok(())).is_err());
    }
}
