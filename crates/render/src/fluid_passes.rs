//! Passes that draw a fluid over the opaque part of a picture.

use crate::fluid::{DepthFilter, Fluid, FluidMaterial, FluidSet, Smoothing};
use crate::light::linear;
use crate::lighting::Lighting;
use crate::{OrbitCamera, Result};
use frazil_shaders::render::{
    backdrop, fluid, fluid_depth, fluid_ellipsoids, fluid_thickness, smooth_depth_bilateral,
    smooth_depth_narrow_range, smooth_thickness,
};
use frazil_shaders::types::{FluidTerms, Fog, View};
use frazil_vk::{
    Blend, Buffer, DepthUse, Device, Draw, Image, ImageFormat, Kernel, Location, Raster, RasterOptions,
    Recorder, Threads,
};
use glam::Vec3;

/// Passes of a picture with a fluid, between those of opaque things and of the overlay:
///
/// 1. `render.shade_opaque` darkens what is opaque by ambient occlusion;
/// 2. `render.fluid_depth` draws the distances of the nearest spheres (Huang2016 section 3.3), or ellipsoids;
/// 3. `render.smooth_depth_narrow_range` or `render.smooth_depth_bilateral` smooths them, along rows and then
///    along columns, `Smoothing::passes` times and once more with a smaller reach (section 3.4);
/// 4. `render.fluid_thickness` adds up the thickness of the fluid before what is opaque (section 3.5);
/// 5. `render.smooth_thickness` smooths it, along rows and then along columns;
/// 6. `render.fluid` reconstructs normals, shades the surface, and writes its depth (section 3.6).
///
/// Between them, images are copied into buffers that shaders read.
pub(crate) struct FluidPasses {
    device: Device,
    pipelines: Pipelines,
    images: FluidImages,
    /// Bound in place of an image of the surroundings.
    no_surroundings: Buffer<u32>,
}

/// Intermediate images of a fluid, in buffers of one number per pixel, row by row from the top.
#[derive(Clone, Debug)]
pub struct FluidImages {
    /// Width in pixels; with supersampling, of the finer picture.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Smoothed distances of the surface along the line of sight in m; 10³⁰ where there is none.
    pub distance_m: Buffer<f32>,
    /// Thickness of the fluid along the ray in m.
    pub thickness_m: Buffer<f32>,
    /// Smoothed thickness.
    smoothed_thickness_m: Buffer<f32>,
    /// Distances, and then thickness, after a filter along rows.
    half_smoothed_m: Buffer<f32>,
    scene_color: Buffer<u32>,
    distance: Image,
    depth: Image,
    thickness: Image,
}

struct Pipelines {
    depth: Raster<fluid_depth::Interface>,
    ellipsoids: Raster<fluid_ellipsoids::Interface>,
    thickness: Raster<fluid_thickness::Interface>,
    backdrop: Raster<backdrop::Interface>,
    surface: Raster<fluid::Interface>,
    bilateral: Kernel<smooth_depth_bilateral::Interface>,
    narrow_range: Kernel<smooth_depth_narrow_range::Interface>,
    smooth_thickness: Kernel<smooth_thickness::Interface>,
}

/// The opaque part of a picture, and how it is seen.
pub(crate) struct Scene<'a> {
    pub color: &'a Image,
    pub depth: &'a Image,
    /// Receives the values of the depth image.
    pub depth_values: &'a Buffer<f32>,
    pub view: View,
    pub fog: Fog,
}

/// Distance of pixels without a surface, `NO_SURFACE` in `screen.glsl`.
const NO_SURFACE: f32 = 1e30;
/// Thickness over which silhouettes fade in, in radii of the drawn spheres.
const EDGE_RADII: f32 = 0.9;
/// Reach of the last application of the filter, relative to that of the others. Those skip pixels and are
/// applied to rows and columns; this one removes the traces of both.
const LAST_REACH: f32 = 0.3;
/// Vertices of a quad, and of a triangle that covers the picture.
const QUAD: u32 = 6;
const TRIANGLE: u32 = 3;

