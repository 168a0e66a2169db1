//! Runs programs for Windows in Wine, on drivers for Linux or for Windows.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the folder of the Windows builds that the end-to-end tests run. `cargo xtask test --windows` sets it,
/// with those of Wine's prefix and display.
pub const PROGRAMS: &str = "VKABORT_WINDOWS_PROGRAMS";

/// Wine does not pass variables with this prefix to Windows programs, since they configure the Linux loader below.
const LOADER_PREFIX: &str = "VK_";
/// Wine passes a variable with this prefix without it, instead of the one that it does not pass.
const PASSED_PREFIX: &str = "WINE";
/// Variables that name a driver.
const DRIVER: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
/// Variables that contain a path.
const PATHS: [&str; 3] = [DRIVER[0], DRIVER[1], "VK_LAYER_PATH"];

/// The loader of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverSystem {
    /// The Linux loader, below Wine's own driver.
    Linux,
    /// The Windows loader.
    Windows,
}

/// Wine's program for 64-bit Windows programs, which Debian keeps off the path.
///
/// # Errors
///
/// Wine is not installed.
pub fn program() -> Result<PathBuf> {
    let debian = Path::new("/usr/lib/wine/wine64");
    if debian.is_file() {
        return Ok(debian.to_path_buf());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).flat_map(|folder| ["wine64", "wine"].map(|name| folder.join(name)));
    files.find(|file| file.is_file()).context("Wine is not installed")
}

/// A path of this machine as Windows programs see it.
pub fn path(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}

/// A library as a manifest names it: one for Windows is loaded in Wine.
pub fn named(library: &Path) -> PathBuf {
    let is_in_wine = cfg!(unix) && library.extension().is_some_and(|extension| extension == "dll");
    if is_in_wine {
        path(library).into()
    } else {
        library.to_path_buf()
    }
}

/// The command in Wine, whose program is `wine`: `command` runs a Windows program in an
/// [`Environment`](crate::environment::Environment).
pub fn translated(command: &Command, wine: &Path, driver: DriverSystem) -> Command {
    let mut translated = Command::new(wine);
    translated.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        // The folder of the user's own data, which Wine otherwise takes from its prefix.
        translated.current_dir(folder).env("LOCALAPPDATA", path(folder));
    }
    for (name, value) in command.get_envs() {
        let (text, value) = (name.to_string_lossy(), value.map(OsStr::to_owned));
        let is_path = PATHS.contains(&&*text);
        let is_driver = DRIVER.contains(&&*text) && driver == DriverSystem::Linux;
        let (for_linux, for_windows) = match &*text {
            "XDG_DATA_DIRS" => (Some("/nonexistent".into()), Some("VK_IMPLICIT_LAYER_PATH")),
            _ if !text.starts_with(LOADER_PREFIX) || is_driver => (value.clone(), None),
            _ => (None, Some(&*text)),
        };
        match for_linux {
            Some(value) => translated.env(name, value),
            None => translated.env_remove(name),
        };
        if let (Some(for_windows), Some(value)) = (for_windows, value) {
            let value = match &*text {
                "XDG_DATA_DIRS" => path(&Path::new(&value).join("vulkan/implicit_layer.d")).into(),
                _ if is_path => path(Path::new(&value)).into(),
                _ => value,
            };
            translated.env(format!("{PASSED_PREFIX}{for_windows}"), value);
        }
    }
    translated
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn variables(driver: DriverSystem) -> BTreeMap<String, Option<String>> {
        let mut command = Command::new("/p/case.exe");
        command
            .args(["one", "two"])
            .current_dir("/home")
            .env_remove("VK_LOADER_DEBUG")
            .env("XDG_DATA_DIRS", "/l")
            .env("VK_DRIVER_FILES", "/d/icd.json")
            .env("VK_VKABORT_SHADER_ABORT_LOG_LEVEL", "off")
            .env("VKABORT_ENABLE", "1");
        let translated = translated(&command, Path::new("/wine64"), driver);
        assert_eq!(translated.get_program(), "/wine64");
        assert_eq!(translated.get_args().collect::<Vec<_>>(), ["/p/case.exe", "one", "two"]);
        let text = |value: &OsStr| value.to_string_lossy().into_owned();
        translated
            .get_envs()
            .map(|(name, value)| (text(name), value.map(text)))
            .collect()
    }

    #[test]
    fn each_loader_gets_its_own_variables() {
        let some = |text: &str| Some(Some(text.to_owned()));
        let below = variables(DriverSystem::Linux);
        assert_eq!(below.get("LOCALAPPDATA").cloned(), some("Z:\\home"));
        assert_eq!(below.get("VK_DRIVER_FILES").cloned(), some("/d/icd.json"));
        assert_eq!(below.get("WINEVK_DRIVER_FILES"), None);
        assert_eq!(below.get("XDG_DATA_DIRS").cloned(), some("/nonexistent"));
        assert_eq!(
            below.get("WINEVK_IMPLICIT_LAYER_PATH").cloned(),
            some("Z:\\l\\vulkan\\implicit_layer.d")
        );
        assert_eq!(below.get("VKABORT_ENABLE").cloned(), some("1"));
        assert_eq!(below.get("VK_LOADER_DEBUG"), Some(&None));
        assert_eq!(below.get("VK_VKABORT_SHADER_ABORT_LOG_LEVEL"), Some(&None));
        assert_eq!(below.get("WINEVK_VKABORT_SHADER_ABORT_LOG_LEVEL").cloned(), some("off"));
        let windows = variables(DriverSystem::Windows);
        assert_eq!(windows.get("VK_DRIVER_FILES"), Some(&None));
        assert_eq!(windows.get("WINEVK_DRIVER_FILES").cloned(), some("Z:\\d\\icd.json"));
    }
}
