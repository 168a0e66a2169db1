//! Steps that many checks share.

use crate::open::CheckedGpu;
use crate::shaders::{COUNT, LOCAL, MARK, Message, aborting};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};
use vkabort_gpu::{Enable, FaultQueries, LeakedBuffer, LeakedKernel, OwnedDevice, Skip, show};

/// Ends the check with a warning unless the condition holds.
macro_rules! should {
    ($condition:expr, $($detail:tt)+) => {
        if !$condition {
            return Err(vkabort_runner::Warning(format!($($detail)+)).into());
        }
    };
}
pub(crate) use should;

/// Time limit for the loss of the device after an abort. The specification says "in finite time"; watchdogs of operating
/// systems take about 10 seconds.
pub(crate) const FINITE: Duration = Duration::from_secs(20);
/// Number of workgroups that cover the buffer once.
pub(crate) const GROUPS: u32 = COUNT / LOCAL;

/// The three parts of the buffer of [`aborting`]: words 100, 101, .. with [`MARK`] at `invocations`, then zeros.
pub(crate) fn marked(invocations: &[u32]) -> Vec<u32> {
    let word = |i| if invocations.contains(&i) { MARK } else { 100 + i };
    (0..COUNT).map(word).chain((0..2 * COUNT).map(|_| 0)).collect()
}

/// Part `index` of the buffer.
pub(crate) fn part(words: &[u32], index: usize) -> &[u32] {
    words.chunks(COUNT as usize).nth(index).unwrap_or_default()
}

/// Polls with empty submissions until the device is lost. Returns the time that it took.
pub(crate) fn await_loss(device: &OwnedDevice) -> Result<Duration> {
    let start = Instant::now();
    loop {
        match device.submit_nothing() {
            vk::Result::ERROR_DEVICE_LOST => return Ok(start.elapsed()),
            result => ensure!(
                result == vk::Result::SUCCESS,
                "an empty vkQueueSubmit after the abort returned {}",
                show(result)
            ),
        }
        ensure!(
            start.elapsed() < FINITE,
            "the device is not lost {} s after the abort",
            FINITE.as_secs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Checks that a call succeeded.
pub(crate) fn success(call: &str, result: vk::Result) -> Result<()> {
    ensure!(result == vk::Result::SUCCESS, "{call} returned {}", show(result));
    Ok(())
}

/// Checks that a call returned no reports: `VK_TIMEOUT` and a count of 0.
pub(crate) fn no_reports(call: &str, (result, count): (vk::Result, u32)) -> Result<()> {
    ensure!(
        result == vk::Result::TIMEOUT && count == 0,
        "{call} returned {} and a count of {count}",
        show(result)
    );
    Ok(())
}

/// Checks a call on a device with an abort: it succeeds, or reports the loss.
pub(crate) fn success_or_lost(call: &str, result: vk::Result) -> Result<()> {
    let allowed = [vk::Result::SUCCESS, vk::Result::ERROR_DEVICE_LOST];
    ensure!(allowed.contains(&result), "{call} returned {}", show(result));
    Ok(())
}

/// Submits a dispatch that aborts, and waits until the device is lost.
pub(crate) fn lose(device: &OwnedDevice, kernel: LeakedKernel, groups: u32) -> Result<()> {
    let result = device.record(kernel, groups)?.run();
    success_or_lost("submitting and waiting", result)?;
    if result == vk::Result::SUCCESS {
        await_loss(device)?;
    }
    Ok(())
}

/// Creates a device, its buffer, and a kernel in which `invocations` abort with `message`.
pub(crate) fn prepare(
    gpu: &'static CheckedGpu,
    enable: Enable,
    message: Message,
    invocations: &[u32],
) -> Result<(&'static OwnedDevice, LeakedBuffer, LeakedKernel)> {
    let device = gpu.device(enable)?;
    let buffer = device.buffer(&marked(invocations))?;
    let kernel = device.kernel(&aborting(message), &[buffer], &[], None)?;
    Ok((device, buffer, kernel))
}

/// Loses a new device: `invocations` abort with `message`. Returns the device, its fault queries, and its buffer.
pub(crate) fn lost_by(
    gpu: &'static CheckedGpu,
    message: Message,
    invocations: &[u32],
) -> Result<(&'static OwnedDevice, FaultQueries, LeakedBuffer)> {
    let (device, buffer, kernel) = prepare(gpu, Enable::ABORT, message, invocations)?;
    lose(device, kernel, GROUPS)?;
    Ok((device, device.fault_queries()?, buffer))
}

/// Submits and waits on a device that must stay healthy.
pub(crate) fn run_healthy(device: &OwnedDevice, kernel: LeakedKernel, groups: u32) -> Result<()> {
    let submission = device.record(kernel, groups)?;
    success("vkQueueSubmit", submission.submit())?;
    success("vkWaitForFences", submission.wait())
}

/// Runs a shader whose aborts are not executed, on a device that must stay healthy, and checks its output.
pub(crate) fn run_without_abort(device: &'static OwnedDevice) -> Result<()> {
    let buffer = device.buffer(&marked(&[]))?;
    let kernel = device.kernel(&aborting(Message::Whole), &[buffer], &[], None)?;
    run_healthy(device, kernel, GROUPS)?;
    let words = buffer.read();
    for (index, offset) in [(0, 100), (1, 101), (2, 102)] {
        for (&word, i) in part(&words, index).iter().zip(0..) {
            ensure!(
                word == offset + i,
                "word {i} of part {index} is {word} instead of {}",
                offset + i
            );
        }
    }
    Ok(())
}

/// The first 48 bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().take(48).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > 48 { " .." } else { "" };
    format!("{}{more}", digits.join(" "))
}

/// Bytes of words in host order.
pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Ends the check as skipped.
pub(crate) fn skip<T>(reason: impl Into<String>) -> Result<T> {
    Err(Skip(reason.into()).into())
}
