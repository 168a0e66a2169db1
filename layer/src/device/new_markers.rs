//! The markers of a new device.

use crate::arena::{ArenaSetup, create_transfer_memory};
use crate::device::state::markers::{self, MarkerExtension, Markers};
use crate::loader::dispatch::VoidFn;
use crate::log::Level;
use ash::vk;
use std::ffi::CStr;
use std::mem::transmute;

/// The markers of a new device. None if it has no memory for them, which the log explains.
///
/// # Safety
/// The device must be live with the extension enabled, and `next_gdpa` the next layer's.
pub(super) unsafe fn new_markers(
    extension: MarkerExtension,
    setup: &ArenaSetup<'_>,
    next_gdpa: vk::PFN_vkGetDeviceProcAddr,
) -> Option<Markers> {
    // SAFETY: the names belong to the types, and the caller's contract.
    unsafe {
        let find = |name: &CStr| next_gdpa(setup.device, name.as_ptr());
        if extension == MarkerExtension::Checkpoints {
            let set =
                find(c"vkCmdSetCheckpointNV").map(|set| transmute::<VoidFn, vk::PFN_vkCmdSetCheckpointNV>(set))?;
            let get = find(c"vkGetQueueCheckpointDataNV")
                .map(|get| transmute::<VoidFn, vk::PFN_vkGetQueueCheckpointDataNV>(get))?;
            return Some(Markers::of_driver(set, get));
        }
        let write = find(c"vkCmdWriteBufferMarkerAMD")
            .map(|write| transmute::<VoidFn, vk::PFN_vkCmdWriteBufferMarkerAMD>(write))?;
        match create_transfer_memory(setup, markers::BYTES) {
            Ok(memory) => Some(Markers::in_memory(write, memory)),
            Err(error) => {
                let text = format!("commands: no memory for markers: {}", error.reason);
                setup.log.line(Level::Warning, &text);
                None
            }
        }
    }
}
