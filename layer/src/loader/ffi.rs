//! The loader's layer interface, which ash does not declare: `vk_layer.h`.

use ash::vk::{self, TaggedStructure};
use std::ffi::{c_char, c_void};

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
    pub p_next: *mut c_void,
    pub loader_layer_interface_version: u32,
    pub get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    pub get_physical_device_proc_addr: Option<PfnGetPhysicalDeviceProcAddr>,
}

/// `VkLayerInstanceLink` or `VkLayerDeviceLink`: functions of the next layer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayerLink<F> {
    pub next: *mut Self,
    pub next_get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    /// `vk_layerGetPhysicalDeviceProcAddr` or `vkGetDeviceProcAddr`.
    pub next_get_proc_addr: Option<F>,
}

/// `VkLayerInstanceCreateInfo` or `VkLayerDeviceCreateInfo`. The union holds a pointer whatever `function` says.
#[repr(C)]
pub struct LayerCreateInfo<F> {
    pub s_type: vk::StructureType,
    pub p_next: *const c_void,
    pub function: i32,
    pub layer_info: *mut LayerLink<F>,
}

/// `VkLayerDeviceCreateInfo`.
pub type LayerDeviceCreateInfo = LayerCreateInfo<vk::PFN_vkGetDeviceProcAddr>;

// SAFETY: the structure starts with `sType` and `pNext`; the number is VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO.
unsafe impl TaggedStructure for LayerCreateInfo<PfnGetPhysicalDeviceProcAddr> {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(47);
}

// SAFETY: the structure starts with `sType` and `pNext`; the number is VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO.
unsafe impl TaggedStructure for LayerDeviceCreateInfo {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(48);
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<NegotiateLayerInterface>() == 48);
    assert!(size_of::<LayerLink<PfnGetPhysicalDeviceProcAddr>>() == 24);
    assert!(size_of::<LayerDeviceCreateInfo>() == 32);
};
