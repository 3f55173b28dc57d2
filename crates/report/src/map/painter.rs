//! Lines, texts and symbols of a map, in pixels from its top left corner.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::canvas::{DrawResult, INK, SUPERSAMPLING, text_style};

/// Number of units of the canvas in a pixel.
const UNIT: f64 = SUPERSAMPLING as f64;

/// Style of a line.
#[derive(Clone, Copy)]
pub(super) struct Pen {
    pub colour: RGBColor,
    pub width_px: f64,
    /// Length of dashes and gaps in pixels; solid if 0.
    pub dash_px: f64,
}

impl Pen {
    pub const fn solid(colour: RGBColor, width_px: f64) -> Self {
        Self { colour, width_px, dash_px: 0.0 }
    }

    fn style(self) -> ShapeStyle {
        self.colour.stroke_width((self.width_px * UNIT).round().max(1.0) as u32)
    }
}

/// Area that is drawn on.
pub(super) struct Painter<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
}

impl<'a, DB: DrawingBackend> Painter<'a, DB> {
    pub fn new(area: &'a DrawingArea<DB, Shift>) -> Self {
        Self { area }
    }

    /// Draws a line through points.
    pub fn line(&self, points: &[[f64; 2]], pen: Pen) -> DrawResult<DB> {
        let points: Vec<(i32, i32)> = points.iter().map(|at| on_canvas(*at)).collect();
        if pen.dash_px > 0.0 {
            let dash = (pen.dash_px * UNIT) as i32;
            self.area.draw(&DashedPathElement::new(points, dash, dash, pen.style()))
        } else {
            self.area.draw(&PathElement::new(points, pen.style()))
        }
    }

    /// Fills a rectangle between two corners.
    pub fn fill(&self, corners: [[f64; 2]; 2], colour: RGBColor) -> DrawResult<DB> {
        self.area.draw(&Rectangle::new(corners.map(on_canvas), colour.filled()))
    }

    /// Fills a polygon.
    pub fn polygon(&self, corners: &[[f64; 2]], colour: RGBColor) -> DrawResult<DB> {
        let corners: Vec<(i32, i32)> = corners.iter().map(|at| on_canvas(*at)).collect();
        self.area.draw(&Polygon::new(corners, colour.filled()))
    }

    /// Draws a disc with a white rim.
    pub fn disc(&self, at: [f64; 2], radius_px: f64, colour: RGBColor) -> DrawResult<DB> {
        for (radius_px, colour) in [(radius_px + 1.5, WHITE), (radius_px, colour)] {
            self.area.draw(&Circle::new(on_canvas(at), (radius_px * UNIT) as i32, colour.filled()))?;
        }
        Ok(())
    }

    /// Draws a text at an anchor.
    pub fn text(&self, text: &str, at: [f64; 2], size_px: i32, anchor: (HPos, VPos)) -> DrawResult<DB> {
        let style = text_style(size_px, UNIT as i32).pos(Pos::new(anchor.0, anchor.1));
        self.area.draw(&Text::new(text.to_owned(), on_canvas(at), style))
    }

    /// Draws a text in the middle of a point, on a white rim.
    pub fn label(&self, text: &str, at: [f64; 2], size_px: i32) -> DrawResult<DB> {
        let centre = Pos::new(HPos::Center, VPos::Center);
        let style = |colour: &'static RGBColor| text_style(size_px, UNIT as i32).color(colour).pos(centre);
        let (x, y) = on_canvas(at);
        let rim = (1.5 * UNIT) as i32;
        for (i, j) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)] {
            self.area.draw(&Text::new(text.to_owned(), (x + rim * i, y + rim * j), style(&WHITE)))?;
        }
        self.area.draw(&Text::new(text.to_owned(), (x, y), style(&INK)))
    }
}

fn on_canvas([x, y]: [f64; 2]) -> (i32, i32) {
    ((x * UNIT).round() as i32, (y * UNIT).round() as i32)
}
