//! Parameters that the window changes while a simulation runs: their state, without the panel that shows
//! them.

use crate::say;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_scene::{LiveParameter, LiveValue, Scene};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Part of a name by which written scenes differ from the one they come from.
const EDITED: &str = ".edited";

/// Live parameters of a simulation.
pub struct Parameters {
    /// Parameters with their present values; ranges are those of the scene at the start.
    pub list: Vec<LiveParameter>,
    /// Result of the last change or of writing the scene: a message, and true if it is an error.
    pub message: Option<(String, bool)>,
    original: Vec<LiveValue>,
    /// Path of the scene file, or the name that a file would have.
    path: PathBuf,
    /// Key whose value is being dragged, with its value before.
    dragged: Option<(String, LiveValue)>,
    /// Edits that can be undone, the last one last, and those that were undone.
    done: Vec<Vec<ValueChange>>,
    undone: Vec<Vec<ValueChange>>,
}

/// Change of a value by an edit.
#[derive(Clone, Debug, PartialEq)]
struct ValueChange {
    key: String,
    from: LiveValue,
    to: LiveValue,
}

/// Change of parameters that the panel requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Sets a value; while it is dragged, the change is not final.
    Set { key: String, value: LiveValue, is_final: bool },
    /// Sets the value of the scene file.
    Reset(String),
    /// Sets all values of the scene file.
    ResetAll,
    /// Takes back the last edit.
    Undo,
    /// Repeats the edit that was taken back last.
    Redo,
    /// Writes a scene file with the present values.
    WriteScene,
}

impl Parameters {
    /// Makes the parameters of a scene, which `source` names by path or as a built-in one.
    pub fn new(scene: &Scene, source: &str) -> Self {
        let list = scene.live_parameters();
        let path = Path::new(source);
        let path =
            if path.exists() { path.to_owned() } else { PathBuf::from(format!("{}.toml", scene.name)) };
        let original = list.iter().map(|parameter| parameter.value).collect();
        Self { list, message: None, original, path, dragged: None, done: Vec::new(), undone: Vec::new() }
    }

    /// Returns true if there is an edit to undo, and if there is one to redo.
    pub fn can_undo_redo(&self) -> [bool; 2] {
        [!self.done.is_empty(), !self.undone.is_empty()]
    }

    /// Returns true if a parameter has another value than in the scene file.
    pub fn is_changed(&self, place: usize) -> bool {
        self.list[place].value != self.original[place]
    }

    /// Applies an edit between two steps. An invalid value becomes the message, and changes nothing.
    pub fn apply(&mut self, simulation: &mut Simulation, edit: Edit) {
        let result = match edit {
            Edit::Set { key, value, is_final } => self.set(simulation, &key, value, is_final),
            Edit::Reset(key) => match self.list.iter().position(|parameter| parameter.key == key) {
                Some(place) => self.set(simulation, &key, self.original[place], true),
                None => Ok(None),
            },
            Edit::ResetAll => self.reset_all(simulation),
            Edit::Undo => self.undo(simulation),
            Edit::Redo => self.redo(simulation),
            Edit::WriteScene => write_scene(simulation, &self.path)
                .map(|path| Some(format!("wrote {}", path.display())))
                .inspect(|message| message.iter().for_each(say::note)),
        };
        self.message = match result {
            Ok(message) => message.map(|text| (text, false)),
            Err(failure) => Some((failure.to_string(), true)),
        };
    }

    /// Shows an error beside the parameters.
    pub fn show_error(&mut self, failure: &Failure) {
        self.message = Some((failure.to_string(), true));
    }

    fn set(
        &mut self,
        simulation: &mut Simulation,
        key: &str,
        value: LiveValue,
        is_final: bool,
    ) -> Result<Option<String>, Failure> {
        let present = |list: &[LiveParameter]| {
            list.iter().find(|parameter| parameter.key == key).map(|parameter| parameter.value)
        };
        let before = present(&self.list);
        let changed = simulation.change(&[format!("{key}={value}")]);
        self.refresh(&simulation.scene);
        let begin = match self.dragged.take() {
            Some((dragged, begin)) if dragged == key => Some(begin),
            _ => before,
        };
        // The end of a drag is logged even if its last value is refused.
        if let (Some(begin), Some(now)) = (begin, present(&self.list)) {
            if !is_final {
                self.dragged = Some((key.to_owned(), begin));
            } else if begin != now {
                let (step, time_s) = (simulation.step(), simulation.time_s());
                say::note(format_args!("step {step} ({time_s:.6} s): {key} changed from {begin} to {now}"));
                self.remember(vec![ValueChange { key: key.to_owned(), from: begin, to: now }]);
            }
        }
        changed.map(|_| None)
    }

