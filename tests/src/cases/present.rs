//! Presentation to a headless surface, before and after the loss.

use super::support::{GROUPS, entry_point, expect, open_with_extensions, words};
use crate::case::{Case, Context, cases};
use crate::vk::{Device, Submission, code};
use anyhow::{Result, ensure};
use ash::{ext, khr, vk};

pub(super) const CASES: &[Case] = cases! {
    "present::a_healthy_device_presents" => frames(context, None), silent();
    "present::a_lost_device_neither_acquires_nor_presents" => frames(context, Some(2));
};

const FRAMES: u32 = 5;

/// Presents [`FRAMES`] frames. The dispatch of frame `aborting` aborts.
fn frames(context: &Context, aborting: Option<u32>) -> Result<()> {
    let names = [khr::surface::NAME, ext::headless_surface::NAME];
    let gpu = open_with_extensions(context, vk::API_VERSION_1_3, &names)?;
    gpu.require_extension(khr::swapchain::NAME)?;
    let surfaces = khr::surface::Instance::new(&gpu.entry, &gpu.instance);
    let headless = ext::headless_surface::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the create info is valid and the instance outlives the surface.
    let surface = unsafe { headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None) }?;
    let result = Device::with_extensions(&gpu, &[khr::swapchain::NAME], Vec::new())
        .and_then(|device| on_surface(&device, &surfaces, surface, aborting));
    // SAFETY: `on_surface` has destroyed the swapchains of the surface.
    unsafe { surfaces.destroy_surface(surface, None) };
    result
}

fn on_surface(
    device: &Device<'_>,
    surfaces: &khr::surface::Instance,
    surface: vk::SurfaceKHR,
    aborting: Option<u32>,
) -> Result<()> {
    let gpu = device.gpu;
    let commands = khr::swapchain::Device::new(&gpu.instance, &device.raw);
    // SAFETY: the handles belong to the living instance and device, and the structures are valid.
    unsafe {
        let supported = surfaces.get_physical_device_surface_support(gpu.physical, device.family, surface)?;
        gpu.require(supported.into(), "presentation to headless surfaces")?;
        let capabilities = surfaces.get_physical_device_surface_capabilities(gpu.physical, surface)?;
        let formats = surfaces.get_physical_device_surface_formats(gpu.physical, surface)?;
        let modes = surfaces.get_physical_device_surface_present_modes(gpu.physical, surface)?;
        ensure!(modes.contains(&vk::PresentModeKHR::FIFO), "FIFO is not supported");
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(capabilities.min_image_count.max(2))
            .image_format(formats[0].format)
            .image_color_space(formats[0].color_space)
            .image_extent(vk::Extent2D { width: 64, height: 64 })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO);
        let swapchain = commands.create_swapchain(&info, None)?;
        let result = present(device, &commands, swapchain, aborting);
        let second = aborting.map(|_| code(commands.create_swapchain(&info.old_swapchain(swapchain), None)));
        commands.destroy_swapchain(swapchain, None);
        result?;
        second.map_or(Ok(()), |result| expect(result, true, "vkCreateSwapchainKHR"))?;
    }
    Ok(())
}

/// Draws and presents frames until the loss, or all of them.
///
/// # Safety
///
/// `swapchain` must belong to `device`.
unsafe fn present(
    device: &Device<'_>,
    commands: &khr::swapchain::Device,
    swapchain: vk::SwapchainKHR,
    aborting: Option<u32>,
) -> Result<()> {
    let raw = &device.raw;
    // SAFETY: the handles belong to the device; each frame waits for its work before the next frame starts.
    unsafe {
        let images = commands.get_swapchain_images(swapchain)?;
        let fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let mut semaphores_in_use = Vec::new();
        let mut lost = false;
        for frame in 0..FRAMES {
            let aborts = aborting == Some(frame);
            // Nothing is presented after the loss, so an acquisition with an infinite timeout might never return.
            let limit = if lost { 1_000_000 } else { u64::MAX };
            let acquired = commands.acquire_next_image(swapchain, limit, vk::Semaphore::null(), fence);
            if lost {
                let result = code(acquired);
                expect(result, true, "vkAcquireNextImageKHR")?;
                continue;
            }
            let (index, _) = acquired?;
            raw.wait_for_fences(&[fence], true, u64::MAX)?;
            raw.reset_fences(&[fence])?;
            let kernel = entry_point(device, &words(aborts))?;
            let dispatch = kernel.record(GROUPS)?;
            let submission = Submission::record(device, |raw, commands| {
                let barrier = vk::ImageMemoryBarrier::default()
                    .image(images[index as usize])
                    .old_layout(vk::ImageLayout::UNDEFINED)
                    .new_layout(vk::ImageLayout::PRESENT_SRC_KHR)
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .subresource_range(vk::ImageSubresourceRange {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        level_count: 1,
                        layer_count: 1,
                        ..Default::default()
                    });
                let all = vk::PipelineStageFlags::ALL_COMMANDS;
                raw.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[], &[], &[barrier]);
            })?;
            let semaphore = raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?;
            semaphores_in_use.push(semaphore);
            let semaphores = [semaphore];
            let buffers = [dispatch.commands, submission.commands];
            let info = vk::SubmitInfo::default()
                .command_buffers(&buffers)
                .signal_semaphores(&semaphores);
            raw.queue_submit(device.queue, &[info], submission.fence)?;
            let (swapchains, indices) = ([swapchain], [index]);
            let info = vk::PresentInfoKHR::default()
                .wait_semaphores(&semaphores)
                .swapchains(&swapchains)
                .image_indices(&indices);
            if aborts {
                expect(submission.wait(), true, "vkWaitForFences")?;
                let presented = code(commands.queue_present(device.queue, &info));
                expect(presented, true, "vkQueuePresentKHR")?;
                ensure!(device.payloads()?.len() == 1, "no message");
                lost = true;
            } else {
                let presented = code(commands.queue_present(device.queue, &info));
                let results = [presented, submission.wait()];
                ensure!(results == [vk::Result::SUCCESS; 2], "{results:?}");
                // The presentation may still wait for its semaphore.
                raw.queue_wait_idle(device.queue)?;
            }
        }
        for semaphore in semaphores_in_use {
            raw.destroy_semaphore(semaphore, None);
        }
        raw.destroy_fence(fence, None);
    }
    Ok(())
}
