//! Prints on a driver that loses the device: they survive every loss. The driver prints once in each dispatch, as the invocation with the
//! submission's number.

use super::support::payload;
use crate::case::{Case, LEAKS, cases};
use crate::cases::support::{GROUPS, expect_lost, expect_payloads, expect_success, without_abort};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel, test_driver};
use anyhow::{Result, ensure};
use std::sync::atomic::Ordering;

const PRINTF: &[(&str, &str)] = &[("printf", "invocations")];
const FAULT: &[(&str, &str)] = &[("printf", "invocations"), ("trap", "fault")];
const HANG: &[(&str, &str)] = &[("printf", "invocations"), ("trap", "hang")];
const SMALL: &[(&str, &str)] = &[("printf", "invocations"), ("printf_size", "65536")];

const LOGGED: &[(&str, &str)] = &[("printf", "on"), ("log_level", "warning")];

const FIRST: &str = "main: [compute global (1, 0, 0), ";
const SECOND: &str = "main: [compute global (2, 0, 0), ";

pub(super) const CASES: &[Case] = cases! {
    "test_driver_prints::before_a_loss" => lost(gpu), on_driver("lose=execute:2"), set(PRINTF), validated(), logs(&[FIRST, SECOND]);
    "test_driver_prints::before_a_loss_that_destroys_device_memory" => lost(gpu),
        on_driver("memory=vram+bar+cached,lose=execute:2,lost_memory=ones"), set(PRINTF), validated(), logs(&[FIRST, SECOND]);
    "test_driver_prints::before_a_hang_that_a_watchdog_ends" => lost(gpu), on_driver("hang=2,watchdog=200"), set(PRINTF),
        validated(), logs(&[FIRST, SECOND]);
    "test_driver_prints::while_a_submission_takes_long" => finished(gpu), on_driver("hang=2:300"), set(PRINTF), validated(),
        logs(&[FIRST, SECOND]);
    "test_driver_prints::before_an_abort" => aborted(device), on_driver("abort=1"), set(PRINTF), validated(),
        logs(&[FIRST, "submission 1, message 0"]);
    "test_driver_prints::before_a_fault" => aborted(device), on_driver("abort=1,ext_fault"), set(FAULT), validated(),
        logs(&[FIRST, "submission 1, message 0", "the driver reports: invalid write in 0x0 to 0xfff"]);
    "test_driver_prints::before_a_trap_that_hangs" => aborted(device), on_driver("abort=1,ext_fault,watchdog=200"), set(HANG),
        validated(), logs(&[FIRST, "submission 1, message 0", "the driver reports: watchdog"]);
    "test_driver_prints::beside_a_separate_control_block" => aborted(device),
        on_driver("memory=vram+bar+cached,abort=1"), set(PRINTF), validated(), logs(&[FIRST, "submission 1, message 0"]);
    "test_driver_prints::thousands_of_submissions" => many(gpu), on_driver("kind=gpu"), set(SMALL), validated(),
        logs(&[FIRST, "main: [compute global (2000, 0, 0), "]);
    "test_driver_prints::without_memory_for_them" => finished(gpu), on_driver("refuse=memory:1"), set(PRINTF),
        logs(&["printf: shaders do not print: no memory: "]);
    "test_driver_prints::a_refused_pipeline_does_not_print" => refused(gpu), on_driver("refuse=pipeline:1"), set(LOGGED),
        logs(&["keeps its prints, which the layer does not show: with them the driver's vkCreateComputePipelines returned ERROR_UNKNOWN"]);
    "test_driver_prints::the_process_ends" => leaked(gpu), on_driver("kind=gpu"), set(PRINTF), in_own_process(), logs(&[FIRST]);
};

const SHADER: &str = "#version 460
#extension GL_EXT_abort : require
#extension GL_EXT_debug_printf : require
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
void main() {
    debugPrintfEXT(\"printed\");
    if (words[0] == 7u) { abortEXT(\"word\"); }
}";

/// The shader, without the abort.
fn printing() -> Result<Vec<u32>> {
    let text = SHADER.replace("#extension GL_EXT_abort : require\n", "");
    glsl::compile_compute(&text.replace("if (words[0] == 7u) { abortEXT(\"word\"); }", ""))
}

/// The driver loses the device in the second submission.
fn lost(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let kernel = Kernel::new(&device, &printing()?, &[&buffer])?;
    expect_success(kernel.run_to_end(GROUPS)?)?;
    expect_lost(kernel.run_to_end(GROUPS)?)
}

fn finished(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let kernel = Kernel::new(&device, &printing()?, &[&buffer])?;
    for _ in 0..2 {
        expect_success(kernel.run_to_end(GROUPS)?)?;
    }
    Ok(())
}

fn aborted(device: &Device<'_>) -> Result<()> {
    let buffer = Buffer::storage(device, &[0; 64])?;
    let kernel = Kernel::new(device, &glsl::compile_compute(SHADER)?, &[&buffer])?;
    expect_lost(kernel.run_to_end(GROUPS)?)?;
    expect_payloads(device, &[payload(1, 0)])
}

/// More prints than there is memory for.
fn many(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let kernel = Kernel::new(&device, &printing()?, &[&buffer])?;
    for _ in 0..2000 {
        expect_success(kernel.run_to_end(GROUPS)?)?;
    }
    Ok(())
}

/// The driver refuses the module with records of its prints, and gets it as it is.
fn refused(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let spirv = printing()?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    for _ in 0..2 {
        let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
        ensure!(
            test_driver::words(&device, kernel.pipeline, 0)? == spirv,
            "the driver has other words"
        );
    }
    Ok(())
}

/// A program that does not wait for its work and does not destroy its device.
fn leaked(gpu: &Gpu) -> Result<()> {
    LEAKS.store(true, Ordering::Relaxed);
    let device = std::mem::ManuallyDrop::new(without_abort(gpu)?);
    let buffer = std::mem::ManuallyDrop::new(Buffer::storage(&device, &[0; 64])?);
    let kernel = std::mem::ManuallyDrop::new(Kernel::new(&device, &printing()?, &[&buffer])?);
    let submission = std::mem::ManuallyDrop::new(kernel.record(GROUPS)?);
    expect_success(submission.submit())?;
    std::thread::sleep(std::time::Duration::from_millis(100));
    ensure!(submission.fence != ash::vk::Fence::null(), "no fence");
    Ok(())
}
