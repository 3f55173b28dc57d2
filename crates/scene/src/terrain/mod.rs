//! Terrains: heights over a regular grid, known or unknown, and the surface between them.

mod ascii_grid;
mod gdal_metadata;
mod generated;
mod geo_keys;
mod geotiff;
mod holes;
mod png16;
mod projection;
mod release;
mod source;
mod tiff_band;
mod utm;
mod wkt;

pub(crate) use ascii_grid::read_ascii_grid;
pub use generated::Generated;
pub use geo_keys::GeoKeys;
pub(crate) use geotiff::read_geotiff;
pub(crate) use png16::read_png16;
pub use projection::MapProjection;
pub use release::{Release, ReleaseArea};
pub(crate) use source::Refusal;
pub use source::TerrainSource;
pub(crate) use utm::utm_remedy;

use crate::Vec3;
use crate::check::number;

/// Maximum number of heights of a terrain: their buffer must be small compared with the particles'.
pub const MAX_HEIGHTS: usize = 1 << 26;

/// Tolerance for the rounding of decimal numbers, as a share of a cell, by which a point may lie beyond the
/// outermost heights.
const EDGE_TOLERANCE_CELLS: f64 = 1e-6;

/// A terrain: heights at the points of a regular grid, and the bilinear surface through them.
///
/// Points are given in the scene's own coordinates: x in m to the east and y to the north of the
/// south-western height, z in m above [`Self::base_m`]. Coordinates of a map have too many digits for 32-bit
/// floats; [`Self::to_map_m`] converts results back to them. A cell is on the map if all four of its heights
/// are known.
#[derive(Clone, Debug)]
pub struct Terrain {
    n_columns: usize,
    n_rows: usize,
    cell_m: f64,
    corner_m: [f64; 2],
    base_m: f64,
    /// Heights of the map, NaN where unknown: rows from the south, each from the west.
    heights_m: Vec<f64>,
    projection: Option<MapProjection>,
}

impl Terrain {
    /// Makes the terrain of `heights_m`, rows from the south and each from the west, NaN where unknown. The
    /// error describes the problem.
    ///
    /// `corner_m` is the south-western corner of the south-western cell on the map (easting and northing,
    /// half a cell from the first height), like `xllcorner` and `yllcorner` of an ESRI ASCII grid. Heights in
    /// the scene are relative to the lowest, rounded down to whole metres.
    pub fn new(
        n_columns: usize,
        n_rows: usize,
        cell_m: f64,
        corner_m: [f64; 2],
        heights_m: Vec<f64>,
    ) -> Result<Self, String> {
        if n_columns < 2 || n_rows < 2 {
            return Err(format!("{n_rows} rows of {n_columns} heights, where a surface needs 2 of 2"));
        }
        check_size(n_columns, n_rows)?;
        if n_columns * n_rows != heights_m.len() {
            return Err(format!("{} heights for {n_rows} rows of {n_columns}", heights_m.len()));
        }
        if !(cell_m > 0.0 && cell_m.is_finite()) {
            return Err(format!("a cell of {} m", number(cell_m)));
        }
        if !corner_m.iter().all(|x| x.is_finite()) {
            return Err(format!("a corner at ({}, {})", number(corner_m[0]), number(corner_m[1])));
        }
        if let Some(idx) = heights_m.iter().position(|height| height.is_infinite()) {
            return Err(format!("an infinite height in {}", place(idx, n_columns)));
        }
        let lowest = heights_m.iter().copied().fold(f64::INFINITY, f64::min);
        if lowest == f64::INFINITY {
            return Err("no known height".to_owned());
        }
        let terrain =
            Self { n_columns, n_rows, cell_m, corner_m, base_m: lowest.floor(), heights_m, projection: None };
        let n_cells = (0..n_rows - 1)
            .flat_map(|row| (0..n_columns - 1).map(move |column| (column, row)))
            .filter(|&(column, row)| terrain.corners(column, row).is_some());
        match n_cells.count() {
            0 => Err("no cell whose four heights are known".to_owned()),
            _ => Ok(terrain),
        }
    }

