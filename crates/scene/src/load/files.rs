//! Loads the files of a scene: fonts, meshes and height fields.

use std::path::Path;
use std::sync::Arc;

use crate::check::Checker;
use crate::load::mesh_file::read_triangles;
use crate::load::particles::read_particles;
use crate::load::places::Places;
use crate::loaded::{Loaded, Missing, read};
use crate::shapes::outline::{NoOutline, Outline};
use crate::shapes::triangle_mesh::TriangleMesh;
use crate::terrain::read_ascii_grid;
use crate::{Axis, BodyShape, Scene, SceneError, Shape};

/// Maximum length of a text in characters.
const MAX_LETTERS: usize = 100;

/// First bytes of a PNG file.
const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Scene {
    /// Reads the files that blocks and bodies name. Paths in the scene are relative to the folder of
    /// `places`, and become absolute.
    pub(crate) fn load_files(
        &mut self,
        Places { folder, missing, points: in_memory }: Places<'_>,
    ) -> Result<(), SceneError> {
        let check = Checker::new(&self.source);
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
                    *outline = Loaded::new(Arc::new(found));
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
                    *mesh = Loaded::new(Arc::new(found));
                }
                Shape::Points { path, points, .. } => {
                    let key = format!("{key}.path");
                    if let Some(cloud) = in_memory.get(path.as_str()) {
                        *points = Loaded::new(cloud.clone());
                        continue;
                    }
                    let bytes = match read(path, folder) {
                        Ok(bytes) => bytes,
                        Err(_) if missing == Missing::Accept => continue,
                        Err(found) => return Err(refuse(&key, found, "a PLY, VTU, PVTU, BGEO or CSV file")),
                    };
                    let found = read_particles(Path::new(path), &bytes).map_err(|problem| {
                        refuse(&key, format!("{path}: {problem}"), "a file of particles")
                    })?;
                    *points = Loaded::new(Arc::new(found));
                }
                _ => {}
            }
        }
        let is_mirrored = self.up_axis != Axis::Y;
        let of_bodies = self.bodies.iter_mut().enumerate().filter_map(|(idx, body)| match &mut body.shape {
            BodyShape::Heightfield { heights_m, file, .. } => {
                Some((format!("bodies.{idx}.shape.heightfield.file"), heights_m, file))
            }
            _ => None,
        });
        for (key, heights_m, file) in of_bodies {
            let Some(path) = file else { continue };
            if !heights_m.is_empty() {
                return Err(refuse(&key, "it together with heights_m".to_owned(), "one of the two"));
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
        if let Some(path) = &mut self.render.environment {
            let key = "render.environment";
            match read(path, folder) {
                Ok(bytes) if bytes.starts_with(PNG_SIGNATURE) => {}
                Ok(_) => {
                    return Err(refuse(key, format!("{path}: another kind of file"), "a PNG file"));
                }
                Err(_) if missing == Missing::Accept => {}
                Err(found) => return Err(refuse(key, found, "a PNG file")),
            }
        }
        self.load_ground(folder, missing)
    }
}
