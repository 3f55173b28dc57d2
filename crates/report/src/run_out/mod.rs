//! Run-out statistics of a flow on a terrain, from its rasters.

mod path;

use std::path::Path;

use frazil_io::{FlowRasters, Metric, MetricsWriter, json, slope_area_m2};
use frazil_scene::Terrain;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use path::{FlowPath, centre_m, connected, nearest_points};

/// Peak thickness in m above which a cell is affected.
pub const AFFECTED_THICKNESS_M: f32 = 0.1;

/// Peak pressure in kPa that ends a run-out, as in AvaFrame.
pub const RUN_OUT_PRESSURE_KPA: f32 = 1.0;

/// Share of the drop by which the top of a run-out may be below the highest cell, and its end above the
/// lowest, so that both are well defined on level ground.
const LEVEL_SHARE: f64 = 0.01;

/// Snow that a flow consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowSnow {
    /// Mass in kg.
    pub mass_kg: f64,
    /// Bulk density in kg/m³.
    pub bulk_density_kg_m3: f64,
}

/// A place on the map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MapPoint {
    /// Easting in m.
    pub easting_m: f64,
    /// Northing in m.
    pub northing_m: f64,
    /// Height in m.
    pub height_m: f64,
}

/// Reach of a flow from the highest point of its release.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// Horizontal distance along the path in m.
    pub length_m: f64,
    /// Horizontal distance in a straight line in m.
    pub straight_m: f64,
    /// Difference of heights in m.
    pub drop_m: f64,
    /// Run-out angle α in degrees: tan α is the drop over the length.
    pub alpha_deg: f64,
    /// Its end.
    pub end: MapPoint,
}

/// Properties of the snow at the start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReleaseStatistics {
    /// Mass in kg.
    pub mass_kg: f64,
    /// Volume of the snow with its pores in m³.
    pub volume_m3: f64,
    /// Area on the map in m² of the cells with snow.
    pub area_m2: f64,
    /// Highest point of the release that the path begins at.
    pub top: MapPoint,
}

/// Properties of the snow at the end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DepositStatistics {
    /// Area on the map in m² of the cells with more than the threshold.
    pub area_m2: f64,
    /// Volume in m³ over these cells.
    pub volume_m3: f64,
    /// Maximum thickness in m.
    pub max_thickness_m: f64,
}

/// Run-out statistics of a flow (docs/formats.md defines them).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOut {
    /// [`RunOut::FORMAT_VERSION`].
    pub format_version: u32,
    /// Projection of the coordinates, `null` if it is unknown.
    pub projection: Option<String>,
    /// Simulated time in s.
    pub simulated_time_s: f64,
    /// Time in s of the last arrival in an affected cell.
    pub last_arrival_s: f64,
    /// Peak thickness in m above which a cell is affected.
    pub thickness_threshold_m: f64,
    /// Peak pressure in kPa from which [`Self::run_out_of_pressure`] counts.
    pub pressure_threshold_kpa: f64,
    /// Snow at the start.
    pub release: ReleaseStatistics,
    /// Reach of the flow: to the farthest of the affected cells in the lowest hundredth of its drop from the
    /// releases.
    pub run_out: Reach,
    /// Lowest affected cell.
    pub lowest: MapPoint,
    /// Reach of the pressure: to the farthest cell along the path with the threshold of pressure; `null` if
    /// there is none.
    pub run_out_of_pressure: Option<Reach>,
    /// Area on the map in m² of the affected cells.
    pub affected_area_m2: f64,
    /// Area on the map in m² of the cells with the threshold of pressure.
    pub area_of_pressure_m2: f64,
    /// Maximum peak thickness in m.
    pub max_peak_thickness_m: f64,
    /// Maximum peak speed in m/s.
    pub max_peak_speed_m_s: f64,
    /// Maximum peak pressure in kPa.
    pub max_peak_pressure_kpa: f64,
    /// Snow at the end.
    pub deposit: DepositStatistics,
    /// Path of the flow, for tables and maps.
    #[serde(skip)]
    pub path: Vec<PathPoint>,
}

