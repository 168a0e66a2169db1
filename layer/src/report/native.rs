//! Drivers with `VK_KHR_shader_abort` of their own: what they recorded.

use crate::device::state::{AbortState, Device};
use crate::loader::ffi::{self, stype};
use ash::vk;
use std::ptr;

/// More than any driver records. A driver's counter may have run past its buffer.
const MOST_BYTES: usize = 64 << 20;

/// The message data of a lost device, as `vkGetDeviceFaultDebugInfoKHR` gives it; none, if the driver has no aborts.
pub fn messages(device: &Device, state: &AbortState) -> Vec<u8> {
    let native = state.enabled.without(state.emulated);
    let (true, Some(get)) = (native.abort && native.fault, device.next.vkGetDeviceFaultDebugInfoKHR) else {
        return Vec::new();
    };
    let mut messages = ffi::ShaderAbortMessageInfo {
        s_type: stype::SHADER_ABORT_MESSAGE_INFO,
        next: ptr::null_mut(),
        message_data_size: 0,
        message_data: ptr::null_mut(),
    };
    let ask = |messages: &mut ffi::ShaderAbortMessageInfo| {
        let mut info = ffi::FaultDebugInfo {
            s_type: stype::FAULT_DEBUG_INFO,
            next: ptr::from_mut(messages).cast(),
            vendor_binary_size: 0,
            vendor_binary_data: ptr::null_mut(),
        };
        // SAFETY: the extension is enabled, the device lost, and the structures are ours.
        unsafe { get(device.handle, &mut info) }
    };
    if ask(&mut messages) != vk::Result::SUCCESS {
        return Vec::new();
    }
    let size = usize::try_from(messages.message_data_size).unwrap_or(0).min(MOST_BYTES);
    // Whole words of room beyond it, for drivers that round up.
    let mut data = vec![0u8; size.next_multiple_of(8)];
    messages.message_data_size = size as u64;
    messages.message_data = data.as_mut_ptr().cast();
    let result = ask(&mut messages);
    let written = usize::try_from(messages.message_data_size).unwrap_or(0).min(size);
    data.truncate(if result == vk::Result::SUCCESS || result == vk::Result::INCOMPLETE {
        written
    } else {
        0
    });
    data
}
