//! Recording of pictures.

use crate::canvas::{Canvas, Typeface};
use crate::fluid_passes::{FluidPasses, Scene};
use crate::frame::{Clip, Coloring, ColumnLayout, Frame, Particles, Radius};
use crate::light;
use crate::lighting::Lighting;
use crate::powder_passes::{Behind, PowderPasses};
use crate::scale::Scale;
use crate::shadows::ShadowImages;
use crate::{
    ColorMap, FluidImages, Ground, Legend, OrbitCamera, PowderSums, Projection, Result, Shading, Shadows,
    Swatch, Terrain, legend,
};
use crate::{Mesh, Pieces};
use frazil_shaders::render::particles::COLUMN_NONE;
use frazil_shaders::render::{
    ball, ground, mesh, occlusion, panel, particles, pieces, resolve, terrain, wireframe,
};
use frazil_shaders::types::{Fog, View};
use frazil_vk::{
    Blend, Buffer, DepthUse, Device, Draw, Image, ImageFormat, Location, Raster, RasterOptions, Recorder,
};

/// A renderer that draws pictures of one size into its own image.
///
/// The passes of a picture are:
///
/// - with shadows, `render.sun_opaque` and `render.sun_fluid` draw depths as the sun sees them;
/// - `render.scene` draws everything that has depth;
/// - with a fluid, the passes of [`FluidImages`] draw it;
/// - with powder, `render.powder` and `render.powder_light` draw it over all that;
/// - `render.overlay` applies ambient occlusion computed from the depth, and draws translucent particles,
///   wire frames and text;
/// - `render.resolve`, with supersampling only, averages the finer picture of the two passes before it down,
///   and then draws the text.
pub struct Renderer {
    device: Device,
    targets: Targets,
    pipelines: Pipelines,
    /// Present from the first picture with a fluid on.
    fluid: Option<FluidPasses>,
    /// Present from the first picture with powder on.
    powder: Option<PowderPasses>,
    /// Present from the first picture with shadows on.
    shadows: Option<ShadowImages>,
    /// Bound in place of shadow images.
    no_shadow: Buffer<f32>,
    color_maps: [Buffer<[f32; 3]>; ColorMap::ALL.len()],
    typeface: Typeface,
    legend: Option<Panel<Legend>>,
    swatches: Option<Panel<Vec<Swatch>>>,
    scale: Option<Panel<Scale>>,
    caption: Option<Panel<String>>,
}

/// Resources that depend on the picture's size.
struct Targets {
    /// Colour target; with supersampling, the finer picture.
    color: Image,
    depth: Image,
    /// Values of the depth image in a buffer that shaders read.
    depth_values: Buffer<f32>,
    resolved: Option<Resolved>,
}

/// The target of the supersampling resolve.
struct Resolved {
    color: Image,
    /// Depth image, which a render pass requires even if its pipelines do not use it.
    depth: Image,
    /// Pixels of the finer picture in a buffer that shaders read.
    fine: Buffer<u32>,
    per_axis: u32,
}

struct Pipelines {
    particles: Raster<particles::Interface>,
    translucent: Raster<particles::Interface>,
    brightest: Raster<particles::Interface>,
    ball: Raster<ball::Interface>,
    mesh: Raster<mesh::Interface>,
    pieces: Raster<pieces::Interface>,
    terrain: Raster<terrain::Interface>,
    ground: Raster<ground::Interface>,
    wireframe: Raster<wireframe::Interface>,
    occlusion: Raster<occlusion::Interface>,
    panel: Raster<panel::Interface>,
    resolve: Raster<resolve::Interface>,
}

