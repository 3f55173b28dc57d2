//! Recordings with the scenes that they are of.

use crate::failure::Failure;
use frazil_io::{Recording, Tail};
use frazil_scene::Scene;
use std::path::Path;

/// Opens a recording with at least one frame, and returns its scene with overrides `key=value`.
///
/// # Errors
/// It cannot be read or has no frame; an override is invalid.
pub fn open(path: &Path, overrides: &[String]) -> Result<(Recording, Scene), Failure> {
    let recording = Recording::open(path).map_err(Failure::input)?;
    if recording.is_empty() {
        let why = match recording.tail() {
            Tail::Damaged(damage) => format!(": {damage}"),
            _ => String::new(),
        };
        return Err(Failure::input(format!("{}: the recording holds no frame{why}", path.display())));
    }
    let origin = path.display().to_string();
    let scene = Scene::from_json_with(&recording.meta().scene_json, &origin, overrides)?;
    Ok((recording, scene))
}
