//! Which memory an arena takes: for messages "host-visible, coherent; cached or AMD device-coherent uncached where offered,
//! never memory that a reset can lose if there is a choice"; for the control block the device's own where atomics would
//! cross a bus. And what is left of it when the device takes its memory with it.

use super::{lose, payload, with_kernel};
use crate::case::{Case, Context};
use crate::cases::GROUPS;
use crate::vk::{Device, Gpu, khr, own};
use anyhow::{Result, ensure};
use ash::vk;

/// Where the control block is before the records.
const BEFORE: Option<u32> = None;

macro_rules! choices {
    ($($name:literal $driver:literal [$($key:literal $value:literal)?] => $records:literal, $control:expr;)*) => {
        &[$(
            Case::new(concat!("own_memory::", $name), |context| chosen(context, $records, $control))
                .on_driver($driver)
                .set(&[$(($key, $value))?])
                .validated(),
        )*]
    };
}

const CHOICES: &[Case] = choices! {
    "cached_host_memory_is_best" "memory=vram+host+cached" [] => 2, BEFORE;
    "the_control_block_goes_to_the_gpu" "memory=vram+bar+host+cached" [] => 3, Some(1);
    "host_memory_is_better_than_the_gpus_own" "memory=vram+bar+host" [] => 2, Some(1);
    "the_gpus_own_is_better_than_nothing" "memory=vram+bar" [] => 1, BEFORE;
    "incoherent_memory_will_not_do" "memory=incoherent+host" [] => 1, BEFORE;
    "memory_that_needs_a_feature_is_left_alone" "memory=amd+host" [] => 1, BEFORE;
    "the_first_of_equal_ones" "memory=host+cached+cached" [] => 1, BEFORE;
    "without_a_bus_the_control_block_stays" "kind=integrated,memory=vram+bar+host+cached" [] => 3, BEFORE;
    "where_all_memory_is_the_gpus" "kind=integrated,memory=bar" [] => 0, BEFORE;
    "what_the_device_does_not_cache_is_turned_on"
        "device_coherent,memory=vram+bar+host+cached+amd_bar+amd+amd_cached" [] => 6, Some(4);
    "what_the_device_does_not_cache_is_better_than_what_the_host_caches"
        "device_coherent,memory=vram+cached+amd" [] => 2, BEFORE;
    "the_gpus_own_is_not_made_better_by_being_uncached" "device_coherent,memory=host+amd_bar" [] => 0, Some(1);
    "cached_is_asked_for" "device_coherent,memory=vram+host+cached+amd" ["memory" "cached"] => 2, BEFORE;
    "uncached_is_asked_for" "memory=vram+host+cached" ["memory" "uncached"] => 1, BEFORE;
    "device_coherent_is_asked_for" "device_coherent,memory=host+amd_bar" ["memory" "device_coherent"] => 1, BEFORE;
    "device_memory_is_asked_for" "memory=vram+bar+host+cached" ["memory" "device"] => 1, BEFORE;
    "a_control_block_before_the_records_is_asked_for"
        "memory=vram+bar+host+cached" ["control_block" "host"] => 3, BEFORE;
    "a_control_block_in_device_memory_is_asked_for"
        "kind=integrated,memory=vram+bar+host+cached" ["control_block" "device"] => 3, Some(1);
};

pub(super) fn cases() -> Vec<Case> {
    [CHOICES, REFUSED, LOST, USED].concat()
}

/// What cannot be had is done without, and said.
const REFUSED: &[Case] = &[
    Case::new("own_memory::cached_memory_is_not_offered", |c| chosen(c, 1, BEFORE))
        .on_driver("memory=vram+host")
        .set(&[("memory", "cached")])
        .validated()
        .logs(&[
            "memory = cached cannot be done",
            "memory types 1 (HOST_VISIBLE | HOST_COHERENT)",
            "using auto",
        ]),
    Case::new("own_memory::device_coherent_memory_is_not_offered", |c| {
        chosen(c, 1, BEFORE)
    })
    .on_driver("memory=amd+host")
    .set(&[("memory", "device_coherent")])
    .validated()
    .logs(&["memory = device_coherent cannot be done"]),
    Case::new("own_memory::no_device_memory_for_a_control_block", |c| {
        chosen(c, 2, BEFORE)
    })
    .on_driver("memory=vram+host+cached")
    .set(&[("control_block", "device")])
    .validated()
    .logs(&["control_block = device cannot be done", "using auto"]),
    Case::new("own_memory::a_cpu_driver_has_nothing_to_choose", |context| {
        with_kernel(context, |_, _| Ok(()))
    })
    .on_driver("kind=cpu")
    .set(&[("memory", "device")])
    .logs(&["memory makes no difference on a CPU driver"]),
    Case::new("own_memory::a_control_block_without_memory_stays", |c| works(c, 1))
        .on_driver("memory=vram+bar+cached,abort=1,refuse=memory:2")
        .set(&[("log_level", "warning")])
        .validated()
        .logs(&["the control block stays before the records", "vkAllocateMemory failed"]),
    Case::new("own_memory::a_control_block_without_a_buffer_stays", |c| works(c, 1))
        .on_driver("memory=vram+bar+cached,abort=1,refuse=buffer:2")
        .set(&[("log_level", "warning")])
        .validated()
        .logs(&["the control block stays before the records", "vkCreateBuffer failed"]),
    Case::new("own_memory::a_control_block_that_cannot_be_mapped_stays", |c| {
        works(c, 1)
    })
    .on_driver("memory=vram+bar+cached,abort=1,refuse=map:2")
    .set(&[("log_level", "warning")])
    .validated()
    .logs(&["the control block stays before the records", "vkMapMemory failed"]),
    Case::new("own_memory::device_memory_that_is_full", |c| works(c, 1))
        .on_driver("memory=vram+bar+cached,abort=1,refuse=memory:1")
        .set(&[("memory", "device")])
        .validated()
        .logs(&["memory = device cannot be done: vkAllocateMemory failed", "using auto"]),
];

