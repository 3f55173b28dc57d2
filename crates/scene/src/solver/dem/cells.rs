//! Neighbour search in a grid of cells.

use crate::watch::Watch;
use crate::{SceneError, Vec3};

/// Maximum number of cells along one axis.
const MAX_CELLS: f64 = 1024.0;

/// Points sorted by cells of a regular grid.
pub(crate) struct Cells {
    low: Vec3,
    cell: Vec3,
    n: [usize; 3],
    /// First index of each cell's points in `order`, and the end of the last cell's.
    starts: Vec<u32>,
    order: Vec<u32>,
}

impl Cells {
    /// Sorts points into cells no smaller than `reach`: the neighbours of a point within that distance lie in
    /// its cell or in one of the 26 around it.
    pub(crate) fn new(points: &[Vec3], reach: f64, watch: &mut Watch<'_>) -> Result<Self, SceneError> {
        let (mut min, mut max) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for point in points {
            watch.tick(1)?;
            min = std::array::from_fn(|i| min[i].min(point[i]));
            max = std::array::from_fn(|i| max[i].max(point[i]));
        }
        let low: Vec3 = std::array::from_fn(|i| if points.is_empty() { 0.0 } else { min[i] });
        let extent: Vec3 = std::array::from_fn(|i| if points.is_empty() { 0.0 } else { max[i] - low[i] });
        // Bounds the number of cells to a few for each point.
        let max_per_axis = (4.0 * points.len() as f64 + 64.0).cbrt().ceil();
        let flat = max_per_axis.powi(3) / extent.map(|e| (e / reach).max(1.0)).iter().product::<f64>();
        let coarser = if flat < 1.0 { flat.cbrt() } else { 1.0 };
        let n = extent.map(|e| (e / reach * coarser).floor().clamp(1.0, MAX_CELLS) as usize);
        let cell: Vec3 = std::array::from_fn(|i| (extent[i] / n[i] as f64).max(reach));
        let mut cells = Self { low, cell, n, starts: Vec::new(), order: vec![0; points.len()] };
        let mut keys = Vec::with_capacity(points.len());
        let mut starts = vec![0_u32; n.iter().product::<usize>() + 1];
        for point in points {
            watch.tick(1)?;
            let key = cells.key(cells.place(*point));
            starts[key + 1] += 1;
            keys.push(key);
        }
        for key in 1..starts.len() {
            watch.tick(1)?;
            starts[key] += starts[key - 1];
        }
        let mut next = starts.clone();
        for (idx, key) in keys.into_iter().enumerate() {
            watch.tick(1)?;
            cells.order[next[key] as usize] = idx as u32;
            next[key] += 1;
        }
        cells.starts = starts;
        Ok(cells)
    }

    fn place(&self, point: Vec3) -> [usize; 3] {
        std::array::from_fn(|i| {
            (((point[i] - self.low[i]) / self.cell[i]).max(0.0) as usize).min(self.n[i] - 1)
        })
    }

    fn key(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.n[1] + j) * self.n[0] + i
    }

    /// Calls `visit` with all points in a box, and with others near it.
    pub(crate) fn visit_box(&self, [low, high]: [Vec3; 2], mut visit: impl FnMut(u32)) {
        let (low, high) = (self.place(low), self.place(high));
        for k in low[2]..=high[2] {
            for j in low[1]..=high[1] {
                let run = self.starts[self.key([low[0], j, k])]..self.starts[self.key([high[0], j, k]) + 1];
                self.order[run.start as usize..run.end as usize].iter().for_each(|&idx| visit(idx));
            }
        }
    }

    /// Calls `visit` with the points in the cell of `point` and in the cells around it.
    pub(crate) fn visit_near(&self, point: Vec3, mut visit: impl FnMut(u32)) {
        self.visit_places_near(point, |place| visit(self.order[place]));
    }

    /// Returns the indices of the points in the order of their cells.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Like [`Self::visit_near`], with places in [`Self::order`].
    pub(crate) fn visit_places_near(&self, point: Vec3, mut visit: impl FnMut(usize)) {
        let place = self.place(point);
        let range = |axis: usize| place[axis].saturating_sub(1)..=(place[axis] + 1).min(self.n[axis] - 1);
        for k in range(2) {
            for j in range(1) {
                // Neighbours along the first axis are consecutive.
                let (first, last) = (*range(0).start(), *range(0).end());
                let run = self.starts[self.key([first, j, k])]..self.starts[self.key([last, j, k]) + 1];
                (run.start as usize..run.end as usize).for_each(&mut visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_near_points_are_found(
            points in prop::collection::vec(prop::array::uniform3(-3.0..3.0_f64), 0..80),
            reach in 0.05..2.0_f64,
            flat in any::<bool>(),
        ) {
            let points: Vec<Vec3> = points.into_iter().map(|[x, y, z]| [x, y, if flat { 0.0 } else { 100.0 * z }]).collect();
            let cells = Cells::new(&points, reach, &mut Watch::unobserved()).unwrap();
            for a in &points {
                let mut found = Vec::new();
                cells.visit_near(*a, |b| found.push(b as usize));
                for (b, other) in points.iter().enumerate() {
                    let distance2 = (0..3).map(|i| (a[i] - other[i]).powi(2)).sum::<f64>();
                    let times = found.iter().filter(|&&idx| idx == b).count();
                    prop_assert!(times <= 1 && (times == 1 || distance2 > reach * reach));
                }
            }
        }
    }
}
