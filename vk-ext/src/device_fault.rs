//! `VK_KHR_device_fault`: structures and function types.

use crate::{ShaderAbortMessageInfo, tagged};
use ash::vk;
use std::ffi::{c_char, c_void};
use std::ptr;

/// `VkDeviceFaultFlagBitsKHR`.
pub mod fault_flags {
    /// The device is lost; no further report follows.
    pub const DEVICE_LOST: u32 = 1 << 0;
    /// `faultAddressInfo` is set.
    pub const MEMORY_ADDRESS: u32 = 1 << 1;
    /// `instructionAddressInfo` is set.
    pub const INSTRUCTION_ADDRESS: u32 = 1 << 2;
    /// `vendorInfo` is set.
    pub const VENDOR: u32 = 1 << 3;
    /// The GPU exceeded a time limit.
    pub const WATCHDOG_TIMEOUT: u32 = 1 << 4;
    /// Earlier reports were dropped.
    pub const OVERFLOW: u32 = 1 << 5;

    /// The names of the bits in `flags`, joined with `|`.
    pub fn names(flags: u32) -> String {
        let bits = [
            (DEVICE_LOST, "DEVICE_LOST"),
            (MEMORY_ADDRESS, "MEMORY_ADDRESS"),
            (INSTRUCTION_ADDRESS, "INSTRUCTION_ADDRESS"),
            (VENDOR, "VENDOR"),
            (WATCHDOG_TIMEOUT, "WATCHDOG_TIMEOUT"),
            (OVERFLOW, "OVERFLOW"),
        ];
        let set: Vec<&str> = bits
            .iter()
            .filter(|(bit, _)| flags & bit != 0)
            .map(|(_, name)| *name)
            .collect();
        if set.is_empty() { "0".into() } else { set.join("|") }
    }
}

tagged! {
    /// `VkPhysicalDeviceFaultFeaturesKHR`.
    FaultFeatures = 1_000_573_000, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo], 32 bytes {
        /// Enables fault queries.
        device_fault: vk::Bool32,
        /// Enables queries of vendor binaries.
        device_fault_vendor_binary: vk::Bool32,
        /// Reports faults that the device masked.
        device_fault_report_masked: vk::Bool32,
        /// Loses the device on faults that it masked.
        device_fault_device_lost_on_masked: vk::Bool32,
    }
}
tagged! {
    /// `VkPhysicalDeviceFaultPropertiesKHR`.
    FaultProperties = 1_000_573_001, extends [ExtendsPhysicalDeviceProperties2], 24 bytes {
        /// Maximum number of reports that are kept.
        max_device_fault_count: u32,
    }
}
tagged! {
    /// `VkDeviceFaultInfoKHR`.
    FaultInfo = 1_000_573_002, extends [], 608 bytes {
        /// Bits of [`fault_flags`].
        flags: u32,
        /// Reports of the same cause have the same value.
        group_id: u64,
        /// Null-terminated text.
        description: [c_char; vk::MAX_DESCRIPTION_SIZE],
        /// Memory address of the fault.
        fault_address_info: vk::DeviceFaultAddressInfoEXT,
        /// Address of the instruction.
        instruction_address_info: vk::DeviceFaultAddressInfoEXT,
        /// Vendor-specific record.
        vendor_info: vk::DeviceFaultVendorInfoEXT,
    }
}
tagged! {
    /// `VkDeviceFaultDebugInfoKHR`.
    FaultDebugInfo = 1_000_573_003, extends [], 32 bytes {
        /// Bytes at `p_vendor_binary_data`. On return, bytes written, or bytes available if that is null.
        vendor_binary_size: u32,
        /// Null to query the size.
        p_vendor_binary_data: *mut c_void,
    }
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(FaultInfo, group_id) == 24);
    assert!(offset_of!(FaultInfo, fault_address_info) == 288);
    assert!(size_of::<vk::DeviceFaultAddressInfoEXT>() == 24);
    assert!(size_of::<vk::DeviceFaultVendorInfoEXT>() == 272);
};

impl FaultFeatures {
    /// `deviceFault` on or off, and the other features off.
    pub fn new(enabled: bool) -> Self {
        Self {
            device_fault: vk::Bool32::from(enabled),
            ..Self::default()
        }
    }
}

impl FaultInfo {
    /// The description as text.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self
            .description
            .iter()
            // Signed on x86, unsigned on ARM.
            .flat_map(|c| c.to_ne_bytes())
            .take_while(|&c| c != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl FaultDebugInfo {
    /// A query with `message_info` in its chain and without a vendor binary. `message_info` must stay in place until the
    /// calls that use the query return.
    pub fn with_messages(message_info: &mut ShaderAbortMessageInfo) -> Self {
        Self {
            p_next: ptr::from_mut(message_info).cast(),
            ..Self::default()
        }
    }
}

/// `PFN_vkGetDeviceFaultReportsKHR`.
pub type GetDeviceFaultReports =
    unsafe extern "system" fn(vk::Device, timeout: u64, count: *mut u32, infos: *mut FaultInfo) -> vk::Result;
/// `PFN_vkGetDeviceFaultDebugInfoKHR`.
pub type GetDeviceFaultDebugInfo = unsafe extern "system" fn(vk::Device, info: *mut FaultDebugInfo) -> vk::Result;
