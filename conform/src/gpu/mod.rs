//! Vulkan as the checks use it. All `unsafe` code of the checks is here.
//!
//! Nothing is destroyed unless a check asks for it with [`Device::destroy`]: a driver that crashes there would take every
//! verdict with it. Each check is a process of its own, so that everything goes when it ends.

mod device;
mod fault;
mod instance;
mod kernel;

pub use device::{Device, Enable};
pub use fault::Fault;
pub use instance::{Ask, Gpu};
pub use kernel::{Buffer, Cache, Kernel, Submission, Timeline};
pub use vk_ext as khr;

use super::verdict::{Checked, Stop};
use ash::vk;

/// Results of calls that a check does not expect to fail.
trait Named<T> {
    /// The value, or a failed check that names the call.
    fn named(self, call: &str) -> Checked<T>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &str) -> Checked<T> {
        self.map_err(|result| Stop::Fail(format!("{call} returned {}", show(result))))
    }
}

/// The code of a call without a value.
fn code(result: Result<(), vk::Result>) -> vk::Result {
    result.err().unwrap_or(vk::Result::SUCCESS)
}

/// `VK_ERROR_NOT_ENOUGH_SPACE_KHR`, which ash does not know yet.
pub const NOT_ENOUGH_SPACE: vk::Result = vk::Result::from_raw(-1_000_483_000);

/// A result by its name in the C API.
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
