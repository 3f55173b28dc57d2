//! Regions of the horizontal plane.

use robust::{Coord, orient2d};

use crate::check::number;

/// Depth of a crossing, as a share of the polygon's extent, that is taken for the rounding of its corners.
const CROSSING_TOLERANCE: f64 = 1e-7;

/// A region bounded by rings, with the even–odd rule: a point belongs to it if an odd number of rings enclose
/// it, so that rings within rings are holes.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Rings of corners `[x, y]`; the last is joined to the first.
    pub rings: Vec<Vec<[f64; 2]>>,
}

impl Polygon {
    /// Returns the reason why the rings bound no region, if there is one.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.rings.is_empty() {
            return Some("a polygon without corners".to_owned());
        }
        for ring in &self.rings {
            if let Some([x, y]) = ring.iter().find(|corner| !corner.iter().all(|x| x.is_finite())) {
                return Some(format!("a polygon with a corner at ({x}, {y})"));
            }
            let mut corners = ring.clone();
            corners.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
            corners.dedup();
            if corners.len() < 3 {
                return Some(format!("a polygon of {} different corners", corners.len()));
            }
        }
        let ([left, low], [right, high]) = self.bounds();
        if let Some([x, y]) = self.crossing(CROSSING_TOLERANCE * (right - left).max(high - low)) {
            return Some(format!("a polygon that crosses itself at ({}, {})", number(x), number(y)));
        }
        // The computed area of a degenerate region is rounding error.
        (self.area() <= 1e-9 * (right - left) * (high - low)).then(|| "a polygon without area".to_owned())
    }

    /// Returns a point where two edges cross by more than `tolerance`. Edges that only touch do not.
    fn crossing(&self, tolerance: f64) -> Option<[f64; 2]> {
        let mut all: Vec<([f64; 2], [f64; 2])> = self.rings.iter().flat_map(|ring| edges(ring)).collect();
        let left = |(a, b): &([f64; 2], [f64; 2])| a[0].min(b[0]);
        all.sort_by(|first, second| left(first).total_cmp(&left(second)));
        // Edges from left to right are compared with those that they may meet.
        let mut open: Vec<([f64; 2], [f64; 2])> = Vec::new();
        for edge in all {
            open.retain(|(a, b)| a[0].max(b[0]) >= left(&edge));
            if let Some(place) = open.iter().find_map(|other| crossing_of(*other, edge, tolerance)) {
                return Some(place);
            }
            open.push(edge);
        }
        None
    }

    /// Returns the parts of the region: each ring that is no hole, with the holes in it.
    pub(crate) fn parts(self) -> Vec<Self> {
        if self.rings.len() < 2 {
            return vec![self];
        }
        let area = |ring: &Vec<[f64; 2]>| Self { rings: vec![ring.clone()] }.area();
        let areas: Vec<f64> = self.rings.iter().map(area).collect();
        // A corner may be on another ring, so that most of them decide.
        let is_in = |inner: usize, outer: usize| {
            let n_in =
                self.rings[inner].iter().filter(|[x, y]| crossings(&self.rings[outer], *x, *y) % 2 == 1);
            areas[inner] < areas[outer] && 2 * n_in.count() > self.rings[inner].len()
        };
        let all = 0..self.rings.len();
        let around: Vec<Vec<usize>> =
            all.clone().map(|inner| all.clone().filter(|&outer| is_in(inner, outer)).collect()).collect();
        let is_hole = |ring: usize| around[ring].len() % 2 == 1;
        let outer: Vec<usize> = all.clone().filter(|&ring| !is_hole(ring)).collect();
        let mut parts: Vec<Self> =
            outer.iter().map(|&ring| Self { rings: vec![self.rings[ring].clone()] }).collect();
        for hole in all.filter(|&ring| is_hole(ring)) {
            let nearest = around[hole].iter().filter(|&&ring| !is_hole(ring));
            let nearest = nearest.min_by(|a, b| areas[**a].total_cmp(&areas[**b]));
            let part = nearest.and_then(|nearest| outer.iter().position(|ring| ring == nearest));
            if let Some(part) = part {
                parts[part].rings.push(self.rings[hole].clone());
            }
        }
        parts
    }

    /// Returns the lower and upper corner of the bounding rectangle.
    pub fn bounds(&self) -> ([f64; 2], [f64; 2]) {
        let corners = || self.rings.iter().flatten();
        let min = |i: usize| corners().map(|c| c[i]).fold(f64::INFINITY, f64::min);
        let max = |i: usize| corners().map(|c| c[i]).fold(f64::NEG_INFINITY, f64::max);
        ([min(0), min(1)], [max(0), max(1)])
    }

    /// Returns true if the region contains a point.
    pub fn contains(&self, [x, y]: [f64; 2]) -> bool {
        self.rings.iter().map(|ring| crossings(ring, x, y)).sum::<usize>() % 2 == 1
    }

    /// Returns the area, for rings that do not cross: rings within an odd number of others count negative.
    pub fn area(&self) -> f64 {
        let area_of = |ring: &Vec<[f64; 2]>| {
            // Relative to the first corner, so that map coordinates do not suffer cancellation.
            let Some(&[x0, y0]) = ring.first() else { return 0.0 };
            let cross = |a: [f64; 2], b: [f64; 2]| (a[0] - x0) * (b[1] - y0) - (a[1] - y0) * (b[0] - x0);
            0.5 * edges(ring).map(|(a, b)| cross(a, b)).sum::<f64>().abs()
        };
        let total: f64 = self
            .rings
            .iter()
            .enumerate()
            .map(|(idx, ring)| {
                let others = self.rings.iter().enumerate().filter(|(other, _)| *other != idx);
                let within = ring
                    .first()
                    .map_or(0, |&[x, y]| others.filter(|(_, other)| crossings(other, x, y) % 2 == 1).count());
                if within % 2 == 0 { area_of(ring) } else { -area_of(ring) }
            })
            .sum();
        total.max(0.0)
    }
}

