//! Runs the GLSL compiler glslang, a program of Debian unstable's package glslang-tools.

use crate::store;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the folder, on machines without the repository.
pub const VARIABLE: &str = "VKABORT_TEST_GLSLANG";

/// A script that starts the program with the libraries of its own release.
const SCRIPT: &str = "bin/glslang";

/// The program.
pub const PROGRAM: &str = "lib/glslang";

/// Files of the folder: the script, the program, and the libraries that it needs.
pub const FILES: [&str; 7] = [
    SCRIPT,
    PROGRAM,
    "lib/ld-linux-x86-64.so.2",
    "lib/libc.so.6",
    "lib/libgcc_s.so.1",
    "lib/libm.so.6",
    "lib/libstdc++.so.6",
];

/// The text of the script.
pub const SCRIPT_TEXT: &str = r#"#!/bin/sh
lib=$(dirname "$(readlink -f "$0")")/../lib
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$lib/glslang" "$@"
"#;

/// Folder of the unpacked program.
pub fn folder() -> PathBuf {
    std::env::var_os(VARIABLE).map_or_else(|| store().join("glslang"), PathBuf::from)
}

/// Path of the program.
///
/// # Errors
///
/// The program is not installed; the message names the command that installs it.
pub fn find() -> Result<PathBuf, String> {
    let folder = folder();
    if FILES.iter().all(|file| folder.join(file).is_file()) {
        return Ok(folder.join(SCRIPT));
    }
    Err(format!(
        "glslang is not in {}; `cargo xtask drivers` installs it",
        folder.display()
    ))
}

/// Compiles `text` for Vulkan, as the file `name` of the folder `scratch`. The end of the name selects the stage.
///
/// # Errors
///
/// The text does not compile, or the program is not installed.
pub fn compile(scratch: &Path, name: &str, text: &str, arguments: &[&str]) -> Result<Vec<u8>> {
    const OUTPUT: &str = "out.spv";
    let source = scratch.join(name);
    fs::create_dir_all(source.parent().unwrap_or(scratch))?;
    fs::write(&source, text)?;
    let mut command = Command::new(find().map_err(anyhow::Error::msg)?);
    command.arg("-V").args(arguments);
    command.args(["-o", OUTPUT, name]).current_dir(scratch);
    let output = command.output().context("cannot start glslang")?;
    if !output.status.success() {
        let texts = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
        bail!("{}", texts.concat().trim());
    }
    fs::read(scratch.join(OUTPUT)).with_context(|| format!("glslang wrote no SPIR-V for {name}"))
}
