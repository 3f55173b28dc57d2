//! Orbit camera.

use frazil_shaders::types::View;
use glam::{Vec2, Vec3};

/// Axis of the world that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpAxis {
    /// x axis.
    X,
    /// y axis.
    #[default]
    Y,
    /// z axis.
    Z,
}

/// Projection of space onto the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// Perspective: distant objects are smaller.
    #[default]
    Perspective,
    /// Parallel projection: size does not depend on distance, and nothing is behind the eye. The visible
    /// height equals that of the perspective at the target's distance, so that zooming and panning behave
    /// alike.
    Orthographic,
}

/// A camera that looks at a target from a distance and can orbit it.
///
/// At azimuth 0 it looks along −z if y is up, and along +y if z is up; increasing azimuths move it
/// counter-clockwise seen from above, increasing elevations upwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrbitCamera {
    /// The target point in m.
    pub target: Vec3,
    /// Distance of the eye from the target, in m.
    pub distance_m: f32,
    /// Angle about the up axis, in degrees.
    pub azimuth_deg: f32,
    /// Angle above the horizon, in degrees; [`Self::orbit`] keeps it within ±89.
    pub elevation_deg: f32,
    /// Vertical angle of view, in degrees.
    pub vertical_fov_deg: f32,
    /// Up axis of the world.
    pub up_axis: UpAxis,
    /// Projection: perspective or orthographic.
    pub projection: Projection,
}

/// Right-handed unit vectors of a camera or of the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axes {
    pub right: Vec3,
    pub up: Vec3,
    pub back: Vec3,
}

/// Maximum elevation; at the pole the horizon has no direction.
const MAX_ELEVATION_DEG: f32 = 89.0;

/// Distance of the near plane from the eye as a fraction of the target's distance.
const NEAR_FRACTION: f32 = 0.01;
/// Range of depths without perspective, before and behind the target, in multiples of the target's distance.
const DEPTH_REACH: f32 = 64.0;

impl UpAxis {
    /// Returns the world's axes as seen by the camera at azimuth and elevation 0.
    pub(crate) fn axes(self) -> Axes {
        match self {
            Self::X => Axes { right: Vec3::Y, up: Vec3::X, back: Vec3::NEG_Z },
            Self::Y => Axes { right: Vec3::X, up: Vec3::Y, back: Vec3::Z },
            Self::Z => Axes { right: Vec3::X, up: Vec3::Z, back: Vec3::NEG_Y },
        }
    }

