//! A shader aborts, the program sees its device lost, asks why, and goes on with a new device.
//!
//! This is the story of `VK_KHR_shader_abort` told with the standard API alone: nothing here knows whether the driver
//! or a layer implements it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this program is for"
)]

mod decode;
mod dispatch;
mod gpu;

use ash::vk;
use dispatch::{Dispatch, INVOCATIONS, TABLE, table_entry};
use gpu::Gpu;
use std::fmt;
use std::process::ExitCode;
use vk_ext as khr;

/// Why the program stopped.
enum Failure {
    /// No Vulkan loader, or no device.
    NoDevice(String),
    /// The device does not have these extensions.
    NoExtension(Vec<&'static std::ffi::CStr>),
    /// A Vulkan call failed that should not.
    Call(vk::Result),
    /// Something else than the specification promises happened.
    Unexpected(String),
}

impl Failure {
    fn call(result: vk::Result) -> Self {
        Self::Call(result)
    }

    /// 1: an error; 2: the extensions are not there; 3: there is no device.
    fn exit_code(&self) -> u8 {
        match self {
            Self::Call(_) | Self::Unexpected(_) => 1,
            Self::NoExtension(_) => 2,
            Self::NoDevice(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice(reason) => write!(
                f,
                "There is no Vulkan device here: {reason}.\n\
                 Install a driver (on Debian, mesa-vulkan-drivers has one that runs on the CPU) and try again."
            ),
            Self::NoExtension(names) => {
                let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
                write!(
                    f,
                    "This device does not have {}: its driver does not implement shader aborts, and no layer adds \
                     them.\nInstall the vkabort layer and set VKABORT_ENABLE=1, or run `cargo xtask demo` without \
                     `--without-layer`.",
                    names.join(", ")
                )
            }
            Self::Call(result) => write!(f, "A Vulkan call failed: {result:?}."),
            Self::Unexpected(what) => write!(f, "{what}."),
        }
    }
}

fn main() -> ExitCode {
    match story() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn story() -> Result<(), Failure> {
    let gpu = Gpu::open()?;
    println!("Device: {}", gpu.describe());
    let missing = gpu.missing_extensions()?;
    if !missing.is_empty() {
        return Err(Failure::NoExtension(missing));
    }
    println!(
        "VK_KHR_shader_abort is there, for messages of up to {} bytes.",
        gpu.max_message_size()
    );

    let good: [u32; INVOCATIONS] = std::array::from_fn(|i| (i % TABLE) as u32);
    let mut bad = good;
    for (i, index) in [(5, 16), (38, 4_000_000), (61, 99)] {
        bad[i] = index;
    }
    abort_and_ask_why(&gpu, &bad)?;
    recover(&gpu, &good)
}

fn abort_and_ask_why(gpu: &Gpu, indices: &[u32; INVOCATIONS]) -> Result<(), Failure> {
    println!("\n1. {INVOCATIONS} invocations look an index up in a table of {TABLE}; three indices are too large.");
    let dispatch = Dispatch::prepare(gpu, indices)?;
    let mut calls = dispatch.run();
    calls.push(("vkQueueSubmit of nothing, after that", dispatch.submit_nothing()));
    for (name, result) in &calls {
        println!("   {name:<38} {}", code_name(*result));
    }
    if calls
        .last()
        .is_none_or(|(_, result)| *result != vk::Result::ERROR_DEVICE_LOST)
    {
        return Err(Failure::Unexpected(
            "The shader aborted and the device is not lost".into(),
        ));
    }

    let commands = khr::FaultCommands::load(&gpu.instance, dispatch.device())
        .ok_or_else(|| Failure::Unexpected("The device does not have the fault queries".into()))?;
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
    let data = commands.message_data().map_err(Failure::call)?;
    println!("   {} bytes of messages:", data.len());
    for (line, bytes) in data.chunks(16).enumerate() {
        let text: String = bytes
            .iter()
            .map(|&b| if (32..127).contains(&b) { char::from(b) } else { '.' })
            .collect();
        println!("   {:04x}  {:<48} {text}", line * 16, decode::hex(bytes));
    }

    println!("\n4. The same, as text");
    let payloads = decode::split(&data);
    for (i, payload) in payloads.iter().enumerate() {
        println!("   message {} of {}: {}", i + 1, payloads.len(), decode::text(payload));
    }
    if payloads.len() != 3 {
        return Err(Failure::Unexpected(format!(
            "Three invocations aborted and {} messages came",
            payloads.len()
        )));
    }
    Ok(())
}

fn recover(gpu: &Gpu, indices: &[u32; INVOCATIONS]) -> Result<(), Failure> {
    println!("\n5. A new device, the same shader, good indices.");
    let dispatch = Dispatch::prepare(gpu, indices)?;
    let calls = dispatch.run();
    for (name, result) in &calls {
        println!("   {name:<38} {}", code_name(*result));
        result.result().map_err(Failure::call)?;
    }
    let results = dispatch.results();
    let right = indices
        .iter()
        .zip(results)
        .filter(|(index, result)| table_entry(**index) == *result)
        .count();
    println!("   {right} of {INVOCATIONS} results are right.");
    if right != INVOCATIONS {
        return Err(Failure::Unexpected("The shader computed wrong results".into()));
    }
    Ok(())
}

/// The result's name in the specification.
fn code_name(result: vk::Result) -> String {
    format!("VK_{result:?}")
}
