//! The loader's layer interface, which ash does not declare: `vk_layer.h`. Arrays and strings of the API.

use ash::vk::{self, TaggedStructure};
use std::ffi::{CStr, c_char, c_void};
use std::slice;

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

/// The elements of an array. Empty if `list` is null. Where `count` is 0, `list` may be any pointer.
///
/// # Safety
/// `list` must be null or have `count` elements, which outlive the result.
pub unsafe fn elements<'a, T>(list: *const T, count: u32) -> &'a [T] {
    if list.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: `count` elements (the caller's contract).
    unsafe { slice::from_raw_parts(list, count as usize) }
}

/// A string. None if `text` is null.
///
/// # Safety
/// `text` must be null or null-terminated, and outlive the result.
pub unsafe fn string<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: null-terminated (the caller's contract).
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<NegotiateLayerInterface>() == 48);
    assert!(size_of::<LayerLink<PfnGetPhysicalDeviceProcAddr>>() == 24);
    assert!(size_of::<LayerDeviceCreateInfo>() == 32);
};
