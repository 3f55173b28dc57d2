//! Text as a region of the plane.

use ab_glyph::{Font, FontRef, GlyphId, OutlineCurve, Point};

/// Default font of text.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-Bold.latin1.ttf");

/// Number of line segments for a curve: the arc of a letter's bowl is then off by less than a thousandth of
/// its height.
const LINES_PER_CURVE: u32 = 8;

/// Distance of baselines, in heights of a capital letter.
const LINE_HEIGHT: f64 = 1.6;

type Point2 = [f64; 2];

/// Region that lines of text cover, in units of the height of a capital letter: the points with a non-zero
/// winding number. The first baseline starts at the origin.
#[derive(Debug)]
pub struct Outline {
    segments: Vec<[Point2; 2]>,
    /// Corners of the bounding rectangle.
    pub(crate) bounds: [Point2; 2],
    /// Area of the region.
    pub(crate) area: f64,
}

/// Error for a missing outline: the problem and its source.
#[derive(Debug, PartialEq)]
pub(crate) enum NoOutline {
    Font(String),
    Text(String),
}

impl Outline {
    /// Makes the outline of `text` in the font file `font`, or in the engine's default font. The error
    /// describes the problem.
    pub(crate) fn of_text(text: &str, font: Option<&[u8]>) -> Result<Self, NoOutline> {
        let no_font = |what: &str| NoOutline::Font(what.to_owned());
        let font = FontRef::try_from_slice(font.unwrap_or(FONT)).map_err(|_| no_font("no valid font"))?;
        let capital = font.outline(font.glyph_id('H')).ok_or_else(|| no_font("no letter H to measure by"))?;
        let scale = 1.0 / f64::from(capital.bounds.max.y.max(capital.bounds.min.y));
        let mut segments = Vec::new();
        for (line_idx, line) in text.lines().enumerate() {
            let baseline = -LINE_HEIGHT * line_idx as f64;
            let mut x = 0.0;
            let mut last: Option<GlyphId> = None;
            for letter in line.chars() {
                let glyph = font.glyph_id(letter);
                if glyph.0 == 0 {
                    return Err(NoOutline::Text(format!("no letter {letter:?}")));
                }
                x += last.map_or(0.0, |last| f64::from(font.kern_unscaled(last, glyph)));
                let place = |p: Point| [scale * (x + f64::from(p.x)), baseline + scale * f64::from(p.y)];
                for curve in font.outline(glyph).into_iter().flat_map(|outline| outline.curves) {
                    flatten(&curve, place, &mut segments);
                }
                x += f64::from(font.h_advance_unscaled(glyph));
                last = Some(glyph);
            }
        }
        if segments.is_empty() {
            return Err(NoOutline::Text(format!("nothing to see in {text:?}")));
        }
        let ends = || segments.iter().flatten();
        let min = |i: usize| ends().map(|p| p[i]).fold(f64::INFINITY, f64::min);
        let max = |i: usize| ends().map(|p| p[i]).fold(f64::NEG_INFINITY, f64::max);
        let bounds = [[min(0), min(1)], [max(0), max(1)]];
        let area = wound_area(&mut segments);
        Ok(Self { segments, bounds, area })
    }

    /// Returns true if `point` lies in the region and at least `inset` from its edge; a negative inset widens
    /// the region.
    pub(crate) fn contains(&self, point: Point2, inset: f64) -> bool {
        let [min, max] = self.bounds;
        if (0..2).any(|i| point[i] < min[i] + inset || point[i] > max[i] - inset) {
            return false;
        }
        let inside = self.winding(point) != 0;
        if inset == 0.0 || inside != (inset > 0.0) {
            return inside;
        }
        let is_near = self.segments.iter().any(|segment| square_distance(segment, point) < inset * inset);
        inside != is_near
    }

    /// Returns the winding number of the contours about `point`.
    fn winding(&self, point: Point2) -> i32 {
        let [x, y] = point;
        let mut winding = 0;
        for [a, b] in &self.segments {
            let (rises, falls) = (a[1] <= y && y < b[1], b[1] <= y && y < a[1]);
            if !(rises || falls) {
                continue;
            }
            let left = (b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1]) > 0.0;
            if left == rises {
                winding += if rises { 1 } else { -1 };
            }
        }
        winding
    }
}

/// Appends the line segments of a curve. Uses sums and products only, which give the same bits on every
/// platform.
fn flatten(curve: &OutlineCurve, place: impl Fn(Point) -> Point2, segments: &mut Vec<[Point2; 2]>) {
    let controls: Vec<Point2> = match *curve {
        OutlineCurve::Line(a, b) => return segments.push([place(a), place(b)]),
        OutlineCurve::Quad(a, b, c) => vec![place(a), place(b), place(c)],
        OutlineCurve::Cubic(a, b, c, d) => vec![place(a), place(b), place(c), place(d)],
    };
    let mut begin = controls[0];
    for k in 1..=LINES_PER_CURVE {
        let end = if k == LINES_PER_CURVE {
            controls[controls.len() - 1]
        } else {
            bezier(&controls, f64::from(k) / f64::from(LINES_PER_CURVE))
        };
        segments.push([begin, end]);
        begin = end;
    }
}

/// Returns the point of a Bézier curve at `t`, by de Casteljau's algorithm.
fn bezier(controls: &[Point2], t: f64) -> Point2 {
    let mut points = controls.to_vec();
    while points.len() > 1 {
        points = points
            .windows(2)
            .map(|pair| std::array::from_fn(|i| pair[0][i] + t * (pair[1][i] - pair[0][i])))
            .collect();
    }
    points[0]
}

