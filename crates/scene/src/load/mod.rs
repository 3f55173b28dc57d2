//! Loads a scene from a file, a text or a name: reads the text itself, and the fonts, meshes, terrains and
//! polygons that it names.

mod builtin;
mod dbf;
mod files;
mod ground;
mod gzip;
mod mesh_file;
mod particles;
pub(crate) mod places;
mod ply;
mod polygon_file;
mod scene;
mod stl;
mod triangulate;

pub use builtin::{Builtin, builtin};
pub use places::PointArrays;
