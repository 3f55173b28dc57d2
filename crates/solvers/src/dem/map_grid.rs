//! Grid of a map of a flow, and the units in which it is summed.

use frazil_scene::Terrain;

/// Exponent of the quanta of volume in a grain's volume: the volume times speed of 2²² grains at 2¹⁰ m/s fits
/// into 63 bits, and the slowest speed that counts is 2⁻³¹ m/s.
const QUANTA_EXPONENT: f64 = 30.0;

/// Grid of a map, in the scene's horizontal plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapGrid {
    /// Number of cells from west to east and from south to north. The first is centred on the origin.
    pub n_cells: [u32; 2],
    /// Inverse of the width of a cell, in 1/m.
    pub cells_per_m: f32,
    /// Quanta per m³ in which volumes are summed, a power of two.
    pub quanta_per_m3: f32,
}

impl MapGrid {
    /// Makes the grid of a terrain, each cell centred on one of its heights, for grains of this radius in m.
    pub fn of(terrain: &Terrain, radius_m: f64) -> Self {
        let n_cells = [terrain.n_columns() as u32, terrain.n_rows() as u32];
        Self::new(n_cells, terrain.cell_m(), radius_m)
    }

    /// Makes a grid of cells of width `cell_m`.
    pub fn new(n_cells: [u32; 2], cell_m: f64, radius_m: f64) -> Self {
        let ball_m3 = 4.0 / 3.0 * std::f64::consts::PI * radius_m.powi(3);
        let exponent = (QUANTA_EXPONENT - ball_m3.log2().ceil()).clamp(-100.0, 100.0);
        Self { n_cells, cells_per_m: (1.0 / cell_m) as f32, quanta_per_m3: exponent.exp2() as f32 }
    }

    /// Returns the number of cells.
    pub(super) fn n(&self) -> usize {
        self.n_cells.iter().map(|&n| n as usize).product()
    }
}
