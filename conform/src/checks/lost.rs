//! The commands of a lost device.

use crate::check::Check;
use crate::gpu::{Device, Enable, Gpu, Submission, Timeline, Timestamp, show};
use crate::rules;
use crate::scenario::{FINITE, GROUPS, await_loss, prepare, skip, success_or_lost};
use crate::shaders::Message;
use crate::verdict::{CheckOutput, hold, should};
use ash::vk;
use std::time::{Duration, Instant};
use vk_ext::EXTENSION_NAMES;
use vkabort_test_kit::vk::code;

pub(super) const CHECKS: &[Check] = &[
    Check::lost("lost.vkWaitForFences", rules::WAITS_END, |gpu| {
        wait_ends(gpu, |_, submission| submission.wait())
    }),
    Check::lost("lost.vkQueueWaitIdle", rules::WAITS_END, |gpu| {
        wait_ends(gpu, |device, _| device.queue_wait_idle())
    }),
    Check::lost("lost.vkDeviceWaitIdle", rules::WAITS_END, |gpu| {
        wait_ends(gpu, |device, _| code(device.wait_idle()))
    }),
    Check::lost("lost.vkGetQueryPoolResults", rules::WAITS_END, query_results),
    Check::lost("lost.vkWaitSemaphores", rules::WAITS_END, semaphores),
    Check::lost("lost.vkGetFenceStatus", rules::LOSES, fence_status),
    Check::lost("lost.empty_vkQueueSubmit", rules::LOSES, empty_submit),
    Check::lost("lost.for_ever", rules::STICKY, permanently),
];

/// Submits a dispatch that aborts, on a new device.
fn submitted(gpu: &'static Gpu, enable: Enable) -> CheckOutput<(&'static Device, Submission)> {
    let (device, _, kernel) = prepare(gpu, enable, Message::Uint, &[3])?;
    let submission = device.record(kernel, GROUPS)?;
    let result = submission.submit();
    success_or_lost("vkQueueSubmit", result)?;
    Ok((device, submission))
}

/// Checks that `wait` returns, with an allowed result, after a dispatch that aborts.
fn wait_ends(gpu: &'static Gpu, wait: impl Fn(&Device, Submission) -> vk::Result) -> CheckOutput {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    ends(device, || wait(device, submission))
}

/// Checks that `wait` returns, with an allowed result, before the loss is reported and after.
fn ends(device: &Device, wait: impl Fn() -> vk::Result) -> CheckOutput {
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

fn query_results(gpu: &'static Gpu) -> CheckOutput {
    gpu.require(&EXTENSION_NAMES)?;
    if gpu.timestamp_bits == 0 {
        return skip("the queue has no timestamps");
    }
    let (device, _, kernel) = prepare(gpu, Enable::ABORT, Message::Uint, &[3])?;
    let (submission, timestamp) = Timestamp::record(device, kernel, GROUPS)?;
    success_or_lost("vkQueueSubmit", submission.submit())?;
    ends(device, || timestamp.wait())
}

fn semaphores(gpu: &'static Gpu) -> CheckOutput {
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

fn fence_status(gpu: &'static Gpu) -> CheckOutput {
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
            other => hold!(false, "vkGetFenceStatus returned {}", show(other)),
        }
        hold!(
            start.elapsed() < FINITE,
            "vkGetFenceStatus still returns VK_NOT_READY {} s after the abort",
            FINITE.as_secs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(format!("{} ms", start.elapsed().as_millis()))
}

fn empty_submit(gpu: &'static Gpu) -> CheckOutput {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    success_or_lost("vkWaitForFences", submission.wait())?;
    let waited = await_loss(device)?;
    Ok(format!(
        "VK_ERROR_DEVICE_LOST {} ms after the fence",
        waited.as_millis()
    ))
}

fn permanently(gpu: &'static Gpu) -> CheckOutput {
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
            hold!(
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
