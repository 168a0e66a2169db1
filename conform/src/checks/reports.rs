//! `vkGetDeviceFaultReportsKHR`

use crate::open::CheckedGpu;
use crate::rules;
use crate::scenario::should;
use crate::scenario::{FINITE, GROUPS, hex, lose, lost_by, no_reports, prepare};
use crate::shaders::Message;
use anyhow::{Result, ensure};
use ash::vk;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use vk_ext::fault_flags;
use vkabort_gpu::{Enable, FaultQueries, show};
use vkabort_runner::{Case, cases};

pub(super) const CHECKS: &[Case] = cases! {
    "reports.none_of_a_healthy_device" => none(gpu), rule(rules::NO_REPORTS);
    "reports.wait_for_the_timeout" => timeout(gpu), rule(rules::REPORT_TIMEOUT);
    "reports.wake_a_thread_that_waits" => wake(gpu), rule(rules::REPORT_TIMEOUT), after_loss();
    "reports.without_waiting_after_the_loss" => at_once(gpu), rule(rules::REPORT_AT_ONCE), after_loss();
    "reports.each_exactly_once" => once(gpu), rule(rules::REPORT_ONCE), after_loss();
    "reports.device_lost_is_the_last" => last(gpu), rule(rules::REPORT_LAST), after_loss();
    "reports.have_a_description" => description(gpu), rule(rules::DESCRIPTION), after_loss();
    "reports.excess_elements_untouched" => excess(gpu), rule(rules::REPORT_ROOM), after_loss();
    "reports.no_room_is_incomplete" => no_room(gpu), rule(rules::REPORT_ROOM), after_loss(), outside_valid_usage();
    "reports.unique_among_threads" => threads(gpu), rule(rules::REPORT_UNIQUE), after_loss();
};

/// 20 seconds in nanoseconds: a report must be available long before.
const LONG: u64 = 20_000_000_000;

/// The fault queries of a lost device, and the number of pending reports.
fn pending(gpu: &'static CheckedGpu) -> Result<(FaultQueries, u32)> {
    let (_, fault, _) = lost_by(gpu, Message::Uint, &[3])?;
    let (result, count) = fault.report_count(LONG);
    ensure!(
        result == vk::Result::SUCCESS && count > 0,
        "after the loss the call returned {} and a count of {count}",
        show(result)
    );
    Ok((fault, count))
}

fn none(gpu: &'static CheckedGpu) -> Result<String> {
    let fault = gpu.device(Enable::FAULT)?.fault_queries()?;
    let start = Instant::now();
    no_reports("the call", fault.report_count(0))?;
    let (result, reports) = fault.reports(0, 2);
    ensure!(
        result == vk::Result::TIMEOUT && reports.is_empty(),
        "with an array the call returned {} and {} reports",
        show(result),
        reports.len()
    );
    let time = start.elapsed();
    should!(
        time < Duration::from_secs(1),
        "two calls that must not wait took {time:?}"
    );
    Ok(String::new())
}

fn timeout(gpu: &'static CheckedGpu) -> Result<String> {
    let fault = gpu.device(Enable::FAULT)?.fault_queries()?;
    let start = Instant::now();
    let answer = fault.report_count(100_000_000);
    let time = start.elapsed();
    no_reports("the call", answer)?;
    ensure!(
        time >= Duration::from_millis(90),
        "a timeout of 100 ms expired after {time:?}"
    );
    should!(
        time < Duration::from_secs(5),
        "a timeout of 100 ms expired after {time:?}"
    );
    Ok(format!("a timeout of 100 ms took {} ms", time.as_millis()))
}

fn wake(gpu: &'static CheckedGpu) -> Result<String> {
    let (device, _, kernel) = prepare(gpu, Enable::ABORT, Message::Uint, &[3])?;
    let fault = device.fault_queries()?;
    let (sender, receiver) = mpsc::channel();
    // Not joined: a thread that never wakes must not block the check.
    std::thread::spawn(move || sender.send((fault.report_count(u64::MAX), Instant::now())));
    let early = receiver.recv_timeout(Duration::from_millis(200));
    ensure!(early.is_err(), "before the fault the call returned {early:?}");
    lose(device, kernel, GROUPS)?;
    let lost = Instant::now();
    let Ok(((result, count), woke)) = receiver.recv_timeout(FINITE) else {
        ensure!(false, "the call still waits {} s after the loss", FINITE.as_secs());
        return Ok(String::new());
    };
    ensure!(
        result == vk::Result::SUCCESS && count > 0,
        "the call returned {} and a count of {count}",
        show(result)
    );
    let late = woke.saturating_duration_since(lost);
    should!(late < Duration::from_secs(3), "the thread woke {late:?} after the loss");
    Ok(format!("{} ms after the loss", late.as_millis()))
}

