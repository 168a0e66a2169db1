//! What the commands of a lost device do.

use super::{
    Buffer, Check, Checked, Device, Enable, GROUPS, Gpu, Kernel, Message, aborting, await_loss, fine, hold, marked,
    show, skip,
};
use crate::gpu::{Submission, Timeline};
use crate::rules;
use crate::verdict::should;
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CHECKS: &[Check] = &[
    Check::lost("lost.vkWaitForFences", rules::WAITS_END, |gpu| {
        ends(gpu, |_, submission| Ok(submission.wait()))
    }),
    Check::lost("lost.vkQueueWaitIdle", rules::WAITS_END, |gpu| {
        ends(gpu, |device, _| Ok(device.queue_wait_idle()))
    }),
    Check::lost("lost.vkDeviceWaitIdle", rules::WAITS_END, |gpu| {
        ends(gpu, |device, _| Ok(device.wait_idle()))
    }),
    Check::lost("lost.vkGetQueryPoolResults", rules::WAITS_END, query_results),
    Check::lost("lost.vkWaitSemaphores", rules::WAITS_END, semaphores),
    Check::lost("lost.vkGetFenceStatus", rules::LOSES, fence_status),
    Check::lost("lost.empty_vkQueueSubmit", rules::LOSES, empty_submit),
    Check::lost("lost.for_ever", rules::STICKY, for_ever),
];

/// A submission that aborts, on its device.
fn submitted(gpu: &'static Gpu, enable: Enable) -> Checked<(&'static Device, Submission)> {
    let device = Device::new(gpu, enable)?;
    let buffer = Buffer::new(device, &marked(&[3]))?;
    let kernel = Kernel::new(device, &aborting(Message::Uint), &[buffer], &[], None)?;
    let submission = kernel.record(GROUPS)?;
    let result = submission.submit();
    fine("vkQueueSubmit", result)?;
    Ok((device, submission))
}

/// Whether `wait` returns what a wait may, before the loss is known and after.
fn ends(gpu: &'static Gpu, wait: impl Fn(&Device, &Submission) -> Checked<vk::Result>) -> Checked {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    let start = Instant::now();
    let first = wait(device, &submission)?;
    let took = start.elapsed();
    fine("it", first)?;
    await_loss(device)?;
    let second = wait(device, &submission)?;
    fine("after the loss it", second)?;
    should!(
        second == vk::Result::ERROR_DEVICE_LOST,
        "on a device that is known to be lost it returned VK_SUCCESS"
    );
    Ok(format!("{} after {} ms", show(first), took.as_millis()))
}

fn query_results(gpu: &'static Gpu) -> Checked {
    gpu.require(&super::super::gpu::khr::EXTENSION_NAMES)?;
    if gpu.timestamp_bits() == 0 {
        return skip("the queue has no timestamps");
    }
    ends(gpu, |_, submission| {
        Ok(submission.wait_for_timestamp().unwrap_or(vk::Result::ERROR_UNKNOWN))
    })
}

fn semaphores(gpu: &'static Gpu) -> Checked {
    let device = Device::new(gpu, Enable::ABORT)?;
    if gpu.api_version() < vk::API_VERSION_1_2 {
        return skip("the device has no timeline semaphores: it is older than Vulkan 1.2");
    }
    let buffer = Buffer::new(device, &marked(&[3]))?;
    let kernel = Kernel::new(device, &aborting(Message::Uint), &[buffer], &[], None)?;
    let submission = kernel.record(GROUPS)?;
    let timeline = Timeline::new(device)?;
    fine("vkQueueSubmit", submission.submit_with(timeline))?;
    let start = Instant::now();
    let first = timeline.wait();
    let took = start.elapsed();
    fine("it", first)?;
    await_loss(device)?;
    let value = timeline.value();
    fine("vkGetSemaphoreCounterValue after the loss", value)?;
    Ok(format!("{} after {} ms", show(first), took.as_millis()))
}

fn fence_status(gpu: &'static Gpu) -> Checked {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    let start = Instant::now();
    loop {
        match submission.status() {
            vk::Result::NOT_READY => {}
            vk::Result::ERROR_DEVICE_LOST => break,
            vk::Result::SUCCESS => {
                // Allowed: the fence may be signalled before the loss is known.
                await_loss(device)?;
                break;
            }
            other => hold!(false, "it returned {}", show(other)),
        }
        hold!(
            start.elapsed() < super::FINITE,
            "it still returns VK_NOT_READY {} s after the abort",
            super::FINITE.as_secs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(format!("{} ms", start.elapsed().as_millis()))
}

fn empty_submit(gpu: &'static Gpu) -> Checked {
    let (device, submission) = submitted(gpu, Enable::ABORT)?;
    fine("vkWaitForFences", submission.wait())?;
    let waited = await_loss(device)?;
    Ok(format!(
        "VK_ERROR_DEVICE_LOST {} ms after the fence",
        waited.as_millis()
    ))
}

fn for_ever(gpu: &'static Gpu) -> Checked {
    let enable = Enable {
        maintenance5: true,
        ..Enable::ABORT
    };
    let (device, submission) = submitted(gpu, enable)?;
    fine("vkWaitForFences", submission.wait())?;
    await_loss(device)?;
    for _ in 0..3 {
        let calls = [
            ("vkWaitForFences", submission.wait()),
            ("vkGetFenceStatus", submission.status()),
            ("vkQueueWaitIdle", device.queue_wait_idle()),
            ("vkDeviceWaitIdle", device.wait_idle()),
            ("vkQueueSubmit", device.submit_nothing()),
        ];
        for (name, result) in calls {
            let lost = result == vk::Result::ERROR_DEVICE_LOST;
            // Only maintenance5 promises it.
            hold!(
                lost || !device.maintenance5,
                "{name} on the lost device, with maintenance5, returned {}",
                show(result)
            );
            should!(lost, "{name} on the lost device returned {}", show(result));
        }
    }
    let how = if device.maintenance5 { "with" } else { "without" };
    Ok(format!("{how} maintenance5"))
}
