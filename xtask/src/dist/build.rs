//! Builds the layer and the command as they are released, and separates their debug information.

use crate::{toolchain, zig};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_test_kit::layer::LIBRARY_FILE;
use vkabort_test_kit::portability::{self, Version};
use vkabort_test_kit::process;

/// Where the source seems to be, in debug information and panic messages.
const SOURCE: &str = "/usr/src/vkabort";

/// The released programs of one target.
pub struct Built {
    /// The stripped library of the layer.
    pub library: Program,
    /// The stripped command `vkabort`.
    pub command: Program,
    /// The newest glibc that one of them needs.
    pub glibc: Version,
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

/// Builds the sources in `root` for `target`, with Cargo's files and the results in `folder`. The results depend on the
/// sources, the versions of Rust and zig, and the target only.
///
/// # Errors
///
/// A build fails, or a result needs a newer glibc or other libraries than every distribution has.
pub fn build(root: &Path, target: &str, folder: &Path) -> Result<Built> {
    // One at a time: together, the layer would get the features that only the command needs of shared dependencies.
    for package in ["vkabort-layer", "vkabort-cli"] {
        let mut cargo = zig::cargo("build", target)?;
        cargo
            .args(["--locked", "--quiet", "--profile", "dist", "--package", package])
            .current_dir(root)
            .env("CARGO_ENCODED_RUSTFLAGS", flags(root, folder)?)
            .env("CARGO_TARGET_DIR", folder);
        process::run(&mut cargo)?;
    }
    let built = folder.join(target).join("dist");
    let library = strip(&built.join(LIBRARY_FILE))?;
    let command = strip(&built.join("vkabort"))?;
    let mut glibc = Version::default();
    for program in [&library.path, &command.path] {
        glibc = glibc.max(portability::required_glibc(program, zig::GLIBC)?);
        let bytes = fs::read(program)?;
        let text = root
            .to_str()
            .context("the path of the sources is not UTF-8")?
            .as_bytes();
        ensure!(
            !bytes.windows(text.len()).any(|window| window == text),
            "{} contains the path of its sources, {}",
            program.display(),
            root.display()
        );
    }
    Ok(Built {
        library,
        command,
        glibc,
    })
}

/// Flags of rustc, in the form of `CARGO_ENCODED_RUSTFLAGS`: no path of this machine, and an id for debuggers.
fn flags(root: &Path, folder: &Path) -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let (library, library_name) = toolchain::library_source()?;
    // The last prefix that matches counts.
    let prefixes = [
        (root.to_path_buf(), SOURCE.to_owned()),
        (folder.to_path_buf(), format!("{SOURCE}/target")),
        (home.join("registry/src"), "/usr/src/crates".into()),
        (library, library_name),
    ];
    let mut flags = vec!["-Clink-arg=-Wl,--build-id=sha1".to_owned()];
    for (from, to) in prefixes {
        let from = from.to_str().context("a path of a build is not UTF-8")?.to_owned();
        flags.push(format!("--remap-path-prefix={from}={to}"));
    }
    Ok(flags.join("\x1f"))
}

/// Splits a linked file into the stripped file and its debug information, with the tool of the Rust toolchain, which reads
/// every architecture.
fn strip(file: &Path) -> Result<Program> {
    let folder = file.parent().context("a linked file has no folder")?.join("stripped");
    fs::create_dir_all(&folder)?;
    let path = folder.join(file.file_name().context("a linked file has no name")?);
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
