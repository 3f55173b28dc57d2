//! Uniform grid over particle positions, and the brute-force oracle for its tests.

use core::ops::Range;

/// A uniform grid of cubic cells. Positions outside belong to the nearest border cell, so no particle is
/// lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Lower corner of cell (0, 0, 0), in metres.
    pub origin_m: [f32; 3],
    /// Edge of a cell in metres. [`Grid::neighbour_runs`] finds every pair only if it is at least the
    /// interaction radius.
    pub cell_size_m: f32,
    /// Cells along x, y, z, each at least 1; their product fits u32.
    pub dims: [u32; 3],
}

impl Grid {
    /// The smallest grid with cells of `cell_size_m` that covers the box `min_m..max_m`.
    pub fn covering(min_m: [f32; 3], max_m: [f32; 3], cell_size_m: f32) -> Self {
        let dims = core::array::from_fn(|a| ((max_m[a] - min_m[a]) / cell_size_m).ceil().max(1.0) as u32);
        Self { origin_m: min_m, cell_size_m, dims }
    }

    /// Number of cells.
    pub fn n_cells(&self) -> u32 {
        self.dims[0] * self.dims[1] * self.dims[2]
    }

    /// Returns the cell coordinates of a position, clamped to the grid; NaN belongs to cell 0.
    ///
    /// The division is the only step that Vulkan does not round exactly (2.5 ulp): a position within a few
    /// ulp of a cell face may get the neighbouring cell there.
    pub fn cell_coords(&self, x_m: [f32; 3]) -> [u32; 3] {
        core::array::from_fn(|a| {
            let scaled = (x_m[a] - self.origin_m[a]) / self.cell_size_m;
            // max first: it turns NaN into 0.
            scaled.max(0.0).min((self.dims[a] - 1) as f32) as u32
        })
    }

    /// Returns the linear index of a cell, x fastest: x + dims.x·(y + dims.y·z).
    pub fn cell_index(&self, cell: [u32; 3]) -> u32 {
        cell[0] + self.dims[0] * (cell[1] + self.dims[1] * cell[2])
    }

    /// Inverse of [`Grid::cell_index`].
    pub fn cell_from_index(&self, index: u32) -> [u32; 3] {
        let [nx, ny, _] = self.dims;
        [index % nx, index / nx % ny, index / (nx * ny)]
    }

    /// Returns the sort key of a position: the linear index of its cell.
    pub fn cell_key(&self, x_m: [f32; 3]) -> u32 {
        self.cell_index(self.cell_coords(x_m))
    }

    /// Returns the nine contiguous runs of sorted particles that hold every neighbour of a particle in
    /// `cell`: one for each (dy, dz) in −1..=1, dy fastest, each spanning x−1..x+1 clamped to the grid; empty
    /// where y or z leave the grid. `cell_start` is from [`cell_starts`].
    pub fn neighbour_runs(&self, cell: [u32; 3], cell_start: &[u32]) -> [Range<usize>; 9] {
        let [x, y, z] = cell;
        let first_x = x.saturating_sub(1);
        let last_x = (x + 1).min(self.dims[0] - 1);
        core::array::from_fn(|run| {
            let run = run as u32;
            let (row_y, row_z) = ((y + run % 3).wrapping_sub(1), (z + run / 3).wrapping_sub(1));
            if row_y >= self.dims[1] || row_z >= self.dims[2] {
                return 0..0;
            }
            let row = self.dims[0] * (row_y + self.dims[1] * row_z);
            cell_start[(row + first_x) as usize] as usize..cell_start[(row + last_x + 1) as usize] as usize
        })
    }
}

/// Returns the Z-order (Morton) number of a cell: the bits of x, y and z interleaved, lowest first; an axis
/// contributes as many bits as `dims` requires.
pub fn z_order_key(dims: [u32; 3], cell: [u32; 3]) -> u32 {
    let (mut key, mut place) = (0, 0);
    for level in 0..u32::BITS {
        for axis in 0..3 {
            if (dims[axis] - 1) >> level > 0 {
                key |= (cell[axis] >> level & 1) << place;
                place += 1;
            }
        }
    }
    key
}

/// Returns the cell key of every position.
pub fn cell_keys(grid: &Grid, position_m: &[[f32; 3]]) -> Vec<u32> {
    position_m.iter().map(|&x| grid.cell_key(x)).collect()
}

/// Returns the index of the first particle of each cell in ascending keys, and the particle count as a last
/// entry: cell `c` holds `start[c]..start[c + 1]`. An empty cell has its lower bound, so a run over several
/// cells needs only two entries.
pub fn cell_starts(sorted_keys: &[u32], n_cells: u32) -> Vec<u32> {
    let mut start = vec![0u32; n_cells as usize + 1];
    // Elements of no cell are behind all others.
    for &key in sorted_keys.iter().filter(|key| **key < n_cells) {
        start[key as usize + 1] += 1;
    }
    for cell in 1..start.len() {
        start[cell] += start[cell - 1];
    }
    start
}

/// Returns for each position the ascending indices of all others closer than `radius_m`, by O(N²) comparison:
/// the oracle.
pub fn neighbours_brute_force(position_m: &[[f32; 3]], radius_m: f32) -> Vec<Vec<u32>> {
    let closer = |x: &[f32; 3], y: &[f32; 3]| {
        let d: [f32; 3] = core::array::from_fn(|a| x[a] - y[a]);
        d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < radius_m * radius_m
    };
    let others = |i: usize| {
        (0..position_m.len())
            .filter(move |&j| j != i && closer(&position_m[i], &position_m[j]))
            .map(|j| j as u32)
            .collect()
    };
    (0..position_m.len()).map(others).collect()
}
