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
        let value = std::fs::read_to_string(self.file(key)?).ok()?.trim().to_owned();
        known.insert(key.to_owned(), value.clone());
        Some(value)
    }

    /// Stores a finding. If the file cannot be written, the next run repeats the trial.
    pub fn store(&self, key: &str, value: &str) {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(key.to_owned(), value.to_owned());
        let Some(file) = self.file(key) else { return };
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        let written = file
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&temporary, value))
            .and_then(|()| std::fs::rename(&temporary, &file));
        drop(written);
    }

    fn file(&self, key: &str) -> Option<PathBuf> {
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
        Findings::new(Some(&cache), "a".into()).store("litmus", "pass");
        assert_eq!(Findings::new(Some(&cache), "a".into()).get("litmus").unwrap(), "pass");
        assert_eq!(Findings::new(Some(&cache), "b".into()).get("litmus"), None, "another device or driver");
        assert_eq!(Findings::new(None, "a".into()).get("litmus"), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
