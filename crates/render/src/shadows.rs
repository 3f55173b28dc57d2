//! Shadows of the sun: depths as it sees them.

use crate::Result;
use crate::frame::Shadows;
use crate::lighting::Lighting;
use frazil_shaders::types::{LightTerms, View};
use frazil_vk::{Buffer, Device, Draw, Image, ImageFormat, Recorder};
use glam::Vec3;

/// Images of depths as the sun sees them, in the passes `render.sun_opaque` and `render.sun_fluid`.
///
/// Both are drawn before anything that they shade, with the draws of the picture itself seen from the sun.
pub(crate) struct ShadowImages {
    size_px: u32,
    opaque_color: Image,
    depth: Image,
    opaque_depth: Buffer<f32>,
    /// Present from the first picture with a fluid on.
    fluid: Option<FluidShadow>,
}

struct FluidShadow {
    distance: Image,
    depth: Buffer<f32>,
}

/// Distance of pixels without a surface, `NO_SURFACE` in `screen.glsl`.
const NO_SURFACE: f32 = 1e30;

impl ShadowImages {
    /// Creates the images. Set-up only.
    ///
    /// # Errors
    /// A size of zero or beyond the device's limit; out of memory.
    pub fn new(device: &Device, size_px: u32) -> Result<Self> {
        Ok(Self {
            size_px,
            opaque_color: device.image("sun color", size_px, size_px, ImageFormat::Rgba8)?,
            depth: device.image("sun depth", size_px, size_px, ImageFormat::Depth32)?,
            opaque_depth: device.buffer("sun depth values of solids", pixels(size_px))?,
            fluid: None,
        })
    }

    pub fn size_px(&self) -> u32 {
        self.size_px
    }

    /// Creates the image of a fluid, on its first picture.
    pub fn prepare_fluid(&mut self, device: &Device) -> Result<()> {
        if self.fluid.is_none() {
            let n = self.size_px;
            self.fluid = Some(FluidShadow {
                distance: device.image("sun distance", n, n, ImageFormat::R32Float)?,
                depth: device.buffer("sun depth values of the fluid", pixels(n))?,
            });
        }
        Ok(())
    }

    /// Records the passes. `casters` and `fluid` are the draws of what casts shadows, as seen from the sun.
    pub fn record(&self, recorder: &mut Recorder, casters: &[Draw], fluid: Option<&[Draw]>) {
        recorder.render("render.sun_opaque", &self.opaque_color, &self.depth, Some([0.0; 4]), casters);
        recorder.copy_image(&self.depth, &self.opaque_depth.cast());
        if let (Some(FluidShadow { distance, depth }), Some(draws)) = (&self.fluid, fluid) {
            recorder.render("render.sun_fluid", distance, &self.depth, Some([NO_SURFACE; 4]), draws);
            recorder.copy_image(&self.depth, &depth.cast());
        }
    }

    /// Returns what shaders read of a light and these images; `has_fluid` if a fluid casts a shadow.
    pub fn lighting(&self, terms: Buffer<LightTerms>, has_fluid: bool) -> Lighting {
        let fluid = self.fluid.as_ref().filter(|_| has_fluid).map(|fluid| &fluid.depth);
        Lighting {
            terms,
            opaque_shadow: self.opaque_depth.clone(),
            // What solids do not shade, they do not shade a second time either.
            fluid_shadow: fluid.unwrap_or(&self.opaque_depth).clone(),
        }
    }
}

fn pixels(size_px: u32) -> usize {
    size_px as usize * size_px as usize
}

impl Shadows {
    /// Pixels along each side of the shadow images of particles.
    const SIZE_PX: u32 = 1024;
    /// The same with a terrain, which is large beside the bodies on it.
    const TERRAIN_SIZE_PX: u32 = 2048;
    /// Distance in pixels between averaged places that hides that a body consists of particles.
    const SPREAD_PX: u32 = 3;
    /// Distance behind another point from which a point of a body of particles is in its shadow, in radii.
    const BIAS_RADII: f32 = 2.0;

    /// Returns shadows of particles of a drawn radius in m, and of solids among them, in a box in m.
    pub fn of_particles(bounds: [Vec3; 2], radius_m: f32) -> Self {
        let bias_m = Self::BIAS_RADII * radius_m;
        Self { bounds, size_px: Self::SIZE_PX, spread_px: Self::SPREAD_PX, bias_m }
    }

    /// Returns shadows of a terrain, and of particles of a drawn radius in m on it, in a box in m. They are
    /// as sharp as their images.
    pub fn of_terrain(bounds: [Vec3; 2], radius_m: f32) -> Self {
        let bias_m = Self::BIAS_RADII * radius_m;
        Self { bounds, size_px: Self::TERRAIN_SIZE_PX, spread_px: 1, bias_m }
    }

    /// Returns the parallel projection along the sun's light that just shows the box.
    pub(crate) fn view(&self, to_sun: Vec3, up: Vec3) -> View {
        let [lo, hi] = self.bounds;
        // With the sun overhead any direction across is right.
        let across = up.cross(to_sun);
        let right = if across.length() > 1e-3 { across.normalize() } else { to_sun.any_orthonormal_vector() };
        let up = to_sun.cross(right);
        let half = 0.5 * (hi - lo);
        let reach_m = |axis: Vec3| (half * axis.abs()).element_sum().max(f32::MIN_POSITIVE);
        View {
            eye: (lo + half).to_array(),
            right: right.to_array(),
            up: up.to_array(),
            forward: (-to_sun).to_array(),
            half_extent: [right, up].map(reach_m),
            near: 0.0,
            depth_reach: 1.01 * reach_m(to_sun),
        }
    }
}
