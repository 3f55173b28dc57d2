//! Swapchain of a window: offscreen images are copied into its images and shown.

use crate::hazard::Use;
use crate::image::Image;
use crate::overlay::{FRAMES_IN_FLIGHT, Overlay, OverlayFrame};
use crate::resource::Resource;
use crate::submission::Submission;
use crate::{Device, Error, Recorder, Result};
use ash::{khr, vk};
use raw_window_handle::{HandleError, HasDisplayHandle, HasWindowHandle};
use std::any::Any;
use std::ffi::CStr;
use std::sync::Arc;

/// Timeout for acquiring an image from the window system. A hidden window may never provide one.
const ACQUIRE_TIMEOUT_NS: u64 = 100_000_000;

/// Returns the instance extensions that windows of a display require; for
/// [`crate::DeviceOptions::surface_extensions`].
///
/// # Errors
/// [`Error::Misuse`] for a display that Vulkan does not support.
pub fn surface_extensions(display: &impl HasDisplayHandle) -> Result<Vec<&'static CStr>> {
    let handle = display.display_handle().map_err(unusable_handle)?;
    let names = ash_window::enumerate_required_extensions(handle.as_raw())
        .map_err(Error::call("list surface extensions", "the display"))?;
    // SAFETY: the names are NUL-terminated constants of ash.
    Ok(names.iter().map(|name| unsafe { CStr::from_ptr(*name) }).collect())
}

/// Result of presenting a frame.
#[derive(Debug)]
pub struct Presented {
    /// Submission of the frame, made even if the window does not show it.
    pub submission: Submission,
    /// True if the window shows it; false while the window is hidden or has no area.
    pub is_shown: bool,
}

/// Images of one window. Frames are shown in sync with the display, at most two ahead of it.
pub struct Swapchain {
    device: Device,
    loader: khr::swapchain::Device,
    surface: Surface,
    format: vk::SurfaceFormatKHR,
    /// Last reported size of the window, for window systems that let the application choose the size.
    window_size: (u32, u32),
    /// None while the window has no area.
    images: Option<Images>,
    /// True if the images no longer match the size of the window.
    is_stale: bool,
    slots: [Slot; FRAMES_IN_FLIGHT],
    next_slot: usize,
}

/// Objects of one frame in flight.
#[derive(Clone, Copy)]
struct Slot {
    acquired: vk::Semaphore,
    /// Submission that last used it.
    submission: u64,
}

struct Surface {
    loader: khr::surface::Instance,
    handle: vk::SurfaceKHR,
    /// Must live as long as its surface.
    _window: Arc<dyn Any + Send + Sync>,
}

struct Images {
    swapchain: vk::SwapchainKHR,
    extent: vk::Extent2D,
    images: Vec<WindowImage>,
}

/// An image that belongs to the window system.
#[derive(Clone, Copy)]
struct WindowImage {
    handle: vk::Image,
    view: vk::ImageView,
    /// Semaphore that presentation waits for. There is one per image, not one per frame: only acquiring the
    /// image again proves that presentation has consumed it.
    rendered: vk::Semaphore,
}

impl Swapchain {
    /// Creates images for `window`, whose current size is `size` in pixels.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the device was opened without [`surface_extensions`]; [`Error::Unsupported`] if
    /// it cannot present to this window; an error of the window system.
    pub fn new<W>(device: &Device, window: Arc<W>, size: (u32, u32)) -> Result<Self>
    where
        W: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static,
    {
        if !device.shared.surfaces {
            return Err(Error::Misuse {
                object: "a window".into(),
                problem: "the device was opened without the extensions that surface_extensions lists".into(),
            });
        }
        let surface = Surface::new(device, window)?;
        let format = match surface.format(device) {
            Ok(format) => format,
            Err(error) => {
                surface.destroy();
                return Err(error);
            }
        };
        let loader = khr::swapchain::Device::new(&device.shared.instance.raw, &device.shared.raw);
        let empty = Slot { acquired: vk::Semaphore::null(), submission: 0 };
        let mut swapchain = Self {
            device: device.clone(),
            loader,
            surface,
            format,
            window_size: size,
            images: None,
            is_stale: true,
            slots: [empty; FRAMES_IN_FLIGHT],
            next_slot: 0,
        };
        for slot in &mut swapchain.slots {
            slot.acquired = semaphore(device)?;
        }
        swapchain.recreate()?;
        Ok(swapchain)
    }

