//! The built layer, and its manifests with the absolute path of its library.

use crate::wine;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_manifest::Kind;
pub use vkabort_manifest::{ENABLE as ENABLE_VARIABLE, LAYER as NAME, LIBRARY as LIBRARY_FILE};

/// Name of the copy of the layer that simulates a driver with the extensions.
pub const NATIVE_NAME: &str = "VK_LAYER_vkabort_native";
/// Prefix of the environment variables of the layer's settings.
pub const VARIABLE_PREFIX: &str = "VK_VKABORT_SHADER_ABORT_";
/// The same prefix for the copy. Of equal length, since it is patched into the library.
pub const NATIVE_VARIABLE_PREFIX: &str = "VK_NATIVES_SHADER_ABORT_";

/// A built layer, and folders with its manifests.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The library.
    pub library: PathBuf,
    /// A folder for `XDG_DATA_DIRS`, with the manifest in `vulkan/implicit_layer.d`.
    pub implicit: PathBuf,
    /// A folder for `VK_LAYER_PATH`.
    pub explicit: PathBuf,
    /// A folder for `VK_LAYER_PATH` with the copy [`NATIVE_NAME`].
    pub native: PathBuf,
}

/// Writes the manifests of a built layer into subfolders of `folder`.
///
/// # Errors
///
/// A file cannot be written, or the library's path is not UTF-8.
pub fn write_manifests(library: &Path, folder: &Path) -> Result<Layer> {
    let layer = Layer {
        library: library.to_path_buf(),
        implicit: folder.join("implicit"),
        explicit: folder.join("explicit"),
        native: folder.join("native"),
    };
    let implicit = layer.implicit.join("vulkan").join(Kind::Implicit.folder());
    let named = wine::named(library);
    vkabort_manifest::write(Kind::Implicit, NAME, &named, &implicit)?;
    vkabort_manifest::write(Kind::Explicit, NAME, &named, &layer.explicit)?;
    write_native(library, &layer.native)?;
    Ok(layer)
}

/// Writes a copy of the library. The dynamic linker loads it separately, so it has its own statics. Its settings have
/// different names, so that tests can configure both.
fn write_native(library: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let extension = library.extension().unwrap_or_default();
    let copy = folder.join("libVkLayer_vkabort_native").with_extension(extension);
    let mut bytes = fs::read(library).with_context(|| format!("cannot read {}", library.display()))?;
    let prefix = VARIABLE_PREFIX.as_bytes();
    let offsets: Vec<usize> = memchr::memmem::find_iter(&bytes, prefix).collect();
    if offsets.is_empty() {
        bail!("{} does not contain {VARIABLE_PREFIX}", library.display());
    }
    for offset in offsets {
        bytes[offset..offset + prefix.len()].copy_from_slice(NATIVE_VARIABLE_PREFIX.as_bytes());
    }
    if fs::read(&copy).ok().as_ref() != Some(&bytes) {
        // Renamed into place, since a process may have mapped the old file.
        let staged = tempfile::NamedTempFile::new_in(folder)?;
        fs::write(&staged, bytes)?;
        staged.persist(&copy)?;
    }
    vkabort_manifest::write(Kind::Explicit, NATIVE_NAME, &wine::named(&copy), folder)?;
    Ok(())
}

/// Writes a file unless it has this text already: concurrent test processes may be reading it.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
