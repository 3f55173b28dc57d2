//! Identity of a simulation: the values of a scene that determine the results, by which checkpoints and
//! profiles are matched.

use super::changes::Changes;
use crate::failure::Failure;
use frazil_io::{Checkpoint, StateHasher};
use frazil_scene::{Output, Render, Scene};
use std::path::Path;

/// Reads a checkpoint; one of another simulation than `scene`, with the changes made before its step, is an
/// error. Returns it with the scene at its step.
///
/// # Errors
/// The file cannot be read, or is of another simulation, with the first key that differs.
pub fn read_checkpoint(
    path: &Path,
    scene: &Scene,
    changes: &Changes,
) -> Result<(Checkpoint, Scene), Failure> {
    let checkpoint = Checkpoint::read(path).map_err(Failure::input)?;
    let scene = changes.scene_at(scene, checkpoint.step)?;
    let saved = Scene::from_json(&checkpoint.scene_json, &path.display().to_string())?;
    let (mut found, mut expected) = (deciding_values(&saved)?, deciding_values(&scene)?);
    let capacity_keys = scene.solver_scene().map_or(&[][..], |solver| solver.capacity_keys());
    for key in capacity_keys {
        remove(&mut found, key);
        remove(&mut expected, key);
    }
    if let Some(key) = first_difference("", &found, &expected) {
        let path = path.display();
        return Err(Failure::input(format!(
            "{path}: a checkpoint of another simulation: {key} differs from the scene's; give the scene, \
             --set and --at of the run that wrote it"
        )));
    }
    Ok((checkpoint, scene))
}

/// Returns the values of a scene that determine the results.
fn deciding_values(scene: &Scene) -> Result<serde_json::Value, Failure> {
    let mut scene = scene.clone();
    (scene.render, scene.output) = (Render::default(), Output::default());
    scene.description.clear();
    scene.time.duration_s = 1.0;
    scene.solver.steps_per_submission = 1;
    serde_json::to_value(scene).map_err(Failure::other)
}

/// Returns a hash of the values of a scene that determine the results.
///
/// # Errors
/// The scene cannot be written as JSON.
pub fn scene_hash(scene: &Scene) -> Result<String, Failure> {
    let json = deciding_values(scene)?.to_string();
    Ok(StateHasher::new().bytes("scene", "json", json.len(), json.as_bytes()).finish())
}

/// Removes a value, given by a key with dots.
fn remove(values: &mut serde_json::Value, key: &str) {
    let pointer = |path: &str| format!("/{}", path.replace('.', "/"));
    let (table, name) = key.rsplit_once('.').map_or(("", key), |(table, name)| (table, name));
    let table = if table.is_empty() { Some(values) } else { values.pointer_mut(&pointer(table)) };
    if let Some(serde_json::Value::Object(table)) = table {
        table.remove(name);
    }
}

/// Returns the path of the first value in which two trees differ.
fn first_difference(path: &str, a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
    use serde_json::Value::{Array, Object};
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Object(a), Object(b)) => {
            let null = serde_json::Value::Null;
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.into_iter().find_map(|key| {
                first_difference(&join(key), a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null))
            })
        }
        (Array(a), Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|i| first_difference(&join(&i.to_string()), &a[i], &b[i]))
        }
        _ => (a != b).then(|| path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_removed_by_its_key() {
        let mut values = serde_json::json!({ "a": 1, "b": { "c": 2, "d": 3 } });
        for key in ["b.c", "a", "b.missing", "missing.c"] {
            remove(&mut values, key);
        }
        assert_eq!(values, serde_json::json!({ "b": { "d": 3 } }));
    }

    #[test]
    fn a_difference_is_named_by_its_path() {
        let scene = |changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
            deciding_values(&frazil_scene::builtin()[0].load(&changes).unwrap()).unwrap()
        };
        let plain = scene(&[]);
        for same in ["time.duration_s=9.0", "render.colour_by=\"density\"", "output.render_every=3"] {
            assert_eq!(first_difference("", &plain, &scene(&[same])), None, "{same}");
        }
        for (change, key) in [
            ("time.dt_s=0.003", "time.dt_s"),
            ("particles.0.shape.box.max_m.1=0.2", "particles.0.shape.box.max_m.1"),
            ("gravity_m_s2=[0.0, -1.0, 0.0]", "gravity_m_s2"),
        ] {
            assert_eq!(first_difference("", &plain, &scene(&[change])).as_deref(), Some(key));
        }
    }
}
