//! The functions of the next layer that the handling of a loss calls.
#![allow(non_snake_case, missing_docs, reason = "the names of Vulkan's commands")]

use ash::vk;

/// See `layer/src/loader/dispatch.rs`.
pub struct DeviceTable {
    pub vkCreateFence: Option<vk::PFN_vkCreateFence>,
    pub vkDeviceWaitIdle: Option<vk::PFN_vkDeviceWaitIdle>,
    pub vkGetFenceStatus: Option<vk::PFN_vkGetFenceStatus>,
    pub vkQueueSubmit: Option<vk::PFN_vkQueueSubmit>,
    pub vkResetFences: Option<vk::PFN_vkResetFences>,
    pub vkWaitForFences: Option<vk::PFN_vkWaitForFences>,
}
