//! The C structures that ash does not know: the loader's layer interface, and the three extensions.

use ash::vk;
use std::ffi::{c_char, c_void};

/// `VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO`.
pub const LOADER_INSTANCE_CREATE_INFO: vk::StructureType = vk::StructureType::from_raw(47);
/// `VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO`.
pub const LOADER_DEVICE_CREATE_INFO: vk::StructureType = vk::StructureType::from_raw(48);
/// `LAYER_NEGOTIATE_INTERFACE_STRUCT`.
pub const LAYER_NEGOTIATE_INTERFACE_STRUCT: i32 = 1;
/// `VK_LAYER_LINK_INFO`.
pub const LAYER_LINK_INFO: i32 = 0;

/// `PFN_GetPhysicalDeviceProcAddr`.
pub type PfnGetPhysicalDeviceProcAddr =
    unsafe extern "system" fn(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction;

/// `VkNegotiateLayerInterface`.
#[repr(C)]
pub struct NegotiateLayerInterface {
    pub s_type: i32,
    pub next: *mut c_void,
    pub loader_layer_interface_version: u32,
    pub get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    pub get_physical_device_proc_addr: Option<PfnGetPhysicalDeviceProcAddr>,
}

/// `VkLayerInstanceLink`.
#[repr(C)]
pub struct LayerInstanceLink {
    pub next: *mut LayerInstanceLink,
    pub next_get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub next_get_physical_device_proc_addr: Option<PfnGetPhysicalDeviceProcAddr>,
}

/// `VkLayerInstanceCreateInfo`, as far as `VK_LAYER_LINK_INFO` uses it.
#[repr(C)]
pub struct LayerInstanceCreateInfo {
    pub s_type: vk::StructureType,
    pub next: *const c_void,
    pub function: i32,
    pub layer_info: *mut LayerInstanceLink,
}

/// `VkLayerDeviceLink`.
#[repr(C)]
pub struct LayerDeviceLink {
    pub next: *mut LayerDeviceLink,
    pub next_get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub next_get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
}

/// `VkLayerDeviceCreateInfo`: the union holds one pointer whatever `function` says.
#[repr(C)]
pub struct LayerDeviceCreateInfo {
    pub s_type: vk::StructureType,
    pub next: *const c_void,
    pub function: i32,
    pub layer_info: *mut LayerDeviceLink,
}

/// Names of the three extensions.
pub mod name {
    use std::ffi::CStr;
    /// `VK_KHR_SHADER_ABORT_EXTENSION_NAME`.
    pub const SHADER_ABORT: &CStr = c"VK_KHR_shader_abort";
    /// `VK_KHR_DEVICE_FAULT_EXTENSION_NAME`.
    pub const DEVICE_FAULT: &CStr = c"VK_KHR_device_fault";
    /// `VK_KHR_SHADER_CONSTANT_DATA_EXTENSION_NAME`.
    pub const SHADER_CONSTANT_DATA: &CStr = c"VK_KHR_shader_constant_data";
}

/// `VK_KHR_SHADER_ABORT_SPEC_VERSION`, and those of the other two: all are 1.
pub const SPEC_VERSION: u32 = 1;

/// Structure types of the three extensions.
pub mod stype {
    use ash::vk::StructureType;
    const fn of(extension: i32, offset: i32) -> StructureType {
        StructureType::from_raw(1_000_000_000 + (extension - 1) * 1000 + offset)
    }
    pub const SHADER_CONSTANT_DATA_FEATURES: StructureType = of(232, 0);
    pub const SHADER_ABORT_FEATURES: StructureType = of(234, 0);
    pub const SHADER_ABORT_MESSAGE_INFO: StructureType = of(234, 1);
    pub const SHADER_ABORT_PROPERTIES: StructureType = of(234, 2);
    pub const FAULT_FEATURES: StructureType = of(574, 0);
    pub const FAULT_PROPERTIES: StructureType = of(574, 1);
    pub const FAULT_INFO: StructureType = of(574, 2);
    pub const FAULT_DEBUG_INFO: StructureType = of(574, 3);
    /// `VkPipelineCreateInfoKHR` of `VK_KHR_pipeline_binary`.
    pub const PIPELINE_CREATE_INFO: StructureType = of(484, 7);
}

/// `VK_ERROR_NOT_ENOUGH_SPACE_KHR`.
pub const ERROR_NOT_ENOUGH_SPACE: vk::Result = vk::Result::from_raw(-1_000_483_000);

/// `VkPhysicalDeviceShaderAbortFeaturesKHR` and `VkPhysicalDeviceShaderConstantDataFeaturesKHR`: one feature each.
#[repr(C)]
pub struct OneFeature {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
    pub feature: vk::Bool32,
}

/// `VkPhysicalDeviceFaultFeaturesKHR`.
#[repr(C)]
pub struct FaultFeatures {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
    pub device_fault: vk::Bool32,
    pub device_fault_vendor_binary: vk::Bool32,
    pub device_fault_report_masked: vk::Bool32,
    pub device_fault_device_lost_on_masked: vk::Bool32,
}

/// `VkPhysicalDeviceShaderAbortPropertiesKHR`.
#[repr(C)]
pub struct ShaderAbortProperties {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
    pub max_shader_abort_message_size: u64,
}

/// `VkPhysicalDeviceFaultPropertiesKHR`.
#[repr(C)]
pub struct FaultProperties {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
    pub max_device_fault_count: u32,
}

/// `VkDeviceFaultFlagBitsKHR`.
pub mod fault_flag {
    pub const DEVICE_LOST: u32 = 1;
    pub const MEMORY_ADDRESS: u32 = 2;
    pub const INSTRUCTION_ADDRESS: u32 = 4;
    pub const VENDOR: u32 = 8;
    pub const WATCHDOG_TIMEOUT: u32 = 16;
}

/// `VkDeviceFaultAddressInfoKHR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultAddressInfo {
    pub address_type: i32,
    pub reported_address: u64,
    pub address_precision: u64,
}