/// A point of the path, and the maxima of the flow's peaks over the cells beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PathPoint {
    /// Position in the scene in m.
    pub position_m: [f64; 2],
    /// Horizontal distance along the path in m.
    pub along_m: f64,
    /// Height on the map in m.
    pub height_m: f64,
    /// Maximum peak thickness in m.
    pub thickness_m: f64,
    /// Maximum peak speed in m/s.
    pub speed_m_s: f64,
    /// Maximum peak pressure in kPa.
    pub pressure_kpa: f64,
}

impl RunOut {
    /// The version of `runout.json` that this build writes and reads.
    pub const FORMAT_VERSION: u32 = 1;

    /// Measures a flow of `snow` after `simulated_time_s`; `None` if it affects no cell.
    pub fn measure(
        terrain: &Terrain,
        rasters: &FlowRasters,
        snow: FlowSnow,
        simulated_time_s: f64,
    ) -> Option<Self> {
        let n = [terrain.n_columns(), terrain.n_rows()];
        let cells = 0..n[0] * n[1];
        let cell_area_m2 = terrain.cell_m() * terrain.cell_m();
        let place = |idx: usize| (idx % n[0], idx / n[0]);
        let height_m = |idx: usize| terrain.height_at(place(idx).0, place(idx).1).unwrap_or(f64::INFINITY);
        let is_released = |idx: usize| rasters.arrival_s[idx] == 0.0;
        let thick = |values: &[f32], idx: usize| values[idx] > AFFECTED_THICKNESS_M;

        let is_thick: Vec<bool> = cells.clone().map(|idx| thick(&rasters.peak_thickness_m, idx)).collect();
        // Grains that rolled away alone are not connected with the flow.
        let is_affected = connected(&is_thick, cells.clone().filter(|idx| is_released(*idx)), n);
        let affected = || cells.clone().filter(|idx| is_affected[*idx]);
        let lowest = affected().min_by(|a, b| height_m(*a).total_cmp(&height_m(*b)))?;
        // Of several releases, those from which the flow reached the lowest cell.
        let of_lowest = connected(&is_affected, [lowest].into_iter(), n);
        let released: Vec<usize> = cells.clone().filter(|idx| of_lowest[*idx] && is_released(*idx)).collect();
        let highest_m = released.iter().map(|idx| height_m(*idx)).fold(f64::NEG_INFINITY, f64::max);
        let level_m = LEVEL_SHARE * (highest_m - height_m(lowest));
        let at = |idx: usize| centre_m(terrain, idx);
        let highest = released.iter().copied().filter(|idx| height_m(*idx) >= highest_m - level_m);
        let top = middle(terrain, &highest.collect::<Vec<_>>())?;
        // The farthest of the lowest cells from the releases.
        let points: Vec<[f64; 2]> = released.iter().map(|idx| at(*idx)).collect();
        let from_release = nearest_points(terrain, &of_lowest, &points);
        let away_m = |idx: usize| from_release[idx].map_or(0.0, |(_, away_m)| away_m);
        let low =
            || cells.clone().filter(|idx| of_lowest[*idx] && height_m(*idx) <= height_m(lowest) + level_m);
        let farthest_m = low().map(away_m).fold(0.0, f64::max);
        let farthest = low().filter(|idx| away_m(*idx) >= farthest_m - 0.5 * terrain.cell_m());
        let end = middle(terrain, &farthest.collect::<Vec<_>>())?;
        let straight_m = |idx: usize| {
            let ([x, y], [top_x, top_y]) = (at(idx), at(top));
            (x - top_x).hypot(y - top_y)
        };
        let flux = |idx: usize| f64::from(rasters.peak_thickness_m[idx] * rasters.peak_speed_m_s[idx]);
        let path = FlowPath::find(terrain, &of_lowest, flux, top, end)?;
        let along_m = path.positions_m(terrain, &of_lowest);

        let map_point = |idx: usize| {
            let [easting_m, northing_m] = terrain.to_map_m(at(idx));
            MapPoint { easting_m, northing_m, height_m: terrain.base_m() + height_m(idx) }
        };
        let reach = |end: usize, length_m: f64| {
            let drop_m = height_m(top) - height_m(end);
            let alpha_deg = drop_m.atan2(length_m).to_degrees();
            Reach { length_m, straight_m: straight_m(end), drop_m, alpha_deg, end: map_point(end) }
        };
        let is_pressed = |idx: &usize| rasters.peak_pressure_kpa[*idx] >= RUN_OUT_PRESSURE_KPA;
        let farthest = affected()
            .filter(|idx| is_pressed(idx) && !along_m[*idx].is_nan())
            .max_by(|a, b| along_m[*a].total_cmp(&along_m[*b]));
        let max = |values: &[f32]| f64::from(values.iter().copied().fold(0.0_f32, f32::max));
        let deposit = || cells.clone().filter(|idx| thick(&rasters.deposit_thickness_m, *idx));
        let deposit_volume = |idx: usize| {
            let (column, row) = place(idx);
            f64::from(rasters.deposit_thickness_m[idx]) * slope_area_m2(terrain, column, row)
        };
        let last_arrival_s = affected().map(|idx| rasters.arrival_s[idx]).fold(0.0_f32, f32::max);
        Some(Self {
            format_version: Self::FORMAT_VERSION,
            projection: terrain.projection().map(|projection| projection.name()),
            simulated_time_s,
            last_arrival_s: f64::from(last_arrival_s),
            thickness_threshold_m: f64::from(AFFECTED_THICKNESS_M),
            pressure_threshold_kpa: f64::from(RUN_OUT_PRESSURE_KPA),
            release: ReleaseStatistics {
                mass_kg: snow.mass_kg,
                volume_m3: snow.mass_kg / snow.bulk_density_kg_m3,
                area_m2: cell_area_m2 * cells.clone().filter(|idx| is_released(*idx)).count() as f64,
                top: map_point(top),
            },
            run_out: reach(end, path.length_m()),
            lowest: map_point(lowest),
            run_out_of_pressure: farthest.map(|idx| reach(idx, along_m[idx])),
            affected_area_m2: cell_area_m2 * affected().count() as f64,
            area_of_pressure_m2: cell_area_m2 * cells.clone().filter(is_pressed).count() as f64,
            max_peak_thickness_m: max(&rasters.peak_thickness_m),
            max_peak_speed_m_s: max(&rasters.peak_speed_m_s),
            max_peak_pressure_kpa: max(&rasters.peak_pressure_kpa),
            deposit: DepositStatistics {
                area_m2: cell_area_m2 * deposit().count() as f64,
                volume_m3: deposit().map(deposit_volume).sum(),
                max_thickness_m: max(&rasters.deposit_thickness_m),
            },
            path: path_points(&path, terrain, rasters, &along_m),
        })
    }

