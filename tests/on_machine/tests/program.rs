//! What the program does about devices, and about parts that misbehave.

mod common;

use anyhow::{Context, Result, ensure};
use common::{Machine, Ran};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Whether a process with this number is alive.
fn lives(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // A zombie is dead, whether or not it was reaped.
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Waits until a process is dead: one that is killed with its group needs a moment.
fn dies(process: &str) -> Result<()> {
    let start = Instant::now();
    while lives(process) {
        ensure!(start.elapsed() < Duration::from_secs(10), "process {process} lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The number of the process that a part has left behind, if it had its way.
fn sleeper(log: &Path) -> Option<String> {
    let log = fs::read_to_string(log).ok()?;
    log.lines()
        .find_map(|line| line.strip_prefix("sleeping ").map(str::to_owned))
}

#[test]
fn devices_are_listed_and_named() -> Result<()> {
    let machine = Machine::with_own("devices=2")?;
    machine.run(&["--list"])?.says(
        0,
        &[
            "vkabort test driver#1\n    discrete GPU, Vulkan 1.3",
            "vkabort test driver#2\n",
        ],
    )?;
    let named = machine.run(&["--only", "self:works", "--device", "DRIVER#2"])?;
    named.says(0, &["vkabort test driver#2 (named by --device DRIVER#2)"])?;
    ensure!(named.row("self:works")? == [1, 0, 1], "{}", named.out());
    machine.run(&["--only", "self:works", "--device", "test"])?.says(
        2,
        &["`test` is in the names of several devices: vkabort test driver#1, vkabort test driver#2"],
    )?;
    machine
        .run(&["--only", "self:works", "--device", "H200"])?
        .says(2, &["no device is called `H200`: there are vkabort test driver#1,"])?;
    machine.run(&["--only", "self:works"])?.says(
        0,
        &["vkabort test driver#1 (the first discrete GPU of 2 devices; --device takes another)"],
    )?;
    machine
        .run(&["--only", "nothing"])?
        .says(2, &["no part is called `nothing`"])?;
    machine.run(&["--only", "hang"])?.says(2, &["it takes --traps"])
}

#[test]
fn parts_that_hang_crash_or_fail_are_rows_and_the_table_goes_on() -> Result<()> {
    let machine = Machine::with_own("")?;
    let out = machine.out();
    let words = ["--only", "self", "--limit", "2", "--out"];
    let ran = machine.run(&[&words[..], &[&out.to_string_lossy()]].concat())?;
    ran.says(
        1,
        &[
            "killed after 2 s",
            "the process died of SIGABRT",
            "as it should",
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
        "table.txt is another table"
    );
    let json: Json = serde_json::from_str(&fs::read_to_string(out.join("table.json"))?)?;
    ensure!(json["about"]["device"] == "vkabort test driver", "{json}");
    ensure!(json["parts"][1]["failed"][0]["text"] == "killed after 2 s", "{json}");
    Ok(())
}

#[test]
fn an_interrupt_ends_children_and_leaves_nothing() -> Result<()> {
    let machine = Machine::with_own("")?;
    let out = machine.out();
    let mut command = machine.command(&["--only", "self:hangs,self:fails", "--out"])?;
    let child = command
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // The log is in the private folder while the part runs.
    let start = Instant::now();
    let sleeper = loop {
        ensure!(start.elapsed() < Duration::from_secs(30), "the part does not begin");
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
    let ran = Ran(child.wait_with_output()?);
    ran.says(
        130,
        &[
            "self::it (self:hangs)\n    interrupted",
            "Interrupted by SIGINT: the table is not whole.",
        ],
    )?;
    ensure!(ran.row("self:fails").is_err(), "it went on: {}", ran.out());
    ensure!(out.join("table.txt").is_file(), "there is no table");
    machine.is_tidy()?;
    dies(&sleeper)
}

#[test]
fn without_a_loader_or_a_driver_it_says_so() -> Result<()> {
    let mut machine = Machine::with_own("")?;
    let folder = machine.scratch.path().join("libraries");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("libvulkan.so.1"), "no library")?;
    let ran = Ran(machine.command(&["--list"])?.env("LD_LIBRARY_PATH", &folder).output()?);
    ran.says(2, &["the Vulkan loader (libvulkan.so.1) cannot be loaded: "])?;
    machine.is_tidy()?;
    machine.drivers = vec!["/nonexistent.json".into()];
    machine
        .run(&["--list"])?
        .says(2, &["the Vulkan loader finds no driver"])
}

#[test]
fn where_temporary_files_cannot_be_it_goes_elsewhere() -> Result<()> {
    let machine = Machine::with_own("")?;
    let ran = Ran(machine.command(&["--list"])?.env("TMPDIR", "/proc").output()?);
    ran.says(0, &["vkabort test driver"])
}

/// Which C library it asks for depends on the machine that builds it, and `cargo xtask bundle` looks at that.
#[test]
fn other_distributions_have_all_libraries_that_it_needs() -> Result<()> {
    for file in [
        Path::new(env!("CARGO_BIN_EXE_vkabort-bundle")),
        &vkabort_test_kit::cargo::build_layer()?.library,
        &vkabort_test_kit::cargo::build_test_driver_library()?,
        &vkabort_test_kit::cargo::build_command()?,
    ] {
        let said = vkabort_test_kit::portability::required_glibc(file)
            .map_or_else(|error| error.to_string(), |_| String::new());
        ensure!(said.is_empty() || said.contains("it needs glibc"), "{said}");
    }
    Ok(())
}

#[test]
fn a_program_that_carries_nothing_says_so() -> Result<()> {
    let ran = Ran(Command::new(env!("CARGO_BIN_EXE_vkabort-bundle"))
        .arg("--list")
        .output()?);
    ran.says(
        2,
        &["carries no files; `cargo xtask bundle` builds the program that does"],
    )
}
