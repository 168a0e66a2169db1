//! Effects of a lost device on objects that programs wait for: queries, events, semaphores and sparse binding.

use super::support::{GROUPS, LOST, entry_point, expect, expect_submitted, words};
use crate::case::{Case, Skip, cases};
use crate::vk::{Device, Gpu, Submission, code};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "lost_objects::a_query_that_is_waited_for" => query(gpu, true);
    "lost_objects::a_query_on_a_healthy_device" => query(gpu, false), silent();
    "lost_objects::an_event_that_was_set_before_the_loss" => event(device, true);
    "lost_objects::an_event_on_a_healthy_device" => event(device, false), silent();
    "lost_objects::binary_semaphores" => semaphores(device, true);
    "lost_objects::binary_semaphores_on_a_healthy_device" => semaphores(device, false), silent();
    "lost_objects::sparse_binding" => sparse(gpu);
};

pub(super) fn one_message(device: &Device<'_>, aborts: bool) -> Result<()> {
    if aborts {
        let count = device.payloads()?.len();
        ensure!(count == 1, "{count} messages");
    }
    Ok(())
}

/// Submits the recorded commands with the semaphores in `info`.
pub(super) fn submit(device: &Device<'_>, info: vk::SubmitInfo<'_>, submission: &Submission<'_>) -> vk::Result {
    submission.submit_info(device.queue, info)
}

fn query(gpu: &Gpu, aborts: bool) -> Result<()> {
    let (_, newer) = gpu.features();
    gpu.require(newer.host_query_reset, "hostQueryReset")?;
    let device = Device::new(gpu)?;
    let kernel = entry_point(&device, &words(aborts))?;
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::TIMESTAMP)
        .query_count(2);
    let raw = &device.raw;
    // SAFETY: the handles belong to this device and the structures are valid.
    let pool = unsafe { raw.create_query_pool(&info, None) }?;
    // SAFETY: nothing uses the pool yet.
    unsafe { raw.reset_query_pool(pool, 0, 2) };
    let dispatch = kernel.record(GROUPS)?;
    let stamp = Submission::record(&device, |raw, commands| {
        // SAFETY: the command buffer is being recorded.
        unsafe { raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0) };
    })?;
    let submitted = [dispatch.submit(), stamp.submit()];
    expect_submitted(&submitted, aborts)?;
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // The second query is never written, so only the loss ends its wait.
    for first in if aborts { 0..2 } else { 0..1 } {
        // SAFETY: the pool has these queries.
        let result = code(unsafe { raw.get_query_pool_results(pool, first, &mut [0u64], flags) });
        // The first query may have been written before the loss was detected.
        let written = aborts && first == 0 && result == vk::Result::SUCCESS;
        ensure!(
            written || result == if aborts { LOST } else { vk::Result::SUCCESS },
            "vkGetQueryPoolResults of query {first} returned {result:?}"
        );
    }
    if !aborts {
        expect(stamp.wait(), false, "vkWaitForFences")?;
        expect(dispatch.wait(), false, "vkWaitForFences")?;
    }
    // SAFETY: the device is lost, or the work over.
    unsafe { raw.destroy_query_pool(pool, None) };
    one_message(&device, aborts)
}

fn event(device: &Device<'_>, aborts: bool) -> Result<()> {
    let kernel = entry_point(device, &words(aborts))?;
    let raw = &device.raw;
    // SAFETY: the structure is valid.
    let event = unsafe { raw.create_event(&vk::EventCreateInfo::default(), None) }?;
    let dispatch = kernel.record(GROUPS)?;
    let set = Submission::record(device, |raw, commands| {
        // SAFETY: the command buffer is being recorded.
        unsafe { raw.cmd_set_event(commands, event, vk::PipelineStageFlags::ALL_COMMANDS) };
    })?;
    let submitted = [dispatch.submit(), set.submit()];
    expect_submitted(&submitted, aborts)?;
    let start = Instant::now();
    let result = loop {
        // SAFETY: the event belongs to the device.
        match unsafe { raw.get_event_status(event) } {
            Ok(false) => {}
            Ok(true) if aborts => {}
            Ok(true) => break vk::Result::SUCCESS,
            Err(error) => break error,
        }
        ensure!(start.elapsed() < Duration::from_secs(20), "the event was never set");
    };
    expect(result, aborts, "vkGetEventStatus")?;
    expect(set.wait(), aborts, "vkWaitForFences")?;
    expect(dispatch.wait(), aborts, "vkWaitForFences")?;
    // SAFETY: the device is lost, or the work over.
    unsafe { raw.destroy_event(event, None) };
    one_message(device, aborts)
}

