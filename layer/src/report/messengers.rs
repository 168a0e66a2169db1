//! Passes reports and prints to the application's debug-utils messengers.

use crate::device::state::{Device, Messenger};
use crate::locks::lock;
use crate::settings::MessengerSeverity;
use ash::vk::{self, Handle as _};
use std::ffi::{CString, c_void};
use vkabort_record::report::{Report, SiteReport};

const TYPE: vk::DebugUtilsMessageTypeFlagsEXT = vk::DebugUtilsMessageTypeFlagsEXT::GENERAL;

/// What a messenger receives.
#[derive(Clone, Copy)]
pub enum Message<'m> {
    /// Aborts, of the severity in the settings, with the labels of the first site.
    Report(&'m Report),
    /// A print of a shader: information, unless the settings turn messages off.
    Print(&'m str),
}

/// Calls each messenger that receives general messages of the message's severity, with the device as the object concerned.
pub fn send(device: &Device, message: Message<'_>) {
    let Some(severity) = flag(device.instance.settings.messenger_severity) else {
        return;
    };
    let (severity, name, text, site) = match message {
        Message::Report(report) => (
            severity,
            c"vkabort",
            c_string(&report.text(false)),
            report.sites.first(),
        ),
        Message::Print(text) => (
            vk::DebugUtilsMessageSeverityFlagsEXT::INFO,
            c"vkabort-printf",
            c_string(text),
            None,
        ),
    };
    // Copied, so that no callback runs under the lock.
    let messengers: Vec<Messenger> = lock(&device.instance.messengers).clone();
    let names = |pick: fn(&SiteReport) -> &[String]| -> Vec<CString> {
        let names = site.map(pick).unwrap_or_default();
        names.iter().rev().map(|name| c_string(name)).collect()
    };
    let (queue_names, command_names) = (names(|site| &site.queue_labels), names(|site| &site.labels));
    let [queue_labels, command_labels] = [&queue_names, &command_names].map(|names| {
        let labels = names
            .iter()
            .map(|name| vk::DebugUtilsLabelEXT::default().label_name(name));
        labels.collect::<Vec<_>>()
    });
    let objects = [vk::DebugUtilsObjectNameInfoEXT {
        object_type: vk::ObjectType::DEVICE,
        object_handle: device.handle.as_raw(),
        ..Default::default()
    }];
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(name)
        .message(&text)
        .queue_labels(&queue_labels)
        .cmd_buf_labels(&command_labels)
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

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
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
