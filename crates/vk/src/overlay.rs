//! egui overlay of a window.

use crate::device::Device;
use crate::{Error, Recorder, Result};
use ash::vk;
use egui_ash_renderer::allocator::DefaultAllocator;
use egui_ash_renderer::{DynamicRendering, Options, RenderMode, Renderer, RendererError};
use std::collections::VecDeque;

/// Number of frames in flight: one is shown while the next is drawn.
pub(crate) const FRAMES_IN_FLIGHT: usize = 2;

/// Output of egui for one frame.
pub struct OverlayFrame {
    /// Triangles: [`egui::Context::tessellate`] of the frame's shapes.
    pub primitives: Vec<egui::ClippedPrimitive>,
    /// Textures that the frame adds, changes and frees.
    pub textures: egui::TexturesDelta,
    /// Pixels per egui point.
    pub pixels_per_point: f32,
}

impl OverlayFrame {
    /// Takes the drawing data out of a frame's output; the data for the window (cursor, clipboard) stay in
    /// it.
    pub fn take(context: &egui::Context, output: &mut egui::FullOutput) -> Self {
        let pixels_per_point = output.pixels_per_point;
        Self {
            primitives: context.tessellate(std::mem::take(&mut output.shapes), pixels_per_point),
            textures: std::mem::take(&mut output.textures_delta),
            pixels_per_point,
        }
    }
}

/// Draws egui over the images of a window; [`crate::Swapchain::overlay`] makes it.
pub struct Overlay {
    renderer: Renderer<DefaultAllocator>,
    upload_pool: vk::CommandPool,
    /// Textures that frames up to a submission may still use.
    freed: VecDeque<(u64, Vec<egui::TextureId>)>,
    last_submission: u64,
    /// Declared last, because the renderer must destroy its objects before the device is destroyed.
    device: Device,
}

impl Overlay {
    /// Creates an overlay for window images of this format.
    ///
    /// # Errors
    /// The device rejects it.
    pub(crate) fn new(device: &Device, format: vk::Format) -> Result<Self> {
        let shared = &device.shared;
        let mode = RenderMode::DynamicRendering(DynamicRendering {
            color_attachment_format: format,
            depth_attachment_format: None,
            stencil_attachment_format: None,
        });
        let options =
            Options { in_flight_frames: FRAMES_IN_FLIGHT, srgb_framebuffer: false, ..Default::default() };
        let (instance, physical) = (&shared.instance.raw, shared.candidate.handle);
        let renderer =
            Renderer::with_default_allocator(instance, physical, shared.raw.clone(), mode, options)
                .map_err(overlay_error)?;
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(shared.candidate.queue_family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family is the one the device was created with.
        let upload_pool = unsafe { shared.raw.create_command_pool(&info, None) }
            .map_err(Error::call("create command pool", "the overlay"))?;
        let freed = VecDeque::new();
        Ok(Self { renderer, upload_pool, freed, last_submission: 0, device: device.clone() })
    }

    /// Uploads changed textures. It waits for the device if there are any, which is rare (new glyphs).
    pub(crate) fn update_textures(&mut self, frame: &mut OverlayFrame) -> Result<()> {
        while let Some((value, _)) = self.freed.front()
            && self.device.has_completed(*value)?
        {
            for id in self.freed.pop_front().into_iter().flat_map(|(_, ids)| ids) {
                self.renderer.free_texture(id).map_err(overlay_error)?;
            }
        }
        if frame.textures.set.is_empty() {
            return Ok(());
        }
        // A texture that changes may be in use by the previous frame.
        self.device.wait_for(self.last_submission)?;
        let (renderer, pool) = (&mut self.renderer, self.upload_pool);
        self.device.shared.timeline.with_queue(|queue| {
            for (id, deltas) in frame.textures.set.drain() {
                for delta in deltas {
                    renderer.set_texture(queue, pool, id, &delta).map_err(overlay_error)?;
                }
            }
            Ok(())
        })
    }

    /// Records the frame's triangles over `view`, which is a colour attachment and keeps what it holds.
    pub(crate) fn draw(
        &mut self,
        recorder: &mut Recorder,
        frame: &OverlayFrame,
        view: vk::ImageView,
        extent: vk::Extent2D,
    ) -> Result<()> {
        recorder.begin_pass("overlay", [], 0);
        let (commands, raw) = (recorder.commands(), &self.device.shared.raw);
        let attachments = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent })
            .layer_count(1)
            .color_attachments(&attachments);
        // SAFETY: the view is alive and its image in the layout named; the recorder is outside a render pass.
        unsafe { raw.cmd_begin_rendering(commands, &info) };
        let primitives = &frame.primitives;
        let drawn = self.renderer.cmd_draw(commands, extent, frame.pixels_per_point, primitives);
        // SAFETY: ends the rendering begun above.
        unsafe { raw.cmd_end_rendering(commands) };
        recorder.end_pass();
        drawn.map_err(overlay_error)
    }

    /// Marks the frame as submitted: its freed textures are destroyed once submission `value` has finished.
    pub(crate) fn finish(&mut self, mut frame: OverlayFrame, value: u64) {
        self.last_submission = value;
        if !frame.textures.free.is_empty() {
            self.freed.push_back((value, frame.textures.free.drain().collect()));
        }
    }
}

impl Drop for OverlayFrame {
    /// Clears the textures, since egui panics on textures that are not taken, which remain after a failed
    /// frame.
    fn drop(&mut self) {
        self.textures.clear();
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        if !self.device.wait_for_queue() {
            return;
        }
        // SAFETY: the queue is idle, and uploads free their command buffers.
        unsafe { self.device.shared.raw.destroy_command_pool(self.upload_pool, None) };
    }
}

fn overlay_error(error: RendererError) -> Error {
    match error {
        RendererError::Vulkan(result) => {
            Error::Call { operation: "draw", object: "the egui overlay".into(), result }
        }
        other => Error::Misuse { object: "the egui overlay".into(), problem: other.to_string() },
    }
}
