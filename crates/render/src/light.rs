//! Light that does not move with the camera: the sun and fog.

use crate::UpAxis;
use crate::frame::Light;
use frazil_shaders::types::Fog;
use glam::Vec3;

impl Light {
    /// Creates clear air and a sun at an azimuth and an elevation in degrees, with the conventions of
    /// [`crate::OrbitCamera`].
    pub fn from_sun(up_axis: UpAxis, azimuth_deg: f32, elevation_deg: f32) -> Self {
        let axes = up_axis.axes();
        let (sin_a, cos_a) = azimuth_deg.to_radians().sin_cos();
        let (sin_e, cos_e) = elevation_deg.to_radians().sin_cos();
        let to_sun = cos_e * (sin_a * axes.right + cos_a * axes.back) + sin_e * axes.up;
        Self { to_sun, ..Self::default() }
    }

    pub(crate) fn fog(&self, has_perspective: bool) -> Fog {
        // Fog needs distances, which a parallel projection does not have.
        Fog { color: self.fog_color, per_m: if has_perspective { self.fog_per_m } else { 0.0 } }
    }
}

impl Default for Light {
    /// Clear air, and a sun behind the viewer's left shoulder for y up.
    fn default() -> Self {
        let to_sun = Vec3::new(-0.5, 0.7, 0.5).normalize();
        Self { to_sun, fog_color: [0.7, 0.8, 0.9], fog_per_m: 0.0 }
    }
}
