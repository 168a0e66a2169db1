//! `vkGetDeviceFaultReportsKHR` and `vkGetDeviceFaultDebugInfoKHR` as specified by `VK_KHR_device_fault`.

use super::support::{GROUPS, entry_point, expect_lost, marked};
use crate::case::{Case, cases};
use crate::vk::Device;
use crate::vk::khr::FaultCommands;
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "fault_queries::no_room_for_reports_is_incomplete" => no_room(device);
    "fault_queries::a_healthy_device_times_out" => healthy(device);
    "fault_queries::message_data_is_sized_then_filled_the_same_every_time" => message_data(device);
    "fault_queries::a_short_buffer_is_not_overrun" => short_buffer(device);
};

/// Loses the device by three invocations that abort. Returns its fault queries.
fn lose<'a>(device: &'a Device<'_>) -> Result<&'a FaultCommands> {
    let kernel = entry_point(device, &marked(&[1, 2, 60]))?;
    expect_lost(kernel.run_to_end(GROUPS)?)?;
    device.fault()
}

fn no_room(device: &Device<'_>) -> Result<()> {
    // The VUID forbids this call, but the command's description defines its result.
    device
        .gpu
        .messages
        .expect("VUID-vkGetDeviceFaultReportsKHR-pFaultCounts-arraylength");
    let fault = lose(device)?;
    let (_, count) = fault.report_count(u64::MAX);
    let (result, reports) = fault.reports(0, 0);
    ensure!((result, reports.len()) == (vk::Result::INCOMPLETE, 0));
    let (result, reports) = fault.reports(0, count + 5);
    ensure!(result == vk::Result::SUCCESS, "{result:?}");
    ensure!(reports.len() == count as usize, "{} reports of {count}", reports.len());
    Ok(())
}

fn healthy(device: &Device<'_>) -> Result<()> {
    let fault = device.fault()?;
    for (timeout, least) in [(0, 0), (50_000_000, 45)] {
        let start = Instant::now();
        let found = fault.report_count(timeout);
        let took = start.elapsed();
        ensure!(found == (vk::Result::TIMEOUT, 0), "{found:?}");
        ensure!(
            took >= Duration::from_millis(least) && took < Duration::from_secs(5),
            "{took:?} for {timeout} ns"
        );
        let (result, reports) = fault.reports(timeout, 2);
        ensure!((result, reports.len()) == (vk::Result::TIMEOUT, 0));
    }
    // The VUID requires a lost device. The layer must not harm an application that violates it.
    device
        .gpu
        .messages
        .expect("VUID-vkGetDeviceFaultDebugInfoKHR-device-12383");
    let found = fault.message_size();
    ensure!(found == (vk::Result::SUCCESS, 0), "{found:?}");
    Ok(())
}

fn message_data(device: &Device<'_>) -> Result<()> {
    let fault = lose(device)?;
    let (result, size) = fault.message_size();
    // Three messages, each with an 8-byte size, 14 bytes of format, 2 of padding and two numbers.
    ensure!((result, size) == (vk::Result::SUCCESS, 3 * (8 + 16 + 8)));
    let first = fault.message_data()?;
    let mut larger = vec![0xCD; first.len() + 64];
    let (result, written) = fault.messages_into(&mut larger);
    ensure!((result, written) == (vk::Result::SUCCESS, size));
    let (same, rest) = larger.split_at(first.len());
    ensure!(same == first, "the second answer differs");
    ensure!(
        rest.iter().all(|&byte| byte == 0xCD),
        "bytes past the data were written"
    );
    ensure!(fault.message_size() == (result, size), "the size changed");
    Ok(())
}

fn short_buffer(device: &Device<'_>) -> Result<()> {
    let fault = lose(device)?;
    let whole = fault.message_data()?;
    for room in [0, 1, 7, 8, 9, 31, 32, 40, whole.len() - 1] {
        let mut short = vec![0xCD; whole.len() + 16];
        let (result, written) = fault.messages_into(&mut short[..room]);
        let written = usize::try_from(written)?;
        ensure!(
            result == vk::Result::INCOMPLETE,
            "{result:?} with room for {room} bytes"
        );
        ensure!(written <= room, "{written} bytes written to {room}");
        ensure!(short[..written] == whole[..written], "other bytes with room for {room}");
        ensure!(
            short[room..].iter().all(|&byte| byte == 0xCD),
            "overrun with room for {room} bytes"
        );
    }
    Ok(())
}
