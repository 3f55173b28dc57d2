//! Maps of a flow on a terrain: a raster of the flow over a shaded relief with contour lines.

mod elements;
mod hillshade;
mod isolines;
mod layout;
mod legend;
mod painter;
mod scale;

use std::io::Write;
use std::path::Path;

use frazil_io::atomic::{self, Durability};
use frazil_scene::Terrain;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::canvas::{Canvas, DrawResult};
use crate::error::{Error, Result};
use crate::run_out::AFFECTED_THICKNESS_M;
pub use elements::FlowMap;
use elements::{
    AFFECTED, BOTTOM_PX, CONTOUR, FRAME, FRONT, INDEX_CONTOUR, Intervals, LEFT_PX, PATH, RELEASE, RIGHT_PX,
    TOP_PX,
};
use hillshade::hillshade;
use isolines::{Field, isolines};
use layout::{Window, format_step, multiples, round_up};
use painter::{Painter, Pen};
use scale::ColourScale;

/// Colour of places whose height is unknown.
const UNKNOWN: [u8; 3] = [206, 208, 212];

/// Every fifth contour line is an index contour, with a label.
const CONTOURS_PER_INDEX: f64 = 5.0;
/// Approximate numbers of contour lines over the heights of the section, of ticks of an axis, and of lines of
/// the front over time.
const N_CONTOURS: f64 = 25.0;
const N_TICKS: f64 = 6.0;
const N_FRONTS: f64 = 8.0;

/// Opacity of the raster over the relief.
const RASTER_OPACITY: f64 = 0.82;

/// Draws a map into `path`, a PNG: the part of the terrain around the flow with its relief under light from
/// the north-west, contour lines, the raster of a quantity, the releases, the outline of the affected area,
/// the front at equal intervals of time and the path of the flow, with scale bar, legend and the coordinates
/// of the terrain's projection.
///
/// # Errors
/// [`Error::Plot`]; [`Error::File`].
pub fn plot_flow_map(map: &FlowMap<'_>, path: &Path) -> Result<()> {
    let fail = |problem: String| Error::Plot { path: path.to_owned(), problem };
    let window = map.window();
    let [width, height] = window.size_px();
    let mut canvas = Canvas::new((LEFT_PX + width + RIGHT_PX, TOP_PX + height + BOTTOM_PX));
    let scale = map.scale();
    map.paint_ground(&mut canvas, &window, &scale);
    {
        let area = canvas.area();
        let painter = Painter::new(&area);
        map.draw_lines(&painter, &window, &scale).map_err(|error| fail(error.to_string()))?;
        area.present().map_err(|error| fail(error.to_string()))?;
    }
    let bytes = canvas.png().map_err(|error| fail(error.to_string()))?;
    Ok(atomic::write(path, Durability::Process, |out| out.write_all(&bytes))?)
}

