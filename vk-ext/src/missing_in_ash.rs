//! Other structures and commands that are newer than ash 0.38.

use crate::tagged;
use ash::vk;
use std::ffi::{CStr, c_void};

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
    /// `VkPhysicalDevicePipelineBinaryFeaturesKHR`.
    PipelineBinaryFeatures = 1_000_483_000, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo], 24 bytes {
        /// Pipeline binaries can be created.
        pipeline_binaries: vk::Bool32,
    }
}
tagged! {
    /// `VkPipelineBinaryInfoKHR`.
    PipelineBinaryInfo = 1_000_483_002, extends [ExtendsComputePipelineCreateInfo, ExtendsGraphicsPipelineCreateInfo], 32 bytes {
        /// Number of binaries.
        binary_count: u32,
        /// Binaries that replace the pipeline's shaders.
        p_pipeline_binaries: *const u64,
    }
}
tagged! {
    /// `VkPipelineBinaryKeyKHR`.
    PipelineBinaryKey = 1_000_483_003, extends [], 56 bytes {
        /// Size in bytes, at most 32.
        key_size: u32,
        /// The key.
        key: [u8; 32],
    }
}
tagged! {
    /// `VkPipelineBinaryDataInfoKHR`.
    PipelineBinaryDataInfo = 1_000_483_006, extends [], 24 bytes {
        /// The binary.
        pipeline_binary: u64,
    }
}
tagged! {
    /// `VkPipelineBinaryHandlesInfoKHR`.
    PipelineBinaryHandlesInfo = 1_000_483_009, extends [], 32 bytes {
        /// Number of binaries.
        pipeline_binary_count: u32,
        /// Null, or an array of that many handles.
        p_pipeline_binaries: *mut u64,
    }
}
/// `VkPipelineBinaryKeysAndDataKHR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PipelineBinaryKeysAndData {
    /// Number of elements of both arrays.
    pub binary_count: u32,
    /// The keys.
    pub p_pipeline_binary_keys: *const PipelineBinaryKey,
    /// The data: `VkPipelineBinaryDataKHR`, a size in bytes and an address.
    pub p_pipeline_binary_data: *const (usize, *const c_void),
}
tagged! {
    /// `VkPipelineBinaryCreateInfoKHR`.
    PipelineBinaryCreateInfo = 1_000_483_001, extends [], 40 bytes {
        /// Data that was read from other binaries, or null.
        p_keys_and_data_info: *const PipelineBinaryKeysAndData,
        /// The pipeline whose binaries are captured, or null.
        pipeline: vk::Pipeline,
        /// The pipeline whose binaries are looked up in the driver's cache, or null.
        p_pipeline_create_info: *const PipelineCreateInfo,
    }
}

tagged! {
    /// `VkPhysicalDeviceDescriptorHeapFeaturesEXT`.
    DescriptorHeapFeatures = 1_000_135_009, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo], 24 bytes {
        /// Descriptors can be in heaps.
        descriptor_heap: vk::Bool32,
        /// Their opaque data can be captured.
        descriptor_heap_capture_replay: vk::Bool32,
    }
}
tagged! {
    /// `VkDescriptorSetAndBindingMappingEXT`.
    DescriptorMapping = 1_000_135_005, extends [], 96 bytes {
        /// Set of the bindings.
        descriptor_set: u32,
        /// The first binding.
        first_binding: u32,
        /// Number of bindings.
        binding_count: u32,
        /// `VkSpirvResourceTypeFlagsEXT`.
        resource_mask: u32,
        /// `VkDescriptorMappingSourceEXT`.
        source: u32,
        /// `VkDescriptorMappingSourceDataEXT`, a union.
        source_data: [u64; 7],
    }
}
tagged! {
    /// `VkShaderDescriptorSetAndBindingMappingInfoEXT`.
    ShaderDescriptorMappings = 1_000_135_006, extends [ExtendsPipelineShaderStageCreateInfo], 32 bytes {
        /// Number of mappings.
        mapping_count: u32,
        /// The mappings of a stage's bindings to heaps.
        p_mappings: *const DescriptorMapping,
    }
}

