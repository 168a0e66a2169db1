//! The bundle, run as on another machine: on lavapipe and the test driver, without the environment of the repository.
#![cfg(unix)]

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use vkabort_test_kit::bundle::{Built, PROGRAM};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::{TestDriver, validation_layer};
use vkabort_test_kit::portability::{Version, required_glibc};
use vkabort_test_kit::scratch::{self, TempDir, folder_in};
use vkabort_tests::harness::{DRIVER_SETTINGS, drivers_are_required};

fn built() -> Result<Built> {
    Built::new(Path::new(env!("CARGO_BIN_EXE_vkabort-e2e")), Profile::OWN)
}

/// Folder of the bundle, written as by `cargo xtask bundle`.
fn bundle() -> Result<&'static Path> {
    static WRITTEN: OnceLock<Result<TempDir, String>> = OnceLock::new();
    let write = || {
        let folder = folder_in(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
        built()?.write(folder.path())?;
        anyhow::Ok(folder)
    };
    let written = WRITTEN.get_or_init(|| write().map_err(|error| format!("{error:#}")));
    written
        .as_ref()
        .map(TempDir::path)
        .map_err(|error| anyhow::anyhow!("{error}"))
}

/// A simulated machine: drivers, and a folder for temporary files.
struct Machine {
    scratch: TempDir,
    drivers: Vec<PathBuf>,
    driver_settings: &'static str,
}

impl Machine {
    /// A machine with the test driver, configured by `settings`.
    fn with_driver(driver_settings: &'static str) -> Result<Self> {
        let scratch = scratch::folder()?;
        fs::create_dir_all(scratch.path().join("temporary"))?;
        Ok(Self {
            scratch,
            drivers: vec![cargo::build_test_driver(Profile::OWN)?.manifest],
            driver_settings,
        })
    }

    /// The same with lavapipe. None if lavapipe is missing and not required.
    fn with_lavapipe() -> Result<Option<Self>> {
        let mut machine = Self::with_driver("")?;
        match TestDriver::Lavapipe.find() {
            Ok(driver) => machine.drivers.push(driver.manifest),
            Err(reason) if drivers_are_required() => bail!("{reason}"),
            Err(_) => return Ok(None),
        }
        Ok(Some(machine))
    }

    fn out(&self) -> PathBuf {
        self.scratch.path().join("out")
    }

    /// The program of a bundle: no home, a read-only working directory.
    fn command(&self, bundle: &Path, words: &[&str]) -> Result<Command> {
        let drivers = std::env::join_paths(&self.drivers)?;
        let mut command = Command::new(bundle.join(PROGRAM));
        command
            .args(words)
            .current_dir("/proc")
            .env_remove("HOME")
            .env("TMPDIR", self.scratch.path().join("temporary"))
            .env("VK_DRIVER_FILES", &drivers)
            .env("VK_ICD_FILENAMES", &drivers)
            .env(DRIVER_SETTINGS, self.driver_settings);
        Ok(command)
    }

    /// Runs the program, and checks its exit code, its output and that it leaves no file.
    fn run(&self, words: &[&str], code: i32, texts: &[&str]) -> Result<String> {
        let found = check(&self.command(bundle()?, words)?.output()?, code, texts)?;
        let left = fs::read_dir(self.scratch.path().join("temporary"))?.count();
        ensure!(left == 0, "{left} files are left behind");
        Ok(found)
    }
}

/// Checks the exit code, and that the output contains each text. Returns the output.
fn check(output: &Output, code: i32, texts: &[&str]) -> Result<String> {
    let text = [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes))
        .concat();
    ensure!(output.status.code() == Some(code), "{}\n{text}", output.status);
    for expected in texts {
        ensure!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
    Ok(text)
}

#[test]
fn devices_are_listed_and_named() -> Result<()> {
    let machine = Machine::with_driver("devices=2")?;
    let labels = [
        "vkabort test driver#1\n    discrete GPU, Vulkan 1.3",
        "vkabort test driver#2\n",
    ];
    machine.run(&["--list"], 0, &labels)?;
    let ambiguous = "several device names contain `test`: vkabort test driver#1, vkabort test driver#2";
    machine.run(&["--device", "test"], 2, &[ambiguous])?;
    machine.run(&["--device", "H200"], 2, &["no device name contains `H200`"])?;
    machine.run(
        &["--only", "nothing"],
        2,
        &["`nothing` is not a part; --parts lists them"],
    )?;
    machine.run(&["--only", "real_hang"], 2, &["add --traps"])?;
    let named = [
        "vkabort test driver#2 (named by --device DRIVER#2)",
        "test_driver_memory ",
    ];
    machine.run(&["--device", "DRIVER#2", "--only", "test_driver_memory"], 0, &named)?;
    Ok(())
}

#[test]
fn a_missing_loader_or_driver_is_an_error() -> Result<()> {
    let mut machine = Machine::with_driver("")?;
    let folder = machine.scratch.path().join("libraries");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("libvulkan.so.1"), "not a library")?;
    let output = machine
        .command(bundle()?, &["--list"])?
        .env("LD_LIBRARY_PATH", &folder)
        .output()?;
    check(&output, 2, &["the Vulkan loader (libvulkan.so.1) cannot be loaded"])?;
    machine.drivers = vec!["/nonexistent.json".into()];
    machine.run(&["--list"], 2, &["no Vulkan driver was found"])?;
    Ok(())
}