    /// Returns the index of the axis, as shaders number them.
    pub(crate) fn index(self) -> u32 {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

impl Default for OrbitCamera {
    fn default() -> Self {
        Self {
            target: Vec3::ZERO,
            distance_m: 3.0,
            azimuth_deg: 25.0,
            elevation_deg: 15.0,
            vertical_fov_deg: 35.0,
            up_axis: UpAxis::Y,
            projection: Projection::Perspective,
        }
    }
}

impl OrbitCamera {
    pub(crate) fn axes(&self) -> Axes {
        let world = self.up_axis.axes();
        let (sin_a, cos_a) = self.azimuth_deg.to_radians().sin_cos();
        let (sin_e, cos_e) = self.elevation_deg.to_radians().sin_cos();
        let outward = sin_a * world.right + cos_a * world.back;
        Axes {
            right: cos_a * world.right - sin_a * world.back,
            up: cos_e * world.up - sin_e * outward,
            back: cos_e * outward + sin_e * world.up,
        }
    }

    /// Returns the position of the eye in m.
    pub fn eye(&self) -> Vec3 {
        self.target + self.distance_m * self.axes().back
    }

    /// Rotates the eye around the target by angles in degrees.
    pub fn orbit(&mut self, azimuth_deg: f32, elevation_deg: f32) {
        self.azimuth_deg = (self.azimuth_deg + azimuth_deg).rem_euclid(360.0);
        self.elevation_deg =
            (self.elevation_deg + elevation_deg).clamp(-MAX_ELEVATION_DEG, MAX_ELEVATION_DEG);
    }

    /// Moves eye and target across the line of sight by fractions of the picture's height, so that points at
    /// the target's depth follow the pointer. `right` and `down` are the pointer's displacement.
    pub fn pan(&mut self, right: f32, down: f32) {
        let axes = self.axes();
        let height_m = 2.0 * self.distance_m * self.tan_half_fov();
        self.target += height_m * (down * axes.up - right * axes.right);
    }

    /// Multiplies the distance; factors below 1 zoom in.
    pub fn zoom(&mut self, factor: f32) {
        self.distance_m = (self.distance_m * factor).clamp(1e-4, 1e6);
    }

    /// Moves the target to the centre of a box and sets the distance such that the whole box fits into a
    /// picture with the given ratio of width to height; angles are kept.
    pub fn frame_box(&mut self, lo: Vec3, hi: Vec3, aspect: f32) {
        const MARGIN: f32 = 1.05;
        self.target = 0.5 * (lo + hi);
        let (axes, tan_y) = (self.axes(), self.tan_half_fov());
        let farthest = (0..8).map(|corner: u32| {
            let pick = |i: u32, lo: f32, hi: f32| if corner >> i & 1 == 0 { lo } else { hi };
            let at = Vec3::new(pick(0, lo.x, hi.x), pick(1, lo.y, hi.y), pick(2, lo.z, hi.z)) - self.target;
            let (x, y) = (at.dot(axes.right).abs(), at.dot(axes.up).abs());
            let nearer = match self.projection {
                Projection::Perspective => at.dot(axes.back),
                Projection::Orthographic => 0.0,
            };
            nearer + (x / (tan_y * aspect)).max(y / tan_y)
        });
        self.distance_m = (MARGIN * farthest.fold(0.0, f32::max)).max(1e-4);
    }

    /// Projects a point of the world to pixels from the top left corner of a picture of the given size, with
    /// its distance from the eye along the line of sight in m; `None` for a point behind the near plane of a
    /// perspective.
    pub fn project(&self, point: Vec3, width: u32, height: u32) -> Option<(Vec2, f32)> {
        let (axes, tan_y) = (self.axes(), self.tan_half_fov());
        let from_eye = point - self.eye();
        let depth = -from_eye.dot(axes.back);
        let scale_m = match self.projection {
            Projection::Perspective if depth < self.near() => return None,
            Projection::Perspective => depth * tan_y,
            Projection::Orthographic => self.distance_m * tan_y,
        };
        let half = 0.5 * Vec2::new(width as f32, height as f32);
        let on_plane = Vec2::new(from_eye.dot(axes.right), -from_eye.dot(axes.up)) / scale_m;
        Some((half + half.y * on_plane, depth))
    }

    /// Returns the ray through a pixel of a picture of the given size: a point of it, and its unit vector
    /// away from the viewer. [`Self::project`] maps the points of the ray to the pixel.
    pub fn ray(&self, pixel: Vec2, width: u32, height: u32) -> (Vec3, Vec3) {
        let axes = self.axes();
        let half = 0.5 * Vec2::new(width as f32, height as f32);
        let at = self.tan_half_fov() * (pixel - half) / half.y;
        let across = at.x * axes.right - at.y * axes.up;
        match self.projection {
            Projection::Perspective => (self.eye(), (across - axes.back).normalize()),
            Projection::Orthographic => (self.eye() + self.distance_m * across, -axes.back),
        }
    }

    /// Returns the unit vector along the line of sight.
    pub fn forward(&self) -> Vec3 {
        -self.axes().back
    }

    /// Returns the height of the picture in m at the depth of the target.
    pub fn height_m(&self) -> f32 {
        2.0 * self.distance_m * self.tan_half_fov()
    }

    pub(crate) fn near(&self) -> f32 {
        NEAR_FRACTION * self.distance_m
    }

    fn tan_half_fov(&self) -> f32 {
        (0.5 * self.vertical_fov_deg.to_radians()).tan()
    }

    /// Returns the camera's uniform data for the shaders.
    pub(crate) fn view(&self, width: u32, height: u32) -> View {
        let axes = self.axes();
        let (eye, half, depth_reach) = match self.projection {
            Projection::Perspective => (self.eye(), self.tan_half_fov(), 0.0),
            // Rays are parallel, so the origin of depth along them is free; precision is highest at the
            // target.
            Projection::Orthographic => {
                (self.target, self.distance_m * self.tan_half_fov(), DEPTH_REACH * self.distance_m)
            }
        };
        View {
            eye: eye.to_array(),
            right: axes.right.to_array(),
            up: axes.up.to_array(),
            forward: (-axes.back).to_array(),
            half_extent: [half * width as f32 / height as f32, half],
            near: self.near(),
            depth_reach,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_right_handed_and_orthonormal_at_every_angle() {
        for up_axis in [UpAxis::X, UpAxis::Y, UpAxis::Z] {
            for (azimuth_deg, elevation_deg) in [(0.0, 0.0), (30.0, 20.0), (200.0, -70.0), (359.0, 89.0)] {
                let camera = OrbitCamera { azimuth_deg, elevation_deg, up_axis, ..Default::default() };
                let Axes { right, up, back } = camera.axes();
                assert!((right.cross(up) - back).length() < 1e-6, "{camera:?}");
                assert!((right.length() - 1.0).abs() < 1e-6 && right.dot(up).abs() < 1e-6, "{camera:?}");
                assert!(right.dot(up_axis.axes().up).abs() < 1e-6, "the horizon is level: {camera:?}");
            }
        }
    }

    #[test]
    fn azimuth_runs_counter_clockwise_seen_from_above() {
        let at = |azimuth_deg, up_axis| {
            let camera = OrbitCamera {
                azimuth_deg,
                elevation_deg: 0.0,
                up_axis,
                distance_m: 1.0,
                ..Default::default()
            };
            camera.eye()
        };
        assert!((at(0.0, UpAxis::Y) - Vec3::Z).length() < 1e-6);
        assert!((at(90.0, UpAxis::Y) - Vec3::X).length() < 1e-6);
        assert!((at(0.0, UpAxis::Z) - Vec3::NEG_Y).length() < 1e-6);
        assert!((at(90.0, UpAxis::Z) - Vec3::X).length() < 1e-6);
    }

    #[test]
    fn rays_pass_through_the_points_that_their_pixel_shows() {
        for projection in [Projection::Perspective, Projection::Orthographic] {
            let camera = OrbitCamera { projection, ..Default::default() };
            for point in [Vec3::ZERO, Vec3::new(0.3, -0.2, 0.4), Vec3::new(-0.5, 0.1, -0.6)] {
                let (pixel, _) = camera.project(point, 640, 400).unwrap();
                let (origin, direction) = camera.ray(pixel, 640, 400);
                assert!((direction.length() - 1.0).abs() < 1e-6 && direction.dot(camera.forward()) > 0.0);
                let distance = (point - origin).cross(direction).length();
                assert!(distance < 1e-5, "{projection:?}: {distance} m from {point}");
            }
        }
    }

    #[test]
    fn panning_carries_the_target_with_the_pointer() {
        let mut camera = OrbitCamera { azimuth_deg: 40.0, elevation_deg: 30.0, ..Default::default() };
        let held = camera.target;
        camera.pan(0.25, 0.1);
        let (pixel, _) = camera.project(held, 800, 600).unwrap();
        assert!((pixel - Vec2::new(400.0 + 150.0, 300.0 + 60.0)).length() < 0.01, "{pixel}");
    }

    #[test]
    fn a_framed_box_touches_the_picture_and_stays_inside() {
        let (lo, hi) = (Vec3::new(-1.0, 0.0, 2.0), Vec3::new(3.0, 1.0, 4.0));
        let projections = [Projection::Perspective, Projection::Orthographic];
        for ((width, height), projection) in [(960, 540), (300, 900)].into_iter().zip(projections) {
            let mut camera =
                OrbitCamera { azimuth_deg: 35.0, elevation_deg: 20.0, projection, ..Default::default() };
            camera.frame_box(lo, hi, width as f32 / height as f32);
            let mut widest = 0.0_f32;
            for corner in 0..8 {
                let pick = |i: usize| if corner >> i & 1 == 0 { lo[i] } else { hi[i] };
                let (pixel, _) = camera.project(Vec3::new(pick(0), pick(1), pick(2)), width, height).unwrap();
                let x = (2.0 * pixel.x / width as f32 - 1.0).abs();
                let y = (2.0 * pixel.y / height as f32 - 1.0).abs();
                widest = widest.max(x).max(y);
            }
            assert!((0.85..=1.0).contains(&widest), "{widest}");
        }
    }

    #[test]
    fn orbiting_stops_before_the_pole() {
        let mut camera = OrbitCamera::default();
        camera.orbit(-40.0, 1000.0);
        assert_eq!((camera.azimuth_deg, camera.elevation_deg), (345.0, 89.0));
    }
}
