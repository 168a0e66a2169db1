//! Device selection, and supervision of parts that hang, crash or fail.

mod common;

use anyhow::{Context, Result, ensure};
use common::{Machine, Run};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::portability::{Version, required_glibc};

/// Whether the process is alive.
fn lives(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // A zombie counts as dead.
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Waits until a process is dead: killing a process group is asynchronous.
fn dies(process: &str) -> Result<()> {
    let start = Instant::now();
    while lives(process) {
        ensure!(
            start.elapsed() < Duration::from_secs(10),
            "process {process} is still alive"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The id of the process that `self:hangs` started.
fn sleeper(log: &Path) -> Option<String> {
    let log = fs::read_to_string(log).ok()?;
    log.lines()
        .find_map(|line| line.strip_prefix("sleeping ").map(str::to_owned))
}

#[test]
fn devices_are_listed_and_named() -> Result<()> {
    let machine = Machine::with_driver("devices=2")?;
    machine.run(&["--list"])?.check(
        0,
        &[
            "vkabort test driver#1\n    discrete GPU, Vulkan 1.3",
            "vkabort test driver#2\n",
        ],
    )?;
    let named = machine.run(&["--only", "self:works", "--device", "DRIVER#2"])?;
    named.check(0, &["vkabort test driver#2 (named by --device DRIVER#2)"])?;
    ensure!(named.row("self:works")? == [1, 0, 1], "{}", named.out());
    machine.run(&["--only", "self:works", "--device", "test"])?.check(
        2,
        &["several device names contain `test`: vkabort test driver#1, vkabort test driver#2"],
    )?;
    machine
        .run(&["--only", "self:works", "--device", "H200"])?
        .check(2, &["no device name contains `H200`; devices: vkabort test driver#1,"])?;
    machine.run(&["--only", "self:works"])?.check(
        0,
        &["vkabort test driver#1 (the first discrete GPU of 2 devices; --device selects another)"],
    )?;
    machine
        .run(&["--only", "nothing"])?
        .check(2, &["`nothing` is not a part"])?;
    machine.run(&["--only", "hang"])?.check(2, &["add --traps"])
}

#[test]
fn parts_that_hang_crash_or_fail_do_not_stop_the_run() -> Result<()> {
    let machine = Machine::with_driver("")?;
    let out = machine.out();
    let words = ["--only", "self", "--limit", "2", "--out"];
    let ran = machine.run(&[&words[..], &[&out.to_string_lossy()]].concat())?;
    ran.check(
        1,
        &[
            "killed after 2 s",
            "the process died of SIGABRT",
            "intended failure",
            "   1  nothing to do",
        ],
    )?;
    for (part, row) in [
        ("self:works", [1, 0, 1]),
        ("self:hangs", [1, 1, 0]),
        ("self:crashes", [1, 1, 0]),
        ("self:fails", [1, 1, 0]),
        ("in", [0, 0, 0]),
    ] {
        ensure!(part == "in" || ran.row(part)? == row, "{part}: {}", ran.out());
        ensure!(
            part == "in" || out.join(format!("{}.log", part.replace(':', "-"))).is_file(),
            "no log of {part}"
        );
    }
    dies(&sleeper(&out.join("self-hangs.log")).context("nothing slept")?)?;
    ensure!(
        fs::read_to_string(out.join("table.txt"))? == ran.out(),
        "table.txt differs from the output"
    );
    let json: Json = serde_json::from_str(&fs::read_to_string(out.join("table.json"))?)?;
    ensure!(json["about"]["device"] == "vkabort test driver", "{json}");
    ensure!(json["parts"][1]["failed"][0]["text"] == "killed after 2 s", "{json}");
    Ok(())
}

#[test]
fn an_interrupt_ends_children_and_removes_files() -> Result<()> {
    let machine = Machine::with_driver("")?;
    let out = machine.out();
    let mut command = machine.command(&["--only", "self:hangs,self:fails", "--out"])?;
    let child = command
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // While the part runs, its log is in the private folder.
    let start = Instant::now();
    let sleeper = loop {
        ensure!(start.elapsed() < Duration::from_secs(30), "the part does not start");
        let folders = fs::read_dir(machine.temporary())?.flatten();
        let mut logs = folders.map(|folder| folder.path().join("logs/self-hangs.log"));
        if let Some(found) = logs.find_map(|log| sleeper(&log)) {
            break found;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    ensure!(lives(&sleeper), "nothing sleeps");
    let killed = Command::new("sh")
        .args(["-c", &format!("kill -INT {}", child.id())])
        .status()?;
    ensure!(killed.success(), "{killed}");
    let ran = Run(child.wait_with_output()?);
    ran.check(
        130,
        &[
            "self::it (self:hangs)\n    interrupted",
            "Interrupted by SIGINT: the table is incomplete.",
        ],
    )?;
    ensure!(ran.row("self:fails").is_err(), "the run continued: {}", ran.out());
    ensure!(out.join("table.txt").is_file(), "table.txt is missing");
    machine.check_tidy()?;
    dies(&sleeper)
}

#[test]
fn a_missing_loader_or_driver_is_an_error() -> Result<()> {
    let mut machine = Machine::with_driver("")?;
    let folder = machine.scratch.path().join("libraries");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("libvulkan.so.1"), "not a library")?;
    let ran = Run(machine.command(&["--list"])?.env("LD_LIBRARY_PATH", &folder).output()?);
    ran.check(2, &["the Vulkan loader (libvulkan.so.1) cannot be loaded: "])?;
    machine.check_tidy()?;
    machine.drivers = vec!["/nonexistent.json".into()];
    machine
        .run(&["--list"])?
        .check(2, &["the Vulkan loader finds no driver"])
}

#[test]
fn an_unusable_tmpdir_falls_back_to_another_folder() -> Result<()> {
    let machine = Machine::with_driver("")?;
    let ran = Run(machine.command(&["--list"])?.env("TMPDIR", "/proc").output()?);
    ran.check(0, &["vkabort test driver"])
}

/// The required glibc depends on the build machine; `cargo xtask bundle` checks it.
#[test]
fn only_libraries_of_every_distribution_are_needed() -> Result<()> {
    for file in [
        Path::new(env!("CARGO_BIN_EXE_vkabort-bundle")),
        &cargo::build_layer(Profile::OWN)?.library,
        &cargo::build_test_driver_library(Profile::OWN)?,
        &cargo::build_command(Profile::OWN)?,
    ] {
        let error = required_glibc(file, Version(2, 34)).map_or_else(|cause| cause.to_string(), |_| String::new());
        ensure!(error.is_empty() || error.contains("it needs glibc"), "{error}");
    }
    Ok(())
}

#[test]
fn a_program_without_files_is_an_error() -> Result<()> {
    let ran = Run(Command::new(env!("CARGO_BIN_EXE_vkabort-bundle"))
        .arg("--list")
        .output()?);
    ran.check(
        2,
        &["carries no files; `cargo xtask bundle` builds the program that does"],
    )
}
