//! The legend, which shows the colour, value and unit of a property; and the caption.

use crate::ColorMap;
use crate::canvas::{Canvas, Rect, Typeface};

/// A legend for a colour map.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// Name of the property, such as `speed`.
    pub title: String,
    /// Unit, such as `m/s`; empty for dimensionless values.
    pub unit: String,
    /// Colour map.
    pub map: ColorMap,
    /// Values at the two ends of the map.
    pub range: [f32; 2],
}

/// A named colour, for example of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Swatch {
    /// Name shown beside the colour.
    pub label: String,
    /// Display-encoded colour.
    pub color: [f32; 3],
}

/// Maximum number of ticks on a legend.
const MAX_TICKS: u32 = 6;

/// Returns the smallest of 1, 2 and 5 times a power of ten that fits at most `max_steps` times into `range`.
pub(crate) fn nice_step(range: f64, max_steps: u32) -> f64 {
    let raw = range / f64::from(max_steps.max(1));
    let power = 10f64.powf(raw.log10().floor());
    // A raw step that is round up to rounding error is not increased to the next one.
    let slack = 1.0 - 1e-9;
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|nice| nice * power)
        .find(|step| *step >= raw * slack)
        .unwrap_or(10.0 * power)
}

/// Returns at most `max_count` round values between `lo` and `hi`, evenly spaced by 1, 2 or 5 times a power
/// of ten. Equal ends give that one value; ends that are not finite or in the wrong order give none.
pub fn nice_ticks(lo: f64, hi: f64, max_count: u32) -> Vec<f64> {
    if lo == hi && lo.is_finite() {
        return vec![lo];
    }
    if !(hi - lo).is_finite() || hi < lo || max_count == 0 {
        return Vec::new();
    }
    let step = nice_step(hi - lo, max_count.saturating_sub(1));
    let slack = 1e-6;
    let (first, last) = ((lo / step - slack).ceil(), (hi / step + slack).floor());
    // Adding 0 turns −0 into 0.
    (0..=(last - first) as u32).map(|i| (first + f64::from(i)) * step + 0.0).collect()
}

/// Formats a tick's label with as many decimals as the step needs, or in powers of ten if that would be long.
fn tick_label(value: f64, step: f64, largest: f64) -> String {
    if largest >= 1e6 || (step < 1e-4 && step > 0.0) {
        let digits = if step > 0.0 { (largest.log10().floor() - step.log10().floor()).max(0.0) } else { 2.0 };
        return if value == 0.0 { "0".into() } else { format!("{value:.*e}", digits as usize) };
    }
    let decimals = if step > 0.0 { (-(step * (1.0 + 1e-9)).log10().floor()).max(0.0) } else { 3.0 };
    format!("{value:.*}", decimals as usize)
}

impl Legend {
    fn heading(&self) -> String {
        if self.unit.is_empty() { self.title.clone() } else { format!("{} [{}]", self.title, self.unit) }
    }

    /// Returns ticks with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (lo, hi) = (f64::from(self.range[0]), f64::from(self.range[1]));
        let values = nice_ticks(lo, hi, MAX_TICKS);
        let step = if values.len() > 1 { values[1] - values[0] } else { 0.0 };
        let largest = values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        values.into_iter().map(|value| (value, tick_label(value, step, largest))).collect()
    }

    /// Draws the legend: heading, vertical colour bar, ticks beside it. `size_px` is the font size.
    pub(crate) fn draw(&self, typeface: &Typeface, size_px: f32, ink: [f32; 3], paper: [f32; 3]) -> Canvas {
        let (heading, ticks) = (self.heading(), self.ticks());
        let (pad, bar_width, bar_height) = (0.7 * size_px, size_px, 11.0 * size_px);
        let tick_length = 0.4 * size_px;
        let labels = ticks.iter().map(|(_, label)| typeface.width(label, size_px)).fold(0.0, f32::max);
        let inner = typeface.width(&heading, size_px).max(bar_width + 2.0 * tick_length + labels);
        let top = pad + 2.0 * size_px;
        let height = top + bar_height + pad + 0.3 * size_px;
        let mut canvas = panel(inner + 2.0 * pad, height, paper);
        let ink = [ink[0], ink[1], ink[2], 1.0];
        canvas.text(typeface, pad, pad + 0.85 * size_px, size_px, &heading, ink);

        let bar = Rect {
            left: pad.round(),
            top: top.round(),
            right: (pad + bar_width).round(),
            bottom: (top + bar_height).round(),
        };
        let rows = bar.bottom - bar.top;
        for row in 0..rows as u32 {
            let [r, g, b] = self.map.at(1.0 - (row as f32 + 0.5) / rows);
            let y = bar.top + row as f32;
            canvas.fill(&Rect { top: y, bottom: y + 1.0, ..bar }, [r, g, b, 1.0]);
        }
        let range = f64::from(self.range[1]) - f64::from(self.range[0]);
        for (value, label) in &ticks {
            let part = if range > 0.0 { (value - f64::from(self.range[0])) / range } else { 0.5 };
            let y = bar.bottom - part as f32 * rows;
            let thickness = (size_px / 14.0).max(1.0);
            let (left, right) = (bar.right, bar.right + tick_length);
            canvas.fill(&Rect { left, right, top: y - 0.5 * thickness, bottom: y + 0.5 * thickness }, ink);
            canvas.text(typeface, right + tick_length, y + 0.32 * size_px, size_px, label, ink);
        }
        canvas
    }
}

