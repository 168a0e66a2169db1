//! The live instances and devices, by dispatch key.
//!
//! The dispatch key of a dispatchable handle is its first pointer-sized word: the same for an instance and its physical
//! devices, and for a device, its queues and its command buffers.

use super::device_state::Device;
use super::state::Instance;
use crate::loader::handle_map::HandleMap;
use std::sync::Arc;

/// The key of a dispatchable handle.
///
/// # Safety
/// `handle` must be null or a valid dispatchable handle.
pub unsafe fn dispatch_key(handle: u64) -> usize {
    let object = handle as usize as *const usize;
    if object.is_null() {
        return 0;
    }
    // SAFETY: the loader keeps a pointer in the first word of every dispatchable object.
    unsafe { *object }
}

/// Live instances.
pub static INSTANCES: HandleMap<Instance> = HandleMap::new();
/// Live devices.
pub static DEVICES: HandleMap<Device> = HandleMap::new();

/// A counted reference to the instance of an instance or physical device.
///
/// # Safety
/// As [`instance_of`].
pub unsafe fn share_instance<H: ash::vk::Handle>(handle: H) -> Option<Arc<Instance>> {
    // SAFETY: the handle is valid (the caller's contract).
    INSTANCES.share(unsafe { dispatch_key(handle.as_raw()) })
}

/// The tracked instance of an instance or physical device.
///
/// # Safety
/// `handle` must be one of these, and valid during the current call.
pub unsafe fn instance_of<'a, H: ash::vk::Handle>(handle: H) -> Option<&'a Instance> {
    // SAFETY: the handle is valid during the call (the caller's contract), so no other call destroys it and removes its entry.
    unsafe { INSTANCES.get(dispatch_key(handle.as_raw())) }
}

/// The tracked device of a device, queue or command buffer.
///
/// # Safety
/// `handle` must be one of these, and valid during the current call.
pub unsafe fn device_of<'a, H: ash::vk::Handle>(handle: H) -> Option<&'a Device> {
    // SAFETY: the handle is valid during the call (the caller's contract), so no other call destroys it and removes its entry.
    unsafe { DEVICES.get(dispatch_key(handle.as_raw())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_handles_have_key_zero() {
        // SAFETY: null is allowed.
        assert_eq!(unsafe { dispatch_key(0) }, 0);
    }
}
