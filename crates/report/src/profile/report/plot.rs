//! Plots as SVG elements that take their colours from the page.

use maud::{Markup, html};

/// Width of every plot in its own units; the page scales it.
pub const WIDTH: f64 = 960.0;
/// Left end of bars with short labels, which are left of it.
const LEFT: f64 = 190.0;
/// Maximum of the width of a character of a label.
const CHARACTER: f64 = 7.0;
/// Space for the numbers right of the bars.
const RIGHT: f64 = 190.0;
const ROW: f64 = 24.0;
/// Number of colours for kernels; the last is for all remaining ones.
const COLOURS: usize = 8;

/// A bar with its label and the number after it.
pub struct Bar {
    pub label: String,
    pub value: f64,
    pub text: String,
    pub colour: usize,
}

/// Returns the colour of a kernel in all plots, by its rank among the most expensive.
pub fn colour(rank: Option<usize>) -> usize {
    rank.unwrap_or(COLOURS).min(COLOURS - 1)
}

/// Formats a coordinate to a tenth of a unit.
pub fn at(value: f64) -> String {
    format!("{value:.1}")
}

/// Draws horizontal bars from zero to the largest value, or to `mark`, which is drawn as a line with its
/// label.
pub fn bars(title: &str, bars: &[Bar], mark: Option<(f64, &str)>) -> Markup {
    let values = bars.iter().map(|bar| bar.value).chain(mark.map(|(value, _)| value));
    let largest = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let longest = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
    let left = (CHARACTER * longest as f64 + 14.0).clamp(LEFT, WIDTH - RIGHT - 200.0);
    let scale = if largest > 0.0 { (WIDTH - left - RIGHT) / largest } else { 0.0 };
    let top = if mark.is_some() { 20.0 } else { 2.0 };
    let height = top + ROW * bars.len() as f64 + 2.0;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(title) {
            @for (i, bar) in bars.iter().enumerate() {
                @let y = top + ROW * i as f64;
                @let width = (bar.value.max(0.0) * scale).max(0.8);
                text x=(at(left - 10.0)) y=(at(y + 16.0)) text-anchor="end" { (bar.label) }
                rect class="track" x=(at(left)) y=(at(y + 4.0)) width=(at(WIDTH - left - RIGHT))
                    height=(at(ROW - 8.0)) rx="2" {}
                rect class=(format!("c{}", bar.colour)) x=(at(left)) y=(at(y + 4.0)) width=(at(width))
                    height=(at(ROW - 8.0)) rx="2" {
                    title { (bar.label) ": " (bar.text) }
                }
                text class="dim" x=(at(WIDTH - RIGHT + 10.0)) y=(at(y + 16.0)) { (bar.text) }
            }
            @if let Some((value, label)) = mark {
                @let x = left + value * scale;
                line class="mark" x1=(at(x)) x2=(at(x)) y1=(at(top - 2.0)) y2=(at(height)) {}
                text class="dim" x=(at(x - 4.0)) y=(at(top - 6.0)) text-anchor="end" { (label) }
            }
        }
    }
}

/// An interval of a timeline, in nanoseconds from its start.
pub struct Stretch<'a> {
    pub label: &'a str,
    pub start_ns: u64,
    pub duration_ns: u64,
    pub colour: usize,
}

/// Draws one row of intervals over a time axis.
pub fn timeline(title: &str, stretches: &[Stretch<'_>]) -> Markup {
    let end_ns = stretches.iter().map(|s| s.start_ns.saturating_add(s.duration_ns)).max().unwrap_or(0).max(1);
    let (margin, bar_height) = (8.0, 46.0);
    let x = |ns: u64| margin + ns as f64 * (WIDTH - 2.0 * margin) / end_ns as f64;
    let (unit, unit_ns) = if end_ns > 10_000_000 { ("ms", 1e6) } else { ("µs", 1e3) };
    let ticks = ticks(end_ns as f64 / unit_ns);
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", bar_height + 26.0)) role="img" aria-label=(title) {
            rect class="track" x=(at(margin)) y="0" width=(at(WIDTH - 2.0 * margin))
                height=(at(bar_height)) {}
            @for stretch in stretches {
                @let width = (x(stretch.duration_ns) - margin).max(0.6);
                rect class=(format!("c{}", stretch.colour)) x=(at(x(stretch.start_ns))) y="0"
                    width=(at((width - 0.6).max(0.6))) height=(at(bar_height)) {
                    title { (stretch.label) ": " (format!("{:.1} µs", stretch.duration_ns as f64 / 1e3)) }
                }
                // Slightly less than 6 units per letter.
                @let max_chars = (width / 5.6) as usize;
                @let name = stretch.label.rsplit('.').next().unwrap_or(stretch.label);
                @if name.chars().count() + 1 < max_chars {
                    text class="inside" x=(at(x(stretch.start_ns) + width / 2.0))
                        y=(at(bar_height / 2.0 + 4.0)) text-anchor="middle" { (name) }
                }
            }
            @for tick in &ticks {
                @let x = x((tick * unit_ns) as u64);
                line class="axis" x1=(at(x)) x2=(at(x)) y1=(at(bar_height)) y2=(at(bar_height + 5.0)) {}
                text class="dim" x=(at(x)) y=(at(bar_height + 19.0))
                    text-anchor=(if *tick == 0.0 { "start" } else { "middle" }) { (tick) " " (unit) }
            }
        }
    }
}

