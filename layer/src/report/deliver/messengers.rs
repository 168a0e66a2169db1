//! Passes reports and prints to the application's debug-utils messengers.

use crate::device::Device;
use crate::locks::lock;
use crate::settings::MessengerSeverity;
use ash::vk::{self, Handle as _};
use std::ffi::{CString, c_void};
use vkabort_report::{Report, SiteReport};

const TYPE: vk::DebugUtilsMessageTypeFlagsEXT = vk::DebugUtilsMessageTypeFlagsEXT::GENERAL;

/// Passes aborts to the messengers that receive messages of the severity in the settings, with the labels of the first site.
pub fn send_report(device: &Device, report: &Report) {
    let Some(severity) = flag(device.instance.settings.messenger_severity) else {
        return;
    };
    let receivers = receivers(device, severity);
    if receivers.is_empty() {
        return;
    }
    let text = c_string(&report.text(false));
    let site = report.sites.first();
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
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(c"vkabort")
        .message(&text)
        .queue_labels(&queue_labels)
        .cmd_buf_labels(&command_labels);
    call(device, &receivers, severity, data);
}

/// Passes prints to the messengers that receive information, unless the settings turn messages off.
pub fn send_prints<'p>(device: &Device, prints: impl Iterator<Item = &'p str>) {
    let severity = vk::DebugUtilsMessageSeverityFlagsEXT::INFO;
    if flag(device.instance.settings.messenger_severity).is_none() {
        return;
    }
    let receivers = receivers(device, severity);
    if receivers.is_empty() {
        return;
    }
    for print in prints {
        let text = c_string(print);
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
            .message_id_name(c"vkabort-printf")
            .message(&text);
        call(device, &receivers, severity, data);
    }
}

/// A callback and its argument.
type Receiver = (
    unsafe extern "system" fn(
        vk::DebugUtilsMessageSeverityFlagsEXT,
        vk::DebugUtilsMessageTypeFlagsEXT,
        *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
        *mut c_void,
    ) -> vk::Bool32,
    *mut c_void,
);

/// The messengers that receive general messages of a severity. Copied, so that no callback runs under the lock.
fn receivers(device: &Device, severity: vk::DebugUtilsMessageSeverityFlagsEXT) -> Vec<Receiver> {
    let mut receivers: Vec<Receiver> = Vec::new();
    for messenger in lock(&device.instance.messengers).iter() {
        let Some(callback) = messenger.callback else { continue };
        // Programs usually register the messenger of `VkInstanceCreateInfo` a second time.
        let is_same = |other: &Receiver| (other.0 as usize, other.1) == (callback as usize, messenger.user_data);
        if messenger.severity.contains(severity) && messenger.types.contains(TYPE) && !receivers.iter().any(is_same) {
            receivers.push((callback, messenger.user_data));
        }
    }
    receivers
}

/// Calls the messengers, with the device as the object concerned.
fn call(
    device: &Device,
    receivers: &[Receiver],
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    data: vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    let objects = [vk::DebugUtilsObjectNameInfoEXT {
        object_type: vk::ObjectType::DEVICE,
        object_handle: device.handle.as_raw(),
        ..Default::default()
    }];
    let data = data.objects(&objects);
    for (callback, user_data) in receivers {
        // SAFETY: the application registered the callback together with this argument, and the data outlives the call. The
        // messenger lives until this command has returned: vkDestroyDebugUtilsMessengerEXT must not be "executed in parallel with
        // any Vulkan command that is also called with `instance` or child of `instance` as the dispatchable argument".
        unsafe { callback(severity, TYPE, &data, *user_data) };
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
