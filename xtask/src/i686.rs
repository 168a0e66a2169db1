//! `cargo xtask test --i686`: the unit tests, the demo and the end-to-end cases as 32-bit programs for x86, with Debian's lavapipe for
//! that architecture. This machine's kernel runs them.

use crate::debian::Archive;
use crate::manifests::write_driver_manifest;
use crate::times::Times;
use crate::{provision, toolchain, zig};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::environment::Environment;
use vkabort_test_kit::i686::{self, PROGRAMS, TARGET};
use vkabort_test_kit::layer::LIBRARY_FILE;
use vkabort_test_kit::{process, store, target};

/// Packages whose unit tests run. They start with the dynamic linker of the unpacked system.
const PACKAGES: [&str; 13] = [
    "vkabort-record",
    "vkabort-report",
    "vkabort-spirv",
    "vkabort-options",
    "vkabort-analysis",
    "vkabort-lower",
    "vkabort-checks",
    "vkabort-instrument",
    "vkabort-manifest",
    "vkabort-settings",
    "vkabort-driver",
    "vkabort-layer",
    "vkabort-decode",
];

/// Exit code of `vkabort run` if a shader aborted.
const ABORTED: i32 = 90;

/// Runs every check.
///
/// # Errors
///
/// A package cannot be downloaded, or a check fails.
pub fn test() -> Result<()> {
    let mut times = Times::default();
    let result = run_all(&mut times);
    println!("\nTimes:");
    times.print();
    result?;
    println!("\nAll checks of 32-bit programs passed.");
    Ok(())
}

fn run_all(times: &mut Times) -> Result<()> {
    times.measure("set-up", set_up)?;
    times.measure("unit tests", unit_tests)?;
    times.measure("building", build)?;
    times.measure("`vkabort run` of 64 bits", run_from_64_bits)?;
    times.measure("end-to-end cases", || {
        let mut harness = toolchain::cargo(&["test", "--package", "vkabort-tests", "--test", "e2e"]);
        harness.env(PROGRAMS, built("")).env("VKABORT_REQUIRE_DRIVERS", "1");
        process::run(&mut harness)
    })
}

fn set_up() -> Result<()> {
    provision::bring_glslang(&mut None)?;
    unpack_system()
}

/// Unpacks Debian's lavapipe for i386 with everything that it needs, unless it is there.
///
/// # Errors
///
/// A package cannot be downloaded or unpacked, or the kernel does not run 32-bit programs.
pub fn unpack_system() -> Result<()> {
    let system = i686::system();
    if !system.is_dir() {
        let archive = Archive::open(&store().join("apt"))?;
        let packages = ["mesa-vulkan-drivers", "libvulkan1", "libgcc-s1"];
        archive.unpack_system("i386", &packages, &system, |fresh| {
            let library = system.join("usr/lib/i386-linux-gnu/libvulkan_lvp.so");
            write_driver_manifest(fresh, &library, "1.3.0")
        })?;
    }
    let linker = system.join("lib/ld-linux.so.2");
    process::output(Command::new(linker).arg("--version"))
        .context("this machine does not run 32-bit programs: a kernel with CONFIG_IA32_EMULATION does")?;
    Ok(())
}

/// A command of Cargo for the target.
fn cargo_for_target(task: &str, packages: &[&str]) -> Result<Command> {
    let mut command = zig::cargo(task, TARGET)?;
    command.arg("--locked");
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    Ok(command)
}

fn unit_tests() -> Result<()> {
    let driver = i686::lavapipe().map_err(anyhow::Error::msg)?;
    let linker = driver.interpreter.context("the driver has no dynamic linker")?;
    let folders = std::env::join_paths(driver.libraries)?;
    let runner = format!("{} --library-path {}", linker.display(), folders.to_string_lossy());
    let mut tests = cargo_for_target("test", &PACKAGES)?;
    tests.args(["--lib", "--bins"]);
    process::run(tests.env(toolchain::target_variable(TARGET, "RUNNER"), runner))
}

fn build() -> Result<()> {
    let packages = ["vkabort-layer", "vkabort-demo", "vkabort-driver", "vkabort-tests"];
    let mut build = cargo_for_target("build", &packages)?;
    process::run(build.args(["--lib", "--bin", "vkabort-demo", "--bin", "vkabort-e2e"]))
}

/// A file that [`build`] has produced.
fn built(name: &str) -> PathBuf {
    target().join(TARGET).join("debug").join(name)
}

/// Runs the 32-bit demo under the command of this machine, which finds the 32-bit layer beside its own.
fn run_from_64_bits() -> Result<()> {
    let layer = cargo::build_layer(Profile::Dev)?;
    let command = cargo::build_command(Profile::Dev)?;
    let folder = target().join("vkabort/i686");
    let library = |folder: &Path| folder.join(LIBRARY_FILE);
    let both = folder.join("layers");
    fs::create_dir_all(both.join("32"))?;
    fs::copy(&layer.library, library(&both))?;
    fs::copy(built(LIBRARY_FILE), library(&both.join("32")))?;
    let environment = Environment {
        driver: Some(i686::lavapipe().map_err(anyhow::Error::msg)?),
        layer: None,
        native: false,
        validation: None,
        scratch: folder,
    };
    let demo = environment.command(&built("vkabort-demo"))?;
    let mut run = Command::new(command);
    run.args(["run", "--layer"]).arg(&both).arg("--");
    let ended = process::wrap(run, &demo).output()?;
    let errors = String::from_utf8_lossy(&ended.stderr);
    ensure!(
        ended.status.code() == Some(ABORTED) && errors.contains("shader aborted"),
        "`vkabort run` ended with {} and prints:\n{errors}",
        ended.status
    );
    Ok(())
}
