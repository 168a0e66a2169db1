//! `VkEvent`.

use super::{MISSING, command};
use crate::device_loss::DrainBudget;
use crate::loader::registry::device_of;
use ash::vk;

pub unsafe extern "system" fn status(device: vk::Device, event: vk::Event) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        match unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkGetEventStatus?))) {
            // SAFETY: forwarded as it came.
            Some((known, next)) => known.checked(DrainBudget::Poll, || unsafe { next(device, event) }),
            None => MISSING,
        }
    })
}
