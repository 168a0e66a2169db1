//! `VkBuffer`, for the check `addresses`, which follows the addresses of buffers. `destroy` tells their end.

use crate::device::features::addresses::Addresses;
use crate::device::{AbortState, Device};
use crate::loader::chain;
use crate::loader::ffi::elements;
use ash::vk;

pub unsafe extern "system" fn create(
    handle: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, `info` valid, and `buffer` may be written.
    unsafe {
        forward!(handle, vkCreateBuffer, |device, next| {
            let result = next(handle, info, allocator, buffer);
            if let (vk::Result::SUCCESS, Some((state, addresses)), Some(info)) =
                (result, addresses_of(device), info.as_ref())
                && has_address(info)
            {
                addresses.add(*buffer, info.size);
                // "If buffer is non-sparse then it must be bound completely" (vkGetBufferDeviceAddress).
                if info.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
                    note(device, state, addresses, *buffer, vk::DeviceMemory::null());
                }
            }
            result
        })
    }
}

/// Whether a buffer is created with the usage `SHADER_DEVICE_ADDRESS`.
///
/// # Safety
/// The create-info must be valid.
unsafe fn has_address(info: &vk::BufferCreateInfo<'_>) -> bool {
    type Usage2 = vk::BufferUsageFlags2CreateInfoKHR<'static>;
    // SAFETY: the chain is valid (the caller's contract).
    match unsafe { chain::find::<Usage2>(info.p_next) } {
        Some(chained) => chained.usage.contains(vk::BufferUsageFlags2KHR::SHADER_DEVICE_ADDRESS),
        None => info.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS),
    }
}

pub unsafe extern "system" fn bind(
    handle: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, and the arguments are passed on.
    unsafe {
        forward!(handle, vkBindBufferMemory, |device, next| {
            let result = next(handle, buffer, memory, offset);
            if let (vk::Result::SUCCESS, Some((state, addresses))) = (result, addresses_of(device)) {
                note(device, state, addresses, buffer, memory);
            }
            result
        })
    }
}

pub unsafe extern "system" fn bind2(
    handle: vk::Device,
    count: u32,
    infos: *const vk::BindBufferMemoryInfo<'_>,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, and `infos` has `count` valid elements.
    unsafe {
        forward!(handle, vkBindBufferMemory2 | vkBindBufferMemory2KHR, |device, next| {
            let result = next(handle, count, infos);
            if let Some((state, addresses)) = addresses_of(device) {
                for info in elements(infos, count) {
                    match bind_result(info).unwrap_or(result) {
                        vk::Result::SUCCESS => note(device, state, addresses, info.buffer, info.memory),
                        // "If the vkBindBufferMemory2 command failed, .. the buffers are in an indeterminate state."
                        _ if addresses.knows(info.buffer) => addresses.give_up(&device.instance.log),
                        _ => {}
                    }
                }
            }
            result
        })
    }
}

/// The result for one buffer, if the program asks for it.
///
/// # Safety
/// The structure must be valid.
unsafe fn bind_result(info: &vk::BindBufferMemoryInfo<'_>) -> Option<vk::Result> {
    type Status = vk::BindMemoryStatusKHR<'static>;
    // SAFETY: the chain is valid, and the driver has written the result (the caller's contract).
    unsafe { chain::find::<Status>(info.p_next)?.p_result.as_ref().copied() }
}

fn addresses_of(device: &Device) -> Option<(&AbortState, &Addresses)> {
    let state = device.state.as_ref()?;
    Some((state, state.addresses.as_ref()?))
}

/// Notes the address of a buffer that has memory.
///
/// # Safety
/// The buffer must be live, and have the memory that it needs.
unsafe fn note(
    device: &Device,
    state: &AbortState,
    addresses: &Addresses,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
) {
    let (functions, log) = ((device.handle, &device.next), &device.instance.log);
    // SAFETY: the buffer is live, and has its memory (the caller's contract).
    unsafe { addresses.note_memory(functions, buffer, memory, || state.queues.values(), log) };
}
