//! `trap = fault` and `trap = hang` on hardware: the message is written before the trap, and only this process loses the
//! device. These cases run on request (`--traps` of the bundle); the test driver covers the parts that need no GPU.

use super::support::{
    GROUPS, check_entry_point, entry_point, entry_point_payload, expect_lost, expect_success, marked,
};
use crate::case::{Case, Skip, cases};
use crate::respawn;
use crate::vk::khr::{FaultInfo, fault_flags};
use crate::vk::{Device, Gpu};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};
use vkabort_runner::supervise;

/// Settings for a fault.
const FAULT: &[(&str, &str)] = &[("trap", "fault"), ("trap_timeout_ms", "8000"), ("log_file", LOG)];
/// Settings for a hang. Its loop is bounded: it takes some seconds on a GPU, longer than a display watchdog allows, and
/// ends where there is no watchdog.
const HANG: &[(&str, &str)] = &[
    ("trap", "hang"),
    ("hang_iterations", "8388608"),
    ("trap_timeout_ms", "8000"),
    ("log_file", LOG),
];
/// Log of the layer, which holds the reason for a refusal.
const LOG: &str = "layer.log";
/// Settings of the test driver that simulate a trap.
const SIMULATED: &str = "abort=1,lose=execute:1,ext_fault";

pub(super) const CASES: &[Case] = cases! {
    "real_fault::loses_the_device_and_keeps_the_message" => loses(gpu), alone(), set(FAULT), on_request();
    "real_fault::a_new_device_works_afterwards" => works_afterwards(gpu), alone(), set(FAULT), on_request();
    "real_fault::another_process_is_not_affected" => another_process(gpu), alone(), set(FAULT), on_request();
    "real_hang::loses_the_device_and_keeps_the_message" => loses(gpu), alone(), set(HANG), on_request();
    "real_hang::a_new_device_works_afterwards" => works_afterwards(gpu), alone(), set(HANG), on_request();
    "test_driver_trap::a_fault_loses_the_device_and_keeps_the_message" => simulated(device),
        on_driver(SIMULATED), set(FAULT);
    "test_driver_trap::a_hang_loses_the_device_and_keeps_the_message" => simulated(device),
        on_driver(SIMULATED), set(HANG);
    "test_driver_trap::is_refused_on_a_cpu_with_a_reason" => refused(gpu),
        on_driver("kind=cpu,abort=1"), set(FAULT);
};

/// Set in the process that only observes.
const BYSTANDER: &str = "VKABORT_E2E_BYSTANDER";

/// Skips the case on a CPU driver, with the layer's reason.
fn refuse_cpu(gpu: &Gpu) -> Result<()> {
    if gpu.properties.device_type != vk::PhysicalDeviceType::CPU {
        return Ok(());
    }
    let _device = Device::new(gpu)?;
    let log = std::fs::read_to_string(LOG).context("the layer logged no reason")?;
    let reason = log.lines().find(|line| line.contains("not supported"));
    let reason = reason.context("the layer does not refuse the trap")?;
    let reason = reason.rsplit_once("error: ").map_or(reason, |(_, reason)| reason);
    Err(Skip(reason.to_owned()).into())
}

/// Runs a dispatch that must lose the device, prints the reports and returns the messages.
fn lose(device: &Device<'_>) -> Result<Vec<Vec<u8>>> {
    let kernel = entry_point(device, &marked(&[3]))?;
    let start = Instant::now();
    let (_submission, result) = kernel.run(GROUPS)?;
    let time = start.elapsed();
    expect_lost(result)?;
    let (result, reports) = device.fault()?.reports(0, 16);
    println!("lost after {time:.1?}; reports: {result:?}, {}", describe(&reports));
    expect_success(result)?;
    let last = reports.last().context("there are no reports")?;
    ensure!(
        last.flags & fault_flags::DEVICE_LOST != 0,
        "the last report does not say that the device is lost"
    );
    device.payloads()
}

fn describe(reports: &[FaultInfo]) -> String {
    let describe_one = |report: &FaultInfo| {
        let address = |name: &str, info: &vk::DeviceFaultAddressInfoEXT| {
            format!(
                " {name} 0x{:x} +- 0x{:x}",
                info.reported_address, info.address_precision
            )
        };
        let mut text = format!("{} \"{}\"", fault_flags::names(report.flags), report.text());
        if report.flags & fault_flags::MEMORY_ADDRESS != 0 {
            text += &address("memory", &report.fault_address_info);
        }
        if report.flags & fault_flags::INSTRUCTION_ADDRESS != 0 {
            text += &address("instruction", &report.instruction_address_info);
        }
        if report.flags & fault_flags::VENDOR != 0 {
            let info = &report.vendor_info;
            let description = info.description_as_c_str().unwrap_or_default().to_string_lossy();
            let (code, data) = (info.vendor_fault_code, info.vendor_fault_data);
            text += &format!(" vendor \"{description}\" code 0x{code:x} data 0x{data:x}");
        }
        text
    };
    reports.iter().map(describe_one).collect::<Vec<_>>().join("; ")
}

fn loses(gpu: &Gpu) -> Result<()> {
    refuse_cpu(gpu)?;
    let device = Device::new(gpu)?;
    let payloads = lose(&device)?;
    ensure!(payloads == [entry_point_payload(3)], "{payloads:?}");
    Ok(())
}

/// Loses the device as on hardware, with the driver writing the message.
fn simulated(device: &Device<'_>) -> Result<()> {
    let payloads = lose(device)?;
    ensure!(payloads.len() == 1, "{payloads:?}");
    Ok(())
}

fn refused(gpu: &Gpu) -> Result<()> {
    let reason = refuse_cpu(gpu).err().context("the trap is not refused")?;
    ensure!(reason.is::<Skip>(), "{reason:#}");
    ensure!(
        reason
            .to_string()
            .contains("trap = fault and trap = hang are not supported on a CPU driver"),
        "{reason:#}"
    );
    Ok(())
}

fn works_afterwards(gpu: &Gpu) -> Result<()> {
    refuse_cpu(gpu)?;
    let device = Device::new(gpu)?;
    lose(&device)?;
    drop(device);
    let device = Device::new(gpu).context("cannot create a device after the lost one")?;
    dispatch(&device)
}

/// Runs a dispatch without an abort.
fn dispatch(device: &Device<'_>) -> Result<()> {
    let kernel = entry_point(device, &marked(&[]))?;
    let result = kernel.run_to_end(GROUPS)?;
    check_entry_point(device, result, &kernel.words(), &[])
}

/// A fault kills only the context that caused it.
fn another_process(gpu: &Gpu) -> Result<()> {
    refuse_cpu(gpu)?;
    if std::env::var_os(BYSTANDER).is_some() {
        let device = Device::new(gpu)?;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(4) {
            dispatch(&device)?;
            println!("running");
        }
        return Ok(());
    }
    let mut command = respawn::command()?;
    command.env(BYSTANDER, "1").stdout(Stdio::piped());
    supervise::prepare(&mut command);
    let mut bystander = command.spawn().context("cannot start the bystander")?;
    let mut output = BufReader::new(bystander.stdout.take().context("the bystander has no output")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    ensure!(line == "running\n", "the bystander does not run: {line}");
    let device = Device::new(gpu)?;
    lose(&device)?;
    line.clear();
    output.read_to_string(&mut line)?;
    let status = bystander.wait()?;
    let last = line.lines().last().unwrap_or_default();
    ensure!(status.success(), "the bystander ended with {status}: {last}");
    println!("the bystander dispatched {} more times", line.lines().count());
    Ok(())
}
