//! Rasters of a flow of grains over its terrain, for comparison with avalanche observations.

use std::path::Path;

use frazil_scene::{FlowQuantity, Terrain};

use crate::error::Result;
use crate::raster::{read_geotiff, write_ascii_grid, write_geotiff};

/// Results of a flow over the cells of a terrain, each centred on one of its heights: rows from the south,
/// each from the west.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowHistory {
    /// Volume of grains in m³ over each cell at the end.
    pub volume_m3: Vec<f32>,
    /// Maximum of that volume over time.
    pub peak_volume_m3: Vec<f32>,
    /// Maximum over time of the mean speed of the grains over each cell, in m/s.
    pub peak_speed_m_s: Vec<f32>,
    /// Time in s at which the first grain was over each cell; NaN if none was.
    pub arrival_s: Vec<f32>,
}

/// Returns the names of all files that [`FlowRasters::write`] may write.
pub fn flow_raster_files() -> impl Iterator<Item = String> {
    let extensions = ["asc", "prj", "tif"];
    let names = FlowQuantity::ALL.into_iter().map(FlowQuantity::name);
    names.flat_map(move |name| extensions.map(|extension| format!("{name}.{extension}")))
}

/// Rasters of a flow over the cells of a terrain, NaN off the map.
///
/// Thickness is measured perpendicular to the slope, as in depth-averaged models: the mass over a cell,
/// divided by the bulk density and by the cell's area on the slope. Speed is the mean over a cell, weighted
/// by mass. Pressure is the dynamic pressure ρ v² of the bulk density at the peak speed, as in AvaFrame.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowRasters {
    /// Thickness in m at the end: the deposit, once everything is at rest.
    pub deposit_thickness_m: Vec<f32>,
    /// Maximum thickness in m.
    pub peak_thickness_m: Vec<f32>,
    /// Maximum speed in m/s, 0 where no grain was.
    pub peak_speed_m_s: Vec<f32>,
    /// Maximum pressure in kPa.
    pub peak_pressure_kpa: Vec<f32>,
    /// Time in s of the first grain; NaN also where none was.
    pub arrival_s: Vec<f32>,
}

impl FlowRasters {
    /// Makes the rasters of a flow of grains of density `grain_kg_m3`, whose deposit has the density
    /// `bulk_kg_m3`.
    ///
    /// # Panics
    /// If the history is not of this terrain's cells.
    pub fn new(terrain: &Terrain, flow: &FlowHistory, grain_kg_m3: f64, bulk_kg_m3: f64) -> Self {
        let n_columns = terrain.n_columns();
        let n = n_columns * terrain.n_rows();
        let FlowHistory { volume_m3, peak_volume_m3, peak_speed_m_s, arrival_s } = flow;
        let lengths = [volume_m3, peak_volume_m3, peak_speed_m_s, arrival_s].map(Vec::len);
        assert_eq!(lengths, [n; 4], "a history of other cells");
        let place = |idx: usize| (idx % n_columns, idx / n_columns);
        let is_known = |idx: usize| terrain.height_at(idx % n_columns, idx / n_columns).is_some();
        let on_map = |of: &dyn Fn(usize) -> f32| -> Vec<f32> {
            (0..n).map(|idx| if is_known(idx) { of(idx) } else { f32::NAN }).collect()
        };
        let thickness_m = |volume_m3: &[f32], idx: usize| {
            let (column, row) = place(idx);
            let area_m2 = slope_area_m2(terrain, column, row);
            (f64::from(volume_m3[idx]) * grain_kg_m3 / (bulk_kg_m3 * area_m2)) as f32
        };
        let pressure_kpa = |idx: usize| (1e-3 * bulk_kg_m3 * f64::from(peak_speed_m_s[idx]).powi(2)) as f32;
        Self {
            deposit_thickness_m: on_map(&|idx| thickness_m(volume_m3, idx)),
            peak_thickness_m: on_map(&|idx| thickness_m(peak_volume_m3, idx)),
            peak_speed_m_s: on_map(&|idx| peak_speed_m_s[idx]),
            peak_pressure_kpa: on_map(&pressure_kpa),
            arrival_s: on_map(&|idx| arrival_s[idx]),
        }
    }

