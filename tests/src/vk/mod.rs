//! The kit's Vulkan wrappers, and the commands of the test driver.

pub mod test_driver;

pub use vkabort_test_kit::vk::*;
