//! `vkabort run` does not change third-party programs without aborts.
#![allow(clippy::print_stdout, reason = "a skipped test prints the reason")]

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use vkabort_tests::command_test::{CommandTest, drivers, exit_code};
use vkabort_tests::harness::drivers_are_required;

/// Path of an installed program. If it is missing, prints a note and returns None.
fn installed(name: &str) -> Result<Option<PathBuf>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        if drivers_are_required() {
            bail!("{name} is not installed: `cargo xtask test` installs it");
        }
        println!("skipped: {name} is not installed");
    }
    Ok(found)
}

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
    for driver in drivers() {
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

/// A virtual display.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn open(program: &Path) -> Result<Self> {
        // Xvfb chooses a free display number and writes it to standard output when it is ready.
        let mut server = Command::new(program)
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("Xvfb does not start")?;
        let mut number = String::new();
        let out = server.stdout.take().context("Xvfb has no stdout")?;
        BufReader::new(out).read_line(&mut number)?;
        Ok(Self {
            server,
            name: format!(":{}", number.trim()),
        })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn vkcube_draws_its_frames() -> Result<()> {
    let (Some(program), Some(server)) = (installed("vkcube")?, installed("Xvfb")?) else {
        return Ok(());
    };
    let program = program.to_string_lossy();
    let test = CommandTest::new()?;
    let display = Display::open(&server)?;
    let arguments = ["--c", "5", "--suppress_popups"];
    for driver in drivers() {
        let mut command = test.program(&driver, Path::new(&*program))?;
        let without = test.finish(command.args(arguments).env("DISPLAY", &display.name))?;
        ensure!(exit_code(&without)? == 0, "{}: {}", driver.name, without.output_tail());
        let around = [&[&*program], &arguments[..]].concat();
        let mut command = test.run(&driver, &[], &around)?;
        let with = test.finish(command.env("DISPLAY", &display.name))?;
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
