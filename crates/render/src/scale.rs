//! The scale of a picture: a bar of a round length, and the directions of the axes.

use crate::OrbitCamera;
use crate::canvas::{Canvas, Typeface};
use crate::legend::{nice_step, panel};
use glam::{Vec2, Vec3, vec2};

/// Axis triad and scale bar of a picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Directions of x, y and z in the picture, to the right and downwards; of length 1 across the line of
    /// sight.
    axes: [Vec2; 3],
    /// Length of the bar in pixels.
    bar_px: f32,
    label: String,
}

/// Maximum length of the bar as a share of the picture's width.
const LONGEST: f64 = 0.11;
/// Length below which an axis points along the line of sight, and is left out.
const LEAST_AXIS: f32 = 0.12;
const NAMES: [&str; 3] = ["x", "y", "z"];
/// Display-encoded colours of the axes: those of Okabe & Ito (2008) for red, green and blue.
const COLORS: [[f32; 3]; 3] = [[0.84, 0.37, 0.0], [0.0, 0.62, 0.45], [0.0, 0.45, 0.70]];

impl Scale {
    /// Returns the scale at the distance of the camera's target.
    pub fn of(camera: &OrbitCamera, width: u32, height: u32) -> Self {
        let px_per_m = f64::from(height) / f64::from(camera.height_m());
        let longest_m = LONGEST * f64::from(width) / px_per_m;
        // Of round lengths, one is between 0.4 of a length and that length.
        let length_m = nice_step(0.4 * longest_m, 1);
        let axes = camera.axes();
        let seen = |axis: Vec3| vec2(axis.dot(axes.right), -axis.dot(axes.up));
        Self {
            axes: [Vec3::X, Vec3::Y, Vec3::Z].map(seen),
            bar_px: (length_m * px_per_m) as f32,
            label: length_label(length_m),
        }
    }

    /// Draws the axes, and the bar with its length below them.
    pub fn draw(&self, typeface: &Typeface, size_px: f32, ink: [f32; 3], paper: [f32; 3]) -> Canvas {
        // The bar below the axes, so that both fit below the legend.
        let (pad, arm) = (0.5 * size_px, 1.5 * size_px);
        let side = 2.0 * arm + 1.6 * size_px;
        let text = typeface.width(&self.label, size_px);
        let width = side.max(self.bar_px).max(text) + 2.0 * pad;
        let mut canvas = panel(width, side + 2.0 * size_px + pad, paper);
        let middle = vec2(0.5 * width, 0.5 * side);
        let thickness = (size_px / 9.0).max(1.0);
        for ((axis, name), [r, g, b]) in self.axes.iter().zip(NAMES).zip(COLORS) {
            if axis.length() < LEAST_AXIS {
                continue;
            }
            canvas.line(middle, middle + arm * *axis, thickness, [r, g, b, 1.0]);
            let at = middle + (arm * axis.length() + 0.4 * size_px) * axis.normalize();
            let left = at.x - 0.5 * typeface.width(name, size_px);
            canvas.text(typeface, left, at.y + 0.28 * size_px, size_px, name, [ink[0], ink[1], ink[2], 1.0]);
        }
        let ink = [ink[0], ink[1], ink[2], 1.0];
        let (left, y) = (0.5 * (width - self.bar_px), side + 1.6 * size_px);
        let bar = left + self.bar_px;
        canvas.line(vec2(left, y), vec2(bar, y), thickness, ink);
        for end in [left, bar] {
            let tick = 0.3 * size_px;
            canvas.line(vec2(end, y - tick), vec2(end, y + tick), thickness, ink);
        }
        let text_left = 0.5 * (width - text);
        canvas.text(typeface, text_left, y - 0.6 * size_px, size_px, &self.label, ink);
        canvas
    }
}

/// Returns a round length with its unit.
fn length_label(length_m: f64) -> String {
    const UNITS: [(f64, &str); 5] = [(1e3, "km"), (1.0, "m"), (1e-2, "cm"), (1e-3, "mm"), (1e-6, "µm")];
    let unit = UNITS.into_iter().find(|(unit_m, _)| length_m >= unit_m * (1.0 - 1e-9));
    let (unit_m, unit) = unit.unwrap_or((1e-6, "µm"));
    let digits = format!("{:.3}", length_m / unit_m);
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use crate::{Projection, UpAxis};

    #[test]
    fn lengths_have_the_unit_that_makes_them_short() {
        for (length_m, label) in [
            (2000.0, "2 km"),
            (500.0, "500 m"),
            (1.0, "1 m"),
            (0.5, "50 cm"),
            (0.002, "2 mm"),
            (5e-6, "5 µm"),
        ] {
            assert_eq!(length_label(length_m), label);
        }
    }

    #[test]
    fn the_bar_has_its_length_at_the_target() {
        for (distance_m, projection) in [
            (0.37, Projection::Perspective),
            (4.0, Projection::Orthographic),
            (2300.0, Projection::Perspective),
        ] {
            let camera = OrbitCamera { distance_m, projection, ..OrbitCamera::default() };
            let scale = Scale::of(&camera, 800, 450);
            let along = camera.target + camera.axes().right;
            let [a, b] = [camera.target, along].map(|at| camera.project(at, 800, 450).unwrap().0.x);
            let length_m = scale.bar_px / (b - a);
            // Three digits are left of the difference of two pixels.
            let rounded: f64 = format!("{length_m:.2e}").parse().unwrap();
            assert_eq!(scale.label, length_label(rounded), "{length_m}");
            // 1, 2 or 5 times a power of ten, and no shorter than 2.5 times below the maximum.
            assert!((0.044..=0.1101).contains(&(scale.bar_px / 800.0)), "{}", scale.bar_px);
        }
    }

    #[test]
    fn the_axes_point_where_the_camera_sees_them() {
        let camera = OrbitCamera { azimuth_deg: 0.0, elevation_deg: 0.0, ..OrbitCamera::default() };
        let [x, y, z] = Scale::of(&OrbitCamera { up_axis: UpAxis::Z, ..camera }, 100, 100).axes;
        let near = |a: Vec2, b: Vec2| (a - b).length() < 1e-5;
        assert!(near(x, Vec2::X) && near(y, Vec2::ZERO) && near(z, -Vec2::Y), "{x} {y} {z}");
        let [x, y, z] = Scale::of(&OrbitCamera { up_axis: UpAxis::Y, ..camera }, 100, 100).axes;
        assert!(near(x, Vec2::X) && near(y, -Vec2::Y) && near(z, Vec2::ZERO), "{x} {y} {z}");
    }
}
