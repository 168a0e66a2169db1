//! Fault reports in the form of `VK_KHR_device_fault`, also from a driver that has only `VK_EXT_device_fault`.

use crate::device::state::{AbortState, Device};
use crate::loader::ffi::{FaultAddressInfo, FaultInfo, FaultVendorInfo, fault_flag, stype};
use ash::vk;
use std::ffi::c_char;
use std::ptr;

/// A `description` of the API.
pub type Description = [c_char; vk::MAX_DESCRIPTION_SIZE];

/// `VkPhysicalDeviceFaultPropertiesKHR::maxDeviceFaultCount`: the loss itself, and where the driver can tell of them,
/// the addresses and vendor records that go with it.
pub fn max_count(driver_tells: bool) -> u32 {
    if driver_tells { 1 + MAX_DRIVER_RECORDS * 2 } else { 1 }
}

/// Records of each kind that are taken from `VK_EXT_device_fault`.
const MAX_DRIVER_RECORDS: u32 = 32;

/// A report without addresses.
pub fn report(group_id: u64, flags: u32, text: &str) -> FaultInfo {
    FaultInfo {
        s_type: stype::FAULT_INFO,
        next: ptr::null_mut(),
        flags,
        group_id,
        description: description(text),
        fault_address: FaultAddressInfo::default(),
        instruction_address: FaultAddressInfo::default(),
        vendor: FaultVendorInfo {
            description: [0; vk::MAX_DESCRIPTION_SIZE],
            vendor_fault_code: 0,
            vendor_fault_data: 0,
        },
    }
}

/// `text` with a terminator, cut between characters where it is too long.
pub fn description(text: &str) -> Description {
    let mut out = [0; vk::MAX_DESCRIPTION_SIZE];
    let mut end = text.len().min(vk::MAX_DESCRIPTION_SIZE - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (to, from) in out
        .iter_mut()
        .zip(text.as_bytes().iter().take(end).filter(|b| **b != 0))
    {
        *to = *from as c_char;
    }
    out
}

/// What the driver says about a loss of its own.
#[derive(Default)]
pub struct DriverFault {
    /// Reports in the order of the driver's records, without the flag that ends them.
    pub reports: Vec<FaultInfo>,
    /// The driver's words.
    pub text: Option<String>,
    /// Its crash dump.
    pub vendor_binary: Vec<u8>,
}

impl DriverFault {
    /// The same for people, a line for each record.
    pub fn lines(&self) -> Vec<String> {
        let text = self.text.iter().cloned();
        let reports = self.reports.iter().map(|report| {
            let address = |what: &str, info: &FaultAddressInfo| {
                let (first, last) = range(info);
                format!("{what} {first:#x} to {last:#x}")
            };
            if report.flags & fault_flag::MEMORY_ADDRESS != 0 {
                address(access(&report.fault_address), &report.fault_address)
            } else if report.flags & fault_flag::INSTRUCTION_ADDRESS != 0 {
                address("instruction at", &report.instruction_address)
            } else {
                let vendor = &report.vendor;
                let (code, data) = (vendor.vendor_fault_code, vendor.vendor_fault_data);
                format!("{} (code {code:#x}, data {data:#x})", text_of(&vendor.description))
            }
        });
        text.chain(reports).collect()
    }
}

/// What the driver says of an address: "the precise address must lie within the region described".
fn range(info: &FaultAddressInfo) -> (u64, u64) {
    let mask = info.address_precision.max(1) - 1;
    (info.reported_address & !mask, info.reported_address | mask)
}

fn access(info: &FaultAddressInfo) -> &'static str {
    use vk::DeviceFaultAddressTypeEXT as Kind;
    match Kind::from_raw(info.address_type) {
        Kind::READ_INVALID => "invalid read in",
        Kind::WRITE_INVALID => "invalid write in",
        Kind::EXECUTE_INVALID => "invalid execution in",
        _ => "access to memory in",
    }
}

