//! The refusal of a device.

use ash::vk;

/// The result and the reason if a device cannot be created as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The result of `vkCreateDevice`.
    pub result: vk::Result,
    /// The reason, for the log.
    pub reason: String,
}
