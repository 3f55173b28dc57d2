//! Places from which the files of a scene are loaded.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::loaded::Missing;
use crate::shapes::point_cloud::PointCloud;

/// Particles in memory, by the names that scenes have as paths of `shape.points`.
pub type PointArrays = BTreeMap<String, Arc<PointCloud>>;

/// Places from which a scene's files are loaded.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    /// Folder of relative paths, if not the working directory.
    pub folder: Option<&'a Path>,
    pub missing: Missing,
    /// Particles that are not read from files.
    pub points: &'a PointArrays,
}