impl FlowMap<'_> {
    fn values(&self) -> &[f32] {
        self.rasters.values(self.quantity)
    }

    /// Returns true for cells in which the flow was.
    fn is_reached(&self, idx: usize) -> bool {
        self.rasters.peak_thickness_m[idx] > 0.0
    }

    fn scale(&self) -> ColourScale {
        let reached = self.values().iter().enumerate().filter(|(idx, _)| self.is_reached(*idx));
        ColourScale::of(reached.map(|(_, value)| *value))
    }

    /// Returns the section around the affected cells and the releases; the whole terrain if there are none.
    fn window(&self) -> Window {
        let n_columns = self.terrain.n_columns();
        let thick = self.rasters.peak_thickness_m.iter().enumerate();
        let cells = thick
            .filter(|(_, thickness)| **thickness > AFFECTED_THICKNESS_M)
            .map(|(idx, _)| [idx % n_columns, idx / n_columns].map(|k| k as f64 * self.terrain.cell_m()));
        let corners = self.releases.iter().flat_map(|polygon| polygon.rings.iter().flatten().copied());
        let (mut min_m, mut max_m) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for point in cells.chain(corners) {
            for i in 0..2 {
                (min_m[i], max_m[i]) = (min_m[i].min(point[i]), max_m[i].max(point[i]));
            }
        }
        match min_m[0].is_finite() {
            true => Window::around(self.terrain, min_m, max_m),
            false => Window::around(self.terrain, [0.0; 2], self.terrain.extent_m()),
        }
    }

    /// Paints the relief and the raster of the flow.
    fn paint_ground(&self, canvas: &mut Canvas, window: &Window, scale: &ColourScale) {
        let (terrain, n_columns) = (self.terrain, self.terrain.n_columns());
        let shades = hillshade(terrain);
        let [width, height] = window.size_px();
        for y in 0..TOP_PX + height + BOTTOM_PX {
            for x in 0..LEFT_PX + width + RIGHT_PX {
                let inside = |at: u32, low: u32, size: u32| (low..low + size).contains(&at);
                if !(inside(x, LEFT_PX, width) && inside(y, TOP_PX, height)) {
                    canvas.fill_pixel(x, y, [255; 3]);
                    continue;
                }
                let point = window.point_at([x - LEFT_PX, y - TOP_PX]);
                let Some(shade) = interpolated(terrain, &shades, point) else {
                    canvas.fill_pixel(x, y, UNKNOWN);
                    continue;
                };
                // Snow in the sun, bluish in the shade.
                let ground = [0.52, 0.56, 0.64].map(|dark| 255.0 * (dark + (1.0 - dark) * shade.min(1.0)));
                let [column, row] = point.map(|x| (x / terrain.cell_m()).round() as usize);
                let cell = row * n_columns + column;
                let value = f64::from(self.values()[cell]);
                let shown = self.is_reached(cell) && !value.is_nan();
                let opacity = if shown { RASTER_OPACITY } else { 0.0 };
                let colour = scale.colour(value);
                canvas.fill_pixel(
                    x,
                    y,
                    std::array::from_fn(|i| {
                        (ground[i] + opacity * (f64::from(colour[i]) - ground[i])).round() as u8
                    }),
                );
            }
        }
    }

    fn draw_lines<DB: DrawingBackend>(
        &self,
        painter: &Painter<'_, DB>,
        window: &Window,
        scale: &ColourScale,
    ) -> DrawResult<DB> {
        let intervals = self.intervals(window);
        self.draw_contours(painter, window, intervals.contour_m)?;
        self.draw_fronts(painter, window, &intervals)?;
        for line in self.lines(&self.rasters.peak_thickness_m, f64::from(AFFECTED_THICKNESS_M)) {
            self.draw_clipped(painter, window, &line, AFFECTED)?;
        }
        for ring in self.releases.iter().flat_map(|polygon| &polygon.rings) {
            let closed: Vec<[f64; 2]> = ring.iter().chain(ring.first()).copied().collect();
            self.draw_clipped(painter, window, &closed, RELEASE)?;
        }
        if let Some(run_out) = self.run_out {
            let path: Vec<[f64; 2]> =
                run_out.path.iter().map(|point| on_map(window, point.position_m)).collect();
            painter.line(&path, PATH)?;
            for end in [path.first(), path.last()].into_iter().flatten() {
                painter.disc(*end, 4.0, PATH.colour)?;
            }
        }
        self.draw_axes(painter, window)?;
        legend::draw_scale_bar(painter, window)?;
        legend::draw_north_arrow(painter, window)?;
        legend::draw(painter, window, self, scale, &intervals)
    }

    fn intervals(&self, window: &Window) -> Intervals {
        let heights = self.heights_in(window);
        let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), h| (a.min(h), b.max(h)));
        let contour_m = if high > low { round_up((high - low) / N_CONTOURS) } else { 1.0 };
        let arrivals = self.rasters.arrival_s.iter().copied().filter(|time| *time > 0.0);
        let last_s = f64::from(arrivals.fold(0.0, f32::max));
        Intervals { contour_m, front_s: (last_s > 0.0).then(|| round_up(last_s / N_FRONTS)) }
    }

    /// Returns the known heights on the map within the section.
    fn heights_in(&self, window: &Window) -> impl Iterator<Item = f64> {
        let cell_m = self.terrain.cell_m();
        let first = window.min_m.map(|x| (x / cell_m).floor() as usize);
        let last = window.max_m.map(|x| (x / cell_m).ceil() as usize);
        let base_m = self.terrain.base_m();
        (first[1]..=last[1])
            .flat_map(move |row| (first[0]..=last[0]).map(move |column| (column, row)))
            .filter_map(move |(column, row)| Some(base_m + self.terrain.height_at(column, row)?))
    }

    /// Returns the lines at a level of values over the terrain's heights, in m in the scene.
    fn lines(&self, values: &[f32], level: f64) -> Vec<Vec<[f64; 2]>> {
        let (n_columns, n_rows) = (self.terrain.n_columns(), self.terrain.n_rows());
        let value = |column: usize, row: usize| f64::from(values[row * n_columns + column]);
        let lines = isolines(&Field { n_columns, n_rows, value: &value }, level);
        let cell_m = self.terrain.cell_m();
        lines.into_iter().map(|line| line.into_iter().map(|at| at.map(|x| x * cell_m)).collect()).collect()
    }

    fn draw_contours<DB: DrawingBackend>(
        &self,
        painter: &Painter<'_, DB>,
        window: &Window,
        interval_m: f64,
    ) -> DrawResult<DB> {
        let heights: Vec<f32> = self.terrain.heights_m();
        let range = self
            .heights_in(window)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), h| (a.min(h), b.max(h)));
        let index_m = CONTOURS_PER_INDEX * interval_m;
        let mut labels: Vec<([f64; 2], String)> = Vec::new();
        for level in multiples(range.0, range.1, interval_m) {
            let is_index = (level / index_m - (level / index_m).round()).abs() < 1e-6;
            for line in self.lines(&heights, level - self.terrain.base_m()) {
                self.draw_clipped(painter, window, &line, if is_index { INDEX_CONTOUR } else { CONTOUR })?;
                if is_index && let Some(at) = label_place(window, &line, &labels) {
                    labels.push((at, format_step(level, interval_m)));
                }
            }
        }
        labels.iter().try_for_each(|(at, text)| painter.label(text, *at, 12))
    }

    fn draw_fronts<DB: DrawingBackend>(
        &self,
        painter: &Painter<'_, DB>,
        window: &Window,
        intervals: &Intervals,
    ) -> DrawResult<DB> {
        let Some(interval_s) = intervals.front_s else { return Ok(()) };
        let last_s = self.rasters.arrival_s.iter().copied().fold(0.0, f32::max);
        let cell_m = self.terrain.cell_m();
        for time_s in multiples(interval_s, f64::from(last_s), interval_s) {
            for line in self.lines(&self.rasters.arrival_s, time_s) {
                let length_m: f64 =
                    line.windows(2).map(|p| (p[0][0] - p[1][0]).hypot(p[0][1] - p[1][1])).sum();
                // Islands of a few cells that single grains reached before or after their surroundings.
                if length_m > MIN_FRONT_CELLS * cell_m {
                    self.draw_clipped(painter, window, &line, FRONT)?;
                }
            }
        }
        Ok(())
    }

    /// Draws the parts of a line that are within the section.
    fn draw_clipped<DB: DrawingBackend>(
        &self,
        painter: &Painter<'_, DB>,
        window: &Window,
        line: &[[f64; 2]],
        pen: Pen,
    ) -> DrawResult<DB> {
        let mut part: Vec<[f64; 2]> = Vec::new();
        for pair in line.windows(2) {
            match clipped(window, [pair[0], pair[1]]) {
                Some([begin, end]) => {
                    let [begin, end] = [begin, end].map(|point| on_map(window, point));
                    if part.last() != Some(&begin) {
                        draw_part(painter, &mut part, pen)?;
                        part.push(begin);
                    }
                    part.push(end);
                }
                None => draw_part(painter, &mut part, pen)?,
            }
        }
        draw_part(painter, &mut part, pen)
    }

    fn draw_axes<DB: DrawingBackend>(&self, painter: &Painter<'_, DB>, window: &Window) -> DrawResult<DB> {
        let [width, height] = window.size_px().map(f64::from);
        let (left, top) = (f64::from(LEFT_PX), f64::from(TOP_PX));
        let (right, bottom) = (left + width, top + height);
        painter.line(&[[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], FRAME)?;
        let (min, max) = (self.terrain.to_map_m(window.min_m), self.terrain.to_map_m(window.max_m));
        let span = (max[0] - min[0]).max(max[1] - min[1]);
        let step = round_up(span / N_TICKS);
        for easting in multiples(min[0], max[0], step) {
            let x = left + (easting - min[0]) * window.px_per_m;
            painter.line(&[[x, bottom], [x, bottom + 5.0]], FRAME)?;
            painter.text(&format_step(easting, step), [x, bottom + 8.0], 13, (HPos::Center, VPos::Top))?;
        }
        for northing in multiples(min[1], max[1], step) {
            let y = bottom - (northing - min[1]) * window.px_per_m;
            painter.line(&[[left - 5.0, y], [left, y]], FRAME)?;
            painter.text(&format_step(northing, step), [left - 8.0, y], 13, (HPos::Right, VPos::Center))?;
        }
        let projection = self.terrain.projection().map(|projection| projection.name());
        let axes =
            format!("easting and northing [m], {}", projection.unwrap_or_else(|| "no projection".to_owned()));
        painter.text(&axes, [0.5 * (left + right), bottom + 34.0], 13, (HPos::Center, VPos::Top))?;
        let title = format!("{}: {}", self.name, self.quantity.name().replace('_', " "));
        painter.text(&title, [0.5 * (left + right), 27.0], 20, (HPos::Center, VPos::Center))
    }
}

