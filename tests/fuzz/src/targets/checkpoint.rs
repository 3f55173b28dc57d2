//! Checkpoints.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use frazil_io::{Checkpoint, WrittenOutputs};

use crate::hashes::repair_hashes;
use crate::mutate::Kind;
use crate::target::{Input, Outcome, Target, Verdict, must_equal, refused};

const FILE: &str = "checkpoint.frazil-ckpt";

pub(super) const TARGETS: &[Target] = &[
    Target::new("checkpoint", FILE, Kind::Binary, files, check_detected),
    Target {
        repair: |bytes| repair_hashes(bytes),
        ..Target::new("checkpoint_rehashed", FILE, Kind::Binary, files, check_read)
    },
];

fn originals() -> &'static [Checkpoint] {
    static ORIGINALS: OnceLock<Vec<Checkpoint>> = OnceLock::new();
    ORIGINALS.get_or_init(|| {
        let scene_json = frazil_scene::builtin()[0]
            .load(&[])
            .ok()
            .and_then(|scene| serde_json::to_string(&scene).ok())
            .unwrap_or_default();
        let words = |n: u32| (0..n).flat_map(|i| (i as f32).sin().to_le_bytes()).collect::<Vec<u8>>();
        let sections = |names: &[&str]| -> BTreeMap<String, Vec<u8>> {
            names.iter().zip(5..).map(|(name, n)| ((*name).to_owned(), words(n))).collect()
        };
        let checkpoint = |step: u64, sections, outputs| Checkpoint {
            scene_json: scene_json.clone(),
            step,
            time_s: step as f64 * 1e-3,
            seed: 7,
            sections,
            outputs,
        };
        vec![
            checkpoint(0, BTreeMap::new(), None),
            checkpoint(12, sections(&["position", "velocity", "id", "lambda"]), None),
            checkpoint(
                99,
                sections(&["position", "velocity", "id", "counts"]),
                Some(WrittenOutputs {
                    recording: Some(frazil_io::Extent { bytes: 1234, xxh3: u64::MAX }),
                    metrics: None,
                    pictures: Some(0..3),
                }),
            ),
        ]
    })
}

fn files() -> Vec<Vec<u8>> {
    let Ok(folder) = tempfile::tempdir() else { return Vec::new() };
    let path = folder.path().join("seed");
    let file = |checkpoint: &Checkpoint| {
        checkpoint.write(&path).ok()?;
        std::fs::read(&path).ok()
    };
    originals().iter().filter_map(file).collect()
}

/// A mutation is detected, or the checkpoint is one of those that were written.
fn check_detected(input: &Input) -> Verdict {
    match Checkpoint::read(&input.path) {
        Ok(found) if originals().contains(&found) => Ok(Outcome::Accepted),
        Ok(_) => Err("a mutation was not detected".to_owned()),
        Err(error) => refused(input, &error.to_string()),
    }
}

/// Reads a checkpoint with correct checksums, which is read as it is or refused.
fn check_read(input: &Input) -> Verdict {
    let found = match Checkpoint::read(&input.path) {
        Ok(found) => found,
        Err(error) => return refused(input, &error.to_string()),
    };
    let again = input.folder.join("again.frazil-ckpt");
    found.write(&again).map_err(|error| error.to_string())?;
    let read = Checkpoint::read(&again).map_err(|error| format!("what was written is refused: {error}"))?;
    // Times may be NaN.
    let bits = |checkpoint: &Checkpoint| {
        let Checkpoint { scene_json, step, time_s, seed, sections, outputs } = checkpoint.clone();
        (scene_json, step, time_s.to_bits(), seed, sections, outputs)
    };
    must_equal("a checkpoint", &bits(&found), &bits(&read))?;
    if let Err(error) = frazil_scene::Scene::from_json(&found.scene_json, "again.frazil-ckpt") {
        return refused_scene(&error.to_string());
    }
    Ok(Outcome::Accepted)
}

fn refused_scene(message: &str) -> Verdict {
    crate::target::check_message(message, "again.frazil-ckpt")
}
