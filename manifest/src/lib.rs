//! The layer's manifests, and how to stage them for the Vulkan loader.
//!
//! A manifest is a JSON file that names the layer's library. The loader finds an *implicit* layer by its folder and
//! switches it on by an environment variable; an *explicit* layer is requested by its name.
#![forbid(unsafe_code)]

mod bits;

pub use bits::Bits;
use serde_json::Value as Json;
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// The layer's name.
pub const LAYER: &str = "VK_LAYER_vkabort_shader_abort";
/// File name of the layer's library.
pub const LIBRARY: &str = if cfg!(windows) {
    LIBRARY_WINDOWS
} else {
    "libVkLayer_vkabort_shader_abort.so"
};
/// [`LIBRARY`] on Windows.
pub const LIBRARY_WINDOWS: &str = "VkLayer_vkabort_shader_abort.dll";
/// Folder beside the 64-bit library with the [`LIBRARY`] of 32-bit programs.
pub const FOLDER_32: &str = "32";
/// Environment variable that switches the implicit layer on.
pub const ENABLE: &str = "VKABORT_ENABLE";
/// Environment variable that switches the implicit layer off, regardless of [`ENABLE`].
pub const DISABLE: &str = "VKABORT_DISABLE";

/// How the loader activates a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By its environment variable.
    Implicit,
    /// By its name.
    Explicit,
}

impl Kind {
    /// The loader's folder for manifests of this kind, below `vulkan`.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Implicit => "implicit_layer.d",
            Self::Explicit => "explicit_layer.d",
        }
    }

    /// The loader's list of manifests of this kind in the registry of Windows.
    pub fn registry_key(self) -> &'static str {
        match self {
            Self::Implicit => "SOFTWARE\\Khronos\\Vulkan\\ImplicitLayers",
            Self::Explicit => "SOFTWARE\\Khronos\\Vulkan\\ExplicitLayers",
        }
    }

    /// The manifest as it is in the repository.
    pub fn template(self) -> &'static str {
        match self {
            Self::Implicit => include_str!("../VkLayer_vkabort_shader_abort.implicit.json"),
            Self::Explicit => include_str!("../VkLayer_vkabort_shader_abort.explicit.json"),
        }
    }
}

/// File name of a layer's manifest.
pub fn file_name(layer: &str) -> String {
    format!("{layer}.json")
}

/// File name of the manifest of the layer's 32-bit library, which lies beside the other. Both name the same layer.
pub fn file_name_32(layer: &str) -> String {
    format!("{layer}.32.json")
}

/// Parses the template of `kind`.
///
/// # Errors
///
/// The template is not valid JSON.
pub fn parse(kind: Kind) -> Result<Json> {
    Ok(serde_json::from_str(kind.template())?)
}

/// Returns the text of a manifest of `layer` that names `library`, for programs with pointers of this size, or for all.
///
/// # Errors
///
/// The path is not UTF-8: a manifest is JSON and cannot name it.
pub fn text(kind: Kind, layer: &str, library: &Path, bits: Option<Bits>) -> Result<String> {
    let library = library.to_str().ok_or_else(|| {
        let message = format!(
            "{}: the path is not UTF-8, and a manifest cannot name it",
            library.display()
        );
        Error::new(ErrorKind::InvalidInput, message)
    })?;
    let mut manifest = parse(kind)?;
    manifest["layer"]["name"] = Json::from(layer);
    manifest["layer"]["library_path"] = Json::from(library);
    if let Some(bits) = bits {
        // The first version with `library_arch`.
        manifest["file_format_version"] = Json::from("1.2.1");
        manifest["layer"]["library_arch"] = Json::from(bits.library_arch());
    }
    Ok(format!("{manifest:#}\n"))
}

/// Writes the manifest of `layer` for `library` into `folder` and returns its path. One for 32-bit programs has a name of its own.
///
/// Leaves an identical file alone, because other processes may be reading it.
///
/// # Errors
///
/// The library's path is not UTF-8, or the file cannot be written.
pub fn write(kind: Kind, layer: &str, library: &Path, folder: &Path) -> Result<PathBuf> {
    let bits = Bits::of(library);
    let text = text(kind, layer, library, bits)?;
    let path = folder.join(match bits {
        Some(Bits::B32) => file_name_32(layer),
        _ => file_name(layer),
    });
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return Ok(path);
    }
    fs::create_dir_all(folder)?;
    fs::write(&path, text)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_manifests_name_the_layer_and_the_library() {
        for kind in [Kind::Implicit, Kind::Explicit] {
            let text = text(kind, LAYER, Path::new("/x/lib.so"), None).expect("the template is well formed");
            let json: Json = serde_json::from_str(&text).expect("the manifest is JSON");
            assert_eq!(json["file_format_version"], "1.2.0");
            assert_eq!(json["layer"]["library_arch"], Json::Null);
            assert_eq!(json["layer"]["library_path"], "/x/lib.so");
            assert_eq!(json["layer"]["name"], LAYER);
            let switches = kind == Kind::Implicit;
            assert_eq!(json["layer"]["enable_environment"][ENABLE] == "1", switches);
            assert_eq!(json["layer"]["disable_environment"][DISABLE] == "1", switches);
        }
    }

    #[test]
    fn a_manifest_for_some_programs_names_their_bits() {
        for (bits, expected) in [(Bits::B32, "32"), (Bits::B64, "64")] {
            let text = text(Kind::Implicit, LAYER, Path::new("/x/lib.so"), Some(bits)).expect("a manifest");
            let json: Json = serde_json::from_str(&text).expect("the manifest is JSON");
            assert_eq!(json["file_format_version"], "1.2.1");
            assert_eq!(json["layer"]["library_arch"], expected);
        }
    }
}
