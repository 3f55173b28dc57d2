//! Light that does not move with the camera: the sun, other lights and fog.

use crate::frame::{DirectionalLight, Frame, Light, Shadows, SnowLook};
use crate::{Result, UpAxis};
use frazil_shaders::render::light_terms::MAX_LIGHTS;
use frazil_shaders::types::{Fog, LightTerms, View};
use frazil_vk::{Buffer, Device, Error, Location};
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

/// Uploads the light of a picture for the shaders; `sun` is the projection of its shadows, if there are any.
///
/// # Errors
/// More lights than shaders have room for.
pub(crate) fn upload(
    device: &Device,
    frame: &Frame<'_>,
    sun: Option<(&Shadows, View)>,
) -> Result<Buffer<LightTerms>> {
    const UNREAD: View = View {
        eye: [0.0; 3],
        right: [0.0; 3],
        up: [0.0; 3],
        forward: [0.0; 3],
        half_extent: [1.0; 2],
        near: 0.0,
        depth_reach: 1.0,
    };
    let n_lights = frame.lights.len();
    if n_lights > MAX_LIGHTS as usize {
        let problem = format!("{n_lights} lights beside the sun, expected at most {MAX_LIGHTS}");
        return Err(Error::Misuse { object: "a picture".into(), problem }.into());
    }
    let light = |i: usize| frame.lights.get(i);
    let color = |light: &DirectionalLight| light.color.map(|c| light.intensity * linear(c));
    let view = sun.map_or(UNREAD, |(_, view)| view);
    let [x, y] = view.half_extent;
    let SnowLook { bump_slope, bump_wavelength_m, glitter, glitter_cell_m } = frame.snow;
    let terms = LightTerms {
        to_sun: frame.light.to_sun.to_array(),
        sun: view,
        shadow_size: sun.map_or(0, |(shadows, _)| shadows.size_px),
        shadow_spread: sun.map_or(1, |(shadows, _)| shadows.spread_px),
        shadow_pixel: sun.map_or(0.0, |(shadows, _)| 2.0 * x.max(y) / shadows.size_px as f32),
        shadow_bias: sun.map_or(0.0, |(shadows, _)| shadows.bias_m),
        n_lights: n_lights as u32,
        to_light: std::array::from_fn(|i| light(i).map_or([0.0; 3], |light| light.to_light.to_array())),
        light_color: std::array::from_fn(|i| light(i).map_or([0.0; 3], color)),
        bump_slope,
        bump_wavelength: bump_wavelength_m,
        glitter,
        glitter_cell: glitter_cell_m,
    };
    let buffer = device.buffer_in("light terms", 1, Location::Upload)?;
    buffer.write(&[terms])?;
    Ok(buffer)
}

/// Decodes a component of a display-encoded (sRGB) colour to linear light.
pub(crate) fn linear(encoded: f32) -> f32 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}
