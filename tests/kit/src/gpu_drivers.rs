//! Real GPU drivers on a machine without a GPU.
//!
//! Libraries from Mesa's source ("drm-shim") play the kernel: the drivers create devices, choose memory and addresses, and
//! compile with their real compilers. Nothing executes: a submission completes without running its commands.

use crate::drivers::{Driver, LIBRARIES};
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
}

impl Family {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Radv, Self::Anv, Self::HasVk, Self::Nvk];

    /// Its name in test names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Radv => "radv",
            Self::Anv => "anv",
            Self::HasVk => "hasvk",
            Self::Nvk => "nvk",
        }
    }

    fn library(self) -> &'static str {
        match self {
            Self::Radv => "libvulkan_radeon.so",
            Self::Anv => "libvulkan_intel.so",
            Self::HasVk => "libvulkan_intel_hasvk.so",
            Self::Nvk => "libvulkan_nouveau.so",
        }
    }

    /// The library that plays its kernel driver.
    pub fn shim(self) -> &'static str {
        match self {
            Self::Radv => "amdgpu",
            Self::Anv | Self::HasVk => "intel",
            Self::Nvk => "nouveau",
        }
    }

    /// The variable that names the GPU.
    fn variable(self) -> &'static str {
        match self {
            Self::Radv => "AMDGPU_GPU_ID",
            Self::Anv | Self::HasVk => "INTEL_STUB_GPU_PLATFORM",
            Self::Nvk => "NOUVEAU_CHIPSET",
        }
    }
}

/// A GPU that a shim plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its driver.
    pub family: Family,
    /// Its name for the shim: the ASIC, the platform, or the chipset in hexadecimal.
    pub id: &'static str,
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
    /// Its driver on this machine.
    ///
    /// # Errors
    ///
    /// The drivers are not installed; the message names the command that installs them.
    pub fn driver(self) -> Result<Driver, String> {
        let folder = folder();
        let libraries = folder.join(LIBRARIES);
        let manifest = folder.join(format!("{}.json", self.family.name()));
        let version = fs::read_to_string(folder.join("version"));
        let version = version.map_err(|_| "the GPU drivers are not installed; `cargo xtask drivers` installs them")?;
        let variables = [
            (self.family.variable(), self.id),
            ("INTEL_FORCE_PROBE", "*"),
            ("MESA_SHADER_CACHE_DISABLE", "true"),
            ("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER", "1"),
        ];
        Ok(Driver {
            name: format!("{} {}", self.family.name(), self.id),
            version: version.trim().into(),
            manifest,
            interpreter: Some(libraries.join("ld-linux-x86-64.so.2")),
            libraries: vec![libraries],
            preload: Some(folder.join(shim_file(self.family.shim()))),
            variables: variables.to_vec(),
        })
    }
}

/// The drivers' manifests, by file name. `folder` is where the drivers will be.
pub fn manifests() -> impl Iterator<Item = (String, String)> {
    Family::ALL.into_iter().map(|family| {
        let library = folder().join(LIBRARIES).join(family.library());
        let icd = json!({ "library_path": library, "api_version": "1.4.305" });
        let manifest = json!({ "file_format_version": "1.0.0", "ICD": icd });
        (format!("{}.json", family.name()), manifest.to_string())
    })
}
