//! The readers of frazil, each with the requirements on it.

mod checkpoint;
mod meshes;
mod polygons;
mod recording;
mod scene;
mod tables;
mod terrain;

use crate::target::Target;

/// Returns all targets; names are unique.
pub fn all() -> Vec<Target> {
    [
        scene::TARGETS,
        checkpoint::TARGETS,
        recording::TARGETS,
        tables::TARGETS,
        terrain::TARGETS,
        polygons::TARGETS,
        meshes::TARGETS,
    ]
    .concat()
}

/// Returns the target of that name.
pub fn find(name: &str) -> Option<Target> {
    all().into_iter().find(|target| target.name == name)
}
