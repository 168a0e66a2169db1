//! Builds the layer, the demo and the tests' own driver, and writes manifests that name the build by its absolute path.

use crate::drivers::Driver;
use crate::{process, root, target};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The layer's name.
pub const NAME: &str = "VK_LAYER_vkabort_shader_abort";
/// The name of the copy of the layer that plays a driver with the extensions.
pub const NATIVE: &str = "VK_LAYER_vkabort_native";
/// How the environment variables of the layer's settings start.
pub const VARIABLES: &str = "VK_VKABORT_SHADER_ABORT_";
/// The same for [`NATIVE`]: as long.
pub const NATIVE_VARIABLES: &str = "VK_NATIVES_SHADER_ABORT_";
/// The file name of the layer's library.
pub const LIBRARY: &str = "libVkLayer_vkabort_shader_abort.so";
/// The variable that switches the implicit layer on.
pub const ENABLE: &str = "VKABORT_ENABLE";

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

/// Builds the layer in release and writes its manifests into the target directory.
///
/// # Errors
///
/// The build fails, or the manifests in `manifest/` are not what they should be.
pub fn build() -> Result<Layer> {
    let library = artifact("vkabort-layer", "VkLayer_vkabort_shader_abort")?;
    describe(&library, &root().join("manifest"), &target().join("vkabort"))
}

/// Writes the manifests of a layer that is there: from the templates in one folder into others below a second one.
///
/// # Errors
///
/// The templates are not what they should be.
pub fn describe(library: &Path, manifests: &Path, folder: &Path) -> Result<Layer> {
    let library = library.to_path_buf();
    let layer = Layer {
        library: library.clone(),
        implicit: folder.join("implicit"),
        explicit: folder.join("explicit"),
        native: folder.join("native"),
    };
    for template in templates(manifests)? {
        if template.pointer("/layer/enable_environment").is_none() {
            write_native(template.clone(), &library, &layer.native)?;
        }
        let place = if template.pointer("/layer/enable_environment").is_some() {
            layer.implicit.join("vulkan/implicit_layer.d")
        } else {
            layer.explicit.clone()
        };
        write_manifest(template, &library, &place, NAME)?;
    }
    for folder in [&layer.implicit, &layer.explicit] {
        if !folder.is_dir() {
            bail!("{} has no manifest for {}", manifests.display(), folder.display());
        }
    }
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

fn templates(folder: &Path) -> Result<Vec<Value>> {
    let mut templates = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = fs::read_to_string(&path)?;
            templates.push(serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?);
        }
    }
    Ok(templates)
}

/// A copy of the library is another library to the dynamic linker: it has statics of its own, and does not know that it
/// stands below the first. So that it can be told other things than the first, its settings have other names.
fn write_native(template: Value, library: &Path, folder: &Path) -> Result<()> {
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
        // Moved into place: a process may be running the old one.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let fresh = folder.join(format!("{}-{number}.new", std::process::id()));
        fs::write(&fresh, bytes)?;
        fs::rename(&fresh, &copy)?;
    }
    write_manifest(template, &copy, folder, NATIVE)
}

fn write_manifest(mut template: Value, library: &Path, folder: &Path, name: &str) -> Result<()> {
    let layer = template.get_mut("layer").context("a manifest without `layer`")?;
    layer["name"] = Value::from(name);
    layer["library_path"] = Value::from(library.to_str().context("the target directory's name is not UTF-8")?);
    let text = serde_json::to_string_pretty(&template)?;
    write_if_changed(&folder.join(format!("{name}.json")), &text)
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
