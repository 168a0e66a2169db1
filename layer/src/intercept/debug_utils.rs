//! `VK_EXT_debug_utils`: the messengers that reports go to, and the object names that reports contain.

use super::{MISSING, command, guarded, next_of};
use crate::device::state::Messenger;
use crate::loader::registry::instance_of;
use crate::locks::lock;
use ash::vk;
use std::ffi::CStr;

pub unsafe extern "system" fn create_messenger(
    handle: vk::Instance,
    info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    messenger: *mut vk::DebugUtilsMessengerEXT,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the instance is live, `info` valid, and `messenger` may be written.
        unsafe {
            let Some(instance) = instance_of(handle) else {
                return MISSING;
            };
            let Some(next) = instance.next.vkCreateDebugUtilsMessengerEXT else {
                return MISSING;
            };
            let result = next(handle, info, allocator, messenger);
            if result == vk::Result::SUCCESS {
                lock(&instance.messengers).push(Messenger::new(*messenger, &*info));
            }
            result
        }
    })
}

pub unsafe extern "system" fn destroy_messenger(
    handle: vk::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    guarded((), || {
        // SAFETY: valid usage: the instance is live.
        let Some(instance) = (unsafe { instance_of(handle) }) else {
            return;
        };
        // The messenger of the instance's creation has the null handle, and is not destroyed by this.
        if messenger != vk::DebugUtilsMessengerEXT::null() {
            lock(&instance.messengers).retain(|m| m.handle != messenger);
        }
        if let Some(next) = instance.next.vkDestroyDebugUtilsMessengerEXT {
            // SAFETY: the application's own arguments.
            unsafe { next(handle, messenger, allocator) };
        }
    });
}

pub unsafe extern "system" fn set_object_name(
    handle: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live, and `info` valid with a null or null-terminated name.
        unsafe {
            let Some((device, next)) = next_of(handle, |t| t.vkSetDebugUtilsObjectNameEXT) else {
                return MISSING;
            };
            if let (Some(state), Some(info)) = (&device.state, info.as_ref()) {
                let name = match info.p_object_name.is_null() {
                    true => String::new(),
                    false => CStr::from_ptr(info.p_object_name).to_string_lossy().into_owned(),
                };
                state.objects.set_name(info.object_type, info.object_handle, name);
            }
            next(handle, info)
        }
    })
}
