//! Reports name the pending work if only one command buffer or queue label is left.

use super::deliver::shader;
use super::lost_objects::create_timeline;
use super::support::{expect_lost, expect_success, marked};
use crate::case::{Case, cases};
use crate::vk::{Device, Submission, WordKernel, code};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

const FRAME: &[&str] = &[", command buffer \"the frame\", queue (family"];

pub(super) const CASES: &[Case] = cases! {
    "pending_work::names_the_only_command_buffer" => command_buffer(device, 1),
        alone(), logs(&["   = command buffer \"the frame\", queue (family"]);
    "pending_work::names_neither_of_two_command_buffers" => command_buffer(device, 2),
        alone(), set(&[("log_file", "layer.log")]), silent();
    "pending_work::names_the_queue_label" => queue_label(device, false),
        alone(), logs(&["queue (family 0, index 0), queue label \"frame 7\" > \"shadows\""]);
    "pending_work::names_neither_of_two_queue_labels" => queue_label(device, true),
        alone(), set(&[("log_file", "layer.log")]), silent();
    "pending_work::ends_with_its_fence" => completed(device, End::Fence), alone(), logs(FRAME);
    "pending_work::ends_with_the_status_of_its_fence" => completed(device, End::Status), alone(), logs(FRAME);
    "pending_work::ends_with_its_timeline_semaphore" => completed(device, End::Timeline), alone(), logs(FRAME);
    "pending_work::ends_with_a_later_value_of_its_timeline_semaphore" => completed(device, End::Later), alone(), logs(FRAME);
    "pending_work::ends_with_the_counter_of_its_timeline_semaphore" => completed(device, End::Counter), alone(), logs(FRAME);
    "pending_work::ends_with_the_semaphore_of_submit2" => completed(device, End::Submit2), alone(), logs(FRAME);
    "pending_work::goes_on_behind_a_wait_for_any_fence" => completed(device, End::AnyFence),
        alone(), set(&[("log_file", "layer.log")]), silent();
    "pending_work::goes_on_behind_a_signal_of_one_stage" => completed(device, End::OneStage),
        alone(), set(&[("log_file", "layer.log")]), silent();
};

/// Checks that the log has a report, which does not name `subject`.
fn not_named(subject: &str) -> Result<()> {
    let log = std::fs::read_to_string("layer.log")?;
    ensure!(log.contains("shader aborted") && !log.contains(subject), "{log}");
    Ok(())
}

/// Submits named command buffers of one kernel, of which the first aborts.
fn command_buffer(device: &Device<'_>, count: usize) -> Result<()> {
    let spirv = shader()?;
    let kernel = WordKernel::new(device, &spirv, &marked(&[5]))?;
    let submissions = (0..count).map(|_| kernel.record(1)).collect::<Result<Vec<_>>>()?;
    for submission in &submissions {
        device.name(submission.commands, c"the frame")?;
    }
    for submission in &submissions {
        let _ = submission.submit();
    }
    expect_lost(device.queue_wait_idle())?;
    if count > 1 { not_named("command buffer") } else { Ok(()) }
}

/// Submits a kernel that aborts under labels of the queue, after another submission without an abort and a wait. With `several`,
/// other work is submitted under another label.
fn queue_label(device: &Device<'_>, several: bool) -> Result<()> {
    let spirv = shader()?;
    let kernel = WordKernel::new(device, &spirv, &marked(&[5]))?;
    let harmless = WordKernel::new(device, &spirv, &marked(&[]))?;
    let labels = ash::ext::debug_utils::Device::new(&device.gpu.instance, &device.raw);
    let begin = |name| {
        let label = vk::DebugUtilsLabelEXT::default().label_name(name);
        // SAFETY: the queue belongs to the device, and no other thread uses it.
        unsafe { labels.queue_begin_debug_utils_label(device.queue, &label) };
    };
    // SAFETY: the queue belongs to the device, no other thread uses it, and a label was begun.
    let end = || unsafe { labels.queue_end_debug_utils_label(device.queue) };
    expect_success(harmless.run_to_end(1)?)?;
    expect_success(device.queue_wait_idle())?;
    begin(c"frame 7");
    begin(c"lights");
    let other = harmless.record(1)?;
    if several {
        let _ = other.submit();
    }
    end();
    begin(c"shadows");
    let submission = kernel.record(1)?;
    let _ = submission.submit();
    end();
    end();
    expect_lost(device.queue_wait_idle())?;
    if several { not_named("queue label") } else { Ok(()) }
}

