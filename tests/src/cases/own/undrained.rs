//! A device that cannot be drained: "objects are leaked, not freed under the driver", the messages can be read all the
//! same, and other devices go on.

use super::{aborting, lose, payload};
use crate::case::{Case, Context};
use crate::cases::GROUPS;
use crate::vk::{Buffer, Device, Gpu, Kernel, own};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

const SHORT_DRAIN: &[(&str, &str)] = &[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "150")];

pub(super) const CASES: &[Case] = &[
    Case::new("own_undrained::objects_are_leaked_and_messages_answered", leaked)
        .on_driver("abort=1,hang=1")
        .with(SHORT_DRAIN)
        .logs(&["submission 1, message 0", "its objects are leaked, not destroyed"]),
    Case::new("own_undrained::other_devices_and_new_ones_work", others)
        .on_driver("abort=1,hang=1")
        .with(SHORT_DRAIN),
    Case::new("own_undrained::a_new_instance_works", new_instance)
        .on_driver("abort=1,hang=1")
        .with(SHORT_DRAIN),
    Case::new("own_undrained::a_device_that_came_to_rest_is_destroyed", came_to_rest)
        .on_driver("abort=1,hang=1:600")
        .with(SHORT_DRAIN)
        .logs(&["its objects are leaked, not destroyed"]),
    Case::new("own_undrained::a_wait_with_a_short_timeout_keeps_to_it", short_timeout)
        .on_driver("abort=1,hang=1,delay=5")
        .with(&[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "2000")]),
    Case::new("own_undrained::what_was_reported_is_not_reported_again", once)
        .on_driver("abort=1,hang=1,watchdog=800")
        .with(SHORT_DRAIN)
        .set(&[("on_abort", "continue"), ("log_file", LOG)]),
];

/// Where the layer writes its report.
const LOG: &str = "layer.log";

/// Makes a device, loses it while it is busy, looks at it with `check`, and destroys all. How many objects the driver has
/// left of it.
fn lost_and_gone(gpu: &Gpu, witness: &Device<'_>, check: impl FnOnce(&Device<'_>) -> Result<()>) -> Result<u64> {
    let before = own::seen(witness)?.live;
    {
        let device = Device::new(gpu)?;
        let buffer = Buffer::storage(&device, &[0; 64])?;
        let kernel = Kernel::new(&device, &aborting()?, &[&buffer])?;
        let start = Instant::now();
        let _submission = lose(&kernel)?;
        let took = start.elapsed();
        ensure!(took < Duration::from_secs(2), "the loss took {took:?}");
        check(&device)?;
    }
    Ok(own::seen(witness)?.live - before)
}

fn leaked(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let witness = Device::new(&gpu)?;
    let left = lost_and_gone(&gpu, &witness, |device| {
        let payloads = device.payloads()?;
        ensure!(payloads == [payload(1, 0)], "{payloads:?}");
        Ok(())
    })?;
    // Buffer, memory, shader module's pipeline, pool, command buffer, fence, queue and device, and the layer's own.
    ensure!(left >= 8, "only {left} objects are left");
    Ok(())
}

fn others(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let other = Device::new(&gpu)?;
    let buffer = Buffer::storage(&other, &[0; 64])?;
    let kernel = Kernel::new(&other, &aborting()?, &[&buffer])?;
    lost_and_gone(&gpu, &other, |_| {
        let (_submission, result) = kernel.run(GROUPS)?;
        ensure!(result == vk::Result::SUCCESS, "another device ended with {result:?}");
        Ok(())
    })?;
    for _ in 0..3 {
        let (_submission, result) = kernel.run(GROUPS)?;
        ensure!(result == vk::Result::SUCCESS, "another device ended with {result:?}");
        let new = Device::new(&gpu)?;
        let buffer = Buffer::storage(&new, &[0; 64])?;
        let kernel = Kernel::new(&new, &aborting()?, &[&buffer])?;
        let (_submission, result) = kernel.run(GROUPS)?;
        ensure!(result == vk::Result::SUCCESS, "a new device ended with {result:?}");
        ensure!(
            new.fault()?.report_count(0) == (vk::Result::TIMEOUT, 0),
            "a new device has reports"
        );
    }
    Ok(())
}

fn new_instance(context: &Context) -> Result<()> {
    for round in 0..3 {
        let gpu = Gpu::open(context)?;
        let device = Device::new(&gpu)?;
        let buffer = Buffer::storage(&device, &[0; 64])?;
        let kernel = Kernel::new(&device, &aborting()?, &[&buffer])?;
        let (_submission, result) = kernel.run(GROUPS)?;
        let expected = match round {
            0 => vk::Result::ERROR_DEVICE_LOST,
            _ => vk::Result::SUCCESS,
        };
        ensure!(result == expected, "round {round} ended with {result:?}");
    }
    Ok(())
}

/// What was destroyed while it was busy stays; the device itself, which comes to rest before it is destroyed, goes.
fn came_to_rest(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let witness = Device::new(&gpu)?;
    let busy = lost_and_gone(&gpu, &witness, |_| Ok(()))?;
    let kept = std::cell::Cell::new(0);
    let rested = {
        let before = own::seen(&witness)?.live;
        let device = Device::new(&gpu)?;
        let made = own::seen(&witness)?.live - before;
        drop(device);
        kept.set(made);
        own::seen(&witness)?.live - before
    };
    ensure!(
        busy > 0 && rested == 0 && kept.get() > 0,
        "{busy} objects are left, and {rested} of {}",
        kept.get()
    );
    Ok(())
}

fn short_timeout(context: &Context) -> Result<()> {
    super::with_kernel(context, |device, kernel| {
        let submission = kernel.record(GROUPS)?;
        ensure!(submission.submit() == vk::Result::SUCCESS, "the submission failed");
        let start = Instant::now();
        // SAFETY: the fence belongs to the device.
        let result = unsafe { device.raw.wait_for_fences(&[submission.fence], true, 20_000_000) };
        let took = start.elapsed();
        // Before anything else: what is in use may only be destroyed once the device is known to be lost.
        let end = submission.wait();
        ensure!(end == vk::Result::ERROR_DEVICE_LOST, "{end:?}");
        // "If the timeout is reached": not later because a drain is under way, which takes longer.
        ensure!(
            result == Err(vk::Result::TIMEOUT),
            "a wait of 20 ms ended with {result:?}"
        );
        let limits = Duration::from_millis(20)..Duration::from_millis(1500);
        ensure!(limits.contains(&took), "a wait of 20 ms took {took:?}");
        Ok(())
    })
}

/// `on_abort = continue`: the message of a submission that hangs is reported while it hangs, and not once more when the
/// driver's watchdog has lost the device.
fn once(context: &Context) -> Result<()> {
    super::with_kernel(context, |device, kernel| {
        let reported = || {
            let text = std::fs::read_to_string(LOG).unwrap_or_default();
            text.matches("submission 1, message 0").count()
        };
        let submission = kernel.record(GROUPS)?;
        ensure!(submission.submit() == vk::Result::SUCCESS, "the submission failed");
        let start = Instant::now();
        let mut early = 0;
        while early == 0 && start.elapsed() < Duration::from_millis(700) {
            // SAFETY: the fence belongs to the device.
            let _ = unsafe { device.raw.wait_for_fences(&[submission.fence], true, 20_000_000) };
            early = reported();
        }
        let end = submission.wait();
        ensure!(end == vk::Result::ERROR_DEVICE_LOST, "{end:?}");
        let times = reported();
        ensure!(
            early == 1 && times == 1,
            "the message was reported {early} times before the loss, and {times} times in all"
        );
        Ok(())
    })
}
