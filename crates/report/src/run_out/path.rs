//! The path of a flow over its terrain, and positions along it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use frazil_scene::Terrain;

/// Number of passes of the filter (1, 2, 1)/4 that smooths the path: a standard deviation of four cells,
/// which removes the steps of a path over cells.
const SMOOTHING_PASSES: usize = 32;

/// Share of the maximum by which a flow's weight is raised everywhere: a detour through the strongest flow is
/// worth at most its inverse.
const MIN_WEIGHT: f64 = 1e-3;

/// Path of a flow over the cells of a terrain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlowPath {
    /// Points in the scene in m, from the release down, about a cell apart.
    pub points_m: Vec<[f64; 2]>,
    /// Horizontal distance of each point from the first along the path, in m.
    pub along_m: Vec<f64>,
}

/// A cell in the queue of a search, nearest first, with a number that the search gives it.
type Queued = Reverse<(OrderedF64, usize, usize)>;

#[derive(Debug, Clone, Copy, PartialEq)]
struct OrderedF64(f64);

impl Eq for OrderedF64 {}

impl PartialOrd for OrderedF64 {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedF64 {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Returns the neighbours of a cell that share an edge or a corner, with their distances in cells.
fn neighbours(idx: usize, [n_columns, n_rows]: [usize; 2]) -> impl Iterator<Item = (usize, f64)> {
    let (column, row) = ((idx % n_columns) as isize, (idx / n_columns) as isize);
    (-1..=1_isize).flat_map(move |j| (-1..=1_isize).map(move |i| (i, j))).filter_map(move |(i, j)| {
        let (x, y) = (column + i, row + j);
        let is_inside = x >= 0 && y >= 0 && (x as usize) < n_columns && (y as usize) < n_rows;
        let distance = ((i * i + j * j) as f64).sqrt();
        (is_inside && distance > 0.0).then(|| (y as usize * n_columns + x as usize, distance))
    })
}

/// Marks the cells of `is_member` that are connected with one of `from` through members; neighbours share an
/// edge or a corner.
pub(crate) fn connected(is_member: &[bool], from: impl Iterator<Item = usize>, n: [usize; 2]) -> Vec<bool> {
    let mut is_reached = vec![false; is_member.len()];
    let mut open: Vec<usize> = from.filter(|idx| is_member[*idx]).collect();
    for idx in &open {
        is_reached[*idx] = true;
    }
    while let Some(idx) = open.pop() {
        for (next, _) in neighbours(idx, n) {
            if is_member[next] && !is_reached[next] {
                is_reached[next] = true;
                open.push(next);
            }
        }
    }
    is_reached
}

/// Returns the position in the scene of the middle of a cell.
pub(crate) fn centre_m(terrain: &Terrain, idx: usize) -> [f64; 2] {
    [idx % terrain.n_columns(), idx / terrain.n_columns()].map(|k| k as f64 * terrain.cell_m())
}

/// Returns, for each cell, the nearest of some points and its distance in m, if one is connected with it
/// through the cells of `is_member`.
pub(crate) fn nearest_points(
    terrain: &Terrain,
    is_member: &[bool],
    points_m: &[[f64; 2]],
) -> Vec<Option<(usize, f64)>> {
    let n = [terrain.n_columns(), terrain.n_rows()];
    let mut nearest: Vec<Option<(usize, f64)>> = vec![None; is_member.len()];
    let mut queue: BinaryHeap<Queued> = BinaryHeap::new();
    let mut offer = |idx: usize, point: usize, queue: &mut BinaryHeap<Queued>| {
        let found_m = distance(centre_m(terrain, idx), points_m[point]);
        if nearest[idx].is_none_or(|(_, nearest_m)| found_m < nearest_m) {
            nearest[idx] = Some((point, found_m));
            queue.push(Reverse((OrderedF64(found_m), idx, point)));
        }
    };
    for (point, at) in points_m.iter().enumerate() {
        let [column, row] = at.map(|x| (x / terrain.cell_m()).round() as usize);
        offer(row.min(n[1] - 1) * n[0] + column.min(n[0] - 1), point, &mut queue);
    }
    // A cell offers its nearest point to its neighbours; entries that a nearer point replaced change nothing.
    while let Some(Reverse((_, idx, point))) = queue.pop() {
        for (next, _) in neighbours(idx, n).filter(|(next, _)| is_member[*next]) {
            offer(next, point, &mut queue);
        }
    }
    nearest
}

impl FlowPath {
    /// Finds the path from one cell to another over the cells of `is_member` that follows the strongest flow:
    /// the one of the least sum of length over `weight`, smoothed. `None` if the cells are not connected.
    pub fn find(
        terrain: &Terrain,
        is_member: &[bool],
        weight: impl Fn(usize) -> f64,
        from: usize,
        to: usize,
    ) -> Option<Self> {
        let n = [terrain.n_columns(), terrain.n_rows()];
        let strongest = (0..is_member.len()).filter(|idx| is_member[*idx]).map(&weight).fold(0.0, f64::max);
        let cost = |idx: usize| match strongest > 0.0 {
            true => 1.0 / (MIN_WEIGHT + weight(idx) / strongest),
            false => 1.0,
        };
        let mut cheapest = vec![f64::INFINITY; is_member.len()];
        let mut before = vec![usize::MAX; is_member.len()];
        let mut queue: BinaryHeap<Queued> = BinaryHeap::new();
        cheapest[from] = 0.0;
        queue.push(Reverse((OrderedF64(0.0), from, from)));
        while let Some(Reverse((OrderedF64(sum), idx, _))) = queue.pop() {
            if idx == to {
                break;
            }
            if sum > cheapest[idx] {
                continue;
            }
            for (next, distance) in neighbours(idx, n).filter(|(next, _)| is_member[*next]) {
                let sum = sum + 0.5 * distance * (cost(idx) + cost(next));
                if sum < cheapest[next] {
                    (cheapest[next], before[next]) = (sum, idx);
                    queue.push(Reverse((OrderedF64(sum), next, idx)));
                }
            }
        }
        if cheapest[to].is_infinite() {
            return None;
        }
        let mut cells = vec![to];
        while cells[cells.len() - 1] != from {
            cells.push(before[cells[cells.len() - 1]]);
        }
        let points = cells.iter().rev().map(|idx| centre_m(terrain, *idx)).collect();
        Some(Self::through(smoothed(points)))
    }

