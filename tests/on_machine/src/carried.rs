//! What the program carries, unpacked.

use anyhow::{Context, Result};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::archive;
use vkabort_test_kit::bundle::{COMMAND, DRIVER};
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::layer::{self, LIBRARY, Layer};
use vkabort_tests::harness::Stand;

/// The unpacked files.
pub struct Carried {
    /// The folder.
    pub folder: PathBuf,
    /// The layer.
    pub layer: Layer,
    /// The tests' own driver.
    pub own: Driver,
    /// This program.
    pub program: PathBuf,
}

impl Carried {
    /// Unpacks them, from this program's file.
    ///
    /// # Errors
    ///
    /// The file is damaged, or there is no room.
    pub fn unpack(folder: &Path) -> Result<Self> {
        archive::unpack(&std::env::current_exe()?, folder)?;
        for name in ["logs", "processes", "temporary"] {
            fs::create_dir_all(folder.join(name))?;
        }
        Self::find(folder)
    }

    /// The files that the parent of this process has unpacked.
    ///
    /// # Errors
    ///
    /// They are not there.
    pub fn find(folder: &Path) -> Result<Self> {
        let library = folder.join(LIBRARY);
        Ok(Self {
            layer: layer::describe(&library, &folder.join("layer"))?,
            own: layer::describe_driver(&folder.join(DRIVER), &folder.join("own.json"))?,
            program: std::env::current_exe().context("this program's own file is not known")?,
            folder: folder.to_path_buf(),
        })
    }

    /// The command `vkabort`.
    pub fn command(&self) -> PathBuf {
        self.folder.join(COMMAND)
    }

    /// The names of the layer's settings. A trap whose bound the layer does not know would have none.
    ///
    /// # Errors
    ///
    /// The manifest is damaged.
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

    /// Of which version and commit this is.
    pub fn about(&self) -> String {
        let text = fs::read_to_string(self.folder.join("about"));
        text.map_or_else(|_| "unknown".into(), |text| text.trim().to_owned())
    }

    /// Where folders of processes are.
    pub fn processes(&self) -> PathBuf {
        self.folder.join("processes")
    }

    /// Where cases run: on the machine's driver and that device, or on the tests' own driver.
    pub fn stand(&self, device: Option<&str>, settings: &[(&'static str, &'static str)]) -> Stand {
        Stand {
            driver: device.is_none().then(|| self.own.clone()),
            device: device.map(str::to_owned),
            layer: self.layer.clone(),
            program: (self.program.clone(), vec!["--child".into(), "case".into()]),
            folder: Some(self.processes()),
            settings: settings.to_vec(),
            // Of random programs as many as fit into a part: there are three cases of them.
            share: (0, 1),
            seconds: Some(12),
        }
    }
}