/// Returns the area with a non-zero winding number. Between the heights at which segments end or cross, it
/// consists of trapezoids.
fn wound_area(segments: &mut [[Point2; 2]]) -> f64 {
    segments.sort_by(|a, b| left_end(a).total_cmp(&left_end(b)));
    let mut heights: Vec<f64> = segments.iter().flatten().map(|p| p[1]).collect();
    for (idx, first) in segments.iter().enumerate() {
        let reach = first[0][0].max(first[1][0]);
        let beside = segments[idx + 1..].iter().take_while(|second| left_end(second) <= reach);
        heights.extend(beside.filter_map(|second| crossing_height(first, second)));
    }
    heights.sort_by(f64::total_cmp);
    let mut area = 0.0;
    let mut crossed: Vec<(f64, i32)> = Vec::new();
    for band in heights.windows(2) {
        let (height, middle) = (band[1] - band[0], 0.5 * (band[0] + band[1]));
        if height <= 0.0 {
            continue;
        }
        crossed.clear();
        crossed.extend(segments.iter().filter_map(|[a, b]| {
            let turn = match (a[1] <= middle && middle < b[1], b[1] <= middle && middle < a[1]) {
                (true, _) => 1,
                (_, true) => -1,
                _ => return None,
            };
            Some((a[0] + (middle - a[1]) / (b[1] - a[1]) * (b[0] - a[0]), turn))
        }));
        crossed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut winding = 0;
        for pair in crossed.windows(2) {
            winding += pair[0].1;
            if winding != 0 {
                area += height * (pair[1].0 - pair[0].0);
            }
        }
    }
    area
}

fn left_end(segment: &[Point2; 2]) -> f64 {
    segment[0][0].min(segment[1][0])
}

/// Returns the height at which two segments cross between their ends.
fn crossing_height([a, b]: &[Point2; 2], [c, d]: &[Point2; 2]) -> Option<f64> {
    let cross = |u: Point2, v: Point2| u[0] * v[1] - u[1] * v[0];
    let minus = |p: &Point2, q: &Point2| [p[0] - q[0], p[1] - q[1]];
    let (along, across, between) = (minus(b, a), minus(d, c), minus(c, a));
    let parallel = cross(along, across);
    if parallel == 0.0 {
        return None;
    }
    let (s, t) = (cross(between, across) / parallel, cross(between, along) / parallel);
    (0.0 < s && s < 1.0 && 0.0 < t && t < 1.0).then_some(a[1] + s * along[1])
}

fn square_distance([a, b]: &[Point2; 2], p: Point2) -> f64 {
    let (along, offset) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length2 = along[0] * along[0] + along[1] * along[1];
    let t = if length2 > 0.0 { (offset[0] * along[0] + offset[1] * along[1]) / length2 } else { 0.0 };
    let t = t.clamp(0.0, 1.0);
    (0..2).map(|i| (offset[i] - t * along[i]).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(outline: &Outline, n: u32) -> impl Iterator<Item = Point2> {
        let [min, max] = outline.bounds;
        (0..n * n).map(move |k| {
            let share = |k: u32| (f64::from(k) + 0.5) / f64::from(n);
            let (u, v) = (share(k % n), share(k / n));
            [min[0] + u * (max[0] - min[0]), min[1] + v * (max[1] - min[1])]
        })
    }

    #[test]
    fn the_area_is_that_of_what_the_outline_contains() {
        for text in ["HOB", "äß&8", "a\nb", "%@"] {
            let outline = Outline::of_text(text, None).unwrap();
            let [min, max] = outline.bounds;
            let n = 400;
            let inside = points(&outline, n).filter(|p| outline.contains(*p, 0.0)).count() as f64;
            let counted = inside / f64::from(n * n) * (max[0] - min[0]) * (max[1] - min[1]);
            assert!((counted / outline.area - 1.0).abs() < 3e-3, "{text}: {counted} and {}", outline.area);
        }
    }

    #[test]
    fn a_capital_is_one_high_and_letters_have_holes() {
        let outline = Outline::of_text("H", None).unwrap();
        assert!((outline.bounds[1][1] - 1.0).abs() < 1e-6 && outline.bounds[0][1].abs() < 1e-6);
        let ring = Outline::of_text("O", None).unwrap();
        let middle = std::array::from_fn(|i| 0.5 * (ring.bounds[0][i] + ring.bounds[1][i]));
        assert!(!ring.contains(middle, 0.0));
        assert!(ring.contains([ring.bounds[0][0] + 0.05, middle[1]], 0.02));
        assert!(!ring.contains([ring.bounds[0][0] + 0.05, middle[1]], 0.06));
        assert!(ring.contains([ring.bounds[0][0] - 0.05, middle[1]], -0.06));
    }

    /// Two overlapping squares are one region, for any orientation of their contours.
    #[test]
    fn doubly_wound_areas_count_once() {
        let square = |x: f64, y: f64| {
            let corners = [[x, y], [x + 2.0, y], [x + 2.0, y + 2.0], [x, y + 2.0]];
            (0..4).map(move |k| [corners[k], corners[(k + 1) % 4]])
        };
        let mut both: Vec<_> = square(0.0, 0.0).chain(square(1.0, 1.0)).collect();
        assert!((wound_area(&mut both) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn letters_that_the_font_lacks_are_named() {
        let of_text = |text: &str| NoOutline::Text(text.to_owned());
        assert_eq!(Outline::of_text("a雪", None).unwrap_err(), of_text("no letter '雪'"));
        assert_eq!(Outline::of_text("  ", None).unwrap_err(), of_text("nothing to see in \"  \""));
        let of_font = NoOutline::Font("no valid font".to_owned());
        assert_eq!(Outline::of_text("a", Some(b"no font")).unwrap_err(), of_font);
    }
}
