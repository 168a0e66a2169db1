//! Functions that free or reset many objects at once. On a device that could not be drained they do nothing.

use super::{MISSING, command, guarded};
use crate::loader::registry::device_of;
use ash::vk;

pub unsafe extern "system" fn free_command_buffers(
    device: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    guarded((), || {
        // SAFETY: a valid device.
        if let Some(known) = unsafe { device_of(device) }
            && !known.is_undrained()
            && let Some(next) = known.next.vkFreeCommandBuffers
        {
            // SAFETY: forwarded as it came.
            unsafe { next(device, pool, count, buffers) };
        }
    });
}

macro_rules! pool_command {
    ($own:ident, $next:ident, ($($argument:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $own(device: vk::Device, $($argument: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: a valid device.
                match unsafe { device_of(device) }.and_then(|d| Some((d, d.next.$next?))) {
                    Some((known, _)) if known.is_undrained() => vk::Result::SUCCESS,
                    // SAFETY: forwarded as it came.
                    Some((_, next)) => unsafe { next(device, $($argument),*) },
                    None => MISSING,
                }
            })
        }
    };
}

pool_command!(free_descriptor_sets, vkFreeDescriptorSets,
    (pool: vk::DescriptorPool, count: u32, sets: *const vk::DescriptorSet));
pool_command!(reset_command_pool, vkResetCommandPool,
    (pool: vk::CommandPool, flags: vk::CommandPoolResetFlags));
pool_command!(reset_descriptor_pool, vkResetDescriptorPool,
    (pool: vk::DescriptorPool, flags: vk::DescriptorPoolResetFlags));
