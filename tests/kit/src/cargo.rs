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

/// The targets of each `cargo build` of this process, by name. It takes half a second even if nothing changed, and some tests
/// need the layer a hundred times.
static BUILT: Mutex<BTreeMap<Vec<&'static str>, BTreeMap<String, PathBuf>>> = Mutex::new(BTreeMap::new());

/// The profile that packages are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// With debug assertions and overflow checks. The tests have compiled most of it.
    Dev,
    /// As people build it from source.
    Release,
    /// As packages contain it.
    Dist,
}

impl Profile {
    /// The profile for this program: tests use the packages as they are themselves, benchmarks measure those of packages.
    /// `cargo xtask sanitize` builds all in release, with debug assertions.
    pub const OWN: Self = if cfg!(sanitized) {
        Self::Release
    } else if cfg!(debug_assertions) {
        Self::Dev
    } else {
        Self::Dist
    };

    /// Folder of the manifests of the layer built in this profile.
    fn manifests(self) -> PathBuf {
        target().join(match self {
            Self::Dev => "vkabort/dev",
            Self::Release => "vkabort",
            Self::Dist => "vkabort/dist",
        })
    }

    fn build(self, package: &'static str, name: &str) -> Result<PathBuf> {
        match self {
            Self::Dev => built(&DEV, name),
            Self::Release => built(&["--release", "--package", package], name),
            Self::Dist => built(&["--profile", "dist", "--package", package], name),
        }
    }
}

/// Arguments that build the default members. One selection for all of them, and almost that of the tests: with other
/// packages, dependencies would have other features and be compiled again.
const DEV: [&str; 5] = ["--lib", "--bin", "vkabort", "--bin", "vkabort-demo"];

/// Builds the layer and writes its manifests into the target folder.
///
/// # Errors
///
/// The build fails, or a file cannot be written.
pub fn build_layer(profile: Profile) -> Result<Layer> {
    static LAYERS: Mutex<BTreeMap<Profile, Layer>> = Mutex::new(BTreeMap::new());
    let mut layers = LAYERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(layer) = layers.get(&profile) {
        return Ok(layer.clone());
    }
    let library = profile.build("vkabort-layer", "VkLayer_vkabort_shader_abort")?;
    let layer = layer::write_manifests(&library, &profile.manifests())?;
    layers.insert(profile, layer.clone());
    Ok(layer)
}

/// Builds the demo. Returns its path.
///
/// # Errors
///
/// The build fails.
pub fn build_demo(profile: Profile) -> Result<PathBuf> {
    profile.build("vkabort-demo", "vkabort-demo")
}

/// Builds the test driver and writes its manifest into the target folder.
///
/// # Errors
///
/// The build fails.
pub fn build_test_driver(profile: Profile) -> Result<Driver> {
    drivers::write_manifest(
        &build_test_driver_library(profile)?,
        &profile.manifests().join("test-driver.json"),
    )
}

/// Builds the test driver. Returns its library.
///
/// # Errors
///
/// The build fails.
pub fn build_test_driver_library(profile: Profile) -> Result<PathBuf> {
    profile.build("vkabort-driver", "vkabort_driver")
}

/// Builds the command `vkabort`. Returns its path.
///
/// # Errors
///
/// The build fails.
pub fn build_command(profile: Profile) -> Result<PathBuf> {
    profile.build("vkabort-cli", "vkabort")
}

/// Builds the C library. Returns the shared or the static library, which are in one folder.
///
/// # Errors
///
/// The build fails.
pub fn build_decoder() -> Result<PathBuf> {
    built(&DEV, "vkabort_decode")
}

/// Builds the crash handler in Rust, an example of `vkabort-report`. Returns its path.
///
/// # Errors
///
/// The build fails.
pub fn build_crash_handler() -> Result<PathBuf> {
    let example = "crash_handler";
    built(&["--example", example], example)
}

/// Builds the command `glslang` from its sources, as the guide says. Returns its path.
///
/// # Errors
///
/// There is no C++ compiler, or the build fails.
pub fn build_glslang() -> Result<PathBuf> {
    built(&["--release", "--manifest-path", "tests/glslang/Cargo.toml"], "glslang")
}

/// A target of [`build`], which runs once in this process.
fn built(arguments: &[&'static str], name: &str) -> Result<PathBuf> {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.contains_key(arguments) {
        built.insert(arguments.to_vec(), build(arguments)?);
    }
    let path = built.get(arguments).and_then(|targets| targets.get(name));
    path.cloned()
        .with_context(|| format!("cargo did not build a target {name}"))
}

/// Runs `cargo build` with `arguments`. Returns its programs and its libraries for other languages, by target.
///
/// # Errors
///
/// The build fails.
pub fn build(arguments: &[&str]) -> Result<BTreeMap<String, PathBuf>> {
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
    let output = String::from_utf8_lossy(&output.stdout);
    let messages = output
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let artifacts = messages.filter(|message| message["reason"] == "compiler-artifact");
    Ok(artifacts
        .filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            let executable = message["executable"].as_str();
            let path = PathBuf::from(executable.or_else(|| message["filenames"][0].as_str())?);
            let is_for_rust = path
                .extension()
                .is_some_and(|extension| extension == "rlib" || extension == "rmeta");
            (!is_for_rust).then_some((name, path))
        })
        .collect())
}