/// Minimum length of a line of the front in cells.
const MIN_FRONT_CELLS: f64 = 6.0;

/// Minimum distance between labels of contour lines in pixels, and from the edge of the section.
const LABEL_DISTANCE_PX: f64 = 90.0;
const LABEL_MARGIN_PX: f64 = 24.0;
/// Minimum length in pixels of a contour line that has a label.
const MIN_LABELLED_PX: f64 = 120.0;

/// Returns the place on the canvas for the label of a contour line: where it is the most horizontal, and far
/// from other labels.
fn label_place(window: &Window, line: &[[f64; 2]], labels: &[([f64; 2], String)]) -> Option<[f64; 2]> {
    let [width, height] = window.size_px().map(f64::from);
    let points: Vec<[f64; 2]> = line.iter().map(|point| on_map(window, *point)).collect();
    let distance = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let is_inside = |at: [f64; 2]| {
        let (x, y) = (at[0] - f64::from(LEFT_PX), at[1] - f64::from(TOP_PX));
        let margin = LABEL_MARGIN_PX;
        x > margin && y > margin && x < width - margin && y < height - margin
    };
    let inside: f64 = points.windows(2).filter(|p| is_inside(p[0])).map(|p| distance(p[0], p[1])).sum();
    if inside < MIN_LABELLED_PX {
        return None;
    }
    let candidates = points.windows(9).filter(|part| {
        is_inside(part[4]) && labels.iter().all(|(at, _)| distance(*at, part[4]) > LABEL_DISTANCE_PX)
    });
    let steepness = |part: &&[[f64; 2]]| {
        let (first, last) = (part[0], part[8]);
        (last[1] - first[1]).abs() / distance(first, last).max(1e-9)
    };
    candidates.min_by(|a, b| steepness(a).total_cmp(&steepness(b))).map(|part| part[4])
}

