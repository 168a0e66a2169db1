//! Result codes.

use crate::verdict::Stop;
use ash::vk;
use vk_ext::ERROR_NOT_ENOUGH_SPACE;

/// An error of a call, with the call's name as context, fails the check.
impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::Fail(match error.downcast_ref::<vk::Result>() {
            Some(&result) => format!("{error} returned {}", show(result)),
            None => format!("{error:#}"),
        })
    }
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