    /// Writes `runout.json`.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File).
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(json::write(path, self)?)
    }

    /// Writes the path, with the maxima of the peaks beside each of its points, as a table.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File).
    pub fn write_path(&self, terrain: &Terrain, path: &Path) -> Result<()> {
        let columns = [
            ("distance", "m"),
            ("easting", "m"),
            ("northing", "m"),
            ("height", "m"),
            ("peak_thickness", "m"),
            ("peak_speed", "m/s"),
            ("peak_pressure", "kPa"),
        ];
        let columns: Vec<Metric> = columns.iter().map(|(name, unit)| Metric::new(*name, *unit)).collect();
        let mut table = MetricsWriter::create(path, &columns)?;
        for point in &self.path {
            let [x, y] = terrain.to_map_m(point.position_m);
            let peaks = [point.thickness_m, point.speed_m_s, point.pressure_kpa];
            table.row(&[&[point.along_m, x, y, point.height_m][..], &peaks].concat())?;
        }
        Ok(())
    }

    /// Returns a summary in one line.
    pub fn summary(&self) -> String {
        let Reach { length_m, drop_m, alpha_deg, end, .. } = self.run_out;
        format!(
            "run-out {length_m:.0} m, drop {drop_m:.0} m, angle {alpha_deg:.1}°, down to {:.0} m at ({:.0}, \
             {:.0}); affected area {:.0} m², at most {:.1} m thick, {:.1} m/s and {:.0} kPa",
            end.height_m,
            end.easting_m,
            end.northing_m,
            self.affected_area_m2,
            self.max_peak_thickness_m,
            self.max_peak_speed_m_s,
            self.max_peak_pressure_kpa
        )
    }
}

