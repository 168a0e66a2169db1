//! The environment in which a program runs under the layer, without anything being installed.

use crate::failure::{Failure, Result};
use crate::locate::{LAYER, MANIFEST};
use serde_json::json;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What precedes a setting's key, in upper case, in the environment.
const SETTING_PREFIX: &str = "VK_VKABORT_SHADER_ABORT_";

/// All settings of the layer, with what they take.
pub const SETTINGS: [(&str, &str); 12] = [
    ("emulation", "auto, force or off"),
    ("on_abort", "lose or continue"),
    ("trap", "return, fault or hang"),
    ("loop_poll", "auto, all or off"),
    ("arena_size", "bytes"),
    ("max_message_size", "bytes"),
    ("drain_timeout_ms", "milliseconds"),
    ("max_sites", "a number"),
    ("log_level", "off, error, warning, info or debug"),
    ("log_file", "a path"),
    ("log_format", "text or json"),
    ("dump_dir", "a folder"),
];

/// A folder of this process's own with an explicit manifest of the layer; it goes when this is dropped.
pub struct Stage {
    folder: PathBuf,
}

impl Stage {
    /// Makes the folder, with a manifest that names `library`.
    pub fn new(library: &Path) -> Result<Self> {
        let folder = env::temp_dir().join(format!("vkabort-{}", std::process::id()));
        let failed = |error: std::io::Error| Failure::file(&folder.display().to_string(), "written", &error);
        std::fs::create_dir_all(folder.join("layer")).map_err(failed)?;
        let stage = Self { folder: folder.clone() };
        let manifest = json!({
            "file_format_version": "1.2.0",
            "layer": {
                "name": LAYER,
                "type": "GLOBAL",
                "library_path": library,
                "api_version": "1.4.0",
                "implementation_version": "1",
                "description": "VK_KHR_shader_abort for every driver",
            }
        });
        std::fs::write(stage.folder.join("layer").join(MANIFEST), manifest.to_string()).map_err(failed)?;
        Ok(stage)
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Lets `command` find the layer and activate it, in front of what it has already.
    pub fn prepare(&self, command: &mut Command) {
        let folder = self.folder.join("layer");
        // VK_LAYER_PATH replaces the loader's own folders and hides VK_ADD_LAYER_PATH; leave it unset where it is.
        match env::var_os("VK_LAYER_PATH").filter(|path| !path.is_empty()) {
            Some(path) => command.env("VK_LAYER_PATH", before(folder.into(), ":", &path)),
            None => match env::var_os("VK_ADD_LAYER_PATH").filter(|path| !path.is_empty()) {
                Some(path) => command.env("VK_ADD_LAYER_PATH", before(folder.into(), ":", &path)),
                None => command.env("VK_ADD_LAYER_PATH", folder),
            },
        };
        match env::var_os("VK_INSTANCE_LAYERS").filter(|names| !names.is_empty()) {
            Some(names) => command.env("VK_INSTANCE_LAYERS", before(LAYER.into(), ":", &names)),
            None => command.env("VK_INSTANCE_LAYERS", LAYER),
        };
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It is in the folder for temporary files: what cannot be removed now goes some day.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn before(mut first: OsString, separator: &str, rest: &OsString) -> OsString {
    first.push(separator);
    first.push(rest);
    first
}

/// The environment variable of a setting; an error that names the settings for a key that is none.
pub fn variable(key: &str) -> Result<String> {
    if SETTINGS.iter().any(|(known, _)| *known == key) {
        return Ok(format!("{SETTING_PREFIX}{}", key.to_ascii_uppercase()));
    }
    let known: Vec<String> = SETTINGS
        .iter()
        .map(|(key, takes)| format!("  {key}: {takes}"))
        .collect();
    Err(Failure::input(format!(
        "no setting is called `{key}`; there are\n{}",
        known.join("\n")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_the_names_of_the_khronos_settings_library() {
        assert_eq!(
            variable("arena_size").expect("known"),
            "VK_VKABORT_SHADER_ABORT_ARENA_SIZE"
        );
        let error = variable("arena").expect_err("unknown").to_string();
        assert!(error.contains("no setting is called `arena`") && error.contains("arena_size: bytes"));
    }
}
