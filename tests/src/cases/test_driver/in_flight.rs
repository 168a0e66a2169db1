//! Infinite waits in flight on another thread when the device is lost: "vkDeviceWaitIdle, vkQueueWaitIdle,
//! vkWaitForFences, vkAcquireNextImageKHR and vkGetQueryPoolResults with VK_QUERY_RESULT_WAIT_BIT must return in finite
//! time", after an abort as well as after a loss by the driver.

use super::support::{Extra, device_with, kernel};
use crate::case::{Case, cases, slowdown};
use crate::cases::lost_objects::wait_for_timeline;
use crate::cases::support::{GROUPS, expect_lost};
use crate::vk::{Device, Gpu, code, test_driver};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

/// Settings under which the submission is executed once the other thread waits in the driver.
const ABORT: &str = "abort=1,delay=wait";
const LOSS: &str = "lose=execute:1,delay=wait";
const HANG: &str = "abort=1,delay=wait,hang=1";
const SHORT_DRAIN: &[(&str, &str)] = &[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "200")];

macro_rules! waits {
    ($($name:literal $wait:expr;)*) => {
        cases! {$(
            concat!("test_driver_in_flight::", $name, "_when_a_shader_aborts") => ends(gpu, $wait), on_driver(ABORT);
            concat!("test_driver_in_flight::", $name, "_when_the_driver_loses_the_device") => ends(gpu, $wait),
                on_driver(LOSS);
            concat!("test_driver_in_flight::", $name, "_when_a_shader_aborts_and_the_driver_hangs") => ends(gpu, $wait),
                on_driver(HANG), with(SHORT_DRAIN);
        )*}
    };
}

pub(super) const CASES: &[Case] = waits! {
    "vkWaitForFences" fences;
    "vkWaitSemaphores" wait_for_timeline;
    "vkGetQueryPoolResults" queries;
    "vkQueueWaitIdle" queue_idle;
    "vkDeviceWaitIdle" device_idle;
    "vkAcquireNextImageKHR" acquire;
    "vkWaitForPresentKHR" present;
};

/// Waits on another thread until the loss ends the wait.
type Wait = fn(&Device<'_>) -> Result<vk::Result>;

fn ends(gpu: &Gpu, wait: Wait) -> Result<()> {
    let extensions = [ash::khr::swapchain::NAME, ash::khr::present_wait::NAME];
    let device = device_with(gpu, &Extra::extensions(&extensions))?;
    let kernel = kernel(&device)?;
    let submission = kernel.record(GROUPS)?;
    let start = Instant::now();
    ensure!(submission.submit() == vk::Result::SUCCESS, "the submission failed");
    let result = std::thread::scope(|scope| scope.spawn(|| wait(&device)).join())
        .map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    let took = start.elapsed();
    expect_lost(result)?;
    ensure!(took < Duration::from_secs(5) * slowdown(), "the wait took {took:?}");
    Ok(())
}

fn fences(device: &Device<'_>) -> Result<vk::Result> {
    // SAFETY: the fence is destroyed after its last use.
    unsafe {
        let fence = device.raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let result = code(device.raw.wait_for_fences(&[fence], true, u64::MAX));
        device.raw.destroy_fence(fence, None);
        Ok(result)
    }
}

fn queries(device: &Device<'_>) -> Result<vk::Result> {
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::TIMESTAMP)
        .query_count(1);
    // SAFETY: the pool is destroyed after its last use.
    unsafe {
        let pool = device.raw.create_query_pool(&info, None)?;
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let result = code(device.raw.get_query_pool_results(pool, 0, &mut [0u64], flags));
        device.raw.destroy_query_pool(pool, None);
        Ok(result)
    }
}

fn queue_idle(device: &Device<'_>) -> Result<vk::Result> {
    Ok(device.queue_wait_idle())
}

fn device_idle(device: &Device<'_>) -> Result<vk::Result> {
    Ok(code(device.wait_idle()))
}

/// A command of type `T`.
fn command<T: Copy>(device: &Device<'_>, name: &std::ffi::CStr) -> Result<T> {
    let found = device.command(name)?;
    ensure!(size_of::<T>() == size_of_val(&found), "not a function");
    // SAFETY: both are function pointers; the caller chooses the type that the registry gives the command.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

/// Creates a swapchain directly in the driver, because the loader would require a surface.
fn swapchain(device: &Device<'_>) -> Result<vk::SwapchainKHR> {
    let get = test_driver::get_device_proc_addr(device)?;
    let mut swapchain = vk::SwapchainKHR::null();
    let info = vk::SwapchainCreateInfoKHR::default();
    // SAFETY: the driver has the command with this type and does not read the create info.
    unsafe {
        let create = get(device.raw.handle(), c"vkCreateSwapchainKHR".as_ptr());
        let create = create.ok_or_else(|| anyhow::anyhow!("the driver has no swapchains"))?;
        let create = std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateSwapchainKHR>(create);
        create(
            device.raw.handle(),
            &raw const info,
            std::ptr::null(),
            &raw mut swapchain,
        )
        .result()?;
    }
    Ok(swapchain)
}

fn destroy(device: &Device<'_>, swapchain: vk::SwapchainKHR) -> Result<()> {
    let destroy: vk::PFN_vkDestroySwapchainKHR = command(device, c"vkDestroySwapchainKHR")?;
    // SAFETY: the swapchain is not used afterwards.
    unsafe { destroy(device.raw.handle(), swapchain, std::ptr::null()) };
    Ok(())
}

fn acquire(device: &Device<'_>) -> Result<vk::Result> {
    let acquire: vk::PFN_vkAcquireNextImageKHR = command(device, c"vkAcquireNextImageKHR")?;
    let swapchain = swapchain(device)?;
    let next = |timeout| {
        let (semaphore, fence, mut index) = (vk::Semaphore::null(), vk::Fence::null(), 0);
        // SAFETY: the swapchain belongs to the device.
        unsafe {
            acquire(
                device.raw.handle(),
                swapchain,
                timeout,
                semaphore,
                fence,
                &raw mut index,
            )
        }
    };
    // The swapchain has two images, which are never presented.
    ensure!(
        next(0) == vk::Result::SUCCESS && next(0) == vk::Result::SUCCESS,
        "fewer than two images"
    );
    ensure!(next(0) == vk::Result::NOT_READY, "more than two images");
    let result = next(u64::MAX);
    destroy(device, swapchain)?;
    Ok(result)
}

fn present(device: &Device<'_>) -> Result<vk::Result> {
    let wait: vk::PFN_vkWaitForPresentKHR = command(device, c"vkWaitForPresentKHR")?;
    let swapchain = swapchain(device)?;
    // SAFETY: the swapchain belongs to the device.
    let result = unsafe { wait(device.raw.handle(), swapchain, 1, u64::MAX) };
    destroy(device, swapchain)?;
    Ok(result)
}
