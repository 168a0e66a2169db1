//! `VK_EXT_debug_utils`: the application's messengers, which reports go to, and object names, which stand in them.

use super::{MISSING, command, guarded};
use crate::device::state::Messenger;
use crate::loader::registry::{device_of, instance_of};
use crate::locks::lock;
use ash::vk;
use std::ffi::CStr;

pub unsafe extern "system" fn create_messenger(
    instance: vk::Instance,
    info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    messenger: *mut vk::DebugUtilsMessengerEXT,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid instance.
        let found = unsafe { instance_of(instance) };
        let Some((known, next)) = found.and_then(|i| Some((i, i.next.vkCreateDebugUtilsMessengerEXT?))) else {
            return MISSING;
        };
        // SAFETY: forwarded as it came; afterwards both pointers are valid by the API's rules.
        unsafe {
            let result = next(instance, info, allocator, messenger);
            if result == vk::Result::SUCCESS
                && let (Some(info), Some(handle)) = (info.as_ref(), messenger.as_ref())
            {
                lock(&known.messengers).push(Messenger::new(*handle, info));
            }
            result
        }
    })
}

pub unsafe extern "system" fn destroy_messenger(
    instance: vk::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    guarded((), || {
        // SAFETY: a valid instance.
        let Some(known) = (unsafe { instance_of(instance) }) else {
            return;
        };
        if messenger != vk::DebugUtilsMessengerEXT::null() {
            lock(&known.messengers).retain(|m| m.handle != messenger);
        }
        if let Some(next) = known.next.vkDestroyDebugUtilsMessengerEXT {
            // SAFETY: forwarded as it came.
            unsafe { next(instance, messenger, allocator) };
        }
    });
}

pub unsafe extern "system" fn set_object_name(
    device: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let found = unsafe { device_of(device) };
        let Some((known, next)) = found.and_then(|d| Some((d, d.next.vkSetDebugUtilsObjectNameEXT?))) else {
            return MISSING;
        };
        // SAFETY: a valid structure by the API's rules; the name is null or a C string.
        unsafe {
            if let (Some(state), Some(info)) = (&known.state, info.as_ref()) {
                let name = if info.p_object_name.is_null() {
                    String::new()
                } else {
                    CStr::from_ptr(info.p_object_name).to_string_lossy().into_owned()
                };
                state.names.set(info.object_type, info.object_handle, name);
            }
            next(device, info)
        }
    })
}