impl FluidPasses {
    /// Creates the passes for pictures of a size in pixels. Set-up: it waits for the device.
    ///
    /// # Errors
    /// Out of memory, or a device that cannot add up floats in an image.
    pub fn new(device: &Device, width: u32, height: u32) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            pipelines: Pipelines::new(device)?,
            images: FluidImages::new(device, width, height)?,
            no_surroundings: device.buffer_from("no surroundings", &[0])?,
        })
    }

    /// Changes the size of the pictures.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        if (self.images.width, self.images.height) != (width, height) {
            self.images = FluidImages::new(&self.device, width, height)?;
        }
        Ok(())
    }

    pub fn images(&self) -> &FluidImages {
        &self.images
    }

    /// Returns the light and the material of a fluid for the shaders, and the pixels of its surroundings.
    pub fn terms(&self, fluid: &Fluid<'_>, camera: &OrbitCamera, to_sun: Vec3) -> Result<Terms> {
        let axes = camera.up_axis.axes();
        let radius_m = fluid.sets.iter().map(|set| set.radius_m).fold(0.0, f32::max);
        let FluidMaterial { absorption_1_m, color, refractive_index } = fluid.material;
        let (map_width, map_height) = fluid.surroundings.map_or((0, 0), |map| (map.width, map.height));
        let terms = FluidTerms {
            to_sun: to_sun.to_array(),
            up: axes.up.to_array(),
            absorption: absorption_1_m,
            color: color.map(linear),
            refractive_index,
            edge: EDGE_RADII * radius_m,
            map_width,
            map_height,
            map_front: (-axes.back).to_array(),
            map_right: axes.right.to_array(),
        };
        let buffer = self.device.buffer_in("fluid terms", 1, Location::Upload)?;
        buffer.write(&[terms])?;
        let surroundings = fluid.surroundings.map_or(&self.no_surroundings, |map| &map.pixels).clone();
        Ok(Terms { buffer, surroundings })
    }

    /// Returns the draw of the surroundings as the background.
    pub fn backdrop(&self, view: View, fog: Fog, terms: &Terms) -> Draw {
        let bindings = backdrop::Bindings { surroundings: &terms.surroundings, terms: &terms.buffer };
        let FluidImages { width, height, .. } = self.images;
        self.pipelines.backdrop.draw(bindings, backdrop::Params { view, width, height, fog }, TRIANGLE)
    }

    /// Records the passes; `occlusion` is the draw of ambient occlusion.
    pub fn record(
        &self,
        recorder: &mut Recorder,
        scene: &Scene<'_>,
        fluid: &Fluid<'_>,
        terms: &Terms,
        lighting: &Lighting,
        occlusion: Option<Draw>,
    ) {
        let &Scene { color, depth, depth_values, view, .. } = scene;
        recorder.copy_image(depth, &depth_values.cast());
        if let Some(occlusion) = occlusion {
            recorder.render("render.shade_opaque", color, depth, None, &[occlusion]);
        }

        let FluidImages { width, height, distance_m, half_smoothed_m, thickness_m, .. } = &self.images;
        let images = &self.images;
        recorder.copy_image(color, &images.scene_color);
        let draws = self.distances(fluid, view);
        let nothing = Some([NO_SURFACE; 4]);
        recorder.render("render.fluid_depth", &images.distance, &images.depth, nothing, &draws);
        recorder.copy_image(&images.distance, &distance_m.cast());
        let px_per_m = 0.5 * *height as f32 / view.half_extent[1];
        let Smoothing { passes, radius_m, .. } = fluid.smoothing;
        let last = Smoothing { radius_m: LAST_REACH * radius_m, ..fluid.smoothing };
        for smoothing in (0..passes).map(|_| fluid.smoothing).chain((passes > 0).then_some(last)) {
            self.smooth(recorder, smoothing, view, px_per_m, 0, [distance_m, half_smoothed_m]);
            self.smooth(recorder, smoothing, view, px_per_m, 1, [half_smoothed_m, distance_m]);
        }
        let draws: Vec<Draw> = fluid.sets.iter().map(|set| self.thickness(set, view, depth_values)).collect();
        recorder.render("render.fluid_thickness", &images.thickness, &images.depth, Some([0.0; 4]), &draws);
        recorder.copy_image(&images.thickness, &thickness_m.cast());
        let smoothed = &images.smoothed_thickness_m;
        self.smooth_thickness(recorder, last, view, px_per_m, 0, [thickness_m, half_smoothed_m]);
        self.smooth_thickness(recorder, last, view, px_per_m, 1, [half_smoothed_m, smoothed]);

        let bindings = fluid::Bindings {
            distance_m,
            thickness_m: &images.smoothed_thickness_m,
            scene_depth: depth_values,
            scene_color: &images.scene_color,
            opaque_shadow: &lighting.opaque_shadow,
            fluid_shadow: &lighting.fluid_shadow,
            light_terms: &lighting.terms,
            surroundings: &terms.surroundings,
            terms: &terms.buffer,
        };
        let params = fluid::Params { view, width: *width, height: *height, fog: scene.fog };
        let surface = self.pipelines.surface.draw(bindings, params, TRIANGLE);
        recorder.render("render.fluid", color, depth, None, &[surface]);
    }

    /// Returns the draws of distances of the surfaces of all sets, as seen in a view.
    pub fn distances(&self, fluid: &Fluid<'_>, view: View) -> Vec<Draw> {
        fluid.sets.iter().map(|set| self.depth(set, view)).collect()
    }

    fn depth(&self, set: &FluidSet<'_>, view: View) -> Draw {
        let FluidImages { width, height, .. } = self.images;
        let (radius, chord_factor) = (set.radius_m, chord_factor(set));
        if let Some(ellipsoid) = set.ellipsoids {
            let bindings = fluid_ellipsoids::Bindings { count: set.count, ellipsoid };
            let params = fluid_ellipsoids::Params { view, radius, chord_factor, width, height };
            return self.pipelines.ellipsoids.draw(bindings, params, QUAD * drawn(set));
        }
        let bindings = fluid_depth::Bindings { count: set.count, positions: set.positions };
        let params = fluid_depth::Params { view, radius, chord_factor, width, height };
        self.pipelines.depth.draw(bindings, params, QUAD * drawn(set))
    }

    fn thickness(&self, set: &FluidSet<'_>, view: View, scene_depth: &Buffer<f32>) -> Draw {
        let (count, positions) = (set.count, set.positions);
        let bindings = fluid_thickness::Bindings { count, positions, scene_depth };
        let FluidImages { width, height, .. } = self.images;
        let (radius, chord_factor) = (set.radius_m, chord_factor(set));
        let params = fluid_thickness::Params { view, radius, chord_factor, width, height };
        self.pipelines.thickness.draw(bindings, params, QUAD * drawn(set))
    }

    fn smooth(
        &self,
        recorder: &mut Recorder,
        smoothing: Smoothing,
        view: View,
        px_per_m: f32,
        axis: u32,
        [distance_m, smoothed_m]: [&Buffer<f32>; 2],
    ) {
        let FluidImages { width, height, .. } = self.images;
        let is_perspective = u32::from(view.depth_reach == 0.0);
        let threads = Threads::Fixed((width * height) as usize);
        let radius = smoothing.radius_m;
        match smoothing.filter {
            DepthFilter::Bilateral { range_m: range } => {
                let bindings = smooth_depth_bilateral::Bindings { distance_m, smoothed_m };
                let params = smooth_depth_bilateral::Params {
                    width,
                    height,
                    axis,
                    px_per_m,
                    is_perspective,
                    radius,
                    range,
                    step_back: 0.0,
                };
                recorder.dispatch(&self.pipelines.bilateral, threads, bindings, params);
            }
            DepthFilter::NarrowRange { range_m: range, step_back_m: step_back } => {
                let bindings = smooth_depth_narrow_range::Bindings { distance_m, smoothed_m };
                let params = smooth_depth_narrow_range::Params {
                    width,
                    height,
                    axis,
                    px_per_m,
                    is_perspective,
                    radius,
                    range,
                    step_back,
                };
                recorder.dispatch(&self.pipelines.narrow_range, threads, bindings, params);
            }
        }
    }

    fn smooth_thickness(
        &self,
        recorder: &mut Recorder,
        smoothing: Smoothing,
        view: View,
        px_per_m: f32,
        axis: u32,
        [thickness_m, smoothed_m]: [&Buffer<f32>; 2],
    ) {
        let FluidImages { width, height, ref distance_m, .. } = self.images;
        let params = smooth_thickness::Params {
            width,
            height,
            axis,
            px_per_m,
            is_perspective: u32::from(view.depth_reach == 0.0),
            radius: smoothing.radius_m,
            range: 0.0,
            step_back: 0.0,
        };
        let bindings = smooth_thickness::Bindings { distance_m, thickness_m, smoothed_m };
        let threads = Threads::Fixed((width * height) as usize);
        recorder.dispatch(&self.pipelines.smooth_thickness, threads, bindings, params);
    }
}

