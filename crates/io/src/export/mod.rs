//! Frames in the formats of other programs.

mod bgeo;
mod csv;
mod ply;
mod vtk;
mod vtu;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::atomic::{self, Durability};
use crate::error::Result;
use crate::frame::Frame;

pub use vtu::write_pvd;

/// A file format for the particles of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Legacy VTK, binary polygonal data with one vertex a particle; opens in ParaView and VisIt.
    Vtk,
    /// VTK's XML unstructured grid with inline base64 arrays; opens in ParaView, and surface tools read it. See [`write_pvd`].
    Vtu,
    /// Stanford PLY, binary little-endian; opens in Blender, MeshLab and CloudCompare.
    Ply,
    /// Houdini's classic binary geometry, version 5, as partio reads and writes it.
    Bgeo,
    /// Comma separated values with units in the header row.
    Csv,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Vtk, Self::Vtu, Self::Ply, Self::Bgeo, Self::Csv];

    /// The file extension without its dot, which is also the format's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Vtk => "vtk",
            Self::Vtu => "vtu",
            Self::Ply => "ply",
            Self::Bgeo => "bgeo",
            Self::Csv => "csv",
        }
    }

    /// The name of the file for frame `index`: `particles_000012.vtk`. Names sort naturally up to a million frames.
    pub fn file_name(self, index: usize) -> String {
        format!("particles_{index:06}.{}", self.extension())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension())
    }
}

/// A format's name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {found:?}: expected vtk, vtu, ply, bgeo or csv")]
pub struct UnknownFormat {
    /// The name given.
    pub found: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    /// Reads a name as [`Format::extension`] gives it.
    fn from_str(name: &str) -> std::result::Result<Self, UnknownFormat> {
        let found = || UnknownFormat { found: name.to_owned() };
        Self::ALL.into_iter().find(|format| format.extension() == name).ok_or_else(found)
    }
}

/// Writes a frame to `path`. The file appears whole or not at all.
///
/// Positions come first where the format has no place of its own for them; the other columns keep their names and order.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io), naming the path; [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the frame has more
/// particles, or greater integers, than the format can say.
pub fn export(frame: &Frame, format: Format, path: &Path) -> Result<()> {
    let limit = match format {
        Format::Vtk => vtk::limit(frame),
        Format::Bgeo => bgeo::limit(frame),
        Format::Vtu | Format::Ply | Format::Csv => Ok(()),
    };
    limit.map_err(|problem| crate::Error::Unrepresentable {
        path: PathBuf::from(path),
        format: format.extension(),
        problem,
    })?;
    atomic::write(path, Durability::Process, |out| match format {
        Format::Vtk => vtk::write(frame, out),
        Format::Vtu => vtu::write(frame, out),
        Format::Ply => ply::write(frame, out),
        Format::Bgeo => bgeo::write(frame, out),
        Format::Csv => csv::write(frame, out),
    })
}

/// The columns that are not `position`.
fn attributes(frame: &Frame) -> impl Iterator<Item = &crate::Column> + Clone {
    frame.columns().iter().filter(|column| column.name != "position")
}