    /// Sets the size of the window in pixels.
    pub fn resize(&mut self, size: (u32, u32)) {
        self.is_stale |= self.window_size != size;
        self.window_size = size;
    }

    /// Submits `recorder`, into which `image` was drawn, and shows the image, stretched to the window, with
    /// the overlay on top. It waits until fewer than two frames are in flight, so that the host does not run
    /// ahead of the display.
    ///
    /// # Errors
    /// A mistake made while recording, the device was lost, or the window was closed.
    pub fn present(
        &mut self,
        mut recorder: Recorder,
        image: &Image,
        overlay: Option<(&mut Overlay, OverlayFrame)>,
    ) -> Result<Presented> {
        let overlay = match overlay {
            // First, because egui relies on its textures even for frames that are never shown.
            Some((overlay, mut frame)) => {
                overlay.update_textures(&mut frame)?;
                Some((overlay, frame))
            }
            None => None,
        };
        let target = if recorder.mistake().is_some() { None } else { self.acquire()? };
        let Some((index, target, extent)) = target else {
            let submission = self.device.submit(recorder)?;
            if let Some((overlay, frame)) = overlay {
                overlay.finish(frame, submission.value());
            }
            return Ok(Presented { submission, is_shown: false });
        };

        let color = vk::ImageAspectFlags::COLOR;
        let (undefined, destination) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        recorder.transition(target.handle, color, undefined, destination);
        recorder.blit_to_window(image, target.handle, extent);
        let mut layout = destination;
        let mut drawn = Ok(());
        let mut finished = None;
        if let Some((overlay, frame)) = overlay {
            let attachment = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
            recorder.transition(target.handle, color, layout, attachment);
            drawn = overlay.draw(&mut recorder, &frame, target.view, extent);
            layout = attachment;
            finished = Some((overlay, frame));
        }
        recorder.transition(target.handle, color, layout, vk::ImageLayout::PRESENT_SRC_KHR);

        let slot = &mut self.slots[self.next_slot];
        let submission = self.device.submit_with(recorder, &[slot.acquired], &[target.rendered])?;
        slot.submission = submission.value();
        self.next_slot = (self.next_slot + 1) % FRAMES_IN_FLIGHT;
        if let Some((overlay, frame)) = finished {
            overlay.finish(frame, submission.value());
        }
        self.show(index, target.rendered)?;
        drawn?;
        Ok(Presented { submission, is_shown: true })
    }

    /// Acquires an image of the window, or returns none while none is available.
    fn acquire(&mut self) -> Result<Option<(u32, WindowImage, vk::Extent2D)>> {
        let slot = self.slots[self.next_slot];
        if slot.submission != 0 && !self.device.has_completed(slot.submission)? {
            self.device.wait_for(slot.submission)?;
        }
        // New images may be outdated immediately while a window is being resized; after a few attempts the
        // frame is dropped.
        for _ in 0..3 {
            if self.is_stale {
                self.recreate()?;
            }
            let Some(images) = &self.images else { return Ok(None) };
            // SAFETY: the semaphore is not in use: the frame that last waited for it has run.
            let acquired = unsafe {
                self.loader.acquire_next_image(
                    images.swapchain,
                    ACQUIRE_TIMEOUT_NS,
                    slot.acquired,
                    vk::Fence::null(),
                )
            };
            match acquired {
                Ok((index, is_suboptimal)) => {
                    self.is_stale = is_suboptimal;
                    return Ok(Some((index, images.images[index as usize], images.extent)));
                }
                Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => self.is_stale = true,
                Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(None),
                Err(result) => return Err(Error::call("acquire an image", "the window")(result)),
            }
        }
        Ok(None)
    }

