//! Render-target images.
//!
//! Every image stays in the general layout after creation: this needs no state tracking and costs nothing on
//! current GPUs, whose compression works in that layout too.

use crate::device::Shared;
use crate::slot::Slot;
use crate::timeline::Retired;
use crate::{Error, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Pixel format of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// Four bytes per pixel; shaders write values that are already encoded for a display.
    Rgba8,
    /// One 32-bit float per pixel, such as a distance or a sum.
    R32Float,
    /// Four 32-bit floats per pixel, such as sums.
    Rgba32Float,
    /// 32-bit depth.
    Depth32,
}

impl ImageFormat {
    pub(crate) fn vk(self) -> vk::Format {
        match self {
            Self::Rgba8 => vk::Format::R8G8B8A8_UNORM,
            Self::R32Float => vk::Format::R32_SFLOAT,
            Self::Rgba32Float => vk::Format::R32G32B32A32_SFLOAT,
            Self::Depth32 => vk::Format::D32_SFLOAT,
        }
    }

    /// Returns the size of a pixel in 32-bit words.
    pub(crate) fn words(self) -> u32 {
        match self {
            Self::Rgba8 | Self::R32Float | Self::Depth32 => 1,
            Self::Rgba32Float => 4,
        }
    }

    pub(crate) fn aspect(self) -> vk::ImageAspectFlags {
        match self {
            Self::Rgba8 | Self::R32Float | Self::Rgba32Float => vk::ImageAspectFlags::COLOR,
            Self::Depth32 => vk::ImageAspectFlags::DEPTH,
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
    /// Place in the recorder that used it last.
    slot: Slot,
    allocation: Mutex<Option<Allocation>>,
}

impl Image {
    /// Creates an image in the undefined layout; see [`crate::Device::image`].
    pub(crate) fn new(
        shared: &Arc<Shared>,
        name: &str,
        width: u32,
        height: u32,
        format: ImageFormat,
    ) -> Result<Self> {
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
        let usage = match format {
            ImageFormat::Rgba8 | ImageFormat::R32Float | ImageFormat::Rgba32Float => {
                vk::ImageUsageFlags::COLOR_ATTACHMENT
            }
            ImageFormat::Depth32 => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        };
        let aspect = format.aspect();
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format.vk())
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC);
        // SAFETY: format, usage and size are within what every Vulkan 1.3 device offers, and the limit was
        // checked.
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
        let bound = unsafe { shared.raw.bind_image_memory(handle, memory, allocation.offset()) };
        let range = vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format.vk())
            .subresource_range(range);
        let view = bound.map_err(Error::call("bind memory", name)).and_then(|()| {
            // SAFETY: the image is alive and has memory.
            unsafe { shared.raw.create_image_view(&info, None) }
                .map_err(Error::call("create image view", name))
        });
        let view = match view {
            Ok(view) => view,
            Err(error) => {
                // SAFETY: never used.
                unsafe { shared.raw.destroy_image(handle, None) };
                // Freeing an allocation of this allocator cannot fail.
                let _ = shared.allocator().free(allocation);
                return Err(error);
            }
        };
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
            slot: Slot::default(),
            allocation: Mutex::new(Some(allocation)),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.inner.width, self.inner.height)
    }

    /// Returns the pixel format.
    pub fn format(&self) -> ImageFormat {
        self.inner.format
    }

    /// Returns the name given at creation.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    pub(crate) fn id(&self) -> u64 {
        self.inner.id
    }

    pub(crate) fn slot(&self) -> &Slot {
        &self.inner.slot
    }

    pub(crate) fn handle(&self) -> vk::Image {
        self.inner.handle
    }

    pub(crate) fn view(&self) -> vk::ImageView {
        self.inner.view
    }

    pub(crate) fn layers(&self) -> vk::ImageSubresourceLayers {
        let aspect_mask = self.inner.format.aspect();
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

impl Drop for Inner {
    fn drop(&mut self) {
        let allocation = self.allocation.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        self.shared.memory().remove(&self.name, self.bytes);
        self.shared.timeline.retire(Retired::Image(self.handle, self.view, allocation));
    }
}
