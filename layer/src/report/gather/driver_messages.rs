//! Abort messages of a driver that supports `VK_KHR_shader_abort` itself.

use crate::device::{AbortState, Device};
use ash::vk;
use vk_ext::{FaultDebugInfo, ShaderAbortMessageInfo};

/// Bytes of message data, and of a crash dump, that are read from the driver at most. The driver's size may be wrong: a
/// counter can exceed its buffer.
pub const MAX_BYTES: usize = 64 << 20;

/// The message data of `vkGetDeviceFaultDebugInfoKHR`. Empty if the driver lacks the extension or the call fails. The driver
/// must have returned `VK_ERROR_DEVICE_LOST` (VUID-vkGetDeviceFaultDebugInfoKHR-device-12383).
pub fn message_data(device: &Device, state: &AbortState) -> Vec<u8> {
    let native = state.enabled.without(state.emulated);
    let (true, Some(get)) = (native.abort && native.fault, device.next.vkGetDeviceFaultDebugInfoKHR) else {
        return Vec::new();
    };
    let mut messages = ShaderAbortMessageInfo::sizing();
    let query = |messages: &mut ShaderAbortMessageInfo| {
        let mut info = FaultDebugInfo::with_messages(messages);
        // SAFETY: the extension is enabled, the driver has lost the device, and both structures are valid.
        unsafe { get(device.handle, &mut info) }
    };
    if query(&mut messages) != vk::Result::SUCCESS {
        return Vec::new();
    }
    let size = usize::try_from(messages.message_data_size)
        .unwrap_or(usize::MAX)
        .min(MAX_BYTES);
    // Rounded up to 8 bytes, because some drivers write whole words.
    let mut data = vec![0u8; size.next_multiple_of(8)];
    messages = ShaderAbortMessageInfo::filling(&mut data);
    messages.message_data_size = size as u64;
    let result = query(&mut messages);
    let written = usize::try_from(messages.message_data_size)
        .unwrap_or(usize::MAX)
        .min(size);
    data.truncate(match result {
        vk::Result::SUCCESS | vk::Result::INCOMPLETE => written,
        _ => 0,
    });
    data
}
