//! Layers of particles that emitters send through their mouths.

use super::{Emitter, Mouth};
use crate::vector::{cross, dot, unit};
use crate::{Axis, Vec3};

/// Units of a layer in which [`Stream::layer_share`] counts.
const LAYER: f64 = 4_294_967_296.0;

/// Distance between layers of grains, and between points of a layer at least, in largest diameters.
pub const GRAIN_ROOM: f64 = 1.1;

/// Quantities of a scene that layers depend on.
pub(crate) struct Scales {
    pub spacing_m: f64,
    /// Volume of a particle at rest density.
    pub particle_m3: f64,
    /// True for grains, which must not overlap: the distance of layers is `GRAIN_ROOM`, and the flow follows.
    pub are_grains: bool,
    /// Length of the pipe behind a mouth.
    pub reach_m: f64,
    pub rest_density_kg_m3: f64,
    pub dt_s: f64,
    pub up_axis: Axis,
}

/// Layers of an emitter: equal points that follow each other, and the pipe in which they are held.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Centre of the mouth in m.
    pub mouth_m: Vec3,
    /// Directions of the flow, and of the two sides of the mouth, which are perpendicular to each other.
    pub axes: [Vec3; 3],
    /// Half of the two sides in m; of a disk its radius, twice.
    pub half_m: [f64; 2],
    /// True for a disk.
    pub is_round: bool,
    /// Distance in m behind the mouth at which layers appear.
    pub reach_m: f64,
    /// Points of a layer where it appears, in m.
    pub points_m: Vec<Vec3>,
    /// Speed in m/s.
    pub speed_m_s: f64,
    /// Distance between layers in m.
    pub layer_m: f64,
    /// First step at whose start a layer may appear, counted from 0, and the one after the last.
    pub steps: [u64; 2],
    /// Distance between layers that passes in a step, in units of 2⁻³².
    pub layer_share: u32,
}

impl Stream {
    /// Returns the layers of an emitter.
    pub(crate) fn new(emitter: &Emitter, of: &Scales) -> Self {
        let axes = axes(emitter, of.up_axis);
        let (half_m, is_round) = match &emitter.mouth {
            Mouth::Disk { radius_m, .. } => ([*radius_m; 2], true),
            Mouth::Rectangle { size_m, .. } => (size_m.map(|side| 0.5 * side), false),
        };
        let (mouth_m, reach_m) = (emitter.mouth.centre_m(), of.reach_m);
        let place = |[a, b]: [f64; 2]| {
            std::array::from_fn(|i| mouth_m[i] - reach_m * axes[0][i] + a * axes[1][i] + b * axes[2][i])
        };
        let spacing_m = if of.are_grains { GRAIN_ROOM * of.spacing_m } else { of.spacing_m };
        let points = match &emitter.mouth {
            Mouth::Disk { radius_m, .. } => lattice_in_disk(*radius_m, spacing_m),
            Mouth::Rectangle { size_m, .. } => lattice_in_rectangle(*size_m, spacing_m, of.are_grains),
        };
        let volume_m3 = points.len() as f64 * of.particle_m3;
        let full_m = volume_m3 / emitter.mouth.area_m2();
        let layer_m = if of.are_grains { spacing_m } else { full_m };
        // As much as in a full mouth, at the density of the layers.
        let speed_m_s = emitter.flow_m_s(of.rest_density_kg_m3 * full_m / layer_m);
        let step_of = |time_s: f64| (time_s / of.dt_s).round() as u64;
        Self {
            mouth_m,
            axes,
            half_m,
            is_round,
            reach_m,
            speed_m_s,
            layer_m,
            steps: [step_of(emitter.from_s), emitter.until_s.map_or(u64::MAX, step_of)],
            layer_share: (LAYER * speed_m_s * of.dt_s / layer_m).round() as u32,
            points_m: points.into_iter().map(place).collect(),
        }
    }

