//! The layer on real GPU drivers that compile but do not execute: devices, memory, addresses, pipelines, pipeline caches.
#![allow(clippy::print_stderr, reason = "a test harness prints its errors")]

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::time::Duration;
use vkabort_test_kit::cargo;
use vkabort_test_kit::gpu_drivers::{Family, Gpu};
use vkabort_test_kit::layer::{Layer, VARIABLE_PREFIX};
use vkabort_test_kit::scratch;
use vkabort_test_kit::supervise::{Finished, run_with_limit};
use vkabort_tests::compile::{COMPILE, HIT, MISS, PIPELINE_CACHE};
use vkabort_tests::harness::{Placement, drivers_are_required, environment};

/// A GPU of the matrix.
#[derive(Clone, Copy)]
struct Device {
    gpu: Gpu,
    /// Whether the shaders of all cases are compiled, not one only.
    all_cases: bool,
    /// Properties of the messages' memory.
    memory: &'static str,
    /// Their address, where the driver's address space does not depend on the machine.
    address: Option<u64>,
    /// Properties of the control block's memory, if it is separate.
    control_block: Option<&'static str>,
}

impl Device {
    const fn all_cases(self) -> Self {
        Self {
            all_cases: true,
            ..self
        }
    }

    const fn at(self, address: u64) -> Self {
        Self {
            address: Some(address),
            ..self
        }
    }

    const fn integrated(self) -> Self {
        Self {
            control_block: None,
            ..self
        }
    }
}

const HOST: &str = "HOST_VISIBLE | HOST_COHERENT | HOST_CACHED";
const UNCACHED: &str = "HOST_VISIBLE | HOST_COHERENT | HOST_CACHED | DEVICE_COHERENT_AMD | DEVICE_UNCACHED_AMD";
const VRAM: &str = "DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT";
const UNCACHED_VRAM: &str = "DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT | DEVICE_COHERENT_AMD | DEVICE_UNCACHED_AMD";
const SHARED: &str = "DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT | HOST_CACHED";

const DEVICES: &[Device] = &[
    gcn("pitcairn").at(0xf_ffd0_0000),
    gcn("bonaire").at(0x1f_ffd0_0000),
    gcn("stoney").at(0xf_ffd0_0000).integrated(),
    gcn("polaris10").at(0x1f_ffd0_0000),
    amd("vega10").all_cases(),
    amd("raven2").integrated(),
    amd("renoir").integrated(),
    amd("navi10").all_cases(),
    amd("navi21"),
    amd("vangogh").integrated(),
    amd("navi31").all_cases(),
    amd("gfx1150").at(0xffff_ffff_ffac_0000).integrated(),
    amd("gfx1201").all_cases(),
    intel("skl", SHARED).all_cases(),
    intel("icl", SHARED),
    intel("tgl", SHARED),
    intel("adl", SHARED),
    intel("dg2", HOST).all_cases(),
    intel("mtl", VRAM),
    intel("lnl", VRAM),
    intel("bmg", HOST),
    intel("ptl", VRAM),
    device(Family::HasVk, "bdw", SHARED).all_cases(),
    nvidia("124").all_cases(),
    nvidia("134"),
    nvidia("140"),
    nvidia("162"),
    nvidia("172").all_cases(),
    nvidia("192"),
];

/// An integrated GPU.
const fn device(family: Family, id: &'static str, memory: &'static str) -> Device {
    Device {
        gpu: Gpu { family, id },
        all_cases: false,
        memory,
        address: None,
        control_block: None,
    }
}

/// AMD before memory that the GPU does not cache.
const fn gcn(id: &'static str) -> Device {
    Device {
        control_block: Some(VRAM),
        ..device(Family::Radv, id, HOST)
    }
}

const fn amd(id: &'static str) -> Device {
    Device {
        control_block: Some(UNCACHED_VRAM),
        ..device(Family::Radv, id, UNCACHED).at(0xffff_ffff_ffd0_0000)
    }
}

/// An integrated GPU, unless the messages are in host memory only.
const fn intel(id: &'static str, memory: &'static str) -> Device {
    let is_discrete = memory.len() == HOST.len();
    Device {
        control_block: if is_discrete { Some(VRAM) } else { None },
        ..device(Family::Anv, id, memory)
    }
}