    /// Makes the path through points.
    pub fn through(points_m: Vec<[f64; 2]>) -> Self {
        let mut along_m = Vec::with_capacity(points_m.len());
        let mut sum = 0.0;
        for (idx, point) in points_m.iter().enumerate() {
            sum += if idx == 0 { 0.0 } else { distance(*point, points_m[idx - 1]) };
            along_m.push(sum);
        }
        Self { points_m, along_m }
    }

    /// Returns the length of the path in m, on the map.
    pub fn length_m(&self) -> f64 {
        self.along_m.last().copied().unwrap_or(0.0)
    }

    /// Returns, for each cell of `is_member`, the distance along the path in m of the path's nearest point;
    /// NaN for others. Distances are measured through members, so that two arms of a bend stay apart.
    pub fn positions_m(&self, terrain: &Terrain, is_member: &[bool]) -> Vec<f64> {
        let nearest = nearest_points(terrain, is_member, &self.points_m);
        let position = |(idx, nearest): (usize, Option<(usize, f64)>)| match nearest {
            Some((vertex, _)) if is_member[idx] => self.position_near_m(centre_m(terrain, idx), vertex),
            _ => f64::NAN,
        };
        nearest.into_iter().enumerate().map(position).collect()
    }

    /// Returns the distance along the path of the nearest point on the two segments at a vertex.
    fn position_near_m(&self, point: [f64; 2], vertex: usize) -> f64 {
        let segments = [vertex.checked_sub(1), Some(vertex).filter(|v| v + 1 < self.points_m.len())];
        let found = segments.into_iter().flatten().map(|first| {
            let ([ax, ay], [bx, by]) = (self.points_m[first], self.points_m[first + 1]);
            let (dx, dy) = (bx - ax, by - ay);
            let square = dx * dx + dy * dy;
            let share = match square > 0.0 {
                true => (((point[0] - ax) * dx + (point[1] - ay) * dy) / square).clamp(0.0, 1.0),
                false => 0.0,
            };
            let away = distance(point, [ax + share * dx, ay + share * dy]);
            (away, self.along_m[first] + share * (self.along_m[first + 1] - self.along_m[first]))
        });
        let nearest = found.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.map_or(self.along_m[vertex], |(_, along_m)| along_m)
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Smooths a path; its ends stay.
fn smoothed(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    for _ in 0..SMOOTHING_PASSES {
        let before = points.clone();
        for (point, window) in points.iter_mut().skip(1).zip(before.windows(3)) {
            *point = std::array::from_fn(|i| 0.25 * (window[0][i] + 2.0 * window[1][i] + window[2][i]));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(n: [usize; 2]) -> Terrain {
        Terrain::new(n[0], n[1], 2.0, [0.0; 2], vec![0.0; n[0] * n[1]]).unwrap()
    }

    #[test]
    fn a_path_follows_the_strongest_flow() {
        // A channel along a quarter of a circle of radius 60 m, in a flow that is weak elsewhere.
        let n = [40, 40];
        let radius = |idx: usize| ((idx % 40) as f64 * 2.0).hypot((idx / 40) as f64 * 2.0);
        let weight = |idx: usize| if (radius(idx) - 60.0).abs() < 3.0 { 1.0 } else { 0.01 };
        let path = FlowPath::find(&flat(n), &[true; 1600], weight, 30, 30 * 40).unwrap();
        assert!(path.points_m.iter().all(|[x, y]| (x.hypot(*y) - 60.0).abs() < 4.0), "{path:?}");
        let arc = 60.0 * std::f64::consts::FRAC_PI_2;
        assert!((path.length_m() / arc - 1.0).abs() < 0.03, "{} {arc}", path.length_m());
        assert_eq!((path.points_m[0], *path.points_m.last().unwrap()), ([60.0, 0.0], [0.0, 60.0]));
    }

    #[test]
    fn a_straight_path_has_the_length_of_the_line() {
        // Along and oblique to the lattice: steps over cells alone would be up to 8 % too long.
        for (to, n) in [([50, 0], [51, 4]), ([50, 50], [51, 51]), ([50, 20], [51, 21]), ([24, 50], [25, 51])]
        {
            let length = (to[0] as f64).hypot(to[1] as f64);
            let away = |idx: usize| {
                let (x, y) = ((idx % n[0]) as f64, (idx / n[0]) as f64);
                (x * to[1] as f64 - y * to[0] as f64).abs() / length
            };
            let weight = |idx: usize| (-away(idx).powi(2)).exp();
            let members = vec![true; n[0] * n[1]];
            let path = FlowPath::find(&flat(n), &members, weight, 0, to[1] * n[0] + to[0]).unwrap();
            assert!((path.length_m() / (2.0 * length) - 1.0).abs() < 0.01, "{to:?}: {}", path.length_m());
        }
    }

    #[test]
    fn cells_without_a_connection_have_no_path() {
        let mut is_member = vec![true; 25];
        (0..5).for_each(|row| is_member[row * 5 + 2] = false);
        assert_eq!(FlowPath::find(&flat([5, 5]), &is_member, |_| 1.0, 0, 4), None);
        let reached = connected(&is_member, [0].into_iter(), [5, 5]);
        assert_eq!(reached.iter().filter(|is| **is).count(), 10);
        // A corner connects.
        is_member[12] = true;
        assert!(FlowPath::find(&flat([5, 5]), &is_member, |_| 1.0, 0, 4).is_some());
    }

    #[test]
    fn cells_are_placed_beside_their_point_on_the_path() {
        let terrain = flat([40, 9]);
        let path = FlowPath::through((0..40).map(|i| [f64::from(i) * 2.0, 8.0]).collect());
        let positions = path.positions_m(&terrain, &vec![true; 360]);
        for (idx, position) in positions.iter().enumerate() {
            assert!((position - (idx % 40) as f64 * 2.0).abs() < 1e-9, "{idx}: {position}");
        }
        // Two arms of a bend, separated by cells that are not reached: the near arm is not next to the cell.
        let mut is_member = vec![true; 360];
        (0..39).for_each(|column| is_member[4 * 40 + column] = false);
        let bend: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i) * 2.0, 0.0]).collect();
        let back = (0..40).rev().map(|i| [f64::from(i) * 2.0, 16.0]);
        let path = FlowPath::through(bend.into_iter().chain(back).collect());
        let positions = path.positions_m(&terrain, &is_member);
        assert!(positions[3 * 40].abs() < 1e-9, "{}", positions[3 * 40]);
        assert!((positions[5 * 40] - path.length_m()).abs() < 1e-9, "{}", positions[5 * 40]);
        assert!(positions[4 * 40].is_nan());
    }
}
