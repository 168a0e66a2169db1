//! Result codes.

use crate::verdict::{CheckOutput, Stop};
use ash::vk;

/// Turns the error of a call that a check expects to succeed into a failed check.
pub trait Named<T> {
    /// Returns the value, or a failure that names the call.
    fn named(self, call: &str) -> CheckOutput<T>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &str) -> CheckOutput<T> {
        self.map_err(|result| Stop::Fail(format!("{call} returned {}", show(result))))
    }
}

/// The result code of a call without a value.
pub fn code(result: Result<(), vk::Result>) -> vk::Result {
    result.err().unwrap_or(vk::Result::SUCCESS)
}

/// `VK_ERROR_NOT_ENOUGH_SPACE_KHR`, which ash 0.38 does not declare.
pub const NOT_ENOUGH_SPACE: vk::Result = vk::Result::from_raw(-1_000_483_000);

/// Name of a result in the C API.
pub fn show(result: vk::Result) -> String {
    let name = format!("{result:?}");
    if result == NOT_ENOUGH_SPACE {
        "VK_ERROR_NOT_ENOUGH_SPACE_KHR".into()
    } else if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        format!("VK_{name}")
    } else {
        format!("VkResult {name}")
    }
}
