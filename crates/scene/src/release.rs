//! The `[[releases]]`: areas of a slope whose snow comes loose.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Vec3;
use crate::loaded::Loaded;
use crate::polygon::Polygon;

/// An area of the terrain whose snow is filled with grains at the start.
///
/// The snow lies on the terrain and is as thick as `thickness_m` at right angles to it. Grains stand on a close-packed lattice that
/// is spread until the bulk density is met, and whose layers lie along the mean slope of the area; its place is random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Path from the scene's of a shapefile (`.shp`, with its `.dbf`, and `.prj` if there is one) or a GeoJSON file (`.geojson`, `.json`)
    /// of polygons in the terrain's own projection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polygons: Option<String>,
    /// A polygon in place of a file: corners `[x, y]` in m, in the scene's coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polygon_m: Option<Vec<[f64; 2]>>,
    /// Thickness of the snow at right angles to the slope in m; by default what the file's attribute `thickness` or `d0` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness_m: Option<f64>,
    /// Density of the snow with its pores in kg/m³; by default 0.6 of a grain's, at most 0.74 of it: spheres fill no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk_density_kg_m3: Option<f64>,
    /// How far grains are from the lattice: this share of what keeps them apart; 0 to 1.
    #[serde(default = "Release::default_jitter")]
    #[schemars(range(min = 0, max = 1))]
    pub jitter: f64,
    /// Initial velocity in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
    /// The areas of the file.
    #[serde(skip)]
    pub(crate) areas: Loaded<Vec<ReleaseArea>>,
}

/// One area of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseArea {
    /// Its outline in the scene's coordinates.
    pub polygon: Polygon,
    /// Thickness of its snow at right angles to the slope in m.
    pub thickness_m: f64,
}

/// Share of space that grains fill where the scene does not say.
const PACKING_FRACTION: f64 = 0.6;

impl Release {
    fn default_jitter() -> f64 {
        1.0
    }

    /// Density of the snow with its pores in kg/m³, of grains of `density_kg_m3`.
    pub fn bulk_density_kg_m3(&self, density_kg_m3: f64) -> f64 {
        self.bulk_density_kg_m3.unwrap_or(PACKING_FRACTION * density_kg_m3)
    }

    /// The areas; none where their file was not there when the scene was read.
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
