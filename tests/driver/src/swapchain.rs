//! Surfaces without output, and swapchains with two images.

use crate::enumerate::fill;
use crate::handle;
use crate::state::device_of;
use crate::submit::signal_from;
use crate::sync::{Fence, Semaphore};
use ash::vk::{self, Handle};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of images of a swapchain.
const IMAGES: usize = 2;

/// A swapchain.
struct Swapchain {
    images: [u64; IMAGES],
    acquired: [AtomicBool; IMAGES],
}

pub unsafe extern "system" fn surface_support(
    _: vk::PhysicalDevice,
    family: u32,
    _: vk::SurfaceKHR,
    supported: *mut vk::Bool32,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { supported.write((family == 0).into()) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn surface_capabilities(
    _: vk::PhysicalDevice,
    _: vk::SurfaceKHR,
    capabilities: *mut vk::SurfaceCapabilitiesKHR,
) -> vk::Result {
    let extent = vk::Extent2D { width: 64, height: 64 };
    let found = vk::SurfaceCapabilitiesKHR {
        min_image_count: IMAGES as u32,
        max_image_count: IMAGES as u32,
        current_extent: extent,
        min_image_extent: extent,
        max_image_extent: extent,
        max_image_array_layers: 1,
        supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
        current_transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
        supported_composite_alpha: vk::CompositeAlphaFlagsKHR::OPAQUE,
        supported_usage_flags: vk::ImageUsageFlags::COLOR_ATTACHMENT,
    };
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { capabilities.write(found) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn surface_formats(
    _: vk::PhysicalDevice,
    _: vk::SurfaceKHR,
    count: *mut u32,
    list: *mut vk::SurfaceFormatKHR,
) -> vk::Result {
    let only = vk::SurfaceFormatKHR {
        format: vk::Format::B8G8R8A8_UNORM,
        color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
    };
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { fill(&[only], count, list) }
}

pub unsafe extern "system" fn present_modes(
    _: vk::PhysicalDevice,
    _: vk::SurfaceKHR,
    count: *mut u32,
    list: *mut vk::PresentModeKHR,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { fill(&[vk::PresentModeKHR::FIFO], count, list) }
}

pub unsafe extern "system" fn create(
    device: vk::Device,
    _: *const vk::SwapchainCreateInfoKHR<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    swapchain: *mut vk::SwapchainKHR,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let status = device_of(device).status();
        if status == vk::Result::SUCCESS {
            let created = handle::create(Swapchain {
                images: [(); IMAGES].map(|()| handle::token()),
                acquired: [const { AtomicBool::new(false) }; IMAGES],
            });
            swapchain.write(vk::SwapchainKHR::from_raw(created));
        }
        status
    }
}

pub unsafe extern "system" fn create_shared(
    device: vk::Device,
    count: u32,
    infos: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    swapchains: *mut vk::SwapchainKHR,
) -> vk::Result {
    let create_one = |index: usize| {
        // SAFETY: by the command's valid usage, arrays are null or have as many elements as their counts.
        unsafe { create(device, infos.add(index), allocator, swapchains.add(index)) }
    };
    let failed = (0..count as usize)
        .map(create_one)
        .find(|result| *result != vk::Result::SUCCESS);
    failed.unwrap_or(vk::Result::SUCCESS)
}

pub unsafe extern "system" fn destroy(
    _: vk::Device,
    swapchain: vk::SwapchainKHR,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, the object is not used afterwards.
    unsafe { handle::destroy::<Swapchain>(swapchain.as_raw()) };
}

pub unsafe extern "system" fn images(
    _: vk::Device,
    swapchain: vk::SwapchainKHR,
    count: *mut u32,
    list: *mut vk::Image,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let images = handle::get::<Swapchain>(swapchain.as_raw()).map_or([0; IMAGES], |swapchain| swapchain.images);
        fill(&images.map(vk::Image::from_raw), count, list)
    }
}

/// Waits for a free image. Acquired images become free when they are presented.
pub unsafe extern "system" fn acquire(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    index: *mut u32,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let Some(swapchain) = handle::get::<Swapchain>(swapchain.as_raw()) else {
            return device_of(device).status();
        };
        let take = || {
            let free = swapchain
                .acquired
                .iter()
                .position(|taken| !taken.swap(true, Ordering::AcqRel));
            free.inspect(|free| index.write(*free as u32)).is_some()
        };
        let result = match device_of(device).wait(timeout, take) {
            vk::Result::TIMEOUT if timeout == 0 => vk::Result::NOT_READY,
            other => other,
        };
        if result == vk::Result::SUCCESS {
            if let Some(semaphore) = handle::get::<Semaphore>(semaphore.as_raw()) {
                semaphore.signal(1);
            }
            if let Some(fence) = handle::get::<Fence>(fence.as_raw()) {
                fence.signal();
            }
        }
        result
    }
}

pub unsafe extern "system" fn acquire2(
    device: vk::Device,
    info: *const vk::AcquireNextImageInfoKHR<'_>,
    index: *mut u32,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let info = &*info;
        acquire(device, info.swapchain, info.timeout, info.semaphore, info.fence, index)
    }
}

pub unsafe extern "system" fn present(queue: vk::Queue, info: *const vk::PresentInfoKHR<'_>) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let info = &*info;
        signal_from(queue, || {
            for index in 0..info.swapchain_count as usize {
                let image = *info.p_image_indices.add(index) as usize;
                let swapchain = handle::get::<Swapchain>((*info.p_swapchains.add(index)).as_raw());
                if let Some(taken) = swapchain.and_then(|swapchain| swapchain.acquired.get(image)) {
                    taken.store(false, Ordering::Release);
                }
                if !info.p_results.is_null() {
                    info.p_results.add(index).write(vk::Result::SUCCESS);
                }
            }
        })
    }
}

/// Any swapchain command that only reports the loss.
pub unsafe extern "system" fn status(device: vk::Device, _: vk::SwapchainKHR) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { device_of(device) }.status()
}

/// Images are never displayed, so the wait uses up its timeout.
pub unsafe extern "system" fn wait_for_present(
    device: vk::Device,
    _: vk::SwapchainKHR,
    _: u64,
    timeout: u64,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { device_of(device) }.wait(timeout, || false)
}

/// `VkPresentWait2InfoKHR`, which ash does not have.
#[repr(C)]
pub struct PresentWait2Info {
    s_type: vk::StructureType,
    next: *const c_void,
    present_id: u64,
    timeout: u64,
}

pub unsafe extern "system" fn wait_for_present2(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    info: *const PresentWait2Info,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { wait_for_present(device, swapchain, (*info).present_id, (*info).timeout) }
}

pub unsafe extern "system" fn set_perf_hint(queue: vk::Queue, _: *const c_void) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { signal_from(queue, || {}) }
}
