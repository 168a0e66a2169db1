//! Runs parts of the suite and the benchmarks from the bundle, on lavapipe and the test driver.

mod common;

use anyhow::{Context, Result, ensure};
use common::{Machine, Run, with_damage};
use serde_json::Value as Json;
use std::fs;
use std::process::Command;
use vkabort_test_kit::cargo::{self, Profile};

#[test]
fn the_suite_runs_on_lavapipe() -> Result<()> {
    let Some(machine) = Machine::with_lavapipe("")? else {
        return Ok(());
    };
    let out = machine.out();
    let only = "facts,conform:property,e2e:abort,e2e:untouched,own:memory,bench:loss,bench:calls,fault,hang,after";
    let words = ["--device", "LLVMpipe", "--traps", "--only", only, "--out"];
    let ran = machine.run(&[&words[..], &[&out.to_string_lossy()]].concat())?;
    ran.check(
        0,
        &[
            "(named by --device LLVMpipe)",
            "doctor:   VK_KHR_shader_abort          emulated",
            "memory type 0: heap 0, DEVICE_LOCAL",
            "dispatch to VK_ERROR_DEVICE_LOST",
            "vkQueueSubmit, enabled",
            "trap = fault and trap = hang are not supported on a CPU driver",
        ],
    )?;
    for line in ran.out().lines() {
        ensure!(line.chars().count() <= 100, "too wide: {line}");
    }
    for (part, passed) in [
        ("e2e:abort", 4),
        ("e2e:untouched", 2),
        ("own:memory", 3),
        ("bench:loss", 2),
        ("after", 4),
        ("conform:property", 2),
    ] {
        let [found, failed, skipped] = ran.row(part)?;
        ensure!(found >= passed && failed == 0 && skipped == 0, "{part}: {}", ran.out());
    }
    for part in ["fault", "hang"] {
        let [passed, failed, skipped] = ran.row(part)?;
        ensure!(passed == 0 && failed == 0 && skipped > 0, "{part}: {}", ran.out());
    }
    let json: Json = serde_json::from_str(&fs::read_to_string(out.join("table.json"))?)?;
    let measured = json["benchmarks"].as_array().context("no benchmarks")?;
    ensure!(
        measured.len() >= 9 && measured.iter().any(|one| one["ratio"].is_number()),
        "{json}"
    );
    Ok(())
}

#[test]
fn every_check_of_conform_is_in_a_part() -> Result<()> {
    let machine = Machine::with_driver("")?;
    let ran = machine.run(&["--parts"])?;
    let command = cargo::build_command(Profile::OWN)?;
    let list = Command::new(command).args(["conform", "--list", "--json"]).output()?;
    let list: Vec<Json> = serde_json::from_slice(&list.stdout)?;
    for name in list.iter().filter_map(|check| check["name"].as_str()) {
        let group = name.split('.').next().unwrap_or_default();
        ran.check(0, &[&format!("conform:{group}\n")])?;
    }
    ensure!(list.len() > 60, "{} checks", list.len());
    Ok(())
}

/// The repository exists here too; the damaged files prove that the cases read the carried ones.
#[test]
fn cases_read_only_carried_files() -> Result<()> {
    let Some(machine) = Machine::with_lavapipe("")? else {
        return Ok(());
    };
    let program = machine.scratch.path().join("damaged");
    with_damage(
        &["files/reports/bare.txt", "files/shaders/stage/fragment.frag"],
        &program,
    )?;
    let mut command = machine.command_of(&program, &["--device", "llvmpipe", "--only", "e2e:report"])?;
    let ran = Run(command.output()?);
    ran.check(
        1,
        &[
            "FAILED report::without_debug_info_and_names (e2e:report)\n    the log differs from",
            "FAILED report::of_a_pixel (e2e:report)\n",
            "   4  the Slang compiler is not part of the bundle",
        ],
    )?;
    ensure!(ran.row("e2e:report")?[1..] == [2, 4], "{}", ran.out());
    Ok(())
}

/// The suite tests the layer even if the driver supports the extension: only the layer refuses the trap.
#[test]
fn the_layer_replaces_the_drivers_own_implementation() -> Result<()> {
    let machine = Machine::with_driver("kind=cpu,native=abort+fault+data,abort=*")?;
    let ran = machine.run(&["--traps", "--only", "fault"])?;
    ran.check(
        0,
        &[
            "Supports VK_KHR_shader_abort itself",
            "trap = fault and trap = hang are not supported on a CPU driver",
        ],
    )?;
    ensure!(ran.row("fault")? == [0, 0, 3], "{}", ran.out());
    Ok(())
}

/// The test driver writes the records itself, then loses the device, as a GPU would.
#[test]
fn traps_run_on_a_driver_that_simulates_a_gpu() -> Result<()> {
    let machine = Machine::with_driver("abort=1,lose=execute:1,ext_fault")?;
    let ran = machine.run(&["--traps", "--only", "fault,hang"])?;
    // The cases fail: the message is the driver's, not the shader's, and every device is lost.
    ran.check(
        1,
        &[
            "lost after ",
            "MEMORY_ADDRESS",
            "memory 0xdead0000",
            "real_fault::loses_the_device_and_keeps_the_message",
        ],
    )
}