fn edges(ring: &[[f64; 2]]) -> impl Iterator<Item = ([f64; 2], [f64; 2])> {
    ring.iter().copied().zip(ring.iter().copied().cycle().skip(1))
}

/// Returns the point where two edges cross, if each end of both is farther than `tolerance` from the other.
fn crossing_of(
    (a, b): ([f64; 2], [f64; 2]),
    (c, d): ([f64; 2], [f64; 2]),
    tolerance: f64,
) -> Option<[f64; 2]> {
    if a[1].max(b[1]) < c[1].min(d[1]) || c[1].max(d[1]) < a[1].min(b[1]) {
        return None;
    }
    let side = |from: [f64; 2], to: [f64; 2], at: [f64; 2]| {
        let coord = |[x, y]: [f64; 2]| Coord { x, y };
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        orient2d(coord(from), coord(to), coord(at)) / length
    };
    let is_between = |p: f64, q: f64| p.abs().min(q.abs()) > tolerance && (p > 0.0) != (q > 0.0);
    let (from_c, from_d) = (side(a, b, c), side(a, b, d));
    if !is_between(from_c, from_d) || !is_between(side(c, d, a), side(c, d, b)) {
        return None;
    }
    let share = from_c / (from_c - from_d);
    Some([c[0] + share * (d[0] - c[0]), c[1] + share * (d[1] - c[1])])
}

