//! Fault queries. `VK_EXT_device_fault` returns two fixed addresses, one vendor record and a binary of 96 bytes; the native
//! `VK_KHR_device_fault` returns one report and the messages of shaders.

use crate::enumerate::{all_or_incomplete, answer, copy_text};
use crate::state::{Cause, Device, deadline};
use ash::vk::{self, DeviceFaultAddressTypeEXT as Kind};
use std::ffi::CStr;
use std::time::Instant;
use vk_ext::{ERROR_NOT_ENOUGH_SPACE, FaultDebugInfo, FaultInfo, ShaderAbortMessageInfo, fault_flags};
use vkabort_record::framing::message_data;

/// Address records for a cause. A timeout has none.
fn addresses(cause: Cause) -> Vec<(Kind, u64, u64)> {
    let [memory, code] = ADDRESSES;
    match cause {
        Cause::Settings => vec![memory, code],
        Cause::Access(address) => vec![(memory.0, address, memory.2), code],
        Cause::Timeout => Vec::new(),
    }
}

/// Type, address and precision in bytes.
const ADDRESSES: [(Kind, u64, u64); 2] = [
    (Kind::WRITE_INVALID, 0xDEAD_0000, 4096),
    (Kind::INSTRUCTION_POINTER_FAULT, 0xC0DE_0040, 64),
];
const DESCRIPTION: &CStr = c"the test driver has lost the device";
const VENDOR: (&CStr, u64, u64) = (c"watchdog", 7, 77);
/// Size of `VkDeviceFaultVendorBinaryHeaderVersionOneEXT` followed by consecutive byte values.
const BINARY_BYTES: usize = 96;
const BINARY_HEADER_BYTES: usize = 56;

fn text(text: &CStr) -> [std::ffi::c_char; vk::MAX_DESCRIPTION_SIZE] {
    let mut out = [0; vk::MAX_DESCRIPTION_SIZE];
    copy_text(&mut out, text);
    out
}

fn binary() -> [u8; BINARY_BYTES] {
    let mut binary = std::array::from_fn(|index| index as u8);
    binary[..4].copy_from_slice(&(BINARY_HEADER_BYTES as u32).to_le_bytes());
    binary[4..8].copy_from_slice(&1u32.to_le_bytes());
    binary
}

pub extern "system" fn info_ext(
    device: &Device,
    counts: &mut vk::DeviceFaultCountsEXT<'_>,
    info: Option<&mut vk::DeviceFaultInfoEXT<'_>>,
) -> vk::Result {
    let state = device.lock();
    if !state.lost {
        return vk::Result::ERROR_UNKNOWN;
    }
    let addresses = addresses(state.faults.cause);
    let Some(info) = info else {
        counts.address_info_count = addresses.len() as u32;
        counts.vendor_info_count = 1;
        counts.vendor_binary_size = if device.settings.bad_binary {
            1 << 44
        } else {
            BINARY_BYTES as u64
        };
        return vk::Result::SUCCESS;
    };
    info.description = text(DESCRIPTION);
    let written = (counts.address_info_count as usize).min(addresses.len());
    let mut complete = written == addresses.len() && counts.vendor_info_count > 0;
    // SAFETY: by the command's valid usage, arrays are null or have as many elements as their counts.
    unsafe {
        for (index, (kind, address, precision)) in addresses.iter().take(written).enumerate() {
            info.p_address_infos.add(index).write(vk::DeviceFaultAddressInfoEXT {
                address_type: *kind,
                reported_address: *address,
                address_precision: *precision,
            });
        }
        counts.address_info_count = written as u32;
        if counts.vendor_info_count > 0 {
            info.p_vendor_infos.write(vk::DeviceFaultVendorInfoEXT {
                description: text(VENDOR.0),
                vendor_fault_code: VENDOR.1,
                vendor_fault_data: VENDOR.2,
            });
            counts.vendor_info_count = 1;
        }
        if !info.p_vendor_binary_data.is_null() {
            let written = (counts.vendor_binary_size as usize).min(BINARY_BYTES);
            let data = info.p_vendor_binary_data.cast::<u8>();
            data.copy_from_nonoverlapping(binary().as_ptr(), written);
            counts.vendor_binary_size = written as u64;
            complete &= written == BINARY_BYTES;
        }
    }
    all_or_incomplete(complete)
}

/// Waits for a loss that was not reported yet. Returns whether there is one.
fn wait_for_report(device: &Device, timeout: u64) -> bool {
    let deadline = deadline(timeout);
    let mut state = device.lock();
    while !state.lost {
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return false;
        }
        device.wait_for_change(&mut state, deadline);
    }
    !state.faults.reported
}

pub extern "system" fn reports(
    device: &Device,
    timeout: u64,
    count: &mut u32,
    info: Option<&mut FaultInfo>,
) -> vk::Result {
    let available = wait_for_report(device, timeout);
    let room = *count;
    let info = match info {
        Some(info) if available => info,
        _ => {
            *count = available.into();
            return if available {
                vk::Result::SUCCESS
            } else {
                vk::Result::TIMEOUT
            };
        }
    };
    if room == 0 || device.settings.bad_incomplete {
        *count = 0;
        return vk::Result::INCOMPLETE;
    }
    *info = FaultInfo {
        p_next: info.p_next,
        flags: fault_flags::DEVICE_LOST,
        group_id: 1,
        description: text(DESCRIPTION),
        ..FaultInfo::default()
    };
    device.lock().faults.reported = true;
    *count = if device.settings.bad_counts { room + 1000 } else { 1 };
    vk::Result::SUCCESS
}

pub extern "system" fn debug_info(device: &Device, info: &mut FaultDebugInfo) -> vk::Result {
    let settings = &device.settings;
    let data = message_data(device.lock().faults.messages.iter().map(Vec::as_slice));
    let mut complete = true;
    let answer_messages = |messages: &mut ShaderAbortMessageInfo| {
        if messages.p_message_data.is_null() {
            messages.message_data_size = data.len() as u64;
            return;
        }
        let whole = data.len().min(messages.message_data_size as usize);
        let written = if settings.bad_incomplete { whole / 2 } else { whole };
        let to = messages.p_message_data.cast::<u8>();
        // SAFETY: by the command's valid usage, the buffer has the size that the structure says.
        unsafe { to.copy_from_nonoverlapping(data.as_ptr(), written) };
        let beyond = if settings.bad_counts { 1 << 40 } else { 0 };
        messages.message_data_size = written as u64 + beyond;
        complete = written == data.len();
    };
    // SAFETY: by the command's valid usage, the chain is valid.
    unsafe { answer(info, answer_messages) };
    if !info.p_vendor_binary_data.is_null() {
        if (info.vendor_binary_size as usize) < BINARY_BYTES {
            info.vendor_binary_size = 0;
            return ERROR_NOT_ENOUGH_SPACE;
        }
        let to = info.p_vendor_binary_data.cast::<u8>();
        // SAFETY: by the command's valid usage, the buffer has the size that the structure says.
        unsafe { to.copy_from_nonoverlapping(binary().as_ptr(), BINARY_BYTES) };
    }
    info.vendor_binary_size = BINARY_BYTES as u32;
    all_or_incomplete(complete)
}