/// A picture drawn on the host, cached with the key that it was drawn from.
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
    /// Creates a renderer of pictures of `width` × `height` pixels. Set-up only: it waits for the upload of
    /// the colour maps.
    ///
    /// # Errors
    /// A zero size or one beyond the device's limit, out of memory, or a pipeline that the device rejects.
    pub fn new(device: &Device, width: u32, height: u32) -> Result<Self> {
        let upload = |map: ColorMap| device.buffer_from(&format!("color map {map:?}"), &map.entries());
        let [viridis, inferno, vik, grey] = ColorMap::ALL;
        Ok(Self {
            device: device.clone(),
            targets: Targets::new(device, width, height, 1)?,
            pipelines: Pipelines::new(device)?,
            fluid: None,
            powder: None,
            shadows: None,
            no_shadow: device.buffer_from("no shadow", &[0.0])?,
            color_maps: [upload(viridis)?, upload(inferno)?, upload(vik)?, upload(grey)?],
            typeface: Typeface::new(),
            legend: None,
            swatches: None,
            scale: None,
            caption: None,
        })
    }

    /// Changes the size of pictures.
    ///
    /// # Errors
    /// Like [`Self::new`]; the old size is then kept.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        if self.size() != (width, height) {
            self.targets = Targets::new(&self.device, width, height, self.supersampling())?;
        }
        Ok(())
    }

    /// Sets supersampling, which antialiases all edges by drawing `per_axis` × `per_axis` times as many
    /// pixels and averaging them: 1, the default, draws each pixel once; 2 suffices for print.
    ///
    /// # Errors
    /// Like [`Self::new`], for the finer picture; the old setting is then kept.
    pub fn set_supersampling(&mut self, per_axis: u32) -> Result<()> {
        if self.supersampling() != per_axis {
            let (width, height) = self.size();
            self.targets = Targets::new(&self.device, width, height, per_axis)?;
        }
        Ok(())
    }

    fn supersampling(&self) -> u32 {
        self.targets.resolved.as_ref().map_or(1, |resolved| resolved.per_axis)
    }

    /// Returns width and height of pictures in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.image().size()
    }

    /// Returns the image that pictures are drawn into: RGBA8, display-encoded.
    pub fn image(&self) -> &Image {
        self.targets.resolved.as_ref().map_or(&self.targets.color, |resolved| &resolved.color)
    }

    /// Records the passes that draw `frame` into [`Self::image`]. It does not wait.
    ///
    /// # Errors
    /// A column shorter than the positions, or out of memory for the legend.
    pub fn record(&mut self, recorder: &mut Recorder, frame: &Frame<'_>) -> Result<()> {
        let panels = self.panels(frame)?;
        self.prepare_fluid(frame)?;
        self.prepare_powder(frame)?;
        self.prepare_shadows(frame)?;
        let Targets { color, depth, depth_values, resolved } = &self.targets;
        let (width, height) = color.size();
        let view = frame.camera.view(width, height);
        let [r, g, b] = frame.background;
        let background = Some([r, g, b, 1.0]);
        let fluid = match (&frame.fluid, &self.fluid) {
            (Some(fluid), Some(passes)) => {
                Some((fluid, passes, passes.terms(fluid, &frame.camera, frame.light.to_sun)?))
            }
            _ => None,
        };
        let lighting = self.record_shadows(recorder, frame)?;
        let mut draws = Vec::new();
        if let Some((_, passes, terms)) = &fluid
            && frame.backdrop
        {
            draws.push(passes.backdrop(view, fog_of(frame), terms));
        }
        draws.extend(self.scene(frame, view, height, &lighting)?);
        recorder.render("render.scene", color, depth, background, &draws);
        let powder = self.powder.as_ref().filter(|_| !frame.powder.is_empty());
        let mut overlay = Vec::new();
        let occlusion = (frame.occlusion > 0.0).then(|| self.occlusion(frame, view));
        if let Some((fluid, passes, terms)) = &fluid {
            let fog = fog_of(frame);
            let scene = Scene { color, depth, depth_values, view, fog };
            passes.record(recorder, &scene, fluid, terms, &lighting, occlusion);
        } else if let Some(occlusion) = occlusion {
            recorder.copy_image(depth, &depth_values.cast());
            if powder.is_some() {
                // It does not darken the powder before it.
                recorder.render("render.shade_opaque", color, depth, None, &[occlusion]);
            } else {
                overlay.push(occlusion);
            }
        }
        if let Some(passes) = powder {
            recorder.copy_image(depth, &depth_values.cast());
            let behind = Behind { color, depth, depth_values, view, fog: fog_of(frame) };
            passes.record(recorder, &behind, frame, &lighting);
        }
        for particles in frame.particles {
            let pipeline = match particles.shading {
                Shading::Translucent { .. } => &self.pipelines.translucent,
                Shading::Brightest => &self.pipelines.brightest,
                _ => continue,
            };
            overlay.push(self.particles(pipeline, particles, frame, view, self.pixel(view), &lighting)?);
        }
        overlay.extend(self.wireframes(frame, view));
        let Some(Resolved { color: coarse, depth: coarse_depth, fine, per_axis }) = resolved else {
            overlay.extend(panels);
            recorder.render("render.overlay", color, depth, None, &overlay);
            return Ok(());
        };
        recorder.render("render.overlay", color, depth, None, &overlay);
        recorder.copy_image(color, fine);
        let params = resolve::Params { fine_width: width, per_axis: *per_axis };
        let mut resolve = vec![self.pipelines.resolve.draw(resolve::Bindings { fine }, params, 3)];
        resolve.extend(panels);
        recorder.render("render.resolve", coarse, coarse_depth, background, &resolve);
        Ok(())
    }

    /// Creates the passes of a fluid, on its first picture, and sets their size.
    fn prepare_fluid(&mut self, frame: &Frame<'_>) -> Result<()> {
        let (width, height) = self.targets.color.size();
        match &mut self.fluid {
            _ if frame.fluid.is_none() => {}
            Some(passes) => passes.resize(width, height)?,
            None => self.fluid = Some(FluidPasses::new(&self.device, width, height)?),
        }
        Ok(())
    }

    /// Creates the passes of powder, on its first picture, and sets their size.
    fn prepare_powder(&mut self, frame: &Frame<'_>) -> Result<()> {
        let (size, per_axis) = (self.size(), self.supersampling());
        match &mut self.powder {
            _ if frame.powder.is_empty() => {}
            Some(passes) => passes.resize(size, per_axis)?,
            None => self.powder = Some(PowderPasses::new(&self.device, size, per_axis)?),
        }
        Ok(())
    }

    /// Creates the images of shadows, on their first picture.
    fn prepare_shadows(&mut self, frame: &Frame<'_>) -> Result<()> {
        let Some(Shadows { size_px, .. }) = frame.shadows else { return Ok(()) };
        let mut images = match self.shadows.take().filter(|images| images.size_px() == size_px) {
            Some(images) => images,
            None => ShadowImages::new(&self.device, size_px)?,
        };
        if frame.fluid.is_some() {
            images.prepare_fluid(&self.device)?;
        }
        self.shadows = Some(images);
        Ok(())
    }

    /// Records the passes of shadows, and returns the light for the passes after them.
    fn record_shadows(&self, recorder: &mut Recorder, frame: &Frame<'_>) -> Result<Lighting> {
        let unshaded = Lighting::unshaded(light::upload(&self.device, frame, None)?, &self.no_shadow);
        let (Some(shadows), Some(images)) = (&frame.shadows, &self.shadows) else { return Ok(unshaded) };
        let sun = shadows.view(frame.light.to_sun, frame.camera.up_axis.axes().up);
        let mut casters = self.casters(frame, sun, 0.0, &unshaded)?;
        casters.extend(self.terrain(frame, sun, shadows.size_px, &unshaded));
        let fluid = frame.fluid.as_ref().zip(self.fluid.as_ref());
        let fluid = fluid.map(|(fluid, passes)| passes.distances(fluid, sun));
        images.record(recorder, &casters, fluid.as_deref());
        Ok(images.lighting(light::upload(&self.device, frame, Some((shadows, sun)))?, fluid.is_some()))
    }

    /// Returns the intermediate images of the last picture with a fluid.
    pub fn fluid_images(&self) -> Option<&FluidImages> {
        self.fluid.as_ref().map(FluidPasses::images)
    }

    /// Returns the sums of the last picture with powder.
    pub fn powder_sums(&self) -> Option<&PowderSums> {
        self.powder.as_ref().map(PowderPasses::sums)
    }

    /// Collects the draws that have depth; blended draws come last. What hides the terrain is drawn before
    /// it, so that pixels are shaded once.
    fn scene(&self, frame: &Frame<'_>, view: View, height: u32, lighting: &Lighting) -> Result<Vec<Draw>> {
        let mut draws = self.casters(frame, view, self.pixel(view), lighting)?;
        draws.extend(self.terrain(frame, view, height, lighting));
        draws.extend(frame.ground.map(|ground| self.ground(&ground, frame, view, lighting)));
        Ok(draws)
    }

    /// Returns the draws of the terrain in a view with a picture of `height` pixels.
    fn terrain(&self, frame: &Frame<'_>, view: View, height: u32, lighting: &Lighting) -> Vec<Draw> {
        let draws =
            |terrain: &Terrain| terrain.draws(&self.pipelines.terrain, view, height, fog_of(frame), lighting);
        frame.terrain.map_or_else(Vec::new, draws)
    }

    /// Returns the side of a pixel of the picture in m, with perspective at a distance of 1 m.
    fn pixel(&self, view: View) -> f32 {
        2.0 * view.half_extent[1] / self.size().1 as f32
    }

    /// Collects the draws of what casts shadows, apart from the terrain. Particles have at least a radius, in
    /// m, with perspective at a distance of 1 m.
    fn casters(
        &self,
        frame: &Frame<'_>,
        view: View,
        min_radius: f32,
        lighting: &Lighting,
    ) -> Result<Vec<Draw>> {
        let mut draws = Vec::new();
        draws.extend(frame.meshes.iter().map(|mesh| self.mesh(mesh, frame, view, lighting)));
        for pieces in frame.pieces {
            draws.push(self.pieces(pieces, frame, view, lighting)?);
        }
        for particles in frame.particles.iter().filter(|set| set.shading.has_depth()) {
            let pipeline = &self.pipelines.particles;
            draws.push(self.particles(pipeline, particles, frame, view, min_radius, lighting)?);
        }
        draws.extend(frame.balls.iter().map(|ball| {
            let params = ball::Params {
                view,
                ball_center: ball.center.to_array(),
                radius: ball.radius_m,
                color: ball.color,
                fog: fog_of(frame),
            };
            let bindings = ball::Bindings {
                light_terms: &lighting.terms,
                opaque_shadow: &lighting.opaque_shadow,
                fluid_shadow: &lighting.fluid_shadow,
            };
            self.pipelines.ball.draw(bindings, params, QUAD)
        }));
        Ok(draws)
    }

    fn ground(&self, ground: &Ground, frame: &Frame<'_>, view: View, lighting: &Lighting) -> Draw {
        let axes = frame.camera.up_axis.axes();
        let ink = Ink::on(frame.background).ink;
        let params = ground::Params {
            view,
            origin: ground.center.to_array(),
            across: axes.right.to_array(),
            along: axes.back.to_array(),
            extent: ground.extent_m,
            cell: ground.cell_m,
            // A shade between background and ink.
            color: std::array::from_fn(|c| 0.94 * frame.background[c] + 0.06 * ink[c]),
        };
        let bindings = ground::Bindings {
            light_terms: &lighting.terms,
            opaque_shadow: &lighting.opaque_shadow,
            fluid_shadow: &lighting.fluid_shadow,
        };
        self.pipelines.ground.draw(bindings, params, QUAD)
    }

    fn wireframes(&self, frame: &Frame<'_>, view: View) -> impl Iterator<Item = Draw> {
        let (width, height) = self.targets.color.size();
        let [r, g, b] = Ink::on(frame.background).ink;
        frame.boxes.iter().map(move |wire_box| {
            let params = wireframe::Params {
                view,
                corner: wire_box.corner.to_array(),
                along: wire_box.edges.map(|edge| edge.to_array()),
                color: u32::from_le_bytes([r, g, b, 0.55].map(|c| (255.0 * c).round() as u8)),
                image_size: [width as f32, height as f32],
                line_width: (height as f32 / 400.0).max(1.0),
            };
            self.pipelines.wireframe.draw(wireframe::Bindings {}, params, 12 * QUAD)
        })
    }

    fn particles(
        &self,
        pipeline: &Raster<particles::Interface>,
        set: &Particles<'_>,
        frame: &Frame<'_>,
        view: View,
        min_radius: f32,
        lighting: &Lighting,
    ) -> Result<Draw> {
        let drawn = (set.count.capacity.min(set.max_count) as usize).min(set.positions.len());
        let too_few = |what: &str, other: &Buffer<u32>, n: usize| frazil_vk::Error::Misuse {
            object: format!("{what} \"{}\" by \"{}\"", set.positions.name(), other.name()),
            problem: format!("{drawn} particles but {n} values"),
        };
        let (column, map, coloring) = match set.coloring {
            Coloring::Mapped { column, map, range: [lo, hi] } => {
                let column = column.layout();
                let origin = column.origin;
                (column, map, [lo, hi, origin])
            }
            // The buffer bound in the column's place is not read.
            Coloring::Uniform(color) => {
                let words = set.positions.cast();
                let none = ColumnLayout { words, kind: COLUMN_NONE, stride: 3, index: 0, origin: 0.0 };
                (none, ColorMap::default(), color)
            }
        };
        if column.len() < drawn {
            return Err(too_few("colouring", &column.words, column.len()).into());
        }
        let (radii, radius, has_radii) = match set.radius {
            Radius::Uniform(radius_m) => (set.positions.cast(), radius_m, 0),
            Radius::Each { radii_m, scale, .. } => (radii_m.clone(), scale, 1),
        };
        if has_radii == 1 && radii.len() < drawn {
            return Err(too_few("drawing", &radii.cast(), radii.len()).into());
        }
        let bindings = particles::Bindings {
            count: set.count,
            positions: set.positions,
            column: &column.words,
            color_map: &self.color_maps[map as usize],
            radii: &radii,
            light_terms: &lighting.terms,
            opaque_shadow: &lighting.opaque_shadow,
            fluid_shadow: &lighting.fluid_shadow,
        };
        let (clip_axis, clip_range) = match frame.clip {
            Some(Clip { axis, range_m }) => (axis, range_m),
            None => (0, [f32::NEG_INFINITY, f32::INFINITY]),
        };
        let up_axis = frame.camera.up_axis.index();
        let shading = set.shading.number() | up_axis << 8 | has_radii << 16 | clip_axis << 24;
        let opacity = set.shading.opacity();
        let params = particles::Params {
            view,
            radius,
            column_kind: column.kind,
            column_stride: column.stride,
            column_index: column.index,
            coloring,
            shading,
            opacity,
            clip_range,
            fog: fog_of(frame),
            min_radius,
        };
        Ok(pipeline.draw(bindings, params, QUAD * drawn as u32))
    }

    fn mesh(&self, set: &Mesh<'_>, frame: &Frame<'_>, view: View, lighting: &Lighting) -> Draw {
        let bindings = mesh::Bindings {
            count: set.count,
            triangle: set.triangle,
            position: set.position,
            normal: set.normal,
            light_terms: &lighting.terms,
            opaque_shadow: &lighting.opaque_shadow,
            fluid_shadow: &lighting.fluid_shadow,
        };
        let params = mesh::Params {
            view,
            fog: fog_of(frame),
            color: set.color,
            material: set.material.number(),
            up_axis: frame.camera.up_axis.index(),
        };
        let n_triangles = (set.max_count.min(set.count.capacity) as usize).min(set.triangle.len());
        self.pipelines.mesh.draw(bindings, params, 3 * n_triangles as u32)
    }

    fn pieces(&self, set: &Pieces<'_>, frame: &Frame<'_>, view: View, lighting: &Lighting) -> Result<Draw> {
        let (shapes, poses) = (set.shapes, set.centre.len().min(set.rotation.len()));
        if poses < shapes.len() {
            return Err(frazil_vk::Error::Misuse {
                object: format!("pieces at \"{}\", turned by \"{}\"", set.centre.name(), set.rotation.name()),
                problem: format!("{poses} of them, expected {}", shapes.len()),
            }
            .into());
        }
        let bindings = pieces::Bindings {
            corner: &shapes.corner,
            face_normal: &shapes.face_normal,
            piece: &shapes.piece,
            centre: set.centre,
            rotation: set.rotation,
            light_terms: &lighting.terms,
            opaque_shadow: &lighting.opaque_shadow,
            fluid_shadow: &lighting.fluid_shadow,
        };
        let params = pieces::Params {
            view,
            fog: fog_of(frame),
            color: set.color,
            up_axis: frame.camera.up_axis.index(),
        };
        Ok(self.pipelines.pieces.draw(bindings, params, shapes.n_vertices))
    }

    fn occlusion(&self, frame: &Frame<'_>, view: View) -> Draw {
        let (width, height) = self.targets.color.size();
        let params = occlusion::Params {
            half_extent: view.half_extent,
            near: view.near,
            depth_reach: view.depth_reach,
            width,
            height,
            reach: occlusion_reach_m(frame),
            strength: frame.occlusion,
        };
        let bindings = occlusion::Bindings { depth: &self.targets.depth_values };
        self.pipelines.occlusion.draw(bindings, params, 3)
    }

    /// Returns draws of legend, swatches and caption, which are redrawn only if they changed.
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
        self.swatches = if frame.swatches.is_empty() {
            None
        } else {
            let swatches = frame.swatches.to_vec();
            Some(Panel::of(self.swatches.take(), device, &swatches, ink, size_px, || {
                legend::draw_swatches(&swatches, typeface, size_px, ink.ink, ink.paper)
            })?)
        };
        self.scale = if frame.scale {
            let scale = Scale::of(&frame.camera, width, height);
            Some(Panel::of(self.scale.take(), device, &scale, ink, size_px, || {
                scale.draw(typeface, size_px, ink.ink, ink.paper)
            })?)
        } else {
            None
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
        if let Some(swatches) = &self.swatches {
            let left = image_width - margin - swatches.width as f32;
            let top = margin + self.legend.as_ref().map_or(0.0, |legend| legend.height as f32 + margin);
            draws.push(swatches.draw(&self.pipelines, [image_width, image_height], [left, top]));
        }
        if let Some(scale) = &self.scale {
            let place =
                [image_width - margin - scale.width as f32, image_height - margin - scale.height as f32];
            draws.push(scale.draw(&self.pipelines, [image_width, image_height], place));
        }
        if let Some(caption) = &self.caption {
            let top = image_height - margin - caption.height as f32;
            draws.push(caption.draw(&self.pipelines, [image_width, image_height], [margin, top]));
        }
        Ok(draws)
    }
}

