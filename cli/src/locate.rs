//! Where the layer's library is, and where the loader looks for manifests.

use crate::failure::{Failure, Result};
use serde_json::Value as Json;
use std::env;
use std::path::{Path, PathBuf};

/// The layer's name.
pub const LAYER: &str = "VK_LAYER_vkabort_shader_abort";
/// The file name of the layer's library.
pub const LIBRARY: &str = "libVkLayer_vkabort_shader_abort.so";
/// The file name of its manifest.
pub const MANIFEST: &str = "VK_LAYER_vkabort_shader_abort.json";

/// How the loader activates a layer whose manifest stands in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By its environment variable.
    Implicit,
    /// By its name.
    Explicit,
}

impl Kind {
    /// The loader's folder for manifests, below `vulkan`.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Implicit => "implicit_layer.d",
            Self::Explicit => "explicit_layer.d",
        }
    }
}

/// A manifest of the layer that the loader finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The manifest.
    pub manifest: PathBuf,
    /// By its folder.
    pub kind: Kind,
    /// The library that it names.
    pub library: PathBuf,
}

/// The library: the one that was asked for, else one beside this program, else one that is registered.
pub fn library(asked: Option<&str>) -> Result<PathBuf> {
    if let Some(path) = asked {
        let path = Path::new(path);
        let path = if path.is_dir() {
            path.join(LIBRARY)
        } else {
            path.to_path_buf()
        };
        return path
            .canonicalize()
            .map_err(|error| Failure::file(&path.display().to_string(), "found", &error));
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
                 build it with `cargo build --release -p vkabort-layer` and name it with --layer"
            ))
        })
}

/// All manifests of the layer in the folders that the loader searches, in its order.
pub fn registered() -> Vec<Registered> {
    let mut found: Vec<Registered> = Vec::new();
    for root in roots(&|name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)) {
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

/// The roots of the loader's search on Linux, in its order.
fn roots(set: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = |below: &str| set("HOME").map(|home| home.join(below));
    let list = |name: &str, default: &str| -> Vec<PathBuf> {
        let value = set(name).unwrap_or_else(|| PathBuf::from(default));
        env::split_paths(&value).collect()
    };
    let mut roots: Vec<PathBuf> = Vec::new();
    roots.extend(set("XDG_CONFIG_HOME").or_else(|| home(".config")));
    roots.extend(list("XDG_CONFIG_DIRS", "/etc/xdg"));
    roots.push(PathBuf::from("/etc"));
    roots.extend(data_home(set));
    roots.extend(list("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
    let mut seen = std::collections::HashSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

fn data_home(set: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))
}

/// The user's root for data, in which `install` registers the layer.
pub fn user_root() -> Result<PathBuf> {
    data_home(&|name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from))
        .ok_or_else(|| Failure::input("neither XDG_DATA_HOME nor HOME is set: there is no place for a user's manifest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_folders_are_searched_in_its_order() {
        let set = |name: &str| match name {
            "HOME" => Some(PathBuf::from("/home/u")),
            "XDG_DATA_DIRS" => Some(PathBuf::from("/a:/b:/a")),
            _ => None,
        };
        let roots: Vec<String> = roots(&set).iter().map(|p| p.display().to_string()).collect();
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
    fn a_relative_library_stands_beside_its_manifest() {
        let folder = env::temp_dir().join(format!("vkabort-locate-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let manifest =
            |name: &str, library: &str| format!(r#"{{"layer":{{"name":"{name}","library_path":"{library}"}}}}"#);
        std::fs::write(folder.join("a.json"), manifest(LAYER, "./x.so")).expect("written");
        std::fs::write(folder.join("b.json"), manifest("VK_LAYER_other", "./x.so")).expect("written");
        std::fs::write(folder.join("c.json"), "no JSON").expect("written");
        std::fs::write(folder.join("d.json"), manifest(LAYER, "/abs/y.so")).expect("written");
        let found = manifests_in(&folder, Kind::Explicit);
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(
            found.iter().map(|f| f.library.clone()).collect::<Vec<_>>(),
            [folder.join("./x.so"), PathBuf::from("/abs/y.so")]
        );
    }
}
