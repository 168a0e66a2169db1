//! The Vulkan drivers to test on, and where they are on this machine.

use crate::store;
use std::fs;
use std::path::{Path, PathBuf};

/// The drivers that the project tests on. All of them run on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Mesa's lavapipe as this system has it.
    Lavapipe,
    /// Mesa's lavapipe from the release's backports, unpacked.
    LavapipeBackports,
    /// SwiftShader from Debian's Chromium, unpacked, with the newer Vulkan loader of that package.
    SwiftShader,
    /// Mesa's lavapipe, loader and validation layer from Debian unstable, in a folder of their own.
    Newest,
}

impl Known {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 4] = [Self::Lavapipe, Self::LavapipeBackports, Self::SwiftShader, Self::Newest];

    /// The name that commands and test names use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lavapipe => "lavapipe",
            Self::LavapipeBackports => "lavapipe-backports",
            Self::SwiftShader => "swiftshader",
            Self::Newest => "newest",
        }
    }

    /// Whether tests fail without it where drivers are required.
    pub fn is_required(self) -> bool {
        self != Self::Newest
    }

    /// Where the unpacked driver is kept.
    pub fn folder(self) -> PathBuf {
        store().join("drivers").join(self.name())
    }

    /// Looks for the driver.
    ///
    /// # Errors
    ///
    /// It is not there: the text says what was looked for and which command brings it.
    pub fn find(self) -> Result<Driver, String> {
        let missing = |what: &str| {
            let flag = if self == Self::Newest { " --newest" } else { "" };
            format!("{what}; `cargo xtask drivers{flag}` brings it")
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
            Self::LavapipeBackports => (
                folder.join("icd.json"),
                vec![folder.join("usr/lib/x86_64-linux-gnu")],
                None,
            ),
            Self::SwiftShader => (folder.join("icd.json"), vec![folder.join("usr/lib/chromium")], None),
            Self::Newest => {
                let libraries = folder.join("usr/lib/x86_64-linux-gnu");
                let interpreter = libraries.join("ld-linux-x86-64.so.2");
                (folder.join("icd.json"), vec![libraries], Some(interpreter))
            }
        };
        if !manifest.is_file() {
            return Err(missing(&format!("{} is not there", manifest.display())));
        }
        let version = fs::read_to_string(folder.join("version")).unwrap_or_default();
        Ok(Driver {
            name: self.name().into(),
            version: version.trim().into(),
            manifest,
            libraries,
            interpreter,
        })
    }
}

/// A driver on this machine.
#[derive(Clone, Debug)]
pub struct Driver {
    /// Its name in commands and test names.
    pub name: String,
    /// Package and version that it was unpacked from, if it was.
    pub version: String,
    /// The manifest that the loader reads.
    pub manifest: PathBuf,
    /// Folders whose libraries it needs before the system's.
    pub libraries: Vec<PathBuf>,
    /// The dynamic linker that programs must be started with, where the driver needs another C library.
    pub interpreter: Option<PathBuf>,
}

impl Driver {
    /// A driver that a person names by its manifest.
    pub fn of_manifest(manifest: &Path) -> Self {
        let name = manifest
            .file_stem()
            .map_or_else(|| "driver".into(), |stem| stem.to_string_lossy().into_owned());
        Self {
            name,
            version: String::new(),
            manifest: manifest.to_path_buf(),
            libraries: Vec::new(),
            interpreter: None,
        }
    }
}

/// The folder with the validation layer's manifest and nothing else.
///
/// # Errors
///
/// It is not there.
pub fn validation_layer(driver: Option<&Driver>) -> Result<PathBuf, String> {
    let known = if driver.is_some_and(|driver| driver.interpreter.is_some()) {
        Known::Newest
    } else {
        Known::SwiftShader
    };
    let folder = known.folder().join("validation");
    if folder.join("VkLayer_khronos_validation.json").is_file() {
        Ok(folder)
    } else {
        Err("the validation layer is not there; `cargo xtask drivers` brings it".into())
    }
}

/// The folders in which the system keeps driver manifests.
fn system_folders() -> Vec<PathBuf> {
    ["/usr/local/etc", "/usr/local/share", "/etc", "/usr/share"]
        .map(|base| Path::new(base).join("vulkan/icd.d"))
        .to_vec()
}

/// A manifest of the system whose file name starts with `stem`.
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

/// Whether the system has any Vulkan driver.
pub fn has_system_driver() -> bool {
    system_manifest("").is_some()
}

/// Whether the system has the Vulkan loader.
pub fn has_loader() -> bool {
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/lib/x86_64-linux-gnu",
        "/usr/local/lib",
        "/usr/lib/aarch64-linux-gnu",
    ];
    folders
        .iter()
        .any(|folder| Path::new(folder).join("libvulkan.so.1").exists())
}
