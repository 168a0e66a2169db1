//! `cargo xtask test --arm64`: the unit tests and the demo for ARM64, under qemu with lavapipe for that architecture.

use crate::manifests::write_driver_manifest;
use crate::{qemu, zig};
use anyhow::{Result, bail, ensure};
use std::fs;
use std::process::Command;
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::environment::Environment;
use vkabort_test_kit::layer::LIBRARY_FILE;
use vkabort_test_kit::{layer, process, target};

/// Packages whose unit tests start no other program: qemu runs only the program that it is started with.
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
    "vkabort-cli",
];

/// Runs the unit tests, and the demo under the layer.
///
/// # Errors
///
/// A package cannot be downloaded, or a test fails.
pub fn test() -> Result<()> {
    let runner = qemu::runner()?;
    let mut tests = zig::cargo("test", qemu::TARGET)?;
    tests.args(["--locked", "--lib", "--bins"]);
    tests.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    process::run(tests.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", runner.join(" ")))?;
    let mut build = zig::cargo("build", qemu::TARGET)?;
    process::run(build.args(["--locked", "--package", "vkabort-layer", "--package", "vkabort-demo"]))?;
    let built = target().join(qemu::TARGET).join("debug");
    let scratch = target().join("vkabort/arm64");
    fs::create_dir_all(&scratch)?;
    let system = qemu::system();
    let libraries = ["usr/lib", "lib"].map(|folder| system.join(folder).join("aarch64-linux-gnu"));
    write_driver_manifest(&scratch, &libraries[0].join("libvulkan_lvp.so"), "1.3.0")?;
    let environment = Environment {
        driver: Some(Driver {
            libraries: libraries.to_vec(),
            ..Driver::of_manifest(&scratch.join("icd.json"))
        }),
        layer: Some(layer::write_manifests(&built.join(LIBRARY_FILE), &scratch)?),
        native: false,
        validation: None,
        scratch,
    };
    let demo = environment.command(&built.join("vkabort-demo"))?;
    let [qemu, options @ ..] = runner.as_slice() else {
        bail!("no command runs ARM64 programs");
    };
    let mut command = Command::new(qemu);
    command.args(options);
    let ended = process::wrap(command, &demo).output()?;
    let errors = String::from_utf8_lossy(&ended.stderr);
    println!("{}{errors}", String::from_utf8_lossy(&ended.stdout));
    ensure!(ended.status.success(), "the demo ended with {}", ended.status);
    ensure!(errors.contains("shader aborted"), "the layer shows no report");
    println!("All checks on ARM64 passed.");
    Ok(())
}
