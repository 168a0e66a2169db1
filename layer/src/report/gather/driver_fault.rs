//! The driver's own account of a loss, from `VK_EXT_device_fault`, in the form of `VK_KHR_device_fault`.

use super::driver_messages::MAX_BYTES;
use crate::device::state::MAX_FAULT_COUNT;
use crate::device::{AbortState, Device};
use crate::report::fault_info::{description_text, fault_info};
use ash::vk;
use std::ptr;
use vk_ext::{FaultInfo, fault_flags};

/// Records of each kind, address and vendor, that are read from the driver at most.
const MAX_DRIVER_RECORDS: u32 = 32;
const _: () = assert!(
    2 * (MAX_DRIVER_RECORDS as usize) < MAX_FAULT_COUNT,
    "the report of a loss must not overwrite its own records"
);

/// A driver's account of a loss. Empty if the driver has none.
#[derive(Default)]
pub struct DriverFault {
    /// A report per record, in the driver's order. None has `VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR`.
    pub reports: Vec<FaultInfo>,
    /// The driver's description.
    pub text: Option<String>,
    /// The driver's crash dump.
    pub vendor_binary: Vec<u8>,
    /// Size of a crash dump that is longer than what is read of it.
    pub cut_from: Option<u64>,
}

impl DriverFault {
    /// Queries `VK_EXT_device_fault`. The driver must have returned `VK_ERROR_DEVICE_LOST`
    /// (VUID-vkGetDeviceFaultInfoEXT-device-07336).
    pub fn query(device: &Device, state: &AbortState, group_id: u64) -> Self {
        let (true, Some(get)) = (state.ext_fault, device.next.vkGetDeviceFaultInfoEXT) else {
            return Self::default();
        };
        let mut counts = vk::DeviceFaultCountsEXT::default();
        // SAFETY: the extension is enabled and the driver has lost the device; a null info requests the counts.
        if unsafe { get(device.handle, &mut counts, ptr::null_mut()) } != vk::Result::SUCCESS {
            return Self::default();
        }
        counts.address_info_count = counts.address_info_count.min(MAX_DRIVER_RECORDS);
        counts.vendor_info_count = counts.vendor_info_count.min(MAX_DRIVER_RECORDS);
        let limit = if state.vendor_binary { MAX_BYTES as u64 } else { 0 };
        let cut_from = Some(counts.vendor_binary_size).filter(|size| state.vendor_binary && *size > limit);
        counts.vendor_binary_size = counts.vendor_binary_size.min(limit);
        let mut addresses = vec![vk::DeviceFaultAddressInfoEXT::default(); counts.address_info_count as usize];
        let mut vendors = vec![vk::DeviceFaultVendorInfoEXT::default(); counts.vendor_info_count as usize];
        let mut binary = vec![0u8; usize::try_from(counts.vendor_binary_size).unwrap_or(0)];
        let mut info = vk::DeviceFaultInfoEXT {
            p_address_infos: addresses.as_mut_ptr(),
            p_vendor_infos: vendors.as_mut_ptr(),
            p_vendor_binary_data: match binary.is_empty() {
                true => ptr::null_mut(),
                false => binary.as_mut_ptr().cast(),
            },
            ..Default::default()
        };
        // SAFETY: the extension is enabled, the driver has lost the device, and the arrays have as many elements as the counts
        // say (VUID-vkGetDeviceFaultInfoEXT-pFaultCounts-07337 to 07339).
        let result = unsafe { get(device.handle, &mut counts, &mut info) };
        if result != vk::Result::SUCCESS && result != vk::Result::INCOMPLETE {
            return Self {
                cut_from,
                ..Self::default()
            };
        }
        addresses.truncate(counts.address_info_count as usize);
        vendors.truncate(counts.vendor_info_count as usize);
        binary.truncate(usize::try_from(counts.vendor_binary_size).unwrap_or(0));
        let text = description_text(&info.description);
        let addresses = addresses.iter().map(|address| address_info(group_id, &text, address));
        let vendors = vendors.iter().map(|vendor| FaultInfo {
            vendor_info: *vendor,
            ..fault_info(group_id, fault_flags::VENDOR, &text)
        });
        Self {
            reports: addresses.chain(vendors).collect(),
            text: (!text.is_empty()).then_some(text),
            vendor_binary: binary,
            cut_from,
        }
    }

