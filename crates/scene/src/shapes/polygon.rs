//! Regions of the horizontal plane.

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
        // The computed area of a degenerate region is rounding error.
        (self.area() <= 1e-9 * (right - left) * (high - low)).then(|| "a polygon without area".to_owned())
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