    /// Returns the values of a quantity.
    pub fn values(&self, quantity: FlowQuantity) -> &[f32] {
        match quantity {
            FlowQuantity::DepositThickness => &self.deposit_thickness_m,
            FlowQuantity::PeakThickness => &self.peak_thickness_m,
            FlowQuantity::PeakSpeed => &self.peak_speed_m_s,
            FlowQuantity::PeakPressure => &self.peak_pressure_kpa,
            FlowQuantity::ArrivalTime => &self.arrival_s,
        }
    }

    /// Writes an ESRI ASCII grid and a GeoTIFF of each quantity into `folder`, on the terrain's own grid. See
    /// [`write_ascii_grid`] and [`write_geotiff`].
    ///
    /// # Errors
    /// Like [`write_ascii_grid`].
    pub fn write(&self, folder: &Path, terrain: &Terrain) -> Result<()> {
        for quantity in FlowQuantity::ALL {
            let path = folder.join(quantity.name());
            write_ascii_grid(&path.with_extension("asc"), terrain, self.values(quantity))?;
            write_geotiff(&path.with_extension("tif"), terrain, self.values(quantity))?;
        }
        Ok(())
    }

    /// Reads the GeoTIFFs that [`Self::write`] wrote into `folder`.
    ///
    /// # Errors
    /// Like [`read_geotiff`].
    pub fn read(folder: &Path, terrain: &Terrain) -> Result<Self> {
        let read = |quantity: FlowQuantity| {
            read_geotiff(&folder.join(quantity.name()).with_extension("tif"), terrain)
        };
        Ok(Self {
            deposit_thickness_m: read(FlowQuantity::DepositThickness)?,
            peak_thickness_m: read(FlowQuantity::PeakThickness)?,
            peak_speed_m_s: read(FlowQuantity::PeakSpeed)?,
            peak_pressure_kpa: read(FlowQuantity::PeakPressure)?,
            arrival_s: read(FlowQuantity::ArrivalTime)?,
        })
    }
}

/// Returns the Jaccard index of two rasters: the cells in which both exceed a threshold over the cells in
/// which either does. It is 1 for the same affected area, 0 for disjoint areas, and 1 if both are empty.
/// Cells that are unknown in either are ignored.
///
/// # Panics
/// If they differ in the number of cells.
pub fn affected_area_overlap(first: &[f32], second: &[f32], threshold: f32) -> f64 {
    assert_eq!(first.len(), second.len(), "rasters of different grids");
    let known = first.iter().zip(second).filter(|(a, b)| !a.is_nan() && !b.is_nan());
    let (mut both, mut either) = (0_u64, 0_u64);
    for (a, b) in known {
        both += u64::from(*a > threshold && *b > threshold);
        either += u64::from(*a > threshold || *b > threshold);
    }
    if either == 0 { 1.0 } else { both as f64 / either as f64 }
}

/// Returns the area in m² on the slope of the cell around a height.
pub fn slope_area_m2(terrain: &Terrain, column: usize, row: usize) -> f64 {
    terrain.cell_m() * terrain.cell_m() * steepness(terrain, column, row)
}