fn semaphores(device: &Device<'_>, aborts: bool) -> Result<()> {
    let (kernel, other) = (
        entry_point(device, &words(aborts))?,
        entry_point(device, &words(false))?,
    );
    // SAFETY: the structure is valid.
    let semaphore = unsafe { device.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }?;
    let semaphores = [semaphore];
    let (first, second) = (kernel.record(GROUPS)?, other.record(GROUPS)?);
    let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
    let results = [
        submit(device, vk::SubmitInfo::default().signal_semaphores(&semaphores), &first),
        submit(
            device,
            vk::SubmitInfo::default()
                .wait_semaphores(&semaphores)
                .wait_dst_stage_mask(&stages),
            &second,
        ),
    ];
    expect_submitted(&results, aborts)?;
    expect(second.wait(), aborts, "vkWaitForFences")?;
    expect(first.wait(), aborts, "vkWaitForFences")?;
    // SAFETY: the device is lost, or the work over.
    unsafe { device.raw.destroy_semaphore(semaphore, None) };
    one_message(device, aborts)
}

/// Creates a timeline semaphore with value 0.
pub(super) fn create_timeline(device: &Device<'_>) -> Result<vk::Semaphore> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    // SAFETY: the structures are valid.
    Ok(unsafe { device.raw.create_semaphore(&info, None) }?)
}

/// Waits for the value 1 of a timeline semaphore, which nothing signals: only the loss ends the wait.
pub(super) fn wait_for_timeline(device: &Device<'_>) -> Result<vk::Result> {
    with_timeline(device, |semaphore| {
        let semaphores = [semaphore];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { device.raw.wait_semaphores(&info, u64::MAX) })
    })
}

/// Calls `observe` with a timeline semaphore that no submission uses.
pub(super) fn with_timeline(
    device: &Device<'_>,
    observe: impl FnOnce(vk::Semaphore) -> vk::Result,
) -> Result<vk::Result> {
    let semaphore = create_timeline(device)?;
    let result = observe(semaphore);
    // SAFETY: no submission uses the semaphore.
    unsafe { device.raw.destroy_semaphore(semaphore, None) };
    Ok(result)
}

fn sparse(gpu: &Gpu) -> Result<()> {
    let (core, _) = gpu.features();
    gpu.require(core.sparse_binding, "sparseBinding")?;
    let device = Device::new(gpu)?;
    // SAFETY: the handle belongs to the living instance.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    let flags = families[device.family as usize].queue_flags;
    if !flags.contains(vk::QueueFlags::SPARSE_BINDING) {
        return Err(Skip("the queue does not bind sparse memory".into()).into());
    }
    let kernel = entry_point(&device, &words(true))?;
    let raw = &device.raw;
    let info = vk::BufferCreateInfo::default()
        .flags(vk::BufferCreateFlags::SPARSE_BINDING)
        .size(1 << 16)
        .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
    // SAFETY: the handles belong to this device and the structures are valid.
    unsafe {
        let sparse = raw.create_buffer(&info, None)?;
        let requirements = raw.get_buffer_memory_requirements(sparse);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size)
            .memory_type_index(requirements.memory_type_bits.trailing_zeros());
        let memory = raw.allocate_memory(&info, None)?;
        let binds = [vk::SparseMemoryBind::default().size(requirements.size).memory(memory)];
        let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(sparse).binds(&binds)];
        let info = vk::BindSparseInfo::default().buffer_binds(&buffers);
        let fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        let healthy = code(raw.queue_bind_sparse(device.queue, &[info], fence));
        expect(healthy, false, "vkQueueBindSparse")?;
        expect(
            code(raw.wait_for_fences(&[fence], true, u64::MAX)),
            false,
            "vkWaitForFences",
        )?;
        // The binding waits for the dispatch, which aborts; so it is pending or refused when the device is lost.
        raw.reset_fences(&[fence])?;
        let semaphores = [raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?];
        let dispatch = kernel.record(GROUPS)?;
        let signal = vk::SubmitInfo::default().signal_semaphores(&semaphores);
        let results = [
            submit(&device, signal, &dispatch),
            code(raw.queue_bind_sparse(device.queue, &[info.wait_semaphores(&semaphores)], fence)),
        ];
        let is_valid = |result: &vk::Result| [vk::Result::SUCCESS, LOST].contains(result);
        ensure!(results.iter().all(is_valid), "{results:?}");
        expect(dispatch.wait(), true, "the dispatch")?;
        expect(
            code(raw.wait_for_fences(&[fence], true, u64::MAX)),
            true,
            "vkWaitForFences of the binding",
        )?;
        raw.destroy_semaphore(semaphores[0], None);
        let lost = code(raw.queue_bind_sparse(device.queue, &[info], vk::Fence::null()));
        expect(lost, true, "vkQueueBindSparse")?;
        raw.destroy_fence(fence, None);
        raw.destroy_buffer(sparse, None);
        raw.free_memory(memory, None);
    }
    one_message(&device, true)
}
