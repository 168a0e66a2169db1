//! `VkCommandBuffer` and `VkCommandPool`: the begin and the end of recordings.

use crate::device::Device;
use crate::loader::ffi::elements;
use ash::vk::{self, Handle as _};

/// Forwards. A failed begin keeps the application from recording into a command buffer that the driver may still execute.
pub unsafe extern "system" fn begin(
    handle: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    // SAFETY: valid usage: the command buffer is live and externally synchronised, and the arguments are passed on.
    unsafe {
        forward!(handle, vkBeginCommandBuffer, |device, next| {
            if device.is_undrained() {
                return vk::Result::ERROR_UNKNOWN;
            }
            clear(device, handle, true);
            next(handle, info)
        })
    }
}

/// As the policy `reset`.
pub unsafe extern "system" fn reset(handle: vk::CommandBuffer, flags: vk::CommandBufferResetFlags) -> vk::Result {
    // SAFETY: valid usage: the command buffer is live and externally synchronised, and the arguments are passed on.
    unsafe {
        forward!(handle, vkResetCommandBuffer, |device, next| {
            if device.is_undrained() {
                return vk::Result::SUCCESS;
            }
            let releases = flags.contains(vk::CommandBufferResetFlags::RELEASE_RESOURCES);
            clear(device, handle, !releases);
            next(handle, flags)
        })
    }
}

/// As the policy `reset`.
pub unsafe extern "system" fn reset_pool(
    handle: vk::Device,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, the pool externally synchronised, and the arguments are passed on.
    unsafe {
        forward!(handle, vkResetCommandPool, |device, next| {
            if device.is_undrained() {
                return vk::Result::SUCCESS;
            }
            if let Some(commands) = device.state.as_ref().and_then(|state| state.commands.as_ref()) {
                let releases = flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES);
                for buffer in commands.of_pool(pool) {
                    clear(device, buffer, !releases);
                }
            }
            next(handle, pool, flags)
        })
    }
}

/// # Safety
/// Valid usage of a command that begins or resets the command buffer.
unsafe fn clear(device: &Device, buffer: vk::CommandBuffer, keeps_memory: bool) {
    if let Some(state) = &device.state
        && let Some(commands) = &state.commands
    {
        // SAFETY: valid usage (the caller's contract).
        unsafe { commands.reset(buffer, keeps_memory, || state.has_unreported_aborts()) };
    }
}

/// Forwards. New command buffers may have the handles of freed ones, whose names are not theirs.
pub unsafe extern "system" fn allocate(
    handle: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    buffers: *mut vk::CommandBuffer,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, `info` valid, and `buffers` has as many elements as it says.
    unsafe {
        forward!(handle, vkAllocateCommandBuffers, |device, next| {
            let result = next(handle, info, buffers);
            if let (vk::Result::SUCCESS, Some(state), Some(info)) = (result, &device.state, info.as_ref()) {
                let new = elements(buffers.cast_const(), info.command_buffer_count);
                let handles = new.iter().map(|buffer| buffer.as_raw());
                state.objects.forget_command_buffer_names(handles);
                if let Some(commands) = &state.commands {
                    commands.add(info.command_pool, new);
                }
            }
            result
        })
    }
}

/// As the policy `free`.
pub unsafe extern "system" fn free(
    handle: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    // SAFETY: valid usage: the device is live, `buffers` has `count` elements, and the arguments are passed on.
    unsafe {
        forward!(handle, vkFreeCommandBuffers, |device, next| {
            if device.is_undrained() {
                return;
            }
            if let Some(state) = &device.state
                && let Some(commands) = &state.commands
            {
                commands.free(pool, elements(buffers, count), || state.has_unreported_aborts());
            }
            next(handle, pool, count, buffers);
        });
    }
}
