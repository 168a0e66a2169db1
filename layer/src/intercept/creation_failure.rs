//! The failures of device creation, and the result that the program gets.

use crate::device::creation::create_info::Refusal;
use ash::vk;

/// The reason why a device was not created.
pub(super) enum Failure {
    /// The layer cannot create it as requested.
    Own(Refusal),
    /// The same, after the next layer has created it: it was destroyed again. The loader then has no object any more for
    /// another device in the same call.
    Destroyed(Refusal),
    /// The next layer returned this result.
    Next(vk::Result),
}

impl Failure {
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Own(refusal) | Self::Destroyed(refusal) => refusal.reason.clone(),
            Self::Next(result) => format!("the driver's vkCreateDevice returned {result:?}"),
        }
    }
}

/// The result of `vkCreateDevice` after a command for the layer's own memory has failed: the same if `vkCreateDevice` can
/// return it.
pub(super) fn result_of(failure: vk::Result) -> vk::Result {
    match failure {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_TOO_MANY_OBJECTS
        | vk::Result::ERROR_DEVICE_LOST => failure,
        _ => vk::Result::ERROR_INITIALIZATION_FAILED,
    }
}
