//! Missing heights within the map.

use std::collections::VecDeque;

use super::{Terrain, place};

impl Terrain {
    /// Like [`Self::heights_m`], with unknown heights replaced by that of the nearest known one, counted in
    /// steps between neighbours, so that particles beyond the map do not fall forever.
    pub fn extended_heights_m(&self) -> Vec<f32> {
        let nearest = nearest_known(self.n_columns, self.n_rows, &self.heights_m);
        nearest.into_iter().map(|idx| (self.heights_m[idx] - self.base_m) as f32).collect()
    }

    /// Refuses terrain with holes, or fills them. Holes are unknown heights that the map encloses; unknown
    /// heights connected to the edge of the grid are outside the map, whatever its outline.
    pub(crate) fn without_holes(mut self, fill: bool) -> Result<Self, String> {
        let holes = find_holes(self.n_columns, self.n_rows, &self.heights_m);
        let Some(largest) = holes.iter().max_by_key(|hole| hole.len()) else { return Ok(self) };
        if fill {
            holes.iter().for_each(|hole| fill_hole(self.n_columns, &mut self.heights_m, hole));
            return Ok(self);
        }
        let n: usize = holes.iter().map(Vec::len).sum();
        let idx = largest[0];
        let [x, y] = [idx % self.n_columns, idx / self.n_columns].map(|i| i as f64 * self.cell_m);
        let [easting, northing] = self.to_map_m([x, y]);
        Err(format!(
            "{n} unknown heights that known ones enclose, in {} holes; the largest, of {} heights, begins at \
             {}, easting {easting:.1} m and northing {northing:.1} m",
            holes.len(),
            largest.len(),
            place(idx, self.n_columns),
        ))
    }
}

/// Returns the sets of unknown heights that do not reach the edge of the grid, in the order of their first.
/// Sets are connected across corners too, like the ragged edge of the map.
fn find_holes(n_columns: usize, n_rows: usize, heights: &[f64]) -> Vec<Vec<usize>> {
    let mut seen: Vec<bool> = heights.iter().map(|height| !height.is_nan()).collect();
    let mut holes = Vec::new();
    for first in 0..heights.len() {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        let (mut set, mut next, mut reaches_edge) = (vec![first], 0, false);
        while next < set.len() {
            let (i, j) = (set[next] % n_columns, set[next] / n_columns);
            next += 1;
            reaches_edge |= i == 0 || j == 0 || i + 1 == n_columns || j + 1 == n_rows;
            for row in j.saturating_sub(1)..=(j + 1).min(n_rows - 1) {
                for column in i.saturating_sub(1)..=(i + 1).min(n_columns - 1) {
                    let idx = row * n_columns + column;
                    if !seen[idx] {
                        seen[idx] = true;
                        set.push(idx);
                    }
                }
            }
        }
        if !reaches_edge {
            holes.push(set);
        }
    }
    holes
}

/// Maximum number of sweeps over a hole, and the change in m at which they end.
const MAX_SWEEPS: usize = 20_000;
const SETTLED_M: f64 = 1e-9;

/// Fills a hole with the membrane that its edge spans: every height is the mean of its four neighbours'. It
/// continues a plane exactly, and no height lies beyond those at the edge.
fn fill_hole(n_columns: usize, heights: &mut [f64], hole: &[usize]) {
    // A hole is within the grid, so that there are four neighbours; diagonal ones are not needed.
    let around = |idx: usize| [idx - n_columns, idx - 1, idx + 1, idx + n_columns];
    let edge: Vec<f64> = hole
        .iter()
        .flat_map(|&idx| around(idx))
        .map(|idx| heights[idx])
        .filter(|height| !height.is_nan())
        .collect();
    let mean = edge.iter().sum::<f64>() / edge.len() as f64;
    hole.iter().for_each(|&idx| heights[idx] = mean);
    // Successive over-relaxation, with the optimal factor for a square of as many heights.
    let side = (hole.len() as f64).sqrt() + 1.0;
    let omega = 2.0 / (1.0 + (std::f64::consts::PI / side).sin());
    for _ in 0..MAX_SWEEPS {
        let mut change = 0.0_f64;
        for &idx in hole {
            let mean = 0.25 * around(idx).iter().map(|&idx| heights[idx]).sum::<f64>();
            let step = omega * (mean - heights[idx]);
            heights[idx] += step;
            change = change.max(step.abs());
        }
        if change < SETTLED_M {
            break;
        }
    }
}

