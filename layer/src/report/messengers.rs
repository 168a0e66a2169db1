//! Passes a report to the application's debug-utils messengers.

use crate::device::state::{Device, Messenger};
use crate::locks::lock;
use crate::settings::MessengerSeverity;
use ash::vk::{self, Handle as _};
use std::ffi::{CString, c_void};

const TYPE: vk::DebugUtilsMessageTypeFlagsEXT = vk::DebugUtilsMessageTypeFlagsEXT::GENERAL;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Aborts: of the severity in the settings.
    Report,
    /// A print of a shader: information, unless the settings turn messages off.
    Print,
}

/// Calls each messenger that receives general messages of the subject's severity, with the device as the object concerned.
pub fn send(device: &Device, subject: Subject, text: &str) {
    let Some(severity) = flag(device.instance.settings.messenger_severity) else {
        return;
    };
    let (severity, name) = match subject {
        Subject::Report => (severity, c"vkabort"),
        Subject::Print => (vk::DebugUtilsMessageSeverityFlagsEXT::INFO, c"vkabort-printf"),
    };
    // Copied, so that no callback runs under the lock.
    let messengers: Vec<Messenger> = lock(&device.instance.messengers).clone();
    let message = CString::new(text.replace('\0', "")).unwrap_or_default();
    let objects = [vk::DebugUtilsObjectNameInfoEXT {
        object_type: vk::ObjectType::DEVICE,
        object_handle: device.handle.as_raw(),
        ..Default::default()
    }];
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(name)
        .message(&message)
        .objects(&objects);
    let mut called: Vec<(usize, *mut c_void)> = Vec::new();
    for messenger in messengers {
        let Some(callback) = messenger.callback else { continue };
        let key = (callback as usize, messenger.user_data);
        // Programs usually register the messenger of `VkInstanceCreateInfo` a second time.
        if !messenger.severity.contains(severity) || !messenger.types.contains(TYPE) || called.contains(&key) {
            continue;
        }
        called.push(key);
        // SAFETY: the application registered the callback together with this argument, and the data outlives the call. The
        // messenger lives until this command has returned: vkDestroyDebugUtilsMessengerEXT must not be "executed in parallel with
        // any Vulkan command that is also called with `instance` or child of `instance` as the dispatchable argument".
        unsafe { callback(severity, TYPE, &data, messenger.user_data) };
    }
}

/// The severity in the API.
fn flag(severity: MessengerSeverity) -> Option<vk::DebugUtilsMessageSeverityFlagsEXT> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Flags;
    match severity {
        MessengerSeverity::Off => None,
        MessengerSeverity::Error => Some(Flags::ERROR),
        MessengerSeverity::Warning => Some(Flags::WARNING),
        MessengerSeverity::Info => Some(Flags::INFO),
        MessengerSeverity::Verbose => Some(Flags::VERBOSE),
    }
}
