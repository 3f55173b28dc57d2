//! Files of a target's cases, and their checks.

use std::io;
use std::path::{Path, PathBuf};

use crate::mutate::{is_name, mutate, mutate_file, tokens};
use crate::random::Random;
use crate::target::{Input, Target, Verdict};

/// A target with its seeds and a folder of its own.
pub struct Session {
    target: Target,
    folder: PathBuf,
    seeds: Vec<Vec<u8>>,
    words: Vec<String>,
}

impl Session {
    /// Makes the seeds and prepares the folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn new(target: &Target, folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        (target.prepare)(folder)?;
        let seeds = (target.seeds)();
        let mut words = (target.words)();
        for seed in &seeds {
            let text = String::from_utf8_lossy(seed);
            words.extend(tokens(&text).into_iter().filter(|token| is_name(token)).map(str::to_owned));
        }
        words.sort();
        words.dedup();
        Ok(Self { target: *target, folder: folder.to_owned(), seeds, words })
    }

    /// Returns the valid files.
    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }

    /// Returns the file of a case.
    pub fn file(&self, seed: u64, case: u64) -> Vec<u8> {
        let mut random = Random::of_case(seed, self.target.name, case);
        self.repaired(mutate(self.target.kind, &self.seeds, &self.words, &mut random))
    }

    /// Returns a mutation of a file, the same for the same `seed`.
    pub fn mutant(&self, bytes: &[u8], seed: u64) -> Vec<u8> {
        let mut random = Random::of_case(seed, self.target.name, 0);
        self.repaired(mutate_file(self.target.kind, bytes.to_vec(), &self.seeds, &self.words, &mut random))
    }

    /// Repairs a mutated file, so that it passes checksums if the target asks for it.
    pub fn repaired(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        (self.target.repair)(&mut bytes);
        bytes
    }

    /// Writes a file, reads it and checks the requirements.
    ///
    /// # Errors
    /// The requirement that is violated.
    pub fn check(&self, bytes: &[u8]) -> Verdict {
        let path = self.folder.join(self.target.file);
        std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        (self.target.check)(&Input { folder: &self.folder, path, bytes })
    }

    /// Returns the files in `corpus` that once failed, with their names.
    ///
    /// # Errors
    /// The folder of the target exists, but cannot be read.
    pub fn regressions(&self) -> io::Result<Vec<(String, Vec<u8>)>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.target.name);
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            found.push((path.display().to_string(), std::fs::read(&path)?));
        }
        found.sort();
        Ok(found)
    }
}