/// Returns for every height the index of the nearest known one, counted in steps between neighbours; ties are
/// broken by the heights alone. At least one height must be known.
fn nearest_known(n_columns: usize, n_rows: usize, heights: &[f64]) -> Vec<usize> {
    let mut nearest = vec![usize::MAX; heights.len()];
    let mut queue: VecDeque<usize> = VecDeque::new();
    for (idx, _) in heights.iter().enumerate().filter(|(_, height)| !height.is_nan()) {
        nearest[idx] = idx;
        queue.push_back(idx);
    }
    while let Some(idx) = queue.pop_front() {
        let (i, j) = (idx % n_columns, idx / n_columns);
        let neighbours = [
            (j > 0).then(|| idx - n_columns),
            (i > 0).then(|| idx - 1),
            (i + 1 < n_columns).then_some(idx + 1),
            (j + 1 < n_rows).then_some(idx + n_columns),
        ];
        for neighbour in neighbours.into_iter().flatten() {
            if nearest[neighbour] == usize::MAX {
                nearest[neighbour] = nearest[idx];
                queue.push_back(neighbour);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    fn terrain(n_columns: usize, heights: &[f64]) -> Terrain {
        Terrain::new(n_columns, heights.len() / n_columns, 10.0, [95.0, 195.0], heights.to_vec()).unwrap()
    }

    #[test]
    fn unknown_heights_at_the_edge_are_where_the_map_ends() {
        // A ragged corner, whose second height is connected to the first across its own corner only.
        let mut heights = [1.0; 25];
        heights[0] = NAN;
        heights[6] = NAN;
        let kept = terrain(5, &heights).without_holes(false).unwrap();
        assert_eq!(kept.height_at(1, 1), None);
        let filled = terrain(5, &heights).without_holes(true).unwrap();
        assert_eq!(filled.height_at(1, 1), None);
    }

    #[test]
    fn unknown_heights_at_each_edge_are_not_holes() {
        for edge in [2, 10, 14, 22] {
            let mut heights = [1.0; 25];
            heights[edge] = NAN;
            assert!(terrain(5, &heights).without_holes(false).is_ok(), "{edge}");
        }
        let mut heights = [1.0; 25];
        heights[12] = NAN;
        assert!(terrain(5, &heights).without_holes(false).is_err());
    }

    #[test]
    fn holes_are_counted_and_placed() {
        let mut heights = [1.0; 49];
        for idx in [8, 16, 17, 33] {
            heights[idx] = NAN;
        }
        let message = terrain(7, &heights).without_holes(false).unwrap_err();
        assert_eq!(
            message,
            "4 unknown heights that known ones enclose, in 2 holes; the largest, of 3 heights, begins at row \
             2 from the south, column 2 from the west, easting 110.0 m and northing 210.0 m"
        );
    }

    #[test]
    fn filling_continues_a_plane() {
        let (n, plane) = (12, |idx: usize| 3.0 * (idx % 12) as f64 - 2.0 * (idx / 12) as f64);
        let mut heights: Vec<f64> = (0..n * n).map(plane).collect();
        for (i, j) in [(3, 3), (4, 3), (5, 3), (5, 4), (5, 5), (6, 6), (4, 4), (9, 9)] {
            heights[j * n + i] = NAN;
        }
        let filled = terrain(n, &heights).without_holes(true).unwrap();
        for (idx, height) in filled.map_heights_m().iter().enumerate() {
            assert!((height - plane(idx)).abs() < 1e-7, "{height} at {idx}");
        }
    }

    #[test]
    fn filling_settles_in_a_large_hole_between_its_edges() {
        let n = 120;
        let mut heights: Vec<f64> = (0..n * n).map(|idx| if idx % n < n / 2 { 0.0 } else { 10.0 }).collect();
        for j in 5..n - 5 {
            heights[j * n + 5..j * n + n - 5].fill(NAN);
        }
        let filled = terrain(n, &heights).without_holes(true).unwrap();
        let at = |i: usize, j: usize| filled.height_at(i, j).unwrap();
        for j in 6..n - 6 {
            for i in 6..n - 6 {
                let mean = 0.25 * (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1));
                assert!((at(i, j) - mean).abs() < 1e-8 && (0.0..=10.0).contains(&at(i, j)));
            }
        }
    }

    #[test]
    fn the_nearest_known_height_goes_on_beyond_the_map() {
        let heights = [NAN, NAN, 3.0, 4.0, NAN, NAN, 7.0, 8.0];
        let terrain = terrain(4, &heights);
        assert_eq!(terrain.extended_heights_m(), [0.0, 0.0, 0.0, 1.0, 4.0, 4.0, 4.0, 5.0]);
    }
}
