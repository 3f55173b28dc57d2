//! Boundary particles (Akinci et al. 2012): fixed ones behind walls that stand for them in the density of water.

use super::{Kind, Neighbour, Parameters, State};
use crate::fluid::{dot, zip};
use crate::primitives::{Grid, cell_starts};

/// Boundary particles, sorted by cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// Position in m and weight in particles of each.
    pub particles: Vec<[f32; 4]>,
    cell_start: Vec<u32>,
}

impl Boundary {
    /// Sorts (position, weight) by the cells of a grid, which are clamped: what lies outside of it is in those at its faces.
    pub fn new(grid: &Grid, mut particles: Vec<[f32; 4]>) -> Self {
        let key = |[x, y, z, _]: &[f32; 4]| grid.cell_key([*x, *y, *z]);
        particles.sort_by_key(key);
        let keys: Vec<u32> = particles.iter().map(key).collect();
        Self { cell_start: cell_starts(&keys, grid.n_cells()), particles }
    }
}

impl State {
    /// The boundary particles closer to particle `i` at `x` than h, each with its weight; none at all, not even an empty list, where
    /// walls are closed forms: for snow they always are.
    pub(super) fn boundary_neighbours(
        &self,
        p: &Parameters,
        kind: Kind,
        i: usize,
        x: [f32; 3],
    ) -> Option<Vec<(f32, Neighbour)>> {
        let boundary = p.boundary.as_ref().filter(|_| kind == Kind::Fluid)?;
        let cell = p.fluid.grid.cell_from_index(self[kind].key[i]);
        let inverse_h = 1.0 / p.fluid.support_m;
        let near = |j: usize| {
            let [bx, by, bz, weight] = boundary.particles[j];
            let offset_h = zip(x, [bx, by, bz], |a, b| (a - b) * inverse_h);
            let q2 = dot(offset_h, offset_h);
            (q2 < 1.0).then(|| (weight, Neighbour { kind, j, offset_h, q: q2.sqrt() }))
        };
        let runs = p.fluid.grid.neighbour_runs(cell, &boundary.cell_start);
        Some(runs.into_iter().flatten().filter_map(near).collect())
    }
}
