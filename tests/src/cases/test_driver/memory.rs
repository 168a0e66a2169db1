//! Memory types of the arena: for messages "host-visible, coherent; cached or AMD device-coherent uncached where offered,
//! never memory that a reset can lose if there is a choice"; for the control block device memory where atomics would
//! cross a bus. Also its contents after a loss that destroys device memory.

use super::support::{expect_loss_only, lose, lose_with, payload};
use crate::case::{Case, cases};
use crate::cases::support::{GROUPS, expect_payloads, expect_success};
use crate::vk::{Device, Gpu, Kernel, test_driver};
use anyhow::{Result, ensure};

/// The control block is in the same buffer as the records.
const BEFORE: Option<u32> = None;

macro_rules! choices {
    ($($name:literal $driver:literal [$($key:literal $value:literal)?] => $records:literal, $control:expr;)*) => {
        cases! {$(
            concat!("test_driver_memory::", $name) => check_types(device, $records, $control),
                on_driver($driver), set(&[$(($key, $value))?]), validated();
        )*}
    };
}

const CHOICES: &[Case] = choices! {
    "cached_host_memory_is_best" "memory=vram+host+cached" [] => 2, BEFORE;
    "the_control_block_is_placed_in_gpu_memory" "memory=vram+bar+host+cached" [] => 3, Some(1);
    "host_memory_is_preferred_to_gpu_memory" "memory=vram+bar+host" [] => 2, Some(1);
    "gpu_memory_is_used_as_a_last_resort" "memory=vram+bar" [] => 1, BEFORE;
    "incoherent_memory_is_not_used" "memory=incoherent+host" [] => 1, BEFORE;
    "memory_that_needs_a_feature_is_not_used" "memory=amd+host" [] => 1, BEFORE;
    "the_first_of_equal_types_is_used" "memory=host+cached+cached" [] => 1, BEFORE;
    "the_control_block_of_an_integrated_gpu_precedes_the_records" "kind=integrated,memory=vram+bar+host+cached" [] => 3,
        BEFORE;
    "all_memory_is_gpu_memory" "kind=integrated,memory=bar" [] => 0, BEFORE;
    "device_coherent_memory_is_enabled"
        "device_coherent,memory=vram+bar+host+cached+amd_bar+amd+amd_cached" [] => 6, Some(4);
    "device_coherent_memory_is_preferred_to_cached_memory"
        "device_coherent,memory=vram+cached+amd" [] => 2, BEFORE;
    "device_coherent_gpu_memory_is_not_preferred_to_host_memory" "device_coherent,memory=host+amd_bar" [] => 0, Some(1);
    "cached_is_requested" "device_coherent,memory=vram+host+cached+amd" ["memory" "cached"] => 2, BEFORE;
    "uncached_is_requested" "memory=vram+host+cached" ["memory" "uncached"] => 1, BEFORE;
    "device_coherent_is_requested" "device_coherent,memory=host+amd_bar" ["memory" "device_coherent"] => 1, BEFORE;
    "device_memory_is_requested" "memory=vram+bar+host+cached" ["memory" "device"] => 1, BEFORE;
    "a_control_block_before_the_records_is_requested"
        "memory=vram+bar+host+cached" ["control_block" "host"] => 3, BEFORE;
    "a_control_block_in_device_memory_is_requested"
        "kind=integrated,memory=vram+bar+host+cached" ["control_block" "device"] => 3, Some(1);
};

pub(super) fn cases() -> Vec<Case> {
    [CHOICES, REFUSED, LOST, USED].concat()
}

/// The layer drops a setting that it cannot satisfy and logs why.
const REFUSED: &[Case] = cases! {
    "test_driver_memory::cached_memory_is_not_offered" => check_types(device, 1, BEFORE),
        on_driver("memory=vram+host"), set(&[("memory", "cached")]), validated(),
        logs(&["memory = cached is not possible", "memory types 1 (HOST_VISIBLE | HOST_COHERENT)", "using auto"]);
    "test_driver_memory::device_coherent_memory_is_not_offered" => check_types(device, 1, BEFORE),
        on_driver("memory=amd+host"), set(&[("memory", "device_coherent")]), validated(),
        logs(&["memory = device_coherent is not possible"]);
    "test_driver_memory::no_device_memory_for_a_control_block" => check_types(device, 2, BEFORE),
        on_driver("memory=vram+host+cached"), set(&[("control_block", "device")]), validated(),
        logs(&["control_block = device is not possible", "using auto"]);
    "test_driver_memory::a_cpu_driver_ignores_the_setting" => without_abort_taken(kernel),
        on_driver("kind=cpu"), set(&[("memory", "device")]), logs(&["has no effect on a CPU driver"]);
    "test_driver_memory::the_control_block_stays_if_its_memory_is_refused" => messages(kernel, 1),
        on_driver("memory=vram+bar+cached,abort=1,refuse=memory:2"), set(&[("log_level", "warning")]), validated(),
        logs(&["the control block stays before the messages", "vkAllocateMemory failed"]);
    "test_driver_memory::the_control_block_stays_if_its_buffer_is_refused" => messages(kernel, 1),
        on_driver("memory=vram+bar+cached,abort=1,refuse=buffer:2"), set(&[("log_level", "warning")]), validated(),
        logs(&["the control block stays before the messages", "vkCreateBuffer failed"]);
    "test_driver_memory::the_control_block_stays_if_its_mapping_is_refused" => messages(kernel, 1),
        on_driver("memory=vram+bar+cached,abort=1,refuse=map:2"), set(&[("log_level", "warning")]), validated(),
        logs(&["the control block stays before the messages", "vkMapMemory failed"]);
    "test_driver_memory::device_memory_is_full" => messages(kernel, 1),
        on_driver("memory=vram+bar+cached,abort=1,refuse=memory:1"), set(&[("memory", "device")]), validated(),
        logs(&["memory = device is not possible: vkAllocateMemory failed", "using auto"]);
};

