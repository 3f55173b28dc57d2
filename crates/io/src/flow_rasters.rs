//! Rasters of a flow of grains over its terrain, for comparison with avalanche observations.

use std::path::Path;

use frazil_scene::Terrain;

use crate::error::Result;
use crate::raster::write_ascii_grid;

/// Current and peak thickness and speed of a flow over the cells of a terrain, each cell centred on one of
/// its heights.
///
/// Thickness is measured perpendicular to the slope, as in depth-averaged models: the mass over a cell,
/// divided by the bulk density and by the cell's area on the slope. Speed is the mass-weighted mean over a
/// cell.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowRasters {
    n_columns: usize,
    n_rows: usize,
    cell_m: f64,
    /// Mass in kg per cell that corresponds to a thickness of 1 m; NaN off the map.
    kg_per_m: Vec<f64>,
    thickness_m: Vec<f32>,
    peak_thickness_m: Vec<f32>,
    peak_speed_m_s: Vec<f32>,
    n_beyond: u64,
}

impl FlowRasters {
    /// Makes rasters without any flow, for snow whose bulk density in kg/m³ converts mass to thickness.
    pub fn new(terrain: &Terrain, bulk_density_kg_m3: f64) -> Self {
        let (n_columns, n_rows, cell_m) = (terrain.n_columns(), terrain.n_rows(), terrain.cell_m());
        let kg_per_m = (0..n_columns * n_rows).map(|idx| {
            let (column, row) = (idx % n_columns, idx / n_columns);
            match terrain.height_at(column, row) {
                Some(_) => bulk_density_kg_m3 * cell_m * cell_m * steepness(terrain, column, row),
                None => f64::NAN,
            }
        });
        let none = vec![0.0; n_columns * n_rows];
        Self {
            n_columns,
            n_rows,
            cell_m,
            kg_per_m: kg_per_m.collect(),
            thickness_m: none.clone(),
            peak_thickness_m: none.clone(),
            peak_speed_m_s: none,
            n_beyond: 0,
        }
    }

