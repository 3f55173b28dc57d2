//! Plots as PNG or SVG, drawn with an embedded font, so that they look the same on machines without fonts.

use std::io::Write;
use std::path::Path;

use frazil_io::atomic::{self, Durability};
use frazil_io::{Metric, MetricsTable};
use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::canvas::{Canvas, DrawResult, INK, SUPERSAMPLING, register_embedded_font, text_style};
use crate::error::{Error, Result};

/// Drawing style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A solid line through the points, for computed values.
    Line,
    /// A dashed line through the points, for a limit or an analytic solution.
    Dashes,
    /// A circle at each point, for measurements.
    Points,
}

/// A named list of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Label in the legend.
    pub label: String,
    /// Drawing style.
    pub mark: Mark,
    /// (x, y) in the units that the axis labels name. A point that is not finite interrupts the line.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// Makes a series.
    pub fn new(label: impl Into<String>, mark: Mark, points: Vec<(f64, f64)>) -> Self {
        Self { label: label.into(), mark, points }
    }
}

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    Linear,
    /// Logarithmic. A value that is not above 0 cannot be shown and interrupts the line.
    Logarithmic,
}

impl Scale {
    /// Returns the position of a value on the axis.
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic if value > 0.0 => value.log10(),
            Self::Logarithmic => f64::NAN,
        }
    }

    fn tick(self, place: f64, decimals: Option<usize>) -> String {
        match self {
            Self::Linear => tick(place, decimals),
            Self::Logarithmic => power_tick(place),
        }
    }
}

/// Plot of series over common axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Panel<'a> {
    /// Label of the x axis, with its unit in brackets.
    pub x_label: &'a str,
    /// Label of the y axis, with its unit in brackets.
    pub y_label: &'a str,
    /// Series to draw.
    pub series: &'a [Series],
}

/// Plots series over a common axis into `path`, whose extension, `png` or `svg`, chooses the format.
///
/// Axis labels should name their unit in brackets.
///
/// # Errors
/// [`Error::Plot`] if no point is finite or the extension is another; [`Error::File`].
pub fn plot_series(title: &str, x_label: &str, y_label: &str, series: &[Series], path: &Path) -> Result<()> {
    draw_figure(title, &[Panel { x_label, y_label, series }], LINEAR, path)
}

