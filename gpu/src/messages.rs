//! Collects messages that layers send through `VK_EXT_debug_utils`.

use ash::vk;
use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

/// Messages of severity warning and error, in order.
#[derive(Default)]
pub struct Messages {
    said: Mutex<Vec<String>>,
    expected: Mutex<Vec<&'static str>>,
}

impl Messages {
    /// Ignores messages that contain `text`: the case provokes them on purpose.
    pub fn expect(&self, text: &'static str) {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Takes the collected messages, without expected ones.
    pub fn take(&self) -> Vec<String> {
        let expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said = std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner));
        said.retain(|message| !expected.iter().any(|text| message.contains(text)));
        said
    }

    fn push(&self, message: String) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// A messenger that adds to `self`, for the chain of `VkInstanceCreateInfo` and for
    /// `vkCreateDebugUtilsMessengerEXT`. `self` must outlive the instance.
    pub fn messenger(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type};
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::WARNING | Severity::ERROR)
            .message_type(Type::VALIDATION | Type::PERFORMANCE)
            .pfn_user_callback(Some(collect))
            .user_data(std::ptr::from_ref(self).cast_mut().cast())
    }
}

unsafe extern "system" fn collect(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the user data is the `Messages`, which outlives the instance and never moves.
    let messages = unsafe { &*messages.cast::<Messages>() };
    let text = |pointer: *const std::ffi::c_char| -> Cow<'static, str> {
        if pointer.is_null() {
            return "".into();
        }
        // SAFETY: the specification requires NUL-terminated strings, and the reference does not outlive the callback's data.
        unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned().into()
    };
    // SAFETY: the callback data is valid for the call.
    if let Some(data) = unsafe { data.as_ref() } {
        messages.push(format!("{}: {}", text(data.p_message_id_name), text(data.p_message)));
    }
    vk::FALSE
}
