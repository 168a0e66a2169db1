//! Finds the layer's library and the manifests that the loader finds.

use crate::failure::{Failure, Result};
use serde_json::Value as Json;
use std::env;
use std::path::{Path, PathBuf};
use vkabort_manifest::{Kind, LAYER, LIBRARY};

/// A manifest of the layer that the loader finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The manifest.
    pub manifest: PathBuf,
    /// How the loader activates the layer, by the manifest's folder.
    pub kind: Kind,
    /// The library that it names.
    pub library: PathBuf,
}

/// Finds the layer's library: at `path` (a file or its folder), else beside this program, else where a manifest names it.
///
/// # Errors
///
/// The path does not exist, or the library is in none of these places.
pub fn library(path: Option<&str>) -> Result<PathBuf> {
    if let Some(path) = path {
        let path = Path::new(path);
        let path = if path.is_dir() {
            path.join(LIBRARY)
        } else {
            path.to_path_buf()
        };
        return path
            .canonicalize()
            .map_err(|error| Failure::path(&path, "found", &error));
    }
    let beside = env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(Path::to_path_buf))
        .into_iter()
        .flat_map(|folder| [folder.clone(), folder.join("../lib"), folder.join("../lib/vkabort")])
        .map(|folder| folder.join(LIBRARY));
    let registered = registered().into_iter().map(|found| found.library);
    beside
        .chain(registered)
        .find_map(|path| path.canonicalize().ok().filter(|path| path.is_file()))
        .ok_or_else(|| {
            Failure::input(format!(
                "the layer's library {LIBRARY} is neither beside this program nor registered: \
                 build it with `cargo build --release -p vkabort-layer` and pass its path as --layer"
            ))
        })
}

/// All manifests of the layer in the folders that the loader searches, in its order.
pub fn registered() -> Vec<Registered> {
    let mut found: Vec<Registered> = Vec::new();
    for root in roots(&variable) {
        for kind in [Kind::Implicit, Kind::Explicit] {
            found.extend(manifests_in(&root.join("vulkan").join(kind.folder()), kind));
        }
    }
    found
}

fn manifests_in(folder: &Path, kind: Kind) -> Vec<Registered> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<Registered> = entries
        .filter_map(|entry| {
            let manifest = entry.ok()?.path();
            let json: Json = serde_json::from_slice(&std::fs::read(&manifest).ok()?).ok()?;
            let layer = json.get("layer")?;
            let library = layer.get("library_path").and_then(Json::as_str)?;
            (layer.get("name").and_then(Json::as_str) == Some(LAYER)).then(|| Registered {
                // A path with a separator is relative to the manifest.
                library: folder.join(library),
                manifest,
                kind,
            })
        })
        .collect();
    found.sort_by(|a, b| a.manifest.cmp(&b.manifest));
    found
}

/// Value of an environment variable that is set and not empty.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Roots of the loader's search on Linux, in its order.
///
/// Source: Vulkan-Loader, LoaderLayerInterface.md, "Linux Layer Discovery".
fn roots(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = |below: &str| variable("HOME").map(|home| home.join(below));
    let list = |name: &str, default: &str| -> Vec<PathBuf> {
        let value = variable(name).unwrap_or_else(|| PathBuf::from(default));
        env::split_paths(&value).collect()
    };
    let mut roots: Vec<PathBuf> = Vec::new();
    roots.extend(variable("XDG_CONFIG_HOME").or_else(|| home(".config")));
    roots.extend(list("XDG_CONFIG_DIRS", "/etc/xdg"));
    roots.push(PathBuf::from("/etc"));
    roots.extend(data_home(variable));
    roots.extend(list("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
    let mut seen = std::collections::HashSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

fn data_home(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
}

/// The user's data folder, in which `install` registers the layer.
///
/// # Errors
///
/// Neither `XDG_DATA_HOME` nor `HOME` is set.
pub fn user_data_home() -> Result<PathBuf> {
    data_home(&variable).ok_or_else(|| {
        Failure::input("neither XDG_DATA_HOME nor HOME is set: set one, or install for all users with --system")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_in_the_order_of_the_loader() {
        let variable = |name: &str| match name {
            "HOME" => Some(PathBuf::from("/home/u")),
            "XDG_DATA_DIRS" => Some(PathBuf::from("/a:/b:/a")),
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

    #[test]
    fn relative_libraries_are_relative_to_their_manifest() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
        let manifest =
            |name: &str, library: &str| format!(r#"{{"layer":{{"name":"{name}","library_path":"{library}"}}}}"#);
        write("a.json", &manifest(LAYER, "./x.so"));
        write("b.json", &manifest("VK_LAYER_other", "./x.so"));
        write("c.json", "not JSON");
        write("d.json", &manifest(LAYER, "/abs/y.so"));
        let found = manifests_in(folder, Kind::Explicit);
        assert_eq!(
            found.iter().map(|f| f.library.clone()).collect::<Vec<_>>(),
            [folder.join("./x.so"), PathBuf::from("/abs/y.so")]
        );
    }
}
