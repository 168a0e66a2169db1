//! Which calls lose the device, and that it stays lost.

use super::{GROUPS, marked};
use crate::case::{Case, Context};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel, Submission, code};
use anyhow::{Result, bail, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = &[
    Case::new("lost::seen_by_vkWaitForFences", |context| {
        first_seen(context, wait_for_fences)
    }),
    Case::new("lost::seen_by_vkQueueWaitIdle", |context| {
        first_seen(context, queue_wait_idle)
    }),
    Case::new("lost::seen_by_vkDeviceWaitIdle", |context| {
        first_seen(context, device_wait_idle)
    }),
    Case::new("lost::seen_by_vkGetFenceStatus", |context| {
        first_seen(context, fence_status)
    }),
    Case::new("lost::seen_by_vkQueueSubmit", |context| {
        first_seen(context, next_submit)
    }),
    Case::new("lost::seen_by_vkQueueSubmit2", |context| {
        first_seen(context, next_submit2)
    }),
    Case::new("lost::seen_by_vkWaitSemaphores", |context| {
        first_seen(context, wait_semaphores)
    }),
    Case::new("lost::seen_by_vkGetSemaphoreCounterValue", |context| {
        first_seen(context, semaphore_value)
    }),
    Case::new("lost::for_ever_and_for_every_call", for_ever),
    Case::new("lost::for_that_device_alone", that_device_alone),
];

/// Makes one call that may lose the device and returns its result.
type See = fn(&Device<'_>, &Submission<'_>) -> Result<vk::Result>;

/// Submits a dispatch that aborts and observes it with `see` alone until the device is lost.
fn first_seen(context: &Context, see: See) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let buffer = Buffer::storage(&device, &marked(&[3]))?;
    let kernel = Kernel::new(&device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let submission = kernel.record(GROUPS)?;
    // An implementation may execute while it submits.
    let submitted = submission.submit();
    if submitted != vk::Result::SUCCESS {
        ensure!(
            submitted == vk::Result::ERROR_DEVICE_LOST,
            "vkQueueSubmit returned {submitted:?}"
        );
    }
    let start = Instant::now();
    loop {
        match see(&device, &submission)? {
            vk::Result::ERROR_DEVICE_LOST => break,
            vk::Result::SUCCESS | vk::Result::NOT_READY | vk::Result::TIMEOUT => {}
            other => bail!("the call returned {other:?}"),
        }
        ensure!(start.elapsed() < Duration::from_secs(20), "never lost");
    }
    ensure!(device.payloads()?.len() == 1, "no message");
    Ok(())
}

fn wait_for_fences(_: &Device<'_>, submission: &Submission<'_>) -> Result<vk::Result> {
    let result = submission.wait();
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the wait ended with {result:?}"
    );
    Ok(result)
}

fn queue_wait_idle(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    // SAFETY: the queue belongs to the device.
    let result = code(unsafe { device.raw.queue_wait_idle(device.queue) });
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the wait ended with {result:?}"
    );
    Ok(result)
}

fn device_wait_idle(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    // SAFETY: no other thread uses the device.
    let result = code(unsafe { device.raw.device_wait_idle() });
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the wait ended with {result:?}"
    );
    Ok(result)
}

fn fence_status(device: &Device<'_>, submission: &Submission<'_>) -> Result<vk::Result> {
    // SAFETY: the fence belongs to the device.
    match unsafe { device.raw.get_fence_status(submission.fence) } {
        Ok(true) => bail!("the fence is signalled and the device is not lost"),
        Ok(false) => Ok(vk::Result::NOT_READY),
        Err(error) => Ok(error),
    }
}

fn next_submit(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    std::thread::sleep(Duration::from_millis(5));
    // SAFETY: the queue belongs to the device.
    Ok(code(unsafe {
        device.raw.queue_submit(device.queue, &[], vk::Fence::null())
    }))
}

fn next_submit2(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    std::thread::sleep(Duration::from_millis(5));
    // SAFETY: the queue belongs to the device.
    Ok(code(unsafe {
        device.raw.queue_submit2(device.queue, &[], vk::Fence::null())
    }))
}

/// A timeline semaphore, destroyed after `use_it`.
fn with_timeline(device: &Device<'_>, use_it: impl FnOnce(vk::Semaphore) -> vk::Result) -> Result<vk::Result> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the structures are valid.
    let semaphore = unsafe { device.raw.create_semaphore(&info, None) }?;
    let result = use_it(semaphore);
    // SAFETY: nothing that was submitted uses the semaphore.
    unsafe { device.raw.destroy_semaphore(semaphore, None) };
    Ok(result)
}

fn wait_semaphores(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    // Nobody ever signals 1: only the loss ends the wait.
    let result = with_timeline(device, |semaphore| {
        let semaphores = [semaphore];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { device.raw.wait_semaphores(&info, u64::MAX) })
    })?;
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the wait ended with {result:?}"
    );
    Ok(result)
}

fn semaphore_value(device: &Device<'_>, _: &Submission<'_>) -> Result<vk::Result> {
    with_timeline(device, |semaphore| {
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { device.raw.get_semaphore_counter_value(semaphore) })
    })
}

fn for_ever(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let buffer = Buffer::storage(&device, &marked(&[3]))?;
    let kernel = Kernel::new(&device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let (submission, result) = kernel.run(GROUPS)?;
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the dispatch ended with {result:?}"
    );
    let calls: [(&str, See); 7] = [
        ("vkWaitForFences", wait_for_fences),
        ("vkQueueWaitIdle", queue_wait_idle),
        ("vkDeviceWaitIdle", device_wait_idle),
        ("vkGetFenceStatus", fence_status),
        ("vkQueueSubmit", next_submit),
        ("vkWaitSemaphores", wait_semaphores),
        ("vkGetSemaphoreCounterValue", semaphore_value),
    ];
    for round in 0..3 {
        for (name, call) in calls {
            let result = call(&device, &submission)?;
            ensure!(
                result == vk::Result::ERROR_DEVICE_LOST,
                "{name} returned {result:?} in round {round}"
            );
        }
    }
    Ok(())
}

fn that_device_alone(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let other = Device::new(&gpu)?;
    let other_buffer = Buffer::storage(&other, &marked(&[]))?;
    let other_kernel = Kernel::new(&other, &spirv, &[&other_buffer])?;
    {
        let device = Device::new(&gpu)?;
        let buffer = Buffer::storage(&device, &marked(&[3]))?;
        let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
        let (_submission, result) = kernel.run(GROUPS)?;
        ensure!(
            result == vk::Result::ERROR_DEVICE_LOST,
            "the dispatch ended with {result:?}"
        );
        let (_submission, result) = other_kernel.run(GROUPS)?;
        ensure!(result == vk::Result::SUCCESS, "another device ended with {result:?}");
    }
    let (_submission, result) = other_kernel.run(GROUPS)?;
    ensure!(result == vk::Result::SUCCESS, "another device ended with {result:?}");
    let found = other.fault()?.report_count(0);
    ensure!(found == (vk::Result::TIMEOUT, 0), "another device has {found:?}");
    Ok(())
}