/// A loss destroys device memory. Messages survive because they are in host memory.
const LOST: &[Case] = cases! {
    "test_driver_memory::messages_survive_a_control_block_of_zeros" => messages(kernel, 40),
        on_driver("memory=vram+bar+cached,abort=1,messages=40,lose=execute:1,lost_memory=zeros"), validated(),
        logs(&["the abort count was lost with the device"]);
    "test_driver_memory::messages_survive_a_control_block_of_ones" => messages(kernel, 40),
        on_driver("memory=vram+bar+cached,abort=1,messages=40,lose=execute:1,lost_memory=ones"), validated(),
        logs(&["the abort count was lost with the device"]);
    "test_driver_memory::messages_survive_a_loss_that_preserves_memory" => messages(kernel, 40),
        on_driver("memory=vram+bar+cached,abort=1,messages=40,lose=execute:1"), validated();
    "test_driver_memory::zeros_without_an_abort_are_not_messages" => no_messages(kernel),
        on_driver("memory=vram+bar+cached,lose=execute:1,lost_memory=zeros"), validated(),
        logs(&["no shader has aborted"]);
    "test_driver_memory::ones_without_an_abort_are_not_messages" => no_messages(kernel),
        on_driver("memory=vram+bar+cached,lose=execute:1,lost_memory=ones"), validated(),
        logs(&["no shader has aborted"]);
    "test_driver_memory::messages_in_lost_memory_are_lost" => no_messages(kernel),
        on_driver("memory=vram+bar,abort=1,messages=3,lose=execute:1,lost_memory=ones"), validated(),
        logs(&["no shader has aborted"]);
};

/// Arenas with a separate control block behave like arenas without.
const USED: &[Case] = cases! {
    "test_driver_memory::a_storm_fills_an_arena_with_a_separate_control_block" => storm(kernel),
        on_driver("memory=vram+bar+cached,abort=1,messages=100000"), set(&[("log_level", "off")]), validated();
    "test_driver_memory::an_arena_with_a_separate_control_block_is_emptied" => emptied(kernel),
        on_driver("memory=vram+bar+cached,abort=*,messages=3"),
        set(&[("on_abort", "continue"), ("duplicate_limit", "5")]), validated(),
        logs(&["submission 1, message 0", "submission 5, message 2"]);
    "test_driver_memory::several_devices_have_separate_control_blocks" => side_by_side(gpu),
        on_driver("memory=vram+bar+cached,abort=*,messages=2"), validated();
    "test_driver_memory::a_separate_control_block_on_a_cpu_driver" => side_by_side(gpu),
        on_driver("kind=cpu,abort=*,messages=2"), set(&[("control_block", "device")]), validated();
};

fn check_types(device: &Device<'_>, records: u32, control: Option<u32>) -> Result<()> {
    let calls = test_driver::call_log(device)?;
    let [latest, before, ..] = calls.memory_types;
    let found = match calls.allocations {
        1 => (latest, None),
        _ => (before, Some(latest)),
    };
    ensure!(
        found == (records, control) && calls.allocations == 1 + u32::from(control.is_some()),
        "records and control block are in memory types {found:?}, in {} allocations",
        calls.allocations
    );
    Ok(())
}

fn without_abort_taken(_: &Kernel<'_>) -> Result<()> {
    Ok(())
}

/// Expects all messages of one submission.
fn messages(kernel: &Kernel<'_>, messages: u32) -> Result<()> {
    let _submission = lose(kernel)?;
    expect_payloads(
        kernel.device,
        &(0..messages).map(|index| payload(1, index)).collect::<Vec<_>>(),
    )?;
    expect_loss_only(kernel.device)
}

fn no_messages(kernel: &Kernel<'_>) -> Result<()> {
    let _submission = lose(kernel)?;
    expect_payloads(kernel.device, &[])
}

fn storm(kernel: &Kernel<'_>) -> Result<()> {
    let _submission = lose(kernel)?;
    let payloads = kernel.device.payloads()?;
    // Each message takes two slots of 64 bytes out of 1 MiB: a header of 48 bytes, and its text. The control block takes 17.
    ensure!(
        payloads.len() == ((1 << 20) / 64 - 17) / 2,
        "{} messages",
        payloads.len()
    );
    for (index, found) in (0..).zip(&payloads) {
        ensure!(*found == payload(1, index), "message {index} is {found:?}");
    }
    Ok(())
}

/// With `on_abort = continue`, each submission's messages are reported once and the arena is reset for the next one.
fn emptied(kernel: &Kernel<'_>) -> Result<()> {
    for _ in 0..5 {
        expect_success(kernel.run_to_end(GROUPS)?)?;
        kernel.device.wait_idle()?;
    }
    Ok(())
}

fn side_by_side(gpu: &Gpu) -> Result<()> {
    let devices = [Device::new(gpu)?, Device::new(gpu)?, Device::new(gpu)?];
    for (number, device) in (1..).zip(&devices) {
        lose_with(device, &[payload(number, 0), payload(number, 1)])?;
    }
    Ok(())
}