    /// Returns the terrain with heights in the scene relative to `base_m`.
    #[must_use]
    pub fn above(self, base_m: f64) -> Self {
        Self { base_m, ..self }
    }

    /// Returns the terrain whose heights are given in units of `unit_m` instead of metres.
    pub(crate) fn of_height_unit(self, unit_m: f64) -> Result<Self, String> {
        if unit_m == 1.0 {
            return Ok(self);
        }
        let Self { n_columns, n_rows, cell_m, corner_m, heights_m, projection, .. } = self;
        let heights_m = heights_m.into_iter().map(|height| height * unit_m).collect();
        Self::new(n_columns, n_rows, cell_m, corner_m, heights_m).map(|terrain| terrain.projected(projection))
    }

    /// Returns the terrain with a projection.
    #[must_use]
    pub fn projected(self, projection: Option<MapProjection>) -> Self {
        Self { projection, ..self }
    }

    /// Returns the number of heights from west to east.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Returns the number of heights from south to north.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Returns the distance between heights in m.
    pub fn cell_m(&self) -> f64 {
        self.cell_m
    }

    /// Returns the easting in m of the westernmost heights, which are at x = 0 in the scene.
    pub fn west_m(&self) -> f64 {
        self.corner_m[0] + 0.5 * self.cell_m
    }

    /// Returns the northing in m of the southernmost heights, which are at y = 0 in the scene.
    pub fn south_m(&self) -> f64 {
        self.corner_m[1] + 0.5 * self.cell_m
    }

    /// Returns the easting and northing in m of the outer corner of the south-western cell: half a cell from
    /// its height.
    pub fn corner_m(&self) -> [f64; 2] {
        self.corner_m
    }

    /// Returns the height in m on the map that is z = 0 in the scene.
    pub fn base_m(&self) -> f64 {
        self.base_m
    }

    /// Returns the projection of the map's coordinates, if known.
    pub fn projection(&self) -> Option<&MapProjection> {
        self.projection.as_ref()
    }

    /// Returns the keys that describe the projection in a GeoTIFF of values over the terrain.
    pub fn geo_keys(&self) -> GeoKeys {
        self.projection.as_ref().map_or_else(GeoKeys::without_projection, MapProjection::geo_keys)
    }

    /// Returns the heights on the map in m, NaN where unknown: rows from the south, each from the west.
    pub fn map_heights_m(&self) -> &[f64] {
        &self.heights_m
    }

    /// Returns the heights in the scene in m, NaN where unknown: rows from the south, each from the west.
    pub fn heights_m(&self) -> Vec<f32> {
        self.heights_m.iter().map(|height| (height - self.base_m) as f32).collect()
    }

    /// Returns the height in m in the scene at a point of the grid; `None` where it is unknown or beyond the
    /// grid.
    pub fn height_at(&self, column: usize, row: usize) -> Option<f64> {
        if column >= self.n_columns || row >= self.n_rows {
            return None;
        }
        let height = self.heights_m[row * self.n_columns + column];
        (!height.is_nan()).then_some(height - self.base_m)
    }

    /// Returns the lower and upper corner in m of the bounding box of the known surface.
    pub fn bounds_m(&self) -> (Vec3, Vec3) {
        let known = || self.heights_m.iter().copied().filter(|height| !height.is_nan());
        let (lowest, highest) =
            (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
        let [east, north] = self.extent_m();
        ([0.0, 0.0, lowest - self.base_m], [east, north, highest - self.base_m])
    }

    /// Returns the distance in m from the first to the last height, to the east and to the north.
    pub fn extent_m(&self) -> [f64; 2] {
        [self.n_columns, self.n_rows].map(|n| (n - 1) as f64 * self.cell_m)
    }

    /// Returns the easting and northing in m of a point of the scene.
    pub fn to_map_m(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.west_m() + x, self.south_m() + y]
    }

