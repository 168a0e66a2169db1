//! `vkabort run` does not change third-party programs without aborts.
#![allow(clippy::print_stdout, reason = "a skipped test prints the reason")]

use anyhow::{Result, ensure};
use std::path::Path;
use vkabort_test_kit::display::Display;
use vkabort_test_kit::programs::installed;
use vkabort_tests::command_test::{CommandTest, drivers, exit_code};

/// Output of `vulkaninfo` without lines that vary between runs or name the layer or its extensions.
fn comparable(text: &str) -> Vec<&str> {
    let ours = [
        "VK_KHR_shader_abort",
        "VK_KHR_device_fault",
        "VK_KHR_shader_constant_data",
        "vkabort",
    ];
    let mut lines: Vec<&str> = Vec::new();
    let mut skipping = false;
    for line in text.lines() {
        // The section of layers contains ours.
        if line.starts_with("Layers:") || line.starts_with("VK_LAYER_") {
            skipping = true;
        } else if !line.starts_with(['\t', ' ', '=']) && !line.is_empty() {
            skipping = false;
        }
        let varies = ["Device Extensions: count", "usage ", "budget "]
            .iter()
            .any(|start| line.trim_start().starts_with(start));
        if !skipping && !varies && !ours.iter().any(|name| line.contains(name)) {
            lines.push(line);
        }
    }
    lines
}

/// A program's stderr without the lines of `vkabort run`.
fn without_notes(stderr: &str) -> String {
    stderr
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("vkabort: "))
        .collect()
}

#[test]
fn vulkaninfo_differs_only_in_the_extensions() -> Result<()> {
    let Some(program) = installed("vulkaninfo")? else {
        return Ok(());
    };
    let program = program.to_string_lossy();
    let test = CommandTest::new()?;
    for driver in drivers()? {
        let without = test.finish(&mut test.program(&driver, Path::new(&*program))?)?;
        let with = test.finish(&mut test.run(&driver, &[], &[&program])?)?;
        ensure!(
            exit_code(&with)? == exit_code(&without)?,
            "{}\n{}",
            driver.name,
            with.output_tail()
        );
        ensure!(
            without_notes(&with.stderr) == without.stderr,
            "{}\n{}\n{}",
            driver.name,
            without.stderr,
            with.stderr
        );
        if exit_code(&without)? != 0 {
            println!("skipped: {} does not run vulkaninfo: {}", driver.name, without.stderr);
            continue;
        }
        ensure!(without.stdout.lines().count() > 500, "{}", without.output_tail());
        ensure!(
            with.stdout.contains("VK_KHR_shader_abort") && !without.stdout.contains("VK_KHR_shader_abort"),
            "{}: the extension must appear with the layer only",
            driver.name
        );
        let (with, without) = (comparable(&with.stdout), comparable(&without.stdout));
        let differing = with.iter().zip(&without).find(|(a, b)| a != b);
        ensure!(with == without, "{}: {differing:?}", driver.name);
    }
    Ok(())
}

#[test]
fn vkcube_draws_its_frames() -> Result<()> {
    let (Some(program), Some(display)) = (installed("vkcube")?, Display::open()?) else {
        return Ok(());
    };
    let program = program.to_string_lossy();
    let test = CommandTest::new()?;
    let arguments = ["--c", "5", "--suppress_popups"];
    for driver in drivers()? {
        let mut command = test.program(&driver, Path::new(&*program))?;
        let without = test.finish(command.args(arguments).env("DISPLAY", display.name()))?;
        ensure!(exit_code(&without)? == 0, "{}: {}", driver.name, without.output_tail());
        let around = [&[&*program], &arguments[..]].concat();
        let mut command = test.run(&driver, &[], &around)?;
        let with = test.finish(command.env("DISPLAY", display.name()))?;
        ensure!(exit_code(&with)? == 0, "{}: {}", driver.name, with.output_tail());
        // vkcube requests Vulkan 1.0, which the layer does not support; `vkabort run` adds a note to stderr.
        ensure!(
            with.stdout == without.stdout && without_notes(&with.stderr) == without.stderr,
            "{}\n{}",
            with.output_tail(),
            without.output_tail()
        );
    }
    Ok(())
}
