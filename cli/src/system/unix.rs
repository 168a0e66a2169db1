//! Linux: the loader finds layers in folders that it derives from the environment.

use super::{Folders, Users};
use crate::failure::{Failure, Result};
use std::env;
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use vkabort_manifest::Kind;

/// The folder of an installation for all users.
pub const PREFIX: &str = "/usr/local";

/// The variable that makes the loader find implicit layers in `folder`, below `vulkan`, before all others, and its value.
///
/// Every loader searches `XDG_CONFIG_DIRS`, before the places where another version of the layer may be installed, and few
/// programs use it.
pub fn search_variable(folder: &Path) -> (&'static str, OsString) {
    const NAME: &str = "XDG_CONFIG_DIRS";
    let mut list = folder.as_os_str().to_owned();
    list.push(":");
    list.push(variable(NAME).unwrap_or_else(|| "/etc/xdg".into()));
    (NAME, list)
}

/// The manifests in the folders that the loader searches, in its order.
pub fn manifests() -> Vec<(PathBuf, Kind)> {
    let folders = roots(&variable)
        .into_iter()
        .flat_map(|root| [Kind::Implicit, Kind::Explicit].map(|kind| (root.join("vulkan").join(kind.folder()), kind)));
    let mut found = Vec::new();
    for (folder, kind) in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        found.extend(files.into_iter().map(|file| (file, kind)));
    }
    found
}

/// Folders in which `install` places files. `prefix`: for all users, the folder whose `share/vulkan` the loader searches.
///
/// # Errors
///
/// Neither `XDG_DATA_HOME` nor `HOME` is set.
pub fn folders(users: Users, prefix: &Path) -> Result<Folders> {
    if users == Users::All {
        return Ok(Folders {
            manifests: prefix.join("share/vulkan"),
            library: prefix.join("lib/vkabort"),
        });
    }
    let data = data_home(&variable).ok_or_else(|| {
        Failure::input("neither XDG_DATA_HOME nor HOME is set: set one, or install for all users with --system")
    })?;
    Ok(Folders {
        manifests: data.join("vulkan"),
        library: data.join("vkabort"),
    })
}

/// Does nothing: the loader finds manifests by their folder.
///
/// # Errors
///
/// None.
pub fn register(_: Users, _: Kind, _: &Path) -> Result<()> {
    Ok(())
}

/// Nothing, as [`register`].
///
/// # Errors
///
/// None.
pub fn unregister(_: Users, _: Kind, _: &Path) -> Result<()> {
    Ok(())
}

/// Nothing: the environment and the folders of the user have an effect, unless this program is setuid.
pub fn elevation_problem() -> Option<&'static str> {
    None
}

/// Makes a temporary folder or file accessible to this user only, or with `is_public` readable for all.
pub fn set_access<'a, 'b>(
    builder: &'a mut tempfile::Builder<'b, 'b>,
    is_public: bool,
) -> &'a mut tempfile::Builder<'b, 'b> {
    builder.permissions(Permissions::from_mode(if is_public { 0o644 } else { 0o700 }))
}

/// A program's exit code, as a shell reports it.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(1),
        (None, Some(signal)) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        _ => 1,
    };
    ExitCode::from(code)
}

/// Value of an environment variable that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Roots of the loader's search, in its order.
///
/// Source: Vulkan-Loader, LoaderLayerInterface.md, "Linux Layer Discovery".
fn roots(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let home = |below: &str| variable("HOME").map(|home| Path::new(&home).join(below));
    let list = |name: &str, default: &str| -> Vec<PathBuf> {
        let value = variable(name).unwrap_or_else(|| default.into());
        env::split_paths(&value).collect()
    };
    let mut roots: Vec<PathBuf> = Vec::new();
    roots.extend(
        variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| home(".config")),
    );
    roots.extend(list("XDG_CONFIG_DIRS", "/etc/xdg"));
    roots.push(PathBuf::from("/etc"));
    roots.extend(data_home(variable));
    roots.extend(list("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
    let mut seen = std::collections::HashSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

fn data_home(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let home = || variable("HOME").map(|home| Path::new(&home).join(".local/share"));
    variable("XDG_DATA_HOME").map(PathBuf::from).or_else(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_in_the_order_of_the_loader() {
        let variable = |name: &str| match name {
            "HOME" => Some("/home/u".into()),
            "XDG_DATA_DIRS" => Some("/a:/b:/a".into()),
            _ => None,
        };
        let roots: Vec<String> = roots(&variable).iter().map(|p| p.display().to_string()).collect();
        assert_eq!(
            roots,
            [
                "/home/u/.config",
                "/etc/xdg",
                "/etc",
                "/home/u/.local/share",
                "/a",
                "/b"
            ]
        );
    }
}
