//! Emitters and drains that do nothing in a step: what it costs to have them.

use crate::axis::{Axis, Point};
use crate::error::Result;
use bytemuck::Zeroable;
use frazil_shaders::types::{Drain, Emitter};
use frazil_solvers::SourceParameters;

const SOURCES: &[&str] = &["none", "idle"];

/// Number of points of the layer that never appears.
const POINTS: u32 = 64;

/// Returns the axis of emitters and drains.
pub fn axis() -> Axis {
    Axis::names("sources", SOURCES, &["none"], SOURCES)
}

/// Returns an emitter that never begins, or none.
pub fn emitters(point: &Point) -> Result<SourceParameters> {
    if point.name("sources")? == "none" {
        return Ok(SourceParameters::default());
    }
    let never = u32::MAX - 1;
    let emitter = Emitter {
        flow: [1.0, 0.0, 0.0],
        side_a: [0.0, 1.0, 0.0],
        side_b: [0.0, 0.0, 1.0],
        half_m: [1e-3; 2],
        mouth_m: [-10.0; 3],
        speed_m_s: 1.0,
        layer_m: 1e-3,
        n_points: POINTS,
        first_step: never,
        end_step: never,
        ..Zeroable::zeroed()
    };
    Ok(SourceParameters {
        emitters: vec![emitter],
        points_m: vec![[0.0; 3]; POINTS as usize],
        drains: Vec::new(),
        spacing_m: 1e-3,
    })
}

/// Returns a drain in which there is no particle, or none.
pub fn drains(point: &Point) -> Result<Vec<Drain>> {
    let far = Drain { min_m: [-2.0; 3], max_m: [-1.0; 3] };
    Ok(if point.name("sources")? == "none" { Vec::new() } else { vec![far] })
}
