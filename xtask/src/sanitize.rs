//! `cargo xtask sanitize`: the layer under tools that find invalid accesses and data races. Too slow for every run of the
//! tests; `xtask/last_runs.md` has the outcome of the last run.

use crate::{debian, last_runs, provision, toolchain};
use anyhow::{Result, bail};
use clap::ValueEnum;
use vkabort_test_kit::{process, target};

/// The end-to-end cases that all parts run: on the test driver, which is Rust of this repository, without foreign layers.
const CASES: &str = "[test-driver, alone]";

/// The layer's modules whose unit tests call no foreign function.
const MIRI_MODULES: [&str; 4] = ["loader::", "device::", "device_loss::", "module_files::"];

/// A tool, and the programs that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// AddressSanitizer: the layer's unit tests, and the cases on the test driver.
    Address,
    /// ThreadSanitizer: the same.
    Thread,
    /// Valgrind's memcheck: the cases on the test driver.
    Memcheck,
    /// Miri: the layer's unit tests of chains, handles and device state.
    Miri,
}

impl Part {
    fn run(self) -> Result<()> {
        match self {
            Self::Address => sanitizer("address"),
            Self::Thread => sanitizer("thread"),
            Self::Memcheck => memcheck(),
            Self::Miri => miri(),
        }
    }
}

/// Runs the parts, all of them if none is named, and prints the result of each.
///
/// # Errors
///
/// A part fails, or a tool cannot be installed.
pub fn sanitize(parts: &[Part]) -> Result<()> {
    let parts = if parts.is_empty() {
        Part::value_variants()
    } else {
        parts
    };
    let mut lines = Vec::new();
    let mut failed = false;
    for part in parts {
        let command = format!("cargo xtask sanitize {part:?}").to_lowercase();
        println!("\n== {command}");
        let result = last_runs::record(&command, || {
            // The cases assemble shaders, and need a newer loader than Debian's.
            if *part != Part::Miri {
                provision::provision(false)?;
            }
            part.run()
        });
        failed |= result.is_err();
        let outcome = result.map_or_else(|error| format!("{error:#}"), |()| "passed".to_owned());
        lines.push(format!("{command}: {outcome}"));
    }
    println!("\n{}", lines.join("\n"));
    if failed {
        bail!("a part failed");
    }
    Ok(())
}

/// Builds the layer, the test driver, the test program and the standard library with a sanitizer, and runs the tests.
/// The sanitizer's runtime is in the test program, which exports it to the libraries that it loads.
fn sanitizer(name: &str) -> Result<()> {
    // `build-std` builds it.
    toolchain::library_source()?;
    let host = toolchain::host()?;
    let runner = toolchain::target_variable(&host, "RUNNER");
    // As root, ThreadSanitizer would move mappings at fixed addresses outside its own ranges to address 0, and end there.
    let without_page_0 = "setpriv --bounding-set=-sys_rawio --inh-caps=-sys_rawio";
    let cargo = |words: &[&str]| {
        let mut command = toolchain::cargo(words);
        command
            // Sanitizers and `build-std` are unstable.
            .env("RUSTC_BOOTSTRAP", "1")
            .env(
                "RUSTFLAGS",
                format!("-Zsanitizer={name} -Clink-arg=-rdynamic --cfg sanitized"),
            )
            .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_unwind,test")
            .env("CARGO_BUILD_TARGET", &host)
            .env("CARGO_TARGET_DIR", target().join("sanitize"))
            .envs(process::is_root().then_some((&runner, without_page_0)))
            // One profile, so that the standard library is built once, with the checks of the other.
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
            .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
        command
    };
    process::run(&mut cargo(&["test", "--release", "--package", "vkabort-layer"]))?;
    let mut tests = cargo(&["test", "--release", "--package", "vkabort-tests", "--test", "e2e"]);
    process::run(tests.args(["--", CASES]))
}

fn memcheck() -> Result<()> {
    debian::require(&[("valgrind", "valgrind")], "memcheck")?;
    let mut command = toolchain::cargo(&["test", "--release", "--package", "vkabort-tests", "--test", "e2e"]);
    command.args(["--", CASES]);
    command.env(
        "VKABORT_RUNNER",
        "valgrind --quiet --error-exitcode=99 --trace-children=yes --trace-children-skip=*/bin/glslang",
    );
    process::run(&mut command)
}

fn miri() -> Result<()> {
    toolchain::add_miri()?;
    // `record` and `instrument` have no unsafe code, and the layer's other modules call the C library, which Miri cannot run.
    let mut command = toolchain::miri();
    process::run(
        command
            .args(["test", "--package", "vkabort-layer", "--"])
            .args(MIRI_MODULES),
    )
}
