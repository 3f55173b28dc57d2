//! Cache of measured facts about a device, in memory and in files beside the pipeline cache.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// Findings about one device under one driver.
pub(crate) struct Findings {
    known: Mutex<BTreeMap<String, String>>,
    /// Folder, and the part of the file names that identifies the device and its driver.
    place: Option<(PathBuf, String)>,
}

impl Findings {
    pub fn new(pipeline_cache: Option<&PathBuf>, device: String) -> Self {
        let folder = pipeline_cache.and_then(|path| Some(path.parent()?.join("findings")));
        Self { known: Mutex::default(), place: folder.map(|folder| (folder, device)) }
    }

    pub fn get(&self, key: &str) -> Option<String> {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(value) = known.get(key) {
            return Some(value.clone());
        }
        let bytes = std::fs::read(self.file(key)?).ok()?;
        let value = String::from_utf8_lossy(&bytes).trim().to_owned();
        known.insert(key.to_owned(), value.clone());
        Some(value)
    }

    /// Stores a finding, in memory even if the file cannot be written.
    pub fn store(&self, key: &str, value: &str) -> std::io::Result<()> {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(key.to_owned(), value.to_owned());
        let Some(file) = self.file(key) else { return Ok(()) };
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&temporary, value)?;
        std::fs::rename(&temporary, &file)
    }

    /// Removes a finding; returns false if there was none.
    pub fn forget(&self, key: &str) -> std::io::Result<bool> {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let was_known = known.remove(key).is_some();
        let Some(file) = self.file(key) else { return Ok(was_known) };
        match std::fs::remove_file(file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(was_known),
            Err(error) => Err(error),
        }
    }

    /// Returns the file of a finding, whether it exists or not; none without a pipeline cache.
    pub fn file(&self, key: &str) -> Option<PathBuf> {
        self.place.as_ref().map(|(folder, device)| folder.join(format!("{device}-{key}.txt")))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::*;

    #[test]
    fn findings_persist_across_processes() {
        let folder = std::env::temp_dir().join(format!("frazil-findings-{}", std::process::id()));
        let cache = folder.join("pipelines.bin");
        Findings::new(Some(&cache), "a".into()).store("litmus", "pass").unwrap();
        assert_eq!(Findings::new(Some(&cache), "a".into()).get("litmus").unwrap(), "pass");
        assert_eq!(Findings::new(Some(&cache), "b".into()).get("litmus"), None, "another device or driver");
        assert_eq!(Findings::new(None, "a".into()).get("litmus"), None);
        let again = Findings::new(Some(&cache), "a".into());
        assert_eq!((again.forget("litmus").unwrap(), again.get("litmus")), (true, None));
        assert!(!again.forget("litmus").unwrap());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
