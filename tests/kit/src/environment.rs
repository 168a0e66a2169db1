//! The environment that restricts a program to one driver and the chosen layers.
//!
//! Works with every loader since 1.3.207. Old loaders find implicit layers only through `XDG_DATA_DIRS` and order explicit
//! layers by the folders of `VK_LAYER_PATH`; new ones order them by `VK_INSTANCE_LAYERS`. Empty folders replace the user's,
//! so that neither other layers nor settings files have an effect.

use crate::drivers::Driver;
use crate::layer::{self, Layer};
use crate::target;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables that select the machine's drivers. The last configures the test driver, which may be one of them.
const DRIVER_VARIABLES: [&str; 7] = [
    "VK_DRIVER_FILES",
    "VK_ADD_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "LD_LIBRARY_PATH",
    "VKABORT_TEST_DRIVER",
];

/// Position of the validation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// Not loaded.
    Off,
    /// Between our layer and the driver: checks calls that the driver receives.
    Below,
    /// Between the application and our layer: checks results that applications receive.
    Above,
}

/// The environment of one program.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The driver; None: the machine's drivers.
    pub driver: Option<Driver>,
    /// The layer, if it is loaded.
    pub layer: Option<Layer>,
    /// Whether a copy of the layer below it simulates a driver with the extensions.
    pub native: bool,
    /// Position of the validation layer, and the folder with its manifest.
    pub validation: Option<(Validation, PathBuf)>,
    /// A folder for the program's home, settings and data.
    pub scratch: PathBuf,
}

impl Environment {
    /// A command that runs `program` in this environment.
    ///
    /// # Errors
    ///
    /// A folder cannot be created.
    pub fn command(&self, program: &Path) -> Result<Command> {
        let mut command = match self.driver.as_ref().and_then(|driver| driver.interpreter.as_ref()) {
            None => Command::new(program),
            Some(interpreter) => {
                let mut command = Command::new(interpreter);
                command.arg("--library-path").arg(joined(&self.libraries())?);
                for library in self.driver.iter().filter_map(|driver| driver.preload.as_ref()) {
                    command.arg("--preload").arg(library);
                }
                command.arg(program);
                command
            }
        };
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            let is_kept = self.driver.is_none() && DRIVER_VARIABLES.contains(&&*name_text);
            if !is_kept
                && ["VK_", "VKABORT_", "XDG_", "LD_", "MESA_", "LIBGL_"]
                    .iter()
                    .any(|prefix| name_text.starts_with(prefix))
            {
                command.env_remove(&name);
            }
        }
        let home = self.scratch.join("home");
        let empty = self.scratch.join("empty");
        for folder in [&home, &empty] {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        command.env("HOME", &home).current_dir(&home);
        for name in ["XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME"] {
            command.env(name, &empty);
        }
        if let Some(driver) = &self.driver {
            // The home folder is new, so that without this, each process would compile every shader again.
            command
                .env("MESA_SHADER_CACHE_DIR", target().join("mesa_shader_cache"))
                .env("VK_DRIVER_FILES", &driver.manifest)
                .env("VK_ICD_FILENAMES", &driver.manifest)
                .envs(driver.variables.iter().copied());
            if driver.interpreter.is_none() && !driver.libraries.is_empty() {
                command.env("LD_LIBRARY_PATH", joined(&driver.libraries)?);
            }
        }
        self.add_layers(&mut command, &empty)?;
        Ok(command)
    }

    fn libraries(&self) -> Vec<PathBuf> {
        self.driver.iter().flat_map(|driver| driver.libraries.clone()).collect()
    }

    fn add_layers(&self, command: &mut Command, empty: &Path) -> Result<()> {
        let mut data = vec![empty.to_path_buf()];
        let mut folders = Vec::new();
        let mut names = Vec::new();
        let above = matches!(self.validation, Some((Validation::Above, _)));
        if let Some((_, folder)) = self.validation.as_ref().filter(|(place, _)| *place != Validation::Off) {
            folders.push(folder.clone());
            names.push("VK_LAYER_KHRONOS_validation");
        }
        match &self.layer {
            // Implicit layers are always above explicit ones, so ours is explicit here.
            Some(layer) if above => {
                folders.push(layer.explicit.clone());
                names.push(layer::NAME);
            }
            Some(layer) => {
                data = vec![layer.implicit.clone()];
                command.env(layer::ENABLE_VARIABLE, "1");
                if self.native {
                    folders.push(layer.native.clone());
                    names.push(layer::NATIVE_NAME);
                }
            }
            None => {}
        }
        if self.driver.is_none() {
            // The loader finds the machine's drivers through the same variable.
            data.extend(["/usr/local/share", "/usr/share"].map(PathBuf::from));
        }
        command.env("XDG_DATA_DIRS", joined(&data)?);
        if !names.is_empty() {
            command
                .env("VK_LAYER_PATH", joined(&folders)?)
                .env("VK_INSTANCE_LAYERS", names.join(":"));
        }
        Ok(())
    }
}

fn joined(paths: &[PathBuf]) -> Result<OsString> {
    std::env::join_paths(paths).context("a path contains a colon")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn variables(validation: Option<Validation>, with_layer: bool) -> Result<BTreeMap<String, String>> {
        let scratch = std::env::temp_dir().join(format!("vkabort-environment-{}", std::process::id()));
        let environment = Environment {
            driver: Some(Driver::of_manifest(Path::new("/d/icd.json"))),
            layer: with_layer.then(|| Layer {
                implicit: "/l/implicit".into(),
                explicit: "/l/explicit".into(),
                native: "/l/native".into(),
                library: "/l/lib.so".into(),
            }),
            native: false,
            validation: validation.map(|place| (place, "/v".into())),
            scratch,
        };
        let command = environment.command(Path::new("/bin/true"))?;
        let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
        Ok(command
            .get_envs()
            .filter_map(|(name, value)| Some((text(name), text(value?))))
            .collect())
    }

    #[test]
    fn the_layer_alone_is_implicit() -> Result<()> {
        let set = variables(None, true)?;
        assert_eq!(set["XDG_DATA_DIRS"], "/l/implicit");
        assert_eq!(set["VKABORT_ENABLE"], "1");
        assert_eq!(set["VK_DRIVER_FILES"], "/d/icd.json");
        assert!(!set.contains_key("VK_INSTANCE_LAYERS"));
        Ok(())
    }

    #[test]
    fn validation_below_is_explicit_under_the_implicit_layer() -> Result<()> {
        let set = variables(Some(Validation::Below), true)?;
        assert_eq!(set["VKABORT_ENABLE"], "1");
        assert_eq!(set["VK_INSTANCE_LAYERS"], "VK_LAYER_KHRONOS_validation");
        Ok(())
    }

    #[test]
    fn validation_above_comes_first_in_folders_and_names() -> Result<()> {
        let set = variables(Some(Validation::Above), true)?;
        assert!(!set.contains_key("VKABORT_ENABLE"));
        assert_eq!(set["VK_LAYER_PATH"], "/v:/l/explicit");
        assert_eq!(
            set["VK_INSTANCE_LAYERS"],
            format!("VK_LAYER_KHRONOS_validation:{}", layer::NAME)
        );
        Ok(())
    }

    #[test]
    fn without_the_layer_no_variable_names_it() -> Result<()> {
        let set = variables(None, false)?;
        assert!(
            set.values()
                .all(|value| !value.contains("vkabort_shader_abort") && !value.contains("/l/"))
        );
        Ok(())
    }
}
