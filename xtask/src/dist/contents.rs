//! The files of the layer and the command in the packages, and the documentation.

use super::build::{Built, Program};
use super::licenses;
use super::tree::Tree;
use crate::{toolchain, zig};
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;
use vkabort_manifest::{Bits, FOLDER_32, Kind, LAYER, LIBRARY, file_name, file_name_32};
use vkabort_test_kit::{process, root};

/// Version of the packages.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The library, seen from the folders of both manifests: the tree works at every prefix.
const LIBRARY_FROM_MANIFEST: &str = "../../../lib/vkabort/";
/// Folder of the documentation.
pub const DOC: &str = "share/doc/vkabort";

/// The files with licences, in [`DOC`].
pub const LICENSES: [&str; 3] = ["copyright", "third-party.txt.gz", "rust-standard-library.html.gz"];

/// Writes the installed files of the layer and the command below `tree`'s folder, as at a prefix: `bin`, `lib`, `share`. Runs the command by `runner`.
///
/// # Errors
///
/// A file cannot be read or written, or the command fails.
pub fn write(tree: &Tree, built: &Built, target: &str, runner: &[&str]) -> Result<()> {
    write_layer(tree, &built.library, "", &file_name(LAYER), Bits::B64)?;
    tree.write_program("bin/vkabort", fs::read(&built.command.path)?)?;
    let vkabort = |words: &[&str]| {
        let mut words = runner
            .iter()
            .copied()
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .into_iter()
            .chain(
                std::iter::once(built.command.path.display().to_string())
                    .chain(words.iter().copied().map(str::to_owned)),
            );
        let mut command = Command::new(words.next().context("a command has a program")?);
        process::output(command.args(words))
    };
    let pages = "share/man/man1";
    vkabort(&["man", &tree.root.join(pages).display().to_string()])?;
    for page in tree.paths()?.iter().filter(|path| path.starts_with(pages)) {
        tree.compress(page)?;
    }
    for (shell, path) in [
        ("bash", "share/bash-completion/completions/vkabort"),
        ("fish", "share/fish/vendor_completions.d/vkabort.fish"),
        ("zsh", "share/zsh/site-functions/_vkabort"),
    ] {
        tree.write(path, vkabort(&["completions", shell])?)?;
    }
    tree.copy(&format!("{DOC}/README.md"), &root().join("README.md"))?;
    tree.copy(&format!("{DOC}/CHANGELOG.md"), &root().join("CHANGELOG.md"))?;
    tree.compress(&format!("{DOC}/CHANGELOG.md"))?;
    tree.write(&format!("{DOC}/copyright"), copyright()?)?;
    let unwinder = zig::libunwind_license()?;
    let runtime = ("LLVM libunwind", "Apache-2.0 WITH LLVM-exception", unwinder.as_path());
    tree.write(
        &format!("{DOC}/third-party.txt"),
        licenses::text(target, &["layer", "cli", "decode"], runtime)?,
    )?;
    tree.compress(&format!("{DOC}/third-party.txt"))?;
    tree.copy(
        &format!("{DOC}/rust-standard-library.html"),
        &toolchain::library_licenses()?,
    )?;
    tree.compress(&format!("{DOC}/rust-standard-library.html"))?;
    // In the folders of the repository, since the C example includes the CMake functions by a relative path.
    tree.copy(
        &format!("{DOC}/vk_layer_settings.txt"),
        &root().join("vk_layer_settings.txt"),
    )?;
    let folders = ["examples/c", "examples/assert", "examples/crash-handler", "cmake"];
    copy_sources(tree, &folders, |file| format!("{DOC}/{file}"))
}

/// Writes the layer for 32-bit programs below `tree`'s folder, beside that of [`write`].
///
/// # Errors
///
/// As [`write`].
pub fn write_layer_32(tree: &Tree, library: &Program) -> Result<()> {
    write_layer(tree, library, &format!("{FOLDER_32}/"), &file_name_32(LAYER), Bits::B32)
}

/// Writes a library into a folder of `lib/vkabort/`, and its manifests.
fn write_layer(tree: &Tree, library: &Program, folder: &str, manifest: &str, bits: Bits) -> Result<()> {
    tree.copy(&format!("lib/vkabort/{folder}{LIBRARY}"), &library.path)?;
    // Off until VKABORT_ENABLE=1. The explicit one is outside of the loader's folders: of two manifests with the same layer
    // name the loader takes one, and not always the same one.
    for (kind, to) in [
        (Kind::Implicit, "share/vulkan/implicit_layer.d"),
        (Kind::Explicit, "share/vkabort/explicit_layer.d"),
    ] {
        let path = format!("{LIBRARY_FROM_MANIFEST}{folder}{LIBRARY}");
        let text = vkabort_manifest::text(kind, LAYER, path.as_ref(), Some(bits))?;
        tree.write(&format!("{to}/{manifest}"), text)?;
    }
    Ok(())
}

/// Copies the files of folders of the repository to the paths that `to` makes of theirs.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn copy_sources(tree: &Tree, folders: &[&str], to: impl Fn(&str) -> String) -> Result<()> {
    let mut list = Command::new("git");
    list.arg("ls-files").args(folders).current_dir(root());
    for file in process::output(&mut list)?.lines() {
        tree.copy(&to(file), &root().join(file))?;
    }
    Ok(())
}

/// The year of the first release, which Debian requires in copyright notices.
const YEAR: u32 = 2026;

/// Debian's machine-readable copyright file.
fn copyright() -> Result<String> {
    let mit = fs::read_to_string(root().join("LICENSE-MIT"))?;
    let holder = mit
        .lines()
        .find_map(|line| line.strip_prefix("Copyright (c) "))
        .context("LICENSE-MIT has no copyright")?;
    let terms: Vec<String> = mit
        .lines()
        .skip_while(|line| !line.starts_with("Permission"))
        .map(|line| {
            if line.is_empty() {
                " .".to_owned()
            } else {
                format!(" {line}")
            }
        })
        .collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: vkabort\n\
         Comment: vkabort {VERSION}. The libraries that the programs contain are listed in third-party.txt.gz beside this file,\n \
         with their licences, and those of the Rust standard library in rust-standard-library.html.gz.\n\
         \n\
         Files: *\n\
         Copyright: {YEAR} {holder}\n\
         License: MIT or Apache-2.0\n\
         \n\
         License: MIT\n{}\n\
         \n\
         License: Apache-2.0\n \
         On Debian systems, the text of this licence is in /usr/share/common-licenses/Apache-2.0.\n",
        terms.join("\n")
    ))
}
