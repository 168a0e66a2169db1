//! `cargo xtask test` installs missing tools and runs every check; `cargo xtask bench` runs the benchmarks.

use crate::times::Times;
use crate::{debian, deny, generate, provision, toolchain};
use anyhow::Result;
use std::fs;
use std::process::Command;
use vkabort_test_kit::drivers::{self, LIBRARIES, TestDriver};
use vkabort_test_kit::{e2e_failures, glslang, process, slang, spirv_tools};

/// Environment variable of the end-to-end tests: every combination of driver and validation layer.
const FULL_MATRIX: &str = "VKABORT_FULL_MATRIX";

/// Environment variable of the tests of random programs: a quarter of them.
const QUARTER_OF_PROGRAMS: &str = "VKABORT_QUARTER_OF_PROGRAMS";

/// Runs every check; outside CI, with a quarter of the random programs. Stops at the first that fails.
///
/// # Errors
///
/// A package cannot be installed, or a check fails.
pub fn test() -> Result<()> {
    let mut times = Times::default();
    let earlier = e2e_failures().metadata().map_or(0, |file| file.len());
    let result = run_all(&mut times);
    println!("\nDrivers:");
    provision::report();
    println!("\nTimes:");
    times.print();
    // Last, since a CI log may be cut at its beginning.
    let failures = fs::read(e2e_failures()).unwrap_or_default();
    let failures = failures.get(earlier as usize..).unwrap_or_default();
    if !failures.is_empty() {
        println!(
            "\nEnd-to-end cases that failed:\n{}",
            String::from_utf8_lossy(failures).trim_end()
        );
    }
    result?;
    println!("\nAll checks passed.");
    Ok(())
}

/// Runs the end-to-end cases in every combination of driver and validation layer.
///
/// # Errors
///
/// A package cannot be installed, or a case fails.
pub fn matrix() -> Result<()> {
    set_up()?;
    // Of the whole workspace, as `test`, so that nothing is built again.
    process::run(linted(&["test", "--workspace", "--test", "e2e"]).env(FULL_MATRIX, "1"))
}

/// Runs the benchmarks with these arguments of the program `vkabort-bench`.
///
/// # Errors
///
/// A package cannot be installed, or a benchmark cannot run.
pub fn bench(arguments: &[String]) -> Result<()> {
    set_up()?;
    process::run(cargo(&["run", "--profile", "dist", "--package", "vkabort-bench", "--"]).args(arguments))
}

/// Writes the pictures of reports. The tests that check them have the code.
///
/// # Errors
///
/// A package cannot be installed, or the C example does not build or run.
pub fn picture() -> Result<()> {
    set_up()?;
    let mut test = cargo(&["test", "--package", "vkabort-tests", "--test", "documents", "picture"]);
    process::run(test.env("VKABORT_BLESS", "1"))
}

fn run_all(times: &mut Times) -> Result<()> {
    times.measure("set-up", set_up)?;
    times.measure("generated sources", || generate::generate(true))?;
    times.measure("dependencies", deny::deny)?;
    times.measure("format", || process::run(&mut cargo(&["fmt", "--all", "--check"])))?;
    // Always the whole workspace: with some of its packages, dependencies would have other features, and be built again.
    times.measure("building and linting", || {
        process::run(&mut linted(&["build", "--workspace", "--all-targets"]))
    })?;
    times.measure("unit, golden and end-to-end tests", || {
        let mut test = linted(&["test", "--workspace", "--no-fail-fast"]);
        if !drivers::is_ci() {
            test.env(QUARTER_OF_PROGRAMS, "1");
        }
        process::run(&mut test)
    })?;
    Ok(())
}

/// Cargo with clippy as the compiler of the workspace's crates: code and lints come from one build, where `cargo clippy` would
/// check every dependency in a build of its own. A warning is an error.
fn linted(words: &[&str]) -> Command {
    let mut command = cargo(words);
    command
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        // `cargo clippy -- -Dwarnings` passes the same to its compiler.
        .env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__");
    command
}

fn cargo(words: &[&str]) -> Command {
    let mut command = toolchain::cargo(words);
    // A missing driver is a failure: all of them have just been installed.
    command.env("VKABORT_REQUIRE_DRIVERS", "1");
    command
}

fn set_up() -> Result<()> {
    let examples = [
        ("c++", "g++"),
        ("cmake", "cmake"),
        ("pkg-config", "pkg-config"),
        debian::VULKAN_HEADERS,
    ];
    debian::require(&examples, "building the examples in C")?;
    // Programs that do not use the extension, and a display for one of them.
    let programs = [
        ("vulkaninfo", "vulkan-tools"),
        ("vkcube", "vulkan-tools"),
        ("Xvfb", "xvfb"),
    ];
    debian::require(&programs, "running other programs under `vkabort run`")?;
    debian::require(&[("bwrap", "bubblewrap")], "using the layer in a container")?;
    // A window manager, pointer and keys for the window of the cube, and the libraries that winit loads for it.
    let library = |name: &str| format!("/{LIBRARIES}/{name}");
    let window = [
        ("blackbox".to_owned(), "blackbox"),
        ("xdotool".to_owned(), "xdotool"),
        (library("libX11-xcb.so.1"), "libx11-xcb1"),
        (library("libXcursor.so.1"), "libxcursor1"),
        (library("libXi.so.6"), "libxi6"),
        (library("libxkbcommon-x11.so.0"), "libxkbcommon-x11-0"),
    ];
    let window = window.each_ref().map(|(file, package)| (file.as_str(), *package));
    debian::require(&window, "the window of the cube")?;
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        let present = process::output(&mut cargo(&[&program["cargo-".len()..], "--version"])).is_ok();
        if !present {
            toolchain::add_component(component)?;
        }
    }
    // The matrix of GPU compilers includes drivers of Debian unstable.
    provision::provision(true)?;
    for driver in TestDriver::ALL.into_iter().filter(|driver| driver.is_required()) {
        driver.find().map_err(anyhow::Error::msg)?;
    }
    slang::find().map_err(anyhow::Error::msg)?;
    glslang::find().map_err(anyhow::Error::msg)?;
    spirv_tools::find("spirv-val").map_err(anyhow::Error::msg)?;
    provision::report();
    Ok(())
}
