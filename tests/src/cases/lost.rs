//! Calls that report the loss of the device, and that it stays lost.

use super::lost_objects::create_timeline;
use super::support::{GROUPS, expect_lost, expect_no_reports, expect_success, marked};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel, Submission, code};
use anyhow::{Result, bail, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "lost::reported_by_vkWaitForFences" => first_reported(device, wait_for_fences);
    "lost::reported_by_vkQueueWaitIdle" => first_reported(device, queue_wait_idle);
    "lost::reported_by_vkDeviceWaitIdle" => first_reported(device, device_wait_idle);
    "lost::reported_by_vkGetFenceStatus" => first_reported(device, fence_status);
    "lost::reported_by_vkQueueSubmit" => first_reported(device, next_submit);
    "lost::reported_by_vkQueueSubmit2" => first_reported(device, next_submit2);
    "lost::reported_by_vkWaitSemaphores" => first_reported(device, wait_semaphores);
    "lost::reported_by_vkGetSemaphoreCounterValue" => first_reported(device, semaphore_value);
    "lost::permanently_and_for_every_call" => permanently(device);
    "lost::without_affecting_another_device" => another_device(gpu);
};

/// Makes one call that may report the loss and returns its result.
type Observe = fn(&Device<'_>, &Submission<'_>) -> Result<vk::Result>;

/// Submits a dispatch that aborts, then makes only the call `observe` until it reports the loss.
fn first_reported(device: &Device<'_>, observe: Observe) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(&[3]))?;
    let kernel = Kernel::new(device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let submission = kernel.record(GROUPS)?;
    // A driver may execute during the submission.
    let submitted = submission.submit();
    if submitted != vk::Result::SUCCESS {
        expect_lost(submitted)?;
    }
    let start = Instant::now();
    loop {
        match observe(device, &submission)? {
            vk::Result::ERROR_DEVICE_LOST => break,
            vk::Result::SUCCESS | vk::Result::NOT_READY | vk::Result::TIMEOUT => {}
            other => bail!("the call returned {other:?}"),
        }
        ensure!(start.elapsed() < Duration::from_secs(20), "never lost");
    }
    ensure!(device.payloads()?.len() == 1, "no message");
    Ok(())
}

fn wait_for_fences(_: &Device<'_>, submission: &Submission<'_>) -> Result<vk::Result> {
    let result = submission.wait();
    expect_lost(result)?;
    Ok(result)
}

fn queue_wait_idle(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    let result = device.queue_wait_idle();
    expect_lost(result)?;
    Ok(result)
}

fn device_wait_idle(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    let result = code(device.wait_idle());
    expect_lost(result)?;
    Ok(result)
}

fn fence_status(_: &Device<'_>, submission: &Submission<'_>) -> Result<vk::Result> {
    match submission.status() {
        vk::Result::SUCCESS => bail!("the fence is signalled and the device is not lost"),
        result => Ok(result),
    }
}

fn next_submit(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    std::thread::sleep(Duration::from_millis(5));
    Ok(device.submit_nothing())
}

fn next_submit2(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    std::thread::sleep(Duration::from_millis(5));
    // SAFETY: the queue belongs to the device.
    Ok(code(unsafe {
        device.raw.queue_submit2(device.queue, &[], vk::Fence::null())
    }))
}

/// Calls `observe` with a timeline semaphore that no submission uses.
fn with_timeline(device: &Device<'_>, observe: impl FnOnce(vk::Semaphore) -> vk::Result) -> Result<vk::Result> {
    let semaphore = create_timeline(device)?;
    let result = observe(semaphore);
    // SAFETY: no submission uses the semaphore.
    unsafe { device.raw.destroy_semaphore(semaphore, None) };
    Ok(result)
}

fn wait_semaphores(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    // The value 1 is never signalled, so only the loss ends the wait.
    let result = with_timeline(device, |semaphore| {
        let semaphores = [semaphore];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { device.raw.wait_semaphores(&info, u64::MAX) })
    })?;
    expect_lost(result)?;
    Ok(result)
}

fn semaphore_value(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    with_timeline(device, |semaphore| {
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { device.raw.get_semaphore_counter_value(semaphore) })
    })
}

fn permanently(device: &Device<'_>) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(&[3]))?;
    let kernel = Kernel::new(device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let (submission, result) = kernel.run(GROUPS)?;
    expect_lost(result)?;
    let calls: [(&str, Observe); 7] = [
        ("vkWaitForFences", wait_for_fences),
        ("vkQueueWaitIdle", queue_wait_idle),
        ("vkDeviceWaitIdle", device_wait_idle),
        ("vkGetFenceStatus", fence_status),
        ("vkQueueSubmit", next_submit),
        ("vkWaitSemaphores", wait_semaphores),
        ("vkGetSemaphoreCounterValue", semaphore_value),
    ];
    for round in 0..3 {
        for (name, call) in calls {
            let result = call(device, &submission)?;
            ensure!(
                result == vk::Result::ERROR_DEVICE_LOST,
                "{name} returned {result:?} in round {round}"
            );
        }
    }
    Ok(())
}

fn another_device(gpu: &Gpu) -> Result<()> {
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let other = Device::new(gpu)?;
    let other_buffer = Buffer::storage(&other, &marked(&[]))?;
    let other_kernel = Kernel::new(&other, &spirv, &[&other_buffer])?;
    {
        let device = Device::new(gpu)?;
        let buffer = Buffer::storage(&device, &marked(&[3]))?;
        let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
        expect_lost(kernel.run_to_end(GROUPS)?)?;
        expect_success(other_kernel.run_to_end(GROUPS)?)?;
    }
    expect_success(other_kernel.run_to_end(GROUPS)?)?;
    expect_no_reports(&other)
}
