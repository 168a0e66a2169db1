//! Creates the markers of a new device.

use super::{BYTES, MarkerExtension, Markers};
use crate::arena::{ArenaSetup, create_transfer_memory};
use crate::loader::dispatch::VoidFn;
use crate::log::Level;
use ash::vk;
use std::ffi::CStr;
use std::mem::transmute;

impl Markers {
    /// The markers of a new device. `None` if it has no memory for them, which the log explains.
    ///
    /// # Safety
    /// The device must be live with the extension enabled, and `next_gdpa` the next layer's.
    pub unsafe fn create(
        extension: MarkerExtension,
        setup: &ArenaSetup<'_>,
        next_gdpa: vk::PFN_vkGetDeviceProcAddr,
    ) -> Option<Self> {
        // SAFETY: the names belong to the types, and the caller's contract.
        unsafe {
            let find = |name: &CStr| next_gdpa(setup.device, name.as_ptr());
            if extension == MarkerExtension::Checkpoints {
                let set =
                    find(c"vkCmdSetCheckpointNV").map(|set| transmute::<VoidFn, vk::PFN_vkCmdSetCheckpointNV>(set))?;
                let get = find(c"vkGetQueueCheckpointDataNV")
                    .map(|get| transmute::<VoidFn, vk::PFN_vkGetQueueCheckpointDataNV>(get))?;
                return Some(Self::of_driver(set, get));
            }
            let write = find(c"vkCmdWriteBufferMarkerAMD")
                .map(|write| transmute::<VoidFn, vk::PFN_vkCmdWriteBufferMarkerAMD>(write))?;
            match create_transfer_memory(setup, BYTES) {
                Ok(memory) => Some(Self::in_memory(write, memory)),
                Err(error) => {
                    let text = format!("commands: no memory for markers: {}", error.reason);
                    setup.log.line(Level::Warning, &text);
                    None
                }
            }
        }
    }
}
