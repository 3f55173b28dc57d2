//! Suspended powder: translucent puffs around particles, drawn over the rest of a picture.

use crate::Result;
use crate::frame::Frame;
use crate::lighting::Lighting;
use frazil_shaders::render::{powder, powder_light};
use frazil_shaders::types::{Fog, View};
use frazil_vk::{
    Blend, Buffer, DepthUse, Device, DeviceCount, Draw, Image, ImageFormat, Raster, RasterOptions, Recorder,
};

/// Particles that carry suspended powder, each in a puff whose density falls smoothly to 0 at its radius.
#[derive(Clone, Copy, Debug)]
pub struct Powder<'a> {
    /// Positions of the particles, in m.
    pub positions: &'a Buffer<[f32; 3]>,
    /// Number of particles.
    pub count: &'a DeviceCount,
    /// Upper bound on the number of particles, whatever the device count.
    pub max_count: u32,
    /// How much a particle carries.
    pub load: PowderLoad<'a>,
    /// Extinction cross-section in m² of a puff of full load: its optical depth, integrated over a plane
    /// across the line of sight.
    pub extinction_m2: f32,
    /// Radius of the puffs in m.
    pub radius_m: f32,
    /// Height of a puff's centre above its particle in m.
    pub lift_m: f32,
}

/// Load of a particle with powder.
#[derive(Clone, Copy, Debug)]
pub enum PowderLoad<'a> {
    /// The full load for all.
    Full,
    /// A share 1 − (v₀/v)² of it at the speed v above the onset v₀, and none below.
    BySpeed {
        /// Velocities in m/s.
        velocities: &'a Buffer<[f32; 3]>,
        /// Onset v₀ in m/s, above 0.
        onset_m_s: f32,
    },
}

/// Sums of the last picture with powder, one element per pixel, row by row from the top: quanta of optical
/// depth, and their products with the sun's light, the share of the sky, and the transmittance of the fog.
#[derive(Clone, Debug)]
pub struct PowderSums {
    /// Width in pixels, that of the picture.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The sums; an optical depth of 1 is [`Self::QUANTA`].
    pub sums: Buffer<[f32; 4]>,
}

/// Passes of a picture with powder, after those of everything with depth: `render.powder` adds up optical
/// depths, and `render.powder_light` shades them.
pub(crate) struct PowderPasses {
    add: Raster<powder::Interface>,
    light: Raster<powder_light::Interface>,
    device: Device,
    targets: Targets,
}

struct Targets {
    image: Image,
    /// A render pass requires it, even if its pipelines do not use it.
    depth: Image,
    sums: PowderSums,
    scene_color: Buffer<u32>,
    per_axis: u32,
}

/// The picture without powder.
pub(crate) struct Behind<'a> {
    pub color: &'a Image,
    pub depth: &'a Image,
    /// Values of the depth image.
    pub depth_values: &'a Buffer<f32>,
    pub view: View,
    pub fog: Fog,
}

/// Display-encoded albedo of powder.
const COLOR: [f32; 3] = [0.97, 0.98, 0.99];
const QUAD: u32 = 6;
const TRIANGLE: u32 = 3;

impl Powder<'_> {
    /// Returns the extinction cross-section in m² of a puff of a radius in m that has an optical depth
    /// through its middle.
    pub fn extinction_of(optical_depth: f32, radius_m: f32) -> f32 {
        // Of the density (1 − s²/R²)²: 32πR³/105 over 16R/15.
        std::f32::consts::PI * radius_m * radius_m * (2.0 / 7.0) * optical_depth
    }
}

impl PowderSums {
    /// Sum of an optical depth of 1.
    pub const QUANTA: f32 = frazil_shaders::render::powder_sums::QUANTA as f32;
}