/// A loss takes the GPU's own memory: the messages stay, since they are elsewhere.
const LOST: &[Case] = &[
    Case::new("own_memory::messages_survive_a_control_block_of_zeros", |c| {
        works(c, 40)
    })
    .on_driver("memory=vram+bar+cached,abort=1,messages=40,lose=execute:1,lost_memory=zeros")
    .validated()
    .logs(&["the device took its count of aborts with it"]),
    Case::new("own_memory::messages_survive_a_control_block_of_ones", |c| works(c, 40))
        .on_driver("memory=vram+bar+cached,abort=1,messages=40,lose=execute:1,lost_memory=ones")
        .validated()
        .logs(&["the device took its count of aborts with it"]),
    Case::new("own_memory::a_loss_that_keeps_memory_counts_on", |c| works(c, 40))
        .on_driver("memory=vram+bar+cached,abort=1,messages=40,lose=execute:1")
        .validated(),
    Case::new("own_memory::without_an_abort_zeros_are_none", nothing)
        .on_driver("memory=vram+bar+cached,lose=execute:1,lost_memory=zeros")
        .validated()
        .logs(&["no shader has aborted"]),
    Case::new("own_memory::without_an_abort_ones_are_none", nothing)
        .on_driver("memory=vram+bar+cached,lose=execute:1,lost_memory=ones")
        .validated()
        .logs(&["no shader has aborted"]),
    Case::new("own_memory::messages_in_lost_memory_are_none", nothing)
        .on_driver("memory=vram+bar,abort=1,messages=3,lose=execute:1,lost_memory=ones")
        .validated()
        .logs(&["no shader has aborted"]),
];

/// Arenas of two parts do what those of one do.
const USED: &[Case] = &[
    Case::new("own_memory::a_storm_fills_an_arena_of_two_parts", storm)
        .on_driver("memory=vram+bar+cached,abort=1,messages=100000")
        .set(&[("log_level", "off")])
        .validated(),
    Case::new("own_memory::an_arena_of_two_parts_is_emptied", emptied)
        .on_driver("memory=vram+bar+cached,abort=*,messages=3")
        .set(&[("on_abort", "continue")])
        .validated()
        .logs(&["submission 1, message 0", "submission 5, message 2"]),
    Case::new("own_memory::devices_side_by_side_have_two_parts_each", side_by_side)
        .on_driver("memory=vram+bar+cached,abort=*,messages=2")
        .validated(),
    Case::new("own_memory::two_parts_on_a_cpu_driver", side_by_side)
        .on_driver("kind=cpu,abort=*,messages=2")
        .set(&[("control_block", "device")])
        .validated(),
];

fn chosen(context: &Context, records: u32, control: Option<u32>) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let seen = own::seen(&device)?;
    let [latest, before, ..] = seen.memory_types;
    let found = match seen.allocations {
        1 => (latest, None),
        _ => (before, Some(latest)),
    };
    ensure!(
        found == (records, control) && seen.allocations == 1 + u32::from(control.is_some()),
        "records and control block went to memory types {found:?}, in {} allocations",
        seen.allocations
    );
    Ok(())
}

/// The messages of one submission come back.
fn works(context: &Context, messages: u32) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let expected: Vec<_> = (0..messages).map(|index| payload(1, index)).collect();
        let payloads = device.payloads()?;
        ensure!(payloads == expected, "{} messages: {payloads:?}", payloads.len());
        let (result, reports) = device.fault()?.reports(0, 10);
        let flags: Vec<u32> = reports.iter().map(|report| report.flags).collect();
        ensure!(
            result == vk::Result::SUCCESS && flags == [khr::fault_flags::DEVICE_LOST],
            "{result:?}, {flags:?}"
        );
        Ok(())
    })
}

fn nothing(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let payloads = device.payloads()?;
        ensure!(payloads.is_empty(), "{payloads:?}");
        Ok(())
    })
}

fn storm(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        let _submission = lose(kernel)?;
        let payloads = device.payloads()?;
        // Of 1 MiB, each takes a header of 48 bytes and its text in units of 16.
        ensure!(
            payloads.len() > (1 << 20) / 96 && payloads.len() < 100_000,
            "{} messages",
            payloads.len()
        );
        for (index, found) in (0..).zip(&payloads) {
            ensure!(*found == payload(1, index), "message {index} is {found:?}");
        }
        Ok(())
    })
}

/// `on_abort = continue`: each submission's messages come once, and those of the next have room.
fn emptied(context: &Context) -> Result<()> {
    with_kernel(context, |device, kernel| {
        for _ in 0..5 {
            let (_submission, result) = kernel.run(GROUPS)?;
            ensure!(result == vk::Result::SUCCESS, "the dispatch ended with {result:?}");
            // SAFETY: no other thread uses the device.
            unsafe { device.raw.device_wait_idle() }?;
        }
        Ok(())
    })
}

fn side_by_side(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let spirv = super::aborting()?;
    let devices = [Device::new(&gpu)?, Device::new(&gpu)?, Device::new(&gpu)?];
    for (number, device) in (1..).zip(&devices) {
        let buffer = crate::vk::Buffer::storage(device, &[0; 64])?;
        let kernel = crate::vk::Kernel::new(device, &spirv, &[&buffer])?;
        let _submission = lose(&kernel)?;
        let payloads = device.payloads()?;
        ensure!(payloads == [payload(number, 0), payload(number, 1)], "{payloads:?}");
    }
    Ok(())
}
