//! Installs the C library that decodes messages, as the packages do.

use crate::root;
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The shared library by its soname, whose number `decode/build.rs` sets too.
pub const SHARED: &str = "libvkabort_decode.so.1";
/// The shared library as the linker looks for it: a link.
const LINK: &str = "libvkabort_decode.so";
/// The static library.
const STATIC: &str = "libvkabort_decode.a";

/// Folders of the installed files.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    /// The prefix in the pkg-config file. It may refer to the folder of that file as `${pcfiledir}`.
    pub prefix: &'a str,
    /// Folder of the libraries, relative to the prefix.
    pub libraries: &'a str,
}

impl Layout<'static> {
    /// A folder that can be moved.
    pub const RELOCATABLE: Self = Self {
        prefix: "${pcfiledir}/../..",
        libraries: "lib",
    };
}

/// Copies the shared library `shared`, the static library `archive`, the header, and the files for pkg-config and CMake
/// below `folder`, which stands for the prefix.
///
/// # Errors
///
/// A file cannot be read or written, or the header does not name its version.
pub fn install(shared: &Path, archive: &Path, layout: Layout, folder: &Path) -> Result<()> {
    let source = root().join("decode");
    let header = fs::read_to_string(source.join("include/vkabort_decode.h"))?;
    let version = version(&header).context("vkabort_decode.h has no VKABORT_DECODE_VERSION")?;
    let libraries = folder.join(layout.libraries);
    let cmake = libraries.join("cmake/vkabort-decode");
    for folder in [&folder.join("include"), &libraries.join("pkgconfig"), &cmake] {
        fs::create_dir_all(folder)?;
    }
    // Written anew: a library need not be executable.
    fs::write(libraries.join(SHARED), read(shared)?)?;
    let link = libraries.join(LINK);
    symlink(SHARED, &link).with_context(|| format!("cannot write {}", link.display()))?;
    fs::write(libraries.join(STATIC), read(archive)?)?;
    fs::write(folder.join("include/vkabort_decode.h"), header)?;
    let pkg_config = fs::read_to_string(source.join("vkabort-decode.pc.in"))?
        .replace("@PREFIX@", layout.prefix)
        .replace("@LIBRARIES@", layout.libraries)
        .replace("@VERSION@", &version);
    fs::write(libraries.join("pkgconfig/vkabort-decode.pc"), pkg_config)?;
    let config = "vkabort-decode-config.cmake";
    fs::copy(source.join(config), cmake.join(config))?;
    let config_version = fs::read_to_string(source.join("vkabort-decode-config-version.cmake.in"))?;
    fs::write(
        cmake.join("vkabort-decode-config-version.cmake"),
        config_version.replace("@VERSION@", &version),
    )?;
    Ok(())
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The version of the interface, as in "1.0". The header defines it as major * 65536 + minor, as cbindgen writes it:
/// `(1 << 16)` or `((1 << 16) | 2)`.
fn version(header: &str) -> Option<String> {
    let value = header
        .lines()
        .find_map(|line| line.strip_prefix("#define VKABORT_DECODE_VERSION "))?;
    let words = value.split(|character: char| !character.is_ascii_digit());
    let numbers: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match *numbers.as_slice() {
        [major, "16"] => Some(format!("{major}.0")),
        [major, "16", minor] => Some(format!("{major}.{minor}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_of_the_header() {
        let version = |value: &str| version(&format!("/* */\n#define VKABORT_DECODE_VERSION {value}\n"));
        assert_eq!(version("(1 << 16)").as_deref(), Some("1.0"));
        assert_eq!(version("((2 << 16) | 31)").as_deref(), Some("2.31"));
        assert_eq!(version("65536"), None);
    }
}