    /// Returns the point of the scene at an easting and a northing in m.
    pub fn from_map_m(&self, [easting, northing]: [f64; 2]) -> [f64; 2] {
        [easting - self.west_m(), northing - self.south_m()]
    }

    /// Returns the height of the surface in m over a point of the scene; `None` off the map.
    pub fn height_m(&self, point_m: [f64; 2]) -> Option<f64> {
        self.patch(point_m).map(|patch| patch.height_m())
    }

    /// Returns the gradient of the surface to the east and to the north, m/m; `None` off the map. On an edge
    /// between cells it is that of the cell to the north or east.
    pub fn gradient(&self, point_m: [f64; 2]) -> Option<[f64; 2]> {
        self.patch(point_m).map(|patch| patch.gradient(self.cell_m))
    }

    /// Returns the unit normal of the surface, pointing up; `None` off the map.
    pub fn normal(&self, point_m: [f64; 2]) -> Option<Vec3> {
        self.gradient(point_m).map(normal_of)
    }

    /// Returns the angle of the surface against the horizontal in degrees; `None` off the map.
    pub fn slope_deg(&self, point_m: [f64; 2]) -> Option<f64> {
        self.gradient(point_m).map(|[east, north]| (east * east + north * north).sqrt().atan().to_degrees())
    }

    /// Returns the signed distance in m of a point from the tangent plane of the surface below or above it,
    /// negative under the surface; `None` off the map.
    pub fn distance_m(&self, [x, y, z]: Vec3) -> Option<f64> {
        let patch = self.patch([x, y])?;
        Some((z - patch.height_m()) * normal_of(patch.gradient(self.cell_m))[2])
    }

    /// Returns the local heights at the corners of a cell: south-west, south-east, north-west, north-east.
    fn corners(&self, column: usize, row: usize) -> Option<[f64; 4]> {
        let at = |i: usize, j: usize| self.height_at(column + i, row + j);
        Some([at(0, 0)?, at(1, 0)?, at(0, 1)?, at(1, 1)?])
    }

    fn patch(&self, point_m: [f64; 2]) -> Option<Patch> {
        let mut cell = [0; 2];
        let mut share = [0.0; 2];
        for (axis, n) in [self.n_columns, self.n_rows].into_iter().enumerate() {
            let (along, last) = (point_m[axis] / self.cell_m, (n - 1) as f64);
            if !(-EDGE_TOLERANCE_CELLS..=last + EDGE_TOLERANCE_CELLS).contains(&along) {
                return None;
            }
            // The last height belongs to the cell before it.
            let first = along.clamp(0.0, last).floor().min(last - 1.0);
            cell[axis] = first as usize;
            share[axis] = (along - first).clamp(0.0, 1.0);
        }
        Some(Patch { corners: self.corners(cell[0], cell[1])?, share })
    }
}

/// A bilinear patch and a point on it.
struct Patch {
    corners: [f64; 4],
    share: [f64; 2],
}

impl Patch {
    fn height_m(&self) -> f64 {
        let ([sw, se, nw, ne], [u, v]) = (self.corners, self.share);
        let (south, north) = (sw + u * (se - sw), nw + u * (ne - nw));
        south + v * (north - south)
    }

    fn gradient(&self, cell_m: f64) -> [f64; 2] {
        let ([sw, se, nw, ne], [u, v]) = (self.corners, self.share);
        let east = (se - sw) + v * ((ne - nw) - (se - sw));
        let north = (nw - sw) + u * ((ne - se) - (nw - sw));
        [east / cell_m, north / cell_m]
    }
}

/// Returns the unit normal of a surface with this gradient.
pub(crate) fn normal_of([east, north]: [f64; 2]) -> Vec3 {
    let length = (1.0 + east * east + north * north).sqrt();
    [-east / length, -north / length, 1.0 / length]
}

