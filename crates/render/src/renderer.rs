//! Records a picture.

use crate::canvas::{Canvas, Typeface};
use crate::frame::{Frame, Particles, Shading};
use crate::{ColorMap, Legend, OrbitCamera, Result, legend};
use frazil_shaders::render::{ball, ground, occlusion, panel, particles, wireframe};
use frazil_shaders::types::View;
use frazil_vk::{
    Buffer, DepthUse, Device, Draw, Image, ImageFormat, Location, Raster, RasterOptions, Recorder,
};

/// Draws pictures of one size into an image of its own.
///
/// The passes of a picture: `render.scene` draws everything that has depth; `render.overlay` darkens hollows by the depth
/// found, then draws wire frames and text over it.
pub struct Renderer {
    device: Device,
    targets: Targets,
    pipelines: Pipelines,
    color_maps: [Buffer<[f32; 3]>; ColorMap::ALL.len()],
    typeface: Typeface,
    legend: Option<Panel<Legend>>,
    caption: Option<Panel<String>>,
}

/// What depends on the picture's size.
struct Targets {
    color: Image,
    depth: Image,
    /// The depth image's values, where a shader can read them.
    depth_values: Buffer<f32>,
}

struct Pipelines {
    particles: Raster<particles::Interface>,
    ball: Raster<ball::Interface>,
    ground: Raster<ground::Interface>,
    wireframe: Raster<wireframe::Interface>,
    occlusion: Raster<occlusion::Interface>,
    panel: Raster<panel::Interface>,
}

/// A picture made on the host, and what it was made from: while that stays the same, so does the picture.
struct Panel<K> {
    content: K,
    ink: Ink,
    size_px: f32,
    pixels: Buffer<u32>,
    width: u32,
    height: u32,
}

/// Colours of text and of the panels behind it.
#[derive(Clone, Copy, PartialEq)]
struct Ink {
    ink: [f32; 3],
    paper: [f32; 3],
}

/// Vertices of a quad.
const QUAD: u32 = 6;

impl Renderer {
    /// Makes a renderer of pictures of `width` × `height` pixels. Set-up only: it waits for the colour maps' upload.
    ///
    /// # Errors
    /// A side of zero or beyond the device's limit, no memory, or a pipeline that the device refuses.
    pub fn new(device: &Device, width: u32, height: u32) -> Result<Self> {
        let upload = |map: ColorMap| device.buffer_from(&format!("color map {map:?}"), &map.entries());
        let [viridis, inferno, vik] = ColorMap::ALL;
        Ok(Self {
            device: device.clone(),
            targets: Targets::new(device, width, height)?,
            pipelines: Pipelines::new(device)?,
            color_maps: [upload(viridis)?, upload(inferno)?, upload(vik)?],
            typeface: Typeface::new(),
            legend: None,
            caption: None,
        })
    }

