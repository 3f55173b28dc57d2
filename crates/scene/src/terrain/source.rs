//! The `[terrain]` section: source of the ground.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{Generated, MapProjection, Terrain, read_ascii_grid, read_geotiff, read_png16, utm_remedy};
use crate::check::number;
use crate::loaded::Loaded;

/// The ground of an avalanche: a map or a formula. Scenes of `solver.kind = "dem"` with `up_axis = "z"` only.
///
/// The scene's origin is the south-western height, its x axis points to the east, y to the north; heights are
/// relative to the map's lowest, rounded down to whole metres. The surface between heights is bilinear.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TerrainSource {
    /// Path, relative to the scene file, of an ESRI ASCII grid (`.asc`), a GeoTIFF (`.tif`, `.tiff`) or a
    /// 16-bit grey PNG (`.png`). Its projection is that of the GeoTIFF, or of a `.prj` file of the same name;
    /// it must be one of metres on the ground, such as UTM. Heights in feet, if the projection says so, are
    /// converted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A formula, instead of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<Generated>,
    /// Distance between pixels of a PNG in m.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cell_m: Option<f64>,
    /// Heights in m of black and of white pixels of a PNG.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height_range_m: Option<[f64; 2]>,
    /// True if unknown heights that the map encloses are filled with a smooth surface; if false, they are
    /// refused. Unknown heights connected to the edge are outside the map in either case.
    pub fill_holes: bool,
    /// Checksum of the file's heights, recorded when the scene is loaded: resuming the scene with another map
    /// is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// The loaded heights.
    #[serde(skip)]
    pub(crate) terrain: Loaded<Terrain>,
}

/// Error in the files or values of a section: the key, the value found and the value expected.
pub(crate) struct Refusal {
    pub(crate) key: String,
    pub(crate) found: String,
    pub(crate) expected: String,
}

impl Refusal {
    pub(crate) fn new(key: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { key: key.into(), found: found.into(), expected: expected.into() }
    }
}

/// Plausible heights in m: all land is above −9999, the usual value of unknown heights.
const PLAUSIBLE_HEIGHTS_M: std::ops::Range<f64> = -9000.0..100_000.0;

const FILES: &str = "an ESRI ASCII grid (.asc), a GeoTIFF (.tif) or a PNG of 16 bits (.png)";

impl TerrainSource {
    /// Reads the terrain from `bytes`, the contents of `path`, with the text of the `.prj` file beside it if
    /// there is one.
    pub(crate) fn read(&self, path: &str, bytes: &[u8], prj: Option<String>) -> Result<Terrain, Refusal> {
        let refuse = |problem: String| Refusal::new("terrain.file", format!("{path}: {problem}"), FILES);
        let ending =
            Path::new(path).extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let is_png = ending.as_deref() == Some("png");
        for (key, is_given) in
            [("cell_m", self.cell_m.is_some()), ("height_range_m", self.height_range_m.is_some())]
        {
            let key = format!("terrain.{key}");
            if is_given && !is_png {
                return Err(Refusal::new(
                    key,
                    format!("it together with {path}"),
                    "it with a PNG only, which does not contain it",
                ));
            }
            if is_png && !is_given {
                return Err(Refusal::new(key, "nothing", "it with a PNG, which does not contain it"));
            }
        }
        let beside = prj.map(MapProjection::new);
        let vertical_unit_m = beside.as_ref().and_then(MapProjection::vertical_unit_m).unwrap_or(1.0);
        let terrain = match (ending.as_deref(), self.cell_m, self.height_range_m) {
            // A grid has no unit of heights but that of the projection beside it.
            (Some("asc" | "txt"), ..) => read_ascii_grid(&String::from_utf8_lossy(bytes))
                .and_then(|grid| grid.terrain())
                .and_then(|terrain| terrain.of_height_unit(vertical_unit_m)),
            (Some("tif" | "tiff"), ..) => read_geotiff(bytes),
            (Some("png"), Some(cell_m), Some(range_m)) => read_png16(bytes, cell_m, range_m),
            _ => Err("a name that does not end in .asc, .tif or .png".to_owned()),
        };
        let terrain = terrain.map_err(refuse)?;
        if let Some(height) =
            terrain.map_heights_m().iter().find(|h| !h.is_nan() && !PLAUSIBLE_HEIGHTS_M.contains(*h))
        {
            return Err(Refusal::new(
                "terrain.file",
                format!("{path}: a height of {} m", number(*height)),
                "heights of land; unknown ones are marked by NODATA_value or GDAL_NODATA",
            ));
        }
        let projection = projection_of(path, &terrain, beside)?;
        if projection.is_none() && !is_png && looks_like_degrees(&terrain) {
            return Err(Refusal::new(
                "terrain.file",
                format!(
                    "{path}: cells of {} m, and heights that differ by {} m: these look like longitudes and \
                     latitudes",
                    number(terrain.cell_m()),
                    number(terrain.bounds_m().1[2] - terrain.bounds_m().0[2])
                ),
                format!("a projection of metres: {}", utm_remedy(Some(terrain.corner_m()))),
            ));
        }
        terrain.projected(projection).without_holes(self.fill_holes).map_err(|problem| {
            Refusal::new(
                "terrain.file",
                format!("{path}: {problem}"),
                "a map without holes, or terrain.fill_holes = true",
            )
        })
    }

