//! Camera position and default framing.

use serde::Serialize;

use crate::vector::{Vec3, dot};
use crate::{Axis, Projection, Scene};

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
    /// picture.
    pub fn view(&self) -> View {
        let camera = &self.render.camera;
        let (min, max) = (self.domain.min_m, self.domain.max_m);
        let target_m = camera.target_m.unwrap_or_else(|| std::array::from_fn(|i| 0.5 * (min[i] + max[i])));
        let frame =
            Frame::new(self.up_axis, camera.azimuth_deg.to_radians(), camera.elevation_deg.to_radians());
        let aspect = f64::from(self.render.width_px) / f64::from(self.render.height_px);
        let distance_m = camera.distance_m.unwrap_or_else(|| {
            let tan_y = (0.5 * camera.vertical_fov_deg.to_radians()).tan();
            let corners = (0..8).map(|corner: usize| {
                std::array::from_fn(|i| if corner >> i & 1 == 0 { min[i] } else { max[i] } - target_m[i])
            });
            MARGIN
                * corners
                    .map(|corner| frame.distance_to_see(corner, tan_y * aspect, tan_y, camera.projection))
                    .fold(0.0, f64::max)
        });
        View {
            eye_m: std::array::from_fn(|i| target_m[i] + distance_m * frame.back[i]),
            target_m,
            up: self.up_axis.unit(),
            distance_m,
            vertical_fov_deg: camera.vertical_fov_deg,
        }
    }
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

    /// Returns the minimum distance of the eye from the target at which `point`, relative to the target, is
    /// in the picture.
    fn distance_to_see(&self, point: Vec3, tan_x: f64, tan_y: f64, projection: Projection) -> f64 {
        let x = dot(point, self.right).abs();
        let y = dot(point, self.up).abs();
        let nearer = match projection {
            Projection::Perspective => dot(point, self.back),
            Projection::Orthographic => 0.0,
        };
        nearer + (x / tan_x).max(y / tan_y)
    }
}
