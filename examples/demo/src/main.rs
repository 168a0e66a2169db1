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

use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use dispatch::{Ended, INVOCATIONS, TABLE, look_up, open, shader, table_entry};
use failure::Failure;
use std::process::ExitCode;
use std::sync::Arc;
use vkabort_gpu::{Gpu, Query, describe, khr, show};
use vkabort_instrument::Options;
use vkabort_record::framing;
use vkabort_report::{ModuleInfo, Report, ReportOptions};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", describe(&error));
            ExitCode::from(error.downcast_ref().map_or(1, Failure::exit_code))
        }
    }
}

fn run() -> Result<()> {
    let gpu = open()?;
    let version = gpu.properties.api_version;
    let [major, minor, patch] =
        [vk::api_version_major, vk::api_version_minor, vk::api_version_patch].map(|part| part(version));
    println!("Device: {}, Vulkan {major}.{minor}.{patch}", gpu.name());
    let mut missing = khr::EXTENSION_NAMES.to_vec();
    let supported = gpu.extensions()?;
    missing.retain(|name| !supported.iter().any(|one| one.extension_name_as_c_str() == Ok(name)));
    if !missing.is_empty() {
        bail!(Failure::NoExtension(missing));
    }
    println!(
        "VK_KHR_shader_abort is supported, with messages of up to {} bytes.",
        gpu.abort_support(Query::default()).max_message_size
    );

    let valid: [u32; INVOCATIONS] = std::array::from_fn(|i| (i % TABLE) as u32);
    let mut invalid = valid;
    for (i, index) in [(5, 16), (38, 4_000_000), (61, 99)] {
        invalid[i] = index;
    }
    println!(
        "\n1. {INVOCATIONS} invocations look up an index in a table of {TABLE} entries; three indices are too large."
    );
    look_up(&gpu, &invalid, |ended| read_messages(&gpu, ended))?;
    println!("\n5. A new device with the same shader and valid indices");
    look_up(&gpu, &valid, |ended| check_results(ended, &valid))
}

fn print_calls(calls: &[(&str, vk::Result)]) {
    for (name, result) in calls {
        println!("   {name:<38} {}", show(*result));
    }
}

fn read_messages(gpu: &Gpu, ended: &Ended<'_>) -> Result<()> {
    print_calls(&ended.calls);
    let empty = ended.device.submit_nothing();
    print_calls(&[("empty vkQueueSubmit after that", empty)]);
    ensure!(
        empty == vk::Result::ERROR_DEVICE_LOST,
        "the shader aborted, but the device is not lost"
    );
    println!("\n2. vkGetDeviceFaultReportsKHR");
    let commands = ended.device.fault()?;
    let (_, count) = commands.report_count(0);
    let (result, reports) = commands.reports(0, count);
    println!("   {}, {} report(s)", show(result), reports.len());
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
            .context("the shader cannot be read")?
            .map(Arc::new),
        ..ModuleInfo::default()
    };
    let report = Report::from_payloads(messages, &[module], &ReportOptions::default());
    print!("{}", report.text(false));
    ensure!(count == 3, "three invocations aborted, but there are {count} messages");
    Ok(())
}

fn check_results(ended: &Ended<'_>, indices: &[u32]) -> Result<()> {
    print_calls(&ended.calls);
    for (name, result) in &ended.calls {
        result.result().context(*name)?;
    }
    let pairs = indices.iter().zip(&ended.results);
    let correct = pairs.filter(|(index, result)| table_entry(**index) == **result).count();
    println!("   {correct} of {INVOCATIONS} results are correct.");
    ensure!(correct == INVOCATIONS, "the shader computed wrong results");
    Ok(())
}
