//! The commands of a lost device.

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::should;
use crate::scenario::{FINITE, GROUPS, await_loss, prepare, skip, success_or_lost};
use crate::shaders::Message;
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};
use vk_ext::EXTENSION_NAMES;
use vkabort_gpu::{Enable, LeakedSubmission, OwnedDevice, Timeline, Timestamp, code, show};
use vkabort_runner::{Case, cases};

pub(super) const CHECKS: &[Case] = cases! {
    "lost.vkWaitForFences" => wait_ends(gpu, |_, submission| submission.wait()), rule(rules::WAITS_END), after_loss();
    "lost.vkQueueWaitIdle" => wait_ends(gpu, |device, _| device.queue_wait_idle()), rule(rules::WAITS_END), after_loss();
    "lost.vkDeviceWaitIdle" => wait_ends(gpu, |device, _| code(device.wait_idle())), rule(rules::WAITS_END), after_loss();
    "lost.vkGetQueryPoolResults" => query_results(gpu), rule(rules::WAITS_END), after_loss();
    "lost.vkWaitSemaphores" => semaphores(gpu), rule(rules::WAITS_END), after_loss();
    "lost.vkGetFenceStatus" => fence_status(gpu), rule(rules::LOSES), after_loss();
    "lost.empty_vkQueueSubmit" => empty_submit(gpu), rule(rules::LOSES), after_loss();
    "lost.for_ever" => permanently(gpu), rule(rules::STICKY), after_loss();
};

/// Submits a dispatch that aborts, on a new device.
fn submitted(gpu: &'static CheckedGpu, enable: Enable) -> Result<(&'static OwnedDevice, LeakedSubmission)> {
    let (device, _, kernel) = prepare(gpu, enable, Message::Uint, &[3])?;
    let submission = device.record(kernel, GROUPS)?;
    let result = submission.submit();
    success_or_lost("vkQueueSubmit", result)?;
    Ok((device, submission))
}

/// Checks that `wait` returns, with an allowed result, after a dispatch that aborts.
fn wait_ends(gpu: &'static CheckedGpu, wait: impl Fn(&OwnedDevice, LeakedSubmission) -> vk::Result) -> Result<String> {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    ends(device, || wait(device, submission))
}

/// Checks that `wait` returns, with an allowed result, before the loss is reported and after.
fn ends(device: &OwnedDevice, wait: impl Fn() -> vk::Result) -> Result<String> {
    let start = Instant::now();
    let first = wait();
    let time = start.elapsed();
    success_or_lost("the wait", first)?;
    await_loss(device)?;
    let second = wait();
    success_or_lost("the wait after the loss", second)?;
    should!(
        second == vk::Result::ERROR_DEVICE_LOST,
        "on a lost device the wait returned VK_SUCCESS"
    );
    Ok(format!("{} after {} ms", show(first), time.as_millis()))
}

fn query_results(gpu: &'static CheckedGpu) -> Result<String> {
    gpu.require_extensions(&EXTENSION_NAMES)?;
    if gpu.timestamp_bits == 0 {
        return skip("the queue has no timestamps");
    }
    let (device, _, kernel) = prepare(gpu, Enable::ABORT, Message::Uint, &[3])?;
    let (submission, timestamp) = Timestamp::record(device, kernel, GROUPS)?;
    success_or_lost("vkQueueSubmit", submission.submit())?;
    ends(device, || timestamp.wait())
}

fn semaphores(gpu: &'static CheckedGpu) -> Result<String> {
    let (device, _, kernel) = prepare(gpu, Enable::ABORT, Message::Uint, &[3])?;
    if gpu.api_version < vk::API_VERSION_1_2 {
        return skip("the device supports only Vulkan 1.1, without timeline semaphores");
    }
    let submission = device.record(kernel, GROUPS)?;
    let timeline = Timeline::new(device)?;
    success_or_lost("vkQueueSubmit", timeline.submit(submission))?;
    let start = Instant::now();
    let first = timeline.wait();
    let time = start.elapsed();
    success_or_lost("the wait", first)?;
    await_loss(device)?;
    let value = timeline.value();
    success_or_lost("vkGetSemaphoreCounterValue after the loss", value)?;
    Ok(format!("{} after {} ms", show(first), time.as_millis()))
}

fn fence_status(gpu: &'static CheckedGpu) -> Result<String> {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    let start = Instant::now();
    loop {
        match submission.status() {
            vk::Result::NOT_READY => {}
            vk::Result::ERROR_DEVICE_LOST => break,
            vk::Result::SUCCESS => {
                // Allowed: the fence may be signalled before the loss is reported.
                await_loss(device)?;
                break;
            }
            other => ensure!(false, "vkGetFenceStatus returned {}", show(other)),
        }
        ensure!(
            start.elapsed() < FINITE,
            "vkGetFenceStatus still returns VK_NOT_READY {} s after the abort",
            FINITE.as_secs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(format!("{} ms", start.elapsed().as_millis()))
}

fn empty_submit(gpu: &'static CheckedGpu) -> Result<String> {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    success_or_lost("vkWaitForFences", submission.wait())?;
    let waited = await_loss(device)?;
    Ok(format!(
        "VK_ERROR_DEVICE_LOST {} ms after the fence",
        waited.as_millis()
    ))
}

fn permanently(gpu: &'static CheckedGpu) -> Result<String> {
    let enable = Enable {
        maintenance5: true,
        ..Enable::ABORT
    };
    let (device, submission) = submitted(gpu, enable)?;
    success_or_lost("vkWaitForFences", submission.wait())?;
    await_loss(device)?;
    for _ in 0..3 {
        let calls = [
            ("vkWaitForFences", submission.wait()),
            ("vkGetFenceStatus", submission.status()),
            ("vkQueueWaitIdle", device.queue_wait_idle()),
            ("vkDeviceWaitIdle", code(device.wait_idle())),
            ("vkQueueSubmit", device.submit_nothing()),
        ];
        for (name, result) in calls {
            let lost = result == vk::Result::ERROR_DEVICE_LOST;
            // Only maintenance5 guarantees it (Vulkan, Lost Device).
            ensure!(
                lost || !device.maintenance5,
                "{name} on the lost device, with maintenance5, returned {}",
                show(result)
            );
            should!(lost, "{name} on the lost device returned {}", show(result));
        }
    }
    let mode = if device.maintenance5 { "with" } else { "without" };
    Ok(format!("{mode} maintenance5"))
}