impl Targets {
    fn new(device: &Device, width: u32, height: u32, per_axis: u32) -> Result<Self> {
        let image = |name: &str, format, scale: u32| {
            device.image(name, width.saturating_mul(scale), height.saturating_mul(scale), format)
        };
        let color = image("render color", ImageFormat::Rgba8, per_axis)?;
        let fine_pixels = color.size().0 as usize * color.size().1 as usize;
        let resolved = if per_axis == 1 {
            None
        } else {
            Some(Resolved {
                color: image("resolved color", ImageFormat::Rgba8, 1)?,
                depth: image("resolved depth", ImageFormat::Depth32, 1)?,
                fine: device.buffer("render color values", fine_pixels)?,
                per_axis,
            })
        };
        Ok(Self {
            color,
            depth: image("render depth", ImageFormat::Depth32, per_axis)?,
            depth_values: device.buffer("render depth values", fine_pixels)?,
            resolved,
        })
    }
}

impl Pipelines {
    fn new(device: &Device) -> Result<Self> {
        let options = |depth, blend| RasterOptions { color: ImageFormat::Rgba8, depth, blend };
        let solid = options(DepthUse::TestAndWrite, Blend::Replace);
        let fading = options(DepthUse::TestAndWrite, Blend::Over);
        let behind_solids = options(DepthUse::Test, Blend::Over);
        let over_all = options(DepthUse::Ignore, Blend::Over);
        let brightest = options(DepthUse::Ignore, Blend::Max);
        Ok(Self {
            particles: Raster::new(device, solid)?,
            translucent: Raster::new(device, behind_solids)?,
            brightest: Raster::new(device, brightest)?,
            ball: Raster::new(device, solid)?,
            mesh: Raster::new(device, solid)?,
            pieces: Raster::new(device, solid)?,
            terrain: Raster::new(device, solid)?,
            ground: Raster::new(device, fading)?,
            wireframe: Raster::new(device, behind_solids)?,
            occlusion: Raster::new(device, over_all)?,
            panel: Raster::new(device, over_all)?,
            resolve: Raster::new(device, over_all)?,
        })
    }
}

impl Ink {
    /// Returns light ink on a dark background and dark ink on a light one.
    fn on(paper: [f32; 3]) -> Self {
        let luma = 0.2126 * paper[0] + 0.7152 * paper[1] + 0.0722 * paper[2];
        Self { ink: if luma < 0.5 { [0.92, 0.93, 0.95] } else { [0.10, 0.11, 0.13] }, paper }
    }
}

impl<K: Clone + PartialEq> Panel<K> {
    /// Returns `held` if its key matches, otherwise a new panel.
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

fn fog_of(frame: &Frame<'_>) -> Fog {
    frame.light.fog(frame.camera.projection == Projection::Perspective)
}

/// Returns the radius of ambient occlusion: a few particles, or a fraction of the camera's distance.
fn occlusion_reach_m(frame: &Frame<'_>) -> f32 {
    const RADII: f32 = 5.0;
    const PART_OF_DISTANCE: f32 = 0.02;
    let OrbitCamera { distance_m, .. } = frame.camera;
    let largest = frame.particles.iter().map(|p| p.radius.typical_m()).fold(0.0, f32::max);
    if largest > 0.0 { RADII * largest } else { PART_OF_DISTANCE * distance_m }
}
