//! Loads and validates a scene from a file, a text or a name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::SceneError;
use crate::format::error::hint;
use crate::format::reader;
use crate::format::removed::refuse_removed;
use crate::format::source::Source;
use crate::format::text::not_utf8;
use crate::format::tree::{Node, Value};
use crate::load::builtin::builtin;
use crate::load::places::{Places, PointArrays};
use crate::loaded::Missing;
use crate::scene::{Scene, SolverKind};
use crate::section::{SectionType, Sections};
use crate::solver::{SolverScene, registry};

/// Maximum size of a scene file: a scene is a page of text, so a larger file is not a scene.
const MAX_FILE_BYTES: u64 = 4 << 20;

impl Scene {
    /// Loads the scene file at `path`, with `overrides` (`table.key=value`, array elements by index from 0)
    /// applied in order before deserialization and validation.
    ///
    /// # Errors
    /// An error in an override, or all errors in the file or in values of the scene.
    pub fn load(path: impl AsRef<Path>, overrides: &[String]) -> Result<Self, SceneError> {
        let path = path.as_ref();
        let text = read_text(path).map_err(|cause| SceneError::Read { path: path.to_owned(), cause })?;
        // Beside a pipe, as of `<(…)` in a shell, are no files: paths are relative to the working directory.
        let folder = path.parent().filter(|_| path.is_file());
        let places = Places { folder, missing: Missing::Refuse, points: &PointArrays::new() };
        Self::parse_in(places, &text, &path.display().to_string(), overrides)
    }

    /// Reads a scene from its text; `origin` names the text in errors. See [`Scene::load`].
    ///
    /// # Errors
    /// An error in an override, or all errors in the text or in values of the scene.
    pub fn parse(text: &str, origin: &str, overrides: &[String]) -> Result<Self, SceneError> {
        Self::parse_with_points(text, origin, overrides, &PointArrays::new())
    }

    /// Reads a scene like [`Scene::parse`], in which `shape.points` may have the names of `points` as paths:
    /// their particles are not read from files. Scenes that are resumed or changed later do without them.
    ///
    /// # Errors
    /// Like [`Scene::parse`].
    pub fn parse_with_points(
        text: &str,
        origin: &str,
        overrides: &[String],
        points: &PointArrays,
    ) -> Result<Self, SceneError> {
        Self::parse_in(Places { folder: None, missing: Missing::Refuse, points }, text, origin, overrides)
    }

    fn parse_in(
        places: Places<'_>,
        text: &str,
        origin: &str,
        overrides: &[String],
    ) -> Result<Self, SceneError> {
        let mut tree = Node::parse(text, origin)?;
        for (turn, argument) in overrides.iter().enumerate() {
            tree.apply_override(turn, argument)?;
        }
        Self::from_tree(tree, origin, places)
    }

    /// Reads a scene from its JSON serialization, as recordings, checkpoints and `run.json` hold it: the same
    /// scene to the bit. `origin` names the text in errors.
    ///
    /// # Errors
    /// The errors in the text, or in values of the scene.
    pub fn from_json(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::from_json_with(text, origin, &[])
    }

    /// Like [`Scene::from_json`], with `overrides` as in [`Scene::load`].
    ///
    /// # Errors
    /// An error in an override, or all errors in the text or in values of the scene.
    pub fn from_json_with(text: &str, origin: &str, overrides: &[String]) -> Result<Self, SceneError> {
        let mut tree = Node::parse_json(text, origin)?;
        for (turn, argument) in overrides.iter().enumerate() {
            tree.apply_override(turn, argument)?;
        }
        let points = &PointArrays::new();
        Self::from_tree(tree, origin, Places { folder: None, missing: Missing::Accept, points })
    }

    pub(crate) fn from_tree(mut tree: Node, origin: &str, places: Places<'_>) -> Result<Self, SceneError> {
        let source = Source::new(origin, tree.places());
        let solver = solver_of(&tree, &source)?;
        refuse_removed(&tree, &source, solver.kind(), &registry::owners_of)?;
        let section_types: Vec<_> = registry::section_types().collect();
        let section_names: Vec<_> = section_types.iter().map(SectionType::name).collect();
        let refuse_stray = |section| registry::stray_section(section, solver, &source);
        let (sections, mut errors) =
            Sections::take(&mut tree, section_types, solver.sections(), &source, refuse_stray);
        let read = reader::read(&mut tree, "", &section_names, &source);
        let mut scene: Self = match read {
            Ok(scene) if errors.is_empty() => scene,
            read => {
                errors.extend(read.err());
                return Err(SceneError::of(errors).expect("an error was found"));
            }
        };
        scene.sections = sections;
        scene.source = source;
        // The range of the file is that of the file's own column.
        let is_overridden = |key| scene.source.is_overridden(key);
        if is_overridden("render.colour_by") && !is_overridden("render.colour_range") {
            scene.render.colour_range = None;
        }
        scene.face_plane();
        scene.load_files(places)?;
        let scale = scene.apply_scale()?;
        scene.validate().map_err(|error| error.at_scale(scale, solver.scaled_keys()))?;
        Ok(scene)
    }

    /// Loads `scene`, which is the path of a scene file or, if there is no such file, the name of a built-in
    /// scene. A folder of that name, such as the results of an earlier run, is not a scene file.
    ///
    /// # Errors
    /// Like [`Scene::load`]; and [`SceneError::NoSuchScene`] for a bare name that is neither.
    pub fn find(scene: &str, overrides: &[String]) -> Result<Self, SceneError> {
        let path = Path::new(scene);
        if (!path.exists() || path.is_dir())
            && let Some(found) = builtin().iter().find(|builtin| builtin.name == scene)
        {
            return found.load(overrides);
        }
        if !path.exists() {
            let bare = path.components().count() == 1 && path.extension().is_none();
            if bare {
                let names: Vec<&str> = builtin().iter().map(|builtin| builtin.name).collect();
                return Err(SceneError::NoSuchScene { name: scene.to_owned(), hint: hint(scene, &names) });
            }
        }
        Self::load(path, overrides)
    }
}

/// Returns the solver of a scene. An unknown kind is refused before keys that only such a solver knows are
/// reported as unknown; a value of another type is refused when the scene is read.
fn solver_of(tree: &Node, source: &Source) -> Result<&'static dyn SolverScene, SceneError> {
    let kind = match tree.entry("solver").and_then(|solver| solver.entry("kind")).map(|kind| &kind.value) {
        Some(Value::String(kind)) => kind,
        _ => SolverKind::DEFAULT.name(),
    };
    registry::find(kind).ok_or_else(|| registry::unknown_kind(kind, source))
}

fn read_text(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "found a directory, expected a TOML file"));
    }
    // The read is bounded, because a device or a pipe may never end.
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let problem = format!("found more than {MAX_FILE_BYTES} bytes, expected a TOML file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    String::from_utf8(bytes).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, not_utf8(error.as_bytes(), error.utf8_error()))
    })
}
