//! Length and checksum of the beginning of a file that grows.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::error::{Damage, Error, Problem, Result};

/// Length and xxh3-64 of the first bytes of a file. A checkpoint stores them for files that are appended to,
/// so that a resumed run continues only files that still hold what was written before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Number of bytes.
    pub bytes: u64,
    /// xxh3-64 of those bytes.
    pub xxh3: u64,
}

impl Extent {
    /// Reads the first bytes of a file and compares them.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`] if the file is shorter or its bytes differ.
    pub fn check(&self, path: &Path) -> Result<()> {
        let found = RunningExtent::of_file(path, self.bytes)?.extent();
        let problem = match () {
            () if found == *self => return Ok(()),
            () if found.bytes < self.bytes => {
                Problem::Truncated { expected_bytes: self.bytes, found_bytes: found.bytes }
            }
            () => Problem::Checksum { expected: self.xxh3, found: found.xxh3 },
        };
        let place = "the part from before the checkpoint".to_owned();
        Err(Error::Damaged { path: path.to_owned(), damage: Damage { place, offset_bytes: 0, problem } })
    }
}

/// Running [`Extent`] of a file that is appended to.
#[derive(Clone)]
pub(crate) struct RunningExtent {
    hasher: Xxh3,
    bytes: u64,
}

impl RunningExtent {
    /// Returns the extent of an empty file.
    pub fn new() -> Self {
        Self { hasher: Xxh3::new(), bytes: 0 }
    }

    /// Returns the extent of at most the first `bytes` bytes of a file.
    pub fn of_file(path: &Path, bytes: u64) -> Result<Self> {
        let mut running = Self::new();
        let file = File::open(path).map_err(Error::io("open", path))?;
        io::copy(&mut file.take(bytes), &mut running).map_err(Error::io("read", path))?;
        Ok(running)
    }

    pub fn extent(&self) -> Extent {
        Extent { bytes: self.bytes, xxh3: self.hasher.digest() }
    }
}

impl Write for RunningExtent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for RunningExtent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.extent().fmt(f)
    }
}

/// Writer that passes bytes on and computes their extent.
pub(crate) struct ExtentWriter<W> {
    pub out: W,
    pub running: RunningExtent,
}

impl<W: Write> Write for ExtentWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.running.write(&bytes[..n])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_shorter_or_differs_is_refused_and_a_longer_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows");
        let mut running = RunningExtent::new();
        running.write_all(b"one\ntwo\n").unwrap();
        let extent = running.extent();
        for (content, problem) in [
            (&b"one\ntwo\n"[..], None),
            (b"one\ntwo\nthree\n", None),
            (b"one\ntw", Some("truncated: expected 8 byte(s), found 6")),
            (b"", Some("truncated: expected 8 byte(s), found 0")),
            (b"one\ntwp\n", Some("checksum mismatch")),
            (b"\0\0\0\0\0\0\0\0", Some("checksum mismatch")),
        ] {
            std::fs::write(&path, content).unwrap();
            match (extent.check(&path), problem) {
                (Ok(()), None) => {}
                (Err(error), Some(problem)) if error.to_string().contains(problem) => {}
                (found, _) => panic!("{content:?}: {found:?}"),
            }
        }
    }
}