    /// Makes pictures of another size from now on.
    ///
    /// # Errors
    /// As [`Self::new`]; the old size then stays.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        if self.size() != (width, height) {
            self.targets = Targets::new(&self.device, width, height)?;
        }
        Ok(())
    }

    /// Width and height of pictures, in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.targets.color.size()
    }

    /// The image that pictures are drawn into: RGBA8, display-encoded.
    pub fn image(&self) -> &Image {
        &self.targets.color
    }

    /// Records the passes that draw `frame` into [`Self::image`]. Nothing waits.
    ///
    /// # Errors
    /// A column shorter than the positions, or no memory for the legend.
    pub fn record(&mut self, recorder: &mut Recorder, frame: &Frame<'_>) -> Result<()> {
        let (width, height) = self.size();
        let view = frame.camera.view(width, height);
        let Targets { color, depth, depth_values } = &self.targets;
        let [r, g, b] = frame.background;
        let scene = self.scene(frame, view)?;
        recorder.render("render.scene", color, depth, Some([r, g, b, 1.0]), &scene);
        let mut overlay = Vec::new();
        if frame.occlusion > 0.0 {
            recorder.copy_image(depth, &depth_values.cast());
            overlay.push(self.occlusion(frame, view));
        }
        overlay.extend(frame.boxes.iter().map(|wire_box| {
            let ink = Ink::on(frame.background).ink;
            let params = wireframe::Params {
                view,
                lo: wire_box.lo.to_array(),
                hi: wire_box.hi.to_array(),
                color: [ink[0], ink[1], ink[2], 0.55],
                image_size: [width as f32, height as f32],
                line_width: (height as f32 / 400.0).max(1.0),
            };
            self.pipelines.wireframe.draw(wireframe::Bindings {}, params, 12 * QUAD)
        }));
        overlay.extend(self.panels(frame)?);
        if !overlay.is_empty() {
            let Targets { color, depth, .. } = &self.targets;
            recorder.render("render.overlay", color, depth, None, &overlay);
        }
        Ok(())
    }

    /// Everything that has depth; what blends comes last.
    fn scene(&self, frame: &Frame<'_>, view: View) -> Result<Vec<Draw>> {
        let mut draws = Vec::new();
        for particles in frame.particles {
            draws.push(self.particles(particles, view)?);
        }
        draws.extend(frame.balls.iter().map(|ball| {
            let params = ball::Params {
                view,
                ball_center: ball.center.to_array(),
                radius: ball.radius_m,
                color: ball.color,
            };
            self.pipelines.ball.draw(ball::Bindings {}, params, QUAD)
        }));
        draws.extend(frame.ground.map(|ground| {
            let axes = frame.camera.up_axis.axes();
            let ink = Ink::on(frame.background).ink;
            let params = ground::Params {
                view,
                origin: ground.center.to_array(),
                across: axes.right.to_array(),
                along: axes.back.to_array(),
                extent: ground.extent_m,
                cell: ground.cell_m,
                // A shade off the background, towards the ink.
                color: std::array::from_fn(|c| 0.94 * frame.background[c] + 0.06 * ink[c]),
            };
            self.pipelines.ground.draw(ground::Bindings {}, params, QUAD)
        }));
        Ok(draws)
    }

    fn particles(&self, set: &Particles<'_>, view: View) -> Result<Draw> {
        let (column, column_kind) = set.coloring.column.words();
        let drawn = (set.count.capacity as usize).min(set.positions.len());
        if set.coloring.column.len() < drawn {
            return Err(frazil_vk::Error::Misuse {
                object: format!("colouring \"{}\" by \"{}\"", set.positions.name(), column.name()),
                problem: format!("{drawn} particles but {} values", set.coloring.column.len()),
            }
            .into());
        }
        let bindings = particles::Bindings {
            count: &set.count.count,
            positions: set.positions,
            column: &column,
            color_map: &self.color_maps[set.coloring.map as usize],
        };
        let [lo, hi] = set.coloring.range;
        let is_lit = u32::from(set.shading == Shading::Lit);
        let params = particles::Params { view, radius: set.radius_m, lo, hi, column_kind, is_lit };
        Ok(self.pipelines.particles.draw(bindings, params, QUAD * drawn as u32))
    }

    fn occlusion(&self, frame: &Frame<'_>, view: View) -> Draw {
        let (width, height) = self.size();
        let params = occlusion::Params {
            tan_half_fov: view.tan_half_fov,
            near: view.near,
            width,
            height,
            reach: occlusion_reach_m(frame),
            strength: frame.occlusion,
        };
        let bindings = occlusion::Bindings { depth: &self.targets.depth_values };
        self.pipelines.occlusion.draw(bindings, params, 3)
    }

    /// Legend and caption, made anew only where they changed.
    fn panels(&mut self, frame: &Frame<'_>) -> Result<Vec<Draw>> {
        let (width, height) = self.size();
        let size_px = (height as f32 / 36.0).clamp(11.0, 48.0);
        let ink = Ink::on(frame.background);
        let (device, typeface) = (&self.device, &self.typeface);
        self.legend = match frame.legend {
            Some(legend) => Some(Panel::of(self.legend.take(), device, legend, ink, size_px, || {
                legend.draw(typeface, size_px, ink.ink, ink.paper)
            })?),
            None => None,
        };
        self.caption = if frame.caption.is_empty() {
            None
        } else {
            let caption = frame.caption.to_owned();
            Some(Panel::of(self.caption.take(), device, &caption, ink, size_px, || {
                legend::draw_caption(&caption, typeface, size_px, ink.ink, ink.paper)
            })?)
        };
        let margin = size_px.round();
        let (image_width, image_height) = (width as f32, height as f32);
        let mut draws = Vec::new();
        if let Some(legend) = &self.legend {
            let left = image_width - margin - legend.width as f32;
            draws.push(legend.draw(&self.pipelines, [image_width, image_height], [left, margin]));
        }
        if let Some(caption) = &self.caption {
            let top = image_height - margin - caption.height as f32;
            draws.push(caption.draw(&self.pipelines, [image_width, image_height], [margin, top]));
        }
        Ok(draws)
    }
}

