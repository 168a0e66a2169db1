//! A device that cannot be drained: its objects are kept, not freed under the driver, its messages can be read, and other
//! devices keep working.

use super::support::{aborting, kernel, lose, payload};
use crate::case::{Case, Context, cases, slowdown};
use crate::cases::support::{GROUPS, expect_end, expect_lost, expect_no_reports, expect_payloads, expect_success, run};
use crate::vk::{Device, Gpu, Kernel, code, test_driver};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

const SHORT_DRAIN: &[(&str, &str)] = &[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "150")];

pub(super) const CASES: &[Case] = cases! {
    "test_driver_undrained::objects_are_leaked_and_messages_answered" => leaked(gpu),
        on_driver("abort=1,hang=1"), with(SHORT_DRAIN),
        logs(&["submission 1, message 0", "its objects are kept until it is idle and destroyed"]);
    "test_driver_undrained::other_devices_and_new_ones_work" => others(gpu),
        on_driver("abort=1,hang=1"), with(SHORT_DRAIN);
    "test_driver_undrained::a_new_instance_works" => new_instance(context),
        on_driver("abort=1,hang=1"), with(SHORT_DRAIN);
    "test_driver_undrained::a_device_that_became_idle_is_destroyed" => became_idle(gpu),
        on_driver("abort=1,hang=1:1500"), with(SHORT_DRAIN), logs(&["its objects are kept until it is idle and destroyed"]);
    "test_driver_undrained::a_short_timeout_is_respected_during_a_drain" => short_timeout(kernel),
        on_driver("abort=1,hang=1,delay=5"), with(&[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "4000")]);
    "test_driver_undrained::command_buffers_are_not_reset" => reset(kernel, vk::Result::ERROR_UNKNOWN, 0),
        on_driver("abort=1,hang=1"), with(SHORT_DRAIN), logs(&["its command buffers cannot be recorded again"]);
    "test_driver_undrained::command_buffers_of_an_idle_device_are_reset" => reset(kernel, vk::Result::SUCCESS, 2),
        on_driver("abort=1");
    "test_driver_undrained::a_reported_message_is_not_reported_again" => once(kernel),
        on_driver("abort=1,hang=1,watchdog=4000"), with(SHORT_DRAIN),
        set(&[("on_abort", "continue"), ("log_file", LOG)]);
};

/// Log file of the layer.
const LOG: &str = "layer.log";

/// Objects of the driver.
struct Objects {
    /// Not destroyed with their device.
    leaked: u64,
    /// Destroyed by `vkDestroyDevice`.
    destroyed_last: u64,
}

/// Creates a device, loses it while it is busy, runs `check` and destroys it.
fn lost_and_gone(gpu: &Gpu, witness: &Device<'_>, check: impl FnOnce(&Device<'_>) -> Result<()>) -> Result<Objects> {
    let live = || test_driver::call_log(witness).map(|log| log.live);
    let before = live()?;
    let device = Device::new(gpu)?;
    {
        let kernel = kernel(&device)?;
        let start = Instant::now();
        let _submission = lose(&kernel)?;
        let took = start.elapsed();
        ensure!(took < Duration::from_secs(2) * slowdown(), "the loss took {took:?}");
        check(&device)?;
    }
    let rest = live()?;
    drop(device);
    let after = live()?;
    Ok(Objects {
        leaked: after - before,
        destroyed_last: rest - after,
    })
}

fn leaked(gpu: &Gpu) -> Result<()> {
    let witness = Device::new(gpu)?;
    let objects = lost_and_gone(gpu, &witness, |device| expect_payloads(device, &[payload(1, 0)]))?;
    // Buffer, memory, pipeline, pool, command buffer, fence, queue and device, and the layer's own objects.
    ensure!(objects.leaked >= 8, "only {} objects leaked", objects.leaked);
    let destroyed = objects.destroyed_last;
    ensure!(destroyed == 0, "vkDestroyDevice destroyed {destroyed} objects in use");
    Ok(())
}

fn others(gpu: &Gpu) -> Result<()> {
    let other = Device::new(gpu)?;
    let kernel = kernel(&other)?;
    lost_and_gone(gpu, &other, |_| {
        expect_success(kernel.run_to_end(GROUPS)?).context("on another device")
    })?;
    for _ in 0..3 {
        expect_success(kernel.run_to_end(GROUPS)?).context("on another device")?;
        let new = Device::new(gpu)?;
        run(&new, &aborting()?, &[0; 64])?
            .succeeded()
            .context("on a new device")?;
        expect_no_reports(&new)?;
    }
    Ok(())
}

