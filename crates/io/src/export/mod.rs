//! Export of frames to the formats of other programs.

mod bgeo;
mod cells;
mod csv;
pub(crate) mod ply;
mod vtk;
mod vtu;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::atomic::{self, Durability};
use crate::error::Result;
use crate::frame::Frame;
use cells::Cells;

pub use cells::Faces;
pub use vtu::write_pvd;

/// File format for the particles of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Legacy VTK, binary polygonal data with one vertex per particle; opens in ParaView and VisIt.
    Vtk,
    /// VTK's XML unstructured grid with inline base64 arrays; opens in ParaView and surface tools. See
    /// [`write_pvd`].
    Vtu,
    /// Stanford PLY, binary little-endian; opens in Blender, MeshLab and CloudCompare.
    Ply,
    /// Houdini's classic binary geometry, version 5, as read and written by partio.
    Bgeo,
    /// Comma separated values with units in the header row.
    Csv,
}

/// Kind of rigid bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// Pieces of slabs.
    Pieces,
    /// Dynamic bodies.
    Dynamic,
}

impl BodyKind {
    /// All kinds, in the order in which recordings have them.
    pub const ALL: [Self; 2] = [Self::Pieces, Self::Dynamic];

    /// Returns the beginning of the names of files: `slabs` with faces, `pieces` with a row or point per
    /// piece; `bodies` for dynamic bodies.
    pub fn stem(self, has_faces: bool) -> &'static str {
        match self {
            Self::Pieces if has_faces => "slabs",
            Self::Pieces => "pieces",
            Self::Dynamic => "bodies",
        }
    }

    /// Returns the name of the kind in the plural.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Pieces => "pieces of slabs",
            Self::Dynamic => "dynamic bodies",
        }
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Vtk, Self::Vtu, Self::Ply, Self::Bgeo, Self::Csv];

    /// Returns the file extension without its dot, which is also the format's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Vtk => "vtk",
            Self::Vtu => "vtu",
            Self::Ply => "ply",
            Self::Bgeo => "bgeo",
            Self::Csv => "csv",
        }
    }

    /// Returns the file name for frame `index`: `particles_000012.vtk`. Names sort naturally up to a million
    /// frames.
    pub fn file_name(self, index: usize) -> String {
        format!("particles_{index:06}.{}", self.extension())
    }

    /// Returns the name of the file of rigid bodies of a kind for frame `index`. See [`export_bodies`].
    pub fn bodies_file_name(self, kind: BodyKind, index: usize) -> String {
        format!("{}_{index:06}.{}", kind.stem(self.holds_faces()), self.extension())
    }

    /// Returns true if the format stores faces of rigid bodies rather than a point for each.
    pub fn holds_faces(self) -> bool {
        matches!(self, Self::Vtk | Self::Vtu)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension())
    }
}

/// Error for an unknown format name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {found:?}: expected vtk, vtu, ply, bgeo or csv")]
pub struct UnknownFormat {
    /// The name given.
    pub found: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    /// Parses a name as given by [`Format::extension`].
    fn from_str(name: &str) -> std::result::Result<Self, UnknownFormat> {
        let found = || UnknownFormat { found: name.to_owned() };
        Self::ALL.into_iter().find(|format| format.extension() == name).ok_or_else(found)
    }
}

/// Writes a frame to `path`. The file appears complete or not at all.
///
/// Positions come first if the format has no dedicated place for them; the other columns keep their names and
/// order.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), naming the path;
/// [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the frame has more particles, or larger
/// integers, than the format supports.
pub fn export(frame: &Frame, format: Format, path: &Path) -> Result<()> {
    write(frame, "particles", None, format, path)
}

/// Writes rigid bodies to `path`, like [`export`] does particles: their faces with the columns of `bodies`
/// for each face if [`Format::holds_faces`], else a row or point per body.
///
/// # Errors
/// Like [`export`].
///
/// # Panics
/// If a face refers to a body that `bodies` does not have, or `body` and `ends` differ in length.
pub fn export_bodies(
    kind: BodyKind,
    bodies: &Frame,
    faces: &Faces,
    format: Format,
    path: &Path,
) -> Result<()> {
    assert_eq!(faces.body.len(), faces.ends.len(), "each face is of a body");
    write(bodies, kind.noun(), Some(faces), format, path)
}

/// Writes the frame whose elements are called `of`, with faces if there are any and the format holds them.
fn write(frame: &Frame, of: &'static str, faces: Option<&Faces>, format: Format, path: &Path) -> Result<()> {
    let cells = || match faces {
        Some(faces) => Cells::faces(frame, of, faces),
        None => Cells::points(frame, of),
    };
    let unrepresentable = |problem| crate::Error::Unrepresentable {
        path: PathBuf::from(path),
        format: format.extension(),
        problem,
    };
    match format {
        Format::Vtk => {
            let cells = cells();
            vtk::limit(&cells).map_err(unrepresentable)?;
            atomic::write(path, Durability::Process, |out| vtk::write(&cells, out))
        }
        Format::Vtu => {
            let cells = cells();
            atomic::write(path, Durability::Process, |out| vtu::write(&cells, out))
        }
        Format::Ply => atomic::write(path, Durability::Process, |out| ply::write(frame, of, out)),
        Format::Bgeo => {
            bgeo::limit(frame).map_err(unrepresentable)?;
            atomic::write(path, Durability::Process, |out| bgeo::write(frame, out))
        }
        Format::Csv => atomic::write(path, Durability::Process, |out| csv::write(frame, out)),
    }
}
