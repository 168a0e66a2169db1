//! `VK_EXT_debug_utils`: the messengers that reports go to, and the object names and queue labels that reports contain.

use super::{MISSING, command, forward, guarded};
use crate::device::Device;
use crate::device::registry::instance_of;
use crate::device::state::{Messenger, QueueLabels};
use crate::loader::dispatch::DeviceTable;
use crate::loader::ffi::string;
use crate::locks::lock;
use ash::vk::{self, Handle as _};
use std::ffi::c_char;

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
        // SAFETY: valid usage: instance and messenger are live; the messenger may be null.
        unsafe {
            let Some(instance) = instance_of(handle) else {
                return;
            };
            // The messenger of the instance's creation has the null handle, and is not destroyed by this.
            if messenger != vk::DebugUtilsMessengerEXT::null() {
                lock(&instance.messengers).retain(|m| m.handle != messenger);
            }
            if let Some(next) = instance.next.vkDestroyDebugUtilsMessengerEXT {
                next(handle, messenger, allocator);
            }
        }
    });
}

pub unsafe extern "system" fn set_object_name(
    handle: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, and `info` valid with a null or null-terminated name.
    unsafe {
        forward!(handle, vkSetDebugUtilsObjectNameEXT, |device, next| {
            if let (Some(state), Some(info)) = (&device.state, info.as_ref()) {
                let name = text(info.p_object_name);
                if let Some(addresses) = state
                    .addresses
                    .as_ref()
                    .filter(|_| info.object_type == vk::ObjectType::BUFFER)
                {
                    addresses.set_name(vk::Buffer::from_raw(info.object_handle), &name);
                }
                state.objects.set_name(info.object_type, info.object_handle, name);
            }
            next(handle, info)
        })
    }
}

/// # Safety
/// `text` must be null or null-terminated.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: null or null-terminated (the caller's contract).
    unsafe { string(text) }
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn labels_of(device: &Device, handle: vk::Queue) -> Option<&QueueLabels> {
    let queue = device.state.as_ref()?.queue(device, handle)?;
    Some(&queue.labels)
}

/// Forwards, then adds a label to those of the queue.
///
/// # Safety
/// `handle` must be a live queue, and `info` null or valid.
unsafe fn add_label(
    handle: vk::Queue,
    info: *const vk::DebugUtilsLabelEXT<'_>,
    pick: impl FnOnce(&DeviceTable) -> Option<vk::PFN_vkQueueBeginDebugUtilsLabelEXT>,
    add: impl FnOnce(&QueueLabels, String),
) {
    // SAFETY: the queue is live, and `info` null or valid (the caller's contract).
    unsafe {
        forward(handle, pick, |device, next| {
            next(handle, info);
            if let (Some(labels), Some(info)) = (labels_of(device, handle), info.as_ref()) {
                add(labels, text(info.p_label_name));
            }
        });
    }
}

pub unsafe extern "system" fn begin_queue_label(handle: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
    // SAFETY: valid usage: the queue is live, and `info` valid.
    unsafe { add_label(handle, info, |t| t.vkQueueBeginDebugUtilsLabelEXT, QueueLabels::begin) };
}

pub unsafe extern "system" fn insert_queue_label(handle: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
    // SAFETY: valid usage: the queue is live, and `info` valid.
    unsafe { add_label(handle, info, |t| t.vkQueueInsertDebugUtilsLabelEXT, QueueLabels::insert) };
}

pub unsafe extern "system" fn end_queue_label(handle: vk::Queue) {
    // SAFETY: valid usage: the queue is live.
    unsafe {
        forward!(handle, vkQueueEndDebugUtilsLabelEXT, |device, next| {
            next(handle);
            if let Some(labels) = labels_of(device, handle) {
                labels.end();
            }
        });
    }
}