/// `VkDeviceFaultVendorInfoKHR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultVendorInfo {
    pub description: [c_char; vk::MAX_DESCRIPTION_SIZE],
    pub vendor_fault_code: u64,
    pub vendor_fault_data: u64,
}

/// `VkDeviceFaultInfoKHR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FaultInfo {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
    pub flags: u32,
    pub group_id: u64,
    pub description: [c_char; vk::MAX_DESCRIPTION_SIZE],
    pub fault_address: FaultAddressInfo,
    pub instruction_address: FaultAddressInfo,
    pub vendor: FaultVendorInfo,
}

/// `VkDeviceFaultDebugInfoKHR`.
#[repr(C)]
pub struct FaultDebugInfo {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
    pub vendor_binary_size: u32,
    pub vendor_binary_data: *mut c_void,
}

/// `VkDeviceFaultShaderAbortMessageInfoKHR`.
#[repr(C)]
pub struct ShaderAbortMessageInfo {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
    pub message_data_size: u64,
    pub message_data: *mut c_void,
}

/// `vkGetDeviceFaultReportsKHR`.
pub type PfnGetDeviceFaultReports = unsafe extern "system" fn(
    device: vk::Device,
    timeout: u64,
    fault_count: *mut u32,
    fault_info: *mut FaultInfo,
) -> vk::Result;
/// `vkGetDeviceFaultDebugInfoKHR`.
pub type PfnGetDeviceFaultDebugInfo =
    unsafe extern "system" fn(device: vk::Device, debug_info: *mut FaultDebugInfo) -> vk::Result;

/// `VkPresentWait2InfoKHR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PresentWait2Info {
    pub s_type: vk::StructureType,
    pub next: *const c_void,
    pub present_id: u64,
    pub timeout: u64,
}

/// `VkPipelineCreateInfoKHR`: the create-info of a pipeline is chained to it.
#[repr(C)]
pub struct PipelineCreateInfo {
    pub s_type: vk::StructureType,
    pub next: *mut c_void,
}

/// `VkPipelineBinaryCreateInfoKHR`; keys and data are passed on unread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PipelineBinaryCreateInfo {
    pub s_type: vk::StructureType,
    pub next: *const c_void,
    pub keys_and_data: *const c_void,
    pub pipeline: vk::Pipeline,
    pub pipeline_create_info: *const PipelineCreateInfo,
}

/// `vkGetPipelineKeyKHR`; the key is passed on unread.
pub type PfnGetPipelineKey =
    unsafe extern "system" fn(device: vk::Device, info: *const PipelineCreateInfo, key: *mut c_void) -> vk::Result;
/// `vkCreatePipelineBinariesKHR`; the binaries are passed on unread.
pub type PfnCreatePipelineBinaries = unsafe extern "system" fn(
    device: vk::Device,
    info: *const PipelineBinaryCreateInfo,
    allocator: *const vk::AllocationCallbacks<'_>,
    binaries: *mut c_void,
) -> vk::Result;

/// `vkWaitForPresent2KHR`.
pub type PfnWaitForPresent2 = unsafe extern "system" fn(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    info: *const PresentWait2Info,
) -> vk::Result;
/// `vkGetPastPresentationTimingEXT`; its structures are passed on unread.
pub type PfnGetPastPresentationTimingExt =
    unsafe extern "system" fn(device: vk::Device, info: *const c_void, properties: *mut c_void) -> vk::Result;
/// `vkQueueSetPerfHintQCOM`; its structure is passed on unread.
pub type PfnQueueSetPerfHint = unsafe extern "system" fn(queue: vk::Queue, info: *const c_void) -> vk::Result;

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn structures_have_the_layout_of_the_c_headers() {
        assert_eq!(size_of::<NegotiateLayerInterface>(), 48);
        assert_eq!(size_of::<LayerDeviceCreateInfo>(), 32);
        assert_eq!(offset_of!(FaultInfo, group_id), 24);
        assert_eq!(offset_of!(FaultInfo, fault_address), 288);
        assert_eq!(size_of::<FaultAddressInfo>(), 24);
        assert_eq!(size_of::<FaultVendorInfo>(), 272);
        assert_eq!(size_of::<FaultInfo>(), 608);
        assert_eq!(size_of::<FaultDebugInfo>(), 32);
        assert_eq!(size_of::<ShaderAbortMessageInfo>(), 32);
        assert_eq!(stype::SHADER_ABORT_FEATURES.as_raw(), 1_000_233_000);
        assert_eq!(stype::FAULT_DEBUG_INFO.as_raw(), 1_000_573_003);
        assert_eq!(stype::PIPELINE_CREATE_INFO.as_raw(), 1_000_483_007);
        assert_eq!(size_of::<PipelineBinaryCreateInfo>(), 40);
    }
}
