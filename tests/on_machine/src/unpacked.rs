//! The files that the program carries, after unpacking.

use anyhow::{Context, Result};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vkabort_test_kit::bundle::{COMMAND, DRIVER, SPIRV_TOOLS};
use vkabort_test_kit::drivers::{self, Driver};
use vkabort_test_kit::layer::{self, LIBRARY_FILE, Layer};
use vkabort_test_kit::supervise::{Finished, run_with_limit};
use vkabort_test_kit::{archive, scratch, spirv_tools};
use vkabort_tests::files;
use vkabort_tests::harness::{Placement, Target, environment};

/// Paths of the unpacked files.
pub struct Unpacked {
    /// The folder.
    pub folder: PathBuf,
    /// The layer.
    pub layer: Layer,
    /// The test driver.
    pub test_driver: Driver,
    /// This program.
    pub program: PathBuf,
}

impl Unpacked {
    /// Unpacks the files that this program carries.
    ///
    /// # Errors
    ///
    /// The program is damaged, or a file cannot be written.
    pub fn unpack(folder: &Path) -> Result<Self> {
        archive::unpack(&std::env::current_exe()?, folder)?;
        for name in ["logs", "processes", "temporary"] {
            fs::create_dir_all(folder.join(name))?;
        }
        Self::find(folder)
    }

    /// Locates the files that the parent process unpacked.
    ///
    /// # Errors
    ///
    /// A file is missing.
    pub fn find(folder: &Path) -> Result<Self> {
        let library = folder.join(LIBRARY_FILE);
        Ok(Self {
            layer: layer::write_manifests(&library, &folder.join("layer"))?,
            test_driver: drivers::write_manifest(&folder.join(DRIVER), &folder.join("own.json"))?,
            program: std::env::current_exe().context("cannot find the path of this program")?,
            folder: folder.to_path_buf(),
        })
    }

    /// The command `vkabort`.
    pub fn command(&self) -> PathBuf {
        self.folder.join(COMMAND)
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
        let names = settings
            .into_iter()
            .flatten()
            .filter_map(|setting| setting["key"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Version and commit of the program.
    pub fn about(&self) -> String {
        let text = fs::read_to_string(self.folder.join("about"));
        text.map_or_else(|_| "unknown".into(), |text| text.trim().to_owned())
    }

    /// Runs `program` with what `set_up` adds, in an environment without the repository's and with a scratch folder of its
    /// own, for `limit` at most.
    ///
    /// # Errors
    ///
    /// A folder cannot be created, or the process cannot be started or exceeds its limit.
    pub fn run(
        &self,
        program: &Path,
        placement: Placement,
        limit: Duration,
        set_up: impl FnOnce(&mut Command),
    ) -> Result<Finished> {
        let scratch = scratch::folder_in(&self.processes())?;
        let mut command = environment(None, &self.layer, placement, scratch.path())?.command(program)?;
        command.env("TMPDIR", scratch.path());
        set_up(&mut command);
        run_with_limit(&mut command, limit, scratch.path())
    }

    /// Variables with the places of the carried files.
    pub fn variables(&self) -> [(&'static str, PathBuf); 2] {
        [
            (files::VARIABLE, self.folder.join("files")),
            (spirv_tools::VARIABLE, self.folder.join(SPIRV_TOOLS)),
        ]
    }

    /// Folder for the scratch folders of processes.
    pub fn processes(&self) -> PathBuf {
        self.folder.join("processes")
    }

    /// Target of cases: `device` of the machine's driver, or the test driver if None.
    pub fn target(&self, device: Option<&str>, settings: &[(&'static str, &'static str)]) -> Target {
        Target {
            wine: None,
            driver: device.is_none().then(|| self.test_driver.clone()),
            device: device.map(str::to_owned),
            layer: self.layer.clone(),
            program: (self.program.clone(), vec!["--child".into(), "case".into()]),
            folder: Some(self.processes()),
            shader_cache: None,
            settings: settings.to_vec(),
            // Three cases run random programs; together they fit into one part's limit.
            share: (0, 1),
            seconds: Some(12),
        }
    }
}