/// A kernel in a roofline.
pub struct RoofPoint {
    pub label: String,
    /// Operations per byte.
    pub intensity: f64,
    /// Operations per nanosecond, which are GFLOP/s.
    pub rate: f64,
    pub colour: usize,
}

/// Draws rates over intensities on logarithmic axes, below the roof that a bandwidth in GB/s and a peak in
/// GFLOP/s make (Williams2009).
pub fn roofline(title: &str, points: &[RoofPoint], bandwidth: f64, peak: f64) -> Markup {
    const HEIGHT: f64 = 300.0;
    const BOTTOM: f64 = 40.0;
    const LEFT: f64 = 60.0;
    let is_shown = |value: &f64| value.is_finite() && *value > 0.0;
    let shown: Vec<_> = points.iter().filter(|p| is_shown(&p.intensity) && is_shown(&p.rate)).collect();
    if !is_shown(&bandwidth) || !is_shown(&peak) || shown.is_empty() {
        return html! {};
    }
    let ridge = peak / bandwidth;
    // Whole decades around the ridge, the points and a tenth of the peak.
    let decades = |values: &mut dyn Iterator<Item = f64>| {
        let (min, max) = values.fold((f64::INFINITY, 0.0_f64), |(min, max), v| (min.min(v), max.max(v)));
        (min.log10().floor().max(-12.0), max.log10().ceil().min(15.0).max(min.log10().floor() + 1.0))
    };
    let (x0, x1) = decades(&mut shown.iter().map(|p| p.intensity).chain([ridge / 10.0, 10.0 * ridge]));
    let (y0, y1) = decades(&mut shown.iter().map(|p| p.rate).chain([peak / 10.0, peak]));
    let x = |value: f64| LEFT + (value.log10() - x0) / (x1 - x0) * (WIDTH - LEFT - 150.0);
    let y = |value: f64| (HEIGHT - BOTTOM) - (value.log10() - y0) / (y1 - y0) * (HEIGHT - BOTTOM - 20.0);
    // Where the roof enters the plot, at its left or from below.
    let enters = 10_f64.powf(x0).max(10_f64.powf(y0) / bandwidth);
    let ticks = |from: f64, to: f64| (from as i32..=to as i32).map(|power| 10_f64.powi(power));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(title) {
            @for tick in ticks(x0, x1) {
                line class="axis" x1=(at(x(tick))) x2=(at(x(tick))) y1="20" y2=(at(HEIGHT - BOTTOM)) {}
                text class="dim" x=(at(x(tick))) y=(at(HEIGHT - BOTTOM + 16.0))
                    text-anchor="middle" { (tick) }
            }
            @for tick in ticks(y0, y1) {
                line class="axis" x1=(at(LEFT)) x2=(at(x(10_f64.powf(x1)))) y1=(at(y(tick)))
                    y2=(at(y(tick))) {}
                text class="dim" x=(at(LEFT - 8.0)) y=(at(y(tick) + 4.0)) text-anchor="end" { (tick) }
            }
            text class="dim" x=(at(LEFT))
                y=(at(HEIGHT - 6.0)) { "flop per byte that must move; GFLOP/s upwards" }
            line class="roof" x1=(at(x(enters))) y1=(at(y(enters * bandwidth))) x2=(at(x(ridge)))
                y2=(at(y(peak))) {}
            line class="roof" x1=(at(x(ridge))) y1=(at(y(peak))) x2=(at(x(10_f64.powf(x1))))
                y2=(at(y(peak))) {}
            text class="dim" x=(at(x(10_f64.powf(x1)) + 6.0))
                y=(at(y(peak) + 4.0)) { (format!("{peak:.3} GFLOP/s")) }
            @for (point, label) in shown.iter().zip(place_labels(&shown, &x, &y, HEIGHT - BOTTOM)) {
                @let (x, y) = (x(point.intensity), y(point.rate));
                @let side = if label.is_left { -1.0 } else { 1.0 };
                @if (label.height - y).abs() > 1.0 {
                    line class="axis" x1=(at(x)) x2=(at(x + 8.0 * side)) y1=(at(y)) y2=(at(label.height)) {}
                }
                circle class=(format!("c{}", point.colour)) cx=(at(x)) cy=(at(y)) r="5" {
                    title {
                        (point.label) (format!(": {:.3} flop/B, {:.3} GFLOP/s", point.intensity, point.rate))
                    }
                }
                text x=(at(x + 9.0 * side)) y=(at(label.height + 4.0))
                    text-anchor=(if label.is_left { "end" } else { "start" }) { (point.label) }
            }
        }
    }
}

