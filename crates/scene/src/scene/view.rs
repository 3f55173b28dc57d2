//! Camera position and default framing.

use serde::Serialize;

use crate::vector::{Vec3, dot};
use crate::{Axis, Projection, Release, RenderScheme, Scene, Terrain};

/// Position and direction of a camera.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct View {
    /// Eye position in m.
    pub eye_m: Vec3,
    /// Target position in m.
    pub target_m: Vec3,
    /// Unit vector that points up in the world.
    pub up: Vec3,
    /// Distance from eye to target in m.
    pub distance_m: f64,
    /// Vertical field of view in degrees.
    pub vertical_fov_deg: f64,
}

/// Margin around the domain in a picture, as a factor on the distance.
const MARGIN: f64 = 1.05;
/// Width of the legend with its margins, in sizes of its font.
const LEGEND_FONT_SIZES: f64 = 9.5;
/// Largest share of a picture's width that is left to the legend.
const MAX_LEGEND_SHARE: f64 = 0.25;
/// Tangent of the travel angle, 22°, of avalanches that run far: the angle down from the release to the end.
const TRAVEL_ANGLE_TAN: f64 = 0.404;
/// Share of the direction that a flow keeps from a step to the next.
const PATH_INERTIA: f64 = 0.9;
/// Steps of a path across a terrain.
const PATH_STEPS: usize = 200;

impl Scene {
    /// Makes the camera look straight at the plane of a scene of two dimensions, unless the scene says
    /// otherwise. All particles are then equally far from it, and the picture is that of a parallel
    /// projection.
    pub(crate) fn face_plane(&mut self) {
        if self.n_dimensions() == 3 {
            return;
        }
        let camera = &mut self.render.camera;
        for (key, angle_deg) in
            [("azimuth_deg", &mut camera.azimuth_deg), ("elevation_deg", &mut camera.elevation_deg)]
        {
            if !self.source.has(&format!("render.camera.{key}")) {
                *angle_deg = 0.0;
            }
        }
    }

    /// Returns the camera; values that the scene leaves open are chosen so that the whole domain is in the
    /// picture, or on a terrain the flow from its releases to its expected run-out, and beside the legend.
    pub fn view(&self) -> View {
        let camera = &self.render.camera;
        let frame =
            Frame::new(self.up_axis, camera.azimuth_deg.to_radians(), camera.elevation_deg.to_radians());
        let points = self.points_to_frame();
        let center = camera.target_m.unwrap_or_else(|| center_of(&points));
        let tan_y = (0.5 * camera.vertical_fov_deg.to_radians()).tan();
        let tan_x = tan_y * f64::from(self.render.width_px) / f64::from(self.render.height_px);
        // With a target of its own, the camera looks straight at it.
        let free = if camera.target_m.is_none() { 1.0 - 2.0 * self.legend_share() } else { 1.0 };
        let fit = Fit { lo: -tan_x, hi: free * tan_x, tan_y, projection: camera.projection };
        let seen: Vec<Vec3> =
            points.iter().map(|point| frame.seen(std::array::from_fn(|i| point[i] - center[i]))).collect();
        let distance_m = camera.distance_m.unwrap_or_else(|| MARGIN * fit.distance_m(&seen));
        let aside_m = if free < 1.0 { fit.aside_m(&seen, distance_m) } else { 0.0 };
        let target_m = std::array::from_fn(|i| center[i] + aside_m * frame.right[i]);
        View {
            eye_m: std::array::from_fn(|i| target_m[i] + distance_m * frame.back[i]),
            target_m,
            up: self.up_axis.unit(),
            distance_m,
            vertical_fov_deg: camera.vertical_fov_deg,
        }
    }

    /// Returns the share of a picture's width that the legend takes up at its right; 0 without one.
    fn legend_share(&self) -> f64 {
        if self.render.scheme != RenderScheme::Sprites {
            return 0.0;
        }
        let font_px = (f64::from(self.render.height_px) / 36.0).clamp(11.0, 48.0);
        (LEGEND_FONT_SIZES * font_px / f64::from(self.render.width_px)).min(MAX_LEGEND_SHARE)
    }

    /// Returns points around what moves: the way of the flow on a terrain, or the corners of the domain.
    fn points_to_frame(&self) -> Vec<Vec3> {
        let points = self.flow_points();
        if !points.is_empty() {
            return points;
        }
        let (min, max) = (self.domain.min_m, self.domain.max_m);
        let corner =
            |corner: usize| std::array::from_fn(|i| if corner >> i & 1 == 0 { min[i] } else { max[i] });
        (0..8).map(corner).collect()
    }

    /// Returns points of a terrain around the releases and the paths of their snow; none without releases.
    fn flow_points(&self) -> Vec<Vec3> {
        let Some(ground) = self.ground() else { return Vec::new() };
        let areas: Vec<_> = self.releases().iter().filter_map(Release::areas).collect();
        let mut points = Vec::new();
        for area in areas.iter().flat_map(|areas| areas.iter()) {
            let ([left, low], [right, high]) = area.polygon.bounds();
            let half_m = 0.5 * (right - left).min(high - low);
            let path = flow_path(ground, [0.5 * (left + right), 0.5 * (low + high)]);
            let beside = [[-half_m, 0.0], [half_m, 0.0], [0.0, -half_m], [0.0, half_m]];
            let around = path.iter().flat_map(|[x, y]| beside.map(|[dx, dy]| [x + dx, y + dy]));
            let corners = area.polygon.rings.iter().flatten().copied();
            let lifted = |[x, y]: [f64; 2]| Some([x, y, ground.height_m([x, y])?]);
            points.extend(around.chain(corners).filter_map(lifted));
        }
        points
    }
}

