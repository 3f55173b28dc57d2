//! Boundary particles (Akinci et al. 2012): fixed particles behind walls that represent them in the density
//! of water.

use crate::primitives::{Grid, cell_starts};

/// Boundary particles, sorted by cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// Position in m and weight in particles of each.
    pub particles: Vec<[f32; 4]>,
    pub(super) cell_start: Vec<u32>,
}

impl Boundary {
    /// Sorts (position, weight) by the cells of a grid; positions outside are clamped to its border cells.
    pub fn new(grid: &Grid, mut particles: Vec<[f32; 4]>) -> Self {
        let key = |[x, y, z, _]: &[f32; 4]| grid.cell_key([*x, *y, *z]);
        particles.sort_by_key(key);
        let keys: Vec<u32> = particles.iter().map(key).collect();
        Self { cell_start: cell_starts(&keys, grid.n_cells()), particles }
    }
}
