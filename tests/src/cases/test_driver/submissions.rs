//! Results of the submission that aborts, on a driver that executes during `vkQueueSubmit`: ABORTED is set before the
//! command returns.

use super::support::payload;
use crate::case::{Case, cases};
use crate::cases::support::{GROUPS, expect_lost, expect_payloads, expect_success};
use crate::vk::{Device, Kernel, Submission, code};
use anyhow::{Context as _, Result, ensure};
use ash::vk;

const LOG: &str = "layer.log";

pub(super) const CASES: &[Case] = cases! {
    "test_driver_submissions::vkQueueSubmit_that_aborts_succeeds" => accepted(kernel, submit),
        on_driver("abort=1"), validated();
    "test_driver_submissions::vkQueueSubmit2_that_aborts_succeeds" => accepted(kernel, submit2),
        on_driver("abort=1"), validated();
    "test_driver_submissions::without_waits_a_device_that_continues_reports" => continues(kernel),
        on_driver("abort=*"), set(&[("on_abort", "continue"), ("duplicate_limit", "4"), ("log_file", LOG)]);
};

/// Submits a command buffer.
type Submit = fn(&Device<'_>, vk::CommandBuffer) -> vk::Result;

fn submit(device: &Device<'_>, commands: vk::CommandBuffer) -> vk::Result {
    let commands = [commands];
    let info = vk::SubmitInfo::default().command_buffers(&commands);
    // SAFETY: the command buffer is recorded and not pending.
    code(unsafe { device.raw.queue_submit(device.queue, &[info], vk::Fence::null()) })
}

fn submit2(device: &Device<'_>, commands: vk::CommandBuffer) -> vk::Result {
    let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
    let info = vk::SubmitInfo2::default().command_buffer_infos(&commands);
    // SAFETY: the command buffer is recorded and not pending.
    code(unsafe { device.raw.queue_submit2(device.queue, &[info], vk::Fence::null()) })
}

/// The driver accepted the submission, so it succeeds; the next command reports the loss.
fn accepted(kernel: &Kernel<'_>, submit: Submit) -> Result<()> {
    let (first, second) = (kernel.record(GROUPS)?, kernel.record(GROUPS)?);
    expect_success(submit(kernel.device, first.commands))?;
    expect_lost(submit(kernel.device, second.commands))?;
    expect_payloads(kernel.device, &[payload(1, 0)])
}

/// A program that only submits: each submission succeeds, and reports the abort of the one before it.
fn continues(kernel: &Kernel<'_>) -> Result<()> {
    let submissions = (0..4)
        .map(|_| kernel.record(GROUPS))
        .collect::<Result<Vec<Submission<'_>>>>()?;
    for (submission, number) in submissions.iter().zip(1..) {
        expect_success(submit(kernel.device, submission.commands))?;
        let log = std::fs::read_to_string(LOG).unwrap_or_default();
        let reported = log.matches(", message 0").count();
        // A report covers all records of the arena once the queue is idle.
        ensure!(
            reported + 1 >= number,
            "{reported} reports after submission {number}:\n{log}"
        );
    }
    kernel.device.wait_idle().context("vkDeviceWaitIdle")
}