/// Most programs ask with a timeout of zero, as soon as a command has reported the loss, and never again.
fn at_once(gpu: &'static CheckedGpu) -> Result<String> {
    let (_, fault, _) = lost_by(gpu, Message::Uint, &[3])?;
    let start = Instant::now();
    let (result, count) = fault.report_count(0);
    // The specification does not say when a report becomes available.
    should!(
        result == vk::Result::SUCCESS && count > 0,
        "right after the loss the call returned {} and a count of {count}",
        show(result)
    );
    let (result, reports) = fault.reports(0, count);
    ensure!(
        result == vk::Result::SUCCESS && reports.len() == count as usize,
        "of {count} reports the call returned {}, and {}",
        reports.len(),
        show(result)
    );
    let time = start.elapsed();
    should!(
        time < Duration::from_secs(1),
        "two calls that must not wait took {time:?}"
    );
    Ok(format!("number of reports: {count}"))
}

fn once(gpu: &'static CheckedGpu) -> Result<String> {
    let (fault, count) = pending(gpu)?;
    let again = fault.report_count(0);
    ensure!(
        again == (vk::Result::SUCCESS, count),
        "a second call for the count returned {again:?} instead of {count}"
    );
    for taken in 0..count {
        let (result, reports) = fault.reports(0, 1);
        let expected = if taken + 1 < count {
            vk::Result::INCOMPLETE
        } else {
            vk::Result::SUCCESS
        };
        ensure!(
            result == expected && reports.len() == 1,
            "the call for report {} of {count} returned {} and {} reports",
            taken + 1,
            show(result),
            reports.len()
        );
    }
    no_reports("after the last report the call", fault.report_count(0))?;
    Ok(format!("number of reports: {count}"))
}

fn last(gpu: &'static CheckedGpu) -> Result<String> {
    let (fault, count) = pending(gpu)?;
    let (_, reports) = fault.reports(0, count);
    ensure!(
        reports.len() == count as usize,
        "{} of {count} reports were returned",
        reports.len()
    );
    for (report, i) in reports.iter().zip(1..) {
        let lost = report.flags & fault_flags::DEVICE_LOST != 0;
        ensure!(
            lost == (i == count),
            "report {i} of {count} has the flags {}",
            fault_flags::names(report.flags)
        );
    }
    let groups: Vec<u64> = reports.iter().map(|report| report.group_id).collect();
    ensure!(groups.is_sorted(), "groupID does not increase: {groups:?}");
    no_reports("after the last report the call", fault.report_count(100_000_000))?;
    Ok(String::new())
}

fn description(gpu: &'static CheckedGpu) -> Result<String> {
    let (fault, count) = pending(gpu)?;
    let (_, reports) = fault.reports(0, count);
    let mut last = String::new();
    for report in &reports {
        let bytes: Vec<u8> = report.description.iter().flat_map(|c| c.to_ne_bytes()).collect();
        let Some(end) = bytes.iter().position(|&byte| byte == 0) else {
            ensure!(false, "the description has no terminating NUL");
            continue;
        };
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default());
        ensure!(text.is_ok(), "the description is not UTF-8: {}", hex(&bytes));
        should!(end > 0, "the description is empty");
        last = text.unwrap_or_default().to_owned();
    }
    Ok(format!("\"{last}\""))
}

fn excess(gpu: &'static CheckedGpu) -> Result<String> {
    let (fault, count) = pending(gpu)?;
    let (result, written, untouched) = fault.take_guarded(0, count + 3);
    ensure!(
        result == vk::Result::SUCCESS && written == count,
        "with room for {} reports and {count} pending, the call returned {} and a count of {written}",
        count + 3,
        show(result)
    );
    ensure!(
        untouched,
        "the call changed elements past the {written} that it reports as written"
    );
    Ok(String::new())
}

fn no_room(gpu: &'static CheckedGpu) -> Result<String> {
    let (fault, count) = pending(gpu)?;
    let (result, written, untouched) = fault.take_guarded(0, 0);
    // Valid usage requires room for at least one report; the text specifies the result, and Khronos' tests check it.
    should!(
        result == vk::Result::INCOMPLETE && written == 0 && untouched,
        "with a count of 0 and an array the call returned {} and a count of {written}",
        show(result)
    );
    let after = fault.report_count(0);
    should!(
        after == (vk::Result::SUCCESS, count),
        "of {count} reports, {after:?} remain"
    );
    Ok(String::new())
}

fn threads(gpu: &'static CheckedGpu) -> Result<String> {
    let (fault, count) = pending(gpu)?;
    let (sender, receiver) = mpsc::channel();
    for _ in 0..4 {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let (result, reports) = fault.reports(0, count);
            let lost = reports
                .iter()
                .filter(|report| report.flags & fault_flags::DEVICE_LOST != 0);
            sender.send((result, reports.len(), lost.count()))
        });
    }
    let (mut total, mut losses) = (0, 0);
    for _ in 0..4 {
        let Ok((result, taken, lost)) = receiver.recv_timeout(FINITE) else {
            ensure!(false, "a call that must not wait did not return");
            break;
        };
        let expected = if taken == 0 {
            vk::Result::TIMEOUT
        } else {
            vk::Result::SUCCESS
        };
        ensure!(
            result == expected || result == vk::Result::INCOMPLETE,
            "the call returned {} and {taken} reports",
            show(result)
        );
        losses += lost;
        total += taken;
    }
    ensure!(
        total == count as usize && losses == 1,
        "four threads got {total} of {count} reports, {losses} of them with DEVICE_LOST"
    );
    Ok(String::new())
}
