//! `trap = fault` and `trap = hang` on a driver that loses the device because of them: the message is written before, and
//! the report contains the driver's details.

use super::support::{Extra, device_with, kernel, lose, payload, vendor_binary};
use crate::case::{Case, cases};
use crate::cases::support::{expect_lost, expect_payloads, expect_success, reports};
use crate::vk::khr::fault_flags;
use crate::vk::{Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

const FAULT: &[(&str, &str)] = &[("trap", "fault")];
const HANG: &[(&str, &str)] = &[("trap", "hang")];

/// Addresses of the store and the instruction, the vendor record, then the loss.
const BY_FAULT: &[u32] = &[
    fault_flags::MEMORY_ADDRESS,
    fault_flags::INSTRUCTION_ADDRESS,
    fault_flags::VENDOR,
    fault_flags::DEVICE_LOST,
];
/// A timeout has no address.
const BY_WATCHDOG: &[u32] = &[
    fault_flags::VENDOR,
    fault_flags::DEVICE_LOST | fault_flags::WATCHDOG_TIMEOUT,
];
const BY_LAYER: &[u32] = &[fault_flags::DEVICE_LOST];

pub(super) const CASES: &[Case] = cases! {
    "test_driver_traps::a_fault_loses_the_device" => check(kernel, BY_FAULT),
        on_driver("abort=1,ext_fault"), set(FAULT), validated(),
        logs(&[
            "submission 1, message 0",
            "the driver reports: the test driver has lost the device",
            "the driver reports: invalid write in 0x0 to 0xfff",
            "the driver reports: instruction at 0xc0de0040 to 0xc0de007f",
            "the driver reports: watchdog (code 0x7, data 0x4d)",
        ]);
    "test_driver_traps::a_delayed_fault" => check(kernel, BY_FAULT),
        on_driver("abort=1,ext_fault,lose_after=300"), set(FAULT), validated();
    "test_driver_traps::a_fault_that_destroys_the_control_block" => check(kernel, BY_FAULT),
        on_driver("memory=vram+bar+cached,abort=1,ext_fault,lose_after=50,lost_memory=ones"), set(FAULT), validated();
    "test_driver_traps::a_fault_that_no_fence_reports" => check(kernel, BY_FAULT),
        on_driver("abort=1,ext_fault,quiet_loss"), set(FAULT), validated();
    "test_driver_traps::a_fault_on_a_driver_without_details" => check(kernel, BY_LAYER),
        on_driver("abort=1"), set(FAULT), validated();
    "test_driver_traps::a_fault_that_the_driver_ignores" => check(kernel, BY_LAYER),
        on_driver("abort=1,ext_fault,no_faults"), set(&[("trap", "fault"), ("log_level", "warning")]), validated(),
        logs(&["the driver did not lose the device after the trap"]);
    "test_driver_traps::a_hang_triggers_the_watchdog" => check(kernel, BY_WATCHDOG),
        on_driver("abort=1,ext_fault,watchdog=200"), set(HANG), validated(),
        logs(&["submission 1, message 0", "the driver reports: watchdog"]);
    "test_driver_traps::a_watchdog_that_fires_after_the_drain_timeout" => check(kernel, BY_WATCHDOG),
        on_driver("abort=1,ext_fault,watchdog=600"), set(&[("trap", "hang"), ("drain_timeout_ms", "50")]), validated();
    "test_driver_traps::a_watchdog_that_destroys_the_control_block" => check(kernel, BY_WATCHDOG),
        on_driver("memory=vram+bar+cached,abort=1,ext_fault,watchdog=100,lost_memory=zeros"), set(HANG), validated();
    "test_driver_traps::a_hang_without_a_watchdog_is_ended" => check(kernel, BY_LAYER),
        on_driver("abort=1,ext_fault"), set(&[("trap", "hang"), ("trap_timeout_ms", "200"), ("log_level", "warning")]),
        validated(), logs(&["the driver did not lose the device after the trap"]);
    "test_driver_traps::a_hang_with_a_separate_control_block_is_ended" => check(kernel, BY_LAYER),
        on_driver("memory=vram+bar+cached,abort=1,ext_fault"),
        set(&[("trap", "hang"), ("trap_timeout_ms", "200"), ("log_level", "warning")]), validated(),
        logs(&["the driver did not lose the device after the trap"]);
    "test_driver_traps::the_vendor_binary_is_available" => dumped_binary(gpu),
        on_driver("abort=1,ext_fault"), set(&[("trap", "fault"), ("dump_dir", "dump")]);
    "test_driver_traps::a_vendor_binary_of_16_tib_is_cut" => dumped_binary(gpu),
        on_driver("abort=1,ext_fault,bad=binary"),
        set(&[("trap", "fault"), ("dump_dir", "dump"), ("log_level", "warning")]),
        logs(&["the driver's crash dump has 17592186044416 bytes, of which 67108864 are read"]);
    "test_driver_traps::nothing_happens_without_an_abort" => no_abort(kernel),
        on_driver("ext_fault"), set(FAULT), validated(), silent();
    "test_driver_traps::are_refused_where_the_device_continues" => continues(kernel),
        on_driver("abort=1"), set(&[("trap", "hang"), ("on_abort", "continue")]),
        logs(&["trap = fault and trap = hang are not supported with on_abort = continue", "message 0"]);
    "test_driver_traps::a_bounded_wait_keeps_its_timeout" => bounded(kernel),
        on_driver("abort=1,ext_fault,watchdog=4000"), set(HANG), validated();
};

/// Loses the device and compares the flags of the reports.
fn check(kernel: &Kernel<'_>, expected: &[u32]) -> Result<()> {
    let _submission = lose(kernel)?;
    expect_payloads(kernel.device, &[payload(1, 0)])?;
    let reports = reports(kernel.device)?;
    let flags: Vec<u32> = reports.iter().map(|report| report.flags).collect();
    ensure!(flags == expected, "{flags:x?}");
    let group = reports[0].group_id;
    ensure!(reports.iter().all(|report| report.group_id == group), "groups differ");
    let (last, driver) = reports.split_last().expect("there is a report");
    ensure!(last.text().contains("submission 1, message 0"), "{:?}", last.text());
    for report in driver {
        ensure!(report.text().contains("the test driver"), "{:?}", report.text());
        if report.flags == fault_flags::MEMORY_ADDRESS {
            let address = report.fault_address_info;
            ensure!(address.reported_address == 0x10, "{address:?}");
        }
    }
    Ok(())
}

fn dumped_binary(gpu: &Gpu) -> Result<()> {
    let extra = Extra {
        vendor_binary: true,
        ..Extra::default()
    };
    let device = &device_with(gpu, &extra)?;
    let kernel = &kernel(device)?;
    let _submission = lose(kernel)?;
    expect_payloads(device, &[payload(1, 0)])?;
    let mut binary = [0u8; 128];
    let found = vendor_binary(device, 128, Some(&mut binary))?;
    ensure!(found == (vk::Result::SUCCESS, 96) && binary[95] == 95, "{found:?}");
    // The dump contains the same bytes.
    let folder = std::fs::read_dir("dump")?.next().context("no dump")??.path();
    let dumped = std::fs::read(folder.join("vendor.bin"))?;
    ensure!(dumped == binary[..96], "{dumped:?}");
    let text = std::fs::read_to_string(folder.join("report.txt"))?;
    ensure!(
        text.contains("the driver reports: invalid write in 0x0 to 0xfff"),
        "{text}"
    );
    Ok(())
}

fn no_abort(kernel: &Kernel<'_>) -> Result<()> {
    expect_success(kernel.run_to_end(1)?)
}

fn continues(kernel: &Kernel<'_>) -> Result<()> {
    for _ in 0..2 {
        expect_success(kernel.run_to_end(1)?)?;
    }
    Ok(kernel.device.wait_idle()?)
}

/// A wait with a timeout ends in time, even though the loss takes longer.
fn bounded(kernel: &Kernel<'_>) -> Result<()> {
    let submission = kernel.record(1)?;
    ensure!(submission.submit() == vk::Result::SUCCESS, "vkQueueSubmit failed");
    let start = Instant::now();
    let (result, reports) = kernel.device.fault()?.reports(20_000_000, 1);
    let took = start.elapsed();
    ensure!(
        result == vk::Result::TIMEOUT && reports.is_empty() && took < Duration::from_millis(3500),
        "{result:?} after {took:?}"
    );
    let result = submission.wait();
    expect_lost(result)?;
    expect_payloads(kernel.device, &[payload(1, 0)])
}
