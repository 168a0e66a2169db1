//! A lost device with submissions that wait for a timeline semaphore.

use super::lost_objects::{create_timeline, one_message, submit};
use super::support::{GROUPS, entry_point, expect, expect_submitted, words};
use crate::case::{Case, cases};
use crate::vk::{Device, Gpu, Submission, code};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "lost_timeline::a_submission_that_waits_for_the_host" => timeline(device, true);
    "lost_timeline::a_submission_that_waits_for_the_host_on_a_healthy_device" => timeline(device, false), silent();
    // The second submission never ends, so the validation layer objects to the destruction of its objects.
    "lost_timeline::a_submission_that_never_begins" => never_begins(gpu), alone();
};

/// Submits commands that wait until the semaphore has the value 1.
fn submit_behind(device: &Device<'_>, semaphore: vk::Semaphore, submission: &Submission<'_>) -> vk::Result {
    let (semaphores, stages) = ([semaphore], [vk::PipelineStageFlags::ALL_COMMANDS]);
    let mut values = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&[1]);
    let info = vk::SubmitInfo::default()
        .wait_semaphores(&semaphores)
        .wait_dst_stage_mask(&stages)
        .push_next(&mut values);
    submit(device, info, submission)
}

fn timeline(device: &Device<'_>, aborts: bool) -> Result<()> {
    let kernel = entry_point(device, &words(aborts))?;
    let semaphore = create_timeline(device)?;
    let submission = kernel.record(GROUPS)?;
    expect(submit_behind(device, semaphore, &submission), false, "vkQueueSubmit")?;
    let waited = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| submission.wait());
        std::thread::sleep(Duration::from_millis(50));
        let info = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
        // SAFETY: the semaphore belongs to the device.
        let signalled = code(unsafe { device.raw.signal_semaphore(&info) });
        (signalled, waiter.join())
    });
    expect(waited.0, false, "vkSignalSemaphore")?;
    let Ok(result) = waited.1 else {
        anyhow::bail!("the waiting thread panicked");
    };
    expect(result, aborts, "vkWaitForFences")?;
    // SAFETY: the device is lost, or the work over.
    unsafe { device.raw.destroy_semaphore(semaphore, None) };
    one_message(device, aborts)
}

/// The device is lost in finite time although a submission behind the abort waits for ever. The layer leaves objects that
/// are destroyed afterwards to the driver, and the process can create a new device.
fn never_begins(gpu: &Gpu) -> Result<()> {
    let start = Instant::now();
    {
        let device = Device::new(gpu)?;
        let kernel = entry_point(&device, &words(true))?;
        let semaphore = create_timeline(&device)?;
        let (first, second) = (kernel.record(GROUPS)?, kernel.record(GROUPS)?);
        // The abort goes first because a driver may execute during the submission.
        let results = [first.submit(), submit_behind(&device, semaphore, &second)];
        expect_submitted(&results, true)?;
        expect(second.wait(), true, "vkWaitForFences")?;
        one_message(&device, true)?;
        // SAFETY: the device is lost.
        unsafe { device.raw.destroy_semaphore(semaphore, None) };
    }
    ensure!(
        start.elapsed() < Duration::from_secs(20),
        "the loss took {:?}",
        start.elapsed()
    );
    let device = Device::new(gpu)?;
    let kernel = entry_point(&device, &words(false))?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect(result, false, "a dispatch on a new device")
}