/// Plots like [`plot_series`], with panels one below the other.
///
/// # Errors
/// Like [`plot_series`]; there is no panel.
pub fn plot_panels(title: &str, panels: &[Panel<'_>], path: &Path) -> Result<()> {
    plot_panels_scaled(title, panels, LINEAR, path)
}

/// Plots like [`plot_panels`], with the given scales of the x and y axes.
///
/// # Errors
/// Like [`plot_panels`]; no point can be shown on the axes.
pub fn plot_panels_scaled(title: &str, panels: &[Panel<'_>], scales: [Scale; 2], path: &Path) -> Result<()> {
    if panels.is_empty() {
        let problem = "expected at least one panel, found none".to_owned();
        return Err(Error::Plot { path: path.to_owned(), problem });
    }
    draw_figure(title, panels, scales, path)
}

/// Plots a run's metrics over `time`: every energy (metrics in J whose name ends in `_energy`) in one panel,
/// with a prefix of its unit by the largest; every count (metrics whose name begins with `n_`) in another
/// below it, if any of them changes. What is 0 throughout is left out, as long as something remains in its
/// panel. Other metrics are left to [`plot_series`].
///
/// # Errors
/// [`Error::File`] if there is no `time` or the file cannot be written; [`Error::Plot`] if there are neither
/// energies nor counts, no row, or `path` ends neither in `.png` nor in `.svg`.
pub fn plot_metrics(table: &MetricsTable, path: &Path) -> Result<()> {
    let time = table.column("time")?;
    let curves = |is_shown: &dyn Fn(&Metric) -> bool| -> Vec<Series> {
        let chosen = table.columns().filter(|(metric, _)| is_shown(metric));
        let curve = |(metric, values): (&Metric, &[f64])| {
            let points = time.iter().copied().zip(values.iter().copied()).collect();
            Series::new(legend_name(&metric.name), Mark::Line, points)
        };
        let mut curves: Vec<Series> = chosen.map(curve).collect();
        if curves.iter().any(|series| !is_zero(series)) {
            curves.retain(|series| !is_zero(series));
        }
        curves
    };
    let mut energies = curves(&|metric| metric.unit == "J" && metric.name.ends_with("_energy"));
    let mut counts = curves(&|metric| metric.name.starts_with("n_"));
    if !energies.is_empty() && counts.iter().all(is_constant) {
        counts.clear();
    }
    let (factor, prefix) = unit_prefix(&energies);
    energies.iter_mut().flat_map(|series| &mut series.points).for_each(|point| point.1 /= factor);
    let (x_label, energy) = ("time [s]", format!("energy [{prefix}J]"));
    let panels: Vec<_> = [(energy.as_str(), &energies), ("count", &counts)]
        .into_iter()
        .filter(|(_, series)| !series.is_empty())
        .map(|(y_label, series)| Panel { x_label, y_label, series })
        .collect();
    if panels.is_empty() {
        let problem = "expected a metric in J whose name ends in \"_energy\" or one whose name begins with \
                       \"n_\", found neither"
            .to_owned();
        return Err(Error::Plot { path: path.to_owned(), problem });
    }
    let title = match (energies.is_empty(), counts.is_empty()) {
        (false, true) => "Energies",
        (true, false) => "Particle counts",
        _ => "Energies and particle counts",
    };
    draw_figure(title, &panels, LINEAR, path)
}

fn is_zero(series: &Series) -> bool {
    series.points.iter().all(|point| point.1 == 0.0)
}

fn is_constant(series: &Series) -> bool {
    series.points.windows(2).all(|pair| pair[0].1 == pair[1].1)
}

/// Returns the factor and the prefix of the unit with which the largest value is below 1000.
fn unit_prefix(series: &[Series]) -> (f64, &'static str) {
    const PREFIXES: [(f64, &str); 7] =
        [(1e-9, "n"), (1e-6, "µ"), (1e-3, "m"), (1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];
    let values = series.iter().flat_map(|series| &series.points).map(|point| point.1.abs());
    let largest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    if largest == 0.0 {
        return (1.0, "");
    }
    PREFIXES.into_iter().find(|(factor, _)| largest < 1e3 * factor).unwrap_or((1e9, "G"))
}

/// Returns a metric's name in the legend: `n_particles` becomes `particles`, `kinetic_energy` becomes
/// `kinetic energy`.
fn legend_name(metric: &str) -> String {
    metric.strip_prefix("n_").unwrap_or(metric).replace('_', " ")
}

const LINEAR: [Scale; 2] = [Scale::Linear; 2];
const WIDTH: u32 = 960;
const PANEL_HEIGHT: u32 = 440;
const TITLE_HEIGHT: u32 = 44;
const MARGIN_LEFT: i32 = 12;
const MARGIN_RIGHT: i32 = 36;
const TICK_SIZE: i32 = 14;

// The colour-blind safe palette of Okabe & Ito (2008), without its yellow, which is too faint on white.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];
const GRID: RGBColor = RGBColor(222, 222, 222);

fn draw_figure(title: &str, panels: &[Panel<'_>], scales: [Scale; 2], path: &Path) -> Result<()> {
    let fail = |problem: String| Error::Plot { path: path.to_owned(), problem };
    let placed: Vec<Vec<Series>> =
        panels.iter().map(|panel| panel.series.iter().map(|s| placed(s, scales)).collect()).collect();
    let panels: Vec<Panel<'_>> =
        panels.iter().zip(&placed).map(|(panel, series)| Panel { series, ..*panel }).collect();
    let panels = &panels[..];
    for panel in panels {
        if finite_points(panel).next().is_none() {
            return Err(fail(format!("{:?} has no finite point to draw", panel.y_label)));
        }
    }
    register_embedded_font();
    let size = (WIDTH, TITLE_HEIGHT + PANEL_HEIGHT * panels.len() as u32);
    let bytes = match path.extension().and_then(|extension| extension.to_str()) {
        Some("png") => {
            let mut canvas = Canvas::new(size);
            draw(&canvas.area(), title, panels, scales, SUPERSAMPLING as i32)
                .map_err(|error| fail(error.to_string()))?;
            canvas.png().map_err(|error| fail(error.to_string()))?
        }
        Some("svg") => {
            let mut text = String::new();
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            draw(&root, title, panels, scales, 1).map_err(|error| fail(error.to_string()))?;
            drop(root);
            text.into_bytes()
        }
        other => {
            return Err(fail(format!("expected the extension png or svg, found {:?}", other.unwrap_or(""))));
        }
    };
    Ok(atomic::write(path, Durability::Process, |out| out.write_all(&bytes))?)
}

/// Draws the panels; `unit` is the number of pixels in one length unit of the layout.
fn draw<DB: DrawingBackend>(
    root: &DrawingArea<DB, Shift>,
    title: &str,
    panels: &[Panel<'_>],
    scales: [Scale; 2],
    unit: i32,
) -> DrawResult<DB> {
    root.fill(&WHITE)?;
    let (heading, body) = root.split_vertically(TITLE_HEIGHT as i32 * unit);
    let centred = text_style(20, unit).pos(Pos::new(HPos::Center, VPos::Center));
    heading.draw(&Text::new(title, ((WIDTH / 2) as i32 * unit, 26 * unit), centred))?;
    let mut tick_width = 0;
    for panel in panels {
        let range = y_range(panel);
        let decimals = decimals(&range);
        for end in [range.start, range.end] {
            let (width, _) =
                root.estimate_text_size(&scales[1].tick(end, decimals), &text_style(TICK_SIZE, unit))?;
            tick_width = tick_width.max(width as i32);
        }
    }
    // All panels have the same left edge, so that equal times are aligned.
    let y_area = tick_width + 44 * unit;
    for (area, panel) in body.split_evenly((panels.len(), 1)).iter().zip(panels) {
        draw_panel(area, panel, scales, y_area, unit)?;
    }
    root.present()
}

fn draw_panel<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    panel: &Panel<'_>,
    scales: [Scale; 2],
    y_area: i32,
    unit: i32,
) -> DrawResult<DB> {
    let legend_height = draw_legend(area, panel.series, MARGIN_LEFT * unit + y_area, unit)?;
    let (_, plot) = area.split_vertically(legend_height);
    let x_range = padded_range(finite_points(panel).map(|point| point.0), 0.0);
    let y_range = y_range(panel);
    let (x_decimals, y_decimals) = (decimals(&x_range), decimals(&y_range));

    let mut chart = ChartBuilder::on(&plot)
        .margin_left(MARGIN_LEFT * unit)
        .margin_right(MARGIN_RIGHT * unit)
        .margin_top(8 * unit)
        .margin_bottom(8 * unit)
        .x_label_area_size(48 * unit)
        .y_label_area_size(y_area)
        .build_cartesian_2d(x_range, y_range)?;
    chart
        .configure_mesh()
        .x_desc(panel.x_label)
        .y_desc(panel.y_label)
        .x_labels(11)
        .y_labels(8)
        .x_label_formatter(&|x| scales[0].tick(*x, x_decimals))
        .y_label_formatter(&|y| scales[1].tick(*y, y_decimals))
        .axis_desc_style(text_style(16, unit))
        .label_style(text_style(TICK_SIZE, unit))
        .set_all_tick_mark_size(4 * unit)
        .axis_style(INK.stroke_width(unit as u32))
        .bold_line_style(GRID.stroke_width(unit as u32))
        .light_line_style(TRANSPARENT)
        .draw()?;

    for (series, color) in panel.series.iter().zip(PALETTE.iter().cycle()) {
        let line = color.stroke_width(2 * unit as u32);
        let runs =
            series.points.split(|point| !is_finite(point)).filter(|run| !run.is_empty()).map(<[_]>::to_vec);
        match series.mark {
            Mark::Line => {
                for run in runs {
                    chart.draw_series(LineSeries::new(run, line))?;
                }
            }
            Mark::Dashes => {
                for run in runs {
                    chart.draw_series(DashedLineSeries::new(run, 8 * unit, 5 * unit, line))?;
                }
            }
            Mark::Points => {
                let circles = runs.flatten().map(|point| Circle::new(point, 5 * unit, line));
                chart.draw_series(circles)?;
            }
        }
    }
    Ok(())
}

/// Draws the legend above the plot, where it covers nothing, in as many rows as it needs, and returns their
/// height in pixels.
fn draw_legend<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    series: &[Series],
    left: i32,
    unit: i32,
) -> std::result::Result<i32, DrawingAreaErrorKind<DB::ErrorType>> {
    const ROW: i32 = 24;
    const SAMPLE: i32 = 34;
    let style = text_style(15, unit).pos(Pos::new(HPos::Left, VPos::Center));
    let right = (WIDTH as i32 - MARGIN_RIGHT) * unit;
    let (mut x, mut y) = (left, ROW / 2 * unit);
    for (series, color) in series.iter().zip(PALETTE.iter().cycle()) {
        let (text_width, _) = area.estimate_text_size(&series.label, &style)?;
        let width = (SAMPLE + 8 + 24) * unit + text_width as i32;
        if x > left && x + width > right {
            (x, y) = (left, y + ROW * unit);
        }
        let line = color.stroke_width(2 * unit as u32);
        let end = x + SAMPLE * unit;
        match series.mark {
            Mark::Line => area.draw(&PathElement::new(vec![(x, y), (end, y)], line))?,
            Mark::Dashes => {
                for dash in 0..3 {
                    let from = x + dash * 13 * unit;
                    area.draw(&PathElement::new(vec![(from, y), (from + 8 * unit, y)], line))?;
                }
            }
            Mark::Points => area.draw(&Circle::new((x + SAMPLE / 2 * unit, y), 5 * unit, line))?,
        }
        area.draw(&Text::new(series.label.as_str(), (end + 8 * unit, y), style.clone()))?;
        x += width;
    }
    Ok(y + ROW / 2 * unit)
}

/// Transforms a series to axis coordinates.
fn placed(series: &Series, [x, y]: [Scale; 2]) -> Series {
    let points = series.points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect();
    Series { points, ..series.clone() }
}

fn finite_points<'a>(panel: &Panel<'a>) -> impl Iterator<Item = &'a (f64, f64)> {
    panel.series.iter().flat_map(|series| &series.points).filter(|point| is_finite(point))
}

fn y_range(panel: &Panel<'_>) -> std::ops::Range<f64> {
    padded_range(finite_points(panel).map(|point| point.1), 0.06)
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// Variation relative to the largest value below which a curve is constant: a sum of many numbers of single
/// precision varies by about as much.
const ROUNDING: f64 = 1e-6;

/// Returns the range of `values`, of which there is at least one, widened by `padding` times its width, and
/// never empty. Variation by rounding of numbers of single precision is none.
fn padded_range(values: impl Iterator<Item = f64>, padding: f64) -> std::ops::Range<f64> {
    let (min, max) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), v| (min.min(v), max.max(v)));
    let span = max - min;
    if span > min.abs().max(max.abs()) * ROUNDING {
        return min - padding * span..max + padding * span;
    }
    // A constant: a margin places it in the middle.
    let half = if min == 0.0 { 1.0 } else { min.abs() * 0.1 };
    min - half..max + half
}

/// Returns the number of decimals that distinguish about ten ticks of a range; `None` if exponents are more
/// readable.
fn decimals(range: &std::ops::Range<f64>) -> Option<usize> {
    let largest = range.start.abs().max(range.end.abs());
    let decimals = 1.0 - (range.end - range.start).log10().floor();
    ((1e-3..1e7).contains(&largest) && decimals <= 6.0).then_some(decimals.max(0.0) as usize)
}

fn tick(value: f64, decimals: Option<usize>) -> String {
    let text = match decimals {
        Some(decimals) => format!("{value:.decimals$}"),
        None => return format!("{value:.3e}"),
    };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns the tick label at this position of a logarithmic axis, with three digits.
fn power_tick(place: f64) -> String {
    let value = 10_f64.powf(place);
    let text = format!("{value:.2e}");
    let text = match text.parse::<f64>() {
        Ok(rounded) if (1e-3..1e5).contains(&rounded) => {
            format!("{rounded:.*}", (2 - place.floor() as i32).max(0) as usize)
        }
        _ => text,
    };
    let (digits, power) = text.split_once('e').map_or((text.as_str(), ""), |(d, p)| (d, p));
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    if power.is_empty() { digits.to_owned() } else { format!("{digits}e{power}") }
}
