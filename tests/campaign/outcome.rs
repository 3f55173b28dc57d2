//! Results of a run that a resumed run must reproduce.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Final state and outputs of a run.
pub struct Outcome {
    state_hash: String,
    recording: Vec<u8>,
    metrics: Vec<u8>,
    /// Pictures by name.
    pictures: BTreeMap<String, Vec<u8>>,
}

impl Outcome {
    /// Reads the results in the output folder of a finished run.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn read(out: &Path) -> Result<Self, String> {
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let report = frazil_io::RunInfo::read(&out.join("run.json")).map_err(|error| error.to_string())?;
        let frames = out.join("frames");
        let mut pictures = BTreeMap::new();
        for entry in fs::read_dir(&frames).map_err(|error| format!("{}: {error}", frames.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pictures.insert(name, read(&path)?);
        }
        Ok(Self {
            state_hash: report.final_state_hash.unwrap_or_default(),
            recording: read(&out.join("recording.frazil-rec"))?,
            metrics: read(&out.join("metrics.csv"))?,
            pictures,
        })
    }

    /// Compares with the results of an undisturbed run.
    ///
    /// # Errors
    /// The first result that differs.
    pub fn must_equal(&self, reference: &Outcome) -> Result<(), String> {
        for (subject, is_same) in [
            ("the state", self.state_hash == reference.state_hash),
            ("the recording", self.recording == reference.recording),
            ("metrics.csv", self.metrics == reference.metrics),
            ("a picture", self.pictures == reference.pictures),
        ] {
            if !is_same {
                return Err(format!("{subject} differs from that of a run without faults"));
            }
        }
        Ok(())
    }
}