    pub(crate) fn set(&mut self, terrain: Terrain) {
        self.terrain = Loaded::new(Arc::new(terrain));
    }

    /// Returns the ground; `None` if its file was missing when the scene was read, as when a recording is
    /// played.
    pub fn terrain(&self) -> Option<&Terrain> {
        self.terrain.get()
    }
}

/// Relief of a terrain over its extent beyond which a map without a projection is taken for one in degrees,
/// whose cells are a hundred-thousandth of what they are in metres.
const MAX_RELIEF: f64 = 10.0;

/// Returns true if the coordinates may be degrees, and the terrain would be a wall if they were metres.
fn looks_like_degrees(terrain: &Terrain) -> bool {
    let (low, high) = terrain.bounds_m();
    let [width, height] = terrain.extent_m();
    let corners = [[0.0; 2], [width, height]].map(|corner| terrain.to_map_m(corner));
    corners.iter().all(|[x, y]| x.abs() <= 180.0 && y.abs() <= 90.0)
        && high[2] - low[2] > MAX_RELIEF * width.max(height)
}

/// Returns the projection of the map in the file `path`: that of a GeoTIFF, or that of the `.prj` file beside
/// it, with which it must agree.
fn projection_of(
    path: &str,
    terrain: &Terrain,
    beside: Option<MapProjection>,
) -> Result<Option<MapProjection>, Refusal> {
    let prj_path = Path::new(path).with_extension("prj");
    let refuse = |path: &Path, found: &str, expected: &str| {
        Err(Refusal::new("terrain.file", format!("{}: {found}", path.display()), expected))
    };
    let of_metres = |projection: &MapProjection| {
        format!("a projection of metres, such as UTM: {}", projection.remedy(terrain.corner_m()))
    };
    if let Some((beside, problem)) = beside.as_ref().and_then(|beside| Some((beside, beside.problem()?))) {
        return refuse(&prj_path, &problem, &of_metres(beside));
    }
    let Some(own) = terrain.projection().cloned() else { return Ok(beside) };
    if let Some(problem) = own.problem() {
        return refuse(Path::new(path), &problem, &of_metres(&own));
    }
    let Some(beside) = beside else { return Ok(Some(own)) };
    match own.is_same(&beside) {
        Some(false) => refuse(
            &prj_path,
            &format!("the projection {}", beside.name()),
            &format!("that of the GeoTIFF beside it, {}", own.name()),
        ),
        _ => Ok(Some(own.with_prj(beside.wkt().map(str::to_owned)))),
    }
}

impl Terrain {
    /// Returns a checksum of grid and heights.
    pub(crate) fn checksum(&self) -> String {
        let mut hash = Xxh3::new();
        for n in [self.n_columns, self.n_rows] {
            hash.update(&(n as u64).to_le_bytes());
        }
        let numbers = [self.cell_m, self.corner_m[0], self.corner_m[1]];
        for number in numbers.iter().chain(&self.heights_m) {
            // NaN has more than one bit pattern.
            let number = if number.is_nan() { f64::NAN } else { *number };
            hash.update(&number.to_bits().to_le_bytes());
        }
        format!("{:016x}", hash.digest())
    }

    /// Returns the lowest known height in m within a rectangle of the scene; `None` if none is known. Cells
    /// that the rectangle cuts count whole.
    pub(crate) fn lowest_within_m(&self, low_m: [f64; 2], high_m: [f64; 2]) -> Option<f64> {
        self.known_within(low_m, high_m).min_by(f64::total_cmp)
    }

    /// Returns the highest known height in m within a rectangle of the scene, like [`Self::lowest_within_m`].
    pub(crate) fn highest_within_m(&self, low_m: [f64; 2], high_m: [f64; 2]) -> Option<f64> {
        self.known_within(low_m, high_m).max_by(f64::total_cmp)
    }

    fn known_within(&self, low_m: [f64; 2], high_m: [f64; 2]) -> impl Iterator<Item = f64> {
        let n = [self.n_columns, self.n_rows];
        let first: [usize; 2] =
            std::array::from_fn(|i| (low_m[i] / self.cell_m).floor().clamp(0.0, (n[i] - 1) as f64) as usize);
        let last: [usize; 2] =
            std::array::from_fn(|i| (high_m[i] / self.cell_m).ceil().clamp(0.0, (n[i] - 1) as f64) as usize);
        (first[1]..=last[1])
            .flat_map(move |row| (first[0]..=last[0]).map(move |column| (column, row)))
            .filter_map(|(column, row)| self.height_at(column, row))
    }
}
