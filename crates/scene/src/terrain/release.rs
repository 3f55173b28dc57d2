//! The `[[dem.releases]]` tables: release areas of avalanches on a slope.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::projection::MapProjection;
use crate::Vec3;
use crate::loaded::Loaded;
use crate::shapes::polygon::Polygon;

/// Release area of an avalanche: an area of the terrain whose snow is filled with grains at the start.
///
/// The snow lies on the terrain and is `thickness_m` thick, measured perpendicular to it. Grains are placed
/// on a close-packed lattice that is expanded to the bulk density; its layers lie along the mean slope of the
/// area, and its offset is random. Areas of the same bulk density that are near each other share a lattice,
/// of one release or of several, so that grains of zones with a common edge do not overlap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Path, relative to the scene file, of a shapefile (`.shp`, with its `.dbf`, and `.prj` if there is one)
    /// or a GeoJSON file (`.geojson`, `.json`) of polygons in the terrain's own projection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polygons: Option<String>,
    /// A polygon instead of a file: corners `[x, y]` in m, in the scene's coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polygon_m: Option<Vec<[f64; 2]>>,
    /// Thickness of the snow perpendicular to the slope in m; by default the file's attribute `thickness` or
    /// `d0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub thickness_m: Option<f64>,
    /// Bulk density of the snow, with its pores, in kg/m³; by default 0.55 of a grain's. The volume fraction
    /// of equal spheres is at most 0.74, and that of unequal ones less, on a lattice spaced for the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub bulk_density_kg_m3: Option<f64>,
    /// Random displacement of grains from the lattice, as a share of the gap between them.
    #[serde(default = "Release::default_jitter")]
    #[schemars(range(min = 0, max = 1))]
    pub jitter: f64,
    /// Initial velocity in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
    /// The areas of the file, once loaded.
    #[serde(skip)]
    pub(crate) areas: Loaded<Vec<ReleaseArea>>,
    /// The projection of the file, if it states one.
    #[serde(skip)]
    pub(crate) projection: Loaded<MapProjection>,
}

/// One area of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseArea {
    /// Outline in the scene's coordinates.
    pub polygon: Polygon,
    /// Thickness of the snow perpendicular to the slope in m.
    pub thickness_m: f64,
}

impl Release {
    fn default_jitter() -> f64 {
        1.0
    }

    /// Returns the areas; `None` if their file was missing when the scene was read.
    pub fn areas(&self) -> Option<Arc<Vec<ReleaseArea>>> {
        match (&self.polygon_m, self.thickness_m) {
            (Some(ring), Some(thickness_m)) => {
                let polygon = Polygon { rings: vec![ring.clone()] };
                Some(Arc::new(vec![ReleaseArea { polygon, thickness_m }]))
            }
            _ => self.areas.shared(),
        }
    }
}
