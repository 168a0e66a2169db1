//! `VkSwapchainKHR`.

use super::{MISSING, command, wait};
use crate::device_loss::DrainBudget;
use crate::loader::ffi::PresentWait2Info;
use crate::loader::registry::device_of;
use ash::vk;
use std::ffi::c_void;

/// A command that returns without waiting: a look at the device before and after.
macro_rules! checked {
    ($own:ident, $next:ident, ($($argument:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $own(device: vk::Device, $($argument: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: a valid device.
                match unsafe { device_of(device) }.and_then(|d| Some((d, d.next.$next?))) {
                    // SAFETY: forwarded as it came.
                    Some((known, next)) => known.checked(DrainBudget::Poll, || unsafe { next(device, $($argument),*) }),
                    None => MISSING,
                }
            })
        }
    };
}

/// A command that makes objects: a look before only, since a result of ours would lose what the driver made.
macro_rules! creating {
    ($own:ident, $next:ident, ($($argument:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $own(device: vk::Device, $($argument: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: a valid device.
                let Some((known, next)) = unsafe { device_of(device) }.and_then(|d| Some((d, d.next.$next?))) else {
                    return MISSING;
                };
                match known.checked(DrainBudget::Poll, || vk::Result::SUCCESS) {
                    // SAFETY: forwarded as it came.
                    vk::Result::SUCCESS => match unsafe { next(device, $($argument),*) } {
                        vk::Result::SUCCESS => vk::Result::SUCCESS,
                        error => known.observe(error, DrainBudget::Poll),
                    },
                    lost => lost,
                }
            })
        }
    };
}

creating!(create, vkCreateSwapchainKHR, (
    info: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    swapchain: *mut vk::SwapchainKHR
));
creating!(create_shared, vkCreateSharedSwapchainsKHR, (
    count: u32,
    infos: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    swapchains: *mut vk::SwapchainKHR
));
checked!(status, vkGetSwapchainStatusKHR, (swapchain: vk::SwapchainKHR));
checked!(counter, vkGetSwapchainCounterEXT, (
    swapchain: vk::SwapchainKHR,
    counter: vk::SurfaceCounterFlagsEXT,
    value: *mut u64
));
checked!(refresh_cycle_duration, vkGetRefreshCycleDurationGOOGLE, (
    swapchain: vk::SwapchainKHR,
    properties: *mut vk::RefreshCycleDurationGOOGLE
));
checked!(past_timing_google, vkGetPastPresentationTimingGOOGLE, (
    swapchain: vk::SwapchainKHR,
    count: *mut u32,
    timings: *mut vk::PastPresentationTimingGOOGLE
));
checked!(past_timing_ext, vkGetPastPresentationTimingEXT, (info: *const c_void, properties: *mut c_void));

pub unsafe extern "system" fn acquire(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    index: *mut u32,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        match unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkAcquireNextImageKHR?))) {
            // SAFETY: forwarded as it came, but for the timeout.
            Some((known, next)) => wait::sliced(known, timeout, |slice| unsafe {
                next(device, swapchain, slice, semaphore, fence, index)
            }),
            None => MISSING,
        }
    })
}

pub unsafe extern "system" fn acquire2(
    device: vk::Device,
    info: *const vk::AcquireNextImageInfoKHR<'_>,
    index: *mut u32,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device, and a valid structure or at worst null.
        let found = unsafe { (device_of(device), info.as_ref()) };
        match (found.0.and_then(|d| Some((d, d.next.vkAcquireNextImage2KHR?))), found.1) {
            (Some((known, next)), Some(info)) => wait::sliced(known, info.timeout, |slice| {
                let sliced = vk::AcquireNextImageInfoKHR {
                    timeout: slice,
                    ..*info
                };
                // SAFETY: forwarded as it came, but for the timeout.
                unsafe { next(device, &sliced, index) }
            }),
            _ => MISSING,
        }
    })
}

pub unsafe extern "system" fn wait_for_present(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    present_id: u64,
    timeout: u64,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        match unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkWaitForPresentKHR?))) {
            // SAFETY: forwarded as it came, but for the timeout.
            Some((known, next)) => wait::sliced(known, timeout, |slice| unsafe {
                next(device, swapchain, present_id, slice)
            }),
            None => MISSING,
        }
    })
}

pub unsafe extern "system" fn wait_for_present2(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    info: *const PresentWait2Info,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device, and a valid structure or at worst null.
        let found = unsafe { (device_of(device), info.as_ref()) };
        match (found.0.and_then(|d| Some((d, d.next.vkWaitForPresent2KHR?))), found.1) {
            (Some((known, next)), Some(info)) => wait::sliced(known, info.timeout, |slice| {
                let sliced = PresentWait2Info {
                    timeout: slice,
                    ..*info
                };
                // SAFETY: forwarded as it came, but for the timeout.
                unsafe { next(device, swapchain, &sliced) }
            }),
            _ => MISSING,
        }
    })
}
