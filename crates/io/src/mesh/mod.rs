//! Surfaces in the formats of other programs.

mod obj;
mod ply;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::atomic::{self, Durability};
use crate::error::{Error, Result};

/// A file format for triangles with normals at their vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MeshFormat {
    /// Wavefront OBJ, text with `v`, `vn` and `f v//vn`; opens nearly everywhere.
    Obj,
    /// Stanford PLY, binary little-endian, with `x y z nx ny nz` and lists of `vertex_indices`; opens in Blender, MeshLab and CloudCompare.
    Ply,
}

impl MeshFormat {
    /// Every format.
    pub const ALL: [Self; 2] = [Self::Obj, Self::Ply];

    /// The file extension without its dot, which is also the format's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Obj => "obj",
            Self::Ply => "ply",
        }
    }

    /// The name of the file for frame `index`: `surface_000012.obj`. Names sort naturally up to a million frames.
    pub fn file_name(self, index: usize) -> String {
        format!("surface_{index:06}.{}", self.extension())
    }

    /// The name of the file of slabs for frame `index`: `slabs_000012.obj`.
    pub fn slabs_file_name(self, index: usize) -> String {
        format!("slabs_{index:06}.{}", self.extension())
    }
}

impl fmt::Display for MeshFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension())
    }
}

/// A mesh format's name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown mesh format {found:?}: expected obj or ply")]
pub struct UnknownMeshFormat {
    /// The name given.
    pub found: String,
}

impl FromStr for MeshFormat {
    type Err = UnknownMeshFormat;

    /// Reads a name as [`MeshFormat::extension`] gives it.
    fn from_str(name: &str) -> std::result::Result<Self, UnknownMeshFormat> {
        let found = || UnknownMeshFormat { found: name.to_owned() };
        Self::ALL.into_iter().find(|format| format.extension() == name).ok_or_else(found)
    }
}

/// Triangles, with a normal at each vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mesh<'a> {
    /// Places of vertices, in m.
    pub position: &'a [[f32; 3]],
    /// Unit normals of vertices, as many as positions.
    pub normal: &'a [[f32; 3]],
    /// The vertices of each triangle, counted from 0, counter-clockwise seen from outside.
    pub triangles: &'a [[u32; 3]],
}

impl Mesh<'_> {
    /// What no format can say, or no program could read.
    fn problem(&self) -> Option<String> {
        let n = self.position.len();
        if self.normal.len() != n {
            return Some(format!("{} normals, expected one for each of {n} vertices", self.normal.len()));
        }
        if u32::try_from(n).is_err() || u32::try_from(self.triangles.len()).is_err() {
            let most = u32::MAX;
            return Some(format!(
                "{n} vertices and {} triangles, expected at most {most}",
                self.triangles.len()
            ));
        }
        let is_odd = |vectors: &[[f32; 3]]| vectors.iter().position(|v| v.iter().any(|x| !x.is_finite()));
        for (name, vectors) in [("position", self.position), ("normal", self.normal)] {
            if let Some(i) = is_odd(vectors) {
                return Some(format!("{name} {:?} of vertex {i}, expected finite numbers", vectors[i]));
            }
        }
        let beyond = |triangle: &[u32; 3]| triangle.iter().any(|v| *v as usize >= n);
        let i = self.triangles.iter().position(beyond)?;
        Some(format!("triangle {i} has the vertices {:?}, expected numbers below {n}", self.triangles[i]))
    }
}

/// Writes a surface to `path`. The file appears whole or not at all.
///
/// # Errors
/// [`Error::Io`], naming the path; [`Error::Unrepresentable`] if vertices and normals are not as many, if a triangle names a vertex that
/// there is not, or if a number is not finite.
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
