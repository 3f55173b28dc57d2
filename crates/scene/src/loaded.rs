//! What a scene's files hold: fonts, meshes and heights.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::mesh_file::read_triangles;
use crate::outline::{NoOutline, Outline};
use crate::terrain::read_ascii_grid;
use crate::triangle_mesh::TriangleMesh;
use crate::validate::Checker;
use crate::{Axis, BodyShape, Collider, Scene, SceneError, Shape};

/// What a file is larger than that is no mesh, font or terrain of a scene.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Longest text, in characters.
const MAX_LETTERS: usize = 100;

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

impl Scene {
    /// Reads what blocks and colliders name. Paths in the scene are relative to `folder`, and absolute from then on.
    pub(crate) fn load_files(&mut self, folder: Option<&Path>, missing: Missing) -> Result<(), SceneError> {
        let check = Checker { source: &self.source };
        let refuse = |key: &str, found: String, expected: &str| -> SceneError {
            SceneError::Value {
                at: check.source.locate(key),
                key: key.to_owned(),
                found,
                expected: expected.to_owned(),
            }
        };
        for (idx, block) in self.particles.iter_mut().enumerate() {
            let key = format!("particles.{idx}.shape.{}", block.shape.name());
            match &mut block.shape {
                Shape::Text { text, font, outline, .. } => {
                    let n = text.chars().count();
                    if n > MAX_LETTERS {
                        let expected = format!("at most {MAX_LETTERS}");
                        return Err(refuse(&format!("{key}.text"), format!("{n} letters"), &expected));
                    }
                    let font_key = format!("{key}.font");
                    let bytes = match font {
                        Some(path) => match read(path, folder) {
                            Ok(bytes) => Some(bytes),
                            Err(_) if missing == Missing::Accept => continue,
                            Err(found) => return Err(refuse(&font_key, found, "a TTF or OTF file")),
                        },
                        None => None,
                    };
                    let found = Outline::of_text(text, bytes.as_deref()).map_err(|problem| {
                        let of = font.as_ref().map_or(String::new(), |path| format!("{path}: "));
                        match problem {
                            NoOutline::Font(what) => refuse(&font_key, of + &what, "a TTF or OTF file"),
                            NoOutline::Text(what) => {
                                refuse(&format!("{key}.text"), of + &what, "letters that the font has")
                            }
                        }
                    })?;
                    *outline = Loaded(Some(Arc::new(found)));
                }
                Shape::Mesh { path, mesh, .. } => {
                    let key = format!("{key}.path");
                    let bytes = match read(path, folder) {
                        Ok(bytes) => bytes,
                        Err(_) if missing == Missing::Accept => continue,
                        Err(found) => return Err(refuse(&key, found, "an OBJ, STL or PLY file")),
                    };
                    let found = read_triangles(Path::new(path), &bytes)
                        .and_then(|triangles| TriangleMesh::new(&triangles))
                        .map_err(|problem| {
                            refuse(&key, format!("{path}: {problem}"), "a mesh of a closed surface")
                        })?;
                    *mesh = Loaded(Some(Arc::new(found)));
                }
                _ => {}
            }
        }
        let is_mirrored = self.up_axis != Axis::Y;
        let in_bodies = self.bodies.iter_mut().enumerate().filter_map(|(idx, body)| match &mut body.shape {
            BodyShape::Heightfield { heights_m, file, .. } => {
                Some((format!("bodies.{idx}.shape.heightfield.file"), heights_m, file))
            }
            _ => None,
        });
        let in_colliders =
            self.colliders.iter_mut().enumerate().filter_map(|(idx, collider)| match collider {
                Collider::Heightfield { heights_m, file, .. } => {
                    Some((format!("colliders.{idx}.heightfield.file"), heights_m, file))
                }
                _ => None,
            });
        for (key, heights_m, file) in in_colliders.chain(in_bodies) {
            let Some(path) = file else { continue };
            if !heights_m.is_empty() {
                return Err(refuse(&key, "it beside heights_m".to_owned(), "one of the two"));
            }
            let bytes = read(path, folder).map_err(|found| refuse(&key, found, "an ESRI ASCII grid"))?;
            let grid = read_ascii_grid(&String::from_utf8_lossy(&bytes))
                .and_then(|grid| match grid.values.iter().any(|height| height.is_nan()) {
                    true => Err("points without data".to_owned()),
                    false => Ok(grid),
                })
                .map_err(|problem| refuse(&key, format!("{path}: {problem}"), "an ESRI ASCII grid"))?;
            *heights_m = grid.values.chunks(grid.n_columns).map(<[f64]>::to_vec).collect();
            // Seen from above with the first axis to the right, the second points down a map where y is up.
            if is_mirrored {
                heights_m.reverse();
            }
            *file = None;
        }
        self.load_ground(folder, missing)
    }
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