/// `VK_EXT_DESCRIPTOR_HEAP_EXTENSION_NAME`.
pub const DESCRIPTOR_HEAP_NAME: &CStr = c"VK_EXT_descriptor_heap";
/// `VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT`.
pub const DESCRIPTOR_HEAP: vk::PipelineCreateFlags2KHR = vk::PipelineCreateFlags2KHR::from_raw(1 << 36);
/// `VK_KHR_PIPELINE_BINARY_EXTENSION_NAME`.
pub const PIPELINE_BINARY_NAME: &CStr = c"VK_KHR_pipeline_binary";
/// `VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR`.
pub const CAPTURE_DATA: vk::PipelineCreateFlags2KHR = vk::PipelineCreateFlags2KHR::from_raw(1 << 31);
/// `VK_ERROR_NOT_ENOUGH_SPACE_KHR`.
pub const ERROR_NOT_ENOUGH_SPACE: vk::Result = vk::Result::from_raw(-1_000_483_000);

/// `PFN_vkGetPipelineKeyKHR`.
pub type GetPipelineKey =
    unsafe extern "system" fn(vk::Device, info: *const PipelineCreateInfo, key: *mut PipelineBinaryKey) -> vk::Result;
/// `PFN_vkGetPipelineBinaryDataKHR`.
pub type GetPipelineBinaryData = unsafe extern "system" fn(
    vk::Device,
    info: *const PipelineBinaryDataInfo,
    key: *mut PipelineBinaryKey,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result;
/// `PFN_vkCreatePipelineBinariesKHR`.
pub type CreatePipelineBinaries = unsafe extern "system" fn(
    vk::Device,
    info: *const PipelineBinaryCreateInfo,
    allocator: *const vk::AllocationCallbacks<'_>,
    binaries: *mut PipelineBinaryHandlesInfo,
) -> vk::Result;
/// `PFN_vkWaitForPresent2KHR`.
pub type WaitForPresent2 =
    unsafe extern "system" fn(vk::Device, vk::SwapchainKHR, info: *const PresentWait2Info) -> vk::Result;
/// `PFN_vkGetPastPresentationTimingEXT`. Its structures are not declared here.
pub type GetPastPresentationTiming =
    unsafe extern "system" fn(vk::Device, info: *const c_void, properties: *mut c_void) -> vk::Result;
/// `PFN_vkQueueSetPerfHintQCOM`. Its structure is not declared here.
pub type QueueSetPerfHint = unsafe extern "system" fn(vk::Queue, info: *const c_void) -> vk::Result;
/// A command that takes a command buffer and one structure, which is not declared here: `PFN_vkCmdDrawIndirect2KHR` and others.
pub type CmdWithInfo = unsafe extern "system" fn(vk::CommandBuffer, info: *const c_void);
/// `PFN_vkCmdExecuteGeneratedCommandsEXT`. Its structure is not declared here.
pub type CmdExecuteGeneratedCommands = unsafe extern "system" fn(vk::CommandBuffer, vk::Bool32, info: *const c_void);
/// `PFN_vkCmdDrawIndirectByteCount2EXT`. Its structure is not declared here.
pub type CmdDrawIndirectByteCount2 =
    unsafe extern "system" fn(vk::CommandBuffer, u32, u32, info: *const c_void, u32, u32);
/// `PFN_vkCmdDispatchGraphAMDX` and `PFN_vkCmdDispatchGraphIndirectAMDX`, whose second version has a size behind the address.
pub type CmdDispatchGraph =
    unsafe extern "system" fn(vk::CommandBuffer, vk::DeviceAddress, vk::DeviceSize, counts: *const c_void);
/// `PFN_vkCmdDispatchGraphIndirectCountAMDX`, as [`CmdDispatchGraph`].
pub type CmdDispatchGraphIndirectCount =
    unsafe extern "system" fn(vk::CommandBuffer, vk::DeviceAddress, vk::DeviceSize, vk::DeviceAddress);
