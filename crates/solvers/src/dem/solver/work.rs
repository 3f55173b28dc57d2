//! Pairs that the passes over contact lists work on.

use super::Dem;
use crate::WorkCounter;
use frazil_shaders::dem::lists::KEPT;
use frazil_shaders::dem::partners::FIRST_WALL;
use frazil_shaders::types::WrappedGrid;
use frazil_vk::Device;

const SEARCHES: &[&str] = &["dem.count_contacts", "dem.list_contacts"];
const COLLIDE: &[&str] = &["dem.collide"];

impl Dem {
    /// Counts, each from both ends: candidates in the 27 cells around each grain, which a search for contacts
    /// tests, as of the last one; grains in contact lists; and those of them, and surfaces, whose contact
    /// goes on after the last step. For profiles only: it waits for the device.
    ///
    /// # Errors
    /// The device was lost.
    pub fn work_counters(&self, device: &Device) -> frazil_vk::Result<Vec<WorkCounter>> {
        let (lists, grid) = (&self.lists, self.parameters().grid());
        let cell_start = lists.cell_start();
        let candidates = count_candidates(&grid, &device.download(cell_start, cell_start.len())?);
        let first_row = &lists.rows.first_row;
        let n_rows = device.download(first_row, first_row.len())?.last().map_or(0, |end| *end as usize);
        let near = &lists.rows.near;
        let (mut listed, mut touching) = (0, [0; 2]);
        for word in device.download(near, n_rows.min(near.len()))? {
            let is_grain = word < FIRST_WALL;
            listed += u64::from(is_grain);
            touching[usize::from(!is_grain)] += u64::from(word & KEPT != 0);
        }
        let counter = |item, kernels, count| WorkCounter { item, kernels, count };
        Ok(vec![
            counter("candidate", SEARCHES, candidates),
            counter("listed_grain", COLLIDE, listed),
            counter("touching_grain", COLLIDE, touching[0]),
            counter("touching_surface", COLLIDE, touching[1]),
        ])
    }
}

/// Counts the grains in the 27 cells around each grain, itself included, as `row_about` of `dem/grid.glsl`
/// visits them.
fn count_candidates(grid: &WrappedGrid, cell_start: &[u32]) -> u64 {
    let [nx, ny, nz] = grid.cells;
    let number = |x: u32, y: u32, z: u32| (x + nx * (y % ny + ny * (z % nz))) as usize;
    let within = |first: usize, cells: usize| u64::from(cell_start[first + cells] - cell_start[first]);
    let mut candidates = 0;
    for z in 0..nz {
        for y in 0..ny {
            // The outermost cells along x stay empty.
            for x in 1..nx - 1 {
                let grains = within(number(x, y, z), 1);
                if grains > 0 {
                    let row = |k: u32| number(x - 1, y + k % 3 + ny - 1, z + k / 3 + nz - 1);
                    candidates += grains * (0..9).map(|k| within(row(k), 3)).sum::<u64>();
                }
            }
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grains in cells, by number; the last entry of the result is their sum.
    fn starts(grains: &[(usize, u32)], cells: usize) -> Vec<u32> {
        let mut starts = vec![0; cells + 1];
        for &(cell, n) in grains {
            starts[cell + 1..].iter_mut().for_each(|start| *start += n);
        }
        starts
    }

    #[test]
    fn candidates_are_the_grains_of_27_cells_that_wrap_across_x() {
        let grid = WrappedGrid { origin_m: [0.0; 3], cells_per_m: 1.0, cells: [6, 5, 4] };
        let count = |grains: &[(usize, u32)]| count_candidates(&grid, &starts(grains, 6 * 5 * 4));
        let at = |x: usize, y: usize, z: usize| x + 6 * (y + 5 * z);
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[(at(1, 0, 0), 3)]), 9);
        // Neighbours along x, and across the ends of y and z, but not those two cells away.
        assert_eq!(count(&[(at(1, 0, 0), 3), (at(2, 4, 3), 2)]), 25);
        assert_eq!(count(&[(at(1, 0, 0), 3), (at(3, 0, 0), 2), (at(1, 2, 2), 1)]), 14);
    }
}
