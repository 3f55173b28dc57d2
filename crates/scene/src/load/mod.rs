//! Loads a scene from a file, a text or a name: reads the text itself, and the fonts, meshes, terrains and
//! polygons that it names.

mod builtin;
mod files;
mod ground;
mod mesh_file;
mod particle_file;
mod polygon_file;
mod scene;

pub use builtin::{Builtin, builtin};
