//! Image layout transitions: every image of frazil enters the general layout at creation; window images
//! change theirs.

use crate::Result;
use crate::device::Device;
use crate::image::{Image, ImageFormat};
use crate::recorder::Recorder;
use ash::vk;
use std::sync::Arc;

impl Device {
    /// Creates an image. Its contents are undefined.
    ///
    /// # Errors
    /// [`crate::Error::BeyondLimit`] for a side of zero or beyond the device's limit,
    /// [`crate::Error::OutOfMemory`] if memory is exhausted.
    pub fn image(&self, name: &str, width: u32, height: u32, format: ImageFormat) -> Result<Image> {
        let image = Image::new(&self.shared, name, width, height, format)?;
        let mut recorder = self.recorder()?;
        let (undefined, general) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
        recorder.transition(image.handle(), format.aspect(), undefined, general);
        recorder.keep(Arc::new(image.clone()));
        self.submit(recorder)?;
        Ok(image)
    }
}

impl Recorder {
    /// Records a layout transition, ordered against all work before and after it.
    pub(crate) fn transition(
        &mut self,
        image: vk::Image,
        aspect: vk::ImageAspectFlags,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) {
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let any = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
        let barriers = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(all)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(all)
            .dst_access_mask(any)
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(
                vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1),
            )];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        let commands = self.commands();
        // SAFETY: the image is alive, the command buffer is recording.
        unsafe { self.shared.raw.cmd_pipeline_barrier2(commands, &info) };
    }
}
