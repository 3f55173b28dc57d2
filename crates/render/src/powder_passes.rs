//! Passes that draw suspended powder over the rest of a picture.

use crate::Result;
use crate::frame::Frame;
use crate::lighting::Lighting;
use crate::powder::{Powder, PowderLoad, PowderSums};
use frazil_shaders::render::{powder, powder_light};
use frazil_shaders::types::{Fog, View};
use frazil_vk::{Blend, Buffer, DepthUse, Device, Draw, Image, ImageFormat, Raster, RasterOptions, Recorder};

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
            count: set.count,
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
