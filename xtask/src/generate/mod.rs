//! `cargo xtask generate` writes the files that are derived from the Vulkan registry, the table of settings, the command's
//! arguments, the C interface and the results of the benchmarks; `--check` compares them.

mod action_commands;
mod c_header;
mod chain_sizes;
mod costs;
mod device_lost_commands;
mod registry;

use crate::toolchain;
use anyhow::{Context, Result, ensure};
use registry::Registry;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use vkabort_test_kit::{process, root};

/// Writes every generated file, or with `check` compares it.
///
/// # Errors
/// The registry cannot be downloaded or read, a file cannot be written, or with `check` a file is out of date.
pub fn generate(check: bool) -> Result<()> {
    let text = registry::text()?;
    let registry = Registry::parse(&text)?;
    let files = [
        (
            "layer/src/loader/chain/sizes.rs",
            format_rust(&chain_sizes::generate(&registry)?)?,
        ),
        (
            "layer/src/intercept/device_lost_commands.txt",
            device_lost_commands::generate(&registry)?,
        ),
        (
            "layer/src/intercept/action_commands.txt",
            action_commands::generate(&registry),
        ),
        ("docs/src/costs.md", costs::generate()?),
        ("decode/include/vkabort_decode.h", c_header::generate()?),
    ];
    let mut stale = Vec::new();
    for (name, new) in files {
        let path = root().join(name);
        if fs::read_to_string(&path).is_ok_and(|current| current == new) {
            continue;
        }
        if check {
            stale.push(name);
        } else {
            fs::write(&path, new).with_context(|| format!("cannot write {}", path.display()))?;
            println!("wrote {name}");
        }
    }
    ensure!(
        stale.is_empty(),
        "not up to date: {}; run `cargo xtask generate`",
        stale.join(", ")
    );
    if !check {
        // The code is a test of each crate, which `cargo xtask test` runs.
        for arguments in [
            ["vkabort-settings", "--lib", "generated"],
            ["vkabort-cli", "--bins", "reference"],
        ] {
            let mut test = toolchain::cargo(&["test", "--quiet", "--package"]);
            process::run(test.args(arguments).env("VKABORT_BLESS", "1"))?;
        }
    }
    Ok(())
}

/// Formats Rust source with the repository's settings.
fn format_rust(source: &str) -> Result<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start rustfmt")?;
    let mut input = rustfmt.stdin.take().context("rustfmt has no stdin")?;
    input.write_all(source.as_bytes())?;
    drop(input);
    let output = rustfmt.wait_with_output()?;
    ensure!(output.status.success(), "rustfmt failed: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
