//! The layer on real GPU drivers that compile but do not execute: devices, memory, addresses, pipelines of cases and golden
//! files, pipeline caches.
#![allow(clippy::print_stderr, reason = "a test harness prints its errors")]

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use vkabort_runner::supervise::{Finished, run_with_limit};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::gpu_drivers::Family;
use vkabort_test_kit::layer::{Layer, VARIABLE_PREFIX};
use vkabort_test_kit::scratch::{self, TempDir};
use vkabort_tests::compile::{COMPILE, HIT, MISS, PIPELINE_CACHE};
use vkabort_tests::golden_pipelines::{GOLDENS, Settings, prepare};
use vkabort_tests::gpu_matrix::{DEVICES, Device};
use vkabort_tests::harness::{Placement, drivers_are_required, environment};
use vkabort_tests::shader_cache;

/// The golden cases as modules: their folder, and the settings by subfolder.
static MODULES: OnceLock<(TempDir, BTreeMap<String, Settings>)> = OnceLock::new();

fn main() {
    let arguments = Arguments::from_args();
    let trials = DEVICES.iter().map(|device| {
        Trial::test(device.gpu.name(), move || {
            check(device).map_err(|error| Failed::from(format!("{error:#}")))
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn check(device: &Device) -> Result<()> {
    let layer = match device.gpu.driver() {
        Ok(_) => cargo::build_layer(Profile::OWN)?,
        Err(reason) if drivers_are_required() => anyhow::bail!(reason),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return Ok(());
        }
    };
    let home = scratch::folder()?;
    let emulation = match device.gpu.family {
        _ if device.native => "force",
        Family::Honeykrisp => "partial",
        _ => "auto",
    };
    let run_with =
        |arguments: &[&str], settings: &[(&str, &str)]| run(device, &layer, home.path(), arguments, settings);
    let run =
        |arguments: &[&str], more: &[(&str, &str)]| run_with(arguments, &[&[("EMULATION", emulation)], more].concat());
    let file = home.path().join("pipeline cache");
    let cache = [PIPELINE_CACHE, file.to_str().context("a path that is not UTF-8")?];
    let first = memory(device, &run(&cache, &[])?.stderr)?;
    let second = run(&cache, &[])?;
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
    let moved = run(&cache, &[("ARENA_SIZE", "2097152")])?;
    ensure!(
        moved.stdout.trim() == MISS,
        "a pipeline with another address hits the cache"
    );
    if device.all_cases {
        let checks = [("SANITIZE", "default")];
        let budget = [("SANITIZE", "default"), ("LOOP_BUDGET", "1000")];
        for (settings, expected) in [(&checks[..], MISS), (&checks, HIT), (&budget, MISS), (&checks, HIT)] {
            let found = run(&cache, settings)?.stdout;
            ensure!(
                found.trim() == expected,
                "{found}with {settings:?}, expected {expected}"
            );
        }
    }
    if device.all_cases {
        check_cases(device, &run(&[COMPILE], &[])?.stdout, 100)?;
        let (folder, sets) = modules()?;
        let mut goldens = String::new();
        for (set, settings) in sets {
            let path = folder.path().join(set);
            let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
            goldens += &run(
                &[GOLDENS, path.to_str().context("a path that is not UTF-8")?],
                &settings,
            )?
            .stdout;
        }
        check_cases(device, &goldens, 80)?;
    }
    if device.native {
        // The driver executes aborts itself, but crashes on poison.
        check_cases(device, &run_with(&[COMPILE, "poison::"], &[])?.stdout, 5)?;
    }
    Ok(())
}

/// Assembles the golden cases once for all devices.
fn modules() -> Result<&'static (TempDir, BTreeMap<String, Settings>)> {
    static LOCK: Mutex<()> = Mutex::new(());
    let _guard = LOCK.lock();
    if let Some(modules) = MODULES.get() {
        return Ok(modules);
    }
    let folder = scratch::folder()?;
    let sets = prepare(folder.path())?;
    Ok(MODULES.get_or_init(|| (folder, sets)))
}

/// Cases that fail where the driver supports an extension itself, and why.
const NATIVE: &[(&str, &str)] = &[(
    "more_queries::an_instance_of_vulkan_1_0",
    "the driver lists its own extensions also below Vulkan 1.1",
)];

const VERTEX: &str = "it aborts before the fragment stage, which `emulation = partial` refuses";

/// Cases and golden files that fail where the stages before the fragment stage cannot store, and why.
const WITHOUT_VERTEX_STORES: &[(&str, &str)] = &[
    ("identity-signed", VERTEX),
    ("identity-vertex", VERTEX),
    ("outline-built_in_block", VERTEX),
    ("report::of_a_vertex", VERTEX),
    ("shared_callee::", VERTEX),
    ("stage::vertex", VERTEX),
    ("unwind-handles vertex", VERTEX),
    ("unwind-non_uniform vertex", VERTEX),
    ("unwind-two_stages vertex", VERTEX),
];

/// Runs the cases' program on the device with settings of the layer.
fn run(device: &Device, layer: &Layer, home: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Result<Finished> {
    let driver = device.gpu.driver().map_err(anyhow::Error::msg)?;
    let environment = environment(&driver, layer, Placement::Alone, home)?;
    let mut command = environment.command(Path::new(env!("CARGO_BIN_EXE_vkabort-e2e")))?;
    command
        .args(arguments)
        .env(shader_cache::VARIABLE, shader_cache::folder()?)
        .env(format!("{VARIABLE_PREFIX}LOG_LEVEL"), "info");
    if arguments.first() != Some(&PIPELINE_CACHE) {
        // The driver stores only what it has compiled without a fault.
        command.env_remove("MESA_SHADER_CACHE_DISABLE");
    }
    for (name, value) in settings {
        command.env(format!("{VARIABLE_PREFIX}{name}"), value);
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

/// Checks the memory that the log names. Returns the lines that are equal in every process.
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

/// Checks that every case came to its first submission or its end, or does not apply to the device.
fn check_cases(device: &Device, stdout: &str, minimum: usize) -> Result<()> {
    let expected = match device.gpu.family {
        _ if device.native => NATIVE,
        Family::Honeykrisp => WITHOUT_VERTEX_STORES,
        _ => &[],
    };
    let is_expected = |line: &&str| expected.iter().any(|(name, _)| line.starts_with(name));
    let failed = stdout.lines().filter(|line| line.contains("\tfailed"));
    let failed: Vec<&str> = failed.filter(|line| !is_expected(line)).collect();
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    let done = |line: &&str| line.ends_with("\tsubmitted") || line.ends_with("\tended");
    let compiled = stdout.lines().filter(done).count();
    ensure!(compiled >= minimum, "only {compiled} cases compile");
    Ok(())
}