impl Targets {
    fn new(device: &Device, width: u32, height: u32) -> Result<Self> {
        Ok(Self {
            color: device.image("render color", width, height, ImageFormat::Rgba8)?,
            depth: device.image("render depth", width, height, ImageFormat::Depth32)?,
            depth_values: device.buffer("render depth values", width as usize * height as usize)?,
        })
    }
}

impl Pipelines {
    fn new(device: &Device) -> Result<Self> {
        let solid = RasterOptions { depth: DepthUse::TestAndWrite, blend: false };
        let fading = RasterOptions { depth: DepthUse::TestAndWrite, blend: true };
        let behind_solids = RasterOptions { depth: DepthUse::Test, blend: true };
        let over_all = RasterOptions { depth: DepthUse::Ignore, blend: true };
        Ok(Self {
            particles: Raster::new(device, solid)?,
            ball: Raster::new(device, solid)?,
            ground: Raster::new(device, fading)?,
            wireframe: Raster::new(device, behind_solids)?,
            occlusion: Raster::new(device, over_all)?,
            panel: Raster::new(device, over_all)?,
        })
    }
}

impl Ink {
    /// Light on a dark background, dark on a light one.
    fn on(paper: [f32; 3]) -> Self {
        let luma = 0.2126 * paper[0] + 0.7152 * paper[1] + 0.0722 * paper[2];
        Self { ink: if luma < 0.5 { [0.92, 0.93, 0.95] } else { [0.10, 0.11, 0.13] }, paper }
    }
}

impl<K: Clone + PartialEq> Panel<K> {
    /// `held`, if it shows just this, or a new panel.
    fn of(
        held: Option<Self>,
        device: &Device,
        content: &K,
        ink: Ink,
        size_px: f32,
        draw: impl FnOnce() -> Canvas,
    ) -> Result<Self> {
        if let Some(held) = held
            && held.content == *content
            && held.ink == ink
            && held.size_px == size_px
        {
            return Ok(held);
        }
        let canvas = draw();
        let packed = canvas.packed();
        let pixels = device.buffer_in("panel", packed.len(), Location::Upload)?;
        pixels.write(&packed)?;
        let (width, height) = (canvas.width as u32, canvas.height as u32);
        Ok(Self { content: content.clone(), ink, size_px, pixels, width, height })
    }

    fn draw(&self, pipelines: &Pipelines, image_size: [f32; 2], place: [f32; 2]) -> Draw {
        let params = panel::Params { image_size, place, width: self.width, height: self.height };
        pipelines.panel.draw(panel::Bindings { pixels: &self.pixels }, params, QUAD)
    }
}

/// Over which distance neighbours darken each other: a few particles, or a part of what the camera looks at.
fn occlusion_reach_m(frame: &Frame<'_>) -> f32 {
    const RADII: f32 = 5.0;
    const PART_OF_DISTANCE: f32 = 0.02;
    let OrbitCamera { distance_m, .. } = frame.camera;
    let largest = frame.particles.iter().map(|p| p.radius_m).fold(0.0, f32::max);
    if largest > 0.0 { RADII * largest } else { PART_OF_DISTANCE * distance_m }
}