/// Returns about five round numbers from zero, the last well below `end`, so that its label fits.
pub fn ticks(end: f64) -> Vec<f64> {
    if !(end.is_finite() && end > 0.0) {
        return vec![0.0];
    }
    let raw = end / 5.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * power).find(|step| *step >= raw).unwrap_or(raw);
    (0..).map(|i| f64::from(i) * step).take_while(|tick| *tick <= 0.97 * end).collect()
}

/// Height of a label.
const LINE: f64 = 14.0;

/// Place of a label beside its point.
struct Label {
    from: f64,
    to: f64,
    height: f64,
    is_left: bool,
}

/// Places the label of each point right of it, or left where it would leave the plot, at the height of the
/// point or the nearest one at which it overlaps no label before.
fn place_labels(
    points: &[&RoofPoint],
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
    bottom: f64,
) -> Vec<Label> {
    let mut placed: Vec<Label> = Vec::new();
    for point in points {
        let (at, own) = (x(point.intensity), y(point.rate));
        let width = 9.0 + CHARACTER * point.label.chars().count() as f64;
        let is_left = at + width > WIDTH;
        let (from, to) = if is_left { (at - width, at) } else { (at, at + width) };
        let is_free = |height: &f64| {
            let overlaps = |l: &Label| l.from < to && from < l.to && (l.height - height).abs() < LINE;
            !placed.iter().any(overlaps)
        };
        let shifts = (0..=points.len()).flat_map(|i| [LINE * i as f64, -LINE * i as f64]);
        let heights = shifts.map(|shift| own + shift).filter(|height| (10.0..bottom).contains(height));
        let height = heights.into_iter().find(is_free).unwrap_or(own);
        placed.push(Label { from, to, height, is_left });
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_end_in_time() {
        assert_eq!(ticks(1000.0), [0.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(ticks(7.0), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(0.0), [0.0]);
        assert_eq!(ticks(f64::NAN), [0.0]);
    }

    #[test]
    fn labels_of_a_roofline_do_not_overlap_and_names_are_whole() {
        let name = |i: usize| format!("primitives.radix_scatter_ballot_look_back_{i}");
        let point = |i: usize| RoofPoint {
            label: name(i),
            intensity: 20.0 + 0.1 * i as f64,
            rate: 1.0 + 0.01 * i as f64,
            colour: 0,
        };
        let points: Vec<RoofPoint> = (0..9).map(point).collect();
        let svg = roofline("roof", &points, 10.0, 50.0).into_string();
        let tree = roxmltree::Document::parse(&svg).unwrap();
        let texts = tree.descendants().filter(|node| node.has_tag_name("text"));
        let labels = texts.filter(|node| node.text().is_some_and(|text| text.contains("radix")));
        let mut heights: Vec<f64> =
            labels.map(|node| node.attribute("y").unwrap().parse().unwrap()).collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights.len(), 9);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 0.2), "{heights:?}");
        assert!((0..9).all(|i| svg.contains(&name(i))));
        let bar = Bar { label: format!("{} baseline", name(0)), value: 1.0, text: String::new(), colour: 0 };
        assert!(bars("against", &[bar], None).into_string().contains(&format!(">{} baseline<", name(0))));
    }

    #[test]
    fn no_value_makes_a_plot_that_no_browser_draws() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            let bar = Bar { label: "x".repeat(60), value, text: "?".to_owned(), colour: 0 };
            let svg = bars("odd", &[bar], None).into_string();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{value}: {svg}");
        }
        assert!(!timeline("none", &[]).into_string().contains("NaN"));
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, 2.0] {
            for [intensity, rate, bandwidth, peak] in
                [[value, 1.0, 10.0, 50.0], [1.0, value, value, 50.0], [1.0, 1.0, 10.0, value]]
            {
                let point = RoofPoint { label: "x".to_owned(), intensity, rate, colour: 0 };
                let svg = roofline("odd", &[point], bandwidth, peak).into_string();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{value}: {svg}");
            }
        }
    }
}
