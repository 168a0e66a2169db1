//! The Windows package: the layer and the command in one archive.

use super::build::{TARGET, cargo};
use crate::dist::{licenses, reproducible};
use crate::toolchain;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use vkabort_manifest::{Kind, LAYER, LIBRARY_WINDOWS};
use vkabort_test_kit::process;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const INSTALL: &str = "vkabort for Windows (x86-64)

vkabort.exe and VkLayer_vkabort_shader_abort.dll have to lie in the same folder. Nothing needs to be installed:

    vkabort doctor
    vkabort run .\\app.exe

To register the layer for the Vulkan loader (for all users, from a console with administrator rights, with --system):

    vkabort install

It does nothing until VKABORT_ENABLE=1 is in a program's environment. `vkabort uninstall` removes it.

The folders implicit_layer.d and explicit_layer.d have manifests that name the library in this folder, for the variables
VK_ADD_IMPLICIT_LAYER_PATH and VK_ADD_LAYER_PATH.

Vulkan's loader ignores these variables, and the layers of a user, in programs that run with administrator rights; the layer
does nothing in them. Start such programs without these rights.

The loader has to be version 1.3.296 or newer for `vkabort run`; it is part of the graphics driver.
";

/// The folder in the archive.
pub const NAME: &str = concat!("vkabort-", env!("CARGO_PKG_VERSION"), "-x86_64-pc-windows-gnu");

/// Builds the sources in `root`, with Cargo's files in `folder`, and packs the results into `path`.
///
/// # Errors
///
/// The build fails, or the archive cannot be written.
pub fn build(root: &Path, folder: &Path, path: &Path) -> Result<()> {
    let mut flags = reproducible::flags(root, folder)?;
    // The header of a program has the time of its build, unless the linker is told; `strip` would write it again.
    flags.extend(["-Clink-arg=-Wl,--no-insert-timestamp", "-Cstrip=symbols"].map(str::to_owned));
    for package in ["layer", "cli"] {
        let mut cargo = cargo("build", &[package]);
        cargo
            .args(["--locked", "--quiet", "--profile", "dist"])
            .current_dir(root);
        cargo.env("CARGO_TARGET_DIR", folder);
        process::run(cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")))?;
    }
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut archive = ZipWriter::new(file);
    // Files have the earliest time of the format, so that equal builds give equal archives.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut add = |file: &str, bytes: &[u8]| -> Result<()> {
        archive.start_file(format!("{NAME}/{file}"), options)?;
        Ok(archive.write_all(bytes)?)
    };
    for program in ["vkabort.exe", LIBRARY_WINDOWS] {
        let bytes = fs::read(folder.join(TARGET).join("dist").join(program))?;
        println!("{program}: {} KiB", bytes.len() / 1024);
        add(program, &bytes)?;
    }
    for kind in [Kind::Implicit, Kind::Explicit] {
        let text = vkabort_manifest::text(kind, LAYER, Path::new(&format!("..\\{LIBRARY_WINDOWS}")), None)?;
        let file = format!("{}/{}", kind.folder(), vkabort_manifest::file_name(LAYER));
        add(&file, text.as_bytes())?;
    }
    add("INSTALL.txt", INSTALL.replace('\n', "\r\n").as_bytes())?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        add(license, &fs::read(root.join(license))?)?;
    }
    let runtime = Path::new("/usr/share/doc/mingw-w64-x86-64-dev/copyright");
    let runtime = ("MinGW-w64 runtime", "ZPL-2.1 and others", runtime);
    add(
        "third-party.txt",
        licenses::text(TARGET, &["layer", "cli"], runtime)?.as_bytes(),
    )?;
    add("rust-standard-library.html", &fs::read(toolchain::library_licenses()?)?)?;
    archive.finish()?;
    Ok(())
}