const fn nvidia(id: &'static str) -> Device {
    Device {
        control_block: Some(VRAM),
        ..device(Family::Nvk, id, HOST).at(0x7f_fff0_0000)
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let trials = DEVICES.iter().map(|device| {
        let name = format!("{} {}", device.gpu.family.name(), device.gpu.id);
        Trial::test(name, move || {
            check(device).map_err(|error| Failed::from(format!("{error:#}")))
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn check(device: &Device) -> Result<()> {
    let layer = match device.gpu.driver() {
        Ok(_) => cargo::build_layer()?,
        Err(reason) if drivers_are_required() => anyhow::bail!(reason),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return Ok(());
        }
    };
    let home = scratch::folder()?;
    let run = |arguments: &[&str], arena: &str| run(device, &layer, home.path(), arguments, arena);
    let file = home.path().join("pipeline cache");
    let cache = [PIPELINE_CACHE, file.to_str().context("a path that is not UTF-8")?];
    let first = memory(device, &run(&cache, "")?.stderr)?;
    let second = run(&cache, "")?;
    ensure!(memory(device, &second.stderr)? == first, "{first}\n{}", second.stderr);
    ensure!(
        second.stderr.contains("message address: same as in an earlier run"),
        "{}",
        second.stderr
    );
    ensure!(
        second.stdout.trim() == HIT,
        "the second process misses the pipeline cache"
    );
    let moved = run(&cache, "2097152")?;
    ensure!(
        moved.stdout.trim() == MISS,
        "a pipeline with another address hits the cache"
    );
    if device.all_cases {
        check_cases(&run(&[COMPILE], "")?.stdout)?;
    }
    Ok(())
}

/// Runs the cases' program on the device with this size of the arena in bytes, or the default.
fn run(device: &Device, layer: &Layer, home: &Path, arguments: &[&str], arena: &str) -> Result<Finished> {
    let driver = device.gpu.driver().map_err(anyhow::Error::msg)?;
    let environment = environment(&driver, layer, Placement::Alone, home)?;
    let mut command = environment.command(Path::new(env!("CARGO_BIN_EXE_vkabort-e2e")))?;
    command
        .args(arguments)
        .env(format!("{VARIABLE_PREFIX}LOG_LEVEL"), "info");
    if !arena.is_empty() {
        command.env(format!("{VARIABLE_PREFIX}ARENA_SIZE"), arena);
    }
    let output = scratch::folder()?;
    let finished = run_with_limit(&mut command, Duration::from_secs(300), output.path())?;
    let last = finished.stdout.lines().next_back().unwrap_or_default();
    ensure!(
        finished.status.success(),
        "{} after {last:?}\n{}",
        finished.status,
        finished.output_tail()
    );
    Ok(finished)
}

/// Checks the memory that the log names. Returns what is the same in every process.
fn memory(device: &Device, log: &str) -> Result<String> {
    let line = |name: &str| {
        let end = log
            .split(name)
            .nth(1)
            .with_context(|| format!("no {name:?} in {log}"))?;
        anyhow::Ok(end.lines().next().unwrap_or_default())
    };
    let messages = line("message memory: ")?;
    let address = device
        .address
        .map_or_else(String::new, |address| format!(" at {address:#x} "));
    ensure!(
        messages.contains(&address) && messages.contains(&format!("({})", device.memory)),
        "unexpected memory: {messages}"
    );
    let control_block = line("control block: ")?;
    let expected = device
        .control_block
        .map_or_else(|| "before the messages".into(), |memory| format!("({memory})"));
    ensure!(
        control_block.contains(&expected),
        "unexpected control block: {control_block}"
    );
    Ok(format!("{messages}\n{control_block}"))
}

/// Checks that every case came to its first submission, or does not apply to the device.
fn check_cases(stdout: &str) -> Result<()> {
    let failed: Vec<&str> = stdout.lines().filter(|line| line.contains("\tfailed")).collect();
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    let submitted = stdout.lines().filter(|line| line.ends_with("\tsubmitted")).count();
    ensure!(submitted > 100, "only {submitted} cases compile");
    Ok(())
}
