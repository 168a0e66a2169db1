//! Repetition and concurrency. Short by default; `VKABORT_STRESS_ROUNDS` sets the number of rounds.

use super::support::{Extra, device_with, kernel, lose, payload};
use crate::case::{Case, cases, slowdown};
use crate::cases::support::{GROUPS, expect_payloads, reports};
use crate::harness::STRESS_ROUNDS;
use crate::memory::resident;
use crate::vk::{Device, Gpu, Kernel, test_driver};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

pub(super) const CASES: &[Case] = cases! {
    "test_driver_stress::devices_abort_repeatedly_in_bounded_memory" => devices(gpu),
        on_driver("abort=*,messages=3"), validated(), with(&[("VK_SHADER_ABORT_LOG_LEVEL", "off")]), within(1800);
    "test_driver_stress::on_a_cpu_driver" => devices(gpu),
        on_driver("kind=cpu,abort=*,messages=3,import"), validated(), with(&[("VK_SHADER_ABORT_LOG_LEVEL", "off")]),
        within(1800);
    "test_driver_stress::eight_threads_submit_and_poll" => threads(gpu),
        on_driver("delay=1,abort=400"), with(&[("VK_SHADER_ABORT_LOG_LEVEL", "off")]), within(300);
    "test_driver_stress::eight_threads_with_a_device_each" => devices_in_threads(gpu),
        on_driver("abort=*,messages=2"), with(&[("VK_SHADER_ABORT_LOG_LEVEL", "off")]), within(300);
};

/// Parts of the rounds after which memory is compared.
const PARTS: u32 = 8;

fn rounds(default: u32) -> Result<u32> {
    match std::env::var(STRESS_ROUNDS) {
        Ok(number) => number
            .parse()
            .with_context(|| format!("{STRESS_ROUNDS} is not a number")),
        Err(_) => Ok(default),
    }
}

fn abort_once(gpu: &Gpu) -> Result<Vec<Vec<u8>>> {
    payloads_of_abort(&Device::new(gpu)?)
}

fn payloads_of_abort(device: &Device<'_>) -> Result<Vec<Vec<u8>>> {
    let kernel = &kernel(device)?;
    let _submission = lose(kernel)?;
    let count = reports(device)?.len();
    ensure!(count == 1, "{count} reports");
    device.payloads()
}

fn devices(gpu: &Gpu) -> Result<()> {
    let rounds = rounds(300)?;
    let witness = Device::new(gpu)?;
    let live = || test_driver::call_log(&witness).map(|log| log.live);
    // Resident bytes and live objects after each part of the rounds.
    let mut parts = Vec::new();
    for round in 1..=rounds {
        let payloads = abort_once(gpu)?;
        let expected: Vec<_> = (0..3).map(|index| payload(round, index)).collect();
        ensure!(payloads == expected, "{payloads:?} in round {round}");
        if (1..=PARTS).any(|part| round == (rounds * part).div_ceil(PARTS)) {
            parts.push((resident()?, live()?));
        }
    }
    let after: Vec<_> = parts.iter().map(|(_, live)| live).collect();
    ensure!(
        after.windows(2).all(|pair| pair[0] == pair[1]),
        "objects of the driver leaked: {after:?}"
    );
    // The first part fills pools and caches. A leak grows in the others, one of 6,000 bytes in each round by 200 KiB in at least five.
    // What the validation layer keeps grows by up to 1 MB in at most three, and by no more in 1,200 rounds.
    let grown = parts.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0) >> 10);
    let grown: Vec<_> = grown.collect();
    // A sanitizer's own memory grows: it keeps freed blocks, and the shadow of every page that was ever used. Valgrind keeps
    // 20 MB of freed blocks.
    let limit = if slowdown() > 1 { (64 << 10) / 3 } else { 64 };
    let stays = grown.iter().filter(|grown| **grown < limit).count();
    ensure!(
        stays > 2 || cfg!(sanitized),
        "{grown:?} KiB more in the later parts of {rounds} rounds"
    );
    Ok(())
}

/// With any layer, Debian 12's loader (1.3.239) reads freed memory in `vkGetDeviceProcAddr` while another thread destroys a
/// device: its list of devices has no lock. So devices are destroyed while no thread loads the functions of one.
fn devices_in_threads(gpu: &Gpu) -> Result<()> {
    let rounds = rounds(400)?.div_ceil(8);
    let loader = RwLock::new(());
    let abort = || -> Result<()> {
        let device = {
            let _loading = loader.read();
            Device::new(gpu)?
        };
        let payloads = payloads_of_abort(&device);
        let _destroying = loader.write();
        drop(device);
        let count = payloads?.len();
        ensure!(count == 2, "{count} messages");
        Ok(())
    };
    let failed = std::thread::scope(|scope| {
        let run = || (0..rounds).try_for_each(|_| abort());
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join())
            .find(|result| !matches!(result, Ok(Ok(()))))
    });
    match failed {
        None => Ok(()),
        Some(Ok(result)) => result,
        Some(Err(_)) => anyhow::bail!("a thread panicked"),
    }
}

/// Four threads submit, each to its own queue, and four read reports: all see the loss, and one report is returned.
fn threads(gpu: &Gpu) -> Result<()> {
    let extra = Extra {
        queues: 3,
        ..Extra::default()
    };
    let device = &device_with(gpu, &extra)?;
    let kernel = &kernel(device)?;
    let (reports, lost) = (AtomicU32::new(0), AtomicU32::new(0));
    let wrong = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let kernel: &Kernel<'_> = kernel;
        let (device, kernel, reports, lost, wrong) = (device, kernel, &reports, &lost, &wrong);
        for index in 0..4 {
            scope.spawn(move || {
                // SAFETY: each thread has a queue of its own.
                let queue = unsafe { device.raw.get_device_queue(0, index) };
                loop {
                    let result = kernel.record(GROUPS).map(|submission| {
                        let submitted = submission.submit_to(queue);
                        match submitted {
                            vk::Result::SUCCESS => submission.wait(),
                            error => error,
                        }
                    });
                    match result {
                        Ok(vk::Result::SUCCESS) => {}
                        Ok(vk::Result::ERROR_DEVICE_LOST) => {
                            lost.fetch_add(1, Ordering::Relaxed);
                            break;
                        }
                        _ => {
                            wrong.store(true, Ordering::Relaxed);
                            break;
                        }
                    }
                }
            });
            scope.spawn(move || {
                let Ok(fault) = device.fault() else { return };
                loop {
                    let timeout = if index % 2 == 0 { 1_000_000 } else { u64::MAX };
                    let (result, found) = fault.reports(timeout, 1);
                    reports.fetch_add(u32::try_from(found.len()).unwrap_or(0), Ordering::Relaxed);
                    let done = lost.load(Ordering::Relaxed) == 4 || wrong.load(Ordering::Relaxed);
                    if done && result == vk::Result::TIMEOUT {
                        break;
                    }
                }
            });
        }
    });
    ensure!(!wrong.into_inner(), "a call failed with another error than the loss");
    let found = (lost.into_inner(), reports.into_inner());
    ensure!(found == (4, 1), "threads that saw the loss, and reports: {found:?}");
    expect_payloads(device, &[payload(400, 0)])
}
