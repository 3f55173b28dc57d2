//! Images to draw to.
//!
//! Every image stays in the general layout from its creation on: one rule instead of a state machine, and no cost on
//! current GPUs, whose compression works in that layout too.

use crate::device::{Device, Shared};
use crate::submission::Retired;
use crate::{Error, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What an image's pixels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// Four bytes a pixel; shaders write values that are already encoded for a display.
    Rgba8,
    /// 32-bit depth.
    Depth32,
}

impl ImageFormat {
    pub(crate) fn vk(self) -> vk::Format {
        match self {
            Self::Rgba8 => vk::Format::R8G8B8A8_UNORM,
            Self::Depth32 => vk::Format::D32_SFLOAT,
        }
    }
}

/// A two-dimensional image in device memory. Cloning makes another handle to the same memory.
#[derive(Clone)]
pub struct Image {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    handle: vk::Image,
    view: vk::ImageView,
    id: u64,
    width: u32,
    height: u32,
    format: ImageFormat,
    name: String,
    bytes: u64,
    allocation: Mutex<Option<Allocation>>,
}

impl Device {
    /// Makes an image. Its contents are undefined.
    ///
    /// # Errors
    /// [`Error::BeyondLimit`] for a side of zero or beyond the device's limit, [`Error::OutOfMemory`] if there is no room.
    pub fn image(&self, name: &str, width: u32, height: u32, format: ImageFormat) -> Result<Image> {
        let shared = &self.shared;
        let limit = shared.candidate.capabilities.max_image_size;
        if width == 0 || height == 0 || width > limit || height > limit {
            return Err(Error::BeyondLimit {
                object: format!("image \"{name}\" of {width} × {height} pixels"),
                found: width.max(height).into(),
                unit: "pixels",
                limit: limit.into(),
                limit_name: "maxImageDimension2D",
            });
        }
        let (usage, aspect) = match format {
            ImageFormat::Rgba8 => (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageAspectFlags::COLOR),
            ImageFormat::Depth32 => {
                (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, vk::ImageAspectFlags::DEPTH)
            }
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format.vk())
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC);
        // SAFETY: format, usage and size are within what every Vulkan 1.3 device offers, and the limit was checked.
        let handle =
            unsafe { shared.raw.create_image(&info, None) }.map_err(Error::call("create image", name))?;
        // SAFETY: the image was just created.
        let requirements = unsafe { shared.raw.get_image_memory_requirements(handle) };
        let allocated = shared.allocator().allocate(&AllocationCreateDesc {
            name,
            requirements,
            location: MemoryLocation::GpuOnly,
            linear: false,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        });
        let allocation = match allocated {
            Ok(allocation) => allocation,
            Err(e) => {
                // SAFETY: never used.
                unsafe { shared.raw.destroy_image(handle, None) };
                let object = format!("image \"{name}\"");
                return Err(Error::OutOfMemory { object, bytes: requirements.size, cause: e.to_string() });
            }
        };
        // SAFETY: the allocation's memory is alive and belongs to it.
        let memory = unsafe { allocation.memory() };
        // SAFETY: image and memory are fresh, and the allocation meets the image's requirements.
        unsafe { shared.raw.bind_image_memory(handle, memory, allocation.offset()) }
            .map_err(Error::call("bind memory", name))?;
        let range = vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format.vk())
            .subresource_range(range);
        // SAFETY: the image is alive and has memory.
        let view = unsafe { shared.raw.create_image_view(&info, None) }
            .map_err(Error::call("create image view", name))?;
        shared.set_name(handle, name);
        shared.memory().add(name, requirements.size);
        let inner = Inner {
            shared: shared.clone(),
            handle,
            view,
            id: shared.next_resource_id(),
            width,
            height,
            format,
            name: name.to_owned(),
            bytes: requirements.size,
            allocation: Mutex::new(Some(allocation)),
        };
        let image = Image { inner: Arc::new(inner) };
        let mut recorder = self.recorder()?;
        recorder.transition(handle, aspect, vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
        recorder.keep(image.inner.clone());
        self.submit(recorder)?;
        Ok(image)
    }
}

impl Image {
    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.inner.width, self.inner.height)
    }

    /// What its pixels are.
    pub fn format(&self) -> ImageFormat {
        self.inner.format
    }

    /// The name it was made with.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    pub(crate) fn handle(&self) -> vk::Image {
        self.inner.handle
    }

    pub(crate) fn view(&self) -> vk::ImageView {
        self.inner.view
    }

    pub(crate) fn layers(&self) -> vk::ImageSubresourceLayers {
        let aspect_mask = match self.inner.format {
            ImageFormat::Rgba8 => vk::ImageAspectFlags::COLOR,
            ImageFormat::Depth32 => vk::ImageAspectFlags::DEPTH,
        };
        vk::ImageSubresourceLayers { aspect_mask, mip_level: 0, base_array_layer: 0, layer_count: 1 }
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Image(\"{}\", {} × {}, {:?})",
            self.name(),
            self.inner.width,
            self.inner.height,
            self.inner.format
        )
    }
}

impl crate::Recorder {
    /// Copies the whole of a colour image, stretched where the sizes differ, to a window's image, which is in the layout of
    /// a transfer's destination.
    #[cfg(feature = "window")]
    pub(crate) fn blit_to_window(&mut self, from: &Image, to: vk::Image, to_extent: vk::Extent2D) {
        use crate::hazard::Use;
        use crate::recorder::Resource;
        let (width, height) = from.size();
        let bytes = 4 * (u64::from(width) * u64::from(height));
        self.begin_pass("present", &[(Resource::image(from), Use::TransferRead)], 2 * bytes);
        let corner = |width: u32, height: u32| vk::Offset3D { x: width as i32, y: height as i32, z: 1 };
        let region = [vk::ImageBlit::default()
            .src_subresource(from.layers())
            .src_offsets([vk::Offset3D::default(), corner(width, height)])
            .dst_subresource(from.layers())
            .dst_offsets([vk::Offset3D::default(), corner(to_extent.width, to_extent.height)])];
        let is_exact = (width, height) == (to_extent.width, to_extent.height);
        let filter = if is_exact { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        // SAFETY: `from` is in the general layout, as all of ours are; the caller has moved `to` to the one named.
        unsafe {
            self.shared.raw.cmd_blit_image(
                self.commands(),
                from.handle(),
                vk::ImageLayout::GENERAL,
                to,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &region,
                filter,
            );
        }
        self.end_pass();
    }

    /// Moves an image from one layout to another, ordered against everything before and after.
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
        // SAFETY: the image is alive, the command buffer is recording.
        unsafe { self.shared.raw.cmd_pipeline_barrier2(self.commands(), &info) };
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let allocation = self.allocation.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        self.shared.memory().remove(&self.name, self.bytes);
        self.shared.timeline.retire(Retired::Image(self.handle, self.view, allocation));
    }
}