/// How the application learns that a submission has completed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// `vkWaitForFences`.
    Fence,
    /// `vkGetFenceStatus`.
    Status,
    /// `vkWaitForFences` for any of two fences: the application does not learn which one.
    AnyFence,
    /// `vkWaitSemaphores`.
    Timeline,
    /// `vkWaitSemaphores` for the value of a later submission without command buffers.
    Later,
    /// `vkGetSemaphoreCounterValue`.
    Counter,
    /// `vkWaitSemaphores` after `vkQueueSubmit2`.
    Submit2,
    /// The same for a signal that waits for copies only.
    OneStage,
}

/// Submits two command buffers, of which the second aborts after the first has ended.
fn completed(device: &Device<'_>, end: End) -> Result<()> {
    let spirv = shader()?;
    let kernel = WordKernel::new(device, &spirv, &marked(&[5]))?;
    let harmless = WordKernel::new(device, &spirv, &marked(&[]))?;
    let (before, frame) = (harmless.record(1)?, kernel.record(1)?);
    device.name(before.commands, c"the frame before")?;
    device.name(frame.commands, c"the frame")?;
    let semaphore = create_timeline(device)?;
    expect_success(submit_and_end(device, &before, semaphore, end)?)?;
    expect_success(frame.submit())?;
    expect_lost(frame.wait())?;
    // SAFETY: the device is lost.
    unsafe { device.raw.destroy_semaphore(semaphore, None) };
    match end {
        End::AnyFence | End::OneStage => not_named("command buffer"),
        _ => Ok(()),
    }
}

/// Submits, with `semaphore` to be signalled to 1, and waits as `end` says.
fn submit_and_end(
    device: &Device<'_>,
    submission: &Submission<'_>,
    semaphore: vk::Semaphore,
    end: End,
) -> Result<vk::Result> {
    let (raw, semaphores) = (&device.raw, [semaphore]);
    let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&[1]);
    let info = vk::SubmitInfo::default()
        .signal_semaphores(&semaphores)
        .push_next(&mut timeline);
    let wait_for = |value: u64| {
        let values = [value];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { raw.wait_semaphores(&info, u64::MAX) })
    };
    if matches!(end, End::Submit2 | End::OneStage) {
        let stages = match end {
            End::OneStage => vk::PipelineStageFlags2::COPY,
            _ => vk::PipelineStageFlags2::ALL_COMMANDS,
        };
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(submission.commands)];
        let signals = [vk::SemaphoreSubmitInfo::default()
            .semaphore(semaphore)
            .value(1)
            .stage_mask(stages)];
        let info = vk::SubmitInfo2::default()
            .command_buffer_infos(&commands)
            .signal_semaphore_infos(&signals);
        // SAFETY: the command buffer is recorded and submitted once.
        expect_success(code(unsafe {
            raw.queue_submit2(device.queue, &[info], vk::Fence::null())
        }))?;
        return Ok(wait_for(1));
    }
    expect_success(submission.submit_info(device.queue, info))?;
    Ok(match end {
        End::Fence => submission.wait(),
        End::Status => until_success(|| submission.status()),
        End::AnyFence => {
            let other = Submission::record(device, |_, _| {})?;
            // SAFETY: the fences belong to the device.
            let result = code(unsafe { raw.wait_for_fences(&[submission.fence, other.fence], false, u64::MAX) });
            drop(other);
            result
        }
        End::Timeline | End::Submit2 | End::OneStage => wait_for(1),
        End::Later => {
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&[2]);
            let info = vk::SubmitInfo::default()
                .signal_semaphores(&semaphores)
                .push_next(&mut timeline);
            // SAFETY: the semaphore belongs to the device, and has at most the value 1.
            expect_success(code(unsafe {
                raw.queue_submit(device.queue, &[info], vk::Fence::null())
            }))?;
            wait_for(2)
        }
        End::Counter => until_success(|| {
            // SAFETY: the semaphore belongs to the device.
            match unsafe { raw.get_semaphore_counter_value(semaphore) } {
                Ok(0) => vk::Result::NOT_READY,
                other => code(other),
            }
        }),
    })
}

/// Asks until the answer is no longer `VK_NOT_READY`, for at most 10 s.
fn until_success(ask: impl Fn() -> vk::Result) -> vk::Result {
    let start = Instant::now();
    loop {
        match ask() {
            vk::Result::NOT_READY if start.elapsed() < Duration::from_secs(10) => std::thread::yield_now(),
            result => return result,
        }
    }
}
