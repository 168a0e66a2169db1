//! `cargo xtask dist --windows`: the layer and the command in one archive.

use super::build::{TARGET, built, cargo, install_linker};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use vkabort_manifest::{Kind, LAYER, LIBRARY_WINDOWS};
use vkabort_test_kit::{process, root, target};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const INSTALL: &str = "vkabort for Windows (x86-64)

vkabort.exe and VkLayer_vkabort_shader_abort.dll have to lie in the same folder. Nothing needs to be installed:

    vkabort doctor
    vkabort run app.exe

To register the layer for the Vulkan loader (for all users, from a console with administrator rights, with --system):

    vkabort install

It does nothing until VKABORT_ENABLE=1 is in a program's environment. `vkabort uninstall` removes it.

The folders implicit_layer.d and explicit_layer.d have manifests that name the library in this folder, for the variables
VK_ADD_IMPLICIT_LAYER_PATH and VK_ADD_LAYER_PATH.

Vulkan's loader ignores these variables, and the layers of a user, in programs that run with administrator rights; the layer
does nothing in them. Start such programs without these rights.

The loader has to be version 1.3.296 or newer for `vkabort run`; it is part of the graphics driver.
";

/// Builds the archive and prints its path.
///
/// # Errors
///
/// A package cannot be installed, or the build fails.
pub fn dist() -> Result<()> {
    install_linker()?;
    process::run(cargo("build", &["layer", "cli"]).arg("--release"))?;
    let name = format!("vkabort-{}-{TARGET}", env!("CARGO_PKG_VERSION"));
    let folder = target().join("packages");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.zip"));
    let mut archive = ZipWriter::new(File::create(&path).with_context(|| format!("cannot write {}", path.display()))?);
    // Files have the earliest time of the format, so that equal builds give equal archives.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut add = |file: &str, bytes: &[u8]| -> Result<()> {
        archive.start_file(format!("{name}/{file}"), options)?;
        Ok(archive.write_all(bytes)?)
    };
    for program in ["vkabort.exe", LIBRARY_WINDOWS] {
        add(program, &stripped(&built(program))?)?;
    }
    for kind in [Kind::Implicit, Kind::Explicit] {
        let text = vkabort_manifest::text(kind, LAYER, Path::new(&format!("..\\{LIBRARY_WINDOWS}")))?;
        let file = format!("{}/{}", kind.folder(), vkabort_manifest::file_name(LAYER));
        add(&file, text.as_bytes())?;
    }
    add("INSTALL.txt", INSTALL.replace('\n', "\r\n").as_bytes())?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        add(license, &fs::read(root().join(license))?)?;
    }
    archive.finish()?;
    println!("{}", path.display());
    Ok(())
}

/// The file without debug information.
fn stripped(file: &Path) -> Result<Vec<u8>> {
    let to = target().join("packages/stripped");
    let mut strip = std::process::Command::new("x86_64-w64-mingw32-strip");
    process::run(strip.arg("-o").arg(&to).arg(file))?;
    let bytes = fs::read(&to)?;
    fs::remove_file(&to)?;
    Ok(bytes)
}