/// Counts the edges of a ring that a ray from the point along x crosses. Each edge includes its lower end,
/// not its upper.
fn crossings(ring: &[[f64; 2]], x: f64, y: f64) -> usize {
    edges(ring)
        .filter(|(a, b)| (a[1] <= y) != (b[1] <= y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
        .count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn square(x: f64, y: f64, side: f64) -> Vec<[f64; 2]> {
        vec![[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    }

    #[test]
    fn rings_within_rings_are_holes() {
        let ring =
            Polygon { rings: vec![square(0.0, 0.0, 4.0), square(1.0, 1.0, 2.0), square(10.0, 0.0, 1.0)] };
        assert_eq!(ring.area(), 16.0 - 4.0 + 1.0);
        assert!(ring.contains([0.5, 2.0]) && !ring.contains([2.0, 2.0]) && ring.contains([10.5, 0.5]));
        assert!(!ring.contains([-0.5, 2.0]) && !ring.contains([5.0, 2.0]) && !ring.contains([2.0, -1.0]));
        assert_eq!(ring.problem(), None);
    }

    proptest! {
        /// The area of a star polygon about its centre equals that of the points it contains.
        #[test]
        fn the_area_is_that_of_what_it_contains(radii in prop::collection::vec(0.2..1.0_f64, 3..12), far in 0.0..1e6_f64) {
            let n = radii.len();
            let ring = radii
                .iter()
                .enumerate()
                .map(|(k, r)| {
                    let angle = std::f64::consts::TAU * k as f64 / n as f64;
                    [far + r * angle.cos(), far + r * angle.sin()]
                })
                .collect();
            let polygon = Polygon { rings: vec![ring] };
            let ([x0, y0], [x1, y1]) = polygon.bounds();
            let m = 120;
            let share = |k: i32, a: f64, b: f64| a + (f64::from(k) + 0.5) / f64::from(m) * (b - a);
            let inside = (0..m * m).filter(|k| polygon.contains([share(k % m, x0, x1), share(k / m, y0, y1)])).count();
            let counted = inside as f64 / f64::from(m * m) * (x1 - x0) * (y1 - y0);
            prop_assert!((counted - polygon.area()).abs() < 0.05, "{} {}", counted, polygon.area());
        }
    }

    #[test]
    fn a_polygon_that_crosses_itself_is_refused_with_the_place() {
        let problem = |rings: Vec<Vec<[f64; 2]>>| Polygon { rings }.problem();
        let bow = vec![[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 2.0]];
        let expected = "a polygon that crosses itself at (1.333333333333, 1.333333333333)";
        assert_eq!(problem(vec![bow]).as_deref(), Some(expected));
        let holes = |x: f64| vec![square(0.0, 0.0, 4.0), square(x, 1.0, 2.0)];
        assert_eq!(problem(holes(3.0)).as_deref(), Some("a polygon that crosses itself at (4, 1)"));
        // A hole may touch the outline, by an edge or, within rounding, by a corner.
        assert_eq!(problem(holes(2.0)), None);
        let touching = vec![[4.0 + 1e-9, 2.0], [3.0, 3.0], [3.0, 1.0]];
        assert_eq!(problem(vec![square(0.0, 0.0, 4.0), touching]), None);
        // Two triangles that share a corner.
        assert_eq!(
            problem(vec![vec![[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.0], [0.0, 2.0]]]),
            None
        );
    }

    #[test]
    fn parts_have_their_holes() {
        let rings = vec![
            square(1.0, 1.0, 1.0),
            square(0.0, 0.0, 9.0),
            square(20.0, 0.0, 2.0),
            square(3.0, 3.0, 4.0),
            square(4.0, 4.0, 1.0),
        ];
        let whole = Polygon { rings: rings.clone() };
        let parts = whole.clone().parts();
        let of = |n: &[usize]| Polygon { rings: n.iter().map(|n| rings[*n].clone()).collect() };
        assert_eq!(parts, [of(&[1, 0, 3]), of(&[2]), of(&[4])]);
        assert_eq!(parts.iter().map(Polygon::area).sum::<f64>(), whole.area());
    }

    #[test]
    fn degenerate_polygons_are_named() {
        let problem =
            |rings: &[&[[f64; 2]]]| Polygon { rings: rings.iter().map(|r| r.to_vec()).collect() }.problem();
        assert_eq!(problem(&[]).unwrap(), "a polygon without corners");
        assert_eq!(problem(&[&[]]).unwrap(), "a polygon of 0 different corners");
        assert_eq!(
            problem(&[&[[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]]).unwrap(),
            "a polygon of 2 different corners"
        );
        assert_eq!(problem(&[&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]]).unwrap(), "a polygon without area");
        assert_eq!(
            problem(&[&[[0.0, 0.0], [1.0, f64::NAN], [2.0, 2.0]]]).unwrap(),
            "a polygon with a corner at (1, NaN)"
        );
    }
}
