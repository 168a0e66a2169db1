//! The commands that destroy or free one object. They do nothing while the driver may still use the device's objects.

use super::guarded;
use crate::loader::dispatch::{PfnDestroy, destroy_commands};
use crate::loader::registry::device_of;
use ash::vk;

macro_rules! destroy_intercepts {
    ($($command:ident)*) => {
        #[allow(non_snake_case)]
        mod entry_points {
            use super::*;
            $(
                pub unsafe extern "system" fn $command(
                    handle: vk::Device,
                    object: u64,
                    allocator: *const vk::AllocationCallbacks<'_>,
                ) {
                    guarded((), || {
                        // SAFETY: valid usage: the device is live.
                        if let Some(device) = unsafe { device_of(handle) }
                            && !device.is_undrained()
                            && let Some(next) = device.destroy.$command
                        {
                            // SAFETY: the application's own arguments.
                            unsafe { next(handle, object, allocator) };
                        }
                    });
                }
            )*
        }

        /// The layer's entry point of a command that destroys one object.
        pub fn find(name: &[u8]) -> Option<PfnDestroy> {
            $(if name == stringify!($command).as_bytes() {
                return Some(entry_points::$command);
            })*
            None
        }
    };
}
destroy_commands!(destroy_intercepts);
