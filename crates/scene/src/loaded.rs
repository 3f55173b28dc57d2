//! Contents of a scene's files after loading.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Maximum size of a mesh, font or terrain file of a scene.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 30;

/// Data loaded once from a text or file that a shape names. It is no part of a scene's value: all instances
/// compare equal.
#[derive(Debug)]
pub struct Loaded<T>(Option<Arc<T>>);

impl<T> Loaded<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self(Some(value))
    }

    pub(crate) fn shared(&self) -> Option<Arc<T>> {
        self.0.clone()
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }
}

impl<T> Default for Loaded<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Clone for Loaded<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for Loaded<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Treatment of missing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Report an error: the scene is to be sampled and needs the files.
    Refuse,
    /// Ignore: the scene has been sampled already, as when a recording is played without its mesh.
    Accept,
}

/// Reads the file at `path` and makes the path absolute. The error describes the problem.
pub(crate) fn read(path: &mut String, folder: Option<&Path>) -> Result<Vec<u8>, String> {
    let from_folder = folder.map_or_else(|| Path::new(path).to_owned(), |folder| folder.join(&*path));
    let absolute = std::path::absolute(&from_folder).unwrap_or(from_folder);
    *path = absolute.display().to_string();
    read_bounded(&absolute).map_err(|problem| format!("{path}: {problem}"))
}

/// Reads a regular file of up to a gibibyte. Anything else may never end, or not even begin: a device, a
/// pipe. The error describes the problem.
pub(crate) fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    let problem = |cause: std::io::Error| cause.to_string();
    let check = |metadata: std::fs::Metadata| match metadata.len() {
        _ if metadata.is_dir() => Err("a directory, where a file is needed".to_owned()),
        _ if !metadata.is_file() => Err("a device or a pipe, where a regular file is needed".to_owned()),
        n if n > MAX_FILE_BYTES => Err(format!("{n} bytes, where at most {MAX_FILE_BYTES} are read")),
        _ => Ok(()),
    };
    // Opening a pipe waits for its other end.
    std::fs::metadata(path).map_err(problem).and_then(check)?;
    let file = File::open(path).map_err(problem)?;
    file.metadata().map_err(problem).and_then(check)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(problem)?;
    match bytes.len() as u64 {
        n if n > MAX_FILE_BYTES => Err(format!("more than {MAX_FILE_BYTES} bytes, the most that are read")),
        _ => Ok(bytes),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_bounded_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let problem = |path: &Path| read_bounded(path).unwrap_err();
        assert_eq!(problem(Path::new("/dev/zero")), "a device or a pipe, where a regular file is needed");
        assert_eq!(problem(folder.path()), "a directory, where a file is needed");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(problem(&pipe), "a device or a pipe, where a regular file is needed");
        }
        let large = folder.path().join("large");
        File::create(&large).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
        assert_eq!(problem(&large), "1073741825 bytes, where at most 1073741824 are read");
        std::fs::write(&large, "small").unwrap();
        assert_eq!(read_bounded(&large).unwrap(), b"small");
        assert!(problem(&folder.path().join("none")).contains("No such file"));
    }
}