/// Refuses an oversized grid before memory is allocated.
fn check_size(n_columns: usize, n_rows: usize) -> Result<(), String> {
    match n_columns.checked_mul(n_rows) {
        Some(n) if n <= MAX_HEIGHTS => Ok(()),
        _ => Err(format!("{n_rows} rows of {n_columns} heights, where {MAX_HEIGHTS} are the most")),
    }
}

/// Reverses the order of rows, from north–south to south–north.
fn turned_over<T: Copy>(values: &[T], n_columns: usize) -> Vec<T> {
    values.chunks(n_columns).rev().flatten().copied().collect()
}

/// Formats the position of a height for messages: rows and columns from 1, rows from the north as in files.
fn place(idx: usize, n_columns: usize) -> String {
    format!("row {} from the south, column {} from the west", idx / n_columns + 1, idx % n_columns + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sampled(n: [usize; 2], cell_m: f64, height: impl Fn(f64, f64) -> f64) -> Terrain {
        let heights = (0..n[1])
            .flat_map(|j| (0..n[0]).map(move |i| (i, j)))
            .map(|(i, j)| height(i as f64 * cell_m, j as f64 * cell_m))
            .collect();
        Terrain::new(n[0], n[1], cell_m, [0.0; 2], heights).unwrap().above(0.0)
    }

    proptest! {
        /// Bilinear interpolation reproduces c + ax + by + dxy exactly.
        #[test]
        fn bilinear_heights_are_exact(
            coefficients in prop::array::uniform4(-2.0..2.0_f64),
            n in prop::array::uniform2(2..9_usize),
            cell_m in 0.1..30.0_f64,
            shares in prop::array::uniform2(0.0..=1.0_f64),
        ) {
            let [a, b, c, d] = coefficients;
            let d = d / (cell_m * 8.0);
            let height = |x: f64, y: f64| c + a * x + b * y + d * x * y;
            let terrain = sampled(n, cell_m, height);
            let extent = terrain.extent_m();
            let [x, y] = [shares[0] * extent[0], shares[1] * extent[1]];
            let scale = 1.0 + 100.0 * cell_m;
            prop_assert!((terrain.height_m([x, y]).unwrap() - height(x, y)).abs() < 1e-12 * scale);
            let [east, north] = terrain.gradient([x, y]).unwrap();
            prop_assert!((east - (a + d * y)).abs() < 1e-10 && (north - (b + d * x)).abs() < 1e-10);
            let normal = terrain.normal([x, y]).unwrap();
            prop_assert!((normal.iter().map(|n| n * n).sum::<f64>() - 1.0).abs() < 1e-12);
            // Perpendicular to both tangents.
            prop_assert!((normal[0] + normal[2] * east).abs() < 1e-12 && (normal[1] + normal[2] * north).abs() < 1e-12);
            // On a plane the distance is that from the plane.
            if d == 0.0 {
                let above = [x + 2.0 * normal[0], y + 2.0 * normal[1], height(x, y) + 2.0 * normal[2]];
                if let Some(distance) = terrain.distance_m(above) {
                    prop_assert!((distance - 2.0).abs() < 1e-9);
                }
            }
        }

        /// Gradients equal the differences of heights within a cell.
        #[test]
        fn gradients_are_differences(heights in prop::collection::vec(-5.0..5.0_f64, 12), x in 0.01..2.99_f64, y in 0.01..1.99_f64) {
            let terrain = Terrain::new(4, 3, 1.0, [0.0; 2], heights).unwrap();
            let h = 1e-6;
            prop_assume!([x, y].iter().all(|x| (x.fract() - 0.5).abs() < 0.49));
            let rise = |a: [f64; 2], b: [f64; 2]| {
                (terrain.height_m(b).unwrap() - terrain.height_m(a).unwrap()) / (2.0 * h)
            };
            let [east, north] = terrain.gradient([x, y]).unwrap();
            prop_assert!((rise([x - h, y], [x + h, y]) - east).abs() < 1e-6);
            prop_assert!((rise([x, y - h], [x, y + h]) - north).abs() < 1e-6);
        }
    }

    #[test]
    fn the_scene_begins_at_the_south_western_height() {
        let terrain =
            Terrain::new(2, 2, 10.0, [176_973.4, 376_237.8], vec![2000.5, 2001.0, 2002.0, 2003.5]).unwrap();
        assert_eq!((terrain.base_m(), terrain.west_m(), terrain.south_m()), (2000.0, 176_978.4, 376_242.8));
        assert_eq!(terrain.bounds_m(), ([0.0, 0.0, 0.5], [10.0, 10.0, 3.5]));
        assert_eq!(terrain.height_m([10.0, 10.0]), Some(3.5));
        assert_eq!(terrain.heights_m(), [0.5, 1.0, 2.0, 3.5]);
        let [x, y] = terrain.from_map_m(terrain.to_map_m([3.0, 4.0]));
        assert!((x - 3.0).abs() < 1e-9 && (y - 4.0).abs() < 1e-9);
        assert!(
            (terrain.slope_deg([0.0, 0.0]).unwrap() - (0.15_f64.hypot(0.05)).atan().to_degrees()).abs()
                < 1e-12
        );
    }

    #[test]
    fn a_cell_with_an_unknown_corner_is_off_the_map() {
        let mut heights = vec![1.0; 9];
        heights[0] = f64::NAN;
        let terrain = Terrain::new(3, 3, 1.0, [0.0; 2], heights).unwrap();
        assert_eq!(terrain.height_m([0.5, 0.5]), None);
        assert_eq!(terrain.normal([0.9, 0.9]), None);
        assert_eq!(terrain.height_m([1.5, 0.5]), Some(0.0));
        for outside in [[-0.1, 1.0], [2.1, 1.0], [1.0, -0.1], [1.0, 2.1], [f64::NAN, 1.0]] {
            assert_eq!(terrain.height_m(outside), None, "{outside:?}");
        }
        assert_eq!(terrain.height_at(0, 0), None);
        assert!(terrain.heights_m()[0].is_nan());
        assert_eq!(terrain.extended_heights_m(), [0.0; 9]);
    }

    #[test]
    fn non_terrains_are_refused() {
        let refusal = |n: [usize; 2], cell_m, corner_m, heights: &[f64]| {
            Terrain::new(n[0], n[1], cell_m, corner_m, heights.to_vec()).unwrap_err()
        };
        let (origin, nan) = ([0.0; 2], f64::NAN);
        assert_eq!(
            refusal([1, 2], 1.0, origin, &[0.0; 2]),
            "2 rows of 1 heights, where a surface needs 2 of 2"
        );
        assert_eq!(refusal([2, 2], 1.0, origin, &[0.0; 3]), "3 heights for 2 rows of 2");
        assert_eq!(refusal([2, 2], 0.0, origin, &[0.0; 4]), "a cell of 0 m");
        assert_eq!(refusal([2, 2], 1.0, [nan, 0.0], &[0.0; 4]), "a corner at (nan, 0)");
        assert_eq!(refusal([2, 2], 1.0, origin, &[nan; 4]), "no known height");
        assert_eq!(
            refusal([2, 2], 1.0, origin, &[0.0, 1.0, nan, 1.0]),
            "no cell whose four heights are known"
        );
        let infinite = [0.0, f64::INFINITY, 0.0, 0.0];
        assert_eq!(
            refusal([2, 2], 1.0, origin, &infinite),
            "an infinite height in row 1 from the south, column 2 from the west"
        );
        assert!(refusal([1 << 20, 1 << 20], 1.0, origin, &[]).contains("are the most"));
    }
}
