//! Fluids in pictures: their particles, material and smoothing, and the light around them.

use crate::ellipsoids::Ellipsoid;
use crate::picture::Pixels;
use crate::{Error, Result};
use frazil_vk::{Buffer, Device, DeviceCount};

/// A fluid, drawn as the surface that its particles show from the camera.
///
/// Everything else of a picture is opaque to it: it is hidden by what is before it, and refracts what is
/// behind.
#[derive(Clone, Copy, Debug)]
pub struct Fluid<'a> {
    /// Particles, for example one set for each fluid of a scene.
    pub sets: &'a [FluidSet<'a>],
    /// Optical properties.
    pub material: FluidMaterial,
    /// Smoothing of the surface.
    pub smoothing: Smoothing,
    /// Light that surfaces reflect: an image, or else an analytic sky.
    pub surroundings: Option<&'a Surroundings>,
}

/// Particles of a fluid.
#[derive(Clone, Copy, Debug)]
pub struct FluidSet<'a> {
    /// Centres, in m.
    pub positions: &'a Buffer<[f32; 3]>,
    /// Number of particles.
    pub count: &'a DeviceCount,
    /// Upper bound on the number of particles drawn, whatever the device count.
    pub max_count: u32,
    /// Radius in m of the spheres that are drawn: more than half the spacing, so that they overlap.
    pub radius_m: f32,
    /// Ellipsoids that are drawn in place of spheres, as many as there are particles, in any order.
    pub ellipsoids: Option<&'a Buffer<Ellipsoid>>,
    /// Volume of a particle in m³: its mass over the density of the fluid.
    pub volume_m3: f32,
}

/// Optical properties of a fluid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidMaterial {
    /// Absorption coefficient in 1/m of red, green and blue light: a share e^(−a d) passes a thickness d.
    pub absorption_1_m: [f32; 3],
    /// Display-encoded colour of the fluid where it is too thick to see through.
    pub color: [f32; 3],
    /// Refractive index relative to air.
    pub refractive_index: f32,
}

/// Default radius of the spheres of a fluid, in spacings of its particles: those of disordered particles at
/// rest density still overlap.
pub const FLUID_RADIUS_SPACINGS: f32 = 0.8;
/// Default reach of the filter, in spacings.
pub const SMOOTHING_SPACINGS: f32 = 3.0;
/// Number of times that the filter is applied by default.
const PASSES: u32 = 2;

/// Refractive index of water in visible light.
pub const WATER_REFRACTIVE_INDEX: f32 = 1.333;

/// Smoothing of the distances of a fluid's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// Filter.
    pub filter: DepthFilter,
    /// Reach of the filter in m; its Gaussian weight has half of it as the standard deviation.
    pub radius_m: f32,
    /// Number of times that the filter is applied along both axes of the picture, before a last time with a
    /// smaller reach; 0 shows spheres.
    pub passes: u32,
}

/// A filter of distances, applied along one axis of the picture after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DepthFilter {
    /// Bilateral filter (Huang2016 eq 3.1, with the product of both weights).
    Bilateral {
        /// Standard deviation in m of the weight of differences in distance.
        range_m: f32,
    },
    /// Narrow-range filter (Truong2018).
    NarrowRange {
        /// Difference in distance in m beyond which a pixel shows another surface.
        range_m: f32,
        /// Distance in m at which farther surfaces are assumed behind this one.
        step_back_m: f32,
    },
}

/// Light from the surroundings of a scene: an equirectangular image on the device.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub(crate) pixels: Buffer<u32>,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Smoothing {
    /// Returns the bilateral filter with a reach, for particles at a spacing; both in m.
    pub fn bilateral(spacing_m: f32, radius_m: f32) -> Self {
        let filter = DepthFilter::Bilateral { range_m: 1.5 * spacing_m };
        Self { filter, radius_m, passes: PASSES }
    }

    /// Returns the narrow-range filter with a reach, for particles at a spacing; both in m.
    pub fn narrow_range(spacing_m: f32, radius_m: f32) -> Self {
        let filter = DepthFilter::NarrowRange { range_m: 3.0 * spacing_m, step_back_m: spacing_m };
        Self { filter, radius_m, passes: PASSES }
    }
}

impl Surroundings {
    /// Uploads an equirectangular image, with rows from straight up to straight down, and the direction of
    /// the camera at azimuth 0 in the middle. Set-up: it waits for the device.
    ///
    /// # Errors
    /// An image without pixels or with another number of them than its size says; out of memory.
    pub fn new(device: &Device, image: &Pixels) -> Result<Self> {
        let &Pixels { width, height, ref pixels } = image;
        if pixels.is_empty() || pixels.len() as u64 != u64::from(width) * u64::from(height) {
            return Err(Error::Size { path: "surroundings".into(), width, height, found: pixels.len() });
        }
        Ok(Self { pixels: device.buffer_from("surroundings", pixels)?, width, height })
    }
}