    /// Returns the number of layers that have appeared after `n` steps: one at the start of the first step,
    /// another whenever the last one has moved by the distance between layers.
    pub fn layers_after(&self, n: u64) -> u64 {
        let [first, end] = self.steps;
        match n.min(end).checked_sub(first.saturating_add(1)) {
            Some(last) => ((u128::from(last) * u128::from(self.layer_share)) >> 32) as u64 + 1,
            None => 0,
        }
    }

    /// Returns true if a point lies between mouth and the place where layers appear, up to half a spacing
    /// beyond it and from the sides: its particles are held.
    pub fn holds(&self, point_m: Vec3, spacing_m: f64) -> bool {
        let offset: Vec3 = std::array::from_fn(|i| point_m[i] - self.mouth_m[i]);
        let [along, a, b] = self.axes.map(|axis| dot(axis, offset));
        let [half_a, half_b] = self.half_m.map(|half| half + 0.5 * spacing_m);
        let is_inside = if self.is_round {
            a * a + b * b < half_a * half_a
        } else {
            a.abs() < half_a && b.abs() < half_b
        };
        is_inside && along < 0.0 && along > -self.reach_m - 0.5 * spacing_m
    }
}

/// Returns the unit vectors of the flow and of the sides of a mouth.
fn axes(emitter: &Emitter, up_axis: Axis) -> [Vec3; 3] {
    let flow = unit(emitter.direction);
    let up = up_axis.unit();
    let asked = match &emitter.mouth {
        Mouth::Rectangle { side, .. } => *side,
        Mouth::Disk { .. } => None,
    };
    let horizontal = cross(up, flow);
    let first = asked.unwrap_or(if dot(horizontal, horizontal) > 1e-12 {
        horizontal
    } else {
        // The first horizontal axis.
        let axis = usize::from(up_axis.index() == 0);
        std::array::from_fn(|i| f64::from(u8::from(i == axis)))
    });
    let along = dot(first, flow);
    let first = unit(std::array::from_fn(|i| first[i] - along * flow[i]));
    [flow, first, cross(flow, first)]
}

/// Returns the points of a square lattice of spacing d within a disk about the origin: of lattices with the
/// centre of the disk on a point, on the middle of an edge or of a square, the one whose area is the nearest.
fn lattice_in_disk(radius_m: f64, d: f64) -> Vec<[f64; 2]> {
    let most = (radius_m / d).ceil() as i64 + 1;
    let lattice = |[a, b]: [f64; 2]| -> Vec<[f64; 2]> {
        let points = (-most..=most)
            .flat_map(|i| (-most..=most).map(move |j| [(i as f64 + a) * d, (j as f64 + b) * d]));
        points.filter(|[x, y]| x * x + y * y <= radius_m * radius_m * (1.0 + 1e-9)).collect()
    };
    let area = std::f64::consts::PI * radius_m * radius_m / (d * d);
    let phases = [[0.0, 0.0], [0.5, 0.5], [0.5, 0.0]];
    let lattices = phases.map(lattice);
    let off = |points: &Vec<[f64; 2]>| (points.len() as f64 - area).abs();
    let nearest = lattices.into_iter().filter(|points| !points.is_empty());
    nearest.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or_default()
}

/// Returns points at about the spacing d, or at least at it, that fill a rectangle about the origin.
fn lattice_in_rectangle(size_m: [f64; 2], d: f64, at_least: bool) -> Vec<[f64; 2]> {
    let count = |side: f64| if at_least { (side / d * (1.0 + 1e-9)).floor() } else { (side / d).round() };
    let [m, n] = size_m.map(|side| count(side).max(1.0) as u64);
    let at = |k: u64, count: u64, side: f64| ((k as f64 + 0.5) / count as f64 - 0.5) * side;
    (0..m).flat_map(|i| (0..n).map(move |j| [at(i, m, size_m[0]), at(j, n, size_m[1])])).collect()
}
