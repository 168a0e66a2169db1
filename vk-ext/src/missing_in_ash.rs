//! Other structures and commands that are newer than ash 0.38.

use crate::tagged;
use ash::vk;
use std::ffi::c_void;

tagged! {
    /// `VkPresentWait2InfoKHR`.
    PresentWait2Info = 1_000_480_002, extends [], 32 bytes {
        /// The present ID to wait for.
        present_id: u64,
        /// Timeout in nanoseconds.
        timeout: u64,
    }
}
tagged! {
    /// `VkPipelineCreateInfoKHR`. The create-info of a pipeline is chained to it.
    PipelineCreateInfo = 1_000_483_007, extends [], 16 bytes {}
}
tagged! {
    /// `VkPipelineBinaryCreateInfoKHR`.
    PipelineBinaryCreateInfo = 1_000_483_001, extends [], 40 bytes {
        /// `VkPipelineBinaryKeysAndDataKHR`, not declared here.
        p_keys_and_data_info: *const c_void,
        /// The pipeline whose binaries are captured, or null.
        pipeline: vk::Pipeline,
        /// The pipeline whose binaries are looked up in the driver's cache, or null.
        p_pipeline_create_info: *const PipelineCreateInfo,
    }
}

/// `VK_ERROR_NOT_ENOUGH_SPACE_KHR`.
pub const ERROR_NOT_ENOUGH_SPACE: vk::Result = vk::Result::from_raw(-1_000_483_000);

/// `PFN_vkGetPipelineKeyKHR`. `key` is a `VkPipelineBinaryKeyKHR`, not declared here.
pub type GetPipelineKey =
    unsafe extern "system" fn(vk::Device, info: *const PipelineCreateInfo, key: *mut c_void) -> vk::Result;
/// `PFN_vkCreatePipelineBinariesKHR`. `binaries` is a `VkPipelineBinaryHandlesInfoKHR`, not declared here.
pub type CreatePipelineBinaries = unsafe extern "system" fn(
    vk::Device,
    info: *const PipelineBinaryCreateInfo,
    allocator: *const vk::AllocationCallbacks<'_>,
    binaries: *mut c_void,
) -> vk::Result;
/// `PFN_vkWaitForPresent2KHR`.
pub type WaitForPresent2 =
    unsafe extern "system" fn(vk::Device, vk::SwapchainKHR, info: *const PresentWait2Info) -> vk::Result;
/// `PFN_vkGetPastPresentationTimingEXT`. Its structures are not declared here.
pub type GetPastPresentationTiming =
    unsafe extern "system" fn(vk::Device, info: *const c_void, properties: *mut c_void) -> vk::Result;
/// `PFN_vkQueueSetPerfHintQCOM`. Its structure is not declared here.
pub type QueueSetPerfHint = unsafe extern "system" fn(vk::Queue, info: *const c_void) -> vk::Result;
