//! Builds the layer, the command and the C library as they are released, and separates their debug information.

use super::platform::Platform;
use super::reproducible;
use crate::{toolchain, zig};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::layer::LIBRARY_FILE;
use vkabort_test_kit::portability::{self, Version};
use vkabort_test_kit::process;

/// The released programs of one target.
pub struct Built {
    /// The stripped library of the layer.
    pub library: Program,
    /// The same for 32-bit programs.
    pub library_32: Option<Program>,
    /// The stripped command `vkabort`.
    pub command: Program,
    /// The stripped C library that decodes messages.
    pub decoder: Program,
    /// The same as a static library, without debug information.
    pub decoder_archive: PathBuf,
    /// The newest glibc that one of them needs.
    pub glibc: Version,
}

impl Built {
    /// The files with separate debug information.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        let always = [&self.library, &self.command, &self.decoder];
        always.into_iter().chain(&self.library_32)
    }
}

/// A stripped library or program.
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Its debug information.
    pub debug: PathBuf,
    /// Its build id, in hexadecimal.
    pub build_id: String,
}

/// Builds the sources in `root` for a platform, with Cargo's files and the results in `folder`. The results depend on the
/// sources, the versions of Rust and zig, and the platform only.
///
/// # Errors
///
/// A build fails, or a result needs a newer glibc or other libraries than every distribution has.
pub fn build(root: &Path, platform: &Platform, folder: &Path) -> Result<Built> {
    let mut flags = reproducible::flags(root, folder)?;
    // An id for debuggers.
    flags.push("-Clink-arg=-Wl,--build-id=sha1".to_owned());
    // One at a time: together, the layer would get the features that only the command needs of shared dependencies.
    let target = platform.target.as_str();
    let packages = ["vkabort-layer", "vkabort-cli", "vkabort-decode"].map(|package| (package, target));
    let for_32 = platform.target_32.map(|target| ("vkabort-layer", target));
    for (package, target) in packages.into_iter().chain(for_32) {
        let mut cargo = zig::cargo("build", target)?;
        cargo
            .args(["--locked", "--quiet", "--profile", "dist", "--package", package])
            .current_dir(root)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
            .env("CARGO_TARGET_DIR", folder);
        process::run(&mut cargo)?;
    }
    let built = folder.join(target).join("dist");
    let library_32 = platform
        .target_32
        .map(|target| folder.join(target).join("dist").join(LIBRARY_FILE));
    let library_32 = library_32.map(|file| strip(&file)).transpose()?;
    let library = strip(&built.join(LIBRARY_FILE))?;
    let command = strip(&built.join("vkabort"))?;
    let decoder = strip(&built.join("libvkabort_decode.so"))?;
    let decoder_archive = strip_archive(&built.join("libvkabort_decode.a"))?;
    let mut glibc = Version::default();
    let for_32 = library_32.as_ref().map(|library| &library.path);
    let linked = || [&library.path, &command.path, &decoder.path].into_iter().chain(for_32);
    for program in linked() {
        glibc = glibc.max(portability::required_glibc(program, zig::GLIBC)?);
    }
    for file in linked().chain([&decoder_archive]) {
        let bytes = fs::read(file)?;
        let text = root
            .to_str()
            .context("the path of the sources is not UTF-8")?
            .as_bytes();
        ensure!(
            !bytes.windows(text.len()).any(|window| window == text),
            "{} contains the path of its sources, {}",
            file.display(),
            root.display()
        );
    }
    Ok(Built {
        library,
        library_32,
        command,
        decoder,
        decoder_archive,
        glibc,
    })
}

/// Splits a linked file into the stripped file and its debug information, with the tool of the Rust toolchain, which reads
/// every architecture.
fn strip(file: &Path) -> Result<Program> {
    let path = stripped_path(file)?;
    let debug = path.with_extension("debug");
    process::output(
        toolchain::objcopy()?
            .arg("--only-keep-debug")
            .args([file, debug.as_path()]),
    )?;
    process::output(toolchain::objcopy()?.arg("--strip-all").args([file, path.as_path()]))?;
    let build_id = build_id(&fs::read(&path)?).with_context(|| format!("{} has no build id", path.display()))?;
    Ok(Program { path, debug, build_id })
}

/// Removes the debug information of a static library.
fn strip_archive(file: &Path) -> Result<PathBuf> {
    let path = stripped_path(file)?;
    process::output(
        toolchain::objcopy()?
            .args([
                "--strip-debug",
                "--remove-section=.comment",
                "--enable-deterministic-archives",
            ])
            .args([file, path.as_path()]),
    )?;
    Ok(path)
}

/// Path of the stripped copy of a file.
fn stripped_path(file: &Path) -> Result<PathBuf> {
    let folder = file.parent().context("a linked file has no folder")?.join("stripped");
    fs::create_dir_all(&folder)?;
    Ok(folder.join(file.file_name().context("a linked file has no name")?))
}

impl Program {
    /// Path of the debug information in `/usr/lib/debug`, where debuggers look for it.
    pub fn debug_name(&self) -> String {
        let (folder, file) = self.build_id.split_at(2);
        format!(".build-id/{folder}/{file}.debug")
    }
}

/// The build id of an ELF file in hexadecimal: the 20 bytes after the header of the note `NT_GNU_BUILD_ID`.
fn build_id(elf: &[u8]) -> Option<String> {
    let header: &[u8] = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let at = elf.windows(header.len()).position(|window| window == header)? + header.len();
    let id = elf.get(at..at + 20)?;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_build_id() {
        let mut elf = b"\x7fELF..\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0".to_vec();
        assert_eq!(build_id(&elf), None);
        elf.extend(1..=20);
        assert_eq!(
            build_id(&elf).as_deref(),
            Some("0102030405060708090a0b0c0d0e0f1011121314")
        );
    }
}
