//! Map of a flow: peaks of all steps over the cells of a terrain.

use super::step::Grain;
use std::f64::consts::PI;

/// Map of a flow over a grid whose first cell is centred on the origin, rows along y.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMap {
    n_cells: [usize; 2],
    cells_per_m: f32,
    /// Volume in m³ and volume times speed in m⁴/s over each cell, of the step that is being mapped.
    pub sums: Vec<[f64; 2]>,
    /// Maximum volume in m³.
    pub peak_volume: Vec<f64>,
    /// Maximum of the mean speed in m/s, weighted by volume.
    pub peak_speed: Vec<f64>,
    /// First step with a grain over the cell.
    pub first_step: Vec<Option<u64>>,
}

impl FlowMap {
    /// Makes an empty map of cells of width 1/`cells_per_m`.
    pub fn new(n_cells: [usize; 2], cells_per_m: f32) -> Self {
        let n = n_cells[0] * n_cells[1];
        let (peak_volume, peak_speed) = (vec![0.0; n], vec![0.0; n]);
        Self {
            n_cells,
            cells_per_m,
            sums: vec![[0.0; 2]; n],
            peak_volume,
            peak_speed,
            first_step: vec![None; n],
        }
    }

    /// Maps the state after a step.
    pub fn map(&mut self, grains: &[Grain], step: u64) {
        self.add_to_map(grains);
        self.raise_peaks(grains, step);
        self.clear_map(grains);
    }

    /// Adds volume, and volume times speed, of each grain to its cell.
    pub fn add_to_map(&mut self, grains: &[Grain]) {
        for grain in grains {
            let Some(cell) = self.cell(grain) else { continue };
            let volume = 4.0 / 3.0 * PI * grain.radius.powi(3);
            self.sums[cell][0] += volume;
            self.sums[cell][1] += volume * grain.velocity.length();
        }
    }

    /// Raises the peaks of the cell of each grain to the sums.
    pub fn raise_peaks(&mut self, grains: &[Grain], step: u64) {
        for cell in grains.iter().filter_map(|grain| self.cell(grain)).collect::<Vec<_>>() {
            let [volume, flux] = self.sums[cell];
            self.peak_volume[cell] = self.peak_volume[cell].max(volume);
            self.peak_speed[cell] = self.peak_speed[cell].max(flux / volume);
            let first = self.first_step[cell].get_or_insert(step);
            *first = step.min(*first);
        }
    }

    /// Clears the sums of the cell of each grain.
    pub fn clear_map(&mut self, grains: &[Grain]) {
        for cell in grains.iter().filter_map(|grain| self.cell(grain)).collect::<Vec<_>>() {
            self.sums[cell] = [0.0; 2];
        }
    }

    /// Returns the cell under a grain, in single precision like the device: a grain on an edge belongs to the
    /// same cell.
    fn cell(&self, grain: &Grain) -> Option<usize> {
        let place = |x: f64, n: usize| {
            let along = (x as f32 * self.cells_per_m + 0.5).floor();
            (along >= 0.0 && along < n as f32).then_some(along as usize)
        };
        let column = place(grain.position.x, self.n_cells[0])?;
        Some(place(grain.position.y, self.n_cells[1])? * self.n_cells[0] + column)
    }
}
