//! The commands that the layer intercepts.
//!
//! `loader::commands` lists them with a policy each. Those that only follow a policy of `policy.rs` are generated from their
//! row; the others have code in the file of their Vulkan object. Every entry point relies on the valid usage of its command:
//! handles are live, and pointers are null only where the command allows it.

/// [`forward`] with the next layer's command of this name, or else of its alias.
macro_rules! forward {
    ($handle:expr, $command:ident $(| $alias:ident)?, $body:expr) => {
        $crate::intercept::forward($handle, |next| next.$command$(.or(next.$alias))?, $body)
    };
}

#[macro_use]
mod policy;

mod batch;
mod buffer;
mod command_buffer;
mod creation_failure;
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
mod pipeline_create_info;
mod pipeline_edit;
mod pipeline_key;
pub mod proc_addr;
mod query;
mod queue;
mod recording;
mod semaphore;
mod shader_module;
mod shader_object;
mod stage_code;
mod table;
#[cfg(test)]
pub mod testing;
mod wait;

use crate::device::Device;
use crate::device::registry::device_of;
use crate::loader::dispatch::DeviceTable;
use ash::vk::{self, Handle};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a command that the next layer lacks.
const MISSING: vk::Result = vk::Result::ERROR_EXTENSION_NOT_PRESENT;

/// The result of an entry point.
trait EntryResult {
    /// The next layer lacks the command.
    const MISSING: Self;
    /// The layer's code has panicked.
    const PANICKED: Self;
}

impl EntryResult for vk::Result {
    const MISSING: Self = MISSING;
    const PANICKED: Self = Self::ERROR_UNKNOWN;
}

impl EntryResult for () {
    const MISSING: Self = ();
    const PANICKED: Self = ();
}

/// Runs the body of an entry point. A panic becomes `fallback`: it must not unwind into the loader.
fn guarded<R>(fallback: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(fallback)
}

/// Runs the body of an entry point that returns a `VkResult`.
fn command(body: impl FnOnce() -> vk::Result) -> vk::Result {
    guarded(vk::Result::PANICKED, body)
}

/// Runs the body of an entry point with the tracked device of a handle, and the next layer's function that `pick` selects.
///
/// # Safety
/// `handle` must be a device, queue or command buffer that is valid during the current call.
unsafe fn forward<'a, H: Handle, F, R: EntryResult>(
    handle: H,
    pick: impl FnOnce(&DeviceTable) -> Option<F>,
    body: impl FnOnce(&'a Device, F) -> R,
) -> R {
    guarded(R::PANICKED, || {
        // SAFETY: the handle is valid during the call (the caller's contract).
        let Some(device) = (unsafe { device_of(handle) }) else {
            return R::MISSING;
        };
        pick(&device.next).map_or(R::MISSING, |next| body(device, next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_does_not_leave_an_entry_point() {
        assert_eq!(command(|| panic!("on purpose")), vk::Result::ERROR_UNKNOWN);
    }
}
