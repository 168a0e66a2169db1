//! The commands that the layer intercepts.
//!
//! [`table`] lists them with a policy each. Commands that only follow a policy of `policy.rs` are generated from their row;
//! the others have code in the file of their Vulkan object. Every entry point relies on the valid usage of its command:
//! handles are live, and pointers are null only where the command allows it.

#[macro_use]
mod policy;

mod debug_utils;
mod destroy;
mod device;
mod device_creation;
mod device_fault;
mod enumerate;
mod fence;
mod instance;
mod physical_device;
mod pipeline;
mod pipeline_batch;
mod pipeline_create_info;
mod pipeline_edit;
mod pipeline_key;
pub mod proc_addr;
mod query;
mod queue;
mod semaphore;
mod shader_module;
mod shader_object;
mod table;
#[cfg(test)]
pub mod testing;
mod wait;

use crate::device::registry::device_of;
use crate::device::state::Device;
use crate::loader::dispatch::DeviceTable;
use ash::vk::{self, Handle};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a command that the next layer lacks.
const MISSING: vk::Result = vk::Result::ERROR_EXTENSION_NOT_PRESENT;

/// Runs the body of an entry point. A panic becomes `fallback`: it must not unwind into the loader.
fn guarded<R>(fallback: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(fallback)
}

/// Runs the body of an entry point that returns a `VkResult`.
fn command(body: impl FnOnce() -> vk::Result) -> vk::Result {
    guarded(vk::Result::ERROR_UNKNOWN, body)
}

/// The tracked device of a handle, and the next layer's function that `pick` selects. None if the next layer lacks it.
///
/// # Safety
/// `handle` must be a device, queue or command buffer that is valid during the current call.
unsafe fn next_of<'a, H: Handle, F>(
    handle: H,
    pick: impl FnOnce(&DeviceTable) -> Option<F>,
) -> Option<(&'a Device, F)> {
    // SAFETY: the handle is valid during the call (the caller's contract).
    let device = unsafe { device_of(handle) }?;
    Some((device, pick(&device.next)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_does_not_leave_an_entry_point() {
        assert_eq!(command(|| panic!("on purpose")), vk::Result::ERROR_UNKNOWN);
    }
}
