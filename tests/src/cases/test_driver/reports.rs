//! Blocking `vkGetDeviceFaultReportsKHR`: it "blocks until at least one report is available or timeout nanoseconds have
//! elapsed", "each report is returned once", and "the last one has VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR".

use super::support::{Extra, device_with, kernel};
use crate::case::{Case, cases, slowdown};
use crate::cases::support::{GROUPS, expect_success};
use crate::vk::khr::fault_flags;
use crate::vk::{Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = cases! {
    "test_driver_reports::timeouts_are_respected" => timeouts(kernel), on_driver("");
    "test_driver_reports::an_abort_wakes_the_reader_at_once" => woken(kernel), on_driver("abort=1,delay=200");
    "test_driver_reports::a_loss_of_the_driver_wakes_the_reader" => woken(kernel),
        on_driver("lose=execute:1,delay=200");
    "test_driver_reports::a_native_driver_wakes_the_reader" => woken(kernel),
        on_driver("native=abort+fault+data,abort=1,delay=200");
    "test_driver_reports::eight_threads_share_the_reports_of_a_loss" => shared(kernel),
        on_driver("lose=execute:1,ext_fault,delay=50");
    "test_driver_reports::eight_threads_share_the_report_of_an_abort" => shared(kernel), on_driver("abort=1,delay=50");
    "test_driver_reports::the_oldest_ones_are_overwritten" => overwritten(gpu),
        on_driver("abort=*"), set(&[("on_abort", "continue"), ("log_level", "off")]);
};

fn timeouts(kernel: &Kernel<'_>) -> Result<()> {
    let fault = kernel.device.fault()?;
    for milliseconds in [0, 1, 100] {
        let limit = Duration::from_millis(milliseconds);
        let start = Instant::now();
        let found = fault.report_count(u64::try_from(limit.as_nanos())?);
        let took = start.elapsed();
        ensure!(found == (vk::Result::TIMEOUT, 0), "{found:?}");
        ensure!(
            took >= limit && took < limit + Duration::from_secs(2) * slowdown(),
            "{took:?} for {limit:?}"
        );
    }
    Ok(())
}

fn woken(kernel: &Kernel<'_>) -> Result<()> {
    let fault = kernel.device.fault()?;
    let submission = kernel.record(GROUPS)?;
    let start = Instant::now();
    ensure!(submission.submit() == vk::Result::SUCCESS, "the submission failed");
    let (result, reports) = fault.reports(u64::MAX, 10);
    let took = start.elapsed();
    ensure!((result, reports.len()) == (vk::Result::SUCCESS, 1));
    ensure!(reports[0].flags & fault_flags::DEVICE_LOST != 0, "{reports:?}");
    // The loss happens after 200 ms. The layer detects it within a poll interval of 1 ms, or 20 ms for a loss of the
    // driver. The rest is slack for busy machines.
    ensure!(
        took >= Duration::from_millis(180),
        "a report before the loss, after {took:?}"
    );
    ensure!(
        took < Duration::from_secs(3) * slowdown(),
        "woken {took:?} after the submission"
    );
    Ok(())
}

/// "If the number of faults generated exceeds this limit, then the oldest records will be overwritten", and the first report
/// after them has `VK_DEVICE_FAULT_FLAG_OVERFLOW_KHR`.
fn overwritten(gpu: &Gpu) -> Result<()> {
    let extra = Extra {
        report_masked: true,
        ..Extra::default()
    };
    let device = &device_with(gpu, &extra)?;
    let kernel = &kernel(device)?;
    let submission = kernel.record(GROUPS)?;
    let abort = |times| {
        (0..times).try_for_each(|_| {
            expect_success(submission.run())?;
            // SAFETY: the fence is signalled.
            Ok::<_, anyhow::Error>(unsafe { device.raw.reset_fences(&[submission.fence]) }?)
        })
    };
    let fault = device.fault()?;
    abort(3)?;
    let (result, reports) = fault.reports(0, 1);
    ensure!(
        result == vk::Result::INCOMPLETE && reports.len() == 1 && reports[0].flags == 0,
        "{result:?}, {reports:?}"
    );
    abort(300)?;
    let counted = fault.report_count(0);
    ensure!(counted == (vk::Result::SUCCESS, 256), "{counted:?}");
    let (result, reports) = fault.reports(0, 1000);
    ensure!(
        result == vk::Result::SUCCESS && reports.len() == 256,
        "{result:?}, {} reports",
        reports.len()
    );
    let oldest = 3 + 300 - 255;
    for (report, number) in reports.iter().zip(oldest..) {
        let flags = if number == oldest { fault_flags::OVERFLOW } else { 0 };
        ensure!(
            report.flags == flags && report.text().contains(&format!("submission {number}, message 0")),
            "report of submission {number}: {:x}, {:?}",
            report.flags,
            report.text()
        );
    }
    Ok(())
}

fn shared(kernel: &Kernel<'_>) -> Result<()> {
    let fault = kernel.device.fault()?;
    let taken = Mutex::new(Vec::new());
    let submission = kernel.record(GROUPS)?;
    std::thread::scope(|scope| -> Result<()> {
        for _ in 0..8 {
            scope.spawn(|| {
                // Late threads get no report, and do not block for ever.
                loop {
                    let (result, reports) = fault.reports(u64::MAX, 1);
                    let last = reports.is_empty();
                    if let Ok(mut taken) = taken.lock() {
                        taken.extend(reports.into_iter().map(|report| (result, report.flags)));
                    }
                    if last {
                        break;
                    }
                }
            });
        }
        ensure!(submission.submit() == vk::Result::SUCCESS, "the submission failed");
        Ok(())
    })?;
    let taken = taken.into_inner().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
    let mut flags: Vec<u32> = taken.iter().map(|(_, flags)| *flags).collect();
    flags.sort_unstable();
    let ext = [
        fault_flags::DEVICE_LOST,
        fault_flags::MEMORY_ADDRESS,
        fault_flags::INSTRUCTION_ADDRESS,
        fault_flags::VENDOR,
    ];
    let with_details = std::env::var(crate::harness::DRIVER_SETTINGS)?.contains("ext_fault");
    let expected = if with_details { &ext[..] } else { &ext[..1] };
    ensure!(flags == expected, "{taken:x?}");
    Ok(())
}