/// Returns 1/cos(slope) at a height, from the differences to its known neighbours.
fn steepness(terrain: &Terrain, column: usize, row: usize) -> f64 {
    let at = |i: isize, j: isize| {
        let (column, row) = (column.checked_add_signed(i)?, row.checked_add_signed(j)?);
        terrain.height_at(column, row)
    };
    let rise = |before: Option<f64>, after: Option<f64>| {
        let here = at(0, 0).unwrap_or(0.0);
        let n = f64::from(u8::from(before.is_some()) + u8::from(after.is_some()));
        if n == 0.0 { 0.0 } else { (after.unwrap_or(here) - before.unwrap_or(here)) / (n * terrain.cell_m()) }
    };
    let (east, north) = (rise(at(-1, 0), at(1, 0)), rise(at(0, -1), at(0, 1)));
    (1.0 + east * east + north * north).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes a terrain that descends by one metre per metre to the east, with an unknown corner.
    fn slope() -> Terrain {
        let mut heights: Vec<f64> = (0..20).map(|idx| 20.0 - 5.0 * f64::from(idx % 5)).collect();
        heights[0] = f64::NAN;
        Terrain::new(5, 4, 5.0, [0.0; 2], heights).unwrap()
    }

    fn history(volume_m3: Vec<f32>) -> FlowHistory {
        FlowHistory {
            peak_volume_m3: volume_m3.iter().map(|v| 2.0 * v).collect(),
            peak_speed_m_s: vec![3.0; volume_m3.len()],
            arrival_s: vec![f32::NAN; volume_m3.len()],
            volume_m3,
        }
    }

    proptest! {
        /// No mass is lost on the map, wherever it is.
        #[test]
        fn thickness_holds_the_mass(volumes in prop::collection::vec(0.0..9.0_f32, 20)) {
            let rasters = FlowRasters::new(&slope(), &history(volumes.clone()), 900.0, 200.0);
            let expected: f64 = volumes[1..].iter().map(|v| 900.0 * f64::from(*v)).sum();
            let of = |thickness_m: &[f32]| -> f64 {
                thickness_m[1..].iter().map(|t| f64::from(*t) * 200.0 * 25.0 * 2.0_f64.sqrt()).sum()
            };
            // The rounding of 19 thicknesses to f32.
            let found = of(&rasters.deposit_thickness_m);
            prop_assert!((found - expected).abs() < 1e-6 * (1.0 + expected), "{} {}", found, expected);
            let found = of(&rasters.peak_thickness_m);
            prop_assert!((found - 2.0 * expected).abs() < 2e-6 * (1.0 + expected), "{} {}", found, expected);
        }
    }

    #[test]
    fn rasters_are_written_with_unknown_values_off_the_map_and_where_nothing_arrived() {
        let terrain = slope();
        let mut flow = history(vec![0.0; 20]);
        let one_m = (25.0 * 2.0_f64.sqrt()) as f32 / 4.5;
        (flow.volume_m3[6], flow.peak_volume_m3[6]) = (one_m, 3.0 * one_m);
        // Four neighbours, since a raster must have a known cell between four heights to be read.
        [6, 7, 11, 12].into_iter().for_each(|cell| flow.arrival_s[cell] = 1.5);
        flow.peak_speed_m_s[6] = 10.0;
        let rasters = FlowRasters::new(&terrain, &flow, 900.0, 200.0);
        let folder = tempfile::tempdir().unwrap();
        rasters.write(folder.path(), &terrain).unwrap();
        let expected = [1.0, 3.0, 10.0, 20.0, 1.5];
        for (quantity, expected) in FlowQuantity::ALL.into_iter().zip(expected) {
            let name = quantity.name();
            let file = folder.path().join(name);
            let text = std::fs::read_to_string(file.with_extension("asc")).unwrap();
            let again = Terrain::from_ascii_grid(&text).unwrap();
            let values = again.map_heights_m();
            // 1 m is rounded to f32 twice.
            assert!((values[6] - expected).abs() < 1e-6 * expected, "{name}: {}", values[6]);
            assert!(values[0].is_nan(), "{name}");
            assert_eq!(values[8].is_nan(), name == "arrival_time", "{name}");
            let tiff = Terrain::from_geotiff(&std::fs::read(file.with_extension("tif")).unwrap()).unwrap();
            // Both have all digits of a 32-bit float.
            let bits = |terrain: &Terrain| -> Vec<u32> {
                terrain.map_heights_m().iter().map(|x| (*x as f32).to_bits()).collect()
            };
            assert_eq!(bits(&tiff), bits(&again), "{name}");
        }
        let again = FlowRasters::read(folder.path(), &terrain).unwrap();
        for quantity in FlowQuantity::ALL {
            let bits = |rasters: &FlowRasters| -> Vec<u32> {
                rasters.values(quantity).iter().map(|x| x.to_bits()).collect()
            };
            assert_eq!(bits(&again), bits(&rasters), "{}", quantity.name());
        }
    }

    #[test]
    fn areas_overlap_by_their_common_cells() {
        let (a, b) = ([0.0, 1.0, 2.0, f32::NAN, 3.0], [1.0, 1.0, 0.05, 5.0, f32::NAN]);
        assert!((affected_area_overlap(&a, &b, 0.1) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(affected_area_overlap(&a, &a, 0.1), 1.0);
        assert_eq!(affected_area_overlap(&a, &b, 9.0), 1.0);
    }
}
