//! The Vulkan drivers of the tests, and their paths on this machine.

use crate::layer::write_if_changed;
use crate::{store, wine};
use anyhow::Result;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Debian's folder of libraries.
pub const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// Drivers that the project tests on. All of them run on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestDriver {
    /// Mesa's lavapipe, as installed on this system.
    Lavapipe,
    /// Mesa's lavapipe from Debian's backports, unpacked.
    LavapipeBackports,
    /// SwiftShader from Debian's Chromium, unpacked, with the newer Vulkan loader of that package.
    SwiftShader,
    /// Mesa's lavapipe, loader and validation layer from Debian unstable, unpacked.
    Newest,
}

impl TestDriver {
    /// Every driver, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Lavapipe, Self::LavapipeBackports, Self::SwiftShader, Self::Newest];

    /// Its name in commands and test names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lavapipe => "lavapipe",
            Self::LavapipeBackports => "lavapipe-backports",
            Self::SwiftShader => "swiftshader",
            Self::Newest => "newest",
        }
    }

    /// Whether its absence is a failure if drivers are required.
    pub fn is_required(self) -> bool {
        self != Self::Newest
    }

    /// Folder of the unpacked driver.
    pub fn folder(self) -> PathBuf {
        store().join("drivers").join(self.name())
    }

    /// Finds the driver on this machine.
    ///
    /// # Errors
    ///
    /// The driver is not installed; the message names the missing part and the command that installs it.
    pub fn find(self) -> std::result::Result<Driver, String> {
        let missing = |part: &str| {
            let flag = if self == Self::Newest { " --newest" } else { "" };
            format!("{part}; `cargo xtask drivers{flag}` installs it")
        };
        let folder = self.folder();
        let (manifest, libraries, interpreter) = match self {
            Self::Lavapipe => {
                let manifest = system_manifest("lvp_icd").ok_or_else(|| missing("lavapipe is not installed"))?;
                if !has_loader() {
                    return Err(missing("the Vulkan loader is not installed"));
                }
                (manifest, Vec::new(), None)
            }
            Self::LavapipeBackports => (folder.join("icd.json"), vec![folder.join(LIBRARIES)], None),
            Self::SwiftShader => (folder.join("icd.json"), vec![folder.join("usr/lib/chromium")], None),
            Self::Newest => {
                let libraries = folder.join(LIBRARIES);
                let interpreter = libraries.join("ld-linux-x86-64.so.2");
                (folder.join("icd.json"), vec![libraries], Some(interpreter))
            }
        };
        if !manifest.is_file() {
            return Err(missing(&format!("{} does not exist", manifest.display())));
        }
        let version = fs::read_to_string(folder.join("version")).unwrap_or_default();
        Ok(Driver {
            name: self.name().into(),
            validation: interpreter.is_some().then(|| folder.join("validation")),
            version: version.trim().into(),
            manifest,
            libraries,
            interpreter,
            ..Driver::default()
        })
    }
}

/// A driver on this machine.
#[derive(Clone, Debug, Default)]
pub struct Driver {
    /// Its name in commands and test names.
    pub name: String,
    /// Package and version that it was unpacked from; empty for installed drivers.
    pub version: String,
    /// Its manifest.
    pub manifest: PathBuf,
    /// Folders with libraries that precede the system's.
    pub libraries: Vec<PathBuf>,
    /// The dynamic linker that starts programs, for a driver that needs another C library.
    pub interpreter: Option<PathBuf>,
    /// A library that plays the kernel.
    pub preload: Option<PathBuf>,
    /// Environment variables that configure it.
    pub variables: Vec<(&'static str, &'static str)>,
    /// Folder with the manifest of the validation layer, for a driver that needs another C library.
    pub validation: Option<PathBuf>,
}

impl Driver {
    /// A driver with this manifest, named after the file.
    pub fn of_manifest(manifest: &Path) -> Self {
        let name = manifest
            .file_stem()
            .map_or_else(|| "driver".into(), |stem| stem.to_string_lossy().into_owned());
        Self {
            name,
            manifest: manifest.to_path_buf(),
            ..Self::default()
        }
    }
}

/// Whether a missing driver or program is a failure: on CI and under `cargo xtask test`.
pub fn are_required() -> bool {
    is_ci() || is_set("VKABORT_REQUIRE_DRIVERS")
}

/// Whether CI runs this.
pub fn is_ci() -> bool {
    is_set("CI")
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
}

/// Writes the manifest of the test driver.
///
/// # Errors
///
/// The manifest cannot be written.
pub fn write_manifest(library: &Path, manifest: &Path) -> Result<Driver> {
    let text = serde_json::to_string_pretty(&json!({
        "file_format_version": "1.0.0",
        "ICD": { "library_path": wine::named(library), "api_version": "1.3.0" },
    }))?;
    write_if_changed(manifest, &text)?;
    Ok(Driver::of_manifest(manifest))
}

/// Variable with the folder of the validation layer on a machine without the repository.
pub const VALIDATION_VARIABLE: &str = "VKABORT_TEST_VALIDATION";

/// Folder with only the validation layer's manifest, for programs on `driver`.
///
/// # Errors
///
/// The validation layer is not installed.
pub fn validation_layer(driver: Option<&Driver>) -> std::result::Result<PathBuf, String> {
    let folder = driver.and_then(|driver| driver.validation.clone());
    let folder = folder.or_else(|| std::env::var_os(VALIDATION_VARIABLE).map(PathBuf::from));
    let folder = folder.unwrap_or_else(|| TestDriver::SwiftShader.folder().join("validation"));
    if folder.join("VkLayer_khronos_validation.json").is_file() {
        Ok(folder)
    } else {
        Err("the validation layer is not installed; `cargo xtask drivers` installs it".into())
    }
}

/// System folders of driver manifests.
fn system_folders() -> Vec<PathBuf> {
    ["/usr/local/etc", "/usr/local/share", "/etc", "/usr/share"]
        .map(|base| Path::new(base).join("vulkan/icd.d"))
        .to_vec()
}

/// The first system manifest whose file name starts with `stem`.
fn system_manifest(stem: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = system_folders()
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(stem))
        })
        .collect();
    found.sort();
    found.into_iter().next()
}

/// Whether a Vulkan driver is installed.
pub fn has_system_driver() -> bool {
    system_manifest("").is_some()
}

/// Whether the Vulkan loader is installed.
pub fn has_loader() -> bool {
    loader().is_some()
}

/// The system's Vulkan loader.
pub fn loader() -> Option<PathBuf> {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/lib/x86_64-linux-gnu",
        "/usr/local/lib",
        "/usr/lib/aarch64-linux-gnu",
    ];
    let mut paths = folders.iter().map(|folder| Path::new(folder).join("libvulkan.so.1"));
    paths.find(|path| path.exists())
}