/// Asks `VK_EXT_device_fault`. The device must be lost by the driver's own account.
pub fn ask_driver(device: &Device, state: &AbortState, group: u64) -> DriverFault {
    let (true, Some(get)) = (state.ext_fault, device.next.vkGetDeviceFaultInfoEXT) else {
        return DriverFault::default();
    };
    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: the extension is enabled and the device lost; a null info asks for the counts.
    if unsafe { get(device.handle, &mut counts, ptr::null_mut()) } != vk::Result::SUCCESS {
        return DriverFault::default();
    }
    counts.address_info_count = counts.address_info_count.min(MAX_DRIVER_RECORDS);
    counts.vendor_info_count = counts.vendor_info_count.min(MAX_DRIVER_RECORDS);
    let binary_size = if state.vendor_binary {
        counts.vendor_binary_size
    } else {
        0
    };
    counts.vendor_binary_size = binary_size;
    let mut addresses = vec![vk::DeviceFaultAddressInfoEXT::default(); counts.address_info_count as usize];
    let mut vendors = vec![vk::DeviceFaultVendorInfoEXT::default(); counts.vendor_info_count as usize];
    let mut binary = vec![0u8; usize::try_from(binary_size).unwrap_or(0)];
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: vendors.as_mut_ptr(),
        p_vendor_binary_data: match binary.is_empty() {
            true => ptr::null_mut(),
            false => binary.as_mut_ptr().cast(),
        },
        ..Default::default()
    };
    // SAFETY: the arrays have as many elements as the counts say.
    let result = unsafe { get(device.handle, &mut counts, &mut info) };
    if result != vk::Result::SUCCESS && result != vk::Result::INCOMPLETE {
        return DriverFault::default();
    }
    addresses.truncate(counts.address_info_count as usize);
    vendors.truncate(counts.vendor_info_count as usize);
    binary.truncate(usize::try_from(counts.vendor_binary_size).unwrap_or(0));
    let text = text_of(&info.description);
    let by_address = addresses.iter().map(|address| address_report(group, &text, address));
    let by_vendor = vendors.iter().map(|vendor| FaultInfo {
        vendor: FaultVendorInfo {
            description: vendor.description,
            vendor_fault_code: vendor.vendor_fault_code,
            vendor_fault_data: vendor.vendor_fault_data,
        },
        ..report(group, fault_flag::VENDOR, &text)
    });
    DriverFault {
        reports: by_address.chain(by_vendor).collect(),
        text: (!text.is_empty()).then_some(text),
        vendor_binary: binary,
    }
}

fn address_report(group: u64, text: &str, address: &vk::DeviceFaultAddressInfoEXT) -> FaultInfo {
    let info = FaultAddressInfo {
        address_type: address.address_type.as_raw(),
        reported_address: address.reported_address,
        address_precision: address.address_precision,
    };
    // The types from INSTRUCTION_POINTER_UNKNOWN on are addresses of instructions.
    let instruction = address.address_type >= vk::DeviceFaultAddressTypeEXT::INSTRUCTION_POINTER_UNKNOWN;
    if instruction {
        FaultInfo {
            instruction_address: info,
            ..report(group, fault_flag::INSTRUCTION_ADDRESS, text)
        }
    } else {
        FaultInfo {
            fault_address: info,
            ..report(group, fault_flag::MEMORY_ADDRESS, text)
        }
    }
}

fn text_of(description: &Description) -> String {
    let bytes: Vec<u8> = description.iter().map(|c| *c as u8).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_cut_between_characters_and_always_terminated() {
        assert_eq!(text_of(&description("short")), "short");
        let long = "ä".repeat(200);
        let cut = text_of(&description(&long));
        assert_eq!(cut, "ä".repeat(127));
        assert_eq!(description(&long)[vk::MAX_DESCRIPTION_SIZE - 1], 0);
        assert_eq!(text_of(&description(&"x".repeat(256))).len(), 255);
    }

    #[test]
    fn the_driver_is_quoted_line_by_line() {
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
        let mut vendor = report(1, fault_flag::VENDOR, "t");
        vendor.vendor.description = description("watchdog");
        (vendor.vendor.vendor_fault_code, vendor.vendor.vendor_fault_data) = (7, 77);
        let fault = DriverFault {
            reports: vec![address_report(1, "t", &write), address_report(1, "t", &code), vendor],
            text: Some("page fault".to_owned()),
            vendor_binary: Vec::new(),
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
    fn an_address_goes_where_its_type_says() {
        let mut address = vk::DeviceFaultAddressInfoEXT {
            address_type: vk::DeviceFaultAddressTypeEXT::WRITE_INVALID,
            reported_address: 0x1000,
            address_precision: 4096,
        };
        let memory = address_report(1, "t", &address);
        assert_eq!(
            (memory.flags, memory.fault_address.reported_address),
            (fault_flag::MEMORY_ADDRESS, 0x1000)
        );
        address.address_type = vk::DeviceFaultAddressTypeEXT::INSTRUCTION_POINTER_FAULT;
        let code = address_report(1, "t", &address);
        assert_eq!(
            (code.flags, code.instruction_address.address_type),
            (fault_flag::INSTRUCTION_ADDRESS, 6)
        );
    }
}