    fn reset_all(&mut self, simulation: &mut Simulation) -> Result<Option<String>, Failure> {
        let changed = (0..self.list.len()).filter(|place| self.is_changed(*place));
        let edit: Vec<ValueChange> = changed
            .map(|place| {
                let parameter = &self.list[place];
                ValueChange { key: parameter.key.clone(), from: parameter.value, to: self.original[place] }
            })
            .collect();
        self.put(simulation, edit.iter().map(|change| (&*change.key, change.to)))?;
        self.remember(edit);
        Ok(None)
    }

    fn undo(&mut self, simulation: &mut Simulation) -> Result<Option<String>, Failure> {
        let Some(edit) = self.done.pop() else { return Ok(Some("nothing to undo".to_owned())) };
        self.put(simulation, edit.iter().map(|change| (&*change.key, change.from)))?;
        self.undone.push(edit);
        Ok(None)
    }

    fn redo(&mut self, simulation: &mut Simulation) -> Result<Option<String>, Failure> {
        let Some(edit) = self.undone.pop() else { return Ok(Some("nothing to redo".to_owned())) };
        self.put(simulation, edit.iter().map(|change| (&*change.key, change.to)))?;
        self.done.push(edit);
        Ok(None)
    }

    /// Appends an edit to those that can be undone; what was undone before cannot be redone any more.
    fn remember(&mut self, edit: Vec<ValueChange>) {
        if !edit.is_empty() {
            self.done.push(edit);
            self.undone.clear();
        }
    }

    /// Sets several values at once, and logs the changes.
    fn put<'a>(
        &mut self,
        simulation: &mut Simulation,
        values: impl Iterator<Item = (&'a str, LiveValue)>,
    ) -> Result<(), Failure> {
        let changes: Vec<String> = values.map(|(key, value)| format!("{key}={value}")).collect();
        for change in simulation.change(&changes)? {
            say::note(change);
        }
        self.refresh(&simulation.scene);
        Ok(())
    }

    /// Reads the present values from the scene.
    pub fn refresh(&mut self, scene: &Scene) {
        let present = scene.live_parameters();
        for parameter in &mut self.list {
            if let Some(found) = present.iter().find(|found| found.key == parameter.key) {
                parameter.value = found.value;
            }
        }
    }
}

