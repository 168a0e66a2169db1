//! The Windows code, built and run on Linux: with the MinGW linker, Wine, the Khronos loader, and Wine's `winevulkan`, which
//! passes calls to Linux drivers.

mod build;
pub mod dist;
mod end_to_end;
mod loader;
mod package;
mod wine;

use crate::times::Times;
use crate::{debian, provision};
use anyhow::{Context, Result, ensure};
use build::{built, cargo, install_linker};
use std::path::Path;
use std::process::Command;
use vkabort_manifest::LIBRARY_WINDOWS;
use vkabort_test_kit::drivers::TestDriver;
use vkabort_test_kit::wine::{path, program};
use vkabort_test_kit::{process, target};
use wine::Wine;

/// The crates whose Windows code is linted.
const LINTED: &[&str] = &[
    "layer", "cli", "conform", "manifest", "windows", "driver", "demo", "test-kit",
];

/// The crates whose unit tests run in Wine.
const TESTED: &[&str] = &[
    "record",
    "report",
    "spirv",
    "options",
    "analysis",
    "lower",
    "checks",
    "instrument",
    "manifest",
    "windows",
    "layer",
    "driver",
    "conform",
    "cli",
];

/// The crates whose programs and libraries run in Wine.
const BUILT: &[&str] = &["layer", "cli", "demo", "driver"];

/// Variable of builds whose processes are not elevated, as all of Wine's are.
const FOR_WINE: &str = "VKABORT_BUILD_FOR_WINE";

/// Exit code of `vkabort run` if a shader aborted.
const ABORTED: i32 = 90;

/// Runs the checks of the Windows code. Stops at the first that fails.
///
/// # Errors
///
/// A package cannot be installed, or a check fails.
pub fn test() -> Result<()> {
    let mut times = Times::default();
    let result = run_all(&mut times);
    println!("\nTimes:");
    times.print();
    result?;
    println!("\nAll checks of the Windows code passed.");
    Ok(())
}

fn run_all(times: &mut Times) -> Result<()> {
    let wine = times.measure("set-up", || {
        set_up()?;
        Wine::start(&target().join("wine"))
    })?;
    times.measure("clippy", || {
        let mut clippy = cargo("clippy", LINTED);
        process::run(clippy.args(["--", "-D", "warnings"]))
    })?;
    times.measure("unit tests in Wine", || {
        let mut tests = cargo("test", TESTED);
        wine.prepare(&mut tests);
        process::run(tests.env(FOR_WINE, "1"))
    })?;
    times.measure("building", || {
        let mut build = cargo("build", BUILT);
        process::run(build.env(FOR_WINE, "1"))?;
        stage(&wine)?;
        end_to_end::build(&wine.folder)
    })?;
    times.measure("driver lavapipe", || check(&wine, TestDriver::Lavapipe))?;
    times.measure("driver swiftshader", || check(&wine, TestDriver::SwiftShader))?;
    times.measure("end-to-end cases in Wine", || end_to_end::test(&wine))?;
    times.measure("registration", || check_registration(&wine))?;
    times.measure("elevated programs", || check_elevated(&wine))
}

fn set_up() -> Result<()> {
    install_linker()?;
    for (name, package) in [
        ("Xvfb", "xvfb"),
        ("wine64", "wine64"),
        ("cmake", "cmake"),
        ("ninja", "ninja-build"),
    ] {
        let is_present = process::is_on_path(name) || name == "wine64" && program().is_ok();
        if !is_present {
            debian::install(&[package], "testing the Windows code")?;
        }
    }
    let mut archive = None;
    for driver in [TestDriver::Lavapipe, TestDriver::SwiftShader] {
        provision::bring(driver, &mut archive)?;
    }
    provision::bring_glslang(&mut archive)?;
    loader::build(&mut archive)
}

/// Copies the programs and the loader into one folder, as they lie beside each other on Windows.
fn stage(wine: &Wine) -> Result<()> {
    std::fs::create_dir_all(&wine.folder)?;
    let names = [LIBRARY_WINDOWS, "vkabort.exe", "vkabort-demo.exe", "vkabort_driver.dll"];
    let files = names.iter().map(|name| built(name));
    for file in files.chain([loader::library()]) {
        let name = file.file_name().context("a file without a name")?;
        std::fs::copy(&file, wine.folder.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

/// Runs the demo, which must abort and recover, and the conformance checks.
fn check(wine: &Wine, driver: TestDriver) -> Result<()> {
    let manifest = driver.find().map_err(anyhow::Error::msg)?.manifest;
    let run = |words: &[&str]| vkabort(wine, &manifest, words);
    expect(&mut run(&["run", "--enable", "vkabort-demo.exe"]), ABORTED)?;
    expect(&mut run(&["doctor"]), 0)?;
    expect(&mut run(&["conform", "--emulated"]), 0)
}

/// The command on a Linux driver.
fn vkabort(wine: &Wine, driver: &Path, words: &[&str]) -> Command {
    let mut command = wine.command("vkabort.exe", driver);
    command.args(words);
    command
}

/// Registers the layer in the registry for all users, since the loader ignores those of the user in Wine's elevated
/// processes. Then only the variable switches it on.
fn check_registration(wine: &Wine) -> Result<()> {
    let driver = TestDriver::Lavapipe.find().map_err(anyhow::Error::msg)?.manifest;
    let demo = || wine.command("vkabort-demo.exe", &driver);
    expect(&mut vkabort(wine, &driver, &["install", "--system"]), 0)?;
    let registered = process::output(&mut vkabort(wine, &driver, &["doctor"]))?;
    ensure!(
        registered.contains("vkabort\\implicit_layer.d\\VK_LAYER_vkabort_shader_abort.json"),
        "`vkabort doctor` does not find the manifest:\n{registered}"
    );
    expect(demo().env("VKABORT_ENABLE", "1"), 0)?;
    expect(&mut demo(), NO_EXTENSION)?;
    expect(&mut vkabort(wine, &driver, &["uninstall", "--system"]), 0)?;
    expect(demo().env("VKABORT_ENABLE", "1"), NO_EXTENSION)
}

/// Exit code of the demo if the device does not support the extension.
const NO_EXTENSION: i32 = 2;

/// Runs the layer as it is built for Windows, in Wine's elevated processes, where it must do nothing and read no variable.
fn check_elevated(wine: &Wine) -> Result<()> {
    let driver = TestDriver::Lavapipe.find().map_err(anyhow::Error::msg)?.manifest;
    process::run(&mut cargo("build", BUILT))?;
    expect(
        &mut vkabort(
            wine,
            &driver,
            &["install", "--system", "--layer", &path(&built(LIBRARY_WINDOWS))],
        ),
        0,
    )?;
    let log = wine.folder.join("elevated.log");
    let mut demo = wine.command("vkabort-demo.exe", &driver);
    demo.env("VKABORT_ENABLE", "1")
        .env("WINEVK_VKABORT_SHADER_ABORT_LOG_FILE", path(&log));
    expect(&mut demo, NO_EXTENSION)?;
    ensure!(!log.exists(), "the layer wrote a log in an elevated process");
    expect(&mut vkabort(wine, &driver, &["uninstall", "--system"]), 0)
}

/// Runs a command, which must end with an exit code.
fn expect(command: &mut Command, code: i32) -> Result<()> {
    let line = process::command_line(command);
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    ensure!(
        status.code() == Some(code),
        "`{line}` ended with {status} instead of exit code {code}"
    );
    Ok(())
}
