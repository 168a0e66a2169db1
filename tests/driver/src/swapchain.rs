//! Surfaces without output, and swapchains with two images.

use crate::enumerate::{fill, slice};
use crate::handle::{self, Allocator, Object, Out};
use crate::physical::PhysicalDevice;
use crate::queue::Queue;
use crate::state::Device;
use crate::submit::signal_from;
use crate::sync::{Fence, Semaphore};
use ash::vk::{self, Handle};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of images of a swapchain.
const IMAGES: usize = 2;

/// A swapchain.
pub struct Swapchain {
    images: [u64; IMAGES],
    acquired: [AtomicBool; IMAGES],
}

pub extern "system" fn surface_support(
    _: &PhysicalDevice,
    family: u32,
    _: vk::SurfaceKHR,
    supported: Out<'_, vk::Bool32>,
) -> vk::Result {
    supported.write((family == 0).into());
    vk::Result::SUCCESS
}

pub extern "system" fn surface_capabilities(
    _: &PhysicalDevice,
    _: vk::SurfaceKHR,
    capabilities: Out<'_, vk::SurfaceCapabilitiesKHR>,
) -> vk::Result {
    let extent = vk::Extent2D { width: 64, height: 64 };
    capabilities.write(vk::SurfaceCapabilitiesKHR {
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
    });
    vk::Result::SUCCESS
}

pub extern "system" fn surface_formats(
    _: &PhysicalDevice,
    _: vk::SurfaceKHR,
    count: &mut u32,
    list: *mut vk::SurfaceFormatKHR,
) -> vk::Result {
    let only = vk::SurfaceFormatKHR {
        format: vk::Format::B8G8R8A8_UNORM,
        color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR,
    };
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    unsafe { fill(&[only], count, list) }
}

pub extern "system" fn present_modes(
    _: &PhysicalDevice,
    _: vk::SurfaceKHR,
    count: &mut u32,
    list: *mut vk::PresentModeKHR,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    unsafe { fill(&[vk::PresentModeKHR::FIFO], count, list) }
}

pub extern "system" fn create(
    device: &Device,
    _: *const c_void,
    allocator: Allocator<'_>,
    swapchain: Out<'_, u64>,
) -> vk::Result {
    let status = device.status();
    if status != vk::Result::SUCCESS {
        return status;
    }
    let created = Swapchain {
        images: [(); IMAGES].map(|()| handle::token()),
        acquired: [const { AtomicBool::new(false) }; IMAGES],
    };
    handle::create_with(allocator, swapchain, created)
}

pub extern "system" fn create_shared(
    device: &Device,
    count: u32,
    infos: *const c_void,
    allocator: Allocator<'_>,
    swapchains: *mut MaybeUninit<u64>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the array has `count` elements.
    let mut swapchains = unsafe { std::slice::from_raw_parts_mut(swapchains, count as usize) }.iter_mut();
    let failed = swapchains
        .by_ref()
        .map(|swapchain| create(device, infos, allocator, swapchain))
        .find(|result| *result != vk::Result::SUCCESS);
    failed.unwrap_or(vk::Result::SUCCESS)
}

pub extern "system" fn images(
    _: &Device,
    swapchain: Object<'_, Swapchain>,
    count: &mut u32,
    list: *mut u64,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    unsafe { fill(&swapchain.images, count, list) }
}

/// Waits for a free image. Acquired images become free when they are presented.
pub extern "system" fn acquire(
    device: &Device,
    swapchain: Object<'_, Swapchain>,
    timeout: u64,
    semaphore: Option<Object<'_, Semaphore>>,
    fence: Option<Object<'_, Fence>>,
    index: &mut u32,
) -> vk::Result {
    let index = std::cell::Cell::from_mut(index);
    let take = || {
        let mut free = swapchain.acquired.iter();
        let free = free.position(|taken| !taken.swap(true, Ordering::AcqRel));
        free.inspect(|free| index.set(*free as u32)).is_some()
    };
    match device.wait(timeout, take) {
        vk::Result::TIMEOUT if timeout == 0 => vk::Result::NOT_READY,
        vk::Result::SUCCESS => {
            semaphore.inspect(|semaphore| semaphore.signal(1));
            fence.inspect(|fence| fence.signal());
            vk::Result::SUCCESS
        }
        other => other,
    }
}

pub extern "system" fn acquire2(
    device: &Device,
    info: &vk::AcquireNextImageInfoKHR<'_>,
    index: &mut u32,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the handles are live, or null if they are optional.
    let (swapchain, semaphore, fence) = unsafe {
        (
            Object::of(info.swapchain.as_raw()),
            Object::of(info.semaphore.as_raw()),
            Object::of(info.fence.as_raw()),
        )
    };
    swapchain.map_or_else(
        || device.status(),
        |swapchain| acquire(device, swapchain, info.timeout, semaphore, fence, index),
    )
}

pub extern "system" fn present(queue: &Queue, info: &vk::PresentInfoKHR<'_>) -> vk::Result {
    // SAFETY: by the command's valid usage, the arrays have an element per swapchain.
    let (swapchains, images) = unsafe {
        (
            slice(info.p_swapchains.cast::<&Swapchain>(), info.swapchain_count),
            slice(info.p_image_indices, info.swapchain_count),
        )
    };
    signal_from(queue, || {
        for (index, (swapchain, image)) in swapchains.iter().zip(images).enumerate() {
            if let Some(taken) = swapchain.acquired.get(*image as usize) {
                taken.store(false, Ordering::Release);
            }
            if !info.p_results.is_null() {
                // SAFETY: by the command's valid usage, the array has an element per swapchain.
                unsafe { info.p_results.add(index).write(vk::Result::SUCCESS) };
            }
        }
    })
}

/// Images are never displayed, so the wait uses up its timeout.
pub extern "system" fn wait_for_present(device: &Device, _: u64, _: u64, timeout: u64) -> vk::Result {
    device.wait(timeout, || false)
}

pub extern "system" fn wait_for_present2(
    device: &Device,
    swapchain: u64,
    info: &vk_ext::PresentWait2Info,
) -> vk::Result {
    wait_for_present(device, swapchain, info.present_id, info.timeout)
}

pub extern "system" fn set_perf_hint(queue: &Queue, _: *const c_void) -> vk::Result {
    signal_from(queue, || {})
}
