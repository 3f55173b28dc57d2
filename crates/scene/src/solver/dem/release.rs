//! The `[[releases]]`: areas of a slope whose snow comes loose.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::loaded::Loaded;
use crate::shapes::polygon::Polygon;
use crate::{Dem, Vec3};

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
    /// Density of the snow with its pores in kg/m³; by default 0.55 of a grain's. Equal spheres fill 0.74 of space at most, and
    /// those of unequal size less on a lattice that has room for the largest.
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
    /// The projection of the file, where it says.
    #[serde(skip)]
    pub(crate) projection: Loaded<String>,
}

/// One area of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseArea {
    /// Its outline in the scene's coordinates.
    pub polygon: Polygon,
    /// Thickness of its snow at right angles to the slope in m.
    pub thickness_m: f64,
}

/// Share of space that grains fill where the scene does not say, unless they are too unequal for it.
const PACKING_FRACTION: f64 = 0.55;

/// That share of the closest packing is then taken.
const SHARE_OF_CLOSEST: f64 = 0.95;

/// Share of space that equal spheres fill in their closest packing, π/√18.
const CLOSEST_PACKING_FRACTION: f64 = 0.740_480_489_693_061;

impl Release {
    fn default_jitter() -> f64 {
        1.0
    }

    /// Density of the snow with its pores in kg/m³.
    pub fn bulk_density_kg_m3(&self, dem: &Dem) -> f64 {
        let of_share = || PACKING_FRACTION * dem.density_kg_m3;
        self.bulk_density_kg_m3
            .unwrap_or_else(|| of_share().min(SHARE_OF_CLOSEST * Self::greatest_density_kg_m3(dem)))
    }

    /// That of a close-packed lattice with room for the largest grains in each of its points.
    pub(crate) fn greatest_density_kg_m3(dem: &Dem) -> f64 {
        let sizes = dem.mean_grain_mass_kg() / dem.grain_mass_kg(dem.greatest_radius_m());
        CLOSEST_PACKING_FRACTION * sizes * dem.density_kg_m3
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