    fn show(&mut self, index: u32, rendered: vk::Semaphore) -> Result<()> {
        let Some(images) = &self.images else { return Ok(()) };
        let (swapchains, indices, semaphores) = ([images.swapchain], [index], [rendered]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&swapchains)
            .image_indices(&indices);
        let presented = self.device.shared.timeline.with_queue(|queue| {
            // SAFETY: the image was acquired, and the submission before signals the semaphore; the queue is
            // ours alone here.
            unsafe { self.loader.queue_present(queue, &info) }
        });
        match presented {
            Ok(is_suboptimal) => self.is_stale |= is_suboptimal,
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => self.is_stale = true,
            Err(result) => return Err(Error::call("present", "the window")(result)),
        }
        Ok(())
    }

    /// Creates images for the current size of the window, or none if it has no area.
    fn recreate(&mut self) -> Result<()> {
        let capabilities = self.surface.capabilities(&self.device)?;
        let mut extent = capabilities.current_extent;
        if extent.width == u32::MAX {
            // The window takes the size of its images.
            let (min, max) = (capabilities.min_image_extent, capabilities.max_image_extent);
            extent.width = self.window_size.0.min(max.width).max(min.width);
            extent.height = self.window_size.1.min(max.height).max(min.height);
        }
        let old = self.images.take();
        if extent.width == 0 || extent.height == 0 {
            self.destroy_images(old);
            return Ok(());
        }
        let max = if capabilities.max_image_count == 0 { u32::MAX } else { capabilities.max_image_count };
        let opaque = vk::CompositeAlphaFlagsKHR::OPAQUE;
        let is_opaque = capabilities.supported_composite_alpha.contains(opaque);
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(self.surface.handle)
            .min_image_count((capabilities.min_image_count + 1).min(max))
            .image_format(self.format.format)
            .image_color_space(self.format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(if is_opaque { opaque } else { vk::CompositeAlphaFlagsKHR::INHERIT })
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(old.as_ref().map_or(vk::SwapchainKHR::null(), |images| images.swapchain));
        // SAFETY: format, usage and counts are within what the surface offers; FIFO always is.
        let swapchain = unsafe { self.loader.create_swapchain(&info, None) };
        self.destroy_images(old);
        let swapchain = swapchain.map_err(Error::call("create swapchain", "the window"))?;
        // Stored before it is filled, so that an error in between leaks nothing.
        let images = self.images.insert(Images { swapchain, extent, images: Vec::new() });
        // SAFETY: the swapchain was just created.
        let handles = unsafe { self.loader.get_swapchain_images(swapchain) }
            .map_err(Error::call("get images", "the window"))?;
        for handle in handles {
            let range = vk::ImageSubresourceRange::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .level_count(1)
                .layer_count(1);
            let info = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(self.format.format)
                .subresource_range(range);
            // SAFETY: the image belongs to the swapchain, which is alive.
            let view = unsafe { self.device.shared.raw.create_image_view(&info, None) }
                .map_err(Error::call("create image view", "the window"))?;
            images.images.push(WindowImage { handle, view, rendered: vk::Semaphore::null() });
            if let Some(image) = images.images.last_mut() {
                image.rendered = semaphore(&self.device)?;
            }
        }
        self.is_stale = false;
        Ok(())
    }

    /// Waits for the device and the window system, which may still use the images, and destroys them.
    fn destroy_images(&self, images: Option<Images>) {
        let Some(images) = images else { return };
        let device = &self.device.shared.raw;
        if !self.device.wait_for_queue() {
            return;
        }
        for image in &images.images {
            // SAFETY: nothing uses it any more.
            unsafe { device.destroy_image_view(image.view, None) };
            // SAFETY: as above; null is allowed.
            unsafe { device.destroy_semaphore(image.rendered, None) };
        }
        // SAFETY: as above.
        unsafe { self.loader.destroy_swapchain(images.swapchain, None) };
    }

    /// Creates an overlay to draw over the images of this window.
    ///
    /// # Errors
    /// The device rejects it.
    pub fn overlay(&self) -> Result<Overlay> {
        Overlay::new(&self.device, self.format.format)
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        if !self.device.wait_for_queue() {
            return;
        }
        let images = self.images.take();
        self.destroy_images(images);
        for slot in &self.slots {
            // SAFETY: the queue is idle; null is allowed.
            unsafe { self.device.shared.raw.destroy_semaphore(slot.acquired, None) };
        }
        self.surface.destroy();
    }
}

impl Surface {
    fn new<W>(device: &Device, window: Arc<W>) -> Result<Self>
    where
        W: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static,
    {
        let instance = &device.shared.instance;
        let display = window.display_handle().map_err(unusable_handle)?.as_raw();
        let raw_window = window.window_handle().map_err(unusable_handle)?.as_raw();
        // SAFETY: display and window are alive as long as `window`, which the surface holds.
        let created =
            unsafe { ash_window::create_surface(&instance.entry, &instance.raw, display, raw_window, None) };
        let handle = created.map_err(Error::call("create surface", "the window"))?;
        let loader = khr::surface::Instance::new(&instance.entry, &instance.raw);
        Ok(Self { loader, handle, _window: window })
    }

