//! What a scene's files hold, once they are read.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// What a file is larger than that is no mesh, font or terrain of a scene.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// What follows from a text or file that a shape names, read once. It is not part of what the scene says: all are equal.
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

/// What to do about files that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A scene that is to be sampled needs them.
    Refuse,
    /// A scene that has been, does not: a recording is played where its mesh is not.
    Accept,
}

/// The bytes of the file at `path`, which is absolute from then on; or what is wrong with it.
pub(crate) fn read(path: &mut String, folder: Option<&Path>) -> Result<Vec<u8>, String> {
    let from_folder = folder.map_or_else(|| Path::new(path).to_owned(), |folder| folder.join(&*path));
    let absolute = std::path::absolute(&from_folder).unwrap_or(from_folder);
    *path = absolute.display().to_string();
    let problem = |cause: std::io::Error| format!("{path}: {cause}");
    let mut bytes = Vec::new();
    File::open(&absolute).map_err(problem)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(problem)?;
    Ok(bytes)
}