/// Returns the path of a mass that slides from a point: down the terrain, with some inertia, as far as its
/// energy line at the travel angle is above the terrain.
fn flow_path(ground: &Terrain, start: [f64; 2]) -> Vec<[f64; 2]> {
    let step_m = ground.cell_m().max(ground.extent_m().into_iter().fold(0.0, f64::max) / PATH_STEPS as f64);
    let fall = |point: [f64; 2]| {
        let [east, north] = ground.gradient(point)?;
        let slope = east.hypot(north);
        Some(if slope > 0.0 { [-east / slope, -north / slope] } else { [0.0; 2] })
    };
    let (Some(start_m), Some(mut along)) = (ground.height_m(start), fall(start)) else { return Vec::new() };
    let (mut path, mut at) = (vec![start], start);
    for n in 1..=2 * PATH_STEPS {
        let Some(down) = fall(at) else { break };
        let turned: [f64; 2] =
            std::array::from_fn(|i| PATH_INERTIA * along[i] + (1.0 - PATH_INERTIA) * down[i]);
        let length = turned[0].hypot(turned[1]);
        if length == 0.0 {
            break;
        }
        along = turned.map(|x| x / length);
        at = std::array::from_fn(|i| at[i] + step_m * along[i]);
        let line_m = start_m - TRAVEL_ANGLE_TAN * n as f64 * step_m;
        match ground.height_m(at) {
            Some(height_m) if height_m <= line_m => path.push(at),
            // At the start the line is as high as the ground.
            Some(_) if n <= PATH_STEPS / 20 => {}
            _ => break,
        }
    }
    path
}

/// Returns the middle of the box around points.
fn center_of(points: &[Vec3]) -> Vec3 {
    std::array::from_fn(|i| {
        let along = points.iter().map(|point| point[i]);
        let (lo, hi) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
        0.5 * (lo + hi)
    })
}

/// Camera axes; `back` points from the target to the eye.
struct Frame {
    right: Vec3,
    up: Vec3,
    back: Vec3,
}

impl Frame {
    fn new(up_axis: Axis, azimuth: f64, elevation: f64) -> Self {
        // A right-handed world frame (right, up, back) that is (x, y, z) where y is up and (x, z, −y) where z
        // is.
        let (right, back): (Vec3, Vec3) = match up_axis {
            Axis::X => ([0.0, 1.0, 0.0], [0.0, 0.0, -1.0]),
            Axis::Y => ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
            Axis::Z => ([1.0, 0.0, 0.0], [0.0, -1.0, 0.0]),
        };
        let up = up_axis.unit();
        let combine =
            |r: f64, u: f64, b: f64| std::array::from_fn(|i| r * right[i] + u * up[i] + b * back[i]);
        let (sin_a, cos_a) = azimuth.sin_cos();
        let (sin_e, cos_e) = elevation.sin_cos();
        Self {
            right: combine(cos_a, 0.0, -sin_a),
            up: combine(-sin_e * sin_a, cos_e, -sin_e * cos_a),
            back: combine(cos_e * sin_a, sin_e, cos_e * cos_a),
        }
    }

    /// Returns a point relative to the target in the camera's axes.
    fn seen(&self, point: Vec3) -> Vec3 {
        [dot(point, self.right), dot(point, self.up), dot(point, self.back)]
    }
}

/// The part of a picture that points are to be in, by tangents of angles from the line of sight.
struct Fit {
    /// From the left to the right.
    lo: f64,
    hi: f64,
    /// Above and below.
    tan_y: f64,
    projection: Projection,
}

impl Fit {
    /// Returns by how much a point relative to the target is nearer to the eye.
    fn nearer_m(&self, point: &Vec3) -> f64 {
        match self.projection {
            Projection::Perspective => point[2],
            Projection::Orthographic => 0.0,
        }
    }

    /// Returns the minimum distance of the eye from the target at which all points are in the picture, if
    /// the camera may look past the target; straight at it, if the picture is as wide on both sides.
    fn distance_m(&self, points: &[Vec3]) -> f64 {
        let largest = |of: &dyn Fn(&Vec3) -> f64| points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        let high = largest(&|p| self.nearer_m(p) + p[1].abs() / self.tan_y);
        let wide = if -self.lo == self.hi {
            largest(&|p| self.nearer_m(p) + p[0].abs() / self.hi)
        } else {
            let right = largest(&|p| p[0] + self.hi * self.nearer_m(p));
            let left = largest(&|p| -p[0] - self.lo * self.nearer_m(p));
            (right + left) / (self.hi - self.lo)
        };
        high.max(wide).max(0.0)
    }

    /// Returns the least distance in m to the right of the target at which the camera has to look so that
    /// all points are in the picture; in the middle between both sides if they are not.
    fn aside_m(&self, points: &[Vec3], distance_m: f64) -> f64 {
        let depth_m = |p: &Vec3| distance_m - self.nearer_m(p);
        let lowest = points.iter().map(|p| p[0] - self.hi * depth_m(p)).fold(f64::NEG_INFINITY, f64::max);
        let highest = points.iter().map(|p| p[0] - self.lo * depth_m(p)).fold(f64::INFINITY, f64::min);
        if lowest > highest { 0.5 * (lowest + highest) } else { 0.0_f64.clamp(lowest, highest) }
    }
}