impl PowderPasses {
    /// Creates the passes for pictures of a size in pixels, drawn with `per_axis` times as many along each
    /// axis. Set-up only.
    ///
    /// # Errors
    /// Out of memory, or a device that cannot add up floats in an image.
    pub fn new(device: &Device, size: (u32, u32), per_axis: u32) -> Result<Self> {
        let options = |color, blend| RasterOptions { color, depth: DepthUse::Ignore, blend };
        Ok(Self {
            add: Raster::new(device, options(ImageFormat::Rgba32Float, Blend::Add))?,
            light: Raster::new(device, options(ImageFormat::Rgba8, Blend::Replace))?,
            device: device.clone(),
            targets: Targets::new(device, size, per_axis)?,
        })
    }

    /// Changes the size of the pictures.
    pub fn resize(&mut self, size: (u32, u32), per_axis: u32) -> Result<()> {
        let PowderSums { width, height, .. } = self.targets.sums;
        if ((width, height), self.targets.per_axis) != (size, per_axis) {
            self.targets = Targets::new(&self.device, size, per_axis)?;
        }
        Ok(())
    }

    pub fn sums(&self) -> &PowderSums {
        &self.targets.sums
    }

    /// Records the passes over the picture without powder.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        behind: &Behind<'_>,
        frame: &Frame<'_>,
        lighting: &Lighting,
    ) {
        let Targets { image, depth, sums, scene_color, per_axis } = &self.targets;
        let draws: Vec<Draw> =
            frame.powder.iter().map(|powder| self.add(powder, behind, frame, lighting)).collect();
        recorder.render("render.powder", image, depth, Some([0.0; 4]), &draws);
        recorder.copy_image(image, &sums.sums.cast());
        recorder.copy_image(behind.color, scene_color);
        let bindings = powder_light::Bindings { sums: &sums.sums, scene_color, light_terms: &lighting.terms };
        let params = powder_light::Params {
            fog: behind.fog,
            color: COLOR,
            width: behind.color.size().0,
            per_axis: *per_axis,
            sums_width: sums.width,
        };
        let light = self.light.draw(bindings, params, TRIANGLE);
        recorder.render("render.powder_light", behind.color, behind.depth, None, &[light]);
    }

    fn add(&self, set: &Powder<'_>, behind: &Behind<'_>, frame: &Frame<'_>, lighting: &Lighting) -> Draw {
        // The buffer bound in the velocities' place is not read.
        let (velocities, onset_speed) = match set.load {
            PowderLoad::Full => (set.positions, -1.0),
            PowderLoad::BySpeed { velocities, onset_m_s } => (velocities, onset_m_s),
        };
        let bindings = powder::Bindings {
            count: &set.count.count,
            positions: set.positions,
            velocities,
            scene_depth: behind.depth_values,
            light_terms: &lighting.terms,
            opaque_shadow: &lighting.opaque_shadow,
            fluid_shadow: &lighting.fluid_shadow,
        };
        let params = powder::Params {
            view: behind.view,
            fog: behind.fog,
            radius: set.radius_m,
            lift: set.lift_m,
            extinction: set.extinction_m2,
            onset_speed,
            up_axis: frame.camera.up_axis.index(),
            per_axis: self.targets.per_axis,
            depth_width: behind.color.size().0,
        };
        let drawn = set.count.capacity.min(set.max_count) as usize;
        let drawn = drawn.min(set.positions.len()).min(velocities.len());
        self.add.draw(bindings, params, QUAD * drawn as u32)
    }
}

impl Targets {
    fn new(device: &Device, (width, height): (u32, u32), per_axis: u32) -> Result<Self> {
        let n = width as usize * height as usize;
        let n_fine = n * per_axis as usize * per_axis as usize;
        Ok(Self {
            image: device.image("powder", width, height, ImageFormat::Rgba32Float)?,
            depth: device.image("powder depth", width, height, ImageFormat::Depth32)?,
            sums: PowderSums { width, height, sums: device.buffer("powder sums", n)? },
            scene_color: device.buffer("color behind powder", n_fine)?,
            per_axis,
        })
    }
}
