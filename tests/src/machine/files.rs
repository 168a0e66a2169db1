//! The files beside the program.

use crate::files;
use crate::harness::{Placement, System, Target};
use anyhow::{Context, Result};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::bundle::{ABOUT, COMMAND, DRIVER, FILES, GLSLANG, SPIRV_TOOLS};
use vkabort_test_kit::drivers::{self, Driver};
use vkabort_test_kit::layer::{self, LIBRARY_FILE, Layer};
use vkabort_test_kit::scratch::{TempDir, folder_in};
use vkabort_test_kit::{glslang, spirv_tools};

/// The folder of the bundle, if this program lies in one.
pub fn carried_files() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    folder.join(ABOUT).is_file().then(|| folder.to_path_buf())
}

/// The bundle's files, and those written to use them.
pub struct Bundle {
    folder: PathBuf,
    /// Removed at the end.
    scratch: TempDir,
    /// The layer.
    pub layer: Layer,
    test_driver: Driver,
}

impl Bundle {
    /// Locates the files in a folder and writes the manifests, with the libraries' absolute paths, into a scratch folder.
    /// Tells this process and its children where the files of the cases are, and this process where the validation layer is.
    ///
    /// # Errors
    ///
    /// A file is missing or cannot be written.
    pub fn open(folder: PathBuf, validation: Option<&Path>) -> Result<Self> {
        let validation = validation.map(fs::canonicalize).transpose();
        let validation = validation.context("the folder of --validation")?;
        let scratch = folder_in(&std::env::temp_dir())?;
        let layer = layer::write_manifests(&folder.join(LIBRARY_FILE), &scratch.path().join("layer"))?;
        let test_driver = drivers::write_manifest(&folder.join(DRIVER), &scratch.path().join("driver.json"))?;
        // SAFETY: no other thread of this process runs yet.
        unsafe {
            std::env::set_var(files::VARIABLE, folder.join(FILES));
            std::env::set_var(spirv_tools::VARIABLE, folder.join(SPIRV_TOOLS));
            std::env::set_var(glslang::VARIABLE, folder.join(GLSLANG));
            if let Some(validation) = validation {
                std::env::set_var(drivers::VALIDATION_VARIABLE, validation);
            }
        }
        Ok(Self {
            folder,
            scratch,
            layer,
            test_driver,
        })
    }

    /// Version and commit of the program.
    pub fn about(&self) -> Result<String> {
        let about = fs::read_to_string(self.folder.join(ABOUT)).context("cannot read `about`")?;
        Ok(about.trim().to_owned())
    }

    /// The command `vkabort`.
    pub fn command(&self) -> PathBuf {
        self.folder.join(COMMAND)
    }

    /// Folder for the scratch folders of processes.
    pub fn processes(&self) -> PathBuf {
        self.scratch.path().join("processes")
    }

    /// Names of the layer's settings. Cases skip if the layer lacks a setting that they use, such as a trap's limit.
    ///
    /// # Errors
    ///
    /// The manifest is missing or malformed.
    pub fn settings(&self) -> Result<BTreeSet<String>> {
        let manifest = self.layer.explicit.join(format!("{}.json", layer::NAME));
        let manifest: Json = serde_json::from_str(&fs::read_to_string(manifest)?)?;
        let settings = manifest.pointer("/layer/features/settings").and_then(Json::as_array);
        let settings = settings.into_iter().flatten();
        let names = settings.filter_map(|setting| setting["key"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Target of cases: `device` of the machine's driver, or the test driver if None.
    ///
    /// # Errors
    ///
    /// The path of this program cannot be found.
    pub fn target(
        &self,
        device: Option<&str>,
        placement: Placement,
        settings: &[(&'static str, &'static str)],
    ) -> Result<Target> {
        Ok(Target {
            driver: device.is_none().then(|| self.test_driver.clone()),
            device: device.map(str::to_owned),
            layer: self.layer.clone(),
            placement,
            program: (std::env::current_exe()?, Vec::new()),
            system: System::Own,
            folder: self.processes(),
            shader_cache: None,
            settings: settings.to_vec(),
            share: (0, 1),
            seconds: Some(12),
        })
    }
}