/// Returns the one of some cells that is the nearest to their mean position; `None` if there are none.
fn middle(terrain: &Terrain, cells: &[usize]) -> Option<usize> {
    let mean =
        |axis: usize| cells.iter().map(|idx| centre_m(terrain, *idx)[axis]).sum::<f64>() / cells.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let away = |idx: usize| {
        let [cell_x, cell_y] = centre_m(terrain, idx);
        (cell_x - x).hypot(cell_y - y)
    };
    cells.iter().copied().min_by(|a, b| away(*a).total_cmp(&away(*b)))
}

/// Returns the points of a path; the peaks of each cell count at the nearest.
fn path_points(path: &FlowPath, terrain: &Terrain, rasters: &FlowRasters, along_m: &[f64]) -> Vec<PathPoint> {
    let base_m = terrain.base_m();
    let point = |(position_m, along_m): (&[f64; 2], &f64)| PathPoint {
        position_m: *position_m,
        along_m: *along_m,
        height_m: terrain.height_m(*position_m).map_or(f64::NAN, |height_m| base_m + height_m),
        ..PathPoint::default()
    };
    let mut points: Vec<PathPoint> = path.points_m.iter().zip(&path.along_m).map(point).collect();
    for (idx, along_m) in along_m.iter().enumerate().filter(|(_, along_m)| !along_m.is_nan()) {
        let after = points.partition_point(|point| point.along_m < *along_m).min(points.len() - 1);
        let before = after.saturating_sub(1);
        let is_before = along_m - points[before].along_m < points[after].along_m - along_m;
        let point = &mut points[if is_before { before } else { after }];
        point.thickness_m = point.thickness_m.max(f64::from(rasters.peak_thickness_m[idx]));
        point.speed_m_s = point.speed_m_s.max(f64::from(rasters.peak_speed_m_s[idx]));
        point.pressure_kpa = point.pressure_kpa.max(f64::from(rasters.peak_pressure_kpa[idx]));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of cells of the test's slope along x and y.
    const N: [usize; 2] = [101, 21];
    const SNOW: FlowSnow = FlowSnow { mass_kg: 54_000.0, bulk_density_kg_m3: 270.0 };

    /// Makes a slope of 2 m cells that falls by 0.5 m/m to the east for 120 m and is level from there on.
    fn slope() -> Terrain {
        let height = |column: usize| 1000.0 + 0.5 * (120.0 - 2.0 * column as f64).max(0.0);
        let heights = (0..N[0] * N[1]).map(|idx| height(idx % N[0])).collect();
        Terrain::new(N[0], N[1], 2.0, [4999.0, 8999.0], heights).unwrap()
    }

    /// Makes rasters of a flow in the rows 8 to 12 from column 5, released up to column 14, to column 70; the
    /// pressure falls below 1 kPa after column 64. A lone grain reaches column 90.
    fn flow() -> FlowRasters {
        let of = |value: &dyn Fn(usize) -> f32, outside: f32| -> Vec<f32> {
            let is_flow = |idx: usize| (8..=12).contains(&(idx / N[0])) && (5..=70).contains(&(idx % N[0]));
            (0..N[0] * N[1]).map(|idx| if is_flow(idx) { value(idx % N[0]) } else { outside }).collect()
        };
        let speed = |column: usize| match column {
            0..=40 => 20.0,
            41..=64 => 2.0,
            _ => 1.0,
        };
        let mut rasters = FlowRasters {
            deposit_thickness_m: of(&|column| if column > 60 { 0.5 } else { 0.05 }, 0.0),
            peak_thickness_m: of(&|_| 1.5, 0.0),
            peak_speed_m_s: of(&speed, 0.0),
            peak_pressure_kpa: of(&|column| 0.27 * speed(column).powi(2), 0.0),
            arrival_s: of(&|column| (column as f32 - 14.0).max(0.0) * 0.25, f32::NAN),
        };
        let lone = 10 * N[0] + 90;
        rasters.peak_thickness_m[lone] = 0.3;
        rasters.arrival_s[lone] = 30.0;
        rasters
    }

    #[test]
    fn a_flow_down_a_slope_has_the_run_out_of_its_cells() {
        let terrain = slope();
        let found = RunOut::measure(&terrain, &flow(), SNOW, 40.0).unwrap();
        assert_eq!((found.simulated_time_s, found.last_arrival_s), (40.0, 14.0));
        // 66 columns of 5 rows of 4 m²; 50 cells of release, 50 of deposit.
        assert_eq!((found.affected_area_m2, found.release.area_m2), (1320.0, 200.0));
        assert_eq!((found.release.mass_kg, found.release.volume_m3), (54_000.0, 200.0));
        assert_eq!(found.deposit.area_m2, 200.0);
        // On the level.
        assert!((found.deposit.volume_m3 - 100.0).abs() < 1e-3, "{}", found.deposit.volume_m3);
        // From x = 10 m, the first column, to the last on the level, which begins at x = 120 m.
        assert_eq!(found.release.top.easting_m, 5010.0);
        assert_eq!((found.run_out.drop_m, found.run_out.end.height_m), (55.0, 1000.0));
        assert_eq!((found.run_out.end.easting_m, found.lowest.easting_m), (5140.0, 5120.0));
        // Along the middle of the five rows.
        assert!((found.run_out.length_m - 130.0).abs() < 1e-9, "{:?}", found.run_out);
        assert_eq!((found.run_out.straight_m, found.run_out.end.northing_m), (130.0, 9020.0));
        let alpha_deg = (55.0 / found.run_out.length_m).atan().to_degrees();
        assert!((found.run_out.alpha_deg - alpha_deg).abs() < 1e-12);
        let maxima = (found.max_peak_thickness_m, found.max_peak_speed_m_s);
        assert_eq!(maxima, (1.5, 20.0));
        assert!((found.max_peak_pressure_kpa - 108.0).abs() < 1e-4);
        assert_eq!(found.projection, None);
        assert!(found.path.windows(2).all(|pair| pair[0].along_m < pair[1].along_m));
        // Peaks across the path: those of the cells beside it.
        for point in found.path.iter().filter(|point| point.along_m < 60.0) {
            assert_eq!((point.thickness_m, point.speed_m_s), (1.5, 20.0), "{point:?}");
        }
    }

    #[test]
    fn the_pressure_ends_before_the_flow() {
        let terrain = {
            // It falls all the way, so that the lowest cell is the last.
            let heights = (0..N[0] * N[1]).map(|idx| 2000.0 - (idx % N[0]) as f64).collect();
            Terrain::new(N[0], N[1], 2.0, [4999.0, 8999.0], heights).unwrap()
        };
        let found = RunOut::measure(&terrain, &flow(), SNOW, 40.0).unwrap();
        let pressure = found.run_out_of_pressure.unwrap();
        // From column 5 to columns 70 and 64.
        assert!((found.run_out.length_m - 130.0).abs() < 1e-9, "{:?}", found.run_out);
        assert!((pressure.length_m - 118.0).abs() < 1e-9, "{pressure:?}");
        assert_eq!((found.run_out.drop_m, pressure.drop_m), (65.0, 59.0));
        assert_eq!((found.run_out.end.easting_m, pressure.end.easting_m), (5140.0, 5128.0));
        assert_eq!(found.area_of_pressure_m2, 60.0 * 5.0 * 4.0);
        let mut slow = flow();
        slow.peak_pressure_kpa.fill(0.9);
        assert_eq!(RunOut::measure(&terrain, &slow, SNOW, 40.0).unwrap().run_out_of_pressure, None);
    }

    #[test]
    fn a_flow_that_affects_nothing_has_no_run_out() {
        let mut rasters = flow();
        rasters.peak_thickness_m.fill(0.05);
        assert_eq!(RunOut::measure(&slope(), &rasters, SNOW, 1.0), None);
    }

    #[test]
    fn files_hold_the_statistics_and_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let (json, csv) = (folder.path().join("runout.json"), folder.path().join("path.csv"));
        let found = RunOut::measure(&slope(), &flow(), SNOW, 40.0).unwrap();
        found.write(&json).unwrap();
        let again: RunOut = frazil_io::json::read_version(&json, "runout.json", 1).unwrap();
        assert_eq!(again, RunOut { path: Vec::new(), ..found.clone() });
        found.write_path(&slope(), &csv).unwrap();
        let table = frazil_io::MetricsTable::read(&csv).unwrap();
        assert_eq!(table.column("distance").unwrap().len(), found.path.len());
        assert_eq!(table.column("easting").unwrap()[0], 5010.0);
        assert!(
            found.summary().contains("m, drop 55 m, angle 22.9°")
                && found.summary().contains("1000 m at (5140, 90")
        );
        assert!(found.summary().starts_with("run-out 130 m, "));
    }
}
