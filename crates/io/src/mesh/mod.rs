//! Export of surfaces to the formats of other programs.

mod obj;
mod ply;
mod triangles;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::atomic::{self, Durability};
use crate::error::{Error, Result};
use crate::export::BodyKind;

pub use triangles::Mesh;

/// File format for triangles with normals at their vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MeshFormat {
    /// Wavefront OBJ, text with `v`, `vn` and `f v//vn`; opens in nearly all programs.
    Obj,
    /// Stanford PLY, binary little-endian, with `x y z nx ny nz` and lists of `vertex_indices`; opens in
    /// Blender, MeshLab and CloudCompare.
    Ply,
}

impl MeshFormat {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Obj, Self::Ply];

    /// Returns the file extension without its dot, which is also the format's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Obj => "obj",
            Self::Ply => "ply",
        }
    }

    /// Returns the file name for frame `index`: `surface_000012.obj`. Names sort naturally up to a million
    /// frames.
    pub fn file_name(self, index: usize) -> String {
        format!("surface_{index:06}.{}", self.extension())
    }

    /// Returns the name of the file of rigid bodies of a kind for frame `index`: `slabs_000012.obj`.
    pub fn bodies_file_name(self, kind: BodyKind, index: usize) -> String {
        format!("{}_{index:06}.{}", kind.stem(true), self.extension())
    }
}

impl fmt::Display for MeshFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension())
    }
}

/// Error for an unknown mesh format name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown mesh format {found:?}: expected obj or ply")]
pub struct UnknownMeshFormat {
    /// The name given.
    pub found: String,
}

impl FromStr for MeshFormat {
    type Err = UnknownMeshFormat;

    /// Parses a name as given by [`MeshFormat::extension`].
    fn from_str(name: &str) -> std::result::Result<Self, UnknownMeshFormat> {
        let found = || UnknownMeshFormat { found: name.to_owned() };
        Self::ALL.into_iter().find(|format| format.extension() == name).ok_or_else(found)
    }
}

/// Writes a surface to `path`. The file appears complete or not at all.
///
/// # Errors
/// [`Error::Io`], naming the path; [`Error::Unrepresentable`] if the numbers of vertices and normals differ,
/// if a triangle refers to a vertex that does not exist, or if a number is not finite.
pub fn export_mesh(mesh: &Mesh<'_>, format: MeshFormat, path: &Path) -> Result<()> {
    if let Some(problem) = mesh.problem() {
        return Err(Error::Unrepresentable {
            path: PathBuf::from(path),
            format: format.extension(),
            problem,
        });
    }
    atomic::write(path, Durability::Process, |out| match format {
        MeshFormat::Obj => obj::write(mesh, out),
        MeshFormat::Ply => ply::write(mesh, out),
    })
}
