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
    let problem = |cause: std::io::Error| format!("{path}: {cause}");
    let mut bytes = Vec::new();
    File::open(&absolute).map_err(problem)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(problem)?;
    Ok(bytes)
}
