//! A program whose shader aborts. It sees the device lost, reads the messages, and goes on with a new device.
//!
//! It uses `VK_KHR_shader_abort` through the standard API only, and works the same whether the driver or a layer
//! implements the extension.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this program is for"
)]

mod dispatch;
mod failure;
mod gpu;

use ash::vk;
use dispatch::{Dispatch, INVOCATIONS, TABLE, shader, table_entry};
use failure::Failure;
use gpu::Gpu;
use std::process::ExitCode;
use std::sync::Arc;
use vk_ext as khr;
use vkabort_instrument::Options;
use vkabort_record::framing;
use vkabort_record::report::{ModuleInfo, Report, ReportOptions};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run() -> Result<(), Failure> {
    let gpu = Gpu::open()?;
    println!("Device: {}", gpu.describe());
    let missing = gpu.missing_extensions()?;
    if !missing.is_empty() {
        return Err(Failure::NoExtension(missing));
    }
    println!(
        "VK_KHR_shader_abort is supported, with messages of up to {} bytes.",
        gpu.max_message_size()
    );

    let valid: [u32; INVOCATIONS] = std::array::from_fn(|i| (i % TABLE) as u32);
    let mut invalid = valid;
    for (i, index) in [(5, 16), (38, 4_000_000), (61, 99)] {
        invalid[i] = index;
    }
    abort_and_read_messages(&gpu, &invalid)?;
    recover(&gpu, &valid)
}

fn abort_and_read_messages(gpu: &Gpu, indices: &[u32; INVOCATIONS]) -> Result<(), Failure> {
    println!(
        "\n1. {INVOCATIONS} invocations look up an index in a table of {TABLE} entries; three indices are too large."
    );
    let dispatch = Dispatch::prepare(gpu, indices)?;
    let mut calls = dispatch.run();
    calls.push(("empty vkQueueSubmit after that", dispatch.submit_empty()));
    for (name, result) in &calls {
        println!("   {name:<38} {}", code_name(*result));
    }
    if calls
        .last()
        .is_none_or(|(_, result)| *result != vk::Result::ERROR_DEVICE_LOST)
    {
        return Err(Failure::Unexpected(
            "The shader aborted, but the device is not lost".into(),
        ));
    }

    let commands = khr::FaultCommands::load(&gpu.instance, dispatch.device())
        .ok_or_else(|| Failure::Unexpected("The device does not have the fault query commands".into()))?;
    println!("\n2. vkGetDeviceFaultReportsKHR");
    let (_, count) = commands.report_count(0);
    let (result, reports) = commands.reports(0, count);
    println!("   {}, {} report(s)", code_name(result), reports.len());
    for report in &reports {
        println!(
            "   group {}, flags {}: {}",
            report.group_id,
            khr::fault_flags::names(report.flags),
            report.text()
        );
    }

    println!("\n3. vkGetDeviceFaultDebugInfoKHR");
    let data = commands.message_data()?;
    println!("   {} bytes of messages:", data.len());
    for (line, bytes) in data.chunks(16).enumerate() {
        let text: String = bytes
            .iter()
            .map(|&b| if (32..127).contains(&b) { char::from(b) } else { '.' })
            .collect();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
        println!("   {:04x}  {hex:<48} {text}", line * 16);
    }

    println!("\n4. The messages as text");
    let messages = framing::split(&data).payloads;
    let count = messages.len();
    // The types of the values are in the shader: a message is found there by its size and text.
    let module = ModuleInfo {
        sites: vkabort_instrument::sites(&shader(gpu), &Options::default())
            .map_err(|error| Failure::Unexpected(format!("The shader cannot be read: {error}")))?
            .map(Arc::new),
        ..ModuleInfo::default()
    };
    println!(
        "{}",
        Report::from_payloads(messages, &[module], &ReportOptions::default()).text(false)
    );
    match count {
        3 => Ok(()),
        _ => Err(Failure::Unexpected(format!(
            "Three invocations aborted, but there are {count} messages"
        ))),
    }
}

fn recover(gpu: &Gpu, indices: &[u32; INVOCATIONS]) -> Result<(), Failure> {
    println!("\n5. A new device with the same shader and valid indices");
    let dispatch = Dispatch::prepare(gpu, indices)?;
    let calls = dispatch.run();
    for (name, result) in &calls {
        println!("   {name:<38} {}", code_name(*result));
        result.result()?;
    }
    let results = dispatch.results();
    let correct = indices
        .iter()
        .zip(results)
        .filter(|(index, result)| table_entry(**index) == *result)
        .count();
    println!("   {correct} of {INVOCATIONS} results are correct.");
    if correct != INVOCATIONS {
        return Err(Failure::Unexpected("The shader computed wrong results".into()));
    }
    Ok(())
}

/// The result's name in the specification.
fn code_name(result: vk::Result) -> String {
    format!("VK_{result:?}")
}
