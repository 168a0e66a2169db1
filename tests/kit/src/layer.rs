//! Builds the layer, the demo and the tests' own driver, and writes manifests that name the build by its absolute path.

use crate::drivers::Driver;
use crate::{process, root, target};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use vkabort_manifest::Kind;
pub use vkabort_manifest::{ENABLE, LAYER as NAME, LIBRARY};

/// The name of the copy of the layer that plays a driver with the extensions.
pub const NATIVE: &str = "VK_LAYER_vkabort_native";
/// How the environment variables of the layer's settings start.
pub const VARIABLES: &str = "VK_VKABORT_SHADER_ABORT_";
/// The same for [`NATIVE`]: as long.
pub const NATIVE_VARIABLES: &str = "VK_NATIVES_SHADER_ABORT_";

/// A built layer: folders with its manifest, one for each way of switching it on.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The library.
    pub library: PathBuf,
    /// A folder for `XDG_DATA_DIRS`: the manifest stands in `vulkan/implicit_layer.d` below it.
    pub implicit: PathBuf,
    /// A folder for `VK_LAYER_PATH`.
    pub explicit: PathBuf,
    /// A folder for `VK_LAYER_PATH` with a copy of the layer under the name [`NATIVE`].
    pub native: PathBuf,
}

/// Builds the layer in release and writes its manifests into the target folder.
///
/// # Errors
///
/// The build fails, or a file cannot be written.
pub fn build() -> Result<Layer> {
    let library = artifact("vkabort-layer", "VkLayer_vkabort_shader_abort")?;
    describe(&library, &target().join("vkabort"))
}

/// Writes the manifests of a built layer into subfolders of `folder`.
///
/// # Errors
///
/// A file cannot be written, or the library's path is not UTF-8.
pub fn describe(library: &Path, folder: &Path) -> Result<Layer> {
    let layer = Layer {
        library: library.to_path_buf(),
        implicit: folder.join("implicit"),
        explicit: folder.join("explicit"),
        native: folder.join("native"),
    };
    let implicit = layer.implicit.join("vulkan").join(Kind::Implicit.folder());
    vkabort_manifest::write(Kind::Implicit, NAME, library, &implicit)?;
    vkabort_manifest::write(Kind::Explicit, NAME, library, &layer.explicit)?;
    write_native(library, &layer.native)?;
    Ok(layer)
}

/// Builds the demo in release. Returns its path.
///
/// # Errors
///
/// The build fails.
pub fn build_demo() -> Result<PathBuf> {
    artifact("vkabort-demo", "vkabort-demo")
}

/// Builds the driver that the tests bring themselves, and writes its manifest.
///
/// # Errors
///
/// The build fails.
pub fn build_driver() -> Result<Driver> {
    describe_driver(&build_driver_library()?, &target().join("vkabort/test-driver.json"))
}

/// Builds that driver's library alone.
///
/// # Errors
///
/// The build fails.
pub fn build_driver_library() -> Result<PathBuf> {
    artifact("vkabort-driver", "vkabort_driver")
}

/// Writes the manifest of that driver.
///
/// # Errors
///
/// It cannot be written.
pub fn describe_driver(library: &Path, manifest: &Path) -> Result<Driver> {
    let text = serde_json::to_string_pretty(&json!({
        "file_format_version": "1.0.0",
        "ICD": { "library_path": library, "api_version": "1.3.0" },
    }))?;
    write_if_changed(manifest, &text)?;
    Ok(Driver::of_manifest(manifest))
}

/// Builds the command `vkabort` in release. Returns its path.
///
/// # Errors
///
/// The build fails.
pub fn build_command() -> Result<PathBuf> {
    artifact("vkabort-cli", "vkabort")
}

/// Builds a package in release and returns the library or program that its target of this name makes.
fn artifact(package: &str, name: &str) -> Result<PathBuf> {
    built(&["--release", "--package", package], name)
}

/// Builds what these words ask for and returns the library or program that a target of this name makes.
///
/// # Errors
///
/// The build fails, or has no such target.
pub fn built(words: &[&str], name: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet"])
        .args(words)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root())
        .stderr(Stdio::inherit());
    let output = command
        .output()
        .with_context(|| format!("cannot start `{}`", process::shown(&command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", process::shown(&command), output.status);
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
        .with_context(|| format!("cargo built no {name}"))
}

/// Writes a copy of the layer that plays a driver with the extensions. To the dynamic linker it is another library, with its
/// own statics; its settings have other names, so that they can differ from those of the layer above it.
fn write_native(library: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let copy = folder.join("libVkLayer_vkabort_native.so");
    let mut bytes = fs::read(library).with_context(|| format!("cannot read {}", library.display()))?;
    let (own, other) = (VARIABLES.as_bytes(), NATIVE_VARIABLES.as_bytes());
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(own)).collect();
    if places.is_empty() {
        bail!("the library does not contain {VARIABLES}");
    }
    for at in places {
        bytes[at..at + other.len()].copy_from_slice(other);
    }
    if fs::read(&copy).ok().as_ref() != Some(&bytes) {
        // Renamed into place: a process may have the old one mapped.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let fresh = folder.join(format!("{}-{number}.new", std::process::id()));
        fs::write(&fresh, bytes)?;
        fs::rename(&fresh, &copy)?;
    }
    vkabort_manifest::write(Kind::Explicit, NATIVE, &copy, folder)?;
    Ok(())
}

/// Writes only what differs: processes of tests that run side by side may be reading the file.
fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
