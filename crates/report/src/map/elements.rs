//! Contents of a map, its margins and the styles of its lines.

use frazil_io::FlowRasters;
use frazil_scene::{FlowQuantity, Polygon, Terrain};
use plotters::prelude::RGBColor;

use super::painter::Pen;
use crate::run_out::RunOut;

/// Margins around the section of the terrain in pixels.
pub(super) const LEFT_PX: u32 = 86;
pub(super) const RIGHT_PX: u32 = 250;
pub(super) const TOP_PX: u32 = 52;
pub(super) const BOTTOM_PX: u32 = 62;

pub(super) const CONTOUR: Pen = Pen::solid(RGBColor(120, 104, 88), 0.6);
pub(super) const INDEX_CONTOUR: Pen = Pen::solid(RGBColor(96, 80, 64), 1.3);
pub(super) const RELEASE: Pen = Pen::solid(RGBColor(0, 92, 200), 2.0);
pub(super) const AFFECTED: Pen = Pen::solid(RGBColor(150, 0, 24), 1.6);
pub(super) const FRONT: Pen = Pen::solid(RGBColor(255, 255, 255), 1.0);
pub(super) const PATH: Pen = Pen { colour: RGBColor(0, 0, 0), width_px: 1.6, dash_px: 6.0 };
pub(super) const FRAME: Pen = Pen::solid(RGBColor(40, 40, 40), 1.0);
/// Map of a flow.
#[derive(Debug, Clone, Copy)]
pub struct FlowMap<'a> {
    /// Name of the scene.
    pub name: &'a str,
    /// Ground.
    pub terrain: &'a Terrain,
    /// Rasters of the flow.
    pub rasters: &'a FlowRasters,
    /// Quantity that colours show.
    pub quantity: FlowQuantity,
    /// Release areas, in the scene's coordinates.
    pub releases: &'a [Polygon],
    /// Run-out, if cells are affected.
    pub run_out: Option<&'a RunOut>,
}

/// Intervals of the lines of a map.
pub(super) struct Intervals {
    pub(super) contour_m: f64,
    /// `None` if the front reaches no cell after the start.
    pub(super) front_s: Option<f64>,
}
