//! Finds the layer's library and the manifests that the loader finds.

use crate::failure::{Failure, Result};
use crate::system;
use serde_json::Value as Json;
use std::env;
use std::path::{Path, PathBuf};
use vkabort_manifest::{Bits, FOLDER_32, Kind, LAYER, LIBRARY};

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
pub fn library(path: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = path {
        let path = if path.is_dir() {
            path.join(LIBRARY)
        } else {
            path.to_path_buf()
        };
        return dunce::canonicalize(&path).map_err(|error| Failure::path(&path, "found", &error));
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
        .find_map(|path| dunce::canonicalize(path).ok().filter(|path| path.is_file()))
        .ok_or_else(|| {
            Failure::input(format!(
                "the layer's library {LIBRARY} is neither beside this program nor registered: \
                 build it with `cargo build --release -p vkabort-layer` and pass its path as --layer"
            ))
        })
}

/// The library for 32-bit programs that belongs to this one: in its folder [`FOLDER_32`], or where Cargo places it beside a build of
/// this one.
pub fn library_32(library: &Path) -> Option<PathBuf> {
    const TARGET: &str = "i686-unknown-linux-gnu";
    let folder = library.parent()?;
    let built = || Some(folder.parent()?.join(TARGET).join(folder.file_name()?).join(LIBRARY));
    let installed = folder.join(FOLDER_32).join(LIBRARY);
    let mut found = std::iter::once(installed).chain(built());
    found.find(|path| Bits::of(path) == Some(Bits::B32) && path != library)
}

/// All manifests of the layer that the loader finds, in its order.
pub fn registered() -> Vec<Registered> {
    let found = system::manifests().into_iter();
    found.filter_map(|(manifest, kind)| parse(&manifest, kind)).collect()
}

/// Reads a manifest. `None` if it is not one of this layer.
fn parse(manifest: &Path, kind: Kind) -> Option<Registered> {
    let json: Json = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
    let layer = json.get("layer")?;
    let library = layer.get("library_path").and_then(Json::as_str)?;
    (layer.get("name").and_then(Json::as_str) == Some(LAYER)).then(|| Registered {
        // A path with a separator is relative to the manifest.
        library: manifest.parent().unwrap_or(Path::new("")).join(library),
        manifest: manifest.to_path_buf(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_32_bit_library_is_in_its_folder_or_in_that_of_its_build() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("release").join(LIBRARY);
        let write = |path: &Path, bytes: &[u8]| {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, bytes).expect("a file");
        };
        write(&library, b"\x7fELF\x02");
        assert_eq!(library_32(&library), None);
        let built = folder.path().join("i686-unknown-linux-gnu/release").join(LIBRARY);
        write(&built, b"\x7fELF\x01");
        assert_eq!(library_32(&library), Some(built.clone()));
        let installed = folder.path().join("release/32").join(LIBRARY);
        write(&installed, b"\x7fELF\x02");
        assert_eq!(library_32(&library), Some(built), "not a 32-bit library");
        write(&installed, b"\x7fELF\x01");
        assert_eq!(library_32(&library), Some(installed));
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
        // On the same drive on Windows.
        let mut absolute = folder.to_path_buf();
        absolute.push("/abs/y.so");
        let names = ["a.json", "b.json", "c.json", "d.json"];
        let found = names
            .iter()
            .filter_map(|name| parse(&folder.join(name), Kind::Explicit));
        assert_eq!(
            found.map(|found| found.library).collect::<Vec<_>>(),
            [folder.join("./x.so"), absolute]
        );
    }
}
