//! Contact sheet: final pictures laid out by the first two axes.

use super::axis::VaryAxis;
use super::plan::Case;
use frazil_engine::Failure;
use frazil_engine::outputs::Folder;
use frazil_io::{SweepCase, SweepStatus};
use frazil_render::{ContactSheet, read_png};
use std::path::Path;

/// Maximum number of columns for a single axis, which is a row that wraps.
const MAX_SINGLE_ROW: usize = 8;

/// Draws the contact sheet of all cases and writes it to `path`.
pub fn write(
    path: &Path,
    axes: &[VaryAxis],
    cases: &[Case],
    folders: &[Folder],
    rows: &[SweepCase],
) -> Result<(), Failure> {
    let Some(first) = cases.first() else { return Ok(()) };
    let n_points: Vec<usize> = axes.iter().map(|axis| axis.points.len()).collect();
    let (n_rows, n_columns) = grid(&n_points);
    let size = (first.scene.render.width_px, first.scene.render.height_px);
    let title = format!("{}: how {} cases end", first.scene.name, cases.len());
    let n_lines = first.lines.len() as u32;
    let mut sheet = ContactSheet::new(&title, n_rows as u32, n_columns as u32, size, n_lines);
    for (idx, case) in cases.iter().enumerate() {
        let cell = cell(&n_points, idx) as u32;
        match rows[idx].status {
            SweepStatus::Done => {
                let picture = read_png(&folders[idx].final_picture()).map_err(Failure::other)?;
                sheet.place(cell, &picture, &case.lines);
            }
            SweepStatus::Failed => sheet.place_word(cell, "failed", &case.lines),
            SweepStatus::Pending => sheet.place_word(cell, "not run", &case.lines),
        }
    }
    sheet.write(path).map_err(Failure::other)
}

/// Returns the numbers of rows and columns: the first axis runs down and the second across; further axes
/// repeat this below.
fn grid(n_points: &[usize]) -> (usize, usize) {
    match n_points {
        [] => (1, 1),
        [n] => (n.div_ceil(MAX_SINGLE_ROW), MAX_SINGLE_ROW.min(*n)),
        [down, across, others @ ..] => (down * others.iter().product::<usize>(), *across),
    }
}

/// Returns the cell of case `idx`, counted row by row.
fn cell(n_points: &[usize], idx: usize) -> usize {
    let [down, across, others @ ..] = n_points else { return idx };
    let n_others: usize = others.iter().product();
    let (row, column, block) = (idx / n_others / across, idx / n_others % across, idx % n_others);
    (block * down + row) * across + column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_axis_runs_down_and_the_second_across() {
        assert_eq!((grid(&[3]), grid(&[9]), grid(&[2, 3])), ((1, 3), (2, 8), (2, 3)));
        assert_eq!((0..6).map(|idx| cell(&[2, 3], idx)).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn further_axes_repeat_the_grid_below() {
        let n_points = [2, 2, 3];
        assert_eq!(grid(&n_points), (6, 2));
        let mut cells: Vec<usize> = (0..12).map(|idx| cell(&n_points, idx)).collect();
        assert_eq!(cells[..6], [0, 4, 8, 1, 5, 9]);
        cells.sort_unstable();
        assert_eq!(cells, (0..12).collect::<Vec<_>>());
    }
}
