//! `vkabort run` around programs that are not ours and use no aborts: nothing changes.
#![allow(clippy::print_stdout, reason = "a test that does not apply says why")]

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use vkabort_tests::command_test::{CommandTest, drivers, exit_code};
use vkabort_tests::harness::drivers_are_required;

/// A program of a package, or none with the reason said.
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

/// The lines of `vulkaninfo` that say something else in every run, or that say that the layer is there.
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
        // How many extensions there are; the layers, ours among them, stand in a part of their own.
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

/// What a program has said, without what `vkabort run` says beside it.
fn without_notes(stderr: &str) -> String {
    stderr
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("vkabort: "))
        .collect()
}

#[test]
fn vulkaninfo_says_the_same_and_the_extensions_besides() -> Result<()> {
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
            "{}: the layer is not there, or its extension without it",
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
        // It chooses a free number itself and writes it to this descriptor, its standard output, when it is ready.
        let mut server = Command::new(program)
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("Xvfb does not start")?;
        let mut number = String::new();
        let out = server.stdout.take().context("it was piped")?;
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
        // It asks for Vulkan 1.0, for which the layer can do nothing: `vkabort run` says so beside what the program says.
        ensure!(
            with.stdout == without.stdout && without_notes(&with.stderr) == without.stderr,
            "{}\n{}",
            with.output_tail(),
            without.output_tail()
        );
    }
    Ok(())
}
