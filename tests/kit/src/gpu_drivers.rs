//! Real GPU drivers on a machine without a GPU.
//!
//! Libraries from Mesa's source ("drm-shim") play the kernel: the drivers create devices, choose memory and addresses, and
//! compile with their real compilers. Nothing executes: a submission completes without running its commands.

use crate::drivers::{Driver, LIBRARIES, TestDriver};
use crate::store;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// A driver of Mesa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// AMD.
    Radv,
    /// Intel since Skylake.
    Anv,
    /// Intel's Broadwell.
    HasVk,
    /// NVIDIA.
    Nvk,
    /// Qualcomm.
    Turnip,
    /// Apple.
    Honeykrisp,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 6] = [
        Self::Radv,
        Self::Anv,
        Self::HasVk,
        Self::Nvk,
        Self::Turnip,
        Self::Honeykrisp,
    ];

    /// Its name in test names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Radv => "radv",
            Self::Anv => "anv",
            Self::HasVk => "hasvk",
            Self::Nvk => "nvk",
            Self::Turnip => "turnip",
            Self::Honeykrisp => "honeykrisp",
        }
    }

    fn library(self) -> &'static str {
        match self {
            Self::Radv => "libvulkan_radeon.so",
            Self::Anv => "libvulkan_intel.so",
            Self::HasVk => "libvulkan_intel_hasvk.so",
            Self::Nvk => "libvulkan_nouveau.so",
            Self::Turnip => "libvulkan_freedreno.so",
            Self::Honeykrisp => "libvulkan_asahi.so",
        }
    }

    /// The library that plays its kernel driver.
    pub fn shim(self) -> &'static str {
        match self {
            Self::Radv => "amdgpu",
            Self::Anv | Self::HasVk => "intel",
            Self::Nvk => "nouveau",
            Self::Turnip => "msm",
            Self::Honeykrisp => "asahi",
        }
    }

    /// The variable that names the GPU.
    fn variable(self) -> &'static str {
        match self {
            Self::Radv => "AMDGPU_GPU_ID",
            Self::Anv | Self::HasVk => "INTEL_STUB_GPU_PLATFORM",
            Self::Nvk => "NOUVEAU_CHIPSET",
            Self::Turnip => "FD_GPU_ID",
            Self::Honeykrisp => "ASAHI_GPU",
        }
    }
}

/// The release of Mesa that the drivers are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Debian stable's.
    Stable,
    /// Debian unstable's, which has more drivers, and drivers with the abort extension.
    Newest,
}

impl Release {
    const ALL: [Self; 2] = [Self::Stable, Self::Newest];

    /// The folder of its unpacked packages.
    fn folder(self) -> PathBuf {
        match self {
            Self::Stable => folder(),
            Self::Newest => TestDriver::Newest.folder(),
        }
    }

    /// Addition to names of GPUs and manifests.
    fn suffix(self) -> &'static str {
        match self {
            Self::Stable => "",
            Self::Newest => " newest",
        }
    }
}

/// A GPU that a shim plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its driver.
    pub family: Family,
    /// Its name for the shim: the ASIC, the platform, the chipset in hexadecimal, the model, or generation and variant.
    pub id: &'static str,
    /// Its driver's release.
    pub release: Release,
}

/// Folder of the unpacked drivers.
pub fn folder() -> PathBuf {
    store().join("drivers/gpu")
}

/// The library that plays a kernel driver, in the unpacked drivers' folder.
pub fn shim_file(shim: &str) -> String {
    format!("shim/lib{shim}.so")
}

impl Gpu {
    /// Its name in tests and tables.
    pub fn name(self) -> String {
        format!("{} {}{}", self.family.name(), self.id, self.release.suffix())
    }

    /// Its driver on this machine.
    ///
    /// # Errors
    ///
    /// The drivers are not installed; the message names the command that installs them.
    pub fn driver(self) -> Result<Driver, String> {
        let libraries = self.release.folder().join(LIBRARIES);
        let version = |folder: PathBuf| fs::read_to_string(folder.join("version"));
        version(folder()).map_err(|_| "the GPU drivers are not installed; `cargo xtask drivers` installs them")?;
        let version = version(self.release.folder());
        let version =
            version.map_err(|_| "Debian unstable's drivers are not installed; `cargo xtask drivers` installs them")?;
        let variables = [
            (self.family.variable(), self.id),
            ("INTEL_FORCE_PROBE", "*"),
            ("MESA_SHADER_CACHE_DISABLE", "true"),
            ("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER", "1"),
        ];
        Ok(Driver {
            name: self.name(),
            version: version.trim().into(),
            manifest: folder().join(manifest_file(self.family, self.release)),
            interpreter: Some(libraries.join("ld-linux-x86-64.so.2")),
            libraries: vec![libraries],
            preload: Some(folder().join(shim_file(self.family.shim()))),
            variables: variables.to_vec(),
            validation: Some(self.release.folder().join("validation")),
        })
    }
}

/// File name of a driver's manifest.
fn manifest_file(family: Family, release: Release) -> String {
    format!("{}{}.json", family.name(), release.suffix())
}

/// The drivers' manifests, by file name, with the paths where the drivers will be.
pub fn manifests() -> impl Iterator<Item = (String, String)> {
    let both = Release::ALL.into_iter();
    both.flat_map(|release| {
        Family::ALL.into_iter().map(move |family| {
            let library = release.folder().join(LIBRARIES).join(family.library());
            let icd = json!({ "library_path": library, "api_version": "1.4.305" });
            let manifest = json!({ "file_format_version": "1.0.0", "ICD": icd });
            (manifest_file(family, release), manifest.to_string())
        })
    })
}
