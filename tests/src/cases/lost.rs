//! Calls that report the loss of the device, and that it stays lost.

use super::lost_objects::{wait_for_timeline, with_timeline};
use super::support::{GROUPS, entry_point, expect_lost, expect_no_reports, expect_success, marked};
use crate::case::{Case, cases};
use crate::vk::{Device, Gpu, Submission, code};
use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
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
    let kernel = entry_point(device, &marked(&[3]))?;
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
    // Most programs then ask without waiting, for the count and for as many reports, and never again.
    let fault = device.fault()?;
    let (result, count) = fault.report_count(0);
    ensure!(
        (result, count) == (vk::Result::SUCCESS, 1),
        "{count} reports, {result:?}"
    );
    let (result, reports) = fault.reports(0, count);
    ensure!(
        (result, reports.len()) == (vk::Result::SUCCESS, 1),
        "{} reports, {result:?}",
        reports.len()
    );
    ensure!(device.payloads()?.len() == 1, "no message");
    Ok(())
}

/// The result of a call without a timeout, which only the loss ends.
fn lost(result: vk::Result) -> Result<vk::Result> {
    expect_lost(result).map(|()| result)
}

fn wait_for_fences(_: &Device<'_>, submission: &Submission<'_>) -> Result<vk::Result> {
    lost(submission.wait())
}

fn queue_wait_idle(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    lost(device.queue_wait_idle())
}

fn device_wait_idle(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    lost(code(device.wait_idle()))
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

fn wait_semaphores(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    lost(wait_for_timeline(device)?)
}

fn semaphore_value(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    with_timeline(device, |semaphore| {
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { device.raw.get_semaphore_counter_value(semaphore) })
    })
}

fn permanently(device: &Device<'_>) -> Result<()> {
    let kernel = entry_point(device, &marked(&[3]))?;
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
            expect_lost(result).with_context(|| format!("{name} in round {round}"))?;
        }
    }
    Ok(())
}

fn another_device(gpu: &Gpu) -> Result<()> {
    let other = Device::new(gpu)?;
    let other_kernel = entry_point(&other, &marked(&[]))?;
    {
        let device = Device::new(gpu)?;
        let kernel = entry_point(&device, &marked(&[3]))?;
        expect_lost(kernel.run_to_end(GROUPS)?)?;
        expect_success(other_kernel.run_to_end(GROUPS)?)?;
    }
    expect_success(other_kernel.run_to_end(GROUPS)?)?;
    expect_no_reports(&other)
}
