//! Typed wrappers over ash: enough Vulkan for headless compute, rendering and ray tracing. Objects borrow their device,
//! so drop order is destruction order.

mod buffer;
mod cache;
mod compute;
mod device;
pub mod generated_commands;
mod gpu;
mod graphics;
mod graphics_state;
mod image;
mod instance_owner;
mod owner;
mod ray;
mod scene;
mod submission;
pub mod test_driver;
mod word_kernel;

pub use buffer::Buffer;
pub use cache::Cache;
pub use compute::{Kernel, specialization, stage};
pub use device::{Device, DeviceOptions, More, with_create_info};
pub use gpu::{Chained, DEVICE_VARIABLE, Gpu, candidate, version};
pub use graphics::{Pass, Stage, Way};
pub use graphics_state::GraphicsState;
pub use image::Image;
pub use instance_owner::Messenger;
pub use owner::Owner;
pub use ray::{RAY_STAGES, Rays, groups};
pub use scene::Scene;
pub use submission::{Compiled, Submission, compile_only};
pub use vk_ext as khr;
pub use word_kernel::WordKernel;

use ash::vk::Result as VkResult;

/// Result code of a call, `VK_SUCCESS` included.
pub fn code<T>(result: ash::prelude::VkResult<T>) -> VkResult {
    result.err().unwrap_or(VkResult::SUCCESS)
}
