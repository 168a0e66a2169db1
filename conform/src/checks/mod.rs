//! The checks, one file for each part of the specifications.

mod abort;
mod advertised;
mod cache;
mod constant_data;
mod debug_info;
mod lost;
mod message;
mod recovery;
mod reports;

use super::gpu::{Buffer, Device, Enable, Fault, Gpu, Kernel, show};
use super::rules::Rule;
use super::shaders::{COUNT, MARK, Message, aborting};
use super::verdict::{Checked, Stop, hold};
use ash::vk;
use std::time::{Duration, Instant};

/// Something that an implementation has to do.
pub struct Check {
    /// Its name: the part of the specifications, then what has to hold.
    pub name: &'static str,
    /// Where that is said.
    pub rule: Rule,
    /// The check asks for what valid usage does not allow: whatever comes of it is no more than a warning.
    pub beyond_valid_usage: bool,
    /// The check is done by two processes, whose answers should be the same.
    pub twice: bool,
    /// The check needs a device that aborts lose: where [`LOSES`] fails there is nothing to see.
    pub after_loss: bool,
    /// Does the check.
    pub run: fn(&'static Gpu) -> Checked,
}

impl Check {
    const fn new(name: &'static str, rule: Rule, run: fn(&'static Gpu) -> Checked) -> Self {
        Self {
            name,
            rule,
            beyond_valid_usage: false,
            twice: false,
            after_loss: false,
            run,
        }
    }

    /// A check of what comes after a loss.
    const fn lost(name: &'static str, rule: Rule, run: fn(&'static Gpu) -> Checked) -> Self {
        Self {
            after_loss: true,
            ..Self::new(name, rule, run)
        }
    }
}

/// The check on whose success those with `after_loss` depend.
pub const LOSES: &str = "abort.loses_the_device";

/// Every check, in the order in which they are done.
pub fn all() -> impl Iterator<Item = &'static Check> {
    [
        advertised::CHECKS,
        abort::CHECKS,
        message::CHECKS,
        debug_info::CHECKS,
        reports::CHECKS,
        lost::CHECKS,
        recovery::CHECKS,
        constant_data::CHECKS,
        cache::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// How long a device may take to be lost after an abort. The specification says "in finite time"; watchdogs of operating
/// systems need some 10 seconds.
const FINITE: Duration = Duration::from_secs(20);
/// Workgroups that cover the buffer once.
const GROUPS: u32 = COUNT / super::shaders::LOCAL;

/// The three parts of the buffer of [`aborting`]: words 100, 101, .. with [`MARK`] at `marked`, then zeros.
fn marked(marked: &[u32]) -> Vec<u32> {
    let word = |i| if marked.contains(&i) { MARK } else { 100 + i };
    (0..COUNT).map(word).chain((0..2 * COUNT).map(|_| 0)).collect()
}

/// A part of the buffer.
fn part(words: &[u32], index: usize) -> &[u32] {
    words.chunks(COUNT as usize).nth(index).unwrap_or_default()
}

/// Waits until the device is lost, by empty submissions. Returns how long it took.
fn await_loss(device: &Device) -> Checked<Duration> {
    let start = Instant::now();
    loop {
        match device.submit_nothing() {
            vk::Result::ERROR_DEVICE_LOST => return Ok(start.elapsed()),
            result => hold!(
                result == vk::Result::SUCCESS,
                "an empty vkQueueSubmit after the abort returned {}",
                show(result)
            ),
        }
        hold!(
            start.elapsed() < FINITE,
            "the device is not lost {} s after the abort",
            FINITE.as_secs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A call on a device that something aborts on: it succeeds, or the device is lost.
fn fine(call: &str, result: vk::Result) -> Checked<()> {
    let allowed = [vk::Result::SUCCESS, vk::Result::ERROR_DEVICE_LOST];
    hold!(allowed.contains(&result), "{call} returned {}", show(result));
    Ok(())
}

/// Submits and waits, on a device that something aborts on, until it is lost.
fn lose(device: &Device, kernel: &Kernel, groups: u32) -> Checked<()> {
    let submission = kernel.record(groups)?;
    let mut result = submission.submit();
    if result == vk::Result::SUCCESS {
        result = submission.wait();
    }
    fine("submitting and waiting", result)?;
    if result == vk::Result::SUCCESS {
        await_loss(device)?;
    }
    Ok(())
}

/// A device that is lost by the abort of the invocations `who` with `message`, its fault queries, and its buffer.
fn lost_by(gpu: &'static Gpu, message: Message, who: &[u32]) -> Checked<(&'static Device, Fault, Buffer)> {
    let device = Device::new(gpu, Enable::ABORT)?;
    let buffer = Buffer::new(device, &marked(who))?;
    let kernel = Kernel::new(device, &aborting(message), &[buffer], &[], None)?;
    lose(device, &kernel, GROUPS)?;
    Ok((device, device.fault()?, buffer))
}

/// Submits and waits on a device that has to stay healthy.
fn healthy(kernel: &Kernel, groups: u32) -> Checked<()> {
    let submission = kernel.record(groups)?;
    let result = submission.submit();
    hold!(result == vk::Result::SUCCESS, "vkQueueSubmit returned {}", show(result));
    let result = submission.wait();
    hold!(
        result == vk::Result::SUCCESS,
        "vkWaitForFences returned {}",
        show(result)
    );
    Ok(())
}

/// Runs a shader with aborts that are not taken, on a device that has to stay healthy.
fn runs(device: &'static Device) -> Checked<()> {
    let buffer = Buffer::new(device, &marked(&[]))?;
    let kernel = Kernel::new(device, &aborting(Message::Whole), &[buffer], &[], None)?;
    healthy(&kernel, GROUPS)?;
    let words = buffer.read();
    for (index, offset) in [(0, 100), (1, 101), (2, 102)] {
        for (&word, i) in part(&words, index).iter().zip(0..) {
            hold!(
                word == offset + i,
                "word {i} of part {index} is {word} and should be {}",
                offset + i
            );
        }
    }
    Ok(())
}

/// Bytes in hexadecimal, the first of them.
fn hex(bytes: &[u8]) -> String {
    let shown: Vec<String> = bytes.iter().take(48).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > 48 { " .." } else { "" };
    format!("{}{more}", shown.join(" "))
}

/// Words as bytes.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Ends the check as skipped.
fn skip<T>(reason: impl Into<String>) -> Checked<T> {
    Err(Stop::Skip(reason.into()))
}