    fn capabilities(&self, device: &Device) -> Result<vk::SurfaceCapabilitiesKHR> {
        let physical = device.shared.candidate.handle;
        // SAFETY: device and surface are alive.
        unsafe { self.loader.get_physical_device_surface_capabilities(physical, self.handle) }
            .map_err(Error::call("query surface", "the window"))
    }

    /// Selects a format whose bytes are shown unchanged, since images are already encoded for a display; an
    /// error if the device cannot present to this window in such a format.
    fn format(&self, device: &Device) -> Result<vk::SurfaceFormatKHR> {
        let candidate = &device.shared.candidate;
        let lacks = |what: &str| Error::Unsupported {
            device: candidate.info.name.clone(),
            missing: vec![what.into()],
        };
        // SAFETY: device and surface are alive, the family is the one the device was created with.
        let can_present = unsafe {
            self.loader.get_physical_device_surface_support(
                candidate.handle,
                candidate.queue_family,
                self.handle,
            )
        };
        if !can_present.map_err(Error::call("query surface", "the window"))? {
            return Err(lacks("presenting to this window"));
        }
        let needed = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::COLOR_ATTACHMENT;
        if !self.capabilities(device)?.supported_usage_flags.contains(needed) {
            return Err(lacks("window images that can be copied and drawn to"));
        }
        // SAFETY: device and surface are alive.
        let formats =
            unsafe { self.loader.get_physical_device_surface_formats(candidate.handle, self.handle) }
                .map_err(Error::call("query surface formats", "the window"))?;
        let requested = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM];
        let find = |format: &vk::Format| {
            formats
                .iter()
                .find(|f| f.format == *format && f.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR)
                .copied()
        };
        requested.iter().find_map(find).ok_or_else(|| lacks("an 8-bit window format"))
    }

    fn destroy(&self) {
        // SAFETY: its swapchain, if there ever was one, is destroyed; called once, by the owner's drop or its
        // failed creation.
        unsafe { self.loader.destroy_surface(self.handle, None) };
    }
}

impl Recorder {
    /// Copies a whole colour image, scaled if the sizes differ, to a window's image, which must be in the
    /// transfer-destination layout.
    fn blit_to_window(&mut self, from: &Image, to: vk::Image, to_extent: vk::Extent2D) {
        let (width, height) = from.size();
        let bytes = 4 * (u64::from(width) * u64::from(height));
        self.begin_pass("present", [(Resource::Image(from), Use::TransferRead)], 2 * bytes);
        let corner = |width: u32, height: u32| vk::Offset3D { x: width as i32, y: height as i32, z: 1 };
        let region = [vk::ImageBlit::default()
            .src_subresource(from.layers())
            .src_offsets([vk::Offset3D::default(), corner(width, height)])
            .dst_subresource(from.layers())
            .dst_offsets([vk::Offset3D::default(), corner(to_extent.width, to_extent.height)])];
        let is_exact = (width, height) == (to_extent.width, to_extent.height);
        let filter = if is_exact { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let commands = self.commands();
        // SAFETY: `from` is in the general layout, as all of ours are; the caller has moved `to` to the one
        // named.
        unsafe {
            self.shared.raw.cmd_blit_image(
                commands,
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
}

fn semaphore(device: &Device) -> Result<vk::Semaphore> {
    // SAFETY: the device is alive.
    unsafe { device.shared.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }
        .map_err(Error::call("create semaphore", "the window"))
}

fn unusable_handle(error: HandleError) -> Error {
    Error::Misuse {
        object: "a window".into(),
        problem: format!("the window system gives no handle: {error}"),
    }
}