#[test]
fn cases_checks_and_measurements_run_on_lavapipe() -> Result<()> {
    let Some(machine) = Machine::with_lavapipe()? else {
        return Ok(());
    };
    let only = "property,abort,untouched,test_driver_memory,loss,calls,real_fault,real_hang";
    let out = machine.out();
    let words = ["--device", "LLVMpipe", "--traps", "--only", only, "--out"];
    let found = machine.run(
        &[&words[..], &[&out.to_string_lossy()]].concat(),
        0,
        &[
            "(named by --device LLVMpipe)",
            "VK_KHR_shader_abort          emulated",
            "ms: no abort / abort",
            "vkQueueSubmit",
            "trap = fault and trap = hang are not supported on a CPU driver",
        ],
    )?;
    ensure!(
        fs::read_to_string(out.join("table.txt"))? == found,
        "table.txt differs from the output"
    );
    let json: Json = serde_json::from_str(&fs::read_to_string(out.join("results.json"))?)?;
    let results = json["results"].as_array().context("no results")?;
    let passed = |name: &str| {
        results
            .iter()
            .any(|result| result["name"] == name && result["outcome"] == "pass")
    };
    for name in [
        "property.maxDeviceFaultCount",
        "abort.time_to_loss",
        "abort::in_the_entry_point",
        "loss::one",
    ] {
        ensure!(passed(name), "{name} did not pass:\n{found}");
    }
    ensure!(json["counts"]["skip"] == 5, "only the traps are skipped:\n{found}");
    ensure!(
        results
            .iter()
            .any(|result| result["measurements"][0]["value"].is_number()),
        "{json}"
    );
    let lines = fs::read_to_string(out.join("results.jsonl"))?;
    ensure!(lines.lines().count() == results.len(), "{lines}");
    Ok(())
}

#[test]
fn the_validation_layer_is_measured_on_request() -> Result<()> {
    let Some(machine) = Machine::with_lavapipe()? else {
        return Ok(());
    };
    let missing = machine.scratch.path().join("missing");
    let words = ["--validation", &missing.to_string_lossy()];
    machine.run(&words, 2, &["the folder of --validation"])?;
    let validation = match validation_layer(None) {
        Ok(validation) => validation,
        Err(reason) if drivers_are_required() => bail!("{reason}"),
        Err(_) => return Ok(()),
    };
    let words = ["--device", "LLVMpipe", "--only", "memory", "--validation"];
    let measured = ["ms: no check / planted check / GPU-AV", "passed, 0 failed, 0 skipped"];
    machine.run(&[&words[..], &[&validation.to_string_lossy()]].concat(), 0, &measured)?;
    Ok(())
}

/// The repository exists here too; the damaged files prove that the cases read those of the bundle.
#[test]
fn cases_read_only_files_of_the_bundle() -> Result<()> {
    let Some(machine) = Machine::with_lavapipe()? else {
        return Ok(());
    };
    let damaged = folder_in(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    built()?.write(damaged.path())?;
    for name in ["files/reports/bare.txt", "files/shaders/stage/fragment.frag"] {
        fs::write(damaged.path().join(name), "something else")?;
    }
    let mut command = machine.command(damaged.path(), &["--device", "llvmpipe", "--only", "report"])?;
    let failures = [
        "report::without_debug_info_and_names ",
        "the log differs from",
        "report::of_a_pixel ",
        "the Slang compiler is not part of the bundle",
    ];
    let found = check(&command.output()?, 1, &failures)?;
    ensure!(found.contains(" 2 failed"), "{found}");
    Ok(())
}

/// The cases test the layer even if the driver supports the extension, and the checks run on both: only the layer refuses the trap.
#[test]
fn the_layer_replaces_the_drivers_own_implementation() -> Result<()> {
    let machine = Machine::with_driver("kind=cpu,native=abort+fault+data,abort=*")?;
    let texts = [
        "Has VK_KHR_shader_abort itself",
        "trap = fault and trap = hang are not supported on a CPU driver",
        "native property ",
    ];
    machine.run(&["--traps", "--only", "real_fault,native property"], 0, &texts)?;
    Ok(())
}

/// The test driver writes the records itself, then loses the device, as a GPU would.
#[test]
fn traps_run_on_a_driver_that_simulates_a_gpu() -> Result<()> {
    let machine = Machine::with_driver("abort=1,lose=execute:1,ext_fault")?;
    // The cases fail: the message is the driver's, not the shader's, and every device is lost.
    let texts = [
        "lost after ",
        "MEMORY_ADDRESS",
        "memory 0xdead0000",
        "real_fault::loses_the_device_and_keeps_the_message",
    ];
    machine.run(&["--traps", "--only", "real_fault,real_hang"], 1, &texts)?;
    Ok(())
}

/// The required glibc depends on the build machine; `cargo xtask bundle` checks it.
#[test]
fn only_libraries_of_every_distribution_are_needed() -> Result<()> {
    let built = built()?;
    for file in [&built.program, &built.layer, &built.driver, &built.command] {
        let error = required_glibc(file, Version(2, 34)).map_or_else(|cause| cause.to_string(), |_| String::new());
        ensure!(error.is_empty() || error.contains("it needs glibc"), "{error}");
    }
    Ok(())
}