    /// The account as text, one line per record.
    pub fn lines(&self) -> Vec<String> {
        let text = self.text.iter().cloned();
        text.chain(self.reports.iter().map(line)).collect()
    }
}

fn line(report: &FaultInfo) -> String {
    let range = |kind: &str, info: &vk::DeviceFaultAddressInfoEXT| {
        let (first, last) = address_range(info);
        format!("{kind} {first:#x} to {last:#x}")
    };
    if report.flags & fault_flags::MEMORY_ADDRESS != 0 {
        range(access(&report.fault_address_info), &report.fault_address_info)
    } else if report.flags & fault_flags::INSTRUCTION_ADDRESS != 0 {
        range("instruction at", &report.instruction_address_info)
    } else {
        let vendor = &report.vendor_info;
        let (code, data) = (vendor.vendor_fault_code, vendor.vendor_fault_data);
        format!(
            "{} (code {code:#x}, data {data:#x})",
            description_text(&vendor.description)
        )
    }
}

/// First and last address of the range that contains the precise address (`VkDeviceFaultAddressInfoKHR`).
fn address_range(info: &vk::DeviceFaultAddressInfoEXT) -> (u64, u64) {
    let mask = info.address_precision.max(1) - 1;
    (info.reported_address & !mask, info.reported_address | mask)
}

fn access(info: &vk::DeviceFaultAddressInfoEXT) -> &'static str {
    use vk::DeviceFaultAddressTypeEXT as Type;
    match info.address_type {
        Type::READ_INVALID => "invalid read in",
        Type::WRITE_INVALID => "invalid write in",
        Type::EXECUTE_INVALID => "invalid execution in",
        _ => "access to memory in",
    }
}

fn address_info(group_id: u64, text: &str, address: &vk::DeviceFaultAddressInfoEXT) -> FaultInfo {
    // The types from INSTRUCTION_POINTER_UNKNOWN on are addresses of instructions.
    if address.address_type >= vk::DeviceFaultAddressTypeEXT::INSTRUCTION_POINTER_UNKNOWN {
        FaultInfo {
            instruction_address_info: *address,
            ..fault_info(group_id, fault_flags::INSTRUCTION_ADDRESS, text)
        }
    } else {
        FaultInfo {
            fault_address_info: *address,
            ..fault_info(group_id, fault_flags::MEMORY_ADDRESS, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fault_info::description;

    #[test]
    fn every_driver_record_becomes_a_line() {
        let write = vk::DeviceFaultAddressInfoEXT {
            address_type: vk::DeviceFaultAddressTypeEXT::WRITE_INVALID,
            reported_address: 0x1234,
            address_precision: 4096,
        };
        let code = vk::DeviceFaultAddressInfoEXT {
            address_type: vk::DeviceFaultAddressTypeEXT::INSTRUCTION_POINTER_FAULT,
            reported_address: 0x40,
            address_precision: 0,
        };
        let vendor = FaultInfo {
            vendor_info: vk::DeviceFaultVendorInfoEXT {
                description: description("watchdog"),
                vendor_fault_code: 7,
                vendor_fault_data: 77,
            },
            ..fault_info(1, fault_flags::VENDOR, "t")
        };
        let fault = DriverFault {
            reports: vec![address_info(1, "t", &write), address_info(1, "t", &code), vendor],
            text: Some("page fault".to_owned()),
            ..DriverFault::default()
        };
        let expected = [
            "page fault",
            "invalid write in 0x1000 to 0x1fff",
            "instruction at 0x40 to 0x40",
            "watchdog (code 0x7, data 0x4d)",
        ];
        assert_eq!(fault.lines(), expected);
    }

    #[test]
    fn the_type_of_an_address_selects_its_field() {
        let mut address = vk::DeviceFaultAddressInfoEXT {
            address_type: vk::DeviceFaultAddressTypeEXT::WRITE_INVALID,
            reported_address: 0x1000,
            address_precision: 4096,
        };
        let memory = address_info(1, "t", &address);
        assert_eq!(
            (memory.flags, memory.fault_address_info.reported_address),
            (fault_flags::MEMORY_ADDRESS, 0x1000)
        );
        address.address_type = vk::DeviceFaultAddressTypeEXT::INSTRUCTION_POINTER_FAULT;
        let code = address_info(1, "t", &address);
        assert_eq!(
            (code.flags, code.instruction_address_info.address_type.as_raw()),
            (fault_flags::INSTRUCTION_ADDRESS, 6)
        );
    }
}
