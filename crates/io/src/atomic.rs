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

/// A file that another program writes under a temporary name beside its final one. It is removed unless it
/// was completed.
#[derive(Debug)]
pub struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
    path: PathBuf,
    is_complete: bool,
}

impl Replacement {
    /// Finds a temporary name for a file at `path`, with the rules of [`write()`].
    ///
    /// # Errors
    /// [`Error::Io`], naming the path: see [`write()`].
    pub fn of(path: &Path) -> Result<Self> {
        let target = regular_target(path)?;
        let temporary = std::path::absolute(temporary_name(&target)?).map_err(Error::io("write", path))?;
        Ok(Self { target, temporary, path: path.to_owned(), is_complete: false })
    }

    /// Returns the absolute path to write to.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Syncs the complete file and gives it its final name.
    ///
    /// # Errors
    /// [`Error::Io`], naming the path; the file of that name is intact.
    pub fn complete(mut self) -> Result<()> {
        let synced = File::open(&self.temporary).and_then(|file| file.sync_all());
        synced.map_err(Error::io("sync", &self.path))?;
        fs::rename(&self.temporary, &self.target).map_err(Error::io("rename into", &self.path))?;
        self.is_complete = true;
        sync_directory_of(&self.target)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_complete {
            // A leftover temporary file is harmless.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a file under a temporary name beside `path`, then renames it over `path`.
///
/// An existing file at `path` stays intact until the rename. On failure the temporary file is removed; the
/// error names `path`. The temporary name is fixed, so the next write overwrites what a kill leaves behind.
/// A symbolic link at `path` stays: the file that it leads to is replaced.
///
/// # Errors
/// [`Error::Io`], naming the path; also if it is a folder, a device, a pipe or a link to one or to nothing.
pub fn write(
    path: &Path,
    durability: Durability,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<()> {
    let target = &*regular_target(path)?;
    let temporary = temporary_name(target)?;
    let written = write_temporary(&temporary, durability, content).map_err(Error::io("write", path));
    let renamed =
        written.and_then(|()| fs::rename(&temporary, target).map_err(Error::io("rename into", path)));
    if renamed.is_err() {
        // The first error is the one to report; a leftover temporary file is harmless.
        let _ = fs::remove_file(&temporary);
        return renamed;
    }
    if durability == Durability::Machine {
        sync_directory_of(target)?;
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

/// Returns the path of the regular file that a write to `path` may replace or create: where a symbolic link
/// leads to.
pub(crate) fn regular_target(path: &Path) -> Result<PathBuf> {
    let refuse = |found: &str| {
        let problem = format!("found {found}, expected a regular file or none");
        let cause = io::Error::new(io::ErrorKind::InvalidInput, problem);
        Err(Error::Io { operation: "write", path: path.to_owned(), cause })
    };
    let is_link = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.is_symlink(),
        // What else prevents the write is reported by it.
        Err(_) => return Ok(path.to_owned()),
    };
    let target = match fs::canonicalize(path) {
        Ok(target) if is_link => target,
        Err(_) if is_link => return refuse("a link that leads to no file"),
        _ => path.to_owned(),
    };
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => refuse("a folder"),
        Ok(metadata) if !metadata.is_file() => refuse("a device or a pipe"),
        _ => Ok(target),
    }
}

/// Returns the name under which a file is written before it replaces `path`; it must be free, or that of a
/// regular file.
pub(crate) fn temporary_name(path: &Path) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        let cause = io::Error::new(io::ErrorKind::InvalidInput, "expected a path that ends in a file name");
        return Err(Error::Io { operation: "write", path: path.to_owned(), cause });
    };
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(".tmp");
    let temporary = path.with_file_name(temporary);
    match fs::symlink_metadata(&temporary) {
        // A folder makes the write fail.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            let problem = format!("found a link or a device at {}", temporary.display());
            let cause = io::Error::new(io::ErrorKind::AlreadyExists, problem);
            Err(Error::Io { operation: "write", path: path.to_owned(), cause })
        }
        _ => Ok(temporary),
    }
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
    fn a_file_of_another_program_appears_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("video");
        fs::write(&path, b"first").unwrap();
        let unfinished = Replacement::of(&path).unwrap();
        fs::write(unfinished.temporary(), b"half").unwrap();
        drop(unfinished);
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read_dir(dir.path()).unwrap().count()),
            (b"first".to_vec(), 1)
        );
        let finished = Replacement::of(&path).unwrap();
        fs::write(finished.temporary(), b"second").unwrap();
        finished.complete().unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read_dir(dir.path()).unwrap().count()),
            (b"second".to_vec(), 1)
        );
        let missing = Replacement::of(&path).unwrap().complete().unwrap_err().to_string();
        assert!(missing.contains("cannot sync") && missing.contains("video"), "{missing}");
        assert!(Replacement::of(dir.path()).unwrap_err().to_string().contains("a folder"));
    }

    #[test]
    fn a_missing_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("nosuch/file");
        let error = write(&path, Durability::Process, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("nosuch"), "{error}");
    }

    /// A link is followed, and no device, pipe or folder becomes a file.
    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_replaced() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        use std::process::Command;

        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let replace = |name: &str| {
            write(&at(name), Durability::Machine, |out| out.write_all(b"new"))
                .map_err(|error| error.to_string())
        };
        fs::create_dir(at("other")).unwrap();
        fs::write(at("other/file"), "old").unwrap();
        symlink("other/file", at("link")).unwrap();
        replace("link").unwrap();
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read(at("other/file")).unwrap(), b"new");
        symlink("none", at("dangling")).unwrap();
        assert!(replace("dangling").unwrap_err().contains("a link that leads to no file"));
        symlink("/dev/null", at("device")).unwrap();
        let device = replace("device").unwrap_err();
        assert!(device.contains("a device or a pipe, expected a regular file"), "{device}");
        assert!(replace("other").unwrap_err().contains("a folder"));
        if Command::new("mkfifo").arg(at("pipe")).status().is_ok_and(|status| status.success()) {
            assert!(replace("pipe").unwrap_err().contains("a device or a pipe"));
            assert!(fs::metadata(at("pipe")).unwrap().file_type().is_fifo());
        }
        // What is written first is not written through a link either.
        symlink("other/file", at(".plain.tmp")).unwrap();
        assert!(replace("plain").unwrap_err().contains(".plain.tmp"));
        assert_eq!(fs::read(at("other/file")).unwrap(), b"new");
    }

    #[test]
    fn a_path_without_a_file_name_is_refused() {
        assert!(write(Path::new("/"), Durability::Process, |_| Ok(())).is_err());
    }
}
