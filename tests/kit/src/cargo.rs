//! Builds the project's packages with Cargo.

use crate::drivers::{self, Driver};
use crate::layer::{self, Layer};
use crate::{process, root, target};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Targets that this process has built, by name. `cargo build` takes a quarter of a second even if nothing changed, and
/// some tests need the layer a hundred times.
static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());

/// Builds the layer in release and writes its manifests into the target folder.
///
/// # Errors
///
/// The build fails, or a file cannot be written.
pub fn build_layer() -> Result<Layer> {
    let library = release("vkabort-layer", "VkLayer_vkabort_shader_abort")?;
    layer::write_manifests(&library, &target().join("vkabort"))
}

/// Builds the demo in release. Returns its path.
///
/// # Errors
///
/// The build fails.
pub fn build_demo() -> Result<PathBuf> {
    release("vkabort-demo", "vkabort-demo")
}

/// Builds the test driver in release and writes its manifest into the target folder.
///
/// # Errors
///
/// The build fails.
pub fn build_test_driver() -> Result<Driver> {
    drivers::write_manifest(
        &build_test_driver_library()?,
        &target().join("vkabort/test-driver.json"),
    )
}

/// Builds the test driver in release. Returns its library.
///
/// # Errors
///
/// The build fails.
pub fn build_test_driver_library() -> Result<PathBuf> {
    release("vkabort-driver", "vkabort_driver")
}

/// Builds the command `vkabort` in release. Returns its path.
///
/// # Errors
///
/// The build fails.
pub fn build_command() -> Result<PathBuf> {
    release("vkabort-cli", "vkabort")
}

/// Builds the C library in the profile of the tests. Returns the shared or the static library, which are in one folder.
///
/// # Errors
///
/// The build fails.
pub fn build_decoder() -> Result<PathBuf> {
    built(&["--package", "vkabort-decode"], "vkabort_decode")
}

/// Builds the command `glslang`. Returns its path. Not in release: the tests have built its library already.
///
/// # Errors
///
/// The build fails.
pub fn build_glslang() -> Result<PathBuf> {
    built(&["--package", "vkabort-glslang"], "glslang")
}

fn release(package: &str, name: &str) -> Result<PathBuf> {
    built(&["--release", "--package", package], name)
}

/// [`build_target`], once in this process.
fn built(arguments: &[&str], name: &str) -> Result<PathBuf> {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = built.get(name) {
        return Ok(path.clone());
    }
    let path = build_target(arguments, name)?;
    built.insert(name.to_owned(), path.clone());
    Ok(path)
}

/// Runs `cargo build` with `arguments`. Returns the library or program of the target `name`.
///
/// # Errors
///
/// The build fails, or does not produce the target.
pub fn build_target(arguments: &[&str], name: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet"])
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root())
        .stderr(Stdio::inherit());
    let output = command
        .output()
        .with_context(|| format!("cannot start `{}`", process::command_line(&command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", process::command_line(&command), output.status);
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == name)
        .filter_map(|message| {
            let executable = message["executable"].as_str();
            executable
                .or_else(|| message["filenames"][0].as_str())
                .map(PathBuf::from)
        })
        .find(|path| path.extension().is_none_or(|extension| extension != "rlib"))
        .with_context(|| format!("cargo did not build a target {name}"))
}
