//! A thin layer of types over ash: enough Vulkan for headless compute and rendering, with destruction in the right
//! order by borrowing.

mod buffer;
mod compute;
mod device;
mod gpu;
mod graphics;
mod image;
pub mod own;
mod ray;
mod scene;

pub use buffer::Buffer;
pub use compute::{Kernel, Submission, stage};
pub use device::{Device, DeviceOptions, More};
pub use gpu::{Chained, Gpu, Messenger, candidate};
pub use graphics::{Pass, Stage, Way};
pub use image::Image;
pub use ray::{RAY_STAGES, Rays, groups};
pub use scene::Scene;
pub use vk_ext as khr;

use ash::vk::Result as VkResult;

/// The result code of a call, success included.
pub fn code<T>(result: ash::prelude::VkResult<T>) -> VkResult {
    result.err().unwrap_or(VkResult::SUCCESS)
}
