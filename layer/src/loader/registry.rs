//! The live instances and devices, by dispatch key.
//!
//! The dispatch key of a dispatchable handle is its first pointer-sized word: the same for an instance and its physical
//! devices, and for a device, its queues and its command buffers.

use super::handle_map::HandleMap;
use crate::device::state::{Device, Instance};

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

static INSTANCES: HandleMap<Instance> = HandleMap::new();
static DEVICES: HandleMap<Device> = HandleMap::new();

/// Live instances.
pub fn instances() -> &'static HandleMap<Instance> {
    &INSTANCES
}

/// Live devices.
pub fn devices() -> &'static HandleMap<Device> {
    &DEVICES
}

/// What is known of the instance of an instance or physical device handle.
///
/// # Safety
/// `handle` must be such a handle, valid during the current call.
pub unsafe fn instance_of<'a, H: ash::vk::Handle>(handle: H) -> Option<&'a Instance> {
    // SAFETY: the caller vouches for the handle, which also keeps the entry during the call.
    unsafe { INSTANCES.get(dispatch_key(handle.as_raw())) }
}

/// What is known of the device of a device, queue or command buffer handle.
///
/// # Safety
/// `handle` must be such a handle, valid during the current call.
pub unsafe fn device_of<'a, H: ash::vk::Handle>(handle: H) -> Option<&'a Device> {
    // SAFETY: the caller vouches for the handle, which also keeps the entry during the call.
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
