//! `cargo xtask test` sets up what is missing and runs everything that must hold; `bench` measures.

use crate::{debian, provision};
use anyhow::{Result, bail};
use std::process::Command;
use std::time::{Duration, Instant};
use vkabort_test_kit::drivers::Known;
use vkabort_test_kit::{process, root, slang, spirv_tools};

/// Runs every check. Stops at the first that fails.
///
/// # Errors
///
/// Something could not be set up, or a check failed.
pub fn test() -> Result<()> {
    let mut times = Times::default();
    let result = run_all(&mut times);
    println!("\nDrivers:");
    provision::report();
    println!("\nTimes:");
    times.print();
    result?;
    println!("\nAll checks passed.");
    Ok(())
}

/// Runs the benchmarks.
///
/// # Errors
///
/// Something could not be set up, or a benchmark cannot run.
pub fn bench() -> Result<()> {
    set_up()?;
    process::run(&mut cargo(&["bench", "--workspace", "--bench", "*"]))
}

fn run_all(times: &mut Times) -> Result<()> {
    times.measure("set-up", set_up)?;
    times.measure("format", || process::run(&mut cargo(&["fmt", "--all", "--check"])))?;
    times.measure("clippy", || {
        process::run(&mut cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    // Always the whole workspace, for `bench` too: with some of its packages, dependencies would have other features, and
    // the C++ of glslang would be built again.
    times.measure("building the tests", || {
        process::run(&mut cargo(&["test", "--workspace", "--no-run"]))
    })?;
    times.measure("unit, golden and end-to-end tests", || {
        process::run(&mut cargo(&["test", "--workspace"]))
    })?;
    Ok(())
}

fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(root());
    // Here a driver that is missing is a failure: they have just been set up.
    command.env("VKABORT_REQUIRE_DRIVERS", "1");
    command
}

fn set_up() -> Result<()> {
    // glslang, which compiles the tests' shaders, is C++.
    if !process::exists("c++") {
        debian::install(&["g++"], "building the tests")?;
    }
    // Programs that know nothing of the layer, and a display for one of them.
    for (program, package) in [
        ("vulkaninfo", "vulkan-tools"),
        ("vkcube", "vulkan-tools"),
        ("Xvfb", "xvfb"),
    ] {
        if !process::exists(program) {
            debian::install(&[package], "running programs that are not ours under `vkabort run`")?;
        }
    }
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        let present = process::output(&mut cargo(&[&program["cargo-".len()..], "--version"])).is_ok();
        if !present && process::exists("rustup") {
            println!("Adding {component} to the Rust toolchain.");
            process::output(
                Command::new("rustup")
                    .args(["component", "add", component])
                    .current_dir(root()),
            )?;
        } else if !present {
            bail!("the Rust toolchain here has no {component}; install it");
        }
    }
    provision::provision(false)?;
    for known in Known::ALL.into_iter().filter(|known| known.is_required()) {
        known.find().map_err(anyhow::Error::msg)?;
    }
    slang::find().map_err(anyhow::Error::msg)?;
    spirv_tools::find("spirv-val").map_err(anyhow::Error::msg)?;
    provision::report();
    Ok(())
}

/// How long each part took.
#[derive(Default)]
struct Times(Vec<(&'static str, Duration)>);

impl Times {
    fn measure(&mut self, name: &'static str, part: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("\n== {name}");
        let start = Instant::now();
        let result = part();
        self.0.push((name, start.elapsed()));
        result
    }

    fn print(&self) {
        for (name, time) in &self.0 {
            println!("{:>7.1} s  {name}", time.as_secs_f64());
        }
        let total: Duration = self.0.iter().map(|(_, time)| *time).sum();
        println!("{:>7.1} s  in all", total.as_secs_f64());
    }
}
