//! Protected submissions ("Protected Memory Access Rules"): their shaders must not write to unprotected memory, so an abort has
//! no message and does not lose the device. The layer says so once.

use super::support::{Extra, device_with, kernel, payload};
use crate::case::{Case, cases};
use crate::cases::support::{expect, expect_no_reports, expect_payloads};
use crate::vk::{Gpu, Submission, code};
use anyhow::Result;
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "test_driver_protected::aborts_on_a_protected_queue" => run(gpu), on_driver("abort=*"), set(&[("log_level", "warning")]),
        logs(&["aborts in protected submissions are not reported", "submission 1, message 0"]);
};

/// A protected submission succeeds; an unprotected one on the same queue aborts.
fn run(gpu: &Gpu) -> Result<()> {
    let extra = Extra {
        protected: true,
        ..Extra::default()
    };
    let device = device_with(gpu, &extra)?;
    let info = vk::DeviceQueueInfo2::default().flags(vk::DeviceQueueCreateFlags::PROTECTED);
    // SAFETY: the device has this queue.
    let queue = unsafe { device.raw.get_device_queue2(&info) };
    let submit = |submission: &Submission<'_>, is_protected| {
        let mut protected = vk::ProtectedSubmitInfo::default().protected_submit(is_protected);
        let commands = [submission.commands];
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .push_next(&mut protected);
        // SAFETY: the command buffer is recorded and submitted once; the fence is unsignalled.
        match code(unsafe { device.raw.queue_submit(queue, &[info], submission.fence) }) {
            vk::Result::SUCCESS => submission.wait(),
            error => error,
        }
    };
    let kernel = kernel(&device)?;
    let (protected, ordinary) = (kernel.record(1)?, kernel.record(1)?);
    expect(submit(&protected, true), false, "the protected submission")?;
    expect_no_reports(&device)?;
    expect(submit(&ordinary, false), true, "the unprotected submission")?;
    expect_payloads(&device, &[payload(1, 0)])
}