fn new_instance(context: &Context) -> Result<()> {
    for round in 0..3 {
        let gpu = Gpu::open(context)?;
        let device = Device::new(&gpu)?;
        let result = run(&device, &aborting()?, &[0; 64])?.result;
        expect_end(result, round == 0).with_context(|| format!("in round {round}"))?;
    }
    Ok(())
}

/// Objects destroyed while the device was busy are destroyed with the device, which has become idle by then.
fn became_idle(gpu: &Gpu) -> Result<()> {
    let witness = Device::new(gpu)?;
    let objects = lost_and_gone(gpu, &witness, |_| {
        // The submission hung before the loss.
        std::thread::sleep(Duration::from_millis(1600));
        Ok(())
    })?;
    let (leaked, destroyed) = (objects.leaked, objects.destroyed_last);
    ensure!(leaked == 0, "{leaked} objects leaked");
    // Buffer, memory, pipeline, pool, command buffer, fence, queue and device, and the layer's own objects.
    ensure!(destroyed >= 8, "vkDestroyDevice destroyed only {destroyed} objects");
    Ok(())
}

/// Resets a command buffer of a lost device, and begins it, which resets it too. The wait that reported the loss ends the
/// pending state ("Lost Device": `VK_ERROR_DEVICE_LOST` is equivalent to `VK_SUCCESS` for it), but the driver may still execute
/// the command buffer. Expects that `forwarded` of the two calls reach the driver.
fn reset(kernel: &Kernel<'_>, begun: vk::Result, forwarded: u64) -> Result<()> {
    let raw = &kernel.device.raw;
    let submission = lose(kernel)?;
    let calls = || test_driver::call_log(kernel.device).map(|log| log.command_buffer_resets);
    let before = calls()?;
    let (flags, info) = (
        vk::CommandBufferResetFlags::empty(),
        vk::CommandBufferBeginInfo::default(),
    );
    // SAFETY: the pool allows resets, and the command buffer is not pending.
    let results = unsafe {
        [
            code(raw.reset_command_buffer(submission.commands, flags)),
            code(raw.begin_command_buffer(submission.commands, &info)),
        ]
    };
    ensure!(results == [vk::Result::SUCCESS, begun], "{results:?}");
    let reached = calls()? - before;
    ensure!(reached == forwarded, "{reached} calls reached the driver");
    Ok(())
}

fn short_timeout(kernel: &Kernel<'_>) -> Result<()> {
    let submission = kernel.record(GROUPS)?;
    ensure!(submission.submit() == vk::Result::SUCCESS, "the submission failed");
    let start = Instant::now();
    // SAFETY: the fence belongs to the device.
    let result = unsafe { kernel.device.raw.wait_for_fences(&[submission.fence], true, 20_000_000) };
    let took = start.elapsed();
    // Wait for the loss first: objects in use may be destroyed only after it.
    let end = submission.wait();
    expect_lost(end)?;
    // "If the timeout is reached": a longer drain in progress must not delay the return.
    ensure!(result == Err(vk::Result::TIMEOUT), "{result:?} after 20 ms");
    let limits = Duration::from_millis(20)..Duration::from_millis(3500);
    ensure!(limits.contains(&took), "a wait of 20 ms took {took:?}");
    Ok(())
}

/// With `on_abort = continue`, the message of a hanging submission is reported once, before the driver's watchdog loses
/// the device.
fn once(kernel: &Kernel<'_>) -> Result<()> {
    let reported = || {
        let text = std::fs::read_to_string(LOG).unwrap_or_default();
        text.matches("submission 1, message 0").count()
    };
    let submission = kernel.record(GROUPS)?;
    ensure!(submission.submit() == vk::Result::SUCCESS, "the submission failed");
    let start = Instant::now();
    let mut early = 0;
    while early == 0 && start.elapsed() < Duration::from_millis(3500) {
        // SAFETY: the fence belongs to the device.
        let _ = unsafe { kernel.device.raw.wait_for_fences(&[submission.fence], true, 20_000_000) };
        early = reported();
    }
    let end = submission.wait();
    expect_lost(end)?;
    let times = reported();
    ensure!(
        early == 1 && times == 1,
        "the message was reported {early} times before the loss and {times} times in total"
    );
    Ok(())
}
