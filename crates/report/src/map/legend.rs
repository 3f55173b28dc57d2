//! Legend, scale bar and north arrow of a map.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::elements::{
    AFFECTED, CONTOUR, FRAME, FRONT, FlowMap, INDEX_CONTOUR, Intervals, LEFT_PX, PATH, RELEASE, TOP_PX,
};
use super::layout::{Window, format_step, multiples, round_up};
use super::painter::{Painter, Pen};
use super::scale::{ColourScale, label};
use crate::canvas::{DrawResult, INK};
use crate::run_out::AFFECTED_THICKNESS_M;

/// Size of the colour bar in pixels.
const BAR_PX: [f64; 2] = [22.0, 180.0];
const ROW_PX: f64 = 24.0;
const SAMPLE_PX: f64 = 30.0;
/// Share of the section's width that the scale bar may have.
const SCALE_BAR_SHARE: f64 = 0.25;

/// Draws the legend to the right of the section.
pub(super) fn draw<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    window: &Window,
    map: &FlowMap<'_>,
    scale: &ColourScale,
    intervals: &Intervals,
) -> DrawResult<DB> {
    let left = f64::from(LEFT_PX + window.size_px()[0]) + 24.0;
    let mut y = f64::from(TOP_PX) + 8.0;
    painter.text(&label(map.quantity), [left, y], 15, (HPos::Left, VPos::Center))?;
    y += 18.0;
    draw_colour_bar(painter, [left, y], scale)?;
    y += BAR_PX[1] + 26.0;

    let mut rows = vec![
        (AFFECTED, format!("affected: above {AFFECTED_THICKNESS_M} m")),
        (RELEASE, "release".to_owned()),
    ];
    if let Some(interval_s) = intervals.front_s {
        rows.push((FRONT, format!("front every {} s", format_step(interval_s, interval_s))));
    }
    if map.run_out.is_some() {
        rows.push((PATH, "path of the flow".to_owned()));
    }
    let interval_m = format_step(intervals.contour_m, intervals.contour_m);
    rows.push((CONTOUR, format!("height every {interval_m} m")));
    for (pen, text) in rows {
        let sample = [[left, y], [left + SAMPLE_PX, y]];
        if pen.colour == WHITE {
            painter.line(&sample, Pen::solid(INDEX_CONTOUR.colour, pen.width_px + 4.0))?;
        }
        painter.line(&sample, pen)?;
        painter.text(&text, [left + SAMPLE_PX + 8.0, y], 13, (HPos::Left, VPos::Center))?;
        y += ROW_PX;
    }
    let Some(run_out) = map.run_out else { return Ok(()) };
    y += 0.5 * ROW_PX;
    let reach = run_out.run_out;
    let rows = [
        format!("run-out {:.0} m, drop {:.0} m", reach.length_m, reach.drop_m),
        format!("run-out angle {:.1}°", reach.alpha_deg),
        format!("affected area {} m²", grouped(run_out.affected_area_m2)),
        format!("release {} m³", grouped(run_out.release.volume_m3)),
        format!("at most {:.1} m/s, {:.0} kPa", run_out.max_peak_speed_m_s, run_out.max_peak_pressure_kpa),
        format!("after {:.1} s", run_out.simulated_time_s),
    ];
    for text in rows {
        painter.text(&text, [left, y], 13, (HPos::Left, VPos::Center))?;
        y += 0.8 * ROW_PX;
    }
    Ok(())
}

fn draw_colour_bar<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    [left, top]: [f64; 2],
    scale: &ColourScale,
) -> DrawResult<DB> {
    let [width, height] = BAR_PX;
    let n = height as u32;
    for row in 0..n {
        let y = top + f64::from(row);
        let [red, green, blue] = scale.colour(scale.top * (1.0 - (f64::from(row) + 0.5) / f64::from(n)));
        painter.fill([[left, y], [left + width, y + 1.0]], RGBColor(red, green, blue))?;
    }
    let (right, bottom) = (left + width, top + height);
    painter.line(&[[left, top], [right, top], [right, bottom], [left, bottom], [left, top]], FRAME)?;
    for value in multiples(0.0, scale.top, scale.step) {
        let y = bottom - height * value / scale.top;
        painter.line(&[[right, y], [right + 4.0, y]], FRAME)?;
        let is_exceeded = scale.is_exceeded && value > scale.top - 0.5 * scale.step;
        let text = format!("{}{}", if is_exceeded { "≥ " } else { "" }, format_step(value, scale.step));
        painter.text(&text, [right + 9.0, y], 13, (HPos::Left, VPos::Center))?;
    }
    Ok(())
}

/// Draws a scale bar of a round length in the lower left corner of the section.
pub(super) fn draw_scale_bar<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    window: &Window,
) -> DrawResult<DB> {
    let [width, height] = window.size_px().map(f64::from);
    let max_m = SCALE_BAR_SHARE * width / window.px_per_m;
    // The largest round length that fits.
    let length_m = [1.0, 0.5, 0.4, 0.2].map(|share| share * round_up(max_m));
    let length_m = length_m.into_iter().find(|length_m| *length_m <= max_m).unwrap_or(max_m);
    let (left, bottom) = (f64::from(LEFT_PX) + 20.0, f64::from(TOP_PX) + height - 18.0);
    let half_px = 0.5 * length_m * window.px_per_m;
    painter.fill([[left - 2.0, bottom - 8.0], [left + 2.0 * half_px + 2.0, bottom + 2.0]], WHITE)?;
    painter.fill([[left, bottom - 6.0], [left + half_px, bottom]], INK)?;
    let frame = [[left, bottom - 6.0], [left + 2.0 * half_px, bottom - 6.0], [left + 2.0 * half_px, bottom]];
    painter.line(&[&frame[..], &[[left, bottom], [left, bottom - 6.0]]].concat(), FRAME)?;
    let text = match length_m {
        length_m if length_m >= 1000.0 => format!("{} km", format_step(1e-3 * length_m, 0.5)),
        length_m => format!("{} m", format_step(length_m, if length_m < 10.0 { 0.5 } else { 1.0 })),
    };
    painter.label(&text, [left + half_px, bottom - 18.0], 13)
}

/// Draws an arrow to the north in the upper right corner of the section.
pub(super) fn draw_north_arrow<DB: DrawingBackend>(
    painter: &Painter<'_, DB>,
    window: &Window,
) -> DrawResult<DB> {
    let (x, y) = (f64::from(LEFT_PX + window.size_px()[0]) - 26.0, f64::from(TOP_PX) + 16.0);
    let arrow = |grow: f64| {
        [
            [x, y - 2.0 * grow],
            [x + 8.0 + grow, y + 26.0 + grow],
            [x, y + 20.0 + grow],
            [x - 8.0 - grow, y + 26.0 + grow],
        ]
    };
    painter.polygon(&arrow(2.0), WHITE)?;
    painter.polygon(&arrow(0.0), INK)?;
    painter.label("N", [x, y + 38.0], 14)
}

/// Formats a whole number with its digits in groups of three.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx) % 3 == 0 && text != "-" {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            [999.4, 1000.0, 1_234_567.0, -12_345.0].map(grouped),
            ["999", "1 000", "1 234 567", "-12 345"]
        );
    }
}