    /// Adds the state at one instant. Positions and velocities are in the scene's coordinates, masses in kg;
    /// the summation order is that of the grains.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn add(&mut self, positions_m: &[[f32; 3]], velocities_m_s: &[[f32; 3]], masses_kg: &[f32]) {
        let n = positions_m.len();
        assert!(velocities_m_s.len() == n && masses_kg.len() == n, "columns of different lengths");
        let n_cells = self.kg_per_m.len();
        let (mut mass_kg, mut momentum) = (vec![0.0_f64; n_cells], vec![0.0_f64; n_cells]);
        self.n_beyond = 0;
        for ((position, velocity), mass) in positions_m.iter().zip(velocities_m_s).zip(masses_kg) {
            let Some(cell) = self.cell(*position) else {
                self.n_beyond += 1;
                continue;
            };
            let speed = velocity.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            mass_kg[cell] += f64::from(*mass);
            momentum[cell] += f64::from(*mass) * speed;
        }
        for cell in 0..n_cells {
            let thickness_m = mass_kg[cell] / self.kg_per_m[cell];
            self.thickness_m[cell] = thickness_m as f32;
            self.peak_thickness_m[cell] = greater(self.peak_thickness_m[cell], thickness_m as f32);
            if mass_kg[cell] > 0.0 {
                let speed = (momentum[cell] / mass_kg[cell]) as f32;
                self.peak_speed_m_s[cell] = greater(self.peak_speed_m_s[cell], speed);
            }
        }
    }

    /// Returns the cell around the nearest known height; `None` off the map.
    fn cell(&self, position_m: [f32; 3]) -> Option<usize> {
        let place = |x: f32, n: usize| {
            let along = (f64::from(x) / self.cell_m).round();
            (along >= 0.0 && along < n as f64).then_some(along as usize)
        };
        let (column, row) = (place(position_m[0], self.n_columns)?, place(position_m[1], self.n_rows)?);
        let cell = row * self.n_columns + column;
        (!self.kg_per_m[cell].is_nan()).then_some(cell)
    }

    /// Returns the thickness in m at the last instant: the deposit, once everything is at rest. Rows from the
    /// south, NaN off the map.
    pub fn thickness_m(&self) -> Vec<f32> {
        self.on_map(&self.thickness_m)
    }

    /// Returns the maximum thickness in m over all instants.
    pub fn peak_thickness_m(&self) -> Vec<f32> {
        self.on_map(&self.peak_thickness_m)
    }

    /// Returns the maximum speed in m/s over all instants.
    pub fn peak_speed_m_s(&self) -> Vec<f32> {
        self.on_map(&self.peak_speed_m_s)
    }

    /// Returns the number of grains off the map at the last instant, which no raster shows.
    pub fn n_beyond(&self) -> u64 {
        self.n_beyond
    }

    fn on_map(&self, values: &[f32]) -> Vec<f32> {
        values
            .iter()
            .zip(&self.kg_per_m)
            .map(|(value, mass)| if mass.is_nan() { f32::NAN } else { *value })
            .collect()
    }

    /// Writes `deposit_thickness.asc`, `peak_thickness.asc` and `peak_speed.asc` into `folder`, on the
    /// terrain's own grid. See [`write_ascii_grid`].
    ///
    /// # Errors
    /// Like [`write_ascii_grid`].
    pub fn write(&self, folder: &Path, terrain: &Terrain) -> Result<()> {
        write_ascii_grid(&folder.join("deposit_thickness.asc"), terrain, &self.thickness_m())?;
        write_ascii_grid(&folder.join("peak_thickness.asc"), terrain, &self.peak_thickness_m())?;
        write_ascii_grid(&folder.join("peak_speed.asc"), terrain, &self.peak_speed_m_s())
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

fn greater(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
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

    proptest! {
        /// No mass is lost on the map, wherever it is.
        #[test]
        fn thickness_holds_the_mass(grains in prop::collection::vec((-4.0..24.0_f32, -4.0..19.0_f32, 0.1..9.0_f32), 0..60)) {
            let terrain = slope();
            let mut rasters = FlowRasters::new(&terrain, 200.0);
            let positions: Vec<_> = grains.iter().map(|(x, y, _)| [*x, *y, 0.0]).collect();
            let masses: Vec<f32> = grains.iter().map(|(_, _, m)| *m).collect();
            rasters.add(&positions, &vec![[0.0; 3]; grains.len()], &masses);
            let is_on_map = |x: f32, y: f32| {
                let (i, j) = ((x / 5.0).round(), (y / 5.0).round());
                (0.0..5.0).contains(&i) && (0.0..4.0).contains(&j) && (i, j) != (0.0, 0.0)
            };
            let expected: f64 = grains.iter().filter(|(x, y, _)| is_on_map(*x, *y)).map(|(_, _, m)| f64::from(*m)).sum();
            let beyond = grains.iter().filter(|(x, y, _)| !is_on_map(*x, *y)).count();
            let volume: f64 = rasters.thickness_m().iter().filter(|t| !t.is_nan()).map(|t| f64::from(*t)).sum();
            let found = volume * 200.0 * 25.0 * 2.0_f64.sqrt();
            prop_assert!((found - expected).abs() < 1e-4 * (1.0 + expected), "{} {}", found, expected);
            prop_assert_eq!(rasters.n_beyond(), beyond as u64);
        }
    }

    #[test]
    fn peaks_are_of_all_instants_and_the_deposit_of_the_last() {
        let terrain = slope();
        let mut rasters = FlowRasters::new(&terrain, 100.0);
        let one_m = (100.0 * 25.0 * 2.0_f64.sqrt()) as f32;
        // Two grains in the cell around (5, 5), then one there and one outside it.
        rasters.add(
            &[[5.0, 5.0, 0.0], [7.4, 2.6, 0.0]],
            &[[3.0, 0.0, 4.0], [0.0, 0.0, 1.0]],
            &[one_m, 3.0 * one_m],
        );
        rasters.add(&[[5.0, 5.0, 0.0], [7.6, 5.0, 0.0]], &[[0.0; 3], [0.0, 7.0, 0.0]], &[one_m, 3.0 * one_m]);
        let (here, next) = (5 + 1, 5 + 2);
        let near = |a: f32, b: f32| (a - b).abs() < 1e-5;
        let deposit = rasters.thickness_m();
        assert!(
            near(deposit[here], 1.0) && near(deposit[next], 3.0) && deposit[0].is_nan() && deposit[1] == 0.0
        );
        let peak = rasters.peak_thickness_m();
        assert!(near(peak[here], 4.0) && near(peak[next], 3.0));
        // (1 · 5 + 3 · 1)/4 of the first instant.
        let speed = rasters.peak_speed_m_s();
        assert!(near(speed[here], 2.0) && near(speed[next], 7.0), "{speed:?}");

        let folder = tempfile::tempdir().unwrap();
        rasters.write(folder.path(), &terrain).unwrap();
        let text = std::fs::read_to_string(folder.path().join("peak_speed.asc")).unwrap();
        let again = Terrain::from_ascii_grid(&text).unwrap();
        assert_eq!((again.map_heights_m()[here], again.map_heights_m()[next]), (2.0, 7.0));
        assert!(again.map_heights_m()[0].is_nan());
        for name in ["deposit_thickness.asc", "peak_thickness.asc"] {
            assert!(folder.path().join(name).is_file());
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
