//! Lines of equal value of a field over a grid, by marching squares.

use std::collections::HashMap;

/// Values at the points of a grid, rows from the south and each from the west; NaN where unknown.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub n_columns: usize,
    pub n_rows: usize,
    pub value: &'a dyn Fn(usize, usize) -> f64,
}

/// Edge between a grid point and its neighbour to the east (axis 0) or to the north (axis 1).
type Edge = (usize, usize, u8);

/// Returns the lines at `level` as polylines of points in units of the grid's cells; a line that is closed
/// ends at its first point.
///
/// A line separates points above the level from those at or below it, and crosses edges at the linearly
/// interpolated value. Where a cell has two opposite corners above, its mean decides whether they are
/// connected. Cells with an unknown corner have no lines.
pub(super) fn isolines(field: &Field<'_>, level: f64) -> Vec<Vec<[f64; 2]>> {
    let mut crossings: Vec<[Edge; 2]> = Vec::new();
    for row in 0..field.n_rows.saturating_sub(1) {
        for column in 0..field.n_columns.saturating_sub(1) {
            cell_crossings(field, level, column, row, &mut crossings);
        }
    }
    let mut at_edge: HashMap<Edge, [Option<usize>; 2]> = HashMap::new();
    for (idx, ends) in crossings.iter().enumerate() {
        for edge in ends {
            let pair = at_edge.entry(*edge).or_default();
            pair[usize::from(pair[0].is_some())] = Some(idx);
        }
    }
    let is_end = |edge: &Edge| at_edge[edge][1].is_none();
    let mut is_used = vec![false; crossings.len()];
    let mut lines = Vec::new();
    // Open lines from their ends, then closed ones.
    let open = crossings.iter().enumerate().flat_map(|(idx, ends)| ends.map(|edge| (idx, edge)));
    let open = open.filter(|(_, edge)| is_end(edge));
    let closed = crossings.iter().enumerate().map(|(idx, ends)| (idx, ends[0]));
    for (first, begin) in open.chain(closed) {
        if is_used[first] {
            continue;
        }
        let mut line = vec![crossing_point(field, level, begin)];
        let (mut idx, mut edge) = (first, begin);
        loop {
            is_used[idx] = true;
            edge = if crossings[idx][0] == edge { crossings[idx][1] } else { crossings[idx][0] };
            line.push(crossing_point(field, level, edge));
            match at_edge[&edge].into_iter().flatten().find(|next| !is_used[*next]) {
                Some(next) => idx = next,
                None => break,
            }
        }
        lines.push(line);
    }
    lines
}

/// Appends the one or two pieces of the line in a cell, each as the two edges that it joins.
fn cell_crossings(field: &Field<'_>, level: f64, column: usize, row: usize, found: &mut Vec<[Edge; 2]>) {
    let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(i, j)| (field.value)(column + i, row + j));
    if corners.iter().any(|value| value.is_nan()) {
        return;
    }
    let above = corners.map(|value| value > level);
    // South, east, north, west: each between two successive corners.
    let edges: [Edge; 4] = [(column, row, 0), (column + 1, row, 1), (column, row + 1, 0), (column, row, 1)];
    let crossed: Vec<usize> = (0..4).filter(|i| above[*i] != above[(i + 1) % 4]).collect();
    match crossed[..] {
        [a, b] => found.push([edges[a], edges[b]]),
        [_, _, _, _] => {
            let middle = corners.iter().sum::<f64>() / 4.0 > level;
            // Lines cut off the corners that the middle is not connected with.
            let pairs = if middle == above[0] { [[0, 1], [2, 3]] } else { [[3, 0], [1, 2]] };
            found.extend(pairs.map(|pair| pair.map(|i| edges[i])));
        }
        _ => {}
    }
}

fn crossing_point(field: &Field<'_>, level: f64, (column, row, axis): Edge) -> [f64; 2] {
    let (east, north) = if axis == 0 { (1, 0) } else { (0, 1) };
    let (a, b) = ((field.value)(column, row), (field.value)(column + east, row + north));
    let share = (level - a) / (b - a);
    [column as f64 + share * east as f64, row as f64 + share * north as f64]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n: usize, value: &dyn Fn(usize, usize) -> f64, level: f64) -> Vec<Vec<[f64; 2]>> {
        isolines(&Field { n_columns: n, n_rows: n, value }, level)
    }

    #[test]
    fn a_plane_has_one_straight_line() {
        let found = lines(6, &|i, j| 2.0 * i as f64 + j as f64, 5.0);
        assert_eq!(found.len(), 1);
        for [x, y] in &found[0] {
            assert!((2.0 * x + y - 5.0).abs() < 1e-12);
        }
        let ends = [found[0][0], *found[0].last().unwrap()].map(|[_, y]| y);
        assert!(ends.contains(&0.0) && ends.contains(&5.0), "{ends:?}");
    }

    #[test]
    fn a_cone_has_a_circle() {
        let value = |i: usize, j: usize| (i as f64 - 20.0).hypot(j as f64 - 20.0);
        let found = lines(41, &value, 12.0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].first(), found[0].last());
        let length: f64 = found[0].windows(2).map(|p| (p[0][0] - p[1][0]).hypot(p[0][1] - p[1][1])).sum();
        assert!((length / (24.0 * std::f64::consts::PI) - 1.0).abs() < 0.01, "{length}");
        assert!(found[0].iter().all(|[x, y]| ((x - 20.0).hypot(y - 20.0) - 12.0).abs() < 0.1));
    }

    #[test]
    fn opposite_corners_are_connected_if_the_middle_is() {
        let saddle = |middle_up: f64| move |i: usize, j: usize| if i == j { middle_up } else { 0.0 };
        for (high, level) in [(3.0, 1.0), (1.5, 1.0)] {
            let found = lines(2, &saddle(high), level);
            assert_eq!(found.len(), 2);
            // The middle is at 1.5 or 0.75: lines cut off the low corners, or the high ones.
            let corner = |line: &Vec<[f64; 2]>| {
                let sum: f64 = line.iter().map(|[x, y]| x + y).sum();
                (sum / 2.0 - 1.0).abs() < 0.5 - 1e-9
            };
            assert_eq!(found.iter().all(corner), high > 2.0, "{found:?}");
        }
    }

    #[test]
    fn unknown_cells_interrupt_lines() {
        let value = |i: usize, j: usize| if (i, j) == (3, 3) { f64::NAN } else { i as f64 - 2.5 };
        let found = lines(6, &value, 0.0);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
