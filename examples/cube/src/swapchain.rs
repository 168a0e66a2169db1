//! The swapchain of the window, and the images that frames are drawn to.

use crate::device::Device;
use crate::resources;
use crate::surface::Surface;
use anyhow::{Context, Result};
use ash::{khr, vk};
use std::rc::Rc;

/// The image of a frame.
#[derive(Clone, Copy)]
pub struct TargetImage {
    /// The image.
    pub image: vk::Image,
    /// Its view.
    pub view: vk::ImageView,
    /// Its size in pixels.
    pub extent: vk::Extent2D,
    /// Its layout when the frame is complete.
    pub layout: vk::ImageLayout,
    /// The part in presentation, if there is a window.
    pub present: Option<Present>,
}

/// The part of a swapchain's image in presentation.
#[derive(Clone, Copy)]
pub struct Present {
    /// Number of the image in the swapchain.
    pub index: u32,
    /// Signalled when the frame is complete.
    pub complete: vk::Semaphore,
}

/// A swapchain with the views and semaphores of its images.
pub struct Swapchain {
    device: Rc<Device>,
    functions: khr::swapchain::Device,
    raw: vk::SwapchainKHR,
    format: vk::Format,
    extent: vk::Extent2D,
    is_readable: bool,
    images: Vec<SwapchainImage>,
}

struct SwapchainImage {
    image: vk::Image,
    view: vk::ImageView,
    /// Presentation waits for it. One for each image: it may be signalled again once the image has been acquired again,
    /// which shows that its presentation has ended.
    complete: vk::Semaphore,
}

impl Swapchain {
    /// Creates a swapchain. `size` is used where the surface leaves the choice.
    pub fn new(device: &Rc<Device>, size: vk::Extent2D) -> Result<Self> {
        let mut swapchain = Self {
            device: device.clone(),
            functions: khr::swapchain::Device::new(&device.gpu.instance, &device.raw),
            raw: vk::SwapchainKHR::null(),
            format: vk::Format::UNDEFINED,
            extent: size,
            is_readable: false,
            images: Vec::new(),
        };
        swapchain.create(size, vk::SwapchainKHR::null())?;
        Ok(swapchain)
    }

    /// Format of the images.
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// Size of the images in pixels.
    pub fn extent(&self) -> vk::Extent2D {
        self.extent
    }

    /// Whether the images can be copied.
    pub fn is_readable(&self) -> bool {
        self.is_readable
    }

    /// Replaces the images after a change of the window. The device must be idle.
    pub fn recreate(&mut self, size: vk::Extent2D) -> Result<()> {
        let old = std::mem::take(&mut self.raw);
        self.destroy_images();
        let created = self.create(size, old);
        // SAFETY: the device is idle, and no image of the old swapchain is in use.
        unsafe { self.functions.destroy_swapchain(old, None) };
        created
    }

    fn create(&mut self, size: vk::Extent2D, old: vk::SwapchainKHR) -> Result<()> {
        let (gpu, device) = (&self.device.gpu, &self.device.raw);
        let surface = gpu.surface.as_ref().context("there is no window")?;
        // SAFETY: the surface is alive, and the physical device supports it.
        let capabilities = unsafe {
            let functions = &surface.functions;
            functions.get_physical_device_surface_capabilities(gpu.physical, surface.raw)?
        };
        let format = choose_format(gpu.physical, surface)?;
        let (least, most) = (capabilities.min_image_extent, capabilities.max_image_extent);
        let extent = match capabilities.current_extent.width {
            u32::MAX => vk::Extent2D {
                width: size.width.clamp(least.width, most.width),
                height: size.height.clamp(least.height, most.height),
            },
            _ => capabilities.current_extent,
        };
        let images = match capabilities.max_image_count {
            0 => capabilities.min_image_count + 1,
            most => (capabilities.min_image_count + 1).min(most),
        };
        let readable = capabilities.supported_usage_flags & vk::ImageUsageFlags::TRANSFER_SRC;
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.raw)
            .min_image_count(images)
            .image_format(format.format)
            .image_color_space(format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | readable)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            // Every device supports it.
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(old);
        // SAFETY: `info` follows from the surface's capabilities.
        self.raw = unsafe { self.functions.create_swapchain(&info, None) }?;
        (self.format, self.extent) = (format.format, extent);
        self.is_readable = !readable.is_empty();
        // SAFETY: the swapchain was just created.
        for image in unsafe { self.functions.get_swapchain_images(self.raw) }? {
            let view = resources::view(&self.device, image, self.format, vk::ImageAspectFlags::COLOR)?;
            // SAFETY: the structure is valid for the call.
            let complete = unsafe { device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) };
            self.images.push(SwapchainImage {
                image,
                view,
                complete: complete?,
            });
        }
        Ok(())
    }

    /// The next image; none if the swapchain no longer fits the window. Signals `acquired` when the image may be written.
    pub fn acquire(&mut self, acquired: vk::Semaphore) -> Result<Option<TargetImage>> {
        // SAFETY: the swapchain is alive, and the semaphore neither signalled nor waited for.
        let result = unsafe {
            self.functions
                .acquire_next_image(self.raw, u64::MAX, acquired, vk::Fence::null())
        };
        let index = match result {
            // A suboptimal image can be drawn to; presenting it says so again.
            Ok((index, _)) => index,
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let image = self.images.get(index as usize).context("unknown swapchain image")?;
        Ok(Some(TargetImage {
            image: image.image,
            view: image.view,
            extent: self.extent,
            layout: vk::ImageLayout::PRESENT_SRC_KHR,
            present: Some(Present {
                index,
                complete: image.complete,
            }),
        }))
    }

    /// Presents an image when its frame is complete. Returns whether the swapchain still fits the window.
    pub fn present(&mut self, present: Present) -> Result<bool> {
        let (swapchains, indices, semaphores) = ([self.raw], [present.index], [present.complete]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&swapchains)
            .image_indices(&indices);
        // SAFETY: the image is acquired, and the submitted frame signals the semaphore.
        match unsafe { self.functions.queue_present(self.device.queue, &info) } {
            Ok(is_suboptimal) => Ok(!is_suboptimal),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn destroy_images(&mut self) {
        for image in self.images.drain(..) {
            // SAFETY: the device is idle or lost.
            unsafe {
                self.device.raw.destroy_image_view(image.view, None);
                self.device.raw.destroy_semaphore(image.complete, None);
            }
        }
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        self.destroy_images();
        // SAFETY: the renderer has waited for the device, or the device is lost.
        unsafe { self.functions.destroy_swapchain(self.raw, None) };
    }
}

/// An sRGB format if there is one: the shaders compute linear colours.
fn choose_format(physical: vk::PhysicalDevice, surface: &Surface) -> Result<vk::SurfaceFormatKHR> {
    // SAFETY: the surface is alive, and the physical device supports it.
    let formats = unsafe {
        surface
            .functions
            .get_physical_device_surface_formats(physical, surface.raw)
    }?;
    let is_srgb = |format: &&vk::SurfaceFormatKHR| {
        [vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_SRGB].contains(&format.format)
    };
    let chosen = formats.iter().find(is_srgb).or(formats.first());
    chosen.copied().context("the surface has no formats")
}
