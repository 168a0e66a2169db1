//! A thin layer of types over ash: enough Vulkan for headless compute and rendering, with destruction in the right
//! order by borrowing.

mod buffer;
mod compute;
mod device;
mod gpu;
mod graphics;
pub mod own;

pub use buffer::Buffer;
pub use compute::{Kernel, Submission};
pub use device::{Device, DeviceOptions};
pub use gpu::Gpu;
pub use graphics::{Image, Pass};
pub use vkabort_demo::khr;

use ash::vk::Result as VkResult;

/// The result code of a call, success included.
pub fn code<T>(result: ash::prelude::VkResult<T>) -> VkResult {
    result.err().unwrap_or(VkResult::SUCCESS)
}