/// Light and material of a fluid on the device.
pub(crate) struct Terms {
    pub buffer: Buffer<FluidTerms>,
    pub surroundings: Buffer<u32>,
}

/// Returns the number of particles of a set to draw.
fn drawn(set: &FluidSet<'_>) -> u32 {
    set.count.capacity.min(set.max_count).min(set.positions.len() as u32)
}

/// Returns the factor from chords of a sphere to thickness, with which a particle has its volume.
fn chord_factor(set: &FluidSet<'_>) -> f32 {
    let sphere_m3 = 4.0 / 3.0 * std::f32::consts::PI * set.radius_m.powi(3);
    set.volume_m3 / sphere_m3
}

impl Pipelines {
    fn new(device: &Device) -> Result<Self> {
        let (rgba8, float) = (ImageFormat::Rgba8, ImageFormat::R32Float);
        let options = |color, depth, blend| RasterOptions { color, depth, blend };
        Ok(Self {
            depth: Raster::new(device, options(float, DepthUse::TestAndWrite, Blend::Replace))?,
            ellipsoids: Raster::new(device, options(float, DepthUse::TestAndWrite, Blend::Replace))?,
            thickness: Raster::new(device, options(float, DepthUse::Ignore, Blend::Add))?,
            backdrop: Raster::new(device, options(rgba8, DepthUse::Ignore, Blend::Replace))?,
            surface: Raster::new(device, options(rgba8, DepthUse::TestAndWrite, Blend::Replace))?,
            bilateral: Kernel::new(device)?,
            narrow_range: Kernel::new(device)?,
            smooth_thickness: Kernel::new(device)?,
        })
    }
}

impl FluidImages {
    fn new(device: &Device, width: u32, height: u32) -> Result<Self> {
        let n = width as usize * height as usize;
        Ok(Self {
            width,
            height,
            distance_m: device.buffer("fluid distance values", n)?,
            thickness_m: device.buffer("fluid thickness values", n)?,
            smoothed_thickness_m: device.buffer("smoothed fluid thickness", n)?,
            half_smoothed_m: device.buffer("fluid distance along rows", n)?,
            scene_color: device.buffer("scene color values", n)?,
            distance: device.image("fluid distance", width, height, ImageFormat::R32Float)?,
            depth: device.image("fluid depth", width, height, ImageFormat::Depth32)?,
            thickness: device.image("fluid thickness", width, height, ImageFormat::R32Float)?,
        })
    }
}