/// Writes the scene with its present parameters beside the original file, under a name that no file has, and
/// returns its path.
fn write_scene(simulation: &Simulation, original: &Path) -> Result<PathBuf, Failure> {
    let body = simulation.scene.to_toml().map_err(Failure::other)?;
    let mut text = "# Scene of a window, with the parameters as they were changed while it ran.\n".to_owned();
    for change in simulation.changes() {
        text += &format!("# {change}\n");
    }
    text += &body;
    let stem = original.file_stem().map_or_else(|| "scene".into(), |stem| stem.to_string_lossy());
    let stem = stem.rsplit_once(EDITED).map_or(&*stem, |(stem, _)| stem);
    for n in 1_u32.. {
        let number = if n == 1 { String::new() } else { format!("-{n}") };
        let path = original.with_file_name(format!("{stem}{EDITED}{number}.toml"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())
                    .map_err(|cause| Failure::other(format!("cannot write {}: {cause}", path.display())))?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) => {
                return Err(Failure::output(&cause, format!("cannot create {}: {cause}", path.display())));
            }
        }
    }
    Err(Failure::other("no free name for the scene"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_engine::snapshot::state_hash;
    use frazil_testkit::own_device;

    fn simulation() -> Simulation {
        let overrides = ["fluid.particle_spacing_m=0.0243333333".to_owned()];
        Simulation::new(&own_device(), Scene::find("dam_break", &overrides).unwrap()).unwrap()
    }

    fn advance(simulation: &mut Simulation, steps: u64) {
        let device = simulation.device.clone();
        let mut recorder = device.recorder().unwrap();
        simulation.record_steps(&mut recorder, steps);
        device.submit(recorder).unwrap();
    }

    fn set(key: &str, value: LiveValue, is_final: bool) -> Edit {
        Edit::Set { key: key.to_owned(), value, is_final }
    }

    #[test]
    fn invalid_values_are_messages_and_valid_ones_change_the_steps_from_then_on() {
        const FRICTION: &str = "fluid.wall_friction";
        let [mut simulation, mut alone] = [simulation(), simulation()];
        let mut parameters = Parameters::new(&simulation.scene, "dam_break");
        let before = parameters.list.clone();
        advance(&mut simulation, 2);
        for (key, value) in
            [(FRICTION, -1.0), (FRICTION, f64::NAN), ("fluid.particle_spacing_m", 0.1), ("x", 1.0)]
        {
            parameters.apply(&mut simulation, set(key, LiveValue::Number(value), true));
            let (message, is_error) = parameters.message.clone().unwrap();
            assert!(is_error && message.contains(key), "{message}");
            assert_eq!(parameters.list, before);
        }
        advance(&mut simulation, 2);
        advance(&mut alone, 4);
        assert_eq!(state_hash(&simulation).unwrap(), state_hash(&alone).unwrap());
        assert!(simulation.changes().is_empty());

        let gravity = LiveValue::Vector([2.0, -4.0, 0.5]);
        parameters.apply(&mut simulation, set("gravity_m_s2", gravity, true));
        assert_eq!(parameters.message, None);
        advance(&mut simulation, 2);
        // Values of a drag within a step are one change.
        for value in [0.5, 0.25] {
            parameters.apply(&mut simulation, set(FRICTION, LiveValue::Number(value), value == 0.25));
        }
        let changes: Vec<_> = simulation.changes().iter().map(|change| (change.step, &*change.key)).collect();
        assert_eq!(changes, [(4, "gravity_m_s2"), (6, FRICTION)]);
        assert_eq!(simulation.scene.gravity_m_s2(), [2.0, -4.0, 0.5]);
        assert_eq!(simulation.initial_scene(), &alone.scene);
        advance(&mut simulation, 1);
        advance(&mut alone, 3);
        assert_ne!(state_hash(&simulation).unwrap(), state_hash(&alone).unwrap());

        parameters.apply(&mut simulation, Edit::ResetAll);
        assert!((0..parameters.list.len()).all(|place| !parameters.is_changed(place)));
        assert_eq!(simulation.scene.gravity_m_s2(), alone.scene.gravity_m_s2());
    }

    #[test]
    fn edits_are_undone_and_redone_in_order() {
        const FRICTION: &str = "fluid.wall_friction";
        let mut simulation = simulation();
        let mut parameters = Parameters::new(&simulation.scene, "dam_break");
        let start = parameters.list.clone();
        let friction = |simulation: &Simulation| {
            let list = simulation.scene.live_parameters();
            list.iter().find(|parameter| parameter.key == FRICTION).unwrap().value
        };
        let first = friction(&simulation);
        // A drag is one edit.
        for (value, is_final) in [(0.3, false), (0.4, false), (0.5, true), (0.6, true)] {
            parameters.apply(&mut simulation, set(FRICTION, LiveValue::Number(value), is_final));
        }
        let gravity = LiveValue::Vector([1.0, -2.0, 0.0]);
        parameters.apply(&mut simulation, set("gravity_m_s2", gravity, true));
        parameters.apply(&mut simulation, Edit::ResetAll);
        assert_eq!(parameters.list, start);
        parameters.apply(&mut simulation, Edit::Undo);
        assert_eq!(simulation.scene.gravity_m_s2(), [1.0, -2.0, 0.0]);
        assert_eq!(friction(&simulation), LiveValue::Number(0.6));
        parameters.apply(&mut simulation, Edit::Undo);
        parameters.apply(&mut simulation, Edit::Undo);
        assert_eq!(friction(&simulation), LiveValue::Number(0.5));
        parameters.apply(&mut simulation, Edit::Undo);
        assert_eq!(friction(&simulation), first);
        assert_eq!(parameters.can_undo_redo(), [false, true]);
        parameters.apply(&mut simulation, Edit::Redo);
        assert_eq!(friction(&simulation), LiveValue::Number(0.5));
        // A refused value is no edit; a new one ends the chain of what can be redone.
        parameters.apply(&mut simulation, set(FRICTION, LiveValue::Number(-1.0), true));
        assert_eq!(parameters.can_undo_redo(), [true, true]);
        parameters.apply(&mut simulation, set(FRICTION, LiveValue::Number(0.7), true));
        assert_eq!(parameters.can_undo_redo(), [true, false]);
        assert!((0..start.len()).all(|place| start[place].key == FRICTION || !parameters.is_changed(place)));
    }

    #[test]
    fn written_scenes_have_the_parameters_and_never_replace_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dam.toml");
        let mut simulation = simulation();
        std::fs::write(&path, simulation.scene.to_toml().unwrap()).unwrap();
        let mut parameters = Parameters::new(&simulation.scene, path.to_str().unwrap());
        let viscosity = "fluid.dynamic_viscosity_pa_s";
        parameters.apply(&mut simulation, set(viscosity, LiveValue::Number(0.1 + 0.2), true));
        for name in ["dam.edited.toml", "dam.edited-2.toml", "dam.edited-3.toml"] {
            parameters.apply(&mut simulation, Edit::WriteScene);
            let (message, is_error) = parameters.message.clone().unwrap();
            assert!(!is_error && message.ends_with(name), "{message}");
            let written = Scene::load(folder.path().join(name), &[]).unwrap();
            assert_eq!(written, simulation.scene);
        }
        // The edited scene of an edited scene has its name from the first.
        let mut parameters =
            Parameters::new(&simulation.scene, folder.path().join("dam.edited.toml").to_str().unwrap());
        parameters.apply(&mut simulation, Edit::WriteScene);
        assert!(folder.path().join("dam.edited-4.toml").exists());
    }
}