/// Draws the swatches on a panel, one below the other, each as a coloured square with its label.
pub(crate) fn draw_swatches(
    swatches: &[Swatch],
    typeface: &Typeface,
    size_px: f32,
    ink: [f32; 3],
    paper: [f32; 3],
) -> Canvas {
    let (pad, row, gap) = (0.7 * size_px, 1.6 * size_px, 0.5 * size_px);
    let labels = swatches.iter().map(|swatch| typeface.width(&swatch.label, size_px)).fold(0.0, f32::max);
    let mut canvas =
        panel(2.0 * pad + size_px + gap + labels, 2.0 * pad + row * swatches.len() as f32, paper);
    for (i, Swatch { label, color: [r, g, b] }) in swatches.iter().enumerate() {
        let (left, top) = (pad.round(), (pad + row * i as f32 + 0.3 * size_px).round());
        let side = size_px.round();
        let square = Rect { left, top, right: left + side, bottom: top + side };
        canvas.fill(&square, [*r, *g, *b, 1.0]);
        let baseline = top + 0.85 * size_px;
        canvas.text(typeface, left + side + gap, baseline, size_px, label, [ink[0], ink[1], ink[2], 1.0]);
    }
    canvas
}

/// Draws a line of text on its own panel.
pub(crate) fn draw_caption(
    caption: &str,
    typeface: &Typeface,
    size_px: f32,
    ink: [f32; 3],
    paper: [f32; 3],
) -> Canvas {
    let pad = 0.5 * size_px;
    let mut canvas = panel(typeface.width(caption, size_px) + 2.0 * pad, 1.9 * size_px, paper);
    canvas.text(typeface, pad, 1.25 * size_px, size_px, caption, [ink[0], ink[1], ink[2], 1.0]);
    canvas
}

/// Creates an empty panel in the picture's translucent background colour, so that text is legible over
/// particles.
pub(crate) fn panel(width: f32, height: f32, paper: [f32; 3]) -> Canvas {
    let mut canvas = Canvas::new(width.ceil() as usize, height.ceil() as usize);
    let all = Rect { left: 0.0, top: 0.0, right: canvas.width as f32, bottom: canvas.height as f32 };
    canvas.fill(&all, [paper[0], paper[1], paper[2], 0.6]);
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let cases: [(f64, f64, &[f64]); 5] = [
            (0.0, 1.0, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
            (0.0, 3.7, &[0.0, 1.0, 2.0, 3.0]),
            (-12.0, 31.0, &[-10.0, 0.0, 10.0, 20.0, 30.0]),
            (995.0, 1003.0, &[996.0, 998.0, 1000.0, 1002.0]),
            (2.5, 2.5, &[2.5]),
        ];
        for (lo, hi, expected) in cases {
            let ticks = nice_ticks(lo, hi, MAX_TICKS);
            assert_eq!(ticks.len(), expected.len(), "{lo} to {hi}: {ticks:?}");
            for (tick, expected) in ticks.iter().zip(expected) {
                assert!((tick - expected).abs() < 1e-9 * (hi - lo).max(1.0), "{lo} to {hi}: {ticks:?}");
            }
        }
    }

    #[test]
    fn ranges_that_are_no_ranges_have_no_ticks() {
        for (lo, hi) in [(1.0, 0.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(nice_ticks(lo, hi, 6).is_empty());
        }
    }

    #[test]
    fn labels_have_enough_decimals_to_differ() {
        let labels = |lo, hi| {
            let legend =
                Legend { title: String::new(), unit: String::new(), map: ColorMap::Viridis, range: [lo, hi] };
            legend.ticks().into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.0, 64000.0), ["0", "20000", "40000", "60000"]);
        assert_eq!(labels(-0.02, 0.03), ["-0.02", "-0.01", "0.00", "0.01", "0.02", "0.03"]);
        assert_eq!(labels(0.0, 3e-5), ["0", "1e-5", "2e-5", "3e-5"]);
        assert_eq!(labels(0.0, 2.5e6), ["0", "5.0e5", "1.0e6", "1.5e6", "2.0e6", "2.5e6"]);
    }

    #[test]
    fn the_bar_has_the_map_s_colours_and_a_tick_at_each_value() {
        let legend =
            Legend { title: "speed".into(), unit: "m/s".into(), map: ColorMap::Viridis, range: [0.0, 2.0] };
        let canvas = legend.draw(&Typeface::new(), 14.0, [1.0; 3], [0.0; 3]);
        let pixels = canvas.packed();
        let (left, top, rows) = (10, 38, 154);
        let at = |x: usize, y: usize| pixels[y * canvas.width + x].to_le_bytes();
        for row in [0, 50, 153] {
            let expected = ColorMap::Viridis.at(1.0 - (row as f32 + 0.5) / rows as f32);
            let found = at(left + 5, top + row);
            for c in 0..3 {
                assert!(
                    (f32::from(found[c]) / 255.0 - expected[c]).abs() < 1.0 / 255.0,
                    "row {row}: {found:?}"
                );
            }
        }
        // Ticks at 0, 0.5, 1, 1.5 and 2: ink right of the bar, and none midway between.
        for i in 0..=8 {
            let y = top as f32 + rows as f32 * (1.0 - i as f32 / 8.0);
            let inked = (-1..=1).any(|dy| at(left + 16, (y.round() as i64 + dy) as usize)[0] > 100);
            assert_eq!(inked, i % 2 == 0, "{}", i as f32 / 4.0);
        }
    }
}