fn draw_part<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    part: &mut Vec<[f64; 2]>,
    pen: Pen,
) -> DrawResult<DB> {
    if part.len() > 1 {
        painter.line(part, pen)?;
    }
    part.clear();
    Ok(())
}

/// Returns the place on the canvas of a point of the scene.
fn on_map(window: &Window, point_m: [f64; 2]) -> [f64; 2] {
    let [x, y] = window.to_px(point_m);
    [x + f64::from(LEFT_PX), y + f64::from(TOP_PX)]
}

/// Returns the part of a segment within the section (Liang1984).
fn clipped(window: &Window, [a, b]: [[f64; 2]; 2]) -> Option<[[f64; 2]; 2]> {
    let (mut begin, mut end) = (0.0_f64, 1.0_f64);
    for i in 0..2 {
        let step = b[i] - a[i];
        for (to_edge, outwards) in [(window.min_m[i] - a[i], -step), (a[i] - window.max_m[i], step)] {
            // `to_edge` is above 0 outside of the edge; the segment moves outwards by `outwards`.
            if outwards == 0.0 {
                if to_edge > 0.0 {
                    return None;
                }
            } else if outwards < 0.0 {
                begin = begin.max(to_edge / -outwards);
            } else {
                end = end.min(-to_edge / outwards);
            }
        }
    }
    let at = |share: f64| std::array::from_fn(|i| a[i] + share * (b[i] - a[i]));
    (begin < end).then(|| [at(begin), at(end)])
}

/// Returns the value at a point between those at the four heights around it; `None` if one is unknown.
fn interpolated(terrain: &Terrain, values: &[f32], point_m: [f64; 2]) -> Option<f64> {
    let n = [terrain.n_columns(), terrain.n_rows()];
    let along = point_m.map(|x| x / terrain.cell_m());
    let first: [usize; 2] = std::array::from_fn(|i| along[i].floor().clamp(0.0, (n[i] - 2) as f64) as usize);
    let share: [f64; 2] = std::array::from_fn(|i| (along[i] - first[i] as f64).clamp(0.0, 1.0));
    let at = |i: usize, j: usize| f64::from(values[(first[1] + j) * n[0] + first[0] + i]);
    let (south, north) =
        (at(0, 0) + share[0] * (at(1, 0) - at(0, 0)), at(0, 1) + share[0] * (at(1, 1) - at(0, 1)));
    let value = south + share[1] * (north - south);
    (!value.is_nan()).then_some(value)
}

#[cfg(test)]
mod tests;
