//! The images that the cube is drawn to: those of the window's swapchain, or without a window one of our own.

use crate::device::Device;
use crate::resources::Image;
use crate::swapchain::{Swapchain, TargetImage};
use anyhow::Result;
use ash::vk;
use std::rc::Rc;

/// Format of frames without a window.
const FORMAT: vk::Format = vk::Format::R8G8B8A8_SRGB;

/// The destination of frames.
pub enum Target {
    /// To a window.
    Window(Swapchain),
    /// To an image that is read for screenshots.
    Headless(Image),
}

impl Target {
    /// Creates a swapchain for the window, or an image.
    pub fn new(device: &Rc<Device>, size: vk::Extent2D) -> Result<Self> {
        if device.gpu.surface.is_some() {
            return Ok(Self::Window(Swapchain::new(device, size)?));
        }
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        Ok(Self::Headless(Image::new(device, "frame", FORMAT, size, usage)?))
    }

    /// Format of the images.
    pub fn format(&self) -> vk::Format {
        match self {
            Self::Window(swapchain) => swapchain.format(),
            Self::Headless(_) => FORMAT,
        }
    }

    /// Size of the images in pixels.
    pub fn extent(&self) -> vk::Extent2D {
        match self {
            Self::Window(swapchain) => swapchain.extent(),
            Self::Headless(image) => image.extent,
        }
    }

    /// Whether frames can be copied.
    pub fn is_readable(&self) -> bool {
        match self {
            Self::Window(swapchain) => swapchain.is_readable(),
            Self::Headless(_) => true,
        }
    }

    /// The next image; none if the swapchain no longer fits the window. Signals `acquired` when a swapchain's image may be
    /// written.
    pub fn acquire(&mut self, acquired: vk::Semaphore) -> Result<Option<TargetImage>> {
        match self {
            Self::Window(swapchain) => swapchain.acquire(acquired),
            Self::Headless(image) => Ok(Some(TargetImage {
                image: image.raw,
                view: image.view,
                extent: image.extent,
                layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                present: None,
            })),
        }
    }

    /// Presents a submitted frame. Returns whether the swapchain still fits the window.
    pub fn present(&mut self, image: &TargetImage) -> Result<bool> {
        match (self, image.present) {
            (Self::Window(swapchain), Some(present)) => swapchain.present(present),
            _ => Ok(true),
        }
    }
}
