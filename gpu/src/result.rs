//! Result codes.

use ash::prelude::VkResult;
use ash::vk;
use vk_ext::ERROR_NOT_ENOUGH_SPACE;

/// Result code of a call, `VK_SUCCESS` included.
pub fn code<T>(result: VkResult<T>) -> vk::Result {
    result.err().unwrap_or(vk::Result::SUCCESS)
}

/// Name of a result in the C API.
pub fn show(result: vk::Result) -> String {
    let name = format!("{result:?}");
    if result == ERROR_NOT_ENOUGH_SPACE {
        "VK_ERROR_NOT_ENOUGH_SPACE_KHR".into()
    } else if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        format!("VK_{name}")
    } else {
        format!("VkResult {name}")
    }
}

/// An error as text. One of a call is `CALL returned RESULT`, with the name that was given as its context.
pub fn describe(error: &anyhow::Error) -> String {
    match error.root_cause().downcast_ref::<vk::Result>() {
        Some(&result) if error.chain().len() > 1 => {
            let contexts = error.chain().take(error.chain().len() - 1);
            let contexts: Vec<String> = contexts.map(ToString::to_string).collect();
            format!("{} returned {}", contexts.join(": "), show(result))
        }
        Some(&result) => show(result),
        None => format!("{error:#}"),
    }
}
